"""TrueSkill, by the package of this name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import trueskill

from arena.errors import RefusedError
from arena.ratings import tails
from arena.ratings.base import Skill, check_start, settled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.ratings.base import Sides


@dataclass(frozen=True, slots=True, kw_only=True)
class TrueSkill:
    """TrueSkill, by the package of this name.

    Attributes:
        mu: Mean of a new bot.
        sigma: Standard deviation of a new bot.
        beta: Lead in skill that wins about three matches in four.
        tau: What each match adds to the doubt, so that ratings never freeze.
        draw_probability: Of equal bots, above 0 and below 1; chosen for a pool as a whole.
    """

    mu: float = 25.0
    sigma: float = 25.0 / 3
    beta: float = 25.0 / 6
    tau: float = 25.0 / 300
    draw_probability: float = 0.1

    def __post_init__(self) -> None:
        """Refuse parameters under which a result could be impossible.

        Raises:
            RefusedError: A parameter is out of its range.
        """
        if not 0 < self.draw_probability < 1:
            raise RefusedError(
                f"draw_probability is {self.draw_probability:g}",
                "expected above 0 and below 1: any match can be drawn, or not",
            )
        check_start(mu=self.mu, sigma=self.sigma, beta=self.beta, tau=self.tau)

    def start(self) -> Skill:
        """Return the skill of a bot of which nothing is known."""
        return Skill(self.mu, self.sigma)

    def update(self, sides: Sequence[Sequence[Skill]], ranks: Sequence[int]) -> Sides:
        """Return the skills after a match, in the shape of the sides."""
        return settled(self._rate, sides, ranks)

    def _rate(self, sides: Sequence[Sequence[Skill]], ranks: Sequence[int]) -> list[list[Skill]]:
        environment = _environment(self)
        # Two sides are no loop: one pass of messages is exact, and a second would change nothing.
        least = 1.0 if len(sides) == 2 else trueskill.DELTA  # noqa: PLR2004 - as many as sides
        groups = [tuple(trueskill.Rating(mu, sigma) for mu, sigma in side) for side in sides]
        return [
            [Skill(rating.mu, rating.sigma) for rating in group]
            for group in environment.rate(groups, ranks, min_delta=least)
        ]


class _Environment(trueskill.TrueSkill):  # type: ignore[misc]
    """The package's environment with corrections that hold for any gap between skills.

    Far out in the tails its own divide 0 by 0 and give up with an error, which would stop all
    ratings after one great upset. The arguments are the gap and the margin of a draw, both in
    deviations of the gap.
    """

    def v_win(self, gap: float, margin: float) -> float:
        return _win(gap - margin)[0]

    def w_win(self, gap: float, margin: float) -> float:
        return _win(gap - margin)[1]

    def v_draw(self, gap: float, margin: float) -> float:
        return math.copysign(_draw(abs(gap), margin)[0], -gap)

    def w_draw(self, gap: float, margin: float) -> float:
        return _draw(abs(gap), margin)[1]


# The package asks for both corrections one after the other, with the same arguments.
_win = lru_cache(maxsize=1)(tails.win)
_draw = lru_cache(maxsize=1)(tails.draw)


@lru_cache(maxsize=16)
def _environment(system: TrueSkill) -> Any:
    quantile = lru_cache(maxsize=16)(NormalDist().inv_cdf)
    return _Environment(
        system.mu,
        system.sigma,
        system.beta,
        system.tau,
        system.draw_probability,
        backend=(tails.below, tails.density, quantile),
    )
