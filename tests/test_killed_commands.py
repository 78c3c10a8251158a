"""Commands that are killed in the middle: the next one removes what they left."""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
from typing import TYPE_CHECKING

import pytest
from patient import ARENA, GENEROUS
from sandboxes import await_true

from arena import cleaning
from arena.cli import main
from arena.home import Home
from arena.owners import ownership, was_left
from arena.sandbox.engine import Engine

if TYPE_CHECKING:
    from pathlib import Path

BOT = """import burabot
burabot.play(lambda turn: 0, name="first", version="1")
"""
SLOW = """import time
import burabot
burabot.play(lambda turn: time.sleep(0.2) or 0, name="slow", version="1")
"""
DEAF = "import time; time.sleep(600)"
DOCKERFILE = """ARG BASE=bura-python-bot
FROM ${BASE}
COPY bot.py /bot/bot.py
CMD ["python", "/bot/bot.py"]
"""


@pytest.fixture(autouse=True)
def places(
    short_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, Path]:
    """Sockets and temporary files of these tests and of their commands, where nobody else's lie."""
    files = tmp_path / "files"
    files.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short_folder))
    monkeypatch.setenv("TMPDIR", str(files))
    monkeypatch.setattr(tempfile, "tempdir", str(files))
    return short_folder, files


def folder_of(place: Path, code: str) -> str:
    """Write a bot."""
    place.mkdir()
    (place / "bot.py").write_text(code)
    (place / "Dockerfile").write_text(DOCKERFILE)
    return str(place)


def killed(words: list[str], begun: Path, pattern: str) -> None:
    """Run a command and kill it once a file is there."""
    process = subprocess.Popen(
        [*ARENA, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        await_true(lambda: bool(list(begun.glob(pattern))))
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize("backend", ["process", pytest.param("docker", marks=pytest.mark.docker)])
def test_next_play_removes_what_a_killed_one_left(
    backend: str, places: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Doctor names each thing and the command; the next play leaves nothing, its own included."""
    deaf, first = (
        folder_of(tmp_path / name, code) for name, code in {"deaf": DEAF, "first": BOT}.items()
    )
    home = ["--home", str(tmp_path / "none")]
    line = ["--sandbox", backend, *GENEROUS, *home]
    killed(["play", deaf, deaf, *line], places[0], "bura-*/s/referee.sock")
    # What the play was starting when it died has its locks, too, until it runs.
    await_true(lambda: all(was_left(Home(path)) for path in places[1].glob("bura-play-*")))
    dead = {str(path) for place in places for path in place.glob("bura-*")}
    assert len(dead) == 3

    assert main(["doctor", "--no-probe", "--json", *home]) in {1, 3}
    findings = json.loads(capsys.readouterr().out)["findings"]
    told = {one["text"].split()[2].rstrip(":") for one in findings if one["fix"] == "arena clean"}
    assert dead <= told

    assert main(["play", first, first, "--decks", "1", *line]) == 0
    assert [list(place.glob("bura-*")) for place in places] == [[], []]


@pytest.mark.parametrize(
    "backend",
    [
        "process",
        pytest.param("docker", marks=pytest.mark.docker),
    ],
)
@pytest.mark.long
def test_what_a_living_command_has_is_left_to_it(
    backend: str, places: tuple[Path, Path], tmp_path: Path
) -> None:
    """A play that begins while another one is on does that one no harm."""
    slow, first = (
        folder_of(tmp_path / name, code) for name, code in {"slow": SLOW, "first": BOT}.items()
    )
    line = ["--decks", "1", "--sandbox", backend, *GENEROUS]
    line += ["--home", str(tmp_path / "none")]
    with subprocess.Popen([*ARENA, "play", slow, slow, *line], stdout=subprocess.PIPE) as one:
        await_true(lambda: bool(list(places[0].glob("bura-*/s/referee.sock"))))
        assert main(["play", first, first, *line]) == 0
        out, _ = one.communicate(timeout=100)
    assert one.returncode == 0
    assert b"slow#2" in out


@pytest.mark.docker
def test_containers_of_killed_commands_go_with_the_next(
    places: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a play nor a submission leaves a container for longer than until the next command."""
    deaf = folder_of(tmp_path / "deaf", DEAF)
    home = ["--home", str(tmp_path / "home")]
    engine = Engine.connect()

    def here() -> dict[str, str]:
        return {name: stamp for name, _, stamp in engine.bots()}

    line = ["play", deaf, deaf, "--sandbox", "docker", *GENEROUS, *home]
    process = subprocess.Popen([*ARENA, *line])
    await_true(lambda: sum(process.pid == _pid(stamp) for stamp in here().values()) == 2)
    left = {name for name, stamp in here().items() if process.pid == _pid(stamp)}
    process.send_signal(signal.SIGKILL)
    process.wait()

    assert main(["doctor", "--no-probe", "--json", *home]) in {1, 3}
    findings = json.loads(capsys.readouterr().out)["findings"]
    told = {one["text"].split(":")[0]: one["fix"] for one in findings}
    # Another test's command may have removed them meanwhile.
    still = left & here().keys()
    assert [told[f"container {name}"] for name in still] == ["arena clean"] * len(still)

    assert main(["bot", "submit", "deaf", deaf, *home]) == 0
    # What another test's command is removing is there for a moment yet.
    await_true(lambda: not left & here().keys())
    assert list(places[0].glob("bura-*")) == []
    engine.close()


def _pid(stamp: str) -> int:
    return int(stamp.split(":")[2])


def test_folder_of_a_dead_play_is_known_at_once(places: tuple[Path, Path]) -> None:
    """A lock that nobody holds shows at once, and again, that its play is over."""
    young, dead, live = (Home(places[1] / f"bura-play-{name}") for name in ("y", "d", "l"))
    for home in (young, dead, live):
        home.create()
    (dead.owners / "x.lock").touch()
    with ownership(live):
        for _ in range(2):
            found = cleaning.find_leftovers(Home(places[1] / "none"), None)
            assert [one.name for one in found] == [str(dead.path)]
    assert [path.name for path in dead.owners.iterdir()] == ["x.lock"]
