"""Where the cards and the chances of a deal come from."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from referee.cards import parse_card


class DealSource(Protocol):
    """The chances of one deal; the same calls in the same order always give the same answers."""

    def deck(self, attempt: int) -> Sequence[int]:
        """Return the whole deck in dealing order; attempt counts the redeals from 0."""
        ...

    def index(self, purpose: str, n: int) -> int:
        """Return the next uniform number of 0 to n - 1 for "bury", "lot" or "cut"."""
        ...


class SourceExhaustedError(LookupError):
    """A fixed source was asked for more decks or numbers than it holds."""


class FixedSource:
    """The double of a source: given decks and numbers, for tests and worked positions.

    Args:
        decks: The decks of the attempts in turn.
        indexes: For each purpose the numbers to return in turn.
    """

    def __init__(
        self, decks: Iterable[Sequence[int]], indexes: dict[str, Sequence[int]] | None = None
    ) -> None:
        self._decks = [tuple(deck) for deck in decks]
        self._indexes = {purpose: list(numbers) for purpose, numbers in (indexes or {}).items()}

    @classmethod
    def parse(cls, *decks: str, indexes: dict[str, Sequence[int]] | None = None) -> "FixedSource":
        """Return the source of decks given as texts such as "8S TS AS 6C".

        Raises:
            CardError: A word of a text names no card.
        """
        return cls([[parse_card(word) for word in deck.split()] for deck in decks], indexes)

    def deck(self, attempt: int) -> Sequence[int]:
        """Return the deck of that attempt.

        Raises:
            SourceExhaustedError: There are fewer decks.
        """
        if attempt >= len(self._decks):
            raise SourceExhaustedError(f"deck {attempt} was asked for, {len(self._decks)} given")
        return self._decks[attempt]

    def index(self, purpose: str, n: int) -> int:
        """Return the next number of that purpose.

        Raises:
            SourceExhaustedError: None is left, or the next one is not below n.
        """
        numbers = self._indexes.get(purpose)
        if not numbers or numbers[0] >= n:
            raise SourceExhaustedError(f"a {purpose} number below {n} was asked for, none given")
        return numbers.pop(0)
