"""The command line in folders, under names and beside signals nobody planned for."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.cli import main
from referee.verification import verify_record

ARENA = Path(sys.executable).with_name("arena")
BOT = "import burabot\nburabot.play(lambda turn: 0, name='x', version='1')\n"
CAP = 120.0
# What a signal raises in a destructor, Python tells and drops.
IGNORED = re.compile(r"^Exception ignored .*\n(?:Traceback .*\n(?: .*\n)*\S.*\n?)?", re.MULTILINE)
# What ends a match on a machine that stands still, whatever was sent to it.
STALLED = "this process did not run for"
PROCESS = ["--sandbox", "process"]


def bot(folder: Path) -> str:
    """Make a bot in a folder."""
    folder.mkdir(parents=True)
    (folder / "bot.py").write_text(BOT)
    return str(folder)


@pytest.mark.parametrize(
    "name",
    [
        "two words",
        "quo'te\"s",
        "$(touch pwned);`id`",
        "\N{SNOWMAN}",
        "\N{RIGHT-TO-LEFT OVERRIDE}fdp",
        "a\nb",
        "--home",
        "CON",
        "dot.",
        "x" * 255,
    ],
    ids=ascii,
)
def test_folder_of_a_bot_may_have_any_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No shell ever sees it, and what is submitted is kept under its digest."""
    place = tmp_path / "bots"
    bot(place / name)
    monkeypatch.chdir(place)
    home = ["--home", str(tmp_path / "home")]
    assert main(["bot", "submit", "anna", *PROCESS, *home, "--", name]) == 0
    assert main(["play", "anna", "anna", "--decks", "1", *PROCESS, *home]) == 0
    assert [path.name for path in place.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "works"), [("CON", True), ("nul", True), ("con.", False), ("-x", False), ("", False)]
)
def test_names_a_system_reserves_work_or_are_refused(
    name: str, *, works: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name is taken everywhere it is used, or refused in one line."""
    home = ["--home", str(tmp_path / "home")]
    assert main(["bot", "submit", "anna", bot(tmp_path / "a"), *PROCESS, *home]) == 0
    (tmp_path / "a" / "more").touch()
    assert main(["bot", "submit", "anna", str(tmp_path / "a"), *PROCESS, *home]) == 0
    capsys.readouterr()
    code = main(
        ["tournament", "create", *PROCESS, *home, "--decks", "1", "--", name, "anna@1", "anna@2"]
    )
    if works:
        assert code == 0
        assert main(["tournament", "run", name, *home]) == 0
    else:
        assert code == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("linked", [False, True], ids=["long", "linked"])
def test_arena_may_lie_deep_or_behind_a_link(
    tmp_path: Path, *, linked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sockets are outside the project and short, wherever it lies."""
    deep = tmp_path / ("d" * 120) / ("e" * 120)
    deep.mkdir(parents=True)
    place = deep
    if linked:
        place = tmp_path / "link"
        place.symlink_to(deep)
    bot(place / "anna")
    monkeypatch.chdir(place)
    home = ["--home", str(place / "arena")]
    assert main(["bot", "submit", "anna", "anna", *PROCESS, *home]) == 0
    assert main(["play", "anna", "./anna", "--decks", "1", *PROCESS, *home]) == 0


@pytest.mark.long
@pytest.mark.timeout(600)
def test_record_of_a_killed_command_is_whole_or_not_there(tmp_path: Path) -> None:
    """By whatever signal and whenever a match is ended, its record verifies, or there is none."""
    dice = random.Random(3)
    folder = bot(tmp_path / "anna")
    undisturbed = 0.0
    codes = set()
    for attempt in range(25):
        record = tmp_path / f"{attempt}.jsonl"
        began = time.monotonic()
        with subprocess.Popen(
            [ARENA, "play", folder, folder, "--decks", "3", *PROCESS, "--record", record],
            cwd=tmp_path,
            env={**os.environ, "ARENA_HOME": str(tmp_path / "home")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as running:
            if undisturbed:
                time.sleep(dice.uniform(0, undisturbed))
                running.send_signal(dice.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL]))
            assert running.stderr is not None
            said = IGNORED.sub("", running.stderr.read())
            code = running.wait(CAP)
        if STALLED not in said:
            codes.add(code)
            undisturbed = undisturbed or time.monotonic() - began
        # Before our first line it is Python that is interrupted, in words of its own.
        assert "Traceback" not in said or "arena/cli" not in said
        assert code != 1 or "Traceback" in said
        if record.exists():
            assert verify_record(record).ok
    assert 0 in codes
    ended = {128 + signal.SIGTERM, -signal.SIGTERM, -signal.SIGKILL, -signal.SIGINT}
    assert codes <= {0, 1, 130} | ended
