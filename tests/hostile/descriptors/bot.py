"""Opens descriptors until it gets no more, says how many, gives them back, and plays on."""

import os

from raw import begin

stream = begin()
for number, message in stream.asked():
    if number == 3:
        held = []
        try:
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        except OSError as error:
            print(error.strerror, max(held), flush=True)
        for one in held:
            os.close(one)
    stream.answer(message)
