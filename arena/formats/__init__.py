"""Tournament formats: pure functions from the results so far to the pairings to play next."""

from arena.formats.base import Format, Pairing, Plan, UnknownFormatError
from arena.formats.round_robin import round_robin

__all__ = ["FORMATS", "Format", "Pairing", "Plan", "UnknownFormatError", "find_format"]

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
