"""Plays hostile bots in containers, as a worker would, and looks for what they leave behind."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import re
import shutil
import tempfile
import threading
import time
import tomllib
import uuid
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import docker
from sandboxes import is_ours

from arena import steps
from arena.home import Home
from arena.jobs import Beat, MatchDescription, Outcome, Played
from arena.runner import GOODBYE_SECONDS, MatchReport, attempt, run_match
from arena.sandbox import BotSource, images
from arena.sandbox.cgroups import Cgroup
from arena.sandbox.container import ContainerSandbox
from arena.sandbox.engine import Engine
from arena.sandbox.slots import SHARED_CORES, Slot, plan_slots, usable_cores
from arena.steps import Step
from arena.workers import WorkerPool
from referee.match import FaultKind
from referee.results import ClockUsage, Entrant, MatchSpec, TimeControl
from referee.variants import find_variant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType

    from arena.sandbox import RunningBot, StartRequest
    from referee.results import MatchResult, Offence

TESTS = Path(__file__).parent
TABLE = TESTS / "hostile" / "expected.toml"
MEBI = 1 << 20

EPSILON_SECONDS = 2.0
"""What a match may last beyond its budget, on a machine that has nothing else to do."""

SPARE_CORES = 5
"""Cores for two matches with clocks that do not disturb each other."""

GENEROUS_US = 100_000
"""What no machine takes to answer, however busy it is, unless something is broken."""

REMOVAL_SECONDS = 60.0
"""A generous cap on what the engine takes to end and remove the bots of a leg."""

PATIENCE = (1, 2, 4)
"""Times a row's start-up time, each where the one before was too short for its opponent."""

LOG_BYTES = 2 * MEBI + (1 << 16)
"""Two files of the engine's log, and the entry that overflows one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A hostile bot and what it must come to; see expected.toml."""

    name: str
    ids: tuple[str, ...]
    command: tuple[str, ...]
    verdicts: frozenset[str]
    loses: str
    detail: str = ""
    log: str = ""
    truncated: bool = False
    oom: bool = False
    move_ms: int = 10_000
    startup_ms: int = 60_000
    think: float = 12.0
    descriptors: int = 60
    opponent_ms: int = 0
    long: bool = False

    @property
    def is_lost_by_exit(self) -> bool:
        """Whether all that is to be known of the fault is how the bot's main process ended."""
        return self.verdicts <= {"crash", "out_of_memory"} and "lived on" not in self.detail


def rows() -> list[Row]:
    """Read the table."""
    return [_row(name, values) for name, values in tomllib.loads(TABLE.read_text()).items()]


def _row(name: str, values: dict[str, Any]) -> Row:
    program = values.pop("program", [f"hostile/{name}/bot.py"])
    command = values.pop("command", ["python", "-u", f"/bots/{program[0]}", *program[1:]])
    verdict = values.pop("verdict")
    verdicts = frozenset([verdict] if isinstance(verdict, str) else verdict)
    loses = values.pop("loses", "")
    if not loses and len(verdicts) == 1:
        loses = "nothing" if verdict == "none" else _loss(FaultKind(verdict))
    return Row(
        name=name,
        ids=tuple(values.pop("ids")),
        command=tuple(command),
        verdicts=verdicts,
        loses=loses,
        **values,
    )


def _loss(kind: FaultKind) -> str:
    return "leg" if kind.loses_leg else "deal"


