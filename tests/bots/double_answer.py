"""Answers its fourth message twice."""

from raw import begin

stream = begin()
for number, message in stream.asked():
    stream.answer(message)
    if number == 3:
        stream.answer(message)
