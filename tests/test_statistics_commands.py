"""`arena stats` and `arena rankings` from the command line, over stored matches with records."""

import csv
import io
import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import pytest
import stores
from test_rebuilding import keep

from arena.cli import main
from arena.cli.rankings import Until
from arena.cli.standings import few_units
from arena.cli.words import likelihood
from arena.home import Home
from arena.statistics.cross_table import Meeting
from arena.statistics.stats import Estimate
from arena.statistics.tournament_stats import TournamentStatistics, tournament_statistics
from arena.store import Store
from arena.tables import Tournament
from referee.variants import VARIANTS

DAY = 86_400


@pytest.fixture(name="home")
def _home(tmp_path: Path) -> list[str]:
    """The words that name an arena in which two matches were recorded on two days."""
    hours = stores.Hours()
    with Store.open(Home(tmp_path), clock=hours) as store:
        number = stores.add_tournament(store, matches=2)
        with store.write() as session:
            row = session.get_one(Tournament, number)
            row.rules = json.dumps(VARIANTS["bura"].to_dict())
            session.add(row)
        for match in (1, 2):
            hours.seconds = match * DAY
            keep(store, number, match)
    return ["--home", str(tmp_path)]


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that must succeed; return what it printed."""
    assert main(list(words)) == 0
    return capsys.readouterr().out


def rows(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, str]]:
    """Return the rows that a command prints as comma-separated values."""
    return list(csv.DictReader(io.StringIO(printed(capsys, *words, "--csv"))))


def read(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """Return what a command prints as JSON."""
    return json.loads(printed(capsys, *words, "--json"))


def test_rankings_are_the_same_in_every_form(
    home: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The table, JSON and comma-separated values hold the same ratings, to their digits."""
    text = printed(capsys, "rankings", *home).splitlines()
    found = read(capsys, "rankings", *home)
    listed = rows(capsys, "rankings", *home)

    assert [float(row["rating"]) for row in listed] == [row["rating"] for row in found]
    assert [row["name"] for row in listed] == [row["name"] for row in found]
    for line, row in zip(text[1:], found, strict=False):
        assert line.split()[:4] == [
            str(row["rank"]),
            row["name"],
            f"{row['rating']:.2f}",
            f"{row['margin']:.2f}",
        ]
        assert row["rating"] == row["mu"] - 3 * row["sigma"]
    assert text[-2].startswith("trueskill over 2 matches: mu 25, sigma 8.333, beta 4.167, ")


