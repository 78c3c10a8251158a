import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sources import RandomSource

from referee.cards import Cards, full_deck, mask_of
from referee.dealing import SourceExhaustedError
from referee.rules import Action, ActionKind, EventKind, FixedSource, Rules, State, deal
from referee.variants import VARIANTS
from referee.view import SeenEvent, events_for, observe

CHANGES: list[dict[str, Any]] = [
    {},
    {"discards": "closed_all"},
    {"discards": "closed_optional"},
    {"discards": "taker_looks"},
    {"short_stock": "deal_out"},
    {"short_stock": "deal_out", "short_hand": "cap_lead", "draw_order": "fill_in_turn"},
    {"claim_window": "on_any_turn", "indicator": "top"},
    {"claim_window": "after_taking", "indicator": "shuffled"},
    {"claim_vs_combination": "combination_first"},
    {"same_rank_leads": "ask", "first_lead": "colour_guess"},
    {"raise_": "dave", "same_rank_leads": "ask"},
    {"hands": "open"},
]
TABLES = [(name, seats) for name, rules in VARIANTS.items() for seats in rules.players]

tables = st.sampled_from(TABLES)
changes = st.sampled_from(CHANGES)
seeds = st.integers(min_value=0, max_value=2**32)


def rules_of(name: str, change: dict[str, Any]) -> Rules:
    """Return the variant with the changes, or without those that do not fit it."""
    try:
        return VARIANTS[name].replace(**change)
    except ValueError:
        return VARIANTS[name]


def turns(rules: Rules, seats: int, chance: random.Random) -> Iterator[tuple[State, int, Action]]:
    """Play a deal by chance; yield before each choice the state, the seat and the choice."""
    state = deal(rules, seats=seats, dealer=0, source=RandomSource(chance, rules.deck))
    while state.outcome is None:
        seat = chance.choice(state.asked)
        actions = state.legal_actions(seat)
        quiet = [action for action in actions if action.kind is not ActionKind.CLAIM] or actions
        action = chance.choice(quiet if chance.random() < 0.97 else actions)
        yield state, seat, action
        state.apply(seat, action)


@settings(max_examples=150, deadline=None)
@given(tables, changes, seeds)
def test_no_card_is_lost_or_doubled(
    table: tuple[str, int], change: dict[str, Any], seed: int
) -> None:
    """Until somebody leaves a deal, hands, stock, table and piles hold the deck, each card once."""
    name, seats = table
    rules = rules_of(name, change)
    everything = sorted(full_deck(rules.deck))
    for state, _, _ in turns(rules, seats, random.Random(seed)):
        masks = [*state.hands, *state.captured, *(play[1] for play in state.table)]
        cards = [card for mask in masks for card in Cards(mask)] + list(state.stock)
        if state.active == (1 << seats) - 1:
            assert sorted(cards) == everything


@settings(max_examples=150, deadline=None)
@given(tables, changes, seeds)
def test_a_copy_goes_its_own_way(table: tuple[str, int], change: dict[str, Any], seed: int) -> None:
    """A copied state offers the same and changes nothing in the original."""
    name, seats = table
    for state, seat, action in turns(rules_of(name, change), seats, random.Random(seed)):
        before = [observe(state, each) for each in range(seats)]
        options = [state.legal_actions(each) for each in range(seats)]
        other = state.copy()
        assert [other.legal_actions(each) for each in range(seats)] == options
        other.apply(seat, action)
        assert [observe(state, each) for each in range(seats)] == before
        assert [state.legal_actions(each) for each in range(seats)] == options


@settings(max_examples=100, deadline=None)
@given(tables, changes, seeds)
def test_actions_read_back_from_their_text(
    table: tuple[str, int], change: dict[str, Any], seed: int
) -> None:
    """The text of every legal action names that action and no other of the seat."""
    name, seats = table
    for state, seat, _ in turns(rules_of(name, change), seats, random.Random(seed)):
        actions = state.legal_actions(seat)
        assert tuple(Action.parse(str(action)) for action in actions) == actions
        assert len(set(actions)) == len(actions)


class Recorded:
    """A source that remembers what it gave, so that another world can be dealt from it."""

    def __init__(self, source: RandomSource) -> None:
        self._source = source
        self.decks: list[list[int]] = []
        self.indexes: dict[str, list[int]] = {}

    def deck(self, attempt: int) -> list[int]:
        """Return and remember a deck."""
        self.decks.append(list(self._source.deck(attempt)))
        return self.decks[-1]

    def index(self, purpose: str, n: int) -> int:
        """Return and remember a number."""
        number = self._source.index(purpose, n)
        self.indexes.setdefault(purpose, []).append(number)
        return number


SHOWN_TO_ALL = (EventKind.INDICATOR, EventKind.END_TURNED, EventKind.CUT, EventKind.COMBINATION)


def shown_now(state: State, viewer: int) -> int:
    """Return the cards that lie before the viewer's eyes, worked out without its view."""
    if state.rules.hands == "open":
        return mask_of(full_deck(36))
    mask = state.hands[viewer]
    for seat, cards, is_open, _ in [*state.table, *state.last_trick]:
        mask |= cards if is_open or seat == viewer else 0
    for kind, seat, cards, _, _ in state.events:
        looks = kind is EventKind.LOOK and seat == viewer
        mask |= cards if looks or kind in SHOWN_TO_ALL else 0
    return mask


