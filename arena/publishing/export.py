"""Writes a folder from which anybody can check a tournament, without the database."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Self, cast

from arena import queries
from arena.contributions import seed_of
from arena.damage import row_of
from arena.entropy import StringState
from arena.errors import DamagedError, MachineError, RefusedError
from arena.formats import ChangeKind
from arena.infos import AttemptInfo, AttemptState, MatchState
from arena.pools import rating_of
from arena.publishing.documents import RECORDS, Published, documents, record_path
from arena.publishing.holdings import changes, holdings
from arena.publishing.manifest import MANIFEST, Sum, chained, json_bytes, sum_of
from arena.publishing.published import (
    PublishedAttempt,
    PublishedChange,
    PublishedEntrant,
    PublishedFault,
    PublishedPairing,
    PublishedRating,
    PublishedResult,
    PublishedSchedule,
    PublishedString,
    PublishedUsage,
    SecondTournament,
)
from arena.publishing.rescheduling import rescheduled
from arena.rankings import pool_of
from arena.reasons import ReasonKind
from arena.recorded import read_recorded
from arena.stored_texts import read_decks, read_numbers, read_totals
from referee.record import RecordError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from arena.home import Home
    from arena.infos import Contribution, TournamentInfo
    from arena.publishing.holdings import Holding
    from arena.publishing.published import PublishedTournament, Value
    from arena.recorded import Recorded, RecordedRun
    from arena.store import Store
    from arena.tables import Attempt, Change, FaultRow, Report, Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A folder that was written; `head` is what to publish: it stands for every file in it."""

    folder: Path
    head: str
    files: int
    matches: int
    size: int


def export(
    store: Store,
    name: str,
    folder: Path,
    *,
    unfinished: bool = False,
    watch: Callable[[int], None] = lambda _: None,
) -> Exported:
    """Write a tournament into a folder, whole or not at all.

    Args:
        store: Where it is.
        name: The tournament's.
        folder: Is made, or has to be empty.
        unfinished: Whether to write also what is not finished, then without the seed.
        watch: Told how many matches are written.

    Raises:
        NotFoundError: No tournament has this name.
        RefusedError: It is not finished, or there is something in the folder.
        MachineError: A record is missing or not the one that was recorded, or the disk failed.
    """
    snapshot = _Snapshot.of(store, name)
    info = snapshot.info
    if info.secret is None and not unfinished:
        raise RefusedError(
            f"{info.name} is {info.state}: its seed is not revealed yet",
            "export it when its last match is played, or what there is with --unfinished",
        )
    folder = folder.absolute()
    part = folder.with_name(f"{folder.name}.part")
    _check_free(folder, part)
    try:
        part.mkdir(parents=True)
        try:
            exported = _write(store, snapshot, part, watch)
            part.rename(folder)
            return replace(exported, folder=folder)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
    except OSError as error:
        raise MachineError(
            f"cannot write {folder}: {error.strerror}", "choose a folder that can be written"
        ) from error


