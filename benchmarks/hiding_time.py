"""Whether time tells a bot of `bura` who holds a combination.

    python benchmarks/hiding_time.py [WINDOWS]

Two bot processes play through real sockets. Every deal comes to one window of interest: in half of
the deals the opponent has just drawn the third card of a combination, in the other half that card
lies elsewhere in the stock, and nothing else differs to the bot that measures. It notes when each
message came and went; the opponent never stops. Each feature of these times, and a linear
classifier of all of them fitted to one half of the windows and tried on the other, ranks the
windows; the area under the curve (AUC) says how often a window with a combination is told from one
without, 0.5 being chance. As a check of the check, the same with a millisecond of delay planted
wherever somebody could stop must be told. The last line is the highest AUC and its bar; the exit
code is 1 at or above it, or if the planted delay is not found.
"""

from __future__ import annotations

import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from referee import match
from referee.cards import SUIT_MASKS, Cards, full_deck
from referee.combinations import Effect, held_by_hand
from referee.dealing import FixedSource, SourceExhaustedError
from referee.match import play_leg
from referee.players import Message, Player, Traffic, Update
from referee.programme import first_dealer
from referee.remote import Reception
from referee.results import Entrant, LegResult, MatchSpec, TimeControl
from referee.rules import ActionKind, State, deal
from referee.variants import find_variant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

WINDOWS = 20_000
BAR = 0.52
PLANTED_WINDOWS = 2_000
PLANTED_BAR = 0.6
PLANTED_SECONDS = 0.001
RULES = find_variant("bura")
SEED = bytes(range(32))
MEASURING, OPPONENT = 0, 1
# The bot leads or answers with its first card, never stops, and claims as soon as there is a pile.
BOT = """
import sys, time
from array import array
import burabot
from burabot import bot_pb2
log = array("q")
def receive(message):
    global begun
    begun = time.monotonic_ns()
def choose(turn):
    index = 0
    if turn.kind == bot_pb2.TURN_LEAD and any(pile.cards for pile in turn.view.captured):
        index = len(turn.actions) - 1
    log.extend((turn.message.deal, turn.kind, begun, time.monotonic_ns()))
    return index
burabot.play(choose, name="bot", address=sys.argv[1], observe=receive)
with open(sys.argv[2], "wb") as file:
    log.tofile(file)
"""
# Deal, kind of turn, when its message was received, when it was answered.
Line = tuple[int, int, int, int]


@dataclass(frozen=True)
class Window:
    """What the bot measured around a window, and whether the opponent held a combination."""

    held: bool
    kind: int
    features: tuple[float, ...]


# ------------------------------------------------------------------------------------- the deals


def play_first(deck: Sequence[int], dealer: int) -> State | None:
    """Play the first trick as the bots do; None if the cards would be dealt again."""
    try:
        state = deal(RULES, seats=2, dealer=dealer, source=FixedSource([deck]))
    except SourceExhaustedError:
        return None
    while not state.last_trick:
        seat = state.asked[0]
        state.apply(seat, state.legal_actions(seat)[0])
    return state


def holds(state: State, seat: int) -> Effect | None:
    """Return the effect of the combination that the seat holds."""
    held = held_by_hand(RULES, state.trump, end_turned=state.end_turned).get(state.hands[seat])
    return held.effect if held is not None else None


def exchanged(deck: Sequence[int], one: int, other: int) -> list[int]:
    """Return the deck with two cards exchanged."""
    swap = {one: other, other: one}
    return [swap.get(card, card) for card in deck]


