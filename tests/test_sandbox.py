"""One conformance suite for all sandboxes; then what only a container must hold."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import textwrap
import time
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sandboxes import SECONDS, Box, await_exit, await_true, make_box, processes_with

from arena.errors import MachineError
from arena.sandbox import (
    SANDBOXES,
    BotSource,
    ImageRefusedError,
    Limits,
    LimitsMissingError,
    SandboxError,
    UnknownSandboxError,
    find_sandbox,
    process,
)
from arena.sandbox.confinement import process_status
from arena.sandbox.engine import Engine
from arena.sandbox.logs import TRUNCATED_MARK
from arena.sandbox.owners import SocketFolder
from arena.sandbox.slots import usable_cores
from referee.players import PlatformError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.sandbox import RunningBot

MEBI = 1 << 20
SLEEP = "import time; time.sleep(600)"


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.docker if name == "container" else ())
        for name in sorted(SANDBOXES)
    ]
)
def box(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Box]:
    """Each backend in turn."""
    box = make_box(request.param, tmp_path)
    with box.stack:
        yield box


def test_unknown_name_lists_the_known() -> None:
    """An unknown backend is refused with the names of the known ones."""
    with pytest.raises(UnknownSandboxError, match="container, process"):
        find_sandbox("jail")


def test_errors_are_failures_of_the_platform() -> None:
    """No bot is ever blamed for what a sandbox raises."""
    assert issubclass(SandboxError, PlatformError)
    assert issubclass(SandboxError, MachineError)


def test_a_running_bot_has_no_exit(box: Box) -> None:
    """A bot that still ran when the platform ended it did not end by itself."""
    bot = box.start("print('here', flush=True)\n" + SLEEP)
    assert bot.poll() is None
    report = bot.finish()
    assert report.exit is None
    assert not report.out_of_memory
    assert report.leftover == ""


@pytest.mark.parametrize("code", [0, 1, 3, 255])
def test_exit_code_is_told(box: Box, code: int) -> None:
    """The exit code of a bot is known without ending it."""
    bot = box.start(f"print('bye'); raise SystemExit({code})")
    end = await_exit(bot)
    assert (end.code, end.signal, end.out_of_memory) == (code, None, False)
    report = bot.finish()
    assert report.exit == end
    assert report.log == "bye\n"
    assert not report.log_truncated


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL])
def test_signal_is_told(box: Box, number: signal.Signals) -> None:
    """A bot that a signal ended names it."""
    end = await_exit(box.start(f"import os; os.kill(os.getpid(), {number.value})"))
    assert (end.code, end.signal) == (None, number)
    assert number.name in str(end)


def test_missing_program_is_an_exit_not_an_error(box: Box) -> None:
    """A bot whose program does not exist has ended with exit code 127 and says why."""
    bot = box.start("", command=("/no/such/program", "x"))
    assert await_exit(bot).code == 127
    assert "/no/such/program" in bot.finish().log


def test_finish_is_idempotent(box: Box) -> None:
    """Ending a bot twice gives the same report."""
    bot = box.start(SLEEP)
    bot.kill()
    bot.kill()
    assert bot.finish() is bot.finish()
    bot.kill()


def test_context_removes_the_bot_when_its_body_fails(box: Box) -> None:
    """Leaving the context by an exception leaves no process behind."""
    token = uuid.uuid4().hex
    with pytest.raises(ZeroDivisionError):
        _fail_beside(box.start(_keep(token)), token)
    assert processes_with(token) == []


def test_descendants_end_with_the_bot(box: Box) -> None:
    """Neither a session of its own nor a double fork saves a bot's child."""
    token = uuid.uuid4().hex
    code = f"""
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execvp("python3", ["python3", "-c", "import time; time.sleep(600)", "{token}"])
            os._exit(0)
        time.sleep(600)
    """
    bot = box.start(code)
    await_true(lambda: bool(processes_with(token)))
    bot.finish()
    assert processes_with(token) == []


