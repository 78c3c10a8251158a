"""The gRPC side of a seat: one server, one Unix socket and one stream for each bot.

The servers of a leg live in an event loop that runs in the thread of the match, whenever the match
waits for an answer or a bot. While it waits it has nothing else to do, so that the time of arrival
is taken at once; and a message crosses no thread of ours on its way in or out, each of which would
cost as much as refereeing it (benchmarks/wire_overhead.py measures).
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from burabot import bot_pb2
from referee.canary import Canaries
from referee.players import (
    LATE_ANSWERS,
    Arrival,
    Choice,
    Choices,
    Fault,
    FaultKind,
    Goodbye,
    GoodbyeReason,
    Inbox,
    PlatformError,
    Traffic,
)
from referee.wire import MESSAGE_BYTES, PROTOCOL, Wire, goodbye, unpack

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path
    from types import TracebackType

    from referee.players import Message
    from referee.results import MatchSpec

    _Context = grpc.aio.ServicerContext[bytes, bytes]

__all__ = ["Reception", "RemotePlayer", "SocketError"]

# Beyond this gRPC cuts the stream without telling why; below it the verdict can say so. A bot may
# have as many of these in memory here as it may have streams.
CUT_BYTES = 2 << 20
BROKEN_OFF = (
    "the stream broke off before Goodbye: the bot ended or cancelled it, or sent a message of more "
    f"than {CUT_BYTES >> 20} MiB"
)
# In turns, so that it is no shorter if this process stands still meanwhile.
CANCEL_TURNS = 20
END_SECONDS = 2.0
LOG = logging.getLogger(__name__)
# Reading a message of 32,000 choices takes longer than many a move.
SPARE_CHOICES = 64
UNREAD_ARRIVALS = 256
PATH_BYTES = 100
STREAMS = 4
# A bot with children could otherwise take all descriptors of this process.
CONNECTIONS = 8
POLL_SECONDS = 0.01
# Work is stretched to what four of five rounds of its kind take: one that takes longer raises that
# time four times as much as one that does not lowers it.
LENGTHENED, SHORTENED = 1.04, 0.99
LONGEST_STRETCH_NS = 5_000_000
# A bot that does not read must not hold up the end of a leg.
GOODBYE_SECONDS = 1.0
_METHOD = "/burabot.Referee/Play"

_OPTIONS = (
    ("grpc.max_receive_message_length", CUT_BYTES),
    # gRPC cuts the stream at a message that unpacks to more than it may, and tells nobody here.
    ("grpc.per_message_decompression", 0),
    ("grpc.max_metadata_size", 4096),
    ("grpc.absolute_max_metadata_size", 8192),
    ("grpc.max_concurrent_streams", STREAMS),
    ("grpc.max_allowed_incoming_connections", CONNECTIONS),
    ("grpc.server_handshake_timeout_ms", 3000),
    ("grpc.max_connection_idle_ms", 5000),
    ("grpc.http2.min_ping_interval_without_data_ms", 1000),
    ("grpc.http2.max_ping_strikes", 2),
    ("grpc.so_reuseport", 0),
)


class SocketError(PlatformError):
    """The referee cannot listen where it should."""


class Reception:
    """Where the bots of one leg come in; leaving the context closes every socket."""

    def __init__(self, spec: MatchSpec, leg: int, canaries: Canaries | None = None) -> None:
        """Prepare for a leg; nothing is opened yet.

        Args:
            spec: The match.
            leg: Which of its legs.
            canaries: What no bot may ever be sent.
        """
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_note)
        self.inbox = _LoopInbox(self._loop)
        self._spec = spec
        self._leg = leg
        self._canaries = canaries or Canaries()
        self._seats: list[_SeatServer] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._stop()
        except KeyboardInterrupt:
            # A server that still runs when its loop is closed can never be stopped.
            self._stop()
            raise
        finally:
            self._loop.close()

    def _stop(self) -> None:
        for seat in self._seats:
            self._loop.run_until_complete(seat.stop())
        self._loop.run_until_complete(_end_tasks())

    @property
    def players(self) -> tuple[RemotePlayer, ...]:
        """Those who sit here, by seat."""
        return tuple(RemotePlayer(seat, self._loop, self._canaries) for seat in self._seats)

    def listen(self, path: Path) -> None:
        """Open the Unix socket of the next seat; whoever reaches it is that seat's bot.

        Args:
            path: Of the socket; its folder exists.

        Raises:
            SocketError: The path is too long, or cannot be listened on.
        """
        if len(str(path).encode()) > PATH_BYTES:
            raise SocketError(f"socket path over {PATH_BYTES} bytes: {path}; take a shorter folder")
        try:
            self._open(f"unix:{path}", token="", door=path)
            path.chmod(0o666)
        except (OSError, RuntimeError) as error:
            raise SocketError(f"cannot listen on {path}: {error}") from error

    def listen_tcp(self, host: str, token: str) -> int:
        """Open a TCP port for the next seat, where sockets cannot be shared with containers.

        Args:
            host: Address of this machine to listen at.
            token: What the seat's bot says in Hello; others are refused without penalty to it.

        Returns:
            The port.

        Raises:
            SocketError: The address cannot be listened on.
        """
        try:
            return self._open(f"{host}:0", token)
        except RuntimeError as error:
            raise SocketError(f"cannot listen at {host}: {error}") from error

    def _open(self, address: str, token: str, door: Path | None = None) -> int:
        number = len(self._seats)
        wire = Wire(self._spec, number)
        self._canaries.check(wire.welcome(), f"the welcome of seat {number}")
        # Whoever was late may answer its old turns with the new ones.
        most = LATE_ANSWERS * min(self._spec.tables, self._spec.decks) + SPARE_CHOICES
        server = _SeatServer(number, self.inbox, wire, token, most, door)
        self._seats.append(server)
        return self._loop.run_until_complete(server.start(address))

    def wait_for_bots(self, poll: Callable[[int], Fault | None] = lambda _: None) -> None:
        """Wait until every bot has said Hello or failed to; failures are put into the inbox.

        The time to start runs from now, when all programs run: that another bot was slow to be
        started costs nobody. Nor does the time in which this process does not listen.

        Args:
            poll: Asked now and then about a seat that has not come: its fault if it never will.

        Raises:
            PlatformStalledError: This process was kept from running for seconds.
        """
        limit_ms = self._spec.time_control.startup_ms
        heard_ns = time.monotonic_ns()
        deadline_ns = heard_ns + limit_ms * 1_000_000
        deaf_ns = 0
        missing = set(range(len(self._seats)))
        while missing:
            is_over = heard_ns > deadline_ns + deaf_ns
            for number in sorted(missing):
                if self._seats[number].arrived:
                    missing.discard(number)
                    continue
                fault = poll(number)
                if fault is None and is_over:
                    detail = f"no Hello within {limit_ms} ms of the start"
                    fault = Fault(FaultKind.NO_CONNECT, number, detail)
                if fault is not None:
                    self._seats[number].taken = True
                    self.inbox.put(Arrival(number, time.monotonic_ns(), fault))
                    missing.discard(number)
            polled_ns, stalled_ns = time.monotonic_ns(), self.inbox.stalled_ns
            deaf_ns += polled_ns - heard_ns
            self.inbox.let_run(POLL_SECONDS)
            heard_ns = time.monotonic_ns()
            self.inbox.note_stall(heard_ns - polled_ns)
            deaf_ns += self.inbox.stalled_ns - stalled_ns


async def _end_tasks() -> None:
    """Let what gRPC has yet to hear of its streams come in.

    A task that waits when its loop is closed keeps its server, with memory and descriptors, for as
    long as this process lives.
    """
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    if tasks:
        _, pending = await asyncio.wait(tasks, timeout=END_SECONDS)
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)


def _note(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Keep off the terminal what gRPC says of streams that broke off: it quotes the bot."""
    LOG.debug("%r", context)