def played_there(
    theirs: State, seat: int, action: Action, world: dict[int, int], chance: random.Random
) -> Action:
    """Return the choice as it is made in the other world; a closed one may be another there."""
    unseen = theirs.rules.hands == "private" and theirs.rules.discards != "taker_looks"
    if action.kind is ActionKind.HIDE and unseen and chance.random() < 0.5:
        size = len(action.cards)
        closed = [
            each
            for each in theirs.legal_actions(seat)
            if each.kind is ActionKind.HIDE and len(each.cards) == size
        ]
        return chance.choice(closed)
    return Action.of(action.kind, mask_of(world[card] for card in action.cards))


def outline(events: tuple[SeenEvent, ...]) -> list[tuple[Any, ...]]:
    """Return what happened without saying with which cards."""
    return [
        (event.kind, event.seat, len(event.cards) + event.hidden, event.combination, event.stake)
        for event in events
    ]


def another_world(source: Recorded, unseen: int, chance: random.Random) -> dict[int, int]:
    """Exchange unseen cards among each other, all others stay."""
    cards = list(Cards(unseen))
    exchanged = dict(zip(cards, chance.sample(cards, len(cards)), strict=True))
    return {card: exchanged.get(card, card) for card in source.decks[-1]}


@settings(max_examples=400, deadline=None)
@given(tables, changes, seeds)
def test_what_a_seat_may_not_know_changes_nothing_it_is_told(
    table: tuple[str, int], change: dict[str, Any], seed: int
) -> None:
    """In two worlds that differ in unseen cards only, a seat is told and asked the same.

    The worlds are played alike until the seat may tell them apart: another kind of event, or a
    choice of another seat that its other cards do not allow.
    """
    name, seats = table
    rules = rules_of(name, change)
    chance = random.Random(seed)
    source = Recorded(RandomSource(chance, rules.deck))
    state = deal(rules, seats=seats, dealer=0, source=source)
    choices: list[tuple[int, Action]] = []
    viewer = chance.randrange(seats)
    shown = 0
    length = chance.randrange(1, 60)
    while state.outcome is None and len(choices) < length:
        seat = chance.choice(state.asked)
        actions = state.legal_actions(seat)
        quiet = [action for action in actions if action.kind is not ActionKind.CLAIM] or actions
        choices.append((seat, chance.choice(quiet)))
        shown |= shown_now(state, viewer)
        state.apply(*choices[-1])
    unseen = mask_of(full_deck(rules.deck)) & ~(shown | shown_now(state, viewer))
    world = another_world(source, unseen, chance)

    ours = deal(rules, seats=seats, dealer=0, source=FixedSource(source.decks, source.indexes))
    decks = [*source.decks[:-1], [world[card] for card in source.decks[-1]]]
    try:
        theirs = deal(rules, seats=seats, dealer=0, source=FixedSource(decks, source.indexes))
    except SourceExhaustedError:
        return
    for seat, action in choices:
        told, told_there = events_for(ours, viewer, 0), events_for(theirs, viewer, 0)
        if outline(told) != outline(told_there):
            return
        assert told == told_there
        assert ours.asked == theirs.asked
        assert observe(ours, viewer) == observe(theirs, viewer)
        assert ours.legal_actions(viewer) == theirs.legal_actions(viewer)
        own = seat == viewer
        there = action if own else played_there(theirs, seat, action, world, chance)
        if there not in theirs.legal_actions(seat):
            assert not own
            return
        ours.apply(seat, action)
        theirs.apply(seat, there)


@settings(max_examples=150, deadline=None)
@given(tables, changes, seeds)
def test_no_event_shows_a_card_nobody_showed(
    table: tuple[str, int], change: dict[str, Any], seed: int
) -> None:
    """A seat sees cards in events only where it may: hands and draws are their owner's."""
    name, seats = table
    rules = rules_of(name, change)
    chance = random.Random(seed)
    state = deal(rules, seats=seats, dealer=0, source=RandomSource(chance, rules.deck))
    while state.outcome is None:
        seat = chance.choice(state.asked)
        state.apply(seat, chance.choice(state.legal_actions(seat)))
    for seat in range(seats):
        for event in events_for(state, seat, 0):
            own = event.seat == seat or rules.hands == "open"
            if event.kind in (EventKind.DEAL, EventKind.HIDE, EventKind.OFFER) and not own:
                assert not event.cards
            if event.kind is EventKind.DRAW and not own:
                assert event.cards == 0 or len(event.cards) == 1
            if event.kind in (EventKind.STOP, EventKind.STOP_LOST):
                assert not event.cards
                assert not event.hidden


@pytest.mark.parametrize("name", VARIANTS)
def test_the_same_source_gives_the_same_deal(name: str) -> None:
    """A deal is a function of its source and the choices."""
    rules = VARIANTS[name]
    logs = []
    for _ in range(2):
        chance = random.Random(7)
        log = [str(action) for _, _, action in turns(rules, rules.players[0], chance)]
        logs.append(log)

    assert logs[0] == logs[1]
