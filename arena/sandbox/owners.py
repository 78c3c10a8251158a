"""Whose leftovers may be removed: owners by boot id, and the processes behind them."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from arena.sandbox.base import SOCKET_NAME, SandboxError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = [
    "ProcessStamp",
    "SocketFolder",
    "dead_socket_folders",
    "is_mine",
    "reap_socket_folders",
    "remove_tree",
    "start_time",
]

PREFIX = "bura-"
DRAFT = f"{PREFIX}draft"
OWNER_FILE = "owner"
MOUNTED = "s"
# A Unix socket's path ends at 107 bytes, and some clients count less.
LONGEST_SOCKET_PATH = 99
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ProcessStamp:
    """Names one process of one boot of one machine, so that a recycled pid is not taken for it.

    Attributes:
        text: Boot id, pid namespace, pid and start time, separated by colons.
    """

    text: str

    @classmethod
    def current(cls) -> ProcessStamp:
        """Return the stamp of this process."""
        pid = os.getpid()
        return cls(f"{_boot_id()}:{_namespace()}:{pid}:{start_time(pid)}")

    def is_alive(self) -> bool:
        """Tell whether the process runs; False too where another namespace hides it."""
        boot, namespace, pid, started = (*self.text.split(":"), "", "", "", "")[:4]
        if (boot, namespace) != (_boot_id(), _namespace()) or not pid.isdecimal():
            return False
        found = start_time(int(pid))
        return bool(found) and found == started

    def has_ended(self) -> bool:
        """Tell whether the process surely is over; False also where it cannot be seen from here."""
        place = self.text.split(":")[:2]
        is_visible = place == [_boot_id(), _namespace()] and UNKNOWN not in place
        return is_visible and not self.is_alive()


def is_live(owner: str, stamp: str, live_owners: Collection[str]) -> bool:
    """Tell whether the owner or the process of something is known to live."""
    return owner in live_owners or ProcessStamp(stamp).is_alive()


def is_left(
    owner: str, stamp: str, live_owners: Collection[str], dead_owners: Collection[str]
) -> bool:
    """Tell whether the owner or the process of something is known to be dead.

    Whoever lives on another machine or in another namespace may use the same engine, and cannot be
    seen from here: of those this is False, and so is `is_live`.
    """
    return owner not in live_owners and (owner in dead_owners or ProcessStamp(stamp).has_ended())


@dataclass(frozen=True, slots=True)
class SocketFolder:
    """A folder for one seat's socket, to be mounted into that seat's container alone.

    The mount's source can be read inside the container, so the path is random; the owner's name
    lies beside the mounted folder, not in it. While it is made and while it is removed the folder
    is a draft, which has the owner in its own name: whenever the process dies, whose it was is
    known.

    Attributes:
        root: The folder to remove at the end.
    """

    root: Path

    @classmethod
    def create(cls, owner: str) -> SocketFolder:
        """Make a new folder for a worker's boot id.

        Raises:
            SandboxError: If no folder for sockets can be written.
        """
        place = _places()[0]
        root = place / f"{PREFIX}{secrets.token_hex(11)}"
        stamp = ProcessStamp.current().text
        draft = _draft(place, owner, stamp)
        try:
            draft.mkdir(mode=0o700)
            (draft / OWNER_FILE).write_text(f"{owner}\n{stamp}\n")
            (draft / OWNER_FILE).chmod(0o600)
            (draft / MOUNTED).mkdir()
            (draft / MOUNTED).chmod(0o711)
            draft.chmod(0o711)
            draft.rename(root)
        except OSError as error:
            shutil.rmtree(draft, ignore_errors=True)
            raise SandboxError(
                f"cannot make a folder for sockets in {place}: {error.strerror}",
                "set XDG_RUNTIME_DIR to a short path that you can write",
            ) from error
        folder = cls(root)
        if len(os.fsencode(folder.socket)) > LONGEST_SOCKET_PATH:
            folder.remove()
            raise SandboxError(
                f"the path {place} is too long for sockets",
                "set XDG_RUNTIME_DIR to a short path that you can write",
            )
        return folder

    @property
    def path(self) -> Path:
        """The folder to mount: what goes into a start request."""
        return self.root / MOUNTED

    @property
    def socket(self) -> Path:
        """Where the referee listens."""
        return self.path / SOCKET_NAME

    def owner(self) -> tuple[str, str] | None:
        """Return the owner and its process stamp, or None if this is no such folder."""
        kind, *words = self.root.name.split(":")
        if kind == DRAFT and len(words) == len(("owner", "stamp", "number")):
            return unquote(words[0]), unquote(words[1])
        try:
            lines = (self.root / OWNER_FILE).read_text().splitlines()
        except OSError:
            return None
        return (lines[0], lines[1]) if len(lines) == len(("owner", "stamp")) else None

    def remove(self) -> None:
        """Remove as much of the folder and the socket in it as can be; harmless when it is gone."""
        with suppress(OSError):
            self.remove_wholly()

    def remove_wholly(self) -> None:
        """Remove the folder and the socket in it; harmless when it is gone.

        Raises:
            OSError: Something of it cannot be removed; what can be is.
        """
        root, owner = self.root, self.owner()
        if owner is not None:
            with suppress(OSError):
                root = root.rename(_draft(root.parent, *owner))
        remove_tree(root)


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that is in it; harmless when it is gone.

    Raises:
        OSError: Something of it cannot be removed; what can be is.
    """
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        # What somebody else removes meanwhile is no failure.
        with suppress(FileNotFoundError):
            shutil.rmtree(folder)


def reap_socket_folders(
    live_owners: Collection[str] = (), dead_owners: Collection[str] = ()
) -> int:
    """Remove the socket folders of owners known to be dead; return how many could be."""
    found = [(folder, folder.owner()) for folder in _socket_folders()]
    count = 0
    for folder, its in found:
        if its and is_left(*its, live_owners, dead_owners):
            with suppress(OSError):
                folder.remove_wholly()
                count += 1
    return count


def dead_socket_folders(live_owners: Collection[str]) -> list[SocketFolder]:
    """Return the socket folders of owners not known to live."""
    found = [(folder, folder.owner()) for folder in _socket_folders()]
    return [folder for folder, its in found if its is not None and not is_live(*its, live_owners)]


def _draft(place: Path, owner: str, stamp: str) -> Path:
    words = (DRAFT, quote(owner, safe=""), quote(stamp, safe=""), secrets.token_hex(8))
    return place / ":".join(words)


def _socket_folders() -> Iterator[SocketFolder]:
    for place in _places():
        for root in sorted(place.glob(f"{PREFIX}*")):
            folder = SocketFolder(root)
            if is_mine(root) and folder.owner() is not None:
                yield folder


def is_mine(path: Path) -> bool:
    """Tell whether this is a folder of this user's; what another run just removed is not."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _places() -> list[Path]:
    """Folders where sockets may lie, best first."""
    candidates = [os.environ.get("XDG_RUNTIME_DIR", ""), "/run", "/tmp"]  # noqa: S108 - the path must be short
    return [Path(one) for one in candidates if one and os.access(one, os.W_OK | os.X_OK)]


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return UNKNOWN


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return UNKNOWN


def start_time(pid: int) -> str:
    """Start time of a process in clock ticks since boot; empty when it is dead or a zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The name in the second field may hold spaces and brackets.
    fields = text.rpartition(")")[2].split()
    return "" if fields[0] in {"Z", "X"} else fields[19]
