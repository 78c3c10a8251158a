"""From what a player is told to the bytes of the contract with bots."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from burabot import bot_pb2
from referee.cards import CARD_COUNT, Cards, card_text
from referee.combinations import Effect, held_by_hand
from referee.players import Goodbye, GoodbyeReason
from referee.results import SERIES
from referee.rules import Action, ActionKind, Combination, EventKind, Reason, TurnKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from google.protobuf.internal.containers import RepeatedCompositeFieldContainer

    from referee.combinations import Held
    from referee.players import ClockReading, DealOver, Message, Turn, Update
    from referee.results import MatchSpec
    from referee.rules import Rules
    from referee.view import Observation, SeenEvent

    _Events = RepeatedCompositeFieldContainer[bot_pb2.Event]
    _TablePlays = RepeatedCompositeFieldContainer[bot_pb2.TablePlay]

__all__ = ["BATCH_BYTES", "PROTOCOL", "Wire", "goodbye"]

PROTOCOL = 1
BATCH_BYTES = 32 * 1024

_TURN_KINDS = {kind: bot_pb2.TurnKind.Value(f"TURN_{kind.name}") for kind in TurnKind}
_ACTION_KINDS = {kind: bot_pb2.ActionKind.Value(f"ACTION_{kind.name}") for kind in ActionKind}
_EVENT_KINDS = {kind: bot_pb2.EventKind.Value(f"EVENT_{kind.name}") for kind in EventKind}
_REASONS = {reason: bot_pb2.Reason.Value(f"REASON_{reason.name}") for reason in Reason}
_GOODBYES = {
    reason: bot_pb2.GoodbyeReason.Value(f"GOODBYE_{reason.name}") for reason in GoodbyeReason
}
_SUITS = (
    bot_pb2.SUIT_CLUBS,
    bot_pb2.SUIT_DIAMONDS,
    bot_pb2.SUIT_HEARTS,
    bot_pb2.SUIT_SPADES,
)
_CARDS = tuple(bot_pb2.Card.Value(f"CARD_{card_text(card)}") for card in range(CARD_COUNT))
# Some combinations have a second name where a game gives them another effect.
_SECOND_NAMES = ("_LEADS", "_WAITS", "_WIN", "_OF_THREE")
_DECLARING = frozenset({ActionKind.LEAD, ActionKind.STOP})


def _combination(combination: Combination) -> bot_pb2.Combination.ValueType:
    name = combination.name
    for second in _SECOND_NAMES:
        name = name.removesuffix(second)
    return bot_pb2.Combination.Value(f"COMBINATION_{name}")


_COMBINATIONS = {combination: _combination(combination) for combination in Combination}


class Wire:
    """Makes the messages of one seat of a match."""

    def __init__(self, spec: MatchSpec, seat: int) -> None:
        """Speak to a seat."""
        self._spec = spec
        self._seat = seat

    def welcome(self) -> bytes:
        """Return the first message of a stream."""
        spec, control = self._spec, self._spec.time_control
        message = bot_pb2.RefereeMessage()
        welcome = message.welcome
        welcome.protocol = PROTOCOL
        welcome.seat, welcome.seats = self._seat, spec.seats
        welcome.variant = spec.variant
        for name, value in spec.rules.to_dict().items():
            welcome.options.add(name=name.rstrip("_"), value=_option(value))
        welcome.time_control.move_time_us = control.move_time_ms * 1_000
        welcome.time_control.bank_us = control.bank_ms * 1_000
        welcome.time_control.increment_us = control.increment_ms * 1_000
        welcome.tables = spec.tables
        welcome.deals = spec.decks if spec.match_format == SERIES else 0
        return message.SerializeToString()

    def packed(self, message: Message) -> tuple[bytes, ...]:
        """Return a message as one or, where many turns wait, several of the contract's."""
        if isinstance(message, Goodbye):
            return (goodbye(message),)
        return tuple(part.SerializeToString() for part in self._parts(message))

    def _parts(self, update: Update) -> Iterator[bot_pb2.RefereeMessage]:
        part, size = bot_pb2.RefereeMessage(), 0
        for over in update.deals_over:
            added = self._add_deal_over(part, over)
            size += added.ByteSize()
            if size > BATCH_BYTES:
                yield part
                part, size = bot_pb2.RefereeMessage(), 0
        for turn in update.turns:
            wire = self._turn(turn)
            if size + wire.ByteSize() > BATCH_BYTES:
                yield _with_clock(part, update.clock)
                part, size = bot_pb2.RefereeMessage(), 0
            size += wire.ByteSize()
            part.turns.append(wire)
        yield _with_clock(part, update.clock)

    def _turn(self, turn: Turn) -> bot_pb2.Turn:
        wire = bot_pb2.Turn(
            id=turn.id, table=turn.table, deal=turn.deal, kind=_TURN_KINDS[turn.kind]
        )
        view = turn.view
        _fill_view(wire.view, view)
        declares = self._declarations(view)
        wire.actions.extend([_action(action, declares.get(action, 0)) for action in turn.actions])
        _add_events(wire.events, turn.events)
        return wire

    def _declarations(self, view: Observation) -> dict[Action, bot_pb2.Combination.ValueType]:
        """Return the actions by which a seat would declare a combination."""
        if not view.hand:
            return {}
        held = _held(self._spec.rules, view.trump, view.end_turned).get(view.hand)
        if held is None or held.effect is not Effect.STOPS:
            return {}
        combination = _COMBINATIONS[held.combination]
        return {Action.of(kind, held.cards): combination for kind in _DECLARING}

    def _add_deal_over(self, message: bot_pb2.RefereeMessage, over: DealOver) -> bot_pb2.DealOver:
        outcome = over.outcome
        wire = message.deals_over.add(
            table=over.table,
            deal=over.deal,
            reason=_REASONS[outcome.reason],
            winners=outcome.winners,
            points=outcome.points,
            deal_scores=map(str, over.deal_scores),
            scores=map(str, over.scores),
            fault=over.fault,
        )
        for seat, weight in outcome.losers:
            wire.losers.add(seat=seat, weight=weight)
        if outcome.reason is Reason.COMBINATION:
            wire.combination = _COMBINATIONS[Combination(outcome.detail)]
        for cards in over.captured:
            wire.captured.add(cards=_cards(cards))
        for seat, cards, _, beats in over.last_trick:
            wire.last_trick.add(seat=seat, cards=_cards(cards), beats=beats)
        _add_events(wire.events, over.events)
        return wire


