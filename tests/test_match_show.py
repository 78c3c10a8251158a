"""What an organiser is told of a match: faults with what they were made of, attempts, usage."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from stores import add_tournament, lease, report, result

from arena import bots, jobs, queries, runner, tournament
from arena.cli import main
from arena.cli.match_details import fault_sentence, print_faults
from arena.cli.match_json import details_json
from arena.cli.output import Output
from arena.cli.words import VOID_WORDS
from arena.home import Home
from arena.infos import FaultInfo, MatchState, ReportInfo
from arena.ledger import MAX_VOIDS, finish, void
from arena.rankings import tournament_table
from arena.store import Store
from arena.stored_results import StoredFault
from arena.tournament import StopFlag, TournamentOptions
from referee.players import FaultKind
from referee.results import TimeControl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from arena.jobs import MatchDescription, Outcome

VERDICTS = [
    value for name, value in vars(jobs).items() if name.isupper() and isinstance(value, str)
]
BOT = """import burabot
print("at the table", flush=True)
asked = 0

def choose(turn):
    global asked
    asked += 1
    {misdeed}
    return 0

burabot.play(choose, name="x", version="1")
"""
MISDEEDS = {
    "steady": "pass",
    "quits": "if asked == 5: raise SystemExit(3)",
    "wrong": "if asked == 5: return 77",
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home that does not exist yet."""
    return Home(tmp_path / "home")


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    """A new store."""
    with Store.open(home) as opened:
        yield opened


def fault(kind: FaultKind, **changes: Any) -> FaultInfo:
    """Give a fault of counter@1 that lost the rest of the second leg."""
    values = {
        "match": 1,
        "leg": 1,
        "deal": None,
        "seat": 0,
        "entrant": "counter@1",
        "kind": kind,
        "detail": "why",
        "deals_played": 14,
        "deals_lost": 36,
    }
    return FaultInfo(**{**values, **changes})


def run_of(**changes: Any) -> ReportInfo:
    """Give how counter@1 ran in the second leg."""
    values = {
        "attempt": 1,
        "leg": 1,
        "seat": 0,
        "entrant": "counter@1",
        "exit_code": None,
        "signal": 9,
        "out_of_memory": True,
        "cpu_seconds": 1.0,
        "peak_memory": 256 << 20,
        "log": None,
        "log_truncated": False,
        "memory_limit": 256 << 20,
    }
    return ReportInfo(**{**values, **changes})


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (
            fault(FaultKind.OUT_OF_MEMORY),
            (
                "counter@1 ran out of memory in leg 2 after 14 deals: killed at 256 MiB; "
                "lost the 36 deals left"
            ),
        ),
        (
            fault(FaultKind.CRASH, detail="the bot ended: exit code 3", deals_lost=1),
            (
                "counter@1 crashed in leg 2 after 14 deals: the bot ended: exit code 3; "
                "lost the 1 deal left"
            ),
        ),
        (
            fault(FaultKind.TIMEOUT, detail="late 3 times in this leg", limit_us=1_500_000),
            (
                "counter@1 answered too late in leg 2 after 14 deals: late 3 times in this leg, "
                "at last after 1.5 s; lost the 36 deals left"
            ),
        ),
        (
            fault(FaultKind.ILLEGAL_ACTION, deal=3),
            "counter@1 chose an action that was not offered in deal 3 of leg 2: why; lost the deal",
        ),
        (
            fault(FaultKind.NO_CONNECT, deals_played=None, deals_lost=None),
            "counter@1 never connected to the referee in leg 2: why; lost the rest of the leg",
        ),
    ],
)
def test_fault_is_one_sentence(told: FaultInfo, words: str) -> None:
    """Who, what, when, what is known and what it cost; older matches know less."""
    assert fault_sentence(told, run_of()) == words


