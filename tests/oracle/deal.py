"""Parts 2 to 8: one deal, from the deck to its outcome.

The deal stands still while seats are asked. `phase` says what they are asked:

guess         a colour for the first lead              red, black
window        before the lead, all at the same moment  lead, offer, claim; stop, pass
raise         whoever is about to lead, with dave      raise, pass
raise_answer  the others to a raise                    accept, decline, raise
offer         the left neighbour to an offer           accept, refuse
lead          an ordinary lead, without a window       lead
respond       the others to a lead                     play, hide, claim
taken         the taker before the draw                claim, pass
final         the last taker                           claim, pass
over          nobody
"""

from collections.abc import Iterable
from itertools import combinations as choices
from typing import Any

from oracle import dealing, ending, taking
from oracle.cards import RANKS, SUITS, covers, in_order
from oracle.combinations import best_holder, best_stop, combination, combination_effects
from oracle.knowledge import happened, knowledge
from oracle.sources import FixedSource, Source

HIGHEST_STAKE = 6


class Deal:
    """One deal; made by `deal` or `position` below."""

    def __init__(self, options: dict[str, Any], seats: int, dealer: int, source: Source) -> None:
        self.options = options
        self.seats = seats
        self.dealer = dealer
        self.source = source
        self.void_allowed = True

        self.hands: list[list[str]] = [[] for _ in range(seats)]
        self.stock: list[str] = []  # the top card first
        self.trump: str | None = None
        self.indicator: str | None = None
        self.indicator_place: str | None = None  # bottom, top, shuffled, drawn
        self.turned_ends: list[str] = []

        self.phase = "over"
        self.waiting: list[int] = []
        self.answers: dict[int, str] = {}  # in the window, unseen until all have answered
        self.first_leader: int | None = None
        self.leader: int | None = None
        self.about_to_lead: tuple[str, list[str]] = ("lead", [])

        self.table: list[dict[str, Any]] = []  # seat, cards, face (up or down), beats
        self.to_respond: list[int] = []
        self.captured: list[list[str]] = [[] for _ in range(seats)]
        self.tricks = [0] * seats
        self.last_taker: int | None = None

        self.who_saw: dict[str, list[int]] = {}  # seats that saw a card on the table
        self.shown_in_hand: dict[str, int] = {}  # a drawn indicator and who holds it
        self.events: list[dict[str, Any]] = []

        self.stake = 1
        self.raised_to = 1
        self.last_raiser: int | None = None
        self.declined: dict[int, int] = {}  # seats out of the deal and what they pay
        self.removed: dict[int, list[str]] = {}  # their captured cards, out of play
        self.result: dict[str, Any] | None = None

    # What anybody may ask.

    def asked(self) -> list[int]:
        """Give the seats that must choose now."""
        return sorted(self.waiting)

    def outcome(self) -> dict[str, Any] | None:
        """Part 9: reason, winners, losers with weights, points; none while the deal goes on."""
        return self.result

    def knowledge(self, seat: int) -> dict[str, Any]:
        """Say what this seat may know; see knowledge.py."""
        return {**knowledge(self, seat), "events": happened(self, seat)}

    def legal(self, seat: int) -> list[str]:
        """Give the actions open to this seat; none if it is not asked."""
        if seat not in self.waiting:
            return []
        if self.phase == "window":
            return self.leads_in_window(seat) if seat == self.leader else self.stops(seat)
        if self.phase == "lead":
            return self.ordinary_leads(seat)
        if self.phase == "respond":
            return self.responses(seat)
        if self.phase == "raise_answer":
            more = ["raise"] if self.raised_to < HIGHEST_STAKE else []
            return ["accept", "decline", *more]
        return {
            "guess": ["red", "black"],
            "raise": ["raise", "pass"],
            "offer": ["accept", "refuse"],
            "taken": ["claim", "pass"],
            "final": ["claim", "pass"],
        }[self.phase]

    def apply(self, seat: int, text: str) -> None:
        """Take the choice of an asked seat; the deal moves on when all have chosen."""
        if text not in self.legal(seat):
            raise ValueError(f"seat {seat}: {text!r} is not among {self.legal(seat)}")
        {
            "guess": self.answer_guess,
            "window": self.answer_window,
            "raise": self.answer_raise,
            "raise_answer": self.answer_raised,
            "offer": self.answer_offer,
            "lead": self.answer_lead,
            "respond": self.respond,
            "taken": self.answer_taken,
            "final": self.answer_final,
        }[self.phase](seat, text)

    def fault(self, seat: int, detail: str) -> None:
        """Part 5: the seat loses the deal by an offence."""
        self.end(ending.by_fault(self, seat, detail))

    # Seats.

    def same_side(self, seat: int, other: int) -> bool:
        """Part 8: seats 0 and 2 against 1 and 3, or each for itself."""
        if self.options["sides"] == "pairs":
            return seat % 2 == other % 2
        return seat == other

    def in_deal(self) -> list[int]:
        """Part 7: the seats that have not declined a raise."""
        return [seat for seat in range(self.seats) if seat not in self.declined]

    def clockwise(self, seat: int) -> list[int]:
        """Give the seats still in the deal clockwise, beginning with this seat's place."""
        around = [(seat + step) % self.seats for step in range(self.seats)]
        return [other for other in around if other not in self.declined]

    def others(self, seat: int) -> list[int]:
        """Give the other seats still in the deal, clockwise."""
        return [other for other in self.clockwise(seat) if other != seat]

    def first_with_cards(self, seat: int) -> int:
        """Part 3: a seat without cards is passed over, as leader too."""
        return next(other for other in self.clockwise(seat) if self.hands[other])

    def hand_viewers(self, seat: int) -> list[int]:
        """Part 2, hands: who sees the hand of a seat."""
        return list(range(self.seats)) if self.options["hands"] == "open" else [seat]

    def note(
        self,
        kind: str,
        seat: int | None,
        cards: list[str] | None = None,
        seen_by: Iterable[int] = (),
        detail: str = "",
    ) -> None:
        """Write down an event; everybody sees that it happened, seen_by also its cards."""
        self.events.append(
            {
                "kind": kind,
                "seat": seat,
                "cards": list(cards or []),
                "seen_by": list(seen_by),
                "detail": detail,
            }
        )

    def ask(self, phase: str, seats: list[int]) -> None:
        """Stand still until these seats have chosen."""
        self.phase = phase
        self.waiting = list(seats)

    def end(self, result: dict[str, Any]) -> None:
        """Part 4: the deal is over."""
        self.result = result
        self.note("end", None, detail=result["reason"])
        self.ask("over", [])

    # Part 2: the beginning.

    def begin(self, leader: int | None) -> None:
        """Part 2: find the first leader, deal, and go to the first lead."""
        self.first_leader = dealing.first_leader(self) if leader is None else leader
        dealing.deal_cards(self)
        if self.first_leader is None:
            self.ask("guess", [self.source.index("lot", self.seats)])
        else:
            self.before_lead(self.first_leader)

    def answer_guess(self, seat: int, text: str) -> None:
        """Part 2, colour_guess: red or black of the trump card."""
        self.first_leader = dealing.guessed_leader(self, seat, text)
        self.note("guess", seat, detail=text)
        self.before_lead(self.first_leader)

    # Parts 4 and 6: before the lead.

    def held_combination(self, seat: int) -> dict[str, Any] | None:
        """Part 6: the combination this hand is now, if any."""
        return combination(
            self.hands[seat], self.trump, self.options, end_turned=bool(self.turned_ends)
        )

    def held_combinations(self, effects: str) -> list[tuple[int, dict[str, Any]]]:
        """Part 6: who holds a combination of this effect, clockwise from the seat due to lead."""
        found = [(seat, self.held_combination(seat)) for seat in self.clockwise(self.leader or 0)]
        return [(seat, one) for seat, one in found if one and one["effect"].startswith(effects)]

    def winning_holder(self) -> int | None:
        """Part 6: the seat whose combination wins the deal, if there is one."""
        found = self.held_combinations("wins")
        return best_holder(found, self.hands, self.trump, self.options) if found else None

    def leader_may_claim(self) -> bool:
        """Part 4, claim_window: claim instead of leading."""
        windows = ("on_lead", "on_any_turn")
        return bool(self.options["goal"] == "claim" and self.options["claim_window"] in windows)

    def claim_goes_first(self) -> bool:
        """Part 4, claim_vs_combination: the seat due to lead is heard before combinations."""
        return self.leader_may_claim() and self.options["claim_vs_combination"] == "claim_first"

    def before_lead(self, seat: int) -> None:
        """Part 6: winning combinations at once, else all seats are asked at the same moment.

        A claim that goes first needs an answer of the seat due to lead, also if its own combination
        wins: were it asked only when another's does, it would learn of that in time to claim.
        """
        self.table = []
        self.leader = self.first_with_cards(seat)
        holder = self.winning_holder()
        if holder is not None and not self.claim_goes_first():
            self.win_by_combination(holder)
            return
        self.answers = {}
        others = self.others(self.leader) if self.stops_are_possible() else []
        self.ask("window", [self.leader, *others])

    def stops_are_possible(self) -> bool:
        """Part 6: some combination of this game is a stop, and another hand is full."""
        effects = combination_effects(self.options)
        stops = "stop" in effects or ("stop_after_end" in effects and bool(self.turned_ends))
        full = [seat for seat in self.others(self.leader or 0) if self.is_full(seat)]
        return stops and bool(full)

    def is_full(self, seat: int) -> bool:
        """Part 3: the hand has all its cards."""
        return len(self.hands[seat]) == int(self.options["hand_size"])

    def win_by_combination(self, seat: int) -> None:
        """Part 6, wins: at once, by the referee."""
        one = self.held_combination(seat)
        if one is None:
            raise ValueError(f"seat {seat} holds no combination")
        self.note("combination", seat, one["cards"], range(self.seats), one["name"])
        self.end(ending.by_combination(self, seat, one))

    def stops(self, seat: int) -> list[str]:
        """Part 6, stop: lead the whole combination out of turn; a right, not a duty."""
        cards = self.declarable(seat)
        return [*(["stop " + " ".join(cards)] if cards else []), "pass"]

    def declarable(self, seat: int) -> list[str]:
        """Part 6: the cards of a combination with the right to stop; cap_lead can forbid it."""
        one = self.held_combination(seat)
        if one is None or one["effect"] != "stop" or len(one["cards"]) > self.most_cards():
            return []
        return in_order(one["cards"])

    def most_cards(self) -> int:
        """Part 3, short_hand = cap_lead: no more cards than the smallest hand has."""
        if self.options["short_hand"] == "give_all":
            return int(self.options["hand_size"])
        return min(len(hand) for hand in self.hands if hand)

    def leads_in_window(self, seat: int) -> list[str]:
        """Parts 3, 4, 6, 7: lead, lead the combination, offer, or claim."""
        leads = self.ordinary_leads(seat)
        cards = self.declarable(seat)
        declared = "lead " + " ".join(cards)
        if cards and declared not in leads:
            leads.append(declared)
        claim = ["claim"] if self.leader_may_claim() else []
        return [*leads, *self.offers(seat), *claim]

    def ordinary_leads(self, seat: int) -> list[str]:
        """Part 3: k cards of one suit, k in lead_sizes."""
        found = []
        for suit in SUITS:
            cards = [card for card in self.hands[seat] if card[1] == suit]
            for size in self.options["lead_sizes"]:
                if size <= self.most_cards():
                    found += ["lead " + " ".join(chosen) for chosen in choices(cards, size)]
        return found

    def offers(self, seat: int) -> list[str]:
        """Part 7, same_rank_leads: two, three or four cards of one rank, unseen."""
        found = []
        if self.options["same_rank_leads"] == "ask":
            for rank in RANKS:
                cards = [card for card in self.hands[seat] if card[0] == rank]
                for size in (2, 3, 4):
                    if size <= self.most_cards():
                        found += ["offer " + " ".join(chosen) for chosen in choices(cards, size)]
        return found

    def answer_window(self, seat: int, text: str) -> None:
        """Part 6: unseen answers, until all have come; a claim that goes first needs no others."""
        if text == "claim" and self.claim_goes_first():
            self.claim(seat)
            return
        self.answers[seat] = text
        self.waiting.remove(seat)
        if not self.waiting:
            self.settle_window()

    def settle_window(self) -> None:
        """Part 6: winning combinations, then the stop that counts, then the leader's choice."""
        leader = self.leader or 0
        holder = self.winning_holder()
        if holder is not None:
            self.win_by_combination(holder)
            return
        declared = self.declarations()
        best = best_stop(declared, self.held_combinations("stop"), self.options)
        for seat, one in declared:
            if seat not in (best, leader):
                self.note("stop_lost", seat, detail=one["name"])
        kind, *cards = self.answers[leader].split()
        if best is not None and best != leader:
            one = next(one for seat, one in declared if seat == best)
            self.note("stop", best, detail=one["name"])
            self.go_to_lead(best, "lead", in_order(one["cards"]))
        elif kind == "claim":
            self.claim(leader)
        else:
            self.go_to_lead(leader, kind, cards)

    def declarations(self) -> list[tuple[int, dict[str, Any]]]:
        """Part 6: who said stop; the seat due to lead says so by leading its combination whole."""
        found = []
        for seat, one in self.held_combinations("stop"):
            whole = " ".join(in_order(one["cards"]))
            if self.answers.get(seat) in (f"stop {whole}", f"lead {whole}"):
                found.append((seat, one))
        return found

    # Part 7: raising.

    def go_to_lead(self, seat: int, kind: str, cards: list[str]) -> None:
        """Part 7, dave: after the stops, whoever is about to lead may first raise."""
        self.leader = seat
        self.about_to_lead = (kind, cards)
        raised_last = self.last_raiser is not None and self.same_side(seat, self.last_raiser)
        if self.options["raise"] == "dave" and self.stake < HIGHEST_STAKE and not raised_last:
            self.ask("raise", [seat])
        else:
            self.make_lead()

    def answer_raise(self, seat: int, text: str) -> None:
        """Part 7, dave: raise before leading, or just lead."""
        if text == "raise":
            self.raise_stake(seat)
        else:
            self.make_lead()

    def raise_stake(self, seat: int) -> None:
        """Part 7, dave: one more than the stake; all others answer clockwise."""
        self.raised_to = self.stake + 1
        self.last_raiser = seat
        self.note("raise", seat, detail=str(self.raised_to))
        against = [other for other in self.others(seat) if not self.same_side(seat, other)]
        self.to_respond = against
        self.ask("raise_answer", against[:1])

    def answer_raised(self, seat: int, text: str) -> None:
        """Part 7, dave: accept, decline and pay the present stake, or raise by one."""
        if text == "raise":
            self.stake = self.raised_to
            self.raise_stake(seat)
            return
        self.note(text, seat)
        self.to_respond.remove(seat)
        if text == "decline" and self.withdraw(seat):
            return
        if self.to_respond:
            self.ask("raise_answer", self.to_respond[:1])
            return
        self.stake = self.raised_to
        if self.leader in self.declined:
            self.pass_lead_on(self.leader)
        else:
            self.make_lead()

    def pass_lead_on(self, seat: int) -> None:
        """Part 7, dave: the seat about to lead declined; the next seat clockwise leads."""
        if taking.no_cards_left(self):
            taking.played_out(self, self.last_taker or 0)
        else:
            self.leader = self.first_with_cards(seat)
            self.ask("lead", [self.leader])

    def withdraw(self, seat: int) -> bool:
        """Part 7, dave: out of the deal, cards and all; true if one side is left, which wins."""
        for other in [s for s in self.in_deal() if self.same_side(s, seat)]:
            self.declined[other] = self.stake
            self.removed[other] = self.captured[other]
            self.forget_shown(other)
            self.hands[other] = []
            self.captured[other] = []
        left = self.in_deal()
        if all(self.same_side(left[0], other) for other in left):
            self.end(ending.finish(self, "declined", left, {}))
            return True
        return False

    # Part 7: offers of one rank.

    def make_lead(self) -> None:
        """Parts 3 and 7: the lead is played, or the offer made to the left neighbour."""
        kind, cards = self.about_to_lead
        seat = self.leader or 0
        if kind == "lead":
            self.lead(seat, cards)
            return
        self.note("offer", seat, cards, self.hand_viewers(seat))
        neighbours = [other for other in self.others(seat) if self.hands[other]]
        if neighbours:
            self.ask("offer", neighbours[:1])
        else:
            self.lead(seat, cards)

    def answer_offer(self, seat: int, text: str) -> None:
        """Part 7: accepted, the cards are turned and answered; refused, an ordinary lead."""
        self.note(text, seat)
        if text == "accept":
            self.lead(self.leader or 0, self.about_to_lead[1])
        else:
            self.ask("lead", [self.leader or 0])

    def answer_lead(self, seat: int, text: str) -> None:
        """Part 3: an ordinary lead."""
        self.lead(seat, text.split()[1:])

    # Part 3: lead and respond.

    def lead(self, seat: int, cards: list[str]) -> None:
        """Part 3: cards that open a trick; the others respond clockwise."""
        self.leader = seat
        self.lay("lead", seat, cards, face="up", beating=True)
        self.to_respond = [other for other in self.others(seat) if self.hands[other]]
        self.ask_to_respond()

    def ask_to_respond(self) -> None:
        """Part 3: the next seat in turn; one round, nobody plays twice."""
        if self.to_respond:
            self.ask("respond", self.to_respond[:1])
        else:
            taking.take(self)

    def lay(self, kind: str, seat: int, cards: list[str], *, face: str, beating: bool) -> None:
        """Put cards of a hand on the table, open or closed; of an open hand all see which."""
        viewers = list(range(self.seats)) if face == "up" else self.hand_viewers(seat)
        for card in cards:
            self.hands[seat].remove(card)
            self.shown_in_hand.pop(card, None)
            self.who_saw[card] = list(viewers)
        if face == "down":
            self.forget_shown(seat)
        self.table.append({"seat": seat, "cards": cards, "face": face, "beats": beating})
        self.note(kind, seat, cards, viewers)

    def forget_shown(self, seat: int) -> None:
        """Part 3: after closed cards nobody is sure any more what that hand still holds."""
        for card, owner in list(self.shown_in_hand.items()):
            if owner == seat:
                del self.shown_in_hand[card]

    def cards_to_beat(self) -> list[str]:
        """Part 3: those of the last who beat, the lead if nobody did."""
        return next(play["cards"] for play in reversed(self.table) if play["beats"])

    def beats_table(self, cards: list[str]) -> bool:
        """Part 3: exactly as many cards, each beating a different one."""
        return covers(cards, self.cards_to_beat(), self.trump, self.options)

    def responses(self, seat: int) -> list[str]:
        """Part 3: exactly k cards of its choice, open or closed as discards says."""
        hand = self.hands[seat]
        size = min(len(self.cards_to_beat()), len(hand))
        found = []
        for chosen in choices(hand, size):
            cards = " ".join(chosen)
            if self.options["discards"] != "closed_all" or self.beats_table(list(chosen)):
                found.append("play " + cards)
            if self.options["discards"] != "open":
                found.append("hide " + cards)
        any_turn = self.options["claim_window"] == "on_any_turn"
        claim = ["claim"] if self.options["goal"] == "claim" and any_turn else []
        return [*found, *claim]

    def respond(self, seat: int, text: str) -> None:
        """Part 3: beat, discard, or (part 4) claim instead."""
        kind, *cards = text.split()
        if kind == "claim":
            self.claim(seat)
            return
        if kind == "play":
            beating = self.beats_table(cards)
            self.lay("beat" if beating else "play", seat, cards, face="up", beating=beating)
        else:
            self.lay("hide", seat, cards, face="down", beating=False)
        self.to_respond.remove(seat)
        self.ask_to_respond()

    # Part 4: claims.

    def claim(self, seat: int) -> None:
        """Part 4: the claimant's captured cards are counted and the deal is over."""
        self.note("claim", seat)
        self.end(ending.by_claim(self, seat))

    def answer_taken(self, seat: int, text: str) -> None:
        """Part 4, claim_window = after_taking: the taker, before the draw."""
        if text == "claim":
            self.claim(seat)
        else:
            taking.draw_and_go_on(self)

    def answer_final(self, seat: int, text: str) -> None:
        """Part 4, final_claim: the taker of the last trick may still claim."""
        if text == "claim":
            self.claim(seat)
        else:
            self.end(ending.unclaimed(self))


