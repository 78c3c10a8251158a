"""Plays properly by HTTP/2 of its own, and after each answer floods the connection it plays on."""

import itertools
import socket
import struct
import sys
import threading
import time
from queue import SimpleQueue

import http2
from http2 import CONTINUATION, DATA, HEADERS, PING, SETTINGS, frame

from burabot import bot_pb2

AT_ONCE = 2_000
FIELD = http2.fields((("x", "y" * 1000),))
streams = itertools.count(3, 2)
writing = threading.Lock()


def endless_headers(stream: int) -> bytes:
    """Return headers of a stream that go on and on."""
    return frame(HEADERS, stream=stream) + frame(CONTINUATION, FIELD, stream=stream) * AT_ONCE


FLOODS = {
    "resets": lambda: b"".join(http2.cancelled_call(next(streams)) for _ in range(AT_ONCE)),
    "pings": lambda: frame(PING, b"12345678") * AT_ONCE,
    "settings": lambda: frame(SETTINGS) * AT_ONCE,
    "continuations": lambda: endless_headers(next(streams)),
}


def send(peer: socket.socket, data: bytes) -> None:
    """Send frames, none of them inside another's."""
    with writing:
        peer.sendall(data)


def speak(peer: socket.socket, message: bot_pb2.BotMessage) -> None:
    """Send a message on the stream."""
    send(peer, frame(DATA, http2.message(message.SerializeToString()), stream=1))


def listen(peer: socket.socket, heard: SimpleQueue[bytes | None]) -> None:
    """Acknowledge pings, and put the messages of the stream where they are awaited."""
    data = b""
    try:
        for kind, flags, payload in http2.frames(peer):
            if kind == PING and not flags & http2.ACK:
                send(peer, frame(PING, payload, flags=http2.ACK))
            if kind == DATA:
                data += payload
            while len(data) >= 5 and len(data) >= 5 + int.from_bytes(data[1:5], "big"):
                end = 5 + int.from_bytes(data[1:5], "big")
                heard.put(data[5:end])
                data = data[end:]
    except OSError:
        pass
    heard.put(None)


peer = http2.dial()
wide = struct.pack(">I", 1 << 30)
peer.sendall(http2.open_stream() + frame(http2.WINDOW_UPDATE, wide))
peer.sendall(frame(http2.WINDOW_UPDATE, wide, stream=1))
speak(peer, bot_pb2.BotMessage(hello=bot_pb2.Hello(name="floods", protocol=1)))
heard: SimpleQueue[bytes | None] = SimpleQueue()
threading.Thread(target=listen, args=(peer, heard), daemon=True).start()
sent, is_over = 0, False
try:
    while not is_over and (data := heard.get()) is not None:
        message = bot_pb2.RefereeMessage.FromString(data)
        is_over = message.HasField("goodbye")
        answer = bot_pb2.BotMessage()
        for turn in message.turns:
            answer.choices.choices.add(turn=turn.id, action=0)
        if message.turns:
            speak(peer, answer)
            send(peer, FLOODS[sys.argv[1]]())
            sent += 1
            # Now, since nobody waits for long after Goodbye.
            print("flooded", sent, "times", flush=True)
except OSError as error:
    print(error.strerror, flush=True)
if not sent:
    print("flooded 0 times", flush=True)
if not is_over:
    time.sleep(60)
