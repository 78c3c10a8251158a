"""What a bot's clock counts, and what it must not: stalls, slow starts, the clock on the wall."""

from __future__ import annotations

import ast
import gc
import random
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from legs import play, spec
from timeline import MS, Bot, Ticking, Timeline, answers, good

from referee import remote
from referee.match import play_leg
from referee.players import Arrival, Choice, Choices, FaultKind, PlatformStalledError
from referee.remote import Reception
from referee.results import TimeControl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from referee.players import Fault, Update

ROOT = Path(__file__).resolve().parent.parent
IMPATIENT = TimeControl(move_time_ms=3_500, startup_ms=60_000)
STALL_SECONDS = 4.0
HOUR = 3600.0


@pytest.fixture
def reception(short_folder: Path) -> Iterator[Reception]:
    """A reception with one seat."""
    with Reception(spec(), 0) as reception:
        reception.listen(short_folder / "seat.sock")
        yield reception


def test_a_stall_between_two_waits_is_noticed(reception: Reception) -> None:
    """What this process does not notice while it waits it notices when it waits again."""
    reception.inbox.even_out((1, 0))
    time.sleep(0.1)
    reception.inbox.receive(time.monotonic_ns())
    assert reception.inbox.stalled_ns >= 100 * MS


def test_work_between_two_rounds_is_no_stall(
    reception: Reception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While nobody is asked no clock runs that a stall could be taken off."""
    clock = Ticking()
    monkeypatch.setattr("referee.remote.time.monotonic_ns", clock.read)
    reception.inbox.receive(0)
    before = reception.inbox.stalled_ns
    clock.now += 100 * MS
    reception.inbox.even_out((1, 0))
    reception.inbox.receive(0)
    assert reception.inbox.stalled_ns == before


def test_seconds_between_two_waits_end_the_attempt(
    reception: Reception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that slept while the referee was not waiting blames nobody either."""
    monkeypatch.setattr(reception.inbox, "LONGEST_STALL_NS", 50 * MS)
    reception.inbox.even_out((1, 0))
    time.sleep(0.1)
    with pytest.raises(PlatformStalledError, match="did not run"):
        reception.inbox.receive(time.monotonic_ns())


def test_time_in_which_nobody_listens_does_not_count_as_start_up(short_folder: Path) -> None:
    """A bot that is not heard because the referee asks the engine has not failed to come."""
    polls = 0

    def slow_engine(_: int) -> None:
        nonlocal polls
        polls += 1
        time.sleep(0.1)

    control = TimeControl(move_time_ms=1_000, startup_ms=50)
    with Reception(spec(time_control=control), 0) as reception:
        reception.listen(short_folder / "seat.sock")
        reception.wait_for_bots(slow_engine)
        arrival = reception.inbox.receive(0)
    assert arrival is not None
    assert arrival.payload.kind is FaultKind.NO_CONNECT  # type: ignore[union-attr]
    # One look took longer than the whole start-up time.
    assert polls > 2


def test_a_stall_before_the_next_look_does_not_count_as_start_up(
    reception: Reception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever this process stood still, a bot has all its time in which it could be heard."""
    clock = Ticking()
    note_stall = reception.inbox.note_stall
    looks = 0

    def look(_: int) -> None:
        nonlocal looks
        looks += 1

    def stand_still(overslept_ns: int) -> None:
        note_stall(overslept_ns)
        clock.now += 60_000 * MS

    def listen(_: float) -> None:
        clock.now += 10 * MS

    startup_ms = reception._spec.time_control.startup_ms
    monkeypatch.setattr(reception.inbox, "note_stall", stand_still)
    monkeypatch.setattr(reception.inbox, "let_run", listen)
    monkeypatch.setattr("referee.remote.time.monotonic_ns", clock.read)
    reception.wait_for_bots(look)
    assert looks > startup_ms // 10


@dataclass
class _Stalls:
    """Blocks the event loop or the thread of a match once, in the middle of a move."""

    how: str
    rounds: int = 0
    ended: bool = False
    inbox: remote._LoopInbox | None = None

    def note(self, inbox: remote._LoopInbox) -> None:
        """Be told that a round has been sent."""
        self.rounds += 1
        if self.rounds == 3:
            self.inbox = inbox
            if self.how == "thread":
                self._stall()
            else:
                inbox._loop.call_soon(self._stall)

    def _stall(self) -> None:
        if self.how == "garbage":
            _collect_much()
        else:
            time.sleep(STALL_SECONDS)
        self.ended = True


def _collect_much() -> None:
    """Make a million objects and have them looked through until it has taken its time."""
    until = time.monotonic() + STALL_SECONDS
    kept = [[number] for number in range(1_000_000)]
    while time.monotonic() < until:
        gc.collect()
    del kept


@pytest.mark.parametrize("how", ["loop", "thread", "garbage"])
def test_a_stall_of_the_referee_is_not_charged(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stall longer than the move time, wherever it falls, makes nobody late."""
    stalls = _Stalls(how)
    receive = remote._LoopInbox.receive
    asked: list[int] = []

    def stalling(inbox: remote._LoopInbox, until_ns: int) -> Arrival | None:
        if until_ns > time.monotonic_ns() + 100 * MS and inbox._left_ns not in asked:
            asked.append(inbox._left_ns)
            stalls.note(inbox)
        return receive(inbox, until_ns)

    monkeypatch.setattr(remote._LoopInbox, "receive", stalling)
    # On a machine that others use a second may become more, which would void the attempt.
    monkeypatch.setattr(remote._LoopInbox, "LONGEST_STALL_NS", 60_000 * MS)
    played = play(spec(decks=1, time_control=IMPATIENT), ("steady",), ("steady",))
    assert stalls.ended
    assert stalls.inbox is not None
    assert stalls.inbox.stalled_ns >= 0.9 * STALL_SECONDS * 1e9
    assert not played.leg.faults
    assert played.leg.stalls >= 1
    # Passes over garbage may each be too short to be one.
    assert how == "garbage" or played.leg.stalled_us >= STALL_SECONDS * 0.9e6


def test_steps_of_the_wall_clock_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts and times come out the same while the date leaps by hours."""
    wall = time.time
    chance = random.Random(7)
    monkeypatch.setattr(time, "time", lambda: wall() + chance.choice((-HOUR, 0.0, HOUR)))
    played = play(spec(time_control=IMPATIENT), ("steady",), ("slow", "5"))
    kinds = {(each.fault.kind, each.fault.seat) for each in played.leg.faults}
    assert kinds == {(FaultKind.TIMEOUT, 1)}
    times = [answer for clock in played.leg.clocks for answer in clock.answers_us]
    assert all(0 <= answer <= IMPATIENT.move_time_ms * 1_000 for answer in times)


WALL_CLOCKS = {("time", "time"), ("time", "time_ns"), ("datetime", "now"), ("datetime", "utcnow")}
DATES = {
    "arena/bots.py",
    "arena/cleaning.py",
    "arena/cli/description.py",
    "arena/databases/sqlite.py",
}
"""Where a date is what is wanted."""


@pytest.mark.parametrize("package", ["referee", "arena"])
def test_no_duration_is_measured_by_the_wall_clock(package: str) -> None:
    """Only what stores dates asks for the date."""
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in WALL_CLOCKS
    }
    assert found <= DATES


@pytest.mark.parametrize("late_us", [-10_000, 10_000])
def test_two_hundred_answers_near_the_limit_are_judged_right(late_us: int) -> None:
    """Ten milliseconds before the limit is always in time, ten after it never."""
    rounds = 0

    def react(bot: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        nonlocal rounds
        if bot.rounds != 1:
            return good(bot, update)
        rounds += 1
        return [(1_000 + late_us / 1_000, answers(update))]

    verdicts: Counter[tuple[FaultKind, ...]] = Counter()
    for number in range(200):
        timeline = Timeline()
        match = spec(decks=1, match=number, time_control=TimeControl(move_time_ms=1_000))
        leg = play_leg(match, 0, [Bot(timeline, 0, good), Bot(timeline, 1, react)], timeline)
        verdicts[tuple(each.fault.kind for each in leg.faults)] += 1
    assert rounds == 200
    assert verdicts == {(FaultKind.TIMEOUT,) if late_us > 0 else (): 200}


def test_who_is_asked_first_turns() -> None:
    """Over a leg each seat is sent its turns first as often as the other."""
    sent: list[int] = []
    timeline = Timeline()

    def note(bot: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        sent.append(bot.seat)
        return good(bot, update)

    play_leg(spec(decks=20, tables=8), 0, [Bot(timeline, seat, note) for seat in (0, 1)], timeline)
    firsts = Counter(one for one, other in zip(sent[::2], sent[1::2], strict=False) if one != other)
    assert abs(firsts[0] - firsts[1]) <= max(2, sum(firsts.values()) // 5)


@pytest.mark.parametrize("seed", range(40))
def test_an_old_turn_is_never_taken_for_the_one_that_is_open(seed: int) -> None:
    """Whatever else a bot sends between its answers, each action is the one its turn was given."""
    chance = random.Random(seed)
    meant: dict[int, list[int]] = {}

    def react(_: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        open_now = {turn.id for turn in update.turns}
        sent: list[tuple[float, Choices | Fault]] = []
        for turn in update.turns:
            index = chance.randrange(len(turn.actions))
            meant.setdefault(turn.deal, []).append(index)
            sent.append((chance.random() * 5, Choices((Choice(turn.id, index),))))
        # What comes after the last answer may rightly answer the next turn.
        last = max(delay for delay, _ in sent)
        for _ in range(chance.randrange(3) if chance.random() < 0.1 else 0):
            stray = chance.choice([max(open_now) + 1, 1, chance.randrange(1, 2**32)])
            if stray not in open_now:
                choice = Choice(stray, chance.randrange(40))
                sent.append((last * chance.random(), Choices((choice,))))
        return sent

    timeline = Timeline()
    leg = play_leg(
        spec(decks=12, tables=3), 0, [Bot(timeline, 0, good), Bot(timeline, 1, react)], timeline
    )
    for result in leg.deals:
        own = result.playing.index(1)
        taken = [one.index for one in result.actions if one.seat == own and one.asked]
        expected = meant.get(result.number, [])
        # A deal that was lost by a stray choice ends before its last answers count.
        assert taken == expected[: len(taken)]
        assert result.lost_by or len(taken) == len(expected)
    assert {each.fault.kind for each in leg.faults} <= {
        FaultKind.OUT_OF_TURN,
        FaultKind.DOUBLE_ACTION,
    }
