"""What happened in a deal, one plain tuple an event, with who may see its cards."""

import enum
from typing import Final, TypeAlias

NOBODY: Final = -1


class EventKind(enum.IntEnum):
    """The kinds of event, and what the seat, the cards and the number of an event mean.

    Cards that some may not see still show them how many they are.
    """

    REDEAL = 0
    """A combination was dealt, so the cards are dealt again."""
    DEAL = 1
    """A seat gets its hand."""
    TURN = 2
    """The indicator is turned up; number 1 if it goes back into the stock, else 0."""
    CUT = 3
    """A seat cuts a card for the first lead."""
    GUESS = 4
    """A seat names the colour of the trump card; number 1 is red, 0 black."""
    LEAD = 5
    """A seat leads cards."""
    PLAY = 6
    """A seat plays cards face up; number 1 if they beat, else 0."""
    HIDE = 7
    """A seat plays cards face down."""
    TAKE = 8
    """A seat takes the trick of that many cards."""
    LOOK = 9
    """The taker looks at the closed cards of its trick."""
    DRAW = 10
    """A seat draws cards from the stock."""
    CLAIM = 11
    """A seat claims; the number is the points it captured."""
    COMBINATION = 12
    """A seat wins by the combination of that number in the rules' list."""
    STOP = 13
    """A seat stops with the combination of that number and leads it."""
    STOP_LOST = 14
    """A seat's stop with the combination of that number does not count."""
    OFFER = 15
    """A seat offers cards of one rank, face down."""
    ACCEPT = 16
    """A seat accepts the offer, or the stake of that number."""
    REFUSE = 17
    """A seat refuses the offer."""
    RAISE = 18
    """A seat raises the stake to that number."""
    DECLINE = 19
    """A seat declines the raise and pays the stake of that number."""


Event: TypeAlias = tuple[EventKind, int, int, int, int]
"""Kind, seat (or NOBODY), cards as a bitmask, seats that may see the cards as a bitmask, number."""
