"""`arena tournament`: create a tournament, run or resume it, see how it stands."""

import shlex
from decimal import Decimal

import click

from arena import ledger, queries, tournament
from arena.cli import exports
from arena.cli.context import App, Documented, DocumentedGroup, common_options, pass_app
from arena.cli.live import StatusLines, TellingStopFlag
from arena.cli.options import game, game_options, sandbox_option, time_control
from arena.cli.output import Column
from arena.cli.standings import PAIR_FIELDS, STANDING_FIELDS, print_tables, standing_json
from arena.cli.words import NO_BOUNDARY, count
from arena.errors import MachineError
from arena.formats import FORMATS
from arena.infos import TournamentInfo
from arena.rankings import pair_table, tournament_table
from arena.store import Store
from arena.tournament import RunReport, TournamentOptions

COLUMNS = (
    Column("Tournament", fold=True),
    Column("State"),
    Column("Variant", fold=True),
    Column("Format"),
    Column("Seats", "right"),
    Column("Bots", "right"),
    Column("Played", "right"),
    Column("Created"),
)
INFO_FIELDS = {
    "name": "name of the tournament",
    "state": "planned, running, paused, finished or incomplete",
    "created": "time of creation (ISO 8601)",
    "variant": "name of the game's variant, followed by the options that were changed",
    "rules.*": "every option of the rules, by name",
    "seats": "bots in a match",
    "partners": "none, fixed (pairs that stay together) or rotating",
    "format": "who meets whom",
    "match_format": "how deals add up to a match",
    "rounds": "cycles of the schedule",
    "decks": "decks a match",
    "sandbox": "where the bots run: container or process",
    "entrants[]": "name@version of an entrant; of fixed partners one follows the other",
    "matches.total": "matches scheduled so far",
    "matches.done": "matches with a result",
    "matches.running": "matches being played",
    "matches.planned": "matches to be played",
    "matches.incomplete": "matches given up after too many void attempts, never scored",
    "commitment": "SHA-256 of the secret seed, public from the start",
    "seed": "the seed in hex once the last match is done, else null",
}


@click.group("tournament", cls=DocumentedGroup, examples=["arena tournament run spring"])
def tournament_group() -> None:
    """Create, run and resume tournaments."""


exports.add_to(tournament_group)


@tournament_group.command(
    "create",
    cls=Documented,
    examples=[
        "arena tournament create spring alice bob",
        "arena tournament create spring alice@1 alice@2 --rounds 3 --decks 200",
        "arena tournament create quick alice bob --move-time 0.2 --tc 30+0.1",
        "arena tournament create three alice bob carol dora --seats 3 --rules target=41",
        "arena tournament create pairs alice+bob carol+dora --variant burkozyol-pairs",
    ],
    fields=INFO_FIELDS,
)
@click.argument("name")
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT...")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(FORMATS)),
    default="round-robin",
    show_default=True,
    help="Who meets whom.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 10_000),
    default=1,
    show_default=True,
    help="Cycles of the schedule.",
)
@click.option(
    "--seats",
    type=click.IntRange(2, 6),
    help="Seats a match.  [default: 2, or what the variant needs]",
)
@game_options
@sandbox_option
@common_options
@pass_app
def create(
    app: App,
    *,
    name: str,
    bots: tuple[str, ...],
    format_name: str,
    rounds: int,
    seats: int | None,
    variant: str,
    changes: tuple[str, ...],
    decks: int,
    match_format: str,
    tables: int | None,
    move_time: Decimal,
    tc: tuple[Decimal, Decimal],
    seed: bytes | None,
    sandbox: str,
    as_json: bool,
) -> None:
    """Make the tournament NAME and commit to its seed.

    BOT is the name of a submitted bot (its newest version) or name@version. In a variant of pairs
    BOT+BOT enters two that stay together; bots entered alone change partners evenly. Nothing is
    played yet.
    """
    played, played_format = game(app.home, variant, changes, match_format)
    options = TournamentOptions(
        name=name,
        bots=bots,
        time=time_control(move_time, tc),
        rules=played.rules,
        variant=played.name,
        format=format_name,
        seats=seats or played.usual_seats,
        rounds=rounds,
        decks=decks,
        match_format=played_format,
        tables=tables,
        seed=seed,
        sandbox=sandbox,
    )
    with app.open_store() as store:
        info = tournament.create(store, options)
    if as_json:
        app.output.json(info_json(info))
        return
    app.output.fields(
        {
            "tournament": info.name,
            "game": _game(info),
            "entrants": ", ".join(_entered(info)),
            "matches": info.total,
            "commitment": info.commitment,
        }
    )
    app.output.status(f"run it: {run_command(app, info)}")


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
        app.output.table(COLUMNS, [_row(info) for info in infos])
    else:
        app.output.status("no tournaments yet; type: arena tournament create NAME BOT BOT")


