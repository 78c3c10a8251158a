"""Where a quick match puts its record, on disks of all kinds."""

from __future__ import annotations

import errno
import os
import shutil
from typing import TYPE_CHECKING, NoReturn

import pytest

from arena import play
from arena.home import Home
from arena.play import PlayOptions
from referee.results import TimeControl
from referee.rules import Rules
from referee.verification import verify_record

if TYPE_CHECKING:
    from pathlib import Path

BOT = "import burabot\nburabot.play(lambda turn: 0, name='first', version='1')\n"


@pytest.fixture
def options(tmp_path: Path) -> PlayOptions:
    """A match of one deck, whose record is to be kept."""
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.py").write_text(BOT)
    return PlayOptions(
        bots=(str(folder), str(folder)),
        seed=bytes(32),
        time=TimeControl(move_time_ms=20_000, startup_ms=60_000),
        rules=Rules(),
        variant="bura",
        decks=1,
        record=tmp_path / "match.jsonl",
    )


def refuse_links(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a disk that knows no hard links, and says so like this."""

    def refuse(*_: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP], ids=["fat", "network"])
def test_record_is_kept_where_no_hard_links_are(
    options: PlayOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """A match that was played is not lost for the kind of the disk."""
    refuse_links(number, monkeypatch)
    play.play(Home(tmp_path / "home"), options, "process")
    assert options.record is not None
    verify_record(options.record)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["match.jsonl"]


def test_record_that_appears_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without hard links, too, whoever comes second is told."""
    refuse_links(errno.EPERM, monkeypatch)
    record, target = tmp_path / "record", tmp_path / "target"
    record.write_text("late")
    target.write_text("early")
    with pytest.raises(FileExistsError):
        play._keep(record, target)
    assert target.read_text() == "early"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["record", "target"]


def test_half_a_record_is_not_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the disk is full before the copy is whole there is none."""
    refuse_links(errno.EPERM, monkeypatch)

    def fill_up(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfileobj", fill_up)
    monkeypatch.setattr(shutil, "copyfile", lambda _, draft: draft.touch())
    record = tmp_path / "record"
    record.write_text("whole")
    with pytest.raises(OSError, match="No space"):
        play._keep(record, tmp_path / "target")
    assert [path.name for path in tmp_path.iterdir()] == ["record"]
