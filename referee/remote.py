"""The gRPC side of a seat: one server, one Unix socket and one stream for each bot.

All servers of a leg share one event loop in one thread of their own, which does nothing but move
and stamp messages: a thread for each stream would leak with each client that goes silent, and
neither way is faster (benchmarks/wire_overhead.py measures). What a bot sends reaches the match
through its Inbox, what it is sent is made into bytes before the loop sees it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from burabot import bot_pb2
from referee.players import (
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
from referee.wire import PROTOCOL, Wire, goodbye

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence
    from pathlib import Path
    from types import TracebackType

    from referee.players import Message
    from referee.results import MatchSpec

    _Context = grpc.aio.ServicerContext[bytes, bytes]

__all__ = ["MESSAGE_BYTES", "Reception", "RemotePlayer", "SocketError"]

MESSAGE_BYTES = 64 * 1024
# Beyond this gRPC cuts the stream without telling why; below it the verdict can say so.
CUT_BYTES = 4 * MESSAGE_BYTES
UNREAD_ARRIVALS = 256
PATH_BYTES = 100
STREAMS_WITHOUT_HELLO = 4
POLL_SECONDS = 0.01
STOP_SECONDS = 5.0
_METHOD = "/burabot.Referee/Play"

_OPTIONS = (
    ("grpc.max_receive_message_length", CUT_BYTES),
    ("grpc.max_metadata_size", 4096),
    ("grpc.absolute_max_metadata_size", 8192),
    ("grpc.max_concurrent_streams", STREAMS_WITHOUT_HELLO),
    ("grpc.server_handshake_timeout_ms", 3000),
    ("grpc.max_connection_idle_ms", 5000),
    ("grpc.http2.min_ping_interval_without_data_ms", 1000),
    ("grpc.http2.max_ping_strikes", 2),
    ("grpc.so_reuseport", 0),
)


class SocketError(PlatformError):
    """The referee cannot listen where it should."""


class Reception:
    """Where the bots of one leg come in; leaving the context closes every socket and the thread."""

    def __init__(self, spec: MatchSpec, leg: int, inbox: Inbox | None = None) -> None:
        """Prepare for a leg; nothing is opened yet."""
        self.inbox = inbox or Inbox()
        self._spec = spec
        self._leg = leg
        self._seats: list[_SeatServer] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="reception")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            for seat in self._seats:
                self._run(seat.stop())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    @property
    def players(self) -> tuple[RemotePlayer, ...]:
        """Those who sit here, by seat."""
        return tuple(RemotePlayer(seat, self._loop) for seat in self._seats)

    def listen(self, path: Path, token: str = "") -> None:
        """Open the socket of the next seat.

        Args:
            path: Of the socket; its folder exists.
            token: What a bot must say in Hello to be let in; empty where the socket is proof.

        Raises:
            SocketError: The path is too long, or cannot be listened on.
        """
        if len(str(path).encode()) > PATH_BYTES:
            raise SocketError(f"socket path over {PATH_BYTES} bytes: {path}; take a shorter folder")
        wire = Wire(self._spec, len(self._seats))
        server = _SeatServer(len(self._seats), self.inbox, wire, token)
        try:
            self._run(server.start(f"unix:{path}"))
            path.chmod(0o666)
        except (OSError, RuntimeError) as error:
            raise SocketError(f"cannot listen on {path}: {error}") from error
        self._seats.append(server)

    def wait_for_bots(
        self,
        started_ns: Sequence[int] | None = None,
        poll: Callable[[int], Fault | None] = lambda _: None,
    ) -> None:
        """Wait until every bot has said Hello or failed to; failures are put into the inbox.

        Args:
            started_ns: Monotonic time each seat's program began, in nanoseconds; now if left out.
            poll: Asked now and then about a seat that has not come: its fault if it never will.
        """
        now = time.monotonic_ns()
        limit_ms = self._spec.time_control.startup_ms
        starts = started_ns or [now] * len(self._seats)
        missing = set(range(len(self._seats)))
        while missing:
            for number in sorted(missing):
                if self._seats[number].arrived.is_set():
                    missing.discard(number)
                    continue
                fault = poll(number)
                if fault is None and time.monotonic_ns() > starts[number] + limit_ms * 1_000_000:
                    detail = f"no Hello within {limit_ms} ms of the start"
                    fault = Fault(FaultKind.NO_CONNECT, number, detail)
                # The Hello may have come while the program's end was noticed.
                if fault is not None and self._seats[number].refuse_late_comers():
                    self.inbox.put(Arrival(number, time.monotonic_ns(), fault))
                    missing.discard(number)
            if missing:
                self._seats[min(missing)].arrived.wait(POLL_SECONDS)

    def _run(self, coroutine: Coroutine[None, None, None]) -> None:
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        future.result(timeout=2 * STOP_SECONDS)


class RemotePlayer:
    """The bot behind a seat's socket."""

    __slots__ = ("_loop", "_server")

    def __init__(self, server: _SeatServer, loop: asyncio.AbstractEventLoop) -> None:
        """Speak through a seat's server, which lives in the loop."""
        self._server = server
        self._loop = loop

    @property
    def traffic(self) -> Traffic:
        """What was sent and received so far."""
        server = self._server
        return Traffic(
            server.sent_bytes, server.sent_messages, server.received_bytes, server.received_messages
        )

    def prepare(self, message: Message) -> Callable[[], None]:
        """Make the message into bytes, and return what hands them to the loop."""
        parts = self._server.wire.packed(message)
        return partial(self._send, parts, last=isinstance(message, Goodbye))

    def _send(self, parts: Sequence[bytes], *, last: bool) -> None:
        self._loop.call_soon_threadsafe(self._server.send, parts, last)


