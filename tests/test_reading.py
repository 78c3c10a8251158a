"""Reading an arena by a copy of its database: what goes wrong meanwhile, and what stays behind."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from arena import reading
from arena.cleaning import find_leftovers, take_back
from arena.errors import StoreError
from arena.home import Home
from arena.sandbox import owners, process
from arena.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

READER = """
import sys
from pathlib import Path

from arena import reading
from arena.home import Home

reading.may_write = lambda _: False
with reading.reading(Home(Path(sys.argv[1]))):
    print("reads", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where copies are made in these tests."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(owners, "_places", lambda: [folder])
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An arena that can be read only."""
    made = Home(tmp_path / "arena")
    Store.open(made).close()
    monkeypatch.setattr(reading, "may_write", lambda _: False)
    return made


def copying(monkeypatch: pytest.MonkeyPatch, before: Callable[[Path], None]) -> None:
    """Have something happen before a file is copied."""
    copyfile = shutil.copyfile

    def copy(source: Path, target: Path) -> None:
        before(source)
        copyfile(source, target)

    monkeypatch.setattr(shutil, "copyfile", copy)


def test_copy_of_a_killed_reader_is_left_and_that_of_a_living_one_is_not(
    home: Home, place: Path
) -> None:
    """It is named with its reason, and goes with the next command that starts bots, too."""
    for remove in (clean, start_bots):
        reader = subprocess.Popen(
            [sys.executable, "-c", READER, str(home.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(place)},
        )
        with reader:
            assert reader.stdout is not None
            assert reader.stdout.readline() == b"reads\n"
            assert find_leftovers(home, None) == []
            reader.send_signal(signal.SIGKILL)
        (copy,) = place.glob("bura-read-*")
        (found,) = find_leftovers(home, None)
        assert (found.kind, found.name) == ("temporary folder", str(copy))
        remove(home)
        assert not list(place.iterdir())


def clean(home: Home) -> None:
    """Remove what dead commands left, as `arena clean` does."""
    assert [one.remove() for one in find_leftovers(home, None)] == [""]


def start_bots(_: Home) -> None:
    """Remove what dead commands left, as whoever starts bots does."""
    take_back(process.ProcessSandbox())


def test_log_that_vanishes_while_it_is_copied_is_no_failure(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last writer takes the log away: then the database is copied again without it."""
    log = Path(f"{home.database}{reading.LOG}")
    log.touch()
    copied = []

    def vanish(source: Path) -> None:
        copied.append(source)
        if source == log:
            log.unlink(missing_ok=True)

    copying(monkeypatch, vanish)
    with reading.reading(home) as store:
        assert isinstance(store, reading.ReadingStore)
    assert copied == [home.database, log] * 2


def test_full_disk_is_not_the_owners(
    home: Home, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has no room for a copy is told where to make some."""

    def fill(_: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    copying(monkeypatch, fill)
    with pytest.raises(StoreError) as caught, reading.reading(home):
        pass
    assert str(place) in caught.value.message
    assert "No space left" in caught.value.message
    assert "TMPDIR" in caught.value.hint
    assert not list(place.iterdir())


def test_folder_for_copies_that_cannot_be_written_is_told(
    home: Home, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A temporary folder that is not there is a failure of the machine in one line."""
    monkeypatch.setattr(tempfile, "tempdir", str(place / "none"))
    told = pytest.raises(StoreError, match=r"cannot copy the database to .*none")
    with told, reading.reading(home):
        pass
