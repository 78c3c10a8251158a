"""`arena match`: the matches of a tournament, what happened in one, and its record."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from arena import queries
from arena.cli.context import App, Documented, DocumentedGroup, common_options, pass_app
from arena.cli.output import Column, plain_lines
from arena.cli.replay import deal_lines
from arena.cli.words import against, fault_words, number, path_text, seconds, totals
from arena.errors import NotFoundError
from referee.record import read_record
from referee.results import ClockUsage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from arena.cli.output import Output
    from arena.infos import MatchDetails, MatchInfo, ReportInfo
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
MATCH_FIELDS = {
    "id": "TOURNAMENT/NUMBER, as commands take it",
    "tournament": "name of the tournament",
    "number": "number of the match in it",
    "round": "cycle of the schedule",
    "entrants[]": "name@version of the bot that sits at this seat in the first leg",
    "sides[]": "side of the entrant at this seat, 0 or 1; empty if each plays for itself",
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
        if not (slash and text.isascii() and text.isdigit()):
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
        "players[].faults": "how many faults it committed",
        "fault_list[].leg": "leg, from 1",
        "fault_list[].deal": "deal within the leg, null if the rest of the leg was lost",
        "fault_list[].entrant": "name@version",
        "fault_list[].kind": "kind of fault",
        "fault_list[].detail": "what was wrong and expected",
        "attempts[].number": "number of the attempt, from 1",
        "attempts[].state": "leased, recorded, void, lost or fenced",
        "attempts[].reason": "why it did not count, else empty",
        "runs[].attempt": "attempt in which the bot ran",
        "runs[].leg": "leg, from 1",
        "runs[].entrant": "name@version",
        "runs[].exit_code": "exit code, null if a signal or the platform ended it",
        "runs[].signal": "number of the signal that ended it, or null",
        "runs[].out_of_memory": "whether it used more memory than allowed",
        "runs[].cpu_seconds": "CPU time, or null",
        "runs[].peak_memory": "most memory used at once in bytes, or null",
        "runs[].log": "path of what it printed, or null",
    },
)
@click.argument("match_id", type=MatchId(), metavar="ID")
@click.option(
    "--log-lines",
    type=click.IntRange(0, 10_000),
    default=10,
    show_default=True,
    help="How many last lines of each bot's output to print.",
)
@common_options
@pass_app
def show_match(app: App, *, match_id: tuple[str, int], log_lines: int, as_json: bool) -> None:
    """Print what happened in the match ID.

    Scores, legs, faults in words, time used, and the end of what each bot printed.
    """
    with app.open_store() as store:
        details = queries.match(store, *match_id)
    record = None if details.match.record is None else read_record(details.match.record)
    players = player_lines(details, record)
    if as_json:
        app.output.json(_details_json(details, players))
        return
    app.output.fields(_head(details.match))
    app.output.table(PLAYER_COLUMNS, [_player_row(player) for player in players])
    _print_faults(app.output, details)
    _print_runs(app.output, details, log_lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerLine:
    """What a match came to for one of its bots; times in microseconds."""

    name: str
    score: Fraction | None
    legs: tuple[Fraction, ...]
    decisions: int
    time_us: int
    slowest_us: int
    faults: int


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
                decisions=clock.decisions,
                time_us=clock.total_us,
                slowest_us=clock.max_us,
                faults=faults[entrant],
            )
        )
    return lines


def _player_row(line: PlayerLine) -> tuple[object, ...]:
    return (
        line.name,
        "-" if line.score is None else number(line.score),
        " ".join(number(leg) for leg in line.legs) or "-",
        line.decisions,
        seconds(line.time_us / 1e6),
        seconds(line.slowest_us / 1e6),
        line.faults,
    )


def _head(info: MatchInfo) -> dict[str, object]:
    head: dict[str, object] = {
        "match": id_of(info),
        "state": f"{info.state} ({info.reason})" if info.reason else info.state,
        "attempt": info.attempt,
    }
    if info.sides:
        head["pairs"] = against(info.entrants, info.sides)
    if info.seconds is not None:
        head["took"] = seconds(info.seconds) + (f" ({info.conditions})" if info.conditions else "")
    if info.record is not None:
        head["record"] = path_text(info.record)
    return head


def _print_faults(output: Output, details: MatchDetails) -> None:
    for fault in details.faults:
        where = "the rest of" if fault.deal is None else f"deal {fault.deal} of"
        words = fault_words(fault.kind)
        output.line(f"{fault.entrant} lost {where} leg {fault.leg + 1}: it {words}: {fault.detail}")


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


def _details_json(details: MatchDetails, players: list[PlayerLine]) -> dict[str, object]:
    return {
        **_match_json(details.match),
        "players": [
            {
                "name": line.name,
                "score": None if line.score is None else float(line.score),
                "legs": [float(leg) for leg in line.legs],
                "decisions": line.decisions,
                "time_ms": line.time_us / 1000,
                "slowest_ms": line.slowest_us / 1000,
                "faults": line.faults,
            }
            for line in players
        ],
        "fault_list": [
            {
                "leg": fault.leg + 1,
                "deal": fault.deal,
                "entrant": fault.entrant,
                "kind": fault.kind,
                "detail": fault.detail,
            }
            for fault in details.faults
        ],
        "attempts": [
            {"number": each.number, "state": each.state, "reason": each.reason}
            for each in details.attempts
        ],
        "runs": [
            {
                "attempt": run.attempt,
                "leg": run.leg + 1,
                "entrant": run.entrant,
                "exit_code": run.exit_code,
                "signal": run.signal,
                "out_of_memory": run.out_of_memory,
                "cpu_seconds": run.cpu_seconds,
                "peak_memory": run.peak_memory,
                "log": None if run.log is None else str(run.log),
            }
            for run in details.reports
        ],
    }


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
@click.option("--deal", type=click.IntRange(0), help="Tell this deal card by card; from 0.")
@click.option("--leg", type=click.IntRange(1), default=1, show_default=True, help="Its leg.")
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
