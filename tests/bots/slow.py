"""Takes half a second for its fourth answer, or as many seconds as its argument says."""

import sys
import time

from raw import begin

stream = begin()
for number, message in stream.asked():
    if number == 3:
        time.sleep(float([*sys.argv[1:], "0.5"][0]))
    stream.answer(message)
