"""Taking in folders of bots while others take in theirs and runs sweep."""

from __future__ import annotations

import fcntl
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from arena import bots, queries
from arena.errors import RefusedError
from arena.home import Home
from arena.owners import bot_draft, lives, ownership
from arena.recovery import stale, sweep
from arena.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FILES = ("bot.py", "lib/cards.py", "lib/deep/weights.txt")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An arena without bots."""
    with Store.open(Home(tmp_path / "home")) as store:
        yield store


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The folder of a bot with a few files."""
    folder = tmp_path / "alice"
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def after_copying(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Do something once, when the first file of a submission has been copied."""
    copy = shutil.copy2
    left = [act]

    def copy_and_act(source: Path, target: Path) -> object:
        done = copy(source, target)
        if left:
            left.pop()()
        return done

    monkeypatch.setattr(shutil, "copy2", copy_and_act)


def kept(store: Store, label: str) -> set[str]:
    """Return the files of a version that was taken in."""
    folder = queries.bot_version(store, label).folder
    assert folder is not None
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_run_that_sweeps_leaves_a_submission_whole(
    store: Store, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A draft whose writer lives is not taken for one that was left."""
    after_copying(monkeypatch, lambda: sweep(store))
    version = bots.submit(store, "alice", str(source), "process")
    assert kept(store, "alice") == {*FILES}
    assert version.folder is not None
    assert bots.tree_digest(version.folder) == version.digest == bots.tree_digest(source)
    assert stale(store) == []
    assert list(store.home.owners.iterdir()) == []


def test_draft_is_left_once_its_writer_is_gone(store: Store) -> None:
    """It is told as what it is, and goes."""
    with ownership(store.home) as owner:
        draft = bot_draft(store.home, owner)
        draft.mkdir()
        assert stale(store) == []
    (found,) = stale(store)
    assert (found.path, found.kind) == (draft, "draft")
    assert sweep(store) == 1
    assert not draft.exists()


def test_folder_that_loses_files_on_the_way_is_refused(
    store: Store, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever takes files out of a draft, no version is made of what is left."""

    def lose() -> None:
        (draft,) = store.home.bots.glob("*.part")
        shutil.rmtree(draft)

    after_copying(monkeypatch, lose)
    with pytest.raises(RefusedError, match="changed while it was copied"):
        bots.submit(store, "alice", str(source), "process")
    assert queries.bots(store) == ()
    assert list(store.home.bots.iterdir()) == []


def test_folder_that_is_edited_meanwhile_is_refused(
    store: Store, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of one state and half of another is a bot that its author never had."""
    after_copying(monkeypatch, lambda: (source / FILES[0]).write_text("edited"))
    with pytest.raises(RefusedError, match="changed while it was copied"):
        bots.submit(store, "alice", str(source), "process")
    assert list(store.home.bots.iterdir()) == []


def test_same_folder_may_be_submitted_twice_at_once(
    store: Store, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever comes second finds the tree in its place, which is as good."""
    replace = Path.replace
    others = ["bob"]

    def replace_late(self: Path, target: Path) -> Path:
        if self.is_dir() and others:
            bots.submit(store, others.pop(), str(source), "process")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", replace_late)
    late = bots.submit(store, "alice", str(source), "process")
    assert late.digest == queries.bot_version(store, "bob").digest
    assert kept(store, "alice") == {*FILES}
    assert stale(store) == []


def test_owner_whose_lock_is_swept_before_it_holds_makes_another(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run may sweep at the very moment in which somebody becomes an owner."""
    lock = fcntl.flock
    sweeps = [store]

    def lock_late(file: int, how: int) -> None:
        if sweeps:
            sweep(sweeps.pop())
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", lock_late)
    with ownership(store.home) as owner:
        assert lives(store.home, owner.boot)
    assert sweeps == []
