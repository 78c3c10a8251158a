"""The page on security promises nothing without a test."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROOT = TESTS.parent
BOTS = tomllib.loads((TESTS / "hostile" / "expected.toml").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
PROMISES = re.findall(
    r"^\| ([^|]+) \|[^|]+\| ([^|]+) \|$",
    PAGE.partition("## What is promised")[2].partition("\n## ")[0],
    re.MULTILINE,
)[1:]


def functions(file: str) -> set[str]:
    """Return the names of a test file's functions."""
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_page_promises_something() -> None:
    """The table of promises is found where it is looked for."""
    assert len(PROMISES) > 15


@pytest.mark.parametrize(("promise", "tests"), PROMISES, ids=[one for one, _ in PROMISES])
def test_promise_names_bots_that_exist(promise: str, tests: str) -> None:
    """A bot that stands behind a promise is a row of the table of hostile bots."""
    assert promise
    assert {one for one in re.findall(r"`([^`]+)`", tests) if "::" not in one} <= set(BOTS)


@pytest.mark.parametrize(("promise", "tests"), PROMISES, ids=[one for one, _ in PROMISES])
def test_promise_names_tests_that_exist(promise: str, tests: str) -> None:
    """Each promise has tests, and none of them was renamed or removed."""
    assert promise
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", tests)
    assert named
    assert [f"{file}::{name}" for file, name in named if name not in functions(file)] == []


def test_reports_have_an_address_and_the_page_is_found() -> None:
    """SECURITY.md says how to report, and leads to the page."""
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "Report a vulnerability" in text
    assert "(docs/security.md)" in text
