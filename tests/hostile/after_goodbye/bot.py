"""Sends choices after Goodbye."""

from raw import begin

stream = begin()
for message in stream:
    if message.turns:
        stream.answer(message)
    if message.HasField("goodbye"):
        for number in range(1000):
            stream.choose((number, 0))
        stream.close()
