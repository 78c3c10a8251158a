"""Formats whose whole schedule is known from the start, whatever the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.formats.base import Format, Schedule
from arena.formats.points import ranked_by_share, tally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.formats.base import Pairing, Place, Plan, Results


class AtOnce(Format):
    """Gives all pairings before the first result; late entries append what they missed."""

    def pairings(self, plan: Plan) -> Iterator[Pairing]:
        """Give all pairings, those of late entries last."""
        raise NotImplementedError

    def schedule(self, plan: Plan, results: Results) -> Schedule:  # noqa: ARG002 - nobody's results change it
        """Return all pairings."""
        return Schedule(tuple(self.pairings(plan)), complete=True)

    def ranking(self, plan: Plan, results: Results) -> tuple[Place, ...]:
        """Rank by the part of the points won, Sonneborn-Berger and mean total."""
        return ranked_by_share(plan, tally(plan, self.pairings(plan), results))
