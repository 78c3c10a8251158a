"""SQLite: a file in the arena's folder, shared by the processes of one machine.

Reading transactions never block and are never blocked (WAL). Writing ones begin IMMEDIATE: a
reading transaction that turns into a writing one fails at once, whatever the timeout. SQLite lets
in whoever asks in the right moment, so who writes stands in a line before it asks.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event
from sqlalchemy.exc import DBAPIError

from arena.databases import line
from arena.databases.base import Database
from arena.errors import BusyStoreError, ForbiddenError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection, Engine

    from arena.home import Home

__all__ = ["SqliteDatabase"]

_POLL_SECONDS = 0.01
_LEAST_PATIENCE = 1.0
"""Seconds at SQLite's lock for who waited in vain, since others may have at the same moment."""


class SqliteDatabase(Database):
    """A file; it belongs to the folder it lies in."""

    errors = (DBAPIError, sqlite3.Error)

    def __init__(self, path: Path, busy_seconds: float) -> None:
        """Prepare; nothing is opened or made yet."""
        self.name = str(path)
        self._path = path
        self._lock = path.with_name(f"{path.name}.lock")
        self._busy_seconds = busy_seconds
        self.engine = self.readers = create_engine(
            f"sqlite:///{path}",
            # The driver's own transactions begin late and deferred; ours begin in _begin.
            connect_args={"timeout": busy_seconds, "isolation_level": None},
        )
        self._writers = self.engine.execution_options(writing=True)
        event.listen(self.engine, "connect", lambda made, _: set_up(made, busy_seconds))
        event.listen(self.engine, "begin", self._begin)

    def now(self) -> float:
        """Return the time of this machine, which is the file's."""
        return time.time()

    def about(self) -> str:
        """Name the library and the file, which need not be there."""
        return f"SQLite {sqlite3.sqlite_version} in {self.name}"

    @contextmanager
    def turn(self) -> Iterator[Engine]:
        """Stand in the line of those who write; what is left of the patience is for SQLite's lock.

        Others may hold that without having stood in line: older programs, other ones.
        """
        with line.standing(self._lock, self._busy_seconds) as left:
            if left == self._busy_seconds:
                yield self._writers
            else:
                patience = max(left, min(self._busy_seconds, _LEAST_PATIENCE))
                yield self._writers.execution_options(patience=patience)

    def _begin(self, connection: Connection) -> None:
        options = connection.get_execution_options()
        if not options.get("writing", False):
            connection.exec_driver_sql("BEGIN")
        elif "patience" not in options:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            _set_patience(connection, options["patience"])
            try:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            finally:
                _set_patience(connection, self._busy_seconds)

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """Hold a writing transaction that may break references until it ends."""
        with self.turn() as writers, writers.connect() as connection:
            # Tables that others refer to are made anew, which foreign keys would forbid; SQLite
            # ignores the setting inside a transaction.
            _set(connection, "foreign_keys", "OFF")
            with connection.begin():
                yield connection
                self._check_foreign_keys(connection)
            _set(connection, "foreign_keys", "ON")

    def _check_foreign_keys(self, connection: Connection) -> None:
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
        if broken is not None:
            raise StoreError(
                f"{self._path} cannot be brought up to date: a row of table {broken[0]} refers to "
                "none",
                "restore a copy of the database",
            )

    def keep_copy(self, revision: str) -> None:
        """Copy the live database, its log included; the copy appears whole or not at all."""
        target = self._path.with_name(f"{self._path.name}.before-{revision}")
        draft = target.with_name(f"{target.name}.part")
        draft.unlink(missing_ok=True)
        source, copy = sqlite3.connect(self._path), sqlite3.connect(draft)
        try:
            source.backup(copy)
        finally:
            copy.close()
            source.close()
        draft.replace(target)

    def check(self, home: Home) -> None:
        """Find nothing wrong: the file lies in its folder."""

    def admit(self, home: Home) -> None:
        """Take any folder: the file lies in it."""

    def explain(self, error: Exception) -> StoreError:
        """Tell by SQLite's own name of the error."""
        cause = error.orig if isinstance(error, DBAPIError) else error
        return _explain(getattr(cause, "sqlite_errorname", ""), str(cause), self._path)


def set_up(connection: Any, busy_seconds: float) -> None:
    """Make a new connection durable and checked.

    Raises:
        StoreError: Processes cannot share the file where it lies.
    """
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    mode = _write_ahead(connection, busy_seconds)
    if mode not in {"wal", "memory"}:
        raise StoreError(
            f"the database cannot be shared by processes here (journal mode {mode})",
            "keep the arena's folder on a local disk",
        )


def _write_ahead(connection: Any, busy_seconds: float) -> str:
    """Switch to WAL and return the mode that is in force.

    Where another process writes to a new file, SQLite refuses at once, whatever the timeout.
    """
    until = time.monotonic() + busy_seconds
    while True:
        try:
            return str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() >= until:
                raise
            time.sleep(_POLL_SECONDS)


def _set_patience(connection: Connection, seconds: float) -> None:
    _set(connection, "busy_timeout", str(int(seconds * 1000)))


def _set(connection: Connection, name: str, value: str) -> None:
    driver = connection.connection.driver_connection
    if driver is not None:
        driver.execute(f"PRAGMA {name} = {value}")


def _explain(code: str, text: str, path: Path) -> StoreError:
    """Say what an error means, from SQLite's name of it and its text."""
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return BusyStoreError(
            f"the database {path} is busy: another process is writing to it", "try again later"
        )
    if code.startswith(("SQLITE_READONLY", "SQLITE_PERM")):
        return ForbiddenError(path.parent)
    if code.startswith("SQLITE_CANTOPEN"):
        return StoreError(
            f"the database {path} cannot be opened ({text})",
            "check the permissions of the folder, or choose another with --home",
        )
    if code.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return StoreError(
            f"the disk under {path} is full or failing ({text})",
            "make room and run the command again; nothing was half written",
        )
    if code.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return StoreError(
            f"{path} is not a database of an arena ({text})", "move it away, or restore a copy"
        )
    return StoreError(f"the database {path} refused a statement ({code or text})")
