"""Write docs/cli.md from the help of every command: `python tools/gen_cli_docs.py`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli import arena

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).resolve().parent.parent / "docs" / "cli.md"
WIDTH = 90

HEAD = """\
# The command line

What `--help` prints, of every command. This page is generated: `python tools/gen_cli_docs.py`.

- Results go to stdout; status lines, progress and errors go to stderr. With `--json`, stdout holds
  one JSON value and nothing else. The fields named below are stable within a minor version; `[]`
  stands for the items of an array and `*` for names that are data. Where a command prints an array,
  the fields are those of its items.
- Exit codes: 0 done; 1 a check or verification failed, or matches stayed incomplete; 2 usage;
  3 environment (engine, disk, database); 130 interrupted.
- Times are in seconds on the command line, in milliseconds where a field's name ends in `_ms`.
- `NO_COLOR` and `TERM=dumb` are respected; where stderr is no terminal there is no progress bar.
- Names, logs and messages of bots are printed with control characters and terminal escapes shown
  as `\\x1b` and the like.
"""


def commands(group: click.Group, context: click.Context) -> Iterator[click.Context]:
    """Give the context of every command under a group, groups before what is in them."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None:
            continue
        inner = click.Context(
            command, info_name=name, parent=context, terminal_width=WIDTH, max_content_width=WIDTH
        )
        yield inner
        if isinstance(command, click.Group):
            yield from commands(command, inner)


def every_command() -> Iterator[click.Context]:
    """Give the context of the program and of all its commands."""
    root = click.Context(arena, info_name="arena", terminal_width=WIDTH, max_content_width=WIDTH)
    yield root
    yield from commands(arena, root)


def render() -> str:
    """Return the page."""
    sections = [HEAD]
    for context in every_command():
        text = "\n".join(line.rstrip() for line in context.get_help().splitlines())
        sections.append(f"## {context.command_path}\n\n```text\n{text}\n```\n")
    return "\n".join(sections)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
