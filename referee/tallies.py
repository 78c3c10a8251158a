"""What the formats of a match count: deals won, penalty points, eyes, chips."""

from __future__ import annotations

import abc
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Self, TypeVar

from referee.verdicts import (
    CHARGE,
    Kind,
    Verdict,
    doubles_bank,
    opened_eyes,
    opponents,
    side_of,
    side_sums,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.rules import Rules


BankT = TypeVar("BankT", bound="Bank")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally(abc.ABC):
    """What a format counts, by the seats of the match.

    Attributes:
        rules: What is played.
        counts: Of each seat; partners have the same but for chips.
    """

    rules: Rules
    counts: tuple[int, ...]

    @abc.abstractmethod
    def add(self, verdict: Verdict, playing: Sequence[int], multiplier: int) -> Self:
        """Return the tally after a deal.

        Args:
            verdict: On the deal, by the seats of the match.
            playing: The seats that played it.
            multiplier: What draws before it make its losses count.
        """

    def merit(self, seat: int) -> tuple[int, ...]:
        """Return what ranks a seat among those still in, greater for the better."""
        return (self.counts[seat],)

    def is_over(self, playing: Sequence[int]) -> bool:
        """Tell whether the match is decided between the seats still in."""
        del playing
        return False

    def out(self, playing: Sequence[int]) -> tuple[int, ...]:
        """Return those of the seats that leave the match now."""
        del playing
        return ()

    def at_stake(self, playing: Sequence[int]) -> int:
        """Return the chips that these seats play for in the next deal."""
        del playing
        return 0

    def closed(self, playing: Sequence[int]) -> Self:
        """Return the tally when these seats play no more."""
        del playing
        return self

    def scores(self, places: Sequence[int]) -> tuple[Fraction, ...]:
        """Return each seat's score of the match, given the places."""
        scores = []
        for seat, place in enumerate(places):
            others = [places[other] for other in opponents(self.rules, len(places), seat)]
            lead = sum(other > place for other in others) - sum(other < place for other in others)
            scores.append(Fraction(lead, len(others)))
        return tuple(scores)


class Robber(Tally):
    """Deals won: first to the target, with the margin over each other side."""

    __slots__ = ()

    def add(self, verdict: Verdict, playing: Sequence[int], multiplier: int) -> Self:
        """Count the deal for its winners, or for who stayed in."""
        del playing
        won = max(verdict.weights) * multiplier
        return replace(self, counts=_plus(self.counts, dict.fromkeys(verdict.takers, won)))

    def is_over(self, playing: Sequence[int]) -> bool:
        """Tell whether one side has reached the target with the margin."""
        won = {side_of(self.rules, seat): self.counts[seat] for seat in playing}
        best, second = sorted(won.values(), reverse=True)[:2]
        return best >= self.rules.robber_target and best - second >= self.rules.robber_margin


class Penalty(Tally):
    """Penalty points: two for each weight of a loss."""

    __slots__ = ()

    def add(self, verdict: Verdict, playing: Sequence[int], multiplier: int) -> Self:
        """Charge the losers."""
        charges = {seat: CHARGE * verdict.weights[seat] * multiplier for seat in playing}
        return replace(self, counts=_plus(self.counts, charges))

    def merit(self, seat: int) -> tuple[int, ...]:
        """Rank the fewest penalty points highest."""
        return (-self.counts[seat],)

    def is_over(self, playing: Sequence[int]) -> bool:
        """Tell whether somebody has lost the match at the limit."""
        return not eliminates(self.rules) and bool(self._at_limit(playing))

    def out(self, playing: Sequence[int]) -> tuple[int, ...]:
        """Return who leaves at the limit; if that is everybody, the lowest stay."""
        if not eliminates(self.rules):
            return ()
        leaving = self._at_limit(playing)
        if len(leaving) < len(playing):
            return leaving
        lowest = min(self.counts[seat] for seat in playing)
        return tuple(seat for seat in playing if self.counts[seat] > lowest)

    def _at_limit(self, playing: Sequence[int]) -> tuple[int, ...]:
        return tuple(seat for seat in playing if self.counts[seat] >= self.rules.penalty_limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Eyes(Tally):
    """Eyes opened by each pair, and the points of the last deal, which settle a level end."""

    points: tuple[int, ...] = ()

    def add(self, verdict: Verdict, playing: Sequence[int], multiplier: int) -> Self:
        """Open eyes for both sides."""
        opened = opened_eyes(self.rules, verdict)
        eyes = {seat: opened[seat] * multiplier for seat in playing}
        points = tuple(side_sums(self.rules, verdict.outcome.points))
        return replace(self, counts=_plus(self.counts, eyes), points=points)

    def merit(self, seat: int) -> tuple[int, ...]:
        """Rank by eyes, and once both sides have reached the target by the last deal's points."""
        both_reached = min(self.counts) >= self.rules.eyes_target
        return (self.counts[seat], self.points[seat] if both_reached else 0)

    def is_over(self, playing: Sequence[int]) -> bool:
        """Tell whether a side has reached the target."""
        return max(self.counts[seat] for seat in playing) >= self.rules.eyes_target


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank(Tally):
    """Chips won and lost, and the bank that carries over to the next deal."""

    bank: int = 0
    antes_due: bool = True

    def add(self, verdict: Verdict, playing: Sequence[int], multiplier: int) -> Self:
        """Fill the bank and pay it out, or carry it over; a draw doubles it, not the losses."""
        del multiplier
        table = _paid_in(self, dict.fromkeys(playing, self.rules.ante if self.antes_due else 0))
        table = _paid_in(table, _extras(table, verdict))
        if verdict.kind is Kind.DRAW:
            parts = dict.fromkeys(playing, _equal_part(table.bank, playing))
            return replace(_paid_in(table, parts), antes_due=False)
        if verdict.kind is Kind.VOID:
            return replace(table, antes_due=not doubles_bank(self.rules, verdict.outcome))
        return replace(_paid_out(table, verdict.takers), antes_due=True)

    def at_stake(self, playing: Sequence[int]) -> int:
        """Return the bank with the antes that are due."""
        return self.bank + (self.rules.ante * len(playing) if self.antes_due else 0)

    def closed(self, playing: Sequence[int]) -> Self:
        """Share out what is left; an odd chip goes to nobody."""
        return _paid_out(self, playing)

    def scores(self, places: Sequence[int]) -> tuple[Fraction, ...]:
        """Return the chips won, less those lost."""
        del places
        return tuple(map(Fraction, self.counts))


def tally_of(rules: Rules) -> type[Tally]:
    """Return what the match format counts."""
    if rules.match_format == "burkozyol_double":
        return Penalty if rules.double_as == "penalty" else Robber
    return _TALLIES[rules.match_format]


def eliminates(rules: Rules) -> bool:
    """Tell whether seats leave the match at the limit of penalty points."""
    if rules.match_format == "burkozyol_penalty":
        return True
    return tally_of(rules) is Penalty and rules.on_limit == "eliminate"


_TALLIES: Final[Mapping[str, type[Tally]]] = {
    "robber": Robber,
    "penalty": Penalty,
    "burkozyol_penalty": Penalty,
    "eyes": Eyes,
    "bank": Bank,
}


def _extras(table: Bank, verdict: Verdict) -> dict[int, int]:
    """Return what losers put in beyond their antes.

    A weight of 2 costs an ante more, who declined a raise pays even if nobody wins, and a false
    claim can cost as much as the bank holds.
    """
    covered = 1 if verdict.kind is Kind.DECIDED else 0
    extras = {
        seat: table.rules.ante * (weight - covered)
        for seat, weight in enumerate(verdict.weights)
        if weight
    }
    if doubles_bank(table.rules, verdict.outcome):
        # A decliner pays the stake before the raise, the claimant twice the one after it.
        worst = max(verdict.weights)
        claimants = [seat for seat in extras if verdict.weights[seat] == worst]
        extras |= dict.fromkeys(claimants, _equal_part(table.bank, claimants))
    return extras


def _equal_part(chips: int, seats: Sequence[int]) -> int:
    """Return what each of the seats pays of so many chips, rounded up to whole ones."""
    return -(-chips // len(seats))


def _paid_in(table: BankT, parts: Mapping[int, int]) -> BankT:
    costs = {seat: -part for seat, part in parts.items()}
    return replace(table, counts=_plus(table.counts, costs), bank=table.bank + sum(parts.values()))


def _paid_out(table: BankT, seats: Sequence[int]) -> BankT:
    share = table.bank // len(seats) if seats else 0
    counts = _plus(table.counts, dict.fromkeys(seats, share))
    return replace(table, counts=counts, bank=table.bank - share * len(seats))


def _plus(counts: Sequence[int], parts: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(count + parts.get(seat, 0) for seat, count in enumerate(counts))
