"""`arena tournament export` and `verify`: a folder anybody can check, and the check."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena import queries
from arena.cli.context import App, Documented, common_options, json_option, pass_app
from arena.cli.errors import DONE, FAILED
from arena.cli.options import Whole
from arena.cli.summary import commitment_words
from arena.cli.words import count, path_text, size
from arena.publishing.audit import audit
from arena.publishing.documents import RECORDS
from arena.publishing.export import export

if TYPE_CHECKING:
    from arena.publishing.audit import Audit

EXAMPLE_HASH = "154da12a59e4f9f0e34f4a7b9aee9e74558225782b2596939be04678f8faab31"
FOLDER = click.Path(file_okay=False, path_type=Path)


class Sha256(click.ParamType[str]):
    """A SHA-256 as 64 hex digits."""

    name = "sha256"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the digits in lower case."""
        folded = value.lower()
        if len(folded) != 64 or not set(folded) <= set("0123456789abcdef"):  # noqa: PLR2004
            self.fail(f"{value!r} is no SHA-256: expected 64 hex digits", param, ctx)
        return folded


@click.command(
    "export",
    cls=Documented,
    examples=[
        "arena tournament export spring ./spring",
        "arena tournament export spring ./so-far --unfinished",
    ],
    fields={
        "folder": "where it was written",
        "head": "hash that stands for all files: publish it",
        "commitment": "SHA-256 of the secret, public from the start",
        "promises": "SHA-256 of commitment and list of strings",
        "committed": "false where the organiser chose the seed by hand",
        "files": "how many files there are",
        "matches": "how many of them are records of matches",
        "bytes": "size of all together",
    },
)
@click.argument("name")
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option(
    "--unfinished",
    is_flag=True,
    help="Also of a tournament that is not finished; then without the seed.",
)
@common_options
@pass_app
def export_tournament(
    app: App, *, name: str, folder: Path, unfinished: bool, as_json: bool
) -> None:
    """Write all that shows that the tournament NAME was fair into DIR.

    Settings, rules, digests, seed, schedule, records, results, faults, what bots used, standings
    and ratings as JSON and CSV, a game list for rating programs, and a manifest. Whoever has the
    folder checks it with `arena tournament verify`. Publish the head that is printed: it stands
    for every byte.
    """
    with app.open_store() as store:
        info = queries.tournament(store, name)
        with app.output.progress(info.name, info.done, "matches") as bar:
            exported = export(store, name, folder, unfinished=unfinished, watch=bar.set)
    if as_json:
        app.output.json(
            {
                "folder": str(exported.folder),
                "head": exported.head,
                "commitment": info.commitment,
                "promises": info.promises,
                "committed": info.is_committed,
                "files": exported.files,
                "matches": exported.matches,
                "bytes": exported.size,
            }
        )
        return
    app.output.fields(
        {
            "folder": path_text(exported.folder),
            "files": f"{exported.files}, {size(exported.size)}",
            "matches": exported.matches,
            "commitment": commitment_words(info),
            "promises": info.promises,
            "head": exported.head,
        }
    )
    app.output.status(f"check it: arena tournament verify {path_text(folder)}")


@click.command(
    "verify",
    cls=Documented,
    examples=[
        "arena tournament verify ./spring",
        f"arena tournament verify ./spring --promises {EXAMPLE_HASH}",
        "arena tournament verify ./spring --json",
    ],
    fields={
        "ok": "whether everything agrees",
        "difference": "null, or the first thing that does not agree:",
        "difference.file": "file below the folder",
        "difference.place": "where in the file, may be empty",
        "difference.expected": "what follows from the rest",
        "difference.found": "what is there",
        "proved[]": "what holds, up to the first difference",
        "unproved[]": "what nobody can tell from the folder",
        "protection": "how far the decks are protected from being chosen; empty unless ok",
        "head": "hash that stands for all files, empty if they do not fit the manifest",
        "matches": "how many records were refereed again",
    },
)
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option(
    "--head",
    type=Sha256(),
    metavar="HASH",
    help="The head as it was published: the folder has to be that one.",
)
@click.option(
    "--commitment",
    type=Sha256(),
    metavar="HASH",
    help="The commitment as you noted it before the first match.",
)
@click.option(
    "--promises",
    type=Sha256(),
    metavar="HASH",
    help="The hash of the promises as you noted it before you revealed your string.",
)
@click.option(
    "--jobs",
    type=Whole(1, 256),
    help="Records refereed at the same time.  [default: the number of cores]",
)
@json_option
@click.pass_context
def verify_folder(
    context: click.Context,
    *,
    folder: Path,
    head: str | None,
    commitment: str | None,
    promises: str | None,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Check the exported tournament in DIR, without its database.

    Manifest, commitment, strings and promises, schedule, every deck, action and score, results,
    standings and ratings are made again; the first thing that does not agree is named, and the
    exit code is 1. Says what was proved, how far the strings of entrants keep anybody from choosing
    the decks, and what nobody can tell from the folder.
    """
    output = context.ensure_object(App).output
    records = sum(1 for _ in (folder / RECORDS).glob("*"))
    with output.progress("refereeing", records, "records") as bar:
        found = audit(
            folder,
            head=head,
            committed=commitment,
            promises=promises,
            processes=jobs or os.cpu_count() or 1,
            watch=bar.set,
        )
    if as_json:
        output.json(_audit_json(found))
    else:
        for line in found.proved:
            output.paragraph(f"holds: {line}")
        if found.difference is None:
            output.line(f"{count(found.matches, 'match', 'matches')}: everything agrees")
            output.paragraph(f"protected: {found.protection}")
            for line in found.unproved:
                output.paragraph(f"not proved: {line}")
        else:
            output.paragraph(f"does not agree: {found.difference}")
    context.exit(DONE if found.ok else FAILED)


def _audit_json(found: Audit) -> dict[str, object]:
    difference = found.difference
    return {
        "ok": found.ok,
        "difference": None
        if difference is None
        else {
            "file": difference.file,
            "place": difference.place,
            "expected": difference.expected,
            "found": difference.found,
        },
        "proved": list(found.proved),
        "unproved": list(found.unproved),
        "protection": found.protection,
        "head": found.head,
        "matches": found.matches,
    }


COMMANDS = (export_tournament, verify_folder)
