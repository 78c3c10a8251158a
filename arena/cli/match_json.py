"""What is known of a match, as JSON: values under the names of the help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.cli.match_details import PERCENTILES, fault_sentence, id_of, log_end, run_of
from arena.cli.summary import COMMITTED_MEANING
from arena.jobs import INTERRUPTED

if TYPE_CHECKING:
    from arena.cli.match_details import PlayerLine
    from arena.infos import AttemptInfo, FaultInfo, MatchDetails, MatchInfo, ReportInfo

MATCH_FIELDS = {
    "id": "TOURNAMENT/NUMBER, as commands take it",
    "tournament": "name of the tournament",
    "number": "number of the match in it",
    "round": "cycle of the schedule",
    "entrants[]": "name@version of the bot that sits at this seat in the first leg",
    "sides[]": "side of the entrant at this seat, 0 or 1; empty if each plays for itself",
    "committed": COMMITTED_MEANING,
    "state": "planned, leased (being played), done, incomplete (given up) or cancelled",
    "attempt": "number of the last attempt",
    "reason": "why the match is void or incomplete, else empty",
    "scores[]": "total of an entrant, a number; scores is null while there is no result",
    "faults": "how many faults were committed",
    "conditions": "what a reader of the times must know, for example: shared cores",
    "stalls": "how often the referee did not run while it waited, or null",
    "stalled_ms": "for how long in all, which no clock was charged for, or null",
    "record": "path of the record, or null",
    "record_sha256": "hash of the record, or null",
    "seconds": "how long the match took, or null",
}


def match_json(info: MatchInfo) -> dict[str, object]:
    """Return what a list tells of a match."""
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
        "stalls": info.stalls,
        "stalled_ms": _ms(info.stalled_us),
        "record": None if info.record is None else str(info.record),
        "record_sha256": info.record_sha256,
        "seconds": info.seconds,
    }


def details_json(
    details: MatchDetails, players: list[PlayerLine], log_lines: int
) -> dict[str, object]:
    """Return all that is known of a match under the names of the help."""
    return {
        **match_json(details.match),
        "players": [_player_json(line) for line in players],
        "fault_list": [
            _fault_json(fault, run_of(fault, details), log_lines) for fault in details.faults
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
        "log_end": [] if run is None else log_end(run, log_lines),
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
        "last_sent": run.last_sent,
        "last_received": run.last_received,
        "log": None if run.log is None else str(run.log),
        "log_bytes": run.log_bytes,
        "log_truncated": run.log_truncated,
    }


def _ms(microseconds: int | None) -> float | None:
    return None if microseconds is None else microseconds / 1000
