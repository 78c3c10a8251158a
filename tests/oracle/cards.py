"""Part 1 and the beating of part 3: cards, their order, their points."""

from itertools import permutations
from typing import Any

SUITS = "CDHS"
RANKS = "6789JQKTA"
POINTS = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2, "6": 0, "7": 0, "8": 0, "9": 0}


def full_deck(size: int) -> list[str]:
    """Part 1, deck: 36 cards, or 32 without the sixes, sorted."""
    ranks = RANKS if size == 36 else RANKS[1:]
    return [rank + suit for suit in SUITS for rank in ranks]


def in_order(cards: list[str]) -> list[str]:
    """Text order of cards: by suit C D H S, then by rank 6 7 8 9 J Q K T A."""
    return sorted(cards, key=lambda card: (SUITS.index(card[1]), RANKS.index(card[0])))


def points(cards: list[str]) -> int:
    """Part 1, points: A 11, T 10, K 4, Q 3, J 2, others 0."""
    return sum(POINTS[card[0]] for card in cards)


def strength(card: str, options: dict[str, Any]) -> int:
    """Part 1, order: the ten above the king; the four low ranks as low_rank_order says."""
    order: str = options["low_rank_order"] + "JQKTA"
    return order.index(card[0])


def is_end(card: str) -> bool:
    """Part 1, indicator: an end is an ace or a ten."""
    return card[0] in "AT"


def beats(card: str, other: str, trump: str | None, options: dict[str, Any]) -> bool:
    """Part 3: higher in the same suit, or a trump on a card that is none (but see spades)."""
    if card[1] == other[1]:
        return strength(card, options) > strength(other, options)
    if options["trump_immune_suit"] == "spades" and other[1] == "S":
        return False
    return card[1] == trump


def covers(cards: list[str], others: list[str], trump: str | None, options: dict[str, Any]) -> bool:
    """Part 3: k cards beat k cards if some pairing beats each one by a different card."""
    if len(cards) != len(others):
        return False
    return any(
        all(beats(card, other, trump, options) for card, other in zip(pairing, others, strict=True))
        for pairing in permutations(cards)
    )
