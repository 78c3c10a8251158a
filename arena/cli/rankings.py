"""`arena rankings`: all bots of a variant by rating."""

from __future__ import annotations

import click

from arena.cli.context import App, Documented, common_options, pass_app
from arena.cli.options import rules_option, variant_option
from arena.cli.standings import STANDING_FIELDS, print_ratings, standing_json
from arena.rankings import variant_table
from arena.rulebook import find_game


@click.command(
    cls=Documented,
    examples=["arena rankings", "arena rankings --variant bura-5 --json"],
    fields=STANDING_FIELDS,
)
@variant_option
@rules_option
@common_options
@pass_app
def rankings(app: App, *, variant: str, changes: tuple[str, ...], as_json: bool) -> None:
    """Print all bots of a variant by rating.

    All tournaments played by its rules count; --json prints an array. Rating is what a bot's skill
    almost certainly exceeds (mu - 3 sigma), +/- is 2 sigma.
    """
    game = find_game(app.home, variant, changes)
    with app.open_store() as store:
        table = variant_table(store, game.rules)
    if as_json:
        app.output.json([standing_json(row) for row in table])
    elif table:
        print_ratings(app.output, table)
    else:
        app.output.status(
            f"no tournaments of {game.name} yet; type: arena tournament create --help"
        )
