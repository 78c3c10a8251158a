"""What can be asked of the store; nothing here changes it."""

from __future__ import annotations

import heapq
import json
from collections import Counter, defaultdict
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import func
from sqlmodel import col, select

from arena.contributions import contributions, list_of, seed_of
from arena.damage import row_of
from arena.entropy import hash_of_strings
from arena.errors import NotFoundError, with_near
from arena.formats import ChangeKind, Options, sides_of
from arena.infos import (
    AttemptInfo,
    AttemptState,
    BotInfo,
    BotVersionInfo,
    ChangeInfo,
    EntrantInfo,
    FaultInfo,
    MatchDetails,
    MatchInfo,
    MatchState,
    ReportInfo,
    Seeding,
    TournamentInfo,
    TournamentState,
    is_named,
    version_label,
)
from arena.owners import lives
from arena.plan_queries import count_changes, plan_of, results_of
from arena.reasons import ReasonKind
from arena.statistics.stats import PlayedMatch
from arena.stored_texts import read_decks, read_numbers, read_totals
from arena.tables import (
    Attempt,
    Bot,
    BotVersion,
    Change,
    Entrant,
    FaultRow,
    ListedString,
    Match,
    Report,
    Result,
    Tournament,
)
from referee.players import FaultKind
from referee.results import TimeControl
from referee.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sqlmodel import Session

    from arena.formats import Plan, Results
    from arena.home import Home
    from arena.store import Store

PROCESS = "process"


def bots(store: Store) -> tuple[BotInfo, ...]:
    """Return all bots by name."""
    with store.read() as session:
        rows = session.exec(select(Bot)).all()
        # Databases order texts by the customs of a language.
        ordered = sorted(rows, key=lambda row: row.folded)
        return tuple(_bot_info(session, store.home, row) for row in ordered)


def bot(store: Store, name: str) -> BotInfo:
    """Return one bot.

    Raises:
        NotFoundError: No bot has this name.
    """
    with store.read() as session:
        return _bot_info(session, store.home, _find_bot(session, name))


def bot_version(store: Store, label: str) -> BotVersionInfo:
    """Return the version that "name@2" means, or the newest for a bare "name".

    Raises:
        NotFoundError: There is no such bot, or no such version of it.
    """
    name, at, number = label.partition("@")
    info = bot(store, name)
    if not at:
        return info.versions[-1]
    for version in info.versions:
        if str(version.version) == number:
            return version
    newest = info.versions[-1].label
    raise NotFoundError(f"there is no version {number!r} of {info.name}: the newest is {newest}")


def tournaments(store: Store) -> tuple[TournamentInfo, ...]:
    """Return all tournaments, oldest first."""
    with store.read() as session:
        rows = session.exec(select(Tournament).order_by(col(Tournament.id))).all()
        return tuple(info_of(session, store, row) for row in rows)


def tournament(store: Store, name: str) -> TournamentInfo:
    """Return one tournament.

    Raises:
        NotFoundError: No tournament has this name.
    """
    with store.read() as session:
        return info_of(session, store, find_tournament(session, name))


def info_of(session: Session, store: Store, row: Tournament) -> TournamentInfo:
    """Return a tournament as the transaction sees it.

    Raises:
        DamagedError: What is stored of it makes no sense.
    """
    with row_of("tournament", row.id, row.name):
        return _tournament_info(session, store, row)


def deck_seed(store: Store, tournament: int) -> bytes:
    """Return what the decks follow from, whether or not it is revealed: for the referee alone."""
    with store.read() as session:
        return seed_of(session, session.get_one(Tournament, tournament))


def history(store: Store, tournament: str) -> tuple[ChangeInfo, ...]:
    """Return what happened to a tournament, its entrants and their promises, in order.

    Raises:
        NotFoundError: No tournament has this name.
    """
    with store.read() as session:
        row = find_tournament(session, tournament)
        changes = session.exec(
            select(Change, Bot.name, BotVersion.number)
            .join(BotVersion, col(BotVersion.id) == Change.bot_version_id)
            .join(Bot, col(Bot.id) == BotVersion.bot_id)
            .where(Change.tournament_id == row.id)
            .order_by(col(Change.number))
        ).all()
        held = session.exec(select(func.count()).where(Match.tournament_id == row.id)).one()
        strings = list_of(session, row)
    happened = [
        _change_info(row, change, version_label(name, number)) for change, name, number in changes
    ]
    given_up = [
        _given_up(string, string.forgone, version_label(name, version.number))
        for string, name, version in strings
        if string.forgone is not None
    ]
    given_up.sort(key=_created)
    ended = []
    if row.stopped is not None:
        ended.append(_end(_time(row.stopped), held if row.started else None, row.stop_reason))
    # Changes stay in the order in which they came, whatever the clock did.
    merged = heapq.merge(happened, given_up, ended, key=_created)
    return tuple(replace(each, number=number) for number, each in enumerate(merged, start=1))


