"""The engine and the oracle side by side: one deal on both, compared after every action.

The two are asked the same questions in their own forms; whatever differs is a `DifferenceError`
that says how to play the deal again.
"""

import functools
import operator
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from oracle.deal import Deal
from oracle.deal import deal as oracle_deal
from oracle.knowledge import happened, knowledge
from oracle.options import DEFAULTS, with_changes
from oracle.scoring import series_scores
from oracle.sources import RandomSource
from referee.cards import SUITS, Cards, card_text, full_deck, parse_card
from referee.rules import Action, Combination, Outcome, Rules, State, deal, fault_outcome
from referee.scoring import score_deal_series
from referee.view import Observation, SeenEvent, events_for, observe

# Options.

_NAMES = {
    "double_as": "played_as",
    "penalty_limit": "limit",
    "robber_margin": "margin",
    "raise_": "raise",
}
_SPELLED_OTHERWISE = ("combinations", "moscow", "eyes_target")
_COMBINATIONS = {
    Combination.BURA: ("bura", "wins"),
    Combination.BURA_LEADS: ("bura", "stop"),
    Combination.MOLODKA: ("molodka", "stop"),
    Combination.MOLODKA_WAITS: ("molodka", "stop_after_end"),
    Combination.MOSCOW: ("moscow", "wins"),
    Combination.MOSCOW_LEADS: ("moscow", "stop"),
    Combination.MOSCOW_OF_THREE: ("moscow", "stop"),
    Combination.LITTLE_MOSCOW: ("little_moscow", "stop"),
    Combination.THREE_ACES: ("three_aces", "stop"),
    Combination.THREE_ACES_WIN: ("three_aces", "wins"),
    Combination.GOLDEN_MOSCOW: ("golden_moscow", "stop"),
    Combination.FOUR_ACES: ("four_aces", "wins"),
    Combination.COMPLECT: ("complect", "stop"),
}
_ON_A_PAR = (Combination.BURA_LEADS, Combination.COMPLECT, Combination.MOLODKA_WAITS)


def oracle_options(rules: Rules) -> dict[str, Any]:
    """Spell the engine's rules as the oracle's options."""
    changes = {
        _NAMES.get(name, name): list(value) if isinstance(value, tuple) else value
        for name, value in rules.to_dict().items()
        if name not in _SPELLED_OTHERWISE
    }
    if rules.match_format == "eyes":
        changes["limit"] = rules.eyes_target
    options = with_changes(DEFAULTS, **changes)
    options["combinations"] = levels(rules)
    options["moscow"] = rules.moscow
    if rules.hand_size == 4:
        of_three = Combination.MOSCOW_OF_THREE in rules.combinations
        options["moscow"] = "three_aces" if of_three else "high_cards"
    return options


def oracle_name(combination: Combination | str) -> str:
    """Give the oracle's name of a combination."""
    return _COMBINATIONS[Combination(combination)][0]


def levels(rules: Rules) -> list[list[list[str]]]:
    """Put the combinations on levels: complect and a waiting molodka stand on that of bura."""
    listed = [Combination(each) for each in rules.combinations]
    on_a_par = [each for each in listed if each in _ON_A_PAR]
    found = []
    for each in listed:
        if each is Combination.BURA_LEADS:
            found.append([spelled(rules, equal) for equal in on_a_par])
        elif each not in on_a_par or Combination.BURA_LEADS not in listed:
            found.append([spelled(rules, each)])
    return found


def spelled(rules: Rules, combination: Combination) -> list[str]:
    """Give the oracle's name and effect of a combination."""
    name, effect = _COMBINATIONS[combination]
    doubled = combination is Combination.MOSCOW and rules.hand_size == 4
    return [name, "wins_double" if doubled else effect]


# Chances.


