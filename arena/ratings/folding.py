"""From results to ratings: one match after the other, in the order of the schedule."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.errors import RefusedError
from arena.ratings.base import Rating, conservative, mean_skill

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from arena.ratings.base import RatingSystem, Sides, Skill
    from arena.statistics.stats import PlayedMatch

Placing = tuple[tuple[int, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What one match did to a bot's skill."""

    number: int
    entrant: str
    before: Skill
    after: Skill

    @property
    def delta(self) -> float:
        """By how much the rating shown rose."""
        return conservative(self.after) - conservative(self.before)


def fold(
    matches: Iterable[PlayedMatch], system: RatingSystem, entrants: Sequence[str] = ()
) -> tuple[Rating, ...]:
    """Rate all bots by their matches, in the order of the schedule.

    Bots that the results do not tell apart get the same rating: two are tied exactly if
    exchanging their names gives the same results. Only the order of the schedule can have set
    their skills apart, and they share the mean.

    Args:
        matches: Results of one pool, in any order.
        system: How a result moves skills.
        entrants: Bots to list even if they played no match.

    Returns:
        The ratings, best first; bots shown with equal ratings by their names.

    Raises:
        RefusedError: Two matches have the same number, or the parameters of the system are so far
            out that a result cannot be computed.
    """
    ordered = _in_order(matches)
    skills: dict[str, Skill] = defaultdict(system.start)
    for match in ordered:
        _rate(match, system, skills)
    games = Counter(label for match in ordered for team in match.teams for label in team)
    for tied in exact_ties(ordered):
        skills |= dict.fromkeys(tied, mean_skill([skills[label] for label in tied]))
    labels = {*games, *entrants}
    ratings = [Rating(label, skills[label], games[label]) for label in labels]
    return tuple(sorted(ratings, key=lambda rating: (-rating.shown, rating.entrant)))


def changes(matches: Iterable[PlayedMatch], system: RatingSystem) -> Iterator[Change]:
    """Yield what each match did to the skill of each of its bots, in the order of the schedule.

    Raises:
        RefusedError: Two matches have the same number, or the parameters of the system are so far
            out that a result cannot be computed.
    """
    skills: dict[str, Skill] = defaultdict(system.start)
    for match in _in_order(matches):
        labels = [label for team in match.teams for label in team]
        before = {label: skills[label] for label in labels}
        _rate(match, system, skills)
        for label in labels:
            yield Change(match.number, label, before[label], skills[label])


def exact_ties(matches: Sequence[PlayedMatch]) -> list[tuple[str, ...]]:
    """Return the bots, two or more at a time, that the results do not tell apart.

    Exchanging two names that leaves the results as they are is a symmetry of the results, and
    symmetries can be chained: so bots tied to the same bot are tied to each other.
    """
    placings: dict[str, list[int]] = defaultdict(list)
    for match in matches:
        for team, rank in zip(match.teams, match.ranks, strict=True):
            for label in team:
                placings[label].append(rank)
    alike: dict[tuple[int, int], list[str]] = defaultdict(list)
    for label in sorted(placings):
        alike[len(placings[label]), sum(placings[label])].append(label)
    groups = [group for group in alike.values() if len(group) > 1]
    candidates = {label for group in groups for label in group}
    played: dict[str, list[PlayedMatch]] = defaultdict(list)
    for match in matches if candidates else ():
        for label in candidates.intersection(match.entrants):
            played[label].append(match)
    return [tied for group in groups for tied in _tied(group, played)]


def _tied(
    group: Sequence[str], matches: Mapping[str, Sequence[PlayedMatch]]
) -> Iterator[tuple[str, ...]]:
    """Yield those of a group that are tied, found through the first of each."""
    rest = list(group)
    while rest:
        first, *others = rest
        tied = [other for other in others if _interchangeable(first, other, matches)]
        if tied:
            yield (first, *tied)
        rest = [other for other in others if other not in tied]


def _interchangeable(one: str, other: str, matches: Mapping[str, Sequence[PlayedMatch]]) -> bool:
    """Tell whether two names can be exchanged in all results of both."""
    plain: Counter[Placing] = Counter()
    exchanged: Counter[Placing] = Counter()
    names = {one: other, other: one}
    together = {match.number: match for label in names for match in matches[label]}
    for match in together.values():
        plain[_placing(match, {})] += 1
        exchanged[_placing(match, names)] += 1
    return plain == exchanged


def _placing(match: PlayedMatch, names: Mapping[str, str]) -> Placing:
    """Return the places of a match by names, some of them exchanged, whatever the seats."""
    sides = zip(match.ranks, match.lineups, strict=True)
    return tuple(
        sorted(
            (rank, tuple(sorted(names.get(each, each) for each in side))) for rank, side in sides
        )
    )


def _in_order(matches: Iterable[PlayedMatch]) -> list[PlayedMatch]:
    ordered = sorted(matches, key=lambda match: match.number)
    if len({match.number for match in ordered}) < len(ordered):
        raise RefusedError(
            "two results have the same place in the schedule", "rate each pool alone"
        )
    return ordered


def _rate(match: PlayedMatch, system: RatingSystem, skills: dict[str, Skill]) -> None:
    before = [[skills[label] for label in lineup] for lineup in match.lineups]
    try:
        after = system.update(before, match.ranks)
    except ArithmeticError as error:
        raise RefusedError(
            f"result {match.number} is beyond what can be rated with these parameters",
            "choose beta, tau and draw_probability or kappa nearer to their defaults",
        ) from error
    for lineup, lineup_skills in zip(match.lineups, after, strict=True):
        skills.update(zip(lineup, lineup_skills, strict=True))
    if match.lineups is not match.teams:
        _share_among_copies(match, after, skills)


def _share_among_copies(match: PlayedMatch, after: Sides, skills: dict[str, Skill]) -> None:
    """Give each bot the mean of what its copies on a side came to."""
    for lineup, lineup_skills in zip(match.lineups, after, strict=True):
        copies: dict[str, list[Skill]] = defaultdict(list)
        for label, skill in zip(lineup, lineup_skills, strict=True):
            copies[label].append(skill)
        skills |= {label: mean_skill(each) for label, each in copies.items()}
