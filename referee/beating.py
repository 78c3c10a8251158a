"""Which cards beat which, for one card and for sets."""

import itertools
from typing import Final

from referee.cards import CARD_COUNT, SPADES, Cards, Suit, rank_of, suit_of
from referee.options import Rules

_MEMO_LIMIT: Final = 100_000


def strengths(rules: Rules) -> tuple[int, ...]:
    """Return the place of each rank in the order of strength, 0 the lowest."""
    return (3, 2, 1, 0, 4, 5, 6, 7, 8) if rules.low_rank_order == "9876" else tuple(range(9))


def beaters(rules: Rules, trump: Suit | None) -> tuple[int, ...]:
    """Return for each card the set of cards that beat it."""
    return tuple(
        sum(1 << card for card in range(CARD_COUNT) if _beats(rules, trump, card, target))
        for target in range(CARD_COUNT)
    )


def _beats(rules: Rules, trump: Suit | None, card: int, target: int) -> bool:
    if suit_of(card) == suit_of(target):
        strength = strengths(rules)
        return strength[rank_of(card)] > strength[rank_of(target)]
    immune = rules.trump_immune_suit == "spades" and suit_of(target) == SPADES
    return suit_of(card) == trump and not immune


class Demands(dict[int, tuple[tuple[int, int], ...]]):
    """For a set of cards to beat: pairs of a set and how many of its cards an answer needs.

    By Hall's theorem the cards to beat can be paired off with different cards that beat them
    exactly if every group of them is beaten by at least as many cards as the group has.
    """

    __slots__ = ("_beaters",)

    def __init__(self, rules: Rules, trump: Suit | None) -> None:
        super().__init__()
        self._beaters = beaters(rules, trump)

    def __missing__(self, target: int) -> tuple[tuple[int, int], ...]:
        if len(self) >= _MEMO_LIMIT:
            self.clear()
        needed: dict[int, int] = {}
        cards = list(Cards(target))
        for size in range(1, len(cards) + 1):
            for group in itertools.combinations(cards, size):
                able = 0
                for card in group:
                    able |= self._beaters[card]
                needed[able] = size
        self[target] = demands = tuple(needed.items())
        return demands

    def met(self, target: int, answer: int) -> bool:
        """Tell whether the answer beats the target; both are bitmasks of as many cards."""
        return all((able & answer).bit_count() >= count for able, count in self[target])
