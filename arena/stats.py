"""What finished matches say about a bot: pure functions of plain results.

The unit of every interval is a deck over all its rotations, never a single deal: the deals of
one deck share its luck, and to count them as independent would promise too much.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CONFIDENCE = 0.95
_NEARLY_NORMAL = 1e6
_TINY = 1e-300


class StatsError(ValueError):
    """Results that do not fit together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedMatch:
    """What a finished match came to.

    Attributes:
        number: Place in the schedule, unique in a pool of results.
        entrants: Labels of the bots, in the order of the first leg's seats. A label may stand
            twice on one side.
        decks: The scores as `decks[deck][leg][entrant]`. A match that is not mirrored has one
            deck with one leg: its final scores.
        sides: The side of each entrant, as small numbers; empty if each plays for itself.
        faults: For each fault the committing entrant's place in `entrants` and its kind.
        teams: The labels of each side once, sides in the order of their first seat.
        totals: Each side's total score, in the order of `teams`.
    """

    number: int
    entrants: tuple[str, ...]
    decks: tuple[tuple[tuple[Fraction, ...], ...], ...]
    sides: tuple[int, ...] = ()
    faults: tuple[tuple[int, str], ...] = ()

    teams: tuple[tuple[str, ...], ...] = field(init=False, repr=False, compare=False)
    totals: tuple[Fraction, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse results that do not fit together, and add up the others.

        Raises:
            StatsError: Naming the match and what does not fit.
        """
        if self.sides and len(self.sides) != len(self.entrants):
            raise self._error("expected a side for every entrant")
        teams: dict[int, dict[str, Fraction]] = defaultdict(dict)
        for place, label in enumerate(self.entrants):
            scores = teams[self.sides[place] if self.sides else place]
            scores[label] = scores.get(label, Fraction()) + self._total(place)
        object.__setattr__(self, "teams", tuple(tuple(team) for team in teams.values()))
        totals = tuple(sum(team.values(), start=Fraction()) for team in teams.values())
        object.__setattr__(self, "totals", totals)
        self._check_teams()

    def _total(self, place: int) -> Fraction:
        if not self.decks or len({len(legs) for legs in self.decks}) > 1 or not self.decks[0]:
            raise self._error("expected scores, for every deck as many legs")
        if any(len(scores) != len(self.entrants) for legs in self.decks for scores in legs):
            raise self._error("expected a score for every entrant")
        return sum((deal[place] for legs in self.decks for deal in legs), start=Fraction())

    def _check_teams(self) -> None:
        if len(self.teams) < 2:  # noqa: PLR2004 - a meeting needs two
            raise self._error("expected two sides or more")
        if sum(map(len, self.teams)) != len(set(self.entrants)):
            raise self._error("a bot plays on two sides; give its copies names of their own")

    def _error(self, expected: str) -> StatsError:
        return StatsError(f"match {self.number}: {expected}")

    def ranks(self) -> tuple[int, ...]:
        """Return 0 for the best sides, 1 for the next and so on; equal totals share a rank."""
        order = sorted(set(self.totals), reverse=True)
        return tuple(order.index(total) for total in self.totals)

    def share(self, label: str) -> Fraction:
        """Return the part of the win that is this bot's: 1, 0, or 1/k of a draw of k sides."""
        ranks = self.ranks()
        side = next(number for number, team in enumerate(self.teams) if label in team)
        return Fraction(ranks[side] == 0, ranks.count(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A bot's score per deal.

    Attributes:
        mean: The exact mean over all its deals.
        half_width: Half the 95% interval around it; None where one deck tells nothing of it.
        decks: How many decks, each over all its rotations, the interval rests on.
        deals: How many deals they are.
        mirroring: The interval's width as a part of what as many unmirrored deals would give
            (below 1 where mirroring helped); None where nothing was mirrored or nothing varied.
    """

    mean: Fraction
    half_width: float | None
    decks: int
    deals: int
    mirroring: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """A bot's finished matches; `score` is won shares, a draw of k sides counting 1/k."""

    games: int
    wins: int
    draws: int
    losses: int
    score: Fraction


def by_pairs(matches: Iterable[PlayedMatch]) -> tuple[PlayedMatch, ...]:
    """Return matches of pairs as if each pair were one bot, labelled with both names."""
    return tuple(_by_pair(match) for match in matches)


def pair_label(partners: Iterable[str]) -> str:
    """Return what a pair is called, in whatever order its bots are given."""
    return "+".join(sorted(partners))


def _by_pair(match: PlayedMatch) -> PlayedMatch:
    partners = defaultdict(list)
    for label, side in zip(match.entrants, match.sides, strict=True):
        partners[side].append(label)
    return replace(match, entrants=tuple(pair_label(partners[side]) for side in match.sides))


def balance(matches: Iterable[PlayedMatch], label: str) -> Balance:
    """Count a bot's wins, draws (the best total shared) and losses."""
    shares = [match.share(label) for match in matches if label in match.entrants]
    wins, losses = shares.count(Fraction(1)), shares.count(Fraction(0))
    return Balance(
        games=len(shares),
        wins=wins,
        draws=len(shares) - wins - losses,
        losses=losses,
        score=sum(shares, start=Fraction()),
    )


def fault_counts(matches: Iterable[PlayedMatch], label: str) -> tuple[tuple[str, int], ...]:
    """Return how many faults of each kind a bot committed, kinds in alphabetical order."""
    kinds = Counter(
        kind for match in matches for place, kind in match.faults if match.entrants[place] == label
    )
    return tuple(sorted(kinds.items()))


def score_per_deal(matches: Iterable[PlayedMatch], label: str) -> Estimate | None:
    """Estimate a bot's score per deal; None if it played no match.

    Decks are compared within matches of the same company only: that some opponents are weaker
    than others is no luck of the cards.
    """
    decks: dict[frozenset[tuple[str, ...]], list[list[Fraction]]] = defaultdict(list)
    for match in sorted(matches, key=lambda match: match.number):
        if label in match.entrants:
            decks[_company(match)].extend(_deal_scores(match, label))
    if not decks:
        return None
    strata = list(decks.values())
    deals = [score for stratum in strata for deck in stratum for score in deck]
    mirrored = _spread([[math.fsum(deck) / len(deck) for deck in stratum] for stratum in strata])
    single = _spread([[float(score) for deck in stratum for score in deck] for stratum in strata])
    count = sum(map(len, strata))
    comparable = mirrored is not None and single is not None and len(deals) > count
    return Estimate(
        mean=sum(deals, start=Fraction()) / len(deals),
        half_width=None if mirrored is None else _half_width(*mirrored),
        decks=count,
        deals=len(deals),
        mirroring=_ratio(mirrored, single) if comparable else None,
    )


def interval(units: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean of independent units and half its 95% interval (None for one unit)."""
    spread = _spread([units])
    return math.fsum(units) / len(units), None if spread is None else _half_width(*spread)


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


def _company(match: PlayedMatch) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(sorted(team)) for team in match.teams)


def _deal_scores(match: PlayedMatch, label: str) -> list[list[Fraction]]:
    """Return the bot's score in each deal of each deck; of two copies their mean."""
    places = [place for place, entrant in enumerate(match.entrants) if entrant == label]
    return [
        [sum((deal[place] for place in places), start=Fraction()) / len(places) for deal in legs]
        for legs in match.decks
    ]


def _spread(strata: list[Sequence[float]] | list[list[float]]) -> tuple[float, float] | None:
    """Return the variance of the overall mean and its degrees of freedom (Welch)."""
    if any(len(stratum) == 1 for stratum in strata):
        # A single unit says nothing of its stratum: all together errs on the wide side.
        strata = [[unit for stratum in strata for unit in stratum]]
    total = sum(map(len, strata))
    if total == 1:
        return None
    parts = [_variance(stratum) * len(stratum) / total**2 for stratum in strata]
    variance = math.fsum(parts)
    if not variance:
        return 0.0, float(total - len(strata))
    squares = math.fsum(
        (part / variance) ** 2 / (len(stratum) - 1)
        for part, stratum in zip(parts, strata, strict=True)
    )
    return variance, 1 / squares


def _variance(units: Sequence[float]) -> float:
    mean = math.fsum(units) / len(units)
    return math.fsum((unit - mean) ** 2 for unit in units) / (len(units) - 1)


def _half_width(variance: float, freedom: float) -> float:
    return student_quantile((1 + CONFIDENCE) / 2, freedom) * math.sqrt(variance)


def _ratio(
    mirrored: tuple[float, float] | None, single: tuple[float, float] | None
) -> float | None:
    if mirrored is None or single is None or not single[0]:
        return None
    return _half_width(*mirrored) / _half_width(*single)


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
