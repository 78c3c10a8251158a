"""Bots in containers: the only module that knows the engine's client.

Never attach, never exec, never follow logs: an unread stream keeps a killed container from being
removed. The engine keeps a bounded log, which is read once, after the end.
"""

from __future__ import annotations

import contextlib
import functools
import http.client
import json
import re
import socket
import threading
import time
import weakref
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

import docker
import requests
import urllib3
from docker.errors import APIError, DockerException
from docker.utils import kwargs_from_env, parse_host, parse_repository_tag

from arena.sandbox.base import (
    BotReport,
    EngineLostError,
    EngineMissingError,
    Exit,
    ImageMissingError,
    ImageRefusedError,
    LimitsMissingError,
)
from arena.sandbox.cgroups import Cgroup, Usage
from arena.sandbox.confinement import (
    LABEL,
    container_settings,
    host_config,
    missing_in_kernel,
    missing_in_process,
    missing_settings,
    new_user,
    process_status,
)
from arena.sandbox.endpoint import find_endpoint
from arena.sandbox.logs import clean_log
from arena.sandbox.owners import is_left, is_live, reap_socket_folders

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from types import TracebackType

    from arena.sandbox.base import BotSource, Limits, RunningBot, StartRequest

__all__ = ["ContainerSandbox", "Engine", "ImageInfo", "NamedImage"]

NAME = re.compile(r"bura-bot-[0-9a-f]{32}")

ENGINE_SECONDS = 20
END_SECONDS = 10
PAUSES = (0.1, 0.5)
MOST_SILENCES = 2
"""Calls in a row without an answer in time after which nobody waits for the engine to clean up."""
EVENTS = (
    "/events?filters=%7B%22type%22:%5B%22container%22%5D,%22label%22:%5B%22bura.nothing%22%5D%7D"
)
"""Those of containers with a label that none has."""
STRAY_SECONDS = 600
# Looking at a process is cheap, reading its control groups is not quite.
SAMPLE_SECONDS = 0.05
CHECK_PAUSES = (0.01, 0.05, 0.2)
PLAIN_RUNTIMES = frozenset({"runc", "crun", "io.containerd.runc.v2"})
CANNOT_START = 127
# The engine writes these to its log as six letters each, and so what was no UTF-8.
ESCAPED_IN_LOGS = str.maketrans(dict.fromkeys("<>&\u2028\u2029\ufffd", "......"))
MOST_CAUSES = 100
SIGNAL_BASE = 128
LAST_SIGNAL = 64

