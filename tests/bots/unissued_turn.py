"""Answers a turn that was never sent, then the one that was."""

from raw import begin

stream = begin()
for number, message in stream.asked():
    if number == 3:
        stream.choose((4_000_000_000, 0))
    stream.answer(message)