class ThemedSource(RandomSource):
    """A seeded source whose first decks often deal hands of one suit, one rank, or aces and tens.

    Combinations are rare in shuffled decks; the stock is often sorted as well.
    """

    def __init__(self, seed: int, rules: Rules, seats: int, dealer: int) -> None:
        super().__init__(seed, rules.deck)
        self.rules = rules
        self.order = [(dealer + 1 + step) % seats for step in range(seats)]

    def deck(self, attempt: int) -> list[str]:
        """Give the same deck for the same seed and attempt."""
        cards = super().deck(attempt)
        chance = random.Random(f"{self.seed} theme {attempt}")
        if attempt > 1 or chance.random() < 0.4:
            return cards
        served = chance.sample(self.order, len(self.order))
        shared = chance.choice(SUITS) if chance.random() < 0.2 else ""
        hands = {seat: self.hand(cards, chance, shared) for seat in served}
        front = [hands[seat][turn] for turn in range(self.rules.hand_size) for seat in self.order]
        if chance.random() < 0.7:
            place = chance.choice([0, 1])
            noise = chance.choice([0, 1, 3])
            ranks = {mark: chance.random() for card in cards for mark in card}
            cards.sort(key=lambda card: ranks[card[place]] + noise * chance.random())
        if chance.random() < 0.3:
            cards.sort(key=lambda card: card[0] not in "AT", reverse=chance.random() < 0.3)
        if shared:
            cards.sort(key=lambda card: card[1] != shared)
        return front + cards

    def hand(self, cards: list[str], chance: random.Random, shared: str) -> list[str]:
        """Take a hand out of the cards, many of them of one theme, perhaps that of all hands."""
        themes = ["C", "D", "H", "S", "A", "AT", "T", "6", "6789JQKTA"]
        theme = shared if shared and chance.random() < 0.7 else chance.choice(themes)
        eager = chance.choice([0.7, 1, 1])
        cards.sort(key=lambda card: not (set(card) & set(theme) and chance.random() < eager))
        hand = cards[: self.rules.hand_size]
        del cards[: self.rules.hand_size]
        return hand


class EngineSource:
    """A source of the oracle as the engine asks it."""

    def __init__(self, source: RandomSource) -> None:
        self.source = source

    def deck(self, attempt: int) -> Sequence[int]:
        """Give the deck as numbers."""
        return [parse_card(card) for card in self.source.deck(attempt)]

    def index(self, purpose: str, n: int) -> int:
        """Give the oracle's number."""
        return self.source.index(purpose, n)


# One deal on both.


@dataclass(frozen=True)
class Case:
    """One deal to be played: everything in it follows from these."""

    name: str
    rules: Rules
    seats: int
    seed: int

    def __str__(self) -> str:
        plain = Rules().to_dict()
        changed = {k: v for k, v in self.rules.to_dict().items() if v != plain[k]}
        return f"{self.name}, {self.seats} seats, seed {self.seed}, {changed}"


class Setup(NamedTuple):
    """Who deals and leads, and whether the deal may be void."""

    dealer: int
    leader: int | None
    void_allowed: bool = True


class DifferenceError(AssertionError):
    """The engine and the oracle do not agree."""


