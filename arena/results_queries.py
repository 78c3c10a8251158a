"""What can be asked of stored results beside the matches themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmodel import col, select

from arena.tables import Match, Result

if TYPE_CHECKING:
    from arena.store import Store


def recorded_times(store: Store, tournament_id: int) -> dict[int, int]:
    """Return when each finished match was recorded, in milliseconds since 1970, by number."""
    with store.read() as session:
        rows = session.exec(
            select(Match.number, Result.recorded)
            .join(Result, col(Result.match_id) == Match.id)
            .where(Match.tournament_id == tournament_id)
        ).all()
    return dict(rows)
