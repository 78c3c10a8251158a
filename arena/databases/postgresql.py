"""PostgreSQL: a database elsewhere that tells of one folder of an arena.

What reads sees one state of everything (REPEATABLE READ). What writes takes one lock of the whole
database at its beginning and sees what was stored up to then (READ COMMITTED: a snapshot that was
taken while waiting for the lock would be too old).
"""

from __future__ import annotations

import os
import re
import time
import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from sqlalchemy import create_engine, event, func, inspect, select
from sqlalchemy.exc import DBAPIError

from arena.databases.base import Database
from arena.databases.urls import is_port, without_secrets
from arena.errors import (
    USAGE,
    BusyStoreError,
    MachineError,
    RefusedError,
    StoreError,
    with_near,
)
from arena.tables import Folder

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.types.string import StrDumper
except ImportError as missing:
    raise MachineError(
        "the driver of PostgreSQL is not installed here",
        "install it: pip install 'psycopg[binary]'",
    ) from missing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection, Engine

    from arena.home import Home

__all__ = ["PostgresqlDatabase"]

WRITING = 0x42757261
"""The number of the lock that what writes takes; any will do, if it is always the same."""

IDLE_SECONDS = 60
"""How long what writes may be silent before it is given up: its machine may be gone."""

RETURN_SECONDS = 30.0
"""How long to wait for a server that answered before: a restart takes its time."""

_USUAL = {
    "application_name": "arena",
    "connect_timeout": 10,
    # A server that is gone without a word is noticed within a minute.
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 50_000,
}
"""What connections are made with, where the URL says nothing else."""

_FOLDER = Folder.metadata.tables["folder"]
_PAUSE_SECONDS = 0.2
_ENCODING = "UTF8"
_MAKE = f"sudo -u postgres createdb --owner USER --template template0 --encoding {_ENCODING} NAME"

_BUSY = frozenset({"55P03", "40001", "40P01"})
_FORBIDDEN = frozenset({"42501", "25006"})
_FULL = frozenset({"53100", "58030"})
_GONE = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03"})
_NOT_LET_IN = ("authentication failed", "no password supplied", "pg_hba.conf", 'FATAL:  role "')

_FOLDERS = ("/", "@")
"""How the hosts begin that are folders of sockets, or sockets without one."""

_WRONG = re.compile(
    r"invalid (\w+ )+value|invalid port|bad value for|resolve host .*Name or service not known"
)
"""What is said of a parameter or a host that cannot be meant."""


class _TextDumper(StrDumper):
    """Writes texts, of which PostgreSQL's cannot hold the character NUL."""

    def dump(self, obj: str) -> Any:
        """Return a text in the database's encoding."""
        return super().dump(obj.replace("\0", "\N{REPLACEMENT CHARACTER}"))


