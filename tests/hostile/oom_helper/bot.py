"""Asks a child for its moves; the child is killed for want of memory, and is waited for in vain."""

import subprocess
import sys
import time

from raw import begin

HOG = "hoard = []\nwhile True: hoard.append(b'x' * (1 << 20))"

stream = begin()
for number, message in stream.asked():
    if number == 3:
        subprocess.run([sys.executable, "-c", HOG], check=False)
        time.sleep(60)
    stream.answer(message)
