"""The container engine: the only module that knows its client.

Never attach, never exec, never follow logs: an unread stream keeps a killed container from being
removed. The engine keeps a bounded log, which is read once, after the end.
"""

from __future__ import annotations

import contextlib
import functools
import http.client
import re
import time
import weakref
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import docker
import requests
import urllib3
from docker.errors import APIError, DockerException
from docker.utils import kwargs_from_env, parse_host, parse_repository_tag

from arena.sandbox.base import (
    EngineLostError,
    EngineMissingError,
    ImageMissingError,
    ImageRefusedError,
)
from arena.sandbox.builds import DEFAULT_NETWORK, build_memory, build_settings, was_killed
from arena.sandbox.confinement import LABEL
from arena.sandbox.endpoint import find_endpoint
from arena.sandbox.logs import clean_log
from arena.sandbox.session import ANSWER_SECONDS, Session, ping

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

__all__ = ["Engine", "ImageInfo", "NamedImage", "StartFailedError"]

NAME = re.compile(r"bura-bot-[0-9a-f]{32}")

PAUSES = (0.1, 0.5)
MOST_SILENCES = 2
"""Calls in a row without an answer in time after which nobody waits for the engine to clean up."""
MOST_CAUSES = 100
MOST_BUILDS = 3
# The classic builder lists the images that came of a step before, and then looks at each: one that
# somebody else removes in between breaks the build.
VANISHED = re.compile(
    r"unable to find image|no such image|unknown parent image|failed to get digest", re.IGNORECASE
)

LOST = (
    requests.exceptions.RequestException,
    urllib3.exceptions.HTTPError,
    http.client.HTTPException,
    DockerException,
    OSError,
)
TIMEOUTS = (requests.exceptions.Timeout, urllib3.exceptions.TimeoutError, TimeoutError)
GONE = (404, 409)


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


class StartFailedError(Exception):
    """A container does not run.

    Attributes:
        reason: Why, in one line, in the words of the engine or of the system.
        is_answered: Whether the engine said so; without an answer it may still make the container.
    """

    def __init__(self, reason: str, *, is_answered: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_answered = is_answered


class _ImageVanishedError(ImageRefusedError):
    """A build came upon an image that was there when it began."""


class Engine:
    """The container engine, with its failures told as errors of the platform."""

    def __init__(self, api: docker.APIClient, settings: Mapping[str, Any] | None = None) -> None:
        self._api = api
        self._settings = dict(settings or {})
        self._sessions: list[Session] = []
        self._maps_users: bool | None = None
        self._silences = 0
        # Whoever forgets the engine need not think of its connections.
        self._finalizer = weakref.finalize(self, _close, api, self._sessions)

    @classmethod
    def connect(cls, *, timeout: int = ANSWER_SECONDS) -> Engine:
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
                ping(settings["base_url"].removeprefix("unix://")).close()
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

    def session(self) -> Session:
        """Return the mark by which a later look tells whether this engine lived all the while.

        Raises:
            EngineLostError: If it does not answer.
        """
        if not self._sessions or not self._sessions[-1].is_alive():
            try:
                with self._listening():
                    self._sessions.append(Session(self._socket_path()))
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
        memory: int | None = None,
        network: str = DEFAULT_NETWORK,
    ) -> str:
        """Build an image from a folder and return its id.

        Args:
            folder: What the steps may copy.
            dockerfile: The steps.
            arguments: Values for the arguments of the Dockerfile.
            labels: Labels for the image.
            seconds: How long it may take.
            memory: Bytes that each step may use; by default what the machine can spare.
            network: `none`, `default`, or the name of a network that is here.

        Raises:
            ImageRefusedError: If a step fails or the build takes too long; the message ends with
                the end of the build's output.
            EngineLostError: If the engine fails.
        """
        if memory is None:
            memory = build_memory(self.memory())
        settings = {
            **build_settings(memory, network),
            "path": str(folder),
            "dockerfile": str(dockerfile),
            "buildargs": dict(arguments),
            "labels": dict(labels),
        }
        for _ in range(MOST_BUILDS - 1):
            with contextlib.suppress(_ImageVanishedError):
                return self._build(settings, seconds=seconds)
        return self._build(settings, seconds=seconds)

    def _build(self, settings: Mapping[str, Any], *, seconds: float) -> str:
        folder = settings["path"]
        output: deque[str] = deque(maxlen=40)
        image = ""
        try:
            with self._abandonable(seconds) as client:
                lines = client.build(
                    **settings,
                    # Of the configuration of the command line `docker`, for whatever network.
                    use_config_proxy=False,
                    rm=True,
                    forcerm=True,
                    decode=True,
                    timeout=_whole(seconds),
                )
                for line in _until(lines, seconds):
                    output.extend(_build_lines(line))
                    image = line.get("aux", {}).get("ID", image)
                    if "error" in line:
                        raise _build_failure(settings, line, output)
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

    def memory(self) -> int:
        """Return how many bytes of memory the engine's machine has.

        Raises:
            EngineLostError: If the engine fails.
        """
        return int(self._call("describe itself", self._api.info)["MemTotal"])

    def has_network(self, name: str) -> bool:
        """Tell whether there is a network of exactly this name.

        Raises:
            EngineLostError: If the engine fails.
        """
        # Asked for one, an engine takes the beginning of an id for a name.
        return any(one["Name"] == name for one in self._call("list networks", self._api.networks))

    def images_in_use(self) -> frozenset[str]:
        """Return the ids of images from which a container was made, running or not.

        Raises:
            EngineLostError: If the engine fails.
        """
        found = self._call("list containers", self._api.containers, all=True)
        return frozenset(one["ImageID"] for one in found)

    def run(self, name: str, image: str, settings: Mapping[str, Any]) -> None:
        """Make a container and start it.

        Raises:
            StartFailedError: If it does not run; what was made of it is left to the caller.
        """
        try:
            with self._listening():
                self._api.create_container(image=image, name=name, **settings)
            with self._listening():
                self._api.start(name)
        except LOST as error:
            is_answered = isinstance(error, APIError)
            raise StartFailedError(_one_line(error), is_answered=is_answered) from error

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


def _close(api: docker.APIClient, sessions: list[Session]) -> None:
    api.close()
    for session in sessions:
        session.close()


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


def _build_failure(
    settings: Mapping[str, Any], line: Mapping[str, Any], output: Iterable[str]
) -> ImageRefusedError:
    kind = _ImageVanishedError if VANISHED.search(str(line["error"])) else ImageRefusedError
    reason = "failed"
    if was_killed(line, output):
        mebibytes = settings["container_limits"]["memory"] >> 20
        reason = (
            f"failed: a step was killed, as one is that wants more than {mebibytes} MiB of memory; "
            "let it want less, as by compiling fewer files at once, or submit an image"
        )
    return kind(f"the build of {settings['path']} {reason}:\n{_tail(output)}")


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
