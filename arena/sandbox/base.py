"""What every sandbox backend promises, and the values that cross this seam."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self

from arena.errors import USAGE, MachineError, RefusedError
from referee.canary import Canaries
from referee.players import PlatformError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path
    from types import TracebackType

__all__ = [
    "ADDRESS_VARIABLE",
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
]

SOCKET_NAME = "referee.sock"
ADDRESS_VARIABLE = "ARENA_ADDRESS"

MEBI = 1 << 20


class SandboxError(MachineError, PlatformError):
    """A bot could not be run for a reason that is no bot's fault; never thrown directly."""


class UnknownSandboxError(SandboxError):
    """No backend has this name."""

    def __init__(self, message: str, hint: str = "") -> None:
        """Keep the message and the hint under the exit code of wrong usage."""
        super().__init__(message, hint)
        self.exit_code = USAGE


class EngineMissingError(SandboxError):
    """No container engine answers on this machine."""


class EngineLostError(SandboxError):
    """The engine stopped answering, or answered with an error of its own."""


class LimitsMissingError(SandboxError):
    """A limit that was asked for is not in force, so nothing is run."""


class ImageMissingError(SandboxError):
    """The image is not on this machine."""


class ImageRefusedError(RefusedError):
    """The image, archive or folder cannot be taken as a bot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotSource:
    """Where a bot comes from: an image for the container backend, a folder for processes.

    Attributes:
        image: Image id ("sha256:..."), never a tag; empty for a process.
        directory: Folder with the bot's files; None for a container.
        command: Program and arguments of a process; empty means found from the folder.
    """

    image: str = ""
    directory: Path | None = None
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one bot may use.

    Attributes:
        memory: Bytes of memory, /tmp included; there is no swap beyond it.
        pids: Processes and threads at once.
        cpus: Cores as a cpuset ("0", "2-3"); empty leaves the choice to the kernel.
        tmpfs: Bytes that fit into /tmp.
        log: Bytes of output that are kept.
        exec_tmp: Whether programs may be run from /tmp, as some JIT compilers want.
    """

    memory: int = 256 * MEBI
    pids: int = 64
    cpus: str = ""
    tmpfs: int = 32 * MEBI
    log: int = MEBI
    exec_tmp: bool = False

    def __post_init__(self) -> None:
        """Refuse limits that contradict each other.

        Raises:
            ValueError: If /tmp could fill the memory, or a limit is not positive.
        """
        if not 0 < self.tmpfs < self.memory:
            raise ValueError(f"tmpfs {self.tmpfs} must be positive and below memory {self.memory}")
        if self.pids <= 0 or self.log <= 0:
            raise ValueError(f"pids {self.pids} and log {self.log} must be positive")


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest:
    """One bot to start for one seat of one attempt.

    Attributes:
        source: The bot.
        socket_dir: Folder on this machine that holds (or will hold) the referee's socket.
        owner: Boot id of the worker: what reaping goes by.
        attempt: Id of the attempt, for labels and messages only; the bot never sees it.
        seat: Seat of the bot, for labels and messages only.
        limits: What the bot may use.
        canaries: What no bot may ever be handed.
    """

    source: BotSource
    socket_dir: Path
    owner: str
    attempt: str
    seat: int
    limits: Limits = field(default_factory=Limits)
    canaries: Canaries = field(default_factory=Canaries, repr=False)

    def check_handed(self, *handed: object) -> None:
        """Check what the bot will find when it starts: environment, command line, mounts.

        Raises:
            LeakError: There is something in it that no bot may be handed.
        """
        self.canaries.check(repr(handed).encode(), f"the environment of seat {self.seat}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a bot's main process ended.

    Attributes:
        code: Exit code; None when a signal ended it. 127 also means it could not be started.
        signal: Number of the signal; None when it exited.
        out_of_memory: Whether anything in the bot was killed for want of memory.
    """

    code: int | None = None
    signal: int | None = None
    out_of_memory: bool = False

    def __str__(self) -> str:
        if self.signal is None:
            how = f"exit code {self.code}"
        else:
            try:
                how = f"killed by {signal.Signals(self.signal).name}"
            except ValueError:
                how = f"killed by signal {self.signal}"
        return f"{how}, out of memory" if self.out_of_memory else how


@dataclass(frozen=True, slots=True, kw_only=True)
class BotReport:
    """What is known of a bot once nothing is left of it.

    Attributes:
        exit: How it ended by itself; None when it still ran and the platform ended it.
        out_of_memory: Whether anything in it was killed for want of memory, even a child.
        log: End of its output: valid text, control characters made visible.
        log_truncated: Whether the log leaves something out.
        cpu_seconds: CPU time of all its processes, in seconds; None when unknown.
        peak_memory: Most memory it used at once, in bytes; None when unknown.
        throttled_seconds: Time its cores were withheld from it by a quota; None when unknown.
        throttled_periods: How often they were; None when unknown.
        memory_kills: Processes of it killed for want of memory; None when unknown.
        leftover: Name of the container if the engine would not remove it now, else empty.
    """

    exit: Exit | None
    out_of_memory: bool
    log: str
    log_truncated: bool
    cpu_seconds: float | None = None
    peak_memory: int | None = None
    throttled_seconds: float | None = None
    throttled_periods: int | None = None
    memory_kills: int | None = None
    leftover: str = ""


class RunningBot(Protocol):
    """A bot that was started; leaving its context removes it whatever happened.

    Attributes:
        start_seconds: From the request to the moment the bot's own process began.
    """

    start_seconds: float

    def poll(self) -> Exit | None:
        """Tell how the bot ended, or None while it runs.

        Raises:
            EngineLostError: If the engine cannot tell.
        """
        ...

    def ran_out_of_memory(self) -> bool:
        """Tell whether anything in the bot is known to have been killed for want of memory."""
        ...

    def kill(self) -> None:
        """End the bot at once, by SIGKILL; harmless when it has ended.

        Raises:
            EngineLostError: If the engine does not do it.
        """
        ...

    def finish(self) -> BotReport:
        """End the bot, collect what is known, remove it; later calls return the same report.

        Raises:
            EngineLostError: If the engine cannot tell how the bot ended.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class Sandbox(Protocol):
    """A way to run bots.

    Attributes:
        name: Its key in the registry.
        is_security_boundary: Whether a hostile bot is held; if not, only trusted bots are run.
        note: What its runs must say of themselves ("no security boundary"), or empty.
    """

    name: str
    is_security_boundary: bool
    note: str

    def prepare(self, source: BotSource) -> None:
        """Do what must not count against the bot's start: check that it can be had here.

        Raises:
            SandboxError: If it cannot; the message says what to do.
        """
        ...

    def start(self, request: StartRequest) -> RunningBot:
        """Start a bot; one that cannot be started has simply ended with exit code 127.

        Raises:
            SandboxError: For failures of the platform, never for those of the bot.
        """
        ...

    def reap(
        self, owner: str = "", live_owners: Collection[str] = (), dead_owners: Collection[str] = ()
    ) -> int:
        """Remove what the dead left behind, and return how many things that were.

        Whatever belongs to `owner` or to one of `live_owners` is left alone. The rest goes if it
        belongs to one of `dead_owners`, or to a process that surely is over.
        """
        ...
