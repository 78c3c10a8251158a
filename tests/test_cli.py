"""The command line as its users meet it: words, streams, exit codes."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import pytest
from patient import ARENA as PATIENT_ARENA
from patient import GENEROUS
from rich.progress import Progress
from stores import Hours

from arena import cli, queries, start
from arena.cli import arena as program
from arena.cli import main
from arena.cli.context import Documented
from arena.cli.errors import ending_of
from arena.cli.options import BankAndIncrement, Seconds, Seed
from arena.cli.output import (
    Bar,
    Column,
    Output,
    RateColumn,
    Stream,
    TimeLeftColumn,
    plain,
    plain_lines,
)
from arena.cli.words import FAULT_WORDS, against, count, number, seconds, totals
from arena.errors import MachineError, NotFoundError, RefusedError
from arena.home import find_home
from arena.infos import MatchState
from arena.runner import MatchReport, run_match
from arena.store import Store
from referee.players import FaultKind

ARENA = Path(sys.executable).parent / "arena"
WAITING = """import pathlib, time
import burabot

def choose(turn):
    while not pathlib.Path({go!r}).exists():
        time.sleep(0.05)
    return 0

burabot.play(choose, name="waiting", version="1")
"""
TABLE = (Column("Rank", "right"), Column("Name", fold=True), Column("Rating", "right"))


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test touch an arena that is in use, nor learn from the terminal it runs in."""
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)


