"""What a tournament format takes and gives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from fractions import Fraction
from typing import Any, Protocol, Self, TypeAlias

from arena.errors import NotFoundError, RefusedError

Totals: TypeAlias = tuple[Fraction, ...]
Results: TypeAlias = Mapping[int, Totals | None]
"""The total of each seat by the number of its pairing, for the matches that are over.

None stands for a match that was cancelled because an entrant had left.
"""


class UnknownFormatError(NotFoundError):
    """No tournament format has this name."""


class Partners(StrEnum):
    """Who plays on whose side."""

    NONE = "none"
    FIXED = "fixed"
    ROTATING = "rotating"


class ChangeKind(StrEnum):
    """How the field changes while a tournament runs."""

    JOIN = "join"
    LEAVE = "leave"


@dataclass(frozen=True, slots=True)
class Change:
    """An entrant came late or left.

    Attributes:
        kind: Which of the two.
        entrant: Its number; a newcomer has the next free one.
        after: How many pairings the tournament held then. Those are as they would be without the
            change; all that are made later heed it.
    """

    kind: ChangeKind
    entrant: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What single formats can be told; None leaves it to the format.

    Attributes:
        groups: How many groups there are.
        advance: How many of each group reach the knock-out.
        third_place: Whether the losers of the semi-finals meet.
        challenger: The entrant that meets all others; of fixed partners either of the two.
    """

    groups: int | None = None
    advance: int | None = None
    third_place: bool | None = None
    challenger: int | None = None

    def to_dict(self) -> dict[str, int]:
        """Return what is set, ready for JSON."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Take back what `to_dict` gave.

        Raises:
            RefusedError: A name is not that of an option.
        """
        known = [field.name for field in fields(cls)]
        for name in values:
            if name not in known:
                raise RefusedError(
                    f"unknown option {name!r} of a format", f"expected {', '.join(known)}"
                )
        return cls(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a tournament fixes before its first match, and how its field has changed since.

    Attributes:
        entrants: How many there were at first. Of fixed partners each counts, and entrants 2k and
            2k + 1 are a pair. Their order is their seeding, the best first.
        seats: Entrants in a match.
        rounds: What the format counts: cycles, rounds, matches of a tie; None is its usual.
        seed: 32 bytes from which lots are drawn.
        partners: Who plays on whose side.
        options: What only this format can be told.
        changes: In the order in which they happened.
    """

    entrants: int
    seats: int
    rounds: int | None
    seed: bytes
    partners: Partners = Partners.NONE
    options: Options = Options()
    changes: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        """Refuse plans that hold no match.

        Raises:
            RefusedError: There are too few entrants or rounds.
            ValueError: The changes are not in order, or a newcomer's number is not the next.
        """
        if self.entrants < self.seats:
            fixed = self.partners is Partners.FIXED
            missing = "2 pairs" if fixed else f"{self.seats} bots"
            entrants = f"{self.entrants} entrant{'' if self.entrants == 1 else 's'}"
            raise RefusedError(
                f"{entrants} cannot fill {self.seats} seats", f"name at least {missing}"
            )
        if self.rounds is not None and self.rounds < 1:
            raise RefusedError(f"{self.rounds} rounds hold no match", "play at least 1 round")
        new = [change.entrant for change in self.changes if change.kind is ChangeKind.JOIN]
        if new != list(range(self.entrants, self.entrants + len(new))):
            raise ValueError(f"newcomers {new}: expected numbers from {self.entrants} on")
        held = [change.after for change in self.changes]
        if held != sorted(held):
            raise ValueError(f"changes after {held} pairings: expected them in order")

    @property
    def ever_entered(self) -> int:
        """How many entrants there have been, those who have left among them."""
        return self.entrants + sum(change.kind is ChangeKind.JOIN for change in self.changes)

    @property
    def left(self) -> frozenset[int]:
        """Who has left."""
        return frozenset(
            change.entrant for change in self.changes if change.kind is ChangeKind.LEAVE
        )


@dataclass(frozen=True, slots=True)
class Pairing:
    """One match to play.

    Attributes:
        number: Counts from 1 through the whole tournament; with the tournament's seed it is the
            key of the match's decks.
        round: Counts from 1; what a round is, is the format's.
        seats: Entrants in the order of the first leg's seats; partners sit across.
        stage: What the match is called, "group A" or "final"; empty in formats without stages.
    """

    number: int
    round: int
    seats: tuple[int, ...]
    stage: str = ""


@dataclass(frozen=True, slots=True)
class Bye:
    """An entrant sits out a round."""

    round: int
    entrant: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """What is known so far of who meets whom.

    Attributes:
        pairings: In the order in which they are to be played.
        byes: Who sits out.
        complete: Whether no other pairing will come, whatever the results.
    """

    pairings: tuple[Pairing, ...]
    byes: tuple[Bye, ...] = ()
    complete: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A row of a format's final order.

    Attributes:
        entrant: Its number; of fixed partners the number of the pair.
        rank: From 1; who is level shares it, and the ranks they fill are left out after it.
        columns: What the order rests on, by the heading, what counts most first.
    """

    entrant: int
    rank: int
    columns: tuple[tuple[str, Fraction | int | str], ...]


def without(places: Sequence[Place], out: Collection[int]) -> list[tuple[int | None, Place]]:
    """Return an order with the ranks that hold when some no longer count.

    Args:
        places: Best first.
        out: Who was disqualified: they come last, without a rank.
    """
    counted = [place for place in places if place.entrant not in out]
    ranked: list[tuple[int | None, Place]] = [
        (1 + sum(other.rank < place.rank for other in counted), place) for place in counted
    ]
    return [*ranked, *((None, place) for place in places if place.entrant in out)]


class Format(Protocol):
    """Who meets whom next: a pure function of the plan and of the results so far.

    The same results in any order of arrival give the same schedule. A pairing once given is given
    again: results that come in and changes that happen later only add to the end. Pairings come in
    blocks, and a block heeds the changes that happened before it began.

    Attributes:
        name: What the organiser calls it.
        summary: One sentence.
        explanation: A paragraph: who meets whom, byes, ties, what the number of rounds means, how
            late entries and withdrawals are treated.
        can_grow: Whether results can make it more matches than expected, by replays.
        is_endless: Whether only the organiser can end it, however many are in.
        is_seeded: Whether the order of the entrants decides who meets whom first.
        has_challenger: Whether one entrant meets all others, the first named unless another is.
        fewer: The format that gives as many seats in fewer matches where these are of more than
            two; empty where none does.
    """

    name: str
    summary: str
    explanation: str
    can_grow: bool = False
    is_endless: bool = False
    is_seeded: bool = False
    has_challenger: bool = False
    fewer: str = ""

    def check(self, plan: Plan) -> None:
        """Refuse what the format cannot hold.

        Raises:
            RefusedError: Naming what does not fit and what would.
        """

    def schedule(self, plan: Plan, results: Results) -> Schedule:
        """Return every pairing known so far, for a plan that passed the check."""
        ...

    def ranking(self, plan: Plan, results: Results) -> tuple[Place, ...]:
        """Return the order so far, best first; who left comes last of its equals."""
        ...

    def expected_matches(self, plan: Plan) -> int | None:
        """Return how many matches are to come of a plan if nobody leaves; None: no end to them."""
        ...

    def challenger(self, plan: Plan) -> int | None:  # noqa: ARG002 - whoever is in, most have none
        """Return who meets everybody as the field is now; None in a format without one."""
        return None
