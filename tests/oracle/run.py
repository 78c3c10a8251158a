"""Compare the engine with the oracle over many deals.

PYTHONPATH=tests nice python -m oracle.run --deals 100000 --jobs 2

Half of the deals are of the named variants at every number of seats, half of random legal options.
Differences are printed with the seed and the actions that lead to them; then the exit code is 1.
"""

import argparse
import sys
from collections import Counter
from multiprocessing import Pool

from oracle.adapter import DifferenceError, SideBySide
from oracle.cases import cases

CHUNK = 500
SHOWN = 10


def compare(work: tuple[int, range]) -> tuple[Counter[str], list[str]]:
    """Play the deals of a seed with these numbers; return how they ended and what differed."""
    seed, numbers = work
    reasons: Counter[str] = Counter()
    differences = []
    for case in cases(seed, numbers):
        try:
            reasons[SideBySide(case).play().reason.value] += 1
        except DifferenceError as difference:
            reasons["different"] += 1
            differences.append(str(difference))
    return reasons, differences


def chunks(seed: int, deals: int) -> list[tuple[int, range]]:
    """Cut the deals into pieces of work."""
    return [(seed, range(start, min(start + CHUNK, deals))) for start in range(0, deals, CHUNK)]


def main() -> int:
    """Compare as the command line says; return 1 if something differed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--deals", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    reasons: Counter[str] = Counter()
    with Pool(arguments.jobs) as pool:
        for ended, differences in pool.imap(compare, chunks(arguments.seed, arguments.deals)):
            reasons += ended
            for text in differences[:SHOWN]:
                print(text, flush=True)
    print(f"{reasons.total()} deals compared, {reasons['different']} of them differ")
    print(", ".join(f"{reason} {number}" for reason, number in reasons.most_common()))
    return 1 if reasons["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
