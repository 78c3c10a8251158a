"""The page of provoked faults names every scenario, and only tests and bots that exist."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "faults.md"
BOTS = tomllib.loads((TESTS / "hostile" / "expected.toml").read_text(encoding="utf-8"))
PLAYED_ELSEWHERE = {"echo", "nosy", "talker"}
LINES = re.findall(r"^\| (T-[A-Z]\d+) \|(.*)\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
SCENARIOS = dict(LINES)
EXPECTED = [
    *(f"T-A{number}" for number in range(1, 22)),
    *(f"T-B{number}" for number in range(1, 11)),
    *(f"T-C{number}" for number in range(1, 11)),
    *(f"T-D{number}" for number in range(1, 10)),
    *(f"T-E{number}" for number in range(1, 15)),
    *(f"T-G{number}" for number in range(1, 7)),
]


def names(scenario: str) -> list[str]:
    """Return what stands in code quotes in the row of a scenario."""
    return re.findall(r"`([^`]+)`", SCENARIOS[scenario])


def named_tests(scenario: str) -> list[str]:
    """Return the tests of a scenario."""
    return [name for name in names(scenario) if "::" in name]


def test_every_scenario_has_one_row() -> None:
    """None is missing, none stands there twice."""
    assert len(LINES) == len(SCENARIOS)
    assert set(EXPECTED) <= set(SCENARIOS)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario_is_tested_or_says_why_not(scenario: str) -> None:
    """A row names a test or a bot that does it, or gives a reason in its last column."""
    has_bot = any(scenario in BOTS[name]["ids"] for name in names(scenario) if name in BOTS)
    reason = SCENARIOS[scenario].rsplit("|", 1)[1].strip()
    assert named_tests(scenario) or has_bot or reason


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_tests_that_are_named_exist(scenario: str) -> None:
    """A test that was renamed or removed is missed."""
    for name in named_tests(scenario):
        file, function = name.split("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("bot", BOTS)
def test_bots_and_scenarios_name_each_other(bot: str) -> None:
    """A bot's scenarios have it in their rows, and no other row has it."""
    named_by = {scenario for scenario in SCENARIOS if bot in names(scenario)}
    assert named_by == set(BOTS[bot]["ids"])


def test_every_folder_of_a_bot_is_played() -> None:
    """No program lies there that no row or test runs."""
    programs = {
        folder.name for folder in (TESTS / "hostile").iterdir() if (folder / "bot.py").exists()
    }
    played = {name for name in BOTS if "program" not in BOTS[name]}
    played |= {row["program"][0].split("/")[1] for row in BOTS.values() if "program" in row}
    assert programs - played == PLAYED_ELSEWHERE
