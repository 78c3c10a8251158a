"""Rows as comma-separated values, in which spreadsheets take them."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from arena.cli.output import Output

csv_option = click.option(
    "--csv", "as_csv", is_flag=True, help="Print the fields of --json as comma-separated values."
)


def check_form(*, as_json: bool, as_csv: bool) -> None:
    """Refuse two forms at once.

    Raises:
        UsageError: Both --json and --csv were given.
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other")


def print_csv(
    output: Output, rows: Sequence[Mapping[str, Any]], fields: Iterable[str] = ()
) -> None:
    """Print rows of JSON as comma-separated values, what they hold under names with dots.

    What a row lacks is left empty; names are those of all rows, in the order of the first.

    Args:
        output: Where to.
        rows: What is printed.
        fields: The names of a row's fields as they are documented, for the header where there are
            no rows; what has data for its name is left out.
    """
    flat = [_flat(row) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    if not rows:
        names = [name.removesuffix("[]") for name in fields if not name.endswith("*")]
    if not names:
        return
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    output.lines(text.getvalue().rstrip("\n"))


def _flat(row: Mapping[str, Any], head: str = "") -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            values |= _flat(value, f"{head}{name}.")
        else:
            values[head + name] = " ".join(map(str, value)) if isinstance(value, list) else value
    return values
