"""How a win or a draw moves the difference of two skills, exact far out in the tails too.

The usual formulas divide 0 by 0 there. A gap and a margin are in deviations of the gap.
"""

from __future__ import annotations

import math

_FAR = 8.0
_SURE = 1 - 1e-12


def win(x: float) -> tuple[float, float]:
    """Return how far a win moves the mean up, and the part of the variance it takes away.

    Args:
        x: The gap between winner and loser, less the margin of a draw.
    """
    if x < -_FAR:
        excess = _excess(-x)
        mean = excess - x
    else:
        mean = density(x) / below(x)
        excess = mean + x
    return mean, min(mean * excess, _SURE)


def draw(gap: float, margin: float) -> tuple[float, float]:
    """Return how far a draw moves the mean down, and the part of the variance it takes away.

    Args:
        gap: Between the better and the worse, not negative.
        margin: Of a draw.
    """
    near, far = margin - gap, -margin - gap
    if near < -_FAR:
        # Both tails in units of the density at the nearer edge of the draw.
        unit, at_near = math.exp(-2 * gap * margin), 1.0
        inside = _mills(-near) - unit * _mills(-far)
        edge = -math.expm1(-2 * gap * margin)
    else:
        unit, at_near = density(far), density(near)
        inside = below(near) - below(far)
        edge = at_near - unit
    mean = edge / inside
    part = mean**2 + (near * at_near - far * unit) / inside
    return mean, min(max(part, 0.0), _SURE)


def below(x: float) -> float:
    """Return the normal distribution's probability below x."""
    return math.erfc(-x / math.sqrt(2)) / 2


def density(x: float) -> float:
    """Return the normal distribution's density at x."""
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _mills(x: float) -> float:
    """Return the upper tail of the normal distribution beyond x over its density, x large."""
    return 1 / (x + _excess(x))


def _excess(x: float) -> float:
    """Return how much further out than x the tail beyond x lies in the mean, x large."""
    fraction = x
    for n in range(60, 1, -1):
        fraction = x + n / fraction
    return 1 / fraction
