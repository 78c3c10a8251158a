"""`arena match`: the matches of a tournament, what happened in one, and its record."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from arena import queries
from arena.cli.context import App, Documented, DocumentedGroup, common_options, pass_app
from arena.cli.options import Whole
from arena.cli.output import Column, plain_lines
from arena.cli.replay import deal_lines
from arena.cli.summary import COMMITTED_MEANING, NOT_COMMITTED, print_mark
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
    totals,
    void_words,
)
from arena.errors import NotFoundError
from arena.jobs import INTERRUPTED
from referee.players import FaultKind
from referee.record import read_record
from referee.results import ClockUsage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from arena.cli.output import Output
    from arena.infos import AttemptInfo, FaultInfo, MatchDetails, MatchInfo, ReportInfo
    from referee.record import Record
    from referee.results import DealResult

LIST_COLUMNS = (
    Column("Match"),
    Column("Round", "right"),
    Column("Bots", fold=True),
    Column("State"),
    Column("Score", "right"),
    Column("Faults", "right"),
    Column("Time", "right"),
)
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
MATCH_FIELDS = {
    "id": "TOURNAMENT/NUMBER, as commands take it",
    "tournament": "name of the tournament",
    "number": "number of the match in it",
    "round": "cycle of the schedule",
    "entrants[]": "name@version of the bot that sits at this seat in the first leg",
    "sides[]": "side of the entrant at this seat, 0 or 1; empty if each plays for itself",
    "committed": COMMITTED_MEANING,
    "state": "planned, leased (being played), done or incomplete (given up)",
    "attempt": "number of the last attempt",
    "reason": "why the match is void or incomplete, else empty",
    "scores[]": "total of an entrant, a number; scores is null while there is no result",
    "faults": "how many faults were committed",
    "conditions": "what a reader of the times must know, for example: shared cores",
    "record": "path of the record, or null",
    "record_sha256": "hash of the record, or null",
    "seconds": "how long the match took, or null",
}


MATCH_NUMBER = re.compile("[0-9]{1,18}")
"""Not more digits than the database has numbers for."""


class MatchId(click.ParamType[tuple[str, int]]):
    """A match of a tournament: TOURNAMENT/NUMBER."""

    name = "id"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        """Return the tournament's name and the number, or fail saying what an id looks like."""
        if isinstance(value, tuple):
            return value
        tournament, slash, text = value.rpartition("/")
        if not (slash and MATCH_NUMBER.fullmatch(text)):
            self.fail(
                f"{value!r} is no match; give TOURNAMENT/NUMBER, for example spring/3", param, ctx
            )
        return tournament, int(text)


@click.group("match", cls=DocumentedGroup, examples=["arena match show spring/1"])
def match() -> None:
    """See the matches of a tournament and their records."""


@match.command(
    "list",
    cls=Documented,
    examples=["arena match list spring", "arena match list spring --bot alice"],
    fields=MATCH_FIELDS,
)
@click.argument("tournament")
@click.option("--bot", metavar="BOT", help="Only matches of this bot: NAME or NAME@VERSION.")
@common_options
@pass_app
def list_matches(app: App, *, tournament: str, bot: str | None, as_json: bool) -> None:
    """List the matches of a TOURNAMENT in schedule order; --json prints an array."""
    with app.open_store() as store:
        infos = queries.matches(store, tournament, entrant=bot)
    if as_json:
        app.output.json([_match_json(info) for info in infos])
    elif infos:
        app.output.table(LIST_COLUMNS, [_match_row(info) for info in infos])
        print_mark(app.output, infos[0].tournament, committed=infos[0].committed)
    else:
        app.output.status("no matches")


def id_of(info: MatchInfo) -> str:
    """Return the id of a match, as commands take it."""
    return f"{info.tournament}/{info.number}"


def _match_row(info: MatchInfo) -> tuple[object, ...]:
    time = "-" if info.seconds is None else seconds(info.seconds)
    bots, scores = against(info.entrants, info.sides), totals(info.scores, info.sides)
    return id_of(info), info.round, bots, info.state, scores, info.faults, time


def _match_json(info: MatchInfo) -> dict[str, object]:
    return {
        "id": id_of(info),
        "tournament": info.tournament,
        "number": info.number,
        "round": info.round,
        "entrants": list(info.entrants),
        "sides": list(info.sides),
        "committed": info.committed,
        "state": info.state,
        "attempt": info.attempt,
        "reason": info.reason,
        "scores": None if info.scores is None else [float(total) for total in info.scores],
        "faults": info.faults,
        "conditions": info.conditions,
        "record": None if info.record is None else str(info.record),
        "record_sha256": info.record_sha256,
        "seconds": info.seconds,
    }


