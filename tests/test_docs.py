"""The documents say what is there: paths exist, commands exist, help is complete."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest

from arena.cli import arena, main
from arena.cli.context import Documented
from tools.gen_cli_docs import PAGE, every_command, render

ROOT = PAGE.parent.parent
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
COMMANDS = list(every_command())
LEAVES = [context for context in COMMANDS if not isinstance(context.command, click.Group)]

PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)`")
COMMAND_LINE = re.compile(r"^(?:\$ |    )?((?:\.venv/bin/)?arena [^\n]*)$", re.MULTILINE)


def name(context: click.Context) -> str:
    """Return what a command is called, for the names of the tests."""
    return context.command_path.replace(" ", "-")


def test_architecture_names_only_what_exists() -> None:
    """Every path on the page of the architecture is there."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paths = [path for path in PATH.findall(text) if "/" in path]
    assert len(paths) > 30
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_architecture_leaves_no_module_out() -> None:
    """A newcomer finds every module of the referee and the arena on the page."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    modules = [*(ROOT / "referee").glob("*.py"), *(ROOT / "arena").glob("*.py")]
    named = [str(module.relative_to(ROOT)) for module in modules if module.stem != "__init__"]
    assert [path for path in named if f"`{path}`" not in text] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_between_documents_lead_somewhere(document: str) -> None:
    """A relative link names a file of this repository."""
    text = (ROOT / document).read_text(encoding="utf-8")
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    local = [target for target in targets if target and "://" not in target]
    assert [target for target in local if not (ROOT / target).exists()] == []


@pytest.mark.parametrize("context", COMMANDS, ids=name)
def test_help_shows_an_example(context: click.Context) -> None:
    """The help of every command shows it in use."""
    text = context.get_help()
    assert "Examples:" in text
    assert f"  {context.command_path}" in text.partition("Examples:")[2]


@pytest.mark.parametrize("context", LEAVES, ids=name)
def test_examples_parse(
    context: click.Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a help shows can be typed: its options exist and its values are of the right kind."""
    monkeypatch.chdir(tmp_path)
    Path("game.jsonl").touch()
    assert isinstance(context.command, Documented)
    for example in context.command.examples:
        words = shlex.split(example)
        inner, rest = resolve(words)
        assert inner is context.command
        inner.make_context(words[0], rest, parent=click.Context(arena), resilient_parsing=False)


@pytest.mark.parametrize("context", LEAVES, ids=name)
def test_json_fields_are_documented(context: click.Context) -> None:
    """A command that takes --json names every field it prints."""
    assert isinstance(context.command, Documented)
    takes_json = any("--json" in parameter.opts for parameter in context.command.params)
    assert takes_json == bool(context.command.fields)


def test_page_of_the_command_line_is_current() -> None:
    """docs/cli.md is what the help prints today; if not, run: python tools/gen_cli_docs.py."""
    assert PAGE.read_text(encoding="utf-8") == render()


@pytest.mark.parametrize(
    "document",
    ["README.md", "CONTRIBUTING.md", "docs/bots.md", "docs/tournaments.md", "docs/variants.md"],
)
def test_commands_in_documents_exist(document: str) -> None:
    """Every `arena ...` line of a document is a command with the options it shows."""
    text = (ROOT / document).read_text(encoding="utf-8")
    for line in COMMAND_LINE.findall(text):
        words = shlex.split(line.partition(" #")[0])
        command, rest = resolve(words)
        assert command is not arena, line
        command.make_context(words[0], rest, parent=click.Context(arena))


def test_promises_name_tests_that_exist() -> None:
    """A promise of the README is only as good as the test it names."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/\w+\.py)::(\w+)`", text)
    assert len(named) > 15
    missing = [
        test
        for file, test in named
        if f"def {test}(" not in (ROOT / file).read_text(encoding="utf-8")
    ]
    assert missing == []


def test_first_bot_works_by_copy_and_paste(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the README says to paste makes a bot that beats the random one without a fault."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        subprocess.run(["sh", "-eu"], input=block, text=True, check=True)
    line = ["play", "./my_bot", str(ROOT / "sample_bots" / "random"), "--decks", "20"]
    line += ["--seed", "1", "--move-time", "100", "--startup", "100", "--sandbox", "process"]
    assert main([*line, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["faults"] == []
    assert said["bots"][0]["score"] > 0


def resolve(words: list[str]) -> tuple[click.Command, list[str]]:
    """Return the command that a line calls, and the rest of the line."""
    command: click.Command = arena
    rest = words[1:]
    while isinstance(command, click.Group):
        context = click.Context(command)
        inner = command.get_command(context, rest[0])
        assert inner is not None, words
        command, rest = inner, rest[1:]
    return command, rest
