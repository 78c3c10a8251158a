"""How fast each variant is, random play for its fewest seats, against OpenSpiel's euchre.

Each variant takes turns with euchre, slice by slice, so that what else the machine does hits both;
how they are measured stands in benchmarks/shared/euchre.py. Exits with 1 if one is below its bar.
"""

import sys

from shared.euchre import deals, euchre, rates, run

BARS = {"bura": 1.0}
BAR_OF_OTHERS = 0.5
# What may be done with a hand is remembered, and a long tournament soon knows most hands.
WARM_UP = 50
ROUNDS = 100
# What has a bar of its own is near it, and is looked at longer.
LONGER = 3


def main() -> int:
    """Measure all variants, print a row for each, and return the exit code."""
    from referee.variants import VARIANTS  # noqa: PLC0415 - the path is set in run's environment

    print(f"{'variant':20} seats  decisions/s  euchre's  ratio   bar")
    results = []
    for name, rules in VARIANTS.items():
        seats = min(rules.players)
        sides = {"euchre": euchre(), name: deals(rules, seats)}
        times = LONGER if name in BARS else 1
        measured = rates(sides, warm_up=times * WARM_UP, rounds=times * ROUNDS)
        ours, theirs = measured[name].best, measured["euchre"].best
        ratio, bar = ours / theirs, BARS.get(name, BAR_OF_OTHERS)
        results.append((ratio / bar, ratio, bar, name))
        print(
            f"{name:20} {seats:5}  {ours:11,.0f}  {theirs:8,.0f}  {ratio:5.2f}  {bar:.2f}"
            f"  {_verdict(ratio, bar)}",
            flush=True,
        )
    _, ratio, bar, name = min(results)
    print(f"variants_speed: nearest to its bar {name}, ratio {ratio:.2f} (bar {bar:.2f})", end=" ")
    print(_verdict(ratio, bar))
    return 0 if ratio >= bar else 1


def _verdict(ratio: float, bar: float) -> str:
    return "ok" if ratio >= bar else "too slow"


if __name__ == "__main__":
    sys.exit(run(__file__, main))
