"""What bots did against each other: a pure function of finished matches."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from arena.statistics.stats import Balance, company, deal_scores, estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from arena.statistics.stats import Company, Decks, Estimate, PlayedMatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """All matches of two bots against each other, from the first one's view.

    Attributes:
        entrant: Label of the first.
        opponent: Label of the other.
        balance: Its matches; a win is a side's total above the other's side, whoever else played.
        per_deal: Half of its score per deal less the opponent's. Between two sides that is its
            own score, since the other's is the same below 0.
    """

    entrant: str
    opponent: str
    balance: Balance
    per_deal: Estimate


def cross_table(
    matches: Iterable[PlayedMatch], labels: Sequence[str]
) -> tuple[tuple[Meeting | None, ...], ...]:
    """Return the meetings of every bot with every other, in the order of the labels both ways.

    None stands where two never met on different sides.
    """
    together: dict[frozenset[str], list[PlayedMatch]] = defaultdict(list)
    for match in sorted(matches, key=lambda match: match.number):
        for side, team in enumerate(match.teams):
            for others in match.teams[side + 1 :]:
                for pair in {frozenset((one, other)) for one in team for other in others}:
                    together[pair].append(match)
    return tuple(
        tuple(
            _meeting(one, other, played)
            if (played := together.get(frozenset((one, other)))) and one != other
            else None
            for other in labels
        )
        for one in labels
    )


def _meeting(one: str, other: str, matches: Sequence[PlayedMatch]) -> Meeting | None:
    decks: dict[Company, Decks] = defaultdict(list)
    for match in matches:
        mine, theirs = deal_scores(match, one), deal_scores(match, other)
        decks[company(match)] += [
            [(a - b) / 2 for a, b in zip(*legs, strict=True)]
            for legs in zip(mine, theirs, strict=True)
        ]
    per_deal = estimate(list(decks.values()))
    if per_deal is None:
        return None
    return Meeting(
        entrant=one, opponent=other, balance=_balance(one, other, matches), per_deal=per_deal
    )


def _balance(one: str, other: str, matches: Sequence[PlayedMatch]) -> Balance:
    leads = [_rank(match, other) - _rank(match, one) for match in matches]
    wins, losses = sum(lead > 0 for lead in leads), sum(lead < 0 for lead in leads)
    draws = len(leads) - wins - losses
    return Balance(
        games=len(leads), wins=wins, draws=draws, losses=losses, score=wins + Fraction(draws, 2)
    )


def _rank(match: PlayedMatch, label: str) -> int:
    return match.ranks[next(side for side, team in enumerate(match.teams) if label in team)]
