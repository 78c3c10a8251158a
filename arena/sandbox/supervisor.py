"""Runs one bot as a process and leaves nothing of it behind: a program of its own, not imported.

It stands between the platform and the bot: all of the bot's descendants become its children, the
bot's output goes through it, and the end of the pipe from the platform, for whatever reason, ends
them all. It imports the standard library only, so that it starts at once.

Arguments: one JSON object. Descriptor `control`: closed when the bot must end. Descriptor
`report`: gets one JSON line when nothing of the bot is left, then the end of its output.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CANNOT_START = 127
CHUNK = 1 << 16
TICK_SECONDS = 0.1
# A closed output mostly means that the end is near.
CLOSED_TICK_SECONDS = 0.005
PAGE = os.sysconf("SC_PAGE_SIZE")
LINUX = sys.platform == "linux"


class Tail:
    """The last bytes of a stream."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._parts: deque[bytes] = deque()
        self._size = 0
        self.dropped = False

    def add(self, data: bytes) -> None:
        """Take the next bytes and let go of the oldest."""
        self._parts.append(data)
        self._size += len(data)
        while self._size - len(self._parts[0]) >= self._cap:
            self._size -= len(self._parts.popleft())
            self.dropped = True

    def bytes(self) -> bytes:
        """Return what was kept; at most one chunk more than the cap."""
        return b"".join(self._parts)


class Supervisor:
    """One bot and all that comes of it."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._order = order
        self._parent = os.getppid()
        self._tail = Tail(order["log"])
        self._selector = selectors.DefaultSelector()
        self._bot: subprocess.Popen[bytes] | None = None
        self._code: int | None = None
        self._ended_by_us = False
        self._tick = TICK_SECONDS
        self._out_of_memory = False
        self._peak = 0

    def run(self) -> dict[str, Any]:
        """Start the bot, watch it to its end, and return what is known of it."""
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        self._selector.register(reader, selectors.EVENT_READ, "output")
        self._selector.register(self._order["control"], selectors.EVENT_READ, "control")
        try:
            self._bot = subprocess.Popen(
                self._order["command"],
                stdin=subprocess.DEVNULL,
                stdout=writer,
                stderr=writer,
                start_new_session=True,
                preexec_fn=self._confine,  # noqa: PLW1509 - this program has one thread
            )
        except OSError as error:
            self._tail.add(f"cannot start {self._order['command'][0]}: {error.strerror}\n".encode())
            self._code = CANNOT_START
        os.close(writer)
        while self._code is None and not self._ended_by_us:
            self._step(reader)
        self._kill_all()
        self._drain(reader)
        return self._summary()

    def _confine(self) -> None:
        """Run in the bot's process before its program does."""
        if LINUX:
            _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if self._order["cpus"]:
                os.sched_setaffinity(0, self._order["cpus"])
        for name, most in self._order["rlimits"].items():
            resource.setrlimit(getattr(resource, name), (most, most))

    def _step(self, reader: int) -> None:
        for key, _ in self._selector.select(self._tick):
            if key.data == "control":
                self._ended_by_us = True
            elif not self._read(reader):
                self._selector.unregister(reader)
                self._tick = CLOSED_TICK_SECONDS
        if os.getppid() != self._parent:
            # A sibling that was forked with the pipe in hand can keep it open.
            self._ended_by_us = True
        self._reap()
        self._ended_by_us = self._ended_by_us and self._code is None
        self._check_usage()

    def _read(self, reader: int) -> bool:
        """Take what the bot printed; False once nobody can print any more."""
        try:
            data = os.read(reader, CHUNK)
        except BlockingIOError:
            return True
        if data:
            self._tail.add(data)
        return bool(data)

    def _reap(self) -> None:
        """Collect processes that ended, the bot's main one and what it left to us."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self._bot is not None and pid == self._bot.pid:
                self._code = os.waitstatus_to_exitcode(status)

    def _check_usage(self) -> None:
        if not LINUX or self._code is not None:
            return
        pids = descendants(os.getpid())
        used = sum(resident(pid) for pid in pids)
        self._peak = max(self._peak, used)
        if used > self._order["memory"]:
            self._out_of_memory = True
        if self._out_of_memory or len(pids) > self._order["pids"]:
            self._signal_all()

    def _kill_all(self) -> None:
        """Kill until there is nobody left to wait for: new forks are found on the next round."""
        while True:
            self._signal_all()
            try:
                pid, status = os.waitpid(-1, 0 if LINUX else os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self._bot is not None and pid == self._bot.pid and self._code is None:
                self._code = os.waitstatus_to_exitcode(status)

    def _signal_all(self) -> None:
        if self._bot is not None and self._code is None:
            _quietly(os.killpg, self._bot.pid)
        for pid in descendants(os.getpid()) if LINUX else ():
            _quietly(os.kill, pid)

    def _drain(self, reader: int) -> None:
        while self._read(reader):
            if not self._selector.select(0):
                return

    def _summary(self) -> dict[str, Any]:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        unit = 1024 if LINUX else 1
        return {
            "code": self._code,
            "ended_by_us": self._ended_by_us,
            "out_of_memory": self._out_of_memory,
            "cpu_seconds": usage.ru_utime + usage.ru_stime,
            "peak_memory": max(self._peak, usage.ru_maxrss * unit),
            "dropped": self._tail.dropped,
        }

    def log(self) -> bytes:
        """Return the end of the bot's output."""
        return self._tail.bytes()


def descendants(pid: int) -> list[int]:
    """Return all processes that come from this one, itself left out."""
    found = []
    waiting = [pid]
    while waiting:
        for task in _listing(f"/proc/{waiting.pop()}/task"):
            children = [int(child) for child in _text(task / "children").split()]
            found += children
            waiting += children
    return found


def resident(pid: int) -> int:
    """Return the memory of a process in bytes, without what it shares with files."""
    fields = _text(Path(f"/proc/{pid}/statm")).split()
    return (int(fields[1]) - int(fields[2])) * PAGE if fields else 0


def _listing(path: str) -> list[Path]:
    try:
        return list(Path(path).iterdir())
    except OSError:
        return []


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _quietly(kill: Any, pid: int) -> None:
    try:
        kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option} failed")


def main() -> None:
    """Do what the argument orders, then report."""
    order = json.loads(sys.argv[1])
    if LINUX:
        _prctl(PR_SET_CHILD_SUBREAPER, 1)
    supervisor = Supervisor(order)
    report = supervisor.run()
    try:
        with os.fdopen(order["report"], "wb") as pipe:
            pipe.write(json.dumps(report).encode() + b"\n" + supervisor.log())
    except BrokenPipeError:
        return


if __name__ == "__main__":
    main()
