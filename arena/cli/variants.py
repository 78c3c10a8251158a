"""`arena variants`: the games that can be played, and the rules of one in sentences."""

import click

from arena.cli.context import App, Documented, json_option, pass_app
from arena.cli.output import Column
from referee.rules import Rules
from referee.variants import VARIANTS, describe, find_variant

COLUMNS = (
    Column("Variant"),
    Column("Seats"),
    Column("Deck", "right"),
    Column("Hand", "right"),
    Column("Goal"),
    Column("Match format"),
)


@click.command(
    cls=Documented,
    examples=["arena variants", "arena variants bura", "arena variants bura --json"],
    fields={
        "name": "name of the variant",
        "seats[]": "an allowed number of seats",
        "rules.*": "every option of the rules, by name",
        "sentences[]": "one rule in words",
    },
)
@click.argument("name", required=False)
@json_option
@pass_app
def variants(app: App, *, name: str | None, as_json: bool) -> None:
    """List the variants, or print the rules of one.

    With --json: one object for NAME, else an array of them.
    """
    if as_json:
        app.output.json(
            [_json(known, rules) for known, rules in VARIANTS.items()]
            if name is None
            else _json(name, find_variant(name))
        )
    elif name is None:
        app.output.table(COLUMNS, [_row(known, rules) for known, rules in VARIANTS.items()])
    else:
        for sentence in describe(find_variant(name)):
            app.output.line(sentence)


def _json(name: str, rules: Rules) -> dict[str, object]:
    return {
        "name": name,
        "seats": list(rules.players),
        "rules": rules.to_dict(),
        "sentences": list(describe(rules)),
    }


def _row(name: str, rules: Rules) -> tuple[object, ...]:
    seats = " ".join(map(str, rules.players))
    return name, seats, rules.deck, rules.hand_size, rules.goal, rules.match_format
