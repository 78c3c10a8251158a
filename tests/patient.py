"""The program `arena` for tests, whose processes may stand still for long; to import it is enough.

A run plays a leg that stood still for seconds again, which no test of something else wants to see.
Workers import the main file of their driver, or the file of the function that they play with, so
that what is set here holds in them too.
"""

import sys

from arena.start import main
from referee.players import Inbox

ARENA = (sys.executable, __file__)
"""What runs it, before its arguments."""

GENEROUS = ("--move-time", "100", "--startup", "100")
"""Times of bots that are there for something else than their speed."""

Inbox.LONGEST_STALL_NS = 60_000_000_000

if __name__ == "__main__":
    sys.exit(main())
