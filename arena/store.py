"""The arena's database: the only module that opens a session.

Reading transactions never block and are never blocked (WAL). Writing ones begin IMMEDIATE: a
reading transaction that turns into a writing one fails at once, whatever the timeout.
"""

from __future__ import annotations

import fcntl
import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from arena.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sqlalchemy import Connection, Engine

    from arena.home import Home

REVISION = "0007"
"""The newest migration; stated here so that opening an up-to-date database loads no Alembic."""

BUSY_SECONDS = 10.0


class BusyStoreError(StoreError):
    """Another process held the database for too long."""


class NewerStoreError(StoreError):
    """The database was written by a newer version of the program."""


class Store:
    """An open database and the folder it belongs to; one per process, closed at the end."""

    def __init__(self, home: Home, engine: Engine, clock: Callable[[], float]) -> None:
        """Keep an engine that is set up; `open` is how to get one."""
        self.home = home
        self._readers = engine
        self._writers = engine.execution_options(writing=True)
        self._clock = clock

    @classmethod
    def open(
        cls,
        home: Home,
        *,
        busy_seconds: float = BUSY_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> Self:
        """Open the database of a home, made or brought up to date first if need be.

        Raises:
            NewerStoreError: The database needs a newer version of this program.
            StoreError: The database, or its folder, cannot be read or written.
        """
        home.create()
        engine = _engine(home.database, busy_seconds)
        with _one_line_errors(home.database):
            try:
                if _revision(engine) != REVISION:
                    _migrate(engine, home.database)
            except BaseException:
                engine.dispose()
                raise
        return cls(home, engine, clock)

    def close(self) -> None:
        """Give the connections back; the store is of no use afterwards."""
        self._readers.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def now(self) -> int:
        """Milliseconds since 1970 by the clock of the database's machine."""
        return int(self._clock() * 1000)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A reading transaction: one consistent view of everything.

        Raises:
            StoreError: The database cannot be read.
        """
        with _one_line_errors(self.home.database), Session(self._readers) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A writing transaction: all of it is stored when the context ends, or nothing.

        Raises:
            StoreError: The database is busy, full or cannot be written.
        """
        with (
            _one_line_errors(self.home.database),
            Session(self._writers) as session,
            session.begin(),
        ):
            session.connection()
            yield session


def _engine(path: Path, busy_seconds: float) -> Engine:
    engine = create_engine(
        f"sqlite:///{path}",
        # The driver's own transactions begin late and deferred; ours begin in _begin.
        connect_args={"timeout": busy_seconds, "isolation_level": None},
    )
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _set_up(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode not in {"wal", "memory"}:
        raise StoreError(
            f"the database cannot be shared by processes here (journal mode {mode})",
            "keep the arena's folder on a local disk",
        )


def _begin(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _revision(engine: Engine) -> str | None:
    """Return the revision of the database, None for an empty one."""
    with engine.connect() as connection:
        table = connection.exec_driver_sql(
            "SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'"
        ).first()
        if table is None:
            return None
        return connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()


def _migrate(engine: Engine, path: Path) -> None:
    """Bring the database to the newest revision, one process at a time, after a copy of it."""
    from arena import migrations  # noqa: PLC0415 - Alembic is slow to load and seldom needed

    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = _revision(engine)
        if found == REVISION:
            return
        if found is not None:
            if found not in migrations.known_revisions():
                raise NewerStoreError(
                    f"{path} was written by a newer version of the program (revision {found}, "
                    f"this one knows {REVISION})",
                    "install the newer version, or choose another folder with --home",
                )
            _copy(path, path.with_name(f"{path.name}.before-{REVISION}"))
        with engine.execution_options(writing=True).connect() as connection:
            # Tables that others refer to are made anew, which foreign keys would forbid; SQLite
            # ignores the setting inside a transaction.
            _set_foreign_keys(connection, "OFF")
            with connection.begin():
                migrations.upgrade(connection, REVISION)
                _check_foreign_keys(connection, path)
            _set_foreign_keys(connection, "ON")


def _set_foreign_keys(connection: Connection, state: str) -> None:
    driver = connection.connection.driver_connection
    if driver is not None:
        driver.execute(f"PRAGMA foreign_keys = {state}")


def _check_foreign_keys(connection: Connection, path: Path) -> None:
    """Refuse a migration after which a row would refer to one that is not there.

    Raises:
        StoreError: Naming the table; the transaction must not be committed.
    """
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if broken is not None:
        raise StoreError(
            f"{path} cannot be brought up to date: a row of table {broken[0]} refers to none",
            "restore a copy of the database",
        )


def _copy(path: Path, target: Path) -> None:
    """Copy a live database, its log included; the copy appears whole or not at all."""
    draft = target.with_name(f"{target.name}.part")
    draft.unlink(missing_ok=True)
    source, copy = sqlite3.connect(path), sqlite3.connect(draft)
    try:
        source.backup(copy)
    finally:
        copy.close()
        source.close()
    draft.replace(target)


@contextmanager
def _one_line_errors(path: Path) -> Iterator[None]:
    """Say in one line what the database's errors mean to the organiser."""
    try:
        yield
    except DBAPIError as error:
        code = getattr(error.orig, "sqlite_errorname", "")
        raise _explain(code, str(error.orig), path) from error
    except sqlite3.Error as error:
        raise _explain(getattr(error, "sqlite_errorname", ""), str(error), path) from error


def _explain(code: str, text: str, path: Path) -> StoreError:
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return BusyStoreError(
            f"the database {path} is busy: another process is writing to it", "try again later"
        )
    if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return StoreError(
            f"the database {path} cannot be written ({text})",
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
