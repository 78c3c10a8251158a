"""The driver of a tournament, with workers, an engine and a clock that tests move."""

from __future__ import annotations

import shutil
from collections import namedtuple
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from stores import OTHER, OWNER, add_tournament, result

from arena import driver, ledger, queries
from arena.driver import Driver, StopFlag
from arena.home import Home
from arena.infos import AttemptState, MatchState
from arena.jobs import STALLED, WORKER_LOST, Beat, MatchDescription, Outcome, Played, Voided
from arena.sandbox import EngineLostError
from arena.store import Store
from arena.tables import Match
from arena.workers import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from arena.infos import MatchInfo

    News = Callable[[], list[Event]]

Usage = namedtuple("Usage", "total used free")  # noqa: PYI024 - what shutil gives
PATIENCE = 1000
"""Looks at the workers after which a run that should have ended is stopped."""


class Bench:
    """Stands for workers, engine, listener and clock at once; notes in `log` what is asked."""

    def __init__(self, *news: News, workers: int = 1) -> None:
        """Report this, look after look; afterwards that all matches are played."""
        self.log: list[str] = []
        self.jobs: list[MatchDescription] = []
        self.now = 0.0
        self.engine_fails = 0
        self.reaping: Callable[[], None] = lambda: None
        self.stop = StopFlag()
        self._news = list(news)
        self._workers = workers
        self._looks = 0

    # What a pool of workers is asked.

    @property
    def has_idle(self) -> bool:
        """Whether fewer matches run than there are workers."""
        return len(self.jobs) < self._workers

    def give(self, job: MatchDescription) -> None:
        """Take a match."""
        self.log.append(f"give {job.spec.match}")
        self.jobs.append(job)

    def wait(self, seconds: float) -> list[Event]:
        """Report what comes next."""
        self._looks += 1
        if self._looks > PATIENCE:
            self.stop.request_now()
        self.now += seconds
        if self._news:
            return self._news.pop(0)()
        return [self.end(job, Played(result=result(), reports=())) for job in tuple(self.jobs)]

    def end(self, job: MatchDescription, outcome: Outcome) -> Event:
        """Report that a match ended."""
        self.jobs.remove(job)
        return Event(job, outcome)

    def drop(self, job: MatchDescription) -> None:
        """End a match."""
        self.log.append(f"drop {job.spec.match}")
        self.jobs.remove(job)

    # What a sandbox is asked.

    def reap(self, _owner: str, _live: object) -> int:
        """Remove what the dead left, if the engine does not fail."""
        self.log.append("reap")
        self.reaping()
        if self.engine_fails:
            self.engine_fails -= 1
            raise EngineLostError("it hangs")
        return 0

    # What a listener is told.

    def started(self, match: MatchInfo) -> None:
        """Hear of a start."""

    def finished(self, match: MatchInfo) -> None:
        """Hear of a result."""

    def voided(self, match: MatchInfo, reason: str) -> None:
        """Hear of an attempt that did not count."""

    def note(self, text: str) -> None:
        """Note a remark."""
        self.log.append(text)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store on a disk that has room."""
    has_room(monkeypatch, free=driver.ROOM_BYTES)
    with Store.open(Home(tmp_path / "home")) as store:
        yield store


def has_room(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    """Let so much be free on every disk."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 0, free))


def drive(store: Store, bench: Bench, monkeypatch: pytest.MonkeyPatch, *, matches: int) -> None:
    """Run a tournament of so many matches, which must end by itself."""
    add_tournament(store, matches=matches)
    resume(store, bench, monkeypatch)


