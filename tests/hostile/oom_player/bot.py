"""Plays in a child that takes memory without end, while its first process lives on."""

import os
import time

if os.fork() == 0:
    from raw import begin

    stream = begin()
    hoard = []
    for number, message in stream.asked():
        while number == 3:
            hoard.append(b"x" * (1 << 20))
        stream.answer(message)
time.sleep(60)
