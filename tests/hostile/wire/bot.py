"""Speaks no gRPC on the socket, or speaks it to break it, as its argument says; then stays."""

import contextlib
import os
import sys
import time

import http2
from http2 import (
    CONTINUATION,
    DATA,
    FIELDS,
    HEADERS,
    PING,
    PREFACE,
    SETTINGS,
    frame,
)

BEGIN = PREFACE + frame(SETTINGS) + frame(SETTINGS, flags=http2.ACK)
FLOOD = 100_000


def floods(piece: bytes) -> list[bytes]:
    """Return many pieces, in packs of a hundred."""
    return [BEGIN, *[piece * 100] * (FLOOD // 100)]


WORDS = {
    "random": lambda: [os.urandom(1 << 16)],
    "tls": lambda: [bytes.fromhex("1603010200010001fc0303") + os.urandom(500)],
    "preface": lambda: [BEGIN],
    "resets": lambda: [BEGIN, *(http2.cancelled_call(2 * number + 1) for number in range(FLOOD))],
    "pings": lambda: floods(frame(PING, b"12345678")),
    "settings": lambda: floods(frame(SETTINGS)),
    "continuations": lambda: [
        BEGIN + frame(HEADERS, b"", stream=1),
        *[frame(CONTINUATION, http2.fields((("x", "y" * 1000),)), stream=1)] * (FLOOD // 10),
    ],
    "frame": lambda: [BEGIN, frame(DATA, b"x" * ((1 << 24) - 1), stream=1)],
    "headers": lambda: [http2.open_stream(pairs=(*FIELDS, ("x", "y" * 8192)))],
    "te": lambda: [http2.open_stream(pairs=(*FIELDS[:4], ("te", "x"), FIELDS[5]))],
    "path": lambda: [http2.open_stream(pairs=(*FIELDS[:2], (":path", "/x/Y"), *FIELDS[3:]))],
}

for _ in range(3):
    peer = http2.dial()
    with contextlib.suppress(OSError):
        for piece in WORDS[sys.argv[1]]():
            peer.sendall(piece)
    print("sent", flush=True)
time.sleep(60)
