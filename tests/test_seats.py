"""Matches of many seats and of pairs, from the command line to the standings."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sandboxes import socket_place

from arena import bots, queries, tournament
from arena.cli import main
from arena.errors import RefusedError
from arena.formats import Partners
from arena.home import Home
from arena.infos import MatchInfo
from arena.jobs import MatchDescription, Outcome, Played
from arena.rankings import pair_table, tournament_table
from arena.steps import Step
from arena.store import Store
from arena.stored_results import StoredResult
from arena.tournament import StopFlag, TournamentOptions
from referee.record import read_record
from referee.results import TimeControl
from referee.variants import VARIANTS
from referee.verification import verify_record

ROOT = Path(__file__).parent.parent
RANDOM = ROOT / "sample_bots" / "random"
GREEDY = ROOT / "sample_bots" / "greedy"
SEED = bytes(range(32))
NAMES = ("anna", "boris", "clara", "dora")
CAP = 600.0
GENEROUS = TimeControl(move_time_ms=100_000, startup_ms=100_000)


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """An arena with four bots that choose at random."""
    with socket_place() as folder:
        for name in NAMES:
            submit = ["bot", "submit", name, str(RANDOM), "--sandbox", "process"]
            assert main([*submit, "--home", str(folder / "home")]) == 0
        yield folder / "home"


def played(
    home: Path, capsys: pytest.CaptureFixture[str], name: str, *words: str
) -> tuple[dict[str, Any], list[str]]:
    """Create and run a tournament; give what `show --json` prints and the lines of the run."""
    at = ["--home", str(home)]
    options = ["--sandbox", "process", "--decks", "1", "--seed", SEED.hex()]
    options += ["--move-time", "100", "--startup", "100"]
    assert main(["tournament", "create", name, *words, *options, *at]) == 0
    assert main(["tournament", "run", name, *at]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert main(["tournament", "show", name, "--json", *at]) == 0
    shown: dict[str, Any] = json.loads(capsys.readouterr().out)
    return shown, [line for line in lines if line.startswith("Finished")]


def matches(home: Path, name: str) -> tuple[MatchInfo, ...]:
    """Give the matches of a tournament, each with a record that holds under the seed."""
    with Store.open(Home(home)) as store:
        infos = queries.matches(store, name)
    for info in infos:
        assert info.record is not None
        assert verify_record(info.record, SEED).ok
    return infos


@pytest.mark.timeout(600)
def test_three_bots_play_each_deck_in_every_rotation(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A tournament of three seats ends in records that hold, a zero sum and one table."""
    words = ["--seats", "3", "--rules", "target=25", "--rules", "false_claim=lose"]
    shown, lines = played(home, capsys, "three", *NAMES, *words)
    assert shown["variant"] == "bura target=25 false_claim=lose"
    assert (shown["seats"], shown["partners"], shown["rules"]["target"]) == (3, "none", 25)
    assert len(lines) == shown["matches"]["total"] == 4
    assert all(re.match(r"Finished match \d \(\S+ vs \S+ vs \S+\): .* : .* : ", x) for x in lines)
    for info in matches(home, "three"):
        assert info.record is not None
        record = read_record(info.record)
        assert (record.variant, record.rules.target) == (shown["variant"], 25)
        assert [deal.leg for deal in record.deals] == [0, 1, 2]
        assert {record.entrant_at(leg, 0) for leg in range(3)} == {0, 1, 2}
        assert sum(record.totals) == 0
    assert [row["games"] for row in shown["table"]] == [3] * 4
    assert [row["decks"] for row in shown["table"]] == [3] * 4
    assert shown["pair_table"] == []


