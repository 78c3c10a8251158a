"""What happened in one match, as tables and sentences."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from arena.cli.output import Column, plain_lines
from arena.cli.summary import NOT_COMMITTED
from arena.cli.words import (
    against,
    count,
    fault_words,
    grouped,
    milliseconds,
    number,
    path_text,
    seconds,
    size,
    stall_words,
    void_words,
)
from referee.players import FaultKind
from referee.results import ClockUsage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from arena.cli.output import Output
    from arena.infos import FaultInfo, MatchDetails, MatchInfo, ReportInfo
    from referee.record import Record

PLAYER_COLUMNS = (
    Column("Name", fold=True),
    Column("Score", "right"),
    Column("Legs"),
    Column("Decisions", "right"),
    Column("Time", "right"),
    Column("Slowest", "right"),
    Column("Faults", "right"),
)
USAGE_COLUMNS = (
    Column("Used", fold=True),
    Column("CPU", "right"),
    Column("Memory", "right"),
    Column("p50", "right"),
    Column("p95", "right"),
    Column("p99", "right"),
    Column("Ours", "right"),
    Column("Sent", "right"),
    Column("Received", "right"),
    Column("Throttled", "right"),
    Column("Log", "right"),
)
PERCENTILES = (50, 95, 99)


def id_of(info: MatchInfo) -> str:
    """Return the id of a match, as commands take it."""
    return f"{info.tournament}/{info.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerLine:
    """What a match came to for one of its bots; `runs` are those of the attempt that counts."""

    name: str
    score: Fraction | None
    legs: tuple[Fraction, ...]
    clock: ClockUsage
    faults: int
    runs: tuple[ReportInfo, ...]

    def of_runs(self, field: str, join: Callable[[Iterable[Any]], Any] = sum) -> Any:
        """Return what its runs used together, None if it is not known of any."""
        known = [getattr(run, field) for run in self.runs if getattr(run, field) is not None]
        return join(known) if known else None


def player_lines(details: MatchDetails, record: Record | None) -> list[PlayerLine]:
    """Return a line for each entrant; a match without a record has no legs and no times."""
    names = details.match.entrants
    # Partners may be copies of one bot, so that a name alone does not tell who was at fault.
    faults = Counter((fault.seat + fault.leg) % len(names) for fault in details.faults)
    lines = []
    for entrant, name in enumerate(names):
        deals = [] if record is None else record.deals
        legs: defaultdict[int, Fraction] = defaultdict(Fraction)
        for deal in deals:
            legs[deal.leg] += deal.scores[entrant]
        clock = ClockUsage() if record is None else record.clock(entrant)
        lines.append(
            PlayerLine(
                name=name,
                score=None if details.match.scores is None else details.match.scores[entrant],
                legs=tuple(legs[leg] for leg in sorted(legs)),
                clock=clock,
                faults=faults[entrant],
                runs=tuple(
                    run
                    for run in details.reports
                    if run.attempt == details.match.attempt
                    and (run.seat + run.leg) % len(names) == entrant
                ),
            )
        )
    return lines


def _player_row(line: PlayerLine) -> tuple[object, ...]:
    return (
        line.name,
        "-" if line.score is None else number(line.score),
        " ".join(number(leg) for leg in line.legs) or "-",
        line.clock.decisions,
        seconds(line.clock.total_us / 1e6),
        seconds(line.clock.max_us / 1e6),
        line.faults,
    )


def _usage_row(line: PlayerLine) -> tuple[object, ...]:
    cpu, ours = line.of_runs("cpu_seconds"), line.of_runs("sending_us")
    sizes = [
        line.of_runs("peak_memory", max),
        line.of_runs("sent_bytes"),
        line.of_runs("received_bytes"),
        line.of_runs("log_bytes"),
    ]
    memory, sent, received, log = ("-" if each is None else size(each) for each in sizes)
    throttled = line.of_runs("throttled_periods")
    return (
        line.name,
        "-" if cpu is None else seconds(cpu),
        memory,
        *(milliseconds(line.clock.percentile_us(percent)) for percent in PERCENTILES),
        "-" if ours is None else milliseconds(ours),
        sent,
        received,
        "-" if throttled is None else throttled,
        log,
    )


def print_match(
    output: Output,
    details: MatchDetails,
    players: Sequence[PlayerLine],
    *,
    log_lines: int,
    messages: bool,
) -> None:
    """Print what happened in a match: players, what they used, faults, voids and their output."""
    output.fields(_head(details.match))
    output.table(PLAYER_COLUMNS, [_player_row(player) for player in players])
    if any(run.attempt == details.match.attempt for run in details.reports):
        output.table(USAGE_COLUMNS, [_usage_row(player) for player in players])
    print_faults(output, details, messages=messages)
    _print_voids(output, details, messages=messages)
    _print_runs(output, details, log_lines)


def _head(info: MatchInfo) -> dict[str, object]:
    head: dict[str, object] = {
        "match": id_of(info),
        "state": f"{info.state} ({info.reason})" if info.reason else info.state,
        "attempt": info.attempt,
    }
    if not info.committed:
        head["seed"] = NOT_COMMITTED
    if info.sides:
        head["pairs"] = against(info.entrants, info.sides)
    if info.seconds is not None:
        head["took"] = seconds(info.seconds) + (f" ({info.conditions})" if info.conditions else "")
    if info.stalls and info.stalled_us is not None:
        head["referee"] = stall_words(info.stalls, info.stalled_us)
    if info.record is not None:
        head["record"] = path_text(info.record)
    return head


def print_faults(output: Output, details: MatchDetails, *, messages: bool = False) -> None:
    """Print faults of a kind in a line, or each with the last messages before it."""
    for alike in grouped(
        details.faults, lambda one: (one.seat, one.leg, one.kind, one.deal is None)
    ):
        if len(alike) > 1 and alike[0].deal is not None and not messages:
            output.line(faults_sentence(alike))
            continue
        for fault in alike:
            output.line(fault_sentence(fault, run_of(fault, details)))
            if messages and fault.sent is not None:
                output.line(f"  last sent: {fault.sent or '-'}")
                output.line(f"  last received: {fault.received or '-'}")


def faults_sentence(alike: Sequence[FaultInfo]) -> str:
    """Return who did what in how many deals of a leg, with the detail of the first."""
    first = alike[0]
    return (
        f"{first.entrant} {fault_words(first.kind)} in {len(alike)} deals of leg {first.leg + 1}, "
        f"first in deal {first.deal}: {first.detail}; lost each of them"
    )


def run_of(fault: FaultInfo, details: MatchDetails) -> ReportInfo | None:
    """Return the run of the bot in which it committed a fault."""
    place = (details.match.attempt, fault.leg, fault.seat)
    runs = {(run.attempt, run.leg, run.seat): run for run in details.reports}
    return runs.get(place)


def fault_sentence(fault: FaultInfo, run: ReportInfo | None) -> str:
    """Return who did what, when, what is known of it, and what it cost."""
    words = f"{fault.entrant} {fault_words(fault.kind)}"
    if fault.deal is not None:
        return f"{words} in deal {fault.deal} of leg {fault.leg + 1}: {fault.detail}; lost the deal"
    where = f"in leg {fault.leg + 1}"
    if fault.deals_played:
        where += f" after {count(fault.deals_played, 'deal')}"
    lost = "the rest of the leg"
    if fault.deals_lost is not None:
        lost = f"the {count(fault.deals_lost, 'deal')} left" if fault.deals_lost else "no deal"
    return f"{words} {where}: {_known(fault, run)}; lost {lost}"


def _known(fault: FaultInfo, run: ReportInfo | None) -> str:
    if fault.kind == FaultKind.OUT_OF_MEMORY and run is not None and run.memory_limit is not None:
        return f"killed at {size(run.memory_limit)}"
    if fault.kind == FaultKind.TIMEOUT and fault.limit_us:
        return f"{fault.detail}, at last after {seconds(fault.limit_us / 1e6)}"
    return fault.detail


def _print_voids(output: Output, details: MatchDetails, *, messages: bool) -> None:
    for each in details.attempts:
        if each.verdict:
            detail = f": {each.detail}" if each.detail else ""
            words = void_words(each.verdict)
            output.line(f"attempt {each.number} counts for nobody: {words}{detail}")
            for run in details.reports:
                if run.attempt == each.number and run.last_sent is not None:
                    _print_broken_off(output, run, messages=messages)


def _print_broken_off(output: Output, run: ReportInfo, *, messages: bool) -> None:
    """Print how far a bot had come when its leg failed."""
    answers = count(run.answers or 0, "answer")
    took = f" in {seconds((run.time_us or 0) / 1e6)}" if run.answers else ""
    output.line(f"  {run.entrant} in leg {run.leg + 1}: {answers}{took} until then")
    if messages:
        output.line(f"    last sent: {run.last_sent or '-'}")
        output.line(f"    last received: {run.last_received or '-'}")


def _print_runs(output: Output, details: MatchDetails, log_lines: int) -> None:
    for run in details.reports:
        text = log_end(run, log_lines)
        if text:
            output.line()
            output.line(
                f"last output of {run.entrant} in leg {run.leg + 1}, attempt {run.attempt}:"
            )
            for line in text:
                output.line(f"  {line}")


def log_end(run: ReportInfo, lines: int) -> list[str]:
    """Return the last lines of what a bot printed, made safe to print."""
    if run.log is None or not run.log.exists():
        return []
    text = run.log.read_text("utf-8", errors="replace").rstrip("\n")
    return plain_lines(text)[-lines:] if lines and text else []
