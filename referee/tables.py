"""What follows from the rules alone, worked out once and looked up in every deal."""

import functools
import itertools
from collections.abc import Callable
from typing import Final, TypeAlias

from referee.actions import CLAIM, PASS, Action, ActionKind
from referee.beating import Demands
from referee.cards import CARD_COUNT, RANK_MASKS, SUIT_MASKS, Cards, Suit, is_end, suit_of
from referee.combinations import Effect, Held, held_by_hand
from referee.options import Rules

Actions: TypeAlias = tuple[Action, ...]

Orders: TypeAlias = tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]
"""For each seat the active seats clockwise, from itself or else its next; and the next of each."""

_MEMO_LIMIT: Final = 100_000
_OFFER_SIZES: Final = (2, 3, 4)


class Memo(dict[int, Actions]):
    """The legal actions for each hand, worked out when they are first asked for."""

    __slots__ = ("_work_out",)

    def __init__(self, work_out: Callable[[int], Actions]) -> None:
        super().__init__()
        self._work_out = work_out

    def __missing__(self, hand: int) -> Actions:
        if len(self) >= _MEMO_LIMIT:
            self.clear()
        self[hand] = actions = self._work_out(hand)
        return actions


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
        plain_window: Whether one does, and all hands are always equally full.
    """

    __slots__ = (
        "_closed_plays",
        "demands",
        "end_turned",
        "held",
        "plain_window",
        "stops",
        "trump",
        "uncombined",
        "undealt",
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
        self.plain_window = self.stops and rules.short_stock == "set_aside"
        self._closed_plays: dict[tuple[int, Actions], Actions] = {}

    def closed_plays(self, actions: Actions, target: int) -> Actions:
        """Leave out of the answers those that lay cards open that do not beat the target."""
        allowed = self._closed_plays.get((target, actions))
        if allowed is None:
            if len(self._closed_plays) >= _MEMO_LIMIT:
                self._closed_plays.clear()
            allowed = tuple(
                action
                for action in actions
                if action.kind is not ActionKind.PLAY or self.demands.met(target, action.mask)
            )
            self._closed_plays[target, actions] = allowed
        return allowed


class Tables:
    """What follows from the rules and the number of seats.

    Attributes:
        everyone: All seats as a bitmask.
        seats: How many seats there are.
        pairs: Sides are pairs of seats.
        target: The points that make a claim right.
        false_claim_weight: The weight of a false claim.
        open_hands: All hands lie face up.
        plain_opening: No lead is capped, and all hands are equally full.
        sides: For each seat the seats of its side as a bitmask.
        trumps: Tables for each trump suit (or None) and whether an end was turned.
        leads: What a seat due to lead may do, for each hand.
        leads_up_to: The same for the highest size of lead and then the hand.
        ordinary_leads: The same as leads_up_to without claims and offers.
        plays: The answers to a lead, for the size of the lead and then the hand.
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
        plain_taking: Nothing is asked or shown between taking a trick and drawing.
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
        "open_hands",
        "ordinary_leads",
        "pairs",
        "passes",
        "plain_answers",
        "plain_indicator",
        "plain_opening",
        "plain_taking",
        "plays",
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
        self.leads_up_to = {cap: Memo(functools.partial(_leads, rules, cap)) for cap in caps}
        self.leads = self.leads_up_to[rules.hand_size]
        self.ordinary_leads = {
            cap: Memo(functools.partial(ordinary_leads, rules, cap)) for cap in caps
        }
        self.plays = {size: Memo(functools.partial(_plays, rules, size)) for size in caps}

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
        self.plain_opening = self.equal_hands
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
        self.plain_taking = not (self.taker_looks or self.claim_on_taking)
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


def subsets(cards: int, size: int) -> list[int]:
    """Return all sets of that many of the cards, in the order of their lowest cards."""
    bits = [1 << card for card in Cards(cards)]
    return list(map(sum, itertools.combinations(bits, size)))


# The parts of a hand in one suit or of one rank are few, hands are many: so what may be done with
# a hand that was not seen before is put together from what may be done with its parts.


@functools.cache
def _actions(kind: ActionKind, sizes: tuple[int, ...], part: int) -> Actions:
    """Return what may be done with sets of these sizes from a part of a hand."""
    return tuple(Action.of(kind, cards) for size in sizes for cards in subsets(part, size))


def ordinary_leads(rules: Rules, cap: int, hand: int) -> Actions:
    """Return the leads of one suit, of the sizes that the rules allow up to the cap."""
    sizes = tuple(size for size in rules.lead_sizes if size <= cap)
    return sum((_actions(ActionKind.LEAD, sizes, hand & suit) for suit in SUIT_MASKS), ())


def _leads(rules: Rules, cap: int, hand: int) -> Actions:
    actions = ordinary_leads(rules, cap, hand)
    if rules.same_rank_leads == "ask":
        sizes = tuple(size for size in _OFFER_SIZES if size <= cap)
        for rank in RANK_MASKS:
            actions += _actions(ActionKind.OFFER, sizes, hand & rank)
    if rules.goal == "claim" and rules.claim_window != "after_taking":
        actions += (CLAIM,)
    return actions


def _plays(rules: Rules, size: int, hand: int) -> Actions:
    kinds = [ActionKind.PLAY] if rules.discards == "open" else [ActionKind.PLAY, ActionKind.HIDE]
    actions: Actions = ()
    for kind in kinds:
        if size == 1:
            actions += sum((_actions(kind, (1,), hand & suit) for suit in SUIT_MASKS), ())
        else:
            cards = subsets(hand, min(size, hand.bit_count()))
            actions += tuple(Action.of(kind, chosen) for chosen in cards)
    if rules.goal == "claim" and rules.claim_window == "on_any_turn":
        actions += (CLAIM,)
    return actions