def test_descendants_end_when_the_bot_exits(box: Box) -> None:
    """What a bot leaves behind ends although nobody ends the bot."""
    token = uuid.uuid4().hex
    # The pipe ends when the child has become another program.
    code = f"""
        import os
        end, beginning = os.pipe()
        if os.fork() == 0:
            os.setsid()
            os.execvp("python3", ["python3", "-c", "import time; time.sleep(600)", "{token}"])
        os.close(beginning)
        os.read(end, 1)
    """
    bot = box.start(code)
    await_exit(bot)
    await_true(lambda: processes_with(token) == [])


def test_stubborn_bot_is_ended(box: Box) -> None:
    """A bot that ignores signals and stops itself is ended all the same."""
    token = uuid.uuid4().hex
    code = f"""
        import os, signal, sys
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if len(sys.argv) == 1:
            os.execvp(sys.executable, [sys.executable, __file__, "{token}"])
        os.kill(os.getpid(), signal.SIGSTOP)
    """
    bot = box.start(code)
    await_true(lambda: [_state(pid) for pid in processes_with(token)] == ["T"])
    assert bot.finish().exit is None
    assert processes_with(token) == []


def test_fork_bomb_is_ended(box: Box) -> None:
    """A bot that forks without end is gone after it is finished."""
    token = uuid.uuid4().hex
    code = f"""
        import os, sys, time
        if len(sys.argv) == 1:
            os.execvp(sys.executable, [sys.executable, __file__, "{token}"])
        while True:
            try:
                os.fork()
            except OSError:
                time.sleep(0.01)
    """
    bot = box.start(code, limits=Limits(pids=24))
    await_true(lambda: bool(processes_with(token)) or bot.poll() is not None)
    bot.finish()
    assert processes_with(token) == []


def test_what_is_forked_while_a_stopped_supervisor_is_ended_ends_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot that stops its supervisor and forks on gains nothing: all below it are looked for."""
    monkeypatch.setattr(process, "END_SECONDS", 5.0)
    box = make_box("process", tmp_path)
    late = subprocess.Popen([sys.executable, "-c", SLEEP])
    listed: list[int] = []
    descendants = process.supervisor.descendants

    def forking(pid: int) -> list[int]:
        found = descendants(pid)
        if listed:
            found.append(late.pid)
        listed.append(pid)
        return found

    monkeypatch.setattr(process.supervisor, "descendants", forking)
    with late, box.stack:
        try:
            bot = box.start("import os, signal; os.kill(os.getppid(), signal.SIGSTOP)\n" + SLEEP)
            supervisor = bot._supervisor.pid  # type: ignore[attr-defined]
            await_true(lambda: _state(supervisor) == "T")
            assert bot.finish().exit is None
            await_true(lambda: late.poll() is not None)
        finally:
            late.kill()


def test_memory_limit_ends_the_bot(box: Box) -> None:
    """A bot that takes more memory than it may is killed, and its exit says for what."""
    bot = box.start(f"import time; {_HOG}", limits=Limits(memory=64 * MEBI, tmpfs=8 * MEBI))
    end = await_exit(bot)
    assert end.out_of_memory
    assert end.signal == signal.SIGKILL
    assert bot.finish().out_of_memory


def test_memory_limit_holds_for_children(box: Box) -> None:
    """Killing a child for want of memory is known even where the bot itself lives on."""
    code = f"""
        import os, time
        if os.fork() == 0:
            {_HOG}
        os.wait()
        time.sleep(600)
    """
    bot = box.start(code, limits=Limits(memory=64 * MEBI, tmpfs=8 * MEBI))
    await_true(bot.ran_out_of_memory)
    assert bot.finish().out_of_memory


def test_log_is_bounded_and_harmless(box: Box) -> None:
    """Only the end of a long output is kept, as valid text without terminal escapes."""
    code = r"""
        import sys
        out = sys.stdout.buffer
        for _ in range(4096):
            out.write(b"x" * 1023 + b"\n")
        out.write(b"\x1b[31mred\x07 \xff\xfe \xe2\x80\xae end\n")
        out.flush()
    """
    bot = box.start(code, limits=Limits(log=MEBI))
    await_exit(bot)
    report = bot.finish()
    assert report.log_truncated
    assert report.log.startswith(TRUNCATED_MARK)
    assert len(report.log.encode()) <= MEBI + len(TRUNCATED_MARK)
    assert report.log.endswith("\\x1b[31mred\\x07 \ufffd\ufffd \\u202e end\n")


@contextmanager
def listening(folder: SocketFolder) -> Iterator[socket.socket]:
    """Listen where a seat's bot dials."""
    with socket.socket(socket.AF_UNIX) as referee:
        referee.bind(str(folder.socket))
        folder.socket.chmod(0o666)
        referee.listen(1)
        referee.settimeout(SECONDS)
        yield referee


