"""Sends messages that answer nothing, without end."""

from raw import begin

stream = begin()
for _ in stream.asked():
    for _ in range(20_000):
        stream.choose()
