"""Taking bots in as images: folders are built, archives loaded, names looked up.

Whatever comes in is known by its image id from then on: names can be moved by anybody.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import json
import lzma
import os
import posixpath
import re
import select
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import uuid
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from arena.errors import ArenaError, RefusedError
from arena.sandbox.base import (
    BotSource,
    ImageMissingError,
    ImageRefusedError,
    Limits,
    StartRequest,
)
from arena.sandbox.builds import (
    DEFAULT_NETWORK,
    NO_NETWORK,
    PROXIES,
    build_network,
    evades,
    proxy_arguments,
)
from arena.sandbox.container import ContainerSandbox
from arena.sandbox.engine import Engine
from arena.sandbox.owners import SocketFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from arena.sandbox.engine import NamedImage

__all__ = [
    "BASES",
    "PYTHON_BOT",
    "BotImage",
    "base_image",
    "build",
    "check_start",
    "keep",
    "load",
    "python_bot_image",
    "resolve",
    "unused",
]

PYTHON_BOT = "bura-python-bot"
KEPT = "bura-bot"
HOMES = "bura-home"
CONTENT_LABEL = "bura-image.content"
PACKAGES_LABEL = "bura-image.packages"

BUILD_SECONDS = 600
PULL_SECONDS = 300
LOAD_SECONDS = 300
PROBE_SECONDS = 2.0
MAX_CONTEXT_BYTES = 256 << 20
MAX_ARCHIVE_BYTES = 2 << 30
MAX_IMAGE_BYTES = 4 << 30
MAX_MANIFEST_BYTES = 1 << 20
# What reading damaged archives and the JSON in them raises, the unpackers' own errors included.
UNREADABLE = (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError, ValueError)
# The beginnings of what bzip2, xz and zstd pack: engines unpack these, too.
UNKNOWN_PACKING = (b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")
MOUNTED_OVER = frozenset({"dev", "proc", "sys", "run", "run/arena", "tmp", "etc"})

REPOSITORY = Path(__file__).resolve().parents[2]
# Handed on to builds that ask for them, so that no file need name an index or a proxy.
HANDED_ON = (
    *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "NPM_CONFIG_REGISTRY"),
    *PROXIES,
)


@dataclass(frozen=True, slots=True)
class LocalBase:
    """A base image that can be made on this machine, for where the public one cannot be had.

    Attributes:
        tag: Its name.
        packages: The Debian packages in it.
    """

    tag: str
    packages: tuple[str, ...]


BASES = {
    "python": LocalBase(
        "bura-base:local",
        ("python3", "python3-venv", "python3-pip", "python-is-python3", "libstdc++6"),
    ),
    "node": LocalBase("bura-base-node:local", ("nodejs", "npm")),
}
"""By the name of the public image that they stand in for."""


@dataclass(frozen=True, slots=True)
class BotImage:
    """An image that was taken in.

    Attributes:
        id: Its id, the digest of its configuration.
    """

    id: str


def build(
    folder: Path,
    *,
    name: str = "",
    engine: Engine | None = None,
    seconds: float = BUILD_SECONDS,
    memory: int | None = None,
    network: str | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> BotImage:
    """Build the Dockerfile of a folder, which is trusted as a program of this user would be.

    Args:
        folder: Folder with a Dockerfile; .dockerignore is honoured.
        name: Name of the bot, for messages.
        engine: Engine to use; by default that of this machine.
        seconds: How long it may take.
        memory: Bytes that each step may use; by default what the machine can spare.
        network: Network of the steps: `none`, `default`, or the name of one of the engine's; else
            `ARENA_BUILD_NETWORK` names it, else it is the default.
        say: Called with a line when something slow begins.

    Raises:
        RefusedError: If there is no such network.
        ImageRefusedError: If it cannot be built; the message ends with the build's output.
        ImageMissingError: If its base image cannot be had.
        SandboxError: If the engine is missing or fails.
    """
    dockerfile = folder / "Dockerfile"
    if not dockerfile.is_file():
        raise ImageRefusedError(
            f"{name or folder} has no Dockerfile: expected {dockerfile}",
            "add one, or run it with the process sandbox",
        )
    _check_size(folder)
    text = dockerfile.read_text(encoding="utf-8")
    chosen = build_network(network)
    if evades(text, chosen):
        raise ImageRefusedError(
            f"{dockerfile} uses ADD, by which the engine fetches past the network {chosen!r}",
            "use COPY for files, and fetch others in a RUN step",
        )
    with _engine(engine) as used:
        _check_network(used, chosen)
        say(f"building {folder}: its Dockerfile is trusted as a program of yours would be")
        arguments = _build_arguments(used, text, say)
        image = used.build(
            folder,
            dockerfile=dockerfile.resolve(),
            arguments={**arguments, **proxy_arguments(chosen)},
            labels={},
            seconds=seconds,
            memory=memory,
            network=chosen,
        )
        return _accept(used, image, str(folder))


def load(path: Path, *, engine: Engine | None = None) -> BotImage:
    """Load an archive made by `docker save`; names in it are not kept.

    Raises:
        ImageRefusedError: If it holds no usable image, or tried to take another image's name.
        SandboxError: If the engine is missing or fails.
    """
    size = path.stat().st_size
    if size > MAX_ARCHIVE_BYTES:
        raise ImageRefusedError(
            f"{path} has {size >> 20} MiB: expected at most {MAX_ARCHIVE_BYTES >> 20} MiB"
        )
    _check_layers(path)
    with _engine(engine) as used:
        had, before = used.images()
        try:
            names = used.load(path, seconds=LOAD_SECONDS)
        except ImageRefusedError:
            # An engine gives names one by one, and may give some before it comes to a bad one.
            _take_names_back(used, _names_in(path), before)
            raise
        held = {used.image(one).id for one in names}
        moved = _restore_names(used, names, before)
        try:
            return _accept(used, _only_image(path, held, moved), str(path))
        except ImageRefusedError:
            for image in held - had:
                used.remove_image(f"{KEPT}:{_short(image)}")
                used.remove_image(image)
            raise


def resolve(reference: str, *, engine: Engine | None = None) -> BotImage:
    """Find an image by name or id, fetching it from its registry only if it is not here.

    Only a reference with a registry, a tag or a digest is fetched: a plain word may be a slip of
    the hand, and what a stranger published under it is not what was meant.

    Raises:
        ImageMissingError: If it can neither be found nor fetched.
        ImageRefusedError: If no bot may be run from it.
        SandboxError: If the engine is missing or fails.
    """
    with _engine(engine) as used:
        try:
            image = used.image(reference).id
        except ImageMissingError as missing:
            if reference.startswith("sha256:") or not re.fullmatch(r"[\w./:@-]+", reference):
                raise
            if not re.search("[/:]", reference):
                raise ImageMissingError(
                    missing.message,
                    f"name a folder, an archive or an image; one is fetched only if its tag is "
                    f"given, as in {reference}:latest",
                ) from None
            try:
                used.pull(reference, seconds=PULL_SECONDS)
            except ImageMissingError as error:
                raise ImageMissingError(
                    f"{missing.message}, and it cannot be fetched: {error.message}",
                    f"see what is here with docker images, or get it with docker pull {reference}",
                ) from error
            image = used.image(reference).id
        return _accept(used, image, reference)


def keep(image: str, home: Path, *, engine: Engine | None = None) -> None:
    """Give an image a name that says in which arena it was taken in, so that none other drops it.

    Raises:
        SandboxError: If the engine is missing or fails.
    """
    place = hashlib.sha256(os.fsencode(home.resolve())).hexdigest()[:12]
    with _engine(engine) as used:
        used.tag(image, f"{HOMES}:{place}-{_short(image)}")


def unused(known: Collection[str], *, engine: Engine) -> list[NamedImage]:
    """Return the bots' images that no arena keeps and no container uses, longest unused first.

    Args:
        known: Ids of images that are needed whatever their names say.
        engine: Where they are.

    Raises:
        EngineLostError: If the engine fails.
    """
    needed = {*known, *engine.images_in_use()}
    ours = (f"{KEPT}:",)
    return [
        image
        for image in engine.named_images(KEPT)
        # Another name shows that somebody else wants it, another arena or another tool.
        if image.id not in needed and all(name.startswith(ours) for name in image.names)
    ]


def check_start(image: str, *, sandbox: ContainerSandbox | None = None) -> None:
    """Start an image as in a match, facing a referee that stays silent.

    Raises:
        ImageRefusedError: If it cannot be started or ends at once; the message has its output.
        SandboxError: If the engine is missing or fails.
    """
    used = ContainerSandbox() if sandbox is None else sandbox
    used.reap()
    owner = f"probe-{uuid.uuid4().hex}"
    folder = SocketFolder.create(owner)
    try:
        with socket.socket(socket.AF_UNIX) as silent:
            silent.bind(str(folder.socket))
            folder.socket.chmod(0o666)
            silent.listen(8)
            request = StartRequest(
                source=BotSource(image=image),
                socket_dir=folder.path,
                owner=owner,
                attempt="probe",
                seat=0,
                limits=Limits(),
            )
            with used.start(request) as bot:
                deadline = time.monotonic() + PROBE_SECONDS
                while bot.poll() is None and time.monotonic() < deadline:
                    if select.select([silent], [], [], 0.02)[0]:
                        break  # It dialled, so it started.
                report = bot.finish()
    finally:
        folder.remove()
    if report.exit is not None:
        raise ImageRefusedError(
            f"the bot ended as soon as it was started: {report.exit}\n{report.log[-4096:]}".rstrip()
        )


def python_bot_image(
    *, engine: Engine | None = None, say: Callable[[str], None] = lambda _: None
) -> BotImage:
    """Return the base image of Python bots, made anew only when what goes into it has changed.

    Raises:
        ImageRefusedError: If it cannot be built.
        ImageMissingError: If no base image can be had.
        SandboxError: If the engine is missing or fails.
    """
    with _engine(engine) as used:
        dockerfile = REPOSITORY / "docker" / "python-bot" / "Dockerfile"
        if not dockerfile.is_file():
            raise ImageMissingError(
                f"no image {PYTHON_BOT} on this machine, and no {dockerfile} to make it from",
                "make it in a checkout of the sources with: make images",
            )
        context = REPOSITORY / "proto"
        arguments = _build_arguments(used, dockerfile.read_text(encoding="utf-8"), say)
        base = used.image(arguments["BASE"]).id
        content = _content(base, dockerfile, *sorted(_sources(context)))
        try:
            present = used.image(PYTHON_BOT)
        except ImageMissingError:
            present = None
        if present is not None and present.labels.get(CONTENT_LABEL) == content:
            return BotImage(present.id)
        say(f"building {PYTHON_BOT}")
        with tempfile.TemporaryDirectory(prefix="bura-build-") as work:
            # The folder may hold caches and other packages: only what was counted goes in.
            for source in _sources(context):
                target = Path(work) / source.relative_to(context)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
            image = used.build(
                Path(work),
                dockerfile=dockerfile,
                arguments=arguments,
                labels={CONTENT_LABEL: content},
                seconds=BUILD_SECONDS,
            )
        used.tag(image, f"{PYTHON_BOT}:latest")
        return BotImage(image)


def base_image(
    reference: str, *, engine: Engine, say: Callable[[str], None] = lambda _: None
) -> str:
    """Return a base image that is on this machine: the one named, or a local one in its place.

    Raises:
        ImageMissingError: If neither can be had.
        SandboxError: If the engine fails.
    """
    if reference.removesuffix(":latest") == PYTHON_BOT:
        return python_bot_image(engine=engine, say=say).id
    local = BASES.get(reference.partition(":")[0].rpartition("/")[2])
    if _is_here(engine, reference):
        return reference
    if local is not None and _is_here(engine, local.tag, ",".join(local.packages)):
        return local.tag
    say(f"fetching {reference}")
    try:
        engine.pull(reference, seconds=PULL_SECONDS)
    except ImageMissingError as error:
        if local is None:
            raise
        say(f"{reference} cannot be had; making {local.tag} from this machine's package mirror")
        _make_base(engine, local, error.message)
        return local.tag
    return reference


def _is_here(engine: Engine, reference: str, packages: str = "") -> bool:
    try:
        labels = engine.image(reference).labels
    except ImageMissingError:
        return False
    return not packages or labels.get(PACKAGES_LABEL) == packages


def _make_base(engine: Engine, local: LocalBase, why: str) -> None:
    with (Path(tempfile.gettempdir()) / f"bura-images-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _is_here(engine, local.tag, ",".join(local.packages)):
            return
        failure = _run_script(local)
    if failure:
        raise ImageMissingError(
            f"no base image: {why}; nor could {local.tag} be made: {failure}",
            f"run as root: docker/make-base.sh {local.tag} {' '.join(local.packages)}",
        )


def _run_script(local: LocalBase) -> str:
    """Make a local base image; return why it failed, or an empty string."""
    try:
        made = subprocess.run(
            [REPOSITORY / "docker" / "make-base.sh", local.tag, *local.packages],
            check=False,
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if made.returncode == 0:
        return ""
    return (made.stderr.strip().splitlines() or [f"exit code {made.returncode}"])[-1]


def _build_arguments(engine: Engine, text: str, say: Callable[[str], None]) -> dict[str, str]:
    """Return values for those arguments that a Dockerfile declares, its base among them."""
    found = re.findall(r"^\s*ARG\s+(\w+)(?:=(\S+))?", text, re.MULTILINE | re.IGNORECASE)
    declared: dict[str, str] = dict(found)
    arguments = {
        name: os.environ[name] for name in HANDED_ON if name in declared and os.environ.get(name)
    }
    if declared.get("BASE"):
        arguments["BASE"] = base_image(declared["BASE"].strip("\"'"), engine=engine, say=say)
    elif re.search(rf"^\s*FROM\s+{PYTHON_BOT}(:latest)?(\s|$)", text, re.MULTILINE):
        python_bot_image(engine=engine, say=say)
    return arguments


def _accept(engine: Engine, image: str, origin: str) -> BotImage:
    info = engine.image(image)
    reason = info.refusal()
    if reason:
        raise ImageRefusedError(f"cannot take {origin} as a bot: {reason}")
    # A name of ours keeps it from being pruned as one that nobody uses.
    engine.tag(info.id, f"{KEPT}:{_short(info.id)}")
    return BotImage(info.id)


def _restore_names(engine: Engine, names: list[str], before: dict[str, str]) -> list[str]:
    """Undo what loading an archive did to names; return those it took from other images."""
    moved = []
    for name in names:
        if name.startswith("sha256:"):
            continue
        image = engine.image(name).id
        # Without a name of ours the image would go with its last name.
        engine.tag(image, f"{KEPT}:{_short(image)}")
        if name not in before:
            engine.remove_image(name)
        elif before[name] != image:
            _give_back(engine, name, before[name])
            moved.append(name)
    return moved


def _take_names_back(engine: Engine, named: Collection[str], before: dict[str, str]) -> None:
    _, now = engine.images()
    for name, image in before.items():
        # A name that is missing was removed by somebody else: loading only ever moves names.
        if now.get(name, image) != image:
            _give_back(engine, name, image)
    for name in named:
        if name in now and name not in before:
            engine.remove_image(name)


def _give_back(engine: Engine, name: str, image: str) -> None:
    try:
        engine.tag(image, name)
    except ImageMissingError:
        # Others remove images meanwhile; then the name is nobody's.
        engine.remove_image(name)


def _names_in(path: Path) -> set[str]:
    """Return the names that an archive wants for its images, as far as they can be read."""
    with suppress(*UNREADABLE, RecursionError), tarfile.open(path) as archive:
        return {
            name
            for member in archive
            if posixpath.normpath(f"/{member.name}") == "/manifest.json"
            for name in _names_of(archive.extractfile(member))
        }
    return set()


def _names_of(manifest: IO[bytes] | None) -> list[str]:
    images = json.loads(manifest.read(MAX_MANIFEST_BYTES)) if manifest else []
    listed = [
        image.get("RepoTags")
        for image in (images if isinstance(images, list) else [])
        if isinstance(image, dict)
    ]
    return [
        name
        for names in listed
        if isinstance(names, list)
        for name in names
        if isinstance(name, str)
    ]


def _only_image(path: Path, held: set[str], moved: list[str]) -> str:
    if moved:
        raise ImageRefusedError(
            f"{path} takes the name of another image here: {', '.join(moved)}",
            "save the image under a name of its own",
        )
    if len(held) != 1:
        raise ImageRefusedError(f"{path} holds {len(held)} images: expected one")
    return next(iter(held))


def _check_layers(path: Path) -> None:
    """Refuse an archive in which a folder that the engine mounts over is something else.

    Engines have followed such links on the machine itself (CVE-2026-41579). They also unpack the
    archive, and one that opens a pipe in it waits for ever.
    """
    room, own = _Room(path), _Room(path)
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                _check_header(path, member)
                own.take(member.size)
                if not (member.isfile() or member.isdir() or member.issym() or member.islnk()):
                    raise ImageRefusedError(
                        f"in {path}, {member.name} is neither a file nor a folder nor a link",
                        "make the archive with docker save",
                    )
                file = archive.extractfile(member) if member.isfile() else None
                if file is not None:
                    _check_layer(path, member.name, file, room)
    except UNREADABLE as error:
        # How each way of unpacking failed is told in a line of its own.
        reason = str(error).partition("\n")[0].rstrip(":")
        raise ImageRefusedError(
            f"{path} cannot be read as the archive of an image ({reason})",
            "give the folder with the Dockerfile, or an archive made with docker save",
        ) from error


def _check_layer(path: Path, name: str, file: IO[bytes], room: _Room) -> None:
    begin = file.read(6)
    if begin.startswith(UNKNOWN_PACKING):
        raise ImageRefusedError(
            f"in {path}, {name} is packed otherwise than with gzip, and cannot be looked into",
            "save the image unpacked or with gzip, or name it instead of an archive",
        )
    packed = begin.startswith(b"\x1f\x8b")
    file.seek(0)
    # Only what is packed can be more than the archive's own size.
    source = cast("IO[bytes]", _Bounded(gzip.GzipFile(fileobj=file), room)) if packed else file
    try:
        with tarfile.open(fileobj=source, mode="r|" if packed else "r:") as layer:
            for entry in layer:
                _check_header(path, entry)
                place = posixpath.normpath("/" + entry.name).lstrip("/")
                if place in MOUNTED_OVER and not entry.isdir():
                    raise ImageRefusedError(
                        f"in {path}, /{place} is no folder, so no bot may be run from it"
                    )
    except tarfile.ReadError:
        # Not a layer: a manifest, a configuration.
        return
    except UNREADABLE as error:
        raise ImageRefusedError(f"in {path}, {name} cannot be read: {error}") from error


def _check_header(path: Path, entry: tarfile.TarInfo) -> None:
    # By a negative size the reader goes back, and comes to the same entry for ever.
    if entry.size < 0:
        raise ImageRefusedError(
            f"in {path}, {entry.name} has a size of {entry.size}", "make it with docker save"
        )


class _Room:
    """What the layers of an archive may still unpack to, all together."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._left = MAX_IMAGE_BYTES

    def take(self, size: int) -> None:
        """Take some of it.

        Raises:
            ImageRefusedError: There is not so much left.
        """
        self._left -= size
        if self._left < 0:
            raise ImageRefusedError(
                f"{self._path} unpacks to more than {MAX_IMAGE_BYTES >> 20} MiB",
                "leave out what the bot does not need",
            )


