"""`arena formats`: who meets whom next, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from arena.cli.context import App, Documented, json_option, pass_app
from arena.cli.output import Column
from arena.errors import NotFoundError, with_near
from arena.formats import FORMATS

if TYPE_CHECKING:
    from arena.formats import Format

COLUMNS = (Column("Format"), Column("Who meets whom", fold=True))


@click.command(
    cls=Documented,
    examples=["arena formats", "arena formats swiss", "arena formats --json"],
    fields={
        "name": "what --format calls it",
        "summary": "one sentence",
        "explanation": "who meets whom, byes, ties, rounds, late entries and withdrawals",
    },
)
@click.argument("name", required=False)
@json_option
@pass_app
def formats(app: App, *, name: str | None, as_json: bool) -> None:
    """List the formats of tournaments, or explain the format NAME.

    With --json: one object for NAME, else an array of them.
    """
    if name is None:
        listed = list(FORMATS.values())
        if as_json:
            app.output.json([_json(each) for each in listed])
        else:
            app.output.table(COLUMNS, [(each.name, each.summary) for each in listed])
        return
    if name not in FORMATS:
        raise NotFoundError(
            f"there is no format {name!r}", with_near("arena formats lists them", name, FORMATS)
        )
    if as_json:
        app.output.json(_json(FORMATS[name]))
    else:
        app.output.lines(wrapped(FORMATS[name].summary))
        app.output.line()
        app.output.lines(wrapped(FORMATS[name].explanation))


def wrapped(text: str) -> str:
    """Return a paragraph in lines as wide as those of --help."""
    return click.wrap_text(text, click.HelpFormatter().width)


def _json(each: Format) -> dict[str, object]:
    return {"name": each.name, "summary": each.summary, "explanation": each.explanation}
