"""Plays one match: sockets, bots, the legs, what is known of the bots afterwards, the record.

Whatever happens, and by whatever signal it is stopped, nothing of a match is left behind but its
record and its logs.
"""

from __future__ import annotations

import errno
import os
import time
import traceback
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from arena import steps
from arena.formats import sides_of
from arena.jobs import (
    DISK_FULL,
    ENGINE_LOST,
    IMAGE_MISSING,
    LEAK,
    LIMITS_MISSING,
    REFEREE_ERROR,
    STALLED,
    MatchDescription,
    Outcome,
    Played,
    Voided,
)
from arena.recorded import deals_around
from arena.sandbox import (
    BotReport,
    EngineLostError,
    EngineMissingError,
    ImageMissingError,
    LimitsMissingError,
    StartRequest,
    find_sandbox,
)
from arena.sandbox.cgroups import parse_cpus
from arena.sandbox.owners import SocketFolder
from arena.sandbox.slots import pinned
from arena.steps import Step
from arena.stored_results import StoredFault, StoredReport, StoredResult
from referee.canary import LeakError, secrets_of, strangers_of
from referee.match import play_leg
from referee.players import Fault, FaultKind, Goodbye, PlatformStalledError
from referee.record import write_record
from referee.remote import Reception
from referee.results import SERIES, ClockUsage, MatchResult
from referee.wire import received_text, sent_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction
    from pathlib import Path

    from arena.sandbox import Exit, RunningBot, Sandbox
    from arena.sandbox.slots import Slot
    from referee.players import Message, Player, Traffic
    from referee.results import LegResult, MatchSpec, Offence

GOODBYE_SECONDS = 2.0
"""How long bots may take to exit after Goodbye."""

EXPLAIN_SECONDS = 3.0
"""How long to wait for the exit of a bot whose stream has ended; meanwhile no clock runs.

The kind of fault that is stored depends on it, so it is more than a busy machine takes to end a
process, and far less than the silence after which a match is taken from its worker.
"""

_POLL_SECONDS = 0.01

_UNKNOWN = BotReport(exit=None, out_of_memory=False, log="", log_truncated=False)

_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (EngineLostError, ENGINE_LOST),
    (EngineMissingError, ENGINE_LOST),
    (ImageMissingError, IMAGE_MISSING),
    (LimitsMissingError, LIMITS_MISSING),
    (PlatformStalledError, STALLED),
    (LeakError, LEAK),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchReport:
    """A match that was played, its record on disk, and how its bots ended."""

    result: MatchResult
    record: Path
    record_sha256: str
    milliseconds: int
    reports: tuple[StoredReport, ...]


def run_match(
    description: MatchDescription,
    watch: Callable[[Message], None] = lambda _: None,
    reports: list[StoredReport] | None = None,
) -> MatchReport:
    """Play all legs of a match, each with bots started afresh, and write its record.

    Args:
        description: The match.
        watch: Shown every message before a seat is sent it.
        reports: Filled with the bots' reports as they end; of use if the match fails.

    Raises:
        PlatformError: The platform failed; the match counts for nobody.
        SandboxError: The same, in the engine.
        OSError: The same, on the disk.
    """
    started = time.monotonic()
    collected = [] if reports is None else reports
    sandbox = find_sandbox(description.sandbox)
    for source in description.bots:
        sandbox.prepare(source)
    with pinned(description.slot.referee if description.slot else ""):
        legs = tuple(
            _Leg(description, sandbox, leg, watch, collected).play()
            for leg in range(description.spec.legs)
        )
    steps.checkpoint(Step.DECIDED)
    conditions = description.slot.condition if description.slot else ""
    result = MatchResult(spec=description.spec, legs=legs, conditions=conditions)
    steps.checkpoint(Step.RECORDING)
    path, sha256 = _write_record(description, result)
    steps.checkpoint(Step.RECORDED)
    return MatchReport(
        result=result,
        record=path,
        record_sha256=sha256,
        milliseconds=round((time.monotonic() - started) * 1000),
        reports=tuple(collected),
    )