class RemotePlayer:
    """The bot behind a seat's socket."""

    __slots__ = ("_canaries", "_loop", "_server", "_where")

    def __init__(
        self, server: _SeatServer, loop: asyncio.AbstractEventLoop, canaries: Canaries
    ) -> None:
        """Speak through a seat's server, which lives in the loop."""
        self._server = server
        self._loop = loop
        self._canaries = canaries
        self._where = f"what seat {server.seat} was to be sent"

    @property
    def traffic(self) -> Traffic:
        """What was sent and received so far."""
        server = self._server
        return Traffic(
            server.sent_bytes,
            server.sent_messages,
            server.received_bytes,
            server.received_messages,
            server.sending_ns // 1_000,
            server.last_sent,
            server.hello,
            server.last_received,
        )

    def prepare(self, message: Message) -> Callable[[], None]:
        """Make the message into bytes, and return what hands them to the stream.

        Raises:
            LeakError: The bytes hold what no bot may be sent.
        """
        parts = self._server.wire.packed(message)
        for part in parts:
            self._canaries.check(part, self._where)
        if isinstance(message, Goodbye):
            return partial(self._say_goodbye, parts)
        return partial(self._server.send, parts)

    def _say_goodbye(self, parts: Sequence[bytes]) -> None:
        self._server.send(parts)
        self._server.outgoing.put_nowait(None)
        self._loop.run_until_complete(self._server.finish())


