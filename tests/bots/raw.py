"""A stream to the referee with nothing between a bot and its mistakes."""

from __future__ import annotations

import os
import sys
from queue import SimpleQueue
from typing import TYPE_CHECKING, NoReturn

import grpc

from burabot import bot_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

METHOD = "/burabot.Referee/Play"
UNLIMITED = -1


def connect(compression: grpc.Compression | None = None) -> grpc.Channel:
    """Open a channel to the referee; with a compression all messages go through it."""
    options = [
        ("grpc.default_authority", "localhost"),
        ("grpc.max_send_message_length", UNLIMITED),
    ]
    return grpc.insecure_channel(
        os.environ["ARENA_ADDRESS"], options=options, compression=compression
    )


class Stream:
    """A stream that sends any bytes; iterating it gives the referee's messages."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._outgoing: SimpleQueue[bytes | None] = SimpleQueue()
        self.call = channel.stream_stream(METHOD)(iter(self._outgoing.get, None))

    def send(self, data: bytes) -> None:
        """Send bytes as one message."""
        self._outgoing.put(data)

    def close(self) -> None:
        """End our half of the stream, and let go of it."""
        self._outgoing.put(None)
        # A call that is let go of when the interpreter ends may wait for ever for a thread of gRPC
        # that the interpreter has stopped.
        del self.call

    def hello(self, protocol: int = 1, token: str = "") -> None:
        """Say hello."""
        hello = bot_pb2.Hello(name="raw", protocol=protocol, token=token)
        self.send(bot_pb2.BotMessage(hello=hello).SerializeToString())

    def choose(self, *choices: tuple[int, int]) -> None:
        """Send choices as (turn, action)."""
        message = bot_pb2.BotMessage()
        message.choices.SetInParent()
        for turn, action in choices:
            message.choices.choices.add(turn=turn, action=action)
        self.send(message.SerializeToString())

    def answer(self, message: bot_pb2.RefereeMessage) -> None:
        """Answer all turns of a message properly."""
        self.choose(*[(turn.id, 0) for turn in message.turns])

    def __iter__(self) -> Iterator[bot_pb2.RefereeMessage]:
        for data in self.call:
            yield bot_pb2.RefereeMessage.FromString(data)

    def asked(self) -> Iterator[tuple[int, bot_pb2.RefereeMessage]]:
        """Yield the messages that carry turns, numbered from 0, and stop at Goodbye."""
        number = 0
        for message in self:
            if message.HasField("goodbye"):
                self.close()
                return
            if message.turns:
                yield number, message
                number += 1

    def play(self) -> None:
        """Answer everything until Goodbye."""
        for _, message in self.asked():
            self.answer(message)


def _exit(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> NoReturn:
    """End by an exception as Python does, but without letting go of a call first."""
    sys.__excepthook__(kind, error, trace)
    os._exit(1)


def begin() -> Stream:
    """Connect and say hello, in a program that is a bot and nothing else."""
    sys.excepthook = _exit
    stream = Stream(connect())
    stream.hello()
    return stream
