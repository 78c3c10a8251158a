"""Pairs: who sits across from whom, and pairs that stay together in any format made for two."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from arena.formats.base import Partners

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from arena.formats.base import Format, Pairing, Plan
    from referee.rules import Rules


def sides_of(rules: Rules, seats: int) -> tuple[int, ...]:
    """Return the side of each seat, empty where each plays for itself."""
    return tuple(seat % 2 for seat in range(seats)) if rules.sides == "pairs" else ()


def between_pairs(
    format_: Format, plan: Plan, results: Mapping[int, tuple[Fraction, ...]]
) -> tuple[Pairing, ...]:
    """Let a format pair the pairs as if each were one entrant, and seat partners across."""
    pairs = replace(plan, entrants=plan.entrants // 2, seats=2, partners=Partners.NONE)
    by_pair = {
        number: ((one + other) / 2, (two + opposite) / 2)
        for number, (one, two, other, opposite) in results.items()
    }
    return tuple(
        replace(pairing, seats=_seats(*pairing.seats)) for pairing in format_(pairs, by_pair)
    )


def _seats(pair: int, against: int) -> tuple[int, ...]:
    return (2 * pair, 2 * against, 2 * pair + 1, 2 * against + 1)
