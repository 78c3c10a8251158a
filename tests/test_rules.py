import dataclasses
import json
import pickle
import random
from typing import Any

import pytest
from positions import deck_of, endgame, options, play, position
from sources import RandomSource

from referee.cards import Cards
from referee.options import OPTIONS, choices_of
from referee.rules import (
    Action,
    ActionError,
    ActionKind,
    Combination,
    FixedSource,
    IllegalActionError,
    Reason,
    Rules,
    RulesError,
    TurnKind,
    deal,
    fault_outcome,
    highest_weight,
)
from referee.variants import VARIANTS

BURA, BASIC, DAVE = VARIANTS["bura"], VARIANTS["bura-basic"], VARIANTS["bura-dave"]
QUIET = Rules(combinations=(), dealt_combination="stands")
"""Three-card games without combinations, for rulings on one option at a time."""


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"deck": 40}, "deck=40"),
        ({"hand_size": 6}, "hand_size=6"),
        ({"false_claim": "shrug"}, "expected one of lose, lose_double, double_bank"),
        ({"target": 0}, "at least 1"),
        ({"ante": True}, "ante=True"),
        ({"lead_sizes": (2, 3)}, "add 1"),
        ({"lead_sizes": (1, 4)}, "lead_sizes"),
        ({"lead_sizes": (2, 1)}, "ascending"),
        ({"players": ()}, "players"),
        ({"combinations": ("flush",)}, "no combination 'flush'"),
        ({"combinations": ("bura", "bura")}, "listed twice"),
        ({"combinations": ("golden_moscow",)}, "hand_size"),
        ({"players": (8,), "hand_size": 5}, "more cards than the deck has"),
        ({"players": (12,)}, "players"),
        ({"trump": "none"}, "without trumps"),
        ({"trump": "none", "combinations": (), "end_indicator": "bury"}, "without trumps"),
        ({"trump": "none", "combinations": (), "first_lead": "colour_guess"}, "without trumps"),
        (
            {"trump": "none", "combinations": ("moscow",), "moscow": "with_trump_ace"},
            "without trumps",
        ),
        ({"trump": "none", "combinations": ("little_moscow",)}, "without trumps"),
        ({"trump": "none", "combinations": ("moscow",), "hand_size": 4}, "without trumps"),
        ({"deck": 32, "combinations": ("little_moscow",)}, "no sixes"),
        ({"goal": "points", "final_claim": "no"}, "nobody claims"),
        ({"goal": "points", "raise_": "dave"}, "dave"),
        ({"sides": "pairs"}, "two pairs"),
        ({"match_format": "eyes", "goal": "points"}, "sides=pairs and deck=32"),
        ({"match_format": "burkozyol_double"}, "goal=points"),
        ({"trumps": "none"}, "no option 'trumps'"),
    ],
)
def test_impossible_rules_are_refused_with_the_reason(changes: dict[str, Any], reason: str) -> None:
    """Options that cannot be played together raise, and the message says why."""
    with pytest.raises(RulesError, match=reason):
        Rules().replace(**changes)


def test_rules_survive_json_and_processes() -> None:
    """Every variant comes back equal from JSON and from a pickle."""
    for rules in VARIANTS.values():
        plain = json.loads(json.dumps(rules.to_dict()))
        assert Rules.from_dict(plain) == rules
        assert hash(Rules.from_dict(plain)) == hash(rules)
        assert pickle.loads(pickle.dumps(rules)) == rules  # noqa: S301 - our own bytes


def test_the_first_value_of_an_option_is_its_default() -> None:
    """Rules without arguments take the first value of each option."""
    defaults = {field.name: field.default for field in dataclasses.fields(Rules)}

    for option in OPTIONS:
        if choices_of(option):
            assert choices_of(option)[0] == defaults[option]


def test_a_number_of_seats_outside_the_rules_is_refused() -> None:
    """bura-5 is for two."""
    with pytest.raises(RulesError, match="3 seats: this game is played by 2"):
        deal(VARIANTS["bura-5"], seats=3, dealer=0, source=FixedSource([]))


