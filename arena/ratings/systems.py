"""The rating systems by name, and with parameters of a pool's own."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from arena.errors import NotFoundError, RefusedError, with_near
from arena.ratings.open_skill import OpenSkill
from arena.ratings.true_skill import TrueSkill

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arena.ratings.base import RatingSystem

RATINGS: Mapping[str, RatingSystem] = {"trueskill": TrueSkill(), "openskill": OpenSkill()}


def find_rating(name: str) -> RatingSystem:
    """Return the rating system of this name.

    Raises:
        NotFoundError: No system has it; the known names are listed.
    """
    try:
        return RATINGS[name]
    except KeyError:
        known = ", ".join(sorted(RATINGS))
        raise NotFoundError(f"unknown rating system {name!r}", f"known are: {known}") from None


def with_parameters(name: str, parameters: Mapping[str, float]) -> RatingSystem:
    """Return a rating system with some of its parameters set.

    Raises:
        NotFoundError: No system has this name.
        RefusedError: The system has no such parameter, or not of this value.
    """
    system: Any = find_rating(name)
    known = [each.name for each in fields(system)]
    for parameter in parameters:
        if parameter not in known:
            hint = with_near(f"it has {', '.join(known)}", parameter, known)
            raise RefusedError(f"{name} has no parameter {parameter!r}", hint)
    changed: RatingSystem = replace(system, **parameters)
    return changed
