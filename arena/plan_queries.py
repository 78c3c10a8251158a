"""What formats and the referee are told of a stored tournament, inside a transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from sqlalchemy import func
from sqlmodel import col, select

from arena.contributions import seed_of
from arena.damage import row_of
from arena.errors import DamagedError
from arena.formats import Change as PlannedChange
from arena.formats import ChangeKind, Options, Partners, Plan
from arena.infos import MatchState
from arena.stored_texts import read_totals
from arena.tables import Change, Entrant, Match, Result, Tournament
from referee.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlmodel import Session

    from arena.formats import Totals


def plan_of(session: Session, row: Tournament) -> Plan:
    """Return what a format is told, as the transaction sees it.

    Raises:
        RefusedError: Too few are in for a match.
    """
    rows = session.exec(select(Entrant).where(Entrant.tournament_id == row.id)).all()
    changes = _planned_changes(session, row)
    joined = sum(change.kind is ChangeKind.JOIN for change in changes)
    rules = Rules.from_dict(json.loads(row.rules))
    return Plan(
        entrants=len(rows) - joined,
        seats=row.seats,
        rounds=row.rounds,
        seed=seed_of(session, row),
        partners=_partners(rules, [entrant.pair for entrant in rows]),
        options=Options.from_dict(json.loads(row.options)),
        changes=changes,
    )


def _partners(rules: Rules, pairs: Sequence[int | None]) -> Partners:
    if rules.sides != "pairs":
        return Partners.NONE
    return Partners.ROTATING if None in pairs else Partners.FIXED


def _planned_changes(session: Session, row: Tournament) -> tuple[PlannedChange, ...]:
    """Return the changes that pairings depend on; who leaves twice left the first time."""
    rows = session.exec(
        select(Change)
        .where(Change.tournament_id == row.id, col(Change.position).is_not(None))
        .order_by(col(Change.number))
    ).all()
    first = {(change.kind, change.position): change for change in reversed(rows)}
    return tuple(
        PlannedChange(
            kind=ChangeKind(change.kind),
            entrant=cast("int", change.position),
            after=cast("int", change.after),
        )
        for change in sorted(first.values(), key=lambda change: change.number)
    )


def results_of(session: Session, tournament: int) -> dict[int, Totals | None]:
    """Return the results that a format takes, as the transaction sees them.

    Raises:
        DamagedError: A match was played whose result is not there, or makes no sense.
    """
    name = session.get_one(Tournament, tournament).name
    rows = session.exec(
        select(Match, Result.totals)
        .join(Result, col(Result.match_id) == Match.id, isouter=True)
        .where(
            Match.tournament_id == tournament,
            col(Match.state).in_([MatchState.DONE, MatchState.CANCELLED]),
        )
        .order_by(col(Match.number))
    ).all()
    return {match.number: _totals(name, match, totals) for match, totals in rows}


def _totals(tournament: str, match: Match, stored: str | None) -> Totals | None:
    label = f"{tournament}/{match.number}"
    if stored is None:
        if match.state == MatchState.DONE:
            raise DamagedError(label, "result", match.id, "it is not there")
        return None
    with row_of("result", match.id, label):
        return read_totals(stored)


def count_changes(session: Session, tournament: int) -> int:
    """Return how often the list of entrants changed, as the transaction sees it."""
    return session.exec(select(func.count()).where(Change.tournament_id == tournament)).one()
