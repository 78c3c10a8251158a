import pytest

from referee.cards import (
    POINTS,
    CardError,
    Cards,
    card_text,
    full_deck,
    mask_of,
    parse_card,
    points,
)


def test_cards_count_from_the_six_of_clubs_to_the_ace_of_spades() -> None:
    """A card is nine times its suit plus its rank."""
    assert [card_text(card) for card in (0, 8, 9, 18, 27, 34, 35)] == [
        "6C",
        "AC",
        "6D",
        "6H",
        "6S",
        "TS",
        "AS",
    ]


def test_every_card_reads_back_from_its_text() -> None:
    """Text form and number of a card are inverse to each other."""
    assert [parse_card(card_text(card)) for card in range(36)] == list(range(36))


@pytest.mark.parametrize("text", ["", "10S", "sT", "ST", "TS ", "5C", "TX"])
def test_what_is_no_card_is_refused(text: str) -> None:
    """A text that is not rank and suit raises, naming what was expected."""
    with pytest.raises(CardError, match="expected a rank of 6789JQKTA"):
        parse_card(text)


def test_a_deck_holds_120_points() -> None:
    """Both decks hold 120 points, in sets as card by card."""
    for size in (36, 32):
        deck = full_deck(size)
        assert len(deck) == size
        assert sum(POINTS[card] for card in deck) == points(mask_of(deck)) == 120


def test_there_is_no_deck_of_another_size() -> None:
    """A deck of 52 raises."""
    with pytest.raises(CardError, match="no deck of 52"):
        full_deck(52)


def test_points_of_each_rank() -> None:
    """Ace 11, ten 10, king 4, queen 3, jack 2, others 0."""
    texts = ("AS", "TS", "KS", "QS", "JS", "9S", "6S")

    assert [points(Cards.parse(text)) for text in texts] == [11, 10, 4, 3, 2, 0, 0]


def test_a_set_of_cards_prints_in_ascending_order() -> None:
    """However it was written, a set prints the same way and reads back."""
    cards = Cards.parse("AS 8S 6C")

    assert str(cards) == "6C 8S AS"
    assert Cards.parse(str(cards)) == cards
    assert repr(cards) == "Cards.parse('6C 8S AS')"


def test_a_set_of_cards_behaves_like_a_set() -> None:
    """Length, membership, union, intersection, difference and order of iteration."""
    cards = Cards.parse("6C 8S AS")

    assert len(cards) == 3
    assert 0 in cards
    assert 1 not in cards
    assert list(cards) == [0, 29, 35]
    assert str(cards | Cards.parse("7C")) == "6C 7C 8S AS"
    assert str(cards & Cards.parse("AS TS")) == "AS"
    assert str(cards - Cards.parse("AS TS")) == "6C 8S"
    assert Cards.of([35, 0, 29]) == cards


def test_a_card_named_twice_is_refused() -> None:
    """A set names each card once."""
    with pytest.raises(CardError, match="AS is named twice"):
        Cards.parse("AS 8S AS")
