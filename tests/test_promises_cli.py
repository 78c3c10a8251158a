"""The commands around promised strings: promise, submit, reveal, forgo, and what they print."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import arena, read
from cups import run

from arena.cli import main
from arena.home import Home
from arena.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

BOTS = ("anna", "boris", "clara")
TEXT = "three blind mice 4711"
SUBMIT = ("bot", "submit", "--sandbox", "process")


def digest(text: str) -> str:
    """Return the promise of a string."""
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make an arena in which anna and boris promised a string, and a cup of theirs with clara."""
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(tmp_path)
    for name in BOTS:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "bot.py").write_text(name)
        promise = [] if name == "clara" else ["--entropy-digest", digest(f"{TEXT} {name}")]
        assert main([*SUBMIT, name, name, *promise]) == 0
    assert main(["tournament", "create", "cup", *BOTS]) == 0


def tell(capsys: pytest.CaptureFixture[str], names: Sequence[str] = ("anna", "boris")) -> None:
    """Reveal what some bots promised."""
    for name in names:
        arena(capsys, "bot", "reveal", name, f"{TEXT} {name}")


def show(capsys: pytest.CaptureFixture[str], name: str = "cup") -> str:
    """Give what `show` prints, with single blanks."""
    return " ".join(arena(capsys, "tournament", "show", name)[0].split())


def test_promise_makes_a_string_and_its_digest(capsys: pytest.CaptureFixture[str]) -> None:
    """What it prints can be promised and told."""
    made = read(capsys, "bot", "promise")
    assert made["entropy_digest"] == digest(made["entropy"])
    out, err = arena(capsys, "bot", "promise")
    assert made["entropy"] not in out
    assert "keep the string to yourself" in err
    line = [*SUBMIT, "clara", "clara", "--entropy-digest", made["entropy_digest"]]
    assert read(capsys, *line)["version"] == 2
    arena(capsys, "tournament", "replace", "cup", "clara@1", "clara@2", "--reason", "string")
    arena(capsys, "bot", "reveal", "clara", made["entropy"])
    said = f"{made['entropy']} (promised, then revealed), SHA-256 {made['entropy_digest']}"
    assert said in show(capsys)


def test_promise_is_shown_with_the_bot_until_it_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As a digest before, with the string after; in JSON both."""
    promised = digest(f"{TEXT} anna")
    found = read(capsys, "bot", "show", "anna")["versions"][0]
    assert (found["entropy"], found["entropy_digest"], found["revealed"]) == (None, promised, None)
    assert promised in arena(capsys, "bot", "show", "anna")[0].replace("\n", "").replace(" ", "")
    tell(capsys)
    found = read(capsys, "bot", "show", "anna")["versions"][0]
    assert (found["entropy"], found["entropy_digest"]) == (f"{TEXT} anna", promised)
    assert found["revealed"] is not None
    shown = arena(capsys, "bot", "show", "anna")[0].replace("\n", "").replace(" ", "")
    assert promised in shown
    assert f"{TEXT} anna".replace(" ", "") in shown


def test_string_and_promise_together_are_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    """One of them."""
    line = [*SUBMIT, "clara", "clara", "--entropy", "x", "--entropy-digest", digest("x")]
    assert "not both" in arena(capsys, *line, code=2)[1]


@pytest.mark.parametrize("given", ["abc", "AB" * 32, "xy" * 32])
def test_digest_that_is_none_is_told_in_one_line(
    given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what was expected, and where to get one."""
    _, err = arena(capsys, *SUBMIT, "clara", "clara", "--entropy-digest", given, code=2)
    assert err.count("\n") == 1
    assert "64 hex digits in lower case" in err
    assert "arena bot promise" in err


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_string_is_read_from_a_file(end: str, capsys: pytest.CaptureFixture[str]) -> None:
    """So that it stands in no history of a shell; a line end is left out."""
    Path("anna.txt").write_bytes(f"{TEXT} anna{end}".encode())
    told = read(capsys, "bot", "reveal", "anna", "--from", "anna.txt")
    assert told["entropy"] == f"{TEXT} anna"
    assert [each["name"] for each in told["tournaments"]] == ["cup"]
    assert told["tournaments"][0]["promises"] in show(capsys)


def test_string_is_read_from_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a dash says everywhere."""
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{TEXT} anna\n"))
    assert read(capsys, "bot", "reveal", "anna", "--from", "-")["new"] is True


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give the string, or --from FILE"),
        (["x", "--from", "y"], "give the string, or --from FILE"),
        (["--from", "none.txt"], "there is no file none.txt"),
        (["--from", "."], "directory"),
        (["--from", "binary"], "is no text"),
        (["mice"], "this is not the string that anna@1 promised"),
        ([""], "printable"),
    ],
)
def test_string_that_cannot_be_told_is_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is stored by it."""
    Path("binary").write_bytes(b"\xff\xfe")
    _, err = arena(capsys, "bot", "reveal", "anna", *words, code=2)
    assert said in err
    assert read(capsys, "bot", "show", "anna")["versions"][0]["entropy"] is None


def test_telling_again_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """And is no failure."""
    tell(capsys)
    out, _ = arena(capsys, "bot", "reveal", "anna@1", f"{TEXT} anna")
    assert "unchanged, it was told before" in out


