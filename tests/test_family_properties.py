import random

from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.cases import random_rules
from sources import RandomSource

from referee.cards import mask_of, points
from referee.rules import ActionKind, Outcome, Rules, State, deal, fault_outcome, highest_weight
from referee.scoring import score_deal_series
from referee.variants import VARIANTS

ALL_POINTS = 120
GAMES = [(rules, seats) for rules in VARIANTS.values() for seats in rules.players]

games = st.one_of(st.sampled_from(GAMES), st.integers(0, 10_000).map(str).map(random_rules))
seeds = st.integers(min_value=0, max_value=2**32)


def played(rules: Rules, seats: int, seed: int) -> tuple[State, Outcome]:
    """Play a deal by chance to its end, and ask on the way who may do something."""
    chance = random.Random(seed)
    state = deal(rules, seats=seats, dealer=0, source=RandomSource(chance, rules.deck))
    while state.outcome is None:
        acting = [seat for seat in range(seats) if state.legal_actions(seat)]
        assert tuple(acting) == state.asked != ()
        seat = chance.choice(acting)
        actions = state.legal_actions(seat)
        quiet = [action for action in actions if action.kind is not ActionKind.CLAIM] or actions
        state.apply(seat, chance.choice(quiet if chance.random() < 0.97 else actions))
    return state, state.outcome


@settings(max_examples=200, deadline=None)
@given(games, seeds)
def test_somebody_may_act_exactly_until_the_end(game: tuple[Rules, int], seed: int) -> None:
    """The asked seats are those with legal actions, some until the deal ends and none after."""
    rules, seats = game
    state, _ = played(rules, seats, seed)
    assert state.asked == ()
    assert not any(state.legal_actions(seat) for seat in range(seats))


@settings(max_examples=200, deadline=None)
@given(games, seeds)
def test_all_points_of_the_deck_are_somewhere(game: tuple[Rules, int], seed: int) -> None:
    """Captured points and those left in hands, stock and on the table are 120 together."""
    rules, seats = game
    state, outcome = played(rules, seats, seed)
    left = points(mask_of(state.stock))
    left += sum(points(cards) for _, cards, _, _ in state.table)
    in_hands = sum(map(points, state.hands))
    everybody_stayed = state.active == (1 << seats) - 1
    if everybody_stayed:
        assert sum(outcome.points) + left + in_hands == ALL_POINTS
    if rules.goal == "points" and outcome.reason.value == "most_points":
        kept = rules.leftover_points == "last_taker"
        assert sum(outcome.points) == ALL_POINTS - (0 if kept else left)


@settings(max_examples=200, deadline=None)
@given(games, seeds)
def test_what_some_win_in_a_series_others_lose(game: tuple[Rules, int], seed: int) -> None:
    """The scores of a deal sum to 0, those of a fault too, and a fault costs the most."""
    rules, seats = game
    state, outcome = played(rules, seats, seed)
    assert sum(score_deal_series(rules, seats, outcome)) == 0
    at_fault = next(seat for seat in range(seats) if state.active >> seat & 1)
    fault = fault_outcome(state, at_fault)
    assert sum(score_deal_series(rules, seats, fault)) == 0
    assert dict(fault.losers)[at_fault] == highest_weight(rules)
    assert all(weight <= highest_weight(rules) for _, weight in outcome.losers)
