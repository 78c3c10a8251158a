"""Doubles for the clock, the inbox and the bots: verdicts about time are tested without waiting."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from referee.players import (
    Arrival,
    Choice,
    Choices,
    Fault,
    Goodbye,
    Inbox,
    Message,
    Traffic,
    Turn,
    Update,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MS = 1_000_000


class Timeline(Inbox):
    """An inbox and a clock in one: waiting moves the time to the next arrival."""

    def __init__(self) -> None:
        super().__init__(clock=self)
        self.now = 5_000 * MS
        self._coming: list[tuple[int, int, Arrival]] = []
        self._count = 0

    def now_ns(self) -> int:
        """Return the time that was waited for."""
        return self.now

    def put(self, arrival: Arrival) -> None:
        """Add something that arrives now."""
        self.at(self.now, arrival)

    def at(self, time_ns: int, arrival: Arrival) -> None:
        """Let something arrive at a time that may still be to come."""
        self._count += 1
        heapq.heappush(self._coming, (time_ns, self._count, arrival))

    def receive(self, until_ns: int) -> Arrival | None:
        """Move the time to the next arrival, or to the end of the wait."""
        if self._coming and self._coming[0][0] <= max(until_ns, self.now):
            time_ns, _, arrival = heapq.heappop(self._coming)
            self.now = max(self.now, time_ns)
            return arrival
        self.now = max(self.now, until_ns)
        return None


class Ticking:
    """A clock that advances a little whenever it is read."""

    def __init__(self) -> None:
        self.now = 0

    def read(self) -> int:
        """Return the time in nanoseconds."""
        self.now += 10
        return self.now


def first(_: Turn) -> int:
    """Choose the first action; nobody ever claims, so that all deals are played out and void."""
    return 0


class Bot:
    """A player on a timeline: `react` maps an update to what arrives how many ms later."""

    def __init__(
        self,
        timeline: Timeline,
        seat: int,
        react: Callable[[Bot, Update], Iterable[tuple[float, Choices | Fault]]],
    ) -> None:
        self.timeline = timeline
        self.seat = seat
        self.react = react
        self.turns: list[Turn] = []
        self.messages: list[Message] = []
        self.rounds = 0

    @property
    def traffic(self) -> Traffic:
        """Nothing: there is no wire."""
        return Traffic()

    @property
    def goodbye(self) -> Goodbye:
        """The last message."""
        message = self.messages[-1]
        assert isinstance(message, Goodbye)
        return message

    def prepare(self, message: Message) -> Callable[[], None]:
        """Return what notes the message and lets the answers arrive."""
        return lambda: self._send(message)

    def _send(self, message: Message) -> None:
        self.messages.append(message)
        if not isinstance(message, Update) or not message.turns:
            return
        self.turns += message.turns
        sent = self.timeline.now
        for delay_ms, payload in self.react(self, message):
            received = sent + round(delay_ms * MS)
            raw = repr(payload).encode() if isinstance(payload, Choices) else b""
            self.timeline.at(received, Arrival(self.seat, received, payload, raw))
        self.rounds += 1


def answers(update: Update, choose: Callable[[Turn], int] = first) -> Choices:
    """Return a proper answer to all turns of an update."""
    return Choices(tuple(Choice(turn.id, choose(turn)) for turn in update.turns))


def good(_: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
    """Answer everything after a millisecond."""
    yield 1, answers(update)
