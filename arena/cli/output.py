"""What the commands print, and how: results on stdout, everything about progress on stderr.

Text from outside (bot names, logs, error messages) is data. It passes through `plain` before it
reaches a terminal, and no markup is interpreted in it. A reader that closes the pipe mutes the
stream and nothing else: the command goes on and ends with the exit code it would have had.
"""

import contextlib
import io
import json
import os
import re
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, TextIO

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
)
from rich.table import Column as RichColumn
from rich.table import Table
from rich.text import Text

UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that move a cursor, turn the direction of text or show nothing at all."""

COLUMNS = 80
"""What a line of text fits into on every terminal."""

WIDE = 1_000_000
"""Columns of a stream that is no terminal: there, rows are for programs and are not folded."""

NARROWEST_FOLD = 10
"""Columns a foldable column needs before a table is given up for one field a line."""

PARTS = re.compile(r" *[^ +/,_]*[+/,_]*")
"""What stays together where a cell is folded, if it fits: the names of a pair, words of a name."""


def plain(text: object) -> str:
    """Return the text on one line, with what a terminal would obey made visible as escapes."""
    return "".join(
        char if unicodedata.category(char) not in UNPRINTABLE else _escape(char)
        for char in str(text)
    )


def _escape(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text, each made safe to print; tabs become blanks."""
    lines = text.replace("\r\n", "\n").split("\n")
    return [plain(line.expandtabs(4)) for line in lines]


