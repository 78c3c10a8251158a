"""Groups, each a round robin, and a knock-out of the best of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, cycle, zip_longest
from math import comb
from string import ascii_uppercase
from typing import TYPE_CHECKING

from arena.errors import RefusedError
from arena.formats.base import Format, Schedule
from arena.formats.bracket import THIRD_PLACE, bracket_places, single_bracket
from arena.formats.checks import refuse_options, refuse_rotating, refuse_seats, refuse_too_many
from arena.formats.knockout import Knockout, ties_explained
from arena.formats.points import COUPLE, ranked, tally
from arena.formats.roster import Roster
from arena.formats.round_robin import (
    cycles,
    everybody_with_everybody,
    in_cycles,
    newcomers_with_all,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from arena.formats.base import Pairing, Place, Plan, Results
    from arena.formats.bracket import Tie
    from arena.formats.points import Columns, Tally

_USUAL_SIZE = 3
_USUAL_ADVANCE = 2
_FAR = 32
_REMEMBERED = 64


class Groups(Format):
    """Round robins side by side, then a bracket."""

    name = "groups"
    can_grow = True
    is_seeded = True
    summary = "Round robins in groups, then a knock-out of the best of each."
    explanation = (
        "The field is dealt into --groups groups in the order of ratings, to and fro, so that all "
        "are about equally strong (usually groups of 3 to 5, their number a power of two). In a "
        "group everybody meets everybody, --rounds times, usually once. The best --advance of "
        "each, usually 2, reach the knock-out: by the part of their points, then "
        "Sonneborn-Berger, then mean total, then seeding. There the winners of groups are seeded "
        "above the second and so on, and who was in the same group meets as late as possible. "
        "Nobody has a bye in the groups; in the knock-out byes go to winners of groups. A late "
        "entry joins the smallest group while the groups are played and meets all in it. Who "
        "leaves gives its other matches to those who were to meet it, does not advance, and comes "
        "after all who stayed and did not advance either. "
        "The knock-out is played in ties. " + ties_explained("one match")
    )

    def check(self, plan: Plan) -> None:
        """Refuse groups too small to play or to let so many advance.

        Raises:
            RefusedError: Naming what would fit.
        """
        refuse_options(self.name, plan, ("groups", "advance", "third_place"))
        refuse_rotating(self.name, plan)
        refuse_seats(self.name, plan, COUPLE, COUPLE, "pods")
        most = plan.entrants // COUPLE
        if not 1 <= _groups(plan) <= most:
            raise RefusedError(
                f"{_groups(plan)} groups of {plan.entrants} entrants",
                f"expected 1 to {most}, so that each holds a match",
            )
        smallest = plan.entrants // _groups(plan)
        if not 1 <= _advance(plan) <= smallest or _groups(plan) * _advance(plan) < COUPLE:
            raise RefusedError(
                f"{_advance(plan)} of each group cannot advance",
                f"expected at most the {smallest} of the smallest group, and 2 in all",
            )
        refuse_too_many(self.expected_matches(plan), "take more groups or fewer rounds")

    def schedule(self, plan: Plan, results: Results) -> Schedule:
        """Give all matches of the groups at once, then the knock-out block by block."""
        course = _Course(plan, results)
        byes = tuple(course.knockout.byes) if course.knockout else ()
        return Schedule(tuple(course.pairings), byes, complete=course.complete)

    def ranking(self, plan: Plan, results: Results) -> tuple[Place, ...]:
        """Rank by the knock-out, then by place in the group."""
        course = _Course(plan, results)
        sums = course.group_tally(plan.left)
        berger = sums.sonneborn_berger()
        merits: dict[int, tuple[Fraction | int, ...]] = {}
        columns: dict[int, Columns] = {}
        for entrant in range(plan.ever_entered):
            group = course.group_of(entrant)
            merit, reached = course.reached(entrant)
            if merit is not None:
                merits[entrant] = (1, merit)
            elif group is None:
                merits[entrant] = (-1,)
            else:
                place = course.order(group, sums, plan.left).index(entrant)
                stayed = entrant not in plan.left
                merits[entrant] = (0, stayed, -place, *_merit(sums, berger, entrant))
            columns[entrant] = (
                ("Reached", reached),
                ("Group", "" if group is None else letters(group)),
                ("Points", sums.points[entrant]),
                ("SB", berger.get(entrant, Fraction())),
            )
        return ranked(merits, columns, plan.left)

    def expected_matches(self, plan: Plan) -> int:
        """Count the matches of the groups and the ties, without replays."""
        sizes = [len(group) for group in snake(range(plan.entrants), _groups(plan))]
        in_groups = sum(comb(size, COUPLE) for size in sizes) * cycles(plan)
        places = _groups(plan) * _advance(plan)
        third = any(tie.stage == THIRD_PLACE for tie in _bracket(plan, places))
        return in_groups + places - 1 + third


groups = Groups()


def snake(entrants: Sequence[int], number: int) -> list[list[int]]:
    """Deal entrants into so many groups, to and fro, so that these are about equally strong."""
    dealt: list[list[int]] = [[] for _ in range(number)]
    for place, entrant in enumerate(entrants):
        row, column = divmod(place, number)
        dealt[number - 1 - column if row % 2 else column].append(entrant)
    return dealt


def letters(group: int) -> str:
    """Return what a group is called: A to Z, then AA, AB and so on."""
    more, last = divmod(group, len(ascii_uppercase))
    return (letters(more - 1) if more else "") + ascii_uppercase[last]


@lru_cache(_REMEMBERED)
def crossed(tiers: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, int], ...]:
    """Seed who advances so that those of one group meet as late as can be.

    Args:
        tiers: The groups that have a first, that have a second and so on.

    Returns:
        The group and the place in it (from 0) for each place of the bracket, best first.
    """
    total = sum(map(len, tiers))
    height = {place: row for row, place in enumerate(bracket_places(total))}
    seeded: list[tuple[int, int]] = []
    for rank, tier in enumerate(tiers):
        mates: dict[int, list[int]] = {group: [] for group in tier}
        for place, (group, _) in enumerate(seeded):
            if group in mates:
                mates[group].append(height[place])
        rows = [height[len(seeded) + place] for place in range(len(tier))]
        seeded += ((group, rank) for group in _apart(list(tier), rows, mates))
    return tuple(seeded)


def _apart(tier: list[int], rows: Sequence[int], mates: Mapping[int, Sequence[int]]) -> list[int]:
    """Exchange groups among the rows of a bracket while this sets mates further apart."""

    def closeness(group: int, row: int) -> int:
        # Two rows meet in the round that is the length of the highest bit in which they differ.
        return sum(4 ** (_FAR - (row ^ mate).bit_length()) for mate in mates[group])

    improved = True
    while improved:
        improved = False
        for one, other in combinations(range(len(tier)), 2):
            now = closeness(tier[one], rows[one]) + closeness(tier[other], rows[other])
            then = closeness(tier[other], rows[one]) + closeness(tier[one], rows[other])
            if then < now:
                tier[one], tier[other] = tier[other], tier[one]
                improved = True
    return tier


class _Course:
    """The groups and the knock-out as far as they have been played."""

    def __init__(self, plan: Plan, results: Results) -> None:
        """Give every pairing known so far."""
        self.pairings: list[Pairing] = []
        self.knockout: Knockout | None = None
        self.complete = False
        self._plan, self._results = plan, results
        self._roster = Roster(plan)
        self._roster.advance(1)
        self.groups = snake(self._roster.present, _groups(plan))
        self._add(_side_by_side(plan, self.groups))
        self._take_in_late_entries()
        self._in_groups = len(self.pairings)
        if all(number in results for number in range(1, self._in_groups + 1)):
            self._knock_out()

    def group_of(self, entrant: int) -> int | None:
        """Return the group of an entrant, None if it came after the groups."""
        found = [number for number, group in enumerate(self.groups) if entrant in group]
        return found[0] if found else None

    def group_tally(self, left: Collection[int]) -> Tally:
        """Add up the matches of the groups."""
        return tally(self._plan, self.pairings[: self._in_groups], self._results, left)

    def order(self, group: int, sums: Tally, left: Collection[int]) -> list[int]:
        """Return the entrants of a group, best first, who left last; level ones by seeding."""
        berger = sums.sonneborn_berger()
        order = sorted(self.groups[group], key=lambda one: _merit(sums, berger, one), reverse=True)
        return sorted(order, key=lambda one: one in left)

    def reached(self, entrant: int) -> tuple[int | None, str]:
        """Return how far an entrant has come in the knock-out, and the name of its last stage."""
        if self.knockout and entrant in self.knockout.holders:
            return self.knockout.reached(entrant)
        group = self.group_of(entrant)
        return None, "none" if group is None else f"group {letters(group)}"

    def _take_in_late_entries(self) -> None:
        """Let each newcomer meet all of the smallest group, block by block."""
        while newcomers := self._roster.advance(len(self.pairings) + 1):
            for newcomer in newcomers:
                present = [
                    [member for member in group if member not in self._roster.left]
                    for group in self.groups
                ]
                smallest = min(range(len(present)), key=lambda group: len(present[group]))
                self.groups[smallest].append(newcomer)
                meetings = newcomers_with_all(self._plan, [newcomer], present[smallest])
                self._add([(f"group {letters(smallest)}", seats) for seats in meetings])

    def _add(self, matches: Sequence[tuple[str, tuple[int, ...]]]) -> None:
        seats = [seats for _, seats in matches]
        block = in_cycles(seats, self._plan, len(self.pairings) + 1)
        stages = cycle([stage for stage, _ in matches])
        self.pairings += (
            replace(pairing, stage=stage) for pairing, stage in zip(block, stages, strict=False)
        )

    def _knock_out(self) -> None:
        sums = self.group_tally(self._roster.left)
        advancing = [
            [
                one
                for one in self.order(group, sums, self._roster.left)
                if one not in self._roster.left
            ]
            for group in range(len(self.groups))
        ]
        tiers = tuple(
            tuple(group for group, members in enumerate(advancing) if len(members) > rank)
            for rank in range(_advance(self._plan))
        )
        holders = [advancing[group][rank] for group, rank in crossed(tiers)]
        ties = _bracket(self._plan, len(holders))
        self.knockout = Knockout(ties, holders, 1, self.pairings, cycles(self._plan))
        self.complete = self.knockout.play(self._roster, self._results)


def _groups(plan: Plan) -> int:
    """Return how many groups there are, usually a power of two with 3 to 5 in each."""
    if plan.options.groups is not None:
        return plan.options.groups
    return 1 << max((plan.entrants // _USUAL_SIZE).bit_length() - 1, 0)


def _advance(plan: Plan) -> int:
    return _USUAL_ADVANCE if plan.options.advance is None else plan.options.advance


def _bracket(plan: Plan, places: int) -> tuple[Tie, ...]:
    return single_bracket(places, third_place=plan.options.third_place is not False)


def _side_by_side(plan: Plan, groups: Sequence[Sequence[int]]) -> list[tuple[str, tuple[int, ...]]]:
    """Give the matches of one cycle, one of each group in turn."""
    matches = [
        [(f"group {letters(number)}", seats) for seats in everybody_with_everybody(plan, group)]
        for number, group in enumerate(groups)
    ]
    return [match for row in zip_longest(*matches) for match in row if match is not None]


def _merit(
    sums: Tally, berger: Mapping[int, Fraction], entrant: int
) -> tuple[Fraction, Fraction, Fraction]:
    mean = sums.totals[entrant] / max(sums.games[entrant], 1)
    return sums.share(entrant), berger.get(entrant, Fraction()), mean
