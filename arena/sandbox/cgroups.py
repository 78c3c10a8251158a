"""What the kernel says of a container: limits in force, memory, CPU; cgroup v1 and v2."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Cgroup", "Usage", "parse_cpus"]

ROOT = Path("/sys/fs/cgroup")
NANO = 1_000_000_000
MICRO = 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """What a container has used so far; None where the kernel does not say.

    Attributes:
        oom_kills: Processes killed for want of memory.
        cpu_seconds: CPU time in seconds.
        peak_memory: Most bytes at once.
        throttled_seconds: Seconds withheld by a quota.
        throttled_periods: How often it was withheld.
    """

    oom_kills: int | None = None
    cpu_seconds: float | None = None
    peak_memory: int | None = None
    throttled_seconds: float | None = None
    throttled_periods: int | None = None


@dataclass(frozen=True, slots=True)
class Cgroup:
    """The control groups of one process, by controller; "" is the key of version 2.

    Attributes:
        folders: Folder of each controller that could be found on this machine.
    """

    folders: Mapping[str, Path]

    @classmethod
    def of(cls, pid: int, *, proc: Path = Path("/proc"), root: Path = ROOT) -> Cgroup:
        """Find the groups of a process; none are found where it or they cannot be seen."""
        try:
            lines = (proc / str(pid) / "cgroup").read_text().splitlines()
        except OSError:
            return cls({})
        folders = {}
        unified = (root / "cgroup.controllers").exists()
        for line in lines:
            _, names, path = line.split(":", 2)
            for name in names.split(",") if names else [""]:
                base = root if unified and not name else root / name
                folder = base / path.lstrip("/")
                # Version 2 beside version 1 has no controllers of its own: nothing to read there.
                if (name or unified) and folder.is_dir():
                    folders[name] = folder
        return cls(folders)

    def read(self, controller: str, v1: str, v2: str) -> str | None:
        """Return the text of one file, by its name in either version, or None."""
        for key, name in ((controller, v1), ("", v2)):
            folder = self.folders.get(key)
            if folder is not None and name:
                try:
                    return (folder / name).read_text().strip()
                except OSError:
                    continue
        return None

    def number(self, controller: str, v1: str, v2: str) -> int | None:
        """Return one file that holds a number; "max" and what is no number are None."""
        text = self.read(controller, v1, v2)
        return int(text) if text is not None and text.isdecimal() else None

    def usage(self) -> Usage:
        """Return what was used so far."""
        events = _table(self.read("memory", "memory.oom_control", "memory.events"))
        stat = _table(self.read("cpu", "cpu.stat", "cpu.stat"))
        nanoseconds = self.number("cpuacct", "cpuacct.usage", "")
        cpu = None if nanoseconds is None else nanoseconds / NANO
        if "usage_usec" in stat:
            cpu = stat["usage_usec"] / MICRO
        throttled = None
        if "throttled_usec" in stat:
            throttled = stat["throttled_usec"] / MICRO
        elif "throttled_time" in stat:
            throttled = stat["throttled_time"] / NANO
        peak = self.number("memory", "memory.max_usage_in_bytes", "memory.peak")
        if peak is None:
            peak = self.number("memory", "memory.usage_in_bytes", "memory.current")
        periods = stat.get("nr_throttled")
        return Usage(events.get("oom_kill"), cpu, peak, throttled, periods)

    def swap_is_open(self, memory: int) -> bool:
        """Tell whether more than `memory` bytes could be used by swapping."""
        if not _machine_swaps():
            return False
        if "" in self.folders and "memory" not in self.folders:
            return self.read("", "", "memory.swap.max") != "0"
        both = self.number("memory", "memory.memsw.limit_in_bytes", "")
        if both is not None:
            return both > memory
        return self.number("memory", "memory.swappiness", "") != 0


def parse_cpus(text: str) -> frozenset[int]:
    """Return the cores of a cpuset such as "0,2-3"."""
    cores: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        cores.update(range(int(first), int(last or first) + 1))
    return frozenset(cores)


def _table(text: str | None) -> dict[str, int]:
    pairs = (line.split() for line in (text or "").splitlines())
    return {key: int(value) for key, value in pairs if value.isdecimal()}


def _machine_swaps() -> bool:
    try:
        return len(Path("/proc/swaps").read_text().splitlines()) > 1
    except OSError:
        return True
