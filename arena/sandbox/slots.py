"""Which cores each bot of a match gets, so that no bot can slow another's clock."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arena.errors import RefusedError
from arena.sandbox.cgroups import parse_cpus

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["SHARED_CORES", "CapacityError", "Slot", "pin", "pinned", "plan_slots", "usable_cores"]

SHARED_CORES = "shared cores"


class CapacityError(RefusedError):
    """More matches at once than the cores allow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """The cores of one match that is being played.

    Attributes:
        bots: Cpuset of each seat's bot.
        referee: Cpuset of the referee, shared by all slots.
        condition: What results must say of the clocks ("shared cores"), or empty.
    """

    bots: tuple[str, ...]
    referee: str
    condition: str = ""


def usable_cores() -> tuple[int, ...]:
    """Return the cores this process may use, one thread of each, in ascending order."""
    if not hasattr(os, "sched_getaffinity"):
        return tuple(range(os.cpu_count() or 1))
    allowed = os.sched_getaffinity(0)
    return tuple(sorted({min(_siblings(core) & allowed) for core in allowed}))


def plan_slots(
    cores: Collection[int] | None = None, *, seats: int = 2, wanted: int | None = None
) -> list[Slot]:
    """Deal the cores out: one to the referee, then one to each bot of each slot.

    A machine that cannot give each bot of one match its own core still plays one match at a time;
    its bots share what is left and the slot says so.

    Args:
        cores: Cores to deal out; by default those of this process.
        seats: Bots in a match.
        wanted: Slots asked for; by default as many as fit.

    Raises:
        CapacityError: If more slots are wanted than fit; the message has the arithmetic.
    """
    have = usable_cores() if cores is None else tuple(sorted(cores))
    referee, rest = have[0], have[1:]
    fitting = max(1, len(rest) // seats)
    count = fitting if wanted is None else wanted
    if not 1 <= count <= fitting:
        raise CapacityError(
            f"{count} matches at once were asked for, but {len(have)} cores hold {fitting}: "
            f"{seats} for the bots of each match and 1 for the referee",
            f"ask for 1 to {fitting}",
        )
    if len(rest) < seats:
        shared = _cpuset(rest or (referee,))
        return [Slot(bots=(shared,) * seats, referee=str(referee), condition=SHARED_CORES)]
    return [
        Slot(
            bots=tuple(str(core) for core in rest[start : start + seats]),
            referee=str(referee),
        )
        for start in range(0, count * seats, seats)
    ]


def pin(cpuset: str) -> None:
    """Keep this thread, and those it starts from now on, on some cores.

    Where that cannot be done they run anywhere.
    """
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setaffinity(0, parse_cpus(cpuset))


@contextlib.contextmanager
def pinned(cpuset: str) -> Iterator[None]:
    """Keep this thread on some cores for a while; none named leaves it where it may run."""
    if not cpuset or not hasattr(os, "sched_getaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    pin(cpuset)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, before)


def _siblings(core: int) -> frozenset[int]:
    """Threads of the same physical core: they slow each other, so only one of them is used."""
    path = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
    try:
        return parse_cpus(path.read_text()) | {core}
    except OSError:
        return frozenset({core})


def _cpuset(cores: Collection[int]) -> str:
    return ",".join(str(core) for core in cores)
