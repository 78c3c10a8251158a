"""What formats refuse, in one wording."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.errors import RefusedError
from arena.formats.base import Partners

if TYPE_CHECKING:
    from collections.abc import Collection

    from arena.formats.base import Plan

MOST_MATCHES = 200_000
"""Of one tournament. More would not be played in a year, and not fit in memory."""

_SEATS_WITH_PARTNERS = 4


def refuse_options(name: str, plan: Plan, known: Collection[str] = ()) -> None:
    """Refuse options that mean nothing to a format.

    Raises:
        RefusedError: One is set and not among the known.
    """
    for option, value in plan.options.to_dict().items():
        if option not in known:
            word = ("no-" if value is False else "") + option.replace("_", "-")
            raise RefusedError(
                f"{name} has no use for --{word}", f"see `arena formats {name}` for what it takes"
            )


def refuse_seats(name: str, plan: Plan, least: int, most: int, instead: str) -> None:
    """Refuse matches of a size that a format does not hold.

    Raises:
        RefusedError: Telling what to take instead.
    """
    if not least <= plan.seats <= most:
        expected = f"{least}" if least == most else f"{least} to {most}"
        raise RefusedError(
            f"{name} is for matches of {expected}, not of {plan.seats}", f"choose {instead}"
        )


def refuse_rotating(name: str, plan: Plan) -> None:
    """Refuse partners that change.

    Raises:
        RefusedError: They would.
    """
    if plan.partners is Partners.ROTATING:
        raise RefusedError(
            f"{name} does not draw partners",
            "enter pairs, alice+bob, or choose round-robin, pods or ladder",
        )


def refuse_partners_but_in_fours(name: str, plan: Plan) -> None:
    """Refuse to draw partners for any but matches of four.

    Raises:
        RefusedError: That was asked for.
    """
    if plan.partners is Partners.ROTATING and plan.seats != _SEATS_WITH_PARTNERS:
        raise RefusedError(
            f"{name} draws partners for matches of {_SEATS_WITH_PARTNERS}, not of {plan.seats}",
            "choose round-robin",
        )


def refuse_too_many(matches: int, hint: str) -> None:
    """Refuse schedules without a sensible end.

    Raises:
        RefusedError: They hold more matches than any tournament does.
    """
    if matches > MOST_MATCHES:
        raise RefusedError(f"this would be {matches} matches, {MOST_MATCHES} are the most", hint)
