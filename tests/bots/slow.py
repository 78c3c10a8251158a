"""Answers its fourth message too late."""

import time

from raw import begin

stream = begin()
for number, message in stream.asked():
    if number == 3:
        time.sleep(0.5)
    stream.answer(message)
