"""Deals in two worlds that one seat may not tell apart.

A deal is played in a first world. A second one is made from it by exchanging cards that the seat
has not seen, by letting others lay down or decline what nobody sees, and by letting them answer
otherwise where nobody sees what they answer. What the seat has seen is worked out here from the
deals themselves, not from the view under test.
"""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sources import RandomSource

from referee.actions import REFUSE
from referee.cards import Cards, mask_of
from referee.combinations import Effect, held_by_hand
from referee.dealing import DealSource, FixedSource, SourceExhaustedError, turn_indicator
from referee.programme import Setup, forced_seat
from referee.rules import Action, ActionKind, EventKind, Reason, Rules, State, deal
from referee.variants import VARIANTS
from referee.view import events_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from referee.combinations import Held

TABLES = [(name, seats) for name, rules in VARIANTS.items() for seats in rules.players]
_LIKELY = {
    ActionKind.CLAIM: 0.05,
    ActionKind.STOP: 2.0,
    ActionKind.OFFER: 2.0,
    ActionKind.RAISE: 0.7,
    ActionKind.DECLINE: 0.3,
}
_TRIES = 12

Answers = dict[int, Action]
Exchange = dict[int, int]


class ImpossibleError(Exception):
    """A seat would notice this other world, or somebody could not have played like that in it."""


class LeakError(AssertionError):
    """A seat was told something that it may not know."""


# --------------------------------------------------------------------------------- a deal


@dataclass
class Course:
    """A deal as it was played.

    Attributes:
        rules: What is played.
        setup: How it began.
        decks: Of all attempts, the one that stood last.
        lots: The numbers that were drawn, by purpose.
        states: Before each round, and after the last one.
        rounds: What each asked seat chose.
        misdeed: Who ended the deal by a fault in the last round, and how; that round counts not.
    """

    rules: Rules
    setup: Setup
    decks: list[tuple[int, ...]]
    lots: dict[str, list[int]]
    states: list[State]
    rounds: list[Answers] = field(default_factory=list)
    misdeed: tuple[int, str] | None = None

    @property
    def end(self) -> State:
        """The last state."""
        return self.states[-1]

    def source(self) -> FixedSource:
        """Return what deals it once more."""
        return FixedSource(self.decks, self.lots)


class Noted:
    """A source that remembers what it gave."""

    def __init__(self, source: DealSource) -> None:
        self._source = source
        self.decks: list[tuple[int, ...]] = []
        self.lots: dict[str, list[int]] = {}

    def deck(self, attempt: int) -> Sequence[int]:
        """Return and remember a deck."""
        self.decks.append(tuple(self._source.deck(attempt)))
        return self.decks[-1]

    def index(self, purpose: str, n: int) -> int:
        """Return and remember a number."""
        number = self._source.index(purpose, n)
        self.lots.setdefault(purpose, []).append(number)
        return number


class Rigged(RandomSource):
    """Random decks, of which the first deals somebody a combination."""

    def __init__(self, chance: random.Random, rules: Rules, setup: Setup) -> None:
        super().__init__(chance, rules.deck)
        self._rules, self._setup = rules, setup

    def deck(self, attempt: int) -> Sequence[int]:
        """Return a deck."""
        cards = list(super().deck(attempt))
        dealt = len(self._setup.playing) * self._rules.hand_size
        trump = None if self._rules.trump == "none" else cards[dealt] // 9
        hands = sorted(combinations_of(self._rules, trump, end_turned=False))
        if attempt or not hands:
            return cards
        seats = len(self._setup.playing)
        places = range(self._chance.randrange(seats), dealt, seats)
        wanted = [card for card in Cards(self._chance.choice(hands)) if card != cards[dealt]]
        for place, card in zip(places, wanted, strict=False):
            other = cards.index(card)
            cards[place], cards[other] = cards[other], cards[place]
        return cards


@functools.lru_cache(maxsize=256)
def combinations_of(rules: Rules, trump: int | None, *, end_turned: bool) -> dict[int, Held]:
    """Return the hands that hold a combination with an effect."""
    held = held_by_hand(rules, trump, end_turned=end_turned)
    return {hand: each for hand, each in held.items() if each.effect is not Effect.NONE}


