"""Bots in containers."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from arena.sandbox.base import (
    BotReport,
    EngineLostError,
    Exit,
    ImageRefusedError,
    LimitsMissingError,
)
from arena.sandbox.cgroups import Cgroup, Usage
from arena.sandbox.confinement import (
    container_settings,
    host_config,
    missing_in_kernel,
    missing_in_process,
    missing_settings,
    new_user,
)
from arena.sandbox.engine import Engine, StartFailedError
from arena.sandbox.logs import clean_log
from arena.sandbox.owners import is_left, is_live, reap_socket_folders, start_time

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from types import TracebackType

    from arena.sandbox.base import BotSource, Limits, RunningBot, StartRequest
    from arena.sandbox.session import Session

__all__ = ["ContainerSandbox"]

END_SECONDS = 10
STRAY_SECONDS = 600
# Looking at a process is cheap, reading its control groups is not quite.
SAMPLE_SECONDS = 0.05
CHECK_PAUSES = (0.01, 0.05, 0.2)
PLAIN_RUNTIMES = frozenset({"runc", "crun", "io.containerd.runc.v2"})
CANNOT_START = 127
# The engine writes these to its log as six letters each, and so what was no UTF-8.
ESCAPED_IN_LOGS = str.maketrans(dict.fromkeys("<>&\u2028\u2029\ufffd", "......"))
SIGNAL_BASE = 128
LAST_SIGNAL = 64
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
        user = new_user(mapped=self.engine.maps_users())
        settings = _everything(request, user)
        try:
            self.engine.run(name, request.source.image, settings)
        except StartFailedError as error:
            _remove_or_leave(self.engine, name)
            if not error.is_answered:
                # It may still be made.
                _strays.add(name)
            elif BOT_CANNOT_START.search(error.reason):
                return _NeverStarted(_inside(error.reason, request), asked_ns)
            elif "CPUs are not available" in error.reason:
                raise LimitsMissingError(f"cannot pin a bot to cores: {error.reason}") from error
            raise EngineLostError(
                f"the container engine failed to start a bot: {error.reason}"
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
        self, engine: Engine, session: Session, name: str, limits: Limits, asked_ns: int
    ) -> None:
        self.start_seconds = (time.monotonic_ns() - asked_ns) / 1e9
        self.name = name
        self._engine = engine
        self._session = session
        self._limits = limits
        self._lock = threading.RLock()
        self._pid = 0
        self._started = ""
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
        started = start_time(pid)
        if pid and _is_container(pid, found["Id"]):
            self._pid, self._started = pid, started
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
                # The engine now and then misses why a bot ended; its control groups are going.
                self._sample()
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
        # Its pid may be another process's by now.
        if self._session.is_alive() and start_time(self._pid) == self._started:
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
        return container in Path(f"/proc/{pid}/cgroup").read_text() and bool(start_time(pid))
    except OSError:
        return False


def _json_size(data: bytes) -> int:
    """Estimate how much room the engine's log took for this output."""
    text = data.decode("utf-8", "replace").translate(ESCAPED_IN_LOGS)
    entries = max(data.count(b"\n"), len(data) >> 14)
    return len(json.dumps(text, ensure_ascii=False).encode()) + 70 * entries
