"""Cards, sets of cards, decks and their text forms.

A card is an int from 0 to 35: nine times its suit (C D H S) plus its rank (6 7 8 9 J Q K T A).
A set of cards is an int with one bit a card: hands can be compared, joined and used as keys.
"""

import functools
from collections.abc import Iterable, Iterator
from typing import Final, Self, TypeAlias

Card: TypeAlias = int
Suit: TypeAlias = int

RANKS: Final = "6789JQKTA"
SUITS: Final = "CDHS"
SUIT_NAMES: Final = ("clubs", "diamonds", "hearts", "spades")
CLUBS, DIAMONDS, HEARTS, SPADES = range(4)
SIX, TEN, ACE = RANKS.index("6"), RANKS.index("T"), RANKS.index("A")

CARD_COUNT: Final = 36
ALL_CARDS: Final = (1 << CARD_COUNT) - 1
SUIT_MASKS: Final = tuple(0x1FF << (9 * suit) for suit in range(4))
RANK_MASKS: Final = tuple(sum(1 << (9 * suit + rank) for suit in range(4)) for rank in range(9))
RED_SUITS: Final = frozenset({DIAMONDS, HEARTS})

_RANK_POINTS = (0, 0, 0, 0, 2, 3, 4, 10, 11)
POINTS: Final = tuple(_RANK_POINTS[card % 9] for card in range(CARD_COUNT))
_NAMES = tuple(RANKS[card % 9] + SUITS[card // 9] for card in range(CARD_COUNT))
_NUMBERS = {name: card for card, name in enumerate(_NAMES)}


class CardError(ValueError):
    """A text that names no card or no set of cards."""


def card_text(card: Card) -> str:
    """Return the text form of a card, rank then suit: "TS" is the ten of spades."""
    return _NAMES[card]


def parse_card(text: str) -> Card:
    """Return the card that a text names.

    Raises:
        CardError: The text is not a rank of 6789JQKTA followed by a suit of CDHS.
    """
    try:
        return _NUMBERS[text]
    except KeyError:
        raise CardError(
            f"no card {text!r}: expected a rank of {RANKS} and a suit of {SUITS}, such as TS"
        ) from None


def suit_of(card: Card) -> Suit:
    """Return the suit of a card, 0 to 3 for C D H S."""
    return card // 9


def rank_of(card: Card) -> int:
    """Return the rank of a card, 0 to 8 for 6 7 8 9 J Q K T A."""
    return card % 9


def is_end(card: Card) -> bool:
    """Tell whether a card is an end: an ace or a ten."""
    return card % 9 >= TEN


_HALF = CARD_COUNT // 2


def _points_of_two_suits() -> bytes:
    """Return the points of each set of cards of two suits, in the order of their bitmasks."""
    table = b"\0"
    for card in range(_HALF):
        # Two suits hold 60 points, so no sum leaves its byte.
        table += table.translate(bytes((value + POINTS[card]) % 256 for value in range(256)))
    return table


_TWO_SUITS = (1 << _HALF) - 1
_TWO_SUITS_POINTS = _points_of_two_suits()


def points(mask: int) -> int:
    """Return the points of a set of cards: ace 11, ten 10, king 4, queen 3, jack 2, others 0."""
    return _TWO_SUITS_POINTS[mask & _TWO_SUITS] + _TWO_SUITS_POINTS[mask >> _HALF]


def mask_of(cards: Iterable[Card]) -> int:
    """Return the set of the given cards as a bitmask."""
    mask = 0
    for card in cards:
        mask |= 1 << card
    return mask


@functools.cache
def full_deck(size: int) -> tuple[Card, ...]:
    """Return the cards of a deck in ascending order: 36, or 32 without the sixes.

    Raises:
        CardError: There is no deck of that size.
    """
    if size == CARD_COUNT:
        return tuple(range(CARD_COUNT))
    if size == CARD_COUNT - 4:
        return tuple(card for card in range(CARD_COUNT) if rank_of(card) != SIX)
    raise CardError(f"no deck of {size} cards: expected 36 or 32")


class Cards(int):
    """A set of cards: an int bitmask that iterates, prints and tests like a set."""

    __slots__ = ()

    @classmethod
    def of(cls, cards: Iterable[Card]) -> Self:
        """Return the set of the given cards."""
        return cls(mask_of(cards))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the set that a text such as "8S TS" names; an empty text is the empty set.

        Raises:
            CardError: A word of the text is no card, or a card is named twice.
        """
        mask = 0
        for word in text.split():
            bit = 1 << parse_card(word)
            if mask & bit:
                raise CardError(f"card {word} is named twice in {text!r}: name each card once")
            mask |= bit
        return cls(mask)

    def __iter__(self) -> Iterator[Card]:
        mask = int(self)
        while mask:
            low = mask & -mask
            yield low.bit_length() - 1
            mask ^= low

    def __len__(self) -> int:
        return self.bit_count()

    def __contains__(self, card: Card) -> bool:
        return bool(self >> card & 1)

    def __or__(self, other: int) -> "Cards":
        return Cards(int(self) | int(other))

    def __and__(self, other: int) -> "Cards":
        return Cards(int(self) & int(other))

    def __sub__(self, other: int) -> "Cards":
        return Cards(int(self) & ~int(other))

    def __str__(self) -> str:
        return " ".join(_NAMES[card] for card in self)

    def __repr__(self) -> str:
        return f"Cards.parse({str(self)!r})"