def test_sentences_fit_a_narrow_terminal(
    home: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The line of parameters and that of luck are broken before the eightieth column."""
    for words in (["rankings"], ["stats", "cup"]):
        lines = printed(capsys, *words, *home).splitlines()
        assert max(map(len, lines)) <= 80


def test_a_parameter_is_not_rounded_to_what_it_must_not_be(
    home: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A probability just below 1 is not told as 1."""
    text = printed(capsys, "rankings", "--draw-probability", "0.999999999999", *home)
    assert "draw_probability 0.999999999999" in text


def test_two_forms_at_once_are_a_usage_error(
    home: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever asks for JSON and for comma-separated values is told to choose."""
    for words in (["rankings"], ["stats", "cup"]):
        assert main([*words, "--json", "--csv", *home]) == 2
        assert "exclude each other" in capsys.readouterr().err


def test_bots_that_cannot_be_told_apart_share_a_letter(
    home: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """After two matches of two bots both stand in group a."""
    assert [row["tied"] for row in read(capsys, "rankings", *home)] == [[0], [0]]
    lines = printed(capsys, "rankings", *home).splitlines()
    assert [line.split()[6] for line in lines[1:3]] == ["a", "a"]


@pytest.mark.parametrize(
    ("date", "games"),
    [
        ("1970-01-01", 0),
        ("1970-01-02", 1),
        ("1970-01-02T00:00", 1),
        ("1970-01-01T23:59:59", 0),
        ("1970-01-02T01:00+02:00", 0),
        ("1970-01-02t23:59", 1),
        ("1970-01-02_00:00", 1),
        ("19700102", 1),
        ("9999-12-31t23:59", 2),
        ("9999-12-31", 2),
        ("1970-01-03", 2),
    ],
)
def test_rankings_can_be_those_of_a_day(
    home: list[str], capsys: pytest.CaptureFixture[str], date: str, games: int
) -> None:
    """A date counts to the end of its day in UTC, a time to the second it names."""
    for words in (["rankings"], ["rankings", "--tournament", "cup"]):
        found = read(capsys, *words, "--at", date, *home)
        assert [row["games"] for row in found] == [games, games]


@pytest.mark.parametrize("text", ["yesterday", "2026-05-31T", "10000-01-01", ""])
def test_what_is_no_date_is_a_usage_error(text: str) -> None:
    """A date that cannot be read is refused with one that could."""
    with pytest.raises(click.UsageError, match=f"'{text}' is no date; give 2026-05-31"):
        Until().convert(text, None, None)


@pytest.mark.parametrize(("words", "whose"), [([], "this pool"), (["--tournament", "cup"], "cup")])
def test_a_day_too_early_is_told_when_results_begin(
    home: list[str], capsys: pytest.CaptureFixture[str], words: list[str], whose: str
) -> None:
    """Whoever asks for a day before the first result is told when that was."""
    for day in ("1969-12-31", "1970-01-01"):
        assert main(["rankings", *words, "--at", day, *home]) == 0
        said = capsys.readouterr().err
        assert f"the first result of {whose} is of 1970-01-02 00:00:00 UTC" in said
        assert "create --help" not in said


@pytest.mark.parametrize(
    "words",
    [
        ["--variant", "bura-5"],
        ["--rules", "target=41"],
        ["--seats", "2"],
        ["--match-format", "series"],
    ],
    ids=lambda words: words[0],
)
def test_options_of_a_pool_mean_nothing_to_a_tournament(
    home: list[str], capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    """A tournament has its game; whoever names another beside it is told."""
    assert main(["rankings", "--tournament", "cup", *words, *home]) == 2
    assert f"{words[0]} means nothing beside --tournament" in capsys.readouterr().err


def test_changes_of_a_bot_lead_to_its_rating(
    home: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Every match's change is listed, in every form, and they add up to the rating."""
    for row in read(capsys, "rankings", "--changes", *home):
        assert [change["match"] for change in row["changes"]] == ["cup/1", "cup/2"]
        assert sum(change["change"] for change in row["changes"]) == pytest.approx(row["rating"])
        assert row["changes"][0]["after"] == row["changes"][1]["before"]
    listed = rows(capsys, "rankings", "--changes", *home)
    assert [row["match"] for row in listed] == ["cup/1", "cup/1", "cup/2", "cup/2"]
    assert float(listed[0]["before.mu"]) == 25
    assert "cup/2" in printed(capsys, "rankings", "--changes", *home)


def test_parameters_can_be_tried(home: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Another system or parameter moves ratings in this one answer, and nothing else."""
    before = read(capsys, "rankings", *home)
    tried = read(capsys, "rankings", "--tau", "1", "--beta", "2", *home)
    other = read(capsys, "rankings", "--rating", "openskill", *home)

    assert tried[0]["sigma"] != before[0]["sigma"]
    assert other[0]["sigma"] != before[0]["sigma"]
    assert read(capsys, "rankings", *home) == before
    assert main(["rankings", "--rating", "openskill", "--draw-probability", "0.1", *home]) == 2
    assert "no parameter 'draw_probability'" in capsys.readouterr().err


def test_an_empty_pool_names_the_others(
    home: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing was played with so many seats, the line says with how many it was."""
    assert main(["rankings", "--seats", "3", *home]) == 0
    said = capsys.readouterr()

    assert said.out == ""
    assert "no tournaments of bura with 3 seats (series)" in said.err
    assert "there are tournaments of bura with 2 seats (series)" in said.err


def test_an_empty_answer_has_its_header(
    home: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Programs that read comma-separated values find the names of the fields without rows, too."""
    full = printed(capsys, "rankings", "--csv", *home).splitlines()[0].split(",")
    empty = printed(capsys, "rankings", "--seats", "3", "--csv", *home)
    assert empty.count("\n") == 1
    assert empty.strip().split(",") == [name for name in full if not name.startswith("faults.")]
    full = printed(capsys, "rankings", "--changes", "--csv", *home).splitlines()[0]
    assert printed(capsys, "rankings", "--seats", "3", "--changes", "--csv", *home).strip() == full


@pytest.mark.parametrize("by_hand", [True, False])
def test_every_form_says_whether_seeds_were_committed_to(
    home: list[str], capsys: pytest.CaptureFixture[str], *, by_hand: bool
) -> None:
    """A field of JSON and of comma-separated values holds the mark, for bots and for changes."""
    with Store.open(Home(Path(home[1]))) as store, store.write() as session:
        row = session.get_one(Tournament, 1)
        row.seed_given = by_hand
        session.add(row)
    found = read(capsys, "rankings", "--changes", *home)
    assert {row["committed"] for row in found} == {not by_hand}
    assert {each["committed"] for row in found for each in row["changes"]} == {not by_hand}
    for words in ([], ["--changes"], ["--tournament", "cup"]):
        listed = rows(capsys, "rankings", *words, *home)
        assert {row["committed"] for row in listed} == {str(not by_hand)}


def test_statistics_hold_what_was_recorded(
    home: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Meetings, reasons, seats and luck come from the results and records of the tournament."""
    found = read(capsys, "stats", "cup", *home)
    table = {row["name"]: row for row in read(capsys, "rankings", *home)}
    deals = 2 * (5 + 5)

    assert [row["per_deal"] for row in found["bots"]] == [
        table[row["name"]]["per_deal"] for row in found["bots"]
    ]
    one, other = found["meetings"]
    assert (one["name"], one["opponent"]) == (other["opponent"], other["name"])
    assert one["per_deal"] == -other["per_deal"]
    assert one["superiority"] + other["superiority"] == pytest.approx(1)
    for bot in table:
        mine = [each for each in found["endings"] if each["name"] == bot]
        assert sum(each["won"] + each["lost"] + each["level"] for each in mine) == deals
    assert "fault" in {each["reason"] for each in found["endings"]}
    assert sum(found["reasons"].values()) == deals
    assert [each["place"] for each in found["lead"]] == [0, 1]
    assert found["lead"][0]["per_deal"] == pytest.approx(-found["lead"][1]["per_deal"])
    assert 0 <= found["luck"]["low"] <= found["luck"]["share"] <= found["luck"]["high"] <= 1
    assert found["missing"] == []


def test_statistics_are_printed_in_parts(
    home: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The parts follow each other, and --csv holds the meetings alone."""
    text = printed(capsys, "stats", "cup", *home)
    meetings = rows(capsys, "stats", "cup", *home)

    heads = ["Name", "Opponent", "No", "Deals by reason", "first to lead", "luck of the deal: "]
    places = [text.index(head) for head in heads]
    assert places == sorted(places)
    assert [row["name"] for row in meetings] == ["anna@1", "boris@1"]
    *names, reasons = read(capsys, "stats", "cup", *home)["meetings"][0]
    assert list(meetings[0])[: len(names)] == names
    assert all(name.startswith(f"{reasons}.") for name in list(meetings[0])[len(names) :])


def test_endings_of_two_bots_are_told(home: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """How the deals of two bots ended stands in every form: of two in all, it is all there is."""
    found = read(capsys, "stats", "cup", *home)
    listed = rows(capsys, "stats", "cup", *home)
    text = printed(capsys, "stats", "cup", "--between", "boris", "ANNA@1", *home)

    for each in found["endings"]:
        counts = {word: each[word] for word in ("won", "lost", "level")}
        (meeting,) = [row for row in found["meetings"] if row["name"] == each["name"]]
        (row,) = [row for row in listed if row["name"] == each["name"]]
        assert meeting["reasons"][each["reason"]] == counts
        assert row[f"reasons.{each['reason']}.won"] == str(each["won"])
    _, reasons, *_ = text.split("\n\n")
    assert [line.split()[0] for line in reasons.splitlines()] == [
        "Deals",
        "boris@1",
        "anna@1",
        "all",
    ]
    assert text.startswith("Name")
    assert "luck of the deal" not in text


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (["--between", "anna", "zoe"], 2, "zoe is not in cup"),
        (["--between", "anna", "boris", "--csv"], 2, "--between is no part of --json or --csv"),
    ],
)
def test_two_bots_that_cannot_be_told_of_are_refused(
    home: list[str],
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: int,
    reason: str,
) -> None:
    """A bot that does not play, or a form that has all meetings anyway, is one clear line."""
    assert main(["stats", "cup", *words, *home]) == code
    assert reason in capsys.readouterr().err


def test_statistics_say_what_their_columns_mean_and_what_is_little(
    home: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever reads a table of ten decks is told what an interval is, and that these are few."""
    text = " ".join(printed(capsys, "stats", "cup", *home).split())

    assert "+/-: half of the 95% interval over decks" in text
    assert "from fewer than 20 decks" in text
    assert "here are some from 10" in text
    assert re.search(r"in the cards, 95% interval \S+% to \S+% \(", text)


def test_the_table_of_a_tournament_says_that_its_decks_are_few(
    home: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The same intervals come with the same warning, and without it if there are enough decks."""
    text = " ".join(printed(capsys, "tournament", "show", "cup", *home).split())
    table = [estimated(20), None]

    assert "from fewer than 20 decks an interval holds the truth less often" in text
    assert "here are some from 10" in text
    assert few_units(table, "series") is None
    assert "fewer than 20 matches" in str(few_units([*table, estimated(19)], "native"))


def estimated(decks: int) -> Estimate:
    """Return an estimate from so many decks."""
    return Estimate(
        mean=Fraction(0),
        half_width=None,
        superiority=None,
        decks=decks,
        deals=decks,
        mirroring=None,
    )


def test_statistics_say_that_meetings_of_pairs_are_few(
    home: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bots that played a lot may have met rarely as pairs."""

    def statistics(store: Store, name: str) -> TournamentStatistics:
        found = tournament_statistics(store, name)
        bots = tuple(replace(bot, per_deal=rested(bot.per_deal, 40)) for bot in found.bots)
        return replace(
            found,
            bots=bots,
            table=meetings(found, 40),
            pairs=tuple(bot.entrant for bot in bots),
            pair_table=meetings(found, 4),
        )

    monkeypatch.setattr("arena.cli.stats.tournament_statistics", statistics)
    text = " ".join(printed(capsys, "stats", "cup", *home).split())
    assert "here are some from 4" in text


def rested(estimate: Estimate | None, decks: int) -> Estimate:
    """Return an estimate as if it rested on so many decks."""
    assert estimate is not None
    return replace(estimate, decks=decks)


def meetings(found: TournamentStatistics, decks: int) -> tuple[tuple[Meeting | None, ...], ...]:
    """Return the meetings of bots as if each rested on so many decks."""
    return tuple(
        tuple(each and replace(each, per_deal=rested(each.per_deal, decks)) for each in row)
        for row in found.table
    )


@pytest.mark.parametrize(
    ("part", "words"),
    [(None, "-"), (0.0, "<0.1%"), (0.0006, "0.1%"), (0.975, "97.5%"), (0.9999, ">99.9%")],
)
def test_a_likelihood_is_never_told_as_certainty(part: float | None, words: str) -> None:
    """What rounds to all or nothing was estimated from some decks all the same."""
    assert likelihood(part) == words


def test_matches_that_are_the_unit_are_called_so(
    home: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Where a whole match is one observation no column speaks of deals or decks."""
    with Store.open(Home(Path(home[1]))) as store, store.write() as session:
        row = session.get_one(Tournament, 1)
        row.match_format = "native"
        session.add(row)

    text = printed(capsys, "stats", "cup", *home)
    bots, meetings, *_ = text.split("\n\n")
    assert "first in the match" in text
    assert "luck of the deal: only in a series" in " ".join(text.split())
    for part in (bots, meetings, printed(capsys, "tournament", "show", "cup", *home)):
        assert "Per match" in part
        assert "Matches" in part
        assert "Per deal" not in part
        assert "Decks" not in part


def test_a_lost_record_costs_only_what_it_held(
    home: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Without one record the others still tell of reasons and seats, and the match is named."""
    before = read(capsys, "stats", "cup", *home)
    (Path(home[1]) / "records" / "2.jsonl").unlink()

    after = read(capsys, "stats", "cup", *home)

    assert after["missing"] == ["cup/2"]
    for one, other in zip(after["meetings"], before["meetings"], strict=True):
        assert one.pop("reasons") != other.pop("reasons")
        assert one == other
    assert after["lead"][0]["decks"] == 5
    assert main(["stats", "cup", *home]) == 0
    assert "records that cannot be read: cup/2" in capsys.readouterr().err


def test_a_tournament_without_results_has_no_statistics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the first match there is nothing to tell, and that is no error."""
    with Store.open(Home(tmp_path)) as store:
        stores.add_tournament(store)

    found = read(capsys, "stats", "cup", "--home", str(tmp_path))
    assert [row["per_deal"] for row in found["bots"]] == [None, None]
    assert found["meetings"] == found["endings"] == found["lead"] == []
    assert found["luck"]["share"] is None
    assert printed(capsys, "stats", "cup", "--home", str(tmp_path)).startswith("Name")
