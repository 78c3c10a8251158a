"""Says hello again in its fourth move."""

from raw import begin

stream = begin()
for number, message in stream.asked():
    if number == 3:
        stream.hello()
    else:
        stream.answer(message)