def resume(store: Store, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run what is left of the tournament, which must end by itself."""
    monkeypatch.setattr(driver, "time", SimpleNamespace(monotonic=lambda: bench.now))
    info = queries.tournament(store, "cup")
    driving = Driver(store, info, bench, OWNER, progress=bench, stop=bench.stop)  # type: ignore[arg-type]
    driving.drive(bench)  # type: ignore[arg-type]
    assert not bench.stop.now, "the run did not end by itself"


def states(store: Store, number: int) -> list[AttemptState]:
    """Return what became of the attempts at a match."""
    return [attempt.state for attempt in queries.match(store, "cup", number).attempts]


def test_what_a_stalled_attempt_left_is_removed_before_the_next(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its worker may have been killed, and a bot that spins would keep the next one's cores."""

    def stall() -> list[Event]:
        bench.now += 1000
        return []

    bench = Bench(stall)
    drive(store, bench, monkeypatch, matches=1)
    assert bench.log[:4] == ["give 1", "drop 1", "reap", "give 1"]
    assert queries.match(store, "cup", 1).attempts[0].reason.startswith(STALLED)


def test_what_a_fenced_attempt_left_is_removed_too(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker whose match another run holds by now is ended in the same way."""

    def lose_the_lease() -> list[Event]:
        with store.write() as session:
            row = session.get_one(Match, 1)
            row.owner = OTHER.boot
            session.add(row)
        bench.now += 20
        return [Event(bench.jobs[0], Beat())]

    bench = Bench(lose_the_lease, list)
    drive(store, bench, monkeypatch, matches=1)
    assert bench.log[:3] == ["give 1", "drop 1", "reap"]


def test_engine_that_fails_while_leftovers_are_removed_is_asked_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on, and what the dead worker left goes before the next match begins."""
    bench = Bench(lambda: [bench.end(bench.jobs[0], Voided(reason=WORKER_LOST))])
    bench.engine_fails = 1
    drive(store, bench, monkeypatch, matches=1)
    assert bench.log[:4] == ["give 1", "reap", "reap", "give 1"]
    assert states(store, 1) == [AttemptState.VOID, AttemptState.RECORDED]


def test_what_an_engine_makes_for_a_dead_worker_is_removed_before_the_run_ends(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container that was asked for by a worker may appear after what it left was removed."""
    bench = Bench(lambda: [bench.end(bench.jobs[0], Voided(reason=WORKER_LOST))])
    drive(store, bench, monkeypatch, matches=1)
    assert bench.log == ["give 1", "reap", "give 1", "reap"]


def test_match_is_not_blamed_for_what_holds_its_driver_up(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Progress that was reported while containers were removed is read before it is missed."""

    def hold_up() -> None:
        bench.now += 1000

    bench = Bench(
        lambda: [bench.end(bench.jobs[0], Voided(reason=WORKER_LOST))],
        lambda: [Event(job, Beat()) for job in bench.jobs],
        list,
        workers=2,
    )
    bench.reaping = hold_up
    drive(store, bench, monkeypatch, matches=2)
    assert [line for line in bench.log if line.startswith("drop")] == []
    assert states(store, 2) == [AttemptState.RECORDED]


def test_run_whose_last_match_fills_the_disk_ends(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Room is waited for only if there is a match to begin."""

    def fill() -> list[Event]:
        has_room(monkeypatch, free=0)
        return []

    bench = Bench(fill)
    drive(store, bench, monkeypatch, matches=1)
    assert bench.log == ["give 1"]
    resume(store, bench, monkeypatch)
    assert bench.log == ["give 1"]


def test_full_disk_is_told_only_while_matches_wait(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a match left the run waits, says so once, and goes on by itself."""

    def empty() -> list[Event]:
        has_room(monkeypatch, free=driver.ROOM_BYTES)
        return []

    has_room(monkeypatch, free=0)
    bench = Bench(*[list] * 30, empty)
    drive(store, bench, monkeypatch, matches=1)
    told, *rest = bench.log
    assert told.startswith("waiting for room")
    assert rest == ["give 1"]


def test_paused_match_is_played_though_the_disk_was_full(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What rests after a failure is not forgotten while there is no room."""

    def fail() -> list[Event]:
        has_room(monkeypatch, free=0)
        return [bench.end(bench.jobs[0], Voided(reason=WORKER_LOST))]

    def empty() -> list[Event]:
        has_room(monkeypatch, free=driver.ROOM_BYTES)
        return []

    bench = Bench(fail, *[list] * 50, empty)
    drive(store, bench, monkeypatch, matches=1)
    assert states(store, 1) == [AttemptState.VOID, AttemptState.RECORDED]


def test_idle_workers_look_for_a_match_once_a_second(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database is not asked ten times a second for what cannot be new."""
    claims = []
    claim = ledger.claim

    def count(*args: object, **options: object) -> ledger.Lease | None:
        claims.append(bench.now)
        return claim(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(ledger, "claim", count)
    bench = Bench(*[list] * 50, workers=2)
    drive(store, bench, monkeypatch, matches=1)
    assert queries.match(store, "cup", 1).match.state is MatchState.DONE
    first, *others = claims
    assert first == 0
    # One for the second worker, one a second for five seconds, one after the result.
    assert 5 <= len(others) <= 7
