"""From what a player is told to the bytes of the contract with bots."""

from __future__ import annotations

import functools
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from burabot import bot_pb2
from referee.cards import CARD_COUNT, Cards, card_text
from referee.combinations import Effect, held_by_hand
from referee.players import Goodbye, GoodbyeReason
from referee.results import SERIES
from referee.rules import Action, ActionKind, Combination, EventKind, Reason, TurnKind

if TYPE_CHECKING:
    from referee.combinations import Held
    from referee.players import ClockReading, DealOver, Message, Standing, Turn
    from referee.results import MatchSpec
    from referee.rules import Rules
    from referee.view import Observation, Pile, SeenEvent, TablePlay

__all__ = [
    "BATCH_BYTES",
    "MESSAGE_BYTES",
    "PROTOCOL",
    "Wire",
    "goodbye",
    "received_text",
    "sent_text",
    "unpack",
]

PROTOCOL = 1
BATCH_BYTES = 32 * 1024
MESSAGE_BYTES = 64 * 1024
# How gzip begins, as no message can. A message that begins as zlib does (RFC 1950, 2.2) has a field
# first that the contract does not have.
_GZIP = b"\x1f\x8b"
_DEFLATED, _LARGEST_WINDOW, _CHECKED_BY = 8, 7, 31
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
CACHED = 1 << 16
TEXT_CHARS = 2_000
SHOWN_BYTES = 200
# How protobuf marks a value that its length precedes, and how it writes whole numbers.
_DELIMITED = 2
_LOW_WIDTH = 7
_LOW_BITS = (1 << _LOW_WIDTH) - 1

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
_NO_COMBINATION = bot_pb2.COMBINATION_UNSPECIFIED


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
        clock = _clock(message.clock) if message.clock is not None else b""
        pieces = [(self._deal_over(over), b"") for over in message.deals_over]
        pieces += [(self._turn(turn), clock) for turn in message.turns]
        parts: list[bytes] = []
        batch: list[bytes] = []
        size = 0
        for piece, with_clock in pieces:
            if batch and size + len(piece) > BATCH_BYTES:
                parts.append(b"".join(batch))
                batch, size = [], 0
            batch += (piece, with_clock)
            size += len(piece) + len(with_clock)
        return (*parts, b"".join(batch))

    def _turn(self, turn: Turn) -> bytes:
        frame = bot_pb2.Turn(
            id=turn.id, table=turn.table, deal=turn.deal, kind=_TURN_KINDS[turn.kind]
        )
        declares = self._declarations(turn.view)
        parts = [frame.SerializeToString(), _view(turn.view)]
        if turn.standing is not None:
            parts.append(_standing(turn.standing))
        parts += [_action(action, declares.get(action, _NO_COMBINATION)) for action in turn.actions]
        parts += [_turn_event(event) for event in turn.events]
        return _field(bot_pb2.RefereeMessage.TURNS_FIELD_NUMBER, b"".join(parts))

    def _declarations(self, view: Observation) -> dict[Action, bot_pb2.Combination.ValueType]:
        """Return the actions by which a seat would declare a combination."""
        if not view.hand:
            return {}
        held = _held(self._spec.rules, view.trump, view.end_turned).get(view.hand)
        if held is None or held.effect is not Effect.STOPS:
            return {}
        combination = _COMBINATIONS[held.combination]
        _, stop = held.stop_or_not
        return {held.lead: combination, stop: combination}

    def _deal_over(self, over: DealOver) -> bytes:
        message = bot_pb2.RefereeMessage()
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
        wire.events.extend([_event(event) for event in over.events])
        return message.SerializeToString()


def goodbye(message: Goodbye) -> bytes:
    """Return the last message of a stream."""
    wire = bot_pb2.RefereeMessage()
    wire.goodbye.reason = _GOODBYES[message.reason]
    wire.goodbye.text = message.text
    wire.goodbye.scores.extend(map(str, message.scores))
    return wire.SerializeToString()


