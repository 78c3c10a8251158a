"""The command line as tests call it, in this process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from arena.cli import main

if TYPE_CHECKING:
    import pytest


def arena(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> tuple[str, str]:
    """Run a command and give what it printed on both streams."""
    capsys.readouterr()
    assert main(list(words)) == code, capsys.readouterr().err
    said = capsys.readouterr()
    return said.out, said.err


def read(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """Run a command with --json and give what it printed."""
    return json.loads(arena(capsys, *words, "--json")[0])
