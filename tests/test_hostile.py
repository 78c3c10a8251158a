"""Hostile bots in real containers: each has its verdict, in both seats, and leaves nothing."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from itertools import cycle, islice
from operator import sub
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import pytest
from hostiles import (
    GENEROUS_US,
    SPARE_CORES,
    Residue,
    Ring,
    Row,
    Times,
    assert_contained,
    assert_in_time,
    assert_not_held_up,
    assert_nothing_left,
    assert_opponent_in_time,
    assert_undisturbed,
    assert_verdict,
    busy_seconds,
    has_spare_cores,
    open_ring,
    rows,
    slots,
)

from arena import bots, queries, runner, tournament
from arena.home import Home
from arena.infos import MatchState
from arena.store import Store
from arena.tournament import StopFlag, TournamentOptions
from referee.results import TimeControl
from referee.variants import VARIANTS
from referee.verification import verify_record

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]

TABLE = {row.name: row for row in rows()}
ROWS = [
    pytest.param(row, id=name, marks=pytest.mark.long if row.long else ())
    for name, row in TABLE.items()
]
QUICK = (
    *("illegal_index", "twice", "turn_never_sent", "crash_exit", "crash_segv", "oom_main"),
    *("garbage", "floods", "disconnects", "hello_twice", "silent", "oom_player", "stops_itself"),
)
"""Rows that do not wait for the end of the start-up time, for tournaments."""


@dataclass(frozen=True)
class Draw:
    """A seed, and which of the quick bots play in which game."""

    seed: bytes
    first: int
    count: int

    def bots(self, game: int, seats: int) -> list[str]:
        """Return who plays in the game of this number, as many as there are seats or more."""
        first = self.first + 3 * game
        count = max(self.count, seats - 1)
        return ["steady", *islice(cycle(QUICK), first, first + count)]


# With the second seed each game has other bots, and one less: that is half the matches.
DRAWS = (Draw(bytes(range(32)), 0, 3), Draw(bytes(range(32, 64)), 7, 2))

ECHO = Row(
    name="echo",
    ids=("T-B1", "T-B3"),
    command=("python", "-u", "/bots/hostile/echo/bot.py"),
    verdicts=frozenset({"none"}),
    loses="nothing",
)
REPEATS = 10
GAMES = 200


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ring]:
    """The images and the bystander."""
    with open_ring(tmp_path_factory.mktemp("ring")) as ring:
        yield ring


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """Folders for sockets and for temporary files, of this test alone."""
    with tempfile.TemporaryDirectory(prefix="h-") as sockets:
        monkeypatch.setenv("XDG_RUNTIME_DIR", sockets)
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        yield Path(sockets), tmp_path


@pytest.mark.parametrize("row", ROWS)
def test_hostile_bot_comes_to_its_verdict(
    ring: Ring, places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, row: Row
) -> None:
    """The verdict is the table's, in time, within all limits, beside a match left in peace."""
    if row.is_lost_by_exit:
        # Nothing waits so long unless the exit of a bot is so long in coming.
        monkeypatch.setattr(runner, "EXPLAIN_SECONDS", 30.0)
    before = Residue.now()
    match, report, seen = ring.play(row)
    assert_verdict(row, match, report)
    verify_record(report.record)
    assert_in_time(row, match, report, seen)
    assert_opponent_in_time(row, report)
    assert_not_held_up(ring.bystander.alone, ring.bystander.times)
    assert_contained(row, match, seen, before)
    assert_nothing_left(match, seen, before)
    assert [list(place.iterdir()) for place in places] == [[], []]
    assert busy_seconds(0.2) < 0.1


@pytest.mark.long
def test_nothing_passes_from_a_run_to_the_next(ring: Ring, places: tuple[Path, Path]) -> None:
    """A bot that leaves whatever it can finds in the last of twenty runs what it found first."""
    found = set()
    for _ in range(REPEATS):
        match, report, _ = ring.play(TABLE["litterer"], decks=1)
        found |= {
            (match.home / one.log).read_text().splitlines()[0]
            for one in report.reports
            if one.position == 1
        }
    assert len(found) == 1
    assert list(places[0].iterdir()) == []