@pytest.mark.parametrize("text", ["lead", "claim 6S", "sing", "", "play 6S 6S", "lead XX"])
def test_what_is_no_action_is_refused(text: str) -> None:
    """A text that names no action raises."""
    with pytest.raises(ValueError, match=r"action|card"):
        Action.parse(text)


def test_an_action_tells_kind_and_cards() -> None:
    """An action reads as kind and cards, prints in ascending order and is what it prints."""
    action = Action.parse("lead TS 8S")

    assert (action.kind, action.cards) == (ActionKind.LEAD, Cards.parse("8S TS"))
    assert repr(action) == "Action.parse('lead 8S TS')"
    assert issubclass(ActionError, ValueError)


@pytest.mark.parametrize("choice", ["0 lead 9S", "0 play 6C", "1 pass", "0 pass"])
def test_an_illegal_choice_is_refused_and_changes_nothing(choice: str) -> None:
    """A choice that is not among the legal ones of an asked seat raises."""
    state = position(QUIET, "6C 7D 8S", "7C 8D 9S")
    before = options(state, 0)

    with pytest.raises(IllegalActionError, match="may not"):
        play(state, choice)
    assert options(state, 0) == before


def test_leads_are_of_one_suit() -> None:
    """The leader may play one to three cards of one suit, or claim."""
    state = position(QUIET, "6C 8C 8S", "7C 8D 9S")

    assert options(state, 0) == {"lead 6C", "lead 8C", "lead 8S", "lead 6C 8C", "claim"}


def test_an_answer_is_any_set_of_as_many_cards() -> None:
    """There is no duty to follow suit or to beat."""
    state = play(position(QUIET, "6C 8C 8S", "7C 8D 9S"), "0 lead 6C 8C")

    assert options(state, 1) == {"play 7C 8D", "play 7C 9S", "play 8D 9S"}


def test_closed_optional_lets_any_answer_lie_closed() -> None:
    """Each set may be laid open or closed, and a closed one never beats."""
    rules = QUIET.replace(discards="closed_optional")
    state = play(position(rules, "6C 8C 8S", "7C 8D 9S"), "0 lead 6C")
    assert options(state, 1) == {
        f"{how} {card}" for how in ("play", "hide") for card in ("7C", "8D", "9S")
    }
    play(state, "1 hide 7C")

    assert state.last_taker == 0


def test_closed_all_lets_only_beating_answers_lie_open() -> None:
    """What does not beat lies closed; what beats may."""
    rules = QUIET.replace(discards="closed_all")
    state = play(position(rules, "6C 8C 8S", "7C 8D 9S"), "0 lead 6C")

    assert options(state, 1) == {"play 7C", "hide 7C", "hide 8D", "hide 9S"}


def test_draws_go_round_from_the_taker() -> None:
    """The taker draws first, then clockwise, one card at a time."""
    state = position(QUIET, "6C 8C 8S", "7C 9C 9S", then="AC AD TC TD")
    play(state, "0 lead 6C 8C", "1 play 7C 9C")

    assert str(Cards(state.hands[1])) == "TC AC 9S"
    assert str(Cards(state.hands[0])) == "TD AD 8S"


def test_fill_in_turn_fills_the_taker_first() -> None:
    """Under fill_in_turn the taker draws all its cards before the next."""
    rules = QUIET.replace(draw_order="fill_in_turn")
    state = position(rules, "6C 8C 8S", "7C 9C 9S", then="AC AD TC TD")
    play(state, "0 lead 6C 8C", "1 play 7C 9C")

    assert str(Cards(state.hands[1])) == "AC AD 9S"


def test_the_indicator_is_drawn_last_or_first() -> None:
    """At the bottom it is the last card of the stock, on top the first; shuffled anywhere."""
    hands = ("6C 7D 8S", "7C 8D 9S")
    bottom = position(QUIET, *hands)
    top = position(QUIET.replace(indicator="top"), *hands)
    shuffled = position(QUIET.replace(indicator="shuffled"), *hands, indexes={"bury": [4]})

    six = next(iter(Cards.parse("6H")))
    assert (bottom.stock.index(six), top.stock.index(six), shuffled.stock.index(six)) == (29, 0, 4)
    assert (bottom.indicator, top.indicator, shuffled.indicator) == (six, six, None)