def test_show_prints_promises_and_their_hash(capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each entrant with a string, and what the strings are worth."""
    said = show(capsys)
    assert f"entropy of anna@1: promised, SHA-256 {digest(f'{TEXT} anna')}" in said
    noted = read(capsys, "tournament", "show", "cup")
    assert f"{noted['promises']} (not fixed yet)" in said
    assert (noted["listed"], noted["protection"]) == (None, "promised")
    tell(capsys, ["anna"])
    said = show(capsys)
    assert f"{noted['promises']} (fixed)" in said
    assert "every one of these promised strings before: anna@1, boris@1" in said
    found = read(capsys, "tournament", "list")[0]
    assert found["promises"] == noted["promises"]
    assert [each["state"] for each in found["entropy"]] == ["revealed", "promised"]


def test_run_waits_for_strings(capsys: pytest.CaptureFixture[str]) -> None:
    """In one line, which `show` says, too."""
    _, err = arena(capsys, "tournament", "run", "cup", code=2)
    last = err.splitlines()[-1]
    assert "cup waits for the strings that anna@1, boris@1 promised" in last
    assert "arena tournament forgo cup anna@1 --reason TEXT" in last
    assert "waits for the strings" in arena(capsys, "tournament", "show", "cup")[1]


def test_forgone_string_is_shown_everywhere(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """In the tournament, in its history, and in the export."""
    line = ["tournament", "forgo", "cup", "boris", "--reason", "does not answer"]
    _, err = arena(capsys, *line)
    assert "waits for the strings that anna@1 promised" in err
    tell(capsys, ["anna"])
    due = f"promised, SHA-256 {digest(f'{TEXT} boris')}, but forgone, not in the seed: does not"
    assert f"entropy of boris@1: {due} answer" in show(capsys)
    _, *history = read(capsys, "tournament", "history", "cup")
    assert [(each["kind"], each["joined"], each["reason"]) for each in history] == [
        ("forgone string", None, "does not answer")
    ]
    assert "forgone string" in arena(capsys, "tournament", "history", "cup")[0]
    with Store.open(Home(tmp_path / "home")) as store:
        assert run(store).exit_code == 0
    assert read(capsys, "tournament", "show", "cup")["entropy"][1] == {
        "entrant": "boris@1",
        "state": "forgone",
        "digest": digest(f"{TEXT} boris"),
        "text": None,
        "later": None,
        "reason": "does not answer",
    }


def test_string_that_comes_too_late_is_told_when_it_is_entered(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its author learns it before the start."""
    tell(capsys, ["anna"])
    arena(capsys, *SUBMIT, "dora", "clara", "--entropy", "dora's dice")
    _, err = arena(capsys, "tournament", "enter", "cup", "dora", "--reason", "entry")
    assert "the string of dora@1 comes too late" in err
    due = digest("dora's dice")
    assert f"entropy of dora@1: too late, not in the seed, SHA-256 {due}" in show(capsys)


def test_known_string_is_told_when_a_tournament_is_made(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A promise that was kept once protects nobody a second time."""
    tell(capsys)
    _, err = arena(capsys, "tournament", "create", "next", "anna", "clara")
    assert "the string of anna@1 was revealed before: here it protects nobody" in err
    due = f"known before the commitment: protects nobody), SHA-256 {digest(f'{TEXT} anna')}"
    assert due in show(capsys, "next")


def test_string_that_was_forgone_cannot_be_told_and_why_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The advice to enter its bot first would lead nowhere: it is in already."""
    arena(capsys, "tournament", "forgo", "cup", "boris", "--reason", "does not answer")
    _, err = arena(capsys, "bot", "reveal", "boris", f"{TEXT} boris", code=2)
    assert "waits for the string of boris@1: cup forwent it (does not answer); what is" in err
    assert "enter it first" not in err


def test_what_promise_printed_is_told_from_a_string(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A file with more than the string in it is refused with its first line."""
    path = tmp_path / "anna.txt"
    path.write_text(arena(capsys, "bot", "promise")[0])
    first = path.read_text().splitlines()[0]
    _, err = arena(capsys, "bot", "reveal", "anna", "--from", str(path), code=2)
    assert f"more than one line, the first is {first!r}; the file must hold the string only" in err


def test_file_promises_for_its_bots(capsys: pytest.CaptureFixture[str]) -> None:
    """As the option does; a wrong promise or two strings are told before anything is submitted."""
    head = 'name = "next"\nsandbox = "process"\nentrants = ["new", "clara"]\n'
    bot = '[[bots]]\nname = "new"\nsource = "clara"\n'
    for words, said in {
        'entropy_digest = "abc"\n': "64 hex digits",
        f'entropy = "x"\nentropy_digest = "{digest("x")}"\n': "not both",
    }.items():
        Path("next.toml").write_text(head + bot + words)
        for line in (["create"], ["create", "--dry-run"], ["plan"]):
            _, err = arena(capsys, "tournament", *line, "--from", "next.toml", code=2)
            assert said in err
            assert err.count("\n") == 1
    Path("next.toml").write_text(f'{head}{bot}entropy_digest = "{digest("x")}"\n')
    assert "plan" in read(capsys, "tournament", "plan", "--from", "next.toml")
    made = read(capsys, "tournament", "create", "--from", "next.toml")
    assert [(each["entrant"], each["state"]) for each in made["entropy"]] == [("new@1", "promised")]
