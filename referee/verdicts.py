"""What the outcome of a deal means for its seats, in the format of the match."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final, NamedTuple

from referee.rules import Outcome, Reason, Rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CHARGE: Final = 2
_HALF_MARK: Final = 31
_THIRD_MARK: Final = 21
_MOST_MARK: Final = 61
_TWO_SIDES: Final = 2


class Kind(enum.Enum):
    """What a deal did to the match."""

    DECIDED = enum.auto()
    DRAW = enum.auto()
    VOID = enum.auto()


_KINDS: Final = {Reason.VOID: Kind.VOID, Reason.DRAW: Kind.DRAW}


class Verdict(NamedTuple):
    """What a deal means for the seats.

    Attributes:
        kind: Whether it was decided.
        winners: The seats that won.
        weights: The weight of each seat's loss, 0 for none.
        takers: Whom the losses are paid to: the winners, or who stayed in when others declined
            a raise and nobody won.
        outcome: What the verdict is on.
    """

    kind: Kind
    winners: tuple[int, ...]
    weights: tuple[int, ...]
    takers: tuple[int, ...]
    outcome: Outcome

    def by_match_seats(self, playing: Sequence[int], seats: int) -> Verdict:
        """Return the verdict with each seat of the deal replaced by its seat of the match."""

        def spread(values: Iterable[int]) -> tuple[int, ...]:
            by_seat = dict(zip(playing, values, strict=True))
            return tuple(by_seat.get(seat, 0) for seat in range(seats))

        taker = self.outcome.last_taker
        return Verdict(
            kind=self.kind,
            winners=tuple(playing[seat] for seat in self.winners),
            weights=spread(self.weights),
            takers=tuple(playing[seat] for seat in self.takers),
            outcome=self.outcome._replace(
                points=spread(self.outcome.points),
                tricks=spread(self.outcome.tricks),
                leader=playing[self.outcome.leader],
                last_taker=None if taker is None else playing[taker],
            ),
        )


def judge(rules: Rules, outcome: Outcome, *, void_allowed: bool = True) -> Verdict:
    """Say what a deal's outcome means for its seats.

    Args:
        rules: What was played.
        outcome: How the deal ended.
        void_allowed: False if so many deals in a row were void that points decide instead.
    """
    if outcome.reason is Reason.VOID and not void_allowed:
        outcome = _by_most_points(rules, outcome)
    kind = _KINDS.get(outcome.reason, Kind.DECIDED)
    winners = outcome.winners if kind is Kind.DECIDED else ()
    return Verdict(kind, winners, _weights(rules, outcome), outcome.winners, outcome)


def doubles_bank(rules: Rules, outcome: Outcome) -> bool:
    """Tell whether a deal was void by a false claim that is paid into the bank."""
    return (
        rules.match_format == "bank"
        and rules.false_claim == "double_bank"
        and outcome.reason is Reason.FALSE_CLAIM
    )


def opened_eyes(rules: Rules, verdict: Verdict) -> tuple[int, ...]:
    """Return the eyes that each seat's side opens in a deal, before any doubling."""
    if verdict.kind is not Kind.DECIDED:
        return (0,) * len(verdict.weights)
    if verdict.outcome.reason is not Reason.MOST_POINTS:
        won = CHARGE * max(verdict.weights)
        return tuple(won if seat in verdict.takers else 0 for seat in range(len(verdict.weights)))
    points, tricks = (
        side_sums(rules, values) for values in (verdict.outcome.points, verdict.outcome.tricks)
    )
    opened = []
    for seat in range(len(points)):
        other = opponents(rules, len(points), seat)[0]
        opened.append(_eyes(rules, points[seat], points[other], tricks[other]))
    return tuple(opened)


def _eyes(rules: Rules, points: int, their_points: int, their_tricks: int) -> int:
    """Return the eyes a side opens with its points against the other's points and tricks."""
    if points > their_points and not their_points:
        return 6 if their_tricks else 8
    if rules.eyes == "each_side":
        return 4 if points >= _MOST_MARK else 2 if points >= _HALF_MARK else 0
    if points < their_points:
        return 0
    return 4 if their_points < _HALF_MARK else 2


def side_of(rules: Rules, seat: int) -> int:
    """Return the side of a seat: of pairs 0 or 1, else the seat itself."""
    return seat % 2 if rules.sides == "pairs" else seat


def opponents(rules: Rules, seats: int, seat: int) -> list[int]:
    """Return the seats of the other sides."""
    return [other for other in range(seats) if side_of(rules, other) != side_of(rules, seat)]


def side_sums(rules: Rules, values: Sequence[int]) -> list[int]:
    """Return for each seat the sum of its side."""
    sums: dict[int, int] = {}
    for seat, value in enumerate(values):
        sums[side_of(rules, seat)] = sums.get(side_of(rules, seat), 0) + value
    return [sums[side_of(rules, seat)] for seat in range(len(values))]


def _weights(rules: Rules, outcome: Outcome) -> tuple[int, ...]:
    weights = [0] * len(outcome.points)
    for seat, weight in outcome.losers:
        weights[seat] = weight
    if rules.match_format != "burkozyol_penalty" or outcome.reason is not Reason.MOST_POINTS:
        return tuple(weights)
    points, tricks = side_sums(rules, outcome.points), side_sums(rules, outcome.tricks)
    mark, best = _pass_mark(rules, len(points)), max(points)
    return tuple(
        weight if points[seat] == best else _step(rules, points[seat], tricks[seat], mark)
        for seat, weight in enumerate(weights)
    )


def _pass_mark(rules: Rules, seats: int) -> int:
    sides = {side_of(rules, seat) for seat in range(seats)}
    return _HALF_MARK if len(sides) == _TWO_SIDES else _THIRD_MARK


def _step(rules: Rules, points: int, tricks: int, mark: int) -> int:
    """Return the weight of a loss on the scale of penalties: 1, 2 or 3 for 2, 4 or 6 points."""
    worst = {"zero_points": not points, "no_tricks": not tricks, "off": False}
    if worst[rules.six_for]:
        return 3
    return 2 if points < mark else 1


def _by_most_points(rules: Rules, outcome: Outcome) -> Outcome:
    """Decide a deal that ended without a claim by its points; level tops are a draw."""
    gone = {seat for seat, _ in outcome.losers}
    stayed = [seat for seat in range(len(outcome.points)) if seat not in gone]
    sums = side_sums(rules, outcome.points)
    best = max(sums[seat] for seat in stayed)
    tops = tuple(seat for seat in stayed if sums[seat] == best)
    if len({side_of(rules, seat) for seat in tops}) > 1:
        return outcome._replace(reason=Reason.DRAW)
    beaten = tuple((seat, outcome.stake) for seat in stayed if seat not in tops)
    losers = tuple(sorted(outcome.losers + beaten))
    return outcome._replace(reason=Reason.MOST_POINTS, winners=tops, losers=losers)
