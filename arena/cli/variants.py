"""`arena variants`: the games that can be played, and the rules of one in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from arena.cli.context import App, Documented, common_options, pass_app
from arena.cli.options import rules_option
from arena.cli.output import Column
from arena.reading import reading
from arena.rulebook import Game, find_game, saved
from referee.variants import VARIANTS, describe, sources_of

if TYPE_CHECKING:
    from arena.cli.output import Output

COLUMNS = (
    Column("Variant", fold=True),
    Column("Seats"),
    Column("Deck", "right"),
    Column("Hand", "right"),
    Column("Goal"),
    Column("Sides"),
    Column("Match format"),
)
GAME_FIELDS = {
    "name": "name of the variant, followed by the options that were changed",
    "seats[]": "an allowed number of seats",
    "rules.*": "every option of the rules, by name",
    "sentences[]": "one rule in words, its sources in brackets",
    "sources.*": "what a source is, by its sign",
}


@click.command(
    cls=Documented,
    examples=[
        "arena variants",
        "arena variants bura",
        "arena variants bura --rules hand_size=3 --rules target=41 --json",
    ],
    fields=GAME_FIELDS,
)
@click.argument("name", required=False)
@rules_option
@common_options
@pass_app
def variants(app: App, *, name: str | None, changes: tuple[str, ...], as_json: bool) -> None:
    """List the variants and the rules you saved, or print the rules of one.

    With --json: one object for NAME, else an array of them.
    """
    if name is not None:
        print_game(app.output, find_game(app.home, name, changes), as_json=as_json)
        return
    if changes:
        raise click.UsageError("--rules changes a variant: name it")
    games = [Game(known, rules) for known, rules in VARIANTS.items()]
    if app.home.is_begun:
        with reading(app.home) as store:
            games += [Game(each.name, each.rules) for each in saved(store)]
    if as_json:
        app.output.json([game_json(game) for game in games])
    else:
        app.output.table(COLUMNS, [_row(game) for game in games])


def print_game(output: Output, game: Game, *, as_json: bool) -> None:
    """Print the rules of a game in sentences, and what the sources in brackets are."""
    if as_json:
        output.json(game_json(game))
        return
    sentences = describe(game.rules)
    for sentence in sentences:
        output.line(sentence)
    output.line()
    output.fields(sources_of(sentences))


def game_json(game: Game) -> dict[str, object]:
    """Return a game under the names of `GAME_FIELDS`."""
    sentences = describe(game.rules)
    return {
        "name": game.name,
        "seats": list(game.rules.players),
        "rules": game.rules.to_dict(),
        "sentences": sentences,
        "sources": sources_of(sentences),
    }


def _row(game: Game) -> tuple[object, ...]:
    rules = game.rules
    seats = " ".join(map(str, rules.players))
    cards = rules.deck, rules.hand_size
    return game.name, seats, *cards, rules.goal, rules.sides, rules.match_format
