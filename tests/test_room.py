"""A disk that has no room for a match: the next one waits, says so, and goes on by itself."""

from __future__ import annotations

import shutil
from collections import namedtuple
from typing import TYPE_CHECKING

import pytest
from stores import result

from arena import bots, driver, tournament
from arena.home import Home
from arena.jobs import MatchDescription, Outcome, Played
from arena.store import Store
from arena.tournament import StopFlag, TournamentOptions
from referee.results import TimeControl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from arena.infos import MatchInfo

Usage = namedtuple("Usage", "total used free")  # noqa: PYI024 - what shutil gives


def play(job: MatchDescription, _beat: Callable[[], None]) -> Outcome:
    """Give the first entrant as many points as the match's number says."""
    return Played(result=result(scores=(job.spec.match, -job.spec.match)), reports=())


class Listener:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def started(self, match: MatchInfo) -> None:
        """Note a start."""
        self.lines.append(f"started {match.number}")

    def finished(self, match: MatchInfo) -> None:
        """Note a result."""
        self.lines.append(f"finished {match.number}")

    def voided(self, match: MatchInfo, reason: str) -> None:
        """Note an attempt that did not count."""
        self.lines.append(f"voided {match.number} {reason}")

    def note(self, text: str) -> None:
        """Note a remark."""
        self.lines.append(text)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An arena with a tournament of one match."""
    with Store.open(Home(tmp_path / "home")) as store:
        for name in ("anna", "boris"):
            folder = tmp_path / name
            folder.mkdir()
            (folder / "bot.py").write_text(f"print({name!r})\n")
            bots.submit(store, name, str(folder), "process")
        tournament.create(
            store,
            TournamentOptions(
                name="cup",
                bots=("anna", "boris"),
                time=TimeControl(),
                decks=1,
                seed=bytes(range(32)),
                sandbox="process",
            ),
        )
        yield store


def test_match_waits_for_room_on_the_disk(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """No match begins on a full disk, one line says why, and it begins once there is room."""
    free = iter([driver.ROOM_BYTES - 1] * 5)
    looks = []

    def usage(place: Path) -> Usage:
        looks.append(place)
        return Usage(1 << 40, 0, next(free, driver.ROOM_BYTES))

    monkeypatch.setattr(shutil, "disk_usage", usage)
    monkeypatch.setattr(driver, "_LOOK_SECONDS", 0.1)
    listener = Listener()
    report = tournament.run(store, "cup", progress=listener, stop=StopFlag(), play=play)
    assert report.played == 1
    assert set(looks) == {store.home.path}
    waits = [line for line in listener.lines if line.startswith("waiting for room")]
    assert len(waits) == 1
    assert "255 MiB are free" in waits[0]
    assert "arena clean" in waits[0]
    assert listener.lines[-2:] == ["started 1", "finished 1"]


def test_waiting_for_room_can_be_stopped(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that waits ends when it is told to, and nothing has counted."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 0, 0))
    stop = StopFlag()

    class Impatient(Listener):
        def note(self, text: str) -> None:
            super().note(text)
            stop.request()

    listener = Impatient()
    assert tournament.run(store, "cup", progress=listener, stop=stop, play=play).played == 0
    assert not [line for line in listener.lines if line.startswith("started")]
