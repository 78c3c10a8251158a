"""The databases an arena can be kept in, and which of them a folder has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.databases.base import Database
from arena.databases.sqlite import SqliteDatabase
from arena.errors import RefusedError
from arena.home import DATABASE_VARIABLE

if TYPE_CHECKING:
    from arena.home import Home

__all__ = ["Database", "find_database"]


def find_database(home: Home, busy_seconds: float) -> Database:
    """Return the database of an arena: the one that is named, else the file in its folder.

    Args:
        home: The arena.
        busy_seconds: How long to wait for another process that writes.

    Raises:
        RefusedError: The folder has a database of the other kind.
        MachineError: What PostgreSQL needs is not installed.
    """
    if not home.server:
        if home.identity.exists():
            raise RefusedError(
                f"the arena in {home.path} keeps its data in a PostgreSQL database",
                f"name it with --database or {DATABASE_VARIABLE}",
            )
        return SqliteDatabase(home.database, busy_seconds)
    if home.database.exists():
        raise RefusedError(
            f"the arena in {home.path} keeps its data in {home.database.name}",
            f"leave --database and {DATABASE_VARIABLE} out, or choose another folder with --home",
        )
    # Its driver is slow to load, and not everybody has it.
    from arena.databases.postgresql import PostgresqlDatabase  # noqa: PLC0415

    return PostgresqlDatabase(home.server, busy_seconds)
