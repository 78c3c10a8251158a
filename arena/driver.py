"""The driver of a tournament: leases matches to workers and records what they come to."""

from __future__ import annotations

import shutil
import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from arena import ledger, planning, queries, steps
from arena.errors import MachineError
from arena.infos import MatchState
from arena.jobs import (
    ENGINE_LOST,
    INTERRUPTED,
    STALLED,
    WORKER_LOST,
    Beat,
    MatchDescription,
    Played,
    Voided,
)
from arena.owners import live_owners
from arena.recovery import attempt_folder
from arena.sandbox import BotSource, EngineLostError, Limits
from arena.steps import Step
from referee.match import budget_ms
from referee.results import Entrant, MatchSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from arena.infos import BotVersionInfo, MatchInfo, TournamentInfo
    from arena.ledger import Lease
    from arena.owners import Owner
    from arena.sandbox import Sandbox
    from arena.store import Store
    from arena.workers import Event, WorkerPool

_Found = TypeVar("_Found")

MAX_ENGINE_LOSSES = 5
"""Attempts in a row that the engine may fail before the run ends."""

_MARGIN_SECONDS = 60.0
_WAIT_SECONDS = 0.1
_LOOK_SECONDS = 1.0
_FIRST_PAUSE_SECONDS = 0.5

ROOM_BYTES = 256 << 20
"""What must be free on the arena's disk before a match begins."""


class ProgressListener(Protocol):
    """Told of what happens while a tournament runs, in the order in which it happens."""

    def started(self, match: MatchInfo) -> None:
        """A match was given to a worker."""

    def finished(self, match: MatchInfo) -> None:
        """A match was recorded."""

    def voided(self, match: MatchInfo, reason: str) -> None:
        """An attempt did not count; the match is played again unless its state is incomplete."""

    def note(self, text: str) -> None:
        """Something the organiser should know, in one line."""


class StopFlag:
    """How a run is told to stop: once for after the running matches, twice for at once."""

    def __init__(self) -> None:
        """Start unset."""
        self._requests = 0

    def request(self) -> None:
        """Ask to stop; the second time, to stop at once."""
        self._requests += 1

    def request_now(self) -> None:
        """Ask to stop at once."""
        self._requests = 2

    @property
    def draining(self) -> bool:
        """Whether no new match may start."""
        return self._requests > 0

    @property
    def now(self) -> bool:
        """Whether running matches are given up."""
        return self._requests > 1

    @contextmanager
    def signals(self) -> Iterator[Self]:
        """Take SIGINT (once, twice), SIGTERM and SIGHUP (at once) while the context lasts.

        A SIGHUP that is ignored, as under nohup, stays ignored.
        """

        def interrupt(_signal: int, _frame: FrameType | None) -> None:
            self.request()

        def terminate(_signal: int, _frame: FrameType | None) -> None:
            self.request_now()

        before = {
            signal.SIGINT: signal.signal(signal.SIGINT, interrupt),
            signal.SIGTERM: signal.signal(signal.SIGTERM, terminate),
        }
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            before[signal.SIGHUP] = signal.signal(signal.SIGHUP, terminate)
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@dataclass(slots=True)
class _Running:
    """A match at a worker: its lease, and when it last showed progress and was renewed."""

    lease: Lease
    job: MatchDescription
    progress: float
    renewed: float


