"""The tables of one tournament, or of all tournaments in one variant."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from arena import queries
from arena.ratings import find_rating, fold
from arena.standings import standings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.standings import Standing
    from arena.stats import PlayedMatch
    from arena.store import Store

DEFAULT_RATING = "trueskill"


def tournament_table(store: Store, name: str, rating: str = DEFAULT_RATING) -> tuple[Standing, ...]:
    """Return the table of one tournament, best rating first, all its entrants in it.

    Raises:
        NotFoundError: No tournament or rating system has this name.
    """
    info = queries.tournament(store, name)
    entrants = [entrant.name for entrant in info.entrants]
    return _table(queries.played_matches(store, info.name), entrants, rating)


def variant_table(store: Store, variant: str, rating: str = DEFAULT_RATING) -> tuple[Standing, ...]:
    """Return the table of all tournaments in a variant, rated in the order of their creation.

    Raises:
        NotFoundError: No rating system has this name.
    """
    numbers = count(1)
    matches: list[PlayedMatch] = []
    entrants: dict[str, None] = {}
    for info in queries.tournaments(store):
        if info.variant == variant:
            entrants |= dict.fromkeys(entrant.name for entrant in info.entrants)
            played = queries.played_matches(store, info.name)
            matches += [replace(match, number=next(numbers)) for match in played]
    return _table(matches, list(entrants), rating)


def _table(
    matches: Sequence[PlayedMatch], entrants: Sequence[str], rating: str
) -> tuple[Standing, ...]:
    return standings(matches, entrants, fold(matches, find_rating(rating), entrants))
