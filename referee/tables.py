"""What follows from the rules alone, worked out once and looked up in every deal."""

import functools
from typing import TypeAlias

from referee import choices
from referee.actions import PASS
from referee.beating import Demands
from referee.cards import CARD_COUNT, Suit, is_end, suit_of
from referee.choices import Actions, Memo
from referee.combinations import Effect, Held, held_by_hand
from referee.options import Rules

Orders: TypeAlias = tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]
"""For each seat the active seats clockwise, from itself or else its next; and the next of each."""


class TrumpTables:
    """What follows from the rules and the trump suit.

    Attributes:
        trump: The trump suit, or None.
        end_turned: Whether the first card turned up was an ace or a ten.
        demands: What an answer needs to beat a set of cards.
        held: The combination of every hand that holds one with an effect.
        uncombined: Tells whether none of some hands is among those.
        undealt: Tells whether none of some hands, dealt, makes the cards be dealt again.
        stops: Whether any combination gives the right to stop.
        window_size: The size of the leader's hand with which all seats certainly are asked before a
            lead; None if there is no such size.
    """

    __slots__ = (
        "demands",
        "end_turned",
        "held",
        "stops",
        "trump",
        "uncombined",
        "undealt",
        "window_size",
    )

    def __init__(self, rules: Rules, trump: Suit | None, *, end_turned: bool) -> None:
        self.trump = trump
        self.end_turned = end_turned
        held = held_by_hand(rules, trump, end_turned=end_turned)
        self.demands = Demands(rules, trump)
        self.held: dict[int, Held] = {
            hand: each for hand, each in held.items() if each.effect is not Effect.NONE
        }
        self.uncombined = frozenset(self.held).isdisjoint
        self.undealt = frozenset(held if rules.dealt_combination == "redeal" else ()).isdisjoint
        self.stops = any(each.effect is Effect.STOPS for each in self.held.values())
        equal_hands = rules.short_stock == "set_aside"
        self.window_size = rules.hand_size if self.stops and equal_hands else None

    def beating(self, target: int, hand: int, answers: Memo) -> Actions:
        """Return those open answers that beat the target."""
        demands = self.demands
        if target.bit_count() == 1:
            ((able, _),) = demands[target]
            return answers[hand & able]
        return tuple([action for action in answers[hand] if demands.met(target, action.mask)])


