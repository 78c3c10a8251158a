"""Who meets whom in a Swiss round: matchings of the greatest weight, and rounds of a circle.

Every function is pure and remembers its last answers: a schedule is asked for again and again,
and each time its old rounds come out the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

from referee.shuffle import Stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Pair = tuple[int, int]
Round = tuple[tuple[Pair, ...], int | None]
"""The pairs, who sits first named first, and who has the bye."""

BYE = -1
_NEIGHBOURS = 8
_MOST_APART = 2
_REMEMBERED = 512
# How many bits the sum of each part of a cost may take, what counts most first.
_BITS = (24, 16, 12, 32, 12, 44)


@dataclass(frozen=True, slots=True)
class Player:
    """One entrant before a round.

    Attributes:
        entrant: Its number.
        half_points: Twice its points.
        firsts: How much more often it sat first than second.
        last_seat: Where it sat last, -1 without a match.
        had_bye: Whether it has had one.
    """

    entrant: int
    half_points: int
    firsts: int
    last_seat: int
    had_bye: bool


_NOBODY = Player(BYE, 0, 0, -1, had_bye=False)


@dataclass(frozen=True, slots=True)
class Position:
    """All that the pairing of a round depends on.

    Attributes:
        seed: 32 bytes from which lots are drawn.
        round: Its number.
        players: Who is in, in the order of their seeding.
        met: How often two have met, by the two, the smaller number first.
    """

    seed: bytes
    round: int
    players: tuple[Player, ...]
    met: tuple[tuple[Pair, int], ...]


def first_round(position: Position) -> Round:
    """Pair the upper half of the field with the lower half; of an odd number the last sits out."""
    players = position.players
    half = len(players) // 2
    pairs = tuple(
        (lower.entrant, upper.entrant) if place % 2 else (upper.entrant, lower.entrant)
        for place, (upper, lower) in enumerate(
            zip(players[:half], players[half : 2 * half], strict=True)
        )
    )
    return pairs, players[-1].entrant if len(players) % 2 else None


@lru_cache(_REMEMBERED)
def next_round(position: Position) -> Round:
    """Pair equals with equals, nobody with whom it has met if that can be done at all.

    Neighbours by score are tried first: among two hundred entrants the whole graph takes seconds.
    """
    stream = Stream(position.seed, "swiss", position.round, 0)
    drawn = stream.shuffled(position.players)
    order = sorted(drawn, key=lambda player: -player.half_points)
    if len(order) % 2:
        order.append(_NOBODY)
    met = dict(position.met)
    fresh = [pair for pair in combinations(order, 2) if not _times(met, *pair)]
    for candidates in (_near(fresh), fresh, list(combinations(order, 2))):
        matched = _matched(candidates, met, stream)
        if 2 * len(matched) == len(order):
            break
    return _as_round(position, matched, order)


@lru_cache(_REMEMBERED)
def circle_round(position: Position) -> Round:
    """Play that round of a round robin, of those not played yet, which fits the scores best."""
    stream = Stream(position.seed, "circle", 0, 0)
    places = list(position.players)
    if len(places) % 2:
        places.append(_NOBODY)
    order = stream.shuffled(places)
    met = dict(position.met)
    rounds = [
        [(order[one], order[other]) for one, other in round_]
        for round_ in _circle(len(order))
        if not any(_times(met, order[one], order[other]) for one, other in round_)
    ]
    best = min(rounds, key=lambda pairs: sum(_cost(met, *pair) for pair in pairs))
    return _as_round(position, best, order)


def _circle(places: int) -> Iterator[list[Pair]]:
    """Give the rounds in which an even number of places all meet once."""
    turning = places - 1
    for turn in range(turning):
        steps = range(1, places // 2)
        across = [((turn + step) % turning, (turn - step) % turning) for step in steps]
        yield [(turn, turning), *across]


def _near(pairs: Iterable[tuple[Player, Player]]) -> list[tuple[Player, Player]]:
    """Keep for each player its next few, and for the bye the last few, in the order given."""
    kept: list[tuple[Player, Player]] = []
    taken: dict[int, int] = {}
    byes: list[tuple[Player, Player]] = []
    for one, other in pairs:
        if other is _NOBODY:
            byes.append((one, other))
        elif taken.setdefault(one.entrant, 0) < _NEIGHBOURS:
            taken[one.entrant] += 1
            kept.append((one, other))
    return kept + byes[-_NEIGHBOURS:]


def _matched(
    pairs: Sequence[tuple[Player, Player]], met: dict[Pair, int], stream: Stream
) -> list[tuple[Player, Player]]:
    """Return as many disjoint pairs as possible at the least cost.

    Each pair's cost ends in a lot of 32 bits. So there is one best answer, and it does not depend
    on the order in which the library happens to look.
    """
    # Every command would wait for this import, and only this one function needs it.
    import networkx as nx  # noqa: PLC0415

    graph: nx.Graph[int] = nx.Graph()
    by_entrant: dict[int, Player] = {}
    for one, other in pairs:
        by_entrant[one.entrant], by_entrant[other.entrant] = one, other
        cost = (_cost(met, one, other) << _BITS[-1]) + stream.word()
        graph.add_edge(one.entrant, other.entrant, weight=-cost)
    matching = nx.max_weight_matching(graph, maxcardinality=True)
    return [(by_entrant[one], by_entrant[other]) for one, other in matching]


def _cost(met: dict[Pair, int], one: Player, other: Player) -> int:
    """Return what speaks against a pair, what counts most in the highest bits.

    A meeting or a bye again; a bye for one of many points; a seat that makes an entrant sit first
    or second three times more often than the other way; the square of the difference in points; a
    seat that one has had too often.
    """
    if BYE in (one.entrant, other.entrant):
        player = one if other.entrant == BYE else other
        parts = (_times(met, one, other), player.half_points, 0, 0, 0)
    else:
        less, more = sorted((one.firsts, other.firsts))
        parts = (
            _times(met, one, other),
            0,
            int(less >= _MOST_APART) + int(more <= -_MOST_APART),
            (one.half_points - other.half_points) ** 2,
            int(less > 0) + int(more < 0),
        )
    cost = 0
    for part, bits in zip(parts, _BITS[:-1], strict=True):
        cost = (cost << bits) + part
    return cost


def _times(met: dict[Pair, int], one: Player, other: Player) -> int:
    """Return how often two have met, and for the bye how often one has had it."""
    if BYE in (one.entrant, other.entrant):
        return int(one.had_bye or other.had_bye)
    pair = (min(one.entrant, other.entrant), max(one.entrant, other.entrant))
    return met.get(pair, 0)


def _as_round(
    position: Position, pairs: Iterable[tuple[Player, Player]], order: Sequence[Player]
) -> Round:
    """Seat the pairs, the leaders' first."""
    place = {player.entrant: number for number, player in enumerate(order)}
    stream = Stream(position.seed, "seats", position.round, 0)
    seated: list[tuple[tuple[int, int], Pair]] = []
    bye = None
    ordered = [sorted(pair, key=lambda player: place[player.entrant]) for pair in pairs]
    ordered.sort(key=lambda pair: place[pair[0].entrant])
    for one, other in ordered:
        if BYE in (one.entrant, other.entrant):
            bye = max(one.entrant, other.entrant)
            continue
        by_right = sorted(stream.shuffled((one, other)), key=_seat_right)
        points = sorted((-one.half_points, -other.half_points))
        seated.append(((points[0], points[1]), (by_right[0].entrant, by_right[1].entrant)))
    seated.sort(key=lambda item: item[0])
    return tuple(pair for _, pair in seated), bye


def _seat_right(player: Player) -> tuple[int, int]:
    """Order players by their right to sit first: who did so less, then who sat second last."""
    return player.firsts, -player.last_seat
