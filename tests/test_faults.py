"""What each misdeed costs, on a clock that is only told to move."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from timeline import MS, Bot, Timeline, answers, good

from referee.match import play_leg
from referee.players import (
    Arrival,
    Choice,
    Choices,
    Fault,
    FaultKind,
    GoodbyeReason,
    Inbox,
    PlatformStalledError,
)
from referee.results import Entrant, MatchSpec, TimeControl
from referee.rules import Reason, Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from referee.players import Update
    from referee.results import LegResult

    React = Callable[[Bot, Update], Iterable[tuple[float, Choices | Fault]]]

RULES = Rules(false_claim="lose_double", combinations=("bura", "molodka"))
LEG_FAULTS = [kind for kind in FaultKind if kind.loses_leg]
NEVER_SENT = 1_000_000


def spec(**changes: object) -> MatchSpec:
    """A match of two seats with a second for each move."""
    seats = int(str(changes.pop("seats", 2)))
    options = {
        "variant": "test",
        "rules": RULES,
        "seats": seats,
        "decks": 6,
        "seed": bytes(range(32)),
        "entrants": tuple(Entrant(name) for name in "abcdef"[:seats]),
        "time_control": TimeControl(move_time_ms=1_000),
    }
    return MatchSpec(**{**options, **changes})  # type: ignore[arg-type]


def play(
    *reacts: React,
    explain: Callable[[Fault], Fault | None] | None = None,
    before: Iterable[Fault] = (),
    **changes: object,
) -> tuple[LegResult, list[Bot]]:
    """Play a leg with one reaction for each seat."""
    timeline = Timeline()
    bots = [Bot(timeline, seat, react) for seat, react in enumerate(reacts)]
    for fault in before:
        timeline.put(Arrival(fault.seat, timeline.now, fault))
    match = spec(seats=len(bots), **changes)
    return play_leg(match, 0, bots, timeline, explain=explain), bots


def once(react: React, at: int = 3) -> React:
    """Misbehave in one round only."""

    def reaction(bot: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        return (react if bot.rounds == at else good)(bot, update)

    return reaction


def says(fault: Fault) -> React:
    """Let the seat's stream end with a fault instead of an answer."""
    return lambda bot, _: [(1, Fault(fault.kind, bot.seat, fault.detail))]


def kinds(leg: LegResult) -> list[tuple[FaultKind, int | None, int]]:
    """The faults of a leg as kind, deal and seat."""
    return [(each.fault.kind, each.deal, each.fault.seat) for each in leg.faults]


def lost(leg: LegResult) -> list[int]:
    """The numbers of the deals lost by a fault."""
    return [result.number for result in leg.deals if result.lost_by]


def assert_one_deal_lost(leg: LegResult, kind: FaultKind) -> None:
    """Seat 1 lost one deal at the highest weight; the others were played by the rules."""
    (number,) = lost(leg)
    result = leg.deals[number]
    assert kinds(leg) == [(kind, number, 1)]
    assert [fault.kind for fault in result.faults] == [kind]
    assert result.outcome.reason is Reason.FAULT
    assert result.outcome.losers == ((1, 2),)
    assert result.outcome.winners == (0,)
    assert result.scores == (2, -2)
    assert len(leg.deals) == 6


def test_an_index_out_of_range_loses_the_deal_at_the_highest_weight() -> None:
    """An index out of range is illegal_action, and the next deals are played."""
    leg, _ = play(good, once(lambda _, update: [(1, answers(update, lambda t: len(t.actions)))]))
    assert_one_deal_lost(leg, FaultKind.ILLEGAL_ACTION)


