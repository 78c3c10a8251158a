"""Which deals a leg consists of and what they come to: shared by playing and by checking."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from referee.cards import full_deck
from referee.players import Standing
from referee.results import SERIES
from referee.rules import ActionKind, Outcome, Reason, fault_outcome, highest_weight
from referee.scoring import MatchScore, score_deal_series
from referee.shuffle import SeededSource, Stream, order

if TYPE_CHECKING:
    from collections.abc import Collection

    from referee.results import MatchSpec
    from referee.rules import DealSource, Rules, State

__all__ = [
    "Chain",
    "Programme",
    "RecordingSource",
    "ScoreSum",
    "Series",
    "Setup",
    "deal_scores",
    "deck_source",
    "first_dealer",
    "forced_seat",
    "lost_by_fault",
    "programme_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How a deal begins.

    Attributes:
        number: Within the leg, from 0.
        deck: Number of the deck within the match.
        playing: Seats of the leg in the order of the deal's seats.
        dealer: Seat of the deal.
        leader: Seat of the deal; None if the rules for a first lead decide.
        standing: Of the match; None in a series.
    """

    number: int
    deck: int
    playing: tuple[int, ...]
    dealer: int
    leader: int | None
    standing: Standing | None = None


class Programme(Protocol):
    """The deals of a leg, by the seats of the leg."""

    def next_deal(self) -> Setup | None:
        """Return the next deal to start, None if none is left."""
        ...

    def add(self, outcome: Outcome, scores: tuple[Fraction, ...]) -> None:
        """Take the end of a deal: its outcome by its own seats, its scores by the leg's."""
        ...

    def scores(self) -> tuple[Fraction, ...]:
        """Return the score of the leg so far."""
        ...


class ScoreSum:
    """The scores of deals from which nothing else carries to the next."""

    def __init__(self, seats: int) -> None:
        """Begin at zero."""
        self._scores = (Fraction(0),) * seats

    def add(self, outcome: Outcome, scores: tuple[Fraction, ...]) -> None:
        """Add the scores; nothing else carries from deal to deal."""
        del outcome
        self._scores = tuple(a + b for a, b in zip(self._scores, scores, strict=True))

    def scores(self) -> tuple[Fraction, ...]:
        """Return the sum of the scores."""
        return self._scores


class Series(ScoreSum):
    """A fixed number of decks, each a first deal, in an order that differs from leg to leg."""

    def __init__(self, spec: MatchSpec, leg: int) -> None:
        """Begin a leg."""
        super().__init__(spec.seats)
        self._spec = spec
        self._decks = order(spec.seed, match=spec.match, leg=leg, n=spec.decks)
        self._started = 0

    def next_deal(self) -> Setup | None:
        """Return the next deck, None after the last."""
        if self._started == len(self._decks):
            return None
        spec, number = self._spec, self._started
        deck = self._decks[number]
        self._started += 1
        return Setup(
            number=number,
            deck=deck,
            playing=tuple(range(spec.seats)),
            dealer=first_dealer(spec.seed, spec.match, deck, spec.seats),
            leader=None,
        )


class Chain:
    """Deals that depend on each other, in one of the formats of a match."""

    def __init__(self, rules: Rules, seats: int, dealer: int) -> None:
        """Begin with a dealer."""
        self._score = MatchScore.start(rules, seats, dealer=dealer)
        self._in_play = False

    def next_deal(self) -> Setup | None:
        """Return the next deal once the one before is over, None after the last."""
        following = None if self._in_play else self._score.next_deal()
        if following is None:
            return None
        self._in_play = True
        return Setup(
            number=following.number,
            deck=following.number,
            playing=following.playing,
            dealer=following.dealer,
            leader=following.leader,
            standing=Standing(
                tallies=self._score.tally.counts,
                bank=following.bank,
                carry=following.multiplier,
                playing=following.playing,
            ),
        )

    def add(self, outcome: Outcome, scores: tuple[Fraction, ...]) -> None:
        """Count the outcome as the format does."""
        del scores
        self._score = self._score.add(outcome)
        self._in_play = False

    def scores(self) -> tuple[Fraction, ...]:
        """Return the score as it stands."""
        return self._score.final().scores


def programme_of(spec: MatchSpec, leg: int) -> Programme:
    """Return the deals of a leg."""
    if spec.match_format == SERIES:
        return Series(spec, leg)
    dealer = first_dealer(spec.seed, spec.match, 0, spec.seats)
    return Chain(spec.rules, spec.seats, dealer)


class RecordingSource:
    """A source of decks and lots that keeps what it gave away."""

    def __init__(self, source: DealSource) -> None:
        """Draw from another source."""
        self._source = source
        self.decks: list[tuple[int, ...]] = []
        self.lots: list[tuple[str, int, int]] = []

    def deck(self, attempt: int) -> tuple[int, ...]:
        """Return the deck of an attempt, and keep it."""
        cards = tuple(self._source.deck(attempt))
        self.decks.append(cards)
        return cards

    def index(self, purpose: str, n: int) -> int:
        """Return a lot, and keep it."""
        value = self._source.index(purpose, n)
        self.lots.append((purpose, n, value))
        return value


def deck_source(rules: Rules, seed: bytes, match: int, deck: int) -> SeededSource:
    """Return the chances of a deck: the same in every leg of a match."""
    return SeededSource(seed, match, deck, full_deck(rules.deck))


def first_dealer(seed: bytes, match: int, deck: int, seats: int) -> int:
    """Return the seat that deals a deck which is a first deal."""
    return Stream(seed, "dealer", match, deck).below(seats)


def lost_by_fault(state: State, at_fault: Collection[int]) -> Outcome:
    """Return the loss of a deal by the seats at fault, at the highest weight there is.

    Of pairs the whole side loses. The winners are the seats of the other sides; if there are none,
    nobody wins and nobody pays.
    """
    losing = set(at_fault)
    if state.rules.sides == "pairs":
        losing |= {(seat + state.seats // 2) % state.seats for seat in at_fault}
    weight = highest_weight(state.rules)
    return fault_outcome(state, min(losing))._replace(
        winners=tuple(seat for seat in range(state.seats) if seat not in losing),
        losers=tuple((seat, weight) for seat in sorted(losing)),
    )


def deal_scores(rules: Rules, seats: int, setup: Setup, outcome: Outcome) -> tuple[Fraction, ...]:
    """Return each seat's score of a deal as if it were one of a series, by the leg's seats."""
    scores = [Fraction(0)] * seats
    if outcome.winners or outcome.reason is not Reason.FAULT:
        by_deal = score_deal_series(rules, len(setup.playing), outcome)
        for seat, score in zip(setup.playing, by_deal, strict=True):
            scores[seat] = score
    return tuple(scores)


def forced_seat(state: State) -> int | None:
    """Return the seat whose turn the referee plays itself, None if there is none.

    Whether a seat has to lay its cards closed tells whether they beat, so that it is asked.
    """
    if state.window or len(state.asked) != 1:
        return None
    actions = state.legal_actions(state.asked[0])
    if len(actions) > 1 or actions[0].kind is ActionKind.HIDE:
        return None
    return state.asked[0]
