"""`arena tournament plan`: what a tournament will cost, and who meets whom."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena import forecast, planning, queries
from arena.cli.context import App, Documented, common_options, pass_app
from arena.cli.description import read_description
from arena.cli.options import Whole
from arena.cli.output import Column
from arena.cli.summary import COMMITTED_MEANING, print_mark
from arena.cli.words import against, count, seconds
from arena.contributions import waiting
from arena.entries import CONTAINER
from arena.formats import find_format, sides_of
from arena.infos import MatchState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from arena.forecast import Forecast
    from arena.formats import Bye
    from arena.infos import MatchInfo, TournamentInfo
    from arena.store import Store
    from arena.tournament import Draft

PLAN_FIELDS = {
    "matches": "matches still to be played, null if there is no end",
    "at_least": "whether replays can add to them",
    "known": "how many of them are scheduled already",
    "legs": "legs of a match, each with bots started afresh",
    "starts": "bots started for a leg",
    "containers": "bots started in all, null if there is no end",
    "at_once": "matches played at the same time on this machine",
    "match_seconds": "what a match is taken to last",
    "seconds": "what all are taken to last, null if there is no end",
    "measured": "past matches of these bots the time was measured in, 0 for an assumption",
    "scaled_from[]": "decks of these matches if the time is scaled, none having as many as planned",
}
PAIRING_FIELDS = {
    "number": "place in the schedule",
    "round": "round of the format",
    "stage": "what the format calls it, often empty",
    "entrants[]": "name@version, in the order of the first leg's seats",
}
PAIRING_COLUMNS = (
    Column("Match", "right"),
    Column("Round", "right"),
    Column("Stage"),
    Column("Who meets whom", fold=True),
)
HOUR = 3600
DEPENDS = "what follows depends on the results, or on who enters"
DUEL = 2
SHOWN_PAIRINGS = 100
"""How many pairings of a draft are printed; --json has them all."""


@click.command(
    "plan",
    cls=Documented,
    examples=[
        "arena tournament plan spring",
        "arena tournament plan spring --pairings",
        "arena tournament plan --from spring.toml",
    ],
    fields={
        "committed": COMMITTED_MEANING,
        **{f"plan.{name}": meaning for name, meaning in PLAN_FIELDS.items()},
        **{f"pairings[].{name}": meaning for name, meaning in PAIRING_FIELDS.items()},
    },
)
@click.argument("name", required=False)
@click.option(
    "--from",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Plan what a TOML file describes, without making or submitting anything.",
)
@click.option("--pairings", is_flag=True, help="Also print who meets whom, as far as it is known.")
@click.option(
    "--concurrency",
    type=Whole(1, 1024),
    help="Matches at the same time.  [default: what the cores allow]",
)
@common_options
@pass_app
def plan(
    app: App,
    *,
    name: str | None,
    file: Path | None,
    pairings: bool,
    concurrency: int | None,
    as_json: bool,
) -> None:
    """Tell what the tournament NAME will cost before anything runs.

    How many matches are to come, how many containers they start, and about how long that takes:
    measured in past matches of the same bots where there are any, or scaled from those of more or
    fewer decks, else by an assumption that is printed. What cannot be known yet, since it depends
    on results, is left open.
    """
    if name is None and file is None:
        raise click.UsageError("name a tournament, or give --from FILE")
    if name is not None and file is not None:
        raise click.UsageError(f"{name} and --from {file} were given: give one of them, not both")
    if file is not None:
        described = read_description(file)
        options = described.options(app.home)
        described.check_sources(options.sandbox or CONTAINER)
        with app.look() as store:
            made = described.draft(store, options)
            print_draft(
                app, store, made, pairings=pairings, concurrency=concurrency, as_json=as_json
            )
        return
    with app.open_store() as store:
        info = queries.tournament(store, name or "")
        cost = forecast.of_tournament(store, info, concurrency)
        open_matches = _open_matches(store, info)
        if as_json:
            listed = [_match_json(match) for match in open_matches]
            app.output.json(
                {
                    "committed": info.is_committed,
                    "plan": _forecast_json(cost),
                    "pairings": listed,
                }
            )
            return
        _print_forecast(app, info.name, info.sandbox, cost)
        print_mark(app.output, info.name, committed=info.is_committed)
        if pairings:
            app.output.line()
            _print_matches(app, open_matches)
            _print_what_follows(app, store, info, open_matches)


def print_pairings(app: App, store: Store, info: TournamentInfo, *, as_json: bool) -> None:
    """Print the matches that a run would play, as far as they are known."""
    open_matches = _open_matches(store, info)
    if as_json:
        listed = [_match_json(match) for match in open_matches]
        app.output.json({"committed": info.is_committed, "pairings": listed})
        return
    _print_matches(app, open_matches)
    _print_what_follows(app, store, info, open_matches)
    print_mark(app.output, info.name, committed=info.is_committed)


def _print_what_follows(
    app: App, store: Store, info: TournamentInfo, open_matches: Sequence[MatchInfo]
) -> None:
    """Print who sits out the rounds that are played, and whether others will come."""
    first = min((match.round for match in open_matches), default=None)
    byes = [bye for bye in planning.byes(store, info) if first is not None and bye.round >= first]
    _print_byes(app, byes, [each.name for each in info.entrants])
    if not info.complete:
        app.output.status(DEPENDS)
    missing = waiting(info.name, info.contributions)
    if missing is not None:
        app.output.status(f"each string that is told makes another seed: {missing}")


def print_draft(
    app: App,
    store: Store,
    made: Draft,
    *,
    pairings: bool,
    concurrency: int | None = None,
    as_json: bool,
) -> None:
    """Print what a tournament that is not stored would cost, and who would meet whom."""
    cost = forecast.of_draft(store, made, concurrency)
    names = [entry.bot.label for entry in made.entries]
    sides = sides_of(made.rules, made.row.seats)
    if as_json:
        listed = [
            {
                "number": each.number,
                "round": each.round,
                "stage": each.stage,
                "entrants": [names[position] for position in each.seats],
            }
            for each in made.schedule.pairings
        ]
        app.output.json(
            {
                "committed": not made.row.seed_given,
                "plan": _forecast_json(cost),
                "pairings": listed,
            }
        )
        return
    _print_forecast(app, made.row.name, made.row.sandbox, cost)
    print_mark(app.output, made.row.name, committed=not made.row.seed_given)
    if not pairings:
        return
    app.output.line()
    app.output.table(
        PAIRING_COLUMNS,
        [
            (
                each.number,
                each.round,
                each.stage,
                against([names[position] for position in each.seats], sides),
            )
            for each in made.schedule.pairings[:SHOWN_PAIRINGS]
        ],
    )
    more = len(made.schedule.pairings) - SHOWN_PAIRINGS
    if more > 0:
        app.output.status(f"and {count(more, 'match', 'matches')} more; --json lists all")
        fewer = find_format(made.row.format).fewer
        if fewer and made.row.seats > DUEL:
            app.output.status(f"fewer matches with as many seats: --format {fewer}")
    _print_byes(app, made.schedule.byes, names)
    if not made.schedule.complete:
        app.output.status(DEPENDS)


def _open_matches(store: Store, info: TournamentInfo) -> list[MatchInfo]:
    is_open = {MatchState.PLANNED, MatchState.LEASED}
    return [match for match in queries.matches(store, info.name) if match.state in is_open]


def _print_matches(app: App, matches: Sequence[MatchInfo]) -> None:
    if not matches:
        app.output.status("no match is scheduled")
        return
    app.output.table(
        PAIRING_COLUMNS,
        [
            (match.number, match.round, match.stage, against(match.entrants, match.sides))
            for match in matches
        ],
    )


def _print_byes(app: App, byes: Iterable[Bye], names: Sequence[str]) -> None:
    for bye in byes:
        app.output.line(f"{names[bye.entrant]} sits out round {bye.round}")


def _print_forecast(app: App, name: str, sandbox: str, cost: Forecast) -> None:
    what = "processes" if sandbox == queries.PROCESS else "containers"
    least = "at least " if cost.is_least else ""
    endless = cost.matches is None
    app.output.fields(
        {
            "tournament": name,
            "matches": "no end until it is stopped, or not yet known"
            if endless
            else f"{least}{cost.matches}",
            "scheduled": cost.known,
            what: f"{cost.legs} x {cost.starts} a match"
            + ("" if cost.containers is None else f", {least}{cost.containers} in all"),
            "a match": f"about {seconds(cost.match_seconds)} ({basis(cost, sandbox)})",
            "in all": _in_all(cost),
        }
    )


def basis(cost: Forecast, sandbox: str) -> str:
    """Say what the time of a match rests on."""
    if not cost.measured:
        return (
            f"assumed: {forecast.START_SECONDS[sandbox]:g} s to start a leg, "
            f"{forecast.DEAL_SECONDS * 1000:g} ms a deal; bots that think take longer"
        )
    matches = f"{count(cost.measured, 'past match', 'past matches')} of these bots"
    if not cost.scaled_from:
        return f"measured in {matches}"
    least, most = cost.scaled_from[0], cost.scaled_from[-1]
    return (
        f"scaled from {matches}, of {'' if least == most else f'{least} to '}{count(most, 'deck')}"
    )


def _in_all(cost: Forecast) -> str:
    if cost.seconds is None:
        return "-"
    if cost.matches == 0:
        return "nothing is left to play"
    more = " or more" if cost.is_least else ""
    return f"about {duration(cost.seconds)}{more}, {cost.at_once} at a time"


def duration(value: float) -> str:
    """Return a long time in hours and minutes."""
    if value < HOUR:
        return seconds(value)
    hours, rest = divmod(round(value), HOUR)
    return f"{hours} h {rest // 60:02d} min"


def _forecast_json(cost: Forecast) -> dict[str, object]:
    return {
        "matches": cost.matches,
        "at_least": cost.is_least,
        "known": cost.known,
        "legs": cost.legs,
        "starts": cost.starts,
        "containers": cost.containers,
        "at_once": cost.at_once,
        "match_seconds": cost.match_seconds,
        "seconds": cost.seconds,
        "measured": cost.measured,
        "scaled_from": list(cost.scaled_from),
    }


def _match_json(match: MatchInfo) -> dict[str, object]:
    return {
        "number": match.number,
        "round": match.round,
        "stage": match.stage,
        "entrants": list(match.entrants),
    }