def unpack(raw: bytes) -> bytes | str:
    """Return a message from a bot as it was before gRPC compressed it, or what is wrong with it.

    gRPC would unpack it itself, but end the stream without a word if it becomes too long.
    """
    if not (raw.startswith(_GZIP) or _is_zlib(raw)):
        return raw
    unpacking = zlib.decompressobj(_GZIP_OR_ZLIB)
    try:
        found = unpacking.decompress(raw, MESSAGE_BYTES + 1)
    except zlib.error:
        return raw
    if len(found) > MESSAGE_BYTES:
        return f"a compressed message of more than {MESSAGE_BYTES} bytes: expected at most that"
    return found if unpacking.eof and not unpacking.unused_data else raw


def _is_zlib(raw: bytes) -> bool:
    header = raw[:2]
    return (
        len(header) == len(("method", "flags"))
        and header[0] & 0xF == _DEFLATED
        and header[0] >> 4 <= _LARGEST_WINDOW
        and int.from_bytes(header, "big") % _CHECKED_BY == 0
    )


def sent_text(raw: bytes) -> str:
    """Return a message to a bot as text in one line of bounded length, empty for no message."""
    return _text(raw, bot_pb2.RefereeMessage)


def received_text(raw: bytes | None) -> str:
    """Return a message from a bot as text in one line of bounded length, empty for None.

    What is no message is spelled in hexadecimal digits; one without a byte has none.
    """
    if raw is None:
        return ""
    data = unpack(raw)
    return _text(raw if isinstance(data, str) else data, bot_pb2.BotMessage) or "0 bytes"


def _text(raw: bytes, kind: type[bot_pb2.RefereeMessage | bot_pb2.BotMessage]) -> str:
    text = ""
    # What is longer could have a text of a hundred megabytes.
    if len(raw) <= MESSAGE_BYTES:
        with suppress(DecodeError, RecursionError):
            text = text_format.MessageToString(kind.FromString(raw), as_one_line=True)
    # Fields that the contract does not know have no text.
    if raw and not text:
        text = f"{len(raw)} bytes: {raw[:SHOWN_BYTES].hex(' ')}"
    return text if len(text) <= TEXT_CHARS else f"{text[:TEXT_CHARS]}... ({len(raw)} bytes)"


