"""PostgreSQL for tests: servers of their own in temporary folders, and databases in them."""

from __future__ import annotations

import functools
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine

from arena.migrations import upgrade
from arena.store import REVISION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CAP = 200.0
MIGRATED = "migrated"
OLDEST = 15
"""The first version that takes another language's order of letters for a whole server."""

SETTINGS = (
    *("listen_addresses=", "max_connections=50", "shared_buffers=16MB", "logging_collector=off"),
    *("fsync=off", "full_page_writes=off", "synchronous_commit=off", "autovacuum=off"),
)


def missing_postgresql() -> str:
    """Say why no server can be started here; empty if one can."""
    try:
        import psycopg  # noqa: F401, PLC0415 - it may be missing
    except ImportError as error:
        return f"no driver of PostgreSQL: {error}"
    place = programs()
    if place is None:
        return "no programs of PostgreSQL: neither initdb in /usr/lib/postgresql nor pg_config"
    version = subprocess.check_output([place / "initdb", "--version"], text=True).split()[2]
    if int(version.partition(".")[0]) < OLDEST:
        return f"PostgreSQL {version} in {place}, and these tests need {OLDEST}"
    return "" if shutil.which("setpriv") else "no setpriv, which ends servers with their tests"


@functools.cache
def programs() -> Path | None:
    """Return the folder of the server's programs, of the newest version there is."""
    found = [
        *sorted(
            Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -float(path.parent.name)
        ),
        *_folders("pg_config", "--bindir"),
        *(Path(path).parent for path in [shutil.which("initdb")] if path),
    ]
    return next((path for path in found if (path / "initdb").exists()), None)


def _folders(*command: str) -> Iterator[Path]:
    if shutil.which(command[0]):
        yield Path(subprocess.check_output(command, text=True).strip())


class Cluster:
    """A server that listens at a socket in its folder only, and ends with who started it."""

    def __init__(self) -> None:
        """Make the folder and what the server needs in it."""
        self.folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
        self._data = self.folder / "data"
        self._numbers = itertools.count(1)
        self._server: subprocess.Popen[bytes] | None = None
        if os.geteuid() == 0:
            os.chown(self.folder, _somebody().pw_uid, _somebody().pw_gid)
        # Names are ordered by the customs of a language here: no result may depend on that.
        self._run(
            *("initdb", "-D", str(self._data), "--auth=trust", "--username=arena", "--no-sync"),
            *("--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en-US"),
        )

    def _command(self, *command: str) -> list[str]:
        place = programs()
        assert place is not None
        return ["setpriv", "--pdeathsig", "QUIT", *_user(), str(place / command[0]), *command[1:]]

    def _run(self, *command: str) -> None:
        done = subprocess.run(
            self._command(*command), capture_output=True, text=True, check=False, cwd="/"
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = [word for setting in SETTINGS for word in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                self._command("postgres", "-D", str(self._data), "-k", str(self.folder), *options),
                stdout=log,
                stderr=log,
                cwd="/",
            )
        until = time.monotonic() + CAP
        while not self._answers():
            assert time.monotonic() < until, (self.folder / "log").read_text()
            time.sleep(0.05)

    def _answers(self) -> bool:
        import psycopg  # noqa: PLC0415 - it may be missing where these tests are skipped

        try:
            psycopg.connect(self.url("postgres")).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self) -> None:
        """Stop the server; connections end at once."""
        self._end(signal.SIGINT)

    def restart(self) -> None:
        """Stop the server if it runs, and start it whatever became of that."""
        try:
            self.stop()
        finally:
            self.start()

    def remove(self) -> None:
        """Stop the server, whatever becomes of its data, and remove its folder."""
        self._end(signal.SIGQUIT)
        shutil.rmtree(self.folder)

    def _end(self, how: signal.Signals) -> None:
        if self._server is not None:
            self._server.send_signal(how)
            self._server.wait(CAP)
            self._server = None

    def url(self, name: str, user: str = "arena") -> str:
        """Return the URL of a database."""
        return f"postgresql://{user}@/{name}?host={self.folder}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Carry a statement out by itself, as the server's keeper."""
        import psycopg  # noqa: PLC0415 - the same

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def empty(self) -> str:
        """Make a database in which nothing is; return its URL."""
        return self._make("template0")

    def migrated(self) -> str:
        """Make a database with the newest tables; return its URL."""
        if not self.execute(f"SELECT 1 FROM pg_database WHERE datname = '{MIGRATED}'"):  # noqa: S608 - no input
            self.execute(f"CREATE DATABASE {MIGRATED}")
            engine = create_engine(self.url(MIGRATED).replace("://", "+psycopg://", 1))
            with engine.begin() as connection:
                upgrade(connection, REVISION)
            engine.dispose()
        return self._make(MIGRATED)

    def drop(self, url: str) -> None:
        """Remove a database, whoever is connected to it."""
        self._execute_alone(f"DROP DATABASE {name_of(url)} WITH (FORCE)")

    def _make(self, template: str) -> str:
        name = f"arena_{next(self._numbers)}"
        self._execute_alone(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)

    def _execute_alone(self, statement: str) -> None:
        """Carry out what nobody else may be connected for, however slowly they go.

        The server waits for them, but for seconds only.
        """
        import psycopg  # noqa: PLC0415 - the same

        until = time.monotonic() + CAP
        while True:
            try:
                self.execute(statement)
            except psycopg.errors.ObjectInUse:
                if time.monotonic() > until:
                    raise
            else:
                return


def name_of(url: str) -> str:
    """Return the name of the database in a URL."""
    return url.partition("?")[0].rpartition("/")[2]


def _somebody() -> pwd.struct_passwd:
    """Return a user that is not root, as whom no server runs."""
    known = {user.pw_name: user for user in pwd.getpwall()}
    return next(known[name] for name in ("postgres", "nobody") if name in known)


def _user() -> Sequence[str]:
    if os.geteuid() != 0:
        return ()
    uid, gid = map(str, (_somebody().pw_uid, _somebody().pw_gid))
    return ("--reuid", uid, "--regid", gid, "--clear-groups")
