"""What a tournament format takes and gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Protocol

from arena.errors import NotFoundError, RefusedError


class UnknownFormatError(NotFoundError):
    """No tournament format has this name."""


class Partners(StrEnum):
    """Who plays on whose side."""

    NONE = "none"
    FIXED = "fixed"
    ROTATING = "rotating"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a tournament fixes before its first match.

    `entrants` is their number, `seats` that of a match, `rounds` the cycles to play. `seed` is
    for formats that draw lots. Of fixed partners each counts as an entrant, and entrants 2k and
    2k + 1 are a pair.
    """

    entrants: int
    seats: int
    rounds: int
    seed: bytes
    partners: Partners = Partners.NONE

    def __post_init__(self) -> None:
        """Refuse plans that hold no match.

        Raises:
            RefusedError: There are too few entrants or rounds.
        """
        if self.entrants < self.seats:
            fixed = self.partners is Partners.FIXED
            missing = "2 pairs" if fixed else f"{self.seats} bots"
            entrants = f"{self.entrants} entrant{'s' if self.entrants > 1 else ''}"
            raise RefusedError(
                f"{entrants} cannot fill {self.seats} seats", f"name at least {missing}"
            )
        if self.rounds < 1:
            raise RefusedError(f"{self.rounds} rounds hold no match", "play at least 1 round")


@dataclass(frozen=True, slots=True)
class Pairing:
    """One match to play.

    `number` counts from 1 through the whole tournament; with the tournament's seed it is the key
    of the match's decks. `seats` lists entrants in the order of the first leg's seats; partners
    sit across.
    """

    number: int
    round: int
    seats: tuple[int, ...]


class Format(Protocol):
    """Who meets whom next."""

    def __call__(
        self, plan: Plan, results: Mapping[int, tuple[Fraction, ...]]
    ) -> tuple[Pairing, ...]:
        """Return every pairing known so far, in schedule order.

        `results` maps the numbers of finished matches to their totals, in the order of the
        pairing's seats. The same results in any order of arrival give the same pairings, and a
        pairing once given is given again: more results only add to the end.
        """
        ...
