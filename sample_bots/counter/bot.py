"""Counts cards: knows what it captured, what is still out, and what a lead is likely to bring.

For each action it imagines many times over where the cards are that it cannot see, lets the trick
be played out, and weighs points, lead and the cards it keeps as a chance to win the deal. All it
knows of a deal is in the view, so it needs no memory. $BOT_SEED gives it other dice.
"""

import itertools
import math
import os
import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import burabot
from burabot import bot_pb2 as pb
from burabot.cards import POINTS, points, rank, suit

# How often it imagines where the cards are.
WORLDS = 24

# What an advantage is worth, in captured points.
TRUMP = 9.0
TRUMP_RANK = 0.5
ACE = 3.0
LEAD = 5.0
READY = 60.0
# Captured points ahead that make the odds to win e to 1.
CERTAINTY = 30.0

# How much better than even the prospects must be to raise the stake.
RAISE_MARGIN = 0.3

ACE_RANK = 8

Cards = tuple[int, ...]


class World(NamedTuple):
    """Where the hidden cards may be.

    Attributes:
        hands: The cards of each seat.
        banked: The points each side captured.
    """

    hands: list[Cards]
    banked: list[int]


class Position:
    """A turn with all that its view tells about the cards."""

    def __init__(self, turn: burabot.Turn) -> None:
        view, options = turn.view, turn.game.options
        self.view = view
        self.beating = turn.game.beating
        self.side = turn.game.side
        self.seat, self.seats, self.trump = view.seat, view.seats, int(view.trump)
        self.hand: Cards = tuple(view.hand)
        self.claims = options["goal"] == "claim"
        self.target = int(options["target"]) if self.claims else sum(POINTS)
        self.false_claim = 1 if options["false_claim"] == "lose" else 2
        lowest = 0 if options["deck"] == "36" else 1
        seen = {*self.hand, view.indicator}
        for group in (view.captured, view.table, view.known):
            for item in group:
                seen.update(item.cards)
        self.unseen = [c for c in range(1, len(POINTS)) if c not in seen and rank(c) >= lowest]
        cheapest = sorted(POINTS[card] for card in self.unseen)
        own = self._own_piles()
        hidden = sum(pile.hidden for pile in own)
        self.certain = sum(points(pile.cards) for pile in own) + sum(cheapest[:hidden])

    def _own_piles(self) -> list[pb.Pile]:
        own = self.side(self.seat)
        return [pile for seat, pile in enumerate(self.view.captured) if self.side(seat) == own]

    def imagine(self, dice: random.Random) -> World:
        """Put the unseen cards where they may be."""
        cards = dice.sample(self.unseen, len(self.unseen))
        hands: list[Cards] = [()] * self.seats
        for known in self.view.known:
            hands[known.seat] = tuple(known.cards)
        hands[self.seat] = self.hand
        for seat, count in enumerate(self.view.hand_counts):
            missing = count - len(hands[seat])
            hands[seat] += tuple(cards[:missing])
            del cards[:missing]
        banked = [0] * self.seats
        for seat, pile in enumerate(self.view.captured):
            hidden = sum(_thrown(cards) for _ in range(pile.hidden))
            banked[self.side(seat)] += points(pile.cards) + hidden
        return World(hands, banked)

    def prospects(
        self, seat: int, banked: Sequence[float], kept: Iterable[int], leader: int
    ) -> float:
        """The score from -1 to 1 that a seat may expect with these cards and that seat on lead."""
        own, leading = self.side(seat), self.side(leader)
        rival = max(total for side, total in enumerate(banked) if side != own)
        ahead = min(banked[own], self.target) - min(rival, self.target)
        ahead += sum(self._worth(card) for card in kept)
        lead = LEAD
        if self.claims and banked[leading] >= self.target:
            lead += READY
        ahead += lead if leading == own else -lead
        return math.tanh(ahead / CERTAINTY / 2)

    def _worth(self, card: int) -> float:
        if suit(card) == self.trump:
            return TRUMP + TRUMP_RANK * rank(card)
        return ACE if rank(card) == ACE_RANK else 0.0


def _thrown(cards: list[int]) -> int:
    """Take a card that a player may have thrown face down, and return its points."""
    # Of two cards it is the cheaper that is thrown.
    first, second = POINTS[cards[-1]], POINTS[cards[-2]] if len(cards) > 1 else 99
    return POINTS[cards.pop(-1 if first <= second else -2)]


