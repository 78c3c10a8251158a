"""Where bots run: one interface, a container backend and a process backend.

The bot dials in: it finds its referee at the Unix socket named by ARENA_ADDRESS and nothing else.
Only the container backend is a security boundary, and only its `engine` imports the client.
"""

from __future__ import annotations

import pkgutil
from typing import cast

from arena.sandbox.base import (
    ADDRESS_VARIABLE,
    SOCKET_NAME,
    BotReport,
    BotSource,
    EngineLostError,
    EngineMissingError,
    Exit,
    ImageMissingError,
    ImageRefusedError,
    Limits,
    LimitsMissingError,
    RunningBot,
    Sandbox,
    SandboxError,
    StartRequest,
    UnknownSandboxError,
)

__all__ = [
    "ADDRESS_VARIABLE",
    "SANDBOXES",
    "SOCKET_NAME",
    "BotReport",
    "BotSource",
    "EngineLostError",
    "EngineMissingError",
    "Exit",
    "ImageMissingError",
    "ImageRefusedError",
    "Limits",
    "LimitsMissingError",
    "RunningBot",
    "Sandbox",
    "SandboxError",
    "StartRequest",
    "UnknownSandboxError",
    "find_sandbox",
]

# Names instead of classes: a command that runs no bot must not wait for the engine's client.
SANDBOXES = {
    "container": "arena.sandbox.container:ContainerSandbox",
    "process": "arena.sandbox.process:ProcessSandbox",
}


def find_sandbox(name: str) -> Sandbox:
    """Return a new sandbox of the backend with this name.

    Raises:
        UnknownSandboxError: If there is none; the message lists the known ones.
        EngineMissingError: If the backend needs an engine and none answers.
    """
    if name not in SANDBOXES:
        raise UnknownSandboxError(
            f"unknown sandbox {name!r}: expected one of {', '.join(sorted(SANDBOXES))}"
        )
    return cast("Sandbox", pkgutil.resolve_name(SANDBOXES[name])())
