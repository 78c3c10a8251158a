"""What is to be played and what came of it: plain values that cross processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from referee.players import Traffic
from referee.scoring import MatchScore, ScoringError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from referee.players import Fault
    from referee.rules import Action, Outcome, Rules

__all__ = [
    "ActionTaken",
    "ClockUsage",
    "DealResult",
    "Entrant",
    "Evidence",
    "LegResult",
    "MatchResult",
    "MatchSpec",
    "Offence",
    "SpecError",
    "TimeControl",
]

SERIES = "series"


class SpecError(ValueError):
    """A match that cannot be played as it is described."""


@dataclass(frozen=True, slots=True)
class TimeControl:
    """How long a bot may think, in milliseconds.

    Attributes:
        move_time_ms: For each turn of a message.
        bank_ms: On top of that, for all deals of a leg.
        increment_ms: What each decision adds to the bank.
        startup_ms: From the start of the program to its Hello.
    """

    move_time_ms: int = 1_000
    bank_ms: int = 0
    increment_ms: int = 0
    startup_ms: int = 20_000

    def __post_init__(self) -> None:
        """Refuse times nobody can play with.

        Raises:
            SpecError: The move time or the start-up time is not positive, or another is negative.
        """
        if self.move_time_ms < 1 or self.startup_ms < 1:
            raise SpecError("move time and start-up time must be at least 1 ms")
        if self.bank_ms < 0 or self.increment_ms < 0:
            raise SpecError("bank and increment must not be negative")


@dataclass(frozen=True, slots=True)
class Entrant:
    """Who plays: the name it was submitted under, its version and the digest of what runs."""

    name: str
    version: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchSpec:
    """One match.

    Attributes:
        variant: Name of the rules, for people and bots.
        rules: What is played.
        seats: How many play.
        decks: How many deals a leg has.
        match_format: One of the formats of the rules; only "series" is played in mirrored legs.
        tables: How many deals are played side by side.
        seed: 32 bytes from which every deck and lot follows; no bot is told.
        match: Number of the match under its seed.
        time_control: The clock.
        entrants: As they sit in leg 0.
        attempt: Which try at playing it this is, from 1; not part of the record.
    """

    variant: str
    rules: Rules
    seats: int
    decks: int
    seed: bytes
    entrants: tuple[Entrant, ...]
    match: int = 0
    match_format: str = SERIES
    tables: int = 1
    time_control: TimeControl = field(default_factory=TimeControl)
    attempt: int = 1

    def __post_init__(self) -> None:
        """Refuse what cannot be played.

        Raises:
            SpecError: The numbers do not fit together.
        """
        if len(self.entrants) != self.seats:
            raise SpecError(f"{len(self.entrants)} entrants for {self.seats} seats: give one each")
        if self.seats not in self.rules.players:
            raise SpecError(
                f"{self.variant} cannot be played with {self.seats} seats: "
                f"expected one of {', '.join(map(str, self.rules.players))}"
            )
        if self.decks < 1 or self.tables < 1:
            raise SpecError("decks and tables must be at least 1")
        if self.match_format != SERIES and self.tables != 1:
            raise SpecError(f"{self.match_format} is played at one table: its deals depend on each")
        if self.match_format != SERIES:
            try:
                MatchScore.start(self.rules, self.seats, dealer=0)
            except ScoringError as error:
                raise SpecError(f"{self.variant} cannot be played like this: {error}") from error

    @property
    def legs(self) -> int:
        """How many legs the match has: one for each rotation, or a single one."""
        return self.seats if self.match_format == SERIES else 1

    def entrant_at(self, leg: int, seat: int) -> int:
        """Return the index of the entrant that sits at a seat in a leg."""
        return (seat + leg) % self.seats

    def by_entrant(self, leg: int, by_seat: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Reorder what is listed by seat into the order of the entrants."""
        return tuple(by_seat[(entrant - leg) % self.seats] for entrant in range(self.seats))