def attempt(description: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """Play a match as workers do: what goes wrong comes back as a reason."""
    reports: list[StoredReport] = []
    try:
        report = run_match(description, lambda _: beat(), reports)
    except Exception as error:  # noqa: BLE001 - also our own bugs must end in a reason, not a loss
        _keep_traceback(description, error)
        detail = " ".join(str(error).split()) or type(error).__name__
        return Voided(reason=void_reason(error), detail=detail, reports=tuple(reports))
    return Played(result=_stored(description, report), reports=report.reports)


def void_reason(error: Exception) -> str:
    """Return the word for why an attempt counts for nobody."""
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return DISK_FULL
    return next((word for kind, word in _REASONS if isinstance(error, kind)), REFEREE_ERROR)


class _Leg:
    """One leg of a match, from its sockets to the removal of its bots."""

    def __init__(
        self,
        description: MatchDescription,
        sandbox: Sandbox,
        leg: int,
        watch: Callable[[Message], None],
        reports: list[StoredReport],
    ) -> None:
        self._description = description
        self._sandbox = sandbox
        self._leg = leg
        self._watch = watch
        self._reports = reports
        self._bots: list[RunningBot] = []
        self._result: LegResult | None = None
        self._players: list[_Watched] = []
        self._clocks: list[ClockUsage] = []
        self._secrets = secrets_of(description.spec, description.owner)
        self._strangers = strangers_of(description.spec, str(description.home))

    @property
    def _spec(self) -> MatchSpec:
        return self._description.spec

    def play(self) -> LegResult:
        with ExitStack() as stack:
            folders = [self._folder(stack) for _ in range(self._spec.seats)]
            reception = stack.enter_context(
                Reception(self._spec, self._leg, self._secrets | self._strangers)
            )
            for folder in folders:
                reception.listen(folder.socket)
            steps.checkpoint(Step.SOCKETS_MADE)
            # The threads stay until the bots are gone: the kernel may end a process together
            # with the thread that started it.
            threads = stack.enter_context(
                ThreadPoolExecutor(
                    self._spec.seats, initializer=_use_all_cores, initargs=(self._description.slot,)
                )
            )
            self._start(threads, stack, folders)
            steps.checkpoint(Step.STARTED)
            self._players = [_Watched(player, self._watch) for player in reception.players]
            try:
                reception.wait_for_bots(self._explain_absence)
                steps.checkpoint(Step.CONNECTED)
                self._result = result = play_leg(
                    self._spec,
                    self._leg,
                    self._players,
                    reception.inbox,
                    explain=self._explain,
                    clocks=self._clocks,
                )
                self._await_exits(result)
                return result
            finally:
                steps.checkpoint(Step.REMOVING)
                self._collect(threads)

    def _folder(self, stack: ExitStack) -> SocketFolder:
        folder = SocketFolder.create(self._description.owner)
        stack.callback(folder.remove)
        return folder

    def _start(
        self, threads: ThreadPoolExecutor, stack: ExitStack, folders: Sequence[SocketFolder]
    ) -> None:
        """Start all bots at once; those that did start are removed even if others did not."""
        steps.checkpoint(Step.STARTING)
        starting = [
            threads.submit(self._sandbox.start, self._request(seat, folder))
            for seat, folder in enumerate(folders)
        ]
        try:
            wait_for(starting)
        finally:
            for future in starting:
                if future.exception() is None:
                    stack.enter_context(future.result())
        self._bots = [future.result() for future in starting]

    def _request(self, seat: int, folder: SocketFolder) -> StartRequest:
        description = self._description
        slot = description.slot
        return StartRequest(
            source=description.bots[self._spec.entrant_at(self._leg, seat)],
            socket_dir=folder.path,
            owner=description.owner,
            attempt=f"{description.folder}/{self._leg}",
            seat=seat,
            limits=replace(description.limits, cpus=slot.bots[seat] if slot else ""),
            canaries=self._secrets,
        )

    def _explain_absence(self, seat: int) -> Fault | None:
        end = self._bots[seat].poll()
        if end is None:
            return None
        kind = FaultKind.OUT_OF_MEMORY if end.out_of_memory else FaultKind.START_FAILED
        return Fault(kind, seat, f"the bot ended before its Hello: {end}")

    def _explain(self, fault: Fault) -> Fault | None:
        """Say what lies behind the end of a stream or behind silence, if the sandbox knows."""
        seat = fault.seat
        seconds = EXPLAIN_SECONDS if fault.kind is FaultKind.DISCONNECTED else 0.0
        end = self._await_exit(seat, seconds)
        if end is None and self._bots[seat].ran_out_of_memory():
            detail = "a process of the bot was killed, out of memory; its main process lived on"
            return Fault(FaultKind.OUT_OF_MEMORY, seat, detail)
        if end is None:
            return None
        if end.out_of_memory:
            return Fault(FaultKind.OUT_OF_MEMORY, seat, f"the bot ended: {end}")
        if end.code == 0:
            return Fault(FaultKind.DISCONNECTED, seat, "the bot exited in the middle of a leg")
        return Fault(FaultKind.CRASH, seat, f"the bot ended: {end}")

    def _await_exits(self, result: LegResult) -> None:
        """Let the bots that heard Goodbye come to their end."""
        until = time.monotonic() + GOODBYE_SECONDS
        kinds = {offence.fault.seat: offence.fault.kind for offence in result.faults}
        for seat in range(len(self._bots)):
            if kinds.get(seat) is not FaultKind.NO_CONNECT:
                self._await_exit(seat, until - time.monotonic())

    def _await_exit(self, seat: int, seconds: float) -> Exit | None:
        until = time.monotonic() + seconds
        while (end := self._bots[seat].poll()) is None and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
        return end

    def _collect(self, threads: ThreadPoolExecutor) -> None:
        """End all bots at once and keep their reports; a failure shows after the others' end."""
        ending: list[Future[BotReport]] = [threads.submit(bot.finish) for bot in self._bots]
        wait_for(ending)
        for seat, future in enumerate(ending):
            # Where the engine is lost, what the referee itself knows is kept all the same.
            report = _UNKNOWN if future.exception() is not None else future.result()
            self._reports.append(self._report(seat, report))
        for seat, future in enumerate(ending):
            self._secrets.check(future.result().log.encode(), f"the log of seat {seat}")

    def _report(self, seat: int, report: BotReport) -> StoredReport:
        description = self._description
        limits = description.limits
        return StoredReport(
            leg=self._leg,
            seat=seat,
            position=description.positions[self._spec.entrant_at(self._leg, seat)],
            exit_code=report.exit.code if report.exit else None,
            signal=report.exit.signal if report.exit else None,
            out_of_memory=report.out_of_memory,
            cpu_seconds=report.cpu_seconds,
            peak_memory=report.peak_memory,
            log=_write_log(description, f"leg{self._leg}-seat{seat}.log", report.log),
            log_truncated=report.log_truncated,
            memory_limit=limits.memory,
            memory_kills=report.memory_kills,
            throttled_seconds=report.throttled_seconds,
            throttled_periods=report.throttled_periods,
            start_seconds=self._bots[seat].start_seconds,
            log_bytes=len(report.log.encode()),
            **self._measured(seat),
        )

    def _measured(self, seat: int) -> dict[str, Any]:
        """Return what the referee measured at a seat, and last messages of a leg that failed."""
        last: dict[str, str] = {}
        if self._result is not None:
            clock, traffic = self._result.clocks[seat], self._result.traffic[seat]
        else:
            clock = self._clocks[seat] if self._clocks else ClockUsage()
            traffic = self._players[seat].before_goodbye
            last["last_sent"] = sent_text(traffic.last_sent)
            last["last_received"] = received_text(traffic.last_received)
        return {
            **last,
            "decisions": clock.decisions,
            "answers": clock.count,
            "time_us": clock.total_us,
            **{f"p{percent}_us": clock.percentile_us(percent) for percent in (50, 95, 99)},
            "max_us": clock.max_us,
            "sending_us": traffic.sending_us,
            "sent_bytes": traffic.sent_bytes,
            "sent_messages": traffic.sent_messages,
            "received_bytes": traffic.received_bytes,
            "received_messages": traffic.received_messages,
        }


class _Watched:
    """A player whose every message is also shown to somebody else."""

    __slots__ = ("_before_goodbye", "_player", "_watch")

    def __init__(self, player: Player, watch: Callable[[Message], None]) -> None:
        self._player = player
        self._watch = watch
        self._before_goodbye: Traffic | None = None

    @property
    def before_goodbye(self) -> Traffic:
        """What was sent and received until it was told goodbye, which says nothing of before."""
        return self._before_goodbye or self._player.traffic

    @property
    def traffic(self) -> Traffic:
        """What was sent and received so far."""
        return self._player.traffic

    def prepare(self, message: Message) -> Callable[[], None]:
        """Show the message and prepare it."""
        if isinstance(message, Goodbye):
            self._before_goodbye = self._player.traffic
        self._watch(message)
        steps.checkpoint(Step.DEALING)
        return self._player.prepare(message)


def _use_all_cores(slot: Slot | None) -> None:
    """Let a thread start programs on the bots' cores, though that of the match keeps off them."""
    if slot is not None and hasattr(os, "sched_setaffinity"):
        cores = frozenset[int]().union(*map(parse_cpus, {slot.referee, *slot.bots}))
        os.sched_setaffinity(0, cores)


def _stored(description: MatchDescription, report: MatchReport) -> StoredResult:
    result = report.result
    return StoredResult(
        decks=deal_table(result),
        totals=result.totals,
        conditions=result.conditions,
        milliseconds=report.milliseconds,
        stalls=result.stalls,
        stalled_us=result.stalled_us,
        record=str(report.record.relative_to(description.home)),
        record_sha256=report.record_sha256,
        faults=tuple(_stored_fault(description, result, offence) for offence in result.faults),
        sides=sides_of(result.spec.rules, result.spec.seats),
    )


def _stored_fault(
    description: MatchDescription, result: MatchResult, offence: Offence
) -> StoredFault:
    known: dict[str, Any] = {}
    if offence.deal is None:
        played, lost = deals_around(result.legs[offence.leg].deals, offence.fault.seat)
        known |= {"deals_played": played, "deals_lost": lost}
    if offence.evidence is not None:
        evidence = offence.evidence
        known |= {
            "sent": sent_text(evidence.sent),
            "received": received_text(evidence.received),
            "limit_us": evidence.limit_us,
            "elapsed_us": evidence.elapsed_us,
            "bank_us": evidence.bank_us,
        }
    return StoredFault(
        leg=offence.leg,
        deal=offence.deal,
        seat=offence.fault.seat,
        position=description.positions[offence.entrant],
        kind=offence.fault.kind,
        detail=offence.fault.detail,
        **known,
    )


def deal_table(result: MatchResult) -> tuple[tuple[tuple[Fraction, ...], ...], ...]:
    """Return the scores as [deck][leg][entrant]; what is not mirrored is one deck of one leg."""
    if result.spec.match_format != SERIES:
        return ((result.totals,),)
    scores = {(deal.deck, deal.leg): deal.scores for deal in result.deals}
    return tuple(
        tuple(scores[deck, leg] for leg in range(result.spec.legs))
        for deck in range(result.spec.decks)
    )


def _write_record(description: MatchDescription, result: MatchResult) -> tuple[Path, str]:
    """Write the record, and name it by its hash once it is whole."""
    folder = description.home / "records" / description.folder
    folder.mkdir(parents=True, exist_ok=True)
    unnamed = folder / "record.jsonl"
    sha256 = write_record(unnamed, result.spec, result)
    path = folder / f"{sha256}.jsonl"
    unnamed.replace(path)
    # A folder is an entry of the one above it, which whoever made it may not have synced yet.
    for made in (folder, *folder.parents):
        _sync_folder(made)
        if made == description.home:
            break
    return path, sha256


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_log(description: MatchDescription, name: str, text: str) -> str:
    """Keep what a bot printed; return where, below the arena's folder, or "" if it was silent."""
    if not text:
        return ""
    path = description.home / "logs" / description.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path.relative_to(description.home))


def _keep_traceback(description: MatchDescription, error: Exception) -> None:
    try:
        _write_log(description, "referee.log", "".join(traceback.format_exception(error)))
    except OSError:
        # The reason still reaches the database; the disk may be what failed.
        return
