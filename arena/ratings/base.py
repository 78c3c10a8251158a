"""What every rating system takes and gives, and what makes its ties exact."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from arena.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

RANGE = 100.0
"""How many times a new bot's sigma another parameter may be; beta may also be so much smaller."""

LEAST_SIGMA, MOST_SIGMA = 1e-3, 1e6

Sides = tuple[tuple["Skill", ...], ...]


class Skill(NamedTuple):
    """What is believed of a bot's skill: a normal distribution."""

    mu: float
    sigma: float


@dataclass(frozen=True, slots=True)
class Rating:
    """A bot's skill after so many matches."""

    entrant: str
    skill: Skill
    games: int

    @property
    def shown(self) -> float:
        """The rating in tables: the skill it has almost certainly, mu - 3 sigma."""
        return conservative(self.skill)

    @property
    def margin(self) -> float:
        """The +/- beside it: 2 sigma."""
        return 2 * self.skill.sigma


class RatingSystem(Protocol):
    """How a result moves skills."""

    def start(self) -> Skill:
        """Return the skill of a bot of which nothing is known."""

    def update(self, sides: Sequence[Sequence[Skill]], ranks: Sequence[int]) -> Sides:
        """Return the skills after a match, in the shape of the sides.

        Args:
            sides: The skills of each side's bots.
            ranks: The place of each side, the lowest best, equal for a draw.
        """


def conservative(skill: Skill) -> float:
    """Return the skill that a bot has almost certainly."""
    return skill.mu - 3 * skill.sigma


def check_start(*, mu: float, sigma: float, beta: float, tau: float) -> None:
    """Refuse parameters under which a result could be impossible, or beyond what can be computed.

    Args:
        mu: Mean of a new bot.
        sigma: Deviation of a new bot.
        beta: Chance in one match.
        tau: Doubt that a match adds.

    Raises:
        RefusedError: A parameter is out of its range.
    """
    check_range("sigma", sigma, LEAST_SIGMA, MOST_SIGMA)
    check_range("mu", mu, -RANGE * sigma, RANGE * sigma)
    check_range("beta", beta, sigma / RANGE, RANGE * sigma)
    check_range("tau", tau, 0.0, RANGE * sigma)


def check_range(name: str, value: float, least: float, most: float) -> None:
    """Refuse a parameter that is out of its range, or no number.

    Raises:
        RefusedError: Naming the parameter and its range.
    """
    if not least <= value <= most:
        raise RefusedError(f"{name} is {value:g}", f"expected from {least:.4g} to {most:.4g}")


def settled(
    rate: Callable[[list[Sequence[Skill]], list[int]], Iterable[Iterable[Skill]]],
    sides: Sequence[Sequence[Skill]],
    ranks: Sequence[int],
) -> Sides:
    """Return what a package's function rates, with exact ties made equal.

    A package's answer depends on the order in which tied sides are given, and even tied sides of
    equal skill may come out unequal. So they are given in an order of their own, by place and
    skill, and those that nothing distinguishes share the mean.
    """
    if len(set(ranks)) == len(ranks) and max(map(len, sides)) == 1:
        # Nothing is tied: the packages themselves go by the ranks.
        return tuple(map(tuple, rate(list(sides), list(ranks))))
    keys = [(rank, tuple(sorted(side))) for rank, side in zip(ranks, sides, strict=True)]
    ordered = sorted(keys)
    rated = rate([side for _, side in ordered], [rank for rank, _ in ordered])
    after: dict[tuple[int, tuple[Skill, ...], Skill], list[Skill]] = defaultdict(list)
    for (rank, side), skills in zip(ordered, rated, strict=True):
        for old, new in zip(side, skills, strict=True):
            after[rank, side, old].append(new)
    means = {key: mean_skill(skills) for key, skills in after.items()}
    return tuple(
        tuple(means[rank, key, skill] for skill in side)
        for (rank, key), side in zip(keys, sides, strict=True)
    )


def mean_skill(skills: Sequence[Skill]) -> Skill:
    """Return the mean of several skills, the same in whatever order they are given."""
    if len(skills) == 1:
        return skills[0]
    return Skill(
        math.fsum(skill.mu for skill in skills) / len(skills),
        math.fsum(skill.sigma for skill in skills) / len(skills),
    )