def deal(
    options: dict[str, Any],
    seats: int,
    dealer: int,
    source: Source,
    leader: int | None = None,
    *,
    void_allowed: bool = True,
) -> Deal:
    """Part 2: deal the cards; without a leader, first_lead finds one.

    void_allowed is false after max_void void deals in a row (part 4): then most points decides.
    """
    new = Deal(options, seats, dealer, source)
    new.void_allowed = void_allowed
    new.begin(leader)
    return new


def position(
    options: dict[str, Any],
    hands: list[str],
    trump: str | None,
    leader: int,
    *,
    captured: list[str] | None = None,
    stock: str = "",
    end_turned: bool = False,
) -> Deal:
    """Set up a deal in the middle, right after a draw; cards are texts like "8S TS"."""
    new = Deal(options, len(hands), len(hands) - 1, FixedSource([]))
    new.hands = [in_order(hand.split()) for hand in hands]
    new.trump = trump
    new.stock = stock.split()
    new.captured = [pile.split() for pile in captured or [""] * len(hands)]
    new.who_saw = {card: list(range(new.seats)) for pile in new.captured for card in pile}
    new.tricks = [1 if pile else 0 for pile in new.captured]
    new.turned_ends = ["A?"] if end_turned else []
    new.first_leader = leader
    new.before_lead(leader)
    return new