class _Bounded:
    """A stream that gives no more than there is room for."""

    def __init__(self, file: gzip.GzipFile, room: _Room) -> None:
        self._file = file
        self._room = room

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._room.take(len(data))
        return data


def _short(image: str) -> str:
    return image.removeprefix("sha256:")[:16]


def _check_network(engine: Engine, network: str) -> None:
    if network not in {DEFAULT_NETWORK, NO_NETWORK} and not engine.has_network(network):
        raise RefusedError(
            f"there is no network {network!r} to build in",
            f"give {NO_NETWORK}, {DEFAULT_NETWORK}, or one that docker network ls shows",
        )


def _check_size(folder: Path) -> None:
    size = 0
    for parent, _, files in os.walk(folder):
        size += sum(os.lstat(os.path.join(parent, name)).st_size for name in files)  # noqa: PTH118 - hot
        if size > MAX_CONTEXT_BYTES:
            raise ImageRefusedError(
                f"{folder} holds more than {MAX_CONTEXT_BYTES >> 20} MiB",
                "leave out what the image does not need",
            )


def _sources(context: Path) -> Iterator[Path]:
    for path in (context / "burabot").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def _content(base: str, *files: Path) -> str:
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    return hashlib.sha256(json.dumps([base, *hashes]).encode()).hexdigest()


@contextmanager
def _engine(given: Engine | None) -> Iterator[Engine]:
    """Give the engine that was given, or one that is closed at the end."""
    if given is not None:
        yield given
        return
    own = Engine.connect()
    try:
        yield own
    finally:
        own.close()


def main() -> int:
    """Make the base image of Python bots and print its id."""
    try:
        print(python_bot_image(say=print).id)  # noqa: T201 - a program's output
    except ArenaError as error:
        print(error, file=sys.stderr)  # noqa: T201 - a program's output
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