@pytest.mark.long
@pytest.mark.alone
def test_overhead_is_small_and_the_same_at_both_seats(
    ring: Ring, places: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """What is charged beyond what the bots themselves took is printed, by seat."""
    assert places
    image = ring.images.of(ECHO.command)
    match, report, _ = replace(ring, steady=image).play_alone(ECHO, decks=GAMES // 2)
    own = {
        (one.leg, one.seat): [int(word) for word in (match.home / one.log).read_text().split()]
        for one in report.reports
    }
    charged: dict[int, list[int]] = {0: [], 1: []}
    overhead = []
    for leg in report.result.legs:
        for seat, clock in enumerate(leg.clocks):
            assert len(own[leg.leg, seat]) == clock.count
            charged[seat] += clock.answers_us
            overhead += map(sub, clock.answers_us, own[leg.leg, seat])
    found = Times.of(overhead)
    means = {seat: fmean(times) for seat, times in charged.items()}
    with capsys.disabled():
        print(
            f"\noverhead of {len(overhead)} answers: p50 {found.p50} us, p99 {found.p99} us; "
            f"mean of what was charged at seat 0 {means[0]:.0f} us, at seat 1 {means[1]:.0f} us"
        )
    assert sum(len(leg.deals) for leg in report.result.legs) == GAMES
    assert len(overhead) >= 1_000
    if has_spare_cores():
        assert found.p50 < 2_000
        assert found.p99 < 10_000
        assert abs(means[0] - means[1]) < max(1_000, means[0] / 100)
    assert found.p50 < GENEROUS_US
    assert abs(means[0] - means[1]) < GENEROUS_US


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize("move_ms", [100, 50])
def test_times_are_kept_beside_bots_that_burn(
    ring: Ring, places: tuple[Path, Path], move_ms: int
) -> None:
    """With cores for all, others' computing makes nobody late, nor slower than alone."""
    assert places
    if not has_spare_cores():
        pytest.skip(f"times on shared cores tell nothing: needs {SPARE_CORES} cores")
    _, quiet, _ = ring.play(replace(TABLE["steady"], move_ms=move_ms))
    _, report, _ = ring.play(replace(TABLE["burner"], move_ms=move_ms))
    assert report.result.faults == ()
    alone, beside = (Times.of(one.result.clock(0).answers_us) for one in (quiet, report))
    assert_undisturbed(alone, beside)
    assert_undisturbed(ring.bystander.alone, ring.bystander.times)
    assert ring.bystander.times.p99 < move_ms * 1_000


class _Quiet:
    """Notes what went wrong."""

    def __init__(self) -> None:
        self.voided_matches: list[str] = []

    def started(self, match: object) -> None:
        """Say nothing."""

    def finished(self, match: object) -> None:
        """Say nothing."""

    def voided(self, match: object, reason: str) -> None:
        """Note why."""
        self.voided_matches.append(f"{match}: {reason}")

    def note(self, text: str) -> None:
        """Say nothing."""


def _on_a_busy_machine(row: Row) -> frozenset[str]:
    """Return a row's verdicts, and what they become where its exit is long in coming."""
    return row.verdicts | ({"disconnected"} if row.is_lost_by_exit else frozenset())


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("variant", "draw"),
    [(variant, DRAWS[number % len(DRAWS)]) for number, variant in enumerate(VARIANTS)],
    ids=lambda value: value if isinstance(value, str) else f"seed {value.seed[0]}",
)
def test_tournament_of_hostile_bots_comes_to_its_end(
    ring: Ring, places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, variant: str, draw: Draw
) -> None:
    """In every game all matches of such a tournament end, and no bot escapes its verdict."""
    seats = min(VARIANTS[variant].players)
    names = draw.bots(list(VARIANTS).index(variant), seats)
    is_waited_for = any("timeout" in TABLE[name].verdicts for name in names)
    monkeypatch.setattr(tournament, "plan_slots", lambda **_: list(slots(seats)))
    quiet = _Quiet()
    with Store.open(Home(places[1] / "home")) as store, StopFlag().signals() as stop:
        for name in names:
            bots.submit(store, name, ring.images.of(TABLE[name].command), starts=False)
        tournament.create(
            store,
            TournamentOptions(
                name="cup",
                bots=tuple(names),
                variant=variant,
                seats=seats,
                decks=2,
                seed=draw.seed,
                time=TimeControl(
                    move_time_ms=2_000 if is_waited_for else 10_000, startup_ms=60_000
                ),
            ),
        )
        report = tournament.run(store, "cup", progress=quiet, stop=stop)
        assert quiet.voided_matches == []
        assert report.exit_code == 0
        charged = set()
        for match in queries.matches(store, "cup"):
            assert match.state is MatchState.DONE
            for fault in queries.match(store, "cup", match.number).faults:
                name = fault.entrant.partition("@")[0]
                verdicts = _on_a_busy_machine(TABLE[name])
                # That may make any bot late.
                assert fault.kind in {"timeout", *verdicts}
                charged |= {name} if fault.kind in verdicts else set()
        guilty = {name for name in names if "none" not in TABLE[name].verdicts}
        # Where more than two sit together, the first who loses a leg may end it for the others.
        assert charged == guilty or (seats > 2 and charged)
    assert list(places[0].iterdir()) == []
