"""Where the cards and the chances of a deal come from."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol

from referee.beating import strengths
from referee.cards import CARD_COUNT, Card, full_deck, is_end, parse_card, rank_of
from referee.options import Rules


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


NOWHERE: Final = CARD_COUNT
"""The place of an indicator that is not known to lie in the stock."""


class TurnedUp(NamedTuple):
    """What turning the indicator gave.

    Attributes:
        card: The card that fixes the trump suit.
        stock: The cards to draw, in order.
        place: The card's place in the stock while everybody knows it, else NOWHERE.
        ends: The aces and tens that were turned before it and put back.
    """

    card: Card
    stock: Sequence[Card]
    place: int
    ends: tuple[Card, ...] = ()


def turn_indicator(rules: Rules, cards: Sequence[Card], source: DealSource) -> TurnedUp | None:
    """Turn up the first of the undealt cards; None if they hold nothing but ends to turn."""
    card = cards[0]
    ends: tuple[Card, ...] = ()
    if rules.end_indicator != "keep" and is_end(card):
        if rules.end_indicator == "bury":
            return TurnedUp(card, _put_back(card, cards[1:], source), NOWHERE)
        if all(map(is_end, cards)):
            return None
        while is_end(card):
            ends += (card,)
            cards = _put_back(card, cards[1:], source)
            card = cards[0]
    rest = list(cards[1:])
    if rules.indicator == "bottom":
        rest.append(card)
        return TurnedUp(card, rest, len(rest) - 1, ends)
    if rules.indicator == "top":
        return TurnedUp(card, [card, *rest], 0, ends)
    return TurnedUp(card, _put_back(card, rest, source), NOWHERE, ends)


def _put_back(card: Card, cards: Sequence[Card], source: DealSource) -> Sequence[Card]:
    place = source.index("bury", len(cards) + 1)
    return [*cards[:place], card, *cards[place:]]


def cut_for_lead(
    rules: Rules, cutters: Sequence[int], source: DealSource
) -> tuple[int, list[tuple[int, Card]]]:
    """Let the seats cut until one has the highest card; return it and all the cuts in order."""
    order = strengths(rules)
    cuts: list[tuple[int, Card]] = []
    while len(cutters) > 1:
        deck = list(full_deck(rules.deck))
        cards = [deck.pop(source.index("cut", len(deck))) for _ in cutters]
        cuts += zip(cutters, cards, strict=True)
        best = max(order[rank_of(card)] for card in cards)
        cutters = [
            seat for seat, card in zip(cutters, cards, strict=True) if order[rank_of(card)] == best
        ]
    return cutters[0], cuts
