"""Loses a child to want of memory, and plays on without it."""

import subprocess
import sys

from raw import begin

HOG = "hoard = []\nwhile True: hoard.append(b'x' * (1 << 20))"

stream = begin()
for number, message in stream.asked():
    if number == 3:
        subprocess.run([sys.executable, "-c", HOG], check=False)
    stream.answer(message)
