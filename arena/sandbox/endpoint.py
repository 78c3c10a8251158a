"""Where the container engine of this machine is reached, and why there."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from arena.sandbox.base import EngineMissingError

__all__ = ["Endpoint", "find_endpoint"]

USUAL = Path("/var/run/docker.sock")
# Below the home folder: Docker Desktop (twice), Colima, OrbStack.
PERSONAL = (
    ".docker/run/docker.sock",
    ".docker/desktop/docker.sock",
    ".colima/default/docker.sock",
    ".orbstack/run/docker.sock",
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address of an engine.

    Attributes:
        address: As DOCKER_HOST would name it.
        origin: Why this one, in words.
    """

    address: str
    origin: str

    def __str__(self) -> str:
        return f"{self.address} ({self.origin})"


def find_endpoint() -> Endpoint:
    """Return the engine that `docker` would use: DOCKER_HOST, else its context, else a socket.

    Raises:
        EngineMissingError: If the chosen context is not there or cannot be read.
    """
    host = os.environ.get("DOCKER_HOST")
    if host:
        return Endpoint(host, "from DOCKER_HOST")
    context = _context()
    if context != "default":
        return Endpoint(_address(context), f"from the docker context {context}")
    for path in _sockets():
        if path.is_socket():
            return Endpoint(f"unix://{path}", "the first socket found")
    return Endpoint(f"unix://{USUAL}", "the usual socket; no other was found")


def _folder() -> Path:
    return Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker")


def _context() -> str:
    named = os.environ.get("DOCKER_CONTEXT")
    if named:
        return named
    try:
        config = json.loads((_folder() / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "default"
    current = config.get("currentContext") if isinstance(config, dict) else None
    return current if isinstance(current, str) and current else "default"


def _address(context: str) -> str:
    name = hashlib.sha256(context.encode()).hexdigest()
    path = _folder() / "contexts" / "meta" / name / "meta.json"
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
        return str(meta["Endpoints"]["docker"]["Host"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = error.strerror if isinstance(error, OSError) else f"{path} names no engine"
        raise EngineMissingError(
            f"the docker context {context} cannot be read: {why}",
            "choose another with: docker context use NAME, or set DOCKER_HOST",
        ) from error


def _sockets() -> list[Path]:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    rootless = [Path(runtime, "docker.sock")] if runtime else []
    return [USUAL, *rootless, *(Path.home() / one for one in PERSONAL)]
