"""One match: the loop, the clock, the policy for faults.

**Rounds.** The tables of a leg move together. A round asks every seat for all its turns at all
tables; nothing more is sent until every turn is answered, late or withdrawn. Then all is settled
at once, table by table. So a seat sees only how long a whole round took: not which table another
seat answered first, nor, within a window, who answered, who claimed, or whether anybody had
anything to declare. The order of sending turns round with the number of the round, which depends
on nothing in the cards. What a round holds depends on the public course of the deals alone: the
referee plays a forced turn itself only where the sizes of hands make it one. Where a seat must lay
its last cards closed because they do not beat, it is asked all the same.

**Faults.** All faults of a round are settled together, so that the order of two arrivals decides
nothing. A seat at fault in a deal loses it; seats at fault together all lose it, and if nobody is
left to win, all score 0. A choice for a turn never issued names no deal, so it loses the one at
the lowest table, and so does a second choice for a turn of a deal that is over. A fault that loses
the leg ends the round at the latest half a second later; turns still open then are withdrawn, and
seats that lost the leg in that time have lost it together.

**Clock.** A seat has one clock. It runs from the sending of its turns to the arrival of the last
answer among them; its limit is the move time for each turn, and the bank. When it runs out, every
turn still open loses its deal, which is one late answer, however many turns were open: a bot that
was held up once has been late once.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from referee.players import (
    LATE_ANSWERS,
    Choices,
    ClockReading,
    DealOver,
    Fault,
    FaultKind,
    Goodbye,
    GoodbyeReason,
    Inbox,
    PlatformError,
    ScriptedPlayer,
    Turn,
    Update,
)
from referee.programme import (
    RecordingSource,
    deal_scores,
    deck_source,
    forced_seat,
    lost_by_fault,
    programme_of,
)
from referee.results import (
    SERIES,
    ActionTaken,
    ClockUsage,
    DealResult,
    Evidence,
    LegResult,
    MatchResult,
    MatchSpec,
    Offence,
)
from referee.rules import deal
from referee.view import events_for, observe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from fractions import Fraction

    from referee.players import Arrival, Choice, Player
    from referee.programme import Setup
    from referee.rules import Outcome, State
    from referee.view import SeenEvent

__all__ = ["budget_ms", "play_leg", "play_match"]

# A bot that errs in every deal says nothing new with the eleventh message.
EVIDENT_FAULTS = 10
SPARE_MESSAGES = 64
# An answer stamped in time may still be on its way to us when the time is over.
IN_FLIGHT_NS = 20_000_000
LAST_WORD_NS = 500_000_000


def play_leg(
    spec: MatchSpec,
    leg: int,
    players: Sequence[Player],
    inbox: Inbox,
    *,
    explain: Callable[[Fault], Fault | None] | None = None,
    clocks: list[ClockUsage] | None = None,
) -> LegResult:
    """Play all decks in one rotation of the seats, and say goodbye.

    Args:
        spec: The match.
        leg: Which rotation, from 0.
        players: By seat. Those that could not be started have a fault in the inbox.
        inbox: Where the players' answers arrive.
        explain: Asked what lies behind a leg lost by the end of a stream or by silence; None
            keeps the fault as it is.
        clocks: Filled with how the seats used their time until then, if the leg fails.

    Raises:
        PlatformError: The platform failed; the leg counts for nobody.
    """
    played = _Leg(spec, leg, players, inbox, explain or (lambda _: None))
    # A pause to look for garbage among all that exists already would fall on somebody's clock.
    gc.freeze()
    try:
        return played.play()
    except BaseException:
        if clocks is not None:
            clocks += played.clocks
        raise
    finally:
        gc.unfreeze()


def play_match(spec: MatchSpec, choosers: Sequence[Callable[[Turn], int]]) -> MatchResult:
    """Play all legs in this process, with a function for each entrant.

    The functions keep what they remember from leg to leg: only bots that are started afresh
    cannot know the decks of the second.
    """
    legs = []
    for leg in range(spec.legs):
        inbox = Inbox()
        players = [
            ScriptedPlayer(choosers[spec.entrant_at(leg, seat)], seat, inbox)
            for seat in range(spec.seats)
        ]
        legs.append(play_leg(spec, leg, players, inbox))
    return MatchResult(spec=spec, legs=tuple(legs))


def budget_ms(spec: MatchSpec) -> int:
    """Return the longest a leg can last, in milliseconds, if all bots use all their time."""
    decks = spec.decks if spec.match_format == SERIES else spec.rules.max_deals
    # Each trick takes at least one card of the deck. It asks a seat once each for its part in the
    # stop window, an offer, a response and a claim, and for up to six raises and as many answers.
    once, raising = 4, 2 * 6
    decisions = decks * spec.rules.deck * spec.seats * (once + raising)
    control = spec.time_control
    thinking = decisions * (control.move_time_ms + control.increment_ms)
    return control.startup_ms + thinking + spec.seats * control.bank_ms


@dataclass(slots=True)
class _Deal:
    """A deal in play at a table; its seats are told by their numbers in the leg."""

    setup: Setup
    table: int
    source: RecordingSource
    state: State
    seen: list[int]
    actions: list[ActionTaken] = field(default_factory=list)
    answers: dict[int, tuple[int, int]] = field(default_factory=dict)
    faults: dict[int, Fault] = field(default_factory=dict)
    evidence: dict[int, Evidence] = field(default_factory=dict)

    @property
    def number(self) -> int:
        return self.setup.number

    def own_seat(self, seat: int) -> int:
        """Return the seat of the deal at which a seat of the leg plays."""
        return self.setup.playing.index(seat)

    def charge(self, fault: Fault, evidence: Evidence) -> None:
        """Note a fault, unless its seat has lost the deal by an earlier one."""
        if fault.seat not in self.faults:
            self.faults[fault.seat] = fault
            self.evidence[fault.seat] = evidence

    def events(self, own: int) -> tuple[SeenEvent, ...]:
        """Return what a seat of the deal may know of what happened since it was last told."""
        events = events_for(self.state, own, self.seen[own])
        self.seen[own] = len(self.state.events)
        return events

    def settle(self) -> None:
        """Carry out the answers of the round, then what needs no answer."""
        for own in self.state.asked:
            seat = self.setup.playing[own]
            # A claim that was settled first leaves the rest of its window unasked.
            if seat in self.answers and own in self.state.asked:
                index, time_us = self.answers[seat]
                self._play(own, index, asked=True, time_us=time_us)
        self.answers.clear()
        while (forced := forced_seat(self.state)) is not None:
            self._play(forced, 0, asked=False, time_us=0)

    def _play(self, own: int, index: int, *, asked: bool, time_us: int) -> None:
        action = self.state.legal_actions(own)[index]
        self.actions.append(ActionTaken(own, action, index, asked, time_us))
        self.state.apply(own, action)


@dataclass(slots=True)
class _Seat:
    """A seat of the leg: its player, its clock, the turns that are open there."""

    number: int
    player: Player
    bank_us: int
    last_turn: int = 0
    open: dict[int, tuple[_Deal, int]] = field(default_factory=dict)
    answered: dict[int, int] = field(default_factory=dict)
    deals_over: list[DealOver] = field(default_factory=list)
    sent_ns: int = 0
    stalled_ns: int = 0
    limit_us: int = 0
    asked: int = 0
    messages: int = 0
    last_answer_us: int = 0
    answers_us: list[int] = field(default_factory=list)
    decisions: int = 0
    late_answers: int = 0
    blamed: int = 0
    judged: bytes | None = None
    judged_us: int = 0
    judged_bank_us: int = 0
    lost: Fault | None = None
    lost_evidence: Evidence | None = None
    noted: bool = False

    def deadline_ns(self, stalled_ns: int) -> int:
        """Return when its time is over; stalls of this process are not charged."""
        return self.sent_ns + self.limit_us * 1_000 + stalled_ns - self.stalled_ns

    def elapsed_us(self, received_ns: int, stalled_ns: int) -> int:
        """Return for how long its clock has run, in microseconds."""
        elapsed = received_ns - self.sent_ns - (stalled_ns - self.stalled_ns)
        return max(0, min(elapsed // 1_000, self.limit_us))

    def judge(self, arrival: Arrival, stalled_ns: int) -> None:
        """Keep what is judged from now on, how long the clock had run, and what was left then."""
        if arrival.raw is not None:
            self.judged = arrival.raw
        if self.open:
            self.judged_us = self.elapsed_us(arrival.received_ns, stalled_ns)
            self.judged_bank_us = min(self.bank_us, self.limit_us - self.judged_us)
        else:
            self.judged_us = self.last_answer_us
            self.judged_bank_us = self.bank_us

    def evidence(self) -> Evidence:
        """Return what is known of a fault besides its kind."""
        traffic = self.player.traffic
        return Evidence(
            sent=traffic.last_sent,
            received=(traffic.hello or None) if self.judged is None else self.judged,
            limit_us=self.limit_us,
            elapsed_us=self.judged_us,
            bank_us=self.judged_bank_us,
        )

    def stop_clock(self, elapsed_us: int, free_us: int, gain_us: int) -> None:
        """Note an answer: what it took beyond the free time comes out of the bank."""
        self.last_answer_us = elapsed_us
        self.answers_us.append(elapsed_us)
        self.bank_us = max(0, self.bank_us - max(0, elapsed_us - free_us)) + gain_us


class _Leg:
    """The state of a leg between rounds; see the module for the rules it keeps."""

    def __init__(
        self,
        spec: MatchSpec,
        leg: int,
        players: Sequence[Player],
        inbox: Inbox,
        explain: Callable[[Fault], Fault | None],
    ) -> None:
        self._spec = spec
        self._leg = leg
        self._inbox = inbox
        self._explain = explain
        bank_us = spec.time_control.bank_ms * 1_000
        self._seats = [_Seat(number, player, bank_us) for number, player in enumerate(players)]
        self._programme = programme_of(spec, leg)
        self._in_play: list[_Deal | None] = [None] * min(spec.tables, spec.decks)
        self._round = 0
        self._last_word_ns: int | None = None
        self._results: list[DealResult] = []
        self._offences: list[Offence] = []
        self._over_ns = inbox.clock.now_ns() + budget_ms(spec) * 1_000_000

    @property
    def clocks(self) -> tuple[ClockUsage, ...]:
        """How the seats have used their time so far."""
        return tuple(
            ClockUsage(decisions=seat.decisions, answers_us=tuple(seat.answers_us))
            for seat in self._seats
        )

    def play(self) -> LegResult:
        try:
            self._note_absent()
            while self._seat_deals():
                self._ask()
                self._collect()
                self._settle()
            self._say_goodbye()
        except BaseException:
            self._send_all(Goodbye(GoodbyeReason.ABORTED, "the referee had to stop"))
            raise
        return self._result()

    def _note_absent(self) -> None:
        """Take the faults of the start: who is not there has lost the leg before it begins."""
        early = []
        while (arrival := self._inbox.receive(0)) is not None:
            if isinstance(arrival.payload, Fault):
                self._seats[arrival.seat].judge(arrival, self._inbox.stalled_ns)
                self._lose_leg(self._seats[arrival.seat], arrival.payload)
            else:
                early.append(arrival)
        # A choice that was sent before anything was asked is judged in the first round.
        for arrival in early:
            self._inbox.put(arrival)

    def _losers(self) -> set[int]:
        return {seat.number for seat in self._seats if seat.lost}

    def _deals(self) -> list[_Deal]:
        return [each for each in self._in_play if each is not None]

    def _seat_deals(self) -> bool:
        """Start deals at free tables; return whether any is in play."""
        for table, taken in enumerate(self._in_play):
            if taken is None and (setup := self._programme.next_deal()) is not None:
                self._in_play[table] = self._start(table, setup)
        return any(self._in_play)

    def _start(self, table: int, setup: Setup) -> _Deal:
        spec = self._spec
        source = RecordingSource(deck_source(spec.rules, spec.seed, spec.match, setup.deck))
        seats = len(setup.playing)
        state = deal(
            spec.rules, seats=seats, dealer=setup.dealer, leader=setup.leader, source=source
        )
        started = _Deal(setup, table, source, state, [0] * seats)
        if not self._losers() & set(setup.playing):
            started.settle()
        return started

    # ------------------------------------------------------------------------------- a round

    def _ask(self) -> None:
        """Prepare all turns of deals that nobody has lost, then send them."""
        turns: dict[int, list[Turn]] = {}
        lost = self._losers()
        for each in self._deals():
            if not lost.intersection(each.setup.playing):
                for own in each.state.asked:
                    number = each.setup.playing[own]
                    turns.setdefault(number, []).append(self._turn(number, each, own))
        for seat in self._seats:
            seat.messages = 0
            seat.asked = len(turns.get(seat.number, ()))
        updates = {
            number: self._update(self._seats[number], tuple(asked))
            for number, asked in turns.items()
        }
        prepared = {
            number: self._seats[number].player.prepare(update) for number, update in updates.items()
        }
        ended = sum(len(update.deals_over) for update in updates.values())
        self._inbox.even_out((sum(map(len, turns.values())), ended))
        for step in range(self._spec.seats):
            number = (self._round + step) % self._spec.seats
            if number in prepared:
                self._seats[number].stalled_ns = self._inbox.stalled_ns
                self._seats[number].sent_ns = self._inbox.clock.now_ns()
                prepared[number]()
        self._round += 1

    def _turn(self, number: int, asking: _Deal, own: int) -> Turn:
        seat = self._seats[number]
        seat.last_turn += 1
        actions = asking.state.legal_actions(own)
        seat.open[seat.last_turn] = (asking, len(actions))
        return Turn(
            id=seat.last_turn,
            table=asking.table,
            deal=asking.number,
            kind=asking.state.kind_of_turn(own),
            view=observe(asking.state, own),
            actions=actions,
            events=asking.events(own),
            standing=asking.setup.standing,
        )

    def _update(self, seat: _Seat, turns: tuple[Turn, ...]) -> Update:
        seat.limit_us = len(turns) * self._spec.time_control.move_time_ms * 1_000 + seat.bank_us
        clock = ClockReading(seat.last_answer_us, seat.limit_us, seat.bank_us)
        deals_over = tuple(seat.deals_over)
        seat.deals_over.clear()
        return Update(deals_over=deals_over, turns=turns, clock=clock)

    def _collect(self) -> None:
        """Take arrivals until no turn is open any more."""
        while waiting := [seat for seat in self._seats if seat.open]:
            stalled = self._inbox.stalled_ns
            until = min(seat.deadline_ns(stalled) for seat in waiting) + IN_FLIGHT_NS
            if self._last_word_ns is not None:
                until = min(until, self._last_word_ns)
            arrival = self._inbox.receive(until)
            if arrival is not None:
                self._take(arrival)
            else:
                self._expire(waiting)

    def _expire(self, waiting: Iterable[_Seat]) -> None:
        now = self._inbox.clock.now_ns()
        if now > self._over_ns + self._inbox.stalled_ns:
            raise PlatformError(f"leg {self._leg} outlasted its budget: the referee does not end")
        if self._last_word_ns is not None and now >= self._last_word_ns:
            for seat in waiting:
                seat.open.clear()
            return
        for seat in waiting:
            if now >= seat.deadline_ns(self._inbox.stalled_ns) + IN_FLIGHT_NS:
                self._note_late(seat)

    def _take(self, arrival: Arrival) -> None:
        seat = self._seats[arrival.seat]
        if seat.lost:
            return
        seat.judge(arrival, self._inbox.stalled_ns)
        if isinstance(arrival.payload, Fault):
            self._lose_leg(seat, arrival.payload)
            return
        seat.messages += 1
        if seat.messages > seat.asked + SPARE_MESSAGES:
            detail = f"more than {SPARE_MESSAGES} messages that answer nothing: answer turns only"
            self._lose_leg(seat, Fault(FaultKind.PROTOCOL, seat.number, detail))
            return
        self._take_choices(seat, arrival.payload, arrival.received_ns)

    def _take_choices(self, seat: _Seat, message: Choices, received_ns: int) -> None:
        if seat.open and received_ns > seat.deadline_ns(self._inbox.stalled_ns):
            self._note_late(seat)
        was_open = bool(seat.open)
        if not was_open and not message.choices:
            self._blame(seat, FaultKind.OUT_OF_TURN, "a message came when nothing was asked", None)
        elapsed_us = seat.elapsed_us(received_ns, self._inbox.stalled_ns)
        for choice in message.choices:
            if choice.turn in seat.open and received_ns >= seat.sent_ns:
                self._take_choice(seat, choice, elapsed_us)
            else:
                self._take_stray(seat, choice.turn)
        if was_open and not seat.open:
            self._stop_clock(seat, elapsed_us)

    def _take_choice(self, seat: _Seat, choice: Choice, elapsed_us: int) -> None:
        answering, count = seat.open.pop(choice.turn)
        seat.answered[choice.turn] = answering.number
        seat.decisions += 1
        if 0 <= choice.index < count:
            answering.answers[seat.number] = (choice.index, elapsed_us)
        else:
            detail = f"index {choice.index} of turn {choice.turn}: expected 0 to {count - 1}"
            self._blame(seat, FaultKind.ILLEGAL_ACTION, detail, answering.number)

    def _take_stray(self, seat: _Seat, turn: int) -> None:
        """Judge a choice for a turn that is not open."""
        if turn in seat.answered:
            detail = f"turn {turn} was answered before: answer each turn once"
            self._blame(seat, FaultKind.DOUBLE_ACTION, detail, seat.answered[turn])
        elif turn in seat.open or not 0 < turn <= seat.last_turn:
            detail = f"turn {turn} had not been sent: wait for it"
            self._blame(seat, FaultKind.OUT_OF_TURN, detail, None)

    def _blame(self, seat: _Seat, kind: FaultKind, detail: str, number: int | None) -> None:
        """Charge a fault to the deal of that number, or else to the one at the lowest table."""
        deals = self._deals()
        charged = next((each for each in deals if each.number == number), deals[0])
        charged.charge(Fault(kind, seat.number, detail), seat.evidence())

    def _note_late(self, seat: _Seat) -> None:
        detail = f"{len(seat.open)} of {seat.asked} turns not answered when the time was over"
        self._stop_clock(seat, seat.limit_us)
        seat.judged_us, seat.judged_bank_us = seat.limit_us, seat.bank_us
        for late, _ in seat.open.values():
            late.charge(Fault(FaultKind.TIMEOUT, seat.number, detail), seat.evidence())
        seat.open.clear()
        seat.late_answers += 1
        if seat.late_answers == LATE_ANSWERS:
            detail = f"late {LATE_ANSWERS} times in this leg"
            self._lose_leg(seat, Fault(FaultKind.TIMEOUT, seat.number, detail))

    def _stop_clock(self, seat: _Seat, elapsed_us: int) -> None:
        control = self._spec.time_control
        free_us = seat.asked * control.move_time_ms * 1_000
        seat.stop_clock(elapsed_us, free_us, seat.asked * control.increment_ms * 1_000)

    def _lose_leg(self, seat: _Seat, fault: Fault, evidence: Evidence | None = None) -> None:
        if seat.lost is None:
            seat.lost = fault
            seat.lost_evidence = evidence or seat.evidence()
        seat.open.clear()
        if self._last_word_ns is None:
            self._last_word_ns = self._inbox.clock.now_ns() + LAST_WORD_NS

    # ----------------------------------------------------------------------------- its outcome

    def _settle(self) -> None:
        """Carry the round out at every table, and end the deals that are over."""
        self._note_losers()
        lost = self._losers()
        for each in self._deals():
            for number in sorted(each.faults):
                self._note_offence(each.number, each.faults[number], each.evidence[number])
            at_fault = (lost | set(each.faults)) & set(each.setup.playing)
            if not at_fault:
                each.settle()
                outcome = each.state.outcome
            else:
                outcome = lost_by_fault(each.state, [each.own_seat(seat) for seat in at_fault])
            if outcome is not None:
                self._finish(each, sorted(at_fault), outcome)

    def _note_losers(self) -> None:
        if self._spec.match_format == SERIES and self._spec.rules.fault_cost == "match":
            for each in self._deals():
                for number, fault in sorted(each.faults.items()):
                    self._lose_leg(self._seats[number], fault, each.evidence[number])
        for seat in self._seats:
            if seat.lost and not seat.noted:
                if seat.lost.kind in {FaultKind.DISCONNECTED, FaultKind.TIMEOUT}:
                    seat.lost = self._explain(seat.lost) or seat.lost
                seat.noted = True
                self._note_offence(None, seat.lost, seat.lost_evidence)

    def _note_offence(self, number: int | None, fault: Fault, known: Evidence | None) -> None:
        entrant = self._spec.entrant_at(self._leg, fault.seat)
        seat = self._seats[fault.seat]
        seat.blamed += 1
        evidence = known if seat.blamed <= EVIDENT_FAULTS else None
        self._offences.append(
            Offence(leg=self._leg, deal=number, entrant=entrant, fault=fault, evidence=evidence)
        )

    def _finish(self, over: _Deal, at_fault: list[int], outcome: Outcome) -> None:
        spec, setup = self._spec, over.setup
        scores = deal_scores(spec.rules, spec.seats, setup, outcome)
        self._programme.add(outcome, scores)
        for own, number in enumerate(setup.playing):
            seat = self._seats[number]
            seat.deals_over.append(self._deal_over(over, own, outcome, scores))
        self._results.append(
            DealResult(
                leg=self._leg,
                number=setup.number,
                deck=setup.deck,
                table=over.table,
                playing=setup.playing,
                dealer=setup.dealer,
                leader=setup.leader,
                decks=tuple(over.source.decks),
                lots=tuple(over.source.lots),
                actions=tuple(over.actions),
                faults=tuple(over.faults[number] for number in sorted(over.faults)),
                lost_by=tuple(at_fault),
                outcome=outcome,
                scores=spec.by_entrant(self._leg, scores),
            )
        )
        self._in_play[over.table] = None

    def _deal_over(
        self, over: _Deal, own: int, outcome: Outcome, scores: tuple[Fraction, ...]
    ) -> DealOver:
        return DealOver(
            table=over.table,
            deal=over.number,
            outcome=outcome,
            captured=tuple(over.state.captured),
            last_trick=tuple(over.state.table or over.state.last_trick),
            events=over.events(own),
            deal_scores=scores,
            scores=self._programme.scores(),
            fault=self._fault_text(over, over.setup.playing[own]),
        )

    def _fault_text(self, over: _Deal, seat: int) -> str:
        """Tell a seat its own fault in full, and of others' only whose and of what kind."""
        faults = {each.number: each.lost for each in self._seats if each.lost}
        faults.update(over.faults)
        return "; ".join(
            f"{fault.kind} by seat {number}" + (f": {fault.detail}" if number == seat else "")
            for number, fault in sorted(faults.items())
        )

    def _say_goodbye(self) -> None:
        for seat in self._seats:
            if seat.deals_over:
                seat.player.prepare(Update(deals_over=tuple(seat.deals_over)))()
        for seat in self._seats:
            if seat.lost:
                reason, text = GoodbyeReason.FAULT, f"{seat.lost.kind}: {seat.lost.detail}"
            else:
                reason, text = GoodbyeReason.FINISHED, "all deals were played"
            seat.player.prepare(Goodbye(reason, text, self._programme.scores()))()

    def _send_all(self, message: Goodbye) -> None:
        for seat in self._seats:
            seat.player.prepare(message)()

    def _result(self) -> LegResult:
        return LegResult(
            leg=self._leg,
            deals=tuple(sorted(self._results, key=lambda result: result.number)),
            faults=tuple(self._offences),
            scores=self._spec.by_entrant(self._leg, self._programme.scores()),
            clocks=self.clocks,
            traffic=tuple(seat.player.traffic for seat in self._seats),
            stalls=self._inbox.stalls,
            stalled_us=self._inbox.stalled_ns // 1_000,
        )
