"""Where matches run: worker processes of this machine, one match each at a time.

A worker dies with its driver, and cleans up first: the kernel tells it of the driver's death by
SIGTERM, and a pipe that closes does so where the kernel does not. A worker that dies is replaced,
and the match it was playing is void.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass, replace
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, NoReturn, Self

from arena.jobs import WORKER_LOST, Beat, MatchDescription, Outcome, Voided
from arena.owners import ownership
from arena.sandbox.slots import pin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from types import FrameType

    from arena.home import Home
    from arena.sandbox.slots import Slot

    Play = Callable[[MatchDescription, Callable[[], None]], Outcome]

GRACE_SECONDS = 10.0
"""How long a worker that was told to end may clean up."""

BEAT_SECONDS = 1.0
"""Progress is reported at most this often."""

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Event:
    """Something a worker reported of a match; anything but a Beat ends it."""

    job: MatchDescription
    news: Beat | Outcome


class WorkerPool:
    """Worker processes, one for each slot of cores; leaving its context ends them all."""

    def __init__(self, home: Home, slots: Sequence[Slot | None], play: Play) -> None:
        """Start a worker for each slot; `play` is a function that other processes can import."""
        self._home = home
        self._play = play
        self._workers = [_Worker(home, slot, play) for slot in slots]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    @property
    def has_idle(self) -> bool:
        """Whether another match can be given now."""
        return any(worker.job is None for worker in self._workers)

    @property
    def running(self) -> tuple[MatchDescription, ...]:
        """The matches being played."""
        return tuple(worker.job for worker in self._workers if worker.job is not None)

    def give(self, job: MatchDescription) -> None:
        """Have an idle worker play a match; there must be one."""
        next(worker for worker in self._workers if worker.job is None).give(job)

    def wait(self, seconds: float) -> list[Event]:
        """Return what workers report within that time; a dead worker's match is void."""
        ready = wait([worker.connection for worker in self._workers], seconds)
        events = []
        for place, worker in enumerate(self._workers):
            if worker.connection in ready:
                job, news = worker.job, worker.news()
                if news is None:
                    news = Voided(reason=WORKER_LOST, detail=worker.end())
                    self._workers[place] = _Worker(self._home, worker.slot, self._play)
                if job is not None:
                    events.append(Event(job, news))
        return events

    def drop(self, job: MatchDescription) -> None:
        """End the worker that plays this match, and put a new one in its place."""
        for place, worker in enumerate(self._workers):
            if worker.job == job:
                worker.end()
                self._workers[place] = _Worker(self._home, worker.slot, self._play)

    def close(self) -> None:
        """End all workers; those that play clean up first."""
        for worker in self._workers:
            worker.tell_to_end()
        for worker in self._workers:
            worker.end()


class _Worker:
    """The driver's side of one worker process."""

    def __init__(self, home: Home, slot: Slot | None, play: Play) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.slot = slot
        self.job: MatchDescription | None = None
        self.connection, theirs = spawn.Pipe()
        lifeline, self._lifeline = spawn.Pipe(duplex=False)
        self._process: BaseProcess = spawn.Process(
            target=_work, args=(theirs, lifeline, home, slot, play), daemon=True
        )
        with _without_interrupts():
            self._process.start()
        theirs.close()
        lifeline.close()

    def give(self, job: MatchDescription) -> None:
        self.job = job
        # A worker that is already dead is noticed when its news are awaited.
        with contextlib.suppress(OSError):
            self.connection.send(job)

    def news(self) -> Beat | Outcome | None:
        """Receive one report; None if the worker is dead."""
        try:
            news: Beat | Outcome = self.connection.recv()
        except (EOFError, OSError):
            return None
        if not isinstance(news, Beat):
            self.job = None
        return news

    def tell_to_end(self) -> None:
        self._process.terminate()

    def end(self) -> str:
        """End the process, by force if it must be; return in words how it ended."""
        self._process.join(0.2)
        died_itself = not self._process.is_alive()
        self.tell_to_end()
        self._process.join(GRACE_SECONDS + 2)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self.connection.close()
        self._lifeline.close()
        code = self._process.exitcode
        self._process.close()
        return f"the worker process ended with code {code}" if died_itself else ""


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold SIGINT back from a process that starts: it must not die of Ctrl-C unprepared."""
    # With the first process that is spawned Python starts this one, and lets go of SIGINT then.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(
    connection: Connection, lifeline: Connection, home: Home, slot: Slot | None, play: Play
) -> None:
    """Be a worker: play one match after another until told to end."""
    _die_with_driver(lifeline)
    if slot is not None:
        pin(slot.referee)
    with ownership(home) as owner:
        while True:
            try:
                job: MatchDescription = connection.recv()
            except EOFError:
                return
            outcome = play(replace(job, slot=slot, owner=owner.boot), _heart(connection))
            connection.send(outcome)


def _heart(connection: Connection) -> Callable[[], None]:
    """Return what reports progress, but not more often than anybody wants to know."""
    last = time.monotonic()

    def beat() -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= BEAT_SECONDS:
            last = now
            connection.send(Beat())

    return beat


def _die_with_driver(lifeline: Connection) -> None:
    """Take SIGTERM as the order to clean up and end, and the driver's death as SIGTERM."""
    told = threading.Event()
    is_told = False

    def stop(_signal: int, _frame: FrameType | None) -> None:
        nonlocal is_told
        # A second order must not break off the cleaning up that the first one began, nor wait for
        # the event's lock, which the first one may hold.
        if not is_told:
            is_told = True
            told.set()
            sys.exit(128 + signal.SIGTERM)

    def watch() -> None:
        with contextlib.suppress(EOFError, OSError):
            lifeline.recv()
        os.kill(os.getpid(), signal.SIGTERM)

    def give_up() -> NoReturn:
        told.wait()
        time.sleep(GRACE_SECONDS)
        os._exit(128 + signal.SIGKILL)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    for target in (watch, give_up):
        threading.Thread(target=target, daemon=True).start()