class _LoopInbox(Inbox):
    """An inbox that lets the servers' event loop run while it waits."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._loop = loop
        self._is_waiting = False
        self._resumed_ns = self._left_ns = time.monotonic_ns()
        self._usual_ns: dict[tuple[int, int], float] = {}

    def even_out(self, kind: tuple[int, int]) -> None:
        """Wait until the work since the last wait has taken as long as it usually does.

        It takes some microseconds longer if a seat holds a combination, which has to be written
        to that seat; the others could tell from when they are asked.
        """
        took = time.monotonic_ns() - self._resumed_ns
        usual = self._usual_ns.setdefault(kind, took)
        self._usual_ns[kind] = usual * (LENGTHENED if took > usual else SHORTENED)
        until = self._resumed_ns + min(usual, LONGEST_STRETCH_NS)
        while time.monotonic_ns() < until:
            pass
        self._left_ns = time.monotonic_ns()

    def receive(self, until_ns: int) -> Arrival | None:
        """Return the next arrival, or None if there is none by that time.

        Between two waits of a round almost nothing is done, so a long time between them is a
        stall too.

        Raises:
            PlatformStalledError: This process was kept from running for seconds.
        """
        self.note_stall(time.monotonic_ns() - self._left_ns)
        arrival = super().receive(until_ns)
        self._left_ns = time.monotonic_ns()
        return arrival

    def put(self, arrival: Arrival) -> None:
        super().put(arrival)
        if self._is_waiting:
            self._loop.stop()

    def let_run(self, seconds: float) -> None:
        """Let the loop run until something arrives, or for that time."""
        timer = self._loop.call_later(seconds, self._loop.stop)
        self._is_waiting = True
        try:
            self._loop.run_forever()
        finally:
            self._is_waiting = False
            timer.cancel()
            self._left_ns = time.monotonic_ns()

    def _next(self, seconds: float | None) -> Arrival | None:
        if seconds is not None and not self.waiting():
            self.let_run(seconds)
        self._resumed_ns = time.monotonic_ns()
        return super()._next(None)


class _Handlers(grpc.GenericRpcHandler):
    """Routes the one method to a seat, as raw bytes: what cannot be read is judged here."""

    def __init__(self, play: Callable[[object, _Context], Awaitable[None]]) -> None:
        self._handler: Any = grpc.stream_stream_rpc_method_handler(play)

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        return self._handler if handler_call_details.method == _METHOD else None


class _SeatServer:
    """A seat's socket, and the one stream that comes through it."""

    def __init__(  # noqa: PLR0917 - a seat and what belongs to it
        self,
        seat: int,
        inbox: Inbox,
        wire: Wire,
        token: str,
        most_choices: int,
        door: Path | None,
    ) -> None:
        self.seat = seat
        self.wire = wire
        self.taken = False
        self.arrived = False
        self.outgoing: asyncio.Queue[tuple[int, Sequence[bytes]] | None] = asyncio.Queue()
        self.sent_bytes = self.sent_messages = 0
        self.received_bytes = self.received_messages = 0
        self.sending_ns = self._handing_ns = 0
        self.last_sent = self.hello = self.last_received = b""
        self._inbox = inbox
        self._token = token
        self._most_choices = most_choices
        self._door = door
        self._strangers = 0
        self._ended = False
        self._finished = asyncio.Event()
        self._server: grpc.aio.Server | None = None

    async def start(self, address: str) -> int:
        self._server = grpc.aio.server(options=_OPTIONS)
        self._server.add_generic_rpc_handlers((_Handlers(self._play),))
        port = self._server.add_insecure_port(address)
        await self._server.start()
        return port

    async def stop(self) -> None:
        self._ended = True
        if self._server is not None:
            await self._server.stop(None)

    def send(self, parts: Sequence[bytes]) -> None:
        """Have a message written as soon as the loop runs."""
        self.outgoing.put_nowait((time.monotonic_ns(), parts))

    async def finish(self) -> None:
        """Let the stream come to its end, if there is one and its bot reads."""
        self._ended = True
        if self.arrived:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._finished.wait(), GOODBYE_SECONDS)

    async def _play(self, _: object, context: _Context) -> None:
        """Take the first stream that says Hello through the leg, and refuse all others."""
        raw = await self._first_message(context)
        if raw is None or self.taken or not self._has_token(raw):
            await self._refuse(context)
            return
        self.taken = self.arrived = True
        self.hello = self.last_received = raw
        self._shut()
        try:
            wrong = _wrong_hello(raw)
            if wrong is None:
                await self._serve(context)
            else:
                await self._turn_away(context, wrong)
        finally:
            self._finished.set()

    def _shut(self) -> None:
        """Let nobody else connect: a thousand connections a second take the others' time."""
        if self._door is not None:
            self._door.unlink(missing_ok=True)

    async def _first_message(self, context: _Context) -> bytes | None:
        if self.taken or self._strangers == STREAMS:
            return None
        self._strangers += 1
        try:
            return await _read_from(context)
        finally:
            self._strangers -= 1

    async def _serve(self, context: _Context) -> None:
        reader = asyncio.create_task(self._read(context))
        try:
            await self._write(context, self.wire.welcome())
            while (message := await self.outgoing.get()) is not None:
                ready_ns, parts = message
                # What a write takes from here on cannot be told from what the bot takes.
                self._handing_ns = time.monotonic_ns() - ready_ns
                for part in parts:
                    await self._write(context, part)
        finally:
            reader.cancel()
            self._fault(FaultKind.DISCONNECTED, BROKEN_OFF)
            await asyncio.gather(reader, return_exceptions=True)

    async def _read(self, context: _Context) -> None:
        while True:
            raw = await _read_from(context)
            received_ns = self._inbox.clock.now_ns()
            if raw is None:
                # One that was broken off is cancelled before this is over.
                for _ in range(CANCEL_TURNS):
                    await asyncio.sleep(POLL_SECONDS)
                self._fault(FaultKind.DISCONNECTED, "the bot ended its stream before Goodbye")
                return
            self.received_bytes += len(raw)
            self.received_messages += 1
            self.last_received = raw
            # What nobody answers is in no answer's time, so it is not counted here either.
            self.sending_ns += self._handing_ns
            self._handing_ns = 0
            choices = _choices(raw, self._most_choices)
            if isinstance(choices, str):
                self._fault(FaultKind.PROTOCOL, choices, raw)
                return
            self._inbox.put(Arrival(self.seat, received_ns, choices, raw))
            # A bot that floods is not read until the match has judged what it sent.
            while self._inbox.waiting() > UNREAD_ARRIVALS:  # noqa: ASYNC110 - nobody can tell
                await asyncio.sleep(POLL_SECONDS)

    async def _write(self, context: _Context, part: bytes) -> None:
        self.sent_bytes += len(part)
        self.sent_messages += 1
        self.last_sent = part
        await context.write(part)

    async def _turn_away(self, context: _Context, wrong: str) -> None:
        self._fault(FaultKind.PROTOCOL, wrong, self.hello)
        reason = GoodbyeReason.FAULT
        if wrong.startswith("protocol"):
            reason = GoodbyeReason.UNKNOWN_PROTOCOL
        await self._write(context, goodbye(Goodbye(reason, wrong)))

    async def _refuse(self, context: _Context) -> None:
        text = "the seat is taken, or not yours: open one stream for each start of your program"
        await context.write(goodbye(Goodbye(GoodbyeReason.REFUSED, text)))
        await context.abort(grpc.StatusCode.ALREADY_EXISTS, text)

    def _has_token(self, raw: bytes) -> bool:
        if not self._token:
            return True
        message = _parse(raw)
        said = "" if isinstance(message, str) else message.hello.token
        return hmac.compare_digest(said.encode(), self._token.encode())

    def _fault(self, kind: FaultKind, detail: str, raw: bytes | None = None) -> None:
        if not self._ended:
            self._ended = True
            fault = Fault(kind, self.seat, detail)
            self._inbox.put(Arrival(self.seat, self._inbox.clock.now_ns(), fault, raw))