@match.command(
    "show",
    cls=Documented,
    examples=["arena match show spring/3", "arena match show spring/3 --log-lines 50"],
    fields={
        **MATCH_FIELDS,
        "players[].name": "name@version",
        "players[].score": "total, null while there is no result",
        "players[].legs[]": "score in a leg",
        "players[].decisions": "turns answered",
        "players[].time_ms": "time of all answers together",
        "players[].slowest_ms": "time of the slowest answer",
        "players[].p50_ms": "time within which half of its answers came; an answer is all choices "
        "for one message of turns",
        "players[].p95_ms": "the same for 95 of 100 answers",
        "players[].p99_ms": "the same for 99 of 100 answers",
        "players[].sending_ms": "what of the time of all answers was the platform's: from a "
        "message's being ready to its being handed to the stream; null if unknown",
        "players[].cpu_seconds": "CPU time in all legs, null if unknown",
        "players[].peak_memory": "most memory used at once in bytes, null if unknown",
        "players[].sent_bytes": "bytes it was sent, null if unknown",
        "players[].received_bytes": "bytes it sent, null if unknown",
        "players[].throttled_periods": "how often a quota withheld its cores, null if unknown",
        "players[].log_bytes": "bytes that were kept of what it printed, null if unknown",
        "players[].faults": "how many faults it committed",
        "fault_list[].leg": "leg, from 1",
        "fault_list[].deal": "deal within the leg, null if the rest of the leg was lost",
        "fault_list[].entrant": "name@version",
        "fault_list[].kind": "kind of fault",
        "fault_list[].detail": "what was wrong and expected",
        "fault_list[].seat": "its seat in that leg, from 0",
        "fault_list[].blame": "whom it is charged to: name@version, always",
        "fault_list[].words": "all that in a sentence",
        "fault_list[].deals_played": "deals of the leg that were over before, null for one deal's",
        "fault_list[].deals_lost": "deals lost that were left in the leg, null for one deal's",
        "fault_list[].sent": "the last message to the bot as text, null if it was not kept",
        "fault_list[].received": "the last message from the bot as text, or null",
        "fault_list[].limit_ms": "time it had for the turns it was asked, or null",
        "fault_list[].elapsed_ms": "how much of it had passed, or null",
        "fault_list[].bank_ms": "what was left of its bank, or null",
        "fault_list[].exit_code": "exit code of its program, or null",
        "fault_list[].signal": "signal that ended its program, or null",
        "fault_list[].out_of_memory": "whether its program used more memory than allowed",
        "fault_list[].memory_limit": "what it was allowed in bytes, or null",
        "fault_list[].log_end[]": "last lines of what it printed in that leg",
        "attempts[].number": "number of the attempt, from 1",
        "attempts[].state": "leased, recorded, void, lost or fenced",
        "attempts[].reason": "why it did not count, else empty",
        "attempts[].verdict": "the same in one word: engine_lost, platform_stall, worker_lost, "
        "disk_full, image_missing, limits_missing, referee_error, leak, interrupted or fenced",
        "attempts[].detail": "what is known besides that word",
        "attempts[].blame": "platform, or organiser for interrupted; null if there is none",
        "attempts[].started": "when it began (ISO 8601)",
        "attempts[].ended": "when it ended, or null",
        "runs[].attempt": "attempt in which the bot ran",
        "runs[].leg": "leg, from 1",
        "runs[].entrant": "name@version",
        "runs[].exit_code": "exit code, null if a signal or the platform ended it",
        "runs[].signal": "number of the signal that ended it, or null",
        "runs[].out_of_memory": "whether it used more memory than allowed",
        "runs[].cpu_seconds": "CPU time, or null",
        "runs[].peak_memory": "most memory used at once in bytes, or null",
        "runs[].log": "path of what it printed, or null",
        "runs[].log_truncated": "whether the log leaves something out",
        "runs[].log_bytes": "bytes that were kept of what it printed",
        "runs[].memory_limit": "what it was allowed in bytes",
        "runs[].memory_kills": "processes of it killed for want of memory, or null",
        "runs[].throttled_seconds": "time its cores were withheld by a quota, or null",
        "runs[].throttled_periods": "how often they were, or null",
        "runs[].start_seconds": "from the order to start it to its running",
        "runs[].decisions": "turns answered, null if the leg came to no end; so is what follows",
        "runs[].answers": "messages they came in",
        "runs[].time_ms": "time of all answers together",
        "runs[].p50_ms": "time within which half of the answers came",
        "runs[].p95_ms": "the same for 95 of 100",
        "runs[].p99_ms": "the same for 99 of 100",
        "runs[].slowest_ms": "time of the slowest answer",
        "runs[].sending_ms": "what of the time of all answers was the platform's",
        "runs[].sent_bytes": "bytes it was sent",
        "runs[].sent_messages": "messages it was sent",
        "runs[].received_bytes": "bytes it sent",
        "runs[].received_messages": "messages it sent",
    },
)
@click.argument("match_id", type=MatchId(), metavar="ID")
@click.option(
    "--log-lines",
    type=Whole(0, 10_000),
    default=10,
    show_default=True,
    help="How many last lines of each bot's output to print.",
)
@click.option(
    "--messages",
    is_flag=True,
    help="Print each fault by itself, with the last messages before it.",
)
@common_options
@pass_app
def show_match(
    app: App, *, match_id: tuple[str, int], log_lines: int, messages: bool, as_json: bool
) -> None:
    """Print what happened in the match ID.

    Scores, legs, time and memory used, faults in words, attempts that did not count, and the end of
    what each bot printed.
    """
    with app.open_store() as store:
        details = queries.match(store, *match_id)
    record = None if details.match.record is None else read_record(details.match.record)
    players = player_lines(details, record)
    if as_json:
        app.output.json(details_json(details, players, log_lines))
        return
    app.output.fields(_head(details.match))
    app.output.table(PLAYER_COLUMNS, [_player_row(player) for player in players])
    if any(run.attempt == details.match.attempt for run in details.reports):
        app.output.table(USAGE_COLUMNS, [_usage_row(player) for player in players])
    print_faults(app.output, details, messages=messages)
    _print_voids(app.output, details)
    _print_runs(app.output, details, log_lines)


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
            output.line(fault_sentence(fault, _run_of(fault, details)))
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


