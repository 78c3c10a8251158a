"""A line in which those who write to a file wait: who comes first is served first.

Who waits marks a place in a lock file, the byte whose number is the time, and goes in when all
bytes before it can be marked as well: then nobody is inside, and nobody in line came earlier. Marks
are the kernel's locks. They vanish with the process that made them, and nothing is ever written.

The line makes waiting fair, no more: who cannot stand in it, or waited in vain, asks the file.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO
    from pathlib import Path

__all__ = ["standing"]

_POLL_SECONDS = 0.001
_open: WeakSet[FileIO] = WeakSet()


@contextmanager
def standing(path: Path, seconds: float) -> Iterator[float]:
    """Stand in line until it is this one's turn, and hold the others up until the context ends.

    Args:
        path: The lock file, made if need be.
        seconds: How long to wait at most.

    Yields:
        The seconds that are left of it. None are left if the turn has not come; all are if there
        was nobody to wait for, or the line cannot be used.
    """
    try:
        file = path.open("ab", buffering=0)
    except OSError:
        # What is wrong with the folder the database says better.
        yield seconds
        return
    with file:
        _open.add(file)
        yield _wait(file, seconds)


def _wait(file: FileIO, seconds: float) -> float:
    until = time.monotonic() + seconds
    left = seconds
    try:
        place = _take_place(file, until)
        while not (place and _mark(file, 0, place)) and left > 0:
            time.sleep(_POLL_SECONDS)
            left = max(0.0, until - time.monotonic())
    except OSError:
        # The file system, or the kernel, knows no such locks.
        return seconds
    return left


def _take_place(file: FileIO, until: float) -> int:
    """Mark the byte of this moment; who came later may have gone in, and marked it, just now.

    None is found, and 0 returned, while somebody is inside whose clock is ahead of this one.
    """
    while not _mark(file, place := time.monotonic_ns(), 1):
        if time.monotonic() >= until:
            return 0
        time.sleep(_POLL_SECONDS)
    return place


def _mark(file: FileIO, start: int, length: int) -> bool:
    """Lock bytes for whoever opened the file, a thread or a process, unless others have some."""
    if sys.platform != "linux":
        raise OSError(errno.ENOTSUP, "locks of other systems are laid out differently")
    lock = struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
    try:
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock)
    except BlockingIOError:
        return False
    return True


def _leave() -> None:
    """Close what a child was born with, which would keep the places of a parent that died."""
    for file in tuple(_open):
        file.close()


os.register_at_fork(after_in_child=_leave)
