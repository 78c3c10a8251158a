"""`arena match`: the matches of a tournament, what happened in one, and its record."""

from __future__ import annotations

from typing import Any

import click

from arena import queries
from arena.cli.context import App, Documented, DocumentedGroup, json_option, pass_app
from arena.cli.live import score
from arena.cli.output import Column
from arena.cli.words import seconds
from arena.infos import MatchInfo

LIST_COLUMNS = (
    Column("Match"),
    Column("Round", "right"),
    Column("Bots", fold=True),
    Column("State"),
    Column("Score", "right"),
    Column("Faults", "right"),
    Column("Time", "right"),
)
MATCH_FIELDS = {
    "id": "TOURNAMENT/NUMBER, as commands take it",
    "tournament": "name of the tournament",
    "number": "number of the match in it",
    "round": "cycle of the schedule",
    "entrants[]": "name@version of the bot that sits at this seat in the first leg",
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
    """See the matches of a tournament, what happened in one, and its record."""


@match.command(
    "list",
    cls=Documented,
    examples=["arena match list spring", "arena match list spring --bot alice"],
    fields=MATCH_FIELDS,
)
@click.argument("tournament")
@click.option("--bot", metavar="BOT", help="Only matches of this bot: NAME or NAME@VERSION.")
@json_option
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


def match_id(info: MatchInfo) -> str:
    """Return the id of a match, as commands take it."""
    return f"{info.tournament}/{info.number}"


def _match_row(info: MatchInfo) -> tuple[object, ...]:
    time = "-" if info.seconds is None else seconds(info.seconds)
    bots = " vs ".join(info.entrants)
    return match_id(info), info.round, bots, info.state, score(info), info.faults, time


def _match_json(info: MatchInfo) -> dict[str, object]:
    return {
        "id": match_id(info),
        "tournament": info.tournament,
        "number": info.number,
        "round": info.round,
        "entrants": list(info.entrants),
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