def test_a_stock_of_ends_only_is_dealt_again() -> None:
    """Under redraw a deal whose undealt cards are nothing but ends is dealt again."""
    rules = QUIET.replace(players=(11,), end_indicator="redraw")
    low = [card for card in range(36) if card % 9 < 7]
    ends = [card for card in range(36) if card % 9 >= 7]
    first = [*low, *ends]
    second = [*ends, *low]
    state = deal(rules, seats=11, dealer=0, source=FixedSource([first, second]))

    assert state.indicator == second[33]


def test_high_card_cuts_again_on_equal_ranks() -> None:
    """Each seat cuts; those level at the top cut again, and the highest leads."""
    rules = BASIC.replace(first_lead="high_card")
    deck = deck_of(rules, ("6C 7D 8S", "7C 8D 9S"), dealer=1, turned="6H")
    source = FixedSource([deck], {"cut": [8, 17, 0, 1]})
    state = deal(rules, seats=2, dealer=1, source=source)

    assert state.leader == 1


@pytest.mark.parametrize(("guess", "leader"), [("red", 1), ("black", 0)])
def test_colour_guess(guess: str, leader: int) -> None:
    """The seat by lot leads if it names the trump's colour, else the next does."""
    rules = BASIC.replace(first_lead="colour_guess")
    deck = deck_of(rules, ("6C 7D 8S", "7C 8D 9S"), dealer=1, turned="6H")
    state = deal(rules, seats=2, dealer=1, source=FixedSource([deck], {"lot": [1]}))
    assert state.kind_of_turn(1) is TurnKind.COLOUR
    play(state, f"1 {guess}")

    assert (state.leader, state.first_leader) == (leader, leader)


def test_a_claim_on_any_turn_leaves_the_table_out() -> None:
    """Instead of answering a seat may claim; the cards on the table do not count."""
    rules = QUIET.replace(claim_window="on_any_turn")
    state = position(rules, "6C 7D AS", "7C 8D 9S", captured=["", "TC TD TS"])
    play(state, "0 lead AS", "1 claim")

    assert state.outcome is not None
    assert state.outcome.reason is Reason.FALSE_CLAIM


def test_a_claim_after_taking_comes_before_the_draw() -> None:
    """The taker is asked before cards are drawn, and may not claim instead of leading."""
    rules = QUIET.replace(claim_window="after_taking")
    state = position(rules, "6C 7D AS", "7C 8D 9S", captured=["TC TD", ""])
    assert "claim" not in options(state, 0)
    play(state, "0 lead AS", "1 play 9S")
    assert (state.kind_of_turn(0), state.hands[0].bit_count()) == (TurnKind.TAKEN, 2)
    play(state, "0 claim")

    assert state.outcome is not None
    assert state.outcome.winners == (0,)


def test_a_claim_ends_the_window_for_all() -> None:
    """Once the seat due to lead claims, nobody else is asked any more."""
    state = position(BURA, "6C 7D 8S", "7C 8D 9S", captured=["AS TS TD"])
    assert state.asked == (0, 1)
    play(state, "0 claim")

    assert not state.asked
    assert not state.legal_actions(1)


def test_combination_first_lets_a_stop_displace_a_claim() -> None:
    """Where combinations go first, a stop that counts drops the claim unseen."""
    rules = BURA.replace(claim_vs_combination="combination_first", dealt_combination="stands")
    state = position(rules, "6C 7D 8S", "7S 9S TS", turned="8H", captured=["AS"])
    play(state, "0 claim", "1 stop 7S 9S TS")

    assert (state.outcome, state.leader) == (None, 1)


