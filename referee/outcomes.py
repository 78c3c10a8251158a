"""The end of a deal as a value: why it ended, who won, who pays how much."""

import enum
from typing import Final, NamedTuple

from referee.options import Combination, Rules

HIGHEST_STAKE: Final = 6


class Reason(enum.StrEnum):
    """Why a deal ended."""

    CLAIM = "claim"
    FALSE_CLAIM = "false_claim"
    COMBINATION = "combination"
    MOST_POINTS = "most_points"
    DRAW = "draw"
    VOID = "void"
    DECLINED = "declined"
    FAULT = "fault"


class Outcome(NamedTuple):
    """How a deal ended.

    The winners and losers are seats; of a pair both seats are named. A seat that declined a raise
    is a loser whatever ends the deal; if nobody else won, it pays those who stayed in.

    Attributes:
        reason: Why the deal ended.
        winners: The seats that won, ascending; empty after a draw or a void deal.
        losers: Each seat that pays, with the weight of its loss: 1, doubled by the rules, times
            the stake of the deal.
        points: The points each seat captured.
        tricks: The number of tricks each seat took.
        last_taker: The seat that took the last trick, or None if there was no trick.
        leader: The seat that was due to lead first.
        stake: The stake of the deal in force at its end; 1 unless it was raised.
        detail: The combination that won, or an empty text.
    """

    reason: Reason
    winners: tuple[int, ...]
    losers: tuple[tuple[int, int], ...]
    points: tuple[int, ...]
    tricks: tuple[int, ...]
    last_taker: int | None
    leader: int
    stake: int = 1
    detail: str = ""


def highest_weight(rules: Rules) -> int:
    """Return the highest weight of a loss that the rules can inflict, the price of a fault.

    Formats that charge penalty points or open eyes count two of them as weight 1.
    """
    weight = 1
    if rules.goal == "claim" and rules.false_claim != "lose":
        weight = 2
    if Combination.MOSCOW in rules.combinations and rules.hand_size > 3:  # noqa: PLR2004
        weight = 2
    weight = max(weight, _format_weight(rules))
    return weight * HIGHEST_STAKE if rules.raise_ == "dave" else weight


def _format_weight(rules: Rules) -> int:
    if rules.match_format == "burkozyol_double":
        return 2
    if rules.match_format == "burkozyol_penalty":
        return 2 if rules.six_for == "off" else 3
    return 4 if rules.match_format == "eyes" else 1
