"""What tests need from the machine: engines, Node.js; absent, they are skipped or fail."""

from __future__ import annotations

import functools
import gc
import importlib
import os
import pkgutil
import shutil
import signal
import time
from typing import TYPE_CHECKING

import patient  # noqa: F401 - nothing plays a leg again that a test gave up
import patient_workers
import pytest
from clusters import Cluster, missing_postgresql
from hypothesis import HealthCheck, settings
from sandboxes import socket_place

import arena
import burabot
import referee
from arena.home import DATABASE_VARIABLE, Home
from arena.sandbox import SandboxError, process
from arena.sandbox.engine import Engine

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
    # Where an engine must be there it may be slow for a moment, and be there after all.
    pauses = (1, 5, 20, 60, 0) if os.environ.get("BURA_REQUIRE_DOCKER") == "1" else (0,)
    reason = ""
    for pause in pauses:
        try:
            Engine.connect().close()
        except SandboxError as error:
            reason = str(error)
        else:
            return ""
        time.sleep(pause)
    return reason


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

    Numbers and words of the code that is loaded are among what is drawn. Nor need the collector
    of garbage look at thousands of tests again and again.
    """
    if any(hasattr(getattr(item, "obj", None), "hypothesis") for item in session.items):
        for package in (arena, burabot, referee):
            for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
                # What makes tables is run by its own program, and is no module to others.
                if ".migrations" not in module.name:
                    importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _patience() -> Iterator[None]:
    """Let the process of the tests wait for longer before it ends a bot by force."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "END_SECONDS", 30)
        yield


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder in whose path a socket has room, whatever the folder of the tests is called."""
    with socket_place() as path:
        yield path


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A server of PostgreSQL; databases in it are made by whoever wants one."""
    made = Cluster()
    try:
        made.start()
        yield made
    finally:
        made.remove()


@pytest.fixture(scope="session", autouse=True)
def _patient_workers() -> Iterator[None]:
    """Let the workers of a run that a test drives stand still for longer, too.

    A leg that is played again is another attempt, which few tests expect.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena.workers._work", patient_workers.work)
        yield


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