def test_a_silent_stronger_combination_blocks_a_stop_where_held() -> None:
    """A little moscow held in silence voids a molodka's stop, and nobody is named."""
    rules = BURA.replace(stop_block="held", dealt_combination="stands")
    hands = ("6C 6D 6H", "7S 9S TS")
    held = play(position(rules, *hands, turned="8H"), "0 lead 6C", "1 stop 7S 9S TS")
    declared = rules.replace(stop_block="declared")
    counted = play(position(declared, *hands, turned="8H"), "0 lead 6C", "1 stop 7S 9S TS")

    assert (held.leader, counted.leader) == (0, 1)


def test_a_short_hand_gives_all_and_cannot_beat() -> None:
    """Two cards led against one: the one is played whole and does not beat."""
    rules = QUIET.replace(short_stock="deal_out")
    state = endgame(rules, "6S 7S", "AS", captured=["", ""])
    play(state, "0 lead 6S 7S")
    assert options(state, 1) == {"play AS"}
    play(state, "1 play AS")

    assert state.last_taker == 0


def test_cap_lead_keeps_leads_to_the_smallest_hand() -> None:
    """With one card in the smallest hand only leads of one card are legal."""
    rules = QUIET.replace(short_stock="deal_out", short_hand="cap_lead")
    state = endgame(rules, "6S 7S", "AS", captured=["", ""])

    assert options(state, 0) == {"lead 6S", "lead 7S", "claim"}


def test_a_leader_without_cards_is_passed_over() -> None:
    """The lead goes to the next seat clockwise that has cards."""
    rules = QUIET.replace(short_stock="deal_out")
    state = endgame(rules, "AS", "7S", "8C 9C", captured=["", "", ""])
    play(state, "0 lead AS", "1 play 7S", "2 play 8C")

    assert (state.last_taker, state.leader) == (0, 2)


def test_leftover_points_go_to_the_last_taker_or_nobody() -> None:
    """Cards that were never drawn count for the last taker unless the rules say nobody."""
    totals = {}
    for whom in ("last_taker", "nobody"):
        rules = VARIANTS["kozel"].replace(leftover_points=whom)
        state = endgame(rules, "6S", "7S", captured=["AC", "AD"], leftover="AS")
        play(state, "0 lead 6S", "1 play 7S")
        assert state.outcome is not None
        totals[whom] = state.outcome.points

    assert totals == {"last_taker": (11, 22), "nobody": (11, 11)}


@pytest.mark.parametrize(
    ("tie", "winners", "losers"),
    [
        ("zero_each", (0, 1), ((2, 1),)),
        ("two_each", (), ((0, 1), (1, 1), (2, 1))),
        ("draw", (), ()),
        ("split", (0, 1), ((2, 1),)),
    ],
)
def test_some_seats_level_at_the_top(
    tie: str, winners: tuple[int, ...], losers: tuple[tuple[int, int], ...]
) -> None:
    """A partial tie at the top is settled by top_tie."""
    rules = VARIANTS["kozel"].replace(top_tie=tie)
    state = endgame(rules, "6S", "7H", "8S", captured=["AC", "AD", "TC"])
    play(state, "0 lead 6S", "1 play 7H", "2 play 8S")

    assert state.outcome is not None
    assert (state.outcome.winners, state.outcome.losers) == (winners, losers)


def test_kozel_shares_the_win_if_all_are_level() -> None:
    """With top_tie split all seats level win together."""
    state = endgame(VARIANTS["kozel"], "6S", "7H", captured=["AC", "AD"])
    play(state, "0 lead 6S", "1 play 7H")

    assert state.outcome is not None
    assert (state.outcome.reason, state.outcome.winners) == (Reason.MOST_POINTS, (0, 1))


def test_without_a_claim_most_points_may_win() -> None:
    """no_claim=most_points settles an unclaimed deal on points, equal tops as a draw."""
    rules = QUIET.replace(no_claim="most_points", final_claim="no")
    won = play(endgame(rules, "6S", "7S", captured=["AC TC", "AD"]), "0 lead 6S", "1 play 7S")
    level = play(endgame(rules, "6S", "7S", captured=["AC", "AD"]), "0 lead 6S", "1 play 7S")

    assert won.outcome is not None
    assert level.outcome is not None
    assert (won.outcome.reason, won.outcome.winners) == (Reason.MOST_POINTS, (0,))
    assert (level.outcome.reason, level.outcome.losers) == (Reason.DRAW, ())


