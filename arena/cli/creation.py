"""`arena tournament create` and `finals`: from options, or from a file, to a tournament."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from arena import planning, tournament
from arena.bots import submit
from arena.cli.context import App, Documented, common_options, pass_app
from arena.cli.description import read_description
from arena.cli.options import Whole, game, game_options, time_control, tournament_sandbox_option
from arena.cli.plans import (
    PAIRING_FIELDS,
    PLAN_FIELDS,
    print_draft,
)
from arena.cli.summary import (
    INFO_FIELDS,
    NOT_COMMITTED,
    commitment_words,
    entered,
    format_words,
    game_words,
    info_json,
    promises_words,
    say_of_strings,
    time_words,
    tournament_command,
)
from arena.cli.words import NO_BOUNDARY
from arena.entries import CONTAINER
from arena.finals import finals_options
from arena.formats import FORMATS
from arena.infos import Seeding
from arena.queries import PROCESS
from arena.tournament import TournamentOptions
from referee.results import SERIES

if TYPE_CHECKING:
    from decimal import Decimal

    from arena.infos import TournamentInfo
    from arena.store import Store

BESIDE_FILE = frozenset({"file", "dry_run", "as_json", "home", "database"})
"""What a line says beside --from FILE: which file, what to do, and in which arena."""

DRAFT_FIELDS = {
    "plan": "with --dry-run, and nothing else then but the pairings:",
    **{f"plan.{name}": meaning for name, meaning in PLAN_FIELDS.items()},
    **{f"pairings[].{name}": meaning for name, meaning in PAIRING_FIELDS.items()},
}

_rounds_option = click.option(
    "--rounds",
    type=Whole(1, 10_000),
    help="Cycles or rounds, as the format counts.  [default: what the format takes as usual]",
)
_dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Print plan and pairings, and make nothing."
)


@click.command(
    "create",
    cls=Documented,
    examples=[
        "arena tournament create spring alice bob",
        "arena tournament create spring alice@1 alice@2 --rounds 3 --decks 200",
        "arena tournament create quick alice bob --move-time 0.2 --tc 30+0.1",
        "arena tournament create three alice bob carol dora --seats 3 --rules target=41",
        "arena tournament create pairs alice+bob carol+dora --variant burkozyol-pairs",
        "arena tournament create spring alice bob --dry-run",
        "arena tournament create --from spring.toml",
    ],
    fields=INFO_FIELDS | DRAFT_FIELDS,
)
@click.argument("name", required=False)
@click.argument("bots", nargs=-1, metavar="BOT BOT...")
@click.option(
    "--from",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Take everything from a TOML file, and submit the bots that it names a source for. "
    "Folders are built in the network that ARENA_BUILD_NETWORK names.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(FORMATS)),
    default="round-robin",
    show_default=True,
    help="Who meets whom; `arena formats` explains them.",
)
@_rounds_option
@click.option(
    "--seats",
    type=Whole(2, 6),
    help="Seats a match.  [default: 2, or what the variant needs]",
)
@click.option("--groups", type=Whole(1, 1000), help="How many groups there are.")
@click.option("--advance", type=Whole(1, 1000), help="How many of each group reach the knock-out.")
@click.option(
    "--third-place/--no-third-place", default=None, help="Whether third place is played for."
)
@click.option(
    "--challenger", metavar="BOT", help="Who meets all others.  [default: the first named]"
)
@click.option(
    "--seeding",
    type=click.Choice([each.value for each in Seeding]),
    help="How the entrants are ordered.  [default: by rating where the order decides who meets "
    "whom, else as given]",
)
@click.option(
    "--finals",
    is_flag=True,
    help="Nobody enters once it is made, no version is replaced, and everybody plays equally many "
    "games.",
)
@click.option(
    "--open",
    "is_open",
    is_flag=True,
    help="Make it before there are enough entrants; others are let in by `enter`.",
)
@game_options
@tournament_sandbox_option
@_dry_run_option
@common_options
@click.pass_context
def create(
    context: click.Context,
    *,
    name: str | None,
    bots: tuple[str, ...],
    file: Path | None,
    format_name: str,
    rounds: int | None,
    seats: int | None,
    groups: int | None,
    advance: int | None,
    third_place: bool | None,
    challenger: str | None,
    seeding: str | None,
    finals: bool,
    is_open: bool,
    variant: str,
    changes: tuple[str, ...],
    decks: int | None,
    match_format: str,
    tables: int | None,
    move_time: Decimal | None,
    tc: tuple[Decimal, Decimal],
    startup: Decimal | None,
    seed: bytes | None,
    sandbox: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Make the tournament NAME and commit to its seed.

    BOT is the name of a submitted bot (its newest version) or name@version. In a variant of pairs
    BOT+BOT enters two that stay together; bots entered alone change partners evenly. Nothing is
    played yet.
    """
    app = context.ensure_object(App)
    if file is not None:
        _create_from(context, app, file, dry_run=dry_run, as_json=as_json)
        return
    if name is None:
        raise click.UsageError("name the tournament and its bots, or give --from FILE")
    played, played_format = game(app.home, variant, changes, match_format)
    options = TournamentOptions(
        name=name,
        bots=bots,
        time=time_control(played, move_time, tc, startup),
        rules=played.rules,
        variant=played.name,
        format=format_name,
        seats=seats or played.usual_seats,
        rounds=rounds,
        groups=groups,
        advance=advance,
        third_place=third_place,
        challenger=challenger,
        seeding=None if seeding is None else Seeding(seeding),
        is_final=finals,
        is_open=is_open,
        decks=decks,
        match_format=played_format,
        tables=tables,
        seed=seed,
        sandbox=sandbox,
    )
    # What is open may be made before any bot is there, hence before the home.
    opened = app.open_store if not is_open else app.look if dry_run else app.new_store
    with opened() as store:
        _create(app, store, options, dry_run=dry_run, as_json=as_json)


