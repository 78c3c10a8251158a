"""What refereeing costs beside gRPC itself: `bura`, two bot processes, one table.

    python benchmarks/wire_overhead.py [BLOCKS]

A leg is played between two bot processes, and every message of the referee is kept. Then a bare
gRPC server sends two fresh processes of the same program the same messages in the same order,
and waits for the same answers. Both are repeated in turn, because machines are noisy. The last line
is the median ratio of neighbouring times, and its bar; the exit code is 1 above it.

The overhead per decision is what the referee does from the last answer of a round to the first
message of the next one, shared among the decisions of that round.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

import grpc

from burabot import bot_pb2, bot_pb2_grpc
from referee.match import play_leg
from referee.players import Arrival, Inbox, Message, Player, Traffic, Update
from referee.remote import Reception
from referee.results import Entrant, MatchSpec, TimeControl
from referee.variants import find_variant
from referee.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

BAR = 1.5
BLOCKS = 9
SEATS = 2
BOT = """
import sys
import burabot
burabot.play(lambda turn: 0, name="first", address=sys.argv[1])
"""
SPEC = MatchSpec(
    variant="bura",
    rules=find_variant("bura"),
    seats=SEATS,
    decks=30,
    seed=bytes(range(32)),
    entrants=(Entrant("first"), Entrant("first too")),
    time_control=TimeControl(move_time_ms=60_000),
)

Round = dict[int, bot_pb2.RefereeMessage]


class Diary:
    """What a leg was like: its messages if they are kept, and the referee's time between rounds."""

    def __init__(self, *, keeps: bool) -> None:
        self.keeps = keeps
        self.rounds: list[Round] = []
        self.work_us: list[float] = []
        self.answered_ns = 0
        self.decisions = 0
        self.turns = 0

    def sent(self, seat: int, message: Update) -> None:
        """Note a message that is about to be sent."""
        if self.answered_ns:
            work_ns = time.monotonic_ns() - self.answered_ns
            self.work_us.append(work_ns / 1_000 / max(1, self.turns))
        if self.answered_ns or not self.decisions:
            self.rounds.append({})
            self.answered_ns = self.turns = 0
        self.turns += len(message.turns)
        self.decisions += len(message.turns)
        if self.keeps:
            (data,) = Wire(SPEC, seat).packed(message)
            self.rounds[-1][seat] = bot_pb2.RefereeMessage.FromString(data)


class Listening(Inbox):
    """Another inbox, of which it is noted when the last answer was received."""

    def __init__(self, inbox: Inbox, diary: Diary) -> None:
        super().__init__(inbox.clock)
        self._inbox, self._diary = inbox, diary

    def receive(self, until_ns: int) -> Arrival | None:
        """Return the next arrival."""
        arrival = self._inbox.receive(until_ns)
        if arrival is not None:
            self._diary.answered_ns = arrival.received_ns
        return arrival


class Noted:
    """A player whose messages are noted."""

    def __init__(self, player: Player, seat: int, diary: Diary) -> None:
        self._player, self._seat, self._diary = player, seat, diary

    @property
    def traffic(self) -> Traffic:
        """What was sent and received so far."""
        return self._player.traffic

    def prepare(self, message: Message) -> Callable[[], None]:
        """Prepare a message."""
        send = self._player.prepare(message)
        if not isinstance(message, Update) or not message.turns:
            return send

        def noted() -> None:
            self._diary.sent(self._seat, message)
            send()

        return noted


@contextmanager
def bots(addresses: Sequence[str]) -> Iterator[None]:
    """Run a bot for each address until the referee is done with them."""
    processes = [subprocess.Popen([sys.executable, "-c", BOT, each]) for each in addresses]
    try:
        yield
        for process in processes:
            process.wait(10)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def refereed(folder: Path, *, keeps: bool = False) -> tuple[float, Diary]:
    """Play a leg and return its seconds and what it was like."""
    diary = Diary(keeps=keeps)
    paths = [folder / f"{seat}.sock" for seat in range(SEATS)]
    with Reception(SPEC, 0) as reception:
        for path in paths:
            reception.listen(path)
        with bots([f"unix:{path}" for path in paths]):
            reception.wait_for_bots()
            players = [Noted(each, seat, diary) for seat, each in enumerate(reception.players)]
            inbox = Listening(reception.inbox, diary)
            began = time.perf_counter()
            leg = play_leg(SPEC, 0, players, inbox)
            seconds = time.perf_counter() - began
    assert not leg.faults, leg.faults
    return seconds, diary


