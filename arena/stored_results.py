"""What a match came to, as it is stored: plain values, so that who plays loads no database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFault:
    """A fault as it is stored; `position` is the entrant's place in the schedule.

    Of one that lost the rest of a leg, `deals_played` counts the deals that were over before and
    `deals_lost` those it cost. `sent` and `received` are the last messages as text, bounded;
    `limit_us`, `elapsed_us` and `bank_us` the clock, in microseconds. None where nothing is known.
    """

    leg: int
    deal: int | None
    seat: int
    position: int
    kind: str
    detail: str
    deals_played: int | None = None
    deals_lost: int | None = None
    sent: str | None = None
    received: str | None = None
    limit_us: int | None = None
    elapsed_us: int | None = None
    bank_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReport:
    """How a bot's run ended, as it is stored; `log` is a path under the arena's folder.

    Memory and traffic are in bytes, `_us` in microseconds; None where nothing is known. The last
    messages, as text and bounded, are kept of attempts that failed: elsewhere faults have them.
    """

    leg: int
    seat: int
    position: int
    exit_code: int | None
    signal: int | None
    out_of_memory: bool
    cpu_seconds: float | None
    peak_memory: int | None
    log: str
    log_truncated: bool
    memory_limit: int | None = None
    memory_kills: int | None = None
    throttled_seconds: float | None = None
    throttled_periods: int | None = None
    start_seconds: float | None = None
    log_bytes: int | None = None
    decisions: int | None = None
    answers: int | None = None
    time_us: int | None = None
    p50_us: int | None = None
    p95_us: int | None = None
    p99_us: int | None = None
    max_us: int | None = None
    sending_us: int | None = None
    sent_bytes: int | None = None
    sent_messages: int | None = None
    received_bytes: int | None = None
    received_messages: int | None = None
    last_sent: str | None = None
    last_received: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResult:
    """What a match came to; `record` is a path under the arena's folder.

    `decks` holds the scores as [deck][leg][entrant], entrants in the order of the match's seats.
    `stalls` is how often the referee was kept from running and `stalled_us` for how long in all, in
    microseconds, which no clock was charged for; None where nothing is known.
    """

    decks: tuple[tuple[tuple[Fraction, ...], ...], ...]
    totals: tuple[Fraction, ...]
    conditions: str
    milliseconds: int
    record: str
    record_sha256: str
    faults: tuple[StoredFault, ...] = ()
    sides: tuple[int, ...] = ()
    stalls: int | None = None
    stalled_us: int | None = None
