"""Reading an arena that this user may not write to.

Whoever reads a database in the mode of the arena's keeps a log beside it, which takes a folder that
can be written. So what cannot be written is copied, log included, and the copy is read.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from arena.errors import ForbiddenError, StoreError
from arena.home import Home
from arena.owners import ownership
from arena.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

LOG = "-wal"
TRIES = 50
PAUSE_SECONDS = 0.1
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True, slots=True)
class _CopiedHome(Home):
    """A home that cannot be written, and a copy of its database in another folder."""

    folder: Path = field(kw_only=True)

    @property
    def database(self) -> Path:
        """The copy."""
        return self.folder / "arena.db"

    def create(self) -> None:
        """Make nothing."""


class ReadingStore(Store):
    """A store that cannot be written."""

    def write(self) -> NoReturn:
        """Refuse.

        Raises:
            ForbiddenError: Always.
        """
        raise ForbiddenError(self.home.path)


def may_write(home: Home) -> bool:
    """Tell whether this user may write to a home, and to its database if that is a file in it."""
    is_effective = os.access in os.supports_effective_ids
    places = [home.path, *([home.database] if home.database.exists() else [])]
    return all(os.access(path, os.W_OK, effective_ids=is_effective) for path in places)


@contextmanager
def reading(home: Home) -> Iterator[Store]:
    """Open the database of a home to read it, also where it cannot be written.

    Where there is none it is an empty one, and nothing is made in the home.

    Raises:
        StoreError: It cannot be read.
    """
    is_file = home.database.exists()
    if (home.is_begun and (home.server or not is_file)) or (is_file and may_write(home)):
        with Store.open(home) as store:
            yield store
        return
    with _scratch() as folder:
        copied = _CopiedHome(home.path, folder=folder)
        if is_file:
            _copy(home.database, copied.database)
        with ReadingStore.open(copied) as store:
            yield store


@contextmanager
def _scratch() -> Iterator[Path]:
    """Make a folder for a copy, which is known as left behind when this process is dead."""
    with ExitStack() as stack:
        try:
            made = tempfile.TemporaryDirectory(prefix="bura-read-")
            scratch = Home(Path(stack.enter_context(made)))
            scratch.owners.mkdir()
            stack.enter_context(ownership(scratch))
        except OSError as error:
            raise _no_room(error) from error
        yield scratch.path


def _no_room(error: OSError) -> StoreError:
    return StoreError(
        f"cannot copy the database to {tempfile.tempdir or 'a temporary folder'}: "
        f"{error.strerror or error}",
        "make room there, or name another folder with TMPDIR",
    )


def _copy(source: Path, target: Path) -> None:
    """Copy a database and its log at a moment in which nobody writes to either.

    Raises:
        StoreError: They are written to all the time, cannot be read, or have no room.
    """
    pairs = [(Path(f"{source}{end}"), Path(f"{target}{end}")) for end in ("", LOG)]
    try:
        for _ in range(TRIES):
            before = _marks(pairs)
            # A file's time ticks slower than it may be written to.
            time.sleep(PAUSE_SECONDS)
            for path, copy in pairs:
                copy.unlink(missing_ok=True)
                try:
                    shutil.copyfile(path, copy)
                except FileNotFoundError:
                    # The marks tell a log that was there from none.
                    if path == source:
                        raise
            if _marks(pairs) == before:
                return
    except OSError as error:
        if error.errno in FULL:
            raise _no_room(error) from error
        raise StoreError(
            f"cannot read the arena in {source.parent}: {error.strerror}", "ask its owner"
        ) from error
    raise StoreError(f"the database {source} is written to all the time", "try again later")


def _marks(pairs: list[tuple[Path, Path]]) -> list[tuple[int, int] | None]:
    """Return size and time of each file; None for one that is not there."""
    found: list[tuple[int, int] | None] = []
    for path, _ in pairs:
        try:
            known = path.stat()
        except FileNotFoundError:
            found.append(None)
        else:
            found.append((known.st_size, known.st_mtime_ns))
    return found
