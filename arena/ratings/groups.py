"""Which bots their ratings do not tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arena.ratings.base import Rating


def tie_groups(ratings: Sequence[Rating]) -> Mapping[str, tuple[int, ...]]:
    """Return the groups of each bot that cannot be told apart from all others.

    A group is a largest set of bots whose intervals mu - 2 sigma to mu + 2 sigma all overlap. A
    bot can be in several: if a overlaps b and b overlaps c, a and c may still be apart. Groups
    are numbered from 0, the best first; those of one bot follow each other.
    """
    spans = {
        rating.entrant: (rating.skill.mu - rating.margin, rating.skill.mu + rating.margin)
        for rating in ratings
    }
    # Intervals that overlap each other share a point, and a largest set of them shares the low
    # end of one.
    points = sorted({low for low, _ in spans.values()}, reverse=True)
    sharing = [
        frozenset(name for name, (low, high) in spans.items() if low <= point <= high)
        for point in points
    ]
    groups = [
        members
        for place, members in enumerate(sharing)
        if len(members) > 1 and not any(members < other for other in _around(sharing, place))
    ]
    return {
        name: held
        for name in spans
        if (held := tuple(n for n, members in enumerate(groups) if name in members))
    }


def _around(sharing: Sequence[frozenset[str]], place: int) -> Sequence[frozenset[str]]:
    """Return the sets of the neighbouring points: a set in any other is in one of these."""
    return sharing[max(0, place - 1) : place + 2]
