"""Bots as plain processes of this user: for trying things, no security boundary."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import burabot
from arena.sandbox import supervisor
from arena.sandbox.base import (
    ADDRESS_VARIABLE,
    SOCKET_NAME,
    BotReport,
    Exit,
    ImageRefusedError,
    LimitsMissingError,
    SandboxError,
)
from arena.sandbox.cgroups import parse_cpus
from arena.sandbox.logs import clean_log
from arena.sandbox.owners import reap_socket_folders, start_time

if TYPE_CHECKING:
    from collections.abc import Collection
    from types import TracebackType

    from arena.sandbox.base import BotSource, RunningBot, StartRequest

__all__ = ["ProcessSandbox", "find_command"]

END_SECONDS = 5
POLL_SECONDS = 0.01
CHUNK = 1 << 16
RLIMITS = {"RLIMIT_NOFILE": 256, "RLIMIT_CORE": 0, "RLIMIT_FSIZE": 64 << 20}
# What a container has of its own and a process must be given.
INHERITED = ("PATH", "LD_LIBRARY_PATH", "NODE_PATH", "VIRTUAL_ENV")
PROGRAMS = {"bot.py": sys.executable, "bot.js": "node"}


def find_command(source: BotSource) -> tuple[str, ...]:
    """Return the command of a bot: its own, or what the files of its folder say.

    Raises:
        ImageRefusedError: If there is no folder, or nothing in it that could be run.
    """
    folder = source.directory
    if folder is None or not folder.is_dir():
        raise ImageRefusedError(
            f"{folder or source.image} is not a folder",
            "the process sandbox runs a folder with a bot.py or bot.js",
        )
    if source.command:
        return source.command
    for name, program in PROGRAMS.items():
        if (folder / name).is_file():
            return (program, str((folder / name).resolve()))
    raise ImageRefusedError(
        f"nothing to run in {folder}: expected {' or '.join(PROGRAMS)}",
        "add one, or name the command",
    )


class ProcessSandbox:
    """Runs each bot as a process of this user."""

    name = "process"
    is_security_boundary = False
    note = "bots run as plain processes: this is no security boundary"

    def prepare(self, source: BotSource) -> None:
        """Check that there is something to run.

        Raises:
            ImageRefusedError: If there is not.
        """
        command = find_command(source)
        if shutil.which(command[0]) is None and not source.command:
            raise ImageRefusedError(
                f"the bot in {source.directory} needs {command[0]}, which is not installed",
                f"install {command[0]}, or submit the bot as an image",
            )

    def start(self, request: StartRequest) -> RunningBot:
        """Start a bot; one whose program cannot be started has ended with exit code 127.

        Raises:
            ImageRefusedError: If its folder holds nothing to run.
            LimitsMissingError: If the cores asked for are not this process's.
            SandboxError: If this machine cannot start a process.
        """
        asked_ns = time.monotonic_ns()
        command = find_command(request.source)
        cpus = parse_cpus(request.limits.cpus)
        if hasattr(os, "sched_getaffinity") and not cpus <= os.sched_getaffinity(0):
            raise LimitsMissingError(f"cannot pin a bot to cores {request.limits.cpus}")
        return _Process(command, request, asked_ns)

    def reap(
        self, owner: str = "", live_owners: Collection[str] = (), dead_owners: Collection[str] = ()
    ) -> int:
        """Remove socket folders of the dead; their processes have died with them."""
        return reap_socket_folders({owner, *live_owners}, dead_owners)


class _Process:
    """A bot under its supervisor."""

    def __init__(self, command: tuple[str, ...], request: StartRequest, asked_ns: int) -> None:
        environment = _environment(request)
        request.check_handed(command, environment)
        self._limits = request.limits
        self._lock = threading.RLock()
        self._received = bytearray()
        self._exit: Exit | None = None
        self._report: BotReport | None = None
        control_read, self._control = os.pipe()
        self._pipe, report_write = os.pipe()
        order = {
            "command": command,
            "control": control_read,
            "report": report_write,
            "log": request.limits.log,
            "memory": request.limits.memory,
            "pids": request.limits.pids,
            "cpus": sorted(parse_cpus(request.limits.cpus)),
            "rlimits": RLIMITS,
        }
        try:
            # The supervisor's own path holds no bot code: -I keeps the bot's folder out of it.
            self._supervisor = subprocess.Popen(
                [sys.executable, "-I", "-S", supervisor.__file__, json.dumps(order)],
                cwd=request.source.directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=(control_read, report_write),
            )
        except OSError as error:
            os.close(self._control)
            os.close(self._pipe)
            raise SandboxError(f"cannot start {shlex.join(command)}: {error.strerror}") from error
        finally:
            os.close(control_read)
            os.close(report_write)
        os.set_blocking(self._pipe, False)
        self.start_seconds = (time.monotonic_ns() - asked_ns) / 1e9

    def poll(self) -> Exit | None:
        with self._lock:
            if self._exit is None and self._report is None:
                self._receive(0)
                head = self._head()
                if head is not None and not head["ended_by_us"]:
                    self._exit = _exit_of(head)
            return self._exit

    def ran_out_of_memory(self) -> bool:
        end = self.poll()
        return end is not None and end.out_of_memory

    def kill(self) -> None:
        with self._lock:
            if self._control >= 0:
                os.close(self._control)
                self._control = -1

    def finish(self) -> BotReport:
        with self._lock:
            if self._report is None:
                self.poll()
                self.kill()
                if not self._receive(END_SECONDS):
                    self._end_by_force()
                self._supervisor.wait()
                os.close(self._pipe)
                self._report = self._collect(self._head())
            return self._report

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.finish()

    def _receive(self, seconds: float) -> bool:
        """Read from the supervisor; True once it has said all."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                data = os.read(self._pipe, CHUNK)
            except BlockingIOError:
                left = deadline - time.monotonic()
                if left <= 0 or not select.select([self._pipe], [], [], left)[0]:
                    return False
                continue
            if not data:
                return True
            self._received += data

    def _head(self) -> dict[str, Any] | None:
        line, newline, _ = self._received.partition(b"\n")
        return dict(json.loads(line)) if newline else None

    def _end_by_force(self) -> None:
        """End what comes of a supervisor that a bot has stopped, and the supervisor last.

        As long as it is there, all that a bot forks while others are killed is found below it.
        """
        deadline = time.monotonic() + END_SECONDS
        while True:
            left = [one for one in supervisor.descendants(self._supervisor.pid) if start_time(one)]
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if not left or time.monotonic() > deadline:
                break
            time.sleep(POLL_SECONDS)
        self._supervisor.kill()

    def _collect(self, head: dict[str, Any] | None) -> BotReport:
        if head is None:
            log, truncated = clean_log(b"", self._limits.log, truncated=True)
            return BotReport(exit=None, out_of_memory=False, log=log, log_truncated=truncated)
        data = bytes(self._received.partition(b"\n")[2])
        log, truncated = clean_log(data, self._limits.log, truncated=head["dropped"])
        return BotReport(
            exit=None if head["ended_by_us"] else _exit_of(head),
            out_of_memory=head["out_of_memory"],
            log=log,
            log_truncated=truncated,
            cpu_seconds=head["cpu_seconds"],
            peak_memory=head["peak_memory"],
        )


def _exit_of(head: dict[str, Any]) -> Exit:
    code = head["code"]
    oom = head["out_of_memory"]
    if code < 0:
        return Exit(signal=-code, out_of_memory=oom)
    return Exit(code=code, out_of_memory=oom)


def _environment(request: StartRequest) -> dict[str, str]:
    library = str(Path(burabot.__file__).parent.parent)
    return {
        **{name: os.environ[name] for name in INHERITED if name in os.environ},
        "HOME": str(request.source.directory),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONPATH": library,
        "PYTHONDONTWRITEBYTECODE": "1",
        ADDRESS_VARIABLE: f"unix:{request.socket_dir / SOCKET_NAME}",
    }
