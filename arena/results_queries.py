"""Results as they are stored, read and put right beside the life of a match."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeGuard, cast

from sqlalchemy import func
from sqlmodel import col, select

from arena.infos import MatchState
from arena.stored_results import StoredFault
from arena.stored_texts import read_numbers
from arena.tables import Attempt, FaultRow, Match, Result

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from sqlmodel import Session

    from arena.recorded import Recorded
    from arena.store import Store

LAST_TIME = 253_402_300_799_999
"""The end of the year 9999, in milliseconds since 1970."""

Decks = tuple[tuple[tuple["Fraction", ...], ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultValues:
    """What a record, too, says of a result.

    Decks, totals and sides are texts as they are stored; of faults only what a record knows is set.
    """

    decks: str
    totals: str
    sides: str
    faults: tuple[StoredFault, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """The stored result of a match.

    Attributes:
        match_id: Key of the match.
        number: Of the match in the schedule.
        seats: Entrants' places in the schedule, by the seats of the first leg.
        attempt: The attempt that counts.
        record: Path of the record under the arena's folder.
        record_sha256: Of the record's bytes.
        attempt_sha256: The same as it was noted with the attempt.
        state: Of the match.
        values: What the record must agree with.
        broken_times: Names and values of the result's times that cannot be times.
    """

    match_id: int
    number: int
    seats: tuple[int, ...]
    attempt: int
    record: str
    record_sha256: str
    attempt_sha256: str
    state: str
    values: ResultValues
    broken_times: tuple[tuple[str, object], ...] = ()


def recorded_between(store: Store, tournaments: Sequence[int]) -> tuple[int, int] | None:
    """Return when the first and the last result of some tournaments were recorded.

    Returns:
        Milliseconds since 1970, None if there is no result.
    """
    with store.read() as session:
        query = (
            select(func.min(Result.recorded), func.max(Result.recorded))
            .join(Match, col(Match.id) == Result.match_id)
            # A damaged time that no calendar has is left to those who look for it.
            .where(col(Match.tournament_id).in_(tournaments), col(Result.recorded) <= LAST_TIME)
        )
        first, last = session.exec(query).one()
    return None if first is None else (first, last)


def without_result(store: Store, tournament_id: int) -> tuple[ResultRow, ...]:
    """Return the matches that are done and of which no result is stored, as if it were empty.

    `record_sha256` is that of the attempt that counts, empty if none is stored; `record` is empty.
    """
    with store.read() as session:
        rows = session.exec(
            select(Match, Attempt)
            .join(Result, col(Result.match_id) == Match.id, isouter=True)
            .join(
                Attempt,
                (col(Attempt.match_id) == Match.id) & (col(Attempt.number) == Match.attempt),
                isouter=True,
            )
            .where(
                Match.tournament_id == tournament_id,
                Match.state == MatchState.DONE,
                col(Result.match_id).is_(None),
            )
            .order_by(col(Match.number))
        ).all()
        return tuple(
            ResultRow(
                match_id=cast("int", match.id),
                number=match.number,
                seats=_seats(match.seats),
                attempt=match.attempt,
                record="",
                record_sha256="" if attempt is None else attempt.record_sha256,
                attempt_sha256="" if attempt is None else attempt.record_sha256,
                state=match.state,
                values=ResultValues(
                    decks="",
                    totals="",
                    sides="",
                    faults=_stored_faults(session, cast("int", match.id), match.attempt),
                ),
            )
            for match, attempt in rows
        )


def result_rows(store: Store, tournament_id: int) -> tuple[ResultRow, ...]:
    """Return a tournament's stored results in the order of the schedule."""
    with store.read() as session:
        rows = session.exec(
            select(Match, Result, Attempt)
            .join(Result, col(Result.match_id) == Match.id)
            .join(
                Attempt,
                (col(Attempt.match_id) == Result.match_id)
                & (col(Attempt.number) == Result.attempt),
                isouter=True,
            )
            .where(Match.tournament_id == tournament_id)
            .order_by(col(Match.number))
        ).all()
        return tuple(
            ResultRow(
                match_id=result.match_id,
                number=match.number,
                seats=_seats(match.seats),
                attempt=result.attempt,
                record=result.record,
                record_sha256=result.record_sha256,
                attempt_sha256="" if attempt is None else attempt.record_sha256,
                state=match.state,
                values=ResultValues(
                    decks=result.decks,
                    totals=result.totals,
                    sides=result.sides,
                    faults=_stored_faults(session, result.match_id, result.attempt),
                ),
                broken_times=tuple(
                    (name, getattr(result, name))
                    for name in ("recorded", "milliseconds")
                    if not _is_time(getattr(result, name))
                ),
            )
            for match, result, attempt in rows
        )