class SideBySide:
    """One deal on the engine and on the oracle."""

    def __init__(self, case: Case, setup: Setup | None = None) -> None:
        self.case = case
        self.chance = random.Random(case.seed)
        self.rules, self.seats = case.rules, case.seats
        self.options = oracle_options(case.rules)
        drawn = Setup(
            dealer=self.chance.randrange(case.seats),
            leader=self.chance.choice([None, None, self.chance.randrange(case.seats)]),
        )
        dealer, leader, void_allowed = setup or drawn
        self.actions: list[str] = []
        mine, theirs = (ThemedSource(case.seed, self.rules, self.seats, dealer) for _ in range(2))
        self.oracle: Deal = oracle_deal(
            self.options, self.seats, dealer, mine, leader, void_allowed=void_allowed
        )
        self.engine: State = deal(
            self.rules, seats=self.seats, dealer=dealer, leader=leader, source=EngineSource(theirs)
        )
        self.seen = [(0, 0)] * self.seats
        self.quiet = self.chance.choice([0.5, 0.95, 0.99])

    def play_on(self) -> Outcome:
        """Play to the end, or to a fault, by chance, without comparing."""
        fault_after = self.chance.randrange(40) if self.chance.random() < 0.05 else -1
        while self.oracle.outcome() is None:
            seat = self.chance.choice(self.oracle.asked())
            if len(self.actions) == fault_after:
                self.oracle.fault(seat, "")
                return fault_outcome(self.engine, seat)
            self.act(seat, self.choose(seat))
        outcome = self.engine.outcome
        assert outcome is not None
        return outcome

    def play(self) -> Outcome:
        """Play to the end, or to a fault, by chance; compare all the way.

        Raises:
            DifferenceError: The two differ.
        """
        fault_after = self.chance.randrange(40) if self.chance.random() < 0.05 else -1
        self.compare()
        while self.oracle.outcome() is None:
            seat = self.chance.choice(self.oracle.asked())
            if len(self.actions) == fault_after:
                return self.fault(seat)
            if self.chance.random() < 0.01:
                self.engine = self.engine.copy()
            self.act(seat, self.choose(seat))
            self.compare()
        outcome = self.engine.outcome
        self.require("over", outcome is not None, expected=True)
        assert outcome is not None
        self.compare_outcomes(outcome)
        return outcome

    def choose(self, seat: int) -> str:
        """Choose by chance, seldom what ends the deal soon."""
        legal = self.oracle.legal(seat)
        lasting = [text for text in legal if text not in ("claim", "decline")]
        return self.chance.choice(lasting if self.chance.random() < self.quiet else legal)

    def act(self, seat: int, text: str) -> None:
        """Let the seat do it on both."""
        self.actions.append(f"{seat} {text}")
        self.oracle.apply(seat, text)
        self.engine.apply(seat, Action.parse(text))

    def fault(self, seat: int) -> Outcome:
        """Let the seat lose the deal by an offence."""
        self.actions.append(f"{seat} commits a fault")
        outcome = fault_outcome(self.engine, seat)
        self.oracle.fault(seat, "")
        self.compare_outcomes(outcome)
        return outcome

    def require(self, what: str, engine: object, expected: object) -> None:
        """Compare one thing."""
        if engine != expected:
            done = "\n  ".join(self.actions)
            raise DifferenceError(
                f"{what}\n engine: {engine}\n oracle: {expected}\n {self.case}\n  {done}"
            )

    # Comparisons.

    def compare(self) -> None:
        """Compare who is asked what and may do what, and what one seat knows, at the end all."""
        engine, oracle = self.engine, self.oracle
        self.require("asked", list(engine.asked), oracle.asked())
        window = oracle.phase == "window" and oracle.stops_are_possible()
        self.require("window", engine.window, window)
        for seat in range(self.seats):
            legal = [str(action) for action in engine.legal_actions(seat)]
            self.require(f"legal twice, seat {seat}", len(set(legal)), len(legal))
            self.require(f"legal, seat {seat}", sorted(legal), sorted(oracle.legal(seat)))
        over = oracle.outcome() is not None
        for seat in range(self.seats) if over else [self.chance.randrange(self.seats)]:
            self.require_equal_views(seat)
            self.require_equal_events(seat)
        self.require_all_cards()

    def require_equal_views(self, seat: int) -> None:
        """Compare what a seat knows."""
        view = observe(self.engine, seat)
        known = oracle_view(self.oracle, seat)
        for name, value in engine_view(self.engine, view).items():
            if name == "leader" and self.oracle.phase in _LEADERLESS:
                continue
            self.require(f"{name}, as seat {seat} sees it", value, known[name])

    def require_equal_events(self, seat: int) -> None:
        """Compare what happened since the last comparison, as a seat sees it."""
        if self.oracle.phase == "guess":
            return
        before = self.seen[seat]
        self.seen[seat] = len(self.engine.events), len(self.oracle.events)
        engine = [
            seen
            for event in events_for(self.engine, seat, before[0])
            for seen in engine_event(event, seat)
        ]
        oracle = [
            seen
            for event in happened(self.oracle, seat, before[1])
            for seen in oracle_event(event, seat)
        ]
        self.require(f"events, as seat {seat} sees them", merged(engine), merged(oracle))

    def require_all_cards(self) -> None:
        """No card is lost or doubled."""
        engine = self.engine
        if engine.active.bit_count() < self.seats:
            return
        places = [Cards.of(engine.stock), *engine.hands, *engine.captured]
        places += [play[1] for play in engine.table]
        self.require("number of cards", sum(map(int.bit_count, places)), self.rules.deck)
        everything = Cards.of(full_deck(self.rules.deck))
        self.require("cards", functools.reduce(operator.or_, places), everything)

    def compare_outcomes(self, outcome: Outcome) -> None:
        """Compare how the deal ended and what it scores in a series."""
        expected = self.oracle.outcome()
        assert expected is not None
        gone = expected["out_of_play"]
        points = [0 if seat in gone else points for seat, points in enumerate(outcome.points)]
        winners = expected["winners"]
        if gone and expected["reason"] in ("void", "draw"):
            winners = [seat for seat in range(self.seats) if seat not in gone]
        detail = outcome.detail and oracle_name(outcome.detail)
        self.require("reason", outcome.reason.value, expected["reason"])
        self.require("winners", list(outcome.winners), winners)
        self.require("losers", dict(outcome.losers), expected["losers"])
        self.require("points", points, expected["points"])
        self.require("tricks", list(outcome.tricks), expected["tricks"])
        self.require("last taker", outcome.last_taker, expected["last_taker"])
        self.require("combination", detail, expected["detail"])
        self.require("stake", outcome.stake, self.oracle.stake)
        if self.oracle.first_leader is not None:
            self.require("first leader", outcome.leader, self.oracle.first_leader)
        scores = list(score_deal_series(self.rules, self.seats, outcome))
        self.require("series", scores, series_scores(self.options, expected))
        self.require("sum of the series", sum(scores), 0)


