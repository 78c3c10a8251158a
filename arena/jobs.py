"""What goes to a worker and what comes back: plain values that cross processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from arena.sandbox import Limits

if TYPE_CHECKING:
    from pathlib import Path

    from arena.sandbox import BotSource
    from arena.sandbox.slots import Slot
    from arena.stored_results import StoredReport, StoredResult
    from referee.results import MatchSpec

WORKER_LOST = "worker_lost"
STALLED = "platform_stall"
INTERRUPTED = "interrupted"
ENGINE_LOST = "engine_lost"
IMAGE_MISSING = "image_missing"
LIMITS_MISSING = "limits_missing"
DISK_FULL = "disk_full"
LEAK = "leak"
REFEREE_ERROR = "referee_error"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchDescription:
    """All that is needed to play a match.

    Attributes:
        spec: The match.
        bots: By entrant, in the order of the spec's.
        positions: By entrant, its place in the tournament's schedule.
        sandbox: Name of the backend that runs the bots.
        home: The arena's folder.
        folder: Where its record and logs go, below the records' and the logs' folder.
        limits: What each bot may use; its cores come from the slot.
        slot: The cores; None leaves them to the kernel.
        owner: Boot id of the process that plays it.
    """

    spec: MatchSpec
    bots: tuple[BotSource, ...]
    positions: tuple[int, ...]
    sandbox: str
    home: Path
    folder: str
    limits: Limits = field(default_factory=Limits)
    slot: Slot | None = None
    owner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A match that was decided, and whose record is on disk."""

    result: StoredResult
    reports: tuple[StoredReport, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Voided:
    """An attempt that counts for nobody; the reason is one word, the detail one line."""

    reason: str
    detail: str = ""
    reports: tuple[StoredReport, ...] = ()

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


@dataclass(frozen=True, slots=True)
class Beat:
    """A sign of progress, not merely of life."""


Outcome = Played | Voided
