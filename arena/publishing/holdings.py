"""All that the store holds of a tournament's matches, read at once for an export."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from sqlmodel import col, select

from arena.infos import version_label
from arena.tables import Attempt, Bot, BotVersion, Change, FaultRow, Match, Report, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlmodel import Session


Row = TypeVar("Row", Attempt, FaultRow, Report)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """A match as it is stored; faults and reports are those of the attempt that counts."""

    match: Match
    result: Result | None
    attempts: Sequence[Attempt]
    faults: Sequence[FaultRow]
    reports: Sequence[Report]


def holdings(session: Session, tournament: int) -> tuple[Holding, ...]:
    """Return a tournament's matches by their numbers, as the transaction sees them."""
    rows = session.exec(
        select(Match, Result)
        .join(Result, col(Result.match_id) == Match.id, isouter=True)
        .where(Match.tournament_id == tournament)
        .order_by(col(Match.number))
    ).all()
    attempts = _by_match(session, tournament, Attempt)
    faults = _by_match(session, tournament, FaultRow)
    reports = _by_match(session, tournament, Report)
    return tuple(
        Holding(
            match=match,
            result=result,
            attempts=sorted(attempts[number], key=lambda attempt: attempt.number),
            faults=[
                fault
                for fault in sorted(faults[number], key=lambda fault: cast("int", fault.id))
                if result and fault.attempt == result.attempt
            ],
            reports=[
                report for report in reports[number] if result and report.attempt == result.attempt
            ],
        )
        for match, result in rows
        for number in [cast("int", match.id)]
    )


def changes(session: Session, tournament: int) -> tuple[tuple[Change, str], ...]:
    """Return what happened to the list of entrants, in order, each with the entrant's label."""
    rows = session.exec(
        select(Change, Bot.name, BotVersion.number)
        .join(BotVersion, col(BotVersion.id) == Change.bot_version_id)
        .join(Bot, col(Bot.id) == BotVersion.bot_id)
        .where(Change.tournament_id == tournament)
        .order_by(col(Change.number))
    ).all()
    return tuple((change, version_label(name, version)) for change, name, version in rows)


def _by_match(session: Session, tournament: int, table: type[Row]) -> defaultdict[int, list[Row]]:
    found: defaultdict[int, list[Row]] = defaultdict(list)
    query = (
        select(table)
        .join(Match, col(Match.id) == table.match_id)
        .where(Match.tournament_id == tournament)
    )
    for row in session.exec(query):
        found[row.match_id].append(row)
    return found
