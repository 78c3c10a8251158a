import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest
from stores import description, result

from arena.home import Home
from arena.jobs import WORKER_LOST, Beat, MatchDescription, Outcome, Played, Voided
from arena.owners import live_owners
from arena.sandbox.owners import ProcessStamp
from arena.sandbox.slots import Slot
from arena.workers import Event, WorkerPool

CAP = 60.0
"""Seconds within which anything here must happen, on a busy machine."""


def play_quickly(_job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """Decide a match at once."""
    beat()
    return Played(result=result(), reports=())


def say_who(job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """Void a match with the ids of the process and its owner as the detail."""
    beat()
    return Voided(reason="asked", detail=f"{os.getpid()} {job.owner}")


def say_where(_job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """Void a match with the cores of its worker as the detail."""
    beat()
    return Voided(reason="asked", detail=str(sorted(os.sched_getaffinity(0))))


def die(job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """Kill the worker in its first match of the arena, then play."""
    beat()
    marker = job.home / "died"
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return Played(result=result(), reports=())


def play_for_ever(job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """Play until told to end; leave a file that says so."""
    try:
        # A name that is there at once with what it holds: who waits for it reads it then.
        (job.home / "stamp").write_text(ProcessStamp.current().text)
        (job.home / "stamp").rename(job.home / "playing")
        while True:
            time.sleep(0.01)
            beat()
    finally:
        (job.home / "cleaned up").touch()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with its folders."""
    home = Home(tmp_path)
    home.create()
    return home


def events(pool: WorkerPool) -> Iterator[Event]:
    """Give the pool's events as they come."""
    until = time.monotonic() + CAP
    while time.monotonic() < until:
        yield from pool.wait(0.1)
    pytest.fail("the pool was silent for too long")


def outcomes(pool: WorkerPool) -> Iterator[Outcome]:
    """Give the ends of matches as they come; whoever awaits several takes them from one of these.

    A pool may tell of two at once.
    """
    return (event.news for event in events(pool) if not isinstance(event.news, Beat))


def wait_for(path: Path) -> None:
    """Wait until a file is there."""
    until = time.monotonic() + CAP
    while not path.exists():
        assert time.monotonic() < until, f"{path} did not come"
        time.sleep(0.02)


def wait_for_end(process: ProcessStamp) -> None:
    """Wait until a process is over, whether or not anybody has asked how it ended."""
    until = time.monotonic() + CAP
    while process.is_alive():
        assert time.monotonic() < until, f"{process} did not end"
        time.sleep(0.02)


def test_worker_plays_one_match_after_another(home: Home) -> None:
    """A worker is idle again after each match."""
    with WorkerPool(home, [None], play_quickly) as pool:
        ends = outcomes(pool)
        for number in (1, 2):
            pool.give(description(home, number=number))
            assert not pool.has_idle
            assert isinstance(next(ends), Played)
            assert pool.has_idle


def test_each_slot_has_a_process_of_its_own(home: Home) -> None:
    """Two slots play two matches in two processes."""
    with WorkerPool(home, [None, None], say_who) as pool:
        for number in (1, 2):
            pool.give(description(home, number=number))
        details = [str(end) for end in islice(outcomes(pool), 2)]
    assert len({detail.split()[1] for detail in details}) == 2


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no cores can be chosen here")
def test_worker_keeps_to_the_cores_of_the_referee(home: Home) -> None:
    """From its start on a worker leaves the bots' cores to bots, also those of other matches."""
    referee, *_ = cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("needs a core for the referee and another for the bots")
    slot = Slot(bots=(str(cores[1]),) * 2, referee=str(referee))
    with WorkerPool(home, [slot], say_where) as pool:
        pool.give(description(home))
        assert str(next(outcomes(pool))) == f"asked: [{referee}]"


def test_worker_is_an_owner_while_it_lives(home: Home) -> None:
    """What a worker starts carries its own boot id, which is live exactly as long as it is."""
    with WorkerPool(home, [None], say_who) as pool:
        pool.give(description(home))
        owner = str(next(outcomes(pool))).split()[-1]
        assert live_owners(home) == {owner}
    assert live_owners(home) == frozenset()


def test_killed_worker_voids_its_match_and_is_replaced(home: Home) -> None:
    """A kill -9 of a worker ends in worker_lost, and the next match is played."""
    with WorkerPool(home, [None], die) as pool:
        ends = outcomes(pool)
        pool.give(description(home))
        lost = next(ends)
        assert isinstance(lost, Voided)
        assert lost.reason == WORKER_LOST
        pool.give(description(home))
        assert isinstance(next(ends), Played)


def test_closing_lets_a_playing_worker_clean_up(home: Home) -> None:
    """Leaving the pool ends its workers in good order."""
    with WorkerPool(home, [None], play_for_ever) as pool:
        pool.give(description(home))
        wait_for(home.path / "playing")
    assert (home.path / "cleaned up").exists()


def test_dropped_match_ends_and_its_worker_is_replaced(home: Home) -> None:
    """A match whose lease is lost is broken off without closing the pool."""
    with WorkerPool(home, [None], play_for_ever) as pool:
        pool.give(description(home))
        wait_for(home.path / "playing")
        pool.drop(pool.running[0])
        assert (home.path / "cleaned up").exists()
        assert pool.has_idle


def test_worker_loads_no_database_and_no_command_line() -> None:
    """What plays matches starts at once and is small: a run starts one for each slot of cores."""
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, arena.runner, arena.workers; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"sqlmodel", "sqlalchemy", "click", "rich"} & set(loaded.stdout.split())


def test_ctrl_c_does_not_reach_a_worker(home: Home) -> None:
    """SIGINT goes to everybody at a terminal; only the driver decides what it means."""
    with WorkerPool(home, [None], play_for_ever) as pool:
        pool.give(description(home))
        wait_for(home.path / "playing")
        worker = pool._workers[0]._process
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGINT)
        heard = events(pool)
        # The first may have been on its way before the signal.
        assert all(isinstance(next(heard).news, Beat) for _ in range(3))
        assert not (home.path / "cleaned up").exists()


def _drive(home: Path) -> None:
    with WorkerPool(Home(home), [None], play_for_ever) as pool:
        pool.give(description(Home(home)))
        time.sleep(CAP)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells whether the worker is gone")
def test_worker_of_a_killed_driver_cleans_up_and_ends(home: Home) -> None:
    """A kill -9 of the driver leaves no worker behind."""
    driver = multiprocessing.get_context("spawn").Process(target=_drive, args=(home.path,))
    driver.start()
    wait_for(home.path / "playing")
    worker = ProcessStamp((home.path / "playing").read_text())
    driver.kill()
    driver.join()
    wait_for_end(worker)
    assert (home.path / "cleaned up").exists()
    assert live_owners(home) == frozenset()


TOLD_AGAIN = """
import os, signal, threading
from multiprocessing import Pipe
from arena import workers

class Interrupted(threading.Event):
    def set(self):
        with self._cond:
            os.kill(os.getpid(), signal.SIGTERM)
        super().set()

workers.threading.Event = Interrupted
lifeline, ours = Pipe(duplex=False)
workers._die_with_driver(lifeline)
os.kill(os.getpid(), signal.SIGTERM)
signal.pause()
"""


def test_worker_that_is_told_to_end_while_it_is_being_told_ends() -> None:
    """The kernel and the pipe tell of a driver's death at the same time."""
    done = subprocess.run([sys.executable, "-c", TOLD_AGAIN], timeout=CAP, check=False)
    assert done.returncode == 128 + signal.SIGTERM
