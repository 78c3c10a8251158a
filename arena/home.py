"""Where an arena keeps its data: one folder with database, records, logs and bots."""

import os
from dataclasses import dataclass
from pathlib import Path

from arena.errors import MachineError

HOME_VARIABLE = "ARENA_HOME"
DEFAULT_HOME = Path(".arena")


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of an arena and the fixed places in it."""

    path: Path

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.path / "arena.db"

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
        """One locked file for each running driver; the lock ends with the process."""
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


def find_home(given: Path | None = None) -> Home:
    """Return the arena's folder: the given one, else `ARENA_HOME`, else `./.arena`."""
    return Home((given or Path(os.environ.get(HOME_VARIABLE) or DEFAULT_HOME)).absolute())
