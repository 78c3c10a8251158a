"""A source of decks and chances for tests that play at random."""

import random
from collections.abc import Sequence

from referee.cards import full_deck


class RandomSource:
    """Decks and numbers from a seeded generator."""

    def __init__(self, chance: random.Random, deck_size: int) -> None:
        self._chance = chance
        self._deck = full_deck(deck_size)

    def deck(self, attempt: int) -> Sequence[int]:
        """Return a shuffled deck, another one each time."""
        del attempt
        return self._chance.sample(self._deck, len(self._deck))

    def index(self, purpose: str, n: int) -> int:
        """Return a number below n."""
        del purpose
        return self._chance.randrange(n)
