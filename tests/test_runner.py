import errno
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import pytest

from arena import runner, steps
from arena.jobs import (
    DISK_FULL,
    ENGINE_LOST,
    IMAGE_MISSING,
    REFEREE_ERROR,
    STALLED,
    MatchDescription,
    Played,
    Voided,
)
from arena.runner import attempt, run_match, void_reason
from arena.sandbox import (
    BotReport,
    BotSource,
    EngineLostError,
    EngineMissingError,
    Exit,
    ImageMissingError,
    RunningBot,
    StartRequest,
    find_sandbox,
)
from arena.sandbox.slots import SHARED_CORES, Slot
from arena.steps import Step
from referee.players import PlatformStalledError
from referee.results import Entrant, MatchSpec, TimeControl
from referee.rules import Rules
from referee.verification import verify_record

HOUR_NS = 3600 * 1_000_000_000
FIRST = "import burabot\nburabot.play(lambda turn: 0, name='first', version='1')\n"
BOTS = {
    "first": FIRST,
    "talker": "print('hello', flush=True)\n" + FIRST,
    "placed": "import os\nprint(sorted(os.sched_getaffinity(0)), flush=True)\n" + FIRST,
    "leaver": "import os, burabot\nburabot.play(lambda turn: os._exit(0), name='l', version='1')\n",
    "crasher": "import burabot\nburabot.play(lambda turn: 1 / 0, name='c', version='1')\n",
    "killed": "import os, burabot\n"
    "burabot.play(lambda turn: os.kill(os.getpid(), 9), name='k', version='1')\n",
    "broken": "raise SystemExit(3)\n",
    "sleeper": "import time\ntime.sleep(60)\n",
}


@pytest.fixture(autouse=True)
def sockets(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place for sockets that nobody else uses."""
    with tempfile.TemporaryDirectory(prefix="run-") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


def describe(home: Path, *names: str, startup_ms: int = 30_000) -> MatchDescription:
    """Describe a short match of bots by their names in BOTS."""
    for name in names:
        (home / name).mkdir(exist_ok=True)
        (home / name / "bot.py").write_text(BOTS[name])
    return MatchDescription(
        spec=MatchSpec(
            variant="bura",
            rules=Rules(),
            seats=2,
            decks=2,
            tables=2,
            seed=bytes(32),
            match=1,
            entrants=tuple(Entrant(name) for name in names),
            time_control=TimeControl(move_time_ms=20_000, startup_ms=startup_ms),
        ),
        bots=tuple(BotSource(directory=home / name) for name in names),
        positions=(4, 7),
        sandbox="process",
        home=home,
        folder="cup/1/1",
        owner="boot",
    )


@pytest.fixture(autouse=True)
def _patient_runner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let bots take as long to exit as a busy machine needs."""
    monkeypatch.setattr(runner, "GOODBYE_SECONDS", 60.0)
    monkeypatch.setattr(runner, "EXPLAIN_SECONDS", 60.0)


@dataclass
class FakeBot:
    """A bot that never comes, or has ended."""

    exit: Exit | None = None
    start_seconds: float = 0.0
    finished: int = 0

    def poll(self) -> Exit | None:
        """Tell how it ended."""
        return self.exit

    def ran_out_of_memory(self) -> bool:
        """Never."""
        return False

    def kill(self) -> None:
        """Do nothing."""

    def finish(self) -> BotReport:
        """Count the calls."""
        self.finished += 1
        return BotReport(exit=self.exit, out_of_memory=False, log="", log_truncated=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.finish()


class FakeSandbox:
    """Starts bots that never come, or fails to."""

    name = "fake"
    is_security_boundary = False
    note = ""

    def __init__(self, outcomes: list[Exit | Exception | None]) -> None:
        self.outcomes = outcomes
        self.bots: list[FakeBot] = []
        self.requests: list[StartRequest] = []

    def prepare(self, source: BotSource) -> None:
        """Nothing to do."""

    def start(self, request: StartRequest) -> FakeBot:
        """Do what is planned for the seat."""
        self.requests.append(request)
        outcome = self.outcomes[request.seat]
        if isinstance(outcome, Exception):
            raise outcome
        bot = FakeBot(outcome)
        self.bots.append(bot)
        return bot

    def reap(self, *_owners: object) -> int:
        """Nothing to do."""
        return 0


def fake(monkeypatch: pytest.MonkeyPatch, outcomes: list[Exit | Exception | None]) -> FakeSandbox:
    """Put a fake sandbox in place of every backend."""
    sandbox = FakeSandbox(outcomes)
    monkeypatch.setattr(runner, "find_sandbox", lambda _name: sandbox)
    return sandbox


def test_match_is_played_recorded_and_reported(tmp_path: Path, sockets: Path) -> None:
    """Two bots play both legs; the record verifies, and nothing else is left."""
    seen: list[object] = []
    report = run_match(describe(tmp_path, "first", "talker"), seen.append)
    assert report.result.faults == ()
    assert sum(report.result.totals) == 0
    assert len(report.result.deals) == 4
    assert len(seen) > 4
    assert report.record.parent == tmp_path / "records" / "cup" / "1" / "1"
    assert report.record.name == f"{report.record_sha256}.jsonl"
    verify_record(report.record)
    assert [path.name for path in report.record.parent.iterdir()] == [report.record.name]
    assert list(sockets.iterdir()) == []


def test_what_bots_print_is_kept_by_leg_and_seat(tmp_path: Path) -> None:
    """Each silent bot has no log, each other one a log for each leg."""
    report = run_match(describe(tmp_path, "first", "talker"))
    logs = {(one.leg, one.seat): one.log for one in report.reports}
    assert logs[0, 0] == logs[1, 1] == ""
    assert (tmp_path / logs[0, 1]).read_text() == (tmp_path / logs[1, 0]).read_text() == "hello\n"
    assert {one.position for one in report.reports if one.log} == {7}
    assert all(one.exit_code == 0 for one in report.reports)


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("leaver", "disconnected", "exited"),
        ("crasher", "crash", "exit code 1"),
        ("killed", "crash", "SIGKILL"),
        ("broken", "start_failed", "exit code 3"),
    ],
)
def test_end_of_a_bot_is_explained(tmp_path: Path, name: str, kind: str, words: str) -> None:
    """The fault says what the sandbox knows of why the bot is gone, once in each leg."""
    outcome = attempt(describe(tmp_path, "first", name), lambda: None)
    assert isinstance(outcome, Played)
    faults = [fault for fault in outcome.result.faults if fault.deal is None]
    assert [(fault.kind, fault.position) for fault in faults] == [(kind, 7)] * 2
    assert words in faults[0].detail
    assert outcome.result.totals[0] > 0


