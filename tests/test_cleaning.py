"""What `arena clean` removes, and what it leaves alone."""

from __future__ import annotations

import errno
import json
import os
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sandboxes import Box, forget_image, image_of, make_box
from stores import add_tournament

from arena import cleaning
from arena.cleaning import find_leftovers, unused_images
from arena.cli import main
from arena.home import Home
from arena.owners import live_owners, ownership
from arena.recovery import alone, sweep
from arena.sandbox import EngineLostError, confinement, container, images, owners
from arena.sandbox.container import ContainerSandbox
from arena.sandbox.engine import Engine, NamedImage
from arena.sandbox.owners import ProcessStamp, SocketFolder
from arena.sandbox.process import ProcessSandbox
from arena.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

SLEEP = "import time; time.sleep(600)"
DEAD = ProcessStamp("other:boot:1:1")
NOBODY = 65534
# Where other users may look too, unlike the folders that pytest makes.
SHARED = tempfile.gettempdir()


@pytest.fixture(autouse=True)
def places(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sockets and temporary folders of these tests lie where nobody else's do.

    Nor are there containers that other tests of this process gave up.
    """
    monkeypatch.setattr(owners, "_places", lambda: [short_folder])
    monkeypatch.setattr(tempfile, "tempdir", str(short_folder))
    monkeypatch.setattr(container, "_strays", container._Strays())
    return short_folder


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An arena with a database."""
    home = Home(tmp_path / "arena")
    Store.open(home).close()
    return home


@dataclass
class FakeEngine:
    """An engine with images and containers of the dead, some of which will not go."""

    containers: list[str] = field(default_factory=list)
    stuck: frozenset[str] = frozenset()
    here: list[NamedImage] = field(default_factory=list)
    used: frozenset[str] = frozenset()
    gone: list[str] = field(default_factory=list)
    is_silent: bool = False

    def bots(self) -> list[tuple[str, str, str]]:
        """List the containers; their owners are dead."""
        return [(name, "dead", DEAD.text) for name in self.containers]

    def remove(self, name: str) -> None:
        """Remove one, if it will go."""
        if name in self.stuck:
            raise EngineLostError("removal of container is already in progress")
        self.containers.remove(name)

    def named_images(self, _repository: str) -> list[NamedImage]:
        """List the images."""
        return self.here

    def images_in_use(self) -> frozenset[str]:
        """List images of containers."""
        return self.used

    def remove_image(self, name: str) -> None:
        """Remove a name."""
        self.gone.append(name)


def fake(**options: Any) -> ContainerSandbox:
    """Return the container backend on an engine that is not there."""
    engine: Any = FakeEngine(**options)
    return ContainerSandbox(engine)


def dead_folder(monkeypatch: pytest.MonkeyPatch) -> SocketFolder:
    """Make a socket folder of a process that is gone."""
    with monkeypatch.context() as patch:
        patch.setattr(ProcessStamp, "current", classmethod(lambda _: DEAD))
        return SocketFolder.create("dead")


def test_folders_of_the_dead_go_and_those_of_the_living_stay(
    places: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A socket folder and the folder of a play stay as long as their owner lives."""
    gone = dead_folder(monkeypatch)
    mine = SocketFolder.create("mine")
    paths = {name: places / f"bura-play-{name}" for name in ("dead", "young", "live", "link")}
    for name in ("dead", "young", "live"):
        Home(paths[name]).create()
    paths["link"].symlink_to(home.path)
    old = time.time() - 2 * cleaning.YOUNG_SECONDS
    for name in ("dead", "live"):
        os.utime(paths[name], (old, old))
    with ownership(Home(paths["live"])):
        found = find_leftovers(home, None)
        assert {one.name for one in found} == {str(gone.root), str(paths["dead"])}
        assert [one.remove() for one in found] == ["", ""]
        assert find_leftovers(home, None) == []
    assert not gone.root.exists()
    assert not paths["dead"].exists()
    assert all(paths[name].exists() for name in ("young", "live", "link"))
    assert mine.root.exists()


@pytest.mark.parametrize("kind", ["play", "read"])
def test_folder_from_before_the_clock_was_set_back_goes(
    places: Path, home: Home, kind: str
) -> None:
    """That its owner is dead is known by the lock, whatever the time."""
    folder = Home(places / f"bura-{kind}-dead")
    folder.create()
    (folder.owners / "x.lock").touch()
    later = time.time() + 10 * cleaning.YOUNG_SECONDS
    os.utime(folder.path, (later, later))
    assert [one.name for one in find_leftovers(home, None)] == [str(folder.path)]


@contextmanager
def stranger(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Be a user without rights."""
    monkeypatch.setattr(os, "getuid", lambda: NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(os.getuid() != 0, reason="needs the rights to become another user")
def test_folders_of_other_users_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may not look into what others left does what it came for."""
    with tempfile.TemporaryDirectory(dir=SHARED) as name:
        place = Path(name)
        place.chmod(0o1777)
        old = time.time() - 2 * cleaning.BUILD_SECONDS
        for kind in ("play-theirs", "read-theirs", "build-theirs", 22 * "a"):
            path = place / f"bura-{kind}"
            Home(path).create()
            (path / "owner").write_text(f"dead\n{DEAD.text}\n")
            (Home(path).owners / "dead.lock").touch()
            path.chmod(0o700)
            os.utime(path, (old, old))
        monkeypatch.setattr(owners, "_places", lambda: [place])
        monkeypatch.setattr(tempfile, "tempdir", name)
        with stranger(monkeypatch):
            assert find_leftovers(Home(place / "none"), None) == []
            assert cleaning.take_back(ProcessSandbox()) == 0
            assert owners.reap_socket_folders() == 0


def test_folder_that_cannot_be_read_is_left_alone(
    places: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of this user's may have been locked on purpose."""
    Home(places / "bura-play-locked").create()

    def refuse(_: Home) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied", "owners")

    monkeypatch.setattr(cleaning, "was_left", refuse)
    assert find_leftovers(home, None) == []


def test_lock_that_may_not_be_read_is_held(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can tell that another user's owner is dead, so it is taken to live."""
    (home.owners / "theirs.lock").touch()

    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert live_owners(home) == {"theirs"}


def test_files_of_attempts_that_do_not_count_go_unless_a_run_is_on(home: Home) -> None:
    """A draft of a bot is removed, but not while somebody may be writing it."""
    draft = home.bots / "x.part"
    draft.touch()
    with alone(home):
        assert find_leftovers(home, None) == []
    (found,) = find_leftovers(home, None)
    assert (found.kind, found.name) == ("draft", str(draft))
    assert found.remove() == ""
    assert not draft.exists()


def test_records_logs_and_drafts_are_told_apart(home: Home) -> None:
    """Each is called what it is, with the reason why nobody needs it."""
    with Store.open(home) as store:
        add_tournament(store)
    places = {
        "record": home.records / "cup" / "1" / "1",
        "log": home.logs / "cup" / "1" / "1",
        "draft": home.bots / "x.part",
    }
    for place in places.values():
        place.mkdir(parents=True)
    found = find_leftovers(home, None)
    assert {one.kind: one.name for one in found} == {
        kind: str(place) for kind, place in places.items()
    }
    assert len({one.why for one in found}) == len(places)


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of folders that will not go."""
    names: set[str] = set()
    remove = os.rmdir

    def refuse(path: str | Path, *, dir_fd: int | None = None) -> None:
        if Path(path).name in names:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))
        remove(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "rmdir", refuse)
    return names


def test_folders_that_will_not_go_are_told_and_the_others_go(
    places: Path,
    home: Home,
    busy: set[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is called removed that is still there."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/socket")
    folder = dead_folder(monkeypatch)
    played = places / "bura-play-stuck"
    (Home(played).owners).mkdir(parents=True)
    (Home(played).owners / "dead.lock").touch()
    for name in ("stuck.part", "loose.part"):
        (home.bots / name / "deep").mkdir(parents=True)
        (home.bots / name / "deep" / "file").touch()
    busy |= {"s", "bura-play-stuck", "stuck.part"}
    assert main(["clean", "--home", str(home.path), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in said["removed"]] == [str(home.bots / "loose.part")]
    assert {one["name"] for one in said["kept"]} == {
        str(folder.root),
        str(played),
        str(home.bots / "stuck.part"),
    }
    assert all(os.strerror(errno.EBUSY) in one["reason"] for one in said["kept"])
    # What can be removed of them is.
    assert list((home.bots / "stuck.part").iterdir()) == []


def test_folder_that_will_not_go_keeps_nobody_from_starting(
    places: Path, home: Home, busy: set[str]
) -> None:
    """A run and a play go on, and do not count it among what they removed."""
    played = places / "bura-play-stuck"
    (Home(played).owners).mkdir(parents=True)
    (Home(played).owners / "dead.lock").touch()
    for name in ("stuck.part", "loose.part"):
        (home.bots / name).mkdir()
    busy |= {"bura-play-stuck", "stuck.part"}
    assert cleaning.take_back(ProcessSandbox()) == 0
    with Store.open(home) as store:
        assert sweep(store) == 1


def test_arena_that_does_not_exist_has_no_leftovers(tmp_path: Path) -> None:
    """Cleaning makes no arena where there is none."""
    assert find_leftovers(Home(tmp_path / "none"), fake()) == []
    assert not (tmp_path / "none").exists()


def test_dry_run_removes_nothing(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What would go is named and stays; then the same things go."""
    folder = dead_folder(monkeypatch)
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/socket")
    line = ["clean", "--home", str(home.path), "--json"]
    assert main([*line, "--dry-run"]) == 0
    would = json.loads(capsys.readouterr().out)
    assert would["dry_run"] is True
    assert folder.root.exists()
    assert main(line) == 0
    did = json.loads(capsys.readouterr().out)
    assert did["removed"] == would["removed"]
    assert [one["name"] for one in did["removed"]] == [str(folder.root)]
    assert not folder.root.exists()


def test_container_that_will_not_go_is_told_and_the_others_go(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One removal that never ends keeps neither the others here nor the reason secret."""
    sandbox = fake(containers=["bura-bot-1", "bura-bot-2"], stuck=frozenset({"bura-bot-1"}))
    monkeypatch.setattr("arena.cli.clean.find_sandbox", lambda _: sandbox)
    assert main(["clean", "--home", str(home.path), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in said["removed"]] == ["bura-bot-2"]
    assert [one["name"] for one in said["kept"]] == ["bura-bot-1"]
    assert "in progress" in said["kept"][0]["reason"]


def test_container_that_will_not_go_does_not_stop_the_next_run() -> None:
    """Reaping goes on to the next container; the stuck one stays on the doctor's list."""
    sandbox = fake(containers=["bura-bot-1", "bura-bot-2"], stuck=frozenset({"bura-bot-1"}))
    assert sandbox.reap("me", [], ["dead"]) == 2
    assert sandbox.leftovers([]) == ["bura-bot-1"]


def test_images_that_somebody_needs_stay(home: Home) -> None:
    """An image goes only if no container, no arena, other name or recent use speaks for it."""
    old, now = "2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"
    rows = {
        "unused": (("bura-bot:1",), old),
        "named": (("bura-bot:2", "alice:latest"), old),
        "taken in": (("bura-bot:3", "bura-home:abc-3"), old),
        "running": (("bura-bot:4",), old),
        "recent": (("bura-bot:5",), now),
        "undated": (("bura-bot:6",), ""),
    }
    here = [
        NamedImage(id=name, names=names, bytes=1, used=used) for name, (names, used) in rows.items()
    ]
    sandbox = fake(here=here, used=frozenset({"running"}))
    (found,) = unused_images(home, sandbox, 24)
    assert (found.kind, found.name) == ("image", "bura-bot:1")
    assert found.remove() == ""
    engine: Any = sandbox.engine
    assert engine.gone == ["bura-bot:1"]


def test_images_need_an_engine(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Asked for images, cleaning fails without an engine; else it says what it did not look at."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/socket")
    assert main(["clean", "--home", str(home.path), "--images"]) == 3
    assert main(["clean", "--home", str(home.path)]) == 0
    said = capsys.readouterr()
    assert "containers are not looked at" in said.err
    assert "nothing to remove" in said.out


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    """The container backend."""
    box = make_box("container", tmp_path)
    with box.stack:
        yield box


@pytest.mark.docker
def test_container_of_a_dead_owner_goes(
    box: Box, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real container whose process is gone is removed; one of this process is not."""
    living = box.start(SLEEP)
    with monkeypatch.context() as patch:
        patch.setattr(confinement.ProcessStamp, "current", classmethod(lambda _: DEAD))
        dead = box.start(SLEEP)
    # Other tests have containers of the dead as well.
    bots = Engine.bots
    monkeypatch.setattr(
        Engine, "bots", lambda engine: [one for one in bots(engine) if one[1] == box.owner]
    )
    assert main(["clean", "--home", str(home.path)]) == 0
    with pytest.raises(EngineLostError, match="removed by somebody else"):
        dead.finish()
    assert living.poll() is None


@pytest.mark.docker
def test_image_taken_in_by_an_arena_is_kept(tmp_path: Path, home: Home) -> None:
    """A bot's image is on no list once an arena has it, and is again when it gave it up."""
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.py").write_text(SLEEP)
    image = image_of(folder)
    engine = Engine.connect()

    def listed() -> bool:
        return image in {one.id for one in images.unused([], engine=engine)}

    try:
        assert listed()
        images.keep(image, home.path, engine=engine)
        assert not listed()
        (kept,) = [
            name
            for one in engine.named_images(images.HOMES)
            if one.id == image
            for name in one.names
            if name.startswith(f"{images.HOMES}:")
        ]
        engine.remove_image(kept)
        assert listed()
    finally:
        engine.close()
        forget_image(image)