LOST = (
    requests.exceptions.RequestException,
    urllib3.exceptions.HTTPError,
    http.client.HTTPException,
    DockerException,
    OSError,
)
TIMEOUTS = (requests.exceptions.Timeout, urllib3.exceptions.TimeoutError, TimeoutError)
GONE = (404, 409)
# Where engines keep the files of a container while it runs, up to what the image calls /.
ROOT = r"/(?:merged|rootfs(?:/overlayfs/[0-9a-f]{64})?)(?=//?(?!overlayfs/)\w)"
# What the engine says when the image, not the machine, is why nothing starts. Of paths only those
# count that lie inside the container.
BOT_CANNOT_START = re.compile(
    r'exec: "|executable file not found|exec format error|no command specified'
    r"|exec user process|not a directory: unknown|unable to find user|chdir to cwd"
    rf"|{ROOT}[^:]*: (?:not a directory|too many levels of symbolic links)"
    rf"|too many links in \S*{ROOT}"
    rf'|to rootfs at "/(?:run/arena|tmp)": .*{ROOT}//?(?:proc|sys)/',
    re.IGNORECASE,
)
ON_THIS_MACHINE = re.compile(rf"/[^\s:\"]*{ROOT}/?(?=/)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageInfo:
    """What the arena looks at in an image.

    Attributes:
        id: The image id, a digest.
        has_command: Whether it names something to run.
        volumes: Folders it wants writable outside every limit.
        labels: Its labels.
    """

    id: str
    has_command: bool
    volumes: tuple[str, ...]
    labels: Mapping[str, str]

    def refusal(self) -> str:
        """Return why no bot may be run from this image, or an empty string."""
        if self.volumes:
            return f"it declares VOLUME {', '.join(self.volumes)}, and bots may write to /tmp only"
        forged = sorted(one for one in self.labels if one.startswith(LABEL))
        if forged:
            return f"its label {forged[0]} is one of those by which the arena knows its containers"
        if not self.has_command:
            return "it has neither CMD nor ENTRYPOINT, so there is nothing to run"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedImage:
    """An image that is here under some name.

    Attributes:
        id: The image id.
        names: All its names with their tags.
        bytes: Its size, what it shares with others included.
        used: When it last got a name, in the engine's spelling; empty if the engine does not say.
    """

    id: str
    names: tuple[str, ...]
    bytes: int
    used: str


class Engine:
    """The container engine, with its failures told as errors of the platform."""

    def __init__(self, api: docker.APIClient, settings: Mapping[str, Any] | None = None) -> None:
        self._api = api
        self._settings = dict(settings or {})
        self._sessions: list[_Session] = []
        self._maps_users: bool | None = None
        self._silences = 0
        # Whoever forgets the engine need not think of its connections.
        self._finalizer = weakref.finalize(self, _close, api, self._sessions)

    @classmethod
    def connect(cls, *, timeout: int = ENGINE_SECONDS) -> Engine:
        """Reach the engine of this machine: the one that `docker` would use.

        Raises:
            EngineMissingError: If none answers.
        """
        endpoint = find_endpoint()
        try:
            parse_host(endpoint.address)
        except DockerException as error:
            raise EngineMissingError(
                f"{endpoint} is no address of a container engine: {_one_line(error)}",
                "give unix:///PATH or tcp://HOST:PORT",
            ) from error
        try:
            settings: dict[str, Any] = dict(kwargs_from_env())
            settings.setdefault("base_url", endpoint.address)
            if settings["base_url"].startswith("unix://"):
                # The client leaks the socket with which it fails to connect.
                _ping(settings["base_url"].removeprefix("unix://")).close()
            api = docker.APIClient(version="auto", timeout=timeout, **settings)
            return cls(api, settings)
        except PermissionError as error:
            raise EngineMissingError(
                f"this user may not use the container engine at {endpoint}: {_one_line(error)}",
                "run as a member of the group docker",
            ) from error
        except LOST as error:
            raise EngineMissingError(
                f"no container engine answers at {endpoint}: {_one_line(error)}",
                "start it, for instance with: systemctl start docker",
            ) from error

    def close(self) -> None:
        """Give the connections back."""
        self._finalizer()

    def session(self) -> _Session:
        """Return the mark by which a later look tells whether this engine lived all the while.

        Raises:
            EngineLostError: If it does not answer.
        """
        if not self._sessions or not self._sessions[-1].is_alive():
            try:
                with self._listening():
                    self._sessions.append(_Session(self._socket_path()))
            except OSError as error:
                reason = _one_line(error)
                raise EngineLostError(f"the container engine does not answer: {reason}") from error
        return self._sessions[-1]

    @property
    def is_silent(self) -> bool:
        """Whether the engine seems to hang: it took the last calls and did not answer in time."""
        return self._silences >= MOST_SILENCES

    def image(self, reference: str) -> ImageInfo:
        """Look an image up on this machine, by id or by name.

        Raises:
            ImageMissingError: If it is not here.
            EngineLostError: If the engine fails.
        """
        # What is no reference (400) names nothing either.
        missing = (400, 404)
        found = self._call("look at an image", self._api.inspect_image, reference, gone=missing)
        if found is None:
            raise ImageMissingError(f"no image {reference} on this machine")
        config = found.get("Config") or {}
        return ImageInfo(
            id=found["Id"],
            has_command=bool(config.get("Cmd") or config.get("Entrypoint")),
            volumes=tuple(sorted(config.get("Volumes") or {})),
            labels=config.get("Labels") or {},
        )

    def pull(self, reference: str, *, seconds: float) -> None:
        """Fetch an image from its registry.

        Raises:
            ImageMissingError: If it cannot be had.
        """
        name, tag = parse_repository_tag(reference)
        try:
            with self._abandonable(seconds) as client:
                lines = client.pull(name, tag=tag or "latest", stream=True, decode=True)
                for line in _until(lines, seconds):
                    if "error" in line:
                        raise ImageMissingError(f"cannot pull {reference}: {line['error']}")
        except TIMEOUTS as error:
            raise ImageMissingError(f"cannot pull {reference} within {seconds:.0f} s") from error
        except LOST as error:
            raise ImageMissingError(f"cannot pull {reference}: {_one_line(error)}") from error

    def build(
        self,
        folder: Path,
        *,
        dockerfile: Path,
        arguments: Mapping[str, str],
        labels: Mapping[str, str],
        seconds: float,
    ) -> str:
        """Build an image from a folder and return its id.

        Raises:
            ImageRefusedError: If a step fails or the build takes too long; the message ends with
                the end of the build's output.
            EngineLostError: If the engine fails.
        """
        output: deque[str] = deque(maxlen=40)
        image = ""
        try:
            with self._abandonable(seconds) as client:
                lines = client.build(
                    path=str(folder),
                    dockerfile=str(dockerfile),
                    buildargs=dict(arguments),
                    labels=dict(labels),
                    rm=True,
                    forcerm=True,
                    decode=True,
                    timeout=_whole(seconds),
                )
                for line in _until(lines, seconds):
                    output.extend(_build_lines(line))
                    image = line.get("aux", {}).get("ID", image)
                    if "error" in line:
                        raise ImageRefusedError(f"the build of {folder} failed:\n{_tail(output)}")
        except TIMEOUTS as error:
            raise ImageRefusedError(
                f"the build of {folder} took more than {seconds:.0f} s:\n{_tail(output)}"
            ) from error
        except LOST as error:
            if isinstance(error, DockerException) and not _is_server_error(error):
                raise ImageRefusedError(f"cannot build {folder}: {_one_line(error)}") from error
            raise EngineLostError(f"the engine failed to build: {_one_line(error)}") from error
        return image

    def load(self, archive: Path, *, seconds: float) -> list[str]:
        """Load an archive and return the names and ids that the engine says it held.

        Raises:
            ImageRefusedError: If the engine cannot read it.
        """
        loaded = []
        try:
            with archive.open("rb") as file, self._abandonable(seconds) as client:
                lines = client.load_image(file)  # type: ignore[no-untyped-call]
                for line in _until(lines, seconds):
                    if "error" in line:
                        raise ImageRefusedError(f"cannot load {archive}: {line['error']}")
                    text = line.get("stream", "")
                    loaded += re.findall(r"Loaded image(?: ID)?: (\S+)", text)
        except TIMEOUTS as error:
            raise ImageRefusedError(f"{archive} took more than {seconds:.0f} s to load") from error
        except LOST as error:
            raise ImageRefusedError(f"cannot load {archive}: {_one_line(error)}") from error
        return loaded

    def images(self) -> tuple[frozenset[str], dict[str, str]]:
        """Return the ids of all images, and the id behind each tag.

        Raises:
            EngineLostError: If the engine fails.
        """
        found = self._call("list images", self._api.images, all=True)
        tags = {tag: one["Id"] for one in found for tag in one["RepoTags"] or ()}
        tags.pop("<none>:<none>", None)
        return frozenset(one["Id"] for one in found), tags

    def tag(self, image: str, reference: str) -> None:
        """Give an image a name, taking the name from whatever had it.

        Raises:
            ImageMissingError: If the image is not here.
            EngineLostError: If the engine fails.
        """
        name, tag = parse_repository_tag(reference)
        if self._call("tag an image", self._api.tag, image, name, tag=tag, gone=(404,)) is None:
            raise ImageMissingError(f"no image {image} on this machine")

    def remove_image(self, reference: str) -> None:
        """Remove a name, or an image that nothing uses; harmless when it is gone or in use.

        Raises:
            EngineLostError: If the engine fails.
        """
        self._call("remove an image", self._api.remove_image, reference, gone=GONE)

    def about(self) -> dict[str, Any]:
        """Return what the engine says of itself and of the programs it is made of.

        Raises:
            EngineLostError: If the engine fails.
        """
        found = dict(self._call("describe itself", self._api.info))
        version = self._call("tell its version", self._api.version)
        parts = {one["Name"]: one["Version"] for one in version.get("Components") or ()}
        return {**found, "Parts": parts}

    def maps_users(self) -> bool:
        """Tell whether the users of containers are others outside, of which each has 65,536.

        Raises:
            EngineLostError: If the engine fails.
        """
        if self._maps_users is None:
            found = self._call("describe itself", self._api.info)
            options = found.get("SecurityOptions") or ()
            self._maps_users = any("rootless" in one or "userns" in one for one in options)
        return self._maps_users

    def named_images(self, repository: str) -> list[NamedImage]:
        """Return the images under one name, with their last use: the longest unused first.

        Raises:
            EngineLostError: If the engine fails.
        """
        found = self._call("list images", self._api.images, name=repository)
        images = []
        for one in found:
            more = self._call("look at an image", self._api.inspect_image, one["Id"], gone=(404,))
            if more is not None:
                images.append(
                    NamedImage(
                        id=one["Id"],
                        names=tuple(sorted(more.get("RepoTags") or ())),
                        bytes=int(one["Size"]),
                        used=str((more.get("Metadata") or {}).get("LastTagTime") or ""),
                    )
                )
        return sorted(images, key=lambda image: image.used)

    def images_in_use(self) -> frozenset[str]:
        """Return the ids of images from which a container was made, running or not.

        Raises:
            EngineLostError: If the engine fails.
        """
        found = self._call("list containers", self._api.containers, all=True)
        return frozenset(one["ImageID"] for one in found)

    def create(self, name: str, image: str, settings: Mapping[str, Any]) -> None:
        """Create a container; the client's own errors come out, for the caller tells blame."""
        with self._listening():
            self._api.create_container(image=image, name=name, **settings)

    def start(self, name: str) -> None:
        """Start a container; the client's own errors come out, for the caller tells blame."""
        with self._listening():
            self._api.start(name)

    def inspect(self, name: str) -> dict[str, Any] | None:
        """Return what the engine knows of a container, None if it knows none.

        Raises:
            EngineLostError: If the engine fails.
        """
        found = self._call("look at a container", self._api.inspect_container, name, gone=(404,))
        return None if found is None else dict(found)

    def kill(self, name: str) -> None:
        """Send SIGKILL; harmless when the container has ended.

        Raises:
            EngineLostError: If the engine fails.
        """
        self._call("kill a container", self._api.kill, name, gone=GONE)

    def output(self, name: str) -> bytes:
        """Return what the engine kept of an ended container's output.

        Raises:
            EngineLostError: If the engine fails.
        """
        found = self._call("read a log", self._api.logs, name, gone=GONE)
        return bytes(found or b"")

    def remove(self, name: str) -> None:
        """Remove a container and its volumes; harmless when it is gone or going.

        Raises:
            EngineLostError: If the engine fails.
        """
        remove = functools.partial(self._api.remove_container, v=True, force=True)
        self._call("remove a container", remove, name, gone=GONE)

    def bots(self) -> list[tuple[str, str, str]]:
        """Return name, owner and process stamp of all bots' containers.

        Raises:
            EngineLostError: If the engine fails.
        """
        wanted = {"label": f"{LABEL}kind=bot"}
        found = self._call("list containers", self._api.containers, all=True, filters=wanted)
        bots = []
        for one in found:
            names = [name.lstrip("/") for name in one["Names"]]
            labels = one["Labels"]
            # Labels can come from an image that somebody else runs; the name cannot.
            if len(names) == 1 and NAME.fullmatch(names[0]):
                owner, stamp = labels.get(f"{LABEL}owner", ""), labels.get(f"{LABEL}process", "")
                bots.append((names[0], owner, stamp))
        return bots

    @contextlib.contextmanager
    def _abandonable(self, seconds: float) -> Iterator[docker.APIClient]:
        """Give a client of its own for a long answer: closing it makes the engine give up."""
        settings = {**self._settings, "timeout": _whole(seconds)}
        client = docker.APIClient(version=self._api.api_version, **settings)
        answers: list[requests.Response] = []
        client.hooks["response"].append(lambda answer, **_: answers.append(answer))
        try:
            yield client
        finally:
            for answer in answers:
                answer.close()
            client.close()

    @contextlib.contextmanager
    def _listening(self) -> Iterator[None]:
        """Count the calls in a row that are not answered in time."""
        try:
            yield
        except LOST as error:
            self._silences = self._silences + 1 if _is_timeout(error) else 0
            raise
        self._silences = 0

    def _socket_path(self) -> str | None:
        adapter = self._api.get_adapter(self._api.base_url)
        return getattr(adapter, "socket_path", None)

    def _call(
        self,
        what: str,
        call: Callable[..., Any],
        *args: Any,
        gone: Collection[int] = (),
        **more: Any,
    ) -> Any:
        """Ask the engine, again after a pause if it fails; only for what may be asked twice.

        One that does not answer in time is not asked again: whoever waits for it would be taken to
        stand still before it could say why.
        """
        for pause in (*PAUSES, None):
            try:
                with self._listening():
                    return call(*args, **more)
            except LOST as error:
                if isinstance(error, APIError) and error.status_code in gone:
                    return None
                if pause is None or _is_timeout(error):
                    raise EngineLostError(
                        f"the container engine failed to {what}: {_one_line(error)}"
                    ) from error
                time.sleep(pause)
        return None


class _Session:
    """A call to the engine without end: when it ends, the engine was stopped or restarted.

    After that no exit code can be believed, since a restarted engine invents one. The call asks for
    events that never happen, because engines close connections without a call after minutes.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._socket = None if path is None else _call(path, EVENTS, b"\r\n\r\n")

    def is_alive(self) -> bool:
        """Tell whether the engine that was there at the beginning still is."""
        if self._socket is None:
            return True
        try:
            # Whatever comes now is the end.
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def takes_calls(self) -> bool:
        """Tell whether the engine lives and still answers new connections.

        One that is shutting down ends its containers first, and its old connections last.
        """
        if not self.is_alive():
            return False
        if self._path is None:
            return True
        try:
            _ping(self._path).close()
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()


def _close(api: docker.APIClient, sessions: list[_Session]) -> None:
    api.close()
    for session in sessions:
        session.close()


def _ping(path: str) -> socket.socket:
    return _call(path, "/_ping", b"OK")


def _call(path: str, what: str, end: bytes) -> socket.socket:
    """Ask the engine for something, and return the connection when the answer's beginning is in."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(ENGINE_SECONDS)
        connection.connect(path)
        connection.sendall(f"GET {what} HTTP/1.1\r\nHost: engine\r\n\r\n".encode())
        answer = b""
        while not answer.endswith(end):
            part = connection.recv(4096)
            if not part:
                raise ConnectionResetError("the engine closed the connection")  # noqa: TRY301 - closed below
            answer += part
        if not answer.startswith(b"HTTP/1.1 200"):
            raise ConnectionRefusedError(answer.partition(b"\r\n")[0].decode(errors="replace"))  # noqa: TRY301 - closed below
        # With a timeout Python would wait for it even if told not to.
        connection.settimeout(0)
    except BaseException:
        connection.close()
        raise
    return connection


class ContainerSandbox:
    """Runs each bot in a container of its own, with no network and little else."""

    name = "container"
    is_security_boundary = True
    note = ""

    def __init__(self, engine: Engine | None = None) -> None:
        self.engine = Engine.connect() if engine is None else engine

    def prepare(self, source: BotSource) -> None:
        """Check that the image is here and may be run.

        Raises:
            ImageMissingError: If it is not on this machine.
            ImageRefusedError: If no bot may be run from it.
            EngineLostError: If the engine fails.
        """
        if not source.image.startswith("sha256:"):
            raise ImageRefusedError(
                f"{source.image or source.directory} is not an image id",
                "submit the bot as an image, or run it with the process sandbox",
            )
        reason = self.engine.image(source.image).refusal()
        if reason:
            raise ImageRefusedError(f"cannot run {source.image}: {reason}")

    def start(self, request: StartRequest) -> RunningBot:
        """Start a bot; one whose image cannot be started has ended with exit code 127.

        Raises:
            ImageMissingError: If the image is not on this machine.
            ImageRefusedError: If no bot may be run from it.
            LimitsMissingError: If a limit is not in force.
            EngineLostError: If the engine fails.
        """
        self._remove_strays()
        asked_ns = time.monotonic_ns()
        self.prepare(request.source)
        session = self.engine.session()
        name = f"bura-bot-{uuid4().hex}"
        try:
            user = new_user(mapped=self.engine.maps_users())
            self.engine.create(name, request.source.image, _everything(request, user))
            self.engine.start(name)
        except LOST as error:
            reason = _one_line(error)
            _remove_or_leave(self.engine, name)
            if not isinstance(error, APIError):
                # Without an answer it may still be made.
                _strays.add(name)
            if isinstance(error, APIError) and BOT_CANNOT_START.search(reason):
                return _NeverStarted(_inside(reason, request), asked_ns)
            if isinstance(error, APIError) and "CPUs are not available" in reason:
                raise LimitsMissingError(f"cannot pin a bot to cores: {reason}") from error
            raise EngineLostError(
                f"the container engine failed to start a bot: {reason}"
            ) from error
        bot = _Container(self.engine, session, name, request.limits, asked_ns)
        try:
            bot.check_limits()
        except BaseException:
            _remove_or_leave(self.engine, name)
            raise
        return bot

    def reap(
        self, owner: str = "", live_owners: Collection[str] = (), dead_owners: Collection[str] = ()
    ) -> int:
        """Remove containers and socket folders of the dead and return their number.

        Raises:
            EngineLostError: If the engine fails.
        """
        self._remove_strays()
        live = {owner, *live_owners}
        left = [
            name
            for name, its, stamp in self.engine.bots()
            if is_left(its, stamp, live, dead_owners)
        ]
        for name in left:
            # One that cannot be removed now must not keep the next run from starting.
            with contextlib.suppress(EngineLostError):
                self.engine.remove(name)
            if self.engine.is_silent:
                break
        return len(left) + reap_socket_folders(live, dead_owners)

    def _remove_strays(self) -> None:
        """Remove what the engine made or kept after it had been given up."""
        for name in _strays.names():
            if self.engine.is_silent:
                return
            with contextlib.suppress(EngineLostError):
                if self.engine.inspect(name) is not None:
                    self.engine.remove(name)
                    _strays.forget(name)

    def leftovers(self, live_owners: Collection[str]) -> list[str]:
        """Return the names of containers whose owner is not known to live.

        Raises:
            EngineLostError: If the engine fails.
        """
        return [
            name
            for name, owner, stamp in self.engine.bots()
            if not is_live(owner, stamp, live_owners)
        ]


class _Strays:
    """Names of containers that this process has given up, as long as an engine may be late."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since: dict[str, float] = {}

    def add(self, name: str) -> None:
        with self._lock:
            self._since[name] = time.monotonic()

    def forget(self, name: str) -> None:
        with self._lock:
            self._since.pop(name, None)

    def names(self) -> list[str]:
        oldest = time.monotonic() - STRAY_SECONDS
        with self._lock:
            self._since = {name: at for name, at in self._since.items() if at >= oldest}
            return list(self._since)


_strays = _Strays()


def _remove_or_leave(engine: Engine, name: str) -> bool:
    """Remove a container now; else it goes with the next start, which False says."""
    if not engine.is_silent:
        with contextlib.suppress(EngineLostError):
            engine.remove(name)
            return True
    _strays.add(name)
    return False


class _NeverStarted:
    """A bot whose image the engine could not start."""

    def __init__(self, reason: str, asked_ns: int) -> None:
        self.start_seconds = (time.monotonic_ns() - asked_ns) / 1e9
        self._reason = reason

    def poll(self) -> Exit:
        return Exit(code=CANNOT_START)

    def ran_out_of_memory(self) -> bool:
        return False

    def kill(self) -> None:
        """Do nothing: there is nothing to kill."""

    def finish(self) -> BotReport:
        log, truncated = clean_log(f"cannot start: {self._reason}\n".encode(), 1 << 14)
        return BotReport(exit=self.poll(), out_of_memory=False, log=log, log_truncated=truncated)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class _Container:
    """A container that was started."""

    def __init__(
        self, engine: Engine, session: _Session, name: str, limits: Limits, asked_ns: int
    ) -> None:
        self.start_seconds = (time.monotonic_ns() - asked_ns) / 1e9
        self.name = name
        self._engine = engine
        self._session = session
        self._limits = limits
        self._lock = threading.RLock()
        self._pid = 0
        self._cgroup = Cgroup({})
        self._usage = Usage()
        self._sampled = 0.0
        self._killed = False
        self._exit: Exit | None = None
        self._failure: EngineLostError | None = None
        self._outcome: BotReport | EngineLostError | None = None

    def check_limits(self) -> None:
        """Read the limits back from the engine and from the kernel.

        Raises:
            LimitsMissingError: If one is not in force; the message names it.
            EngineLostError: If the engine fails.
        """
        found = self._inspect()
        missing = missing_settings(self._limits, found["HostConfig"], found["Config"])
        pid = int(found["State"]["Pid"])
        if pid and _is_container(pid, found["Id"]):
            self._pid = pid
            self._cgroup = Cgroup.of(pid)
            has_status = found["HostConfig"].get("Runtime") in PLAIN_RUNTIMES
            missing += self._missing_in_kernel(found["Id"], has_status=has_status)
        if missing:
            raise LimitsMissingError(
                f"the engine does not enforce: {', '.join(missing)}",
                "nothing was run; see what the engine supports with: docker info",
            )
        self._sample()

    def _missing_in_kernel(self, container: str, *, has_status: bool) -> list[str]:
        """Name what the kernel does not enforce, unless the bot ends while it is being asked.

        A process that is ending has left its control groups, which proves nothing.
        """
        missing: list[str] = []
        for pause in (*CHECK_PAUSES, None):
            missing = missing_in_kernel(self._limits, self._cgroup)
            if has_status:
                missing += missing_in_process(self._pid)
            if not missing or not _is_container(self._pid, container):
                return []
            if pause is not None:
                time.sleep(pause)
        return missing

    def poll(self) -> Exit | None:
        with self._lock, self._remembering():
            if self._exit is None and not self._is_seen_running():
                state = self._inspect()["State"]
                if not state["Running"]:
                    self._exit = self._believe(state)
            return self._exit

    def ran_out_of_memory(self) -> bool:
        with self._lock:
            self._sample()
            return bool(self._usage.oom_kills)

    def kill(self) -> None:
        with self._lock, self._remembering():
            if self.poll() is None:
                self._sample()
                self._killed = True
                self._engine.kill(self.name)

    def finish(self) -> BotReport:
        with self._lock:
            if self._outcome is None:
                try:
                    self._outcome = self._ended()
                except EngineLostError as error:
                    self._outcome = error
                finally:
                    is_removed = _remove_or_leave(self._engine, self.name)
                if isinstance(self._outcome, BotReport) and not is_removed:
                    self._outcome = replace(self._outcome, leftover=self.name)
            if isinstance(self._outcome, EngineLostError):
                raise self._outcome
            return self._outcome

    def _ended(self) -> BotReport:
        """End the bot and collect what is known of it."""
        with self._remembering():
            if self._engine.is_silent:
                raise EngineLostError("the container engine does not answer any more")
            before = None if self._killed else self.poll()
            if before is None:
                self._sample()
                self._killed = True
                self._engine.kill(self.name)
            return self._collect(before, self._end())

    @contextlib.contextmanager
    def _remembering(self) -> Iterator[None]:
        """Keep a failure of the engine, and raise it again at once when asked again.

        No later answer could be believed, and each might be waited for in vain.
        """
        if self._failure is not None:
            raise self._failure
        try:
            yield
        except EngineLostError as error:
            self._failure = error
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.finish()

    def _collect(self, before: Exit | None, state: Mapping[str, Any]) -> BotReport:
        data = self._engine.output(self.name)
        rotated = _json_size(data) > 0.9 * self._limits.log
        log, truncated = clean_log(data, self._limits.log, truncated=rotated)
        return BotReport(
            exit=before,
            out_of_memory=self._out_of_memory(state),
            log=log,
            log_truncated=truncated,
            cpu_seconds=self._usage.cpu_seconds,
            peak_memory=self._usage.peak_memory,
            throttled_seconds=self._usage.throttled_seconds,
            throttled_periods=self._usage.throttled_periods,
            memory_kills=self._usage.oom_kills,
        )

    def _end(self) -> Mapping[str, Any]:
        """Wait for the container's end and return its last state."""
        deadline = time.monotonic() + END_SECONDS
        pause = 0.002
        while True:
            state: Mapping[str, Any] = self._inspect()["State"]
            if not state["Running"]:
                return state
            if time.monotonic() > deadline:
                raise EngineLostError(f"container {self.name} did not end within {END_SECONDS} s")
            time.sleep(pause)
            pause = min(2 * pause, 0.1)

    def _inspect(self) -> dict[str, Any]:
        found = self._engine.inspect(self.name)
        if found is None:
            raise EngineLostError(f"container {self.name} was removed by somebody else")
        return found

    def _is_seen_running(self) -> bool:
        """Tell by the process table alone that the bot runs: no call to the engine is needed."""
        if not self._pid or not Path(f"/proc/{self._pid}/ns").exists():
            return False
        if self._session.is_alive() and _is_running(self._pid):
            if time.monotonic() - self._sampled >= SAMPLE_SECONDS:
                self._sample()
            return True
        return False

    def _believe(self, state: Mapping[str, Any]) -> Exit:
        if not self._session.takes_calls():
            raise EngineLostError("the container engine was restarted while a bot ran")
        code = int(state["ExitCode"])
        oom = self._out_of_memory(state)
        if SIGNAL_BASE < code <= SIGNAL_BASE + LAST_SIGNAL:
            return Exit(signal=code - SIGNAL_BASE, out_of_memory=oom)
        return Exit(code=code, out_of_memory=oom)

    def _out_of_memory(self, state: Mapping[str, Any]) -> bool:
        return bool(self._usage.oom_kills) or bool(state["OOMKilled"])

    def _sample(self) -> None:
        self._sampled = time.monotonic()
        now = self._cgroup.usage()
        old = self._usage
        self._usage = Usage(
            _most(old.oom_kills, now.oom_kills),
            _most(old.cpu_seconds, now.cpu_seconds),
            _most(old.peak_memory, now.peak_memory),
            _most(old.throttled_seconds, now.throttled_seconds),
            _most(old.throttled_periods, now.throttled_periods),
        )


def _most(old: float | None, new: float | None) -> Any:
    return old if new is None else new if old is None else max(old, new)


def _inside(reason: str, request: StartRequest) -> str:
    """Return what an engine says of a container, without the places of this machine."""
    return ON_THIS_MACHINE.sub("", reason.replace(str(request.socket_dir), "SOCKET"))


def _everything(request: StartRequest, user: str) -> dict[str, Any]:
    config = host_config(request.limits, request.socket_dir)
    settings = container_settings(request, user)
    # Labels stay outside: they are how the reaper knows whose a container is.
    request.check_handed(config, {key: settings[key] for key in settings if key != "labels"})
    return {"host_config": config, **settings}


def _is_container(pid: int, container: str) -> bool:
    """Tell whether the engine's pid is that of this machine, not of a virtual machine's."""
    try:
        return container in Path(f"/proc/{pid}/cgroup").read_text() and _is_running(pid)
    except OSError:
        return False


def _is_running(pid: int) -> bool:
    return process_status(pid).get("State", "X")[0] not in "ZX"


def _json_size(data: bytes) -> int:
    """Estimate how much room the engine's log took for this output."""
    text = data.decode("utf-8", "replace").translate(ESCAPED_IN_LOGS)
    entries = max(data.count(b"\n"), len(data) >> 14)
    return len(json.dumps(text, ensure_ascii=False).encode()) + 70 * entries


def _until(lines: Iterable[dict[str, Any]], seconds: float) -> Iterator[dict[str, Any]]:
    """Give what the engine streams, for so long.

    Raises:
        TimeoutError: When the time is over.
    """
    deadline = time.monotonic() + seconds
    for line in lines:
        yield line
        if time.monotonic() > deadline:
            raise TimeoutError


def _whole(seconds: float) -> int:
    return max(1, int(seconds))


def _is_timeout(error: BaseException) -> bool:
    # What comes too late after the head of an answer, the client wraps as a lost connection.
    return isinstance(error, TIMEOUTS) or any(isinstance(one, TIMEOUTS) for one in error.args)


def _is_server_error(error: DockerException) -> bool:
    return isinstance(error, APIError) and error.is_server_error()


def _build_lines(line: Mapping[str, Any]) -> Iterable[str]:
    text = line.get("stream") or line.get("error") or ""
    return [one[-400:] for one in str(text).splitlines() if one.strip()]


def _tail(output: Iterable[str]) -> str:
    return clean_log("\n".join(output).encode(), 8192)[0]


def _one_line(error: BaseException) -> str:
    text = getattr(error, "explanation", None) or _of_the_system(error) or str(error)
    return " ".join(clean_log(str(text).encode(), 2000)[0].split()) or type(error).__name__


def _of_the_system(error: BaseException) -> str:
    """Return what the system said, which the client wraps into errors of several libraries."""
    waiting: list[object] = [error]
    for one in waiting:
        if isinstance(one, OSError) and one.errno and one.strerror:
            return str(one.strerror)
        if isinstance(one, BaseException) and len(waiting) < MOST_CAUSES:
            waiting += (*one.args, getattr(one, "reason", None), one.__cause__, one.__context__)
    return ""
