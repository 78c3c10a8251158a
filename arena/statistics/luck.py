"""How much of a deal's score was in the cards: a pure function of finished matches.

In a mirrored series the same cards are held at the same seat by one bot after the other. What
their scores have in common it was the cards that did; the rest was play and its own chances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from arena.statistics.stats import PlayedMatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Luck:
    """The variance of a bot's score in a deal at a seat, in parts.

    Attributes:
        share: The part of it that is common to all who held the same cards at the same seat,
            0 to 1: the luck of the deal.
        deviation: Standard deviation of the score of a deal, the mean of each bot at each seat
            taken out.
        decks: How many decks this rests on.
    """

    share: float
    deviation: float
    decks: int


def luck_of_the_deal(matches: Iterable[PlayedMatch]) -> Luck | None:
    """Estimate the luck of the deal; None where no two decks were mirrored or nothing varied.

    It is the intraclass correlation for consistency, ICC(3,1) of Shrout and Fleiss (1979): hands
    are the targets and bots the judges, so that neither a stronger bot nor a better seat counts
    as luck or hides it.
    """
    of_hands = of_rest = 0.0
    hands_freedom = rest_freedom = decks = rotations = 0
    for match in sorted(matches, key=lambda match: match.number):
        legs = len(match.decks[0])
        if legs != len(match.entrants) or len(match.decks) == 1:
            continue
        rotations = legs
        decks += len(match.decks)
        for seat in range(legs):
            hands, rest = _squares(_by_hand(match, seat))
            of_hands += hands
            of_rest += rest
            hands_freedom += len(match.decks) - 1
            rest_freedom += (len(match.decks) - 1) * (legs - 1)
    if not of_hands + of_rest:
        return None
    hands, rest = of_hands / hands_freedom, of_rest / rest_freedom
    total = (hands + (rotations - 1) * rest) / rotations
    return Luck(
        share=max(0.0, (hands - rest) / rotations / total), deviation=math.sqrt(total), decks=decks
    )


def _by_hand(match: PlayedMatch, seat: int) -> list[list[float]]:
    """Return the scores of a seat as [deck][leg], the mean of each leg taken out."""
    legs = range(len(match.decks[0]))
    hands = [[float(deck[leg][(seat + leg) % len(legs)]) for leg in legs] for deck in match.decks]
    means = [math.fsum(hand[leg] for hand in hands) / len(hands) for leg in legs]
    return [[score - mean for score, mean in zip(hand, means, strict=True)] for hand in hands]


def _squares(hands: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the sum of squares between hands, and of what is left."""
    own = [math.fsum(hand) / len(hand) for hand in hands]
    rest = ((score - mean) ** 2 for hand, mean in zip(hands, own, strict=True) for score in hand)
    return math.fsum(len(hands[0]) * mean**2 for mean in own), math.fsum(rest)
