"""Hostile bots in real containers: each has its verdict, in both seats, and leaves nothing."""

from __future__ import annotations

import tempfile
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pytest
from hostiles import (
    SPARE_CORES,
    Residue,
    Ring,
    Row,
    assert_contained,
    assert_in_time,
    assert_nothing_left,
    assert_verdict,
    busy_seconds,
    open_ring,
    rows,
    slots,
)

from arena import bots, queries, tournament
from arena.home import Home
from arena.infos import MatchState
from arena.sandbox.slots import usable_cores
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

ECHO = Row(
    name="echo",
    ids=("T-B1", "T-B3"),
    command=("python", "-u", "/bots/hostile/echo/bot.py"),
    verdicts=frozenset({"none"}),
    loses="nothing",
)
REPEATS = 10
GENEROUS_US = 100_000
"""What no machine takes, however busy it is, unless something is broken."""


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
def test_hostile_bot_comes_to_its_verdict(ring: Ring, places: tuple[Path, Path], row: Row) -> None:
    """The verdict is the table's, in time, within all limits, beside a match left in peace."""
    before = Residue.now()
    match, report, seen = ring.play(row)
    assert_verdict(row, match, report)
    verify_record(report.record)
    assert_in_time(row, seen)
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
    match, report, _ = Ring(ring.folder, ring.images, ring.bystander, image).play(ECHO, decks=25)
    own = {
        (one.leg, one.seat): [int(word) for word in (match.home / one.log).read_text().split()]
        for one in report.reports
    }
    overhead: dict[int, list[int]] = {0: [], 1: []}
    for leg in report.result.legs:
        for seat, clock in enumerate(leg.clocks):
            times = own[leg.leg, seat]
            assert len(times) == clock.count
            overhead[seat] += [
                charged - took for charged, took in zip(clock.answers_us, times, strict=True)
            ]
    both = sorted(overhead[0] + overhead[1])
    p50, p99 = median(both), both[len(both) * 99 // 100]
    middles = {seat: median(times) for seat, times in overhead.items()}
    with capsys.disabled():
        print(
            f"\noverhead of {len(both)} answers: p50 {p50:.0f} us, p99 {p99} us; "
            f"p50 at seat 0 {middles[0]:.0f} us, at seat 1 {middles[1]:.0f} us"
        )
    assert len(both) > 500
    assert p50 < GENEROUS_US
    assert abs(middles[0] - middles[1]) < GENEROUS_US


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize("move_ms", [100, 50])
def test_times_are_kept_beside_bots_that_burn(
    ring: Ring, places: tuple[Path, Path], move_ms: int
) -> None:
    """With cores for all, nobody is late at a tenth of a second because others compute."""
    assert places
    if len(usable_cores()) < SPARE_CORES:
        pytest.skip(f"times on shared cores tell nothing: needs {SPARE_CORES} cores")
    _, report, _ = ring.play(TABLE["burner"])
    alone, other = (report.result.clock(entrant).percentile_us(99) for entrant in (0, 1))
    assert max(alone, other) < move_ms * 1_000


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


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("variant", VARIANTS)
def test_tournament_of_hostile_bots_comes_to_its_end(
    ring: Ring, places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, variant: str
) -> None:
    """In every game all matches of such a tournament end, each bot with its own verdicts."""
    rules = VARIANTS[variant]
    seats = min(rules.players)
    number = list(VARIANTS).index(variant)
    names = ["steady", *islice(cycle(QUICK), 3 * number, 3 * number + 3)]
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
                seed=bytes(range(32)),
                time=TimeControl(move_time_ms=2_000),
            ),
        )
        report = tournament.run(store, "cup", progress=quiet, stop=stop)
        assert quiet.voided_matches == []
        assert report.exit_code == 0
        for match in queries.matches(store, "cup"):
            assert match.state is MatchState.DONE
            for fault in queries.match(store, "cup", match.number).faults:
                verdicts = TABLE[fault.entrant.partition("@")[0]].verdicts
                assert fault.kind in verdicts or (
                    fault.kind == "timeout" and "out_of_memory" in verdicts
                )
    assert list(places[0].iterdir()) == []