def _option(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return str(value)


# Serialized messages of one type may be joined, and repeated fields then add up. So whatever comes
# again and again is made into bytes once, with the number of the field it goes into.


def _field(number: int, data: bytes) -> bytes:
    """Return a message as the value of a field of the message around it."""
    key = number << 3 | _DELIMITED
    return _varint(key) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    low = bytearray()
    while value > _LOW_BITS:
        low.append(value & _LOW_BITS | _LOW_BITS + 1)
        value >>= _LOW_WIDTH
    low.append(value)
    return bytes(low)


def _clock(reading: ClockReading) -> bytes:
    message = bot_pb2.RefereeMessage()
    message.clock.last_answer_us = reading.last_answer_us
    message.clock.time_left_us = reading.time_left_us
    message.clock.bank_left_us = reading.bank_left_us
    return message.SerializeToString()


def _view(view: Observation) -> bytes:
    parts = [
        _framed(
            _Frame(
                view.seat,
                view.seats,
                view.dealer,
                view.leader,
                view.trump,
                view.indicator,
                view.stake,
                view.proposed,
                view.offered,
                view.out,
                view.end_turned,
            )
        ),
        _counts(view.stock, view.hand_counts),
        _hand(view.hand),
    ]
    parts += [_play(play) for play in view.table]
    parts += [_pile(pile) for pile in view.captured]
    parts += [_known(seat, cards) for seat, cards in enumerate(view.known) if cards]
    return _field(bot_pb2.Turn.VIEW_FIELD_NUMBER, b"".join(parts))


class _Frame(NamedTuple):
    """What changes seldom in a view."""

    seat: int
    seats: int
    dealer: int
    leader: int
    trump: int | None
    indicator: int | None
    stake: int
    proposed: int
    offered: int
    out: tuple[int, ...]
    end_turned: bool


@functools.lru_cache(maxsize=CACHED)
def _framed(frame: _Frame) -> bytes:
    return bot_pb2.View(
        seat=frame.seat,
        seats=frame.seats,
        dealer=frame.dealer,
        leader=frame.leader,
        trump=_SUITS[frame.trump] if frame.trump is not None else bot_pb2.SUIT_UNSPECIFIED,
        indicator=_CARDS[frame.indicator]
        if frame.indicator is not None
        else bot_pb2.CARD_UNSPECIFIED,
        stake=frame.stake,
        proposed=frame.proposed,
        offered=frame.offered,
        out=frame.out,
        end_turned=frame.end_turned,
    ).SerializeToString()


@functools.lru_cache(maxsize=CACHED)
def _counts(stock: int, hand_counts: tuple[int, ...]) -> bytes:
    return bot_pb2.View(stock=stock, hand_counts=hand_counts).SerializeToString()


@functools.lru_cache(maxsize=CACHED)
def _hand(cards: int) -> bytes:
    return bot_pb2.View(hand=_cards(cards)).SerializeToString()


def _standing(standing: Standing) -> bytes:
    """Return where the match stands, as a further part of a turn's view."""
    turn = bot_pb2.Turn()
    wire = turn.view.standing
    wire.scores.extend(map(str, standing.tallies))
    wire.bank = str(standing.bank) if standing.bank else ""
    wire.carry = standing.carry
    if len(standing.playing) < len(standing.tallies):
        wire.seats.extend(standing.playing)
    return turn.SerializeToString()


@functools.lru_cache(maxsize=CACHED)
def _cards(mask: int) -> tuple[bot_pb2.Card.ValueType, ...]:
    return tuple(_CARDS[card] for card in Cards(mask))


@functools.lru_cache(maxsize=CACHED)
def _play(play: TablePlay) -> bytes:
    seat, cards, hidden, beats = play
    view = bot_pb2.View()
    view.table.add(seat=seat, cards=_cards(cards), hidden=hidden, beats=beats)
    return view.SerializeToString()


@functools.lru_cache(maxsize=CACHED)
def _pile(pile: Pile) -> bytes:
    view = bot_pb2.View()
    view.captured.add(cards=_cards(pile.cards), hidden=pile.hidden)
    return view.SerializeToString()


@functools.lru_cache(maxsize=CACHED)
def _known(seat: int, cards: int) -> bytes:
    view = bot_pb2.View()
    view.known.add(seat=seat, cards=_cards(cards))
    return view.SerializeToString()


@functools.lru_cache(maxsize=CACHED)
def _action(action: Action, combination: bot_pb2.Combination.ValueType) -> bytes:
    turn = bot_pb2.Turn()
    turn.actions.add(
        kind=_ACTION_KINDS[action.kind], cards=_cards(action.cards), combination=combination
    )
    return turn.SerializeToString()


@functools.lru_cache(maxsize=CACHED)
def _turn_event(event: SeenEvent) -> bytes:
    return bot_pb2.Turn(events=[_event(event)]).SerializeToString()


def _event(event: SeenEvent) -> bot_pb2.Event:
    kind, seat, cards, hidden, combination, stake = event
    return bot_pb2.Event(
        kind=_EVENT_KINDS[kind],
        seat=max(seat, 0),
        cards=_cards(cards),
        hidden=hidden,
        combination=_COMBINATIONS[combination] if combination else _NO_COMBINATION,
        number=stake,
    )


@functools.lru_cache(maxsize=64)
def _held(rules: Rules, trump: int | None, end_turned: bool) -> dict[int, Held]:  # noqa: FBT001 - a key of the cache
    return held_by_hand(rules, trump, end_turned=end_turned)
