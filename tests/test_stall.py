"""A worker that stands still: nobody loses by it, and the match is played again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from arena import bots, queries, tournament
from arena.home import Home
from arena.infos import AttemptState, MatchState
from arena.jobs import STALLED
from arena.store import Store
from arena.tournament import TournamentOptions
from referee.record import read_record
from referee.results import TimeControl

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPT = Path(__file__).parent / "crash_run.py"
CAP = 100.0
STOP_SECONDS = 4.0
BOT = """import pathlib, time
import burabot

ASKED = pathlib.Path({asked!r})

def choose(turn):
    if not ASKED.exists():
        ASKED.touch()
        time.sleep(15)
    return 0

burabot.play(choose, name="slow", version="1")
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """An arena with one match to play, in a path short enough for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="stall-"))
    with Store.open(Home(folder / "home")) as store:
        for name in ("first", "second"):
            (folder / name).mkdir()
            (folder / name / "bot.py").write_text(BOT.format(asked=str(folder / "asked")))
            bots.submit(store, name, str(folder / name), "process")
        tournament.create(
            store,
            TournamentOptions(
                name="cup",
                bots=("first", "second"),
                time=TimeControl(move_time_ms=60_000, startup_ms=60_000),
                rounds=1,
                decks=3,
                tables=1,
                seed=bytes(range(32)),
                sandbox="process",
            ),
        )
    yield folder / "home"
    shutil.rmtree(folder)


def test_a_worker_that_is_stopped_for_seconds_blames_nobody(home: Path) -> None:
    """After SIGSTOP and SIGCONT the attempt is void as platform_stall, and the next one counts."""
    process = subprocess.Popen(
        [sys.executable, SCRIPT, home],
        env={**os.environ, "XDG_RUNTIME_DIR": str(home.parent), "IMPATIENT": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + CAP
    while not (home.parent / "asked").exists():
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)
    (worker,) = _workers(process.pid)
    os.kill(worker, signal.SIGSTOP)
    time.sleep(STOP_SECONDS)
    os.kill(worker, signal.SIGCONT)
    out, err = process.communicate(timeout=CAP)
    assert process.returncode == 0, err
    assert STALLED in err
    assert json.loads(out)
    with Store.open(Home(home)) as store:
        details = queries.match(store, "cup", 1)
    assert details.match.state is MatchState.DONE
    *stalled, last = [attempt.state for attempt in details.attempts]
    assert set(stalled) == {AttemptState.VOID}
    assert last is AttemptState.RECORDED
    assert details.match.record is not None
    deals = read_record(details.match.record).deals
    assert not any(deal.faults or deal.lost_by for deal in deals)


def _workers(driver: int) -> list[int]:
    """Return the processes in which a driver has matches played."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            line = (path / "cmdline").read_bytes()
            parent = int((path / "stat").read_bytes().rpartition(b")")[2].split()[1])
        except OSError:
            continue
        if parent == driver and b"spawn_main" in line:
            found.append(int(path.name))
    return found