def test_flood_does_not_delay_the_end(box: Box) -> None:
    """A bot that prints as fast as it can, also without a newline, is ended like a silent one."""
    silent = box.start(SLEEP)
    began = time.monotonic()
    silent.finish()
    usual = time.monotonic() - began
    code = """
        import os, socket, sys
        for _ in range(40):
            sys.stderr.write("y" * 100_000)
        with socket.socket(socket.AF_UNIX) as here:
            here.connect(os.environ["ARENA_ADDRESS"].removeprefix("unix:"))
        while True:
            sys.stderr.write("y" * 100_000)
    """
    folder = SocketFolder.create(box.owner)
    box.stack.callback(folder.remove)
    with listening(folder) as referee:
        bot = box.sandbox.start(box.request(code, folder, limits=Limits(log=MEBI)))
        referee.accept()[0].close()
    began = time.monotonic()
    report = bot.finish()
    # A stream that nobody reads costs the engine's client all its patience, and more than once.
    assert time.monotonic() - began < max(SECONDS / 2, 20 * usual)
    assert report.exit is None
    assert report.log_truncated
    assert len(report.log) <= MEBI + len(TRUNCATED_MARK)


def test_standard_error_is_kept(box: Box) -> None:
    """A traceback reaches the log."""
    assert "ZeroDivisionError" in box.output("1 / 0")


def test_bot_reaches_its_referee(box: Box) -> None:
    """The address in the environment leads to the socket in the folder of the seat."""
    folder = SocketFolder.create(box.owner)
    box.stack.callback(folder.remove)
    with listening(folder) as referee:
        code = """
            import os, socket
            with socket.socket(socket.AF_UNIX) as bot:
                bot.connect(os.environ["ARENA_ADDRESS"].removeprefix("unix:"))
                bot.sendall(b"hello")
        """
        request = box.request(code, folder)
        with box.sandbox.start(request), referee.accept()[0] as connection:
            connection.settimeout(SECONDS)
            assert connection.recv(5) == b"hello"


