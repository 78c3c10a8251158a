"""Tournament formats: pure functions from the results so far to the pairings to play next."""

from collections.abc import Mapping
from fractions import Fraction

from arena.formats.base import Format, Pairing, Partners, Plan, UnknownFormatError
from arena.formats.pairs import between_pairs, sides_of
from arena.formats.round_robin import round_robin

__all__ = [
    "FORMATS",
    "Format",
    "Pairing",
    "Partners",
    "Plan",
    "UnknownFormatError",
    "find_format",
    "schedule",
    "sides_of",
]

FORMATS: dict[str, Format] = {"round-robin": round_robin}


def find_format(name: str) -> Format:
    """Return the format with this name.

    Raises:
        UnknownFormatError: There is none; the message lists the known ones.
    """
    if name not in FORMATS:
        known = ", ".join(sorted(FORMATS))
        raise UnknownFormatError(f"unknown format {name!r}: expected one of {known}")
    return FORMATS[name]


def schedule(
    name: str, plan: Plan, results: Mapping[int, tuple[Fraction, ...]]
) -> tuple[Pairing, ...]:
    """Return every pairing of a format known so far, for bots alone and for pairs alike.

    Args:
        name: Of the format.
        plan: What the tournament fixed.
        results: As formats take them.

    Raises:
        UnknownFormatError: There is no such format.
    """
    format_ = find_format(name)
    if plan.partners is Partners.FIXED:
        return between_pairs(format_, plan, results)
    return format_(plan, results)
