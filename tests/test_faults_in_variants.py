"""Each misdeed in each game, with any number of seats: judged alike, no cheaper than losing."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from timeline import Bot, Timeline, answers, good

from referee.match import play_leg
from referee.players import Choice, Choices, Fault, FaultKind
from referee.results import Entrant, MatchSpec, TimeControl
from referee.rules import Reason
from referee.variants import VARIANTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from referee.players import Update
    from referee.results import LegResult

    React = Callable[[Bot, Update], Iterable[tuple[float, Choices | Fault]]]

NEVER_SENT = 1_000_000
CULPRIT = 1
DECKS = 3


def beyond(_: Bot, update: Update) -> Iterable[tuple[float, Choices]]:
    """Choose an action that is not there."""
    yield 1, answers(update, lambda turn: len(turn.actions))


def unasked(_: Bot, update: Update) -> Iterable[tuple[float, Choices]]:
    """Answer a turn that was never sent."""
    yield 1, Choices((Choice(NEVER_SENT, 0),))
    yield 2, answers(update)


def twice(_: Bot, update: Update) -> Iterable[tuple[float, Choices]]:
    """Answer in one message what was asked once, twice."""
    yield 1, Choices(answers(update).choices * 2)


def late(_: Bot, update: Update) -> Iterable[tuple[float, Choices]]:
    """Answer too late."""
    yield 1_001, answers(update)


def ends(kind: FaultKind) -> React:
    """Let the stream end by a fault."""
    return lambda bot, _: [(1, Fault(kind, bot.seat, ""))]


MISDEEDS: dict[FaultKind, React] = {
    FaultKind.ILLEGAL_ACTION: beyond,
    FaultKind.OUT_OF_TURN: unasked,
    FaultKind.DOUBLE_ACTION: twice,
    FaultKind.TIMEOUT: late,
    **{kind: ends(kind) for kind in FaultKind if kind.loses_leg},
}


def once(react: React) -> React:
    """Misbehave in the first round and play well from then on."""

    def reaction(bot: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        return (good if bot.rounds else react)(bot, update)

    return reaction


def play(name: str, seats: int, seed: int, react: React) -> LegResult:
    """Play a leg in which one seat reacts in its way."""
    timeline = Timeline()
    bots = [Bot(timeline, seat, react if seat == CULPRIT else good) for seat in range(seats)]
    match = MatchSpec(
        variant=name,
        rules=VARIANTS[name],
        seats=seats,
        decks=DECKS,
        seed=bytes([seed]) * 32,
        entrants=tuple(Entrant(word) for word in "abcdef"[:seats]),
        time_control=TimeControl(move_time_ms=1_000),
    )
    return play_leg(match, 0, bots, timeline)


@functools.cache
def dearest(name: str, seats: int, seed: int) -> Fraction:
    """Return the most that a deal of a leg without misdeeds costs a seat."""
    leg = play(name, seats, seed, good)
    return min(Fraction(), *(score for deal in leg.deals for score in deal.scores))


@pytest.mark.parametrize("kind", MISDEEDS)
@pytest.mark.parametrize("name", VARIANTS)
def test_misdeed_is_judged_alike_in_every_game(name: str, kind: FaultKind) -> None:
    """One fault of that kind, its deals lost for no less than by the rules, the others played."""
    for seats in VARIANTS[name].players:
        for seed in range(3):
            leg = play(name, seats, seed, once(MISDEEDS[kind]))
            (offence,) = leg.faults
            assert (offence.fault.kind, offence.fault.seat) == (kind, CULPRIT)
            assert len(leg.deals) == DECKS
            lost = [deal for deal in leg.deals if CULPRIT in deal.lost_by]
            assert len(lost) == (DECKS if kind.loses_leg else 1)
            for deal in lost:
                assert deal.outcome.reason is Reason.FAULT
                assert deal.scores[CULPRIT] <= dearest(name, seats, seed)
                assert sum(deal.scores) == 0