@dataclass(frozen=True, slots=True)
class ActionTaken:
    """A choice as the record keeps it.

    Attributes:
        seat: Who chose.
        action: What.
        index: Its place among the actions the seat could choose from.
        asked: Whether the bot was asked; the referee plays forced turns itself.
        time_us: From our write to the arrival of the answer, in microseconds.
    """

    seat: int
    action: Action
    index: int
    asked: bool
    time_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DealResult:
    """One deck played once.

    Attributes:
        leg: From 0.
        number: The deal's number within the leg, in the order of starting.
        deck: Number of the deck within the match.
        table: Where it was played.
        playing: The leg's seats in the order of the deal's; what follows names the deal's seats,
            but for faults, which name the leg's.
        dealer: Who dealt.
        leader: Who was to lead first by what happened before; None where this deal settled it.
        decks: Each deck used, the last one played, those before it redealt.
        lots: Each lot drawn as (purpose, number of values, value).
        actions: In order.
        faults: Committed in this deal.
        lost_by: The leg's seats that lost it by a fault, in this deal or before it in the leg.
        outcome: By the rules, or by a fault.
        scores: By entrant, as in a series.
    """

    leg: int
    number: int
    deck: int
    table: int
    playing: tuple[int, ...]
    dealer: int
    leader: int | None
    decks: tuple[tuple[int, ...], ...]
    lots: tuple[tuple[str, int, int], ...]
    actions: tuple[ActionTaken, ...]
    faults: tuple[Fault, ...]
    lost_by: tuple[int, ...]
    outcome: Outcome
    scores: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockUsage:
    """How an entrant used its time; one answer is all choices for one round of turns.

    Attributes:
        decisions: Turns answered.
        answers_us: Time of each answer in microseconds, in order.
    """

    decisions: int = 0
    answers_us: tuple[int, ...] = ()

    def __add__(self, other: ClockUsage) -> ClockUsage:
        return ClockUsage(
            decisions=self.decisions + other.decisions,
            answers_us=self.answers_us + other.answers_us,
        )

    @property
    def count(self) -> int:
        """How many answers there were."""
        return len(self.answers_us)

    @property
    def total_us(self) -> int:
        """The time of all answers together, in microseconds."""
        return sum(self.answers_us)

    @property
    def max_us(self) -> int:
        """The longest answer, in microseconds; 0 without any."""
        return max(self.answers_us, default=0)

    def percentile_us(self, percent: int) -> int:
        """Return the time within which that share of the answers came, in microseconds."""
        if not self.answers_us:
            return 0
        ordered = sorted(self.answers_us)
        return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """How things stood at a seat when it committed a fault; for people, no part of the record.

    Attributes:
        sent: The last message to the bot, as bytes.
        received: The message that was judged; without one, the last that had been judged before.
            None if none ever came.
        limit_us: The time the seat had for the turns it was asked last, in microseconds.
        elapsed_us: How long its clock had run.
        bank_us: What was left in its bank.
    """

    sent: bytes = b""
    received: bytes | None = None
    limit_us: int = 0
    elapsed_us: int = 0
    bank_us: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Offence:
    """A fault and where it fell.

    Attributes:
        leg: From 0.
        deal: Number of the deal within the leg; None if it lost all that were left.
        entrant: Whose bot committed it.
        fault: What it was.
        evidence: What is known besides; None for all but the first of a seat in a leg.
    """

    leg: int
    deal: int | None
    entrant: int
    fault: Fault
    evidence: Evidence | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LegResult:
    """One rotation of a match.

    Attributes:
        leg: From 0.
        deals: By number.
        faults: All of the leg in order.
        scores: By entrant.
        clocks: By seat.
        traffic: By seat.
        stalls: How often the referee was kept from running while it waited.
        stalled_us: For how long in all, in microseconds; no clock was charged for it.
    """

    leg: int
    deals: tuple[DealResult, ...]
    faults: tuple[Offence, ...]
    scores: tuple[Fraction, ...]
    clocks: tuple[ClockUsage, ...]
    traffic: tuple[Traffic, ...]
    stalls: int = 0
    stalled_us: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchResult:
    """All legs of a match.

    Attributes:
        spec: What was played.
        legs: In order.
        conditions: What a reader of the times must know ("shared cores"), or empty.
    """

    spec: MatchSpec
    legs: tuple[LegResult, ...]
    conditions: str = ""

    @property
    def deals(self) -> tuple[DealResult, ...]:
        """All deals of all legs."""
        return tuple(deal for leg in self.legs for deal in leg.deals)

    @property
    def totals(self) -> tuple[Fraction, ...]:
        """The score of the match by entrant."""
        return _sums(leg.scores for leg in self.legs)

    def deck_scores(self) -> tuple[tuple[Fraction, ...], ...]:
        """Return, deck by deck, the sum over all rotations by entrant.

        Deals that depend on each other are no sample: there the whole match counts as one deck.
        """
        if self.spec.match_format != SERIES:
            return (self.totals,)
        decks: dict[int, list[tuple[Fraction, ...]]] = {}
        for deal in self.deals:
            decks.setdefault(deal.deck, []).append(deal.scores)
        return tuple(_sums(decks[deck]) for deck in sorted(decks))

    @property
    def faults(self) -> tuple[Offence, ...]:
        """All faults of all legs."""
        return tuple(fault for leg in self.legs for fault in leg.faults)

    @property
    def stalls(self) -> int:
        """How often the referee was kept from running in all legs."""
        return sum(leg.stalls for leg in self.legs)

    @property
    def stalled_us(self) -> int:
        """For how long in all, in microseconds; no clock was charged for it."""
        return sum(leg.stalled_us for leg in self.legs)

    def clock(self, entrant: int) -> ClockUsage:
        """Return how an entrant used its time in all legs."""
        usage = ClockUsage()
        for leg in self.legs:
            usage += leg.clocks[(entrant - leg.leg) % self.spec.seats]
        return usage

    def traffic(self, entrant: int) -> Traffic:
        """Return what went over an entrant's wires in all legs."""
        seats = [leg.traffic[(entrant - leg.leg) % self.spec.seats] for leg in self.legs]
        return Traffic(
            sum(traffic.sent_bytes for traffic in seats),
            sum(traffic.sent_messages for traffic in seats),
            sum(traffic.received_bytes for traffic in seats),
            sum(traffic.received_messages for traffic in seats),
            sum(traffic.sending_us for traffic in seats),
        )


def _sums(scores: Iterable[tuple[Fraction, ...]]) -> tuple[Fraction, ...]:
    return tuple(sum(column, Fraction(0)) for column in zip(*scores, strict=True))
