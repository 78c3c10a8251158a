"""What finished matches say about a bot: pure functions of plain results.

The unit of every interval is a deck over all its rotations, never a single deal: the deals of
one deck share its luck, and to count them as independent would promise too much.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from arena.statistics.intervals import spread_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from arena.statistics.intervals import Spread

Decks = list[list[Fraction]]
"""Scores as [deck][deal]."""

Company = frozenset[tuple[str, ...]]


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
        is_by_pairs: Whether a label stands for a whole side, which then counts as one bot.
        teams: The labels of each side once, sides in the order of their first seat.
        lineups: The same with a label for each copy of a bot; a side that is one bot has one.
        totals: Each side's total score, in the order of `teams`.
        ranks: Each side's place, 0 for the best, in the same order; equal totals share one.
    """

    number: int
    entrants: tuple[str, ...]
    decks: tuple[tuple[tuple[Fraction, ...], ...], ...]
    sides: tuple[int, ...] = ()
    faults: tuple[tuple[int, str], ...] = ()
    is_by_pairs: bool = False

    teams: tuple[tuple[str, ...], ...] = field(init=False, repr=False, compare=False)
    lineups: tuple[tuple[str, ...], ...] = field(init=False, repr=False, compare=False)
    totals: tuple[Fraction, ...] = field(init=False, repr=False, compare=False)
    ranks: tuple[int, ...] = field(init=False, repr=False, compare=False)

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
        best_first = sorted(set(totals), reverse=True)
        object.__setattr__(self, "ranks", tuple(map(best_first.index, totals)))
        self._check_teams()
        object.__setattr__(self, "lineups", self._lineups())

    def _total(self, place: int) -> Fraction:
        if not self.decks or len({len(legs) for legs in self.decks}) > 1 or not self.decks[0]:
            raise self._error("expected scores, for every deck as many legs")
        if any(len(scores) != len(self.entrants) for legs in self.decks for scores in legs):
            raise self._error("expected a score for every entrant")
        return sum((deal[place] for legs in self.decks for deal in legs), start=Fraction())

    def _lineups(self) -> tuple[tuple[str, ...], ...]:
        if self.is_by_pairs or sum(map(len, self.teams)) == len(self.entrants):
            return self.teams
        copies = Counter(self.entrants)
        return tuple(
            tuple(label for label in team for _ in range(copies[label])) for team in self.teams
        )

    def _check_teams(self) -> None:
        if len(self.teams) < 2:  # noqa: PLR2004 - a meeting needs two
            raise self._error("expected two sides or more")
        if sum(map(len, self.teams)) != len(set(self.entrants)):
            raise self._error("a bot plays on two sides; give its copies names of their own")

    def _error(self, expected: str) -> StatsError:
        return StatsError(f"match {self.number}: {expected}")

    def share(self, label: str) -> Fraction:
        """Return the part of the win that is this bot's: 1, 0, or 1/k of a draw of k sides."""
        side = next(number for number, team in enumerate(self.teams) if label in team)
        return Fraction(self.ranks[side] == 0, self.ranks.count(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A bot's score per deal.

    Attributes:
        mean: The exact mean over all its deals.
        half_width: Half the 95% interval around it; None where one deck, or decks that all scored
            alike, tell nothing of it.
        superiority: The likelihood that its true score is above 0; None likewise.
        decks: How many decks, each over all its rotations, the interval rests on.
        deals: How many deals they are.
        mirroring: The interval's width as a part of what as many unmirrored deals would give
            (below 1 where mirroring helped); None where nothing was mirrored or no deck differed.
    """

    mean: Fraction
    half_width: float | None
    superiority: float | None
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
    labels = tuple(pair_label(partners[side]) for side in match.sides)
    return replace(match, entrants=labels, is_by_pairs=True)


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
    decks: dict[Company, Decks] = defaultdict(list)
    for match in sorted(matches, key=lambda match: match.number):
        if label in match.entrants:
            decks[company(match)].extend(deal_scores(match, label))
    return estimate(list(decks.values()))


def estimate(strata: Sequence[Decks]) -> Estimate | None:
    """Estimate a score per deal from scores as [company][deck][deal]; None from none."""
    decks = [deck for stratum in strata for deck in stratum]
    if not decks:
        return None
    deals = [score for deck in decks for score in deck]
    mean = sum(deals, start=Fraction()) / len(deals)
    mirrored = spread_of([[math.fsum(deck) / len(deck) for deck in stratum] for stratum in strata])
    single = spread_of([[float(score) for deck in stratum for score in deck] for stratum in strata])
    return Estimate(
        mean=mean,
        half_width=None if mirrored is None else mirrored.half_width,
        superiority=None if mirrored is None else mirrored.superiority(float(mean)),
        decks=len(decks),
        deals=len(deals),
        mirroring=_ratio(mirrored, single) if len(deals) > len(decks) else None,
    )


def company(match: PlayedMatch) -> Company:
    """Return who played whom, whatever the seats: decks are compared within that only."""
    return frozenset(tuple(sorted(team)) for team in match.teams)


def deal_scores(match: PlayedMatch, label: str) -> Decks:
    """Return the bot's score in each deal of each deck; of two copies their mean."""
    places = [place for place, entrant in enumerate(match.entrants) if entrant == label]
    return [
        [sum((deal[place] for place in places), start=Fraction()) / len(places) for deal in legs]
        for legs in match.decks
    ]


def _ratio(mirrored: Spread | None, single: Spread | None) -> float | None:
    if mirrored is None or single is None:
        return None
    return mirrored.half_width / single.half_width
