"""`arena rebuild`: all tables and ratings anew, checked against the records."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from arena import queries
from arena.cli.context import App, Documented, common_options, pass_app
from arena.cli.errors import DONE, FAILED
from arena.cli.output import plain, wrapped
from arena.cli.words import count
from arena.rebuilding import check_records, missing_results, rebuild

if TYPE_CHECKING:
    from arena.rebuilding import Difference
    from arena.store import Store


@click.command(
    "rebuild",
    cls=Documented,
    examples=[
        "arena rebuild",
        "arena rebuild spring --records",
        "arena rebuild --records --fix",
        "arena rebuild --json",
    ],
    fields={
        "digest": "SHA-256 of all digests below, in their order",
        "tournaments[].name": "name of the tournament",
        "tournaments[].results": "results its tables rest on",
        "tournaments[].digest": "SHA-256 of its tables in canonical JSON",
        "pools[].name": "variant, seats and match format",
        "pools[].results": "results its ratings rest on",
        "pools[].digest": "SHA-256 of its ratings and table in canonical JSON",
        "differences[]": "results that are gone; with --records also where results depart from "
        "them",
        "differences[].match": "ID of a match whose result departs from its record",
        "differences[].field": "what differs",
        "differences[].stored": "what is stored, from shortly before where they part",
        "differences[].record": "what the record says",
        "differences[].fixed": "whether it was stored anew",
    },
)
@click.argument("tournaments", nargs=-1)
@click.option(
    "--records",
    is_flag=True,
    help="First compare each result with the record of its match, and find those that are gone.",
)
@click.option("--fix", is_flag=True, help="Store what differs, or is gone, as the record has it.")
@common_options
@pass_app
def rebuild_command(
    app: App, *, tournaments: tuple[str, ...], records: bool, fix: bool, as_json: bool
) -> int:
    """Compute all tables, statistics and ratings anew from the results.

    Nothing of them is stored, so a digest says what came out: the same results give the same
    digest, in whatever order they arrived. Without TOURNAMENTS all are rebuilt. Exit code 1 says
    that a stored result departs from its record, or that one is gone.
    """
    if fix and not records:
        raise click.UsageError("--fix puts results right by their records; add --records")
    with app.open_store() as store:
        if records:
            differences = _check(app, store, tournaments, fix=fix)
        else:
            differences = missing_results(store, tournaments)
            for missing in differences:
                app.output.status(f"{missing.match} has no result: arena rebuild --records --fix")
        found = rebuild(store, tournaments)
    if as_json:
        app.output.json(
            {**asdict(found), "differences": [asdict(difference) for difference in differences]}
        )
    else:
        for each in (*found.tournaments, *found.pools):
            app.output.paragraph(f"{each.name}: {count(each.results, 'result')}")
            app.output.line(f"  {each.digest}")
        app.output.line(f"digest {found.digest}")
    return FAILED if any(not difference.fixed for difference in differences) else DONE


def _check(app: App, store: Store, names: tuple[str, ...], *, fix: bool) -> tuple[Difference, ...]:
    infos = queries.tournaments(store)
    done = sum(info.done for info in infos if not names or info.name in names)
    with app.output.progress("comparing", done, "matches") as bar:
        compared: list[str] = []

        def watch(match: str) -> None:
            compared.append(match)
            bar.set(len(compared))

        differences = check_records(store, names, fix=fix, watch=watch)
    for difference in differences:
        for line in wrapped(plain(f"{difference}{'; fixed' if difference.fixed else ''}")):
            app.output.status(line)
    app.output.status(
        f"{count(len(compared), 'result')} compared with {count(len(compared), 'record')}: "
        f"{count(len(differences), 'difference')}"
    )
    return differences
