"""The seam between a match and whoever sits at a seat: messages, arrivals, faults, a double.

A player is told things and asked for choices; what it answers comes back through one Inbox,
stamped with the time at which it was received. Nothing here knows of sockets.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from referee.rules import Action, Outcome, TurnKind
    from referee.state import Play
    from referee.view import Observation, SeenEvent

__all__ = [
    "LATE_ANSWERS",
    "Arrival",
    "Choice",
    "Choices",
    "Clock",
    "ClockReading",
    "DealOver",
    "Fault",
    "FaultKind",
    "Goodbye",
    "GoodbyeReason",
    "Inbox",
    "Message",
    "MonotonicClock",
    "PlatformError",
    "PlatformStalledError",
    "Player",
    "ScriptedPlayer",
    "Standing",
    "Traffic",
    "Turn",
    "Update",
]


LATE_ANSWERS = 3
"""How often in a leg a seat may be late: the last time costs it the leg."""


class PlatformError(Exception):
    """A failure of the platform: it scores nobody, and the match is played again."""


class PlatformStalledError(PlatformError):
    """This process did not run for so long that its clock says nothing about the bots."""


class FaultKind(StrEnum):
    """What a bot can do wrong."""

    NO_CONNECT = "no_connect"
    START_FAILED = "start_failed"
    TIMEOUT = "timeout"
    CRASH = "crash"
    OUT_OF_MEMORY = "out_of_memory"
    DISCONNECTED = "disconnected"
    ILLEGAL_ACTION = "illegal_action"
    OUT_OF_TURN = "out_of_turn"
    DOUBLE_ACTION = "double_action"
    PROTOCOL = "protocol"

    @property
    def loses_leg(self) -> bool:
        """Whether it loses every deal left in the leg, not only the one it was committed in."""
        return self not in _LOSES_ONE_DEAL


_LOSES_ONE_DEAL = frozenset(
    {
        FaultKind.TIMEOUT,
        FaultKind.ILLEGAL_ACTION,
        FaultKind.OUT_OF_TURN,
        FaultKind.DOUBLE_ACTION,
    }
)


@dataclass(frozen=True, slots=True)
class Fault:
    """A misdeed of the bot at a seat; the detail says in one line what was wrong and expected."""

    kind: FaultKind
    seat: int
    detail: str


class Standing(NamedTuple):
    """Where a match stands whose deals depend on each other, when a deal begins.

    Attributes:
        tallies: What the format counts, by the seats of the leg.
        bank: What the common bank holds, 0 without one.
        carry: What the deal's weight is multiplied by after drawn deals.
        playing: The leg's seats in the order of the deal's.
    """

    tallies: tuple[int, ...]
    bank: int
    carry: int
    playing: tuple[int, ...]


class Turn(NamedTuple):
    """A decision a seat is asked for.

    Attributes:
        id: From 1, never twice for one seat in a leg; each seat has a row of its own, so that
            the numbers of one tell nothing of what others were asked.
        table: Where the deal is played, from 0.
        deal: Number of the deal, counted within the leg from 0.
        kind: What kind of decision it is.
        view: All the seat may know.
        actions: What the rules allow; a choice is an index into it.
        events: What happened at this table since the seat's last turn there.
        standing: Of the match; None in a series.
    """

    id: int
    table: int
    deal: int
    kind: TurnKind
    view: Observation
    actions: tuple[Action, ...]
    events: tuple[SeenEvent, ...]
    standing: Standing | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DealOver:
    """The end of a deal as a seat is told it.

    Attributes:
        table: Where it was played.
        deal: Its number within the leg.
        outcome: By the rules, or by a fault.
        captured: All cards each seat captured, as bitmasks.
        last_trick: The plays of the last trick on the table, the lead first.
        events: What happened at this table since the viewer's last turn there.
        deal_scores: Each seat's score of this deal.
        scores: Each seat's score of the leg so far.
        fault: In words, empty without one.
    """

    table: int
    deal: int
    outcome: Outcome
    captured: tuple[int, ...]
    last_trick: tuple[Play, ...]
    events: tuple[SeenEvent, ...]
    deal_scores: tuple[Fraction, ...]
    scores: tuple[Fraction, ...]
    fault: str = ""


class ClockReading(NamedTuple):
    """A seat's clock as it is told with its turns, in microseconds."""

    last_answer_us: int
    time_left_us: int
    bank_left_us: int


class Update(NamedTuple):
    """What a seat is sent in a round: deals that ended, turns that wait, its clock."""

    deals_over: tuple[DealOver, ...] = ()
    turns: tuple[Turn, ...] = ()
    clock: ClockReading | None = None


class GoodbyeReason(StrEnum):
    """Why a leg is over for a bot."""

    FINISHED = "finished"
    FAULT = "fault"
    UNKNOWN_PROTOCOL = "unknown_protocol"
    REFUSED = "refused"
    ABORTED = "aborted"


class Goodbye(NamedTuple):
    """The last thing a player is told."""

    reason: GoodbyeReason
    text: str
    scores: tuple[Fraction, ...] = ()


Message = Update | Goodbye


