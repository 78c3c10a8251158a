"""Compare the engine with the oracle over many deals.

PYTHONPATH=tests nice python -m oracle.run --deals 100000 --matches 3000 --jobs 2

Half of the deals are of the named variants at every number of seats, half of random legal options;
the matches are short ones of every format but the series, with random options as well.
Differences are printed with the seed and the actions that lead to them; then the exit code is 1.
"""

import argparse
import sys
from collections import Counter
from multiprocessing import Pool

from oracle.adapter import DifferenceError, SideBySide
from oracle.cases import cases
from oracle.matches import FORMATS, MatchSideBySide

CHUNK = 500
SHOWN = 10
REPORTED = 10_000


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


def compare_matches(seed: int) -> tuple[int, list[str]]:
    """Play a match of each format; return how many deals that took and what differed."""
    deals, differences = 0, []
    for match_format in FORMATS:
        try:
            deals += MatchSideBySide(match_format, seed).play()
        except DifferenceError as difference:
            differences.append(f"{match_format}: {difference}")
    return deals, differences


def chunks(seed: int, deals: int) -> list[tuple[int, range]]:
    """Cut the deals into pieces of work."""
    return [(seed, range(start, min(start + CHUNK, deals))) for start in range(0, deals, CHUNK)]


def run_deals(seed: int, deals: int, jobs: int) -> int:
    """Compare so many deals, print what differs, and return how many do."""
    reasons: Counter[str] = Counter()
    with Pool(jobs) as pool:
        for ended, differences in pool.imap(compare, chunks(seed, deals)):
            reasons += ended
            for text in differences[:SHOWN]:
                print(text, flush=True)
            if reasons.total() % REPORTED == 0:
                print(f"... {reasons.total()} deals", flush=True)
    print(f"{reasons.total()} deals compared, {reasons['different']} of them differ")
    print(", ".join(f"{reason} {number}" for reason, number in reasons.most_common()), flush=True)
    return reasons["different"]


def run_matches(seed: int, matches: int, jobs: int) -> int:
    """Compare at least so many matches, print what differs, and return how many do."""
    played, deals, different = 0, 0, 0
    seeds = range(seed, seed + -(-matches // len(FORMATS)))
    with Pool(jobs) as pool:
        for more, differences in pool.imap(compare_matches, seeds, chunksize=10):
            played += len(FORMATS)
            deals += more
            different += len(differences)
            for text in differences:
                print(text, flush=True)
    print(f"{played} matches of {deals} deals compared, {different} of them differ")
    return different


def main() -> int:
    """Compare as the command line says; return 1 if something differed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--deals", type=int, default=10_000)
    parser.add_argument("--matches", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    different = run_deals(asked.seed, asked.deals, asked.jobs)
    different += run_matches(asked.seed, asked.matches, asked.jobs)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
