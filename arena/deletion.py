"""Takes back a tournament that was made by mistake, as long as nothing hangs on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmodel import delete, select

from arena import queries
from arena.desk import check_reason
from arena.errors import RefusedError
from arena.recovery import alone
from arena.tables import Attempt, Change, Entrant, Match

if TYPE_CHECKING:
    from sqlmodel import Session

    from arena.infos import TournamentInfo
    from arena.store import Store
    from arena.tables import Tournament


def delete_tournament(store: Store, name: str, reason: str) -> TournamentInfo:
    """Delete a tournament that never began; its name is free again, and nothing is kept of it.

    No run can begin meanwhile. What never began has neither records nor logs.

    Returns:
        What it was.

    Raises:
        NotFoundError: No tournament has this name.
        RefusedError: It was started or ended, a string was told for it, or the reason is empty.
        MachineError: A run is on.
    """
    check_reason(reason)
    with alone(store.home):
        info = queries.tournament(store, name)
        with store.write() as session:
            row = queries.find_tournament(session, name)
            _refuse_begun(session, row)
            for table in (Match, Change, Entrant):
                session.exec(delete(table).where(table.tournament_id == row.id))  # type: ignore[arg-type]
            session.delete(row)
    return info


def _refuse_begun(session: Session, row: Tournament) -> None:
    """Refuse to delete what others rely on.

    Raises:
        RefusedError: Saying what has happened.
    """
    attempt = select(Attempt).join(Match).where(Match.tournament_id == row.id)
    if row.started is not None or session.exec(attempt).first() is not None:
        raise RefusedError(
            f"{row.name} has begun, and what was played is not taken back",
            "arena tournament withdraw takes an entrant out",
        )
    if row.stopped is not None:
        raise RefusedError(f"{row.name} was stopped and its seed is public", "it stays as it is")
    if row.listed is not None:
        raise RefusedError(
            f"the list of strings of {row.name} is fixed: who deletes it now could choose the seed",
            "run it, or leave it as it is and make another under another name",
        )
