"""What a seat may know: the only place that decides what is hidden.

Everything here is built by adding what the seat may see; what nobody thought of is missing, not
leaked.
"""

from collections.abc import Iterable
from typing import NamedTuple

from referee.cards import Card, Cards, Suit
from referee.events import EventKind
from referee.options import Combination
from referee.state import Play, State, TurnKind

__all__ = ["Observation", "Pile", "SeenEvent", "TablePlay", "events_for", "observe"]

_NUMBERS_A_STAKE = frozenset({EventKind.ACCEPT, EventKind.RAISE, EventKind.DECLINE})
_NO_CARDS = Cards(0)


class TablePlay(NamedTuple):
    """What a seat put on the table.

    Attributes:
        seat: Whose cards they are.
        cards: The cards the viewer knows.
        hidden: How many more lie face down.
        beats: Whether it is the lead, or beat what it had to beat.
    """

    seat: int
    cards: Cards
    hidden: int
    beats: bool


class Pile(NamedTuple):
    """Captured cards: those the viewer has seen, and how many more there are."""

    cards: Cards
    hidden: int


class SeenEvent(NamedTuple):
    """Something that happened, as a seat may know it.

    Attributes:
        kind: What happened.
        seat: Whose act it was; -1 if nobody's.
        cards: The cards the viewer may see.
        hidden: How many more cards it concerns.
        combination: The combination that was declared, or None.
        stake: The stake that was proposed, accepted or declined, or 0.
    """

    kind: EventKind
    seat: int
    cards: Cards
    hidden: int
    combination: Combination | None
    stake: int


class Observation(NamedTuple):
    """The deal as one seat may know it.

    Attributes:
        seat: Whose view it is.
        seats: How many play the deal.
        dealer: The dealer's seat.
        leader: Who leads to this trick, or is due to.
        kind: What the viewer is asked for, or None if it is not asked.
        hand: The viewer's cards.
        trump: The trump suit; None without trumps and while the colour is being guessed.
        indicator: The card that fixed the trump while it is known to lie in the stock, else None.
        end_turned: Whether the first card turned up was an ace or a ten.
        stock: How many cards the stock holds, the indicator included.
        table: The plays of this trick, the lead first.
        last_trick: The plays of the trick before it.
        captured: For each seat what it captured.
        hand_counts: For each seat how many cards it holds.
        known: For each other seat the cards the viewer knows it to hold; its own entry is empty.
        stake: The stake of the deal in force.
        proposed: The stake of a raise that waits for answers, else 0.
        offered: How many cards of one rank are offered and wait for an answer, else 0.
        out: The seats that declined a raise and are out of the deal.
        deal_over: Whether the deal has ended; all captured cards are open then.
    """

    seat: int
    seats: int
    dealer: int
    leader: int
    kind: TurnKind | None
    hand: Cards
    trump: Suit | None
    indicator: Card | None
    end_turned: bool
    stock: int
    table: tuple[TablePlay, ...]
    last_trick: tuple[TablePlay, ...]
    captured: tuple[Pile, ...]
    hand_counts: tuple[int, ...]
    known: tuple[Cards, ...]
    stake: int
    proposed: int
    offered: int
    out: tuple[int, ...]
    deal_over: bool


def observe(state: State, seat: int) -> Observation:
    """Return what the seat may know of the deal now."""
    over = state.outcome is not None
    unknown = 0 if over else state.closed_to(seat)
    dealt = not state.guessing
    return Observation(
        seat=seat,
        seats=state.seats,
        dealer=state.dealer,
        leader=state.leader,
        kind=state.kind_of_turn(seat) if seat in state.asked else None,
        hand=Cards(state.hands[seat]) if dealt else _NO_CARDS,
        trump=state.trump if dealt else None,
        indicator=state.indicator if dealt else None,
        end_turned=state.end_turned and dealt,
        stock=len(state.stock),
        table=_plays(state.table, unknown),
        last_trick=_plays(state.last_trick, unknown),
        captured=tuple(
            Pile(Cards(cards & ~unknown), (cards & unknown).bit_count()) for cards in state.captured
        ),
        hand_counts=tuple(hand.bit_count() for hand in state.hands),
        known=tuple(
            Cards(hand & state.public) if dealt and other != seat else _NO_CARDS
            for other, hand in enumerate(state.hands)
        ),
        stake=state.stake,
        proposed=state.proposed,
        offered=state.offered.bit_count(),
        out=tuple([other for other in range(state.seats) if not state.active >> other & 1]),
        deal_over=over,
    )


def _plays(plays: Iterable[Play], unknown: int) -> tuple[TablePlay, ...]:
    return tuple(
        [
            TablePlay(seat, Cards(cards & ~unknown), (cards & unknown).bit_count(), beats)
            for seat, cards, _, beats in plays
        ]
    )


def events_for(state: State, seat: int, start: int) -> tuple[SeenEvent, ...]:
    """Return the events from the given place in the deal's list on, as the seat may know them."""
    return tuple(
        SeenEvent(
            kind,
            actor,
            Cards(cards) if viewers >> seat & 1 else _NO_CARDS,
            0 if viewers >> seat & 1 else cards.bit_count(),
            _combination(state, kind, number),
            number if kind in _NUMBERS_A_STAKE else 0,
        )
        for kind, actor, cards, viewers, number in state.events[start:]
    )


def _combination(state: State, kind: EventKind, number: int) -> Combination | None:
    if not number or kind in _NUMBERS_A_STAKE:
        return None
    return state.rules.combinations[number - 1]