def _run_of(fault: FaultInfo, details: MatchDetails) -> ReportInfo | None:
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


def _print_voids(output: Output, details: MatchDetails) -> None:
    for each in details.attempts:
        if each.verdict:
            detail = f": {each.detail}" if each.detail else ""
            words = void_words(each.verdict)
            output.line(f"attempt {each.number} counts for nobody: {words}{detail}")


def _print_runs(output: Output, details: MatchDetails, log_lines: int) -> None:
    for run in details.reports:
        text = _log(run, log_lines)
        if text:
            output.line()
            output.line(
                f"last output of {run.entrant} in leg {run.leg + 1}, attempt {run.attempt}:"
            )
            for line in text:
                output.line(f"  {line}")


def _log(run: ReportInfo, lines: int) -> list[str]:
    if run.log is None or not run.log.exists():
        return []
    text = run.log.read_text("utf-8", errors="replace").rstrip("\n")
    return plain_lines(text)[-lines:] if lines and text else []


def details_json(
    details: MatchDetails, players: list[PlayerLine], log_lines: int
) -> dict[str, object]:
    """Return all that is known of a match under the names of the help."""
    return {
        **_match_json(details.match),
        "players": [_player_json(line) for line in players],
        "fault_list": [
            _fault_json(fault, _run_of(fault, details), log_lines) for fault in details.faults
        ],
        "attempts": [_attempt_json(each) for each in details.attempts],
        "runs": [_run_json(run) for run in details.reports],
    }


def _player_json(line: PlayerLine) -> dict[str, object]:
    return {
        "name": line.name,
        "score": None if line.score is None else float(line.score),
        "legs": [float(leg) for leg in line.legs],
        "decisions": line.clock.decisions,
        "time_ms": _ms(line.clock.total_us),
        "slowest_ms": _ms(line.clock.max_us),
        **{f"p{percent}_ms": _ms(line.clock.percentile_us(percent)) for percent in PERCENTILES},
        "sending_ms": _ms(line.of_runs("sending_us")),
        "cpu_seconds": line.of_runs("cpu_seconds"),
        "peak_memory": line.of_runs("peak_memory", max),
        "sent_bytes": line.of_runs("sent_bytes"),
        "received_bytes": line.of_runs("received_bytes"),
        "throttled_periods": line.of_runs("throttled_periods"),
        "log_bytes": line.of_runs("log_bytes"),
        "faults": line.faults,
    }


def _fault_json(fault: FaultInfo, run: ReportInfo | None, log_lines: int) -> dict[str, object]:
    return {
        "leg": fault.leg + 1,
        "deal": fault.deal,
        "seat": fault.seat,
        "entrant": fault.entrant,
        "blame": fault.entrant,
        "kind": fault.kind,
        "detail": fault.detail,
        "words": fault_sentence(fault, run),
        "deals_played": fault.deals_played,
        "deals_lost": fault.deals_lost,
        "sent": fault.sent,
        "received": fault.received,
        "limit_ms": _ms(fault.limit_us),
        "elapsed_ms": _ms(fault.elapsed_us),
        "bank_ms": _ms(fault.bank_us),
        "exit_code": None if run is None else run.exit_code,
        "signal": None if run is None else run.signal,
        "out_of_memory": run is not None and run.out_of_memory,
        "memory_limit": None if run is None else run.memory_limit,
        "log_end": [] if run is None else _log(run, log_lines),
    }


