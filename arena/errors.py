"""Errors the organiser sees: one line that says what was wrong, a hint, and an exit code.

A bot's misdeed is never one of these: that is a fault, and data.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FAILED = 1
USAGE = 2
ENVIRONMENT = 3


class ArenaError(Exception):
    """Something the organiser can put right; the command line prints it in one line."""

    def __init__(self, message: str, hint: str = "", exit_code: int = USAGE) -> None:
        """Keep what was wrong, what to do about it (may be empty) and the exit code."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class NotFoundError(ArenaError):
    """A name that is not there."""


class RefusedError(ArenaError):
    """A request that cannot be granted as it stands."""


class MachineError(ArenaError):
    """The machine, not the request, is at fault: engine, disk, database, permissions."""

    def __init__(self, message: str, hint: str = "") -> None:
        """Keep the message and the hint under the exit code of environment failures."""
        super().__init__(message, hint, ENVIRONMENT)


class StoreError(MachineError):
    """The database could not be read or written."""


class ForbiddenError(StoreError):
    """This user may only read the arena."""

    def __init__(self, folder: object) -> None:
        """Keep which arena it is."""
        super().__init__(
            f"this user may not write to the arena in {folder}",
            "ask its owner, or make a copy of the folder and name it with --home",
        )


class BusyStoreError(StoreError):
    """Another process held the database for too long."""


FROM_RECORDS = frozenset({"result", "fault"})
"""Tables whose rows follow from the records of matches."""


class DamagedError(MachineError):
    """A stored row makes no sense."""

    def __init__(self, whose: str, table: str, key: object, what: str) -> None:
        """Keep what the row is of, where it is and what of it cannot be read."""
        super().__init__(
            f"{whose}: row {key} of the table {table} is damaged: {what}",
            "arena rebuild --records --fix restores it from the record of the match"
            if table in FROM_RECORDS
            else "restore a copy of the database",
        )


def with_near(hint: str, name: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown name, headed by the known ones that look like it."""
    by_folded = {other.casefold(): other for other in known}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.6)
    if not near:
        return hint
    meant = " or ".join(repr(by_folded[folded]) for folded in near)
    return f"did you mean {meant}? {hint}"
