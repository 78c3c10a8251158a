"""What dead runs left on this machine, and how each thing is removed.

Only what the arena made and nobody needs is found here: never is anything pruned, and whatever
belongs to a process that runs is left alone.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlmodel import select

from arena.bots import IMAGE
from arena.errors import ForbiddenError, MachineError, RefusedError
from arena.home import Home
from arena.owners import live_owners, was_left
from arena.reading import may_write, reading
from arena.recovery import alone, remove, stale
from arena.sandbox import SandboxError
from arena.sandbox.owners import dead_socket_folders, is_mine
from arena.tables import BotVersion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from arena.sandbox import Sandbox
    from arena.sandbox.container import ContainerSandbox

__all__ = ["Leftover", "find_leftovers", "take_back", "unused_images"]

# Made by a play, by reading what cannot be written, or by a build of the base image, which says
# nothing of its owner.
PLAY_FOLDERS = "bura-play-*"
READ_FOLDERS = "bura-read-*"
BUILD_FOLDERS = "bura-build-*"
YOUNG_SECONDS = 60
NO_OWNER = "its owner does not run on this machine"
BUILD_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class Leftover:
    """One thing that nobody needs.

    Attributes:
        kind: What it is: container, socket folder, temporary folder, record, log, draft or image.
        name: Which one.
        why: Why nobody needs it.
    """

    kind: str
    name: str
    why: str
    _remove: Callable[[], object]

    def remove(self) -> str:
        """Remove it; return why it cannot be, or an empty string."""
        try:
            self._remove()
        except (MachineError, OSError) as error:
            return " ".join(str(error).split())
        return ""


def find_leftovers(
    home: Home, sandbox: ContainerSandbox | None, *, removes: bool = True
) -> list[Leftover]:
    """Return what dead runs left: containers, folders, and files of attempts that do not count.

    Args:
        home: The arena, which need not exist.
        sandbox: Whose containers to look at; None where no engine answers.
        removes: Whether what is found is to be removed; if not, reading the arena is enough.

    Raises:
        EngineLostError: The engine fails.
        ForbiddenError: Things are to be removed, and this user may not write to the arena.
        StoreError: The database cannot be read.
    """
    if removes and home.is_begun and not may_write(home):
        raise ForbiddenError(home.path)
    live = live_owners(home) if home.owners.is_dir() else frozenset[str]()
    found = []
    if sandbox is not None:
        found += [
            Leftover("container", name, NO_OWNER, partial(sandbox.engine.remove, name))
            for name in sandbox.leftovers(live)
        ]
    found += [
        Leftover("socket folder", str(folder.root), NO_OWNER, folder.remove_wholly)
        for folder in dead_socket_folders(live)
    ]
    found += [
        Leftover("temporary folder", str(path), why, partial(remove, path))
        for path, why in _temporary_folders(Path(tempfile.gettempdir()))
    ]
    return found + _files(home, removes=removes)


def take_back(sandbox: Sandbox) -> int:
    """Remove what commands left that were killed, before another one starts bots.

    Returns:
        How many things that were: containers, socket folders and temporary folders.
    """
    count = 0
    # A failure to look back is none of what is to be done now.
    with suppress(SandboxError):
        count += sandbox.reap()
    for path, _ in _owned_folders(Path(tempfile.gettempdir())):
        with suppress(OSError):
            remove(path)
            count += 1
    return count


def unused_images(home: Home, sandbox: ContainerSandbox, hours: float) -> list[Leftover]:
    """Return images of bots that no arena has taken in and that were not used for so long.

    Args:
        home: The arena, which need not exist; whatever bots it has are needed.
        sandbox: Whose images to look at.
        hours: How long an image must not have been used.

    Raises:
        EngineLostError: The engine fails.
        StoreError: The database cannot be read.
    """
    from arena.sandbox import images  # noqa: PLC0415 - waits for the engine's client

    before = (datetime.now(UTC) - timedelta(hours=hours)).isoformat()
    return [
        Leftover(
            "image",
            image.names[0],
            f"no arena has it, not used since {image.used[:16]}",
            # An image goes with its last name, and with that what it shares with none.
            partial(_remove_names, sandbox, image.names),
        )
        for image in images.unused(_known_images(home), engine=sandbox.engine)
        if image.used and image.used < before
    ]


def _remove_names(sandbox: ContainerSandbox, names: Iterable[str]) -> None:
    for name in names:
        sandbox.engine.remove_image(name)


def _known_images(home: Home) -> frozenset[str]:
    if not home.is_begun:
        return frozenset()
    with reading(home) as store, store.read() as session:
        wanted = select(BotVersion.digest).where(BotVersion.kind == IMAGE)
        return frozenset(session.exec(wanted))


def _temporary_folders(place: Path) -> Iterator[tuple[Path, str]]:
    yield from _owned_folders(place)
    for path in sorted(place.glob(BUILD_FOLDERS)):
        if is_mine(path) and _age(path) > BUILD_SECONDS:
            yield path, "no build takes so long"


def _owned_folders(place: Path) -> Iterator[tuple[Path, str]]:
    """Give the folders of plays that are over, and the copies of databases that nobody reads."""
    for kind, why in (
        (PLAY_FOLDERS, "the play that made it is over"),
        (READ_FOLDERS, "the command that read this copy is over"),
    ):
        for path in sorted(place.glob(kind)):
            if is_mine(path) and _is_over(path):
                yield path, why


def _is_over(path: Path) -> bool:
    """Tell whether nobody uses a folder of this user's any more; False if it cannot be read."""
    home = Home(path)
    try:
        # Whoever has just begun has made its folder, but has not said yet that it lives.
        return was_left(home) or (_age(path) > YOUNG_SECONDS and not live_owners(home))
    except OSError:
        return False


def _age(path: Path) -> float:
    """Return the age in seconds, below zero after the clock was set back; zero for what is gone."""
    try:
        return time.time() - path.lstat().st_mtime
    except OSError:
        return 0.0


def _files(home: Home, *, removes: bool) -> list[Leftover]:
    if not home.is_begun:
        return []
    with ExitStack() as stack:
        try:
            stack.enter_context(alone(home, writes=removes))
        except RefusedError:
            # The run that is on cleaned up when it began.
            return []
        with reading(home) as store:
            return [
                Leftover(one.kind, str(one.path), one.why, partial(remove, one.path))
                for one in stale(store)
            ]