_BITS = {card_text(card): 1 << card for card in full_deck(36)}


def as_set(cards: Iterable[str]) -> Cards:
    """Turn the oracle's cards into the engine's."""
    return Cards(sum(map(_BITS.__getitem__, cards)))


_TURNS = {"guess": "colour", "raise_answer": "raised", "final": "final_claim"}
_LEADERLESS = ("guess", "taken", "final", "over")


def engine_view(state: State, view: Observation) -> dict[str, Any]:
    """Spell what a seat knows as the oracle does."""
    return {
        "turn": view.kind.value if view.kind else None,
        "dealer": view.dealer,
        "leader": view.leader,
        "hand": view.hand,
        "hand counts": list(view.hand_counts),
        "others' cards": {seat: cards for seat, cards in enumerate(view.known) if cards},
        "trump": None if view.trump is None else SUITS[view.trump],
        "indicator": None if view.indicator is None else card_text(view.indicator),
        "end turned": view.end_turned,
        "stock": view.stock,
        "table": [tuple(play) for play in view.table],
        "captured": [tuple(pile) for pile in view.captured],
        "tricks": list(state.tricks),
        "stake": view.stake,
        "proposed": view.proposed,
        "offered": view.offered,
        "out": list(view.out),
        "over": view.deal_over,
    }