def pair_of_decks(chance: random.Random, dealer: int) -> tuple[list[int], list[int]]:
    """Return decks that differ in one card the opponent draws: a combination, or none."""
    while True:
        deck = chance.sample(full_deck(RULES.deck), RULES.deck)
        state = play_first(deck, dealer)
        if state is None or state.outcome is not None or holds(state, MEASURING) is not None:
            continue
        drawn = state.events[-1] if state.events[-1][1] == OPPONENT else state.events[-2]
        kept = state.hands[OPPONENT] & ~drawn[2]
        suits = [suit for suit, mask in enumerate(SUIT_MASKS) if not kept & ~mask]
        if not suits or suits[0] == state.trump:
            continue
        (card,) = Cards(drawn[2])
        later = [other for other in state.stock[:-1] if card != other]
        decks = [
            exchanged(
                deck, card, next(other for other in later if (other // 9 == suits[0]) == right)
            )
            for right in (True, False)
            if any((other // 9 == suits[0]) == right for other in later)
        ]
        if len(decks) == len(SUIT_MASKS) // 2 and _fit(decks, dealer):
            return decks[0], decks[1]


def _fit(decks: Sequence[Sequence[int]], dealer: int) -> bool:
    states = [play_first(deck, dealer) for deck in decks]
    effects = [holds(state, OPPONENT) if state is not None else None for state in states]
    return effects == [Effect.STOPS, None]


def make_decks(count: int, chance: random.Random) -> list[tuple[list[int], bool]]:
    """Return decks, and whether the opponent draws a combination in its first draw."""
    decks = []
    for number in range(count):
        held = chance.random() < 1 / 2
        with_it, without = pair_of_decks(chance, first_dealer(SEED, 0, number, 2))
        decks.append((with_it if held else without, held))
    return decks


# ------------------------------------------------------------------------------------- the match


def measure(
    windows: int,
    seed: int = 0,
    seated: Callable[[Sequence[Player]], Sequence[Player]] = list,
) -> list[Window]:
    """Play that many deals and return their windows as the bot at the first seat saw them."""
    decks = make_decks(windows, random.Random(seed))
    spec = MatchSpec(
        variant="bura",
        rules=RULES,
        seats=2,
        decks=windows,
        seed=SEED,
        entrants=(Entrant("measuring"), Entrant("opponent")),
        time_control=TimeControl(move_time_ms=60_000, startup_ms=60_000),
    )

    def source(_rules: object, _seed: bytes, _match: int, deck: int) -> FixedSource:
        return FixedSource([decks[deck][0]])

    with tempfile.TemporaryDirectory(prefix="bura-") as name:
        log = Path(name) / f"{MEASURING}.log"
        with mock.patch.object(match, "deck_source", source):
            played = _play(spec, Path(name), seated)
        numbers = array("q", log.read_bytes())
    lines = list(zip(*[iter(numbers)] * 4, strict=True))
    held = {each.number: decks[each.deck][1] for each in played.deals}
    return list(_windows(lines, held))


def _play(
    spec: MatchSpec, folder: Path, seated: Callable[[Sequence[Player]], Sequence[Player]]
) -> LegResult:
    with Reception(spec, 0) as reception:
        processes = []
        try:
            for seat in range(spec.seats):
                path = folder / f"{seat}.sock"
                reception.listen(path)
                command = [sys.executable, "-c", BOT, f"unix:{path}", str(folder / f"{seat}.log")]
                processes.append(subprocess.Popen(command))
            reception.wait_for_bots()
            leg = play_leg(spec, 0, seated(reception.players), reception.inbox)
            for process in processes:
                process.wait(60)
        finally:
            for process in processes:
                process.kill()
                process.wait()
    assert not leg.faults, leg.faults
    return leg


def _windows(lines: Sequence[Line], held: dict[int, bool]) -> Iterator[Window]:
    """Find each deal's last turn of the bot: the window after the first trick."""
    for at in range(2, len(lines) - 2):
        before, this, after, later = lines[at - 1 : at + 3]
        if this[0] != after[0]:
            yield Window(
                held[this[0]],
                this[1],
                (
                    this[2] - before[3],
                    after[2] - this[3],
                    this[2] - before[3] + after[2] - this[3],
                    after[2] - before[2],
                    later[2] - after[3],
                    this[3] - this[2],
                ),
            )


FEATURES = (
    "wait before the window",
    "wait after it",
    "both waits",
    "time between the messages around it",
    "wait one turn later",
    "reading and choosing",
)

# -------------------------------------------------------------------------------- the classifier


def ranks(values: Sequence[float]) -> list[float]:
    """Return the ranks of the values, equal ones sharing theirs, scaled to -1 to 1."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for at in range(start, end):
            found[order[at]] = (start + end) / len(values) - 1
        start = end
    return found


def auc(scores: Sequence[float], held: Sequence[bool]) -> float:
    """Return how often a window with a combination scores above one without."""
    ones = sum(held)
    others = len(held) - ones
    total = sum(rank for rank, one in zip(ranks(scores), held, strict=True) if one)
    return 0.5 + total * len(held) / (2 * ones * others)


def told(windows: Sequence[Window]) -> dict[str, float]:
    """Return the AUC of each feature and of the classifier, 0.5 or more, by name.

    Windows in which the bot leads and those in which it may stop are ranked among themselves.
    """
    rows: list[tuple[list[float], bool]] = []
    for kind in sorted({window.kind for window in windows}):
        some = [window for window in windows if window.kind == kind]
        columns = [ranks(column) for column in zip(*(each.features for each in some), strict=True)]
        rows += zip(
            map(list, zip(*columns, strict=True)), [each.held for each in some], strict=True
        )
    held = [one for _, one in rows]
    found = {name: auc([row[at] for row, _ in rows], held) for at, name in enumerate(FEATURES)}
    random.Random(0).shuffle(rows)
    half = len(rows) // 2
    weights = fitted(rows[:half])
    scores = [math.fsum(map(mul, weights, widened(row))) for row, _ in rows[half:]]
    found = {name: max(value, 1 - value) for name, value in found.items()}
    found["all together"] = auc(scores, [one for _, one in rows[half:]])
    return found


def widened(row: Sequence[float]) -> list[float]:
    """Return a row with a constant and with squares, so that the middle can count too."""
    return [1.0, *row, *(value * value for value in row)]


def fitted(rows: Sequence[tuple[Sequence[float], bool]]) -> list[float]:
    """Return the weights of the linear classifier with the least squares."""
    size = len(widened(rows[0][0]))
    # A little of the identity keeps features that depend on each other from making it singular.
    table = [[0.01 * (i == j) for j in range(size + 1)] for i in range(size)]
    for row, one in rows:
        wide = widened(row)
        target = 1.0 if one else -1.0
        for line, value in zip(table, wide, strict=True):
            for at, other in enumerate(wide):
                line[at] += value * other
            line[size] += value * target
    return solved(table)


def solved(table: list[list[float]]) -> list[float]:
    """Solve linear equations whose matrix is positive; the last column is the right side."""
    size = len(table)
    for at in range(size):
        head = table[at][at]
        table[at] = [value / head for value in table[at]]
        for other in range(size):
            if other != at:
                times = table[other][at]
                table[other] = [
                    value - times * own for value, own in zip(table[other], table[at], strict=True)
                ]
    return [line[size] for line in table]


def standard_error(windows: Sequence[Window]) -> float:
    """Return by how much the AUC of a feature that tells nothing varies."""
    ones = sum(window.held for window in windows)
    return math.sqrt((len(windows) + 1) / (12 * ones * (len(windows) - ones)))


class Late:
    """A player whose messages leave late if anybody could stop: a leak to be found."""

    def __init__(self, player: Player, seat: int, able: set[int], seconds: float) -> None:
        self._player, self._seat, self._able, self._seconds = player, seat, able, seconds

    @property
    def traffic(self) -> Traffic:
        """What was sent and received so far."""
        return self._player.traffic

    def prepare(self, message: Message) -> Callable[[], None]:
        """Prepare a message."""
        send = self._player.prepare(message)
        self._able.discard(self._seat)
        if isinstance(message, Update) and any(
            action.kind is ActionKind.STOP for turn in message.turns for action in turn.actions
        ):
            self._able.add(self._seat)

        def late() -> None:
            if self._able:
                time.sleep(self._seconds)
            send()

        return late


def planted(windows: int, seconds: float = PLANTED_SECONDS) -> list[Window]:
    """Measure a platform that leaks in time."""
    able: set[int] = set()
    return measure(
        windows,
        seed=1,
        seated=lambda players: [
            Late(each, seat, able, seconds) for seat, each in enumerate(players)
        ],
    )


def main() -> int:
    """Measure, print and return the exit code."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else WINDOWS
    windows = measure(count)
    found = told(windows)
    for name, value in found.items():
        print(f"{name}: AUC {value:.4f}")
    waits = [window.features[1] / 1_000 for window in windows]
    error = standard_error(windows)
    print(f"{len(windows)} windows, {sum(window.held for window in windows)} with a combination,")
    print(f"median wait {statistics.median(waits):.0f} us; by chance an AUC is within ", end="")
    print(
        f"{0.5 - 2 * error:.4f} to {0.5 + 2 * error:.4f} in 95 of 100 cases (half as many windows"
    )
    print(f"decide on all together: {0.5 + 2 * 2**0.5 * error:.4f})")
    worst_planted = max(told(planted(PLANTED_WINDOWS)).values())
    print(
        f"with a planted delay of {PLANTED_SECONDS * 1e3:.0f} ms: AUC {worst_planted:.4f}, ", end=""
    )
    print(f"must be above {PLANTED_BAR}")
    worst = max(found.values())
    good = worst < BAR and worst_planted > PLANTED_BAR
    print(f"hiding_time: AUC {worst:.4f} (bar {BAR:.2f}) {'ok' if good else 'time tells'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
