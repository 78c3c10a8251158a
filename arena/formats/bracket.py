"""Brackets: which ties there are, and whose winners and losers meet in them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

THIRD_PLACE = "third place"
_FEWEST_WITH_TWO_SEMI_FINALS = 4


class Of(Enum):
    """What a side of a tie is."""

    PLACE = "place"
    WINNER = "winner"
    LOSER = "loser"


@dataclass(frozen=True, slots=True)
class Side:
    """Who plays on one side of a tie: a place of the seeding, or who came out of an earlier tie.

    Attributes:
        of: Which of these.
        index: Number of the place or of the tie, from 0.
    """

    of: Of
    index: int


@dataclass(frozen=True, slots=True)
class Tie:
    """Two meet and one goes on.

    Attributes:
        stage: What it is called.
        round: From 1, above those of the ties it waits for.
        sides: Who meets.
        loser_merit: How far the loser has come at least, greater is better.
        winner_merit: How far the winner has come if no tie follows for it, else None.
        only_after_upset: Whether it is played only if the second side won the tie before it.
    """

    stage: str
    round: int
    sides: tuple[Side, Side]
    loser_merit: int
    winner_merit: int | None = None
    only_after_upset: bool = False


def single_bracket(places: int, *, third_place: bool) -> tuple[Tie, ...]:
    """Return the ties of a single elimination: 1 meets the last, byes fall to the best.

    Args:
        places: How many are seeded; more ties than these can fill have an empty side.
        third_place: Whether the losers of the semi-finals meet.
    """
    rounds = rounds_of(places)
    ties: list[Tie] = []
    sides = _seeded_sides(places)
    for round_ in range(1, rounds + 1):
        last = round_ == rounds
        if last and third_place and places >= _FEWEST_WITH_TWO_SEMI_FINALS:
            losers = Side(Of.LOSER, len(ties) - 2), Side(Of.LOSER, len(ties) - 1)
            ties.append(Tie(THIRD_PLACE, round_, losers, 2 * round_ - 2, 2 * round_ - 1))
        first = len(ties)
        ties += (
            Tie(
                stage_name(rounds - round_),
                round_,
                (sides[place], sides[place + 1]),
                2 * round_,
                2 * round_ + 1 if last else None,
            )
            for place in range(0, len(sides), 2)
        )
        sides = [Side(Of.WINNER, tie) for tie in range(first, len(ties))]
    return tuple(ties)


def double_bracket(places: int) -> tuple[Tie, ...]:
    """Return the ties of a double elimination, the second grand final among them.

    The losers of each round of the winners' bracket drop into the losers' bracket in turned order,
    so that who has met does not soon meet again.
    """
    rounds = rounds_of(places)
    ties: list[Tie] = []
    winners = _seeded_sides(places)
    losers: list[Side] = []
    losers_round = 0
    for round_ in range(1, rounds + 1):
        stage = "winners' final" if round_ == rounds else f"winners' round {round_}"
        # Who loses here drops into the next round of the losers that takes in losers.
        merit = max(1, 2 * round_ - 2)
        first = len(ties)
        ties += _round(ties, stage, winners, merit)
        winners = [Side(Of.WINNER, tie) for tie in range(first, len(ties))]
        dropped = [Side(Of.LOSER, tie) for tie in range(first, len(ties))]
        if round_ == 1:
            losers = dropped
        else:
            losers_round += 1
            losers = _losers_round(ties, losers_round, rounds, _met(losers, dropped, round_))
        if len(losers) > 1 and round_ < rounds:
            losers_round += 1
            losers = _losers_round(ties, losers_round, rounds, losers)
    top = 2 * rounds
    final = Tie("grand final", _after(ties, winners[0], losers[0]), (winners[0], losers[0]), top)
    ties.append(final)
    again = Side(Of.WINNER, len(ties) - 1), Side(Of.LOSER, len(ties) - 1)
    ties.append(
        Tie("second grand final", final.round + 1, again, top, top + 1, only_after_upset=True)
    )
    return tuple(ties)


def rounds_of(places: int) -> int:
    """Return how many rounds leave one of so many."""
    return (places - 1).bit_length()


def stage_name(to_come: int) -> str:
    """Return what a round is called after which so many others come."""
    names = ("final", "semi-final", "quarter-final")
    return names[to_come] if to_come < len(names) else f"round of {2 ** (to_come + 1)}"


def bracket_places(places: int) -> list[int]:
    """Return the places of the seeding from top to bottom of a bracket, those left empty too.

    The best two can only meet in the last round, the best four in the one before it, and so on.
    """
    order = [0]
    for _ in range(rounds_of(places)):
        order = [place for seed in order for place in (seed, 2 * len(order) - 1 - seed)]
    return order


def _seeded_sides(places: int) -> list[Side]:
    return [Side(Of.PLACE, place) for place in bracket_places(places)]


def _round(ties: list[Tie], stage: str, sides: list[Side], merit: int) -> list[Tie]:
    return [
        Tie(stage, _after(ties, *sides[place : place + 2]), (sides[place], sides[place + 1]), merit)
        for place in range(0, len(sides), 2)
    ]


def _losers_round(ties: list[Tie], number: int, rounds: int, sides: list[Side]) -> list[Side]:
    stage = "losers' final" if number == 2 * rounds - 2 else f"losers' round {number}"
    first = len(ties)
    ties += _round(ties, stage, sides, number)
    return [Side(Of.WINNER, tie) for tie in range(first, len(ties))]


def _met(losers: list[Side], dropped: list[Side], round_: int) -> list[Side]:
    """Put those who drop beside the losers who are left: turned round, or halves exchanged."""
    half = len(dropped) // 2
    turned = dropped[::-1] if round_ % 2 == 0 else dropped[half:] + dropped[:half]
    return [side for couple in zip(losers, turned, strict=True) for side in couple]


def _after(ties: list[Tie], *sides: Side) -> int:
    return 1 + max((ties[side.index].round for side in sides if side.of is not Of.PLACE), default=0)