def _created(change: ChangeInfo) -> datetime:
    return change.created


def _given_up(string: ListedString, forgone: int, entrant: str) -> ChangeInfo:
    return ChangeInfo(
        number=0,
        created=_time(forgone),
        joined=None,
        kind=ReasonKind.FORGONE,
        entrant=entrant,
        after=None,
        reason=string.reason,
    )


def _change_info(row: Tournament, change: Change, entrant: str) -> ChangeInfo:
    with row_of("change", f"{row.id}, {change.number}", row.name):
        return ChangeInfo(
            number=change.number,
            created=_time(change.created),
            joined=change.kind == ChangeKind.JOIN,
            kind=ReasonKind(change.reason_kind),
            entrant=entrant,
            after=change.after,
            reason=change.reason,
        )


def _end(created: datetime, after: int | None, reason: str | None) -> ChangeInfo:
    return ChangeInfo(
        number=0,
        created=created,
        joined=None,
        kind=None,
        entrant=None,
        after=after,
        reason=reason,
    )


def format_plan(store: Store, tournament: int) -> Plan:
    """Return what the format of a tournament is told of it, what happened since included."""
    with store.read() as session:
        return plan_of(session, session.get_one(Tournament, tournament))


def format_results(store: Store, tournament: int) -> Results:
    """Return the results of a tournament as formats take them: None for a cancelled match."""
    with store.read() as session:
        return results_of(session, tournament)


def changes_so_far(store: Store, tournament: int) -> int:
    """Return how often the list of entrants changed."""
    with store.read() as session:
        return count_changes(session, tournament)


def matches(store: Store, tournament: str, *, entrant: str | None = None) -> tuple[MatchInfo, ...]:
    """Return a tournament's matches in schedule order, or one bot's only ("name" or "name@2").

    Raises:
        NotFoundError: No tournament has this name.
    """
    with store.read() as session:
        row = find_tournament(session, tournament)
        infos = matches_of(session, store.home, row)
    if entrant is None:
        return infos
    return tuple(info for info in infos if any(is_named(name, entrant) for name in info.entrants))


def match(store: Store, tournament: str, number: int) -> MatchDetails:
    """Return one match with all that is known of it.

    Raises:
        NotFoundError: There is no such tournament, or no such match in it.
    """
    with store.read() as session:
        row = find_tournament(session, tournament)
        info = _one_match(session, store.home, row, number)
        return _match_details(session, store.home, row, info)


def match_info(store: Store, tournament: str, number: int) -> MatchInfo:
    """Return one match as it stands in the list of matches.

    Raises:
        NotFoundError: There is no such tournament, or no such match in it.
    """
    with store.read() as session:
        return _one_match(session, store.home, find_tournament(session, tournament), number)


def find_tournament(session: Session, name: str) -> Tournament:
    """Return the row of a tournament.

    Raises:
        NotFoundError: No tournament has this name.
    """
    found = session.exec(select(Tournament).where(Tournament.folded == name.casefold())).first()
    if found is None:
        known = session.exec(select(Tournament.name)).all()
        raise NotFoundError(
            f"there is no tournament {name!r}",
            with_near("arena tournament list shows those there are", name, known),
        )
    return found


def played_matches(
    store: Store, tournament: str, *, until: int | None = None
) -> tuple[PlayedMatch, ...]:
    """Return the finished matches in schedule order, as statistics and ratings take them.

    Args:
        store: The arena's database.
        tournament: Its name.
        until: Leave out what was recorded later, in milliseconds since 1970.

    Raises:
        NotFoundError: No tournament has this name.
        DamagedError: What is stored of a match makes no sense.
    """
    with store.read() as session:
        row = find_tournament(session, tournament)
        return played_of(session, store.home, row, until=until)


def played_of(
    session: Session, home: Home, row: Tournament, *, until: int | None = None
) -> tuple[PlayedMatch, ...]:
    """Return the finished matches as the transaction sees them; see `played_matches`.

    Raises:
        DamagedError: What is stored of a match makes no sense.
    """
    names = [entrant.name for entrant in entrants_of(session, home, row)]
    faults = _faults_by_match(session, row)
    query = (
        select(Match, Result)
        .join(Result, col(Result.match_id) == Match.id)
        .where(Match.tournament_id == row.id)
        .order_by(col(Match.number))
    )
    if until is not None:
        query = query.where(Result.recorded <= until)
    return tuple(
        _played_match(row.name, match, result, names, faults)
        for match, result in session.exec(query)
    )


