"""What the record of a match comes to, in the shape in which results are stored and published."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from referee.record import MEASURED, read_record
from referee.results import SERIES

MOST_MEASURED = 1 << 48
"""No leg is measured to have more of anything, and a database holds sums of these."""

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction
    from pathlib import Path

    from referee.record import Record
    from referee.results import ClockUsage, DealResult, Offence


@dataclass(frozen=True, slots=True)
class RecordedFault:
    """A fault as a record names it; `place` is the entrant's among those of the match.

    Of one that lost the rest of a leg `deal` is None, `deals_played` counts the deals that were
    over before, and `deals_lost` those it cost.
    """

    leg: int
    deal: int | None
    seat: int
    place: int
    kind: str
    detail: str
    deals_played: int | None
    deals_lost: int | None


@dataclass(frozen=True, slots=True)
class RecordedTimes:
    """How answers took their time, in microseconds."""

    decisions: int
    answers: int
    time_us: int
    p50_us: int
    p95_us: int
    p99_us: int
    max_us: int


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """What a record says of a bot's run in a leg; traffic in bytes."""

    leg: int
    seat: int
    place: int
    times: RecordedTimes
    sent_bytes: int
    received_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A record without its deals.

    `decks` holds the scores as [deck][leg][entrant], `times` those of each entrant over all legs.
    `stalls` is how often the referee was kept from running and `stalled_us` for how long in all, in
    microseconds; None in records of older arenas.
    """

    digest: str
    conditions: str
    seed_commitment: str
    totals: tuple[Fraction, ...]
    decks: tuple[tuple[tuple[Fraction, ...], ...], ...]
    faults: tuple[RecordedFault, ...]
    runs: tuple[RecordedRun, ...]
    times: tuple[RecordedTimes, ...]
    stalls: int | None
    stalled_us: int | None


def read_recorded(path: Path) -> Recorded:
    """Read what a record comes to, without checking that what it says is true.

    Raises:
        RecordError: The file is no record, or one of another format.
        OSError: The file cannot be read.
    """
    record = read_record(path)
    lines = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    legs = [line for line in lines if line["type"] == "leg"]
    return Recorded(
        digest=record.digest,
        conditions=lines[-1]["conditions"],
        seed_commitment=record.seed_commitment,
        totals=record.totals,
        decks=deck_scores(record),
        faults=tuple(_fault(record, offence) for offence in record.faults),
        runs=tuple(
            _run(record, line, clocks, seat)
            for line, clocks in zip(legs, record.clocks, strict=True)
            for seat in range(record.seats)
        ),
        times=tuple(_times(record.clock(place)) for place in range(record.seats)),
        stalls=_sum(legs, "stalls"),
        stalled_us=_sum(legs, "stalled_us"),
    )


def deck_scores(record: Record) -> tuple[tuple[tuple[Fraction, ...], ...], ...]:
    """Return the scores as [deck][leg][entrant]; what is not mirrored is one deck of one leg."""
    if record.match_format != SERIES:
        return ((record.totals,),)
    scores = {(deal.deck, deal.leg): deal.scores for deal in record.deals}
    return tuple(
        tuple(scores[deck, leg] for leg in range(record.seats)) for deck in range(record.decks)
    )


def deals_around(deals: Sequence[DealResult], seat: int) -> tuple[int, int]:
    """Return how many deals were over before a seat lost the leg, and how many that cost it."""
    lost = [
        seat in deal.lost_by and all(fault.seat != seat for fault in deal.faults) for deal in deals
    ]
    return lost.count(False), lost.count(True)


def _fault(record: Record, offence: Offence) -> RecordedFault:
    deals = [deal for deal in record.deals if deal.leg == offence.leg]
    whole_leg = offence.deal is None
    played, lost = deals_around(deals, offence.fault.seat) if whole_leg else (None, None)
    return RecordedFault(
        leg=offence.leg,
        deal=offence.deal,
        seat=offence.fault.seat,
        place=offence.entrant,
        kind=str(offence.fault.kind),
        detail=offence.fault.detail,
        deals_played=played,
        deals_lost=lost,
    )


def _run(
    record: Record, line: dict[str, Any], clocks: Sequence[ClockUsage], seat: int
) -> RecordedRun:
    return RecordedRun(
        leg=line["leg"],
        seat=seat,
        place=record.entrant_at(line["leg"], seat),
        times=_times(clocks[seat]),
        sent_bytes=line[MEASURED]["sent_bytes"][seat],
        received_bytes=line[MEASURED]["received_bytes"][seat],
    )


def _sum(legs: Sequence[dict[str, Any]], name: str) -> int | None:
    """Return what was measured in all legs together; None if it was not measured in one."""
    total = 0
    for leg in legs:
        found = leg[MEASURED].get(name)
        if found is None:
            return None
        if type(found) is not int or not 0 <= found <= MOST_MEASURED:
            raise ValueError(f"{name} that are no number")
        total += found
    return total


def _times(clock: ClockUsage) -> RecordedTimes:
    return RecordedTimes(
        decisions=clock.decisions,
        answers=clock.count,
        time_us=clock.total_us,
        p50_us=clock.percentile_us(50),
        p95_us=clock.percentile_us(95),
        p99_us=clock.percentile_us(99),
        max_us=clock.max_us,
    )