@click.command(
    "finals",
    cls=Documented,
    examples=[
        "arena tournament finals last spring --top 4",
        "arena tournament finals last spring --top 2 --rounds 10 --decks 1000",
        "arena tournament finals last spring --top 4 --dry-run",
    ],
    fields=INFO_FIELDS | DRAFT_FIELDS,
)
@click.argument("name")
@click.argument("source", metavar="FROM")
@click.option("--top", type=Whole(2, 1000), required=True, help="How many reach them.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(FORMATS)),
    default="round-robin",
    show_default=True,
    help="Who meets whom; one in which everybody plays equally many games.",
)
@_rounds_option
@click.option("--decks", type=Whole(1, 100_000), help="Decks a match.  [default: as in FROM]")
@_dry_run_option
@common_options
@pass_app
def finals(
    app: App,
    *,
    name: str,
    source: str,
    top: int,
    format_name: str,
    rounds: int | None,
    decks: int | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Make the tournament NAME of the best of the tournament FROM.

    It is the same game with a seed of its own. The entrants are fixed: nobody enters later, no
    version is replaced, and everybody plays equally many games. Who left FROM is passed over.
    """
    with app.open_store() as store:
        options = finals_options(
            store, name, source, top=top, format_name=format_name, rounds=rounds, decks=decks
        )
        _create(app, store, options, dry_run=dry_run, as_json=as_json)


def _create_from(
    context: click.Context, app: App, file: Path, *, dry_run: bool, as_json: bool
) -> None:
    """Make the tournament that a file describes, its bots submitted first.

    Raises:
        click.UsageError: The line says something that the file is to say.
    """
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if given and parameter.name not in BESIDE_FILE:
            is_option = isinstance(parameter, click.Option)
            word = max(parameter.opts, key=len) if is_option else parameter.human_readable_name
            raise click.UsageError(f"--from FILE says everything: put {word} into the file")
    described = read_description(file)
    options = described.options(app.home)
    described.check_sources(options.sandbox or CONTAINER)
    with app.look() if dry_run else app.new_store() as store:
        # What is wrong with the tournament shows before anything is submitted.
        made = described.draft(store, options)
        if dry_run:
            print_draft(app, store, made, pairings=True, as_json=as_json)
            return
        for bot, source in described.sources():
            version = submit(
                store,
                bot.name,
                source,
                options.sandbox or CONTAINER,
                entropy=bot.entropy,
                entropy_digest=bot.entropy_digest,
                say=app.output.status,
            )
            app.output.status(f"{version.label} {'submitted' if version.new else 'unchanged'}")
        _create(app, store, options, dry_run=False, as_json=as_json)


def _create(
    app: App, store: Store, options: TournamentOptions, *, dry_run: bool, as_json: bool
) -> None:
    if options.match_format != SERIES:
        app.output.status(
            f"a match of {options.match_format} cannot be mirrored: who sits where, and the luck "
            "of the deal, count"
        )
    if options.seed is not None:
        app.output.status(f"{NOT_COMMITTED}: so it is marked everywhere")
    if dry_run:
        made = tournament.draft(store, options)
        _say_sandbox(app, options, made.row.sandbox)
        print_draft(app, store, made, pairings=True, as_json=as_json)
        return
    info = tournament.create(store, options)
    _say_sandbox(app, options, info.sandbox)
    if as_json:
        app.output.json(info_json(info))
        return
    app.output.fields(
        {
            "tournament": info.name,
            "game": game_words(info),
            "format": format_words(info),
            "time": time_words(info),
            "entrants": ", ".join(entered(info)),
            "matches": _matches(store, info),
            "commitment": commitment_words(info),
        }
        | ({"promises": promises_words(info)} if info.contributions else {})
    )
    say_of_strings(app, info)
    hindrance = planning.hindrance(store, info)
    if hindrance is not None:
        app.output.status(f"not yet to be run: {hindrance}")
        return
    app.output.status(f"run it: {tournament_command(app, 'run', info)}")


def _matches(store: Store, info: TournamentInfo) -> str:
    if info.complete:
        return str(info.total)
    expected = planning.expected_matches(store, info)
    least = "" if expected is None else f", at least {expected} in all"
    return f"{info.total}, more to follow{least if planning.may_grow(info) else ''}"


def _say_sandbox(app: App, options: TournamentOptions, sandbox: str) -> None:
    """Say where bots run if nobody asked for it, and it is not what everybody expects."""
    if options.sandbox is not None:
        return
    if sandbox == PROCESS:
        app.output.status(f"all entrants were submitted as processes; {NO_BOUNDARY}")
    elif not options.bots:
        app.output.status(
            "nobody is entered yet: bots will run in docker, and those submitted as processes are "
            "refused; make it with --sandbox process to let these in"
        )
