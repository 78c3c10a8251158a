"""HTTP/2 by hand, for bots that break it: frames, the headers of the one call, gRPC's framing."""

import os
import socket
import struct
from collections.abc import Iterator

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 8, 9
ACK, END_HEADERS = 1, 4
CANCEL = 8
INITIAL_WINDOW_SIZE = 4
FIELDS = (
    (":method", "POST"),
    (":scheme", "http"),
    (":path", "/burabot.Referee/Play"),
    (":authority", "localhost"),
    ("te", "trailers"),
    ("content-type", "application/grpc"),
)


def dial() -> socket.socket:
    """Connect to the referee, and say nothing."""
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(os.environ["ARENA_ADDRESS"].removeprefix("unix:"))
    return peer


def frame(kind: int, payload: bytes = b"", *, flags: int = 0, stream: int = 0) -> bytes:
    """Return one frame."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def frames(peer: socket.socket) -> Iterator[tuple[int, int, bytes]]:
    """Yield the frames that come, each as its kind, its flags and what it carries, to the end."""
    with peer.makefile("rb") as stream:
        while len(head := stream.read(9)) == 9:
            yield head[3], head[4], stream.read(int.from_bytes(head[:3], "big"))


def fields(pairs: tuple[tuple[str, str], ...] = FIELDS) -> bytes:
    """Return header fields, none of them compressed."""
    block = b""
    for name, value in pairs:
        block += b"\x00" + _text(name) + _text(value)
    return block


def _text(text: str) -> bytes:
    data, rest = text.encode(), len(text) - 127
    if rest < 0:
        return bytes([len(data)]) + data
    length = b"\x7f"
    while rest > 127:
        length += bytes([rest % 128 + 128])
        rest //= 128
    return length + bytes([rest]) + data


def open_stream(settings: bytes = b"", pairs: tuple[tuple[str, str], ...] = FIELDS) -> bytes:
    """Return what begins a connection and opens stream 1 on it."""
    return (
        PREFACE
        + frame(SETTINGS, settings)
        + frame(SETTINGS, flags=ACK)
        + frame(HEADERS, fields(pairs), flags=END_HEADERS, stream=1)
    )


def cancelled_call(stream: int) -> bytes:
    """Return what opens a stream and cancels it at once."""
    opened = frame(HEADERS, fields(), flags=END_HEADERS, stream=stream)
    return opened + frame(RST_STREAM, struct.pack(">I", CANCEL), stream=stream)


def message(data: bytes) -> bytes:
    """Return a message as gRPC frames it."""
    return b"\x00" + struct.pack(">I", len(data)) + data
