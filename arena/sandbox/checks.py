"""Whether containers hold what is promised here: the engine's age and settings, and probe bots."""

from __future__ import annotations

import re
import tempfile
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from arena.sandbox import images
from arena.sandbox.base import BotSource, Limits, StartRequest
from arena.sandbox.builds import NO_NETWORK
from arena.sandbox.host import Finding, Level
from arena.sandbox.owners import SocketFolder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from arena.sandbox.base import BotReport
    from arena.sandbox.container import ContainerSandbox

__all__ = ["check_engine", "check_limits", "echo_image"]

MEBI = 1 << 20
BEYOND = 32 * MEBI
PROBE_LIMITS = Limits(memory=64 * MEBI, pids=16, tmpfs=8 * MEBI)
PROBE_SECONDS = 60
OLDEST_ENGINE = 25
# The first versions in which the escapes published up to 2026 are mended; later ones follow.
MENDED_RUNC = ((1, 3, 6), (1, 4, 3))
NEWER_RUNC = (1, 5, 0)
VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")

PROBE = f"""\
import os, signal, sys, time
children = []
try:
    while len(children) <= {PROBE_LIMITS.pids}:
        child = os.fork()
        if child == 0:
            time.sleep(600)
        children.append(child)
except OSError:
    pass
print("processes", len(children) + 1, flush=True)
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
block = bytearray()
while len(block) < {PROBE_LIMITS.memory + BEYOND}:
    block.extend(b"x" * (1 << 20))
print("memory", len(block), flush=True)
"""
ECHO = """\
import burabot
burabot.play(lambda turn: 0, name="echo", version="1")
"""
DOCKERFILE = """\
ARG BASE=bura-python-bot
FROM ${BASE}
COPY bot.py /bot/bot.py
CMD ["python", "/bot/bot.py"]
"""


def check_engine(about: Mapping[str, Any]) -> Iterator[Finding]:
    """Check what the engine says of itself.

    Args:
        about: As `Engine.about` gives it.
    """
    yield _engine_age(str(about.get("ServerVersion", "")))
    yield _runc_age(str(about.get("Parts", {}).get("runc", "")))
    yield _announced_limits(about)
    if about.get("LiveRestoreEnabled"):
        yield Finding(
            "live restore",
            Level.NOTE,
            "on: bots outlive the engine, and their matches are void all the same",
            'set "live-restore": false in /etc/docker/daemon.json',
        )
    if not any("rootless" in one or "userns" in one for one in about.get("SecurityOptions") or ()):
        yield Finding(
            "user namespaces",
            Level.NOTE,
            "off: whoever broke out of a container would be a user of this machine",
            'set "userns-remap": "default" in /etc/docker/daemon.json, or run the engine rootless',
        )


def check_limits(sandbox: ContainerSandbox) -> Iterator[Finding]:
    """Run a bot that takes more than it may, and see whether it gets it.

    Args:
        sandbox: Where to run it.

    Raises:
        ImageMissingError: If no base image for it can be had.
        SandboxError: If the engine fails.
    """
    report = _run(sandbox, _image(PROBE))
    processes = re.search(r"^processes (\d+)$", report.log, re.MULTILINE)
    count = int(processes[1]) if processes else 0
    yield _held(
        "limit of processes",
        processes is not None and count <= PROBE_LIMITS.pids,
        f"{count} of {PROBE_LIMITS.pids + 1} processes were let run, where {PROBE_LIMITS.pids} may",
    )
    yield _held(
        "limit of memory",
        report.out_of_memory and "memory" not in report.log,
        f"a bot that may have {PROBE_LIMITS.memory // MEBI} MiB asked for {BEYOND // MEBI} more "
        f"and {'was ended' if report.out_of_memory else 'got them'}",
    )


def echo_image() -> str:
    """Return the image of a bot that answers at once.

    Raises:
        ImageMissingError: If no base image for it can be had.
        SandboxError: If the engine fails.
    """
    return _image(ECHO)


def _engine_age(version: str) -> Finding:
    found = VERSION.match(version)
    if found and int(found[1]) >= OLDEST_ENGINE:
        return Finding("engine version", Level.OK, version)
    return Finding(
        "engine version",
        Level.WARNING,
        f"{version or 'unknown'}: not maintained by its makers any more",
        f"upgrade to {OLDEST_ENGINE}.0 or newer, or trust your distribution to mend it",
    )


def _runc_age(version: str) -> Finding:
    found = VERSION.match(version)
    if found is None:
        return Finding("runc version", Level.NOTE, "the engine does not tell which it uses")
    parts = tuple(int(part or 0) for part in found.groups())
    mends = [one for one in MENDED_RUNC if one[:2] == parts[:2]]
    if parts >= min(mends, default=NEWER_RUNC):
        return Finding("runc version", Level.OK, version)
    mended = " or ".join(".".join(map(str, one)) for one in MENDED_RUNC)
    return Finding(
        "runc version",
        Level.WARNING,
        f"{version}: older than the last fixes of ways out of a container",
        f"upgrade to {mended}, or see whether your distribution has mended it "
        "(CVE-2025-31133, CVE-2025-52565, CVE-2025-52881, CVE-2026-41579)",
    )


def _announced_limits(about: Mapping[str, Any]) -> Finding:
    wanted = {"MemoryLimit": "memory", "PidsLimit": "processes", "CPUSet": "cores"}
    missing = [word for key, word in wanted.items() if about.get(key) is False]
    rootless = any("rootless" in one for one in about.get("SecurityOptions") or ())
    if rootless and str(about.get("CgroupVersion")) == "1":
        missing = list(wanted.values())
    if not missing:
        version = about.get("CgroupVersion", "?")
        return Finding("control groups", Level.OK, f"version {version}, all limits available")
    return Finding(
        "control groups",
        Level.ERROR,
        f"the engine cannot limit {', '.join(missing)}: no bot is run",
        "use cgroup v2 and, for a rootless engine, delegate: systemctl edit user@.service, "
        "[Service] Delegate=cpu cpuset memory pids",
    )


def _held(check: str, holds: bool, text: str) -> Finding:  # noqa: FBT001 - the verdict itself
    if holds:
        return Finding(check, Level.OK, text)
    return Finding(check, Level.ERROR, text, "see what the engine supports with: docker info")


def _image(code: str) -> str:
    with tempfile.TemporaryDirectory(prefix="bura-build-") as folder:
        Path(folder, "bot.py").write_text(code, encoding="utf-8")
        Path(folder, "Dockerfile").write_text(DOCKERFILE, encoding="utf-8")
        return images.build(Path(folder), name="the probe", network=NO_NETWORK).id


def _run(sandbox: ContainerSandbox, image: str) -> BotReport:
    owner = f"probe-{uuid.uuid4().hex}"
    folder = SocketFolder.create(owner)
    request = StartRequest(
        source=BotSource(image=image),
        socket_dir=folder.path,
        owner=owner,
        attempt="probe",
        seat=0,
        limits=PROBE_LIMITS,
    )
    try:
        with sandbox.start(request) as bot:
            until = time.monotonic() + PROBE_SECONDS
            while bot.poll() is None and time.monotonic() < until:
                time.sleep(0.02)
            return bot.finish()
    finally:
        folder.remove()