def _check_free(folder: Path, part: Path) -> None:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise RefusedError(f"{folder} is no folder", "name one that is not there yet")
    if folder.is_dir() and any(folder.iterdir()):
        raise RefusedError(f"there is something in {folder}", "name a folder that is not there yet")
    if part.exists():
        raise RefusedError(
            f"{part} is there: an export is running, or one was killed",
            "remove it if none is running",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Snapshot:
    """All that the store holds of a tournament, as of one moment.

    `seed` is what the decks follow from, revealed or not; who rests follows from it, too.
    """

    info: TournamentInfo
    held: tuple[Holding, ...]
    changed: tuple[tuple[Change, str], ...]
    seed: bytes = field(repr=False)

    @classmethod
    def of(cls, store: Store, name: str) -> Self:
        """Read all of it in one transaction, however much happens meanwhile.

        Raises:
            NotFoundError: No tournament has this name.
            DamagedError: What is stored makes no sense, or a result is not there.
        """
        with store.read() as session:
            row = queries.find_tournament(session, name)
            info = queries.info_of(session, store, row)
            held = holdings(session, info.id)
            _check_results(info, held)
            # What is damaged is told by those who read every row.
            queries.matches_of(session, store.home, row)
            queries.played_of(session, store.home, row)
            return cls(
                info=info,
                held=held,
                changed=changes(session, info.id),
                seed=seed_of(session, row),
            )


def _check_results(info: TournamentInfo, held: Sequence[Holding]) -> None:
    """Refuse to publish without a result that there was.

    Raises:
        DamagedError: Naming the first that is not there.
    """
    for holding in held:
        if holding.match.state == MatchState.DONE and holding.result is None:
            label = f"{info.name}/{holding.match.number}"
            raise DamagedError(label, "result", holding.match.id, "it is not there")


def _write(store: Store, snapshot: _Snapshot, part: Path, watch: Callable[[int], None]) -> Exported:
    (part / RECORDS).mkdir()
    recorded: dict[int, Recorded] = {}
    sums: dict[str, Sum] = {}
    for holding in snapshot.held:
        if holding.result is not None:
            number = holding.match.number
            path = record_path(number)
            sums[path] = _copy_record(store, number, holding.result, part / path)
            recorded[number] = _read(part / path, number)
            watch(len(recorded))
    published = _published(store.home, snapshot, recorded)
    for path, data in documents(published).items():
        (part / path).write_bytes(data)
        sums[path] = sum_of(part / path)
    manifest = chained(sums.items())
    (part / MANIFEST).write_bytes(json_bytes(manifest.model_dump(mode="json")))
    return Exported(
        folder=part,
        head=manifest.head,
        files=len(manifest.files) + 1,
        matches=len(recorded),
        size=sum(each.size for each in sums.values()),
    )


def _copy_record(store: Store, match: int, result: Result, target: Path) -> Sum:
    source = store.home.path / result.record
    try:
        shutil.copyfile(source, target)
    except FileNotFoundError as error:
        raise MachineError(
            f"the record of match {match} is missing: {source}", "restore it from a copy"
        ) from error
    found = sum_of(target)
    if found.sha256 != result.record_sha256:
        raise MachineError(
            f"{source} is not the record that was made of match {match}: its SHA-256 is "
            f"{found.sha256}, not {result.record_sha256}",
            "restore it from a copy",
        )
    return found


def _read(path: Path, match: int) -> Recorded:
    try:
        return read_recorded(path)
    except RecordError as error:
        raise MachineError(f"the record of match {match} cannot be read: {error}") from error


# ----------------------------------------------------------------------------------------- values


def _published(home: Home, snapshot: _Snapshot, recorded: dict[int, Recorded]) -> Published:
    info, held = snapshot.info, snapshot.held
    labels = tuple(entrant.name for entrant in info.entrants)
    done = [holding for holding in held if holding.match.number in recorded]
    tournament = _tournament(home, info, snapshot.changed)
    results = tuple(_result(holding, recorded[holding.match.number], labels) for holding in done)
    pairings = tuple(_pairing(holding, labels) for holding in held)
    schedule = PublishedSchedule(pairings=pairings, byes=())
    return Published(
        tournament=tournament,
        schedule=_with_byes(tournament, schedule, results, snapshot.seed),
        results=results,
        attempts=tuple(
            _attempt(holding.match.number, attempt)
            for holding in held
            for attempt in holding.attempts
        ),
        faults=tuple(
            _fault(holding, fault, labels) for holding in done for fault in holding.faults
        ),
        usage=tuple(
            _usage(holding, run, labels)
            for holding in done
            for run in recorded[holding.match.number].runs
        ),
        times={number: each.times for number, each in recorded.items()},
    )


def _with_byes(
    tournament: PublishedTournament,
    schedule: PublishedSchedule,
    results: Sequence[PublishedResult],
    seed: bytes,
) -> PublishedSchedule:
    """Who rests is stored nowhere: it follows from the schedule."""
    totals = {result.match: result.totals for result in results}
    byes = rescheduled(tournament, schedule, totals, seed).byes
    return schedule.model_copy(update={"byes": byes})


def _tournament(
    home: Home, info: TournamentInfo, changed: Sequence[tuple[Change, str]]
) -> PublishedTournament:
    rating, system = rating_of(home, pool_of(info))
    with row_of("tournament", info.id, info.name):
        return SecondTournament(
            engine=version("bura-arena"),
            name=info.name,
            created=info.created.isoformat(),
            started=None if info.started is None else info.started.isoformat(),
            stopped=None if info.stopped is None else info.stopped.isoformat(),
            stop_reason=info.stop_reason,
            state=info.state,
            variant=info.variant,
            rules=info.rules.to_dict(),
            seats=info.seats,
            decks=info.decks,
            match_format=info.match_format,
            tables=info.tables,
            time_control=info.time,
            sandbox=info.sandbox,
            tournament_format=info.format,
            rounds=info.rounds,
            options=info.options.to_dict(),
            partners=info.partners,
            seeding=info.seeding,
            frozen=info.frozen,
            entrants=tuple(
                PublishedEntrant(
                    name=entrant.bot.name,
                    version=entrant.bot.version,
                    kind=entrant.bot.kind,
                    digest=entrant.bot.digest,
                    pair=entrant.pair,
                )
                for entrant in info.entrants
            ),
            starters=info.first_entrants,
            rating=PublishedRating(system=rating, parameters=asdict(cast("Any", system))),
            changes=tuple(_change(change, label) for change, label in changed),
            entropy=tuple(_string(each) for each in info.contributions),
            commitment=info.commitment,
            seed=None if info.secret is None else info.secret.hex(),
            seed_given=info.seed_given,
            listed=None if info.listed is None else info.listed.isoformat(),
            promises=info.promises,
        )


def _string(each: Contribution) -> PublishedString:
    # Nothing follows from what came too late, so that nobody could check its digest.
    is_listed = each.state is not StringState.LATE
    return PublishedString(
        entrant=each.entrant,
        state=each.state,
        digest=each.digest if is_listed else None,
        text=each.text,
        is_later=each.is_later,
        reason=each.reason,
        forgone=None if each.forgone is None else each.forgone.isoformat(),
    )


def _change(change: Change, label: str) -> PublishedChange:
    return PublishedChange(
        kind=ChangeKind(change.kind),
        entrant=label,
        position=change.position,
        after=change.after,
        reason_kind=ReasonKind(change.reason_kind),
        reason=change.reason,
        created=_time(change.created).isoformat(),
    )


def _seats(holding: Holding) -> tuple[int, ...]:
    return read_numbers(holding.match.seats)


def _pairing(holding: Holding, labels: Sequence[str]) -> PublishedPairing:
    return PublishedPairing(
        match=holding.match.number,
        round=holding.match.round,
        stage=holding.match.stage,
        seats=_seats(holding),
        entrants=tuple(labels[seat] for seat in _seats(holding)),
        state=MatchState(holding.match.state),
    )


def _result(holding: Holding, recorded: Recorded, labels: Sequence[str]) -> PublishedResult:
    result = cast("Result", holding.result)
    return PublishedResult(
        match=holding.match.number,
        attempt=result.attempt,
        entrants=tuple(labels[seat] for seat in _seats(holding)),
        sides=read_numbers(result.sides),
        totals=read_totals(result.totals),
        decks=read_decks(result.decks),
        conditions=result.conditions,
        milliseconds=result.milliseconds,
        record=record_path(holding.match.number),
        record_sha256=result.record_sha256,
        digest=recorded.digest,
    )


def _attempt(match: int, attempt: Attempt) -> PublishedAttempt:
    with row_of("attempt", f"{attempt.match_id}, {attempt.number}", f"match {match}"):
        info = AttemptInfo(
            number=attempt.number,
            state=AttemptState(attempt.state),
            reason=attempt.reason,
            started=_time(attempt.started),
            ended=None if attempt.ended is None else _time(attempt.ended),
        )
    return PublishedAttempt(
        match=match,
        attempt=info.number,
        state=info.state,
        verdict=info.verdict,
        started=info.started.isoformat(),
        ended=None if info.ended is None else info.ended.isoformat(),
    )


def _time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)