class PostgresqlDatabase(Database):
    """A database of a server, which may be of another machine."""

    errors = (DBAPIError, psycopg.Error)

    def __init__(self, url: str, busy_seconds: float) -> None:
        """Prepare; nothing is connected yet.

        Raises:
            RefusedError: The URL cannot be read.
        """
        self.name = without_secrets(url)
        self._parameters = _parameters(url)
        self._busy_ms = max(1, int(busy_seconds * 1000))
        self._has_answered = False
        # A connection that a restart of the server ended is found before it is used.
        self.engine = create_engine(
            "postgresql+psycopg://", creator=self._connect, pool_pre_ping=True
        )
        self.readers = self.engine.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
        self._writers = self.engine.execution_options(
            isolation_level="READ COMMITTED", postgresql_readonly=False
        )
        self._at_once = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        event.listen(self._writers, "begin", self._lock)

    def _connect(self) -> psycopg.Connection[Any]:
        """Connect; wait for a server that answered before and is being restarted."""
        until = time.monotonic() + (RETURN_SECONDS if self._has_answered else 0.0)
        while True:
            try:
                connection = psycopg.connect(**self._parameters)
            except psycopg.OperationalError:
                if time.monotonic() >= until:
                    # Whoever tries again, to give matches back, does not wait once more.
                    self._has_answered = False
                    raise
                time.sleep(_PAUSE_SECONDS)
            else:
                self._has_answered = True
                self._check_encoding(connection)
                connection.adapters.register_dumper(str, _TextDumper)
                return connection

    def _check_encoding(self, connection: psycopg.Connection[Any]) -> None:
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != _ENCODING:
            connection.close()
            raise StoreError(
                f"the database {self.name} is of the encoding {encoding}, not {_ENCODING}",
                f"make another one: {_MAKE}",
            )

    def _lock(self, connection: Connection) -> None:
        connection.exec_driver_sql(
            f"SET LOCAL lock_timeout = {self._busy_ms}; "
            f"SET LOCAL idle_in_transaction_session_timeout = {IDLE_SECONDS * 1000}; "
            f"SELECT pg_advisory_xact_lock({WRITING})"
        )

    def now(self) -> float:
        """Ask the server for the time."""
        with self._at_once.connect() as connection:
            query = select(func.extract("epoch", func.clock_timestamp()))
            return float(connection.execute(query).scalar_one())

    def about(self) -> str:
        """Ask the server for its version; tables need not be there."""
        with self._at_once.connect() as connection:
            version = connection.exec_driver_sql("SHOW server_version").scalar_one()
            return f"PostgreSQL {version} at {self.name}"

    @contextmanager
    def turn(self) -> Iterator[Engine]:
        """Begin at once: the server serves those who wait for its lock in the order they came."""
        yield self._writers

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """Hold a writing transaction, of which there is one at a time."""
        with self._writers.begin() as connection:
            yield connection

    def keep_copy(self, revision: str) -> None:
        """Keep none: a migration is one transaction, and copies are for who keeps the server."""

    def check(self, home: Home) -> None:
        """Compare the folder's id, if it has one, with the one in the database, if that has one."""
        # Looked at first: a folder is known to its database before anything is in it.
        is_begun = _is_begun(home)
        with self.readers.connect() as connection:
            known = _known(connection) if inspect(connection).has_table(_FOLDER.name) else None
        if known is not None:
            self._compare(home, known)
        elif is_begun:
            raise self._unknown(home)

    def admit(self, home: Home) -> None:
        """Compare the ids again; a new arena gets one."""
        with self.readers.connect() as connection:
            known = _known(connection)
        if known is None:
            with self._writers.begin() as connection:
                # Another process may have been faster.
                known = _known(connection) or self._name(home, connection)
        self._compare(home, known)
        if not home.identity.exists():
            # Another process may have been faster.
            with suppress(FileNotFoundError):
                _draft(home).replace(home.identity)

    def _name(self, home: Home, connection: Connection) -> str:
        """Keep a new id in the database, and in a draft in a folder that belongs to none yet."""
        if _is_begun(home):
            raise self._unknown(home)
        identity = uuid.uuid4().hex
        with _draft(home).open("w", encoding="ascii") as file:
            file.write(f"{identity}\n")
            file.flush()
            os.fsync(file.fileno())
        connection.execute(_FOLDER.insert(), {"id": identity})
        return identity

    def _compare(self, home: Home, known: str) -> None:
        if known != _id_of(home):
            raise RefusedError(
                f"the database {self.name} tells of another folder than {home.path}: of the one "
                f"whose {home.identity.name} is {known}",
                "name that folder with --home, or its own database with --database",
            )

    def _unknown(self, home: Home) -> RefusedError:
        return RefusedError(
            f"the folder {home.path} is of an arena that the database {self.name} does not know",
            "name its own database with --database, or choose another folder with --home",
        )

    def explain(self, error: Exception) -> StoreError:
        """Tell by the code of the error; one of connecting has no code, only a text."""
        cause = error.orig if isinstance(error, DBAPIError) else error
        code = getattr(cause, "sqlstate", None) or ""
        text = str(cause).strip().partition("\n")[0]
        if code in _BUSY:
            return BusyStoreError(
                f"the database {self.name} is busy: another process is writing to it",
                "try again later",
            )
        if code in _FORBIDDEN:
            return StoreError(
                f"this user may not write to the database {self.name} ({text})",
                "make it the owner of the database, or name another user in the URL",
            )
        if code in _FULL:
            return StoreError(
                f"the disk under the database {self.name} is full or failing ({text})",
                "make room there and run the command again; nothing was half written",
            )
        if not code and _WRONG.search(text):
            # Nothing was asked of a server yet.
            wrong = StoreError(
                f"the URL of the database {self.name} is wrong ({text})", "correct it"
            )
            wrong.exit_code = USAGE
            return wrong
        if code in _GONE or (not code and isinstance(cause, psycopg.OperationalError)):
            return self._explain_absence(text)
        return StoreError(f"the database {self.name} refused a statement ({code} {text})")

    def _explain_absence(self, text: str) -> StoreError:
        """Say why no connection is there, by the words of the server if it speaks English."""
        if 'FATAL:  database "' in text:
            return StoreError(f"there is no database {self.name}", f"make it: {_MAKE}")
        if any(words in text for words in _NOT_LET_IN):
            return StoreError(
                f"the server does not let this user into the database {self.name} ({text})",
                "name another user in the URL, or keep the password in ~/.pgpass",
            )
        return StoreError(
            f"the server of the database {self.name} does not answer, or no longer ({text})",
            "see that it runs, then run the same command again; nothing was half written",
        )


