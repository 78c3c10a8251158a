"""`arena tournament`: create a tournament, run or resume it, see how it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from arena import ledger, planning, queries, tournament
from arena.cli import exports, roster
from arena.cli.context import App, Documented, DocumentedGroup, common_options, pass_app
from arena.cli.creation import create, finals
from arena.cli.live import StatusLines, TellingStopFlag
from arena.cli.options import Whole
from arena.cli.plans import (
    PAIRING_FIELDS,
    plan,
    print_pairings,
)
from arena.cli.standings import PAIR_FIELDS, STANDING_FIELDS, print_tables, standing_json
from arena.cli.summary import (
    COLUMNS,
    COMMITTED_MEANING,
    INFO_FIELDS,
    PLACE_FIELDS,
    head,
    info_json,
    place_json,
    print_mark,
    print_places,
    row,
    tournament_command,
)
from arena.cli.words import NO_BOUNDARY, count
from arena.errors import MachineError
from arena.rankings import pair_table, tournament_table

if TYPE_CHECKING:
    from arena.infos import TournamentInfo
    from arena.store import Store
    from arena.tournament import RunReport


@click.group("tournament", cls=DocumentedGroup, examples=["arena tournament run spring"])
def tournament_group() -> None:
    """Create, run and resume tournaments."""


@tournament_group.command(
    "list",
    cls=Documented,
    examples=["arena tournament list", "arena tournament list --json"],
    fields=INFO_FIELDS,
)
@common_options
@pass_app
def list_tournaments(app: App, *, as_json: bool) -> None:
    """List the tournaments, oldest first; --json prints an array."""
    with app.open_store() as store:
        infos = queries.tournaments(store)
    if as_json:
        app.output.json([info_json(info) for info in infos])
    elif infos:
        app.output.table(COLUMNS, [row(info) for info in infos])
    else:
        app.output.status("no tournaments yet; type: arena tournament create NAME BOT BOT")


@tournament_group.command(
    "run",
    cls=Documented,
    examples=["arena tournament run spring", "arena tournament run spring --concurrency 4"],
    fields={
        "pairings[]": "with --dry-run, and nothing else then but `committed`, what would be played",
        **{f"pairings[].{name}": meaning for name, meaning in PAIRING_FIELDS.items()},
        "committed": COMMITTED_MEANING,
        "interrupted": "whether the run was stopped before the schedule was played",
        "played": "matches this run recorded",
        "voided": "attempts that did not count for a reason of the platform's",
        **{f"tournament.{name}": meaning for name, meaning in INFO_FIELDS.items()},
    },
)
@click.argument("name")
@click.option(
    "--concurrency",
    type=Whole(1, 1024),
    help="Matches at the same time.  [default: what the cores allow]",
)
@click.option("--dry-run", is_flag=True, help="Print what would be played, and play nothing.")
@common_options
@click.pass_context
def run(
    context: click.Context, *, name: str, concurrency: int | None, dry_run: bool, as_json: bool
) -> None:
    """Play what is left of the tournament NAME.

    The same command starts and resumes it. Ctrl-C once lets the running matches end, twice
    stops at once; nothing recorded is lost.
    """
    app = context.ensure_object(App)
    with app.open_store() as store:
        if dry_run:
            print_pairings(app, store, queries.tournament(store, name), as_json=as_json)
            return
        report = _run(app, store, name, concurrency)
        if as_json:
            app.output.json(_report_json(report))
        else:
            _print_standing(app, store, report.tournament)
            print_mark(app.output, name, committed=report.tournament.is_committed)
    if report.tournament.incomplete:
        app.output.status(_retry_advice(app, report.tournament))
    elif not report.tournament.is_over:
        app.output.status(f"resume it: {run_command(app, report.tournament)}")
    context.exit(report.exit_code)


def _run(app: App, store: Store, name: str, concurrency: int | None) -> RunReport:
    info = queries.tournament(store, name)
    if not info.is_sandboxed:
        app.output.status(NO_BOUNDARY)
    total = planning.expected_matches(store, info)
    with (
        app.output.progress(info.name, total, "matches", done=info.done) as bar,
        TellingStopFlag().signals() as stop,
    ):
        lines = StatusLines(bar, total, info.done, is_least=planning.may_grow(info))
        try:
            return tournament.run(store, name, progress=lines, stop=stop, concurrency=concurrency)
        except MachineError:
            bar.status(f"resume it: {run_command(app, info)}")
            raise


@tournament_group.command(
    "retry",
    cls=Documented,
    examples=["arena tournament retry spring"],
    fields={
        "retried": "matches that were given up and will be tried again",
        **{f"tournament.{name}": meaning for name, meaning in INFO_FIELDS.items()},
    },
)
@click.argument("name")
@common_options
@pass_app
def retry(app: App, *, name: str, as_json: bool) -> None:
    """Give the matches of the tournament NAME that were given up new attempts.

    A match is given up after three attempts that failed for a reason of the platform's: mend that
    first, then retry and run. Results stay as they are.
    """
    with app.open_store() as store:
        retried = ledger.retry(store, queries.tournament(store, name).id)
        info = queries.tournament(store, name)
    if as_json:
        app.output.json({"retried": retried, "tournament": info_json(info)})
        return
    app.output.line(f"{count(retried, 'match', 'matches')} of {info.name} to be tried again")
    if retried:
        app.output.status(f"run it: {run_command(app, info)}")


def _report_json(report: RunReport) -> dict[str, object]:
    return {
        "pairings": [],
        "committed": report.tournament.is_committed,
        "interrupted": report.interrupted,
        "played": report.played,
        "voided": report.voided,
        "tournament": info_json(report.tournament),
    }


@tournament_group.command(
    "show",
    cls=Documented,
    examples=["arena tournament show spring", "arena tournament show spring --json"],
    fields={
        **INFO_FIELDS,
        **{f"places[].{name}": meaning for name, meaning in PLACE_FIELDS.items()},
        **{f"table[].{name}": meaning for name, meaning in STANDING_FIELDS.items()},
        "pair_table[]": "the same by pairs; empty if each plays for itself",
        **{f"pair_table[].{name}": meaning for name, meaning in PAIR_FIELDS.items()},
    },
)
@click.argument("name")
@common_options
@pass_app
def show(app: App, *, name: str, as_json: bool) -> None:
    """Print how the tournament NAME stands.

    Progress, seed or its commitment, ratings and results. Score per deal is given with its 95%
    interval over decks, each deck over all its rotations.
    """
    with app.open_store() as store:
        info = queries.tournament(store, name)
        if as_json:
            _print_json(app, store, info)
            return
        app.output.fields(head(info))
        app.output.line()
        _print_standing(app, store, info)
        _say_how_to_go_on(app, store, info)


def _print_json(app: App, store: Store, info: TournamentInfo) -> None:
    tables = {
        "table": tournament_table(store, info.name),
        "pair_table": pair_table(store, info.name),
    }
    rows = {name: [standing_json(row) for row in rows] for name, rows in tables.items()}
    places = [place_json(each) for each in planning.table(store, info)]
    app.output.json({**info_json(info), "places": places, **rows})


def _print_standing(app: App, store: Store, info: TournamentInfo) -> None:
    """Print the format's own order, then ratings and results."""
    print_places(app.output, planning.table(store, info))
    table, by_pairs = tournament_table(store, info.name), pair_table(store, info.name)
    print_tables(app.output, table, info.match_format, by_pairs)


def _say_how_to_go_on(app: App, store: Store, info: TournamentInfo) -> None:
    hindrance = planning.hindrance(store, info)
    if info.incomplete:
        app.output.status(_retry_advice(app, info))
    elif info.is_over:
        return
    elif hindrance is not None:
        app.output.status(f"not to be run as it stands: {hindrance}")
    elif not info.done:
        app.output.status(f"no results yet; run it: {run_command(app, info)}")
    else:
        app.output.status(f"unless it is being played, resume it: {run_command(app, info)}")


def _retry_advice(app: App, info: TournamentInfo) -> str:
    missing = count(info.incomplete, "match", "matches")
    command = tournament_command(app, "retry", info)
    return f"{missing} given up; see why: arena match list {info.name}; then: {command}"


def run_command(app: App, info: TournamentInfo) -> str:
    """Return the command that starts or resumes a tournament, as it can be pasted."""
    return tournament_command(app, "run", info)


for command in (create, finals, plan, *roster.COMMANDS, *exports.COMMANDS):
    tournament_group.add_command(command)