class Images:
    """One image with all bots, and one for each command, which costs a line and no layer."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: list[str] = []
        context = folder / "all"
        for place in ("bots", "hostile"):
            shutil.copytree(
                TESTS / place, context / "bots" / place, ignore=shutil.ignore_patterns("__*")
            )
        self._all = self._build(
            context,
            "ARG BASE=bura-python-bot\nFROM ${BASE}\n"
            # First, so that no step is another image's, which may be removed meanwhile.
            f"LABEL test={uuid.uuid4().hex}\nENV PYTHONPATH=/bots/bots:/bots/hostile\n"
            "COPY bots /bots\n",
            "python",
        )

    def of(self, command: tuple[str, ...]) -> str:
        """Return the image that runs a command."""
        return self._build(self._folder / uuid.uuid4().hex, f"FROM {_tag(self._all)}\n", *command)

    def _build(self, context: Path, lines: str, *command: str) -> str:
        context.mkdir(exist_ok=True)
        (context / "Dockerfile").write_text(f"{lines}CMD {json.dumps(command)}\n")
        image = images.build(context).id
        self._made.append(image)
        return image

    def remove(self) -> None:
        """Remove them all under every name, the last first."""
        engine = Engine.connect()
        _, names = engine.images()
        for image in reversed(dict.fromkeys(self._made)):
            for name in (name for name, one in names.items() if one == image):
                engine.remove_image(name)
        engine.close()


def _tag(image: str) -> str:
    return f"{images.KEPT}:{image.removeprefix('sha256:')[:16]}"


def slots(seats: int = 2) -> tuple[Slot, Slot]:
    """Return cores for the match of a hostile bot, and for another match beside it.

    On a small machine no second match may run: here it does, on the referee's core.
    """
    if len(usable_cores()) > 2 * seats:
        one, other = plan_slots(seats=seats, wanted=2)
        return one, other
    (slot,) = plan_slots(seats=seats, wanted=1)
    beside = Slot(bots=(slot.referee,) * seats, referee=slot.referee, condition=SHARED_CORES)
    return slot, beside


def describe(
    home: Path, bots: tuple[str, str], row: Row | None = None, **changes: Any
) -> MatchDescription:
    """Describe a short match of two images; with a row, under its clock."""
    control = TimeControl()
    if row is not None:
        control = TimeControl(move_time_ms=row.move_ms, startup_ms=row.startup_ms)
    options: dict[str, Any] = {
        "variant": "bura",
        "rules": find_variant("bura"),
        "seats": 2,
        "decks": 3,
        "seed": bytes(range(32)),
        "match": 1,
        "entrants": (Entrant("steady"), Entrant("other")),
        "time_control": control,
    }
    return MatchDescription(
        spec=MatchSpec(**{**options, **changes}),
        bots=tuple(BotSource(image=image) for image in bots),
        positions=(0, 1),
        sandbox="container",
        home=home,
        folder="hostile/1/1",
        slot=slots()[0],
        owner=f"test-{uuid.uuid4().hex}",
    )


def canonical(record: Path) -> bytes:
    """Return a record without what was measured."""
    lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line.pop("measured", None)
        line.pop("seal", None)
    return json.dumps(lines, sort_keys=True).encode()


@dataclass(frozen=True, slots=True)
class Times:
    """How long answers took in microseconds: half of them, and all but one in a hundred."""

    p50: int
    p99: int

    @classmethod
    def of(cls, answers_us: Iterable[int]) -> Times:
        """Sum up what was charged for answers."""
        usage = ClockUsage(answers_us=tuple(answers_us))
        return cls(usage.percentile_us(50), usage.percentile_us(99))

    @classmethod
    def of_record(cls, record: Path) -> Times:
        """Sum up the answers of all seats in a record."""
        lines = map(json.loads, record.read_text(encoding="utf-8").splitlines())
        measured = [line["measured"] for line in lines if "answers_us" in line.get("measured", ())]
        return cls.of(
            answer for leg in measured for answers in leg["answers_us"] for answer in answers
        )


def assert_undisturbed(alone: Times, beside: Times) -> None:
    """What took some time alone took as long beside others, where there are cores for all."""
    if has_spare_cores():
        assert abs(beside.p50 - alone.p50) <= alone.p50 // 10
        assert beside.p99 <= alone.p99 + 10_000
    assert_not_held_up(alone, beside)


def assert_not_held_up(alone: Times, beside: Times) -> None:
    """The same on any machine, whoever else computes on it: in the same order of magnitude."""
    assert 0 < beside.p50 <= max(20 * alone.p50, GENEROUS_US)


def has_spare_cores() -> bool:
    """Tell whether two matches have cores of their own."""
    return len(usable_cores()) >= SPARE_CORES


class Bystander:
    """A match with a fixed seed in a worker process of its own.

    Attributes:
        alone: Its times when nobody disturbed it.
        times: Those of the last time it was played.
    """

    def __init__(self, folder: Path, image: str) -> None:
        home = Home(folder)
        home.create()
        self._job = describe(
            folder,
            (image, image),
            match_format="native",
            rules=find_variant("bura").replace(max_deals=12),
            time_control=TimeControl(move_time_ms=10_000, startup_ms=60_000),
        )
        self._pool = WorkerPool(home, [slots()[1]], attempt)
        self._undisturbed = b""
        self.alone = self.times = Times(0, 0)

    def __enter__(self) -> Self:
        with self.beside():
            pass
        self.alone = self.times
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.close()

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """Have it played meanwhile, and find the same record as when nobody disturbed it."""
        self._pool.give(self._job)
        try:
            yield
        finally:
            outcome = self._outcome()
        assert isinstance(outcome, Played), outcome
        assert not outcome.result.faults
        path = self._job.home / outcome.result.record
        record = canonical(path)
        self._undisturbed = self._undisturbed or record
        assert record == self._undisturbed
        self.times = Times.of_record(path)

    def _outcome(self) -> Outcome:
        until = time.monotonic() + 100
        while time.monotonic() < until:
            for event in self._pool.wait(0.1):
                if not isinstance(event.news, Beat):
                    return event.news
        raise AssertionError("the bystander's match did not end")


@dataclass
class Seen:
    """What was seen of a match while it was played.

    Attributes:
        containers: What the engine said of each.
        cgroups: The control groups of each.
        times: When each step was passed, in seconds.
        pids, log, descriptors: The most processes in a container, bytes of its log on the disk, and
            descriptors of this process.
    """

    containers: list[dict[str, Any]] = field(default_factory=list)
    cgroups: list[Cgroup] = field(default_factory=list)
    times: list[tuple[Step, float]] = field(default_factory=list)
    pids: int = 0
    log: int = 0
    descriptors: int = 0

    def legs(self) -> list[dict[Step, float]]:
        """Return the times by leg; the end of one is the beginning of the next."""
        starts = [place for place, (step, _) in enumerate(self.times) if step is Step.STARTED]
        ends = [*starts[1:], len(self.times)]
        legs = []
        for start, end in zip(starts, ends, strict=True):
            part = dict(reversed(self.times[start:end]))
            later = [at for step, at in self.times[start:] if step in _NEXT]
            legs.append({**part, Step.DECIDED: later[0]})
        return legs


_NEXT = {Step.SOCKETS_MADE, Step.DECIDED}


class _Watch:
    """Looks at this process and at the containers it starts, some times a second."""

    def __init__(self) -> None:
        self.seen = Seen()
        self._engine = docker.from_env()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look_on)
        self._start = ContainerSandbox.start
        self._checkpoint = steps.checkpoint

    def __enter__(self) -> Seen:
        watch = self

        def start(sandbox: ContainerSandbox, request: StartRequest) -> RunningBot:
            bot = watch._start(sandbox, request)
            watch._note(bot)
            return bot

        def checkpoint(step: Step) -> None:
            if step is not Step.DEALING:
                watch.seen.times.append((step, time.monotonic()))

        ContainerSandbox.start = start  # type: ignore[method-assign]
        steps.checkpoint = checkpoint
        self._thread.start()
        return self.seen

    def __exit__(self, *_: object) -> None:
        ContainerSandbox.start = self._start  # type: ignore[method-assign]
        steps.checkpoint = self._checkpoint
        self._over.set()
        self._thread.join()
        self._engine.close()

    def _note(self, bot: RunningBot) -> None:
        name = getattr(bot, "name", "")
        if name:
            found = self._engine.api.inspect_container(name)
            self.seen.cgroups.append(Cgroup.of(found["State"]["Pid"]))
            self.seen.containers.append(found)

    def _look_on(self) -> None:
        while not self._over.wait(0.05):
            self.seen.descriptors = max(self.seen.descriptors, descriptors())
            for cgroup in list(self.seen.cgroups):
                pids = cgroup.number("pids", "pids.current", "pids.current")
                self.seen.pids = max(self.seen.pids, pids or 0)
            for one in list(self.seen.containers):
                self.seen.log = max(self.seen.log, _log_bytes(one))


def _log_bytes(container: dict[str, Any]) -> int:
    path = Path(container["LogPath"] or "/nowhere")
    total = 0
    for one in (path, path.with_name(f"{path.name}.1")):
        with contextlib.suppress(OSError):
            total += one.stat().st_size
    return total


def descriptors() -> int:
    """Return how many descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