def test_a_refused_offer_leaves_ordinary_leads() -> None:
    """After a refusal the leader leads cards of one suit; no second offer, no window."""
    state = position(VARIANTS["burkozyol-same-rank"], "8C 8D 8S 7C", "9C 6H JS 7D", turned="9H")
    play(state, "0 offer 8C 8D 8S", "1 pass")
    assert state.kind_of_turn(1) is TurnKind.OFFER
    play(state, "1 refuse")

    assert state.asked == (0,)
    assert {text.split()[0] for text in options(state, 0)} == {"lead"}


def test_a_raise_is_answered_clockwise_and_who_declines_is_out() -> None:
    """With three seats the others answer in turn; who declines pays and plays no more."""
    state = position(DAVE, "6C 8D 9S", "7C 9D JS", "8C JD QS")
    play(state, "0 lead 6C", "1 pass", "2 pass", "0 raise", "1 accept", "2 decline")
    assert (state.stake, state.hands[2], state.asked) == (2, 0, (1,))
    play(state, "1 play 7C", "1 lead 9D", "0 pass")
    assert options(state, 1) == {"pass", "raise"}
    play(state, "1 raise", "0 decline")

    assert state.outcome is not None
    assert (state.outcome.winners, state.outcome.losers) == ((1,), ((0, 2), (2, 1)))


def test_who_raised_last_may_not_raise_next() -> None:
    """After its accepted raise a seat is not asked again before its next lead."""
    state = position(DAVE, "AC 8D 9S", "7C 9D JS")
    play(state, "0 lead AC", "1 pass", "0 raise", "1 accept", "1 play 7C", "0 lead 8D", "1 pass")

    assert state.kind_of_turn(state.asked[0]) is TurnKind.RESPOND


def test_pairs_count_their_cards_together() -> None:
    """A claim counts the captured cards of both partners, and both win."""
    rules = BASIC.replace(players=(4,), sides="pairs")
    hands = ("6C 7D 8S", "7C 8D 9S", "8C 9D JS", "9C JD QS")
    state = position(rules, *hands, captured=["AC", "", "TD TC", ""])
    play(state, "0 claim")

    assert state.outcome is not None
    assert (state.outcome.winners, state.outcome.losers) == ((0, 2), ((1, 1), (3, 1)))


def test_a_false_claim_of_three_costs_the_claimant_only() -> None:
    """With three seats only the claimant loses."""
    state = position(BASIC, "6C 7D 8S", "7C 8D 9S", "8C 9D JS")
    play(state, "0 claim")

    assert state.outcome is not None
    assert (state.outcome.winners, state.outcome.losers) == ((1, 2), ((0, 1),))


@pytest.mark.parametrize(
    ("name", "weight"),
    [
        ("bura", 2),
        ("bura-basic", 1),
        ("bura-bank", 2),
        ("bura-dave", 12),
        ("bura-5", 1),
        ("burkozyol", 2),
        ("burkozyol-by", 3),
        ("burkozyol-eyes", 4),
        ("kozel", 1),
    ],
)
def test_a_fault_costs_the_highest_weight(name: str, weight: int) -> None:
    """A fault is never cheaper than the worst loss of the variant."""
    rules = VARIANTS[name]
    seats = rules.players[0]
    state = deal(rules, seats=seats, dealer=0, source=_source(rules))
    outcome = fault_outcome(state, 1)

    assert highest_weight(rules) == weight
    assert outcome.reason is Reason.FAULT
    assert dict(outcome.losers)[1] == weight
    assert 1 not in outcome.winners


def _source(rules: Rules) -> RandomSource:
    return RandomSource(random.Random(3), rules.deck)


def test_bura_32_has_no_sixes() -> None:
    """The combinations of a deck of 32 are made of its cards."""
    rules = VARIANTS["bura-32"]
    state = deal(rules, seats=2, dealer=0, source=_source(rules))

    assert Combination.MOLODKA in rules.combinations
    assert len(state.stock) == 26
