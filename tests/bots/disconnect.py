"""Ends its half of the stream in its fourth move, or drops it whole, and lives on."""

import sys
import time

from raw import begin

stream = begin()
for number, message in stream.asked():
    if number == 3:
        if sys.argv[1] == "half":
            stream.close()
        else:
            stream.call.cancel()
        time.sleep(60)
    stream.answer(message)
