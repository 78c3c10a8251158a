"""What results come to: points by entrant, and the order that follows from them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING

from arena.formats.base import Partners, Place

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from arena.formats.base import Pairing, Plan, Results, Totals

    Columns = tuple[tuple[str, Fraction | int | str], ...]

HALF = Fraction(1, 2)
COUPLE = 2


@dataclass(frozen=True, slots=True)
class Encounter:
    """What one entrant of a played match achieved against one other: 1, 1/2 or 0."""

    entrant: int
    opponent: int
    result: Fraction


@dataclass(slots=True)
class Tally:
    """What each entrant has come to.

    Attributes:
        points: For each match the mean of its encounters: 1 for beating all, 1/2 for a draw.
        games: Matches that count, walkovers among them.
        totals: The sum of the totals of its seats.
        encounters: Of the matches played.
    """

    points: defaultdict[int, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    games: Counter[int] = field(default_factory=Counter)
    totals: defaultdict[int, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    encounters: list[Encounter] = field(default_factory=list)

    def share(self, entrant: int) -> Fraction:
        """Return the part of the points that could be had; below 0 without a match."""
        games = self.games[entrant]
        return self.points[entrant] / games if games else Fraction(-1)

    def sonneborn_berger(self) -> dict[int, Fraction]:
        """Return by entrant the points of those it beat and half of those it drew with."""
        sums: defaultdict[int, Fraction] = defaultdict(Fraction)
        for met in self.encounters:
            sums[met.entrant] += met.result * self.points[met.opponent]
        return sums


def encounters(
    seats: tuple[int, ...], totals: Totals, partners: Partners = Partners.NONE
) -> Iterator[Encounter]:
    """Give what each entrant of a match achieved against each that is not its partner."""
    sides = COUPLE if partners is Partners.ROTATING else len(seats)
    by_side = [sum(totals[side::sides], start=Fraction()) for side in range(sides)]
    for (seat, entrant), (across, opponent) in permutations(enumerate(seats), 2):
        mine, theirs = by_side[seat % sides], by_side[across % sides]
        if seat % sides != across % sides:
            yield Encounter(entrant, opponent, HALF * (1 + (mine > theirs) - (mine < theirs)))


def walkover(seats: tuple[int, ...], left: Collection[int]) -> dict[int, Fraction]:
    """Return what a cancelled match is worth to those still in.

    Of two the one who stayed has the point; if both did, they share it. With more seats nobody
    can tell who would have won, and the match counts for none of them.
    """
    if len(seats) != COUPLE:
        return {}
    stayed = [entrant for entrant in seats if entrant not in left]
    return {entrant: Fraction(1, len(stayed)) for entrant in stayed}


def tally(
    plan: Plan, pairings: Iterable[Pairing], results: Results, left: Collection[int] | None = None
) -> Tally:
    """Add up results.

    Args:
        plan: Of the tournament.
        pairings: Those that count.
        results: As formats take them.
        left: Who has left, as far as this is heeded; everybody who has, unless given.
    """
    gone = plan.left if left is None else left
    sums = Tally()
    for pairing in pairings:
        if pairing.number in results:
            add_result(sums, plan, pairing, results[pairing.number], gone)
    return sums


def add_result(
    sums: Tally, plan: Plan, pairing: Pairing, totals: Totals | None, left: Collection[int]
) -> None:
    """Add one match to a tally."""
    if totals is None:
        for entrant, points in walkover(pairing.seats, left).items():
            sums.points[entrant] += points
            sums.games[entrant] += 1
        return
    met = list(encounters(pairing.seats, totals, plan.partners))
    sums.encounters += met
    opponents = len(met) // len(pairing.seats)
    for one in met:
        sums.points[one.entrant] += one.result / opponents
    for entrant, total in zip(pairing.seats, totals, strict=True):
        sums.games[entrant] += 1
        sums.totals[entrant] += total


def ranked(
    merits: Mapping[int, tuple[Fraction | int, ...]],
    columns: Mapping[int, Columns],
    left: Collection[int],
) -> tuple[Place, ...]:
    """Return entrants in the order of their merits, greatest first.

    Args:
        merits: What decides, by entrant.
        columns: What is shown, by entrant.
        left: Who comes last of its equals.
    """
    order = sorted(merits, key=lambda entrant: (entrant in left, entrant))
    order.sort(key=lambda entrant: merits[entrant], reverse=True)
    places: list[Place] = []
    for row, entrant in enumerate(order):
        level = row > 0 and merits[order[row - 1]] == merits[entrant]
        rank = places[-1].rank if level else row + 1
        places.append(Place(entrant, rank, columns[entrant]))
    return tuple(places)


def ranked_by_share(plan: Plan, sums: Tally) -> tuple[Place, ...]:
    """Rank by the part of its points that each won, then Sonneborn-Berger, then mean total.

    The part and not the points: who came late or sat out has played fewer matches. Who left comes
    after all who stayed, for the matches it was spared would else count as if it had won them.
    """
    berger = sums.sonneborn_berger()
    everybody = range(plan.ever_entered)
    means = {entrant: sums.totals[entrant] / max(sums.games[entrant], 1) for entrant in everybody}
    merits = {
        entrant: (
            entrant not in plan.left,
            sums.share(entrant),
            berger.get(entrant, Fraction()),
            means[entrant],
        )
        for entrant in everybody
    }
    columns: dict[int, Columns] = {
        entrant: (
            ("Points", sums.points[entrant]),
            ("Games", sums.games[entrant]),
            ("SB", berger.get(entrant, Fraction())),
            ("Score", means[entrant]),
        )
        for entrant in everybody
    }
    return ranked(merits, columns, plan.left)