def goodbye(message: Goodbye) -> bytes:
    """Return the last message of a stream."""
    wire = bot_pb2.RefereeMessage()
    wire.goodbye.reason = _GOODBYES[message.reason]
    wire.goodbye.text = message.text
    wire.goodbye.scores.extend(map(str, message.scores))
    return wire.SerializeToString()


def _option(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return str(value)


def _with_clock(
    part: bot_pb2.RefereeMessage, reading: ClockReading | None
) -> bot_pb2.RefereeMessage:
    if reading is not None and part.turns:
        part.clock.last_answer_us = reading.last_answer_us
        part.clock.time_left_us = reading.time_left_us
        part.clock.bank_left_us = reading.bank_left_us
    return part


def _fill_view(wire: bot_pb2.View, view: Observation) -> None:
    wire.seat, wire.seats = view.seat, view.seats
    wire.dealer, wire.leader = view.dealer, view.leader
    wire.hand.extend(_cards(view.hand))
    if view.trump is not None:
        wire.trump = _SUITS[view.trump]
    if view.indicator is not None:
        wire.indicator = _CARDS[view.indicator]
    wire.stock = view.stock
    _fill_table(wire.table, view.table)
    for cards, hidden in view.captured:
        wire.captured.add(cards=_cards(cards), hidden=hidden)
    wire.hand_counts.extend(view.hand_counts)
    for seat, cards in enumerate(view.known):
        if cards:
            wire.known.add(seat=seat, cards=_cards(cards))
    wire.stake, wire.proposed, wire.offered = view.stake, view.proposed, view.offered
    if view.out:
        wire.out.extend(view.out)
    wire.end_turned = view.end_turned


def _add_events(wire: _Events, events: Iterable[SeenEvent]) -> None:
    for kind, seat, cards, hidden, combination, stake in events:
        event = wire.add(kind=_EVENT_KINDS[kind], hidden=hidden, number=stake)
        if seat >= 0:
            event.seat = seat
        if cards:
            event.cards.extend(_cards(cards))
        if combination is not None:
            event.combination = _COMBINATIONS[combination]


def _fill_table(wire: _TablePlays, plays: Iterable[tuple[int, int, int, bool]]) -> None:
    for seat, cards, hidden, beats in plays:
        wire.add(seat=seat, cards=_cards(cards), hidden=hidden, beats=beats)


@functools.lru_cache(maxsize=1 << 16)
def _cards(mask: int) -> tuple[bot_pb2.Card.ValueType, ...]:
    return tuple(_CARDS[card] for card in Cards(mask))


@functools.lru_cache(maxsize=1 << 16)
def _action(action: Action, combination: bot_pb2.Combination.ValueType) -> bot_pb2.Action:
    return bot_pb2.Action(
        kind=_ACTION_KINDS[action.kind], cards=_cards(action.cards), combination=combination
    )


@functools.lru_cache(maxsize=64)
def _held(rules: Rules, trump: int | None, end_turned: bool) -> dict[int, Held]:  # noqa: FBT001 - a key of the cache
    return held_by_hand(rules, trump, end_turned=end_turned)
