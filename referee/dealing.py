"""Where the cards and the chances of a deal come from."""

from collections.abc import Iterable, Mapping, Sequence
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
        self, decks: Iterable[Sequence[int]], indexes: Mapping[str, Sequence[int]] | None = None
    ) -> None:
        self._decks = [tuple(deck) for deck in decks]
        self._indexes = {purpose: list(numbers) for purpose, numbers in (indexes or {}).items()}

    @classmethod
    def parse(
        cls, *decks: str, indexes: Mapping[str, Sequence[int]] | None = None
    ) -> "FixedSource":
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
    """Turn up the first of the undealt cards; None if they hold nothing but ends to turn.

    Ends that are turned again lie aside until a card comes that is none; then they go back.
    """
    turned = 0
    if rules.end_indicator == "redraw":
        while is_end(cards[turned]):
            turned += 1
            if turned == len(cards):
                return None
    card, ends, rest = cards[turned], tuple(cards[:turned]), list(cards[turned + 1 :])
    for end in ends:
        _put_back(end, rest, source)
    buried = is_end(card) and rules.end_indicator == "bury"
    if buried or rules.indicator == "shuffled":
        _put_back(card, rest, source)
        return TurnedUp(card, rest, NOWHERE, ends)
    if rules.indicator == "top":
        rest.insert(0, card)
        return TurnedUp(card, rest, 0, ends)
    rest.append(card)
    return TurnedUp(card, rest, len(rest) - 1, ends)


def _put_back(card: Card, cards: list[Card], source: DealSource) -> None:
    cards.insert(source.index("bury", len(cards) + 1), card)


def cut_for_lead(
    rules: Rules, cutters: Sequence[int], source: DealSource
) -> tuple[int, list[tuple[int, Card]]]:
    """Let the seats cut until one has the highest card; return it and all the cuts in order.

    Each cuts the whole deck, so equal cards are as possible as equal ranks.
    """
    order = strengths(rules)
    deck = full_deck(rules.deck)
    cuts: list[tuple[int, Card]] = []
    while len(cutters) > 1:
        cards = [deck[source.index("cut", len(deck))] for _ in cutters]
        cuts += zip(cutters, cards, strict=True)
        ranks = [order[rank_of(card)] for card in cards]
        best = max(ranks)
        cutters = [seat for seat, rank in zip(cutters, ranks, strict=True) if rank == best]
    return cutters[0], cuts
