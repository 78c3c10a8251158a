"""How much of a deal's score was in the cards: a pure function of finished matches.

In a mirrored series the same cards are held at the same seat by one bot after the other. What
their scores have in common it was the cards that did; the rest was play and its own chances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.statistics.intervals import interval

_NOTHING = 1e-12
"""A part of a sum of squares that is no more than its last digits."""

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from arena.statistics.stats import PlayedMatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Luck:
    """The variance of a bot's score in a deal at a seat, in parts.

    Attributes:
        share: The part of it that is common to all who held the same cards at the same seat,
            0 to 1: the luck of the deal.
        low: Where the 95% interval of the share over decks begins, within 0 to 1; None where it is
            not known.
        high: Where it ends.
        deviation: Standard deviation of the score of a deal, the mean of each bot at each seat
            taken out.
        decks: How many decks this rests on.
    """

    share: float
    low: float | None
    high: float | None
    deviation: float
    decks: int


def luck_of_the_deal(matches: Iterable[PlayedMatch]) -> Luck | None:
    """Estimate the luck of the deal; None where no two decks were mirrored or nothing varied.

    It is the intraclass correlation for consistency, ICC(3,1) of Shrout and Fleiss (1979): hands
    are the targets and bots the judges, so that neither a stronger bot nor a better seat counts
    as luck or hides it. Its interval is Student's around the logarithm of the ratio of both mean
    squares, with the error of the jackknife: what each deck does to it that is left out.
    """
    parts: list[tuple[float, float]] = []
    hands_freedom = rest_freedom = rotations = 0
    for match in sorted(matches, key=lambda match: match.number):
        legs = len(match.decks[0])
        if legs != len(match.entrants) or len(match.decks) == 1:
            continue
        rotations = legs
        hands_freedom += legs * (len(match.decks) - 1)
        rest_freedom += legs * (len(match.decks) - 1) * (legs - 1)
        by_seat = [_squares(_by_hand(match, seat)) for seat in range(legs)]
        parts += [
            (math.fsum(own for own, _ in deck), math.fsum(rest for _, rest in deck))
            for deck in zip(*by_seat, strict=True)
        ]
    of_hands, of_rest = math.fsum(own for own, _ in parts), math.fsum(rest for _, rest in parts)
    if not of_hands + of_rest:
        return None
    hands, rest = of_hands / hands_freedom, of_rest / rest_freedom
    whole = hands + (rotations - 1) * rest
    low, high = _bounds(parts, hands, rest, rotations)
    return Luck(
        share=max(0.0, (hands - rest) / whole),
        low=low,
        high=high,
        deviation=math.sqrt(whole / rotations),
        decks=len(parts),
    )


def _bounds(
    parts: Sequence[tuple[float, float]], hands: float, rest: float, rotations: int
) -> tuple[float | None, float | None]:
    """Return the ends of the interval of the share; None where one deck is all that varied.

    Args:
        parts: Of the sums of squares between hands and of what is left, by deck.
        hands: The mean square between hands.
        rest: That of what is left.
        rotations: How often a hand was held.
    """
    of_hands, of_rest = math.fsum(own for own, _ in parts), math.fsum(left for _, left in parts)
    others = [(of_hands - own, of_rest - left) for own, left in parts]
    if min(map(min, others)) <= _NOTHING * (of_hands + of_rest):
        return None, None
    _, half_width = interval([math.log(own / left) for own, left in others])
    if half_width is None:
        return None, None
    # What leaving a deck out does is so many times less than what its own value differs by.
    factor = math.exp((len(parts) - 1) * half_width)
    return _share(hands / rest / factor, rotations), _share(hands / rest * factor, rotations)


def _share(ratio: float, rotations: int) -> float:
    return max(0.0, (ratio - 1) / (ratio + rotations - 1))


def _by_hand(match: PlayedMatch, seat: int) -> list[list[float]]:
    """Return the scores of a seat as [deck][leg], the mean of each leg taken out."""
    legs = range(len(match.decks[0]))
    hands = [[float(deck[leg][(seat + leg) % len(legs)]) for leg in legs] for deck in match.decks]
    means = [math.fsum(hand[leg] for hand in hands) / len(hands) for leg in legs]
    return [[score - mean for score, mean in zip(hand, means, strict=True)] for hand in hands]


def _squares(hands: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """Return the sum of squares between hands, and of what is left, as parts of each deck."""
    own = [math.fsum(hand) / len(hand) for hand in hands]
    return [
        (len(hand) * mean**2, math.fsum((score - mean) ** 2 for score in hand))
        for hand, mean in zip(hands, own, strict=True)
    ]
