"""Everybody meets everybody, once a cycle."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from arena.formats.at_once import AtOnce
from arena.formats.base import Pairing, Partners
from arena.formats.checks import refuse_options, refuse_too_many
from arena.formats.roster import Roster

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from arena.formats.base import Plan

_FEWEST_WITH_PARTNERS = 4


class RoundRobin(AtOnce):
    """All with all; the seats of a group turn and change their direction from cycle to cycle.

    With more than two seats every group of entrants meets once. Where partners rotate, all are
    partners equally often, and opponents twice as often.
    """

    name = "round-robin"
    fewer = "pods"
    summary = "Everybody meets everybody, once a cycle."
    explanation = (
        "Every two entrants meet once a cycle, and --rounds is the number of cycles, usually 1: "
        "2 makes a double round robin in which each pair has changed seats. In matches of more "
        "seats every possible group meets once a cycle; in games of pairs in which partners are "
        "not fixed all are partners equally often and opponents twice as often. The whole "
        "schedule is known from the start and nobody has a bye. Entrants are ranked by the part "
        "of their points that they won (a win 1, a draw 1/2; with more seats the part of the "
        "others that they left behind), then by Sonneborn-Berger (the points of those they beat "
        "and half of those they drew with), then by their mean total. A late entry plays all who "
        "are still in, as often as there are cycles. When an entrant leaves, what it has played "
        "stays, its other matches are won by those who were to meet it, and it comes after all "
        "who stayed."
    )

    def check(self, plan: Plan) -> None:
        """Refuse options, and cycles of more matches than any tournament has.

        Raises:
            RefusedError: One of these was asked for.
        """
        refuse_options(self.name, plan)
        hint = "play fewer rounds, or choose swiss, or pods for more than two seats"
        refuse_too_many(self.expected_matches(plan), hint)

    def pairings(self, plan: Plan) -> Iterator[Pairing]:
        """Pair everybody with everybody; then each late entry with all who are still in."""
        roster = Roster(plan)
        roster.advance(1)
        number = 1
        newcomers = list(roster.present)
        groups = list(everybody_with_everybody(plan, newcomers))
        while newcomers:
            for pairing in in_cycles(groups, plan, number):
                yield pairing
                number += 1
            newcomers = roster.advance(number)
            groups = list(newcomers_with_all(plan, newcomers, roster.present))

    def expected_matches(self, plan: Plan) -> int:
        """Count the groups of a cycle, and the cycles; what late entries add is in it."""
        if plan.changes:
            return sum(1 for _ in self.pairings(plan))
        entrants = plan.entrants
        if plan.partners is Partners.ROTATING:
            a_cycle = comb(entrants, 2) * (entrants - 3 + (entrants + 1) % 2) // 4
        else:
            a_cycle = comb(entrants, plan.seats)
        return a_cycle * cycles(plan)


round_robin = RoundRobin()


def cycles(plan: Plan) -> int:
    """Return how often a cycle is played."""
    return plan.rounds or 1


def everybody_with_everybody(plan: Plan, entrants: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Give the groups of one cycle, seats balanced."""
    for group in _groups(plan, len(entrants)):
        yield tuple(entrants[place] for place in group)


def newcomers_with_all(
    plan: Plan, newcomers: Sequence[int], present: Sequence[int]
) -> Iterator[tuple[int, ...]]:
    """Give the groups of one cycle that somebody is in who came late, seats balanced."""
    others = [entrant for entrant in present if entrant not in newcomers]
    groups: list[tuple[int, ...]] = []
    for newcomer in newcomers:
        if plan.partners is Partners.ROTATING:
            groups += _with_partners(newcomer, others)
        else:
            groups += ((newcomer, *rest) for rest in combinations(others, plan.seats - 1))
        others.append(newcomer)
    return _balanced(groups)


def in_cycles(
    groups: Sequence[tuple[int, ...]], plan: Plan, first: int, stage: str = ""
) -> Iterator[Pairing]:
    """Give the pairings of all cycles of some groups, numbered from the first."""
    number = first
    for cycle in range(cycles(plan)):
        for group in groups:
            yield Pairing(number, cycle + 1, _arranged(group, cycle), stage)
            number += 1


def _with_partners(newcomer: int, others: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Give matches in which a newcomer is the partner of each once, and the opponent twice."""
    if len(others) < _FEWEST_WITH_PARTNERS - 1:
        return
    for place, partner in enumerate(others):
        left, right = others[place - 1], others[place - 2]
        yield newcomer, left, partner, right


def _groups(plan: Plan, entrants: int) -> Iterator[tuple[int, ...]]:
    if entrants < plan.seats:
        return iter(())
    if plan.partners is Partners.ROTATING:
        groups = _partners(entrants)
        # In an odd circle everybody sits at every seat equally often as it is.
        return groups if entrants % 2 else _balanced(groups)
    if plan.seats == 2:  # noqa: PLR2004 - a pairing of two
        return _couples(entrants)
    return _balanced(_combinations(entrants, plan.seats))


def _couples(entrants: int) -> Iterator[tuple[int, ...]]:
    """Give all couples by the circle method: no entrant plays again before the others have.

    Of two the lower sits first if their difference is odd: so each sits first in half of its
    matches, or in half of one more.
    """
    circle = list(range(entrants + entrants % 2))
    half = len(circle) // 2
    for _ in range(len(circle) - 1):
        for couple in zip(circle[:half], reversed(circle[half:]), strict=True):
            low, high = sorted(couple)
            if high < entrants:
                yield (low, high) if (high - low) % 2 else (high, low)
        circle.insert(1, circle.pop())


def _combinations(entrants: int, seats: int) -> Iterator[tuple[int, ...]]:
    """Give every combination once, each followed by those that come of moving all on by one."""
    seen: set[frozenset[int]] = set()
    for first in combinations(range(entrants), seats):
        for step in range(entrants):
            group = tuple((entrant + step) % entrants for entrant in first)
            if frozenset(group) in seen:
                break
            seen.add(frozenset(group))
            yield group


def _partners(entrants: int) -> Iterator[tuple[int, ...]]:
    """Give matches of pairs in which all are partners equally often, opponents twice as often.

    The entrants stand in a circle of odd length, the last one of an even number outside it. From
    every place of the circle the couples of places at equal distance on both sides play each
    other: so between partners, and between opponents, each distance is as frequent as any other.
    Whoever stands outside plays with the place itself, against each of those couples.
    """
    circle = entrants - 1 + entrants % 2
    distances = range(1, circle // 2 + 1)
    for place in range(circle):
        for near, far in combinations(distances, 2):
            yield tuple((place + step) % circle for step in (near, far, -near, -far))
        if entrants > circle:
            for distance in distances:
                left, right = (place + distance) % circle, (place - distance) % circle
                yield circle, left, place, right


def _balanced(groups: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """Turn each group so that its entrants sit where they sat least."""
    sat: Counter[tuple[int, int]] = Counter()

    def often(seats: tuple[int, ...]) -> int:
        return sum(sat[entrant, seat] for seat, entrant in enumerate(seats))

    for group in groups:
        seats = min((_turned(group, steps) for steps in range(len(group))), key=often)
        sat.update((entrant, seat) for seat, entrant in enumerate(seats))
        yield seats


def _arranged(group: tuple[int, ...], cycle: int) -> tuple[int, ...]:
    turned = _turned(group, cycle // 2)
    return turned[::-1] if cycle % 2 else turned


def _turned(group: tuple[int, ...], steps: int) -> tuple[int, ...]:
    start = steps % len(group)
    return group[start:] + group[:start]