class Driver:
    """One run of one tournament."""

    def __init__(
        self,
        store: Store,
        info: TournamentInfo,
        sandbox: Sandbox,
        owner: Owner,
        *,
        progress: ProgressListener,
        stop: StopFlag,
        reaped: bool = False,
    ) -> None:
        """Prepare; nothing is leased yet.

        Args:
            store: Where the tournament is.
            info: The tournament.
            sandbox: Where its bots run.
            owner: Who runs it.
            progress: Told of what happens.
            stop: Looked at between matches.
            reaped: Whether bots of the dead were just removed, of which more may come late.
        """
        self.played = self.voided = self.fenced = 0
        self._store = store
        self._info = info
        self._sandbox = sandbox
        self._owner = owner
        self._progress = progress
        self._stop = stop
        self._asked: tuple[object, ...] = ()
        self._changes = 0
        self._lease_seconds = _longest_silence(info)
        self._seed = b""
        self._given_up = MatchState.INCOMPLETE
        self._running: dict[int, _Running] = {}
        self._pauses: dict[int, float] = {}
        self._voids: dict[int, int] = {}
        self._engine_losses = 0
        self._lacks_room = False
        self._is_reaping_due = False
        self._may_come_late = reaped
        self._next_look = 0.0

    def drive(self, pool: WorkerPool) -> None:
        """Play until nothing is left, or until told to stop.

        Raises:
            MachineError: The engine or the database failed.
        """
        ledger.mark_started(self._store, self._info.id)
        self._seed = queries.deck_seed(self._store, self._info.id)
        if planning.is_endless(self._info):
            # Who waits for a match without end waits for ever; there are enough others.
            self._given_up = MatchState.CANCELLED
        self._plan()
        self._play(pool)
        if self._may_come_late:
            self._reap()

    def give_back(self) -> None:
        """Give up the matches that still run; this counts against nobody.

        Raises:
            StoreError: The database failed; the next run takes them back.
        """
        for running in list(self._running.values()):
            self._void(running, Voided(reason=INTERRUPTED))

    # ------------------------------------------------------------------------------- scheduling

    def _play(self, pool: WorkerPool) -> None:
        while not self._stop.now:
            self._fill(pool)
            waits = self._pauses or self._lacks_room
            if not self._running and (self._stop.draining or not waits):
                return
            self._hear(pool)
            self._keep_leases(pool)

    def _plan(self) -> bool:
        """Ask the format for pairings, if anything is new to it; return whether any came.

        Results come from this run alone, changes of the entrants and a stop from any process.
        """
        self._changes = queries.changes_so_far(self._store, self._info.id)
        now = queries.tournament(self._store, self._info.name)
        asked = (now.done, now.cancelled, len(now.entrants), len(now.present), now.stopped)
        if now.is_over or asked == self._asked:
            return False
        self._info, self._asked = now, asked
        return planning.extend(self._store, now) > 0

    def _fill(self, pool: WorkerPool) -> None:
        """Lease matches while workers are idle.

        Nothing can be new after a look in vain but what other processes do, unless an attempt or a
        pause ended since; for theirs a look a second is enough.
        """
        now = time.monotonic()
        over = [number for number, end in self._pauses.items() if end <= now]
        for number in over:
            del self._pauses[number]
        if over:
            self._next_look = now
        while pool.has_idle and not self._stop.draining and self._next_look <= now:
            lease = self._lease_next()
            if lease is None:
                self._next_look = now + _LOOK_SECONDS
                return
            self._give(pool, lease)

    def _lease_next(self) -> Lease | None:
        if self._is_reaping_due:
            self._reap()
        place = self._store.home.path
        free = shutil.disk_usage(place).free
        if free >= ROOM_BYTES:
            self._lacks_room = False
            return self._first(self._claim_planned)
        was_told = self._lacks_room
        self._lacks_room = self._first(self._is_any_planned) is not None
        if self._lacks_room and not was_told:
            self._progress.note(
                f"waiting for room on the disk of {place}: {free >> 20} MiB are free, a match "
                f"begins with {ROOM_BYTES >> 20}; `arena clean --images` may find some"
            )
        return None

    def _first(self, look: Callable[[], _Found | None]) -> _Found | None:
        """Look among the planned matches, and if there is none among those that follow."""
        if queries.changes_so_far(self._store, self._info.id) != self._changes:
            # Who came late does not wait until all that was planned before is played.
            self._plan()
        found = look()
        if found is None and self._plan():
            found = look()
        return found

    def _is_any_planned(self) -> bool | None:
        """Return True, or None where `_claim_planned` would find nothing."""
        skip = [*self._pauses, *self._running]
        return ledger.is_any_free(self._store, self._info.id, skip) or None

    def _claim_planned(self) -> Lease | None:
        return ledger.claim(
            self._store,
            self._info.id,
            self._owner,
            hard_seconds=self._hard_seconds(),
            lease_seconds=self._lease_seconds,
            skip=[*self._pauses, *self._running],
        )

    def _hard_seconds(self) -> float:
        spec = self._spec(tuple(range(self._info.seats)), number=1, attempt=1)
        return spec.legs * (budget_ms(spec) / 1000 + _MARGIN_SECONDS)

    def _give(self, pool: WorkerPool, lease: Lease) -> None:
        steps.checkpoint(Step.LEASED)
        if max(lease.seats) >= len(self._info.entrants):
            self._info = queries.tournament(self._store, self._info.name)
        info = self._info
        job = MatchDescription(
            spec=self._spec(lease.seats, number=lease.number, attempt=lease.attempt),
            bots=tuple(_source(info.entrants[position].bot) for position in lease.seats),
            positions=lease.seats,
            sandbox=info.sandbox,
            home=self._store.home.path,
            folder=attempt_folder(info.name, lease.number, lease.attempt),
            limits=Limits(),
        )
        now = time.monotonic()
        self._running[lease.number] = _Running(lease, job, progress=now, renewed=now)
        pool.give(job)
        self._progress.started(self._match(lease))

    def _spec(self, seats: tuple[int, ...], *, number: int, attempt: int) -> MatchSpec:
        info = self._info
        bots = [info.entrants[position].bot for position in seats]
        return MatchSpec(
            variant=info.variant,
            rules=info.rules,
            seats=info.seats,
            decks=info.decks,
            seed=self._seed,
            entrants=tuple(Entrant(bot.name, str(bot.version), bot.digest) for bot in bots),
            match=number,
            match_format=info.match_format,
            tables=info.tables,
            time_control=info.time,
            attempt=attempt,
        )

    # ---------------------------------------------------------------------------------- results

    def _hear(self, pool: WorkerPool) -> None:
        """Take what workers report until nothing is unread.

        To act on one report can take long, as removing containers does; the signs of progress that
        other matches gave meanwhile must be read before their silence is judged.
        """
        events = pool.wait(_WAIT_SECONDS)
        while events:
            for event in events:
                self._take(event)
            events = pool.wait(0)

    def _take(self, event: Event) -> None:
        running = self._running.get(event.job.spec.match)
        if running is None or running.job != event.job:
            return
        if isinstance(event.news, Beat):
            running.progress = time.monotonic()
        elif isinstance(event.news, Played):
            self._finish(running, event.news)
        else:
            self._void(running, event.news)
            self._after_void(running, event.news)

    def _finish(self, running: _Running, played: Played) -> None:
        steps.checkpoint(Step.FINISHING)
        counted = ledger.finish(self._store, running.lease, played.result, played.reports)
        steps.checkpoint(Step.FINISHED)
        self._forget(running.lease)
        self._engine_losses = 0
        if counted:
            self.played += 1
            self._progress.finished(self._match(running.lease))
        else:
            self._note_fenced(running.lease)

    def _void(self, running: _Running, voided: Voided) -> None:
        lease = running.lease
        counts = voided.reason not in {INTERRUPTED, ENGINE_LOST}
        state = ledger.void(
            self._store,
            lease,
            str(voided),
            voided.reports,
            counts=counts,
            given_up=self._given_up,
        )
        self._forget(lease)
        if state is None:
            self._note_fenced(lease)
            return
        self.voided += 1
        self._progress.voided(self._match(lease), str(voided))

    def _forget(self, lease: Lease) -> None:
        del self._running[lease.number]
        self._next_look = time.monotonic()

    def _drop(self, pool: WorkerPool, running: _Running) -> None:
        """End a match with its worker, which may be killed before it has removed its bots."""
        pool.drop(running.job)
        self._reap()

    def _reap(self) -> None:
        """Remove what dead workers left; if the engine fails, before the next match begins."""
        # An engine may still make what a worker asked for before its end.
        self._may_come_late = True
        try:
            self._sandbox.reap(self._owner.boot, live_owners(self._store.home))
        except EngineLostError:
            # Attempts will fail of this too, and are counted.
            self._is_reaping_due = True
        else:
            self._is_reaping_due = False

    def _after_void(self, running: _Running, voided: Voided) -> None:
        """Clean up after a dead worker; let what failed recover before it is tried again."""
        number = running.lease.number
        if voided.reason == WORKER_LOST:
            self._reap()
        if voided.reason == ENGINE_LOST:
            self._engine_losses += 1
            if self._engine_losses >= MAX_ENGINE_LOSSES:
                raise MachineError(
                    f"the engine failed {self._engine_losses} times in a row ({voided.detail})",
                    "see that it runs, then run the tournament again",
                )
        self._voids[number] = self._voids.get(number, 0) + 1
        pause = _FIRST_PAUSE_SECONDS * 2 ** self._voids[number]
        self._pauses[number] = time.monotonic() + pause

    def _keep_leases(self, pool: WorkerPool) -> None:
        """Renew the leases of matches that make progress; end those that do not."""
        now = time.monotonic()
        for running in list(self._running.values()):
            if now - running.progress > self._lease_seconds:
                self._drop(pool, running)
                stalled = Voided(reason=STALLED, detail="the match made no progress")
                self._void(running, stalled)
                self._after_void(running, stalled)
            elif now - running.renewed > self._lease_seconds / 4 and (
                running.progress > running.renewed
            ):
                running.renewed = now
                if not ledger.renew(self._store, running.lease, self._lease_seconds):
                    self._drop(pool, running)
                    self._forget(running.lease)
                    self._note_fenced(running.lease)

    def _note_fenced(self, lease: Lease) -> None:
        self.fenced += 1
        self._progress.note(
            f"attempt {lease.attempt} of match {lease.number} came too late and was thrown away"
        )

    def _match(self, lease: Lease) -> MatchInfo:
        return queries.match_info(self._store, self._info.name, lease.number)


def _longest_silence(info: TournamentInfo) -> float:
    """Return for how many seconds a match may show no progress though all is well, and more."""
    turns = info.time.move_time_ms * info.tables + info.time.bank_ms
    return ledger.LEASE_SECONDS + 2 * (info.time.startup_ms + turns) / 1000


def _source(bot: BotVersionInfo) -> BotSource:
    if bot.folder is not None:
        return BotSource(directory=bot.folder)
    return BotSource(image=bot.digest)
