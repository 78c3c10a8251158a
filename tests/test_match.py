"""How a match goes: legs, decks, rounds, what is told to whom."""

from __future__ import annotations

import itertools
import pickle
import random
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from timeline import MS, Bot, Timeline, answers, first, good

from referee.match import budget_ms, play_leg, play_match
from referee.players import Choices, Fault, FaultKind, Goodbye, Inbox, ScriptedPlayer, Update
from referee.record import replay
from referee.results import Entrant, MatchSpec, SpecError, TimeControl
from referee.rules import ActionKind, EventKind, Rules, TurnKind
from referee.variants import VARIANTS
from referee.view import events_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from referee.players import Message, Turn
    from referee.results import MatchResult

RULES = Rules(false_claim="lose_double", combinations=("bura", "molodka"))
GAMES = [(name, seats) for name, rules in VARIANTS.items() for seats in rules.players]


def spec(**changes: object) -> MatchSpec:
    """A short match of two."""
    seats = int(str(changes.pop("seats", 2)))
    options = {
        "variant": "test",
        "rules": RULES,
        "seats": seats,
        "decks": 12,
        "seed": bytes(range(32)),
        "entrants": tuple(Entrant(name) for name in "abcdef"[:seats]),
        "time_control": TimeControl(move_time_ms=60_000),
    }
    return MatchSpec(**{**options, **changes})  # type: ignore[arg-type]


def by_view(turn: Turn) -> int:
    """Choose at random, but the same in the same view whatever happened elsewhere."""
    return random.Random(repr((turn.view, turn.actions))).randrange(len(turn.actions))


def play(match: MatchSpec, choose: Callable[[Turn], int] = by_view) -> MatchResult:
    """Play a match between equals."""
    return play_match(match, [choose] * match.seats)


@pytest.mark.parametrize("seats", [2, 3])
def test_every_deck_is_played_once_in_every_rotation(seats: int) -> None:
    """Each leg plays all decks, with the same cards and dealer, in an order of its own."""
    result = play(spec(seats=seats))
    assert len(result.legs) == seats
    orders = [[deal.deck for deal in leg.deals] for leg in result.legs]
    assert all(sorted(order) == list(range(12)) for order in orders)
    assert len({tuple(order) for order in orders}) == seats
    for deck in range(12):
        played = [deal for deal in result.deals if deal.deck == deck]
        assert len({(deal.dealer, deal.decks, deal.lots) for deal in played}) == 1


def test_entrants_move_one_seat_on_in_every_leg() -> None:
    """Over all legs every entrant sits at every seat, and scores follow the entrant."""
    match = spec(seats=3, decks=1)
    assert [match.entrant_at(1, seat) for seat in range(3)] == [1, 2, 0]
    scores = (Fraction(5), Fraction(-3), Fraction(-2))
    assert match.by_entrant(1, scores) == (Fraction(-2), Fraction(5), Fraction(-3))
    for leg in range(3):
        assert {match.entrant_at(leg, seat) for seat in range(3)} == {0, 1, 2}


def test_equal_bots_score_nothing_over_a_mirrored_deck() -> None:
    """What the deal gives to one seat it gives to each entrant once."""
    assert all(set(scores) == {Fraction(0)} for scores in play(spec()).deck_scores())


def test_scores_add_up() -> None:
    """Deals sum to legs, decks to totals, and everything to nothing."""

    def reckless(turn: Turn) -> int:
        return len(turn.actions) - 1

    result = play_match(spec(seats=3), [by_view, first, reckless])
    for leg in result.legs:
        sums = [sum(column) for column in zip(*(deal.scores for deal in leg.deals), strict=True)]
        assert tuple(sums) == leg.scores
    columns = zip(*result.deck_scores(), strict=True)
    assert tuple(sum(column) for column in columns) == result.totals
    assert any(result.totals)
    assert sum(result.totals) == 0


def test_the_number_of_tables_changes_nothing_in_what_is_played() -> None:
    """Bots that go by the view play every deck alike at one table and at many."""
    one, many = play(spec()), play(spec(tables=5))

    def by_deck(result: MatchResult) -> dict[tuple[int, int], tuple[object, ...]]:
        return {
            (deal.leg, deal.deck): (
                [(taken.seat, taken.action) for taken in deal.actions],
                deal.outcome,
                deal.scores,
            )
            for deal in result.deals
        }

    assert by_deck(one) == by_deck(many)
    assert {deal.table for deal in many.deals} == {0, 1, 2, 3, 4}


def test_results_cross_processes() -> None:
    """A match and its result can be pickled."""
    result = play(spec(decks=2))
    assert pickle.loads(pickle.dumps(result)) == result  # noqa: S301 - our own bytes


