"""The order of the entrants: best rating first, from what they did in the same game."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from arena import queries
from arena.entries import Entry
from arena.rankings import pool_of, pool_ranking
from arena.rulebook import is_same_game

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arena.infos import BotVersionInfo
    from arena.pools import Pool
    from arena.store import Store


def ratings_of(store: Store, pool: Pool) -> dict[str, float]:
    """Return the rating of every bot that played the game of a pool, by "name@version".

    The game may have been played by other numbers of bots and in other match formats, too, which
    are other pools. Of a bot that is in several the rating in the pool itself is taken, else that
    in the one in which it played most, of equals that in the newest.
    """
    infos = queries.tournaments(store)
    pools = dict.fromkeys(pool_of(info) for info in infos if is_same_game(info.rules, pool.rules))
    found: dict[str, tuple[bool, int, float]] = {}
    for other in pools:
        for row in pool_ranking(store, other).table():
            if row.rating is None or not row.rating.games:
                continue
            weight = (other == pool, row.rating.games)
            if weight >= found.get(row.entrant, (False, 0))[:2]:
                found[row.entrant] = (*weight, row.rating.shown)
    return {entrant: shown for entrant, (_, _, shown) in found.items()}


def by_rating(entries: Sequence[Entry], ratings: Mapping[str, float]) -> list[Entry]:
    """Return bots, or pairs by their mean, best rating first; who has none comes last, as given.

    A version without a rating is taken for the newest version of the same bot that has one.
    """
    pairs: dict[int, list[Entry]] = {}
    for place, entry in enumerate(entries):
        pairs.setdefault(place if entry.pair is None else entry.pair, []).append(entry)

    def strength(group: list[Entry]) -> float:
        known = [_rating(entry.bot, ratings) for entry in group]
        return sum(known) / len(known)

    ordered = sorted(pairs.values(), key=strength, reverse=True)
    return [
        Entry(entry.bot, None if entry.pair is None else number)
        for number, group in enumerate(ordered)
        for entry in group
    ]


def _rating(bot: BotVersionInfo, ratings: Mapping[str, float]) -> float:
    if bot.label in ratings:
        return ratings[bot.label]
    labels = (label.rpartition("@") for label in ratings)
    numbers = [int(number) for name, _, number in labels if name == bot.name]
    return ratings[f"{bot.name}@{max(numbers)}"] if numbers else -math.inf
