"""Worked positions for tests: deals from written hands, and ends of deals from written piles."""

from collections.abc import Sequence

from referee.cards import Cards, card_text, full_deck
from referee.rules import Action, FixedSource, Rules, State, deal


def deck_of(
    rules: Rules, hands: Sequence[str], *, dealer: int, turned: str, then: str = ""
) -> list[int]:
    """Return the deck that deals these hands, turns that card, then gives these, then the rest."""
    seats = len(hands)
    order = [(dealer + 1 + step) % seats for step in range(seats)]
    words = [hand.split() for hand in hands]
    front = [words[seat][place] for place in range(rules.hand_size) for seat in order]
    front += [turned] if turned else []
    front += then.split()
    rest = [card for card in full_deck(rules.deck) if card_text(card) not in front]
    return [*[card for word in front for card in Cards.parse(word)], *rest]


def position(
    rules: Rules,
    *hands: str,
    turned: str = "6H",
    then: str = "",
    leader: int = 0,
    captured: Sequence[str] = (),
    indexes: dict[str, Sequence[int]] | None = None,
) -> State:
    """Deal the hands from the seat before the leader, with the piles already captured."""
    dealer = (leader - 1) % len(hands)
    deck = deck_of(rules, hands, dealer=dealer, turned=turned, then=then)
    source = FixedSource([deck], indexes)
    state = deal(rules, seats=len(hands), dealer=dealer, source=source, leader=leader)
    for seat, pile in enumerate(captured):
        state.captured[seat] = Cards.parse(pile)
    return state


def endgame(
    rules: Rules,
    *hands: str,
    captured: Sequence[str],
    trump: str = "H",
    leader: int = 0,
    leftover: str = "",
) -> State:
    """Return the state before a lead with these hands and piles, and a stock of the leftover."""
    seats = len(hands)
    deck = _deck_turning(rules, seats, trump)
    state = deal(
        rules, seats=seats, dealer=(leader - 1) % seats, source=FixedSource([deck]), leader=leader
    )
    state.hands = [int(Cards.parse(hand)) for hand in hands]
    state.captured = [int(Cards.parse(pile)) for pile in captured]
    state._stock = tuple(Cards.parse(leftover))
    state._drawn = state._plain_until = state._even_until = 0
    state.window = False
    state._options = [()] * seats
    state._open_lead()
    return state


def _deck_turning(rules: Rules, seats: int, trump: str) -> list[int]:
    """Return a deck that deals no combination and turns a low card of that suit."""
    (turned,) = Cards.parse("7" + trump)
    ranks = sorted(
        (card for card in full_deck(rules.deck) if card != turned),
        key=lambda card: (card % 9, card),
    )
    dealt = seats * rules.hand_size
    return [*ranks[:dealt], turned, *ranks[dealt:]]


def play(state: State, *choices: str) -> State:
    """Let seats choose in turn, each written as "0 lead 8S"; return the state."""
    for choice in choices:
        seat, _, text = choice.partition(" ")
        state.apply(int(seat), Action.parse(text))
    return state


def options(state: State, seat: int) -> set[str]:
    """Return the texts of what the seat may do."""
    return {str(action) for action in state.legal_actions(seat)}
