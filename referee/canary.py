"""Notices when what the referee alone may know is about to reach a bot, or has reached one."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from referee.players import FaultKind, PlatformError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from referee.results import MatchSpec

__all__ = ["Canaries", "LeakError", "secrets_of", "strangers_of"]

# What a bot can guess it could print to make a match void: seeds typed in tests are no secrets.
LEAST_DISTINCT_BYTES = 8
# Shorter names can be words of the rules or of a fault's text.
NAME_BYTES = 12


class LeakError(PlatformError):
    """A bot was shown, or shows, what only the referee may know: the match counts for nobody."""


class Canaries:
    """Values that must not be found where a bot reads or writes.

    Args:
        values: By what each is called in messages, the ways in which it can be written.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Iterable[bytes]] | None = None) -> None:
        self._values = tuple(
            (name, way) for name, ways in (values or {}).items() for way in ways if way
        )

    def __or__(self, other: Canaries) -> Canaries:
        """Return the values of both."""
        both = Canaries()
        both._values = self._values + other._values
        return both

    def check(self, data: bytes, where: str) -> None:
        """Do nothing if none of the values is in the data.

        Raises:
            LeakError: One is; the message names it, not its value.
        """
        for name, way in self._values:
            if way in data:
                raise LeakError(f"{name} was found in {where}")


def secrets_of(spec: MatchSpec, owner: str = "") -> Canaries:
    """Return what no bot can guess: wherever one of these is found, it was told.

    Args:
        spec: The match; its seed.
        owner: Boot id of the process that plays it.
    """
    values = {}
    if len(set(spec.seed)) >= LEAST_DISTINCT_BYTES:
        values["the seed of the match"] = _ways(spec.seed)
    if len(owner) >= NAME_BYTES:
        values["the id of the referee's process"] = (owner.encode(),)
    return Canaries(values)


def strangers_of(spec: MatchSpec, *places: str) -> Canaries:
    """Return what bots may guess and print but are never sent: who plays, and where.

    Args:
        spec: The match; its entrants.
        places: Paths of this machine.
    """
    # Every bot is told the rules, so a name that is a word of theirs shows nothing.
    public = " ".join((spec.variant, str(spec.rules.to_dict()), *FaultKind))
    names = {name for entrant in spec.entrants for name in (entrant.name, entrant.digest)}
    return Canaries(
        {
            "the name or digest of an entrant": _long(one for one in names if one not in public),
            "a path of this machine": _long(places),
        }
    )


def _ways(seed: bytes) -> tuple[bytes, ...]:
    text = base64.b64encode(seed).rstrip(b"=")
    # The last character of unpadded text may hold bits of what follows it.
    return (seed, seed.hex().encode(), seed.hex().upper().encode(), text[:-1])


def _long(texts: Iterable[str]) -> tuple[bytes, ...]:
    return tuple(text.encode() for text in texts if len(text.encode()) >= NAME_BYTES)