@dataclass(frozen=True, slots=True)
class Choice:
    """The index of an action of the turn with this id."""

    turn: int
    index: int


class Choices(NamedTuple):
    """One message of a player."""

    choices: tuple[Choice, ...]


class Arrival(NamedTuple):
    """Something that came from a seat.

    Attributes:
        seat: From which.
        received_ns: The monotonic time it was received, in nanoseconds.
        payload: What it means.
        raw: The message as it came, None where no message did.
    """

    seat: int
    received_ns: int
    payload: Choices | Fault
    raw: bytes | None = None


class Clock(Protocol):
    """Where time comes from."""

    def now_ns(self) -> int:
        """Return nanoseconds that never run backwards."""
        ...


class MonotonicClock:
    """The machine's monotonic clock."""

    __slots__ = ()

    now_ns = staticmethod(time.monotonic_ns)


class Inbox:
    """The one queue through which all seats' arrivals reach a match; safe between threads.

    While it waits it wakes often and sees by how much it overslept. That is how long this process
    was kept from running, and no bot is charged for it: `stalled_ns` is the sum so far, and
    `stalls` how often it was.
    """

    SLICE_NS = 50_000_000
    STALL_NS = 20_000_000
    LONGEST_STALL_NS = 2_000_000_000

    def __init__(self, clock: Clock | None = None) -> None:
        """Start empty; without a clock the machine's monotonic one is used."""
        self.clock: Clock = clock or MonotonicClock()
        self.stalled_ns = 0
        self.stalls = 0
        self._arrivals: SimpleQueue[Arrival] = SimpleQueue()

    def put(self, arrival: Arrival) -> None:
        """Add an arrival; never blocks."""
        self._arrivals.put(arrival)

    def even_out(self, kind: tuple[int, int]) -> None:
        """Hide how long the work since the last wait took; functions have no clock to see it by.

        Args:
            kind: What everybody knows of the work; the same kind mostly takes the same time.
        """

    def waiting(self) -> int:
        """Return how many arrivals have not been received yet."""
        return self._arrivals.qsize()

    def receive(self, until_ns: int) -> Arrival | None:
        """Return the next arrival, or None if there is none by that time.

        Raises:
            PlatformStalledError: This process was kept from running for seconds.
        """
        while True:
            now = self.clock.now_ns()
            rest = min(until_ns - now, self.SLICE_NS)
            if rest <= 0:
                return self._next(None)
            arrival = self._next(rest / 1e9)
            self.note_stall(self.clock.now_ns() - now - rest)
            if arrival is not None:
                return arrival

    def _next(self, seconds: float | None) -> Arrival | None:
        try:
            return self._arrivals.get(block=seconds is not None, timeout=seconds)
        except Empty:
            return None

    def note_stall(self, overslept_ns: int) -> None:
        """Count what a wait took beyond its end, unless it is what any machine may take.

        Raises:
            PlatformStalledError: It is seconds.
        """
        if overslept_ns > self.LONGEST_STALL_NS:
            raise PlatformStalledError(
                f"this process did not run for {overslept_ns // 1_000_000} ms: "
                "the machine slept or is overloaded"
            )
        if overslept_ns > self.STALL_NS:
            self.stalled_ns += overslept_ns
            self.stalls += 1


@dataclass(frozen=True, slots=True)
class Traffic:
    """What went over a seat's wire in a leg, in bytes and messages, framing left out.

    Attributes:
        sending_us: From the moment messages were ready to that at which they were handed to the
            stream, all together, in microseconds, of those that the bot answered: the part of
            the bot's time that is ours.
        last_sent: The last message to the bot, as bytes.
        hello: The first message from it.
        last_received: The last message from it.
    """

    sent_bytes: int = 0
    sent_messages: int = 0
    received_bytes: int = 0
    received_messages: int = 0
    sending_us: int = 0
    last_sent: bytes = b""
    hello: bytes = b""
    last_received: bytes = b""


class Player(Protocol):
    """Whoever sits at a seat for one leg."""

    @property
    def traffic(self) -> Traffic:
        """What was sent and received so far."""
        ...

    def prepare(self, message: Message) -> Callable[[], None]:
        """Make a message ready and return what sends it.

        All seats' messages of a round are prepared before the first is sent. Sending never
        blocks and never fails: that a player is gone is an arrival.
        """
        ...


class ScriptedPlayer:
    """A player in this process: `choose` maps a turn to an index."""

    __slots__ = ("_choose", "_inbox", "_seat")

    def __init__(self, choose: Callable[[Turn], int], seat: int, inbox: Inbox) -> None:
        """Seat a function."""
        self._choose = choose
        self._seat = seat
        self._inbox = inbox

    @property
    def traffic(self) -> Traffic:
        """Nothing: there is no wire."""
        return Traffic()

    def prepare(self, message: Message) -> Callable[[], None]:
        """Return what asks the function and puts its choices into the inbox."""

        def answer() -> None:
            if isinstance(message, Update) and message.turns:
                choices = tuple(Choice(turn.id, self._choose(turn)) for turn in message.turns)
                now = self._inbox.clock.now_ns()
                self._inbox.put(Arrival(self._seat, now, Choices(choices)))

        return answer
