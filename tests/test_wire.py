"""What a bot reads is what its seat may know: the bytes say the same as the view."""

from __future__ import annotations

import gzip
import random
import zlib
from typing import TYPE_CHECKING

import pytest
from timeline import Bot, Timeline, answers

from burabot import bot_pb2
from referee.cards import Cards
from referee.match import play_leg
from referee.players import ClockReading, Update
from referee.results import Entrant, MatchSpec
from referee.variants import VARIANTS
from referee.wire import BATCH_BYTES, MESSAGE_BYTES, Wire, received_text, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from referee.players import Choices, Fault, Turn

GAMES = [(name, rules.players[-1]) for name, rules in VARIANTS.items()]


def spec(name: str = "bura", seats: int = 2, **changes: object) -> MatchSpec:
    """A match of a variant."""
    options = {
        "variant": name,
        "rules": VARIANTS[name],
        "seats": seats,
        "decks": 4,
        "seed": bytes(range(32)),
        "entrants": tuple(Entrant(str(seat)) for seat in range(seats)),
    }
    return MatchSpec(**{**options, **changes})  # type: ignore[arg-type]


def updates(match: MatchSpec) -> Iterator[tuple[int, Update]]:
    """Play leg 0 with random choices and yield all that was sent."""
    rng = random.Random(1)

    def react(_: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        yield 1, answers(update, lambda turn: rng.randrange(len(turn.actions)))

    timeline = Timeline()
    bots = [Bot(timeline, seat, react) for seat in range(match.seats)]
    play_leg(match, 0, bots, timeline)
    for bot in bots:
        for message in bot.messages:
            if isinstance(message, Update):
                yield bot.seat, message


def cards(wire: Iterable[int]) -> Cards:
    """The set that cards on the wire make."""
    return Cards(sum(1 << (card - 1) for card in wire))


def assert_same(turn: Turn, wire: bot_pb2.Turn) -> None:
    """Compare a turn with what a bot reads."""
    view, seen = turn.view, wire.view
    assert (turn.id, turn.table, turn.deal) == (wire.id, wire.table, wire.deal)
    assert f"TURN_{turn.kind.name}" == bot_pb2.TurnKind.Name(wire.kind)
    assert (view.seat, view.seats, view.dealer) == (seen.seat, seen.seats, seen.dealer)
    assert (view.leader, view.stock, view.stake) == (seen.leader, seen.stock, seen.stake)
    assert view.hand == cards(seen.hand)
    assert (view.trump is None) == (seen.trump == bot_pb2.SUIT_UNSPECIFIED)
    assert view.trump is None or view.trump == seen.trump - 1
    assert (view.indicator if view.indicator is not None else -1) == seen.indicator - 1
    assert view.table == tuple((p.seat, cards(p.cards), p.hidden, p.beats) for p in seen.table)
    assert view.captured == tuple((cards(pile.cards), pile.hidden) for pile in seen.captured)
    assert view.hand_counts == tuple(seen.hand_counts)
    known = {each.seat: cards(each.cards) for each in seen.known}
    assert view.known == tuple(known.get(seat, Cards(0)) for seat in range(view.seats))
    assert view.out == tuple(seen.out)
    assert (view.end_turned, view.offered) == (seen.end_turned, seen.offered)
    assert [(f"ACTION_{each.kind.name}", each.cards) for each in turn.actions] == [
        (bot_pb2.ActionKind.Name(each.kind), cards(each.cards)) for each in wire.actions
    ]
    assert [(f"EVENT_{e.kind.name}", max(e.seat, 0), e.cards, e.hidden) for e in turn.events] == [
        (bot_pb2.EventKind.Name(e.kind), e.seat, cards(e.cards), e.hidden) for e in wire.events
    ]


@pytest.mark.parametrize(("name", "seats"), GAMES)
def test_a_bot_reads_its_turns_as_they_are(name: str, seats: int) -> None:
    """Every turn of every variant is read from the bytes as it was made."""
    match = spec(name, seats)
    for seat, update in updates(match):
        (raw,) = Wire(match, seat).packed(update)
        message = bot_pb2.RefereeMessage.FromString(raw)
        for turn, wire in zip(update.turns, message.turns, strict=True):
            assert_same(turn, wire)
        assert [over.deal for over in update.deals_over] == [o.deal for o in message.deals_over]
        for over, wire_over in zip(update.deals_over, message.deals_over, strict=True):
            assert tuple(cards(pile.cards) for pile in wire_over.captured) == over.captured
            assert tuple(wire_over.points) == over.outcome.points
            assert tuple(wire_over.scores) == tuple(map(str, over.scores))


def test_a_large_batch_is_cut_into_messages() -> None:
    """No message exceeds the cap, all turns arrive in order, and each part tells the clock."""
    match = spec(tables=900, decks=900)
    seat, update = next(updates(match))
    update = update._replace(clock=ClockReading(1, 2, 3))
    parts = Wire(match, seat).packed(update)
    messages = [bot_pb2.RefereeMessage.FromString(part) for part in parts]
    assert len(parts) > 1
    assert all(len(part) <= BATCH_BYTES + 64 for part in parts)
    assert [wire.id for each in messages for wire in each.turns] == [t.id for t in update.turns]
    assert all(each.clock.time_left_us == 2 for each in messages)


def test_a_declaration_names_its_combination() -> None:
    """Stops carry the combination they declare; passes carry none."""
    named = {}
    match = spec(decks=400, tables=50)
    for seat, update in updates(match):
        for part in Wire(match, seat).packed(update):
            for turn in bot_pb2.RefereeMessage.FromString(part).turns:
                for action in turn.actions:
                    named.setdefault(action.kind, set()).add(action.combination)
    assert named[bot_pb2.ACTION_PASS] == {bot_pb2.COMBINATION_UNSPECIFIED}
    assert bot_pb2.COMBINATION_MOLODKA in named[bot_pb2.ACTION_STOP]
    assert bot_pb2.COMBINATION_UNSPECIFIED not in named[bot_pb2.ACTION_STOP]
    assert bot_pb2.COMBINATION_MOLODKA in named[bot_pb2.ACTION_LEAD]


def test_welcome_tells_every_option_and_nothing_of_the_match() -> None:
    """All options are there by name; no name, number, seed or digest of the match is."""
    match = spec(entrants=(Entrant("alpha", "v1", "sha256:a"), Entrant("beta")), match=77)
    raw = Wire(match, 1).welcome()
    welcome = bot_pb2.RefereeMessage.FromString(raw).welcome
    assert (welcome.seat, welcome.seats, welcome.variant, welcome.deals) == (1, 2, "bura", 4)
    names = {option.name for option in welcome.options}
    assert names == {name.rstrip("_") for name in match.rules.to_dict()}
    options = {option.name: option.value for option in welcome.options}
    assert options["lead_sizes"] == "1 2 3"
    assert all(secret not in raw for secret in (b"alpha", b"beta", b"sha256", match.seed))


def small_window(data: bytes) -> bytes:
    """Compress as a library does that has little memory."""
    packing = zlib.compressobj(wbits=9)
    return packing.compress(data) + packing.flush()


@pytest.mark.parametrize(
    "pack", [gzip.compress, zlib.compress, small_window], ids=["gzip", "zlib", "small window"]
)
def test_compressed_message_is_unpacked_up_to_what_a_message_may_have(
    pack: Callable[[bytes], bytes],
) -> None:
    """A message is read as it was before; of one that is too long no more is unpacked."""
    for data in (b"", b"\x12\x00", b"x" * MESSAGE_BYTES):
        assert unpack(pack(data)) == data
    assert unpack(pack(b"x" * (MESSAGE_BYTES + 1))) == (
        "a compressed message of more than 65536 bytes: expected at most that"
    )


def test_what_is_not_compressed_properly_is_taken_as_it_came() -> None:
    """Half a compressed message, one with more behind it, and none."""
    for raw in (b"", b"\x12\x00", b"\x78", b"\x1f\x8b", gzip.compress(b"x")[:-1]):
        assert unpack(raw) == raw
    assert unpack(gzip.compress(b"x") + b"x") == gzip.compress(b"x") + b"x"


def test_text_of_a_message_that_is_too_long_is_not_made() -> None:
    """A text of a hundred megabytes would have to be made before it could be cut."""
    choices = [bot_pb2.Choice()] * MESSAGE_BYTES
    raw = bot_pb2.BotMessage(choices=bot_pb2.Choices(choices=choices)).SerializeToString()
    assert received_text(raw).startswith(f"{len(raw)} bytes: 12 ")
    assert received_text(gzip.compress(b"\x12\x00")) == "choices { }"
