"""What may be done with a hand, put together from what may be done with its parts.

Hands are many. Their parts in one half of the deck, that is of two suits, or of one rank are few:
so a hand that was not seen before costs little more than one that was.
"""

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from referee.actions import CLAIM, Action, ActionKind
from referee.cards import CARD_COUNT, RANK_MASKS, SUIT_MASKS, Cards
from referee.options import Rules

Actions: TypeAlias = tuple[Action, ...]
WorkOut: TypeAlias = Callable[[int], Actions]

_LOW_HALF: Final = (1 << CARD_COUNT // 2) - 1
_HIGH_HALF: Final = _LOW_HALF << CARD_COUNT // 2
_OFFER_SIZES: Final = (2, 3, 4)
_LARGEST_REMEMBERED: Final = 4
_ACTIONS_REMEMBERED: Final = 1 << 16


class Memo(dict[int, Actions]):
    """The actions for each hand, worked out when they are first asked for.

    Hands of five cards are worked out each time: they are too many to remember, and one seldom
    comes again.
    """

    __slots__ = ("_work_out",)

    def __init__(self, work_out: WorkOut) -> None:
        super().__init__()
        self._work_out = work_out

    def __missing__(self, hand: int) -> Actions:
        actions = self._work_out(hand)
        if hand.bit_count() <= _LARGEST_REMEMBERED:
            self[hand] = actions
        return actions


def ordinary_leads(rules: Rules, cap: int) -> Memo:
    """Return the leads of one suit, of the sizes that the rules allow up to the cap."""
    return _leads(tuple(size for size in rules.lead_sizes if size <= cap), (), ())


def leads(rules: Rules, cap: int) -> Memo:
    """Return what a seat due to lead may do: ordinary leads up to the cap, offers, a claim."""
    sizes = tuple(size for size in rules.lead_sizes if size <= cap)
    offered = tuple(size for size in _OFFER_SIZES if size <= cap)
    return _leads(
        sizes,
        offered if rules.same_rank_leads == "ask" else (),
        _claim_in(rules, "on_lead", "on_any_turn"),
    )


def answers(rules: Rules, size: int) -> Memo:
    """Return the answers to a lead of that size, without open ones where these must beat."""
    kinds = {"open": (ActionKind.PLAY,), "closed_all": (ActionKind.HIDE,)}
    return _answers(
        kinds.get(rules.discards, (ActionKind.PLAY, ActionKind.HIDE)),
        size,
        _claim_in(rules, "on_any_turn"),
    )


def open_answers(size: int) -> Memo:
    """Return the open answers to a lead of that size, whether they beat or not."""
    return _answers((ActionKind.PLAY,), size, ())


def _claim_in(rules: Rules, *windows: str) -> Actions:
    return (CLAIM,) if rules.goal == "claim" and rules.claim_window in windows else ()


@functools.cache
def _leads(sizes: tuple[int, ...], offered: tuple[int, ...], claim: Actions) -> Memo:
    lead = _in_half(ActionKind.LEAD, sizes)
    offer = functools.cache(functools.partial(_sets, ActionKind.OFFER, offered))

    def work_out(hand: int) -> Actions:
        return lead(hand & _LOW_HALF) + lead(hand & _HIGH_HALF) + claim

    def work_out_with_offers(hand: int) -> Actions:
        actions = lead(hand & _LOW_HALF) + lead(hand & _HIGH_HALF)
        for rank in RANK_MASKS:
            actions += offer(hand & rank)
        return actions + claim

    return Memo(work_out_with_offers if offered else work_out)


@functools.cache
def _answers(kinds: tuple[ActionKind, ...], size: int, claim: Actions) -> Memo:
    parts = [_single_cards(kind) if size == 1 else _several_cards(kind, size) for kind in kinds]
    if len(parts) == 1 and not claim:
        return Memo(parts[0])
    return Memo(lambda hand: sum((part(hand) for part in parts), ()) + claim)


def _single_cards(kind: ActionKind) -> WorkOut:
    singles = _in_half(kind, (1,))
    return lambda hand: singles(hand & _LOW_HALF) + singles(hand & _HIGH_HALF)


def _several_cards(kind: ActionKind, size: int) -> WorkOut:
    """Return what gives all sets of that many cards of a hand, or the hand if it has fewer."""
    action = _action(kind)
    return lambda hand: tuple(map(action, _subsets(hand, min(size, hand.bit_count()))))


@functools.cache
def _in_half(kind: ActionKind, sizes: tuple[int, ...]) -> WorkOut:
    """Return what gives the sets of one suit and of these sizes from a part in half the deck."""

    def work_out(part: int) -> Actions:
        return sum((_sets(kind, sizes, part & suit) for suit in SUIT_MASKS), ())

    return functools.cache(work_out)


def _sets(kind: ActionKind, sizes: tuple[int, ...], part: int) -> Actions:
    action = _action(kind)
    return tuple(action(cards) for size in sizes for cards in _subsets(part, size))


def _subsets(cards: int, size: int) -> Iterator[int]:
    """Return all sets of that many of the cards, in the order of their lowest cards."""
    bits = _bits(cards & _LOW_HALF) + _bits(cards & _HIGH_HALF)
    return map(sum, itertools.combinations(bits, size))


@functools.cache
def _bits(part: int) -> tuple[int, ...]:
    """Return the cards of a part in one half of the deck as one bitmask each."""
    return tuple(1 << card for card in Cards(part))


@functools.cache
def _action(kind: ActionKind) -> Callable[[int], Action]:
    """Return what gives the action of that kind with some cards, the usual ones quickly."""
    return functools.lru_cache(_ACTIONS_REMEMBERED)(functools.partial(Action.of, kind))
