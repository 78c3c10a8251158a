"""Plays on while five children hold as many silent connections to the referee as they can get."""

import subprocess
import sys

from raw import begin

HOLD = """import http2, time
held = []
try:
    while True:
        held.append(http2.dial())
except OSError as error:
    print(len(held), "connections", flush=True)
time.sleep(60)
"""

stream = begin()
for number, message in stream.asked():
    if number == 3:
        children = [
            subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True)
            for _ in range(5)
        ]
        for child in children:
            print(child.stdout.readline(), end="", flush=True)
    stream.answer(message)
