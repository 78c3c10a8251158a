"""How much of a deal's score was in the cards: a pure function of finished matches.

In a mirrored series the same cards are held at the same seat by one bot after the other. Where
their scores agree it was the cards; where they differ it was the play.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arena.stats import PlayedMatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Luck:
    """The variance of a seat's score in a deal, in parts.

    Attributes:
        share: The part of it that is common to all who held the same cards at the same seat,
            0 to 1: the luck of the deal. The rest is play and its own chances.
        deviation: Standard deviation of the score of a deal.
        decks: How many decks this rests on.
    """

    share: float
    deviation: float
    decks: int


def luck_of_the_deal(matches: Iterable[PlayedMatch]) -> Luck | None:
    """Estimate the luck of the deal; None where no two decks were mirrored or nothing varied.

    It is the intraclass correlation of one-way analysis of variance: groups are the hands of one
    deck at one seat, and seats are compared within a match only, so that an advantage of a seat
    does not count.
    """
    between = within = 0.0
    groups_freedom = deals_freedom = decks = 0
    rotations = 0.0
    for match in sorted(matches, key=lambda match: match.number):
        legs = len(match.decks[0])
        if legs != len(match.entrants) or len(match.decks) == 1:
            continue
        decks += len(match.decks)
        for seat in range(legs):
            hands = [
                [float(scores[(seat + leg) % legs]) for leg, scores in enumerate(deck)]
                for deck in match.decks
            ]
            means = [math.fsum(hand) / legs for hand in hands]
            mean = math.fsum(means) / len(means)
            between += legs * math.fsum((each - mean) ** 2 for each in means)
            within += math.fsum(
                (score - own) ** 2 for hand, own in zip(hands, means, strict=True) for score in hand
            )
            groups_freedom += len(hands) - 1
            deals_freedom += len(hands) * (legs - 1)
            rotations += legs * (len(hands) - 1)
    if not between + within:
        return None
    of_groups, of_deals = between / groups_freedom, within / deals_freedom
    per_group = rotations / groups_freedom
    cards = max(0.0, (of_groups - of_deals) / per_group)
    return Luck(
        share=cards / (cards + of_deals), deviation=math.sqrt(cards + of_deals), decks=decks
    )
