"""OpenSkill's Plackett-Luce model, by the package of this name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from openskill.models import PlackettLuce

from arena.errors import RefusedError
from arena.ratings.base import Skill, check_start, settled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.ratings.base import Sides


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSkill:
    """Plackett and Luce's model of places, rated as Weng and Lin do (JMLR 12, 2011).

    It is made for matches of many sides. It knows no probability of a draw: level sides share the
    places they fill.

    Attributes:
        mu: Mean of a new bot.
        sigma: Standard deviation of a new bot.
        beta: How much chance one match holds.
        tau: What each match adds to the doubt, so that ratings never freeze.
        kappa: The least part of its variance that a match leaves a bot.
    """

    mu: float = 25.0
    sigma: float = 25.0 / 3
    beta: float = 25.0 / 6
    tau: float = 25.0 / 300
    kappa: float = 1e-4

    def __post_init__(self) -> None:
        """Refuse parameters under which a result could be impossible.

        Raises:
            RefusedError: A parameter is out of its range.
        """
        check_start(mu=self.mu, sigma=self.sigma, beta=self.beta, tau=self.tau)
        if not (math.isfinite(self.kappa) and 0 < self.kappa < 1):
            raise RefusedError(f"kappa is {self.kappa:g}", "expected above 0 and below 1")

    def start(self) -> Skill:
        """Return the skill of a bot of which nothing is known."""
        return Skill(self.mu, self.sigma)

    def update(self, sides: Sequence[Sequence[Skill]], ranks: Sequence[int]) -> Sides:
        """Return the skills after a match, in the shape of the sides."""
        return settled(self._rate, sides, ranks)

    def _rate(self, sides: Sequence[Sequence[Skill]], ranks: Sequence[int]) -> list[list[Skill]]:
        model = _model(self)
        teams = [[model.rating(mu, sigma) for mu, sigma in side] for side in sides]
        return [
            [Skill(rating.mu, rating.sigma) for rating in team]
            for team in model.rate(teams, ranks=list(map(float, ranks)))
        ]


@lru_cache(maxsize=16)
def _model(system: OpenSkill) -> PlackettLuce:
    return PlackettLuce(
        mu=system.mu,
        sigma=system.sigma,
        beta=system.beta,
        tau=system.tau,
        kappa=system.kappa,
    )