class Bare(bot_pb2_grpc.RefereeServicer):
    """A seat that says what it is given and reports every answer."""

    def __init__(self, seat: int, answers: SimpleQueue[int]) -> None:
        self.outgoing: SimpleQueue[bot_pb2.RefereeMessage | None] = SimpleQueue()
        self._seat, self._answers = seat, answers

    def Play(  # noqa: N802 - the name is the contract's
        self,
        request_iterator: Iterator[bot_pb2.BotMessage],
        context: grpc.ServicerContext,  # noqa: ARG002
    ) -> Iterator[bot_pb2.RefereeMessage]:
        """Send and wait for the answer, in turn."""
        next(request_iterator)
        self._answers.put(self._seat)
        while (message := self.outgoing.get()) is not None:
            yield message
            if message.turns:
                next(request_iterator)
                self._answers.put(self._seat)


def bare(folder: Path, rounds: Sequence[Round]) -> float:
    """Send the same messages from a bare server and return the seconds."""
    answers: SimpleQueue[int] = SimpleQueue()
    seats = [Bare(seat, answers) for seat in range(SEATS)]
    servers = []
    addresses = [f"unix:{folder / f'{seat}.bare'}" for seat in range(SEATS)]
    for seat, address in zip(seats, addresses, strict=True):
        server = grpc.server(ThreadPoolExecutor(1))
        bot_pb2_grpc.add_RefereeServicer_to_server(seat, server)
        server.add_insecure_port(address)
        server.start()
        servers.append(server)
    with bots(addresses):
        for _ in seats:
            answers.get()
        for number, seat in enumerate(seats):
            welcome = bot_pb2.RefereeMessage.FromString(Wire(SPEC, number).welcome())
            seat.outgoing.put(welcome)
        began = time.perf_counter()
        for each in rounds:
            for number, message in each.items():
                seats[number].outgoing.put(message)
            for _ in each:
                answers.get()
        seconds = time.perf_counter() - began
        farewell = bot_pb2.RefereeMessage()
        farewell.goodbye.reason = bot_pb2.GOODBYE_FINISHED
        for seat in seats:
            seat.outgoing.put(farewell)
            seat.outgoing.put(None)
    for server in servers:
        server.stop(None).wait()
    return seconds


def main() -> int:
    """Measure, print and return the exit code."""
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else BLOCKS
    times: list[tuple[float, float]] = []
    work: list[float] = []
    with tempfile.TemporaryDirectory(prefix="bura-") as name:
        folder = Path(name)
        _, kept = refereed(folder, keeps=True)
        before = bare(folder, kept.rounds)
        for _ in range(blocks):
            seconds, diary = refereed(folder)
            after = bare(folder, kept.rounds)
            times.append((seconds, (before + after) / 2))
            before = after
            work += diary.work_us
    ours, theirs = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(one / other for one, other in times)
    size = statistics.mean(each.ByteSize() for one in kept.rounds for each in one.values())
    p50, p99 = (statistics.quantiles(work, n=100)[cut - 1] for cut in (50, 99))
    print(f"{kept.decisions} decisions in {len(kept.rounds)} rounds, {size:.0f} bytes a message")
    print(f"refereed {ours / kept.decisions * 1e6:.0f} us, bare ", end="")
    print(f"{theirs / kept.decisions * 1e6:.0f} us a decision (medians of {blocks})")
    print(f"referee overhead per decision: p50 {p50:.0f} us, p99 {p99:.0f} us")
    verdict = "ok" if ratio <= BAR else "too slow"
    print(f"wire_overhead: ratio {ratio:.2f} (bar {BAR:.2f}) {verdict}")
    return 0 if ratio <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
