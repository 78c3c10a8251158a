"""What is kept of a fault besides its kind: the last messages, the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from legs import play, spec
from timeline import Bot, Timeline, answers, good

from burabot import bot_pb2
from referee.match import EVIDENT_FAULTS, play_leg
from referee.players import Choice, Choices
from referee.results import Evidence, LegResult, TimeControl
from referee.wire import TEXT_CHARS, received_text, sent_text

if TYPE_CHECKING:
    from referee.players import Update

STEADY = ("steady",)


def evidence(leg: LegResult, place: int = 0) -> Evidence:
    """Return the evidence of a fault of the leg."""
    found = leg.faults[place].evidence
    assert found is not None
    return found


def test_fault_keeps_the_messages_it_was_made_of() -> None:
    """The question as it was put, the choice that was wrong, and how long the clock had run."""
    leg = play(spec(decks=1), ("illegal_index",), STEADY).leg
    found = evidence(leg)
    assert "actions" in sent_text(found.sent)
    assert received_text(found.received).startswith("choices { choices { turn: ")
    assert found.limit_us == 30_000_000
    assert 0 < found.elapsed_us <= found.limit_us


@pytest.mark.parametrize("bot", [("garbage", "random"), ("oversized", "100000")], ids=" ".join)
def test_message_that_cannot_be_read_is_kept_all_the_same(bot: tuple[str, str]) -> None:
    """A broken protocol is shown as the bytes that came, cut to what a person reads."""
    found = evidence(play(spec(decks=1), bot, STEADY).leg)
    text = received_text(found.received)
    assert f"{len(found.received)} bytes" in text
    assert len(text) < TEXT_CHARS + 50


def test_empty_message_is_shown_as_what_was_judged() -> None:
    """The evidence of a message without a byte is that message, not the one before."""
    found = evidence(play(spec(decks=4), STEADY, ("garbage", "empty")).leg)
    assert found.received == b""
    assert received_text(found.received) == "0 bytes"


def test_fault_keeps_the_message_that_was_judged_and_not_a_later_one() -> None:
    """Each of two wrong answers is shown with its deal, whatever came before the round was over."""
    timeline = Timeline()

    def err(_: Bot, update: Update) -> list[tuple[float, Choices]]:
        wrong = [Choices((Choice(turn.id, 99),)) for turn in update.turns]
        empty = Choices(())
        return [(1 + number, one) for number, one in enumerate([*wrong, empty, empty])]

    def slow(_: Bot, update: Update) -> list[tuple[float, Choices]]:
        return [(50, answers(update))]

    bots = [Bot(timeline, seat, react) for seat, react in enumerate((slow, err))]
    leg = play_leg(spec(decks=2, tables=2), 0, bots, timeline)
    shown = [evidence(leg, place) for place in (0, 1)]
    turns = [turn.id for turn in bots[1].turns[:2]]
    assert [each.received for each in shown] == [
        repr(Choices((Choice(turn, 99),))).encode() for turn in turns
    ]
    assert [each.elapsed_us for each in shown] == [1_000, 2_000]


def test_timeout_keeps_the_last_message_before_it() -> None:
    """What comes when the time is long over has nothing to do with it."""
    timeline = Timeline()

    def late(bot: Bot, update: Update) -> list[tuple[float, Choices]]:
        if bot.rounds == 0:
            return [(1, answers(update))]
        return [(30_001, Choices(())), (30_002, answers(update))]

    def slow(_: Bot, update: Update) -> list[tuple[float, Choices]]:
        return [(29_990, answers(update))]

    bots = [Bot(timeline, seat, react) for seat, react in enumerate((slow, late))]
    leg = play_leg(spec(decks=1), 0, bots, timeline)
    found = evidence(leg)
    assert str(leg.faults[0].fault.kind) == "timeout"
    assert found.received == repr(Choices(())).encode()
    assert found.elapsed_us == found.limit_us


def test_evidence_has_the_bank_as_it_was_when_the_message_came() -> None:
    """Six seconds into a turn of one, five of a bank of ten are gone, in whatever is charged."""
    timeline = Timeline()

    def err(_: Bot, update: Update) -> list[tuple[float, Choices]]:
        return [(6_000, answers(update, lambda turn: len(turn.actions)))]

    bots = [Bot(timeline, seat, react) for seat, react in enumerate((good, err))]
    control = TimeControl(move_time_ms=1_000, bank_ms=10_000)
    found = evidence(play_leg(spec(decks=1, time_control=control), 0, bots, timeline))
    assert (found.elapsed_us, found.bank_us) == (6_000_000, 5_000_000)


def test_evidence_of_a_timeout_has_an_empty_bank() -> None:
    """Whoever is late has used up its bank."""
    timeline = Timeline()
    bots = [Bot(timeline, seat, react) for seat, react in enumerate((good, lambda *_: []))]
    control = TimeControl(move_time_ms=1_000, bank_ms=10_000)
    found = evidence(play_leg(spec(decks=1, time_control=control), 0, bots, timeline))
    assert (found.elapsed_us, found.bank_us) == (11_000_000, 0)


def test_silence_is_kept_with_the_time_it_took() -> None:
    """A bot that says nothing is late after exactly the time it had."""
    control = TimeControl(move_time_ms=4_000, startup_ms=60_000)
    match = spec(decks=1, time_control=control)
    found = evidence(play(match, ("silent",), STEADY).leg)
    assert found.elapsed_us == found.limit_us == 4_000_000
    assert "hello" in received_text(found.received)


def test_evidence_of_endless_faults_is_bounded() -> None:
    """A bot that errs in every deal is charged each time, and shown the first times."""
    timeline = Timeline()

    def err(_: Bot, update: Update) -> list[tuple[float, Choices]]:
        return [(1, answers(update, lambda turn: len(turn.actions)))]

    bots = [Bot(timeline, seat, react) for seat, react in enumerate((good, err))]
    leg = play_leg(spec(decks=EVIDENT_FAULTS + 3), 0, bots, timeline)
    assert len(leg.faults) == EVIDENT_FAULTS + 3
    assert [each.evidence is not None for each in leg.faults].count(True) == EVIDENT_FAULTS


def test_text_of_messages_is_one_line_whatever_they_hold() -> None:
    """Names a bot chose cannot break the line, and no message gives no text."""
    message = bot_pb2.BotMessage(hello=bot_pb2.Hello(name="a\nb\x1b[31m"))
    text = received_text(message.SerializeToString())
    assert text.isprintable()
    assert sent_text(b"") == received_text(None) == ""


def test_sending_is_timed_apart() -> None:
    """What it took to hand messages over is known for each seat, and is less than all its time."""
    leg = play(spec(decks=2), STEADY, STEADY).leg
    for traffic, clock in zip(leg.traffic, leg.clocks, strict=True):
        # Nobody is charged for the time in which the referee stood still.
        assert 0 < traffic.sending_us < clock.total_us + leg.stalled_us
