"""Sets off a bomb of children beside itself, and plays on as long as it can."""

import subprocess
import sys

from raw import begin

BOMB = """import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""

stream = begin()
for number, message in stream.asked():
    if number == 3:
        subprocess.Popen([sys.executable, "-c", BOMB])
    stream.answer(message)
