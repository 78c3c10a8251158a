"""Taking bots in: what is built, loaded and looked up, and what is refused."""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import io
import json
import os
import subprocess
import tarfile
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import docker
import pytest
from sandboxes import forget_image, image_of

from arena import bots, queries
from arena.errors import RefusedError
from arena.home import Home
from arena.sandbox import ImageMissingError, ImageRefusedError, images
from arena.sandbox import engine as engine_module
from arena.sandbox.engine import Engine, ImageInfo
from arena.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SLEEP = "import time; time.sleep(600)"


@pytest.fixture(autouse=True)
def _archives(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let tests with an archive in their name wait for each other, in whatever process.

    What undoes a failed load cannot tell a name that the archive took from one that another test
    gave meanwhile.
    """
    if "archive" not in request.node.name:
        yield
        return
    path = Path(tempfile.gettempdir()) / f"bura-test-archives-{os.getuid()}.lock"
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture
def engine() -> Iterator[Engine]:
    """The engine of this machine."""
    engine = Engine.connect()
    yield engine
    engine.close()


@pytest.fixture
def bot(tmp_path: Path) -> Iterator[str]:
    """The image of a bot that sleeps."""
    image = image_of(_folder(tmp_path, SLEEP))
    yield image
    forget_image(image)


@pytest.mark.docker
def test_build_gives_an_id_that_can_be_started(bot: str) -> None:
    """A folder becomes an image id, and the probe finds that it runs."""
    assert bot.startswith("sha256:")
    images.check_start(bot)


@pytest.mark.docker
def test_building_the_same_folder_gives_the_same_id(tmp_path: Path) -> None:
    """Nothing new is made of a folder that has not changed."""
    folder = _folder(tmp_path, SLEEP)
    image = image_of(folder)
    assert images.build(folder).id == image
    forget_image(image)


@pytest.mark.docker
def test_failing_build_ends_with_its_output(tmp_path: Path) -> None:
    """The error of a build that fails shows the end of what the build printed."""
    folder = _folder(tmp_path, SLEEP)
    with pytest.raises(ImageRefusedError, match="flux capacitor"):
        image_of(folder, extra="RUN echo flux capacitor; exit 3")


@pytest.mark.docker
def test_build_survives_what_others_remove(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that comes upon an image which somebody else has just removed is begun again."""
    build = docker.APIClient.build
    answers = [f'unable to find image "sha256:{"0" * 64}"', "No such image: sha256:0"]

    def answer(client: docker.APIClient, **settings: Any) -> Any:
        return iter([{"error": answers.pop()}]) if answers else build(client, **settings)

    monkeypatch.setattr(docker.APIClient, "build", answer)
    # Others may really do so meanwhile.
    monkeypatch.setattr(engine_module, "MOST_BUILDS", 6)
    forget_image(image_of(_folder(tmp_path, SLEEP)))
    assert answers == []


@pytest.mark.docker
def test_build_output_is_harmless(tmp_path: Path) -> None:
    """Terminal escapes of a build do not reach the terminal."""
    folder = _folder(tmp_path, SLEEP)
    with pytest.raises(ImageRefusedError) as caught:
        image_of(folder, extra=r"RUN printf '\033[31mred\n'; exit 3")
    assert "\x1b" not in str(caught.value)
    assert "\\x1b[31mred" in str(caught.value)


@pytest.mark.docker
def test_endless_build_is_given_up(tmp_path: Path, engine: Engine) -> None:
    """A build that takes too long is refused, silent or not."""
    folder = _folder(tmp_path, SLEEP)
    marker = uuid.uuid4().hex
    for command in ("sleep 600", "while true; do echo on and on; sleep 0.1; done"):
        (folder / "Dockerfile").write_text(
            f"ARG BASE=bura-python-bot\nFROM ${{BASE}}\nRUN : {marker}; {command}\n"
        )
        with pytest.raises(ImageRefusedError, match="more than 2 s"):
            images.build(folder, engine=engine, seconds=2)


@pytest.mark.docker
def test_wrong_dockerfile_is_refused(tmp_path: Path) -> None:
    """A Dockerfile that the engine cannot read is the bot's fault, not the engine's."""
    folder = _folder(tmp_path, SLEEP)
    (folder / "Dockerfile").write_text("FORM python\n")
    with pytest.raises(ImageRefusedError, match="FORM"):
        images.build(folder)


@pytest.mark.docker
def test_dockerignore_is_honoured(tmp_path: Path) -> None:
    """What .dockerignore names does not reach the image."""
    folder = _folder(tmp_path, SLEEP)
    (folder / "secret").write_text("x")
    (folder / ".dockerignore").write_text("secret\n")
    image = image_of(folder, extra="COPY . /copy\nRUN test ! -e /copy/secret")
    forget_image(image)


def test_folder_without_dockerfile_says_what_is_missing(tmp_path: Path) -> None:
    """A folder that cannot be built names the file that it lacks, and is not said to be built."""
    with pytest.raises(ImageRefusedError, match="Dockerfile"):
        images.build(tmp_path, name="alice", say=pytest.fail)


def test_huge_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder is measured before it is sent anywhere."""
    monkeypatch.setattr(images, "MAX_CONTEXT_BYTES", 1 << 10)
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    (tmp_path / "weights").write_bytes(bytes(2 << 10))
    with pytest.raises(ImageRefusedError, match="more than"):
        images.build(tmp_path)


@pytest.mark.docker
def test_probe_refuses_what_cannot_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An image whose program is missing, or that ends at once, is refused with its output."""
    monkeypatch.setattr(images, "PROBE_SECONDS", 100.0)
    folder = _folder(tmp_path, "print('goodbye'); raise SystemExit(4)")
    for command, reason in ((("/no/such/program",), "/no/such/program"), ((), "goodbye")):
        image = image_of(folder, command)
        with pytest.raises(ImageRefusedError, match=reason):
            images.check_start(image)
        forget_image(image)


@pytest.mark.docker
def test_what_ends_at_once_becomes_no_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Submitting starts the bot, and says what it printed if it ends at once."""
    monkeypatch.setattr(images, "PROBE_SECONDS", 100.0)
    image = image_of(_folder(tmp_path, "raise RuntimeError('no config')"))
    with Store.open(Home(tmp_path / "home")) as store:
        with pytest.raises(ImageRefusedError, match=r"exit code 1\n(.*\n)*RuntimeError: no config"):
            bots.submit(store, "anna", image)
        assert not queries.bots(store)
        with pytest.raises(RefusedError, match=r"no folder or file \./nowhere"):
            bots.submit(store, "anna", "./nowhere")
    forget_image(image)


@pytest.mark.docker
def test_names_are_resolved_to_ids(bot: str, engine: Engine) -> None:
    """A name means the image that has it now; an id means itself."""
    name = f"bura-test-{uuid.uuid4().hex}:latest"
    engine.tag(bot, name)
    assert images.resolve(name).id == bot
    assert images.resolve(bot).id == bot
    engine.remove_image(name)


@pytest.mark.docker
def test_missing_image_says_what_to_type(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """An image that can neither be found nor fetched ends in one line with a command."""

    def unreachable(_: Engine, reference: str, *, seconds: float) -> None:
        raise ImageMissingError(f"cannot pull {reference} in {seconds} s")

    monkeypatch.setattr(Engine, "pull", unreachable)
    with pytest.raises(ImageMissingError, match="docker pull no-such-bot:1") as caught:
        images.resolve("no-such-bot:1", engine=engine)
    assert "\n" not in str(caught.value)


@pytest.mark.docker
@pytest.mark.parametrize("word", ["no-such-bot", "no-such-bot@2"])
def test_plain_word_is_never_fetched(
    word: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slip of the hand does not run what a stranger published under that name."""
    monkeypatch.setattr(Engine, "pull", lambda *_, **__: pytest.fail("it was fetched"))
    with pytest.raises(ImageMissingError, match=f"{word}:latest"):
        images.resolve(word, engine=engine)


@pytest.mark.docker
def test_archive_is_loaded_by_id_and_its_names_are_dropped(
    tmp_path: Path, bot: str, engine: Engine
) -> None:
    """An archive gives the image that was saved, under no name but ours."""
    name = f"bura-test-{uuid.uuid4().hex}:latest"
    engine.tag(bot, name)
    archive = _save(tmp_path / "bot.tar", name)
    engine.remove_image(name)
    forget_image(bot)
    assert images.load(archive, engine=engine).id == bot
    assert name not in engine.images()[1]
    assert engine.image(bot).id == bot


@pytest.mark.docker
def test_archive_cannot_take_a_name(tmp_path: Path, bot: str, engine: Engine) -> None:
    """An archive that claims the name of another image is refused and undone."""
    name = f"bura-test-{uuid.uuid4().hex}:latest"
    engine.tag(bot, name)
    archive = _save(tmp_path / "bot.tar", name)
    other = image_of(_folder(tmp_path, "print(2)"))
    engine.tag(other, name)
    with pytest.raises(ImageRefusedError, match="takes the name of another image"):
        images.load(archive, engine=engine)
    assert engine.image(name).id == other
    engine.remove_image(name)
    forget_image(other)


@pytest.mark.docker
def test_archive_that_cannot_be_loaded_changes_no_name(
    tmp_path: Path, bot: str, engine: Engine
) -> None:
    """What an engine did with an archive before it gave up is undone."""
    taken, new = (f"bura-test-{uuid.uuid4().hex}:latest" for _ in range(2))
    engine.tag(bot, taken)
    archive = tmp_path / "bot.tar"
    _archive(archive, {"config": {"Cmd": ["x"]}}, names=(taken, new, "bura-x/../../y:1"))
    with pytest.raises(ImageRefusedError, match="cannot load"):
        images.load(archive, engine=engine)
    _, names = engine.images()
    assert names[taken] == bot
    assert new not in names
    engine.remove_image(taken)


@pytest.mark.docker
def test_refused_archive_brings_no_removed_name_back(
    tmp_path: Path, bot: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What others remove while an archive is loaded stays removed, its images or their names."""
    other = image_of(_folder(tmp_path, "print(2)"))
    removed, taken = (f"bura-test-{uuid.uuid4().hex}:latest" for _ in range(2))
    engine.tag(bot, removed)
    engine.tag(other, taken)
    archive = tmp_path / "bot.tar"
    _archive(archive, {"config": {"Cmd": ["x"]}}, names=(taken, "bura-x/../../y:1"))
    load = Engine.load

    def load_meanwhile(self: Engine, path: Path, *, seconds: float) -> list[str]:
        try:
            return load(self, path, seconds=seconds)
        finally:
            engine.remove_image(removed)
            forget_image(other)
            engine.remove_image(other)

    monkeypatch.setattr(Engine, "load", load_meanwhile)
    with pytest.raises(ImageRefusedError, match="cannot load"):
        images.load(archive, engine=engine)
    _, names = engine.images()
    assert removed not in names
    assert taken not in names


@pytest.mark.docker
def test_archive_of_two_images_is_refused(tmp_path: Path, bot: str, engine: Engine) -> None:
    """Which of two images is the bot cannot be guessed."""
    other = image_of(_folder(tmp_path, "print(2)"))
    archive = _save(tmp_path / "bots.tar", bot, other)
    with pytest.raises(ImageRefusedError, match="holds 2 images"):
        images.load(archive, engine=engine)
    forget_image(other)


@pytest.mark.docker
@pytest.mark.parametrize("content", [b"", b"not an archive" * 100, b"\0" * 10240])
def test_rubbish_is_no_archive(tmp_path: Path, content: bytes) -> None:
    """A file that is no archive of an image is refused in one line."""
    path = tmp_path / "rubbish.tar"
    path.write_bytes(content)
    with pytest.raises(ImageRefusedError) as caught:
        images.load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.docker
@pytest.mark.parametrize(
    "manifest",
    [
        b"[" * 200_000,
        b"9" * 10_000,
        b"NaN",
        b'[{"RepoTags": 7}]',
        b'[{"RepoTags": [' + b"[" * 900 + b"]" * 900 + b"]}]",
        b'{"RepoTags": ["a:b"]}',
        b"\xff\xfe",
    ],
)
def test_archive_with_a_hostile_manifest_is_refused(tmp_path: Path, manifest: bytes) -> None:
    """Whatever an archive says of itself, it is refused as the bot's doing."""
    path = tmp_path / "bot.tar"
    _tar(path, _member("manifest.json", manifest))
    with pytest.raises(ImageRefusedError):
        images.load(path)


@pytest.mark.parametrize("kind", [tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, b"Z"])
@pytest.mark.parametrize("name", ["manifest.json", "blobs/pipe"])
def test_archive_of_pipes_and_devices_never_reaches_the_engine(
    tmp_path: Path, name: str, kind: bytes
) -> None:
    """What an engine would wait for when it opens it is refused before."""
    path = tmp_path / "bot.tar"
    member = tarfile.TarInfo(name)
    member.type = kind
    _tar(path, (member, b""))
    with pytest.raises(ImageRefusedError, match="neither a file nor a folder nor a link"):
        images.load(path, engine=_untouchable())


@pytest.mark.docker
def test_archive_may_hold_links(tmp_path: Path, engine: Engine) -> None:
    """Old engines save a layer that occurs twice as a link to its first place."""
    path = tmp_path / "bot.tar"
    config = {"architecture": "amd64", "os": "linux", "config": {"Cmd": ["true"]}}
    _archive(path, config)
    link = tarfile.TarInfo("again/layer.tar")
    link.type, link.linkname = tarfile.SYMTYPE, "../layer.tar"
    with tarfile.open(path, "a") as archive:
        archive.addfile(link)
    forget_image(images.load(path, engine=engine).id)


def test_archive_that_leads_its_reader_back_is_refused(tmp_path: Path) -> None:
    """A negative size, by which the same entry would be read for ever, is refused."""
    path = tmp_path / "bot.tar"
    member = tarfile.TarInfo("x")
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    header[124:136] = (-512).to_bytes(12, "big", signed=True)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    path.write_bytes(bytes(header) + bytes(10240))
    with pytest.raises(ImageRefusedError, match="has a size of -512"):
        images.load(path, engine=_untouchable())


@pytest.mark.parametrize("magic", [b"BZh91AY", b"\xfd7zXZ\0\0", b"\x28\xb5\x2f\xfd\0\0"])
@pytest.mark.parametrize("is_layer", [False, True])
def test_archive_that_cannot_be_looked_into_never_reaches_the_engine(
    tmp_path: Path, magic: bytes, *, is_layer: bool
) -> None:
    """What an engine unpacks and the arena does not is refused, not taken on trust."""
    path = tmp_path / "bot.tar"
    if is_layer:
        _tar(path, _member("layer.tar", magic))
    else:
        path.write_bytes(magic)
    with pytest.raises(ImageRefusedError, match=r"cannot be (read|looked into)"):
        images.load(path, engine=_untouchable())


@pytest.mark.docker
def test_image_without_a_command_is_refused(tmp_path: Path, engine: Engine) -> None:
    """An image with nothing to run is refused when it is taken in."""
    path = tmp_path / "empty.tar"
    _archive(path, {"architecture": "amd64", "os": "linux", "config": {}})
    with pytest.raises(ImageRefusedError, match="neither CMD nor ENTRYPOINT"):
        images.load(path, engine=engine)


@pytest.mark.docker
def test_base_image_of_python_bots_is_made_once(engine: Engine) -> None:
    """The base image is not built again while nothing in it has changed."""
    first = images.python_bot_image(engine=engine)
    said: list[str] = []
    assert images.python_bot_image(engine=engine, say=said.append) == first
    assert not said


class FakeEngine:
    """Images by name; nothing can be fetched."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.pulled: list[str] = []

    def image(self, reference: str) -> ImageInfo:
        """Find an image by its name."""
        if reference not in self.names:
            raise ImageMissingError(f"no image {reference}")
        packages = next((one.packages for one in images.BASES.values() if one.tag == reference), ())
        labels: Mapping[str, str] = {images.PACKAGES_LABEL: ",".join(packages)}
        return ImageInfo(id=reference, has_command=True, volumes=(), labels=labels)

    def pull(self, reference: str, *, seconds: float) -> None:
        """Fail, and remember that it was tried."""
        assert seconds > 0
        self.pulled.append(reference)
        raise ImageMissingError(f"cannot pull {reference}")


@pytest.mark.parametrize(
    ("names", "wanted", "found"),
    [
        (("python:3.12-slim", "bura-base:local"), "python:3.12-slim", "python:3.12-slim"),
        (("bura-base:local",), "python:3.12-slim", "bura-base:local"),
        (("bura-base:local",), "registry.example/library/python:3.13", "bura-base:local"),
        (("bura-base-node:local",), "node:22-slim", "bura-base-node:local"),
    ],
)
def test_local_base_stands_in_for_a_public_one(
    names: tuple[str, ...], wanted: str, found: str
) -> None:
    """The public base is used where it is; else a local one of its kind, without any fetching."""
    engine: Any = FakeEngine(*names)
    assert images.base_image(wanted, engine=engine) == found
    assert engine.pulled == []


def test_base_of_no_known_kind_is_not_replaced() -> None:
    """No Python base stands in for an image that is something else."""
    engine: Any = FakeEngine("bura-base:local")
    with pytest.raises(ImageMissingError, match="golang"):
        images.base_image("golang:1.25", engine=engine)


def test_base_that_cannot_be_made_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no base can be had, one line says why and what to run."""
    monkeypatch.setattr(images, "_run_script", lambda _: "needs root")
    engine: Any = FakeEngine()
    with pytest.raises(ImageMissingError, match=r"needs root; run as root: docker/make-base.sh"):
        images.base_image("python:3.12-slim", engine=engine)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("place", ["dev", "./dev", "proc", "sys/", "x/../dev", "run/arena"])
def test_archive_with_a_link_for_a_mounted_folder_is_refused(
    tmp_path: Path, place: str, *, packed: bool
) -> None:
    """An image whose /dev leads elsewhere never reaches the engine, packed or not."""
    link = tarfile.TarInfo(place.rstrip("/"))
    link.type, link.linkname = tarfile.SYMTYPE, "/etc"
    path = tmp_path / "bot.tar"
    _archive(path, {"config": {"Cmd": ["true"]}}, link, packed=packed)
    with pytest.raises(ImageRefusedError, match="is no folder"):
        images.load(path, engine=_untouchable())


def test_huge_archive_is_refused(tmp_path: Path) -> None:
    """An archive of more than 2 GiB is not even opened."""
    path = tmp_path / "bot.tar"
    path.touch()
    os.truncate(path, 2049 << 20)
    with pytest.raises(ImageRefusedError, match="has 2049 MiB: expected at most 2048 MiB"):
        images.load(path, engine=_untouchable())


def test_archive_that_unpacks_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small archive of a huge layer is given up while it is read."""
    monkeypatch.setattr(images, "MAX_IMAGE_BYTES", 1 << 20)
    block = tarfile.TarInfo("block")
    block.size = 8 << 20
    path = tmp_path / "bot.tar"
    _archive(path, {"config": {"Cmd": ["true"]}}, block, packed=True)
    assert path.stat().st_size < 1 << 20
    with pytest.raises(ImageRefusedError, match="unpacks to more"):
        images.load(path, engine=_untouchable())


@pytest.mark.docker
def test_archive_cannot_forge_our_labels(tmp_path: Path, engine: Engine) -> None:
    """Labels by which the reaper knows its containers are refused in archives, too."""
    path = tmp_path / "forged.tar"
    config = {"Cmd": ["true"], "Labels": {"bura-arena.owner": "somebody"}}
    _archive(path, {"architecture": "amd64", "os": "linux", "config": config})
    with pytest.raises(ImageRefusedError, match=r"bura-arena\.owner"):
        images.load(path, engine=engine)


@pytest.mark.docker
@pytest.mark.long
def test_archive_of_endless_layers_is_refused(tmp_path: Path, engine: Engine) -> None:
    """More layers than a file system can stack are refused as the bot's doing."""
    path = tmp_path / "layers.tar"
    config = {"architecture": "amd64", "os": "linux", "config": {"Cmd": ["true"]}}
    _archive(path, config, layers=10_000)
    with pytest.raises(ImageRefusedError):
        images.load(path, engine=engine)


@pytest.mark.docker
@pytest.mark.parametrize(
    "extra",
    [
        'ENTRYPOINT ["/bin/sh", "-c", "exec python /bot/bot.py"]',
        "ONBUILD RUN exit 7",
        "WORKDIR /nowhere/at/all",
        f"ENV HUGE={'x' * 30_000}",
        "ENV ARENA_ADDRESS=unix:/elsewhere HOME=/root LD_PRELOAD=",
        'EXPOSE 80\nSHELL ["/bin/sh"]\nSTOPSIGNAL SIGCONT',
    ],
)
def test_settings_of_an_image_do_no_harm(tmp_path: Path, extra: str) -> None:
    """An image may say how it starts; where the referee is, it is told."""
    code = "import os, time; assert os.environ['ARENA_ADDRESS'] == 'unix:/run/arena/referee.sock'"
    image = image_of(
        _folder(tmp_path, f"{code}; assert os.getuid() >= 1024; time.sleep(600)"), extra=extra
    )
    images.check_start(image)
    forget_image(image)


@pytest.mark.docker
@pytest.mark.parametrize(
    "extra",
    [
        "RUN rm -rf /run && ln -s /proc/self /run",
        "RUN rm -rf /run && ln -s /run /run",
        "RUN rm -rf /run && echo > /run",
        "RUN rm -rf /tmp && ln -s /proc/self/nothere /tmp",
    ],
)
def test_image_in_whose_folders_nothing_can_be_mounted_is_to_blame(
    tmp_path: Path, extra: str
) -> None:
    """What an image made of the folders it gets is its own fault, told without our paths."""
    image = image_of(_folder(tmp_path, SLEEP), extra=f"USER root\n{extra}")
    try:
        with pytest.raises(ImageRefusedError, match="cannot start") as caught:
            images.check_start(image)
    finally:
        forget_image(image)
    assert "/merged" not in caught.value.message
    assert "rootfs/" not in caught.value.message
    assert "/bura-" not in caught.value.message


@pytest.mark.docker
def test_image_whose_working_folder_lies_in_a_file_is_to_blame(
    tmp_path: Path, engine: Engine
) -> None:
    """An image may name any working folder; that it cannot be one is its own fault."""
    path = tmp_path / "bot.tar"
    settings = {"Cmd": ["true"], "WorkingDir": "/x/y"}
    config = {"architecture": "amd64", "os": "linux", "config": settings}
    _archive(path, config, tarfile.TarInfo("x"))
    image = images.load(path, engine=engine).id
    try:
        with pytest.raises(ImageRefusedError, match="/x/y: not a directory") as caught:
            images.check_start(image)
    finally:
        forget_image(image)
    assert "/merged" not in caught.value.message
    assert "rootfs/" not in caught.value.message


def _untouchable() -> Any:
    """Return an engine that fails the test when it is asked anything."""

    class Untouchable:
        def __getattr__(self, name: str) -> Any:
            pytest.fail(f"the engine was asked: {name}")

    return Untouchable()


def _folder(parent: Path, code: str) -> Path:
    folder = parent / uuid.uuid4().hex
    folder.mkdir()
    (folder / "bot.py").write_text(code)
    return folder


def _member(name: str, content: bytes) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    return info, content


def _tar(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> None:
    with tarfile.open(path, "w") as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))


def _save(path: Path, *references: str) -> Path:
    subprocess.run(["docker", "save", "--output", path, *references], check=True)
    return path


def _archive(
    path: Path,
    config: dict[str, Any],
    *entries: tarfile.TarInfo,
    packed: bool = False,
    layers: int = 1,
    names: tuple[str, ...] = (),
) -> None:
    """Write an archive of an image with the same layer once or often."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as layer:
        for entry in entries:
            layer.addfile(entry, io.BytesIO(bytes(entry.size)))
    data = buffer.getvalue()
    digest = hashlib.sha256(data).hexdigest()
    diffs = [f"sha256:{digest}"] * layers
    config = {**config, "rootfs": {"type": "layers", "diff_ids": diffs}}
    text = json.dumps(config).encode()
    name = f"{hashlib.sha256(text).hexdigest()}.json"
    manifest = [{"Config": name, "RepoTags": names or None, "Layers": ["layer.tar"] * layers}]
    _tar(
        path,
        _member(name, text),
        _member("layer.tar", gzip.compress(data) if packed else data),
        _member("manifest.json", json.dumps(manifest).encode()),
    )
