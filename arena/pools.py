"""The parameters of pools: `ratings.toml` in the arena's folder.

A pool is all matches by the same rules, with as many seats, in the same match format. Nothing of
it is stored with the results: change the file, and all ratings are what they would have been.
"""

from __future__ import annotations

import sys
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from arena.errors import ArenaError, RefusedError, with_near
from arena.ratings import find_rating, with_parameters
from arena.rulebook import find_game, is_same_game

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from arena.home import Home
    from arena.ratings import RatingSystem
    from referee.rules import Rules

FILE = "ratings.toml"
DEFAULT_RATING = "trueskill"

_TABLES = ("rating", "pool", "trueskill", "openskill")
_POOL = ("variant", "rules", "seats", "match_format", "rating", "trueskill", "openskill")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """What matches have in common whose results are rated together."""

    rules: Rules
    seats: int
    match_format: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the command line asks for instead of what the file says; None leaves it to the file."""

    rating: str | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)


def rating_of(home: Home, pool: Pool, wish: Wish | None = None) -> tuple[str, RatingSystem]:
    """Return the rating system of a pool, with its name.

    What is said of all pools goes first, then each `[[pool]]` that fits in the order of the file,
    then what the command line asks for.

    Raises:
        NotFoundError: The rating system asked for is unknown.
        RefusedError: The file cannot be read as what it should be, or a parameter is impossible.
    """
    wished = wish or Wish()
    if wished.rating is not None:
        find_rating(wished.rating)
    with _blamed_on(home.path / FILE):
        settings = _read(home.path / FILE)
        fitting = [
            settings,
            *(each for each in settings.get("pool", []) if _fits(home, each, pool)),
        ]
        name = wished.rating or next(
            (str(each["rating"]) for each in reversed(fitting) if "rating" in each), DEFAULT_RATING
        )
        parameters: dict[str, float] = {}
        for each in fitting:
            parameters |= each.get(name, {})
        with_parameters(name, parameters)
    return name, with_parameters(name, {**parameters, **wished.parameters})


@contextmanager
def _blamed_on(path: Path) -> Iterator[None]:
    """Say in which file the mistake is."""
    try:
        yield
    except ArenaError as error:
        raise RefusedError(f"{path}: {error.message}", error.hint) from error


def _fits(home: Home, wanted: Mapping[str, Any], pool: Pool) -> bool:
    if wanted.get("seats", pool.seats) != pool.seats:
        return False
    if wanted.get("match_format", pool.match_format) != pool.match_format:
        return False
    if "variant" not in wanted:
        return True
    game = find_game(home, wanted["variant"], wanted.get("rules", []))
    return is_same_game(game.rules, pool.rules)


def _read(path: Path) -> dict[str, Any]:
    try:
        settings = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (ValueError, OSError) as error:
        raise RefusedError(f"it cannot be read: {error}", "docs/ratings.md shows one") from error
    _check(settings, _TABLES)
    pools = settings.get("pool", [])
    if not (isinstance(pools, list) and all(isinstance(pool, dict) for pool in pools)):
        raise RefusedError("pool is no list of tables", "write [[pool]] above each")
    for pool in pools:
        _check(pool, _POOL)
        if "rules" in pool and "variant" not in pool:
            raise RefusedError(
                "a [[pool]] has rules but no variant", "name the variant they change"
            )
    return settings


def _check(table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key, value in table.items():
        if key not in known:
            hint = with_near(f"expected {', '.join(known)}", key, known)
            raise RefusedError(f"unknown key {key!r}", hint)
        expected, fits = _FORMS[key]
        if not fits(value):
            raise RefusedError(f"{key} is {value!r}", f"expected {expected}")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_whole(value: object) -> bool:
    return type(value) is int


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_numbers(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_number, value.values()))


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    # A whole number of TOML may be too large for a float.
    return isinstance(value, float) or abs(value) <= sys.float_info.max


_FORMS = {
    "rating": ("the name of a rating system", _is_text),
    "variant": ("the name of a variant or of saved rules", _is_text),
    "rules": ('a list such as ["target=41"]', _is_texts),
    "seats": ("a whole number", _is_whole),
    "match_format": ("the name of a match format", _is_text),
    "trueskill": ("a table of numbers", _is_numbers),
    "openskill": ("a table of numbers", _is_numbers),
    "pool": ("[[pool]] above each", lambda _: True),
}
