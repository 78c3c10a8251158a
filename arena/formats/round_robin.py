"""Everybody meets everybody, once a cycle."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations

from arena.formats.base import Pairing, Plan


def round_robin(
    plan: Plan,
    results: Mapping[int, tuple[Fraction, ...]],  # noqa: ARG001 - nobody's results change it
) -> tuple[Pairing, ...]:
    """Pair all with all; every cycle turns the seats by one, so that nobody always sits first."""
    groups = list(_pairs(plan.entrants) if plan.seats == 2 else _groups(plan))  # noqa: PLR2004
    return tuple(
        Pairing(number=cycle * len(groups) + place + 1, round=cycle + 1, seats=_turn(group, cycle))
        for cycle in range(plan.rounds)
        for place, group in enumerate(groups)
    )


def _pairs(entrants: int) -> Iterator[tuple[int, ...]]:
    """Give all pairs by the circle method: no entrant plays again before the others have."""
    circle = list(range(entrants + entrants % 2))
    half = len(circle) // 2
    for turn in range(len(circle) - 1):
        for left, right in zip(circle[:half], reversed(circle[half:]), strict=True):
            if max(left, right) < entrants:
                yield (left, right) if turn % 2 == 0 else (right, left)
        circle.insert(1, circle.pop())


def _groups(plan: Plan) -> Iterator[tuple[int, ...]]:
    yield from combinations(range(plan.entrants), plan.seats)


def _turn(group: tuple[int, ...], cycle: int) -> tuple[int, ...]:
    start = cycle % len(group)
    return group[start:] + group[:start]
