"""A deal in play: who is asked, what they may do, what becomes of what they choose.

States change in place, because a tournament of millions of deals is played through them; copy one
before looking ahead. Who may see what is decided elsewhere: a state knows everything.
"""

import enum
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from referee.actions import (
    ACCEPT,
    BLACK,
    CLAIM,
    DECLINE,
    PASS,
    RAISE,
    RED,
    REFUSE,
    Action,
    ActionKind,
)
from referee.beating import strengths
from referee.cards import (
    ALL_CARDS,
    CARD_COUNT,
    RED_SUITS,
    Cards,
    Suit,
    is_end,
    mask_of,
    points,
    rank_of,
    suit_of,
)
from referee.choices import Actions, Memo
from referee.combinations import Effect, Held
from referee.dealing import NOWHERE, DealSource, cut_for_lead, turn_indicator
from referee.events import EVERYBODY, NOBODY, Event, EventKind
from referee.options import Combination, Rules
from referee.outcomes import HIGHEST_STAKE, Outcome, Reason, highest_weight
from referee.tables import Tables, TrumpTables, tables_for

NOTHING: Final[Actions] = ()
_WINS: Final = Effect.WINS
_PASS_ONLY: Final = (PASS,)
_CLAIM_OR_NOT: Final = (PASS, CLAIM)
_RAISE_OR_NOT: Final = (PASS, RAISE)
_ANSWER_OFFER: Final = (ACCEPT, REFUSE)
_COLOURS: Final = (RED, BLACK)
_ANSWER_RAISE: Final = (ACCEPT, DECLINE, RAISE)
_NO_HOLDERS: Final[dict[int, Held]] = {}
_MARKED_FORMATS: Final = frozenset({"burkozyol_double", "burkozyol_penalty", "eyes"})
_FOUR_SINGLES: Final = 4
_HIGH_MARK, _LOW_MARK = 31, 21
_SEATS: Final = tuple(
    tuple(seat for seat in range(12) if waiting >> seat & 1) for waiting in range(1 << 12)
)
_BITS: Final = tuple(1 << number for number in range(CARD_COUNT))
_DEALT: Final[Event] = (EventKind.DEAL, NOBODY, 0, 0, 0)
"""Stands in the log for what the deal showed."""

_ALONE: Final = tuple((seat,) for seat in range(12))

_DEAL, _LEAD, _PLAY = EventKind.DEAL, EventKind.LEAD, EventKind.PLAY
_BEAT, _HIDE, _TAKE, _DRAW = EventKind.BEAT, EventKind.HIDE, EventKind.TAKE, EventKind.DRAW
_CLAIM = EventKind.CLAIM
_PLAYS: Final = frozenset({_LEAD, _PLAY, _BEAT, _HIDE})
_HIDE_ACTION: Final = ActionKind.HIDE


class IllegalActionError(ValueError):
    """A seat chose what it may not do, or was not asked."""


class TurnKind(enum.Enum):
    """What kind of decision a seat is asked for."""

    LEAD = "lead"
    STOP = "stop"
    RESPOND = "respond"
    FINAL_CLAIM = "final_claim"
    TAKEN = "taken"
    OFFER = "offer"
    RAISE = "raise"
    RAISED = "raised"
    COLOUR = "colour"


_LEAD_TURN, _RESPOND_TURN = TurnKind.LEAD, TurnKind.RESPOND

Play: TypeAlias = tuple[int, int, bool, bool]
"""What a seat put on the table: seat, cards as a bitmask, whether they lie open, whether they beat.

A lead counts as beating.
"""

Step: TypeAlias = "Callable[[State, int, Action], None]"
"""What becomes of a choice."""


@functools.cache
def _equal_losses(seats: int, weight: int) -> tuple[tuple[int, int], ...]:
    return tuple((seat, weight) for seat in _SEATS[seats])


