"""Takes memory without end in its fourth move."""

from raw import begin

stream = begin()
hoard = []
for number, message in stream.asked():
    while number == 3:
        hoard.append(b"x" * (1 << 20))
    stream.answer(message)
