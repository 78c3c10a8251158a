import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import docker
import pytest
from clusters import Cluster
from sandboxes import await_true, socket_place

from arena import bots, queries, tournament
from arena.home import DATABASE_VARIABLE, find_home
from arena.infos import AttemptState, MatchState
from arena.steps import Step
from arena.store import Store
from arena.tournament import TournamentOptions
from referee.results import TimeControl
from referee.verification import verify_record

SCRIPT = Path(__file__).parent / "crash_run.py"
SEED = bytes(range(32))
CAP = 600.0
"""Seconds within which anything here must happen, on a busy machine."""

pytestmark = pytest.mark.timeout(1800)

DRIVER_STEPS = (Step.LEASED, Step.FINISHING, Step.FINISHED)
WORKER_STEPS = tuple(step for step in Step if step not in DRIVER_STEPS)
CASES = [
    *((step, "driver") for step in DRIVER_STEPS),
    *((step, who) for step in WORKER_STEPS for who in ("driver", "worker", "both")),
]
QUICK = {(Step.LEASED, "driver"), (Step.DEALING, "both"), (Step.RECORDED, "driver")}
# Workers open no database, so that with another one only the deaths of drivers are other cases.
CASES_POSTGRESQL = [(step, who) for step, who in CASES if who == "driver"]
QUICK_POSTGRESQL = {(Step.FINISHING, "driver")}


def kills(
    cases: Sequence[tuple[str, str]], quick: Collection[tuple[str, str]]
) -> pytest.MarkDecorator:
    """Kill somebody at a step in each case; those that are not quick are long tests."""
    return pytest.mark.parametrize(
        ("step", "who"),
        [
            pytest.param(step, who, marks=() if (step, who) in quick else pytest.mark.long)
            for step, who in cases
        ],
    )


BOT = """# {mark}
import burabot
burabot.play(lambda turn: {choice}, name="{name}", version="1")
"""
DOCKERFILE = """ARG BASE=bura-python-bot
FROM ${BASE}
COPY bot.py /bot/bot.py
CMD ["python", "/bot/bot.py"]
"""
# The shell is the first process, which cannot be killed from within.
NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", '"$@"; exit $?')
CREATED = "created"
CONTAINER_CASES = [
    (CREATED, "both"),
    (CREATED, "worker"),
    (Step.STARTED, "both"),
    (Step.DEALING, "both"),
    (Step.DEALING, "worker"),
    (Step.DEALING, "driver"),
    (Step.REMOVING, "both"),
    (Step.FINISHING, "driver"),
]
CHOICES = {"first": "0", "last": "len(turn.actions) - 1"}
FOUR = {**CHOICES, "second": "min(1, len(turn.actions) - 1)", "middle": "len(turn.actions) // 2"}
ROUND = len(FOUR) // 2
BETWEEN_ROUNDS = [(Step.FINISHED, ROUND), (Step.FINISHING, ROUND), (Step.LEASED, ROUND + 1)]
"""Where a Swiss tournament is hurt: its first round is over, not quite, or the second begins."""


def make_arena(
    folder: Path,
    name: str,
    sandbox: str = "process",
    *,
    choices: Mapping[str, str] = CHOICES,
    format_name: str = "round-robin",
) -> Path:
    """Make a home with bots that always choose alike, and a tournament of two rounds."""
    home = folder / name
    with Store.open(find_home(home)) as store:
        for bot, choice in choices.items():
            source = folder / f"{name}-{bot}"
            source.mkdir()
            # No other test has an image of the same.
            code = BOT.format(choice=choice, name=bot, mark=uuid.uuid4().hex)
            (source / "bot.py").write_text(code)
            (source / "Dockerfile").write_text(DOCKERFILE)
            bots.submit(store, bot, str(source), sandbox)
        tournament.create(
            store,
            TournamentOptions(
                name="cup",
                bots=tuple(choices),
                format=format_name,
                time=TimeControl(move_time_ms=20_000, startup_ms=60_000),
                rounds=2,
                decks=3,
                tables=2,
                seed=SEED,
                sandbox=sandbox,
            ),
        )
    return home