def wrapped(text: str) -> list[str]:
    """Return a text in lines of 80 columns; a hash or a path is never broken."""
    return textwrap.wrap(
        text,
        COLUMNS,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def folded(text: str, width: int) -> list[str]:
    """Return a text in lines of so many columns, broken between its parts where that is enough."""
    lines = [""]
    for part in PARTS.findall(text):
        if cell_len(lines[-1] + part) > width:
            lines.append("")
        fresh = lines[-1] + (part if lines[-1] else part.lstrip())
        lines[-1:] = chop_cells(fresh, width) or [""]
    return [line for line in lines if line] or [""]


class Stream:
    """A text stream that never raises on what it is given nor on a reader that has gone."""

    def __init__(self, file: TextIO) -> None:
        self.file = file
        reconfigure = getattr(file, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
        self.is_live = bool(file.isatty()) and os.environ.get("TERM") not in {"dumb", "unknown"}
        self.console = Console(
            file=file,
            markup=False,
            highlight=False,
            emoji=False,
            force_terminal=self.is_live,
            width=None if file.isatty() else WIDE,
        )

    def write(self, text: str) -> None:
        """Write and flush at once, so that a closed pipe shows here and not at exit."""
        try:
            self.file.write(text)
            self.file.flush()
        except BrokenPipeError:
            mute(self.file)

    def render(self, item: object) -> None:
        """Write something that rich can draw."""
        with self.console.capture() as capture:
            self.console.print(item)
        lines = capture.get().splitlines()
        self.write("".join(f"{line.rstrip()}\n" for line in lines))


def mute(file: TextIO) -> None:
    """Send what is still written to the file, and what it holds back, nowhere."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, file.fileno())
        os.close(nowhere)


@dataclass(frozen=True, slots=True)
class Cell:
    """A text that folds where its parts end."""

    text: str

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        """Give the lines that the width of the column makes of it."""
        for line in folded(self.text, options.max_width):
            yield Text(line)

    def __rich_measure__(self, _console: Console, options: ConsoleOptions) -> Measurement:
        """Say that any width will do, up to that of one line."""
        return Measurement(1, min(cell_len(self.text), options.max_width))


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table; only a column of free text may fold."""

    title: str
    justify: Literal["left", "right"] = "left"
    fold: bool = False


class Output:
    """The two streams of a command."""

    def __init__(self) -> None:
        # A stream that was closed before the program began is None.
        self.out = Stream(sys.stdout or io.StringIO())
        self.err = Stream(sys.stderr or io.StringIO())

    def flush(self) -> None:
        """Send what others wrote to stdout.

        Raises:
            OSError: It cannot be written, for another reason than that nobody reads it.
        """
        self.out.write("")

    def give_up(self) -> None:
        """Drop what stdout still holds if it cannot be written: the error was told already."""
        try:
            self.out.file.flush()
        except OSError:
            mute(self.out.file)

    def line(self, text: object = "") -> None:
        """Print one line of result."""
        self.out.write(f"{plain(text)}\n")

    def lines(self, text: str) -> None:
        """Print a text of several lines."""
        for line in plain_lines(text):
            self.out.write(f"{line}\n")

    def paragraph(self, text: object) -> None:
        """Print a result that may be long, on lines of 80 columns; the later ones are indented."""
        for line in wrapped(plain(text)):
            self.line(line)

    def status(self, text: object) -> None:
        """Print one line about how things are going, on stderr."""
        self.err.write(f"{plain(text)}\n")

    def error(self, text: str) -> None:
        """Print an error on stderr; what a failed build printed follows on lines of its own."""
        for line in plain_lines(f"arena: {text}"):
            self.err.write(f"{line}\n")

    def json(self, value: object) -> None:
        """Print a value as JSON in ASCII, which every terminal and every pipe can carry."""
        self.out.write(json.dumps(value, indent=2, ensure_ascii=True) + "\n")

    def fields(self, pairs: Mapping[str, object]) -> None:
        """Print one `name: value` a line, values aligned, and folded where a terminal ends."""
        width = max((len(name) for name in pairs), default=0) + 2
        for name, value in pairs.items():
            self._field(f"{name + ':':<{width}}{value}".rstrip(), width)

    def _field(self, line: str, indent: int) -> None:
        """Print a line, on several where it is longer than the terminal is wide."""
        columns = self.out.console.width
        if cell_len(plain(line)) <= columns:
            self.line(line)
            return
        # What has no blank to break at, a hash, is left to the terminal.
        for part in textwrap.wrap(
            plain(line),
            columns,
            subsequent_indent=" " * min(indent, columns // 2),
            break_long_words=False,
            break_on_hyphens=False,
        ):
            self.line(part)

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> None:
        """Print a table, or one field a line where the terminal is too narrow for it."""
        cells = [[plain(value) for value in row] for row in rows]
        if _least_width(columns, cells) > self.out.console.width:
            self._records(columns, cells)
            return
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in columns:
            table.add_column(
                Text(column.title),
                justify=column.justify,
                no_wrap=not column.fold,
                overflow="fold",
            )
        for row in cells:
            table.add_row(*map(Cell, row))
        self.out.render(table)

    def _records(self, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
        for number, row in enumerate(rows):
            if number:
                self.line()
            titles = [column.title for column in columns]
            self.fields(dict(zip(titles, row, strict=True)))

    @contextlib.contextmanager
    def progress(
        self, title: str, total: int | None, unit: str, *, done: int = 0
    ) -> Iterator["Bar"]:
        """Show a bar with rate and time left on stderr while the block runs.

        Where stderr is no terminal there is no bar: the caller's status lines are the progress.

        Args:
            title: what is being done, in a word or two.
            total: how many units there are, None if nobody knows.
            unit: what is counted, in the plural.
            done: how many were done before, which tells nothing about the rate.
        """
        if not self.err.is_live:
            yield Bar(self)
            return
        columns = [
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            RateColumn(unit),
            TimeLeftColumn(),
        ]
        with Progress(*columns, console=self.err.console, transient=True) as progress:
            task = progress.add_task(plain(title), total=total, completed=done, rate=0.0, at=0.0)
            yield Bar(self, progress, task, done)


def _least_width(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> int:
    widths = []
    for number, column in enumerate(columns):
        widest = max([cell_len(column.title), *(cell_len(row[number]) for row in rows)])
        widths.append(min(widest, NARROWEST_FOLD) if column.fold else widest)
    return sum(widths) + 2 * (len(columns) - 1)


class RateColumn(ProgressColumn):
    """Units per second, or per minute where a unit takes longer than a second."""

    def __init__(self, unit: str) -> None:
        self.unit = unit
        super().__init__(table_column=RichColumn(no_wrap=True))

    def render(self, task: Task) -> Text:
        """Return the rate as text, blank until one unit is done."""
        speed = task.fields["rate"]
        if not speed:
            return Text("")
        if speed < 1:
            return Text(f"{speed * 60:.1f} {self.unit}/min")
        return Text(f"{speed:.1f} {self.unit}/s")


class TimeLeftColumn(ProgressColumn):
    """Time left at the rate so far, or time gone until one unit is done."""

    def __init__(self) -> None:
        super().__init__(table_column=RichColumn(no_wrap=True))

    def render(self, task: Task) -> Text:
        """Return the time as text; it runs between the units, too."""
        gone = task.elapsed or 0.0
        if not task.fields["rate"] or task.total is None:
            return Text(f"{timedelta(seconds=int(gone))} so far")
        left = (task.remaining or 0.0) / task.fields["rate"] - (gone - task.fields["at"])
        return Text(f"{timedelta(seconds=max(0, round(left)))} left")


@dataclass(slots=True)
class Bar:
    """A progress bar, or nothing but its status lines where there is no terminal."""

    output: Output
    progress: Progress | None = None
    task: Any = field(default=None)
    before: int = 0

    def status(self, text: object) -> None:
        """Print a line above the bar."""
        if self.progress is None:
            self.output.status(text)
        else:
            self.progress.console.print(Text(plain(text)))

    def set(self, completed: int) -> None:
        """Move the bar to this many units."""
        if self.progress is not None:
            gone = self.progress.tasks[0].elapsed or 0.0
            rate = (completed - self.before) / gone if gone else 0.0
            total = self.progress.tasks[0].total
            most = None if total is None else max(total, completed)
            self.progress.update(self.task, total=most, completed=completed, rate=rate, at=gone)