class _SeatServer:
    """A seat's socket; everything but the first lines of `refuse_late_comers` runs in the loop."""

    def __init__(self, seat: int, inbox: Inbox, wire: Wire, token: str) -> None:
        self.seat = seat
        self.wire = wire
        self.arrived = threading.Event()
        self.sent_bytes = self.sent_messages = 0
        self.received_bytes = self.received_messages = 0
        self._inbox = inbox
        self._token = token
        self._seating = threading.Lock()
        self._taken = False
        self._ended = False
        self._strangers = 0
        self._outgoing: asyncio.Queue[tuple[Sequence[bytes], bool]] = asyncio.Queue()
        self._server: grpc.aio.Server | None = None

    async def start(self, address: str) -> None:
        self._server = grpc.aio.server(options=_OPTIONS)
        self._server.add_generic_rpc_handlers((_Handlers(self._play),))
        if not self._server.add_insecure_port(address):
            raise OSError("the address cannot be bound")
        await self._server.start()

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop(None)

    def send(self, parts: Sequence[bytes], last: bool) -> None:  # noqa: FBT001 - a loop callback
        self._outgoing.put_nowait((parts, last))

    def refuse_late_comers(self) -> bool:
        """Take the seat for nobody; return False if a bot has it already."""
        with self._seating:
            free = not self._taken
            self._taken = True
        return free

    # ---------------------------------------------------------------------------- in the loop

    async def _play(self, _: object, context: _Context) -> None:
        if self._taken or self._strangers >= STREAMS_WITHOUT_HELLO:
            await self._refuse(context)
        self._strangers += 1
        try:
            raw = await _read_from(context)
        finally:
            self._strangers -= 1
        if raw is None:
            return
        wrong = self._wrong_hello(raw)
        if not self.refuse_late_comers():
            await self._refuse(context)
        self.arrived.set()
        if wrong is None:
            await self._serve(context)
        else:
            self._fault(FaultKind.PROTOCOL, wrong)
            reason = GoodbyeReason.UNKNOWN_PROTOCOL if "protocol" in wrong else GoodbyeReason.FAULT
            await self._write(context, (goodbye(Goodbye(reason, wrong)),))

    async def _serve(self, context: _Context) -> None:
        reader = asyncio.create_task(self._read(context))
        try:
            await self._write(context, (self.wire.welcome(),))
            last = False
            while not last:
                parts, last = await self._outgoing.get()
                self._ended |= last
                await self._write(context, parts)
        finally:
            reader.cancel()
            self._fault(FaultKind.DISCONNECTED, "the stream ended before Goodbye")

    async def _read(self, context: _Context) -> None:
        while True:
            raw = await _read_from(context)
            received_ns = self._inbox.clock.now_ns()
            if raw is None:
                self._fault(FaultKind.DISCONNECTED, "the bot ended its stream before Goodbye")
                return
            self.received_bytes += len(raw)
            self.received_messages += 1
            choices, wrong = _read_choices(raw)
            if choices is None:
                self._fault(FaultKind.PROTOCOL, wrong)
                return
            self._inbox.put(Arrival(self.seat, received_ns, choices))
            # A bot that floods is not read until the match has judged what it sent.
            while self._inbox.waiting() > UNREAD_ARRIVALS:  # noqa: ASYNC110 - the match has no loop
                await asyncio.sleep(POLL_SECONDS)

    async def _write(self, context: _Context, parts: Sequence[bytes]) -> None:
        for part in parts:
            self.sent_bytes += len(part)
            self.sent_messages += 1
            await context.write(part)

    async def _refuse(self, context: _Context) -> None:
        text = "this seat has its stream: open one stream for each start of your program"
        await context.write(goodbye(Goodbye(GoodbyeReason.REFUSED, text)))
        await context.abort(grpc.StatusCode.ALREADY_EXISTS, text)

    def _wrong_hello(self, raw: bytes) -> str | None:
        """Return what is wrong with a bot's first message, None if nothing is."""
        message, wrong = _parse(raw)
        if message is None:
            return wrong
        if not message.HasField("hello"):
            return "the first message is not Hello: say Hello, then wait for turns"
        if message.hello.protocol != PROTOCOL:
            spoken = message.hello.protocol
            return f"protocol {spoken} is not spoken here: expected protocol = {PROTOCOL} in Hello"
        return None

    def _fault(self, kind: FaultKind, detail: str) -> None:
        if not self._ended:
            self._ended = True
            fault = Fault(kind, self.seat, detail)
            self._inbox.put(Arrival(self.seat, self._inbox.clock.now_ns(), fault))