def holders(rules: Rules, state: State) -> list[int]:
    """Return the seats that hold a combination."""
    held = combinations_of(rules, state.trump, end_turned=state.end_turned)
    return [seat for seat, hand in enumerate(state.hands) if hand in held]


def begin(rules: Rules, setup: Setup, source: DealSource) -> Course:
    """Deal."""
    noted = Noted(source)
    state = deal(
        rules,
        seats=len(setup.playing),
        dealer=setup.dealer,
        leader=setup.leader,
        source=noted,
    )
    return Course(rules, setup, noted.decks, noted.lots, [state])


def step(course: Course, answers: Answers) -> None:
    """Let all asked seats have chosen, and the deal go on as a match would let it."""
    state = course.end.copy()
    for seat in state.asked:
        if seat in state.asked:
            state.apply(seat, answers[seat])
    course.rounds.append(answers)
    course.states.append(state)


def is_asked(state: State, seat: int) -> bool:
    """Tell whether the seat is sent a turn, and its turn is not played for it."""
    return seat in state.asked and forced_seat(state) is None


def some_action(state: State, seat: int, chance: random.Random) -> Action:
    """Choose like a player that likes everything a bit, and claims seldom."""
    actions = state.legal_actions(seat)
    weights = [_LIKELY.get(action.kind, 1.0) for action in actions]
    return chance.choices(actions, weights)[0]


def play_on(course: Course, chance: random.Random, rounds: int = 1000) -> None:
    """Play by chance until the end."""
    while course.end.asked and len(course.rounds) < rounds:
        state = course.end
        step(course, {seat: some_action(state, seat, chance) for seat in state.asked})


# --------------------------------------------------------------------------------- what was seen


def exposed(course: Course, at: int, viewer: int) -> int:
    """Return the cards that the seat sees in a state, or saw on the way to it."""
    rules, state = course.rules, course.states[at]
    mask = 0
    for seat, cards, is_open, _ in [*state.table, *state.last_trick]:
        mask |= cards if is_open or seat == viewer else 0
    if not state.guessing:
        mask |= mask_of_all(state.hands) if rules.hands == "open" else state.hands[viewer]
    if rules.hands == "open":
        mask |= mask_of_all(cards for _, cards, _, _ in [*state.table, *state.last_trick])
    if state.outcome is not None and state.outcome.reason is Reason.COMBINATION:
        mask |= mask_of_all(event[2] for event in state.events if event[0] == EventKind.COMBINATION)
    if at and rules.discards == "taker_looks":
        mask |= _looked_at(course.states[at - 1], state, viewer)
    return mask


def _looked_at(before: State, after: State, viewer: int) -> int:
    """Return the trick that the seat has taken, if a draw was still to come."""
    if sum(after.tricks) == sum(before.tricks) or after.last_taker != viewer:
        return 0
    each = before.active.bit_count() if before.rules.short_stock == "set_aside" else 1
    return mask_of_all(play[1] for play in after.last_trick) if len(before.stock) >= each else 0


def mask_of_all(masks: Iterable[int]) -> int:
    """Join sets of cards."""
    return functools.reduce(int.__or__, masks, 0)


def seen(course: Course, viewer: int, since: int, until: int) -> int:
    """Return all cards the seat has seen in those states."""
    return mask_of_all(exposed(course, at, viewer) for at in range(since, until + 1))


def shown_at_the_end(course: Course) -> int:
    """Return what the end of the deal shows to all: what was captured, and the last trick."""
    end = course.end
    return mask_of_all([*end.captured, *(play[1] for play in end.table or end.last_trick)])


# --------------------------------------------------------------------------------- another deal


@dataclass(frozen=True)
class _Turned:
    """The cards from the indicator on: what was turned, the stock, whether its place is known."""

    cards: tuple[int, ...]
    stock: tuple[int, ...]
    known: bool


def _turned(course: Course) -> _Turned:
    rules = course.rules
    rest = course.decks[-1][len(course.setup.playing) * rules.hand_size :]
    if rules.trump == "none":
        return _Turned((), tuple(rest), known=False)
    lots = course.lots.get("bury", [])
    used = lots[len(lots) - _count_buried(rules, rest) :]
    turned = turn_indicator(rules, rest, FixedSource([], {"bury": used}))
    assert turned is not None
    known = turned.place < len(turned.stock)
    return _Turned((*turned.ends, turned.card), tuple(turned.stock), known=known)