def test_faults_that_are_alike_are_one_line(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """How many deals, and the first; what lost a leg or came in another one stands apart."""
    number = add_tournament(store)
    wrong = {"seat": 0, "position": 0, "kind": "illegal_action"}
    faults = [StoredFault(leg=0, deal=deal, detail=f"so {deal}", **wrong) for deal in range(3, 40)]
    faults.insert(7, StoredFault(leg=0, deal=None, seat=0, position=0, kind="crash", detail="bang"))
    faults.append(StoredFault(leg=1, deal=5, detail="so 5", **wrong))
    assert finish(store, lease(store, number), replace(result(), faults=tuple(faults)), [report()])
    details = queries.match(store, "cup", 1)
    print_faults(Output(), details)
    told = capsys.readouterr().out.splitlines()
    first = "chose an action that was not offered in 37 deals of leg 1, first in deal 3: so 3"
    assert [line.partition(" ")[2] for line in told] == [
        f"{first}; lost each of them",
        "crashed in leg 1: bang; lost the rest of the leg",
        "chose an action that was not offered in deal 5 of leg 2: so 5; lost the deal",
    ]
    listed = details_json(details, [], 0)["fault_list"]
    assert isinstance(listed, list)
    assert len(listed) == len(faults)


def test_every_verdict_of_the_platform_has_words() -> None:
    """No attempt is void for a reason the organiser cannot read."""
    assert set(VERDICTS) <= set(VOID_WORDS)


@pytest.mark.parametrize("verdict", VERDICTS)
def test_void_costs_no_bot_anything_and_is_played_again(
    store: Store, verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The match goes back as it was; the attempt is kept with its reason, charged to no bot."""
    number = add_tournament(store)
    before = repr(tournament_table(store, "cup"))
    counts = verdict not in {jobs.INTERRUPTED, jobs.ENGINE_LOST}
    state = void(store, lease(store, number), f"{verdict}: so it was", [report()], counts=counts)
    assert state is MatchState.PLANNED
    assert repr(tournament_table(store, "cup")) == before
    home = ["--home", str(store.home.path)]
    assert main(["match", "show", "cup/1", *home]) == 0
    told = f"attempt 1 counts for nobody: {VOID_WORDS[verdict]}: so it was\n"
    assert told in capsys.readouterr().out
    assert main(["match", "show", "cup/1", "--json", *home]) == 0
    (attempt,) = json.loads(capsys.readouterr().out)["attempts"]
    assert (attempt["verdict"], attempt["detail"]) == (verdict, "so it was")
    assert attempt["blame"] == ("organiser" if verdict == jobs.INTERRUPTED else "platform")
    again = lease(store, number)
    assert again.attempt == 2
    assert finish(store, again, result(), [report()])
    (row, _) = tournament_table(store, "cup")
    assert (row.balance.games, row.faults) == (1, ())


def test_void_attempt_is_told_with_its_last_messages(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """How far each bot had come, and if asked for what was said last."""
    number = add_tournament(store)
    broken_off = replace(
        report(), last_sent="turns { id: 9 }", last_received="", answers=14, time_us=2_300_000
    )
    silent = replace(report(seat=1), last_sent="", last_received="hello { }")
    void(store, lease(store, number), "engine_lost: gone", [broken_off, silent], counts=False)
    home = ["--home", str(store.home.path)]
    assert main(["match", "show", "cup/1", *home]) == 0
    told = capsys.readouterr().out
    assert "  anna@1 in leg 1: 14 answers in 2.3 s until then\n" in told
    assert "  boris@1 in leg 1: 0 answers until then\n" in told
    assert "turns {" not in told
    assert main(["match", "show", "cup/1", "--messages", *home]) == 0
    told = capsys.readouterr().out
    assert "    last sent: turns { id: 9 }\n    last received: -\n" in told
    assert "    last sent: -\n    last received: hello { }\n" in told
    assert main(["match", "show", "cup/1", "--json", *home]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [(run["last_sent"], run["last_received"]) for run in runs] == [
        ("turns { id: 9 }", ""),
        ("", "hello { }"),
    ]


def test_matches_given_up_are_tried_again_by_a_command(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """The organiser sees what was given up, says retry, and the next run plays it."""
    number = add_tournament(store, matches=2)
    home = ["--home", str(store.home.path)]
    assert finish(store, lease(store, number), result(), [])
    for _ in range(MAX_VOIDS):
        void(store, lease(store, number), "disk_full: no space")
    assert main(["tournament", "show", "cup", *home]) == 0
    assert "then: arena tournament retry cup" in capsys.readouterr().err
    assert main(["tournament", "retry", "cup", "--json", *home]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["retried"], told["tournament"]["matches"]["planned"]) == (1, 1)
    assert main(["tournament", "retry", "cup", *home]) == 0
    assert "0 matches of cup to be tried again" in capsys.readouterr().out
    assert lease(store, number).number == 2
    assert list(queries.format_results(store, number)) == [1]


class Silent:
    """Listens to nothing."""

    def __getattr__(self, _: str) -> object:
        return lambda *_args: None


def play(job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """Play a match in a worker that waits for bots on a machine however busy."""
    runner.GOODBYE_SECONDS = runner.EXPLAIN_SECONDS = 60.0
    return runner.attempt(job, beat)


@pytest.fixture
def played(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Give what is shown of real matches, by the bot that did wrong in it."""
    for name, misdeed in MISDEEDS.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / "bot.py").write_text(BOT.format(misdeed=misdeed))
        bots.submit(store, name, str(folder), "process")
    options = TournamentOptions(
        name="cup",
        bots=tuple(MISDEEDS),
        time=TimeControl(move_time_ms=20_000, startup_ms=60_000),
        decks=2,
        tables=1,
        seed=bytes(32),
        sandbox="process",
    )
    tournament.create(store, options)
    stop = StopFlag()
    tournament.run(store, "cup", progress=Silent(), stop=stop, play=play)  # type: ignore[arg-type]
    found = {}
    for match in queries.matches(store, "cup"):
        if "steady@1" in match.entrants:
            name = f"cup/{match.number}"
            assert main(["match", "show", name, "--json", "--home", str(store.home.path)]) == 0
            (culprit,) = {each.partition("@")[0] for each in match.entrants} - {"steady"}
            found[culprit] = json.loads(capsys.readouterr().out)
    return found


def test_evidence_and_usage_of_a_match_are_kept(played: dict[str, Any]) -> None:
    """Last messages, clock, end of the program and of its log; times, memory and bytes of each."""
    quit_fault = played["quits"]["fault_list"][0]
    assert (quit_fault["kind"], quit_fault["blame"]) == ("crash", "quits@1")
    assert (quit_fault["exit_code"], quit_fault["signal"]) == (3, None)
    assert quit_fault["log_end"] == ["at the table"]
    assert quit_fault["deals_played"] + quit_fault["deals_lost"] == 2
    assert "turns {" in quit_fault["sent"]
    wrong = next(each for each in played["wrong"]["fault_list"])
    assert (wrong["kind"], wrong["deal"]) == ("illegal_action", 0)
    assert "action: 77" in wrong["received"]
    assert 0 < wrong["elapsed_ms"] < wrong["limit_ms"]
    for match in played.values():
        runs = [run for run in match["runs"] if run["attempt"] == match["attempt"]]
        assert len(runs) == 4
        for run in runs:
            assert run["memory_limit"] == 256 << 20
            assert 0 < run["p50_ms"] <= run["p95_ms"] <= run["p99_ms"] <= run["slowest_ms"]
            # Nobody is charged for the time in which the referee stood still.
            assert 0 < run["sending_ms"] < run["time_ms"] + match["stalled_ms"]
            assert run["sent_bytes"] > run["received_bytes"] > 0
            assert run["cpu_seconds"] > 0
        for player in match["players"]:
            assert player["peak_memory"] > 1 << 20
            assert player["log_bytes"] == 2 * len("at the table\n")
