"""The commands around a tournament: plan, describe, change, stop; and what they refuse."""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from commands import arena, read
from cups import Script, run
from test_output import Screen

from arena.cli import main
from arena.cli.description import read_description
from arena.cli.live import StatusLines
from arena.cli.output import Bar, Column, Output, _least_width
from arena.home import DATABASE_VARIABLE, Home
from arena.sandbox import ImageMissingError
from arena.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.infos import MatchInfo

BOTS = ("anna", "boris", "clara", "dora")


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make an arena with four bots, in a folder of this test alone."""
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(tmp_path)
    for name in BOTS:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "bot.py").write_text(name)
        assert main(["bot", "submit", name, name, "--sandbox", "process"]) == 0


def create(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Make the tournament cup of three bots."""
    line = ["tournament", "create", "cup", *BOTS[:3], "--sandbox", "process", *words]
    return arena(capsys, *line)[0]


def play(tmp_path: Path) -> None:
    """Play the tournament cup without its bots."""
    with Store.open(Home(tmp_path / "home")) as store:
        assert run(store).exit_code == 0


def row(text: str, name: str) -> list[str]:
    """Give the cells of the first row of a table that names a bot."""
    return next(line.split() for line in text.splitlines() if name in line.split())


# ------------------------------------------------------------------------------------------ formats


def test_formats_are_listed_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """A list with a sentence each, a paragraph for one."""
    listed = read(capsys, "formats")
    assert "round-robin" in [each["name"] for each in listed]
    one = read(capsys, "formats", "swiss")
    out, _ = arena(capsys, "formats", "swiss")
    assert set(one) == {"name", "summary", "explanation"}
    assert one["summary"] in " ".join(out.split())
    assert one["explanation"] in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    assert one["summary"] in arena(capsys, "formats")[0]


def test_unknown_format_names_the_near_one(capsys: pytest.CaptureFixture[str]) -> None:
    """A typo is one line."""
    _, err = arena(capsys, "formats", "swis", code=2)
    assert err.count("\n") == 1
    assert "did you mean 'swiss'" in err


# -------------------------------------------------------------------------------------------- plans