def _count_buried(rules: Rules, rest: Sequence[int]) -> int:
    """Return how many cards were put back into the stock."""
    noted = Noted(RandomSource(random.Random(0), rules.deck))
    turn_indicator(rules, rest, noted)
    return len(noted.lots.get("bury", ()))


def _undealt(rules: Rules, turned: _Turned, stock: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the cards from the indicator on, and the lots, that give this stock.

    Raises:
        ImpossibleError: None do.
    """
    rest = list(stock)
    put_back = list(turned.cards)
    if turned.known:
        put_back.pop()
        rest.pop(0 if rules.indicator == "top" else -1)
    lots = []
    for card in reversed(put_back):
        if card not in rest:
            raise ImpossibleError("what was turned and put back cannot be in a dealt hand")
        lots.append(rest.index(card))
        rest.remove(card)
    return [*turned.cards, *rest], lots[::-1]


def _redealt(course: Course, chance: random.Random) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return other decks that had to be dealt again, and the lots drawn for them."""
    decks: list[tuple[int, ...]] = []
    lots: list[int] = []
    while len(decks) < len(course.decks) - 1:
        source = Noted(Rigged(chance, course.rules, course.setup))
        setup = replace(course.setup, leader=0)
        first = Noted(FixedSource([source.deck(0)], {"bury": [0] * course.rules.deck}))
        try:
            begin(course.rules, setup, first)
        except SourceExhaustedError:
            decks += first.decks
            lots += first.lots.get("bury", [])
    return decks, lots


def _exchange(cards: Sequence[int], chance: random.Random) -> Exchange:
    """Exchange many of the cards among each other, or two."""
    chosen = list(cards)
    if chance.random() < 0.3:
        chosen = chance.sample(chosen, min(2, len(chosen)))
    return dict(zip(chosen, chance.sample(chosen, len(chosen)), strict=True))


def _exchange_buried(turned: _Turned, unseen: int, chance: random.Random) -> Exchange:
    """Put a card that was turned and put back elsewhere in the stock."""
    stock = [card for card in turned.stock if unseen >> card & 1]
    buried = [card for card in turned.cards if card in stock]
    if not buried:
        return {}
    one, other = chance.choice(buried), chance.choice(stock)
    return {one: other, other: one}


def _exchange_for_combination(
    course: Course, until: int, unseen: int, viewer: int, chance: random.Random
) -> Exchange:
    """Give some other seat a combination at some time, without anybody having to show it."""
    places = [
        (at, seat)
        for at in range(until + 1)
        for seat, hand in enumerate(course.states[at].hands)
        if seat != viewer
        and hand.bit_count() == course.rules.hand_size
        and not hand & ~unseen
        and course.states[at].window
    ]
    if not places:
        return {}
    at, seat = chance.choice(places)
    state = course.states[at]
    held = combinations_of(course.rules, state.trump, end_turned=state.end_turned)
    wanted = [
        hand for hand, each in held.items() if each.effect is Effect.STOPS and not hand & ~unseen
    ]
    if not wanted:
        return {}
    hand, other = state.hands[seat], chance.choice(wanted)
    give, get = list(Cards(hand & ~other)), list(Cards(other & ~hand))
    return dict(zip(give, get, strict=True)) | dict(zip(get, give, strict=True))


@dataclass(frozen=True)
class _LateExchange:
    """From a round on a seat holds one card where it held another; it has laid one of them."""

    round: int
    seat: int
    cards: tuple[int, int]


def _late_exchange(
    course: Course, viewer: int, until: int, revealed: int, chance: random.Random
) -> _LateExchange | None:
    """Let some seat have laid another card face down than it has."""
    found = []
    for number, answers in enumerate(course.rounds[:until]):
        ((seat, action),) = answers.items() if len(answers) == 1 else [(viewer, None)]
        if seat == viewer or action is None or action.kind is not ActionKind.HIDE:
            continue
        secret = ~(seen(course, viewer, number + 1, until) | revealed)
        kept = course.states[number].hands[seat] & ~action.cards & secret
        found += [
            _LateExchange(number, seat, (hidden, other))
            for hidden in Cards(action.cards & secret)
            for other in Cards(kept)
        ]
    return chance.choice(found) if found else None


def other_deal(
    course: Course, viewer: int, until: int, chance: random.Random, *, revealed: int = 0
) -> Course:
    """Return a deal that is the same to the viewer until that state, and the same length or longer.

    Args:
        course: The deal.
        viewer: Its seat.
        until: Number of a state.
        chance: Where the differences come from.
        revealed: Cards the viewer is shown afterwards, which must not differ either.

    Raises:
        ImpossibleError: What was exchanged does not allow the same course.
    """
    turned = _turned(course)
    known = seen(course, viewer, 0, until) | revealed
    # Before the colour is guessed nobody has seen the indicator.
    unturned = course.states[until].guessing and course.rules.end_indicator == "keep"
    if turned.known and not unturned:
        known |= 1 << turned.cards[-1]
    unseen = mask_of(course.decks[-1]) & ~known
    exchange: Exchange = {}
    if chance.random() < 0.4:
        exchange = _exchange_for_combination(course, until, unseen, viewer, chance)
    elif chance.random() < 0.5:
        exchange = _exchange_buried(turned, unseen, chance)
    exchange = exchange or _exchange(list(Cards(unseen)), chance)
    late = None
    if chance.random() < 0.5:
        late = _late_exchange(course, viewer, until, revealed, chance)
    other = _deal_other(course, turned, exchange, chance)
    follower = _Follower(course, other, viewer, (exchange, late), chance)
    for number in range(until):
        follower.follow(number)
    return other


def _deal_other(
    course: Course, turned: _Turned, exchange: Exchange, chance: random.Random
) -> Course:
    rules = course.rules
    dealt = len(course.setup.playing) * rules.hand_size
    hands = [exchange.get(card, card) for card in course.decks[-1][:dealt]]
    stock = [exchange.get(card, card) for card in turned.stock]
    if turned.known:
        cards = (*turned.cards[:-1], exchange.get(turned.cards[-1], turned.cards[-1]))
        turned = replace(turned, cards=cards)
    rest, lots = _undealt(rules, turned, stock)
    decks, lots_before = _redealt(course, chance)
    source = FixedSource([*decks, (*hands, *rest)], {**course.lots, "bury": [*lots_before, *lots]})
    try:
        other = begin(rules, course.setup, source)
    except SourceExhaustedError as error:
        raise ImpossibleError("a combination is dealt") from error
    if len(other.decks) < len(course.decks):
        raise ImpossibleError("a redeal is missing")
    if other.end.asked != course.states[0].asked:
        if holders(rules, other.end) or holders(rules, course.states[0]):
            raise ImpossibleError("a dealt combination ends the deal")
        raise LeakError(f"other seats are asked first: {other.end.asked}")
    return other


class _Follower:
    """Plays a deal so that it looks like another one."""

    def __init__(
        self,
        course: Course,
        other: Course,
        viewer: int,
        exchange: tuple[Exchange, _LateExchange | None],
        chance: random.Random,
    ) -> None:
        self._course, self._other, self._viewer = course, other, viewer
        (self._exchange, self._late), self._chance = exchange, chance

    def follow(self, number: int) -> None:
        """Play a round so that the viewer sees what it sees in the first deal.

        Raises:
            ImpossibleError: Nobody could do so.
            LeakError: The deals differ though nobody chose otherwise.
        """
        before, there = self._course.states[number], self._other.end
        answers = self._course.rounds[number]
        if before.asked != there.asked:
            self._give_up(number, f"other seats are asked: {there.asked}")
        after = self._course.states[number + 1]
        for attempt in range(_TRIES):
            candidate = {
                seat: self._answer(number, seat, answers[seat], attempt) for seat in there.asked
            }
            step(self._other, candidate)
            if self._outline(before, after) == self._outline(there, self._other.end):
                return
            self._other.rounds.pop()
            self._other.states.pop()
            if len(there.asked) == 1:
                break
        self._give_up(number, "the deals part")

    def _answer(self, number: int, seat: int, action: Action, attempt: int) -> Action:
        """Return what the seat chooses there: the same, or in a window now and then another."""
        options = self._other.end.legal_actions(seat)
        if seat == self._viewer:
            if action not in options:
                self._give_up(number, f"{action} is not offered to the viewer")
            return action
        alike = Action.of(action.kind, mask_of(self._there(number, seat, action.cards)))
        window = len(self._other.end.asked) > 1
        displaced = self._course.states[number + 1].leader != seat
        likely = 0.7 if displaced or seat != self._other.end.leader else 0.1
        freely = window and self._chance.random() < likely
        refused = action.kind is ActionKind.OFFER and self._is_refused(number)
        if alike in options and not refused and not (freely and attempt < _TRIES - 1):
            return alike
        kinds = [each for each in options if each.kind is action.kind]
        same_size = [each for each in kinds if len(each.cards) == len(action.cards)]
        return self._chance.choice(options if freely else same_size or kinds or options)

    def _is_refused(self, number: int) -> bool:
        if self._course.rules.hands == "open":
            return False
        following = self._course.rounds[number + 1 : number + 2]
        return any(REFUSE in answers.values() for answers in following)

    def _there(self, number: int, seat: int, cards: Cards) -> list[int]:
        late = self._late
        swap: Exchange = {}
        if late is not None and late.seat == seat and number >= late.round:
            one, two = late.cards
            swap = {one: two, two: one}
        swapped = (swap.get(card, card) for card in cards)
        return [self._exchange.get(card, card) for card in swapped]

    def _outline(self, before: State, after: State) -> object:
        """Return what everybody sees of a round, worked out without the view."""
        told = events_for(after, self._viewer, len(before.events))
        happened = [
            (each.kind, each.seat, len(each.cards) + each.hidden, each.combination, each.stake)
            for each in told
        ]
        table = [(seat, cards if is_open else -1) for seat, cards, is_open, _ in after.table]
        counts = [hand.bit_count() for hand in after.hands]
        # Where hands lie open everybody sees which cards an offer is made of.
        offered = after.offered if self._course.rules.hands == "open" else -1
        return happened, table, after.leader, after.asked, counts, len(after.stock), offered

    def _give_up(self, number: int, reason: str) -> None:
        """Tell a deal that could not be played alike from one that differs by itself."""
        rules = self._course.rules
        states = [*self._course.states[number : number + 2], *self._other.states[-2:]]
        # A lead that waits for answers shows only later.
        waits = rules.raise_ == "dave" or rules.same_rank_leads == "ask"
        if waits or any(holders(rules, state) for state in states):
            raise ImpossibleError(reason)
        # The round after the one parts them may hold the combination that does it.
        probe = Course(rules, self._course.setup, [], {}, [self._other.end])
        step(probe, {seat: self._try(number, seat) for seat in self._other.end.asked})
        if holders(rules, probe.end):
            raise ImpossibleError(reason)
        raise LeakError(f"round {number}: {reason}")

    def _try(self, number: int, seat: int) -> Action:
        action = self._course.rounds[number].get(seat)
        options = self._other.end.legal_actions(seat)
        if action is not None and seat != self._viewer:
            action = Action.of(action.kind, mask_of(self._there(number, seat, action.cards)))
        return action if action in options else options[0]


def _laid_down(state: State) -> int:
    return mask_of_all(cards for kind, _, cards, *_ in state.events if kind is EventKind.HIDE)


def differences(course: Course, other: Course, viewer: int, until: int) -> set[str]:
    """Name what of the things the viewer may not know differs until that state."""
    found = set()
    turned, turned_there = _turned(course), _turned(other)
    if course.decks[:-1] != other.decks[:-1]:
        found.add("redealt")
    places = [[each.stock.index(card) for card in each.cards] for each in (turned, turned_there)]
    found |= {"buried"} if places[0] != places[1] else set()
    for before, there in zip(course.states[: until + 1], other.states, strict=False):
        holding = [set(holders(course.rules, state)) - {viewer} for state in (before, there)]
        pairs = {
            "hands": (before.hands, there.hands),
            "stock": (before.stock, there.stock),
            "closed": (_laid_down(before), _laid_down(there)),
            "trump": (before.trump, there.trump),
            "holders": (holding[0], holding[1]),
            "offer": (before.offered, there.offered),
        }
        found |= {name for name, (ours, theirs) in pairs.items() if ours != theirs}
    for at, (ours, theirs) in enumerate(zip(course.rounds[:until], other.rounds, strict=False)):
        state = course.states[at]
        dropped = len(ours) > 1 and course.states[at + 1].leader != state.leader
        if dropped and ours[state.leader] != theirs[state.leader]:
            found.add("dropped lead")
    return found