def _fault(holding: Holding, fault: FaultRow, labels: Sequence[str]) -> PublishedFault:
    seats = _seats(holding)
    with row_of("fault", fault.id, f"match {holding.match.number}"):
        return PublishedFault(
            match=holding.match.number,
            place=(fault.leg + fault.seat) % len(seats),
            entrant=labels[fault.position],
            **_columns(fault, PublishedFault),
        )


def _usage(holding: Holding, run: RecordedRun, labels: Sequence[str]) -> PublishedUsage:
    """What the record holds comes from there, the rest from the report, if there is one."""
    stored = [row for row in holding.reports if (row.leg, row.seat) == (run.leg, run.seat)]
    reported = _columns(stored[0], PublishedUsage) if stored else {}
    key = f"{holding.match.id}, {run.leg}, {run.seat}"
    with row_of("report", key, f"match {holding.match.number}"):
        return PublishedUsage(
            **{
                **reported,
                "match": holding.match.number,
                "leg": run.leg,
                "seat": run.seat,
                "place": run.place,
                "entrant": labels[_seats(holding)[run.place]],
                "sent_bytes": run.sent_bytes,
                "received_bytes": run.received_bytes,
                **asdict(run.times),
            }
        )


def _columns(row: FaultRow | Report, value: type[Value]) -> dict[str, Any]:
    """Return what a row and a value hold under the same names."""
    names = value.model_fields.keys() & type(row).model_fields.keys()
    return {name: getattr(row, name) for name in names}