@tournament_group.command(
    "run",
    cls=Documented,
    examples=["arena tournament run spring", "arena tournament run spring --concurrency 4"],
    fields={
        "interrupted": "whether the run was stopped before the schedule was played",
        "played": "matches this run recorded",
        "voided": "attempts that did not count for a reason of the platform's",
        **{f"tournament.{name}": meaning for name, meaning in INFO_FIELDS.items()},
    },
)
@click.argument("name")
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1024),
    help="Matches at the same time.  [default: what the cores allow]",
)
@common_options
@click.pass_context
def run(context: click.Context, *, name: str, concurrency: int | None, as_json: bool) -> None:
    """Play what is left of the tournament NAME.

    The same command starts and resumes it. Ctrl-C once lets the running matches end, twice
    stops at once; nothing recorded is lost.
    """
    app = context.ensure_object(App)
    with app.open_store() as store:
        report = _run(app, store, name, concurrency)
        if as_json:
            app.output.json(_report_json(report))
        else:
            name = report.tournament.name
            print_tables(app.output, tournament_table(store, name), pair_table(store, name))
    if report.tournament.planned or report.tournament.running:
        app.output.status(f"resume it: {run_command(app, report.tournament)}")
    elif report.tournament.incomplete:
        app.output.status(_retry_advice(app, report.tournament))
    context.exit(report.exit_code)


def _run(app: App, store: Store, name: str, concurrency: int | None) -> RunReport:
    info = queries.tournament(store, name)
    if not info.is_sandboxed:
        app.output.status(NO_BOUNDARY)
    with (
        app.output.progress(info.name, info.total, "matches", done=info.done) as bar,
        TellingStopFlag().signals() as stop,
    ):
        lines = StatusLines(bar, info.total, info.done)
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
        table, by_pairs = tournament_table(store, info.name), pair_table(store, info.name)
    if as_json:
        tables = {"table": table, "pair_table": by_pairs}
        rows = {name: [standing_json(row) for row in rows] for name, rows in tables.items()}
        app.output.json({**info_json(info), **rows})
        return
    app.output.fields(_head(info))
    app.output.line()
    print_tables(app.output, table, by_pairs)
    if info.incomplete:
        app.output.status(_retry_advice(app, info))
    elif not info.done:
        app.output.status(f"no results yet; run it: {run_command(app, info)}")
    elif info.done < info.total:
        app.output.status(f"unless it is being played, resume it: {run_command(app, info)}")


def _head(info: TournamentInfo) -> dict[str, object]:
    sandbox = "" if info.is_sandboxed else f" ({NO_BOUNDARY})"
    head: dict[str, object] = {
        "tournament": f"{info.name}, {info.state}{sandbox}",
        "game": _game(info),
        "matches": f"{info.done} of {info.total} played",
    }
    if info.incomplete:
        head["incomplete"] = f"{count(info.incomplete, 'match', 'matches')} given up, not scored"
    if info.seed is None:
        head["commitment"] = info.commitment
    else:
        head["seed"] = info.seed.hex()
    return head


def _retry_advice(app: App, info: TournamentInfo) -> str:
    missing = count(info.incomplete, "match", "matches")
    command = _command(app, "retry", info)
    return f"{missing} given up; see why: arena match list {info.name}; then: {command}"


def _game(info: TournamentInfo) -> str:
    decks = count(info.decks, "deck")
    return f"{info.variant}, {info.match_format}, {info.seats} seats, {decks} a match"


def _entered(info: TournamentInfo) -> list[str]:
    if info.pairs:
        return ["+".join(bot.name for bot in pair) for pair in info.pairs]
    return [entrant.name for entrant in info.entrants]


def run_command(app: App, info: TournamentInfo) -> str:
    """Return the command that starts or resumes a tournament, as it can be pasted."""
    return _command(app, "run", info)


def _command(app: App, verb: str, info: TournamentInfo) -> str:
    home = [] if app.given_home is None else ["--home", str(app.given_home)]
    return shlex.join(["arena", "tournament", verb, info.name, *home])


def _row(info: TournamentInfo) -> tuple[object, ...]:
    played = f"{info.done}/{info.total}"
    created = f"{info.created:%Y-%m-%d %H:%M}"
    entrants = len(info.entrants)
    game = info.variant, info.format, info.seats
    return info.name, info.state, *game, entrants, played, created


def info_json(info: TournamentInfo) -> dict[str, object]:
    """Return a tournament under the names of `INFO_FIELDS`."""
    return {
        "name": info.name,
        "state": info.state,
        "created": info.created.isoformat(),
        "variant": info.variant,
        "rules": info.rules.to_dict(),
        "seats": info.seats,
        "partners": info.partners,
        "format": info.format,
        "match_format": info.match_format,
        "rounds": info.rounds,
        "decks": info.decks,
        "sandbox": info.sandbox,
        "entrants": [entrant.name for entrant in info.entrants],
        "matches": {
            "total": info.total,
            "done": info.done,
            "running": info.running,
            "planned": info.planned,
            "incomplete": info.incomplete,
        },
        "commitment": info.commitment,
        "seed": info.seed.hex() if info.seed is not None else None,
    }
