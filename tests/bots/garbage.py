"""Sends bytes that are no message, as its argument says: random, empty, wrong."""

import sys

from raw import begin

WORDS = {
    # A length that runs past the end of the message.
    "random": b"\x12\xff\xff\x03nonsense",
    "empty": b"",
    # Field 9 does not exist, so that neither Hello nor Choices is there.
    "unknown": b"\x4a\x04abcd",
    # Groups nested deeper than anybody may.
    "nested": b"\x0b" * 10_000,
}

stream = begin()
for number, message in stream.asked():
    if number == 3:
        stream.send(WORDS[sys.argv[1]])
    else:
        stream.answer(message)
