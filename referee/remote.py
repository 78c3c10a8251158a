"""The gRPC side of a seat: one server, one Unix socket and one stream for each bot.

What a bot sends is stamped, read and put into the match's Inbox by the thread that gRPC calls with
the bytes, before any other thread of ours has to wake. What it is sent is made into bytes by the
match. The asyncio server of gRPC would need no threads, but its event loop costs a tenth of a
round (benchmarks/wire_overhead.py), so threads it is: a few for each server, all of which end with
it.
"""

from __future__ import annotations

import hmac
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import grpc
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
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from types import TracebackType

    from referee.players import Message
    from referee.results import MatchSpec

__all__ = ["MESSAGE_BYTES", "Reception", "RemotePlayer", "SocketError"]

MESSAGE_BYTES = 64 * 1024
# Beyond this gRPC cuts the stream without telling why; below it the verdict can say so.
CUT_BYTES = 4 * MESSAGE_BYTES
UNREAD_ARRIVALS = 256
PATH_BYTES = 100
# Each stream holds a thread; those that never say Hello must not keep the bot itself out.
STREAMS = 4
POLL_SECONDS = 0.01
_METHOD = "/burabot.Referee/Play"

_OPTIONS = (
    ("grpc.max_receive_message_length", CUT_BYTES),
    ("grpc.max_metadata_size", 4096),
    ("grpc.absolute_max_metadata_size", 8192),
    ("grpc.max_concurrent_streams", STREAMS),
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

    def __init__(self, spec: MatchSpec, leg: int, inbox: Inbox | None = None) -> None:
        """Prepare for a leg; nothing is opened yet."""
        self.inbox = inbox or Inbox()
        self._spec = spec
        self._leg = leg
        self._seats: list[_SeatServer] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for seat in self._seats:
            seat.stop()

    @property
    def players(self) -> tuple[RemotePlayer, ...]:
        """Those who sit here, by seat."""
        return tuple(RemotePlayer(seat) for seat in self._seats)

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
            self._open(f"unix:{path}", token="")
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

    def _open(self, address: str, token: str) -> int:
        number = len(self._seats)
        server = _SeatServer(number, self.inbox, Wire(self._spec, number), token)
        self._seats.append(server)
        return server.start(address)

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
                if fault is not None and self._seats[number].take():
                    self.inbox.put(Arrival(number, time.monotonic_ns(), fault))
                    missing.discard(number)
            if missing:
                self._seats[min(missing)].arrived.wait(POLL_SECONDS)


class RemotePlayer:
    """The bot behind a seat's socket."""

    __slots__ = ("_server",)

    def __init__(self, server: _SeatServer) -> None:
        """Speak through a seat's server."""
        self._server = server

    @property
    def traffic(self) -> Traffic:
        """What was sent and received so far."""
        server = self._server
        return Traffic(
            server.sent_bytes, server.sent_messages, server.received_bytes, server.received_messages
        )

    def prepare(self, message: Message) -> Callable[[], None]:
        """Make the message into bytes, and return what hands them to the stream."""
        parts = self._server.wire.packed(message)
        return partial(self._server.send, parts, last=isinstance(message, Goodbye))


class _Received(NamedTuple):
    """A message of a bot: what it is, or in words what is wrong with it."""

    message: bot_pb2.BotMessage | None
    wrong: str


class _Handlers(grpc.GenericRpcHandler):
    """Routes the one method to a seat."""

    def __init__(self, seat: _SeatServer) -> None:
        self._handler: Any = grpc.stream_stream_rpc_method_handler(
            seat.play, request_deserializer=seat.receive
        )

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        return self._handler if handler_call_details.method == _METHOD else None


class _SeatServer:
    """A seat's socket, and the one stream that comes through it."""

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
        self._playing = False
        self._ended = False
        self._outgoing: SimpleQueue[tuple[Sequence[bytes], bool] | None] = SimpleQueue()
        self._pool = ThreadPoolExecutor(STREAMS, thread_name_prefix=f"seat-{seat}")
        self._reader: threading.Thread | None = None
        self._server = grpc.server(self._pool, options=_OPTIONS, maximum_concurrent_rpcs=STREAMS)
        self._server.add_generic_rpc_handlers((_Handlers(self),))

    def start(self, address: str) -> int:
        port = self._server.add_insecure_port(address)
        self._server.start()
        return port

    def stop(self) -> None:
        self._ended = True
        stopped = self._server.stop(None)
        self._outgoing.put(None)
        stopped.wait()
        self._pool.shutdown()
        if self._reader is not None:
            self._reader.join()

    def send(self, parts: Sequence[bytes], *, last: bool) -> None:
        self._outgoing.put((parts, last))

    def take(self) -> bool:
        """Take the seat; return False if it is taken already."""
        with self._seating:
            free = not self._taken
            self._taken = True
        return free

    # ------------------------------------------------------------------- in the threads of gRPC

    def receive(self, raw: bytes) -> _Received:
        """Read a message in the thread that received it; choices go straight to the match."""
        received_ns = self._inbox.clock.now_ns()
        self.received_bytes += len(raw)
        self.received_messages += 1
        received = _parse(raw)
        if self._playing and received.message is not None and received.message.HasField("choices"):
            choices = tuple(
                Choice(each.turn, each.action) for each in received.message.choices.choices
            )
            self._inbox.put(Arrival(self.seat, received_ns, Choices(choices)))
        return received

    def play(self, requests: Iterator[_Received], context: grpc.ServicerContext) -> Iterator[bytes]:
        """Take the first stream that says Hello through the leg, and refuse all others."""
        first = None if self._taken else next(requests, None)
        if first is None or not self._has_token(first) or not self.take():
            yield from self._refuse(context)
            return
        self.arrived.set()
        wrong = self._wrong_hello(first)
        if wrong is not None:
            yield self._counted(self._turned_away(wrong))
            return
        self._playing = True
        context.add_callback(lambda: self._outgoing.put(None))
        self._reader = threading.Thread(
            target=self._read, args=(requests,), name=f"seat-{self.seat}"
        )
        self._reader.start()
        yield from self._write()

    def _write(self) -> Iterator[bytes]:
        yield self._counted(self.wire.welcome())
        while (outgoing := self._outgoing.get()) is not None:
            parts, last = outgoing
            self._ended |= last
            yield from map(self._counted, parts)
            if last:
                return

    def _read(self, requests: Iterator[_Received]) -> None:
        """Pull the stream, which lets gRPC receive the next message, until its end."""
        try:
            for received in requests:
                if received.message is None:
                    self._fault(FaultKind.PROTOCOL, received.wrong)
                    return
                if received.message.HasField("hello"):
                    self._fault(FaultKind.PROTOCOL, "Hello came twice: say it once, at the start")
                    return
                # A bot that floods is not read until the match has judged what it sent.
                while self._inbox.waiting() > UNREAD_ARRIVALS and not self._ended:
                    time.sleep(POLL_SECONDS)
        except grpc.RpcError:
            pass
        self._fault(FaultKind.DISCONNECTED, "the stream ended before Goodbye")

    def _counted(self, part: bytes) -> bytes:
        self.sent_bytes += len(part)
        self.sent_messages += 1
        return part

    def _refuse(self, context: grpc.ServicerContext) -> Iterator[bytes]:
        text = "the seat is taken, or not yours: open one stream for each start of your program"
        yield goodbye(Goodbye(GoodbyeReason.REFUSED, text))
        context.abort(grpc.StatusCode.ALREADY_EXISTS, text)

    def _turned_away(self, wrong: str) -> bytes:
        self._fault(FaultKind.PROTOCOL, wrong)
        reason = GoodbyeReason.FAULT
        if wrong.startswith("protocol"):
            reason = GoodbyeReason.UNKNOWN_PROTOCOL
        return goodbye(Goodbye(reason, wrong))

    def _has_token(self, first: _Received) -> bool:
        if not self._token:
            return True
        said = first.message.hello.token if first.message is not None else ""
        return hmac.compare_digest(said.encode(), self._token.encode())

    def _wrong_hello(self, first: _Received) -> str | None:
        """Return what is wrong with a bot's first message, None if nothing is."""
        if first.message is None:
            return first.wrong
        if not first.message.HasField("hello"):
            return "the first message is not Hello: say Hello, then wait for turns"
        if first.message.hello.protocol != PROTOCOL:
            spoken = first.message.hello.protocol
            return f"protocol {spoken} is not spoken here: expected protocol = {PROTOCOL} in Hello"
        return None

    def _fault(self, kind: FaultKind, detail: str) -> None:
        with self._seating:
            ended, self._ended = self._ended, True
        if not ended:
            fault = Fault(kind, self.seat, detail)
            self._inbox.put(Arrival(self.seat, self._inbox.clock.now_ns(), fault))


def _parse(raw: bytes) -> _Received:
    """Read a bot's message."""
    if len(raw) > MESSAGE_BYTES:
        return _Received(None, f"a message of {len(raw)} bytes: expected at most {MESSAGE_BYTES}")
    try:
        message = bot_pb2.BotMessage.FromString(raw)
    except DecodeError:
        return _Received(None, f"a message of {len(raw)} bytes that is no BotMessage")
    if message.WhichOneof("content") is None:
        return _Received(None, "a message with neither Hello nor Choices")
    return _Received(message, "")