class Tables:
    """What follows from the rules and the number of seats.

    Attributes:
        everyone: All seats as a bitmask.
        seats: How many seats there are.
        pairs: Sides are pairs of seats.
        target: The points that make a claim right.
        false_claim_weight: The weight of a false claim.
        open_hands: All hands lie face up.
        sides: For each seat the seats of its side as a bitmask.
        trumps: Tables for each trump suit (or None) and whether an end was turned.
        leads: What a seat due to lead may do, for each hand.
        leads_up_to: The same for the highest size of lead and then the hand.
        ordinary_leads: The same as leads_up_to without claims and offers.
        answers: The answers to a lead, for the size of the lead and then the hand; under closed_all
            without the open ones.
        open_answers: The open answers in the same way, whether they beat or not.
        claim_on_lead: A seat due to lead may claim instead.
        claim_on_turn: A seat asked to answer may claim instead.
        claim_on_taking: A taker may claim before it draws.
        claim_first: A claim of the seat due to lead is settled before combinations and stops.
        equal_hands: All seats always hold equally many cards.
        round_robin: Cards are drawn one at a time in turn, and only full rounds of them.
        simple_leads: A chosen lead is always played at once: no offers, raises or late claims.
        plain_indicator: The card turned up always goes face up under the stock.
        dealt: How many cards the hands take.
        dealing_orders: For each dealer the seats in the order in which they get the dealt cards.
        by_indicator: The tables for each card that may be turned up and is not put back.
        plain_answers: Every seat has cards to answer with, and may play any of them open.
        passes: The choices of seats asked to stop a lead that hold nothing to stop it with.
        nothing: The choices of all seats when none is asked.
        no_choices: What the seats chose when none has chosen.
        full_orders: The orders of all seats.
        uncapped: The smallest hand does not limit the lead.
        hand_size: The size of a full hand.
        taker_looks: The taker may look at closed cards.
        closed_all: Only beating answers may lie open.
        drawn_for: Who may see a drawn card, for each seat that draws it, as a bitmask.
    """

    __slots__ = (
        "_orders",
        "answers",
        "by_indicator",
        "claim_first",
        "claim_on_lead",
        "claim_on_taking",
        "claim_on_turn",
        "closed_all",
        "dealing_orders",
        "dealt",
        "drawn_for",
        "equal_hands",
        "everyone",
        "false_claim_weight",
        "full_orders",
        "hand_size",
        "leads",
        "leads_up_to",
        "no_choices",
        "nothing",
        "open_answers",
        "open_hands",
        "ordinary_leads",
        "pairs",
        "passes",
        "plain_answers",
        "plain_indicator",
        "round_robin",
        "rules",
        "seats",
        "sides",
        "simple_leads",
        "taker_looks",
        "target",
        "trumps",
        "uncapped",
    )

    def __init__(self, rules: Rules, seats: int) -> None:
        rules.check_seats(seats)
        self.rules = rules
        self.seats = seats
        self.everyone = (1 << seats) - 1
        self.sides = tuple(
            0b0101 << seat % 2 if rules.sides == "pairs" else 1 << seat for seat in range(seats)
        )
        self._orders: dict[int, Orders] = {}
        self.full_orders = self.orders(self.everyone)
        self.passes: list[Actions] = [(PASS,)] * seats
        self.nothing: list[Actions] = [()] * seats
        self.no_choices = [PASS] * seats
        trumps: list[Suit | None] = [None] if rules.trump == "none" else [0, 1, 2, 3]
        self.trumps = {
            (trump, end): TrumpTables(rules, trump, end_turned=end)
            for trump in trumps
            for end in (False, True)
        }
        self.by_indicator = tuple(
            self.trumps[suit_of(card) if rules.trump == "indicator" else None, is_end(card)]
            for card in range(CARD_COUNT)
        )
        self._work_out_actions(rules)
        self._work_out_switches(rules, seats)

    def _work_out_actions(self, rules: Rules) -> None:
        caps = range(1, rules.hand_size + 1)
        self.leads_up_to = {cap: choices.leads(rules, cap) for cap in caps}
        self.leads = self.leads_up_to[rules.hand_size]
        self.ordinary_leads = {cap: choices.ordinary_leads(rules, cap) for cap in caps}
        self.answers = {size: choices.answers(rules, size) for size in caps}
        self.open_answers = {size: choices.open_answers(size) for size in caps}

    def _work_out_switches(self, rules: Rules, seats: int) -> None:
        claims = rules.goal == "claim"
        self.claim_on_lead = claims and rules.claim_window != "after_taking"
        self.claim_on_turn = claims and rules.claim_window == "on_any_turn"
        self.claim_on_taking = claims and rules.claim_window == "after_taking"
        self.claim_first = self.claim_on_lead and rules.claim_vs_combination == "claim_first"
        self.equal_hands = rules.short_stock == "set_aside"
        self.round_robin = self.equal_hands and rules.draw_order == "round_robin"
        self.simple_leads = (
            rules.same_rank_leads == "no"
            and rules.raise_ == "no"
            and (self.claim_first or not self.claim_on_lead)
        )
        self.uncapped = self.equal_hands or rules.short_hand == "give_all"
        self.hand_size = rules.hand_size
        self.pairs = rules.sides == "pairs"
        self.target = rules.target
        self.false_claim_weight = 1 if rules.false_claim == "lose" else 2
        self.open_hands = rules.hands == "open"
        self.dealt = seats * rules.hand_size
        self.dealing_orders = tuple(
            tuple((dealer + 1 + place) % seats for place in range(self.dealt))
            for dealer in range(seats)
        )
        self.plain_indicator = (rules.trump, rules.indicator, rules.end_indicator) == (
            "indicator",
            "bottom",
            "keep",
        )
        self.taker_looks = rules.discards == "taker_looks"
        self.closed_all = rules.discards == "closed_all"
        self.plain_answers = self.equal_hands and not self.closed_all
        self.drawn_for = tuple(
            self.everyone if rules.hands == "open" else 1 << seat for seat in range(seats)
        )

    def orders(self, active: int) -> Orders:
        """Return the clockwise orders of the active seats."""
        orders = self._orders.get(active)
        if orders is None:
            seats = self.everyone.bit_length()
            clockwise = tuple(
                tuple(
                    seat
                    for seat in ((first + step) % seats for step in range(seats))
                    if active >> seat & 1
                )
                for first in range(seats)
            )
            after = tuple(clockwise[(seat + 1) % seats][0] for seat in range(seats))
            orders = self._orders[active] = clockwise, after
        return orders


@functools.lru_cache(maxsize=128)
def tables_for(rules: Rules, seats: int) -> Tables:
    """Return the tables of these rules for so many seats.

    Raises:
        RulesError: The rules are not for so many seats.
    """
    return Tables(rules, seats)
