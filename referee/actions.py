"""What a seat may choose: an action is a kind and a set of cards, packed into one int."""

import enum
from typing import Final, Self

from referee.cards import ALL_CARDS, CARD_COUNT, Cards


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


class Action(int):
    """A choice: the bits of its cards, and above them its kind."""

    __slots__ = ()

    @classmethod
    def of(cls, kind: ActionKind, cards: int = 0) -> Self:
        """Return the action of that kind with those cards (a bitmask)."""
        return cls(kind << CARD_COUNT | cards)

    @classmethod
    def parse(cls, text: str) -> Self:
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
        return cls.of(kind, cards)

    @property
    def kind(self) -> ActionKind:
        """What is done."""
        return ActionKind(self >> CARD_COUNT)

    @property
    def cards(self) -> Cards:
        """The cards it is done with; empty where the kind takes none."""
        return Cards(self & ALL_CARDS)

    def __str__(self) -> str:
        word = self.kind.name.lower()
        return f"{word} {self.cards}" if self.cards else word

    def __repr__(self) -> str:
        return f"Action.parse({str(self)!r})"


PASS: Final = Action.of(ActionKind.PASS)
CLAIM: Final = Action.of(ActionKind.CLAIM)
ACCEPT: Final = Action.of(ActionKind.ACCEPT)
REFUSE: Final = Action.of(ActionKind.REFUSE)
RAISE: Final = Action.of(ActionKind.RAISE)
DECLINE: Final = Action.of(ActionKind.DECLINE)
RED: Final = Action.of(ActionKind.RED)
BLACK: Final = Action.of(ActionKind.BLACK)
