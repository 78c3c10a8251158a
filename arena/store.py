"""The arena's database: the only module that opens a session."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from sqlmodel import Session

from arena.databases import find_database
from arena.databases.base import revision_of
from arena.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from arena.databases import Database
    from arena.home import Home

REVISION = "0008"
"""The newest migration; stated here so that opening an up-to-date database loads no Alembic."""

BUSY_SECONDS = 10.0


class NewerStoreError(StoreError):
    """The database was written by a newer version of the program."""


class Store:
    """An open database and the folder it belongs to; one per process, closed at the end."""

    def __init__(self, home: Home, database: Database, clock: Callable[[], float]) -> None:
        """Keep a database that is up to date; `open` is how to get one."""
        self.home = home
        self._database = database
        self._readers = database.readers
        self._clock = clock

    @classmethod
    def open(
        cls,
        home: Home,
        *,
        busy_seconds: float = BUSY_SECONDS,
        clock: Callable[[], float] | None = None,
    ) -> Self:
        """Open the database of a home, made or brought up to date first if need be.

        Args:
            home: The arena.
            busy_seconds: How long to wait for another process that writes.
            clock: Tells the seconds since 1970 in the place of the database's clock.

        Raises:
            NewerStoreError: The database needs a newer version of this program.
            RefusedError: The folder belongs to another database, or the database to another folder.
            StoreError: The database, or its folder, cannot be read or written.
        """
        database = find_database(home, busy_seconds)
        try:
            with _one_line_errors(database):
                database.check(home)
                # A database elsewhere may still refuse; then no folder is left that means nothing.
                if not home.server:
                    home.create()
                _bring_up_to_date(database)
                if home.server:
                    home.create()
                database.admit(home)
        except BaseException:
            database.engine.dispose()
            raise
        return cls(home, database, clock or database.now)

    def close(self) -> None:
        """Give the connections back; the store is of no use afterwards."""
        self._database.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def now(self) -> int:
        """Milliseconds since 1970 by the clock of the database's machine.

        Raises:
            StoreError: The database does not answer.
        """
        with _one_line_errors(self._database):
            return int(self._clock() * 1000)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A reading transaction: one consistent view of everything.

        Raises:
            StoreError: The database cannot be read.
        """
        with _one_line_errors(self._database), Session(self._readers) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A writing transaction: all of it is stored when the context ends, or nothing.

        Raises:
            StoreError: The database is busy, full or cannot be written.
        """
        with (
            _one_line_errors(self._database),
            self._database.turn() as writers,
            Session(writers) as session,
            session.begin(),
        ):
            session.connection()
            yield session


def describe(home: Home) -> str:
    """Say which database an arena has or would have, and of which version; nothing is changed.

    Raises:
        MachineError: It does not answer, or its driver is not installed.
        RefusedError: The folder has a database of another kind, or the URL cannot be read.
    """
    database = find_database(home, BUSY_SECONDS)
    try:
        with _one_line_errors(database):
            return database.about()
    finally:
        database.engine.dispose()


def _bring_up_to_date(database: Database) -> None:
    """Migrate to the newest revision, one process at a time, after a copy where there can be one.

    Raises:
        NewerStoreError: The database needs a newer version of this program.
        StoreError: The migration cannot be done; nothing is changed.
    """
    with database.readers.connect() as connection:
        if revision_of(connection) == REVISION:
            return
    from arena import migrations  # noqa: PLC0415 - Alembic is slow to load and seldom needed

    with database.migrating() as connection:
        found = revision_of(connection)
        if found == REVISION:
            return
        if found is not None:
            if found not in migrations.known_revisions():
                raise NewerStoreError(
                    f"{database.name} was written by a newer version of the program (revision "
                    f"{found}, this one knows {REVISION})",
                    "install the newer version, or choose another folder with --home",
                )
            database.keep_copy(REVISION)
        migrations.upgrade(connection, REVISION)


@contextmanager
def _one_line_errors(database: Database) -> Iterator[None]:
    """Say in one line what the database's errors mean to the organiser."""
    try:
        yield
    except database.errors as error:
        raise database.explain(error) from error