def put_right(store: Store, row: ResultRow, values: ResultValues) -> None:
    """Store a result as its record has it, and broken times as `restore` does.

    Faults that differ are stored anew; what was known of them beside the record is lost.
    """
    with store.write() as session:
        result = session.get_one(Result, row.match_id)
        result.decks, result.totals, result.sides = values.decks, values.totals, values.sides
        if row.broken_times:
            times = _times(store, session, row)
            for name, _ in row.broken_times:
                setattr(result, name, times[name])
        session.add(result)
        _put_faults_right(session, row, values)


def restore(store: Store, row: ResultRow, values: ResultValues, recorded: Recorded) -> None:
    """Store a result that is not there as its record has it; faults as `put_right` does.

    How long the match took no record says: it is taken for the time of the attempt, which is a
    little longer.
    """
    with store.write() as session:
        session.add(
            Result(
                match_id=row.match_id,
                attempt=row.attempt,
                decks=values.decks,
                sides=values.sides,
                totals=values.totals,
                conditions=recorded.conditions,
                stalls=recorded.stalls,
                stalled_us=recorded.stalled_us,
                record=row.record,
                record_sha256=row.record_sha256,
                **_times(store, session, row),
            )
        )
        _put_faults_right(session, row, values)


def _times(store: Store, session: Session, row: ResultRow) -> dict[str, int]:
    """Return the times of a result by those of its attempt, as far as these are times."""
    attempt = session.get_one(Attempt, (row.match_id, row.attempt))
    ended = attempt.ended if _is_time(attempt.ended) else store.now()
    started = attempt.started if _is_time(attempt.started) else ended
    return {"recorded": ended, "milliseconds": max(0, ended - started)}


def _is_time(value: object) -> TypeGuard[int]:
    """Tell whether a value can be milliseconds since 1970; SQLite keeps anything in any column."""
    return isinstance(value, int) and 0 <= value <= LAST_TIME


def _put_faults_right(session: Session, row: ResultRow, values: ResultValues) -> None:
    if values.faults == row.values.faults:
        return
    for fault in _fault_rows(session, row.match_id, row.attempt):
        session.delete(fault)
    session.add_all(
        FaultRow(match_id=row.match_id, attempt=row.attempt, **asdict(fault))
        for fault in values.faults
    )


def _seats(text: str) -> tuple[int, ...]:
    """Return the positions in a text; of one that is damaged nobody's."""
    try:
        return read_numbers(text)
    except (ValueError, TypeError):
        return ()


def _stored_faults(session: Session, match_id: int, attempt: int) -> tuple[StoredFault, ...]:
    return tuple(map(_fault_values, _fault_rows(session, match_id, attempt)))


def _fault_rows(session: Session, match_id: int, attempt: int) -> list[FaultRow]:
    found = session.exec(
        select(FaultRow)
        .where(FaultRow.match_id == match_id, FaultRow.attempt == attempt)
        .order_by(col(FaultRow.id))
    )
    return cast("list[FaultRow]", found.all())


def _fault_values(row: FaultRow) -> StoredFault:
    return StoredFault(
        leg=row.leg,
        deal=row.deal,
        seat=row.seat,
        position=row.position,
        kind=row.kind,
        detail=row.detail,
    )