@pytest.mark.timeout(600)
def test_pairs_stay_together(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two pairs meet: partners win and lose together, and the pairs have a table of their own."""
    words = ["anna+boris", "clara+clara", "--variant", "burkozyol-pairs"]
    shown, (line,) = played(home, capsys, "fixed", *words)
    assert (shown["seats"], shown["partners"]) == (4, "fixed")
    assert line.startswith("Finished match 1 (anna@1+boris@1 vs clara@1+clara@1): ")
    (info,) = matches(home, "fixed")
    assert info.entrants == ("anna@1", "clara@1", "boris@1", "clara@1")
    assert info.sides == (0, 1, 0, 1)
    assert info.scores is not None
    assert info.scores[0] == info.scores[2] == -info.scores[1]
    by_pairs = {row["name"]: row for row in shown["pair_table"]}
    assert set(by_pairs) == {"anna@1+boris@1", "clara@1+clara@1"}
    assert [row["games"] for row in by_pairs.values()] == [1, 1]
    (anna,) = [row for row in shown["table"] if row["name"] == "anna@1"]
    assert by_pairs["anna@1+boris@1"]["per_deal"] == anna["per_deal"]
    ratings = {row["name"]: row["rating"] for row in shown["table"]}
    assert ratings["anna@1"] == ratings["boris@1"]
    assert main(["stats", "fixed", "--json", "--home", str(home)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert sorted(row["name"] for row in told["bots"]) == ["anna@1", "boris@1", "clara@1"]
    assert len({(row["name"], row["opponent"]) for row in told["meetings"]}) == 4
    assert len(told["meetings"]) == 4


@pytest.mark.long
@pytest.mark.timeout(600)
def test_partners_rotate(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four bots entered alone are partners of each other once, and stand alone in the table."""
    words = ["--variant", "burkozyol-eyes"]
    shown, lines = played(home, capsys, "rotating", *NAMES, *words)
    assert (shown["partners"], len(lines)) == ("rotating", 3)
    pairs = [
        frozenset(info.entrants[seat] for seat in seats)
        for info in matches(home, "rotating")
        for seats in ((0, 2), (1, 3))
    ]
    assert len(set(pairs)) == 6
    assert [row["games"] for row in shown["table"]] == [3] * 4
    assert [row["games"] for row in shown["pair_table"]] == [1] * 6


@pytest.mark.timeout(600)
def test_saved_rules_are_played(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rules under a name go wherever a variant goes, and come back with --json."""
    at = ["--home", str(home)]
    save = ["rules", "save", "house", "--rules", "players=2,3", "--rules", "deck=32"]
    assert main([*save, "--rules", "little_moscow=tens", "--json", *at]) == 0
    saved = json.loads(capsys.readouterr().out)
    assert (saved["name"], saved["seats"], saved["rules"]["deck"]) == ("house", [2, 3], 32)
    shown, _ = played(home, capsys, "own", "anna", "boris", "--variant", "HOUSE")
    assert (shown["variant"], shown["rules"]) == ("house", saved["rules"])
    assert main(["rankings", "--variant", "house", "--json", *at]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2
    assert main(["variants", "house", *at]) == 0
    assert "7 to ace" in capsys.readouterr().out
    assert main(["rules", "remove", "house", *at]) == 0
    assert main(["tournament", "show", "own", *at]) == 0
    assert main(["variants", "house", *at]) == 2


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([*NAMES[:3], "--variant", "bura-5"], "bura-5 cannot be played by 3 bots"),
        (["anna+boris", "--variant", "burkozyol-pairs"], "cannot be played by 2 bots"),
        (["anna+boris", "clara+dora"], "anna+boris is a pair, but in bura each plays"),
        (["anna"], "bura cannot be played by 1 bot in a match; it is played by 2, 3, 4, 5 or 6"),
        ([*NAMES[:2], "--rules", "taget=1"], "did you mean 'target'"),
        ([*NAMES[:2], "--rules", "sides=pairs"], "two pairs need"),
    ],
)
def test_quick_match_that_does_not_fit_is_refused_in_one_line(
    words: list[str], line: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is started and nothing else is said."""
    assert main(["play", *words, "--sandbox", "process", "--home", str(home)]) == 2
    err = capsys.readouterr().err
    assert line in err
    assert err.count("\n") == 1


def test_quick_match_of_pairs_seats_partners_across(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`arena play a+b c+d` seats a and b across and prints who played whom."""
    line = ["play", "anna+boris", "clara+clara", "--variant", "burkozyol-pairs", "--decks", "1"]
    line += ["--move-time", "100", "--startup", "100"]
    assert main([*line, "--sandbox", "process", "--json", "--home", str(home)]) == 0
    said = json.loads(capsys.readouterr().out)
    names = [(bot["name"], bot["side"]) for bot in said["bots"]]
    assert names == [("anna@1", 0), ("clara@1#1", 1), ("boris@1", 0), ("clara@1#2", 1)]
    assert (said["seats"], said["deals"]) == (4, 4)
    assert said["bots"][0]["score"] == said["bots"][2]["score"]


# ------------------------------------------------------------------- schedules, stops and kills


class Quiet:
    """Says nothing, and asks for a stop after so many finished matches."""

    def __init__(self, stop: StopFlag | None = None, after: int = 0) -> None:
        self.stop = stop
        self.after = after

    def started(self, match: MatchInfo) -> None:
        """Say nothing."""

    def finished(self, match: MatchInfo) -> None:
        """Count."""
        del match
        self.after -= 1
        if self.stop is not None and self.after == 0:
            self.stop.request()

    def voided(self, match: MatchInfo, reason: str) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""


def play(job: MatchDescription, _beat: Callable[[], None]) -> Outcome:
    """Give each side a score that depends on the match alone."""
    seats, number = job.spec.seats, job.spec.match
    if job.spec.rules.sides == "pairs":
        sides: tuple[int, ...] = (0, 1, 0, 1)
        scores = tuple(Fraction(number % 3 - 1) * (-1 if side else 1) for side in sides)
    else:
        sides = ()
        scores = tuple(Fraction(seats - 1 - 2 * seat) for seat in range(seats))
    result = StoredResult(
        decks=((scores,),),
        totals=scores,
        conditions="",
        milliseconds=1,
        record=f"records/cup/{number}/1/x.jsonl",
        record_sha256="ab",
        sides=sides,
    )
    return Played(result=result, reports=())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with six bots that are plain folders."""
    with Store.open(Home(tmp_path / "home")) as store:
        for name in "abcdef":
            folder = tmp_path / name
            folder.mkdir()
            (folder / "bot.py").write_text(f"print({name!r})\n")
            bots.submit(store, name, str(folder), "process")
        yield store


def options(name: str, *words: str, **changes: Any) -> TournamentOptions:
    """Give the options of a small tournament, with changes."""
    values: dict[str, Any] = {"decks": 1, "seed": SEED, "sandbox": "process"}
    return TournamentOptions(name=name, bots=words, time=GENEROUS, **{**values, **changes})


KINDS = {
    "three": {"words": "abcd", "seats": 3},
    "six": {"words": "abcdef", "seats": 6},
    "rotating": {"words": "abcde", "seats": 4, "variant": "burkozyol-pairs"},
    "fixed": {"words": ("a+b", "c+d", "e+f"), "seats": 4, "variant": "burkozyol-pairs"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_stopped_run_goes_on_where_it_stopped(store: Store, kind: str) -> None:
    """A run that was stopped after its first match ends in the tables of one that was not."""
    values: dict[str, Any] = dict(KINDS[kind])
    words = values.pop("words")
    tables = []
    for name, stops in (("calm", False), ("stopped", True)):
        tournament.create(store, options(name, *words, **values))
        flag = StopFlag()
        listener = Quiet(flag if stops else None, after=1)
        first = tournament.run(store, name, progress=listener, stop=flag, play=play)
        last = tournament.run(store, name, progress=Quiet(), stop=StopFlag(), play=play)
        assert last.tournament.done == last.tournament.total
        assert first.played + last.played == last.tournament.total
        tables.append((tournament_table(store, name), pair_table(store, name)))
    assert tables[0] == tables[1]
    assert bool(tables[0][1]) == ("pairs" in values.get("variant", ""))


@pytest.mark.parametrize(
    ("words", "changes", "said"),
    [
        ("ab", {"seats": 3}, "2 entrants cannot fill 3 seats; name at least 3 bots"),
        ("abc", {"seats": 3, "variant": "bura-5"}, "bura-5 cannot be played by 3 bots"),
        (("a+b",), {"seats": 4, "variant": "burkozyol-pairs"}, "name at least 2 pairs"),
        (("a+b", "c+a"), {"seats": 4, "variant": "burkozyol-pairs"}, "entered in two pairs"),
        (("a+b", "c"), {"seats": 4, "variant": "burkozyol-pairs"}, "c is alone"),
        (("a+b", "c+d"), {}, "each plays for itself"),
        (
            "abcd",
            {
                "seats": 4,
                "rules": VARIANTS["burkozyol-by"].replace(players=(4,)),
                "match_format": "burkozyol_penalty",
                "decks": None,
            },
            "seats leave this match and it goes on with fewer",
        ),
    ],
)
def test_entries_that_do_not_fit_are_refused(
    store: Store, words: tuple[str, ...], changes: dict[str, Any], said: str
) -> None:
    """One line says what does not fit, and no tournament is made."""
    with pytest.raises(RefusedError, match=said) as caught:
        tournament.create(store, options("cup", *words, **changes))
    assert "\n" not in str(caught.value)
    assert queries.tournaments(store) == ()


def test_pairs_and_seats_are_stored(store: Store) -> None:
    """What was entered comes back from the database: who is in which pair, and in which seats."""
    made = tournament.create(
        store, options("cup", "a+b", "c+d", seats=4, variant="burkozyol-pairs")
    )
    assert made.partners is Partners.FIXED
    assert [entrant.pair for entrant in made.entrants] == [0, 0, 1, 1]
    assert [[bot.name for bot in pair] for pair in made.pairs] == [["a@1", "b@1"], ["c@1", "d@1"]]
    (match,) = queries.matches(store, "cup")
    assert match.entrants == ("a@1", "c@1", "b@1", "d@1")
    alone = tournament.create(store, options("solo", *"abcd", seats=4, variant="burkozyol-pairs"))
    assert (alone.partners, alone.pairs) == (Partners.ROTATING, ())


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "changes"),
    [
        ("abc", {"seats": 3}),
        (("a+b", "c+d"), {"seats": 4, "variant": "burkozyol-pairs"}),
    ],
)
def test_kill_in_the_middle_costs_nothing_but_time(
    words: tuple[str, ...], changes: dict[str, Any]
) -> None:
    """Kill -9 of driver and worker in a match of many seats leaves the standings as they were."""
    said = []
    with socket_place() as folder:
        for name in ("calm", "killed"):
            with Store.open(Home(folder / name)) as store:
                for bot in "abcd":
                    bots.submit(store, bot, str(GREEDY), "process")
                tournament.create(store, options("cup", *words, **changes))
            crash = (Step.DEALING, "both") if name == "killed" else ()
            done = _run(folder / name, *crash)
            if crash:
                assert done.returncode == -signal.SIGKILL
                done = _run(folder / name)
            assert done.returncode == 0, done.stderr
            said.append(json.loads(done.stdout))
            matches(folder / name, "cup")
        assert said[0] == said[1]
        assert not list(folder.glob("bura-*"))


def _run(home: Path, *crash: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "tests" / "crash_run.py", home, *crash],
        env={**os.environ, "XDG_RUNTIME_DIR": str(home.parent)},
        capture_output=True,
        text=True,
        timeout=CAP,
        check=False,
    )


def test_no_variant_is_left_out() -> None:
    """Every number of seats that a variant allows can be asked for on the command line."""
    assert {seats for rules in VARIANTS.values() for seats in rules.players} <= set(range(2, 7))
