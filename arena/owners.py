"""Who owns running matches and drafts: processes, each with a boot id and a lock that dies with it.

A process id can be used again, a lease runs on after its owner's death, but a file lock ends with
the process: so the next run knows at once which matches to take back.

Only the machine that took a lock can be relied upon to see it. Where the database is elsewhere,
more machines may share the folder: then nothing is known here of the others' owners, and their
matches are free when their leases run out.
"""

from __future__ import annotations

import fcntl
import os
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.home import Home

_SUFFIX = ".lock"
_DRAFT = ".draft"
_PART = ".part"


@dataclass(frozen=True, slots=True)
class Owner:
    """One run of a driver or a submission: a new `boot` each time, on the machine `host`."""

    boot: str
    host: str


@contextmanager
def ownership(home: Home) -> Iterator[Owner]:
    """Be an owner while the context lasts, or until the process dies."""
    owner = Owner(uuid.uuid4().hex, host_id())
    # Locked under another name first: a lock file that can be found is a lock that is held.
    path = _lock_of(home, owner.boot)
    with _held(path):
        try:
            yield owner
        finally:
            path.unlink(missing_ok=True)


def _held(path: Path) -> IO[str]:
    """Make a lock file and hold its lock until the file is closed."""
    draft = path.with_suffix(_DRAFT)
    while True:
        lock = draft.open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            draft.replace(path)
        except FileNotFoundError:
            # A run that sweeps took the draft for one that was left.
            lock.close()
        except BaseException:
            lock.close()
            raise
        else:
            return lock


def live_owners(home: Home) -> frozenset[str]:
    """Return the boot ids of drivers that run on this machine; forget the dead ones."""
    dead = {path for path in _locks(home) if not _is_held(path)}
    for path in dead:
        # Whoever may only read removes nothing.
        with suppress(OSError):
            path.unlink(missing_ok=True)
    return frozenset(_boot(path) for path in _locks(home) if path not in dead)


def dead_owners(home: Home) -> frozenset[str]:
    """Return the boot ids of drivers that are dead and not forgotten yet."""
    return frozenset(_boot(path) for path in _locks(home) if not _is_held(path))


def lives(home: Home, boot: str) -> bool:
    """Tell whether a driver runs on this machine."""
    return _is_held(_lock_of(home, boot))


def was_left(home: Home) -> bool:
    """Tell whether all owners of a folder are dead, of whom there was at least one."""
    locks = _locks(home)
    return bool(locks) and not any(map(_is_held, locks))


def _ending(home: Home) -> str:
    """Return how the names of locks end that this machine can judge."""
    return f"@{host_id()}{_SUFFIX}" if home.is_shared else _SUFFIX


def _lock_of(home: Home, boot: str) -> Path:
    return home.owners / f"{boot}{_ending(home)}"


def bot_draft(home: Home, owner: Owner) -> Path:
    """Return the folder in which an owner writes a bot until it is whole."""
    return home.bots / _lock_of(home, owner.boot).with_suffix(_PART).name


def left_drafts(home: Home) -> list[Path]:
    """Return what owners of this machine left half done: locks that none held, and bots."""
    ending = _ending(home).removesuffix(_SUFFIX)
    locks = [path for path in home.owners.glob(f"*{_DRAFT}") if path.stem.endswith(ending)]
    parts = [path for path in home.bots.glob(f"*{_PART}") if path.stem.endswith(ending)]
    # Looked at in this order: who writes a draft has held the lock since before.
    return locks + [path for path in parts if not lives(home, path.stem.partition("@")[0])]


def _boot(path: Path) -> str:
    return path.name.removesuffix(_SUFFIX).partition("@")[0]


def _locks(home: Home) -> list[Path]:
    ending = _ending(home)
    return [path for path in home.owners.glob(f"*{_SUFFIX}") if path.name.endswith(ending)]


def _is_held(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except PermissionError:
        # Of another user, whose lock cannot be asked for: for all that is known it lives.
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def host_id() -> str:
    """Return an id of this machine that outlives reboots; a copy of its disk has the same."""
    try:
        return Path("/etc/machine-id").read_text("ascii").strip() or os.uname().nodename
    except OSError:
        return os.uname().nodename
