"""Dies in its fourth move, in the way its argument names: an exit code, a signal, an exception."""

import os
import signal
import sys

from raw import begin

how = sys.argv[1]
stream = begin()
for number, message in stream.asked():
    if number == 3 and how == "exit":
        os._exit(3)
    if number == 3 and how == "raise":
        raise RuntimeError("a bug in the bot")
    if number == 3:
        os.kill(os.getpid(), signal.Signals[how])
    stream.answer(message)
