"""Why the entrants of a tournament change, or what they promised."""

from enum import StrEnum


class ReasonKind(StrEnum):
    """Why the list of entrants changed, or that a promised string was not waited for."""

    ENTRY = "entry"
    LATE_ENTRY = "late entry"
    WITHDRAWAL = "withdrawal"
    DISQUALIFICATION = "disqualification"
    REPLACEMENT = "replacement"
    FORGONE = "forgone string"
