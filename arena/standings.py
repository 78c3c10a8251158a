"""The table of a tournament: a pure function of its results."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from arena.ratings import tie_groups
from arena.reasons import ReasonKind
from arena.statistics.stats import (
    Balance,
    Estimate,
    balance,
    fault_counts,
    pair_label,
    score_per_deal,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from arena.ratings import Rating
    from arena.statistics.stats import PlayedMatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A row of the table.

    Attributes:
        rank: From 1; who is level shares a rank, and the ranks they fill are left out after it.
            None for one who was disqualified: the others are counted without it.
        entrant: Label of the bot.
        balance: Its matches: games, wins, draws, losses.
        per_deal: Its score per deal with the interval; None without a match.
        faults: How many faults of each kind it committed, kinds in alphabetical order.
        rating: Its rating, if ratings were given.
        groups: The groups of bots, from 0, that it cannot be told apart from by their ratings.
        left: Why it left the tournament; None for one who did not.
    """

    rank: int | None
    entrant: str
    balance: Balance
    per_deal: Estimate | None
    faults: tuple[tuple[str, int], ...]
    rating: Rating | None
    groups: tuple[int, ...] = ()
    left: ReasonKind | None = None

    @property
    def score_percent(self) -> Fraction | None:
        """The hundredths of its matches it won, a shared win in parts; None without a match."""
        return _percent(self.balance.score, self.balance.games)

    @property
    def draw_percent(self) -> Fraction | None:
        """The hundredths of its matches that were drawn; None without a match."""
        return _percent(Fraction(self.balance.draws), self.balance.games)


def standings(
    matches: Iterable[PlayedMatch],
    entrants: Sequence[str] = (),
    ratings: Sequence[Rating] = (),
    left: Mapping[str, ReasonKind] | None = None,
) -> tuple[Standing, ...]:
    """Return the table, best first; level bots in the order of the entrants, then of the names.

    Bots are ranked by the part of their matches that they won, then by their score per deal; with
    ratings by the rating shown. Who has played no match comes last of the ranked; below stand those
    who were disqualified, in the same order without a rank.

    Args:
        matches: Results of one tournament, in any order.
        entrants: Bots to list even if they played no match.
        ratings: Of all bots listed, if they are to be ranked by them.
        left: Why bots left, by label.
    """
    reasons = left or {}
    played = list(matches)
    rated = {rating.entrant: rating for rating in ratings}
    groups = tie_groups([rating for rating in ratings if rating.games])
    others = {label for match in played for label in match.entrants} - set(entrants)
    labels = [*entrants, *sorted(others)]
    rows = [
        replace(
            _row(played, label, rated.get(label)),
            groups=groups.get(label, ()),
            left=reasons.get(label),
        )
        for label in labels
    ]
    rows.sort(key=_merit, reverse=True)
    counted = [row for row in rows if row.left is not ReasonKind.DISQUALIFICATION]
    merits = [_merit(row) for row in counted]
    return (
        *(replace(row, rank=1 + merits.index(_merit(row))) for row in counted),
        *(row for row in rows if row.left is ReasonKind.DISQUALIFICATION),
    )


def left_of_teams(
    teams: Iterable[Sequence[str]], left: Mapping[str, ReasonKind]
) -> dict[str, ReasonKind]:
    """Return why pairs are no longer whole, by label: one of two who was disqualified counts most.

    Args:
        teams: The labels of each pair's bots.
        left: Why bots left, by label.
    """
    found = {}
    for team in teams:
        reasons = [left[label] for label in team if label in left]
        if reasons:
            is_out = ReasonKind.DISQUALIFICATION in reasons
            found[pair_label(team)] = ReasonKind.DISQUALIFICATION if is_out else reasons[0]
    return found


def _row(matches: Sequence[PlayedMatch], label: str, rating: Rating | None) -> Standing:
    return Standing(
        rank=None,
        entrant=label,
        balance=balance(matches, label),
        per_deal=score_per_deal(matches, label),
        faults=fault_counts(matches, label),
        rating=rating,
    )


def _merit(row: Standing) -> tuple[Fraction | float, ...]:
    if row.per_deal is None:
        return ()
    if row.rating is not None:
        return (row.rating.shown,)
    return (row.balance.score / row.balance.games, row.per_deal.mean)


def _percent(part: Fraction, games: int) -> Fraction | None:
    return 100 * part / games if games else None
