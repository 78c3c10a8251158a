"""How deals ended, and what a seat was worth: pure functions of the deals in records."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.statistics.intervals import interval
from referee.results import SERIES
from referee.rules import Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from arena.statistics.stats import PlayedMatch
    from referee.record import Record
    from referee.results import DealResult

WON, LOST, LEVEL = "won", "lost", "level"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedDeal:
    """What statistics keep of a deal; all that is listed is in the order of the deal's seats.

    Attributes:
        match: Number of the match.
        deck: Number of the deck within the match.
        labels: The bots.
        sides: The side of each, as small numbers.
        reason: Why the deal ended, in a word; of a combination, which.
        results: Whether each won, paid ("lost") or neither ("level").
        leader: Seat that led first.
        dealer: Seat that dealt.
        scores: Of the deal; empty where deals depend on each other and have none of their own.
    """

    match: int
    deck: int
    labels: tuple[str, ...]
    sides: tuple[int, ...]
    reason: str
    results: tuple[str, ...]
    leader: int
    dealer: int
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How often one bot's deals ended for one reason.

    Attributes:
        entrant: Label of the bot.
        reason: Why the deals ended; of a combination, which.
        won: How many of them it won.
        lost: How many it paid for.
        level: How many it neither won nor paid for.
    """

    entrant: str
    reason: str
    won: int
    lost: int
    level: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatAdvantage:
    """What one place at the table was worth to all bots together.

    Attributes:
        place: 0 for the seat itself, 1 for the next to play, and so on.
        mean: Mean score per deal of who sat there, or per match.
        half_width: Half its 95% interval over decks, or matches; None if these all scored alike.
        decks: How many decks, or matches, it rests on.
    """

    place: int
    mean: float
    half_width: float | None
    decks: int


def ended_deals(
    number: int, record: Record, labels: Sequence[str], sides: Sequence[int] = ()
) -> tuple[EndedDeal, ...]:
    """Return what statistics keep of a match.

    Args:
        number: Of the match.
        record: Of the match.
        labels: Its entrants' labels, in the order of the first leg's seats.
        sides: The side of each; empty if each plays for itself.
    """
    sides = sides or range(len(labels))
    return tuple(_ended(number, record, labels, sides, deal) for deal in record.deals)


def endings(deals: Iterable[EndedDeal]) -> tuple[Ending, ...]:
    """Count how each bot's deals ended, by bot, then reason, in alphabetical order.

    Of two copies of a bot in one deal each counts.
    """
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for deal in deals:
        for label, result in zip(deal.labels, deal.results, strict=True):
            counts[label, deal.reason][result] += 1
    return tuple(
        Ending(entrant=label, reason=reason, won=found[WON], lost=found[LOST], level=found[LEVEL])
        for (label, reason), found in sorted(counts.items())
    )


def endings_against(
    deals: Iterable[EndedDeal],
) -> dict[tuple[str, str], tuple[Ending, ...]]:
    """Count how the deals of each bot against each other one ended, by reason as `endings`.

    A deal of more than two sides counts against each of the others.
    """
    met: dict[tuple[str, str], list[EndedDeal]] = defaultdict(list)
    for deal in deals:
        seats = list(zip(deal.labels, deal.sides, strict=True))
        opponents = {(one, other) for one, mine in seats for other, side in seats if side != mine}
        for pair in opponents:
            met[pair].append(deal)
    return {
        (one, other): tuple(each for each in endings(found) if each.entrant == one)
        for (one, other), found in sorted(met.items())
    }


def advantage_of_the_lead(deals: Iterable[EndedDeal]) -> tuple[SeatAdvantage, ...]:
    """Return what each place was worth, counted from the seat that led first."""
    return _advantages(deals, lambda deal: deal.leader)


def advantage_of_the_deal(deals: Iterable[EndedDeal]) -> tuple[SeatAdvantage, ...]:
    """Return what each place was worth, counted from the dealer."""
    return _advantages(deals, lambda deal: deal.dealer)


def advantage_of_the_match(matches: Iterable[PlayedMatch]) -> tuple[SeatAdvantage, ...]:
    """Return what each place at the table was worth in matches that are not mirrored."""
    means: dict[int, list[float]] = defaultdict(list)
    for match in sorted(matches, key=lambda match: match.number):
        deals = [deal for legs in match.decks for deal in legs]
        for place, scores in enumerate(zip(*deals, strict=True)):
            means[place].append(float(sum(scores)))
    return tuple(_advantage(place, units) for place, units in sorted(means.items()))


def _ended(
    number: int, record: Record, labels: Sequence[str], sides: Sequence[int], deal: DealResult
) -> EndedDeal:
    entrants = [record.entrant_at(deal.leg, seat) for seat in deal.playing]
    outcome = deal.outcome
    is_named = outcome.reason is Reason.COMBINATION and outcome.detail
    losers = {seat for seat, _ in outcome.losers}
    is_series = record.match_format == SERIES
    return EndedDeal(
        match=number,
        deck=deal.deck,
        labels=tuple(labels[entrant] for entrant in entrants),
        sides=tuple(sides[entrant] for entrant in entrants),
        reason=outcome.detail if is_named else str(outcome.reason),
        results=tuple(
            WON if seat in outcome.winners else LOST if seat in losers else LEVEL
            for seat in range(len(entrants))
        ),
        leader=outcome.leader,
        dealer=deal.dealer,
        scores=tuple(float(deal.scores[entrant]) for entrant in entrants) if is_series else (),
    )


def _advantages(
    deals: Iterable[EndedDeal], first: Callable[[EndedDeal], int]
) -> tuple[SeatAdvantage, ...]:
    """Take a deck as one observation: its rotations share the cards."""
    decks: dict[tuple[int, int], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for deal in deals:
        for seat, score in enumerate(deal.scores):
            place = (seat - first(deal)) % len(deal.scores)
            decks[deal.match, deal.deck][place].append(score)
    means: dict[int, list[float]] = defaultdict(list)
    for _, places in sorted(decks.items()):
        for place, scores in places.items():
            means[place].append(math.fsum(scores) / len(scores))
    return tuple(_advantage(place, units) for place, units in sorted(means.items()))


def _advantage(place: int, units: Sequence[float]) -> SeatAdvantage:
    mean, half_width = interval(units)
    return SeatAdvantage(place=place, mean=mean, half_width=half_width, decks=len(units))
