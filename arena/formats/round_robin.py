"""Everybody meets everybody, once a cycle."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations

from arena.formats.base import Pairing, Partners, Plan


def round_robin(
    plan: Plan,
    results: Mapping[int, tuple[Fraction, ...]],  # noqa: ARG001 - nobody's results change it
) -> tuple[Pairing, ...]:
    """Pair all with all; the seats of a group turn and change their direction from cycle to cycle.

    With more than two seats every group of entrants meets once. Where partners rotate, all are
    partners equally often, and opponents twice as often.
    """
    groups = list(_groups(plan))
    return tuple(
        Pairing(
            number=cycle * len(groups) + place + 1, round=cycle + 1, seats=_arranged(group, cycle)
        )
        for cycle in range(plan.rounds)
        for place, group in enumerate(groups)
    )


def _groups(plan: Plan) -> Iterator[tuple[int, ...]]:
    if plan.partners is Partners.ROTATING:
        groups = _partners(plan.entrants)
        # In an odd circle everybody sits at every seat equally often as it is.
        return groups if plan.entrants % 2 else _balanced(groups)
    if plan.seats == 2:  # noqa: PLR2004 - a pairing of two
        return _couples(plan.entrants)
    return _balanced(_combinations(plan.entrants, plan.seats))


def _couples(entrants: int) -> Iterator[tuple[int, ...]]:
    """Give all couples by the circle method: no entrant plays again before the others have."""
    circle = list(range(entrants + entrants % 2))
    half = len(circle) // 2
    for turn in range(len(circle) - 1):
        for left, right in zip(circle[:half], reversed(circle[half:]), strict=True):
            if max(left, right) < entrants:
                yield (left, right) if turn % 2 == 0 else (right, left)
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
