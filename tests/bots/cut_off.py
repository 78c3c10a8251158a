"""Sends a message that gRPC cuts off, and lives on."""

import contextlib
import time

from raw import begin

stream = begin()
with contextlib.suppress(Exception):
    for number, message in stream.asked():
        if number == 3:
            stream.send(b"\x4a" + b"x" * (3 << 20))
        else:
            stream.answer(message)
time.sleep(60)
