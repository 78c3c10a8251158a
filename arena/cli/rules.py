"""`arena rules`: an organiser's own rules, under names that every command takes for variants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from arena import rulebook
from arena.cli.context import App, Documented, DocumentedGroup, common_options, pass_app
from arena.cli.options import rules_option, variant_option
from arena.cli.output import Column
from arena.cli.variants import GAME_FIELDS, print_game
from arena.rulebook import Game, find_game

if TYPE_CHECKING:
    from arena.rulebook import SavedRulesInfo

COLUMNS = (
    Column("Rules"),
    Column("Made from", fold=True),
    Column("Seats"),
    Column("Created"),
)
SAVED_FIELDS = {
    "name": "name of the rules",
    "variant": "what they were made from, followed by the options that were changed",
    "created": "time of saving (ISO 8601)",
    "seats[]": "an allowed number of seats",
    "rules.*": "every option, by name",
}


@click.group(
    "rules",
    cls=DocumentedGroup,
    examples=["arena rules save house --variant bura --rules target=41"],
)
def rules_group() -> None:
    """Keep rules of your own under a name, for --variant."""


@rules_group.command(
    "save",
    cls=Documented,
    examples=[
        "arena rules save house --variant bura --rules target=41 --rules false_claim=lose",
        "arena rules save four --rules sides=pairs --rules players=4",
    ],
    fields=SAVED_FIELDS,
)
@click.argument("name")
@variant_option
@rules_option
@common_options
@pass_app
def save(app: App, *, name: str, variant: str, changes: tuple[str, ...], as_json: bool) -> None:
    """Save rules under NAME.

    OPTION is one of those that `arena variants NAME --json` prints under `rules`; several values of
    one option are joined by commas, as in lead_sizes=1,3.
    """
    game = find_game(app.home, variant, changes)
    with app.new_store() as store:
        info = rulebook.save(store, name, game.name, game.rules)
    if as_json:
        app.output.json(_json(info))
    else:
        app.output.fields({"rules": info.name, "made from": info.variant})
        app.output.status(f"see them: arena variants {info.name}")


@rules_group.command(
    "list",
    cls=Documented,
    examples=["arena rules list", "arena rules list --json"],
    fields=SAVED_FIELDS,
)
@common_options
@pass_app
def list_rules(app: App, *, as_json: bool) -> None:
    """List the rules you saved; --json prints an array."""
    with app.open_store() as store:
        infos = rulebook.saved(store)
    if as_json:
        app.output.json([_json(info) for info in infos])
    elif infos:
        app.output.table(COLUMNS, [_row(info) for info in infos])
    else:
        app.output.status("no saved rules yet; type: arena rules save --help")


@rules_group.command(
    "show",
    cls=Documented,
    examples=["arena rules show house", "arena rules show house --json"],
    fields=GAME_FIELDS,
)
@click.argument("name")
@common_options
@pass_app
def show(app: App, *, name: str, as_json: bool) -> None:
    """Print the saved rules NAME in sentences, as `arena variants` does."""
    with app.open_store() as store:
        info = rulebook.find_saved(store, name)
    print_game(app.output, Game(info.name, info.rules), as_json=as_json)


@rules_group.command(
    "remove",
    cls=Documented,
    examples=["arena rules remove house"],
    fields={"removed": "name of the rules that are gone"},
)
@click.argument("name")
@common_options
@pass_app
def remove(app: App, *, name: str, as_json: bool) -> None:
    """Forget the saved rules NAME; tournaments made with them keep them."""
    with app.open_store() as store:
        removed = rulebook.remove(store, name)
    if as_json:
        app.output.json({"removed": removed})
    else:
        app.output.line(f"removed {removed}")


def _row(info: SavedRulesInfo) -> tuple[object, ...]:
    seats = " ".join(map(str, info.rules.players))
    return info.name, info.variant, seats, f"{info.created:%Y-%m-%d %H:%M}"


def _json(info: SavedRulesInfo) -> dict[str, object]:
    return {
        "name": info.name,
        "variant": info.variant,
        "created": info.created.isoformat(),
        "seats": list(info.rules.players),
        "rules": info.rules.to_dict(),
    }
