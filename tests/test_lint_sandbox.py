"""Rules for the sandbox that no general linter knows."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(path for name in ("arena", "referee") for path in (ROOT / name).rglob("*.py"))
FORBIDDEN_CALLS = {
    "attach",
    "attach_socket",
    "create_network",
    "create_volume",
    "exec_create",
    "exec_inspect",
    "exec_resize",
    "exec_run",
    "exec_start",
    "stop",
    "prune_containers",
    "prune_images",
    "prune_networks",
    "prune_volumes",
}


def _engine_calls(tree: ast.AST) -> list[tuple[str, list[str]]]:
    """Return the methods that are called or handed on, and the keyword arguments of calls."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found.append((node.func.attr, [one.arg or "" for one in node.keywords]))
        elif isinstance(node, ast.Attribute):
            found.append((node.attr, []))
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_one_module_imports_the_client(path: Path) -> None:
    """The engine's client stays behind one module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        (one.name if isinstance(node, ast.Import) else node.module or "").split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for one in node.names
        if isinstance(node, ast.Import) or node.level == 0
    }
    assert "docker" not in imported or path.relative_to(ROOT).as_posix() == (
        "arena/sandbox/engine.py"
    )


@pytest.mark.parametrize(
    "path", sorted((ROOT / "arena" / "sandbox").glob("*.py")), ids=lambda path: path.name
)
def test_never_attach_never_exec_never_follow(path: Path) -> None:
    """An unread stream makes a killed container unremovable, and exec hangs now and then.

    Networks and volumes are never made, so that none is left.
    """
    for name, keywords in _engine_calls(ast.parse(path.read_text(encoding="utf-8"))):
        assert name not in FORBIDDEN_CALLS
        if name in {"logs", "events", "stats"}:
            assert not {"follow", "stream"} & set(keywords)
        assert "follow" not in keywords


def test_the_lint_sees_what_it_forbids() -> None:
    """The lint finds a call however the client is reached."""
    tree = ast.parse("engine._api.attach(name, stream=True)\nf(api.exec_start)\napi.logs(follow=1)")
    calls = _engine_calls(tree)
    assert {"attach", "exec_start"} <= {name for name, _ in calls} & FORBIDDEN_CALLS
    assert ("logs", ["follow"]) in calls


def test_the_folder_docker_is_no_package() -> None:
    """A package of that name would hide the engine's client."""
    assert not list((ROOT / "docker").rglob("*.py"))


def test_nothing_measures_time_by_the_wall_clock() -> None:
    """Durations come from the monotonic clock, which nobody can set."""
    for path in (ROOT / "arena" / "sandbox").glob("*.py"):
        assert "time.time(" not in path.read_text(encoding="utf-8"), path.name
