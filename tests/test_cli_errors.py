"""What the command line says of what nobody can mean: one line, without the words of libraries."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from cups import options, run, submit

from arena import play, roster, tournament
from arena.cli import main
from arena.errors import NotFoundError
from arena.home import Home, find_home
from arena.play import PlayOptions, choose_backend, gather, seated
from arena.sandbox import ImageMissingError, engine
from arena.sandbox.engine import Engine
from arena.store import Store
from referee.results import TimeControl
from referee.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test touch an arena that is in use."""
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line that a command printed."""
    out, err = capsys.readouterr()
    (line,) = (out + err).splitlines()
    return line


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (
            ["play", "--decks", "ten", "a", "b"],
            "Invalid value for '--decks': 'ten' is no whole number; give 1 to 100000;",
        ),
        (
            ["play", "--tables", "0", "a", "b"],
            "Invalid value for '--tables': 0 is out of range; give 1 to 256;",
        ),
        (
            ["match", "record", "spring/1", "--leg", "one"],
            "Invalid value for '--leg': 'one' is no whole number; give 1 or more;",
        ),
        (
            ["match", "show", "spring/99999999999999999999"],
            (
                "Invalid value for 'ID': 'spring/99999999999999999999' is no match; give "
                "TOURNAMENT/NUMBER, for example spring/3;"
            ),
        ),
        (["tournament", "rnu"], "No such command 'rnu'; did you mean 'run'?"),
        (["play", "--dekcs", "1"], "No such option '--dekcs'; did you mean '--decks'?"),
        (["play", "--sede", "1"], "No such option '--sede'; did you mean '--decks', '--seed'?"),
        (["match"], "arena match needs a command: list, record, show;"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_meant_is_one_line(
    words: list[str], wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong word brings what was expected and where help is, as one sentence."""
    assert main(words) == 2
    line = said(capsys)
    assert line.startswith(f"arena: {wrong} type: arena {words[0]}")
    assert line.endswith(" --help")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"hello\n", "text that is not JSON"),
        (b"[1]\n", "values of the wrong kind"),
        (b'{"a":1}\n', "an object without 'type'"),
        (b"[" * 100_000 + b"\n", "values in too many others"),
        (b"\xff\xfe\n", "other bytes"),
        (b"", "the end of the file"),
    ],
)
def test_what_is_no_record_is_told_in_plain_words(
    content: bytes, found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever a file holds, a check of it names no error of Python's."""
    (tmp_path / "file").write_bytes(content)
    assert main(["verify", "file"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    line = " ".join(map(str.strip, lines))
    assert line.startswith("does not hold: line 1, text: expected ")
    assert line.endswith(f"found {found}")


def test_what_is_no_record_has_a_difference_in_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Programs are told the same words."""
    (tmp_path / "file").write_text("hello\n")
    assert main(["verify", "file", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["difference"]["found"] == "text that is not JSON"


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("unix:///no/such/socket", "No such file or directory; start it"),
        ("unix://{folder}/file", "Connection refused; start it"),
        ("tcp://127.0.0.1:1", "Connection refused; start it"),
        ("nonsense", "is no address of a container engine"),
    ],
)
def test_engine_that_is_not_there_is_told_in_plain_words(
    host: str,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Numbers of errors and names of libraries are kept from the organiser."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("DOCKER_HOST", host.format(folder=tmp_path))
    assert main(["play", "--sandbox", "docker", "a", "b"]) == 3
    line = said(capsys)
    assert why in line
    assert "Err" not in line
    assert "HTTP" not in line


def test_engine_that_may_not_be_used_says_who_may(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A user outside the group of the socket is told of the group."""

    def refuse(_: str) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setenv("DOCKER_HOST", "unix:///run/docker.sock")
    monkeypatch.setattr(engine, "ping", refuse)
    assert main(["play", "--sandbox", "docker", "a", "b"]) == 3
    assert said(capsys) == (
        "arena: this user may not use the container engine at unix:///run/docker.sock "
        "(from DOCKER_HOST): Permission denied; run as a member of the group docker"
    )


@pytest.mark.docker
@pytest.mark.parametrize(
    ("word", "meant"),
    [("my_bto", "'my_bot'"), ("./my_bto", "'./my_bot'"), ("my_bot@2", "'my_bot'")],
)
def test_mistyped_bot_brings_the_near_ones_and_fetches_nothing(
    word: str,
    meant: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With an engine as without one, a plain word that names nothing here is a slip."""
    (tmp_path / "my_bot").mkdir()
    monkeypatch.setattr(Engine, "pull", lambda *_, **__: pytest.fail("it was fetched"))
    assert main(["play", word, "my_bot", "--sandbox", "docker"]) == 2
    line = said(capsys)
    assert f"there is no bot {word!r}" in line
    assert f"did you mean {meant}?" in line


READING = (
    ["bot", "list"],
    ["match", "list", "cup"],
    ["rankings"],
    ["stats", "cup"],
    ["tournament", "history", "cup"],
    ["tournament", "list"],
    ["tournament", "plan", "cup"],
    ["tournament", "show", "cup"],
    ["variants"],
)


@pytest.fixture
def foreign(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An arena with a played tournament that this user may only read; a writer has it open."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    (folder / "tmp").mkdir()
    (folder / "tmp").chmod(0o777)
    home = Home(folder / "home")
    monkeypatch.setenv("ARENA_HOME", str(home.path))
    monkeypatch.chdir(folder)
    with Store.open(home) as store:
        for name in ("anna", "boris"):
            submit(store, folder, name)
        tournament.create(store, options("anna", "boris"))
        run(store)
        roster.disqualify(store, "cup", "boris", "a copy")
        assert Path(f"{home.database}-wal").stat().st_size > 0
        for left in (home.bots / "left.part", home.owners / "dead.lock"):
            left.touch()
        places = [home.path, *home.path.rglob("*")]
        for place in places:
            place.chmod(0o555 if place.is_dir() else 0o444)
        # Whoever is not root may not be able to load what is loaded late.
        for words in (*READING, ["rules", "list"]):
            assert main(words) == 0
        # Nothing is forbidden to root.
        before = os.geteuid()
        os.seteuid(before or 65534)
        try:
            yield home.path
        finally:
            os.seteuid(before)
            for place in places:
                place.chmod(0o755 if place.is_dir() else 0o644)
    shutil.rmtree(folder)


def test_what_cannot_be_written_can_be_read(
    foreign: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that was committed is there, also what a writer's log holds, and no copy is left."""
    copies = foreign.parent / "tmp"
    monkeypatch.setattr(tempfile, "tempdir", str(copies))
    for words in READING:
        capsys.readouterr()
        assert main(words) == 0, (words, capsys.readouterr().err)
    assert main(["tournament", "history", "cup"]) == 0
    assert "a copy" in capsys.readouterr().out
    assert not list(copies.iterdir())
    assert not foreign.joinpath("arena.db-journal").exists()


@pytest.mark.usefixtures("foreign")
def test_bot_that_was_submitted_is_found_where_nothing_can_be_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A quick match takes its bots from an arena that it need not write to."""
    played = quick("anna", "boris@1")
    home = find_home()
    found = gather(home, played, "process")
    assert [each.label for each in found] == ["anna@1", "boris@1"]
    assert seated(home, played) == played.bots
    assert main(["play", "anna", "zoe", "--sandbox", "process"]) == 2
    assert "there is no bot 'zoe'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["tournament", "create", "x", "anna", "boris"],
        ["tournament", "disqualify", "cup", "anna", "--reason", "a copy"],
        ["rules", "remove", "house"],
        ["rules", "save", "mine", "--rules", "target=41"],
        ["tournament", "run", "cup"],
        ["bot", "submit", "carla", ".", "--sandbox", "process"],
        ["clean"],
    ],
)
def test_writing_to_a_folder_that_cannot_be_written_says_so(
    foreign: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The reason is told, not what the database made of it, and nothing seems to be done."""
    assert main(words) == 3
    # What a command says before is not about the folder.
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith(f"arena: this user may not write to the arena in {foreign}")
    assert "copy" in line


def test_what_would_be_cleaned_is_told_where_nothing_can_be_written(
    foreign: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dry run needs to read only, as the doctor does, also where a dead run left its lock."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/socket")
    # The folders of other tests are this user's only by half.
    monkeypatch.setattr(tempfile, "tempdir", str(foreign.parent / "tmp"))
    left = str(foreign / "bots" / "left.part")
    assert main(["clean", "--dry-run", "--json"]) == 0
    removed = json.loads(capsys.readouterr().out)["removed"]
    assert [each["name"] for each in removed if each["kind"] == "draft"] == [left]
    main(["doctor", "--json"])
    assert left in capsys.readouterr().out
    assert (foreign / "owners" / "dead.lock").exists()


@pytest.mark.usefixtures("foreign")
def test_bots_submitted_as_processes_are_played_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a tournament, nobody has to say so, unless others are among them."""
    monkeypatch.setattr(play, "find_sandbox", lambda _: None)
    home = find_home()
    assert choose_backend(home, quick("anna", "boris@1")) == "process"
    assert choose_backend(home, quick("anna", "nobody")) == "container"


@pytest.mark.usefixtures("foreign")
def test_bot_that_is_not_there_is_told_before_one_that_cannot_run_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A slip of the hand is not hidden by what follows from it."""

    def fail(_: str) -> NoReturn:
        raise ImageMissingError("no image")

    monkeypatch.setattr(play, "_from_image", fail)
    with pytest.raises(NotFoundError, match="there is no bot 'nobody'"):
        gather(find_home(), quick("anna", "nobody"), "container")


def quick(*bots: str) -> PlayOptions:
    """Return a match of these bots."""
    return PlayOptions(bots=bots, seed=bytes(32), time=TimeControl(), rules=Rules(), variant="bura")


@pytest.mark.parametrize(
    "words", [["a+b", "."], ["a1", "./none"], ["a1", "none", "--sandbox", "process"]]
)
def test_refused_submission_makes_no_arena(words: list[str], tmp_path: Path) -> None:
    """A slip in the first command of all leaves nothing behind."""
    assert main(["bot", "submit", *words]) == 2
    assert not (tmp_path / "home").exists()
