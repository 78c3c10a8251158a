"""Why the entrants of a tournament change."""

from enum import StrEnum


class ReasonKind(StrEnum):
    """Why the list of entrants changed."""

    ENTRY = "entry"
    LATE_ENTRY = "late entry"
    WITHDRAWAL = "withdrawal"
    DISQUALIFICATION = "disqualification"
    REPLACEMENT = "replacement"
