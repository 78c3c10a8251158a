"""Intervals around the mean of independent units, by Student's t: pure arithmetic."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95
_NEARLY_NORMAL = 1e6
_TINY = 1e-300


class Spread(NamedTuple):
    """The variance of a mean, and the degrees of freedom it is known with."""

    variance: float
    freedom: float

    @property
    def half_width(self) -> float:
        """Half the 95% interval around the mean."""
        return student_quantile((1 + CONFIDENCE) / 2, self.freedom) * math.sqrt(self.variance)

    def superiority(self, mean: float) -> float:
        """Return how likely it is that the true mean is above 0, given the one observed."""
        return student_below(mean / math.sqrt(self.variance), self.freedom)


def interval(units: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean of independent units and half its 95% interval; see `spread_of` for None."""
    spread = spread_of([units])
    return math.fsum(units) / len(units), None if spread is None else spread.half_width


def spread_of(strata: Sequence[Sequence[float]]) -> Spread | None:
    """Return how well the mean of all units is known.

    None for a single unit, and where nothing varies: units that are all equal, within each of
    their strata, tell nothing of what else could have been.

    Args:
        strata: Units that differ by chance only, apart from others; none is empty. The degrees of
            freedom are Welch's and Satterthwaite's.
    """
    if any(len(stratum) == 1 for stratum in strata):
        # A single unit says nothing of its stratum: all together errs on the wide side.
        strata = [[unit for stratum in strata for unit in stratum]]
    total = sum(map(len, strata))
    if total == 1:
        return None
    parts = [_variance(stratum) * len(stratum) / total**2 for stratum in strata]
    variance = math.fsum(parts)
    if not variance:
        return None
    squares = math.fsum(
        (part / variance) ** 2 / (len(stratum) - 1)
        for part, stratum in zip(parts, strata, strict=True)
    )
    return Spread(variance, 1 / squares)


@lru_cache(maxsize=1024)
def student_quantile(probability: float, freedom: float) -> float:
    """Return the quantile of Student's t, exact to ten digits.

    Args:
        probability: Above 1/2 and below 1.
        freedom: Degrees of freedom, above 0, not necessarily whole. From a million on the normal
            quantile is returned, which is within 1e-5 of it for probabilities up to 0.999.
    """
    if freedom >= _NEARLY_NORMAL:
        return NormalDist().inv_cdf(probability)
    tails = 2 * (1 - probability)
    low, high = 0.0, 1.0
    while _student_tails(high, freedom) > tails:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        if _student_tails(middle, freedom) > tails:
            low = middle
        else:
            high = middle
    return middle


def student_below(t: float, freedom: float) -> float:
    """Return the probability that Student's t is below a value."""
    tail = _student_tails(abs(t), freedom) / 2
    return 1 - tail if t > 0 else tail


def _variance(units: Sequence[float]) -> float:
    if min(units) == max(units):
        # The mean of equal numbers may be off by their last digit.
        return 0.0
    mean = math.fsum(units) / len(units)
    return math.fsum((unit - mean) ** 2 for unit in units) / (len(units) - 1)


def _student_tails(t: float, freedom: float) -> float:
    """Return the probability that Student's t lies further from 0 than t."""
    return _beta_part(freedom / (freedom + t * t), freedom / 2, 0.5)


def _beta_part(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function of x."""
    if not 0 < x < 1:
        return x
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(x, a, b) / a
    return 1 - front * _beta_fraction(1 - x, b, a) / b


def _beta_fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / _off_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 10_000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _off_zero(1 + numerator * d)
            c = _off_zero(1 + numerator / c)
            value *= c * d
        if abs(c * d - 1) < 1e-15:  # noqa: PLR2004 - the last digit of a float
            break
    return value


def _off_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