def arena(*words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the installed program."""
    return subprocess.run(
        [str(ARENA), *words], capture_output=True, env=os.environ | environment, check=False
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("bell\x07 and C1 \x9b31m", r"bell\x07 and C1 \x9b31m"),
        ("turned \u202eround", r"turned \u202eround"),
        ("no width \u200b", r"no width \u200b"),
        ("half \ud800", r"half \ud800"),
        ("[bold]alice[/bold] :smile:", "[bold]alice[/bold] :smile:"),
        ("Алиса 漢字 é", "Алиса 漢字 é"),
    ],
)
def test_text_from_outside_is_made_safe(text: str, shown: str) -> None:
    """What a terminal would obey is shown as an escape; letters and markup stay as they are."""
    assert plain(text) == shown


def test_lines_of_a_log_stay_lines() -> None:
    """A log keeps its line breaks, and nothing else that moves a cursor."""
    assert plain_lines("one\r\ntwo\x1b[2J\n\tthree") == ["one", r"two\x1b[2J", "    three"]


def test_table_does_not_interpret_markup(capsys: pytest.CaptureFixture[str]) -> None:
    """A bot may call itself what it likes: a table prints the name letter by letter."""
    Output().table(TABLE, [(1, "[red]x[/red]\x1b[5m", "25.0")])
    out = capsys.readouterr().out
    assert r"[red]x[/red]\x1b[5m" in out
    assert "\x1b" not in out


def test_table_in_a_pipe_is_never_folded(capsys: pytest.CaptureFixture[str]) -> None:
    """Where stdout is no terminal a row is one line, however long the name."""
    Output().table(TABLE, [(1, "x" * 300, "25.0")])
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_table_on_a_narrow_terminal_becomes_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that cannot fit prints one field a line and loses no digit."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "20")
    Output().table(TABLE, [(1, "alice", "25.123456")])
    assert screen.getvalue().splitlines() == ["Rank:   1", "Name:   alice", "Rating: 25.123456"]


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.mark.parametrize("variable", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_no_colours_where_they_are_unwanted(
    variable: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """NO_COLOR and TERM=dumb are respected on a terminal."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    for name, value in variable.items():
        monkeypatch.setenv(name, value)
    Output().table(TABLE, [(1, "alice", "25.0")])
    assert "\x1b[3" not in screen.getvalue()


def test_dumb_terminal_gets_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress without a live terminal is status lines, one line each."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "dumb")
    with Output().progress("spring", 2, "matches") as bar:
        bar.status("Started match 1 of 2 (a vs b)")
        bar.set(1)
    assert screen.getvalue() == "Started match 1 of 2 (a vs b)\n"


def test_bar_tells_rate_and_time_left_however_long_a_unit_takes() -> None:
    """Rate and time left count from the start, without what was done before."""
    hours = Hours()
    with Progress(get_time=hours, disable=True) as progress:
        bar = Bar(Output(), progress, progress.add_task("spring", total=6, rate=0.0, at=0.0), 2)
        task = progress.tasks[0]
        rate, left = RateColumn("matches"), TimeLeftColumn()
        hours.seconds += 45
        assert (str(rate.render(task)), str(left.render(task))) == ("", "0:00:45 so far")
        hours.seconds += 15
        bar.set(3)
        assert str(rate.render(task)) == "1.0 matches/min"
        assert str(left.render(task)) == "0:03:00 left"
        hours.seconds += 20
        assert str(left.render(task)) == "0:02:40 left"


def test_stream_outlives_its_reader() -> None:
    """A reader that closes the pipe mutes the stream; the command goes on."""
    reading, writing = os.pipe()
    with open(writing, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor
        stream = Stream(file)
        os.close(reading)
        stream.write("nobody reads this\n")
        stream.write("nor this\n")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_every_text_can_be_written(encoding: str) -> None:
    """What the encoding of a stream lacks is written as an escape."""
    raw = io.BytesIO()
    text = io.TextIOWrapper(raw, encoding=encoding)
    Stream(text).write("Алиса → é\n")
    expected = "Алиса → é\n".encode(encoding, "backslashreplace")
    assert raw.getvalue() == expected


def test_json_is_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON survives any encoding and any terminal."""
    Output().json({"name": "\x1b[31m Алиса"})
    out = capsys.readouterr().out
    assert out.isascii()
    assert "\x1b" not in out
    assert json.loads(out) == {"name": "\x1b[31m Алиса"}


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.UsageError("what is that."), 2, "what is that"),
        (NotFoundError("there is no bot 'x'", "submit it"), 2, "there is no bot 'x'; submit it"),
        (MachineError("no engine", "start it"), 3, "no engine; start it"),
        (OSError(errno.ENOSPC, "No space left on device", "/d"), 3, "free some space"),
        (BrokenPipeError(), 0, ""),
    ],
)
def test_every_error_has_its_exit_code(error: BaseException, code: int, said: str) -> None:
    """Usage is 2, the machine 3, an interrupt 130; the line says what to do next."""
    ending = ending_of(error)
    assert ending.code == code
    assert said in ending.message
    assert "\n" not in ending.message


def test_mistake_in_the_program_is_not_hidden() -> None:
    """An error that no user can have caused keeps its traceback."""
    with pytest.raises(ZeroDivisionError):
        ending_of(ZeroDivisionError())


def test_unknown_command_names_the_near_one(capsys: pytest.CaptureFixture[str]) -> None:
    """A typo in a command is answered with what was probably meant."""
    assert main(["rankigns"]) == 2
    assert "rankings" in capsys.readouterr().err


def test_unknown_option_says_where_help_is(capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong option ends in one line that names the help to read."""
    assert main(["variants", "--jsom"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "--json" in err
    assert "arena variants --help" in err


@pytest.mark.parametrize(
    ("text", "value"), [("30+0.1", ("30", "0.1")), ("5", ("5", "0")), ("0+0", ("0", "0"))]
)
def test_time_control_is_bank_and_increment(text: str, value: tuple[str, str]) -> None:
    """--tc takes seconds, the increment may be left out."""
    bank, increment = value
    assert BankAndIncrement().convert(text, None, None) == (Decimal(bank), Decimal(increment))


@pytest.mark.parametrize("text", ["", "x", "nan", "-1", "1e9", "infinity"])
def test_times_nobody_can_mean_are_refused(text: str) -> None:
    """A time is a number of seconds between none and a day."""
    with pytest.raises(click.BadParameter, match="seconds"):
        Seconds().convert(text, None, None)


def test_seed_is_hex_or_any_word() -> None:
    """64 hex digits are the seed itself; any other text gives a seed of its own, 0 as well."""
    assert Seed().convert("ab" * 32, None, None) == b"\xab" * 32
    seeds = {Seed().convert(text, None, None) for text in ("0", "1", "spring")}
    assert {len(seed) for seed in seeds} == {32}
    assert len(seeds) == 3


def test_empty_seed_is_refused() -> None:
    """An empty seed is a mistake in a script, not a seed."""
    with pytest.raises(click.BadParameter, match="empty"):
        Seed().convert("", None, None)


def test_partners_are_named_together_and_scored_as_one() -> None:
    """A match of pairs reads as two sides, whatever the number of seats each has."""
    sides = (0, 1, 0, 1)
    scores = tuple(map(Fraction, (3, -2, 3, -4)))
    assert against("abcd", sides) == "a+c vs b+d"
    assert against("abc") == "a vs b vs c"
    assert [totals(scores, sides), totals(scores), totals(None, sides)] == [
        "3 : -3",
        "3 : -2 : 3 : -4",
        "-",
    ]


def test_every_fault_has_words() -> None:
    """Whatever a bot does wrong can be said in a sentence."""
    assert set(FAULT_WORDS) == set(FaultKind)


def test_numbers_read_as_people_write_them() -> None:
    """No trailing zeros, no minus before a zero, nouns in the right number, units that fit."""
    assert [number(12.5), number(-0.001), number(3)] == ["12.5", "0", "3"]
    assert [count(1, "fault"), count(2, "fault")] == ["1 fault", "2 faults"]
    assert [seconds(0.25), seconds(12.34), seconds(125)] == ["250 ms", "12.3 s", "2 min 05 s"]


# ------------------------------------------------------------------------- an arena that was used

BOT = """
import burabot

burabot.play(lambda turn: 0, name="first", version="1")
"""
CRASHING_BOT = """
import sys

print("\\x1b[31mgoing down\\x1b[0m")
sys.exit(7)
"""


@pytest.fixture(scope="module")
def bots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make folders of a bot that always takes the first action, and of one that crashes."""
    folder = tmp_path_factory.mktemp("bots")
    for name, source in {"first": BOT, "also": BOT, "broken": CRASHING_BOT}.items():
        (folder / name).mkdir()
        (folder / name / "bot.py").write_text(source)
    return folder


@pytest.fixture(scope="module")
def used(bots: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an arena with three bots and a tournament that was played."""
    home = tmp_path_factory.mktemp("used") / "arena"
    for name in ("first", "also", "broken"):
        folder = str(bots / name)
        assert (
            main(["bot", "submit", name, folder, "--sandbox", "process", "--home", str(home)]) == 0
        )
    assert main(["rules", "save", "house", "--rules", "target=41", "--home", str(home)]) == 0
    options = ["--sandbox", "process", "--decks", "2", "--seed", "7", "--home", str(home)]
    create = ["tournament", "create", "cup", "first", "also", "broken", *options, *GENEROUS]
    assert main(create) == 0
    assert main(["tournament", "run", "cup", "--home", str(home)]) == 0
    return home


def keys(value: object, path: str = "") -> set[str]:
    """Return the names of all values in a JSON value, `[]` for the items of a list."""
    if isinstance(value, dict):
        return {
            name for key in value for name in keys(value[key], f"{path}.{key}" if path else key)
        }
    if isinstance(value, list):
        found = {name for item in value for name in keys(item, f"{path}[]" if path else "")}
        return found or {f"{path}[]"}
    return {path}


def documented(words: list[str]) -> dict[str, str]:
    """Return the fields that the help of a command names."""
    command: click.Command | None = program
    for word in words:
        if not isinstance(command, click.Group):
            break
        command = command.get_command(click.Context(command), word)
    assert isinstance(command, Documented)
    return dict(command.fields)


@pytest.mark.parametrize(
    "words",
    [
        ["bot", "list"],
        ["bot", "show", "first"],
        ["tournament", "list"],
        ["tournament", "show", "cup"],
        ["tournament", "run", "cup"],
        ["rankings"],
        ["stats", "cup"],
        ["rebuild"],
        ["match", "list", "cup"],
        ["match", "show", "cup/1"],
        ["match", "show", "cup/2"],
        ["match", "record", "cup/1", "--deal", "0"],
        ["variants", "bura"],
        ["variants"],
        ["rules", "list"],
        ["rules", "show", "house"],
    ],
    ids=" ".join,
)
def test_json_holds_the_fields_of_the_help(
    words: list[str], used: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--json prints exactly what the help documents: nothing more, and less only where empty."""
    home = [] if words[0] == "variants" else ["--home", str(used)]
    assert main([*words, "--json", *home]) == 0
    printed = keys(json.loads(capsys.readouterr().out))
    fields = documented(words)
    free = tuple(name.removesuffix("*") for name in fields if name.endswith("*"))
    assert {name for name in printed if not name.startswith(free or ("\0",))} <= set(fields)
    parents = {name.removesuffix("[]") for name in printed}
    missing = set(fields) - printed - {f"{prefix}*" for prefix in free}
    assert {name for name in missing if name.partition("[]")[0] not in parents} == set()


def test_submitting_prints_id_and_digest(
    bots: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A submission is answered with what to call it and what it is."""
    home = ["--sandbox", "process", "--home", str(tmp_path / "a")]
    assert main(["bot", "submit", "anna", str(bots / "first"), *home]) == 0
    out = capsys.readouterr().out
    assert "anna@1" in out
    assert "sha256:" in out
    assert main(["bot", "submit", "anna", str(bots / "first"), *home]) == 0
    assert "unchanged" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["bot", "show", "frist"], "first"),
        (["tournament", "show", "cub"], "cup"),
        (["match", "list", "cub"], "cup"),
        (["rankings", "--variant", "bora"], "bura"),
        (["variants", "burra"], "bura"),
        (["variants", "bura", "--rules", "gaol=points"], "goal"),
        (["rules", "show", "hose"], "house"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_unknown_name_brings_the_near_ones(
    words: list[str], meant: str, used: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A typo in a name is a usage error that says what was probably meant, in one line."""
    home = [] if words[0] == "variants" else ["--home", str(used)]
    assert main([*words, *home]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert meant in err


def test_reading_where_nothing_is_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong --home is no empty arena: nothing is made, and the line says how to begin one."""
    assert main(["rankings", "--home", str(tmp_path / "nowhere")]) == 2
    assert "arena bot submit" in capsys.readouterr().err
    assert not (tmp_path / "nowhere").exists()


def test_run_tells_of_matches_in_known_lines(
    bots: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status lines go to stderr in the shape scripts know; the table goes to stdout."""
    home = ["--home", str(tmp_path / "a")]
    for name in ("first", "also"):
        main(["bot", "submit", name, str(bots / name), "--sandbox", "process", *home])
    create = ["tournament", "create", "t", "first", "also"]
    main([*create, "--decks", "1", "--sandbox", "process", *GENEROUS, *home])
    capsys.readouterr()
    assert main(["tournament", "run", "t", *home]) == 0
    said = capsys.readouterr()
    assert "Started match 1 of 1 (first@1 vs also@1)\n" in said.err
    finished = r"^Finished match 1 \(first@1 vs also@1\): \S+ : \S+ \{no faults\}$"
    assert re.search(finished, said.err, re.MULTILINE)
    assert "no security boundary" in said.err
    assert said.out.split("\n\n")[1].split("\n")[0].split() == [
        "Rank",
        "Name",
        "Rating",
        "+/-",
        "Mu",
        "Sigma",
        "Tied",
        "Games",
        "Score",
        "Draw",
    ]


def test_match_says_in_words_what_went_wrong(
    used: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Faults are sentences, and what the bot printed is shown without its escapes at work."""
    numbers = [
        info["number"] for info in read(["match", "list", "cup", "--bot", "broken"], used, capsys)
    ]
    assert main(["match", "show", f"cup/{numbers[0]}", "--home", str(used)]) == 0
    out = capsys.readouterr().out
    assert (
        "broken@1 could not be started in leg 1: the bot ended before its Hello: exit code 7; "
        "lost the 2 deals left\n" in out
    )
    assert "last output of broken@1 in leg 1" in out
    assert r"\x1b[31mgoing down" in out
    assert "\x1b" not in out


def read(words: list[str], home: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command with --json and return what it printed."""
    capsys.readouterr()
    assert main([*words, "--json", "--home", str(home)]) == 0
    return json.loads(capsys.readouterr().out)


def played_match(home: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return a match between the two bots that can play."""
    matches = read(["match", "list", "cup"], home, capsys)
    return next(match for match in matches if "broken@1" not in match["entrants"])


def test_deal_is_told_card_by_card(used: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A recorded deal reads from the first card to the score, with everybody's cards."""
    match = played_match(used, capsys)
    assert main(["match", "record", match["id"], "--deal", "1", "--home", str(used)]) == 0
    out = capsys.readouterr().out
    assert len(re.findall(r"is dealt(?: [6-9JQKTA][CDHS]){3}", out)) >= 2
    assert re.search(r"leads [6-9JQKTA][CDHS]", out)
    assert re.search(r"^end: ", out, re.MULTILINE)
    assert re.search(r"^score: ", out, re.MULTILINE)


def test_missing_deal_says_which_there_are(used: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Asking for a deal that was not played names the range."""
    match = played_match(used, capsys)
    assert main(["match", "record", match["id"], "--deal", "99", "--home", str(used)]) == 2
    assert "give 0 to 1" in capsys.readouterr().err


def test_verify_believes_a_record_and_no_forgery(
    used: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A record holds with its seed; with one card changed it does not, and the exit code is 1."""
    record = Path(played_match(used, capsys)["record"])
    assert main(["verify", str(record)]) == 0
    assert "consistent with" in capsys.readouterr().out
    forged = tmp_path / "forged.jsonl"
    forged.write_text(record.read_text().replace('"totals":["', '"totals":["1'))
    assert main(["verify", str(forged)]) == 1
    assert "does not hold: line" in capsys.readouterr().out
    assert main(["verify", str(forged), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["proved"], told["digest"]) == (False, "", "")


def test_verify_checks_the_decks_of_the_revealed_seed(
    used: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The seed a finished tournament reveals proves its decks; another seed does not."""
    record = played_match(used, capsys)["record"]
    seed = read(["tournament", "show", "cup"], used, capsys)["seed"]
    assert main(["verify", record, "--seed", seed]) == 0
    assert main(["verify", record, "--seed", "another"]) == 1


def test_no_record_is_a_failed_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is no record at all fails the check in one line."""
    (tmp_path / "x.jsonl").write_text("no record\n")
    assert main(["verify", str(tmp_path / "x.jsonl")]) == 1
    assert capsys.readouterr().out.startswith("does not hold: line 1")


def test_play_prints_the_result_with_its_interval(
    bots: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two folders play, the record is kept and holds; the same file is never written twice."""
    record = tmp_path / "game.jsonl"
    line = ["play", str(bots / "first"), str(bots / "first"), "--decks", "4", "--seed", "1"]
    line += ["--sandbox", "process", "--record", str(record), *GENEROUS]
    assert main([*line, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [bot["name"] for bot in said["bots"]] == ["first#1", "first#2"]
    assert [bot["score"] for bot in said["bots"]] == [0, 0]
    assert said["bots"][0]["half_width"] is None
    assert said["deals"] == 8
    printed = {name for name in keys(said) if not name.startswith("rules.")}
    assert printed - {"faults[]"} <= set(documented(["play"]))
    assert main(["verify", str(record)]) == 0
    assert main(line) == 2
    assert "exists" in capsys.readouterr().err


def test_play_tells_of_stalls(
    bots: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who tries bots on a busy machine sees that it stood still, and that no bot paid for it."""

    def stalled(*known: Any) -> MatchReport:
        report = run_match(*known)
        legs = (replace(leg, stalls=1, stalled_us=1_250_000) for leg in report.result.legs[:1])
        return replace(report, result=replace(report.result, legs=tuple(legs)))

    monkeypatch.setattr("arena.play.run_match", stalled)
    line = ["play", str(bots / "first"), str(bots / "first"), "--sandbox", "process"]
    line += ["--match-format", "native", "--variant", "bura-basic"]
    assert main(line) == 0
    told = "the referee stood still once, 1.2 s in all, charged to no bot"
    assert told in capsys.readouterr().out
    assert main([*line, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["stalls"], said["stalled_ms"]) == (1, 1250)


def test_play_finds_submitted_bots(used: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names and versions of submitted bots play as they are typed."""
    line = ["play", "first", "also@1", "--decks", "1", "--sandbox", "process"]
    names = [bot["name"] for bot in read(line, used, capsys)["bots"]]
    assert names == ["first@1", "also@1"]


def test_play_of_an_unknown_bot_names_the_near_one(
    used: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bot that is neither submitted nor a folder is a usage error."""
    line = ["play", "frist", "also", "--sandbox", "process", "--home", str(used)]
    assert main(line) == 2
    assert "did you mean 'first'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "cp1252"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"TERM": "dumb"},
        {"NO_COLOR": "1", "COLUMNS": "40"},
    ],
    ids=str,
)
@pytest.mark.parametrize("words", [["--help"], ["tournament", "show", "cup"], ["variants", "bura"]])
def test_any_terminal_will_do(environment: dict[str, str], words: list[str], used: Path) -> None:
    """Encodings, dumb terminals and narrow ones change neither the exit code nor the peace."""
    done = arena(*words, ARENA_HOME=str(used), **environment)
    assert done.returncode == 0
    assert done.stderr == b""
    assert b"\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("words", "code"), [("tournament show cup", 0), ("--help", 0), ("verify forged.jsonl", 1)]
)
def test_closed_pipe_changes_no_exit_code(
    words: str, code: int, used: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A reader that goes away at once costs no traceback and no other exit code."""
    record = Path(played_match(used, capsys)["record"])
    forged = tmp_path / "forged.jsonl"
    forged.write_text(record.read_text().replace('"totals":["', '"totals":["1'))
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [str(ARENA), *words.split()],
        stdout=writing,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=os.environ | {"ARENA_HOME": str(used)},
        check=False,
    )
    os.close(writing)
    assert done.stderr == b""
    assert done.returncode == code


def test_json_is_alone_on_stdout(used: Path) -> None:
    """What --json prints can be piped into a parser, whatever else there is to say."""
    done = arena("tournament", "run", "cup", "--json", ARENA_HOME=str(used))
    assert done.returncode == 0
    assert json.loads(done.stdout)["tournament"]["state"] == "finished"


@pytest.mark.parametrize("record", ["taken.jsonl", "no/folder.jsonl"])
def test_record_that_cannot_be_kept_is_refused_before_play(
    record: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody waits for a match to learn that its record has no place."""
    monkeypatch.chdir(tmp_path)
    Path("taken.jsonl").touch()
    line = ["play", "nobody", "nobody", "--sandbox", "process", "--record", record]
    assert main(line) == 2
    assert "name another file" in capsys.readouterr().err


def test_failed_run_says_how_to_go_on(
    used: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """When the machine fails in the middle, the command that resumes the run is printed too."""

    def fail(*_arguments: object, **_options: object) -> None:
        raise MachineError("the engine went away", "start it")

    monkeypatch.setattr("arena.tournament.run", fail)
    assert main(["tournament", "run", "cup", "--home", str(used)]) == 3
    err = capsys.readouterr().err
    assert f"resume it: arena tournament run cup --home {used}\n" in err
    assert "arena: the engine went away; start it\n" in err


def test_output_of_a_failed_build_keeps_its_lines(
    bots: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What an engine printed is shown line by line, without its escapes at work."""

    def fail(*_arguments: object, **_options: object) -> None:
        raise RefusedError("the build failed:\nStep 1\n\x1b[31mno such file")

    monkeypatch.setattr("arena.cli.bots.submit", fail)
    assert main(["bot", "submit", "anna", str(bots / "first")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[-3:] == ["arena: the build failed:", "Step 1", r"\x1b[31mno such file"]


def make_waiting(bots: Path, folder: Path) -> tuple[list[str], Path]:
    """Make a tournament whose matches do not end; give what runs it, and the file to end them."""
    home, go = ["--home", str(folder / "a")], folder / "go"
    waiting = folder / "waiting"
    waiting.mkdir()
    (waiting / "bot.py").write_text(WAITING.format(go=str(go)))
    for bot in (bots / "first", waiting):
        main(["bot", "submit", bot.name, str(bot), "--sandbox", "process", *home])
    create = ["tournament", "create", "t", "first", "waiting", "--sandbox", "process", *home]
    main([*create, "--decks", "3", "--rounds", "3", *GENEROUS])
    return ["tournament", "run", "t", "--concurrency", "1", *home], go


def said_until(running: subprocess.Popen[bytes], words: bytes) -> bytes:
    """Return what a program says on stderr up to the line with these words."""
    assert running.stderr is not None
    said = b""
    while words not in said:
        line = running.stderr.readline()
        assert line, said
        said += line
    return said


@pytest.mark.long
def test_interrupt_stops_and_says_how_to_go_on(bots: Path, tmp_path: Path) -> None:
    """Ctrl-C twice ends a run with 130 and the command that resumes it; the rest is played then."""
    run, go = make_waiting(bots, tmp_path)
    with subprocess.Popen(
        [*PATIENT_ARENA, *run], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as running:
        assert running.stderr is not None
        said = b""
        # Two signals at once may arrive as one.
        for words in (b"Started match", b"stopping after"):
            said += said_until(running, words)
            running.send_signal(signal.SIGINT)
        said += running.stderr.read()
        assert running.wait(60) == 130
    assert b"stopping at once" in said
    assert b"Finished match" not in said
    go.touch()
    assert f"resume it: arena tournament run t --home {tmp_path / 'a'}".encode() in said
    assert main(run) == 0


def test_one_interrupt_lets_the_running_match_end(bots: Path, tmp_path: Path) -> None:
    """Ctrl-C, which a terminal sends to all processes, once: what is played counts, no more is."""
    run, go = make_waiting(bots, tmp_path)
    with subprocess.Popen(
        [*PATIENT_ARENA, *run],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as running:
        assert running.stderr is not None
        said = said_until(running, b"Started match")
        os.killpg(running.pid, signal.SIGINT)
        said += said_until(running, b"stopping after")
        go.touch()
        said += running.stderr.read()
        assert running.wait(60) == 130
    assert b"resume it: arena tournament run t" in said
    with Store.open(find_home(tmp_path / "a")) as store:
        matches = queries.matches(store, "t")
        attempts = [queries.match(store, "t", match.number).attempts for match in matches]
    assert [match.state is MatchState.DONE for match in matches] == [True, False, False]
    assert [len(each) for each in attempts] == [1, 0, 0]


def test_interrupt_before_the_command_line_hears_it_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Between loading and listening Ctrl-C ends the program as it does before and after."""

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "App", interrupted)
    try:
        assert start.main() == 130
    except KeyboardInterrupt:
        pytest.fail("it was let through")
    assert capsys.readouterr().err == ""
