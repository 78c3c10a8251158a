"""Each leak that is planted here is caught by the comparison of worlds: so that it can fail."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from timeline import MS, Timeline
from world_legs import pair_to_a_turn, pair_to_the_end, spec_of
from worlds import LeakError, holders

from referee import match
from referee.cards import Cards, mask_of, points
from referee.programme import forced_seat
from referee.rules import EventKind, Rules, State
from referee.variants import VARIANTS
from referee.view import Observation, Pile, SeenEvent, events_for, observe
from referee.wire import Wire

if TYPE_CHECKING:
    from world_legs import Pair

    from referee.players import DealOver, Turn
    from referee.results import MatchSpec

PAIRS = 400
Plant = Callable[[pytest.MonkeyPatch], None]
LEAKS: list[Any] = []


@dataclass(frozen=True)
class Leak:
    """Something hidden that is shown, in a game in which it would matter.

    Attributes:
        plant: Makes the platform show it.
        rules: The game.
        seats: How many play.
        make: What kind of worlds betrays it.
    """

    plant: Plant
    rules: Rules
    seats: int = 2
    make: Callable[[MatchSpec, random.Random], Pair | None] = pair_to_a_turn


def leak(
    variant: str, seats: int = 2, *, at_the_end: bool = False, **options: Any
) -> Callable[[Plant], Plant]:
    """Add a leak to the list."""

    def add(plant: Plant) -> Plant:
        rules = VARIANTS[variant].replace(**options)
        make = pair_to_the_end if at_the_end else pair_to_a_turn
        LEAKS.append(pytest.param(Leak(plant, rules, seats, make), id=plant.__name__))
        return plant

    return add


def shows(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Observation, State, int], dict[str, Any]]
) -> None:
    """Change every view by what a function of the whole state says."""

    def leaking(state: State, seat: int) -> Observation:
        view = observe(state, seat)
        return view._replace(**change(view, state, seat))

    monkeypatch.setattr(match, "observe", leaking)


def tells(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[SeenEvent, State, int], SeenEvent]
) -> None:
    """Change every event; the number is its place in the deal's list."""

    def leaking(state: State, seat: int, start: int) -> tuple[SeenEvent, ...]:
        events = events_for(state, seat, start)
        return tuple(change(event, state, start + at) for at, event in enumerate(events))

    monkeypatch.setattr(match, "events_for", leaking)


# ------------------------------------------------------------------------------------- in views


@leak("bura", seats=3)
def opponents_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The view names the cards in other hands."""
    shows(
        monkeypatch,
        lambda _, state, seat: {
            "known": tuple(
                Cards(0 if other == seat else hand) for other, hand in enumerate(state.hands)
            )
        },
    )


@leak("burkozyol-pairs", seats=4)
def partners_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The view names the partner's cards."""
    shows(
        monkeypatch,
        lambda _, state, seat: {
            "known": tuple(
                Cards(hand if other == (seat + 2) % 4 else 0)
                for other, hand in enumerate(state.hands)
            )
        },
    )


@leak("bura")
def order_of_the_stock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The view shows in whose favour the next draw is."""
    shows(
        monkeypatch,
        lambda view, state, _: {"end_turned": view.end_turned ^ (state.stock[:1] > (18,))},
    )


@leak("burkozyol")
def place_of_a_buried_indicator(monkeypatch: pytest.MonkeyPatch) -> None:
    """The view shows in which half of the stock the indicator was put back."""

    def place(view: Observation, state: State, _: int) -> dict[str, Any]:
        turned = [event[2] for event in state.events if event[0] is EventKind.INDICATOR]
        places = [at for at, card in enumerate(state.stock) if 1 << card in turned]
        early = any(at < len(state.stock) // 2 for at in places)
        return {"end_turned": view.end_turned and not early}

    shows(monkeypatch, place)


@leak("burkozyol-queue")
def place_of_a_turned_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The count of the stock is one off while a turned end will be drawn next."""

    def count(view: Observation, state: State, _: int) -> dict[str, Any]:
        turned = [event[2] for event in state.events if event[0] is EventKind.END_TURNED]
        near = any(1 << card in turned for card in state.stock[:6])
        return {"stake": view.stake + near}

    shows(monkeypatch, count)


@leak("bura")
def closed_cards_of_piles(monkeypatch: pytest.MonkeyPatch) -> None:
    """The view shows captured cards that lie face down."""
    shows(
        monkeypatch,
        lambda _, state, __: {"captured": tuple(Pile(Cards(c), 0) for c in state.captured)},
    )


