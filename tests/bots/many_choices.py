"""Answers with as many choices in a message as its argument says, most of them for no turn."""

import sys

from raw import begin

stream = begin()
for _, message in stream.asked():
    turns = [(turn.id, 0) for turn in message.turns]
    stream.choose(*turns, *[(0, 0)] * (int(sys.argv[1]) - len(turns)))
