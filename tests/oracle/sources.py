"""Where decks, lots and cuts come from: the deal asks, it never shuffles by itself."""

import random
from typing import Protocol

from oracle.cards import full_deck


class Source(Protocol):
    """What a deal is given its chances by."""

    def deck(self, attempt: int) -> list[str]:
        """Give the whole deck in dealing order; the attempt counts redeals from 0."""

    def index(self, purpose: str, n: int) -> int:
        """Give a number from 0 to n - 1 for a "lot", a "cut" or a "bury"."""


class FixedSource:
    """Decks and numbers written down beforehand; numbers are used up one by one, then 0."""

    def __init__(self, decks: list[list[str]], indexes: dict[str, list[int]] | None = None) -> None:
        self.decks = decks
        self.indexes = {purpose: list(n) for purpose, n in (indexes or {}).items()}

    def deck(self, attempt: int) -> list[str]:
        """Give the deck of this attempt."""
        return list(self.decks[attempt])

    def index(self, purpose: str, n: int) -> int:
        """Give the next number written down for this purpose."""
        left = self.indexes.get(purpose)
        return left.pop(0) % n if left else 0


class RandomSource:
    """Decks and numbers from a seeded generator."""

    def __init__(self, seed: int, deck_size: int) -> None:
        self.seed = seed
        self.deck_size = deck_size
        self.numbers = random.Random(f"{seed} numbers")

    def deck(self, attempt: int) -> list[str]:
        """Give the same deck for the same seed and attempt."""
        cards = full_deck(self.deck_size)
        random.Random(f"{self.seed} deck {attempt}").shuffle(cards)
        return cards

    def index(self, purpose: str, n: int) -> int:
        """Draw on for every question, whatever its purpose."""
        del purpose
        return self.numbers.randrange(n)


def deck_for(
    hands: list[list[str]], dealer: int, after: list[str], size: int = 36, last: str = ""
) -> list[str]:
    """Write down the deck that deals these hands, then these cards, then the rest in order.

    A card named as last stays at the bottom.
    """
    seats = len(hands)
    order = [(dealer + 1 + step) % seats for step in range(seats)]
    dealt = [hands[seat][turn] for turn in range(len(hands[0])) for seat in order]
    front = dealt + after
    rest = [card for card in full_deck(size) if card not in front and card != last]
    return front + rest + ([last] if last else [])
