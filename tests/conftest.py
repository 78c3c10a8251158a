"""What tests need from the machine: engines, Node.js; absent, they are skipped or fail."""

from __future__ import annotations

import functools
import importlib
import os
import pkgutil
import shutil
import signal
from typing import TYPE_CHECKING

import pytest
from clusters import Cluster, missing_postgresql
from hypothesis import HealthCheck, settings

import arena
import burabot
import referee
from arena.home import DATABASE_VARIABLE, Home
from arena.sandbox import SandboxError, process
from arena.sandbox.engine import Engine
from referee.players import Inbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


# The same examples each time, however long they take: what a run finds does not depend on chance.
settings.register_profile(
    "repeatable",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")


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
    "postgresql": (functools.cache(missing_postgresql), "BURA_REQUIRE_POSTGRESQL"),
}

SQLITE = "sqlite"
POSTGRESQL = "postgresql"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose need is not met, or fail it where the need must be met."""
    for marker, (missing, variable) in _NEEDS.items():
        reason = missing() if item.get_closest_marker(marker) else ""
        if reason and os.environ.get(variable) == "1":
            pytest.fail(f"{variable}=1, but {reason}", pytrace=False)
        if reason:
            pytest.skip(reason)


def pytest_configure() -> None:
    """Keep the tests off a database that the environment names, and let Ctrl-C be heard.

    Behind a shell's & it is ignored, by all that a test starts as well.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.pop(DATABASE_VARIABLE, None)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Import all that a test may import later, where anything is drawn at random.

    Numbers and words of the code that is loaded are among what is drawn.
    """
    if any(hasattr(getattr(item, "obj", None), "hypothesis") for item in session.items):
        for package in (arena, burabot, referee):
            for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
                # What makes tables is run by its own program, and is no module to others.
                if ".migrations" not in module.name:
                    importlib.import_module(module.name)


@pytest.fixture(scope="session", autouse=True)
def _patience() -> Iterator[None]:
    """Let the process of the tests stand still for longer before it gives a leg or a bot up.

    A run plays such a leg again. Here nothing does, and a busy machine is no failure of a test.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "END_SECONDS", 30)
        patch.setattr(Inbox, "LONGEST_STALL_NS", 60_000_000_000)
        yield


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A server of PostgreSQL; databases in it are made by whoever wants one."""
    made = Cluster()
    try:
        made.start()
        yield made
    finally:
        made.remove()


EITHER = [SQLITE, pytest.param(POSTGRESQL, marks=pytest.mark.postgresql)]


@pytest.fixture(params=EITHER)
def either_home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    """A home that does not exist yet, with a database of each kind in turn."""
    yield from _homes(request, tmp_path, Cluster.migrated)


@pytest.fixture(params=EITHER)
def empty_home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    """The same before anybody has made tables."""
    yield from _homes(request, tmp_path, Cluster.empty)


def _homes(
    request: pytest.FixtureRequest, folder: Path, make: Callable[[Cluster], str]
) -> Iterator[Home]:
    if request.param == SQLITE:
        yield Home(folder / "home")
        return
    server: Cluster = request.getfixturevalue("cluster")
    url = make(server)
    yield Home(folder / "home", url)
    server.drop(url)
