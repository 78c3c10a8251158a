"""What a seat may choose: a kind and a set of cards.

There is one action object for each kind and set, so actions are compared by identity: that, and
reading their parts as attributes, is what makes millions of deals affordable.
"""

import enum
import weakref
from typing import Final

from referee.cards import Cards


class ActionError(ValueError):
    """A text that names no action."""


class ActionKind(enum.IntEnum):
    """The kinds of action; the text form of a kind is its name in lower case."""

    PASS = 0
    CLAIM = 1
    LEAD = 2
    PLAY = 3
    HIDE = 4
    STOP = 5
    OFFER = 6
    ACCEPT = 7
    REFUSE = 8
    RAISE = 9
    DECLINE = 10
    RED = 11
    BLACK = 12


_KINDS = {kind.name.lower(): kind for kind in ActionKind}
_WITH_CARDS = frozenset(
    {ActionKind.LEAD, ActionKind.PLAY, ActionKind.HIDE, ActionKind.STOP, ActionKind.OFFER}
)


class Action:
    """A choice; get one by Action.of or Action.parse.

    Attributes:
        kind: What is done.
        mask: The cards it is done with as a plain bitmask; 0 where the kind takes none.
        size: How many cards they are.
    """

    __slots__ = ("__weakref__", "kind", "mask", "size")

    kind: ActionKind
    mask: int
    size: int

    @staticmethod
    def of(kind: ActionKind, cards: int = 0) -> "Action":
        """Return the action of that kind with those cards (a bitmask)."""
        key = kind, int(cards)
        action = _ACTIONS.get(key)
        if action is None:
            action = Action.__new__(Action)
            action.kind, action.mask = key
            action.size = action.mask.bit_count()
            _ACTIONS[key] = action
        return action

    @staticmethod
    def parse(text: str) -> "Action":
        """Return the action that a text such as "lead 8S TS" or "pass" names.

        Raises:
            ActionError: The first word is no kind of action, or cards are missing or too many.
            CardError: A word after the first names no card.
        """
        word, _, rest = text.partition(" ")
        kind = _KINDS.get(word)
        if kind is None:
            raise ActionError(f"no action {text!r}: expected one of {', '.join(_KINDS)}")
        cards = Cards.parse(rest)
        if bool(cards) != (kind in _WITH_CARDS):
            needs = "needs cards" if kind in _WITH_CARDS else "takes no cards"
            raise ActionError(f"no action {text!r}: {word} {needs}")
        return Action.of(kind, cards)

    @property
    def cards(self) -> Cards:
        """The cards it is done with; empty where the kind takes none."""
        return Cards(self.mask)

    def __reduce__(self) -> tuple[object, ...]:
        # Another process must get its own one object for the kind and cards.
        return Action.of, (self.kind, self.mask)

    def __str__(self) -> str:
        word = self.kind.name.lower()
        return f"{word} {self.cards}" if self.mask else word

    def __repr__(self) -> str:
        return f"Action.parse({str(self)!r})"


_ACTIONS: Final[weakref.WeakValueDictionary[tuple[ActionKind, int], Action]] = (
    weakref.WeakValueDictionary()
)

PASS: Final = Action.of(ActionKind.PASS)
CLAIM: Final = Action.of(ActionKind.CLAIM)
ACCEPT: Final = Action.of(ActionKind.ACCEPT)
REFUSE: Final = Action.of(ActionKind.REFUSE)
RAISE: Final = Action.of(ActionKind.RAISE)
DECLINE: Final = Action.of(ActionKind.DECLINE)
RED: Final = Action.of(ActionKind.RED)
BLACK: Final = Action.of(ActionKind.BLACK)
