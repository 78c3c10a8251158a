"""What formats and the referee are told of a stored tournament, inside a transaction."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from sqlalchemy import func
from sqlmodel import col, select

from arena.contributions import seed_of
from arena.formats import Change as PlannedChange
from arena.formats import ChangeKind, Options, Partners, Plan
from arena.infos import MatchState
from arena.tables import Change, Entrant, Match, Result
from referee.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlmodel import Session

    from arena.formats import Totals
    from arena.tables import Tournament


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
    """Return the results that a format takes, as the transaction sees them."""
    rows = session.exec(
        select(Match.number, Result.totals)
        .join(Result, col(Result.match_id) == Match.id, isouter=True)
        .where(
            Match.tournament_id == tournament,
            col(Match.state).in_([MatchState.DONE, MatchState.CANCELLED]),
        )
        .order_by(col(Match.number))
    ).all()
    return {
        number: None if totals is None else tuple(map(Fraction, json.loads(totals)))
        for number, totals in rows
    }


def count_changes(session: Session, tournament: int) -> int:
    """Return how often the list of entrants changed, as the transaction sees it."""
    return session.exec(select(func.count()).where(Change.tournament_id == tournament)).one()