@leak("burkozyol-eyes", seats=4)
def closed_cards_after_the_last_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """The taker sees the closed cards of its pile when nobody will draw any more."""

    def look(view: Observation, state: State, seat: int) -> dict[str, Any]:
        piles = list(view.captured)
        if not state.stock:
            piles[seat] = Pile(Cards(state.captured[seat]), 0)
        return {"captured": tuple(piles)}

    shows(monkeypatch, look)


@leak("bura-closed")
def captured_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """The view shows how many points the seat has, closed cards included."""
    shows(monkeypatch, lambda _, state, seat: {"stake": points(state.captured[seat])})


@leak("bura")
def undeclared_combination(monkeypatch: pytest.MonkeyPatch) -> None:
    """The view shows who holds a combination."""
    shows(
        monkeypatch,
        lambda _, state, __: {"out": tuple(holders(state.rules, state))},
    )


@leak("bura", first_lead="colour_guess")
def hands_before_the_colour_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who names the colour sees its hand."""
    shows(monkeypatch, lambda _, state, seat: {"hand": Cards(state.hands[seat])})


@leak("bura", first_lead="colour_guess")
def trump_before_the_colour_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who names the colour sees it."""
    shows(monkeypatch, lambda _, state, __: {"trump": state.trump})


@leak("burkozyol-same-rank")
def rank_of_an_offer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The event of an offer shows its cards to all."""

    def change(event: SeenEvent, state: State, at: int) -> SeenEvent:
        if event.kind is not EventKind.OFFER:
            return event
        return event._replace(cards=Cards(state.events[at][2]), hidden=0)

    tells(monkeypatch, change)


@leak("bura-closed", seats=4)
def closed_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The event of a closed answer shows its points."""

    def change(event: SeenEvent, state: State, at: int) -> SeenEvent:
        if event.kind is not EventKind.HIDE:
            return event
        return event._replace(stake=points(state.events[at][2]))

    tells(monkeypatch, change)


