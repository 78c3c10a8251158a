"""Tables of every command: whole in a pipe, folded and whole on a terminal of 80 columns."""

from __future__ import annotations

import ast
import io
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from arena.cli import main, output
from arena.cli.output import NARROWEST_FOLD, Column, Output, folded, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = ("bot_with_a_long_name", "another_of_that_kind")
PAIRS = tuple(f"{name}+{name}" for name in NAMES)
RANDOM = str(Path(__file__).parent.parent / "sample_bots" / "random")
COMMANDS = Path(output.__file__).parent

LINES = (
    ("bot", "list"),
    ("bot", "show", NAMES[0]),
    ("formats",),
    ("match", "list", "played"),
    ("match", "show", "played/1"),
    ("play", *PAIRS, "--variant", "burkozyol-pairs", "--decks", "1", "--sandbox", "process"),
    ("rankings", "--variant", "burkozyol-pairs", "--changes"),
    ("rules", "list"),
    ("stats", "played"),
    ("stats", "played", "--between", *NAMES),
    ("tournament", "history", "planned"),
    ("tournament", "list"),
    ("tournament", "plan", "planned", "--pairings"),
    ("tournament", "run", "planned", "--dry-run"),
    ("tournament", "show", "played"),
    ("tournament", "create", "next", *PAIRS, "--variant", "burkozyol-pairs", "--dry-run"),
    ("variants",),
)


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@dataclass
class Tables:
    """Which functions printed tables, and what came of them: titles, rows and text."""

    callers: set[tuple[str, str]] = field(default_factory=set)
    printed: list[tuple[list[str], list[list[str]], str]] = field(default_factory=list)


def tables_of_all(home: str, screen: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> Tables:
    """Run every command that prints a table, 80 columns wide."""
    found, whole = Tables(), Output.table

    def table(out: Output, columns: Sequence[Column], rows: Any) -> None:
        code = sys._getframe(1).f_code
        found.callers.add((Path(code.co_filename).name, code.co_name))
        cells = [[plain(cell) for cell in row] for row in rows]
        before = screen.getvalue()
        whole(out, columns, cells)
        titles = [column.title for column in columns]
        found.printed.append((titles, cells, screen.getvalue().removeprefix(before)))

    monkeypatch.setattr(Output, "table", table)
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    for line in LINES:
        assert main([*line, *(["--home", home] if line != ("formats",) else [])]) == 0, line
    return found


@pytest.fixture(name="home", scope="module")
def _home(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An arena with a tournament that was played and one that was not, of bots with long names."""
    home = str(tmp_path_factory.mktemp("home"))
    game = ["--variant", "burkozyol-pairs", "--decks", "1", "--home", home]
    for name in NAMES:
        assert main(["bot", "submit", name, RANDOM, "--sandbox", "process", "--home", home]) == 0
    for name in ("played", "planned"):
        assert main(["tournament", "create", name, *PAIRS, *game]) == 0
    assert main(["tournament", "run", "played", "--home", home]) == 0
    why = ["--reason", "because it is so, and because there is nothing else that could be said"]
    leave = ["tournament", "withdraw", "planned", NAMES[1], *why, "--home", home]
    assert main(leave) == 0
    assert main(["tournament", "enter", "planned", PAIRS[1], *why, "--home", home]) == 0
    assert main(["rules", "save", "rules_with_long_name", "--home", home]) == 0
    return home


def callers() -> set[tuple[str, str]]:
    """Find every function of the commands that prints a table."""
    found = set()
    for path in COMMANDS.glob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef) and any(
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == "table"
                and ast.unparse(call.func.value).endswith("output")
                for call in ast.walk(function)
            ):
                found.add((path.name, function.name))
    return found


def test_tables_in_a_pipe_are_whole(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe has no width: of every table of every command a row is one line with all its cells."""
    found = tables_of_all(home, io.StringIO(), monkeypatch)

    assert found.callers == callers()
    for titles, cells, text in found.printed:
        for row, printed in zip([titles, *cells], text.splitlines(), strict=True):
            assert printed.split() == " ".join(row).split()


def test_tables_on_a_terminal_lose_nothing(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In 80 columns a table folds, or is given up for one field a line; no letter is cut off."""
    found = tables_of_all(home, Screen(), monkeypatch)

    for titles, cells, text in found.printed:
        wanted = Counter("".join("".join(row) for row in cells))
        del wanted[" "]
        assert wanted <= Counter(text)
        lines = text.splitlines()
        is_table = lines[0].split() == " ".join(titles).split()
        assert not is_table or max(map(len, lines)) <= 80


@pytest.mark.parametrize("width", [NARROWEST_FOLD, 14, 21, 80])
@pytest.mark.parametrize(
    "text", ["", " ", PAIRS[0], "a b  c", "x" * 50, "/a/long/path/of/a_file", "日本語の名前" * 4]
)
def test_a_folded_text_fits_and_loses_no_letter(text: str, width: int) -> None:
    """Only blanks where a line ends go."""
    lines = folded(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(output.cell_len(line) <= width for line in lines)


def test_a_pair_is_folded_between_its_names() -> None:
    """A name stays whole where there is room for it, and its words where there is not."""
    assert folded("anna_the_great@1+boris@12", 20) == ["anna_the_great@1+", "boris@12"]
    assert folded("anna_the_great@1", 12) == ["anna_the_", "great@1"]
