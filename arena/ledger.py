"""The life of a match in the database: planned, leased, then done, or back to planned.

A match that an entrant left before it was played is cancelled instead.

An attempt is claimed with a number, an owner and a lease. What it came to counts only if, in one
transaction, attempt and owner still hold; a late result changes nothing and is thrown away.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

from sqlalchemy import CursorResult, or_, update
from sqlmodel import col, select

from arena.contributions import contributions, fix_list, waiting
from arena.damage import row_of
from arena.formats import PLACEMENT, ChangeKind, check
from arena.infos import AttemptState, MatchState
from arena.plan_queries import count_changes, plan_of
from arena.stored_texts import decks_text, numbers_text, read_numbers, totals_text
from arena.tables import Attempt, Change, FaultRow, Match, Report, Result, Tournament

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sqlalchemy import ColumnElement
    from sqlmodel import Session

    from arena.formats import Schedule
    from arena.owners import Owner
    from arena.store import Store
    from arena.stored_results import StoredFault, StoredReport, StoredResult

MAX_VOIDS = 3
"""Attempts that may fail for reasons of the platform's before a match stays incomplete."""

LEASE_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to play one attempt of a match and to record what it comes to."""

    match_id: int
    number: int
    round: int
    seats: tuple[int, ...]
    attempt: int
    owner: str


def plan(
    store: Store, tournament_id: int, schedule: Schedule, *, changes: int | None = None
) -> int | None:
    """Add the pairings that the tournament does not hold yet; return how many those were.

    `changes` is how often the list of entrants had changed when the format was asked: if that is
    no longer so, nothing is added and None returned, for the format must be asked again. A
    tournament that was stopped takes none.
    """
    with store.write() as session:
        row = session.get_one(Tournament, tournament_id)
        if row.stopped is not None:
            return 0
        if changes not in {None, count_changes(session, tournament_id)}:
            return None
        return add_pairings(session, row, schedule)


def add_pairings(session: Session, row: Tournament, schedule: Schedule) -> int:
    """Add the pairings that the tournament does not hold yet; return how many those were."""
    known = set(session.exec(select(Match.number).where(Match.tournament_id == row.id)))
    new = [
        Match(
            tournament_id=cast("int", row.id),
            number=pairing.number,
            round=pairing.round,
            seats=numbers_text(pairing.seats),
            stage=pairing.stage,
        )
        for pairing in schedule.pairings
        if pairing.number not in known
    ]
    session.add_all(new)
    row.complete = schedule.complete
    session.add(row)
    return len(new)


def mark_started(store: Store, tournament_id: int) -> None:
    """Note when a tournament was first run, and fix the strings that are mixed into its seed.

    One that was stopped before is left as it is.

    Raises:
        RefusedError: Who is in by now cannot play it, or promised a string and did not tell it.
    """
    with store.write() as session:
        row = session.get_one(Tournament, tournament_id)
        if row.started is None and row.stopped is None:
            check(row.format, plan_of(session, row))
            missing = waiting(row.name, contributions(session, row))
            if missing is not None:
                raise missing
            fix_list(session, row, store.now())
            row.started = store.now()
            session.add(row)


def note_causes(store: Store, tournament_id: int, causes: Sequence[str]) -> None:
    """Keep what makes clocks unfair on this machine, beside what was found in earlier runs."""
    with store.write() as session:
        row = session.get_one(Tournament, tournament_id)
        known = [] if row.host_causes is None else json.loads(row.host_causes)
        row.host_causes = json.dumps(list(dict.fromkeys([*known, *causes])))
        session.add(row)


def claim(
    store: Store,
    tournament_id: int,
    owner: Owner,
    *,
    hard_seconds: float,
    lease_seconds: float = LEASE_SECONDS,
    skip: Collection[int] = (),
) -> Lease | None:
    """Lease the first match that is free, or whose lease ran out; None when there is none.

    The first matches of a newcomer go before all others, then the order is that of the schedule.
    `skip` holds numbers to leave for now. `hard_seconds` bounds the attempt however much
    progress it shows.
    """
    now = store.now()
    with store.write() as session:
        _cancel_overdue(session, tournament_id, now)
        match = _first_free(session, tournament_id, now, skip)
        if match is None:
            return None
        if match.state == MatchState.LEASED:
            _end_attempt(session, _lease(match), AttemptState.LOST, "the lease ran out", ended=now)
        match.state = MatchState.LEASED
        match.attempt += 1
        match.owner = owner.boot
        match.lease_until = now + int(lease_seconds * 1000)
        match.hard_until = now + int(hard_seconds * 1000)
        match.reason = ""
        lease = _lease(match)
        session.add(match)
        session.add(
            Attempt(
                match_id=lease.match_id,
                number=lease.attempt,
                owner=owner.boot,
                host=owner.host,
                started=now,
            )
        )
        return lease


def is_any_free(store: Store, tournament_id: int, skip: Collection[int] = ()) -> bool:
    """Tell whether `claim` would find a match, without taking it."""
    with store.read() as session:
        return _first_free(session, tournament_id, store.now(), skip) is not None


def _first_free(
    session: Session, tournament_id: int, now: int, skip: Collection[int]
) -> Match | None:
    return session.exec(
        select(Match)
        .where(
            Match.tournament_id == tournament_id,
            or_(col(Match.state) == MatchState.PLANNED, _is_overdue(now)),
            col(Match.number).not_in(skip),
        )
        .order_by(col(Match.stage) != PLACEMENT, col(Match.number))
        .limit(1)
    ).first()


def _is_overdue(now: int) -> ColumnElement[bool]:
    return (col(Match.state) == MatchState.LEASED) & or_(
        col(Match.lease_until) < now, col(Match.hard_until) < now
    )


def _cancel_overdue(session: Session, tournament_id: int, now: int) -> None:
    """Take overdue matches back that are not to be played again."""
    for match in session.exec(
        select(Match).where(Match.tournament_id == tournament_id, _is_overdue(now))
    ).all():
        state = _freed(session, match)
        if state is MatchState.CANCELLED:
            _end_attempt(session, _lease(match), AttemptState.LOST, "the lease ran out", ended=now)
            _take_back(session, match, state)


def renew(store: Store, lease: Lease, lease_seconds: float = LEASE_SECONDS) -> bool:
    """Extend a lease after progress; False if it is lost, or its hard end has passed."""
    now = store.now()
    with store.write() as session:
        return _change(
            session,
            lease,
            col(Match.hard_until) > now,
            lease_until=now + int(lease_seconds * 1000),
        )


def finish(
    store: Store, lease: Lease, result: StoredResult, reports: Iterable[StoredReport]
) -> bool:
    """Record what an attempt came to; False if it was fenced off and nothing was counted.

    Finishing again after the reply was lost changes nothing and gives True.
    """
    now = store.now()
    with store.write() as session:
        if _is_recorded(session, lease):
            return True
        if not _change(
            session,
            lease,
            state=MatchState.DONE,
            owner=None,
            lease_until=None,
            hard_until=None,
            reason="",
        ):
            _end_attempt(
                session,
                lease,
                AttemptState.FENCED,
                "the match was given to another attempt",
                ended=now,
                record_sha256=result.record_sha256,
            )
            return False
        _end_attempt(
            session,
            lease,
            AttemptState.RECORDED,
            "",
            ended=now,
            record_sha256=result.record_sha256,
        )
        session.add(_result_row(lease, result, now))
        session.add_all(_fault_row(lease, fault) for fault in result.faults)
        session.add_all(_report_row(lease, report) for report in reports)
        return True


def void(
    store: Store,
    lease: Lease,
    reason: str,
    reports: Iterable[StoredReport] = (),
    *,
    counts: bool = True,
    given_up: MatchState = MatchState.INCOMPLETE,
) -> MatchState | None:
    """Give an attempt up and the match back; None if the lease was lost before.

    An attempt that failed for a reason of the platform's counts towards the bound after which
    the match stays incomplete, or what else `given_up` says; one that the organiser stopped does
    not.
    """
    now = store.now()
    with store.write() as session:
        match = session.get(Match, lease.match_id)
        if match is None or not _holds(match, lease):
            return None
        match.voids += counts
        match.reason = reason
        state = _freed(session, match)
        if state is MatchState.PLANNED and match.voids >= MAX_VOIDS:
            state = given_up
        _take_back(session, match, state)
        _end_attempt(session, lease, AttemptState.VOID, reason, ended=now)
        session.add_all(_report_row(lease, report) for report in reports)
        return state


def release(store: Store, host: str, live: Collection[str]) -> int:
    """Take back at once what dead owners of this machine held; return how many matches."""
    now = store.now()
    with store.write() as session:
        held = session.exec(
            select(Match)
            .join(
                Attempt,
                (col(Attempt.match_id) == Match.id) & (col(Attempt.number) == Match.attempt),
            )
            .where(
                Match.state == MatchState.LEASED,
                Attempt.host == host,
                col(Match.owner).not_in(live),
            )
        ).all()
        for match in held:
            _end_attempt(session, _lease(match), AttemptState.LOST, "its driver died", ended=now)
            _take_back(session, match, _freed(session, match))
        return len(held)


def retry(store: Store, tournament_id: int) -> int:
    """Give incomplete matches another set of attempts; return how many there were."""
    with store.write() as session:
        return _rows(
            session.execute(
                update(Match)
                .where(
                    col(Match.tournament_id) == tournament_id,
                    col(Match.state) == MatchState.INCOMPLETE,
                )
                .values(state=MatchState.PLANNED, voids=0)
            )
        )


def cancel(session: Session, tournament_id: int, positions: Collection[int] | None = None) -> int:
    """Cancel what is not played of some entrants' matches, or of all; return how many those were.

    What is being played may end, and counts.
    """
    unplayed = [MatchState.PLANNED, MatchState.INCOMPLETE]
    found = [
        match
        for match in session.exec(
            select(Match).where(
                Match.tournament_id == tournament_id, col(Match.state).in_(unplayed)
            )
        )
        if positions is None or not seats_of(match).isdisjoint(positions)
    ]
    for match in found:
        match.state = MatchState.CANCELLED
        session.add(match)
    return len(found)


def seats_of(match: Match) -> frozenset[int]:
    """Return the positions of those who play a match.

    Raises:
        DamagedError: What is stored of them makes no sense.
    """
    return frozenset(_seats(match))


def _seats(match: Match) -> tuple[int, ...]:
    with row_of("match", match.id, f"match {match.number}"):
        return read_numbers(match.seats)


def _freed(session: Session, match: Match) -> MatchState:
    """Return what becomes of a match that an attempt gives back."""
    if session.get_one(Tournament, match.tournament_id).stopped is not None:
        return MatchState.CANCELLED
    left = session.exec(
        select(Change.position).where(
            Change.tournament_id == match.tournament_id,
            Change.kind == ChangeKind.LEAVE,
            col(Change.position).is_not(None),
        )
    ).all()
    return MatchState.PLANNED if seats_of(match).isdisjoint(left) else MatchState.CANCELLED


def _take_back(session: Session, match: Match, state: MatchState) -> None:
    match.state = state
    match.owner = match.lease_until = match.hard_until = None
    session.add(match)


def _lease(match: Match) -> Lease:
    return Lease(
        match_id=cast("int", match.id),
        number=match.number,
        round=match.round,
        seats=_seats(match),
        attempt=match.attempt,
        owner=cast("str", match.owner),
    )


def _holds(match: Match, lease: Lease) -> bool:
    return (match.state, match.attempt, match.owner) == (
        MatchState.LEASED,
        lease.attempt,
        lease.owner,
    )


def _change(session: Session, lease: Lease, *conditions: object, **values: object) -> bool:
    """Update the one row that the lease names, if attempt and owner still hold."""
    statement = update(Match).where(
        col(Match.id) == lease.match_id,
        col(Match.attempt) == lease.attempt,
        col(Match.owner) == lease.owner,
        col(Match.state) == MatchState.LEASED,
        *conditions,  # type: ignore[arg-type]
    )
    return _rows(session.execute(statement.values(**values))) == 1


def _rows(result: object) -> int:
    return cast("CursorResult[tuple[()]]", result).rowcount


def _is_recorded(session: Session, lease: Lease) -> bool:
    attempt = session.get(Attempt, (lease.match_id, lease.attempt))
    return attempt is not None and attempt.state == AttemptState.RECORDED


def _end_attempt(
    session: Session,
    lease: Lease,
    state: AttemptState,
    reason: str,
    *,
    ended: int,
    record_sha256: str = "",
) -> None:
    attempt = session.get_one(Attempt, (lease.match_id, lease.attempt))
    attempt.state = state
    attempt.reason = reason
    attempt.ended = ended
    attempt.record_sha256 = record_sha256
    session.add(attempt)


def _result_row(lease: Lease, result: StoredResult, now: int) -> Result:
    return Result(
        match_id=lease.match_id,
        attempt=lease.attempt,
        recorded=now,
        decks=decks_text(result.decks),
        sides=numbers_text(result.sides),
        totals=totals_text(result.totals),
        conditions=result.conditions,
        milliseconds=result.milliseconds,
        stalls=result.stalls,
        stalled_us=result.stalled_us,
        record=result.record,
        record_sha256=result.record_sha256,
    )


def _fault_row(lease: Lease, fault: StoredFault) -> FaultRow:
    return FaultRow(match_id=lease.match_id, attempt=lease.attempt, **asdict(fault))


def _report_row(lease: Lease, report: StoredReport) -> Report:
    return Report(match_id=lease.match_id, attempt=lease.attempt, **asdict(report))
