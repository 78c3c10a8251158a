"""The page for bot authors says what is so."""

import re
import sys
from pathlib import Path

from fake_referee import ROOT, run_program

PAGE = (ROOT / "docs" / "bots.md").read_text()


def block(language: str) -> str:
    """The first block of code in a language."""
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1]


def test_the_first_bot_works_as_printed(tmp_path: Path) -> None:
    """The bot of the first section, copied from the page, plays to Goodbye."""
    (tmp_path / "bot.py").write_text(block("python"))
    match = run_program([sys.executable, "bot.py"], tmp_path)
    assert match.hello.name == "my-bot"
    match.check()


def test_the_printed_dockerfile_is_that_of_the_samples() -> None:
    """A sample bot in Python has the Dockerfile that the page shows."""
    assert block("dockerfile") == (ROOT / "sample_bots" / "greedy" / "Dockerfile").read_text()


def test_every_path_exists() -> None:
    """Each path of the repository that the page names is there."""
    paths = re.findall(r"`((?:proto|sample_bots|benchmarks|docs|tools)/[\w./-]+)`", PAGE)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_javascript_bot_is_as_short_as_the_page_says() -> None:
    """The number of lines on the page is the number of lines of the program."""
    lines = len((ROOT / "sample_bots/javascript-random/bot.js").read_text().splitlines())
    assert f"in {lines} lines" in PAGE
