"""Whose sockets and containers are left alone."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from arena.sandbox import SandboxError, owners
from arena.sandbox.owners import (
    ProcessStamp,
    SocketFolder,
    is_left,
    is_live,
    reap_socket_folders,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def place(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sockets of these tests lie in a folder of their own."""
    monkeypatch.setattr(owners, "_places", lambda: [short_folder])
    return short_folder


def test_this_process_is_alive() -> None:
    """A process that runs is recognised by its stamp."""
    assert ProcessStamp.current().is_alive()


def test_a_dead_process_is_not_alive_even_as_a_zombie() -> None:
    """Neither a process that ended nor one that nobody waited for is alive."""
    code = "from arena.sandbox.owners import ProcessStamp as P; print(P.current().text, flush=True)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        stamp = ProcessStamp(child.stdout.read().strip())
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not stamp.is_alive()
    assert not stamp.is_alive()


def test_a_recycled_pid_is_another_process() -> None:
    """The same pid with another start time, boot or namespace is somebody else."""
    boot, namespace, pid, started = ProcessStamp.current().text.split(":")
    for fields in (
        (boot, namespace, pid, str(int(started) + 1)),
        ("other", namespace, pid, started),
        (boot, "other", pid, started),
    ):
        assert not ProcessStamp(":".join(fields)).is_alive()


@pytest.mark.parametrize("text", ["", ":::", "x", "a:b:c:d", "a:b:-1:2:3"])
def test_rubbish_is_no_living_process(text: str) -> None:
    """A stamp that cannot be read protects nothing, and breaks nothing."""
    assert not ProcessStamp(text).is_alive()


def test_live_owner_protects_what_a_dead_process_left() -> None:
    """Either a live owner or a live process is enough."""
    assert is_live("a", "", ["a"])
    assert is_live("a", ProcessStamp.current().text, [])
    assert not is_live("a", "", ["b"])


def test_what_may_live_out_of_sight_is_neither_live_nor_left() -> None:
    """An owner on another machine, of an earlier boot or in another namespace may be at work."""
    boot, namespace, _, _ = ProcessStamp.current().text.split(":")
    for stamp in (f"{boot}:other:1:1", f"other:{namespace}:1:1", "", "x"):
        assert not is_live("a", stamp, [])
        assert not is_left("a", stamp, [], [])
        assert is_left("a", stamp, [], ["a"])
    over = f"{boot}:{namespace}:{2**22 + 1}:1"
    assert is_left("a", over, [], [])
    assert not is_left("a", over, ["a"], ["a"])


def test_socket_folder_is_open_for_passing_only() -> None:
    """Others may enter the folder by its name but not list it, nor read whose it is."""
    folder = SocketFolder.create("owner-of-it")
    assert folder.root.stat().st_mode & 0o777 == 0o711
    assert folder.path.stat().st_mode & 0o777 == 0o711
    assert (folder.root / "owner").stat().st_mode & 0o777 == 0o600
    assert "owner-of-it" not in str(folder.socket)
    assert list(folder.path.iterdir()) == []
    folder.remove()
    folder.remove()
    assert not folder.root.exists()


def test_long_path_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that no socket could have is refused, and nothing is left of it."""
    long = place / ("x" * 90)
    long.mkdir()
    monkeypatch.setattr(owners, "_places", lambda: [long])
    with pytest.raises(SandboxError, match="too long"):
        SocketFolder.create("o")
    assert list(long.iterdir()) == []


def test_folder_that_cannot_be_finished_is_removed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full half-way leaves no draft until this process ends."""

    def fill(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(owners.Path, "write_text", fill)
    with pytest.raises(SandboxError, match="No space left"):
        SocketFolder.create("o")
    assert list(place.iterdir()) == []


def test_reaping_takes_the_dead_only(place: Path) -> None:
    """Folders of dead owners go; live ones, half-made ones and strangers' files stay."""
    mine = SocketFolder.create("mine")
    dead = SocketFolder.create("dead")
    kept = SocketFolder.create("kept")
    for folder in (dead, kept):
        owner = (folder.root / "owner").read_text().splitlines()[0]
        (folder.root / "owner").write_text(f"{owner}\nother:boot:1:1\n")
    half = place / "bura-half"
    half.mkdir()
    stranger = place / "bura-file"
    stranger.write_text("x")
    (place / "bura-link").symlink_to(dead.root)
    assert reap_socket_folders(["kept"], ["kept"]) == 0
    assert reap_socket_folders(["kept"], ["dead", "kept"]) == 1
    assert not dead.root.exists()
    assert mine.root.exists()
    assert kept.root.exists()
    assert half.exists()
    assert stranger.exists()


KILLED_AT_EACH_STEP = """
import itertools, json, os, signal, sys
from pathlib import Path
from arena.sandbox import owners

place = Path(sys.argv[1])
owners._places = lambda: [place]
left = []
for last in itertools.count(1):
    child = os.fork()
    if child == 0:
        steps = itertools.count(1)
        def hook(event, arguments):
            if event.startswith(("os.", "open", "shutil.")) and str(place) in str(arguments):
                if next(steps) == last:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(hook)
        owners.SocketFolder.create("owner:of/it").remove()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    found = [one.name for one in place.iterdir()]
    left.append([found, owners.reap_socket_folders(), [one.name for one in place.iterdir()]])
    if status == 0:
        break
print(json.dumps(left))
"""


def test_folder_of_a_process_killed_at_any_step_is_reaped(place: Path) -> None:
    """Between the making of a folder and its end there is no moment at which it has no owner."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT_EACH_STEP, str(place)],
        capture_output=True,
        check=True,
        text=True,
    )
    steps = json.loads(done.stdout)
    assert len(steps) > 10
    assert [after for _, _, after in steps] == [[]] * len(steps)
    assert [len(found) for found, _, _ in steps] == [count for _, count, _ in steps]
    assert sum(count for _, count, _ in steps) > 8


def test_draft_names_its_owner(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run in another namespace had not finished is left alone until its owner is dead."""
    monkeypatch.setattr(owners.ProcessStamp, "current", lambda: ProcessStamp("other:boot:1:1"))
    monkeypatch.setattr(owners.shutil, "rmtree", lambda *_, **__: None)
    SocketFolder.create("a/b:c").remove()
    monkeypatch.undo()
    monkeypatch.setattr(owners, "_places", lambda: [place])
    assert reap_socket_folders([], ["a"]) == 0
    assert reap_socket_folders([], ["a/b:c"]) == 1
    assert list(place.iterdir()) == []


def test_what_vanishes_while_it_is_looked_at_is_left_out(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run removes its own folders while this one lists them."""
    kept = SocketFolder.create("dead")
    (kept.root / "owner").write_text("dead\nother:boot:1:1\n")
    gone = place / "bura-0gone"
    monkeypatch.setattr(owners.Path, "glob", lambda *_: iter([gone, kept.root]))
    monkeypatch.setattr(owners.Path, "is_dir", lambda *_: True)
    assert reap_socket_folders([], ["dead"]) == 1
