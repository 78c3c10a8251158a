"""Who writes to a file of SQLite does so in turn, whoever dies or gives up in the line."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event
from sqlmodel import select
from stores import FORKS

from arena.databases import line, sqlite
from arena.databases.sqlite import set_up
from arena.errors import BusyStoreError
from arena.home import Home
from arena.store import Store
from arena.tables import Bot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from pathlib import Path

CAP = 60.0
PATIENCE = 600.0
"""More than CAP: who waited for so long never had its turn."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An arena whose database has its tables."""
    made = Home(tmp_path / "home")
    Store.open(made).close()
    return made


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    """A store that waits for longer than tests do."""
    with Store.open(home, busy_seconds=PATIENCE) as opened:
        yield opened


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> dict[str, threading.Event]:
    """Tell by the name of a thread when it stands in line, and others are before it."""
    events = {str(number): threading.Event() for number in range(10)}

    def sleep(seconds: float) -> None:
        events.get(threading.current_thread().name, threading.Event()).set()
        time.sleep(seconds)

    clock = SimpleNamespace(monotonic=time.monotonic, monotonic_ns=time.monotonic_ns, sleep=sleep)
    monkeypatch.setattr(line, "time", clock)
    return events


def add(store: Store, name: str) -> None:
    """Store a bot."""
    with store.write() as session:
        session.add(Bot(name=name, folded=name, created=0))


def names(store: Store) -> list[str]:
    """Name the bots in the order in which they were stored."""
    with store.read() as session:
        return list(session.exec(select(Bot.name).order_by("id")))


@contextmanager
def in_line(
    act: Callable[[], None], name: str, waiting: dict[str, threading.Event]
) -> Iterator[None]:
    """Let a thread come and wait; it has had its turn when the context has ended."""
    thread = threading.Thread(target=act, name=name, daemon=True)
    thread.start()
    assert waiting[name].wait(CAP)
    yield
    thread.join(CAP)
    assert not thread.is_alive()


@pytest.mark.parametrize("is_one_store", [True, False])
def test_order_of_service_is_order_of_arrival(
    home: Home, store: Store, waiting: dict[str, threading.Event], *, is_one_store: bool
) -> None:
    """Ten threads write as they came, though the one before them writes again and again."""
    with ExitStack() as stack:
        with store.write():
            for name in waiting:
                theirs = store
                if not is_one_store:
                    theirs = stack.enter_context(Store.open(home, busy_seconds=PATIENCE))
                stack.enter_context(in_line(lambda s=theirs, n=name: add(s, n), name, waiting))
        add(store, "again")
    assert names(store) == [*waiting, "again"]


def test_who_gave_up_does_not_hold_up_the_next(
    home: Home, store: Store, waiting: dict[str, threading.Event]
) -> None:
    """Who waited in vain is told of a busy database in one line; who came later has its turn."""
    told: list[str] = []

    def give_up() -> None:
        with Store.open(home, busy_seconds=0.2) as hasty, pytest.raises(BusyStoreError) as caught:
            add(hasty, "0")
        told.append(str(caught.value))

    with ExitStack() as stack, store.write():
        with in_line(give_up, "0", waiting):
            stack.enter_context(in_line(lambda: add(store, "1"), "1", waiting))
        busy = f"the database {home.database} is busy: another process is writing to it"
        assert told == [f"{busy}; try again later"]
    assert names(store) == ["1"]


def _hold(home: Home, pipe: Connection) -> None:
    with Store.open(home, busy_seconds=PATIENCE) as store, store.write():
        pipe.send(0)
        signal.pause()


def _hold_with_a_child(home: Home, pipe: Connection) -> None:
    with Store.open(home, busy_seconds=PATIENCE) as store, store.write():
        child = os.fork()
        if child:
            pipe.send(child)
        signal.pause()