def run(home: Path, *crash: str, within: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run the tournament in a process of its own, with its sockets in the test's folder."""
    return subprocess.run(
        [*within, sys.executable, SCRIPT, home, *crash],
        env={**os.environ, "XDG_RUNTIME_DIR": str(home.parent)},
        capture_output=True,
        text=True,
        timeout=CAP,
        check=False,
    )


def processes_of(home: Path) -> list[str]:
    """Give the command lines of processes that have to do with an arena."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            line = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            place = (path / "cwd").readlink()
        except OSError:
            continue
        if str(home) in line or place.is_relative_to(home):
            found.append(line)
    return found


def assert_nothing_is_left(home: Path) -> None:
    """No process, socket folder, draft, lock or unknown record is left of a finished arena."""
    until = time.monotonic() + CAP
    while (left := processes_of(home)) and time.monotonic() < until:
        time.sleep(0.1)
    assert left == []
    assert list(home.parent.glob("bura-*")) == []
    assert list((home / "owners").iterdir()) == []
    with Store.open(find_home(home)) as store:
        known = {match.record for match in queries.matches(store, "cup")} - {None}
    assert {path for path in (home / "records").rglob("*") if path.is_file()} == known


def assert_each_match_counts_once(home: Path) -> None:
    """Every match has one result, by one recorded attempt, with a record that verifies."""
    with Store.open(find_home(home)) as store:
        for match in queries.matches(store, "cup"):
            details = queries.match(store, "cup", match.number)
            assert details.match.state is MatchState.DONE
            states = [attempt.state for attempt in details.attempts]
            assert states.count(AttemptState.RECORDED) == 1
            assert details.match.record is not None
            verify_record(details.match.record)


@pytest.fixture(scope="module")
def undisturbed() -> list[object]:
    """The standings of a run that nobody disturbed."""
    with socket_place() as folder:
        done = run(make_arena(folder, "calm"))
    assert done.returncode == 0, done.stderr
    standings: list[object] = json.loads(done.stdout)
    return standings


@kills(CASES, QUICK)
def test_run_after_a_kill_gives_the_same_standings(
    short_folder: Path, undisturbed: list[object], step: Step, who: str
) -> None:
    """Kill -9 at any step of a match costs nothing but time."""
    survive(make_arena(short_folder, "home"), step, who, undisturbed)


@pytest.fixture
def _elsewhere(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let all arenas of a test have a database of PostgreSQL."""
    url = cluster.migrated()
    monkeypatch.setenv(DATABASE_VARIABLE, url)
    yield
    cluster.drop(url)


@pytest.mark.postgresql
@pytest.mark.usefixtures("_elsewhere")
@kills(CASES_POSTGRESQL, QUICK_POSTGRESQL)
def test_run_after_a_kill_gives_the_same_standings_with_postgresql(
    short_folder: Path, undisturbed: list[object], step: Step, who: str
) -> None:
    """With PostgreSQL a kill costs nothing but time either, and the standings are the same."""
    survive(make_arena(short_folder, "home"), step, who, undisturbed)


@pytest.mark.long
def test_run_that_is_killed_again_and_again_gives_the_same_standings(
    short_folder: Path, undisturbed: list[object]
) -> None:
    """Whenever the driver dies, and however often, the matches that were played stay played."""
    endure(short_folder, undisturbed)


@pytest.mark.postgresql
@pytest.mark.long
@pytest.mark.usefixtures("_elsewhere")
def test_run_with_postgresql_that_is_killed_again_and_again_gives_the_same_standings(
    short_folder: Path, undisturbed: list[object]
) -> None:
    """The same holds with PostgreSQL."""
    endure(short_folder, undisturbed)


def endure(folder: Path, undisturbed: list[object]) -> None:
    """Kill the driver whenever dice say, until it is done, and find what an undisturbed one does.

    The first life ends with its first record, so that there is one to resume on any machine. Each
    may be longer than the one before, so that one of them is long enough.
    """
    home = make_arena(folder, "home")
    assert run(home, Step.RECORDED, "driver").returncode == -signal.SIGKILL
    dice = random.Random(1)
    for kills in itertools.count():
        process = subprocess.Popen(
            [sys.executable, SCRIPT, home],
            env={**os.environ, "XDG_RUNTIME_DIR": str(folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            output, _ = process.communicate(timeout=dice.uniform(1, 2) * (1 + kills / 4))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        else:
            break
    assert process.returncode == 0
    assert json.loads(output) == undisturbed
    assert_each_match_counts_once(home)
    assert_nothing_is_left(home)


@pytest.fixture
def contained(short_folder: Path) -> Iterator[Path]:
    """A home with bots in images that no other test has; none is left of them."""
    home = make_arena(short_folder, "home", "container")
    yield home
    engine = docker.from_env()
    for image in images_of(home):
        engine.api.remove_image(image, force=True)
    engine.close()


@pytest.mark.docker
@kills(CONTAINER_CASES, QUICK)
def test_run_after_a_kill_leaves_no_container(
    contained: Path, undisturbed: list[object], step: str, who: str
) -> None:
    """The same holds with bots in containers, and none of them is left."""
    survive(contained, step, who, undisturbed)
    assert bots_of(contained) == []


@pytest.mark.docker
@pytest.mark.long
def test_run_after_a_restart_takes_back_what_its_owners_left(
    contained: Path, undisturbed: list[object]
) -> None:
    """From a new container the dead processes cannot be seen, but that nobody holds their locks."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root and unshare, to run in a namespace of processes of its own")
    done = run(contained, Step.DEALING, "both", within=(*NAMESPACE, "sh"))
    assert (contained / "crashed").exists(), done.stderr
    assert bots_of(contained) != []
    done = run(contained)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == undisturbed
    assert_each_match_counts_once(contained)
    assert bots_of(contained) == []


def images_of(home: Path) -> set[str]:
    """Return the images of an arena's bots."""
    with Store.open(find_home(home)) as store:
        return {bot.versions[0].digest for bot in queries.bots(store)}


def bots_of(home: Path) -> list[str]:
    """Return the containers of an arena's bots."""
    images = images_of(home)
    engine = docker.from_env()
    found = [one["Id"] for one in engine.api.containers(all=True) if one["ImageID"] in images]
    engine.close()
    return found


@pytest.fixture(scope="module")
def undisturbed_swiss() -> list[object]:
    """The standings of a Swiss tournament that nobody disturbed."""
    with socket_place() as folder:
        done = run(make_arena(folder, "calm", choices=FOUR, format_name="swiss"))
    assert done.returncode == 0, done.stderr
    standings: list[object] = json.loads(done.stdout)
    return standings


@pytest.mark.long
@pytest.mark.parametrize(("step", "time"), BETWEEN_ROUNDS)
def test_swiss_goes_on_after_a_kill_between_its_rounds(
    short_folder: Path, undisturbed_swiss: list[object], step: Step, time: int
) -> None:
    """Whoever dies around the end of a round, the next one pairs whom it would have paired."""
    home = make_arena(short_folder, "home", choices=FOUR, format_name="swiss")
    survive(home, step, "driver", undisturbed_swiss, str(time))


def survive(home: Path, step: str, who: str, undisturbed: list[object], *time: str) -> None:
    """Kill somebody at a step, run again, and find what an undisturbed run finds."""
    done = run(home, step, who, *time)
    assert (home / "crashed").exists(), f"the step was not reached: {done.stderr}"
    if who == "worker":
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == -signal.SIGKILL
        done = run(home)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == undisturbed
    assert_each_match_counts_once(home)
    assert_nothing_is_left(home)


def test_termination_cleans_up_at_once(short_folder: Path, undisturbed: list[object]) -> None:
    """SIGTERM in the middle of a match leaves nothing behind, counts nothing, and says 130."""
    home = make_arena(short_folder, "home")
    process = subprocess.Popen(
        [sys.executable, SCRIPT, home, Step.CONNECTED, "nobody"],
        env={**os.environ, "XDG_RUNTIME_DIR": str(short_folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    await_true((home / "crashed").exists)
    assert list(short_folder.glob("bura-*")) != []
    process.terminate()
    assert process.wait(CAP) == 130
    assert_nothing_is_left(home)
    done = run(home)
    assert json.loads(done.stdout) == undisturbed