class State:
    """A deal in play.

    Attributes:
        rules: What is played.
        seats: How many play.
        dealer: The dealer's seat.
        leader: The seat that leads to this trick, or is due to.
        first_leader: The seat that was due to lead first.
        trump: The trump suit, or None in a game without trumps.
        indicator: The card that fixed the trump while it is known to lie in the stock, else None.
        end_turned: Whether the first card turned up was an ace or a ten.
        hands: The hand of each seat as a bitmask.
        captured: The cards each seat captured as a bitmask.
        tricks: How many tricks each seat took.
        last_taker: Who took the last trick, or None before there was one.
        asked: The seats that must choose now, ascending; empty when the deal is over.
        window: Whether all of them were asked at the same moment, each whatever it holds.
        stake: The stake of the deal in force.
        proposed: The stake of a raise that waits for answers, else 0.
        offered: The cards of one rank that wait for an answer to their offer, as a bitmask, else 0.
        active: The seats in the deal as a bitmask; who declines a raise leaves it.
        public: Cards in hands that everybody knows to be there, as a bitmask.
        outcome: How the deal ended, or None while it goes on.
    """

    __slots__ = (
        "_answerers",
        "_answers",
        "_best_seat",
        "_choices",
        "_dealt",
        "_declared",
        "_declined",
        "_drawn",
        "_even_until",
        "_holders",
        "_indicator_at",
        "_log",
        "_next",
        "_options",
        "_orders",
        "_passes",
        "_plain_until",
        "_pot",
        "_raiser",
        "_step",
        "_stock",
        "_tables",
        "_target",
        "_told",
        "_told_log",
        "_trumps",
        "_turn",
        "_turned",
        "_waiting",
        "active",
        "asked",
        "captured",
        "dealer",
        "end_turned",
        "first_leader",
        "hands",
        "indicator",
        "last_taker",
        "leader",
        "offered",
        "outcome",
        "proposed",
        "public",
        "rules",
        "seats",
        "stake",
        "tricks",
        "trump",
        "window",
    )

    # What dealing, or asking for a lead, sets before anybody looks at it.
    hands: list[int]
    _dealt: tuple[int, ...]
    trump: Suit | None
    indicator: int | None
    end_turned: bool
    first_leader: int
    _stock: Sequence[int]
    _indicator_at: int
    _plain_until: int
    _turned: tuple[int, ...]
    _trumps: TrumpTables
    _turn: TurnKind
    _step: "Step"
    _waiting: int
    _holders: dict[int, Held]
    _answers: Memo
    _pot: int
    _target: int
    _best_seat: int

    def __init__(self, tables: Tables, dealer: int) -> None:
        seats = tables.seats
        self._tables = tables
        self.rules = tables.rules
        self.seats = seats
        self.dealer = dealer
        self.captured = [0] * seats
        self.tricks = [0] * seats
        self.last_taker: int | None = None
        self.asked: tuple[int, ...] = ()
        self.window = False
        self.stake = 1
        self.proposed = 0
        self.offered = 0
        self.active = tables.everyone
        self.public = 0
        self.outcome: Outcome | None = None
        self._log: list[Event] = []
        self._told: list[Event] = []
        self._told_log = 0
        self._options = tables.nothing
        self._orders, self._next = tables.full_orders
        self._passes = tables.passes
        self._choices: list[Action] = tables.no_choices.copy()
        self._declared = 0
        self._declined: tuple[tuple[int, int], ...] = ()
        self._raiser = NOBODY
        self._answerers: tuple[int, ...] = ()
        self._drawn = 0
        self.leader = self._next[dealer]

    @property
    def stock(self) -> tuple[int, ...]:
        """The cards of the stock in the order in which they are drawn."""
        return tuple(self._stock[self._drawn :])

    def legal_actions(self, seat: int) -> Actions:
        """Return what the seat may do now; empty exactly if it is not asked."""
        return self._options[seat]

    def kind_of_turn(self, seat: int) -> TurnKind:
        """Return what kind of decision the seat is asked for; call it for asked seats only."""
        return TurnKind.STOP if self.window and seat != self.leader else self._turn

    def apply(self, seat: int, action: Action) -> None:
        """Take the choice of an asked seat; when all asked seats have chosen the deal moves on.

        Raises:
            IllegalActionError: The seat is not asked, or may not do that.
        """
        options = self._options
        if action not in options[seat]:
            raise IllegalActionError(
                f"seat {seat} may not {action}: expected one of its {len(options[seat])}"
                " legal actions"
            )
        options[seat] = NOTHING
        step = self._step
        if step is _CHOOSE_LEAD and not (action is CLAIM and self._tables.claim_first):
            self._choices[seat] = action
            waiting = self._waiting = self._waiting ^ _BITS[seat]
            if waiting:
                self.asked = _SEATS[waiting]
            else:
                self._close_window()
        elif step is _RESPOND:
            self._respond(seat, action)
        else:
            step(self, seat, action)

    @property
    def events(self) -> list[Event]:
        """What happened so far, each event once and for all at its place."""
        events = self._told
        for place, entry in enumerate(self._log[self._told_log :], self._told_log):
            if entry[0] is _DEAL:
                events += self._dealing_events()
            elif entry[0] is _TAKE:
                events += self._taking_events(place)
            else:
                events.append(entry)
        self._told_log = len(self._log)
        return events

    def _dealing_events(self) -> Iterator[Event]:
        for seat, hand in enumerate(self._dealt):
            yield _DEAL, seat, hand, self._sees(seat), 0
        for card in self._turned[:-1]:
            yield EventKind.END_TURNED, NOBODY, _BITS[card], EVERYBODY, 0
        for card in self._turned[-1:]:
            yield EventKind.INDICATOR, NOBODY, _BITS[card], EVERYBODY, 0

    def _taking_events(self, place: int) -> Iterator[Event]:
        """Yield the taking of a trick, and what the log tells by the places of the draws only."""
        _, taker, start, end, active = self._log[place]
        yield _TAKE, taker, 0, 0, 0
        if start == end:
            return
        yield from self._look(place)
        order = self._tables.orders(active)[0][taker]
        for first, seat in enumerate(order, start):
            drawn = sum(_BITS[card] for card in self._stock[first : end : len(order)])
            if drawn:
                yield _DRAW, seat, drawn, self._sees(seat), 0

    def _look(self, place: int) -> Iterator[Event]:
        """Yield the look of the taker, if it may look, at the trick that the log ends there."""
        if not self._tables.taker_looks:
            return
        taker = self._log[place][1]
        closed = 0
        for kind, _, cards, viewers, _ in reversed(self._log[:place]):
            if kind is _LEAD:
                break
            if kind is _HIDE and not viewers >> taker & 1:
                closed |= cards
        if closed:
            yield EventKind.LOOK, taker, closed, 1 << taker, 0

    @property
    def table(self) -> tuple[Play, ...]:
        """The plays of the trick in progress, the lead first."""
        return self._plays_before(self._log)

    @property
    def last_trick(self) -> tuple[Play, ...]:
        """The plays of the trick that was taken last, the lead first."""
        for end in range(len(self._log), 0, -1):
            if self._log[end - 1][0] is _TAKE:
                return self._plays_before(self._log[: end - 1])
        return ()

    @staticmethod
    def _plays_before(events: Sequence[Event]) -> tuple[Play, ...]:
        """Return the plays at the end of the events, back to the last trick taken."""
        plays: list[Play] = []
        for kind, seat, cards, _, _ in reversed(events):
            if kind is _TAKE:
                break
            if kind in _PLAYS:
                plays.append((seat, cards, kind is not _HIDE, kind in (_LEAD, _BEAT)))
        return tuple(reversed(plays))

    def closed_to(self, seat: int) -> int:
        """Return the cards laid face down in this deal that the seat does not know."""
        closed = known = 0
        for kind, _, cards, viewers, _ in self.events:
            if kind is _HIDE:
                closed |= cards
            if kind in (_HIDE, EventKind.LOOK) and viewers >> seat & 1:
                known |= cards
        return closed & ~known

    @property
    def guessing(self) -> bool:
        """Whether a seat has yet to guess the trump's colour, before anybody sees a card."""
        return self._turn is TurnKind.COLOUR and bool(self.asked)

    def side_of(self, seat: int) -> int:
        """Return the seats that win and lose with that seat, itself included, as a bitmask."""
        return self._tables.sides[seat]

    def copy(self) -> "State":
        """Return an independent state of the same deal."""
        other = State.__new__(State)
        for name in State.__slots__:
            if hasattr(self, name):
                value = getattr(self, name)
                setattr(other, name, value.copy() if isinstance(value, list) else value)
        return other

    # Before a lead: windows, claims, combinations.

    def _open_lead(self) -> None:
        """Ask for the next lead, and whoever might stop it, or end the play."""
        tables = self._tables
        hands = self.hands
        leader = self.leader
        hand = hands[leader]
        self._step = _CHOOSE_LEAD
        self._turn = _LEAD_TURN
        self._holders = _NO_HOLDERS
        trumps = self._trumps
        if hand.bit_count() == trumps.window_size:
            self.window = True
            active = self._waiting = self.active
            self.asked = _SEATS[active]
            options = self._options = self._passes.copy()
        elif hand and tables.equal_hands:
            self._waiting = _BITS[leader]
            self.asked = _ALONE[leader]
            options = self._options = tables.nothing.copy()
        else:
            self._open_lead_with_care()
            return
        options[leader] = tables.leads[hand]
        if not trumps.uncombined(hands):
            self._open_with_combinations()

    def _open_lead_with_care(self) -> None:
        """Ask where hands may differ in size, or the leader has none."""
        hands = self.hands
        if not hands[self.leader]:
            if not any(hands):
                self._end_play()
                return
            self.leader = next(seat for seat in self._orders[self.leader] if hands[seat])
        leader = self.leader
        self.window = self._trumps.stops and self._may_be_stopped()
        self._waiting = self.active if self.window else _BITS[leader]
        self.asked = _SEATS[self._waiting]
        self._options = (self._passes if self.window else self._tables.nothing).copy()
        self._options[leader] = self._tables.leads_up_to[self._cap()][hands[leader]]
        if not self._trumps.uncombined(hands):
            self._open_with_combinations()

    def _cap(self) -> int:
        """Return the highest size of a lead: where leads are capped that of the smallest hand."""
        if self._tables.uncapped:
            return self._tables.hand_size
        return min(hand.bit_count() for hand in self.hands if hand)

    def _may_be_stopped(self) -> bool:
        # The sizes of hands are public, so a window that nobody could use need not be opened.
        full = self._tables.hand_size
        return any(self.hands[seat].bit_count() == full for seat in self._orders[self.leader][1:])

    def _open_with_combinations(self) -> None:
        """Find who holds what; end the deal by it, or add the stops and leads it allows."""
        held_by = self._trumps.held
        hands = self.hands
        leader = self.leader
        options = self._options
        cap = self._cap()
        holders = self._holders = {}
        winning = False
        for seat in self._orders[leader]:
            held = held_by.get(hands[seat])
            if held is None:
                continue
            holders[seat] = held
            if held.effect is _WINS:
                winning = True
            elif held.lead.size <= cap:
                if seat != leader:
                    options[seat] = held.stop_or_not
                elif held.lead not in options[seat]:
                    options[seat] = (held.lead, *options[seat])
        # Where a claim goes first the leader is asked even if its own combination wins: were it
        # asked only when another's wins, the question would tell it so in time to claim.
        if winning and not self._tables.claim_first:
            self._win_by_combination()

    def _choose_lead(self, seat: int, _: Action) -> None:
        """Take a claim that goes before all else; what else is chosen before a lead only waits."""
        self._claim(seat)

    def _close_window(self) -> None:
        """Carry out what was chosen before a lead, now that all have chosen."""
        self.window = False
        leader = self.leader
        choice = self._choices[leader]
        if self._holders:
            self._settle_combinations()
        elif self._tables.simple_leads:
            self._lead(leader, choice.mask, choice.size)
        else:
            self._before_lead(choice, 0)

    def _settle_combinations(self) -> None:
        leader = self.leader
        choices = self._choices
        declared = []
        for seat, held in self._holders.items():
            if held.effect is _WINS:
                self._win_by_combination()
                return
            choice = choices[seat]
            if choice is held.lead if seat == leader else choice is not PASS:
                declared.append(seat)
        if declared:
            self._settle_stops(declared)
        else:
            self._before_lead(choices[leader], 0)

    def _settle_stops(self, declared: list[int]) -> None:
        """Let the best of the declared combinations lead; they stand in turn order."""
        leader = self.leader
        holders = self._holders
        best = min(declared, key=lambda seat: holders[seat].level)
        if best != leader and self._is_blocked(best):
            best = leader
        for seat in declared:
            if seat not in (best, leader):
                self._log.append((EventKind.STOP_LOST, seat, 0, 0, holders[seat].number))
        number = holders[best].number if best in declared else 0
        if best == leader:
            self._before_lead(self._choices[leader], number)
        else:
            self._log.append((EventKind.STOP, best, 0, 0, number))
            self.leader = best
            self._before_lead(holders[best].lead, number)

    def _is_blocked(self, best: int) -> bool:
        """Tell whether somebody holds in silence what is stronger than the best stop."""
        level = self._holders[best].level
        return self.rules.stop_block == "held" and any(
            held.level < level for held in self._holders.values()
        )

    def _win_by_combination(self) -> None:
        """End the deal by the best winning combination; the holders stand in turn order."""
        winning = {seat: held for seat, held in self._holders.items() if held.effect is _WINS}
        level = min(held.level for held in winning.values())
        rivals = [seat for seat, held in winning.items() if held.level == level]
        winner = rivals[0]
        if winning[winner].combination is Combination.BURA and len(rivals) > 1:
            winner = self._best_bura(rivals)
        held = winning[winner]
        self._log.append(
            (EventKind.COMBINATION, winner, self.hands[winner], EVERYBODY, held.number)
        )
        self._win(Reason.COMBINATION, winner, held.weight, held.combination.value)

    def _best_bura(self, rivals: list[int]) -> int:
        tie = self.rules.bura_tie
        if tie == "highest_card":
            order = strengths(self.rules)
            return max(
                rivals,
                key=lambda seat: max(order[rank_of(card)] for card in Cards(self.hands[seat])),
            )
        winner = rivals[0]
        if tie == "leader_unless_covered":
            for seat in rivals[1:]:
                if self._trumps.demands.met(self.hands[winner], self.hands[seat]):
                    winner = seat
        return winner

    def _before_lead(self, action: Action, number: int) -> None:
        """Claim, or ask whether to raise before the chosen lead or offer is made."""
        if self._tables.simple_leads:
            self._lead(self.leader, action.mask, action.size, number)
            return
        self._choices[self.leader] = action
        self._declared = number
        if action is CLAIM:
            self._claim(self.leader)
        elif self._may_raise(self.leader):
            self._ask(self.leader, TurnKind.RAISE, _RAISE_OR_NOT, State._choose_raise)
        else:
            self._make_lead()

    def _make_lead(self) -> None:
        action = self._choices[self.leader]
        cards = action.mask
        if action.kind is not ActionKind.OFFER:
            self._lead(self.leader, cards, action.size, self._declared)
            return
        self.offered = cards
        self._log.append((EventKind.OFFER, self.leader, cards, self._sees(self.leader), 0))
        neighbours = [seat for seat in self._orders[self.leader][1:] if self.hands[seat]]
        if neighbours:
            self._ask(neighbours[0], TurnKind.OFFER, _ANSWER_OFFER, State._answer_offer)
        else:
            self.offered = 0
            self._lead(self.leader, cards, cards.bit_count())

    def _answer_offer(self, seat: int, action: Action) -> None:
        cards, self.offered = self.offered, 0
        if action is ACCEPT:
            self._log.append((EventKind.ACCEPT, seat, 0, 0, 0))
            self._lead(self.leader, cards, cards.bit_count())
        else:
            self._log.append((EventKind.REFUSE, seat, 0, 0, 0))
            self._ask_ordinary_lead()

    def _ask_ordinary_lead(self) -> None:
        cap = self._cap()
        leads = self._tables.ordinary_leads[cap][self.hands[self.leader]]
        self._ask(self.leader, _LEAD_TURN, leads, State._lead_ordinarily)

    def _lead_ordinarily(self, seat: int, action: Action) -> None:
        self._lead(seat, action.mask, action.size)

    def _ask(self, seat: int, turn: TurnKind, options: Actions, step: Step) -> None:
        self._turn = turn
        self._step = step
        self._options = self._tables.nothing.copy()
        self._options[seat] = options
        self.asked = _ALONE[seat]

    def _sees(self, seat: int) -> int:
        """Return who sees a card in the hand of that seat, as a bitmask."""
        return self._tables.drawn_for[seat]

    # Raises.

    def _may_raise(self, seat: int) -> bool:
        return (
            self.rules.raise_ == "dave"
            and self.stake < HIGHEST_STAKE
            and not (self._raiser != NOBODY and self._tables.sides[self._raiser] >> seat & 1)
        )

    def _choose_raise(self, seat: int, action: Action) -> None:
        if action is RAISE:
            self._propose(seat)
        else:
            self._log.append((EventKind.PASS, seat, 0, 0, 0))
            self._make_lead()

    def _propose(self, seat: int) -> None:
        """Raise the stake, accepting a raise that waits; the other sides answer in turn."""
        self.stake = self.proposed or self.stake
        self.proposed = self.stake + 1
        self._raiser = seat
        self._log.append((EventKind.RAISE, seat, 0, 0, self.proposed))
        own = self._tables.sides[seat]
        self._answerers = tuple(each for each in self._orders[seat] if not own >> each & 1)
        self._ask_to_answer()

    def _ask_to_answer(self) -> None:
        if not self._answerers:
            self.stake, self.proposed = self.proposed, 0
            self._lead_after_raise()
            return
        seat, *later = self._answerers
        self._answerers = tuple(later)
        options = (ACCEPT, DECLINE) if self.proposed >= HIGHEST_STAKE else _ANSWER_RAISE
        self._ask(seat, TurnKind.RAISED, options, State._answer_raise)

    def _answer_raise(self, seat: int, action: Action) -> None:
        if action is RAISE:
            self._propose(seat)
            return
        if action is DECLINE:
            self._log.append((EventKind.DECLINE, seat, 0, 0, self.stake))
            if self._leave(seat):
                self.proposed = 0
                return
        else:
            self._log.append((EventKind.ACCEPT, seat, 0, 0, self.proposed))
        self._ask_to_answer()

    def _leave(self, seat: int) -> bool:
        """Take a seat (of pairs its side) out of the deal; tell whether that ends the deal."""
        leaving = self._tables.sides[seat]
        self._declined += tuple((each, self.stake) for each in Cards(leaving))
        self.active &= ~leaving
        for each in Cards(leaving):
            self.hands[each] = 0
        self._orders, self._next = self._tables.orders(self.active)
        self._passes = [
            _PASS_ONLY if self.active >> each & 1 else NOTHING for each in range(self.seats)
        ]
        if self.active & ~self._tables.sides[self._orders[seat][0]]:
            return False
        self._finish(Reason.DECLINED, self.active, ())
        return True

    def _lead_after_raise(self) -> None:
        if self.active >> self.leader & 1:
            self._make_lead()
            return
        with_cards = [seat for seat in self._orders[self.leader] if self.hands[seat]]
        if with_cards:
            self.leader = with_cards[0]
            self._ask_ordinary_lead()
        else:
            self._end_play()

    # The trick.

    def _lead(self, seat: int, cards: int, size: int, number: int = 0) -> None:
        hands = self.hands
        tables = self._tables
        hands[seat] ^= cards
        self._log.append((_LEAD, seat, cards, EVERYBODY, number))
        self._pot = self._target = cards
        self._best_seat = seat
        answers = self._answers = tables.answers[size]
        self._turn = _RESPOND_TURN
        self._step = _RESPOND
        if tables.plain_answers:
            seat = self._next[seat]
            self._options[seat] = answers[hands[seat]]
            self.asked = _ALONE[seat]
        else:
            self._next_response(seat)

    def _next_response(self, seat: int) -> None:
        """Ask the next seat that has cards to answer the lead, or let the trick be taken."""
        hands = self.hands
        seat = self._next[seat]
        if not self._tables.equal_hands:
            while seat != self.leader and not hands[seat]:
                seat = self._next[seat]
        if seat == self.leader:
            self._take()
            return
        options = self._answers[hands[seat]]
        if self._tables.closed_all:
            target = self._target
            open_answers = self._tables.open_answers[target.bit_count()]
            options = self._trumps.beating(target, hands[seat], open_answers) + options
        self._options[seat] = options
        self.asked = _ALONE[seat]

    def _respond(self, seat: int, action: Action) -> None:
        cards = action.mask
        hands = self.hands
        if action.kind is _HIDE_ACTION:
            if self.public and self.rules.hands == "private":
                # A card known to be in this hand may now be one of those that lie face down.
                self.public &= ~hands[seat]
            self._log.append((_HIDE, seat, cards, self._tables.drawn_for[seat], 0))
        elif action is CLAIM:
            self._claim(seat)
            return
        else:
            for able, count in self._trumps.demands[self._target]:
                if (able & cards).bit_count() < count:
                    self._log.append((_PLAY, seat, cards, EVERYBODY, 0))
                    break
            else:
                self._target = cards
                self._best_seat = seat
                self._log.append((_BEAT, seat, cards, EVERYBODY, 0))
        hands[seat] ^= cards
        self._pot |= cards
        after = self._next[seat]
        if after == self.leader:
            self._take()
        elif self._tables.plain_answers:
            self._options[after] = self._answers[hands[after]]
            self.asked = _ALONE[after]
        else:
            self._next_response(seat)

    def _take(self) -> None:
        tables = self._tables
        hands = self.hands
        taker = self._best_seat
        self.captured[taker] |= self._pot
        self.tricks[taker] += 1
        self.leader = self.last_taker = taker
        order = self._orders[taker]
        at = self._drawn
        rounds = tables.hand_size - hands[taker].bit_count()
        end = at + rounds * len(order)
        if end > self._plain_until:
            self._take_with_care(taker)
            return
        self._log.append((_TAKE, taker, at, end, self.active))
        self._drawn = end
        stock = self._stock
        if rounds == 1:
            for seat in order:
                hands[seat] |= _BITS[stock[at]]
                at += 1
        else:
            for first, seat in enumerate(order, at):
                for card in stock[first : end : len(order)]:
                    hands[seat] |= _BITS[card]
        self._open_lead()

    def _take_with_care(self, taker: int) -> None:
        """Let the taker look or claim before a draw that may show the indicator or end short."""
        tables = self._tables
        self._log.append((_TAKE, taker, 0, 0, self.active))
        if self._coming_draws():
            self._log += self._look(len(self._log) - 1)
        if tables.claim_on_taking and (
            self.rules.final_claim == "yes" or not self._all_is_played()
        ):
            self._ask(taker, TurnKind.TAKEN, _CLAIM_OR_NOT, State._claim_or_draw)
            return
        self._draw()
        self._open_lead()

    def _all_is_played(self) -> bool:
        return not any(self.hands) and not self._coming_draws()

    def _claim_or_draw(self, seat: int, action: Action) -> None:
        if action is CLAIM:
            self._claim(seat)
            return
        self._log.append((EventKind.PASS, seat, 0, 0, 0))
        if self._all_is_played():
            self._end_unclaimed()
        else:
            self._draw()
            self._open_lead()

    # Draws.

    def _draw(self) -> None:
        """Draw, card by card where the indicator is among the cards or they are too few."""
        order = self._orders[self.leader]
        rounds = self._tables.hand_size - self.hands[self.leader].bit_count()
        end = self._drawn + rounds * len(order)
        if end <= self._even_until:
            self._draw_evenly(order, end)
        elif self._drawn < len(self._stock):
            self._draw_by_plan(self._coming_draws())

    def _draw_evenly(self, order: Sequence[int], end: int) -> None:
        for first, seat in enumerate(order, self._drawn):
            drawn = 0
            for card in self._stock[first : end : len(order)]:
                drawn |= _BITS[card]
            self.hands[seat] |= drawn
            self._log.append((_DRAW, seat, drawn, self._sees(seat), 0))
        self._drawn = end

    def _draw_by_plan(self, plan: Sequence[int]) -> None:
        drawn = dict.fromkeys(plan, 0)
        for at, seat in enumerate(plan, self._drawn):
            card = _BITS[self._stock[at]]
            self.hands[seat] |= card
            if at == self._indicator_at:
                self._log.append((_DRAW, seat, card, EVERYBODY, 0))
                self.public |= card
                self.indicator = None
                self._indicator_at = NOWHERE
                self._settle_plain_draws()
            else:
                drawn[seat] |= card
        for seat, cards in drawn.items():
            if cards:
                self._log.append((_DRAW, seat, cards, self._sees(seat), 0))
        self._drawn += len(plan)

    def _settle_plain_draws(self) -> None:
        """Settle how far into the stock draws show nothing and are never short."""
        tables = self._tables
        even = min(self._indicator_at, len(self._stock)) if tables.round_robin else -1
        self._even_until = even
        self._plain_until = -1 if tables.claim_on_taking else even

    def _rounds(self, left: int, seats: int) -> int:
        """Return how many cards each seat draws where all draw equally many."""
        lacking = self._tables.hand_size - self.hands[self.leader].bit_count()
        return min(lacking, left // seats)

    def _coming_draws(self) -> list[int]:
        """Return the seats that draw the next cards of the stock, one card each time."""
        order = self._orders[self.leader]
        left = len(self._stock) - self._drawn
        if not left:
            return []
        if self._tables.equal_hands:
            lacking = dict.fromkeys(order, self._rounds(left, len(order)))
        else:
            full = self._tables.hand_size
            lacking = {seat: full - self.hands[seat].bit_count() for seat in order}
        if self.rules.draw_order == "fill_in_turn":
            seats = [seat for seat in order for _ in range(lacking[seat])]
        else:
            most = max(lacking.values())
            seats = [seat for step in range(most) for seat in order if lacking[seat] > step]
        return seats[:left]

    # The end.

    def _end_play(self) -> None:
        """Ask for the last claim, or settle the deal, when nobody has cards left."""
        if self.rules.goal == "points":
            if self.rules.leftover_points == "last_taker":
                self.captured[self.leader] |= mask_of(self.stock)
                self._drawn = len(self._stock)
            self._decide_by_points()
        elif self.rules.final_claim == "yes" and not self._tables.claim_on_taking:
            self._ask(self.leader, TurnKind.FINAL_CLAIM, _CLAIM_OR_NOT, State._claim_or_end)
        else:
            self._end_unclaimed()

    def _claim_or_end(self, seat: int, action: Action) -> None:
        if action is CLAIM:
            self._claim(seat)
            return
        self._log.append((EventKind.PASS, seat, 0, 0, 0))
        self._end_unclaimed()

    def _end_unclaimed(self) -> None:
        if self.rules.no_claim == "void":
            self._finish(Reason.VOID, 0, ())
        else:
            self._decide_by_points()

    def _claim(self, seat: int) -> None:
        tables = self._tables
        self._log.append((_CLAIM, seat, 0, 0, 0))
        side = tables.sides[seat]
        total = self._points_of(side) if tables.pairs else points(self.captured[seat])
        if total >= tables.target:
            self._win(Reason.CLAIM, seat, 1)
        else:
            losers = _equal_losses(side, tables.false_claim_weight * self.stake)
            self._finish(Reason.FALSE_CLAIM, self.active & ~side, losers)

    def _points_of(self, side: int) -> int:
        return sum([points(self.captured[seat]) for seat in _SEATS[side]])

    def _win(self, reason: Reason, seat: int, weight: int, detail: str = "") -> None:
        """End the deal in favour of the side of the seat."""
        side = self._tables.sides[seat]
        losers = _equal_losses(self.active & ~side, weight * self.stake)
        self._finish(reason, side, losers, detail)

    def _decide_by_points(self) -> None:
        totals = {self._tables.sides[seat]: 0 for seat in _SEATS[self.active]}
        for side in totals:
            totals[side] = self._points_of(side)
        top = max(totals.values())
        tops = [side for side, total in totals.items() if total == top]
        if self._is_drawn(len(tops), len(totals)):
            self._finish(Reason.DRAW, 0, ())
            return
        all_lose = len(tops) > 1 and self.rules.top_tie == "two_each"
        winners = 0 if all_lose else sum(tops)
        charged = {side: self._loss_weight(total) for side, total in totals.items()}
        charged |= dict.fromkeys(tops, int(all_lose))
        losers = tuple(
            (seat, weight * self.stake)
            for side, weight in charged.items()
            if weight
            for seat in Cards(side)
        )
        self._finish(Reason.MOST_POINTS, winners, losers)

    def _is_drawn(self, tops: int, sides: int) -> bool:
        if tops == 1:
            return False
        if self.rules.goal == "claim":
            return True
        if tops == sides:
            return self.rules.top_tie != "split"
        return self.rules.top_tie == "draw"

    def _loss_weight(self, total: int) -> int:
        return 2 if total < self._pass_mark() else 1

    def _pass_mark(self) -> int:
        """Return the points below which a loss is doubled; 0 where none is."""
        if self.rules.match_format not in _MARKED_FORMATS:
            return 0
        sides = len({self._tables.sides[seat] for seat in _SEATS[self.active]})
        if sides == 2:  # noqa: PLR2004 - two players or pairs
            return _HIGH_MARK
        double = self.rules.match_format == "burkozyol_double"
        return self.rules.four_singles_mark if double and sides == _FOUR_SINGLES else _LOW_MARK

    def _finish(
        self, reason: Reason, winners: int, losers: tuple[tuple[int, int], ...], detail: str = ""
    ) -> None:
        self.outcome = self.outcome_of(reason, winners, losers, detail)
        self.asked = ()
        self.window = False
        self._options = self._tables.nothing

    def outcome_of(
        self, reason: Reason, winners: int, losers: tuple[tuple[int, int], ...], detail: str = ""
    ) -> Outcome:
        """Return the outcome of a deal that ends now, with what those who left it owe."""
        if self._declined:
            losers = tuple(sorted(self._declined + losers))
            winners = winners or self.active
        return Outcome(
            reason,
            _SEATS[winners],
            losers,
            tuple(map(points, self.captured)),
            tuple(self.tricks),
            self.last_taker,
            self.first_leader,
            self.stake,
            detail,
        )

    # The deal.

    def _start(self, leader: int | None, source: DealSource) -> None:
        """Settle who leads, where the rules want it before the deal, deal, and ask."""
        first_lead = self.rules.first_lead
        if leader is not None:
            self.leader = leader
        elif first_lead == "high_card":
            self._cut(source)
        attempt = 0
        while not self._deal_hands(source, source.deck(attempt)):
            self._log.append((EventKind.REDEAL, NOBODY, 0, 0, 0))
            attempt += 1
        self.first_leader = self.leader
        if leader is None and first_lead == "colour_guess":
            self.leader = source.index("lot", self.seats)
            self._ask(self.leader, TurnKind.COLOUR, _COLOURS, State._guess)
            return
        self._reveal()
        self._open_lead()

    def _cut(self, source: DealSource) -> None:
        cutters = self._orders[self.leader]
        if self.rules.sides == "pairs":
            cutters = cutters[:2]
        self.leader, cuts = cut_for_lead(self.rules, cutters, source)
        for seat, card in cuts:
            self._log.append((EventKind.CUT, seat, 1 << card, EVERYBODY, 0))

    def _deal_hands(self, source: DealSource, deck: Sequence[int]) -> bool:
        """Deal one card at a time from the dealer's left; tell whether the deal stands."""
        tables = self._tables
        dealt = tables.dealt
        hands = self.hands = [0] * self.seats
        for place, seat in enumerate(tables.dealing_orders[self.dealer]):
            hands[seat] |= _BITS[deck[place]]
        if tables.plain_indicator:
            card = self.indicator = deck[dealt]
            self._turned = (card,)
            stock = self._stock = [*deck[dealt + 1 :], card]
            self._indicator_at = len(stock) - 1
            trumps = self._trumps = tables.by_indicator[card]
        elif self._turn_indicator(source, deck[dealt:]):
            trumps = self._trumps
        else:
            return False
        self._settle_plain_draws()
        self.trump = trumps.trump
        self.end_turned = trumps.end_turned
        return trumps.undealt(hands)

    def _turn_indicator(self, source: DealSource, cards: Sequence[int]) -> bool:
        if self.rules.trump == "none":
            self.indicator, self._turned = None, ()
            self._stock, self._indicator_at = cards, NOWHERE
            self._trumps = self._tables.trumps[None, False]
            return True
        turned = turn_indicator(self.rules, cards, source)
        if turned is None:
            return False
        self.indicator = None if turned.place == NOWHERE else turned.card
        self._turned = (*turned.ends, turned.card)
        self._stock, self._indicator_at = turned.stock, turned.place
        end_turned = bool(turned.ends) or is_end(turned.card)
        self._trumps = self._tables.trumps[suit_of(turned.card), end_turned]
        return True

    def _reveal(self) -> None:
        """Let everybody see what the deal gave."""
        if self._tables.open_hands:
            self.public = ALL_CARDS
        self._dealt = tuple(self.hands)
        self._log.append(_DEALT)

    def _guess(self, seat: int, action: Action) -> None:
        red = action is RED
        self._log.append((EventKind.RED if red else EventKind.BLACK, seat, 0, 0, 0))
        if (self.trump in RED_SUITS) != red:
            self.leader = self._orders[seat][1]
        self.first_leader = self.leader
        self._reveal()
        self._open_lead()


def deal(
    rules: Rules, *, seats: int, dealer: int, source: DealSource, leader: int | None = None
) -> State:
    """Deal, and return the state in which the first seats are asked.

    Args:
        rules: What is played.
        seats: How many play.
        dealer: The dealer's seat.
        source: The decks and chances of this deal.
        leader: Who is due to lead; None settles it as the rules say for a first deal.

    Raises:
        RulesError: The rules are not for so many seats.
    """
    state = State(tables_for(rules, seats), dealer)
    state._start(leader, source)  # noqa: SLF001 - dealing is the second half of construction
    return state


def fault_outcome(state: State, seat: int) -> Outcome:
    """Return the loss of the deal by a fault of that seat, at the highest weight there is."""
    side = state.side_of(seat)
    weight = highest_weight(state.rules)
    losers = tuple((each, weight) for each in Cards(side))
    return state.outcome_of(Reason.FAULT, state.active & ~side, losers)


_CHOOSE_LEAD: Final = State._choose_lead  # noqa: SLF001 - told apart by identity in apply
_RESPOND: Final = State._respond  # noqa: SLF001 - the same
