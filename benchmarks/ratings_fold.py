"""What folding results into ratings costs beside the bare calls of the trueskill package.

    python benchmarks/ratings_fold.py [RESULTS]

Both sides rate the same two-sided results, by default 200,000, in the same order with the same
parameters: the package by one `rate_1vs1` for each with its default backend, holding its own
ratings; the arena by `fold`, from `PlayedMatch` objects that stand in memory, their totals and
places added up, to a sorted table with exact ties looked for. Neither side's clock counts reading
results from the database or building these objects, which a table needs besides; what building
costs for matches of one deck is printed for itself, and it grows with the deals of a match. What is
counted is this process's time on a core. Each side goes first once, and its better time counts. The
last line gives the ratio and its bar; the exit code is 1 above it.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from random import Random

import trueskill

from arena.ratings import Rating, TrueSkill, fold
from arena.statistics.stats import PlayedMatch

RESULTS = 200_000
BOTS = 60
BAR = 1.1
CLOSE = 1e-6


def results(count: int) -> list[PlayedMatch]:
    """Give matches between bots of different strength, about one in ten a draw."""
    random = Random(1)
    strength = {f"bot-{number}": random.gauss(0, 4) for number in range(BOTS)}
    matches = []
    for number in range(count):
        one, other = random.sample(list(strength), 2)
        lead = round(random.gauss(strength[one] - strength[other], 4))
        scores = (Fraction(lead), Fraction(-lead))
        matches.append(PlayedMatch(number=number, entrants=(one, other), decks=((scores,),)))
    return matches


def bare(matches: list[PlayedMatch]) -> dict[str, trueskill.Rating]:
    """Rate all matches by the package alone."""
    environment = trueskill.TrueSkill()
    ratings = {f"bot-{number}": environment.create_rating() for number in range(BOTS)}
    for match in matches:
        one, other = match.entrants
        mine, theirs = match.totals
        if mine < theirs:
            one, other = other, one
        ratings[one], ratings[other] = trueskill.rate_1vs1(
            ratings[one], ratings[other], drawn=mine == theirs, env=environment
        )
    return ratings


def folded(matches: list[PlayedMatch]) -> tuple[Rating, ...]:
    """Rate all matches as the arena does."""
    return fold(matches, TrueSkill())


def timed(work: Callable[[list[PlayedMatch]], object], matches: list[PlayedMatch]) -> float:
    """Return the seconds of a core that some work takes."""
    before = time.process_time()
    work(matches)
    return time.process_time() - before


def main() -> int:
    """Measure both, print the ratio and tell whether it is good enough."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else RESULTS
    matches = results(count)
    packages = bare(matches[:2_000])
    for rating in folded(matches[:2_000]):
        other = packages[rating.entrant]
        assert abs(rating.skill.mu - other.mu) < CLOSE > abs(rating.skill.sigma - other.sigma)
    times: dict[str, list[float]] = {"bare": [], "fold": []}
    for first, second in ((bare, folded), (folded, bare)):
        for work in (first, second):
            times["bare" if work is bare else "fold"].append(timed(work, matches))
    building = timed(lambda each: [replace(match) for match in each], matches)
    print(f"building them, in neither: {building:.1f} s, {1e6 * building / count:.0f} us a result")
    best = {name: min(taken) for name, taken in times.items()}
    for name, taken in times.items():
        each = ", ".join(f"{seconds:.1f}" for seconds in taken)
        print(f"{name}: {each} s, {1e6 * best[name] / count:.0f} us a result")
    ratio = best["fold"] / best["bare"]
    print(f"folding {count} results: {ratio:.3f} of the bare calls, bar {BAR}")
    return int(ratio > BAR)


if __name__ == "__main__":
    sys.exit(main())