@dataclass(frozen=True, slots=True)
class Residue:
    """What this process has and holds, to be compared with what it has and holds later."""

    descriptors: int
    threads: int
    resident: int
    networks: frozenset[str]

    @classmethod
    def now(cls) -> Residue:
        """Look."""
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        client = docker.from_env()
        # Tests that may run beside this one make networks of other names.
        networks = frozenset(one["Id"] for one in client.api.networks() if is_ours(one))
        client.close()
        return cls(
            descriptors(), threading.active_count(), pages * os.sysconf("SC_PAGE_SIZE"), networks
        )


@dataclass
class Ring:
    """Where hostile bots are let loose: the images, a bystander, a place for everything."""

    folder: Path
    images: Images
    bystander: Bystander
    steady: str

    def play(self, row: Row, **changes: Any) -> tuple[MatchDescription, MatchReport, Seen]:
        """Play a row's match beside the bystander's."""
        with self.bystander.beside():
            return self.play_alone(row, **changes)

    def play_alone(self, row: Row, **changes: Any) -> tuple[MatchDescription, MatchReport, Seen]:
        """Play a row's match with no other beside it.

        A time that is waited for to its end has to be short, and then the row's opponent may be
        late on a busy machine: the match is played again, with more time to start.
        """
        bots = (self.steady, self.images.of(row.command))
        for patience in PATIENCE:
            home = Path(tempfile.mkdtemp(dir=self.folder))
            patient = replace(row, startup_ms=row.startup_ms * patience)
            match = describe(home, bots, patient, **changes)
            with _Watch() as seen:
                report = run_match(match)
            if not any(_is_late(offence) for offence in report.result.faults):
                break
        return match, report, seen


