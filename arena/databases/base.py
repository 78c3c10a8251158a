"""The seam between the store and a database: all in which the databases differ."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from sqlalchemy import inspect

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection, Engine

    from arena.errors import StoreError
    from arena.home import Home

__all__ = ["Database", "revision_of"]


class Database(ABC):
    """A database that an arena is kept in.

    Attributes:
        name: What messages call it; without a password, whatever it was named by.
        engine: Where connections come from.
        readers: The same for transactions that only read: each sees one state of everything and
            neither waits for writers nor makes them wait.
        errors: What it raises.
    """

    name: str
    engine: Engine
    readers: Engine
    errors: tuple[type[Exception], ...]

    @abstractmethod
    def now(self) -> float:
        """Return the seconds since 1970 by the clock of the database's machine."""

    @abstractmethod
    def about(self) -> str:
        """Say in a few words what it is, of which version, and where; nothing is changed."""

    @abstractmethod
    def turn(self) -> AbstractContextManager[Engine]:
        """Wait until all that asked earlier have written, and give where to begin.

        Who asks later waits until the context ends. The wait ends with the patience for others
        that write, and what begins then may find the database busy.
        """

    @abstractmethod
    def migrating(self) -> AbstractContextManager[Connection]:
        """Begin the transaction of a migration, of which there is one at a time.

        Raises:
            StoreError: Rows would be left that refer to none; nothing is changed.
        """

    @abstractmethod
    def keep_copy(self, revision: str) -> None:
        """Keep a copy from before the migration to a revision, where that can be done."""

    @abstractmethod
    def check(self, home: Home) -> None:
        """See that folder and database can belong together; neither is changed.

        Raises:
            RefusedError: The folder belongs to another database, or the database to another folder.
        """

    @abstractmethod
    def admit(self, home: Home) -> None:
        """Take the folder for the one that this database, which has its tables, tells of.

        Raises:
            RefusedError: As `check`; another process may have been faster.
        """

    @abstractmethod
    def explain(self, error: Exception) -> StoreError:
        """Say in one line what one of its errors means to the organiser."""


def revision_of(connection: Connection) -> str | None:
    """Return the revision of the database's tables, None where there are none."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
