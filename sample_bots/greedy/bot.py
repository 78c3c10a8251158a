"""Takes what it can get now: beats when it pays, claims when it sees enough points.

It remembers nothing, looks at each turn alone, and reads the rules it plays by from the options.
"""

from collections.abc import Sequence

import burabot
from burabot import bot_pb2 as pb
from burabot.cards import POINTS, points, suit

# A trump is worth keeping as much as a plain card of this many points.
TRUMP_WORTH = 6


def choose(turn: burabot.Turn) -> int:
    """Return the index of the action that looks best at this moment."""
    actions = turn.actions
    kinds = [action.kind for action in actions]
    if pb.ACTION_CLAIM in kinds and can_claim(turn):
        return kinds.index(pb.ACTION_CLAIM)
    if pb.ACTION_STOP in kinds:
        return kinds.index(pb.ACTION_STOP)
    for kind in (pb.ACTION_PASS, pb.ACTION_ACCEPT, pb.ACTION_RED):
        if kind in kinds:
            return kinds.index(kind)
    if turn.kind == pb.TURN_RESPOND:
        return respond(turn)
    return lead(turn)


def can_claim(turn: burabot.Turn) -> bool:
    """Whether the captured cards of this side that this seat has seen reach the target."""
    view, side = turn.view, turn.game.side
    piles = [pile for seat, pile in enumerate(view.captured) if side(seat) == side(view.seat)]
    return sum(points(pile.cards) for pile in piles) >= int(turn.game.options["target"])


def respond(turn: burabot.Turn) -> int:
    """Beat with the cheapest cards if that wins points, else throw the cheapest away."""
    view = turn.view
    to_beat = [play for play in view.table if play.beats][-1].cards
    beats = turn.game.beating.all
    won = sum(points(play.cards) for play in view.table)
    winning = [
        (cost(action.cards, view.trump), index)
        for index, action in enumerate(turn.actions)
        if action.kind == pb.ACTION_PLAY and beats(action.cards, to_beat, view.trump)
    ]
    if winning:
        price, index = min(winning)
        if won + points(turn.actions[index].cards) > 0 and won + TRUMP_WORTH >= price:
            return index
    return min(range(len(turn.actions)), key=lambda index: throw_cost(turn, index))


def throw_cost(turn: burabot.Turn, index: int) -> tuple[int, int, bool]:
    """What it costs to give these cards to whoever takes the trick; face down tells less."""
    action = turn.actions[index]
    return (
        action.kind not in (pb.ACTION_PLAY, pb.ACTION_HIDE),
        cost(action.cards, turn.view.trump),
        action.kind != pb.ACTION_HIDE,
    )


def lead(turn: burabot.Turn) -> int:
    """Lead as many cards as possible, the cheapest of them."""
    view = turn.view
    return min(
        (index for index, action in enumerate(turn.actions) if action.kind == pb.ACTION_LEAD),
        key=lambda index: (
            -len(turn.actions[index].cards),
            cost(turn.actions[index].cards, view.trump),
        ),
    )


def cost(cards: Sequence[int], trump: int) -> int:
    """What it costs to part with cards."""
    return sum(POINTS[card] + (TRUMP_WORTH if suit(card) == trump else 0) for card in cards)


if __name__ == "__main__":
    burabot.play(choose, name="greedy", version="1")