@leak("bura", seats=4)
def drawn_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """The event of a draw tells whether a trump was drawn."""

    def change(event: SeenEvent, state: State, at: int) -> SeenEvent:
        drawn = Cards(state.events[at][2])
        trump = any(card // 9 == state.trump for card in drawn)
        return event._replace(stake=int(event.kind is EventKind.DRAW and trump))

    tells(monkeypatch, change)


@leak("bura-by", seats=2)
def dropped_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a stop the events name the lead that was dropped."""
    dropped: dict[int, tuple[State, int]] = {}
    settle = match._Deal.settle

    def noting(self: match._Deal) -> None:
        state, leader, events = self.state, self.state.leader, len(self.state.events)
        answer = self.answers.get(self.setup.playing[leader]) if state.window else None
        mask = 0
        if answer is not None:
            mask = state.legal_actions(leader)[answer[0]].mask
        settle(self)
        if any(event[0] is EventKind.STOP for event in state.events[events:]):
            dropped[id(state)] = (state, mask)

    monkeypatch.setattr(match._Deal, "settle", noting)
    tells(
        monkeypatch,
        lambda event, state, _: (
            event._replace(cards=Cards(dropped[id(state)][1]))
            if event.kind is EventKind.STOP
            else event
        ),
    )


@leak("bura")
def whose_combination_was_dealt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A redeal tells something of the cards that were dealt before."""
    events = match._Deal.events

    def leaking(self: match._Deal, own: int) -> tuple[SeenEvent, ...]:
        return tuple(
            event._replace(stake=1 + points(mask_of(self.source.decks[0][:6])))
            if event.kind is EventKind.REDEAL
            else event
            for event in events(self, own)
        )

    monkeypatch.setattr(match._Deal, "events", leaking)


# ------------------------------------------------------------------------------ in turns and ends


@leak("bura")
def order_of_the_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The legal actions begin with another one if others hold many points."""
    turn = match._Leg._turn

    def leaking(self: match._Leg, number: int, asking: match._Deal, own: int) -> Turn:
        told = turn(self, number, asking, own)
        hands = mask_of(card for hand in asking.state.hands for card in Cards(hand))
        first = points(hands) % len(told.actions)
        return told._replace(actions=told.actions[first:] + told.actions[:first])

    monkeypatch.setattr(match._Leg, "_turn", leaking)


@leak("bura-basic", at_the_end=True)
def hands_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a deal shows the cards that were not played."""
    ends(monkeypatch, lambda state: state.hands)


@leak("bura-basic", at_the_end=True)
def stock_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a deal shows a card of the stock."""
    ends(monkeypatch, lambda state: [mask_of(state.stock[:1])] * state.seats)


def ends(monkeypatch: pytest.MonkeyPatch, more: Callable[[State], list[int]]) -> None:
    """Show more cards at the end of a deal."""
    deal_over = match._Leg._deal_over

    def leaking(self: match._Leg, over: match._Deal, *arguments: Any) -> DealOver:
        told = deal_over(self, over, *arguments)
        both = zip(told.captured, more(over.state), strict=True)
        return replace(told, captured=tuple(one | other for one, other in both))

    monkeypatch.setattr(match._Leg, "_deal_over", leaking)


@leak("bura", at_the_end=True)
def what_others_did_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody is told how many actions an illegal index had to choose from."""

    def text(_: match._Leg, over: match._Deal, __: int) -> str:
        return "; ".join(fault.detail for fault in over.faults.values())

    monkeypatch.setattr(match._Leg, "_fault_text", text)


@leak("bura-basic")
def seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first message shows a byte of the seed."""
    monkeypatch.setattr(
        Wire, "welcome", lambda wire: f"{wire._spec.variant}{wire._spec.seed[0]}".encode()
    )


@leak("bura-basic")
def names_of_the_entrants(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first message shows who plays."""
    monkeypatch.setattr(Wire, "welcome", lambda wire: wire._spec.entrants[0].name.encode())


@leak("bura-basic")
def number_of_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first message shows the number of the match under its seed."""
    monkeypatch.setattr(Wire, "welcome", lambda wire: str(wire._spec.match).encode())


# ------------------------------------------------------------------------------- in when and whom


@leak("bura", seats=3)
def only_holders_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A window asks only those who could stop, and whoever leads."""
    ask_holders_only(monkeypatch)


def ask_holders_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play the pass of those who can do nothing else."""

    def forced(state: State) -> int | None:
        idle = [seat for seat in state.asked if len(state.legal_actions(seat)) == 1]
        return idle[0] if state.window and len(state.asked) > len(idle) > 0 else forced_seat(state)

    monkeypatch.setattr(match, "forced_seat", forced)


@leak("bura", seats=3)
def holders_are_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of sending begins with a seat that holds a combination."""
    ask = match._Leg._ask

    def leaking(self: match._Leg) -> None:
        first = [seat for each in self._deals() for seat in holders(each.state.rules, each.state)]
        self._round = first[0] if first else 0
        ask(self)

    monkeypatch.setattr(match._Leg, "_ask", leaking)


@leak("bura")
def time_for_holders(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round takes a millisecond longer if anybody holds a combination."""
    ask = match._Leg._ask

    def leaking(self: match._Leg) -> None:
        if any(holders(each.state.rules, each.state) for each in self._deals()):
            assert isinstance(self._inbox, Timeline)
            self._inbox.now += MS
        ask(self)

    monkeypatch.setattr(match._Leg, "_ask", leaking)


@leak("bura-closed", seats=3)
def cards_that_must_be_closed_are_laid_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seat whose last cards do not beat is not asked."""

    def forced(state: State) -> int | None:
        lone = len(state.asked) == 1 and not state.window
        return state.asked[0] if lone and len(state.legal_actions(state.asked[0])) == 1 else None

    monkeypatch.setattr(match, "forced_seat", forced)


def caught(planted: Leak, *, timed: bool = True, pairs: int = PAIRS) -> bool:
    """Compare worlds until a leak shows; False if none does."""
    chance = random.Random("leak")
    for _ in range(pairs):
        pair = planted.make(spec_of(planted.rules, "any", planted.seats, chance), chance)
        try:
            if pair is not None:
                pair.check(timed=timed)
        except LeakError:
            return True
    return False


@pytest.mark.parametrize("planted", LEAKS)
def test_a_planted_leak_is_caught(planted: Leak, monkeypatch: pytest.MonkeyPatch) -> None:
    """Worlds that should be the same to a seat differ as soon as something hidden is shown."""
    planted.plant(monkeypatch)

    assert caught(planted)


def test_turn_ids_shared_between_seats_would_tell_who_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If only holders were asked, ids of its own would keep that from a seat, shared ones not."""
    planted = Leak(ask_holders_only, VARIANTS["bura"], seats=3)
    planted.plant(monkeypatch)
    assert not caught(planted, timed=False, pairs=40)
    turn = match._Leg._turn

    def sharing(self: match._Leg, number: int, asking: match._Deal, own: int) -> Turn:
        self._seats[number].last_turn = max(seat.last_turn for seat in self._seats)
        return turn(self, number, asking, own)

    monkeypatch.setattr(match._Leg, "_turn", sharing)

    assert caught(planted, timed=False)
