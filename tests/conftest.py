"""What tests need from the machine: an engine, Node.js; absent, they are skipped or fail."""

from __future__ import annotations

import functools
import os
import shutil

import pytest

from arena.sandbox import SandboxError
from arena.sandbox.container import Engine


@functools.cache
def _missing_engine() -> str:
    try:
        Engine.connect().close()
    except SandboxError as error:
        return str(error)
    return ""


@functools.cache
def _missing_node() -> str:
    absent = [name for name in ("node", "npm") if shutil.which(name) is None]
    return f"not installed: {', '.join(absent)}" if absent else ""


_NEEDS = {
    "docker": (_missing_engine, "BURA_REQUIRE_DOCKER"),
    "node": (_missing_node, "BURA_REQUIRE_NODE"),
}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose need is not met, or fail it where the need must be met."""
    for marker, (missing, variable) in _NEEDS.items():
        reason = missing() if item.get_closest_marker(marker) else ""
        if reason and os.environ.get(variable) == "1":
            pytest.fail(f"{variable}=1, but {reason}", pytrace=False)
        if reason:
            pytest.skip(reason)
