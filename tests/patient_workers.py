"""Workers of runs that tests drive; they may stand still for as long as the tests themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import patient  # noqa: F401 - to import it is enough

from arena.workers import _work

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from arena.home import Home
    from arena.sandbox.slots import Slot
    from arena.workers import Play


def work(
    connection: Connection, lifeline: Connection, home: Home, slot: Slot | None, play: Play
) -> None:
    """Be a worker."""
    _work(connection, lifeline, home, slot, play)
