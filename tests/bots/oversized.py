"""Sends a message with as many bytes as its argument says."""

import sys

from raw import begin

stream = begin()
for number, message in stream.asked():
    if number == 3:
        stream.send(b"\x4a" + b"x" * (int(sys.argv[1]) - 1))
    else:
        stream.answer(message)
