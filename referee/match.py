"""One match: the loop, the clock, the policy for faults."""

from __future__ import annotations

from referee.players import Fault, FaultKind
from referee.results import (
    ActionTaken,
    ClockUsage,
    DealResult,
    Entrant,
    LegResult,
    MatchResult,
    MatchSpec,
    Offence,
    SpecError,
    TimeControl,
)

__all__ = [
    "ActionTaken",
    "ClockUsage",
    "DealResult",
    "Entrant",
    "Fault",
    "FaultKind",
    "LegResult",
    "MatchResult",
    "MatchSpec",
    "Offence",
    "SpecError",
    "TimeControl",
]
