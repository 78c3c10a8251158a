"""Whom to let meet next, by what ratings say and do not say yet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.formats.seating import across, fairest
from arena.ratings import TrueSkill

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arena.ratings import Skill
    from referee.shuffle import Stream

    Players = Mapping[int, "Player"]

SYSTEM = TrueSkill()
PLACEMENTS = 4
"""Matches that a newcomer gets at once."""

_FINE = 1_000_000
# Ratings and scores are compared in millionths, so that the last digits of a machine's
# arithmetic decide nothing.
_NEVER = 1_000
_MEMORY = 16


@dataclass(frozen=True, slots=True)
class Player:
    """What the choice of matches knows of an entrant.

    Attributes:
        skill: By the results that count so far.
        games: Matches it has been put into.
        block: The last block that it was put into, 0 for none.
        recent: Whom it met last, the latest first.
        sat: How often it sat at each seat.
    """

    skill: Skill
    games: int
    block: int
    recent: tuple[int, ...]
    sat: tuple[int, ...]

    @property
    def doubt(self) -> float:
        """How uncertain its rating is, 1 for a new entrant."""
        return self.skill.sigma / SYSTEM.sigma


def newcomer(seats: int) -> Player:
    """Return an entrant of whom nothing is known."""
    return Player(SYSTEM.start(), 0, 0, (), (0,) * seats)


def quality(one: Skill, other: Skill) -> float:
    """Return how even a match would be, from 0 to 1.

    It is the chance of a draw relative to that of two equals whose skills are known: equation 7 of
    Herbrich, Minka and Graepel, TrueSkill: A Bayesian Skill Rating System (2006).
    """
    performance = 2 * SYSTEM.beta**2
    spread = performance + one.sigma**2 + other.sigma**2
    return math.sqrt(performance / spread) * math.exp(-((one.mu - other.mu) ** 2) / (2 * spread))


def next_groups(
    players: Players, present: Sequence[int], block: int, matches: int, stream: Stream
) -> list[tuple[int, ...]]:
    """Choose so many matches of different entrants.

    Whoever has waited longest for its doubt begins. Its opponents are those for whom match
    quality, their own doubt and the age of the pairing together are greatest.
    """
    free = list(stream.shuffled(present))
    seats = len(players[free[0]].sat)
    groups: list[tuple[int, ...]] = []
    for _ in range(matches):
        group = [max(free, key=lambda one: _urgency(players[one], block))]
        free.remove(group[0])
        while len(group) < seats:
            chosen = max(free, key=lambda one: _fit(players, group, one, len(present)))
            free.remove(chosen)
            group.append(chosen)
        groups.append(tuple(group))
    return groups


def placements(
    players: Players, one: int, others: Sequence[int], stream: Stream
) -> list[tuple[int, ...]]:
    """Choose a newcomer's first matches, from the weakest opponents to the strongest.

    Each part of the ranking gives the opponents of one match, those whose rating is surest.
    """
    opponents = len(players[one].sat) - 1
    matches = min(PLACEMENTS, len(others) // opponents)
    ranked = sorted(stream.shuffled(others), key=lambda other: _fine(players[other].skill.mu))
    groups: list[tuple[int, ...]] = []
    for match in range(matches):
        part = ranked[len(ranked) * match // matches : len(ranked) * (match + 1) // matches]
        part.sort(key=lambda other: _fine(players[other].skill.sigma))
        groups.append((one, *part[:opponents]))
    return groups


def seated(players: Players, group: Sequence[int], *, rotating: bool) -> tuple[int, ...]:
    """Return a group in its seats; where partners are drawn, in the most even sides."""
    sat = {(one, seat): often for one in group for seat, often in enumerate(players[one].sat)}
    if not rotating:
        return fairest(group, sat)
    mu = {one: players[one].skill.mu for one in group}
    total = sum(mu.values())
    first = group[0]
    partner = min(group[1:], key=lambda one: _fine(abs(total - 2 * (mu[first] + mu[one]))))
    return fairest(group, sat, across(group, first, partner))


def booked(player: Player, seats: Sequence[int], seat: int, block: int, field: int) -> Player:
    """Return what is known of an entrant once it is put into a match."""
    met = tuple(one for place, one in enumerate(seats) if place != seat)
    sat = tuple(often + (place == seat) for place, often in enumerate(player.sat))
    remembered = (met + player.recent)[: _remembered(field, len(seats))]
    return Player(player.skill, player.games + 1, block, remembered, sat)


def _remembered(field: int, seats: int) -> int:
    """Return how many opponents back a pairing still counts as recent."""
    return max(min(field - 1, _MEMORY), seats - 1)


def _urgency(player: Player, block: int) -> int:
    waited = block - player.block if player.games else _NEVER + block
    return _fine(player.doubt * waited)


def _fit(players: Players, group: Sequence[int], one: int, field: int) -> int:
    candidate = players[one]
    fit = sum(
        quality(players[member].skill, candidate.skill)
        * _age(players[member], one, _remembered(field, len(candidate.sat)))
        for member in group
    )
    return _fine(fit * candidate.doubt)


def _age(player: Player, opponent: int, remembered: int) -> float:
    """Return how long ago two met, from nearly 0 for just now to 1 for beyond memory."""
    if opponent not in player.recent:
        return 1.0
    return (player.recent.index(opponent) + 1) / (remembered + 1)


def _fine(value: float) -> int:
    return round(value * _FINE)
