"""How fast the rules are: random bura for two in Python against OpenSpiel's euchre.

How the two are measured stands in benchmarks/shared/euchre.py. Exits with 1 below the bar.
"""

import sys

from shared.euchre import deals, euchre, rates, run

BAR = 1.0
WARM_UP = 50
ROUNDS = 300


def main() -> int:
    """Measure both, print the rates and their ratio, and return the exit code."""
    from referee.variants import VARIANTS  # noqa: PLC0415 - the path is set in run's environment

    sides = {"euchre": euchre(), "bura": deals(VARIANTS["bura"], 2)}
    measured = rates(sides, warm_up=WARM_UP, rounds=ROUNDS)
    for name, rate in measured.items():
        print(f"{name:8} {rate.best:9,.0f} decisions/s at best, {rate.median:9,.0f} in the median")
    ratio = measured["bura"].best / measured["euchre"].best
    verdict = "ok" if ratio >= BAR else "too slow"
    print(f"rules_speed: ratio {ratio:.2f} (bar {BAR:.2f}) {verdict}")
    return 0 if ratio >= BAR else 1


if __name__ == "__main__":
    sys.exit(run(__file__, main))
