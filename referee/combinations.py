"""Which hands hold which combination, and what it is good for."""

import enum
import itertools
from collections.abc import Iterator
from typing import Final, NamedTuple

from referee.actions import PASS, Action, ActionKind
from referee.cards import (
    ACE,
    RANK_MASKS,
    SIX,
    SUIT_MASKS,
    TEN,
    Cards,
    Suit,
    full_deck,
    mask_of,
)
from referee.options import Combination, Rules

_ACES: Final = Cards(RANK_MASKS[ACE])
_ENDS: Final = Cards(RANK_MASKS[ACE] | RANK_MASKS[TEN])


class Effect(enum.Enum):
    """What a combination is good for."""

    WINS = enum.auto()
    STOPS = enum.auto()
    NONE = enum.auto()


class Held(NamedTuple):
    """The combination a hand counts as.

    Attributes:
        combination: Which it is.
        number: One more than its place in the rules' list.
        level: Its precedence, 0 the highest; equal levels are on a par.
        effect: What it is good for.
        lead: How the seat due to lead declares it.
        stop_or_not: What another seat may choose before a lead.
        weight: The weight of the loss it inflicts by winning.
    """

    combination: Combination
    number: int
    level: int
    effect: Effect
    lead: Action
    stop_or_not: tuple[Action, Action]
    weight: int


_WINS: Final = frozenset(
    {Combination.BURA, Combination.MOSCOW, Combination.THREE_ACES_WIN, Combination.FOUR_ACES}
)
_ON_A_PAR_WITH_BURA: Final = frozenset({Combination.COMPLECT, Combination.MOLODKA_WAITS})


def held_by_hand(rules: Rules, trump: Suit | None, *, end_turned: bool) -> dict[int, Held]:
    """Return the combination of every hand that holds one, those without effect included."""
    listed = list(enumerate(rules.combinations, 1))
    effects = {each: _effect(each, end_turned=end_turned) for each in rules.combinations}
    order = [Effect.WINS, Effect.STOPS, Effect.NONE]
    listed.sort(key=lambda entry: order.index(effects[entry[1]]))
    levels = {combination: level for level, (_, combination) in enumerate(listed)}
    for bura in (Combination.BURA_LEADS, Combination.BURA):
        for equal in _ON_A_PAR_WITH_BURA & levels.keys():
            if bura in levels and effects[bura] is effects[equal]:
                levels[equal] = levels[bura]
    # A hand counts as the highest of what it holds, and a par may stand above its place.
    listed.sort(key=lambda entry: (order.index(effects[entry[1]]), levels[entry[1]]))
    held: dict[int, Held] = {}
    for number, combination in listed:
        doubled = combination is Combination.MOSCOW and rules.hand_size == 4  # noqa: PLR2004
        for hand, cards in _hands(rules, combination, trump):
            if hand not in held:
                held[hand] = Held(
                    combination,
                    number,
                    levels[combination],
                    effects[combination],
                    Action.of(ActionKind.LEAD, cards),
                    (PASS, Action.of(ActionKind.STOP, cards)),
                    2 if doubled else 1,
                )
    return held


def _effect(combination: Combination, *, end_turned: bool) -> Effect:
    if combination is Combination.MOLODKA_WAITS and not end_turned:
        return Effect.NONE
    return Effect.WINS if combination in _WINS else Effect.STOPS


def _hands(rules: Rules, combination: Combination, trump: Suit | None) -> Iterator[tuple[int, int]]:
    """Yield each hand with the combination, and the cards of it that belong to it."""
    if combination is Combination.MOSCOW_OF_THREE:
        for three in itertools.combinations(_ACES, 3):
            aces = mask_of(three)
            for fourth in full_deck(rules.deck):
                if not _ACES >> fourth & 1:
                    yield aces | 1 << fourth, aces
        return
    for hand in _whole_hands(rules, combination, trump):
        yield hand, hand


def _whole_hands(rules: Rules, combination: Combination, trump: Suit | None) -> Iterator[int]:
    trumps = 0 if trump is None else SUIT_MASKS[trump]
    match combination:
        case Combination.BURA | Combination.BURA_LEADS:
            return _of(rules, trumps)
        case Combination.MOLODKA | Combination.MOLODKA_WAITS:
            plain = [suit for suit in SUIT_MASKS if suit != trumps]
            return itertools.chain.from_iterable(_of(rules, suit) for suit in plain)
        case Combination.MOSCOW | Combination.MOSCOW_LEADS:
            return _moscows(rules, trumps)
        case Combination.LITTLE_MOSCOW:
            return _little_moscows(rules, trumps)
        case Combination.COMPLECT:
            return _of(rules, _ENDS)
        case _:
            return _of(rules, _ACES)


def _moscows(rules: Rules, trumps: int) -> Iterator[int]:
    if rules.hand_size == 3:  # noqa: PLR2004 - the game's own size
        needs_trump = rules.moscow == "with_trump_ace"
        return (hand for hand in _of(rules, _ACES) if hand & trumps or not needs_trump)
    return (hand for hand in _of(rules, _ENDS) if hand & trumps and hand & _ACES)


def _little_moscows(rules: Rules, trumps: int) -> Iterator[int]:
    if rules.little_moscow == "tens":
        return _of(rules, RANK_MASKS[TEN])
    return (hand for hand in _of(rules, RANK_MASKS[SIX]) if hand & trumps)


def _of(rules: Rules, cards: int) -> Iterator[int]:
    available = Cards(cards & mask_of(full_deck(rules.deck)))
    return map(mask_of, itertools.combinations(available, rules.hand_size))
