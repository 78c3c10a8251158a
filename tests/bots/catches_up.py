"""Is late as often as its argument says, then answers all it was asked so far in one message."""

import sys

from raw import begin

stream = begin()
late = int(sys.argv[1])
turns = []
for _, message in stream.asked():
    # Deals that nobody plays out so soon are those that were lost by being late.
    late -= bool(message.deals_over)
    turns += message.turns
    if late <= 0:
        print(len(turns), flush=True)
        stream.choose(*[(turn.id, 0) for turn in turns])
        turns = []
