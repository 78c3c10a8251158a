"""`arena verify`: referee a recorded match again."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.context import App, Documented, json_option
from arena.cli.errors import DONE, FAILED
from arena.cli.options import Seed
from referee.verification import verify_record


@click.command(
    cls=Documented,
    examples=[
        "arena verify game.jsonl",
        "arena verify game.jsonl --seed 42",
        "arena verify game.jsonl --json",
    ],
    fields={
        "ok": "whether the record holds",
        "proved": "what a record that holds is consistent with, else empty",
        "digest": "hash of all that was not measured, empty if the record does not hold",
        "difference": "null, or the first difference:",
        "difference.line": "line of the file, from 1",
        "difference.field": "name of the value in the line",
        "difference.expected": "what refereeing gives",
        "difference.found": "what the record says",
    },
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--seed",
    type=Seed(),
    metavar="SEED",
    help="The revealed seed, as 64 hex digits or as it was given: decks are checked against it.",
)
@json_option
@click.pass_context
def verify(context: click.Context, *, file: Path, seed: bytes | None, as_json: bool) -> None:
    """Referee a recorded match again.

    Says what that proves. Exit code 1 and the first difference if the record does not hold. To
    check the whole of a finished tournament's decks, give the seed that `arena tournament show`
    reveals.
    """
    output = context.ensure_object(App).output
    verification = verify_record(file, seed)
    difference = verification.difference
    if as_json:
        output.json(
            {
                "ok": verification.ok,
                "proved": verification.proved if verification.ok else "",
                "digest": verification.digest,
                "difference": None
                if difference is None
                else {
                    "line": difference.line,
                    "field": difference.field,
                    "expected": difference.expected,
                    "found": difference.found,
                },
            }
        )
    elif difference is None:
        output.paragraph(f"holds: {verification.proved}")
        output.line(f"digest: {verification.digest}")
    else:
        output.paragraph(f"does not hold: {difference}")
    context.exit(DONE if verification.ok else FAILED)