def _is_late(offence: Offence) -> bool:
    """Tell whether the steady bot, which is in nobody's way, was late."""
    return offence.entrant == 0 and offence.fault.kind in {FaultKind.NO_CONNECT, FaultKind.TIMEOUT}


@contextlib.contextmanager
def open_ring(folder: Path) -> Iterator[Ring]:
    """Build the images and play one match, so that what comes later finds all as it stays."""
    made = Images(folder)
    try:
        steady = made.of(("python", "-u", "/bots/bots/steady.py"))
        with Bystander(folder / "bystander", steady) as bystander:
            ring = Ring(folder, made, bystander, steady)
            row = next(row for row in rows() if row.name == "steady")
            ring.play(row)
            # What was there before is not garbage of a row's, and is much to look through.
            gc.collect()
            gc.freeze()
            yield ring
    finally:
        made.remove()


def offences(result: MatchResult, leg: int) -> Counter[tuple[str, bool]]:
    """Count the faults of a leg that its hostile bot committed, by kind and whether they lost it.

    The hostile bot is the second entrant; the first must have committed none.
    """
    found: Counter[tuple[str, bool]] = Counter()
    for offence in result.legs[leg].faults:
        assert offence.entrant == 1, offence
        assert offence.fault.seat == (1 + leg) % 2 if leg == 0 else offence.fault.seat == 0
        found[str(offence.fault.kind), offence.deal is None] += 1
    return found


def assert_verdict(row: Row, match: MatchDescription, report: MatchReport) -> None:
    """The row's bot came to what the table says, in both seats."""
    for leg in (0, 1):
        found = offences(report.result, leg)
        kinds = {kind for kind, _ in found} or {"none"}
        if "out_of_memory" in row.verdicts and "out_of_memory" in kinds:
            # Silence cost deals before it was known what lay behind it.
            kinds -= {"timeout"}
        assert kinds <= row.verdicts, [str(one.fault) for one in report.result.legs[leg].faults]
        if row.loses:
            whole = sum(count for (_, is_whole), count in found.items() if is_whole)
            assert whole == (1 if row.loses == "leg" else 0)
            assert bool(found) == (row.loses != "nothing")
    _assert_evidence(row, match, report)