def _wait(home: Home, pipe: Connection) -> None:
    def sleep(seconds: float) -> None:
        pipe.send(0)
        time.sleep(seconds)

    line.time = SimpleNamespace(  # type: ignore[assignment]
        monotonic=time.monotonic, monotonic_ns=time.monotonic_ns, sleep=sleep
    )
    with Store.open(home, busy_seconds=PATIENCE) as store:
        add(store, "killed")


@contextmanager
def killed(target: Callable[[Home, Connection], None], home: Home) -> Iterator[int]:
    """Kill a process when the context ends; give what it said when it stood where it should."""
    here, there = FORKS.Pipe()
    process = FORKS.Process(target=target, args=(home, there), daemon=True)
    process.start()
    try:
        assert here.poll(CAP)
        yield here.recv()
    finally:
        process.kill()
        process.join(CAP)
    assert process.exitcode == -signal.SIGKILL


def test_killed_writer_frees_the_next(
    home: Home, store: Store, waiting: dict[str, threading.Event]
) -> None:
    """The lock of a process that is killed while it writes goes with it."""
    with ExitStack() as stack, killed(_hold, home):
        stack.enter_context(in_line(lambda: add(store, "0"), "0", waiting))
    assert names(store) == ["0"]


def test_killed_writer_frees_the_next_though_its_child_lives(
    home: Home, store: Store, waiting: dict[str, threading.Event]
) -> None:
    """A child that was forked while its parent wrote does not keep the parent's place."""
    with ExitStack() as stack, killed(_hold_with_a_child, home) as child:
        stack.callback(os.kill, child, signal.SIGKILL)
        stack.enter_context(in_line(lambda: add(store, "0"), "0", waiting))
    assert names(store) == ["0"]


def test_killed_waiter_frees_the_next(
    home: Home, store: Store, waiting: dict[str, threading.Event]
) -> None:
    """The place of a process that is killed in line goes with it."""
    with ExitStack() as stack, store.write(), killed(_wait, home):
        stack.enter_context(in_line(lambda: add(store, "0"), "0", waiting))
    assert names(store) == ["0"]


def test_who_never_goes_in_does_not_keep_others_from_writing(home: Home) -> None:
    """A process that stands still in line delays others, but a free database is never busy."""
    lock = home.database.with_name("arena.db.lock")
    with line.standing(lock, 0), Store.open(home, busy_seconds=0.2) as store:
        add(store, "late")
        assert names(store) == ["late"]


def test_time_in_line_and_time_at_the_lock_are_one_time(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waited in vain asks SQLite for a moment only, and has all its patience again later."""
    monkeypatch.setattr(sqlite, "_LEAST_PATIENCE", 0.1)
    said: list[str] = []
    other = sqlite3.connect(home.database, isolation_level=None)
    set_up(other, 0)
    other.execute("BEGIN IMMEDIATE")
    lock = home.database.with_name("arena.db.lock")
    with Store.open(home, busy_seconds=0.2) as store:
        event.listen(
            store._readers, "connect", lambda made, _: made.set_trace_callback(said.append)
        )
        store.close()
        with line.standing(lock, 0), pytest.raises(BusyStoreError, match="is writing to it"):
            add(store, "never")
    other.close()
    begun = said.index("BEGIN IMMEDIATE")
    assert said[begun - 1 : begun + 2 : 2] == [f"PRAGMA busy_timeout = {ms}" for ms in (100, 200)]


def test_lock_file_that_cannot_be_opened_is_done_without(home: Home, store: Store) -> None:
    """Waiting is less fair then, and what is written is written."""
    lock = home.database.with_name("arena.db.lock")
    lock.unlink()
    lock.mkdir()
    add(store, "bot")
    assert names(store) == ["bot"]


def test_lock_file_stays_empty(home: Home, store: Store) -> None:
    """Places are locks: nothing is left of them that could be wrong later."""
    add(store, "bot")
    assert home.database.with_name("arena.db.lock").stat().st_size == 0