class _Handlers(grpc.GenericRpcHandler):
    """Routes the one method to a seat, as raw bytes: what cannot be read is judged here."""

    def __init__(self, play: Callable[[object, _Context], Awaitable[None]]) -> None:
        self._handler: Any = grpc.stream_stream_rpc_method_handler(play)

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        return self._handler if handler_call_details.method == _METHOD else None


async def _read_from(context: _Context) -> bytes | None:
    """Return the next message of a stream, None at its end."""
    message: Any = await context.read()
    return None if message is grpc.aio.EOF else message


def _parse(raw: bytes) -> tuple[bot_pb2.BotMessage | None, str]:
    """Return a bot's message, or None and what is wrong with it."""
    if len(raw) > MESSAGE_BYTES:
        return None, f"a message of {len(raw)} bytes: expected at most {MESSAGE_BYTES}"
    try:
        message = bot_pb2.BotMessage.FromString(raw)
    except DecodeError:
        return None, f"a message of {len(raw)} bytes that is no BotMessage"
    if message.WhichOneof("content") is None:
        return None, "a message with neither Hello nor Choices"
    return message, ""


def _read_choices(raw: bytes) -> tuple[Choices | None, str]:
    """Return the choices of a bot's message, or None and what is wrong with it."""
    message, wrong = _parse(raw)
    if message is None:
        return None, wrong
    if message.HasField("hello"):
        return None, "Hello came twice: say it once, at the start of the stream"
    return Choices(tuple(Choice(each.turn, each.action) for each in message.choices.choices)), ""
