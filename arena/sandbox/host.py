"""What of this machine makes clocks unfair or lets bots notice each other, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from arena.sandbox.cgroups import parse_cpus
from arena.sandbox.slots import usable_cores

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["Finding", "Host", "Level", "unfair_causes"]

REFEREE_CORES = 1
ENGINE_PROGRAMS = frozenset({"dockerd", "containerd", "podman"})


class Level(StrEnum):
    """How much a finding matters: an error means that bots must not be run here."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Attributes:
        check: Name of the check, one word or two.
        level: How much it matters.
        text: What was found.
        fix: What to do about it; empty if nothing is to be done.
    """

    check: str
    level: Level
    text: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Host:
    """This machine, as its kernel describes it.

    Attributes:
        proc: Where /proc is.
        sys: Where /sys is.
    """

    proc: Path = Path("/proc")
    sys: Path = Path("/sys")

    def findings(self, cores: Collection[int], seats: int = 2) -> Iterator[Finding]:
        """Check everything.

        Args:
            cores: Those the arena may use, one thread of each.
            seats: Bots in a match.
        """
        yield _cores(len(cores), seats)
        yield self._threads()
        yield self._governor()
        yield self._kinds()
        yield self._swap()
        yield self._core_pattern()
        yield self._engine(cores, seats)

    def _threads(self) -> Finding:
        if self._text("sys", "devices/system/cpu/smt/active") != "1":
            return Finding("threads", Level.OK, "cores run one thread each")
        return Finding(
            "threads",
            Level.WARNING,
            "two threads share a core (SMT): what else runs here can halve a bot's speed",
            "echo off > /sys/devices/system/cpu/smt/control",
        )

    def _governor(self) -> Finding:
        files = sorted((self.sys / "devices/system/cpu").glob("cpu*/cpufreq/scaling_governor"))
        slow = sorted({_read(path) for path in files} - {"performance", ""})
        if not slow:
            text = "performance" if files else "none: this machine does not choose its speed"
            return Finding("governor", Level.OK, text)
        return Finding(
            "governor",
            Level.WARNING,
            f"{', '.join(slow)}: a core that was idle answers its first turns slowly",
            "cpupower frequency-set -g performance",
        )

    def _kinds(self) -> Finding:
        cpus = self.sys / "devices/system/cpu"
        speeds = {_read(path) for path in cpus.glob("cpu*/cpufreq/cpuinfo_max_freq")} - {""}
        if len(speeds) < 2 and not (self.sys / "devices/cpu_atom").exists():  # noqa: PLR2004 - unlike
            return Finding("kinds of cores", Level.OK, "all cores are alike")
        return Finding(
            "kinds of cores",
            Level.WARNING,
            "cores are of different speeds, so that seats are not equal",
            "run the arena on cores of one kind: taskset -c LIST arena tournament run NAME",
        )

    def _swap(self) -> Finding:
        areas = self._text("proc", "swaps").splitlines()[1:]
        if not areas:
            return Finding("swap", Level.OK, "none")
        names = ", ".join(line.split()[0] for line in areas)
        return Finding(
            "swap",
            Level.WARNING,
            f"on {names}: memory of the referee or of a bot may have to be fetched from a disk",
            "swapoff -a",
        )

    def _core_pattern(self) -> Finding:
        pattern = self._text("proc", "sys/kernel/core_pattern")
        if not pattern.startswith("|"):
            return Finding("core dumps", Level.OK, "not handed to a program")
        return Finding(
            "core dumps",
            Level.WARNING,
            f"handed to {pattern[1:].split()[0]}: each crash of a bot starts a program outside "
            "its limits, whatever its own limit for dumps",
            "sysctl kernel.core_pattern=core",
        )

    def _engine(self, cores: Collection[int], seats: int) -> Finding:
        """Look whether what starts the bots of one match may run on the cores of another's."""
        check = "cores of the engine"
        if len(cores) < seats + REFEREE_CORES:
            return Finding(check, Level.OK, "the bots of a match have none of their own anyway")
        programs = self._engine_cores()
        if not programs:
            return Finding(check, Level.OK, "no program of an engine is seen on this machine")
        referee, *bots = sorted(cores)
        shared = {name: found & set(bots) for name, found in programs.items()}
        names = sorted(name for name, found in shared.items() if found)
        if not names:
            return Finding(check, Level.OK, "the engine keeps off the bots' cores")
        listed = ", ".join(map(str, sorted(frozenset[int]().union(*shared.values()))))
        return Finding(
            check,
            Level.NOTE,
            f"{' and '.join(names)} may run where bots play (cores {listed}): what an engine does "
            "for one bot takes another's time",
            f"CPUAffinity={referee} in the [Service] part of each one's unit, then restart them",
        )

    def _engine_cores(self) -> dict[str, frozenset[int]]:
        """Return the cores of the programs that start containers, as far as they run here."""
        found: dict[str, frozenset[int]] = {}
        for path in self.proc.glob("[0-9]*/comm"):
            name = _read(path)
            if name in ENGINE_PROGRAMS:
                lines = dict(
                    line.partition(":")[::2] for line in _read(path.parent / "status").splitlines()
                )
                allowed = parse_cpus(lines.get("Cpus_allowed_list", ""))
                found[name] = found.get(name, frozenset()) | allowed
        return found

    def _text(self, root: str, name: str) -> str:
        return _read((self.proc if root == "proc" else self.sys) / name)


def unfair_causes(seats: int) -> tuple[str, ...]:
    """Return what makes clocks unfair on this machine, by the names of `arena doctor`."""
    found = Host().findings(usable_cores(), seats)
    return tuple(each.check for each in found if each.level is Level.WARNING)


def _cores(cores: int, seats: int) -> Finding:
    needed = seats + REFEREE_CORES
    if cores >= needed:
        matches = (cores - REFEREE_CORES) // seats
        return Finding("cores", Level.OK, f"{cores}: matches of {seats} at once: {matches}")
    return Finding(
        "cores",
        Level.WARNING,
        f"{cores}, fewer than the {needed} of {seats} bots and the referee: the bots of a match "
        "share cores, and its result says `shared cores`",
        f"use a machine with at least {needed} cores",
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
