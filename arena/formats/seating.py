"""Who sits where in a match: everybody where it sat least."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def fairest(
    group: Sequence[int],
    sat: Mapping[tuple[int, int], int],
    arrangements: Iterable[tuple[int, ...]] | None = None,
) -> tuple[int, ...]:
    """Return the arrangement that leaves seats most even, the first of equals.

    Args:
        group: Who is in the match.
        sat: How often an entrant has sat at a seat, by both.
        arrangements: Those to choose from; all orders of the group unless given.
    """
    return min(
        permutations(group) if arrangements is None else arrangements,
        key=lambda seats: sum(sat[entrant, seat] ** 2 for seat, entrant in enumerate(seats)),
    )


def across(group: Sequence[int], one: int, partner: int) -> list[tuple[int, ...]]:
    """Return the orders of a group of four in which two, and so the other two, sit across."""
    return [
        seats
        for seats in permutations(group)
        if {one, partner} in (set(seats[::2]), set(seats[1::2]))
    ]