def listen(match: MatchSpec, choose: Callable[[Turn], int] = by_view) -> list[Bot]:
    """Play leg 0 on a timeline and return the bots with what they were told."""
    timeline = Timeline()

    def react(_: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        yield 1, answers(update, choose)

    bots = [Bot(timeline, seat, react) for seat in range(match.seats)]
    play_leg(match, 0, bots, timeline)
    return bots


def test_turns_are_numbered_by_seat() -> None:
    """The ids of a seat run from 1 without a gap, so they tell nothing of the other seat."""
    for bot in listen(spec(tables=4)):
        assert [turn.id for turn in bot.turns] == list(range(1, len(bot.turns) + 1))


def test_a_window_asks_everybody_and_a_forced_turn_nobody() -> None:
    """Who can only pass in a stop window is asked; who has one card to answer with is not."""
    turns = [turn for bot in listen(spec()) for turn in bot.turns]
    passes = [turn for turn in turns if turn.kind is TurnKind.STOP and len(turn.actions) == 1]
    assert passes
    assert all(len(turn.actions) > 1 for turn in turns if turn.kind is not TurnKind.STOP)


def test_a_closed_last_card_is_asked_for() -> None:
    """That a seat must lay its cards closed is its secret, so that it is asked all the same."""
    closed = RULES.replace(discards="closed_all")
    turns = [turn for bot in listen(spec(rules=closed), first) for turn in bot.turns]
    single = {turn.actions[0].kind for turn in turns if len(turn.actions) == 1}
    assert single == {ActionKind.PASS, ActionKind.HIDE}


@pytest.mark.parametrize("tables", [1, 3])
def test_every_event_is_told_once(tables: int) -> None:
    """The events of a deal's turns and its end are all that the seat may know, in order."""
    match = spec(tables=tables)
    for bot in listen(match):
        told: dict[int, list[object]] = {}
        for message in bot.messages:
            if isinstance(message, Goodbye):
                continue
            for over in message.deals_over:
                told.setdefault(over.deal, []).extend(over.events)
                told[over.deal].append("over")
            for turn in message.turns:
                told.setdefault(turn.deal, []).extend(turn.events)
        for result in play(match).legs[0].deals:
            *_, state = replay(match.rules, result)
            expected = [*events_for(state, bot.seat, 0), "over"]
            assert told[result.number] == expected
            assert EventKind.DEAL in {event.kind for event in events_for(state, bot.seat, 0)}


def test_the_end_of_a_deal_shows_what_was_captured_and_the_score() -> None:
    """DealOver carries all captured cards, the last trick and the score of the leg so far."""
    match = spec()
    bots = listen(match)
    overs = [over for message in bots[0].messages for over in getattr(message, "deals_over", ())]
    assert [over.deal for over in overs] == list(range(12))
    so_far = (Fraction(0), Fraction(0))
    for over, result in zip(overs, play(match).legs[0].deals, strict=True):
        *_, state = replay(match.rules, result)
        assert over.captured == tuple(state.captured)
        assert over.last_trick == tuple(state.table or state.last_trick)
        so_far = tuple(a + b for a, b in zip(so_far, over.deal_scores, strict=True))
        assert over.scores == so_far
    assert isinstance(bots[0].goodbye, Goodbye)
    assert bots[0].goodbye.scores == so_far


def test_nothing_is_sent_before_the_round_is_over() -> None:
    """A seat that answered early sees nothing new until the slow one has answered."""
    timeline = Timeline()
    sent: list[tuple[int, int]] = []

    def react(bot: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        sent.append((bot.seat, timeline.now))
        yield (1 if bot.seat == 0 else 50), answers(update, by_view)

    bots = [Bot(timeline, seat, react) for seat in range(2)]
    play_leg(spec(tables=4), 0, bots, timeline)
    times = [time for _, time in sent]
    assert times == sorted(times)
    rounds = sorted(set(times))
    assert all(
        later - earlier in (1 * MS, 50 * MS) for earlier, later in itertools.pairwise(rounds)
    )
    both = [time for time in rounds if times.count(time) == 2]
    assert all(rounds[rounds.index(time) + 1] - time == 50 * MS for time in both[:-1])


def test_who_is_sent_first_goes_round() -> None:
    """The order of sending depends on the number of the round, not on hands."""
    order: list[list[int]] = []

    class Noting(ScriptedPlayer):
        __slots__ = ("seat",)

        def prepare(self, message: Message) -> Callable[[], None]:
            send = super().prepare(message)
            if not isinstance(message, Update) or not message.turns:
                return send
            if not order or self.seat in order[-1] or sent:
                order.append([])
                sent.clear()

            def noted() -> None:
                sent.append(self.seat)
                order[-1].append(self.seat)
                send()

            return noted

    sent: list[int] = []
    inbox = Inbox()
    players = []
    for seat in range(2):
        players.append(Noting(by_view, seat, inbox))
        players[-1].seat = seat
    play_leg(spec(), 0, players, inbox)
    firsts = {tuple(each) for each in order if len(each) == 2}
    assert firsts == {(0, 1), (1, 0)}


@pytest.mark.parametrize(("name", "seats"), GAMES)
def test_every_variant_is_played_as_a_series(name: str, seats: int) -> None:
    """Legs of every variant with every number of seats come to an end, and to nothing in sum."""
    result = play(spec(variant=name, rules=VARIANTS[name], seats=seats, decks=3, tables=2))
    assert len(result.deals) == 3 * seats
    assert sum(result.totals) == 0
    assert not result.faults


@pytest.mark.parametrize(("name", "seats"), GAMES)
def test_every_variant_is_played_in_its_own_format(name: str, seats: int) -> None:
    """Deals that depend on each other are played at one table until the match is decided."""
    rules = VARIANTS[name].replace(max_deals=20)
    if rules.match_format == "series":
        rules = rules.replace(match_format="robber", robber_target=3)
    match = spec(variant=name, rules=rules, seats=seats, match_format="native")
    result = play(match)
    assert len(result.legs) == 1
    assert 1 <= len(result.deals) <= 20
    assert result.deck_scores() == (result.totals,)


def test_seats_that_leave_a_match_are_not_asked_again() -> None:
    """With elimination the deals go on among the seats that are left."""
    rules = RULES.replace(match_format="penalty", on_limit="eliminate", penalty_limit=4)
    match = spec(rules=rules, seats=3, match_format="native")
    result = play(match)
    sizes = [len(deal.playing) for deal in result.deals]
    assert sizes == sorted(sizes, reverse=True)
    assert set(sizes) == {3, 2}


def test_a_turn_tells_where_the_match_stands() -> None:
    """Where deals depend on each other a turn carries the tallies and who is still in."""
    rules = RULES.replace(match_format="penalty", on_limit="eliminate", penalty_limit=4)
    match = spec(rules=rules, seats=3, match_format="native")
    turns = [turn for bot in listen(match) for turn in bot.turns]
    standings = [turn.standing for turn in turns]
    assert all(standing is not None for standing in standings)
    assert {len(standing.playing) for standing in standings if standing} == {3, 2}
    assert any(max(standing.tallies) >= 2 for standing in standings if standing)
    assert all(turn.standing is None for bot in listen(spec()) for turn in bot.turns)


def test_a_bot_that_breaks_loses_a_match_of_dependent_deals() -> None:
    """Every deal left is lost, so the match comes to its end without asking anybody."""
    timeline = Timeline()
    rules = RULES.replace(match_format="penalty")

    def crash(bot: Bot, _: Update) -> Iterable[tuple[float, Choices | Fault]]:
        yield 1, Fault(FaultKind.CRASH, bot.seat, "")

    bots = [Bot(timeline, 0, good), Bot(timeline, 1, crash)]
    leg = play_leg(spec(rules=rules, match_format="native"), 0, bots, timeline)
    assert leg.scores == (1, -1)
    assert bots[1].rounds == 1
    assert all(deal.lost_by == (1,) for deal in leg.deals)


def test_a_leg_stays_within_its_budget() -> None:
    """Bots that use all their time in every move stay below what the budget says."""
    control = TimeControl(move_time_ms=100, bank_ms=1_000, increment_ms=5, startup_ms=1_000)
    match = spec(time_control=control, decks=3)
    timeline = Timeline()

    def slowly(_: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        assert update.clock is not None
        yield update.clock.time_left_us / 1_000, answers(update, first)

    before = timeline.now
    leg = play_leg(match, 0, [Bot(timeline, seat, slowly) for seat in range(2)], timeline)
    assert not leg.faults
    assert timeline.now - before < budget_ms(match) * MS


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"entrants": (Entrant("a"),)}, "1 entrants for 2 seats"),
        ({"seats": 6, "rules": VARIANTS["bura-5"]}, "cannot be played with 6 seats"),
        ({"decks": 0}, "at least 1"),
        ({"match_format": "native", "tables": 2}, "one table"),
    ],
)
def test_a_match_that_cannot_be_is_refused(changes: dict[str, object], words: str) -> None:
    """A description that does not fit together is refused in one line."""
    with pytest.raises(SpecError, match=words):
        spec(**changes)


@pytest.mark.parametrize("times", [(0, 0, 0, 1), (1, -1, 0, 1), (1, 0, -1, 1), (1, 0, 0, 0)])
def test_times_nobody_can_play_with_are_refused(times: tuple[int, int, int, int]) -> None:
    """No time at all and negative times are refused."""
    with pytest.raises(SpecError, match="must"):
        TimeControl(*times)