def _assert_evidence(row: Row, match: MatchDescription, report: MatchReport) -> None:
    for offence in report.result.faults:
        if row.detail and str(offence.fault.kind) in row.verdicts:
            assert re.search(row.detail, offence.fault.detail), offence
    for one in (one for one in report.reports if one.position == 1):
        text = (match.home / one.log).read_text(encoding="utf-8") if one.log else ""
        assert re.search(row.log, text, re.MULTILINE), text[-2000:]
        assert len(text.encode()) <= match.limits.log + 100
        assert not any(char in text for char in "\x1b\x07\u202e")
        assert one.log_truncated or not row.truncated
        assert one.out_of_memory == row.oom or len(row.verdicts) > 1
    assert all(not one.log for one in report.reports if one.position == 0)
    if row.verdicts <= {"no_connect", "start_failed"}:
        assert all(leg.clocks[leg.leg].count == 0 for leg in report.result.legs)


def assert_in_time(row: Row, match: MatchDescription, report: MatchReport, seen: Seen) -> None:
    """No leg lasted longer than its bots were given, and two seconds; more where others compute."""
    busy = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    startup = match.spec.time_control.startup_ms / 1000
    for leg, result in zip(seen.legs(), report.result.legs, strict=True):
        epsilon = EPSILON_SECONDS * busy + result.stalled_us / 1e6
        waited = leg[Step.CONNECTED] - leg[Step.STARTED]
        assert waited <= startup + epsilon
        if row.verdicts == {"start_failed"}:
            # As soon as the bot has exited, not when its time to start is over.
            assert waited <= startup / 2
        played = leg[Step.REMOVING] - leg[Step.CONNECTED]
        assert played <= row.think + GOODBYE_SECONDS + epsilon
        assert leg[Step.DECIDED] - leg[Step.REMOVING] <= REMOVAL_SECONDS


def assert_opponent_in_time(row: Row, report: MatchReport) -> None:
    """The steady bot was asked, and what its opponent did is not on its clock."""
    clock = report.result.clock(0)
    if row.opponent_ms:
        assert 0 < clock.percentile_us(50) <= row.opponent_ms * 1_000


def assert_contained(row: Row, match: MatchDescription, seen: Seen, before: Residue) -> None:
    """At no moment did the bots have more than they may."""
    assert seen.pids <= match.limits.pids
    assert seen.log <= LOG_BYTES
    assert seen.descriptors <= before.descriptors + row.descriptors


def assert_nothing_left(match: MatchDescription, seen: Seen, before: Residue) -> None:
    """Containers, their folders, sockets and whatever this process held are gone."""
    client = docker.from_env()
    wanted = {"label": f"bura-arena.owner={match.owner}"}
    assert client.api.containers(all=True, filters=wanted) == []
    client.close()
    for one in seen.containers:
        for path in (Path(one["LogPath"]).parent, _upper(one)):
            assert path is None or not path.exists()
    assert _zombies() == []
    after = _settled(before)
    assert after.descriptors <= before.descriptors + 2
    assert after.threads <= before.threads + 2
    assert after.resident <= before.resident + 20 * MEBI
    assert after.networks <= before.networks
    kept = sum(path.stat().st_size for path in match.home.rglob("*") if path.is_file())
    assert kept <= 4 * (match.limits.log + 100) + MEBI


def _settled(before: Residue) -> Residue:
    """Look again until all is as it was, or for five seconds."""
    until = time.monotonic() + 5
    while True:
        after = Residue.now()
        is_back = (
            after.descriptors <= before.descriptors + 2
            and after.threads <= before.threads + 2
            and after.resident <= before.resident + 20 * MEBI
        )
        if is_back or time.monotonic() > until:
            return after
        time.sleep(0.1)


def _upper(container: dict[str, Any]) -> Path | None:
    data = container.get("GraphDriver", {}).get("Data") or {}
    return Path(data["UpperDir"]) if "UpperDir" in data else None


def _zombies() -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            pid, _, rest = path.read_text(errors="replace").partition(" (")
            state, parent = rest.rpartition(")")[2].split()[:2]
            if state == "Z" and int(parent) == os.getpid():
                found.append(int(pid))
    return found


def busy_seconds(seconds: float) -> float:
    """Return how much of the next seconds this process computes."""
    before = time.process_time()
    time.sleep(seconds)
    return time.process_time() - before