def test_environment_is_scrubbed(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the platform reaches a bot."""
    monkeypatch.setenv("BURA_TEST_SECRET", "squeamish ossifrage")
    log = box.output("import os; print(sorted(os.environ.items()))")
    assert "ARENA_ADDRESS" in log
    assert "BURA_TEST_SECRET" not in log
    assert "squeamish" not in log
    assert box.owner not in log


def test_cores_are_pinned(box: Box) -> None:
    """A bot runs on the cores of its slot only."""
    core = usable_cores()[-1]
    log = box.output("import os; print(os.sched_getaffinity(0))", limits=Limits(cpus=str(core)))
    assert log == f"{{{core}}}\n"


def test_cores_that_do_not_exist_are_a_failure_of_the_platform(box: Box) -> None:
    """Pinning that cannot be had stops the start and blames no bot."""
    with pytest.raises(LimitsMissingError, match="cannot pin"):
        box.start(SLEEP, limits=Limits(cpus="4095"))


def test_descriptors_are_bounded(box: Box) -> None:
    """A bot cannot hold more than 256 descriptors."""
    code = """
        import os
        held = []
        try:
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        except OSError as error:
            print(error.strerror, held[-1])
    """
    assert box.output(code) == "Too many open files 255\n"


def test_usage_is_reported(box: Box) -> None:
    """CPU time and peak memory of a bot that worked are known."""
    token = uuid.uuid4().hex
    code = f"""
        import os, time
        block = bytearray(40 << 20)
        end = time.process_time() + 0.3
        while time.process_time() < end:
            pass
        if os.fork() == 0:
            os.execvp("python3", ["python3", "-c", "import time; time.sleep(600)", "{token}"])
        time.sleep(600)
    """
    bot = box.start(code)
    await_true(lambda: bool(processes_with(token)))
    report = bot.finish()
    assert report.cpu_seconds is not None
    assert report.cpu_seconds >= 0.3
    assert report.peak_memory is not None
    assert 40 * MEBI <= report.peak_memory <= 256 * MEBI


def test_start_and_end_are_timed(box: Box) -> None:
    """How long the engine took to start a bot is known apart from the bot's own time."""
    bot = box.start(SLEEP)
    assert 0 < bot.start_seconds < SECONDS


def test_prepare_refuses_what_is_not_there(box: Box, tmp_path: Path) -> None:
    """A source of the wrong kind, or that is missing, is refused before anything starts."""
    with pytest.raises(ImageRefusedError):
        box.sandbox.prepare(BotSource())
    with pytest.raises(ImageRefusedError):
        box.sandbox.prepare(BotSource(directory=tmp_path))


def test_reaping_spares_the_living(box: Box) -> None:
    """Neither this process's bots nor those of a live owner are reaped."""
    bot = box.start(SLEEP)
    box.sandbox.reap("somebody-else", [])
    assert bot.poll() is None
    box.sandbox.reap("somebody-else", [box.owner])
    assert bot.poll() is None


def test_killed_worker_leaves_nothing(box: Box, tmp_path: Path) -> None:
    """After kill -9 of a worker, reaping leaves no bot, no container, no socket, no folder."""
    token = uuid.uuid4().hex
    source = box.source(_keep(token))
    script = tmp_path / "worker.py"
    script.write_text(
        textwrap.dedent(f"""
        import time
        from pathlib import Path
        from arena.sandbox import BotSource, StartRequest, find_sandbox
        from arena.sandbox.owners import SocketFolder
        folder = SocketFolder.create("{token}")
        directory = {str(source.directory or "")!r}
        source = BotSource(
            image={source.image!r}, directory=Path(directory) if directory else None
        )
        find_sandbox({box.sandbox.name!r}).start(
            StartRequest(
                source=source, socket_dir=folder.path, owner="{token}", attempt="a", seat=1
            )
        )
        print(folder.root, flush=True)
        time.sleep(600)
        """)
    )
    worker = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert worker.stdout is not None
    with worker.stdout:
        root = Path(worker.stdout.readline().strip())
        assert root.is_dir()
        await_true(lambda: len(processes_with(token)) >= 1)
        worker.kill()
        worker.wait()
    box.sandbox.reap(box.owner, [])
    assert not root.exists()
    await_true(lambda: processes_with(token) == [])
    if box.sandbox.name == "container":
        engine = Engine.connect()
        await_true(lambda: token not in {owner for _, owner, _ in engine.bots()})
        engine.close()


_HOG = 'x = bytearray(); [x.extend(b"x" * (1 << 20)) for _ in range(400)]; time.sleep(600)'


def _fail_beside(bot: RunningBot, token: str) -> None:
    with bot:
        await_true(lambda: bool(processes_with(token)))
        _ = 1 / 0


def _state(pid: int) -> str:
    """Return the letter by which the kernel tells what a process is doing."""
    return process_status(pid).get("State", "X")[0]


def _keep(token: str) -> str:
    """Return a bot that lives on under a command line with this word."""
    return f"""
import os, sys, time
if len(sys.argv) == 1:
    os.execvp(sys.executable, [sys.executable, __file__, "{token}"])
time.sleep(600)
"""
