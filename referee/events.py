"""What happened in a deal, one plain tuple an event, with who may see its cards."""

import enum
from typing import Final, TypeAlias

NOBODY: Final = -1
EVERYBODY: Final = (1 << 16) - 1
NO_NUMBER: Final = 0


class EventKind(enum.IntEnum):
    """The kinds of event, and what the seat, the cards and the number of an event mean.

    A combination's number is one more than its place in the rules' list; 0 is none.
    """

    REDEAL = 1
    """A combination was dealt, or no indicator could be turned: the cards are dealt again."""
    DEAL = 2
    """A seat gets its hand."""
    INDICATOR = 3
    """The indicator is turned up."""
    END_TURNED = 4
    """The card turned up is an end, goes back into the stock, and another is turned."""
    CUT = 5
    """A seat cuts a card for the first lead."""
    RED = 6
    """A seat says that the trump card is red."""
    BLACK = 7
    """A seat says that the trump card is black."""
    LEAD = 8
    """A seat leads cards; with a number it declares that combination by it."""
    PLAY = 9
    """A seat answers with cards face up that do not beat."""
    BEAT = 10
    """A seat answers with cards face up that beat."""
    HIDE = 11
    """A seat answers with cards face down."""
    TAKE = 12
    """A seat takes the trick."""
    LOOK = 13
    """The taker looks at the closed cards of its trick."""
    DRAW = 14
    """A seat draws cards from the stock."""
    CLAIM = 15
    """A seat claims."""
    COMBINATION = 16
    """A seat wins by the combination of that number."""
    STOP = 17
    """A seat stops with the combination of that number; its lead follows."""
    STOP_LOST = 18
    """A seat's stop with the combination of that number does not count."""
    OFFER = 19
    """A seat offers cards of one rank, face down."""
    ACCEPT = 20
    """A seat accepts the offer, or else the stake of that number."""
    REFUSE = 21
    """A seat refuses the offer."""
    RAISE = 22
    """A seat raises the stake to that number."""
    DECLINE = 23
    """A seat declines the raise, is out of the deal and pays the stake of that number."""
    PASS = 24
    """A seat that could claim or raise does not; a pass in a stop window is no event."""


Event: TypeAlias = tuple[EventKind, int, int, int, int]
"""Kind, seat (or NOBODY), cards as a bitmask, seats that may see the cards as a bitmask, number."""