def test_plan_tells_matches_containers_and_time(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything runs the organiser knows what it will cost, and on what that rests."""
    create(capsys, "--decks", "10")
    out, _ = arena(capsys, "tournament", "plan", "cup")
    assert "matches:    3\n" in out
    assert "2 x 2 a match, 12 in all" in out
    assert "assumed" in out
    found = read(capsys, "tournament", "plan", "cup")
    assert (found["plan"]["matches"], found["plan"]["containers"]) == (3, 12)
    assert len(found["pairings"]) == 3


def test_plan_of_a_knock_out_is_a_minimum(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Replays and a second final can come: nobody is told of fewer matches than are played."""
    assert "at least 4 in all" in create(capsys, "--format", "double-elimination", "--decks", "1")
    out, _ = arena(capsys, "tournament", "plan", "cup")
    assert "matches:    at least 4\n" in out
    assert "at least 16 in all" in out
    assert "or more" in out
    assert read(capsys, "tournament", "plan", "cup")["plan"]["at_least"]
    play(tmp_path)
    out, _ = arena(capsys, "tournament", "plan", "cup")
    assert "matches:    0\n" in out


@pytest.mark.parametrize(
    ("known", "is_least", "words"),
    [
        (20, False, "17 of 20"),
        (20, True, "17 of at least 20"),
        (13, True, "17 of at least 17"),
        (13, False, "17"),
        (None, False, "17"),
    ],
)
def test_status_lines_never_count_beyond_their_total(
    capsys: pytest.CaptureFixture[str], known: int | None, words: str, *, is_least: bool
) -> None:
    """With replays the total grows with the matches; after a late entry there is none."""
    match = cast("MatchInfo", SimpleNamespace(number=17, entrants=("a@1", "b@1"), sides=()))
    StatusLines(Bar(Output()), known, 0, is_least=is_least).started(match)
    assert f"Started match {words} (a@1 vs b@1)\n" in capsys.readouterr().err


def test_dry_run_prints_pairings_and_makes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """--dry-run of `create` stores no tournament."""
    out = create(capsys, "--dry-run", "--format", "swiss")
    assert "anna@1 vs" in out
    assert "sits out round 1" in out
    assert read(capsys, "tournament", "list") == []
    line = ["tournament", "create", "cup", *BOTS, "--sandbox", "process", "--dry-run"]
    assert len(read(capsys, *line)["pairings"]) == 6


def test_dry_run_prints_what_is_left_and_plays_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """--dry-run of `run` lists the matches that it would play."""
    create(capsys)
    out, _ = arena(capsys, "tournament", "run", "cup", "--dry-run")
    assert out.count(" vs ") == 3
    assert read(capsys, "tournament", "show", "cup")["state"] == "planned"
    play(tmp_path)
    assert read(capsys, "tournament", "run", "cup", "--dry-run")["pairings"] == []


def test_byes_are_printed_with_the_pairings(capsys: pytest.CaptureFixture[str]) -> None:
    """Who sits out is told, and that more is to come."""
    create(capsys, "--format", "swiss")
    out, err = arena(capsys, "tournament", "plan", "cup", "--pairings")
    assert "sits out round 1" in out
    _, err = arena(capsys, "tournament", "run", "cup", "--dry-run")
    assert "depends on the results" in err


def test_long_draft_is_cut_and_names_the_format_with_fewer_matches(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Every group of a round robin is too much to read: the first hundred, a count and a hint."""
    rest = [f"[[bots]]\nname = 'b{number}'\nsource = 'anna'" for number in range(10)]
    head = "name = 'big'\nseats = 4\nsandbox = 'process'"
    (tmp_path / "big.toml").write_text("\n".join([head, *rest]))
    line = ["tournament", "create", "--from", "big.toml", "--dry-run"]
    out, err = arena(capsys, *line)
    assert out.count(" vs ") == 3 * 100
    assert "and 110 matches more" in err
    assert "--format pods" in err
    assert len(read(capsys, *line)["pairings"]) == 210


def test_byes_of_rounds_that_were_played_are_not_listed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What would be played has no bye of the past; a plan says that more is to come."""
    create(capsys, "--format", "swiss")
    assert "depends on the results" in arena(capsys, "tournament", "plan", "cup", "--pairings")[1]
    play(tmp_path)
    assert "sits out" not in arena(capsys, "tournament", "run", "cup", "--dry-run")[0]


def test_list_fits_eighty_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Usual names, and a seed given by hand, keep one row a tournament."""
    create(capsys, "--format", "double-elimination")
    arena(capsys, "tournament", "create", "championship", *BOTS, "--seed", "7")
    least = []
    table = Output.table

    def measure(output: Output, columns: Sequence[Column], rows: Sequence[Any]) -> None:
        least.append(_least_width(columns, [[str(cell) for cell in row] for row in rows]))
        table(output, columns, rows)

    monkeypatch.setattr(Output, "table", measure)
    arena(capsys, "tournament", "list")
    assert least[0] <= 80


def test_description_with_a_source_that_is_not_there_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """--dry-run and `plan` say of a missing folder what its submission would say."""
    bots = "[[bots]]\nname = 'x'\nsource = 'nosuch'\n[[bots]]\nname = 'y'\nsource = 'anna'"
    (tmp_path / "cup.toml").write_text(f"name = 'cup'\nsandbox = 'process'\n{bots}")
    said = arena(capsys, "bot", "submit", "x", "nosuch", "--sandbox", "process", code=2)[1]
    for words in (["create", "--dry-run"], ["plan"]):
        line = ["tournament", *words, "--from", "cup.toml"]
        assert arena(capsys, *line, code=2)[1] == said.replace(
            "arena: ", "arena: cup.toml: bots[0].source: "
        )


@pytest.mark.parametrize("source", ["./nosuch", "../nosuch/bot", "/nosuch/bot", "~/nosuch", "~x/y"])
@pytest.mark.parametrize("words", [["create", "--dry-run"], ["create"], ["plan"]])
def test_path_that_leads_nowhere_is_no_image_to_fetch(
    source: str, words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What can only be a path is missing at once, also where bots run in containers."""
    (tmp_path / "sub").mkdir()
    bots = f"[[bots]]\nname = 'x'\nsource = '{source}'"
    for file in ("cup.toml", "sub/cup.toml"):
        (tmp_path / file).write_text(f"name = 'cup'\nsandbox = 'docker'\n{bots}")
        _, err = arena(capsys, "tournament", *words, "--from", file, code=2)
        assert f"{file}: bots[0].source: there is no folder or file /" in err


def test_image_that_is_missing_is_told_with_the_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine lacks it, but the file names it."""

    def refuse(source: str, _sandbox: str) -> None:
        raise ImageMissingError(f"no image {source} on this machine", "name another")

    monkeypatch.setattr("arena.cli.description.check_source", refuse)
    (tmp_path / "cup.toml").write_text("name = 'cup'\n[[bots]]\nname = 'x'\nsource = 'nosuch'")
    _, err = arena(capsys, "tournament", "plan", "--from", "cup.toml", code=3)
    assert err.startswith("arena: cup.toml: bots[0].source: no image nosuch on this machine; name")


def test_open_tournament_may_be_made_in_a_new_home(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A tournament that is to come before its bots comes before the home, too."""
    new = ["--home", str(tmp_path / "new")]
    assert "there is no arena" in arena(capsys, "tournament", "create", "x", "a", *new, code=2)[1]
    arena(capsys, "tournament", "create", "spring", "--open", *new)
    assert [each["name"] for each in read(capsys, "tournament", "list", *new)] == ["spring"]


@pytest.mark.parametrize(
    "words",
    [
        ["create", "spring", "--open", "--dry-run"],
        ["create", "--dry-run", "--from", "cup.toml"],
        ["plan", "--from", "cup.toml"],
    ],
)
def test_what_only_tells_makes_no_home(
    words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A plan may come before the arena, and leaves nothing behind."""
    bots = "".join(f"[[bots]]\nname = '{name}'\nsource = '{name}'\n" for name in BOTS)
    (tmp_path / "cup.toml").write_text(f"name = 'cup'\nsandbox = 'process'\n{bots}")
    new = tmp_path / "new"
    arena(capsys, "tournament", *words, "--home", str(new))
    assert not new.exists()


def test_last_string_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Who gave a string last could have chosen the decks with the secret: `show` says who."""
    line = ["bot", "submit", "--sandbox", "process", "--entropy"]
    arena(capsys, *line, "mice", "boris", "boris")
    arena(capsys, "tournament", "create", "cup", "anna", "boris")
    assert "before the commitment: who drew" in arena(capsys, "tournament", "show", "cup")[0]
    arena(capsys, *line, "rats", "clara", "clara")
    arena(capsys, "tournament", "enter", "cup", "clara", "--reason", "entry")
    out, _ = arena(capsys, "tournament", "show", "cup")
    assert "of clara@2\n" in out
    assert "gave the last one could choose" in out


def test_names_of_bots_are_advised_without_a_plus(capsys: pytest.CaptureFixture[str]) -> None:
    """What a bot's name may hold does not name what is refused next."""
    _, err = arena(capsys, "bot", "submit", "x y", "anna", "--sandbox", "process", code=2)
    assert "'_' or '-'" in err
    assert "'+'" not in err


def test_leaving_after_the_end_is_not_told_to_enter(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Who wants out is told what can still be done."""
    create(capsys)
    play(tmp_path)
    _, err = arena(capsys, "tournament", "withdraw", "cup", "anna", "--reason", "late", code=2)
    assert "its results stand" in err
    assert "enter the next" not in err


# ----------------------------------------------------------------------------------- where they run


def test_bots_submitted_as_processes_run_as_processes(capsys: pytest.CaptureFixture[str]) -> None:
    """Without --sandbox the bots decide, and the missing boundary is told in a line."""
    _, err = arena(capsys, "tournament", "create", "cup", *BOTS)
    assert "no security boundary" in err
    assert read(capsys, "tournament", "show", "cup")["sandbox"] == "process"


def test_tournament_with_too_few_says_how_one_enters(capsys: pytest.CaptureFixture[str]) -> None:
    """A bot enters what is made already, so that is the command to name."""
    due = "name at least 2 bots: arena tournament enter cup BOT --reason TEXT"
    line = ["tournament", "create", "cup", "--open", "--sandbox", "process"]
    assert f"not yet to be run: 0 entrants cannot fill 2 seats; {due}" in arena(capsys, *line)[1]
    assert due in arena(capsys, "tournament", "run", "cup", code=2)[1]


def test_open_tournament_says_which_bots_it_will_take(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anybody is in, where bots run is decided without them, and told in a line."""
    _, err = arena(capsys, "tournament", "create", "cup", "--open")
    assert "bots will run in docker" in err
    enter = ["tournament", "enter", "cup", "anna", "--reason", "entry"]
    _, err = arena(capsys, *enter, code=2)
    assert err.count("\n") == 1
    assert "anna@1 was submitted as a process, and here bots run in docker" in err
    _, err = arena(capsys, "tournament", "create", "free", "--open", "--sandbox", "process")
    assert "bots will run" not in err
    enter[2] = "free"
    arena(capsys, *enter)


def test_bot_that_cannot_run_there_is_told_in_words_of_the_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The advice names values that --sandbox takes; what else is wrong is told before."""
    line = ["tournament", "create", "cup", "--sandbox", "docker"]
    _, err = arena(capsys, *line, *BOTS, code=2)
    assert "anna@1 was submitted as a process" in err
    assert "create the tournament with --sandbox process" in err
    assert "container" not in err
    assert "entered twice" in arena(capsys, *line, "anna", "anna", code=2)[1]
    assert "1 entrant cannot fill 2 seats" in arena(capsys, *line, "anna", code=2)[1]
    wrong = [*line, *BOTS[:3], "--format", "gauntlet", "--challenger", "dora"]
    assert "challenger dora is not entered" in arena(capsys, *wrong, code=2)[1]


def test_word_with_a_plus_is_two_names(capsys: pytest.CaptureFixture[str]) -> None:
    """Three names are not called a bot that is alone, and a missing one is told."""
    line = ["tournament", "create", "cup", "--variant", "burkozyol-pairs", "clara+dora"]
    assert "a pair is two bots" in arena(capsys, *line, "anna+boris+clara", code=2)[1]
    assert "in 'anna+' a name is missing" in arena(capsys, *line, "anna+", code=2)[1]


# ------------------------------------------------------------------------------------------ changes


def test_every_change_is_kept_with_its_reason(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Entry, replacement, withdrawal and disqualification stand in the history."""
    create(capsys)
    (made,) = read(capsys, "tournament", "history", "cup")
    assert (made["number"], made["kind"], made["reason"]) == (1, "creation", None)
    why = ["--reason", "because"]
    out, _ = arena(capsys, "tournament", "enter", "cup", "dora", *why)
    assert "anna@1, boris@1, clara@1, dora@1" in out
    (tmp_path / "boris" / "bot.py").write_text("better")
    arena(capsys, "bot", "submit", "boris", "boris", "--sandbox", "process")
    arena(capsys, "tournament", "replace", "cup", "boris@1", "boris@2", *why)
    arena(capsys, "tournament", "withdraw", "cup", "clara", *why)
    play(tmp_path)
    out, _ = arena(capsys, "tournament", "disqualify", "cup", "anna", *why)
    assert "cup, finished" in out
    found = read(capsys, "tournament", "history", "cup")
    assert [(each["kind"], each["entrant"]) for each in found] == [
        ("creation", None),
        ("entry", "dora@1"),
        ("replacement", "boris@1"),
        ("replacement", "boris@2"),
        ("withdrawal", "clara@1"),
        ("start", None),
        ("end", None),
        ("disqualification", "anna@1"),
    ]
    assert {each["reason"] for each in found if each["entrant"]} == {"because"}
    assert [each["after"] for each in found[-2:]] == [3, 3]
    out, _ = arena(capsys, "tournament", "history", "cup")
    assert "replacement, in" in out


def test_run_that_is_on_takes_changes_up(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Who changes the list during a run is not told to start another, which would be refused."""
    create(capsys)
    said: list[str] = []

    def withdraw() -> None:
        said.extend(arena(capsys, "tournament", "withdraw", "cup", "clara", "--reason", "asked"))

    with Store.open(Home(tmp_path / "home")) as store:
        run(store, Script({1: withdraw}))
    out, err = said
    assert "cup, running" in out
    assert "the run that is on takes it up" in err
    assert "arena tournament run" not in err


def test_disqualified_and_late_are_marked_in_the_tables(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The mark stands beside the name, the disqualified in the last rows."""
    create(capsys)
    play(tmp_path)
    arena(capsys, "tournament", "disqualify", "cup", "anna", "--reason", "a copy")
    out, _ = arena(capsys, "tournament", "show", "cup")
    places = out[out.index("Place") :].split("\n\n")
    assert places[0].splitlines()[-1].split()[:2] == ["-", "anna@1"]
    assert all("anna@1 (disqualification)" in part.splitlines()[-1] for part in places[1:3])
    found = read(capsys, "tournament", "show", "cup")
    assert found["left"] == {"anna@1": "disqualification"}
    assert found["places"][-1]["rank"] is None


def test_disqualified_have_no_rank_in_any_table_of_the_tournament(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Ratings of one tournament count the others from 1; a pool ranks whom it rates."""
    create(capsys)
    play(tmp_path)
    arena(capsys, "tournament", "disqualify", "cup", "anna", "--reason", "a copy")
    tables = (
        read(capsys, "tournament", "show", "cup")["table"],
        read(capsys, "rankings", "--tournament", "cup"),
    )
    for rows in tables:
        assert [row["rank"] for row in rows] == [1, 2, None]
        assert (rows[-1]["name"], rows[-1]["left"]) == ("anna@1", "disqualification")
    last = arena(capsys, "rankings", "--tournament", "cup")[0].splitlines()[3]
    assert last.split()[:3] == ["-", "anna@1", "(disqualification)"]
    assert [row["rank"] for row in read(capsys, "rankings")] == [1, 2, 3]


def test_rating_of_a_ladder_is_not_taken_for_that_of_its_pool(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The two tables have other headings, and the ladder's heeds no settings of the pool."""
    create(capsys, "--format", "ladder")
    head = arena(capsys, "tournament", "show", "cup")[0].splitlines()
    headings = [line for line in head if line.split()[:1] in (["Place"], ["Rank"])]
    assert ["Ladder rating" in line for line in headings] == [True, False]
    places = read(capsys, "tournament", "show", "cup")["places"]
    (tmp_path / "home" / "ratings.toml").write_text("[trueskill]\nmu = 30\n")
    assert read(capsys, "tournament", "show", "cup")["places"] == places
    assert "usual parameters" in " ".join(arena(capsys, "formats", "ladder")[0].split())


def test_ladder_runs_until_it_is_stopped(capsys: pytest.CaptureFixture[str]) -> None:
    """Stopping reveals the seed; nothing is played any more."""
    create(capsys, "--format", "ladder")
    found = read(capsys, "tournament", "plan", "cup")["plan"]
    assert (found["matches"], found["seconds"]) == (None, None)
    assert "no end until it is stopped" in arena(capsys, "tournament", "plan", "cup")[0]
    stop = ("tournament", "stop", "cup", "--reason")
    assert "needs a reason" in arena(capsys, *stop, " ", code=2)[1]
    out, _ = arena(capsys, *stop, "season over")
    assert "cup, finished" in out
    assert read(capsys, "tournament", "show", "cup")["seed"] is not None
    assert "over already" in arena(capsys, *stop, "again", code=2)[1]


def test_reason_of_a_stop_is_kept_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Readers of the history and of the tournament see that it was ended by hand, and why."""
    create(capsys, "--format", "ladder")
    arena(capsys, "tournament", "stop", "cup", "--reason", "season over")
    (_, found) = read(capsys, "tournament", "history", "cup")
    assert (found["kind"], found["entrant"], found["reason"]) == ("stop", None, "season over")
    assert "season over" in arena(capsys, "tournament", "history", "cup")[0]
    assert "season over" in arena(capsys, "tournament", "show", "cup")[0]
    assert read(capsys, "tournament", "show", "cup")["stop_reason"] == "season over"


def test_finals_are_made_of_the_best(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """One command makes the final, in which submissions are frozen."""
    create(capsys)
    play(tmp_path)
    out, _ = arena(capsys, "tournament", "finals", "last", "cup", "--top", "2", "--rounds", "2")
    assert "entrants:   anna@1, boris@1" in out
    assert "final" in out
    _, err = arena(capsys, "tournament", "enter", "last", "dora", "--reason", "late", code=2)
    assert "no late entries" in err


def test_finals_can_be_looked_at_before_they_are_made(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A dry run prints who would meet whom and makes nothing."""
    create(capsys)
    play(tmp_path)
    line = ["tournament", "finals", "last", "cup", "--top", "2", "--dry-run"]
    assert "anna@1 vs boris@1" in arena(capsys, *line)[0]
    assert [each["entrants"] for each in read(capsys, *line)["pairings"]] == [["anna@1", "boris@1"]]
    assert [each["name"] for each in read(capsys, "tournament", "list")] == ["cup"]


# ----------------------------------------------------------------------------------- what is shown


def test_versions_that_took_over_name_each_other(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The note of the old version says by which it was replaced, that of the new one which."""
    create(capsys)
    (tmp_path / "boris" / "bot.py").write_text("better")
    arena(capsys, "bot", "submit", "boris", "boris", "--sandbox", "process")
    words = ("tournament", "replace", "cup", "boris@1", "boris@2", "--reason", "mended")
    with Store.open(Home(tmp_path / "home")) as store:
        run(store, Script({1: lambda: arena(capsys, *words)}))
    found = read(capsys, "tournament", "show", "cup")["places"]
    assert {each["name"]: each["note"] for each in found if each["note"]} == {
        "boris@1": "replaced by boris@2",
        "boris@2": "replaces boris@1",
    }


def test_head_of_a_tournament_fits_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal of 80 columns long lines are broken at blanks and aligned, in a pipe not."""
    create(capsys, "--seed", "7", "--tc", "30+0.1")
    whole = arena(capsys, "tournament", "show", "cup")[0]
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    assert main(["tournament", "show", "cup"]) == 0
    lines = screen.getvalue().splitlines()
    assert max(map(len, whole.splitlines())) > 80 >= max(map(len, lines))
    assert " ".join(whole.partition("\n\n")[0].split()) in " ".join(screen.getvalue().split())


def test_seed_given_by_hand_is_marked_everywhere(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """At creation, in the list, in show and in JSON it says that nothing was committed to."""
    _, err = arena(
        capsys, "tournament", "create", "cup", *BOTS, "--sandbox", "process", "--seed", "7"
    )
    assert "not committed" in err
    assert "not committed" in arena(capsys, "tournament", "list")[0]
    assert "not committed" in arena(capsys, "tournament", "show", "cup")[0]
    play(tmp_path)
    assert "not committed" in arena(capsys, "tournament", "show", "cup")[0]
    assert read(capsys, "tournament", "show", "cup")["committed"] is False


def test_seed_given_by_hand_is_marked_below_every_table(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What comes of a tournament never stands without the mark; objects of JSON have a field."""
    create(capsys, "--seed", "7")
    arena(capsys, "tournament", "enter", "cup", "dora", "--reason", "late")
    mark = "not committed, the seed was given by hand"
    plans = (
        ("tournament", "plan", "cup"),
        ("tournament", "run", "cup", "--dry-run"),
        ("tournament", "history", "cup"),
    )
    assert all(mark in arena(capsys, *words)[0] for words in plans)
    assert not any(read(capsys, *words)["committed"] for words in plans[:2])
    assert mark in arena(capsys, "match", "show", "cup/1")[0]
    assert read(capsys, "match", "show", "cup/1")["committed"] is False
    play(tmp_path)
    shown = (("stats", "cup"), ("match", "list", "cup"), ("tournament", "run", "cup"))
    assert all(mark in arena(capsys, *words)[0] for words in shown)
    assert read(capsys, "stats", "cup")["committed"] is False
    assert mark in arena(capsys, "rankings", "--tournament", "cup")[1]
    assert "given by hand: cup" in arena(capsys, "rankings")[1]


def test_committed_tournament_bears_no_mark(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A seed that was drawn is not called one given by hand."""
    create(capsys)
    play(tmp_path)
    for words in (("stats", "cup"), ("match", "list", "cup"), ("rankings",)):
        assert "not committed" not in "".join(arena(capsys, *words))
    assert all(each["committed"] for each in read(capsys, "match", "list", "cup"))


def test_commitment_is_in_every_listing_and_the_seed_only_at_the_end(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Created, listed, shown: the commitment; played: the seed too."""
    made = create(capsys)
    found = read(capsys, "tournament", "show", "cup")
    assert found["commitment"] in made
    assert found["commitment"][:16] in arena(capsys, "tournament", "list")[0]
    assert found["commitment"] in arena(capsys, "tournament", "show", "cup")[0]
    assert "seed:" not in arena(capsys, "tournament", "show", "cup")[0]
    play(tmp_path)
    out, _ = arena(capsys, "tournament", "show", "cup")
    assert read(capsys, "tournament", "show", "cup")["seed"] in out
    assert found["commitment"] in out


def test_strings_of_the_entrants_are_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """With the bot, with the tournament, and whether they came after the commitment."""
    out, _ = arena(
        capsys, "bot", "submit", "anna", "anna", "--sandbox", "process", "--entropy", "three mice"
    )
    assert "anna@2" in out
    assert "three mice" in arena(capsys, "bot", "show", "anna")[0]
    create(capsys)
    assert (
        "three mice (given before the commitment)" in arena(capsys, "tournament", "show", "cup")[0]
    )
    play(tmp_path)
    found = read(capsys, "tournament", "show", "cup")
    assert found["entropy"] == [
        {
            "entrant": "anna@2",
            "state": "open",
            "digest": hashlib.sha256(b"three mice").hexdigest(),
            "text": "three mice",
            "later": False,
            "reason": "",
        }
    ]
    assert found["secret"] != found["seed"]


def test_same_bot_with_the_same_string_is_no_new_version(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Neither repeating a string nor leaving it out makes a version, another one does."""
    line = ["bot", "submit", "anna", "anna", "--sandbox", "process"]
    versions = [
        read(capsys, *line, *more)["version"]
        for more in ([], ["--entropy", "x"], ["--entropy", "x"], [], ["--entropy", "y"])
    ]
    assert versions == [1, 2, 2, 2, 3]


def test_time_control_fits_the_game_unless_it_is_given(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A larger hand takes longer to look at."""
    create(capsys)
    assert read(capsys, "tournament", "show", "cup")["time"] == {
        "move_ms": 1000,
        "bank_ms": 0,
        "increment_ms": 0,
        "startup_ms": 20_000,
    }
    line = ["tournament", "create", "five", *BOTS, "--sandbox", "process"]
    assert read(capsys, *line, "--variant", "bura-5")["time"]["move_ms"] == 1500
    line[2] = "own"
    given = read(capsys, *line, "--move-time", "0.2", "--tc", "30+0.1", "--startup", "5")
    assert given["time"] == {
        "move_ms": 200,
        "bank_ms": 30_000,
        "increment_ms": 100,
        "startup_ms": 5000,
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--tc", "30+0.1"],
            "1 s a decision, bank 30 s a leg (60 s a match), 0.1 s more a decision,",
        ),
        (["--tc", "0.5", "--seats", "3"], "1 s a decision, bank 0.5 s a leg (1.5 s a match), 20 s"),
        (["--tc", "0+2"], "1 s a decision, bank 0 s a leg, 2 s more a decision, 20 s to start"),
        (["--tc", "30", "--match-format", "robber"], "1 s a decision, bank 30 s a match, 20 s to"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bank_is_told_by_leg_and_by_match(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody takes the bank of a leg for that of a match, whose legs are several."""
    assert said in create(capsys, *words)


# -------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["anna"], "1 entrant cannot fill 2 seats"),
        ([], "0 entrants cannot fill 2 seats"),
        ([*BOTS, "--no-third-place"], "no use for --no-third-place"),
        ([*BOTS, "--seats", "6", "--variant", "burkozyol-pairs"], "cannot be played by 6"),
        (["anna+boris", "clara+dora"], "each plays for itself"),
        ([*BOTS, "--format", "knockout"], "single-elimination"),
        ([*BOTS, "--groups", "2"], "no use for --groups"),
        ([*BOTS, "--challenger", "emil", "--format", "gauntlet"], "there is no bot 'emil'"),
        (
            [*BOTS[:3], "--challenger", "dora", "--format", "gauntlet"],
            "the challenger dora is not entered; name one of the entrants",
        ),
        ([*BOTS, "--finals", "--format", "double-elimination"], "equally many"),
        ([*BOTS, "--finals", "--format", "ladder"], "equally many"),
        (["anna", "--open", "--finals"], "nobody enters a final"),
        (["anna", "--open", "--groups", "2"], "no use for --groups"),
        (["anna", "--open", "--format", "pods"], "pods is for matches of 3 to 6"),
        ([*BOTS, "--move-time", "0"], "'--move-time': '0' is out of range; give 0.001 to 86400"),
        ([*BOTS, "--move-time", "-1"], "'--move-time': '-1' is out of range; give 0.001 to 86400"),
        ([*BOTS, "--startup", "0"], "'--startup': '0' is out of range; give 0.001 to 86400"),
        ([*BOTS, "--move-time", "0.0015"], "'--move-time': '0.0015' is finer than 1 ms"),
        ([*BOTS, "--tc", "30+0.0001"], "'--tc': '0.0001' is finer than 1 ms"),
        ([*BOTS, "--tc", "30+"], "'--tc': '30+' is no time control; give 30, or 30+0.1"),
        ([*BOTS, "--tc", "+1"], "'--tc': '+1' is no time control; give 30, or 30+0.1"),
        ([*BOTS, "--from", "cup.toml"], "put NAME into the file"),
        (["anna", "anna@1"], "entered twice"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_tournament_that_cannot_be_is_refused_in_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was wrong, what was expected, what to do; nothing is stored."""
    Path("cup.toml").write_text('name = "cup"\n')
    line = ["tournament", "create", "cup", *words, "--sandbox", "process"]
    _, err = arena(capsys, *line, code=2)
    assert said in err
    assert len(err.splitlines()) <= 3
    assert read(capsys, "tournament", "list") == []


def test_match_format_that_cannot_be_mirrored_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is allowed, and the organiser knows what it means."""
    line = ["tournament", "create", "cup", *BOTS, "--sandbox", "process"]
    _, err = arena(capsys, *line, "--match-format", "penalty")
    assert "cannot be mirrored" in err


def test_decks_mean_nothing_but_to_a_series(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Where the rules say how long a match lasts, --decks is refused and no number is told."""
    line = ["tournament", "create", "cup", *BOTS[:3], "--sandbox", "process"]
    robber = ["--match-format", "robber"]
    _, err = arena(capsys, *line, *robber, "--decks", "5", code=2)
    assert "robber has no use for --decks" in err
    Path("cup.toml").write_text("name = 'cup'\nmatch_format = 'robber'\ndecks = 5\n")
    assert (
        "no use for --decks" in arena(capsys, "tournament", "plan", "--from", "cup.toml", code=2)[1]
    )
    assert (
        "no use for --decks"
        in arena(capsys, "play", "anna", "boris", *robber, "--decks", "5", code=2)[1]
    )
    out, _ = arena(capsys, *line, *robber)
    assert "game:       bura, robber, 2 seats\n" in out
    assert "decks" not in arena(capsys, "tournament", "show", "cup")[0]
    assert read(capsys, "tournament", "show", "cup")["decks"] is None
    play(tmp_path)
    arena(capsys, "tournament", "finals", "last", "cup", "--top", "2")
    assert (
        "no use for --decks"
        in arena(
            capsys, "tournament", "finals", "more", "cup", "--top", "2", "--decks", "5", code=2
        )[1]
    )


@pytest.mark.parametrize(
    "words",
    [
        ["enter", "cup", "dora"],
        ["withdraw", "cup", "anna"],
        ["disqualify", "cup", "anna"],
        ["replace", "cup", "anna@1", "anna@2"],
    ],
    ids=lambda words: words[0],
)
def test_change_needs_a_reason(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Without --reason nothing happens."""
    create(capsys)
    _, err = arena(capsys, "tournament", *words, code=2)
    assert "--reason" in err
    assert [each["kind"] for each in read(capsys, "tournament", "history", "cup")] == ["creation"]


def test_plan_needs_one_thing_to_plan(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither nothing nor two at once."""
    assert "--from" in arena(capsys, "tournament", "plan", code=2)[1]
    assert "--from" in arena(capsys, "tournament", "create", code=2)[1]


@pytest.mark.parametrize("text", ["", " x", "x" * 201, "a\tb", "a\x1b[31m"])
def test_string_that_is_no_line_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It has to read the same wherever it is published."""
    line = ["bot", "submit", "anna", "anna", "--sandbox", "process", "--entropy", text]
    assert "printable" in arena(capsys, *line, code=2)[1]


# ------------------------------------------------------------------------------------ TOML files

FILE = """
name = "cup"
variant = "bura"
rules = { target = 41, combinations = ["bura", "moscow"] }
format = "swiss"
rounds = 2
seats = 2
decks = 7
seeding = "given"
sandbox = "process"
entrants = ["new", "anna@1", "boris", "clara"]

[time]
move = 0.5
bank = 30
increment = 0.1
startup = 5

[[bots]]
name = "new"
source = "dora"
entropy = "four mice"
"""


def test_file_describes_a_whole_tournament(capsys: pytest.CaptureFixture[str]) -> None:
    """Its bots are submitted, and it is made as it is written."""
    Path("sub").mkdir()
    file = Path("sub") / "cup.toml"
    file.write_text(FILE.replace('"dora"', '"../dora"'))
    planned = read(capsys, "tournament", "plan", "--from", str(file))
    assert planned["plan"]["matches"] == 4
    dry, _ = arena(capsys, "tournament", "create", "--from", str(file), "--dry-run")
    assert "new@1 vs" in dry
    assert len(read(capsys, "bot", "list")) == 4
    assert read(capsys, "tournament", "list") == []
    arena(capsys, "tournament", "create", "--from", str(file))
    made = read(capsys, "tournament", "show", "cup")
    assert made["entrants"] == ["new@1", "anna@1", "boris@1", "clara@1"]
    assert (made["format"], made["rounds"], made["decks"]) == ("swiss", 2, 7)
    assert made["rules"]["target"] == 41
    assert made["rules"]["combinations"] == ["bura", "moscow"]
    assert (made["time"]["move_ms"], made["time"]["bank_ms"]) == (500, 30_000)
    assert [each["text"] for each in made["entropy"]] == ["four mice"]
    assert made["committed"] is True


def test_file_of_the_page_on_tournaments_can_be_read(tmp_path: Path) -> None:
    """What the page shows is a description, with every table that there is."""
    page = Path(__file__).parent.parent / "docs" / "tournaments.md"
    (block,) = re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    file = tmp_path / "spring.toml"
    file.write_text(block)
    described = read_description(file)
    assert described.options(Home(tmp_path)).bots == ("alice", "bob@2", "carol")
    assert [bot.name for bot in described.said.bots] == ["alice"]


@pytest.mark.parametrize("verb", ["create", "plan"])
def test_place_of_the_arena_is_named_beside_a_file(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Folder and database are nothing that the file says."""
    monkeypatch.setenv(DATABASE_VARIABLE, "postgresql://nobody@/nowhere")
    Path("cup.toml").write_text(
        'name = "cup"\nsandbox = "process"\n'
        '[[bots]]\nname = "x"\nsource = "anna"\n[[bots]]\nname = "y"\nsource = "boris"\n'
    )
    place = ["--home", str(tmp_path / "other"), "--database", ""]
    arena(capsys, "tournament", verb, "--from", "cup.toml", *place)
    assert (tmp_path / "other").exists() == (verb == "create")


def test_command_that_is_told_names_the_file_as_it_was_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the environment names a database, what is to be pasted keeps off it too."""
    monkeypatch.setenv(DATABASE_VARIABLE, "postgresql://nobody@/nowhere")
    line = ["tournament", "create", "cup", *BOTS, "--sandbox", "process", "--database", ""]
    _, err = arena(capsys, *line)
    assert "arena tournament run cup --database ''" in err


@pytest.mark.parametrize("key", ["finals", "final"])
def test_file_says_finals_as_the_line_does(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The key is the word of --finals; the one it had is taken too, but not both."""
    entrants = f"entrants = ['anna', 'boris']\nname = 'cup'\n{key} = true\n"
    Path("cup.toml").write_text(entrants)
    assert read(capsys, "tournament", "create", "--from", "cup.toml")["final"] is True
    Path("cup.toml").write_text(f"{entrants}{'final' if key == 'finals' else 'finals'} = true\n")
    _, err = arena(capsys, "tournament", "create", "--from", "cup.toml", code=2)
    assert "there is no key 'final'" in err


def test_plan_of_a_file_takes_no_name_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever gives both is told to give one of them, whoever gives none which there are."""
    line = ["tournament", "plan"]
    said = "cup and --from o.toml were given: give one of them, not both"
    assert said in arena(capsys, *line, "cup", "--from", "o.toml", code=2)[1]
    assert "name a tournament, or give --from FILE" in arena(capsys, *line, code=2)[1]


def test_file_without_entrants_enters_its_bots(capsys: pytest.CaptureFixture[str]) -> None:
    """Every bot that is described is in, and an image or a folder keeps its name."""
    Path("cup.toml").write_text(
        'name = "cup"\nsandbox = "process"\nseed = 7\n'
        '[[bots]]\nname = "x"\nsource = "anna"\n[[bots]]\nname = "y"\nsource = "boris"\n'
    )
    made = read(capsys, "tournament", "create", "--from", "cup.toml")
    assert made["entrants"] == ["x@1", "y@1"]
    assert made["committed"] is False


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "is no TOML"),
        ("format = 'swiss'", "name is missing"),
        ("nmae = 'cup'", "there is no key 'nmae'; did you mean 'name'"),
        ("name = 'cup'\nfromat = 'swiss'", "there is no key 'fromat'; did you mean 'format'"),
        ("name = 'cup'\n[time]\nmoove = 1", "there is no key 'time.moove'; did you mean 'move'"),
        ("name = 'cup'\nrounds = 'two'", "rounds has no value 'two'; give a whole number"),
        (f"name = 'cup'\nrounds = {'9' * 5000}", "has a whole number of thousands of digits; give"),
        (f"name = 'cup'\nrounds = 0x{'f' * 5000}", "rounds has no value with a whole number of"),
        (f"name = 'cup'\nseed = 0x{'f' * 5000}", "seed has no value with a whole number of"),
        (
            f"name = 'cup'\nrules = {{ target = [0x{'f' * 5000}] }}",
            "rules.target has no value with",
        ),
        (f"name = {'[' * 3000}{']' * 3000}", "has lists or tables within each other without end"),
        (f"name = {'[' * 200}{']' * 200}", f"name has no value {'[' * 80}...; give a text"),
        ("name = 'cup'\nentrants = 'a1'", "entrants has no value 'a1'; give a list in brackets"),
        ("name = 'cup'\nrounds = 0", "rounds has no value 0; give at least 1"),
        ("name = 'cup'\n[[bots]]\nname = 'x'", "bots[0].source is missing"),
        ("name = 'cup'\n[[bots]]\nname = 'x y'\nsource = 'anna'", "bots[0].name: 'x y' cannot"),
        ("name = 'cup'\nentrants = [5]", "entrants[0] has no value 5; give a text in quotes"),
        ("name = 'c p'", "name: 'c p' cannot name a tournament"),
        ("name = 'cup'\nvariant = 'chess'", "variant: there is no variant 'chess'"),
        ("name = 'cup'\nrules = { target = 1.5 }", "rules.target has no value 1.5; give a text"),
        ("name = 'cup'\nrules = { target = true }", "rules.target has no value true; give a text"),
        ("name = 'cup'\nrules = { tarket = 41 }", "rules.tarket: there is no rule 'tarket'"),
        ("name = 'cup'\nrules = { hand_size = 7 }", "rules.hand_size: hand_size has no value '7'"),
        ("name = 'cup'\nrules = { combinations = ['x'] }", "rules: combinations: no combination"),
        ("name = 'cup'\nrules = { sides = 'pairs' }", "rules: sides=pairs"),
        ("name = 'cup'\nseats = 5\nvariant = 'burkozyol-pairs'", "seats: burkozyol-pairs cannot"),
        ("name = 'cup'\nseed = 1.5", "seed has no value 1.5; give a text in quotes or a whole"),
        ("name = 'cup'\nseed = ''", "seed: the seed is empty; give"),
        ("name = 'cup'\ntime = { move = 0.0 }", "time.move has no value 0.0; give at least 0.001"),
        ("name = 'cup'\ntime = { startup = 0 }", "time.startup has no value 0; give at least"),
        ("name = 'cup'\ntime = { bank = 0.0005 }", "time.bank has no value 0.0005; give seconds"),
        ("name = 'cup'\ntime = { bank = nan }", "time.bank has no value nan; give a number"),
        (
            "name = 'cup'\ntime = { bank = 1e9 }",
            "time.bank has no value 1000000000.0; give at most",
        ),
        ("name = 'cup'\ndecks = 1000000", "decks has no value 1000000; give at most 100000"),
        ("name = 'cup'\nentrants = ['anna']", "1 entrant cannot fill 2 seats"),
        ("name = 'cup'\nentrants = ['anna', 'boris']\ngroups = 2", "no use for --groups"),
        ("name = 'cup'\nentrants = ['anna', 'boris']\nsandbox = 'docker'", "anna@1 was submitted"),
        (
            "name = 'cup'\nsandbox = 'jail'",
            "'jail'; give 'docker' or 'process'",
        ),
        (
            "name = 'cup'\nmatch_format = 'chess'",
            "match_format has no value 'chess'; give one of series",
        ),
        ("name = 'cup'\nformat = 'chess'", "format: unknown format 'chess'"),
        ("name = 'cup'\nentrants = ['anna', 'emil']", "entrants: there is no bot 'emil'"),
        ("name = 'cup'\nrules = { target = 'x' }", "rules.target: target has no value 'x'"),
    ],
    ids=lambda text: text.replace("\n", " ")[:60] if "=" in text else "",
)
def test_file_that_cannot_be_meant_is_refused_in_one_line(
    text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Naming the file, the key and what was expected; nothing is stored or submitted."""
    file = Path("cup.toml")
    sandbox = "" if "sandbox" in text or "[" in text else "\nsandbox = 'process'"
    file.write_text(text + sandbox)
    _, err = arena(capsys, "tournament", "create", "--from", "cup.toml", code=2)
    assert err.startswith("arena: cup.toml")
    assert said in err
    assert err.count("\n") == 1
    assert len(read(capsys, "bot", "list")) == 4


def test_file_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A path that leads nowhere is a usage error."""
    _, err = arena(capsys, "tournament", "create", "--from", "none.toml", code=2)
    assert "none.toml" in err
