"""Workers for runs that tests drive, which may stand still for long as the tests themselves may."""

import patient  # noqa: F401 - to import it is enough

from arena.workers import _work as work

__all__ = ["work"]
