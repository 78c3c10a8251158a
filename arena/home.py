"""Where an arena keeps its data: one folder with database, records, logs and bots."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from arena.errors import MachineError

HOME_VARIABLE = "ARENA_HOME"
DATABASE_VARIABLE = "ARENA_DATABASE"
DEFAULT_HOME = Path(".arena")


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of an arena and the fixed places in it.

    Attributes:
        path: The folder.
        server: The URL of the PostgreSQL database that is used instead of a file in the folder;
            empty if none is. It may hold a password.
    """

    path: Path
    server: str = field(default="", repr=False)

    @property
    def database(self) -> Path:
        """The SQLite file; it is there only if no other database is used."""
        return self.path / "arena.db"

    @property
    def identity(self) -> Path:
        """What a database elsewhere knows this folder by; it is there only if one is used."""
        return self.path / "arena.id"

    @property
    def is_begun(self) -> bool:
        """Whether there is an arena here, whatever its database is."""
        return self.database.exists() or self.identity.exists()

    @property
    def is_shared(self) -> bool:
        """Whether other machines may use the folder, as its database is elsewhere, named or not."""
        return bool(self.server) or self.identity.exists()

    @property
    def records(self) -> Path:
        """Match records: tournament, match number, attempt, then a file named by its hash."""
        return self.path / "records"

    @property
    def logs(self) -> Path:
        """What bots printed: tournament, match number, attempt, then a file a leg and seat."""
        return self.path / "logs"

    @property
    def bots(self) -> Path:
        """Source trees of bots that run as plain processes, named by digest, never changed."""
        return self.path / "bots"

    @property
    def owners(self) -> Path:
        """One locked file for each driver, worker and submission; it is locked while that runs."""
        return self.path / "owners"

    def create(self) -> None:
        """Make the folders that are missing.

        Raises:
            MachineError: The folder cannot be made or written.
        """
        try:
            for folder in (self.path, self.records, self.logs, self.bots, self.owners):
                folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        except OSError as error:
            raise MachineError(
                f"cannot make the arena's folder {self.path}: {error.strerror}",
                f"choose a writable folder with --home or {HOME_VARIABLE}",
            ) from error


def find_home(given: Path | None = None, server: str | None = None) -> Home:
    """Return where the arena's data is.

    Args:
        given: Its folder; else `ARENA_HOME` names it, else it is `./.arena`.
        server: The URL of its database; else `ARENA_DATABASE` holds it, else it is a file in the
            folder.
    """
    folder = given or Path(os.environ.get(HOME_VARIABLE) or DEFAULT_HOME)
    if server is None:
        server = os.environ.get(DATABASE_VARIABLE, "")
    return Home(folder.absolute(), server)
