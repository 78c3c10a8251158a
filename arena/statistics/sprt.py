"""A sequential test of which of two bots is stronger, on their scores per deck.

It is the generalised sequential probability ratio test that engine testers run (GSPRT), in the
model of normalised Elo. The unit is a deck over all its rotations, and the distribution of its
scores is not assumed to be of any kind: both hypotheses take the likeliest distribution, on the
values that can occur, whose mean is so many standard deviations above 0. The highest win and loss
that the rules allow can always occur: a bot that loses very much very seldom looks better than it
is until it does, and only a hypothesis that may reckon with the loss can wait for it.

Sources: Michel Van den Bergh, "Comments on Normalized Elo", "Normalized Elo in practice" and "The
generalized maximum likelihood ratio for the expectation value of a distribution", as used by
fishtest and fastchess. Published results of both are among the tests.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from arena.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from fractions import Fraction

ELO_PER_DEVIATION = 800 / math.log(10)
"""Normalised Elo of a score per deal that is one standard deviation of a deal above 0."""

HIGHEST_ELO = 100
"""Of a hypothesis; what differs by more shows without a test."""

LEAST_SPAN = 0.5
"""Between the hypotheses: about a million decks, more than a comparison may play."""

LEAST_RATE = 1e-6
"""Of errors: a test that errs more seldom would not end."""

_UNSEEN = 1e-3
_ROUNDS = 50
_CLOSE = 1e-9


class Verdict(StrEnum):
    """What a test says so far."""

    CONTINUE = "continue"
    H0 = "H0"
    H1 = "H1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sprt:
    """A test between two hypotheses in normalised Elo.

    Attributes:
        elo0: Of the hypothesis H0, that the first bot is no better than this.
        elo1: Of the hypothesis H1, that it is at least so much better.
        alpha: How often H1 may be accepted though H0 holds.
        beta: How often H0 may be accepted though H1 holds.
    """

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        """Refuse a test that could not end or tell anything.

        Raises:
            RefusedError: Naming the parameter that is out of its range.
        """
        if not -HIGHEST_ELO <= self.elo0 < self.elo1 <= HIGHEST_ELO:
            raise RefusedError(
                f"elo0={self.elo0:g} elo1={self.elo1:g}",
                f"expected elo0 below elo1, both from -{HIGHEST_ELO} to {HIGHEST_ELO}",
            )
        if self.elo1 - self.elo0 < LEAST_SPAN:
            raise RefusedError(
                f"elo0={self.elo0:g} elo1={self.elo1:g} would hardly ever end",
                f"expected elo1 at least {LEAST_SPAN} above elo0",
            )
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not LEAST_RATE <= value < 1 / 2:
                raise RefusedError(
                    f"{name}={value:g}", f"expected {LEAST_RATE:f} or more, and below 0.5"
                )

    @property
    def lower(self) -> float:
        """The log-likelihood ratio at which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The log-likelihood ratio at which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def ratio(
        self, scores: Iterable[float | Fraction], rotations: int, highest: float | Fraction
    ) -> float:
        """Return the log-likelihood ratio of H1 to H0.

        Args:
            scores: The first bot's score in each deck over all its rotations.
            rotations: How many deals a deck is.
            highest: The highest score there is, in the same unit; the lowest is its opposite.
        """
        counts = _regular(Counter(map(float, scores)), float(highest))
        deviations = math.sqrt(rotations) / ELO_PER_DEVIATION
        weights = tuple(counts.values())
        values = tuple(counts)
        under0 = _likeliest(values, weights, self.elo0 * deviations)
        under1 = _likeliest(values, weights, self.elo1 * deviations)
        return math.fsum(
            weight * math.log(one / zero)
            for weight, zero, one in zip(weights, under0, under1, strict=True)
        )

    def verdict(self, ratio: float) -> Verdict:
        """Return what a log-likelihood ratio decides."""
        if ratio >= self.upper:
            return Verdict.H1
        return Verdict.H0 if ratio <= self.lower else Verdict.CONTINUE


def _regular(counts: Mapping[float, int], highest: float) -> dict[float, float]:
    """Return counts in which the extremes, and what one bot had for the other, were hardly seen."""
    highest = max(highest, *map(abs, counts)) or 1.0
    values = {*counts, *(-value for value in counts), -highest, 0.0, highest}
    return {value: counts.get(value, 0) or _UNSEEN for value in sorted(values)}


def _likeliest(
    values: Sequence[float], weights: Sequence[float], deviations: float
) -> tuple[float, ...]:
    """Return the likeliest probabilities whose mean is so many of their standard deviations.

    There may be one that is likeliest among those near what was seen and another among those with
    weight far out, so that the search begins at both.

    Args:
        values: In ascending order, from a loss to a win as high.
        weights: How often each was seen.
        deviations: Above -1 and below 1, so that there is something to find from far out.
    """
    total = math.fsum(weights)
    seen = tuple(weight / total for weight in weights)
    far = (0.5, *(0.0 for _ in values[2:]), 0.5)
    found = (_likeliest_from(start, values, seen, deviations) for start in (far, seen))
    return max(
        filter(None, found),
        key=lambda chances: math.fsum(
            p * math.log(chance) for p, chance in zip(seen, chances, strict=True)
        ),
    )


def _likeliest_from(
    chances: tuple[float, ...], values: Sequence[float], seen: Sequence[float], deviations: float
) -> tuple[float, ...] | None:
    """Return the likeliest probabilities that the search finds from these, None if it has no way.

    The constraint is not linear in the probabilities; it is replaced by its tangent at the last
    solution until this moves no more.
    """
    for _ in range(_ROUNDS):
        mean = math.fsum(v * p for v, p in zip(values, chances, strict=True))
        spread = math.sqrt(
            math.fsum((v - mean) ** 2 * p for v, p in zip(values, chances, strict=True))
        )
        tangent = [v - deviations * spread * (1 + ((v - mean) / spread) ** 2) / 2 for v in values]
        if not min(tangent) < 0 < max(tangent):
            return None
        before, chances = chances, _likeliest_at_zero(tangent, seen)
        if max(abs(a - b) for a, b in zip(before, chances, strict=True)) < _CLOSE:
            break
    return chances


def _likeliest_at_zero(values: Sequence[float], seen: Sequence[float]) -> tuple[float, ...]:
    """Return the likeliest probabilities under which the mean of the values is 0."""
    low, high = -1 / max(values), -1 / min(values)
    close = 1e-14 * (high - low)
    x = 0.0
    for _ in range(200):
        terms = [v / (1 + x * v) for v in values]
        height = math.fsum(p * t for p, t in zip(seen, terms, strict=True))
        if height > 0:
            low = x
        else:
            high = x
        following = x + height / math.fsum(p * t * t for p, t in zip(seen, terms, strict=True))
        if abs(following - x) <= close:
            break
        x = following if low < following < high else (low + high) / 2
    return tuple(p / (1 + x * v) for p, v in zip(seen, values, strict=True))