def oracle_view(deal: Deal, seat: int) -> dict[str, Any]:
    """Spell what a seat knows in the terms of engine_view."""
    known = knowledge(deal, seat)
    phase = known["phase"]
    if seat not in known["asked"]:
        turn = None
    elif phase == "window":
        turn = "lead" if seat == known["leader"] else "stop"
    elif phase == "final" and deal.options["claim_window"] == "after_taking":
        turn = "taken"
    else:
        turn = _TURNS.get(phase, phase)
    in_stock = known["indicator_place"] in ("bottom", "top")
    piles = {**known["captured"], **known["out_of_play"]}
    return {
        "turn": turn,
        "dealer": known["dealer"],
        "leader": known["leader"],
        "hand": as_set(known["hand"] or ()),
        "hand counts": known["hand_counts"],
        "others' cards": {who: as_set(cards) for who, cards in known["known_in_hands"].items()},
        "trump": known["trump"],
        "indicator": known["indicator"] if in_stock else None,
        "end turned": bool(known["end_turned"]),
        "stock": known["stock"],
        "table": [oracle_play(play) for play in known["table"]],
        "captured": [
            (as_set(piles[who]["known"]), piles[who]["unknown"]) for who in range(deal.seats)
        ],
        "tricks": known["tricks"],
        "stake": known["stake"],
        "proposed": known["raised_to"] if phase == "raise_answer" else 0,
        "offered": known["offered"],
        "out": [who for who in range(deal.seats) if who not in known["in_deal"]],
        "over": phase == "over",
    }


def oracle_play(play: dict[str, Any]) -> tuple[int, Cards, int, bool]:
    """Spell a play on the table in the terms of engine_view."""
    cards = play["cards"]
    hidden = play["count"] if cards is None else 0
    return play["seat"], as_set(cards or ()), hidden, play["beats"]


# Events: a kind, a seat, the cards seen, the number of the others, a detail.

Entry = tuple[str, int, Cards, int, str]
_MERGED = ("draw", "look")
_AT_THE_DEAL = ("guess", "deal", "end_turned", "indicator")


def engine_event(event: SeenEvent, viewer: int) -> list[Entry]:
    """Spell an event; what only the engine notes is left out."""
    kind = event.kind.name.lower()
    detail = ""
    if kind == "pass":
        return []
    if kind in ("red", "black"):
        kind, detail = "guess", kind
    if kind in ("combination", "stop", "stop_lost") and event.combination:
        detail = oracle_name(event.combination)
    if kind == "raise":
        detail = str(event.stake)
    return [as_seen((kind, event.seat, event.cards, event.hidden, detail), viewer)]


def oracle_event(event: dict[str, Any], viewer: int) -> list[Entry]:
    """Spell an event of the oracle; what only the oracle notes is left out."""
    kind, seat = event["kind"], -1 if event["seat"] is None else event["seat"]
    if kind == "end":
        return []
    cards = as_set(event["cards"] or ())
    hidden = event["count"] if event["cards"] is None else 0
    return [as_seen((kind, seat, cards, hidden, event["detail"]), viewer)]


def as_seen(entry: Entry, viewer: int) -> Entry:
    """Hide the cards of a look from all but the taker: their owner knows them anyway."""
    kind, seat, cards, hidden, detail = entry
    if kind == "look" and seat != viewer:
        return kind, seat, Cards(0), len(cards) + hidden, detail
    return entry


def merged(entries: list[Entry]) -> list[list[Entry]]:
    """Put what happens at one moment into one group, whatever its order within it."""
    groups = []
    for kind, run in groupby(entries, key=lambda entry: moment(entry[0])):
        group = list(run)
        if kind in _MERGED:
            group = [
                joined([entry for entry in group if entry[1] == seat])
                for seat in sorted({entry[1] for entry in group})
            ]
        groups.append(sorted(group, key=str) if kind in (*_MERGED, "dealt") else group)
    return groups


def moment(kind: str) -> str:
    """Name the group of a kind of event."""
    return "dealt" if kind in _AT_THE_DEAL else kind


def joined(entries: list[Entry]) -> Entry:
    """Make one entry of several of one seat."""
    kind, seat, _, _, detail = entries[0]
    cards = functools.reduce(operator.or_, (entry[2] for entry in entries))
    return kind, seat, cards, sum(entry[3] for entry in entries), detail
