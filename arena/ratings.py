"""Ratings: folds of finished matches in the order of the schedule, never of arrival."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Protocol

import trueskill

from arena.errors import NotFoundError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from arena.stats import PlayedMatch

_FAR = 8.0
_SURE = 1 - 1e-12


@dataclass(frozen=True, slots=True, order=True)
class Skill:
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
        return self.skill.mu - 3 * self.skill.sigma

    @property
    def margin(self) -> float:
        """The +/- beside it: 2 sigma."""
        return 2 * self.skill.sigma


class RatingSystem(Protocol):
    """How a result moves skills."""

    def start(self) -> Skill:
        """Return the skill of a bot of which nothing is known."""

    def update(
        self, sides: Sequence[Sequence[Skill]], ranks: Sequence[int]
    ) -> tuple[tuple[Skill, ...], ...]:
        """Return the skills after a match, in the shape of the sides.

        Args:
            sides: The skills of each side's bots.
            ranks: The place of each side, the lowest best, equal for a draw.
        """


def fold(
    matches: Iterable[PlayedMatch], system: RatingSystem, entrants: Sequence[str] = ()
) -> tuple[Rating, ...]:
    """Rate all bots by their matches, in the order of the schedule.

    Args:
        matches: Results of one pool, in any order.
        system: How a result moves skills.
        entrants: Bots to list even if they played no match.

    Returns:
        The ratings, best first; bots shown with equal ratings by their names.

    Raises:
        RefusedError: Two matches have the same number.
    """
    ordered = sorted(matches, key=lambda match: match.number)
    if len({match.number for match in ordered}) < len(ordered):
        raise RefusedError(
            "two results have the same place in the schedule", "rate each pool alone"
        )
    skills: dict[str, Skill] = defaultdict(system.start)
    games: dict[str, int] = dict.fromkeys(entrants, 0)
    for match in ordered:
        before = [[skills[label] for label in team] for team in match.teams]
        after = system.update(before, match.ranks())
        for team, team_skills in zip(match.teams, after, strict=True):
            for label, skill in zip(team, team_skills, strict=True):
                skills[label] = skill
                games[label] = games.get(label, 0) + 1
    ratings = [Rating(label, skills[label], played) for label, played in games.items()]
    return tuple(sorted(ratings, key=lambda rating: (-rating.shown, rating.entrant)))


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
                f"draw probability {self.draw_probability}",
                "expected above 0 and below 1: any match can be drawn, or not",
            )
        spread = (self.sigma, self.beta, self.tau)
        if not (all(map(math.isfinite, (self.mu, *spread))) and min(spread) >= 0 < self.sigma):
            raise RefusedError("TrueSkill needs finite parameters", "expected sigma above 0")
        if not self.beta:
            raise RefusedError("TrueSkill needs chance in matches", "expected beta above 0")

    def start(self) -> Skill:
        """Return the skill of a bot of which nothing is known."""
        return Skill(self.mu, self.sigma)

    def update(
        self, sides: Sequence[Sequence[Skill]], ranks: Sequence[int]
    ) -> tuple[tuple[Skill, ...], ...]:
        """Return the skills after a match, in the shape of the sides.

        The package's answer depends on the order in which tied sides are given, and even tied
        sides of equal skill come out unequal. So they are given in an order of their own, by
        place and skill, and those that nothing distinguishes share the mean.
        """
        keys = [(rank, tuple(sorted(side))) for rank, side in zip(ranks, sides, strict=True)]
        ordered = sorted(keys)
        rated = self._rate([side for _, side in ordered], [rank for rank, _ in ordered])
        after: dict[tuple[int, tuple[Skill, ...], Skill], list[Skill]] = defaultdict(list)
        for (rank, side), skills in zip(ordered, rated, strict=True):
            for old, new in zip(side, skills, strict=True):
                after[rank, side, old].append(new)
        means = {key: _mean(skills) for key, skills in after.items()}
        return tuple(
            tuple(means[rank, key, skill] for skill in side)
            for (rank, key), side in zip(keys, sides, strict=True)
        )

    def _rate(self, sides: Sequence[Sequence[Skill]], ranks: Sequence[int]) -> list[list[Skill]]:
        environment: Any = _Environment(
            self.mu,
            self.sigma,
            self.beta,
            self.tau,
            self.draw_probability,
            backend=(_cdf, _pdf, NormalDist().inv_cdf),
        )
        groups = [
            tuple(environment.create_rating(skill.mu, skill.sigma) for skill in side)
            for side in sides
        ]
        return [
            [Skill(float(rating.mu), float(rating.sigma)) for rating in group]
            for group in environment.rate(groups, ranks)
        ]


RATINGS: Mapping[str, RatingSystem] = {"trueskill": TrueSkill()}


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


def _mean(skills: Sequence[Skill]) -> Skill:
    return Skill(
        math.fsum(skill.mu for skill in skills) / len(skills),
        math.fsum(skill.sigma for skill in skills) / len(skills),
    )


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


def _win(x: float) -> tuple[float, float]:
    """Return how far a win moves the mean up, and the part of the variance it takes away."""
    if x < -_FAR:
        excess = _excess(-x)
        mean = excess - x
    else:
        mean = _pdf(x) / _cdf(x)
        excess = mean + x
    return mean, min(mean * excess, _SURE)


def _draw(gap: float, margin: float) -> tuple[float, float]:
    """Return how far a draw moves the mean down, and the part of the variance it takes away."""
    near, far = margin - gap, -margin - gap
    if near < -_FAR:
        # Both tails in units of the density at the nearer edge of the draw.
        unit, density = math.exp(-2 * gap * margin), 1.0
        inside = _mills(-near) - unit * _mills(-far)
        edge = -math.expm1(-2 * gap * margin)
    else:
        unit, density = _pdf(far), _pdf(near)
        inside = _cdf(near) - _cdf(far)
        edge = density - unit
    mean = edge / inside
    part = mean**2 + (near * density - far * unit) / inside
    return mean, min(max(part, 0.0), _SURE)


def _mills(x: float) -> float:
    """Return the upper tail of the normal distribution beyond x over its density, x large."""
    return 1 / (x + _excess(x))


def _excess(x: float) -> float:
    """Return how much further out than x the tail beyond x lies in the mean, x large."""
    fraction = x
    for n in range(60, 1, -1):
        fraction = x + n / fraction
    return 1 / fraction


def _cdf(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def _pdf(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
