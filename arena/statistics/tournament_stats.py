"""All that is told of a tournament beside its table: from its results and its records."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena import queries
from arena.statistics.cross_table import Meeting, cross_table
from arena.statistics.endings import (
    advantage_of_the_deal,
    advantage_of_the_lead,
    advantage_of_the_match,
    ended_deals,
    endings,
    endings_against,
)
from arena.statistics.luck import luck_of_the_deal
from arena.statistics.stats import balance, by_pairs, score_per_deal
from referee.record import RecordError, read_record
from referee.results import SERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arena.infos import MatchInfo
    from arena.statistics.endings import EndedDeal, Ending, SeatAdvantage
    from arena.statistics.luck import Luck
    from arena.statistics.stats import Balance, Estimate
    from arena.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class BotStatistics:
    """One bot's matches against all others."""

    entrant: str
    balance: Balance
    per_deal: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentStatistics:
    """What a tournament's results and records say.

    Attributes:
        tournament: Its name.
        match_format: How deals add up to a match; only in a series is a deal or deck the unit.
        bots: Every entrant once, in the order of the schedule.
        table: The meetings of each bot with each, in the same order both ways; None where two
            never met.
        pairs: Of a game of pairs the same by pairs: their labels, and their table.
        endings: How deals ended, by bot and reason.
        against: The same of the deals of a bot against another one, by both their labels.
        reasons: How many deals ended for each reason.
        lead: What each place was worth, counted from the seat that leads first.
        deal: The same, counted from the dealer.
        seats: What each place was worth where matches are not mirrored, counted from who sat
            first in the match.
        luck: How much of a score was in the cards, None where that cannot be told.
        missing: IDs of matches whose record cannot be read; they are left out of endings and
            places.
    """

    tournament: str
    match_format: str
    bots: tuple[BotStatistics, ...]
    table: tuple[tuple[Meeting | None, ...], ...]
    pairs: tuple[str, ...]
    pair_table: tuple[tuple[Meeting | None, ...], ...]
    endings: tuple[Ending, ...]
    against: Mapping[tuple[str, str], tuple[Ending, ...]]
    reasons: Mapping[str, int]
    lead: tuple[SeatAdvantage, ...]
    deal: tuple[SeatAdvantage, ...]
    seats: tuple[SeatAdvantage, ...]
    luck: Luck | None
    missing: tuple[str, ...]


def tournament_statistics(store: Store, name: str) -> TournamentStatistics:
    """Return what a tournament's results and records say.

    Raises:
        NotFoundError: No tournament has this name.
    """
    info = queries.tournament(store, name)
    matches = queries.played_matches(store, info.name)
    labels = list(dict.fromkeys(entrant.name for entrant in info.entrants))
    deals, missing = _deals(queries.matches(store, info.name))
    paired = by_pairs(matches) if info.rules.sides == "pairs" else ()
    pairs = list(dict.fromkeys(label for match in paired for label in match.entrants))
    is_series = info.match_format == SERIES
    return TournamentStatistics(
        tournament=info.name,
        match_format=info.match_format,
        bots=tuple(
            BotStatistics(
                entrant=label,
                balance=balance(matches, label),
                per_deal=score_per_deal(matches, label),
            )
            for label in labels
        ),
        table=cross_table(matches, labels),
        pairs=tuple(pairs),
        pair_table=cross_table(paired, pairs),
        endings=endings(deals),
        against=endings_against(deals),
        reasons=dict(sorted(Counter(deal.reason for deal in deals).items())),
        lead=advantage_of_the_lead(deals),
        deal=advantage_of_the_deal(deals),
        seats=() if is_series else advantage_of_the_match(matches),
        luck=luck_of_the_deal(matches) if is_series else None,
        missing=missing,
    )


def _deals(matches: Iterable[MatchInfo]) -> tuple[list[EndedDeal], tuple[str, ...]]:
    """Return the deals of the records that can be read, and the matches of those that cannot."""
    deals: list[EndedDeal] = []
    missing = []
    for match in matches:
        if match.record is None:
            continue
        try:
            deals += ended_deals(
                match.number, read_record(match.record), match.entrants, match.sides
            )
        except (RecordError, OSError):
            missing.append(f"{match.tournament}/{match.number}")
    return deals, tuple(missing)