def _attempt_json(attempt: AttemptInfo) -> dict[str, object]:
    blame = "organiser" if attempt.verdict == INTERRUPTED else "platform"
    return {
        "number": attempt.number,
        "state": attempt.state,
        "reason": attempt.reason,
        "verdict": attempt.verdict,
        "detail": attempt.detail,
        "blame": blame if attempt.verdict else None,
        "started": attempt.started.isoformat(),
        "ended": None if attempt.ended is None else attempt.ended.isoformat(),
    }


def _run_json(run: ReportInfo) -> dict[str, object]:
    return {
        "attempt": run.attempt,
        "leg": run.leg + 1,
        "entrant": run.entrant,
        "exit_code": run.exit_code,
        "signal": run.signal,
        "out_of_memory": run.out_of_memory,
        "memory_kills": run.memory_kills,
        "memory_limit": run.memory_limit,
        "peak_memory": run.peak_memory,
        "cpu_seconds": run.cpu_seconds,
        "throttled_seconds": run.throttled_seconds,
        "throttled_periods": run.throttled_periods,
        "start_seconds": run.start_seconds,
        "decisions": run.decisions,
        "answers": run.answers,
        "time_ms": _ms(run.time_us),
        "p50_ms": _ms(run.p50_us),
        "p95_ms": _ms(run.p95_us),
        "p99_ms": _ms(run.p99_us),
        "slowest_ms": _ms(run.max_us),
        "sending_ms": _ms(run.sending_us),
        "sent_bytes": run.sent_bytes,
        "sent_messages": run.sent_messages,
        "received_bytes": run.received_bytes,
        "received_messages": run.received_messages,
        "log": None if run.log is None else str(run.log),
        "log_bytes": run.log_bytes,
        "log_truncated": run.log_truncated,
    }


def _ms(microseconds: int | None) -> float | None:
    return None if microseconds is None else microseconds / 1000


@match.command(
    "record",
    cls=Documented,
    examples=[
        "arena match record spring/3",
        "arena match record spring/3 --deal 7",
        "arena match record spring/3 --leg 2 --deal 0 --json",
    ],
    fields={
        "id": "TOURNAMENT/NUMBER, as commands take it",
        "path": "path of the record",
        "sha256": "hash of the file",
        "lines[]": "the deal in words, a line an item; empty without --deal",
    },
)
@click.argument("match_id", type=MatchId(), metavar="ID")
@click.option("--deal", type=Whole(0), help="Tell this deal card by card; from 0.")
@click.option("--leg", type=Whole(1), default=1, show_default=True, help="Its leg.")
@common_options
@pass_app
def record_match(
    app: App, *, match_id: tuple[str, int], deal: int | None, leg: int, as_json: bool
) -> None:
    """Print the path of the record of the match ID, or tell a deal.

    A deal is told card by card, with all cards open. Deals are numbered within their leg in the
    order in which they were begun.
    """
    with app.open_store() as store:
        info = queries.match(store, *match_id).match
    if info.record is None:
        raise NotFoundError(f"{id_of(info)} has no record", "it is there once the match is done")
    lines = [] if deal is None else told_deal(info.record, info.entrants, leg - 1, deal)
    if as_json:
        path, sha256 = str(info.record), info.record_sha256
        app.output.json({"id": id_of(info), "path": path, "sha256": sha256, "lines": lines})
        return
    for line in lines or [str(info.record)]:
        app.output.line(line)


def told_deal(path: Path, labels: Sequence[str], leg: int, deal: int) -> list[str]:
    """Return the lines that tell a deal of a record.

    Raises:
        NotFoundError: There is no such deal.
        RecordError: The file is no record, or the deal cannot have gone this way.
    """
    record = read_record(path)
    return list(deal_lines(record, find_deal(record, leg, deal), labels))


def find_deal(record: Record, leg: int, number_in_leg: int) -> DealResult:
    """Return a deal of a record.

    Raises:
        NotFoundError: There is no such deal.
    """
    for deal in record.deals:
        if (deal.leg, deal.number) == (leg, number_in_leg):
            return deal
    last = max(deal.number for deal in record.deals)
    legs = max(deal.leg for deal in record.deals) + 1
    raise NotFoundError(
        f"there is no deal {number_in_leg} in leg {leg + 1}",
        f"give 0 to {last}, and a leg from 1 to {legs}",
    )
