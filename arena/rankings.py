"""The tables of one tournament, by bots and by pairs, or of all tournaments in one game."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from arena import queries
from arena.formats import Partners
from arena.ratings import find_rating, fold
from arena.rulebook import is_same_game
from arena.standings import standings
from arena.stats import by_pairs, pair_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.standings import Standing
    from arena.stats import PlayedMatch
    from arena.store import Store
    from referee.rules import Rules

DEFAULT_RATING = "trueskill"


def tournament_table(store: Store, name: str, rating: str = DEFAULT_RATING) -> tuple[Standing, ...]:
    """Return the table of one tournament, best rating first, all its entrants in it.

    Raises:
        NotFoundError: No tournament or rating system has this name.
    """
    info = queries.tournament(store, name)
    entrants = [entrant.name for entrant in info.entrants]
    return _table(queries.played_matches(store, info.name), entrants, rating)


def pair_table(store: Store, name: str, rating: str = DEFAULT_RATING) -> tuple[Standing, ...]:
    """Return the table of a tournament by pairs, best rating first; empty without pairs.

    Pairs that stay together are all in it, others once they have played.

    Raises:
        NotFoundError: No tournament or rating system has this name.
    """
    info = queries.tournament(store, name)
    if info.partners is Partners.NONE:
        return ()
    pairs = [pair_label(bot.name for bot in pair) for pair in info.pairs]
    return _table(by_pairs(queries.played_matches(store, info.name)), pairs, rating)


def variant_table(store: Store, rules: Rules, rating: str = DEFAULT_RATING) -> tuple[Standing, ...]:
    """Return the table of all tournaments in a game, rated in the order of their creation.

    A tournament counts if its deals were played by these rules, whatever they were called.

    Raises:
        NotFoundError: No rating system has this name.
    """
    numbers = count(1)
    matches: list[PlayedMatch] = []
    entrants: dict[str, None] = {}
    for info in queries.tournaments(store):
        if is_same_game(info.rules, rules):
            entrants |= dict.fromkeys(entrant.name for entrant in info.entrants)
            played = queries.played_matches(store, info.name)
            matches += [replace(match, number=next(numbers)) for match in played]
    return _table(matches, list(entrants), rating)


def _table(
    matches: Sequence[PlayedMatch], entrants: Sequence[str], rating: str
) -> tuple[Standing, ...]:
    return standings(matches, entrants, fold(matches, find_rating(rating), entrants))