class Trick:
    """A trick under way in an imagined world."""

    def __init__(self, position: Position, world: World) -> None:
        self.position = position
        self.world = world
        self.stake = 0
        self.to_beat: Cards = ()
        self.taker = position.seat
        for play in position.view.table:
            self.put(play.seat, tuple(play.cards), beats=play.beats)

    def put(self, seat: int, cards: Cards, *, beats: bool) -> None:
        """Add a play."""
        self.stake += points(cards)
        if beats:
            self.to_beat, self.taker = cards, seat

    def beaten_by(self, cards: Cards) -> bool:
        """Whether cards beat what is to be beaten."""
        return self.position.beating.all(cards, self.to_beat, self.position.trump)

    def prospects(self, seat: int, kept: Iterable[int]) -> float:
        """The score a seat may expect if the trick ends like this."""
        return self._prospects(seat, kept, self.stake, self.taker)

    def _prospects(self, seat: int, kept: Iterable[int], stake: int, taker: int) -> float:
        banked = list(self.world.banked)
        banked[self.position.side(taker)] += stake
        return self.position.prospects(seat, banked, kept, taker)

    def answer(self, seat: int) -> None:
        """Let a seat play what is best for it if nobody answered after it."""
        hand = self.world.hands[seat]
        best = -math.inf
        for cards in itertools.combinations(hand, min(len(self.to_beat), len(hand))):
            beats = self.beaten_by(cards)
            kept = [card for card in hand if card not in cards]
            taker = seat if beats else self.taker
            value = self._prospects(seat, kept, self.stake + points(cards), taker)
            if value > best:
                best, chosen, beat = value, cards, beats
        self.put(seat, chosen, beats=beat)


class CounterBot:
    """Chooses the action with the best prospects on average."""

    def __init__(self, seed: str | None = None) -> None:
        self._dice = random.Random(seed)

    def choose(self, turn: burabot.Turn) -> int:
        """Return the index of the best action."""
        if len(turn.actions) == 1:
            return 0
        position = Position(turn)
        worlds = [position.imagine(self._dice) for _ in range(WORLDS)]
        values = [_value(position, action, worlds) for action in turn.actions]
        return values.index(max(values))


def _value(position: Position, action: pb.Action, worlds: Sequence[World]) -> float:
    kind = action.kind
    if kind == pb.ACTION_CLAIM:
        return _claim_value(position, worlds)
    if kind == pb.ACTION_OFFER:
        return -math.inf
    if action.cards:
        return sum(_trick_value(position, action, world) for world in worlds) / len(worlds)
    view, hand = position.view, position.hand
    prospects = sum(
        position.prospects(view.seat, world.banked, hand, view.leader) for world in worlds
    )
    return _stake_value(kind, prospects / len(worlds), view.stake)


def _stake_value(kind: int, prospects: float, stake: int) -> float:
    if kind == pb.ACTION_RAISE:
        return prospects * (stake + 1) - RAISE_MARGIN
    if kind == pb.ACTION_ACCEPT:
        return prospects * (stake + 1)
    return -stake if kind == pb.ACTION_DECLINE else prospects * stake


def _claim_value(position: Position, worlds: Sequence[World]) -> float:
    if position.certain >= position.target:
        return 2.0
    side = position.side(position.seat)
    right = sum(world.banked[side] >= position.target for world in worlds) / len(worlds)
    return right - (1 - right) * position.false_claim


def _trick_value(position: Position, action: pb.Action, world: World) -> float:
    trick = Trick(position, world)
    cards = tuple(action.cards)
    hidden = action.kind == pb.ACTION_HIDE
    trick.put(position.seat, cards, beats=not hidden and trick.beaten_by(cards))
    played = {position.seat, *(play.seat for play in position.view.table), *position.view.out}
    for step in range(1, position.seats):
        seat = (position.seat + step) % position.seats
        if seat not in played:
            trick.answer(seat)
    kept = [card for card in position.hand if card not in cards]
    # What lies face down leaves the others to guess.
    return trick.prospects(position.seat, kept) + hidden * 0.001


if __name__ == "__main__":
    burabot.play(CounterBot(os.environ.get("BOT_SEED", "0")).choose, name="counter", version="1")
