"""Cards as they are on the wire: numbers from 1 to 36, and what a bot wants to know about them."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from burabot import bot_pb2

RANKS = "6789JQKTA"
SUITS = "CDHS"

# Indexed by card; card 0 is CARD_UNSPECIFIED.
POINTS: tuple[int, ...] = (0, *(0, 0, 0, 0, 2, 3, 4, 10, 11) * 4)
DECK_POINTS = sum(POINTS)


def card_text(card: int) -> str:
    """The text of a card, rank then suit: "TS" is the ten of spades.

    Raises:
        ValueError: The number is no card.
    """
    if not 1 <= card <= len(RANKS) * len(SUITS):
        raise ValueError(f"{card} is no card: cards are numbers from 1 to 36")
    return RANKS[rank(card)] + SUITS[suit(card) - 1]


def parse_card(text: str) -> int:
    """The card of a text like "TS".

    Raises:
        ValueError: The text names no card.
    """
    if len(text) != len("TS") or text[0] not in RANKS or text[1] not in SUITS:
        raise ValueError(f"{text!r} is no card: write a rank of {RANKS}, then a suit of {SUITS}")
    return 1 + len(RANKS) * SUITS.index(text[1]) + RANKS.index(text[0])


def cards_text(cards: Iterable[int]) -> str:
    """The texts of cards, joined by spaces."""
    return " ".join(card_text(card) for card in cards)


def parse_cards(text: str) -> tuple[int, ...]:
    """The cards of a text like "8S TS".

    Raises:
        ValueError: A word of the text names no card.
    """
    return tuple(parse_card(word) for word in text.split())


def rank(card: int) -> int:
    """0 for a six up to 8 for an ace; the ten, 7, stands above the king."""
    return (card - 1) % len(RANKS)


def suit(card: int) -> int:
    """The suit as `bot_pb2.Suit` numbers it: clubs 1, diamonds 2, hearts 3, spades 4."""
    return (card - 1) // len(RANKS) + 1


def points(cards: Iterable[int]) -> int:
    """What cards count when captured: ace 11, ten 10, king 4, queen 3, jack 2."""
    return sum(POINTS[card] for card in cards)


class Beating:
    """Which cards beat which, under the options of a game.

    Args:
        options: The options of the Welcome message by name.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._strength = [0] * (len(POINTS))
        low_ranks = options.get("low_rank_order", "6789")
        order = low_ranks + RANKS[len(low_ranks) :]
        for card in range(1, len(POINTS)):
            self._strength[card] = order.index(RANKS[rank(card)])
        self._immune = bot_pb2.SUIT_UNSPECIFIED
        if options.get("trump_immune_suit") == "spades":
            self._immune = bot_pb2.SUIT_SPADES
        self._all = lru_cache(maxsize=1 << 16)(self._cover)

    def strength(self, card: int) -> int:
        """How a card ranks within its suit, 0 for the lowest."""
        return self._strength[card]

    def one(self, card: int, target: int, trump: int) -> bool:
        """Whether a card beats another."""
        if suit(card) == suit(target):
            return self._strength[card] > self._strength[target]
        return suit(card) == trump and suit(target) != self._immune

    def all(self, cards: Iterable[int], targets: Iterable[int], trump: int) -> bool:
        """Whether cards can be paired off so that each target is beaten by a different one."""
        return self._all(tuple(cards), tuple(targets), trump)

    def _cover(self, cards: tuple[int, ...], targets: tuple[int, ...], trump: int) -> bool:
        if not targets:
            return True
        first, rest = targets[0], targets[1:]
        return any(
            self.one(card, first, trump) and self._cover(cards[:i] + cards[i + 1 :], rest, trump)
            for i, card in enumerate(cards)
        )