async def _read_from(context: _Context) -> bytes | None:
    """Return the next message of a stream, None at its end."""
    message: Any = await context.read()
    return None if message is grpc.aio.EOF else message


def _parse(raw: bytes) -> bot_pb2.BotMessage | str:
    """Return a bot's message, or in words what is wrong with it."""
    if len(raw) > MESSAGE_BYTES:
        return f"a message of {len(raw)} bytes: expected at most {MESSAGE_BYTES}"
    data = unpack(raw)
    if isinstance(data, str):
        return data
    try:
        message = bot_pb2.BotMessage.FromString(data)
    except DecodeError:
        return f"a message of {len(raw)} bytes that is no BotMessage"
    if message.WhichOneof("content") is None:
        return "a message with neither Hello nor Choices"
    return message


def _choices(raw: bytes, most: int) -> Choices | str:
    message = _parse(raw)
    if isinstance(message, str):
        return message
    if message.HasField("hello"):
        return "Hello came twice: say it once, at the start of the stream"
    choices = message.choices.choices
    if len(choices) > most:
        return f"a message of {len(choices)} choices: expected at most {most} here"
    return Choices(tuple([Choice(each.turn, each.action) for each in choices]))


def _wrong_hello(raw: bytes) -> str | None:
    """Return what is wrong with a bot's first message, None if nothing is."""
    message = _parse(raw)
    if isinstance(message, str):
        return message
    if not message.HasField("hello"):
        return "the first message is not Hello: say Hello, then wait for turns"
    if message.hello.protocol != PROTOCOL:
        spoken = message.hello.protocol
        return f"protocol {spoken} is not spoken here: expected protocol = {PROTOCOL} in Hello"
    return None
