"""From the outcomes of deals to the score of a match, in every format of the rules.

A series scores each deal by itself. In the other formats deals depend on each other: `MatchScore`
says how the next deal is set up and takes its outcome. Both are pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from referee.rules import Outcome, Reason, Rules
from referee.tallies import Tally, eliminates, tally_of
from referee.verdicts import (
    CHARGE,
    Kind,
    Verdict,
    doubles_bank,
    judge,
    opened_eyes,
    opponents,
    side_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DealSetup", "MatchFinal", "MatchScore", "ScoringError", "score_deal_series"]

_TWO_SIDES: Final = 2


class ScoringError(ValueError):
    """A match that cannot be scored as it is asked."""


def score_deal_series(rules: Rules, seats: int, outcome: Outcome) -> tuple[Fraction, ...]:
    """Return each seat's score of a deal in a series; together they are 0.

    Raises:
        ScoringError: The outcome is not that of a deal with so many seats.
    """
    _check_seats(seats, outcome)
    verdict = judge(rules, outcome)
    if rules.match_format == "eyes":
        return _others_less_own(rules, [-eyes for eyes in opened_eyes(rules, verdict)])
    if rules.match_format == "burkozyol_penalty":
        return _others_less_own(rules, [CHARGE * weight for weight in verdict.weights])
    if not verdict.takers:
        return _others_less_own(rules, verdict.weights)
    paid = Fraction(sum(verdict.weights), len(verdict.takers))
    return tuple(
        (paid if seat in verdict.takers else Fraction(0)) - weight
        for seat, weight in enumerate(verdict.weights)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DealSetup:
    """How the next deal of a match is played.

    Attributes:
        number: From 0.
        playing: The seats of the match that are still in, in the order of the deal's seats.
        dealer: Seat of the deal.
        leader: Seat of the deal; None if the rules for a first lead decide.
        multiplier: What the draws before this deal make its losses count.
        bank: Chips the deal is played for, its antes included; 0 without a bank.
    """

    number: int
    playing: tuple[int, ...]
    dealer: int
    leader: int | None
    multiplier: int
    bank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchFinal:
    """How a match ended.

    Attributes:
        places: Of each seat, 0 the best; level seats share a place.
        winners: The seats in place 0.
        tallies: What the format counts: deals won, penalty points, eyes or chips.
        scores: Chips won; in the other formats the part of its opponents that ended behind a
            seat less the part that ended ahead of it: 1 for a sole winner, together 0.
    """

    places: tuple[int, ...]
    winners: tuple[int, ...]
    tallies: tuple[int, ...]
    scores: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchScore:
    """A match in progress, in any format but a series; each deal makes a new value.

    Attributes:
        rules: What is played; its match_format says how deals are counted.
        seats: How many began.
        playing: The seats still in, ascending.
        dealer: Seat of the match that deals next.
        leader: Seat of the match that leads next; None if the rules for a first lead decide.
        tally: What the format counts.
        deals: How many were played.
        voids: How many of the last deals in a row were void.
        multiplier: What draws make the next deal's losses count.
        left: The seats that left, those that left after the same deal in one group.
    """

    rules: Rules
    seats: int
    playing: tuple[int, ...]
    dealer: int
    leader: int | None
    tally: Tally
    deals: int = 0
    voids: int = 0
    multiplier: int = 1
    left: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def start(
        cls, rules: Rules, seats: int, *, dealer: int, leader: int | None = None
    ) -> MatchScore:
        """Return the score before the first deal.

        Args:
            rules: What is played.
            seats: How many play.
            dealer: Seat of the first dealer, by lot.
            leader: Seat of the first lead; None if the rules decide.

        Raises:
            ScoringError: The format is a series, or seats that leave the match would leave a
                number of seats that the rules do not allow.
            RulesError: The rules do not allow so many seats.
        """
        rules.check_seats(seats)
        if rules.match_format == "series":
            raise ScoringError("match_format=series: a series is scored deal by deal")
        missing = [fewer for fewer in range(2, seats) if fewer not in rules.players]
        if missing and eliminates(rules) and rules.sides == "each":
            raise ScoringError(
                f"players={rules.players}: seats leave this match and it goes on with fewer, so"
                f" allow {', '.join(map(str, missing))} as well"
            )
        everybody = tuple(range(seats))
        tally = tally_of(rules)(rules=rules, counts=(0,) * seats)
        return cls(
            rules=rules, seats=seats, playing=everybody, dealer=dealer, leader=leader, tally=tally
        )

    @property
    def is_over(self) -> bool:
        """Whether nothing more is played."""
        return (
            self.deals >= self.rules.max_deals
            or len({side_of(self.rules, seat) for seat in self.playing}) < _TWO_SIDES
            or len(self.playing) not in self.rules.players
            or self.tally.is_over(self.playing)
        )

    def next_deal(self) -> DealSetup | None:
        """Return how the next deal is set up; None if the match is over."""
        if self.is_over:
            return None
        return DealSetup(
            number=self.deals,
            playing=self.playing,
            dealer=self.playing.index(self.dealer),
            leader=None if self.leader is None else self.playing.index(self.leader),
            multiplier=self.multiplier,
            bank=self.tally.at_stake(self.playing),
        )

    def add(self, outcome: Outcome) -> MatchScore:
        """Return the score after one more deal.

        Args:
            outcome: By the seats of that deal.

        Raises:
            ScoringError: The match is over, or the outcome has another number of seats.
        """
        if self.is_over:
            raise ScoringError("the match is over: no deal can be added")
        _check_seats(len(self.playing), outcome)
        verdict = judge(self.rules, outcome, void_allowed=self.voids < self.rules.max_void)
        if doubles_bank(self.rules, outcome):
            verdict = verdict._replace(kind=Kind.VOID, winners=())
        verdict = verdict.by_match_seats(self.playing, self.seats)
        tally = self.tally.add(verdict, self.playing, self.multiplier)
        leaving = self._leaving(tally, verdict)
        playing = tuple(seat for seat in self.playing if seat not in leaving)
        dealer = self._first_of(playing, self._next_dealer(verdict))
        return replace(
            self,
            tally=tally,
            deals=self.deals + 1,
            voids=self.voids + 1 if verdict.kind is Kind.VOID else 0,
            multiplier=self._next_multiplier(verdict.kind),
            playing=playing,
            left=(*self.left, leaving) if leaving else self.left,
            dealer=dealer,
            leader=self._first_of(playing, self._next_leader(verdict, dealer)),
        )

    def final(self) -> MatchFinal:
        """Return the result as the match stands; what is left in a bank is shared out."""
        tally = self.tally.closed(self.playing)
        merits: list[tuple[int, ...]] = [()] * self.seats
        for behind, group in enumerate((self.playing, *reversed(self.left))):
            for seat in group:
                merits[seat] = (-behind, *tally.merit(seat))
        places = tuple(sum(other > own for other in merits) for own in merits)
        return MatchFinal(
            places=places,
            winners=tuple(seat for seat, place in enumerate(places) if place == 0),
            tallies=tally.counts,
            scores=tally.scores(places),
        )

    def _leaving(self, tally: Tally, verdict: Verdict) -> tuple[int, ...]:
        leaving = set(tally.out(self.playing))
        if verdict.outcome.reason is Reason.FAULT and self.rules.fault_cost == "match":
            # Who declined a raise in that deal pays for it, but less, and stays.
            worst = max(verdict.weights)
            leaving |= {seat for seat in self.playing if verdict.weights[seat] == worst}
        return tuple(sorted(leaving))

    def _next_multiplier(self, kind: Kind) -> int:
        if kind is Kind.VOID:
            return self.multiplier
        if kind is Kind.DECIDED or self.rules.draw_carry == "none":
            return 1
        return 2 if self.rules.draw_carry == "double_once" else 2 * self.multiplier

    def _next_dealer(self, verdict: Verdict) -> int:
        if verdict.kind is Kind.VOID or self.rules.next_dealer == "same":
            return self.dealer
        if self.rules.next_dealer == "rotate":
            return self.dealer + 1
        return self._first_from_dealer(verdict.winners)

    def _next_leader(self, verdict: Verdict, next_dealer: int) -> int:
        outcome = verdict.outcome
        if verdict.kind is Kind.VOID:
            return outcome.leader
        if self.rules.next_lead == "left_of_dealer":
            return next_dealer + 1
        if self.rules.next_lead == "alternate":
            return outcome.leader + 1
        if outcome.last_taker is not None:
            return outcome.last_taker
        return self._first_from_dealer(verdict.winners) if verdict.winners else outcome.leader

    def _first_from_dealer(self, seats: Sequence[int]) -> int:
        """Return the first of the seats clockwise from the dealer, who comes last."""
        return self._first_of(seats, self.dealer + 1)

    def _first_of(self, seats: Sequence[int], start: int) -> int:
        """Return the first of the seats clockwise from a seat on; the dealer if there is none."""
        return min(seats, key=lambda seat: (seat - start) % self.seats, default=self.dealer)


def _others_less_own(rules: Rules, charges: Sequence[int]) -> tuple[Fraction, ...]:
    """Return for each seat the mean charge of its opponents less its own."""
    scores = []
    for seat, own in enumerate(charges):
        others = opponents(rules, len(charges), seat)
        scores.append(Fraction(sum(charges[other] for other in others), len(others)) - own)
    return tuple(scores)


def _check_seats(seats: int, outcome: Outcome) -> None:
    if len(outcome.points) != seats:
        raise ScoringError(
            f"an outcome of {len(outcome.points)} seats: expected one of {seats} seats"
        )