def test_bot_that_never_comes_is_at_fault(tmp_path: Path) -> None:
    """Each leg is lost by it; on a busy machine the other may be too slow for the start, too."""
    outcome = attempt(describe(tmp_path, "first", "sleeper", startup_ms=3_000), lambda: None)
    assert isinstance(outcome, Played)
    faults = [fault for fault in outcome.result.faults if fault.position == 7]
    assert [(fault.kind, fault.deal) for fault in faults] == [("no_connect", None)] * 2
    assert all("no Hello" in fault.detail for fault in faults)
    blamed = {(fault.leg, fault.position) for fault in outcome.result.faults}
    assert (outcome.result.totals[0] > 0) == (len(blamed) < 4)


def test_scores_are_kept_by_deck_leg_and_entrant(tmp_path: Path) -> None:
    """What is stored has every deal's score once, and adds up to the totals."""
    outcome = attempt(describe(tmp_path, "first", "broken"), lambda: None)
    assert isinstance(outcome, Played)
    decks = outcome.result.decks
    assert [len(legs) for legs in decks] == [2, 2]
    sums = [sum(deal[place] for legs in decks for deal in legs) for place in (0, 1)]
    assert tuple(sums) == outcome.result.totals


def test_bots_get_the_cores_of_their_slot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each seat's bot is bound to its cores, and the result says what they mean for clocks."""
    sandbox = fake(monkeypatch, [Exit(code=1), Exit(code=1)])
    core = str(min(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else "0"
    slot = Slot(bots=(core, core), referee=core, condition=SHARED_CORES)
    report = run_match(replace(describe(tmp_path, "first", "broken"), slot=slot))
    assert {request.limits.cpus for request in sandbox.requests} == {core}
    assert report.result.conditions == SHARED_CORES


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no cores can be chosen here")
@pytest.mark.parametrize("fails", [False, True], ids=["ends", "fails"])
def test_referee_keeps_off_the_cores_of_the_bots(tmp_path: Path, *, fails: bool) -> None:
    """Whoever plays a match leaves its bots their cores, and has its own back afterwards."""
    before = os.sched_getaffinity(0)
    referee, *others = sorted(before)
    if not others:
        pytest.skip("needs a core for the referee and another for the bots")
    seen: set[frozenset[int]] = set()

    def watch(_: object) -> None:
        seen.add(frozenset(os.sched_getaffinity(0)))
        if fails:
            raise KeyError("a bug")

    slot = Slot(bots=(str(others[0]),) * 2, referee=str(referee))
    described = replace(describe(tmp_path, "placed", "placed"), slot=slot)
    with pytest.raises(KeyError) if fails else nullcontext():
        run_match(described, watch)
    assert os.sched_getaffinity(0) == before
    assert seen == {frozenset({referee})}
    places = {path.read_text() for path in (tmp_path / "logs").rglob("*.log")}
    assert places == {f"[{others[0]}]\n"}


def test_time_in_which_programs_are_started_costs_no_bot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time to start is counted when all programs run: an hour in the engine is nobody's."""
    honest, hours = time.monotonic_ns, []
    plain = find_sandbox("process")

    class SlowEngine:
        prepare = plain.prepare

        @staticmethod
        def start(request: StartRequest) -> RunningBot:
            hours.append(request.seat)
            return plain.start(request)

    monkeypatch.setattr(runner, "find_sandbox", lambda _: SlowEngine)
    monkeypatch.setattr(time, "monotonic_ns", lambda: honest() + len(hours) * HOUR_NS)
    report = run_match(describe(tmp_path, "first", "first"))
    assert sorted(hours) == [0, 0, 1, 1]
    assert report.result.faults == ()


def test_seats_turn_with_the_legs_and_have_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A leg starts every bot afresh; no two seats or legs share a socket folder."""
    sandbox = fake(monkeypatch, [Exit(code=1), Exit(code=1)])
    description = describe(tmp_path, "first", "broken")
    run_match(description)
    seated = {(request.attempt[-1], request.seat): request.source for request in sandbox.requests}
    first, second = description.bots
    assert seated == {("0", 0): first, ("0", 1): second, ("1", 0): second, ("1", 1): first}
    assert len({request.socket_dir for request in sandbox.requests}) == 4
    assert {request.owner for request in sandbox.requests} == {"boot"}


@pytest.mark.parametrize("seat", [0, 1])
def test_failure_to_start_one_bot_removes_the_other(
    tmp_path: Path, sockets: Path, monkeypatch: pytest.MonkeyPatch, seat: int
) -> None:
    """The engine's failure voids the attempt, and nothing that did start is left."""
    outcomes: list[Exit | Exception | None] = [None, None]
    outcomes[seat] = EngineLostError("the engine went away")
    sandbox = fake(monkeypatch, outcomes)
    outcome = attempt(describe(tmp_path, "first", "broken"), lambda: None)
    assert outcome == Voided(reason=ENGINE_LOST, detail="the engine went away")
    assert [bot.finished > 0 for bot in sandbox.bots] == [True]
    assert list(sockets.iterdir()) == []


@pytest.mark.parametrize(
    "step", [step for step in Step if step not in {Step.LEASED, Step.FINISHING, Step.FINISHED}]
)
def test_stopping_at_any_step_removes_bots_and_sockets(
    tmp_path: Path, sockets: Path, monkeypatch: pytest.MonkeyPatch, step: Step
) -> None:
    """SIGTERM ends a worker by SystemExit wherever it is, and it leaves nothing."""
    sandbox = fake(monkeypatch, [Exit(code=1), Exit(code=1)])

    def stop(reached: Step) -> None:
        if reached is step:
            raise SystemExit

    monkeypatch.setattr(steps, "checkpoint", stop)
    with pytest.raises(SystemExit):
        run_match(describe(tmp_path, "first", "broken"))
    assert all(bot.finished for bot in sandbox.bots)
    assert list(sockets.iterdir()) == []


def test_bug_of_the_referee_voids_the_attempt_and_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our own error is nobody's loss: its line is the reason, its traceback lies with the logs."""
    sandbox = fake(monkeypatch, [None, None])

    def fail(*_args: object, **_options: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(runner, "play_leg", fail)
    outcome = attempt(describe(tmp_path, "first", "broken", startup_ms=50), lambda: None)
    assert isinstance(outcome, Voided)
    assert outcome.reason == REFEREE_ERROR
    assert "a bug" in outcome.detail
    assert len(outcome.reports) == 2
    assert all(bot.finished for bot in sandbox.bots)
    assert "Traceback" in (tmp_path / "logs" / "cup" / "1" / "1" / "referee.log").read_text()


def test_attempt_that_fails_keeps_how_far_its_bots_had_come(tmp_path: Path) -> None:
    """Last messages, clocks and traffic of a leg without a result are in the bots' reports."""
    beats = 0

    def beat() -> None:
        nonlocal beats
        beats += 1
        if beats == 9:
            raise EngineLostError("the engine went away")

    outcome = attempt(describe(tmp_path, "first", "talker"), beat)
    assert isinstance(outcome, Voided)
    assert outcome.reason == ENGINE_LOST
    for report in outcome.reports:
        assert report.last_sent is not None
        assert report.last_received is not None
        assert "turns {" in report.last_sent
        assert report.last_received.startswith("choices {")
        assert (report.decisions or 0) > 0
        assert 0 < (report.answers or 0) <= 9
        assert (report.time_us or 0) > 0
        assert (report.sent_bytes or 0) > (report.received_bytes or 0) > 0


def test_match_that_ends_keeps_no_last_messages(tmp_path: Path) -> None:
    """What was said last in a leg that counts tells nothing; faults have their own."""
    outcome = attempt(describe(tmp_path, "first", "first"), lambda: None)
    assert isinstance(outcome, Played)
    assert {each.last_sent for each in outcome.reports} == {None}


@pytest.mark.parametrize("method", ["poll", "finish"])
def test_reports_are_kept_of_bots_that_a_lost_engine_cannot_tell_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """What the referee knows of each bot does not depend on the engine's answer."""
    fake(monkeypatch, [None, None])

    def lose(_: FakeBot) -> None:
        raise EngineLostError("the engine went away")

    monkeypatch.setattr(FakeBot, method, lose)
    outcome = attempt(describe(tmp_path, "first", "broken", startup_ms=50), lambda: None)
    assert isinstance(outcome, Voided)
    assert outcome.reason == ENGINE_LOST
    assert [(each.seat, each.exit_code) for each in outcome.reports] == [(0, None), (1, None)]


def test_disk_that_fills_up_voids_the_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record that cannot be written is no result."""
    fake(monkeypatch, [Exit(code=1), Exit(code=1)])

    def fail(*_args: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(runner, "write_record", fail)
    outcome = attempt(describe(tmp_path, "first", "broken"), lambda: None)
    assert isinstance(outcome, Voided)
    assert outcome.reason == DISK_FULL


def test_record_is_on_disk_with_every_folder_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut may not lose a folder that was made for a record whose result counts."""
    fake(monkeypatch, [Exit(code=1), Exit(code=1)])
    sync = os.fsync
    synced: list[Path] = []

    def note(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    assert isinstance(attempt(describe(tmp_path, "first", "broken"), lambda: None), Played)
    folders = [path for path in synced if path.is_dir()]
    records = tmp_path / "records"
    assert folders[-5:] == [
        records / "cup" / "1" / "1",
        records / "cup" / "1",
        records / "cup",
        records,
        tmp_path,
    ]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (EngineLostError("x"), ENGINE_LOST),
        (EngineMissingError("x"), ENGINE_LOST),
        (ImageMissingError("x"), IMAGE_MISSING),
        (PlatformStalledError("x"), STALLED),
        (OSError(errno.ENOSPC, "x"), DISK_FULL),
        (OSError(errno.EACCES, "x"), REFEREE_ERROR),
        (ValueError("x"), REFEREE_ERROR),
    ],
)
def test_failures_of_the_platform_have_names(error: Exception, reason: str) -> None:
    """Each kind of failure that blames nobody has its word."""
    assert void_reason(error) == reason


def test_record_of_the_same_choices_has_the_same_digest(tmp_path: Path) -> None:
    """A repeated attempt with deterministic bots repeats the match, times aside."""
    digests = set()
    for number in ("1", "2"):
        description = replace(describe(tmp_path, "first", "talker"), folder=f"cup/1/{number}")
        lines = run_match(description).record.read_text().splitlines()
        digests.add(json.loads(lines[-1])["digest"])
    assert len(digests) == 1
