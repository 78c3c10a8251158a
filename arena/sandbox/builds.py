"""How the steps of a build are confined.

The classic builder, which is the one behind the engine's API, knows limits of memory, shares of the
cores and /dev/shm. It knows none of processes or of the disk.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = [
    "DEFAULT_NETWORK",
    "NO_NETWORK",
    "PROXIES",
    "build_memory",
    "build_network",
    "build_settings",
    "evades",
    "proxy_arguments",
    "was_killed",
]

NETWORK_VARIABLE = "ARENA_BUILD_NETWORK"
DEFAULT_NETWORK = "default"
NO_NETWORK = "none"

MEMORY = 4 << 30
SHARES = 2
"""The least there is: a bot has 1024 of them, so a build gets what bots leave."""
SHARED_MEMORY = 16 << 20

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")

KILLED_CODE = 137
# A compiler whose child is killed fails with a code of its own.
KILLED_CHILD = re.compile(
    r"Killed signal terminated program|\(signal: 9, SIGKILL|signal: killed|Killed \(program "
)
PAGE = 4096

# Another character than the backslash may be made the one that goes on in the next line.
DIRECTIVE = re.compile(r"^[^\S\n]*#[^\S\n]*escape[^\S\n]*=[^\S\n]*`", re.IGNORECASE | re.MULTILINE)


def build_memory(machine: int) -> int:
    """Return how many bytes of memory a step may use.

    What is left must do for the bots that play meanwhile: when a machine runs out of memory, they
    are the first to be killed.

    Args:
        machine: Bytes of memory that the engine's machine has.
    """
    # The kernel counts in pages.
    return min(MEMORY, machine // 2) // PAGE * PAGE


def build_network(given: str | None = None) -> str:
    """Return the network of the steps: the one given, that of the environment, or the default."""
    return (os.environ.get(NETWORK_VARIABLE) or DEFAULT_NETWORK) if given is None else given


def build_settings(memory: int, network: str) -> dict[str, Any]:
    """Return the confinement of a build, as arguments of the engine's client.

    Args:
        memory: Bytes of memory of a step; there is no swap beyond it.
        network: `none`, `default`, or the name of a network of the engine.
    """
    return {
        "container_limits": {"memory": memory, "memswap": memory, "cpushares": SHARES},
        "shmsize": SHARED_MEMORY,
        "network_mode": network,
    }


def proxy_arguments(network: str) -> dict[str, str]:
    """Return the proxies of the environment, as build arguments, for a network that was chosen.

    The builder knows these arguments without being told of them, and keeps them out of the image.
    """
    if network in {DEFAULT_NETWORK, NO_NETWORK}:
        return {}
    return {name: os.environ[name] for name in PROXIES if os.environ.get(name)}


def evades(dockerfile: str, network: str) -> bool:
    """Tell whether a Dockerfile has the engine itself fetch files, past the network of the steps.

    Args:
        dockerfile: Its text.
        network: The network of the steps; of the default one nothing is promised.
    """
    if network == DEFAULT_NETWORK:
        return False
    escapes = ["\\\\", "`"] if DIRECTIVE.search(dockerfile) else ["\\\\"]
    # To older engines a doubled character goes on in the next line, too.
    ends = [end for one in escapes for end in (f"{one}[ \\t]*$", f"(?<!{one}){one}[ \\t]*$")]
    return any(
        _adds(instruction)
        for end in ends
        for instruction in _instructions(dockerfile, re.compile(end))
    )


def _instructions(dockerfile: str, end: re.Pattern[str]) -> Iterator[str]:
    """Yield instructions as the engine joins them: without comments and empty lines between."""
    joined = ""
    for line in dockerfile.removeprefix("\ufeff").split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        part, goes_on = end.subn("", line.removesuffix("\r"))
        joined += part
        if not goes_on:
            yield joined
            joined = ""
    yield joined


def _adds(instruction: str) -> bool:
    """Tell whether it is ADD, or a word that an engine may read as that in its own way."""
    words = instruction.split()
    while words and words[0].upper() == "ONBUILD":
        words = words[1:]
    return bool(words) and (words[0].upper() == "ADD" or not words[0].isascii())


def was_killed(line: Mapping[str, Any], output: Iterable[str]) -> bool:
    """Tell whether a step failed because something was killed, as far as it shows.

    Args:
        line: What the engine said of the failure.
        output: The end of what the build printed.
    """
    code = (line.get("errorDetail") or {}).get("code")
    return code == KILLED_CODE or any(KILLED_CHILD.search(one) for one in output)