def _parameters(url: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        _check_names(url)
        # What the library says of it can quote a password.
        raise RefusedError(
            "the database's URL cannot be read", "write it like postgresql://USER@HOST/NAME"
        ) from None
    for port in str(found.get("port", "")).split(","):
        if not is_port(port):
            raise RefusedError(
                f"{port!r} in the database's URL is no port", "give one from 1 to 65535"
            )
    for host in str(found.get("host", "")).split(","):
        _check_host(host)
    return {**_USUAL, **found, "client_encoding": "utf8"}


def _check_names(url: str) -> None:
    """Refuse parameters that PostgreSQL does not know.

    Raises:
        RefusedError: There is one; the message names it.
    """
    known = [one.keyword.decode() for one in psycopg.pq.Conninfo.get_defaults()]
    for name, _ in parse_qsl(urlsplit(url).query, keep_blank_values=True):
        if name not in known:
            raise RefusedError(
                f"PostgreSQL knows no parameter {name!r}, which the database's URL has",
                with_near("correct it or leave it out", name, known),
            )


def _check_host(host: str) -> None:
    """Refuse what can be the name of no host.

    Raises:
        RefusedError: The message quotes it.
    """
    try:
        if not host.startswith(_FOLDERS):
            host.encode("idna")
    except UnicodeError:
        raise RefusedError(
            f"{host!r} in the database's URL is no name of a host",
            "write the URL like postgresql://USER@HOST/NAME",
        ) from None


def _known(connection: Connection) -> str | None:
    return connection.execute(select(_FOLDER.c.id)).scalar()


def _is_begun(home: Home) -> bool:
    """Tell whether some database knows the folder, or must: only arenas have files there."""
    places = (home.records, home.logs, home.bots)
    return home.identity.exists() or any(any(place.iterdir()) for place in places if place.is_dir())


def _draft(home: Home) -> Path:
    """Return what holds the folder's id until it is surely in the database."""
    return home.identity.with_name(f"{home.identity.name}.part")


def _id_of(home: Home) -> str | None:
    """Return the folder's id; the draft is that of a process killed after it told the database."""
    # The other way round the moment between could be missed in which one becomes the other.
    draft = _read(_draft(home))
    return _read(home.identity) or draft


def _read(path: Path) -> str | None:
    try:
        return path.read_text("ascii").strip() or None
    except FileNotFoundError:
        return None
