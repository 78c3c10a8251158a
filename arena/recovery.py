"""What a run does before its first match: takes back what dead runs left behind."""

from __future__ import annotations

import errno
import fcntl
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmodel import col, select

from arena import ledger
from arena.errors import ENVIRONMENT, ForbiddenError, RefusedError
from arena.infos import AttemptState
from arena.owners import dead_owners, host_id, left_drafts, live_owners
from arena.sandbox.owners import remove_tree
from arena.tables import Attempt, Match, Tournament
from arena.workers import GRACE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from arena.home import Home
    from arena.owners import Owner
    from arena.sandbox import Sandbox
    from arena.store import Store

_POLL_SECONDS = 0.05


@contextmanager
def alone(home: Home, *, writes: bool = True) -> Iterator[None]:
    """Keep a second run off this arena: two would slow each other's bots.

    Args:
        home: The arena.
        writes: Whether anything is to be changed; if not, it need not be possible.

    Raises:
        ForbiddenError: This user may not write.
        RefusedError: Another run is on.
    """
    with ExitStack() as stack:
        try:
            lock = stack.enter_context((home.path / "run.lock").open("a" if writes else "r"))
        except FileNotFoundError:
            if writes:
                raise
            # Nobody has run anything yet, and nobody who writes nothing can stop who begins now.
            yield
            return
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
                raise ForbiddenError(home.path) from error
            raise
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RefusedError(
                f"another run is using the arena in {home.path}",
                "wait for it, or run in another folder with --home",
                ENVIRONMENT,
            ) from None
        yield


def recover(store: Store, sandbox: Sandbox, owner: Owner) -> int:
    """Release dead runs' matches, remove their bots, sockets and files; return how many.

    To be called alone, before any worker is started.
    """
    dead = dead_owners(store.home)
    _await_ends(store.home, owner)
    count = ledger.release(store, owner.host, [owner.boot])
    count += sandbox.reap(owner.boot, live_owners(store.home), dead)
    return count + sweep(store)


def _await_ends(home: Home, owner: Owner) -> None:
    """Give workers whose driver died the time to clean up: they still use the cores."""
    until = time.monotonic() + GRACE_SECONDS
    while live_owners(home) - {owner.boot} and time.monotonic() < until:
        time.sleep(_POLL_SECONDS)


@dataclass(frozen=True, slots=True)
class Stale:
    """A file or folder of an arena that nobody needs.

    Attributes:
        path: Where it is.
        kind: What it is: record, log or draft.
        why: Why nobody needs it.
    """

    path: Path
    kind: str
    why: str


def sweep(store: Store) -> int:
    """Remove what `stale` returns, and tell how many that were.

    What cannot be removed stays: it must not keep a run from its matches.
    """
    return sum(_is_removed(each.path) for each in stale(store))


def _is_removed(path: Path) -> bool:
    try:
        remove(path)
    except OSError:
        return False
    return True


def stale(store: Store) -> list[Stale]:
    """Return records that no result names, logs of attempts that left no trace, and drafts.

    To be called alone: a match that is being played has a record that no result names yet.
    """
    home = store.home
    with store.read() as session:
        tournaments = session.exec(select(Tournament.name)).all()
    # Looked for first: another machine stores an attempt before it makes the folder.
    records, logs = (_folders(root, tournaments) for root in (home.records, home.logs))
    attempts = _attempts(store)
    kept = {folder for folder, state, is_elsewhere in attempts if state in _KEPT or is_elsewhere}
    known = {folder for folder, state, _ in attempts if state in _WITH_LOGS}
    return [
        *(
            Stale(path, "record", "no result names it")
            for name, path in records.items()
            if name not in kept
        ),
        *(
            Stale(path, "log", "nothing is known of its attempt")
            for name, path in logs.items()
            if name not in known
        ),
        *(Stale(path, "draft", "whoever wrote it is gone") for path in left_drafts(home)),
    ]


def _folders(root: Path, tournaments: Iterable[str]) -> dict[str, Path]:
    """Return the folders of attempts that are there, by what `attempt_folder` calls them."""
    return {
        folder.relative_to(root).as_posix(): folder
        for tournament in tournaments
        for folder in (root / tournament).glob("*/*")
    }


_KEPT = frozenset({AttemptState.RECORDED})
_WITH_LOGS = frozenset({AttemptState.RECORDED, AttemptState.VOID, AttemptState.LEASED})


def attempt_folder(tournament: str, number: int, attempt: int) -> str:
    """Return where an attempt's files lie below the records' and the logs' folder."""
    return f"{tournament}/{number}/{attempt}"


def _attempts(store: Store) -> list[tuple[str, AttemptState, bool]]:
    """Return the folder of each attempt, its state, and whether another machine may play it."""
    with store.read() as session:
        rows = session.exec(
            select(Tournament.name, Match.number, Attempt)
            .join(Match, col(Match.tournament_id) == Tournament.id)
            .join(Attempt, col(Attempt.match_id) == Match.id)
        ).all()
        return [
            (
                attempt_folder(name, number, attempt.number),
                AttemptState(attempt.state),
                _is_elsewhere(store.home, attempt),
            )
            for name, number, attempt in rows
        ]


def _is_elsewhere(home: Home, attempt: Attempt) -> bool:
    return home.is_shared and attempt.state == AttemptState.LEASED and attempt.host != host_id()


def remove(path: Path) -> None:
    """Remove a file or a folder; harmless when it is gone.

    Raises:
        OSError: Something of it cannot be removed; what can be is.
    """
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)
