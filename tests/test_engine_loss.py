"""An engine that dies in the middle of a match: nobody is blamed, nothing is left."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING

import pytest
from sandboxes import SECONDS, await_true

from arena.jobs import ENGINE_LOST, MatchDescription, Played, Voided
from arena.runner import attempt
from arena.sandbox import BotSource, EngineLostError, StartRequest, images
from arena.sandbox.container import ContainerSandbox
from arena.sandbox.engine import Engine
from arena.sandbox.owners import SocketFolder
from referee.results import Entrant, MatchSpec, TimeControl
from referee.variants import find_variant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from arena.sandbox import RunningBot

pytestmark = [
    pytest.mark.docker,
    pytest.mark.long,
    pytest.mark.alone,
    # The engine's client leaks the socket with which it fails to connect.
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]


class OwnEngine:
    """An engine of the test's own, which it may kill."""

    def __init__(self, folder: Path) -> None:
        self.address = f"unix://{folder}/e.sock"
        self.options: tuple[str, ...] = ()
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        # In the same network it would take the bridge of the machine's engine away, and it leaves
        # a mount behind.
        command = [
            "unshare",
            "--net",
            "--mount",
            "dockerd",
            "--host",
            self.address,
            "--bridge=none",
        ]
        command += ["--iptables=false", "--ip6tables=false", "--pidfile", str(self._folder / "pid")]
        command += ["--data-root", str(self._folder / "data")]
        command += ["--exec-root", str(self._folder / "exec"), *self.options]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        await_true(_answers)

    def end(self, number: signal.Signals) -> None:
        """End it by a signal."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(SECONDS)
            self._process = None
            # It dies with the engine that was killed, but the next one takes it for alive until
            # somebody has asked how it ended.
            (self._folder / "exec" / "containerd" / "containerd.pid").unlink(missing_ok=True)


@pytest.fixture
def own(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OwnEngine]:
    """An engine that holds the local base image."""
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        pytest.skip("needs root and dockerd, to start an engine of its own")
    folder = tmp_path_factory.mktemp("e")
    archive = folder / "base.tar"
    base = images.python_bot_image().id
    subprocess.run(["docker", "save", "--output", archive, base], check=True)
    own = OwnEngine(folder)
    monkeypatch.setenv("DOCKER_HOST", own.address)
    own.start()
    subprocess.run(["docker", "load", "--quiet", "--input", archive], check=True)
    subprocess.run(["docker", "tag", base, "base"], check=True)
    yield own
    own.end(signal.SIGTERM)
    shutil.rmtree(folder, ignore_errors=True)
    # What the client leaked is to be found here, where it is expected.
    gc.collect()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_engine_that_dies_blames_nobody(
    own: OwnEngine, number: signal.Signals, tmp_path: Path
) -> None:
    """Neither while the engine is away nor when it is back does the bot seem to have crashed."""
    (tmp_path / "Dockerfile").write_text(
        'FROM base\nCMD ["python", "-c", "import time; time.sleep(600)"]\n'
    )
    image = images.build(tmp_path).id
    folder = SocketFolder.create("engine-loss")
    bot = ContainerSandbox().start(
        StartRequest(
            source=BotSource(image=image),
            socket_dir=folder.path,
            owner="engine-loss",
            attempt="a",
            seat=0,
        )
    )
    assert bot.poll() is None
    own.end(number)
    verdicts = [_verdict(bot) for _ in range(5)]
    own.start()
    until = time.monotonic() + 2
    while time.monotonic() < until:
        verdicts.append(_verdict(bot))
    assert set(verdicts) <= {"running", "engine lost"}
    assert verdicts[-1] == "engine lost"
    with pytest.raises(EngineLostError):
        bot.finish()
    folder.remove()
    ContainerSandbox().reap("next", [])
    assert Engine.connect().bots() == []
    # What the client leaked goes now, while the warning is expected.
    gc.collect()


SLOW = """\
import time
import burabot

def choose(turn):
    time.sleep(0.2)
    return 0

burabot.play(choose, name="slow", version="1")
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("options", [(), ("--live-restore",)], ids=["plain", "live-restore"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_match_whose_engine_dies_is_void_and_played_again(
    own: OwnEngine, number: signal.Signals, options: tuple[str, ...], tmp_path: Path
) -> None:
    """The attempt ends as engine_lost whoever outlives the engine; the next one is played."""
    own.end(signal.SIGTERM)
    own.options = options
    own.start()
    (tmp_path / "bot.py").write_text(SLOW)
    (tmp_path / "Dockerfile").write_text(
        'FROM base\nCOPY bot.py /bot/bot.py\nCMD ["python", "/bot/bot.py"]\n'
    )
    image = images.build(tmp_path).id
    description = MatchDescription(
        spec=MatchSpec(
            variant="bura",
            rules=find_variant("bura"),
            seats=2,
            decks=1,
            seed=bytes(range(32)),
            entrants=(Entrant("one"), Entrant("other")),
            time_control=TimeControl(move_time_ms=20_000, startup_ms=60_000),
        ),
        bots=(BotSource(image=image),) * 2,
        positions=(0, 1),
        sandbox="container",
        home=tmp_path / "home",
        folder="cup/1/1",
        owner="engine-loss",
    )
    beats = tmp_path / "beats"
    beats.touch()
    # In a process that is dead afterwards, so that what it leaves has no owner any more.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        playing = pool.submit(attempt, description, partial(_beat, beats))
        await_true(lambda: beats.stat().st_size > 6 or playing.done())
        own.end(number)
        outcome = playing.result(120)
    assert isinstance(outcome, Voided), outcome
    assert outcome.reason == ENGINE_LOST
    own.start()
    sandbox = ContainerSandbox()
    sandbox.reap("next", [])
    assert sandbox.engine.bots() == []
    again = attempt(replace(description, folder="cup/1/2"), lambda: None)
    assert isinstance(again, Played), again
    assert again.result.faults == ()
    assert sandbox.engine.bots() == []
    gc.collect()


def _beat(beats: Path) -> None:
    with beats.open("ab") as file:
        file.write(b".")


def _answers() -> bool:
    found = subprocess.run(["docker", "version"], capture_output=True, check=False)
    return found.returncode == 0


def _verdict(bot: RunningBot) -> str:
    try:
        end = bot.poll()
    except EngineLostError:
        return "engine lost"
    return "running" if end is None else str(end)
