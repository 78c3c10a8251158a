"""`arena match`: the matches of a tournament, what happened in one, and its record."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from arena import queries
from arena.cli.context import App, Documented, DocumentedGroup, common_options, pass_app
from arena.cli.match_details import id_of, player_lines, print_match
from arena.cli.match_json import MATCH_FIELDS, details_json, match_json
from arena.cli.options import Whole
from arena.cli.output import Column
from arena.cli.replay import deal_lines
from arena.cli.summary import print_mark
from arena.cli.words import against, seconds, totals
from arena.errors import NotFoundError
from referee.record import read_record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from arena.infos import MatchInfo
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
        app.output.json([match_json(info) for info in infos])
    elif infos:
        app.output.table(LIST_COLUMNS, [_match_row(info) for info in infos])
        print_mark(app.output, infos[0].tournament, committed=infos[0].committed)
    else:
        app.output.status("no matches")


def _match_row(info: MatchInfo) -> tuple[object, ...]:
    time = "-" if info.seconds is None else seconds(info.seconds)
    bots, scores = against(info.entrants, info.sides), totals(info.scores, info.sides)
    return id_of(info), info.round, bots, info.state, scores, info.faults, time


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
        "fault_list[].received": "the message that was judged, or the last before it where none "
        "came, as text, or null",
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
        "runs[].decisions": "turns answered, null if it is not known; so is what follows",
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
        "runs[].last_sent": "the last message to it as text, null but where the attempt failed",
        "runs[].last_received": "the last message from it, the same",
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
    help="Print each fault by itself, with the last messages before it, also of void attempts.",
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
    print_match(app.output, details, players, log_lines=log_lines, messages=messages)


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