def test_a_turn_never_sent_is_out_of_turn() -> None:
    """A choice for a turn that was never issued loses the deal even if the right one follows."""

    def react(_: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        return [(1, Choices((Choice(NEVER_SENT, 0),))), (2, answers(update))]

    leg, _ = play(good, once(react))
    assert_one_deal_lost(leg, FaultKind.OUT_OF_TURN)


def test_a_turn_answered_before_it_was_sent_is_out_of_turn() -> None:
    """The number of a turn still to come does not count when it is guessed too early."""

    def react(bot: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        following = update.turns[-1].id + 1
        early = Arrival(bot.seat, bot.timeline.now, Choices((Choice(following, 0),)))
        # It is stamped now, but read only in the next round.
        bot.timeline.at(bot.timeline.now + 2 * MS, early)
        return [(1, answers(update))]

    leg, _ = play(good, once(react, at=0))
    assert (FaultKind.OUT_OF_TURN, 1) in {(kind, seat) for kind, _, seat in kinds(leg)}


@pytest.mark.parametrize("later", [0, 1])
def test_a_second_choice_is_a_double_action(later: float) -> None:
    """Two choices for a turn lose the deal, in one message or in two."""

    def react(_: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        answer = answers(update)
        if later:
            return [(1, answer), (1, answer)]
        return [(1, Choices(answer.choices * 2))]

    leg, _ = play(good, once(react))
    assert_one_deal_lost(leg, FaultKind.DOUBLE_ACTION)


def test_an_old_turn_answered_again_loses_the_deal_in_play() -> None:
    """A second choice for a turn of a deal that is over falls on the deal at the table."""

    def react(bot: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        return [(1, Choices((Choice(bot.turns[0].id, 0),))), (1, answers(update))]

    leg, bots = play(good, once(react, at=40))
    (number,) = lost(leg)
    assert number > bots[1].turns[0].deal
    assert_one_deal_lost(leg, FaultKind.DOUBLE_ACTION)


def test_a_late_answer_loses_its_deal_and_is_blamed_once() -> None:
    """An answer that comes too late is timeout; that it came at all is no second fault."""
    leg, _ = play(good, once(lambda _, update: [(1_001, answers(update))]))
    assert_one_deal_lost(leg, FaultKind.TIMEOUT)


def test_an_answer_stamped_at_the_limit_is_in_time() -> None:
    """The limit itself is in time, the microsecond after it is late."""
    leg, _ = play(good, once(lambda _, update: [(1_000, answers(update))]))
    assert not leg.faults
    leg, _ = play(good, once(lambda _, update: [(1_000.001, answers(update))]))
    assert_one_deal_lost(leg, FaultKind.TIMEOUT)


def test_an_answer_stamped_in_time_counts_when_it_is_read_late() -> None:
    """What counts is when bytes arrived, not when the match came to read them."""

    def react(bot: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        arrival = Arrival(bot.seat, bot.timeline.now + 999 * MS, answers(update))
        bot.timeline.at(bot.timeline.now + 1_010 * MS, arrival)
        return []

    leg, _ = play(good, once(react))
    assert not leg.faults


def test_silence_ends_a_deal_soon_after_the_limit() -> None:
    """A silent bot costs the match its limit and the time an answer may be on its way."""
    timeline = Timeline()
    bots = [Bot(timeline, 0, good), Bot(timeline, 1, once(lambda _, __: [], at=0))]
    before = timeline.now
    leg = play_leg(spec(decks=1), 0, bots, timeline)
    assert kinds(leg) == [(FaultKind.TIMEOUT, 0, 1)]
    assert 1_000 * MS < timeline.now - before <= 1_050 * MS


def test_three_late_answers_lose_the_leg() -> None:
    """The third late answer loses every deal left, the two before it one each."""
    leg, bots = play(good, lambda _, __: [])
    assert lost(leg) == [0, 1, 2, 3, 4, 5]
    assert kinds(leg) == [
        (FaultKind.TIMEOUT, 0, 1),
        (FaultKind.TIMEOUT, 1, 1),
        (FaultKind.TIMEOUT, None, 1),
        (FaultKind.TIMEOUT, 2, 1),
    ]
    assert bots[1].rounds == 3
    assert leg.scores == (12, -12)


def test_a_message_that_times_out_is_one_late_answer() -> None:
    """With several tables the limit is the sum, all open turns lose, and it counts once."""
    silent = once(lambda _, __: [], at=0)
    leg, bots = play(good, silent, tables=4)
    asked = len([turn for turn in bots[1].turns if turn.deal < 4 and turn.id <= 4])
    assert len(lost(leg)) == asked > 1
    assert bots[1].goodbye.reason is GoodbyeReason.FINISHED
    assert bots[1].messages[0].clock.time_left_us == asked * 1_000_000  # type: ignore[union-attr]


def test_turns_answered_before_the_limit_count() -> None:
    """Of a message answered in part only the rest is late."""

    def react(_: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        return [(1, Choices(answers(update).choices[:1]))]

    leg, bots = play(good, once(react, at=0), tables=4)
    assert 0 not in lost(leg)
    assert lost(leg) == [turn.deal for turn in bots[1].turns if turn.id <= 4][1:]


@pytest.mark.parametrize("kind", LEG_FAULTS)
def test_a_broken_bot_loses_every_deal_left(kind: FaultKind) -> None:
    """Deals decided before stand, the one in play and all to come are lost."""
    leg, bots = play(good, once(says(Fault(kind, 1, "gone")), at=60))
    numbers = lost(leg)
    assert 0 < numbers[0] < 5
    assert numbers == list(range(numbers[0], 6))
    assert kinds(leg) == [(kind, None, 1)]
    assert all(leg.deals[number].scores == (2, -2) for number in numbers)
    assert bots[1].goodbye.reason is GoodbyeReason.FAULT
    assert bots[0].goodbye.reason is GoodbyeReason.FINISHED
    assert bots[1].rounds == 61


def test_a_bot_that_never_came_loses_the_leg_unasked() -> None:
    """A fault that was there before the start leaves the opponent unasked and uncharged."""
    leg, bots = play(good, good, before=[Fault(FaultKind.NO_CONNECT, 1, "no Hello")])
    assert lost(leg) == list(range(6))
    assert not bots[0].turns
    assert leg.clocks[0].count == 0
    assert leg.scores == (12, -12)


def test_bots_that_break_together_both_lose_and_score_nothing() -> None:
    """Two crashes in one round leave no winner, whichever arrives first."""
    crash = once(says(Fault(FaultKind.CRASH, 0, "")))
    for first_ms, second_ms in ((1, 2), (2, 1)):

        def react(delay: float) -> React:
            return once(lambda bot, _: [(delay, Fault(FaultKind.CRASH, bot.seat, ""))])

        leg, _ = play(react(first_ms), react(second_ms))
        assert kinds(leg) == [(FaultKind.CRASH, None, 0), (FaultKind.CRASH, None, 1)]
        assert leg.deals[5].outcome.winners == ()
        assert leg.deals[5].scores == (0, 0)
    leg, _ = play(crash, once(lambda _, __: [(600, Fault(FaultKind.CRASH, 1, ""))]))
    assert kinds(leg) == [(FaultKind.CRASH, None, 0)]


def test_a_turn_withdrawn_by_anothers_fault_is_nobodys_fault() -> None:
    """Who is still thinking when the other breaks is not late, and not charged."""
    leg, bots = play(
        once(says(Fault(FaultKind.CRASH, 0, "")), at=0),
        lambda _, update: [(900, answers(update))],
    )
    assert kinds(leg) == [(FaultKind.CRASH, None, 0)]
    assert leg.clocks[1].count == 0
    assert leg.scores == (-12, 12)
    assert bots[1].rounds == 1


def test_two_seats_at_fault_in_one_deal_both_lose_it() -> None:
    """The order of two faults in a round decides nothing."""
    illegal = once(lambda _, update: [(1, answers(update, lambda _: 99))], at=0)
    leg, _ = play(illegal, illegal, decks=1)
    assert kinds(leg) == [(FaultKind.ILLEGAL_ACTION, 0, 0), (FaultKind.ILLEGAL_ACTION, 0, 1)]
    assert leg.deals[0].outcome.losers == ((0, 2), (1, 2))
    assert leg.scores == (0, 0)


def test_the_others_share_what_a_seat_at_fault_pays() -> None:
    """With three seats the weight is paid in equal shares."""
    illegal = once(lambda _, update: [(1, answers(update, lambda _: 99))], at=0)
    leg, _ = play(good, good, illegal, decks=1)
    assert leg.deals[0].outcome.winners == (0, 1)
    assert leg.scores == (1, 1, -2)


def test_the_sandbox_says_why_a_stream_ended() -> None:
    """What is known of the bot's end replaces `disconnected`, and nothing else."""
    known = Fault(FaultKind.OUT_OF_MEMORY, 1, "killed at 256 MiB")
    gone = once(says(Fault(FaultKind.DISCONNECTED, 1, "")))
    leg, _ = play(good, gone, explain=lambda _: known)
    assert [each.fault for each in leg.faults] == [known]
    leg, _ = play(good, gone, explain=lambda _: None)
    assert kinds(leg) == [(FaultKind.DISCONNECTED, None, 1)]
    garbage = once(says(Fault(FaultKind.PROTOCOL, 1, "")))
    leg, _ = play(good, garbage, explain=lambda _: known)
    assert kinds(leg) == [(FaultKind.PROTOCOL, None, 1)]


def test_the_sandbox_says_what_lies_behind_silence() -> None:
    """A leg lost by silence may be lost for a reason that only the sandbox knows."""
    known = Fault(FaultKind.OUT_OF_MEMORY, 1, "a child was killed")
    leg, _ = play(good, lambda _, __: [], explain=lambda _: known)
    assert (FaultKind.OUT_OF_MEMORY, None, 1) in kinds(leg)
    assert (FaultKind.TIMEOUT, None, 1) not in kinds(leg)


def test_an_empty_message_counts_only_when_nothing_is_asked() -> None:
    """An empty message while a turn is open is let pass, and is out of turn otherwise."""

    def patient(_: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        return [(1, Choices(())), (2, answers(update))]

    def hasty(_: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        return [(1, answers(update)), (1, Choices(()))]

    slow: React = lambda _, update: [(5, answers(update))]  # noqa: E731 - one line of a table
    leg, _ = play(slow, once(patient))
    assert not leg.faults
    leg, _ = play(slow, once(hasty))
    assert_one_deal_lost(leg, FaultKind.OUT_OF_TURN)


def test_a_flood_of_messages_is_a_broken_protocol() -> None:
    """Messages that answer nothing are counted, and end in the loss of the leg."""
    leg, _ = play(good, once(lambda _, __: [(1, Choices(()))] * 200))
    assert (FaultKind.PROTOCOL, None, 1) in kinds(leg)


def test_a_fault_may_cost_the_match() -> None:
    """With fault_cost=match an illegal index loses every deal left."""
    illegal = once(lambda _, update: [(1, answers(update, lambda _: 99))], at=60)
    leg, _ = play(good, illegal, rules=RULES.replace(fault_cost="match"))
    numbers = lost(leg)
    assert numbers == list(range(numbers[0], 6))
    assert len(numbers) > 1


def test_a_seat_reads_its_own_fault_in_full_and_the_others_by_kind() -> None:
    """The detail of a fault is told to who committed it."""
    illegal = once(lambda _, update: [(1, answers(update, lambda _: 99))], at=0)
    _, bots = play(good, illegal, decks=1)
    texts = [bot.messages[-2].deals_over[0].fault for bot in bots]  # type: ignore[union-attr]
    assert texts[0] == "illegal_action by seat 1"
    assert "expected 0 to" in texts[1]


def test_the_bank_pays_for_what_exceeds_the_move_time() -> None:
    """Time beyond the move time drains the bank, each decision adds to it."""
    control = TimeControl(move_time_ms=100, bank_ms=500, increment_ms=10)
    thinks = once(lambda _, update: [(400, answers(update))], at=0)
    leg, bots = play(good, thinks, time_control=control, decks=1)
    assert not leg.faults
    clocks = [update.clock for update in bots[1].messages[:2]]  # type: ignore[union-attr]
    assert clocks[0].time_left_us == 600_000
    assert clocks[1].bank_left_us == 500_000 - 300_000 + 10_000
    assert clocks[1].last_answer_us == 400_000
    leg, _ = play(
        good,
        once(lambda _, update: [(601, answers(update))], at=0),
        time_control=control,
        decks=1,
    )
    assert kinds(leg) == [(FaultKind.TIMEOUT, 0, 1)]


def test_clock_usage_is_kept_by_seat() -> None:
    """Each answer's time is kept in microseconds, with the number of decisions."""
    leg, bots = play(good, lambda _, update: [(7, answers(update))])
    assert set(leg.clocks[1].answers_us) == {7_000}
    assert leg.clocks[1].decisions == len(bots[1].turns)
    assert leg.clocks[1].percentile_us(95) == leg.clocks[1].max_us == 7_000


def test_a_stall_of_this_process_is_not_charged() -> None:
    """What the inbox saw of a stall is taken off the clock of whoever was thinking."""

    def react(bot: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        bot.timeline.stalled_ns += 300 * MS
        return [(1_250, answers(update))]

    leg, _ = play(good, once(react))
    assert not leg.faults
    assert max(leg.clocks[1].answers_us) <= 1_000_000


class _Stalling(Timeline):
    """A clock that leaps while the inbox sleeps."""

    leap_ms = 0

    def receive(self, until_ns: int) -> Arrival | None:
        return Inbox.receive(self, until_ns)

    def _next(self, seconds: float | None) -> Arrival | None:
        self.now += round((seconds or 0) * 1e9) + self.leap_ms * MS
        return None


def test_the_inbox_notices_that_this_process_did_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Oversleeping is counted as a stall, and seconds of it end the attempt."""
    inbox = _Stalling()
    inbox.leap_ms = 100
    assert inbox.receive(inbox.now + 10 * MS) is None
    assert inbox.stalled_ns == 100 * MS
    monkeypatch.setattr(inbox, "LONGEST_STALL_NS", 2_000 * MS)
    inbox.leap_ms = 10_000
    with pytest.raises(PlatformStalledError, match="did not run for 10000 ms"):
        inbox.receive(inbox.now + 10 * MS)


def test_a_failure_of_the_platform_is_no_result() -> None:
    """What goes wrong in the referee goes through, and the bots are told that it is over."""

    def broken(bot: Bot, _: Update) -> Iterable[tuple[float, Choices | Fault]]:
        raise OSError(bot.seat)

    timeline = Timeline()
    bots = [Bot(timeline, 0, once(broken)), Bot(timeline, 1, good)]
    with pytest.raises(OSError, match="0"):
        play_leg(spec(), 0, bots, timeline)
    assert bots[1].goodbye.reason is GoodbyeReason.ABORTED


def test_scores_of_faults_add_up_to_nothing() -> None:
    """A leg full of faults stays zero-sum."""
    illegal = once(lambda _, update: [(1, answers(update, lambda _: 99))], at=2)
    leg, _ = play(good, illegal, once(lambda _, __: [], at=5), decks=4)
    assert sum(leg.scores) == Fraction(0)
    assert all(sum(result.scores) == 0 for result in leg.deals)