def _played_match(
    tournament: str,
    match: Match,
    result: Result,
    names: Sequence[str],
    faults: Mapping[int, Sequence[FaultRow]],
) -> PlayedMatch:
    label = f"{tournament}/{match.number}"
    seats, entrants = _seated(label, match, names)
    committed = []
    for fault in faults[result.match_id]:
        with row_of("fault", fault.id, label):
            committed.append((seats.index(fault.position), str(FaultKind(fault.kind))))
    with row_of("result", result.match_id, label):
        return PlayedMatch(
            number=match.number,
            entrants=entrants,
            decks=read_decks(result.decks),
            sides=read_numbers(result.sides),
            faults=tuple(committed),
        )


def _seated(
    label: str, match: Match, names: Sequence[str]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return who sits where in the first leg: places in the schedule, and names."""
    with row_of("match", match.id, label):
        seats = read_numbers(match.seats)
        return seats, tuple(names[position] for position in seats)


def _faults_by_match(
    session: Session, row: Tournament, *, number: int | None = None
) -> defaultdict[int, list[FaultRow]]:
    found: defaultdict[int, list[FaultRow]] = defaultdict(list)
    query = (
        select(FaultRow)
        .join(Match, col(Match.id) == FaultRow.match_id)
        .where(Match.tournament_id == row.id)
        .order_by(col(FaultRow.id))
    )
    if number is not None:
        query = query.where(Match.number == number)
    for fault in session.exec(query):
        found[fault.match_id].append(fault)
    return found


def find_version(session: Session, bot: BotVersionInfo) -> int:
    """Return the id of a stored version, for rows that refer to it."""
    found = session.exec(
        select(BotVersion.id)
        .join(Bot, col(Bot.id) == BotVersion.bot_id)
        .where(Bot.name == bot.name, BotVersion.number == bot.version)
    ).one()
    return cast("int", found)


def _find_bot(session: Session, name: str) -> Bot:
    found = session.exec(select(Bot).where(Bot.folded == name.casefold())).first()
    if found is None:
        known = session.exec(select(Bot.name)).all()
        raise NotFoundError(
            f"there is no bot {name!r}",
            with_near("arena bot list shows those there are", name, known),
        )
    return found


def _bot_info(session: Session, home: Home, row: Bot) -> BotInfo:
    versions = session.exec(
        select(BotVersion).where(BotVersion.bot_id == row.id).order_by(col(BotVersion.number))
    ).all()
    return BotInfo(
        name=row.name,
        created=_time(row.created),
        versions=tuple(version_info(home, row.name, version) for version in versions),
    )


def version_info(home: Home, name: str, row: BotVersion, *, new: bool = False) -> BotVersionInfo:
    """Turn a stored version into a value."""
    return BotVersionInfo(
        name=name,
        version=row.number,
        kind=row.kind,
        digest=row.digest,
        source=row.source,
        folder=home.bots / row.digest.removeprefix("sha256:") if row.kind == PROCESS else None,
        created=_time(row.created),
        entropy=row.entropy,
        entropy_digest=row.entropy_digest,
        revealed=None if row.revealed is None else _time(row.revealed),
        new=new,
    )


def _tournament_info(session: Session, store: Store, row: Tournament) -> TournamentInfo:
    states = _match_states(session, row)
    state = _state(row, states, session, store.now())
    if state is TournamentState.PAUSED and _is_driven(session, store.home, row):
        state = TournamentState.RUNNING
    entrants = entrants_of(session, store.home, row)
    strings = contributions(session, row)
    return TournamentInfo(
        id=cast("int", row.id),
        name=row.name,
        created=_time(row.created),
        started=None if row.started is None else _time(row.started),
        stopped=None if row.stopped is None else _time(row.stopped),
        stop_reason=row.stop_reason,
        host_causes=None if row.host_causes is None else tuple(json.loads(row.host_causes)),
        state=state,
        variant=row.variant,
        rules=Rules.from_dict(json.loads(row.rules)),
        format=row.format,
        options=Options.from_dict(json.loads(row.options)),
        seats=row.seats,
        rounds=row.rounds,
        seeding=Seeding(row.seeding),
        frozen=row.frozen,
        decks=row.decks,
        match_format=row.match_format,
        tables=row.tables,
        time=TimeControl(row.move_time_ms, row.bank_ms, row.increment_ms, row.startup_ms),
        sandbox=row.sandbox,
        entrants=entrants,
        first_entrants=sum(not entrant.late for entrant in entrants),
        commitment=row.commitment,
        secret=bytes.fromhex(row.seed) if state.is_over else None,
        seed=seed_of(session, row) if state.is_over else None,
        seed_given=row.seed_given,
        contributions=strings,
        listed=None if row.listed is None else _time(row.listed),
        promises=hash_of_strings(row.commitment, strings),
        complete=row.complete,
        planned=states[MatchState.PLANNED],
        running=states[MatchState.LEASED],
        done=states[MatchState.DONE],
        incomplete=states[MatchState.INCOMPLETE],
        cancelled=states[MatchState.CANCELLED],
    )


def state_of(session: Session, row: Tournament, now: int) -> TournamentState:
    """Return how far a tournament is, as the transaction sees it; `now` in milliseconds."""
    return _state(row, _match_states(session, row), session, now)


def _match_states(session: Session, row: Tournament) -> Counter[str]:
    found = session.exec(
        select(Match.state, func.count())
        .where(Match.tournament_id == row.id)
        .group_by(col(Match.state))
    ).all()
    return Counter(dict(found))


def _state(row: Tournament, states: Counter[str], session: Session, now: int) -> TournamentState:
    if states[MatchState.LEASED] and _has_live_lease(session, row, now):
        return TournamentState.RUNNING
    if states[MatchState.PLANNED] or states[MatchState.LEASED]:
        return TournamentState.PAUSED if row.started else TournamentState.PLANNED
    if states[MatchState.INCOMPLETE]:
        return TournamentState.INCOMPLETE
    if row.complete:
        return TournamentState.FINISHED
    return TournamentState.PAUSED if row.started else TournamentState.PLANNED


def _has_live_lease(session: Session, row: Tournament, now: int) -> bool:
    live = select(Match.id).where(Match.tournament_id == row.id, col(Match.lease_until) >= now)
    return session.exec(live.limit(1)).first() is not None


def _is_driven(session: Session, home: Home, row: Tournament) -> bool:
    """Tell whether the run that leased its last match lives: it may be between two."""
    last = session.exec(
        select(Attempt.owner)
        .join(Match, col(Match.id) == Attempt.match_id)
        .where(Match.tournament_id == row.id)
        .order_by(col(Attempt.started).desc())
        .limit(1)
    ).first()
    return last is not None and lives(home, last)


def entrants_of(session: Session, home: Home, row: Tournament) -> tuple[EntrantInfo, ...]:
    """Return the entrants of a tournament in the order of its schedule."""
    rows = session.exec(
        select(Entrant, Bot.name, BotVersion)
        .join(BotVersion, col(BotVersion.id) == Entrant.bot_version_id)
        .join(Bot, col(Bot.id) == BotVersion.bot_id)
        .where(Entrant.tournament_id == row.id)
        .order_by(col(Entrant.position))
    ).all()
    came, left = _comings_and_goings(session, row)
    return tuple(
        EntrantInfo(
            index=entrant.position,
            bot=version_info(home, name, version),
            pair=entrant.pair,
            came=came.get(entrant.position),
            left=left.get(entrant.position),
        )
        for entrant, name, version in rows
    )


def _comings_and_goings(
    session: Session, row: Tournament
) -> tuple[dict[int, ReasonKind], dict[int, ReasonKind]]:
    """Return how one came after the start, and why one left, by position.

    The last reason counts; nothing can follow a disqualification.
    """
    came: dict[int, ReasonKind] = {}
    left: dict[int, ReasonKind] = {}
    changes = session.exec(
        select(Change)
        .where(Change.tournament_id == row.id, col(Change.position).is_not(None))
        .order_by(col(Change.number))
    )
    for change in changes:
        position = cast("int", change.position)
        if change.kind == ChangeKind.JOIN:
            came[position] = ReasonKind(change.reason_kind)
        else:
            left[position] = ReasonKind(change.reason_kind)
    return came, left


def _one_match(session: Session, home: Home, row: Tournament, number: int) -> MatchInfo:
    infos = matches_of(session, home, row, number=number)
    if not infos:
        raise NotFoundError(
            f"tournament {row.name} has no match {number}",
            f"arena match list {row.name} shows those there are",
        )
    return infos[0]


def matches_of(
    session: Session, home: Home, row: Tournament, *, number: int | None = None
) -> tuple[MatchInfo, ...]:
    """Return a tournament's matches in schedule order as the transaction sees them, or only one.

    Raises:
        DamagedError: What is stored of a match makes no sense.
    """
    names = [entrant.name for entrant in entrants_of(session, home, row)]
    with row_of("tournament", row.id, row.name):
        sides = sides_of(Rules.from_dict(json.loads(row.rules)), row.seats)
    query = (
        select(Match, Result)
        .join(Result, col(Result.match_id) == Match.id, isouter=True)
        .where(Match.tournament_id == row.id)
        .order_by(col(Match.number))
    )
    if number is not None:
        query = query.where(Match.number == number)
    faults = _faults_by_match(session, row, number=number)
    return tuple(
        _match_info(home, row, match, result, sides, names, len(faults[cast("int", match.id)]))
        for match, result in session.exec(query).all()
    )


def _match_info(  # noqa: PLR0917 - rows that were read together
    home: Home,
    row: Tournament,
    match: Match,
    result: Result | None,
    sides: tuple[int, ...],
    names: Sequence[str],
    faults: int,
) -> MatchInfo:
    label = f"{row.name}/{match.number}"
    _, entrants = _seated(label, match, names)
    with row_of("result", match.id, label):
        return MatchInfo(
            tournament=row.name,
            number=match.number,
            round=match.round,
            entrants=entrants,
            sides=sides,
            state=MatchState(match.state),
            attempt=match.attempt,
            reason=match.reason,
            scores=read_totals(result.totals) if result else None,
            faults=faults,
            conditions=result.conditions if result else "",
            record=_under(home, result.record) if result else None,
            record_sha256=result.record_sha256 if result else None,
            seconds=result.milliseconds / 1000 if result else None,
            stage=match.stage,
            committed=not row.seed_given,
            stalls=result.stalls if result else None,
            stalled_us=result.stalled_us if result else None,
        )


def _match_details(session: Session, home: Home, row: Tournament, info: MatchInfo) -> MatchDetails:
    names = {entrant.index: entrant.name for entrant in entrants_of(session, home, row)}
    match_id = session.exec(
        select(Match.id).where(Match.tournament_id == row.id, Match.number == info.number)
    ).one()
    attempts = session.exec(
        select(Attempt).where(Attempt.match_id == match_id).order_by(col(Attempt.number))
    ).all()
    faults = session.exec(
        select(FaultRow).where(FaultRow.match_id == match_id).order_by(col(FaultRow.id))
    ).all()
    reports = session.exec(
        select(Report)
        .where(Report.match_id == match_id)
        .order_by(col(Report.attempt), col(Report.leg), col(Report.seat))
    ).all()
    label = f"{row.name}/{info.number}"
    return MatchDetails(
        match=info,
        attempts=tuple(_attempt_info(attempt, label) for attempt in attempts),
        faults=tuple(_fault_info(fault, info.number, names, label) for fault in faults),
        reports=tuple(_report_info(report, home, names, label) for report in reports),
    )


def _attempt_info(row: Attempt, label: str) -> AttemptInfo:
    with row_of("attempt", f"{row.match_id}, {row.number}", label):
        return AttemptInfo(
            number=row.number,
            state=AttemptState(row.state),
            reason=row.reason,
            started=_time(row.started),
            ended=None if row.ended is None else _time(row.ended),
        )


def _fault_info(row: FaultRow, match: int, names: Mapping[int, str], label: str) -> FaultInfo:
    with row_of("fault", row.id, label):
        return FaultInfo(
            match=match,
            leg=row.leg,
            deal=row.deal,
            seat=row.seat,
            entrant=names[row.position],
            kind=FaultKind(row.kind),
            detail=row.detail,
            **_same(row, FaultInfo, after="detail"),
        )


def _report_info(row: Report, home: Home, names: Mapping[int, str], label: str) -> ReportInfo:
    with row_of("report", f"{row.match_id}, {row.attempt}, {row.leg}, {row.seat}", label):
        return ReportInfo(
            attempt=row.attempt,
            leg=row.leg,
            seat=row.seat,
            entrant=names[row.position],
            exit_code=row.exit_code,
            signal=row.signal,
            out_of_memory=row.out_of_memory,
            cpu_seconds=row.cpu_seconds,
            peak_memory=row.peak_memory,
            log=_under(home, row.log),
            log_truncated=row.log_truncated,
            **_same(row, ReportInfo, after="log_truncated"),
        )


def _same(row: FaultRow | Report, kind: type[FaultInfo | ReportInfo], *, after: str) -> Any:
    """Return what a row and a value hold under the same names, from the field after one on."""
    names = [each.name for each in fields(kind)]
    return {name: getattr(row, name) for name in names[names.index(after) + 1 :]}


def _under(home: Home, path: str) -> Path | None:
    return home.path / path if path else None


def _time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
