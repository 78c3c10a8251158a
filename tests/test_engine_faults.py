"""An engine that is slow, loses answers or fails: nobody is blamed, nothing is left."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import socket
import tempfile
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import docker
import pytest
from sandboxes import Box, await_exit, await_true, forget_image, image_of, is_ours

from arena.jobs import MatchDescription, Played
from arena.runner import attempt
from arena.sandbox import BotSource, EngineLostError, StartRequest
from arena.sandbox import engine as engine_module
from arena.sandbox.container import ContainerSandbox
from arena.sandbox.endpoint import find_endpoint
from arena.sandbox.engine import Engine
from arena.sandbox.owners import SocketFolder
from referee.results import Entrant, MatchSpec, TimeControl
from referee.variants import find_variant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.sandbox import RunningBot

pytestmark = [
    pytest.mark.docker,
    # The engine's client leaks the sockets of calls that it gave up.
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SLEEP = "import time; time.sleep(600)"
TIMEOUT = 20
"""Seconds after which a call is given up: more than a busy engine takes for one."""

SHORT_TIMEOUT = 10
LATE = 12.0
impatient = pytest.mark.parametrize("timeout", [SHORT_TIMEOUT])
PAUSES = (0.05, 0.1)


@dataclass
class Rule:
    """What happens to calls of one kind.

    Attributes:
        call: Pattern of the method and path.
        times: How often it happens.
        delay: Seconds before the engine is asked.
        status: What is answered in place of the engine, if not zero.
        lose: Whether the answer is lost after the engine did what it was asked.
    """

    call: str
    times: int = 99
    delay: float = 0.0
    status: int = 0
    lose: bool = False


@dataclass
class Proxy:
    """Stands between the engine and its client, and does to calls what its rules say."""

    folder: Path
    engine: str
    rules: list[Rule] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Listen."""
        self.path = self.folder / "e.sock"
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(self.path))
        self._server.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client = self._server.accept()[0]
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as engine:
            head = b""
            while b"\r\n\r\n" not in head:
                part = client.recv(1 << 16)
                if not part:
                    return
                head += part
            call = head.split(b" HTTP", 1)[0].decode()
            rule = self._rule(call)
            if rule.delay:
                time.sleep(rule.delay)
            if rule.status:
                body = b'{"message":"as the test wants it"}'
                client.sendall(
                    f"HTTP/1.1 {rule.status} No\r\nContent-Type: application/json\r\n"
                    f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
                    + body
                )
                return
            engine.connect(self.engine)
            if "/_ping" not in call:
                # One call a connection, so that each is seen here.
                head = head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
            engine.sendall(head)
            up = threading.Thread(target=_copy, args=(client, engine), daemon=True)
            up.start()
            if rule.lose:
                while engine.recv(1 << 16):
                    pass
                # To close it alone would leave the client waiting while the other thread reads.
                client.shutdown(socket.SHUT_RDWR)
            else:
                _copy(engine, client)

    def _rule(self, call: str) -> Rule:
        self.seen.append(call)
        for rule in self.rules:
            if rule.times and re.search(rule.call, call):
                rule.times -= 1
                return rule
        return Rule("")


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@pytest.fixture(scope="module")
def sleeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The image of a bot that sleeps."""
    folder = tmp_path_factory.mktemp("sleeper")
    (folder / "bot.py").write_text(SLEEP)
    image = image_of(folder)
    yield image
    forget_image(image)


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """A proxy before the engine of this machine."""
    engine = find_endpoint().address.removeprefix("unix://")
    monkeypatch.setattr(engine_module, "PAUSES", PAUSES)
    with tempfile.TemporaryDirectory(prefix="proxy-") as folder:
        proxy = Proxy(Path(folder), engine)
        yield proxy
        proxy.close()


@pytest.fixture
def timeout() -> int:
    """Seconds after which a call of a test is given up."""
    return TIMEOUT


@pytest.fixture
def box(
    proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, timeout: int
) -> Iterator[Box]:
    """The container backend behind the proxy; at the end nothing of the test is left."""
    with monkeypatch.context() as patch:
        patch.setenv("DOCKER_HOST", f"unix://{proxy.path}")
        engine = Engine.connect(timeout=timeout)
    box = Box(ContainerSandbox(engine), tmp_path)
    direct = Engine.connect()
    try:
        with box.stack:
            yield box
        for name, owner, _ in direct.bots():
            if owner == box.owner:
                direct.remove(name)
    finally:
        direct.close()
        engine.close()
        # What the client leaked is to be found here, where it is expected.
        gc.collect()


def start(box: Box, image: str) -> RunningBot:
    """Start a bot behind the proxy."""
    folder = SocketFolder.create(box.owner)
    box.stack.callback(folder.remove)
    request = StartRequest(
        source=BotSource(image=image),
        socket_dir=folder.path,
        owner=box.owner,
        attempt="attempt",
        seat=0,
    )
    return box.sandbox.start(request)


def left(box: Box) -> list[str]:
    """Return the containers of a test that still are there."""
    engine = Engine.connect()
    try:
        return [name for name, owner, _ in engine.bots() if owner == box.owner]
    finally:
        engine.close()


KILL = "POST .*/kill"
REMOVE = "DELETE .*/containers/"
CREATE = "POST .*/containers/create"
START = "POST .*/start"
INSPECT = "GET .*/containers/bura.*/json"


@pytest.mark.parametrize(
    "rule",
    [
        Rule(KILL, times=2, status=500),
        Rule(REMOVE, times=1, lose=True),
        Rule(INSPECT, times=2, status=503),
        *(
            pytest.param(rule, marks=pytest.mark.long)
            for rule in (
                Rule(KILL, times=1, lose=True),
                Rule(REMOVE, times=2, status=500),
                Rule(INSPECT, times=1, lose=True),
                Rule("/(create|start|kill|json)", delay=0.3),
            )
        ),
    ],
    ids=str,
)
def test_passing_troubles_cost_nothing(box: Box, proxy: Proxy, sleeper: str, rule: Rule) -> None:
    """A lost or failed answer or two change neither the report nor what is left."""
    proxy.rules.append(rule)
    report = start(box, sleeper).finish()
    assert report.exit is None
    assert report.leftover == ""
    assert left(box) == []
    assert any(re.search(rule.call, call) for call in proxy.seen)


@pytest.mark.long
@impatient
def test_late_answer_is_the_failure_of_the_engine(box: Box, proxy: Proxy, sleeper: str) -> None:
    """It is waited for once: nobody is blamed, nothing is left, and nobody asks again."""
    proxy.rules.append(Rule(KILL, times=1, delay=LATE))
    bot = start(box, sleeper)
    for _ in range(2):
        with pytest.raises(EngineLostError):
            bot.finish()
    assert left(box) == []
    assert len([one for one in proxy.seen if re.search(KILL, one)]) == 1


@pytest.mark.long
@impatient
def test_late_removal_costs_no_report(box: Box, proxy: Proxy, sleeper: str) -> None:
    """The container is named as one that may be left, and goes when the engine comes to it."""
    proxy.rules.append(Rule(REMOVE, times=1, delay=LATE))
    report = start(box, sleeper).finish()
    assert report.exit is None
    assert report.leftover != ""
    await_true(lambda: left(box) == [])


@pytest.mark.parametrize(
    ("rule", "timeout"),
    [
        (Rule(CREATE, lose=True), TIMEOUT),
        (Rule(START, lose=True), TIMEOUT),
        (Rule(INSPECT, status=500), TIMEOUT),
        pytest.param(Rule(CREATE, delay=LATE), SHORT_TIMEOUT, marks=pytest.mark.long),
        pytest.param(Rule(CREATE, status=500), TIMEOUT, marks=pytest.mark.long),
        pytest.param(Rule(START, status=500), TIMEOUT, marks=pytest.mark.long),
    ],
    ids=str,
)
def test_start_that_fails_blames_the_engine(
    box: Box, proxy: Proxy, sleeper: str, rule: Rule
) -> None:
    """Whether or not the engine did what it was asked, no bot is blamed and none runs on."""
    proxy.rules.append(rule)
    with pytest.raises(EngineLostError):
        start(box, sleeper)
    if rule.delay:
        # The call that was given up is still on its way.
        await_true(lambda: left(box) != [])
    box.sandbox.reap(box.owner, [])
    reaper = ContainerSandbox()
    with contextlib.suppress(EngineLostError):
        for name in left(box):
            reaper.engine.remove(name)
    reaper.engine.close()
    assert left(box) == []


@pytest.mark.long
@impatient
def test_container_that_is_made_too_late_goes_with_the_next_start(
    box: Box, proxy: Proxy, sleeper: str
) -> None:
    """What the engine makes after it was given up is not left until the process ends."""
    proxy.rules.append(Rule(CREATE, times=1, delay=LATE))
    with pytest.raises(EngineLostError):
        start(box, sleeper)
    await_true(lambda: len(left(box)) == 1)
    start(box, sleeper).finish()
    assert left(box) == []


@pytest.mark.parametrize("status", [404, 409])
@pytest.mark.parametrize("call", [KILL, REMOVE])
def test_what_the_engine_calls_gone_is_gone(
    box: Box, proxy: Proxy, sleeper: str, call: str, status: int
) -> None:
    """Told that there is nothing to kill or remove, the platform asks once and goes on."""
    bot = start(box, sleeper)
    direct = Engine.connect()
    direct.kill(left(box)[0])
    direct.close()
    await_exit(bot)
    proxy.rules.append(Rule(call, status=status))
    bot.kill()
    assert bot.finish().leftover == ""
    assert len([one for one in proxy.seen if re.search(call, one)]) <= 1


def test_removal_in_progress_for_ever_does_not_hold_up_the_match(
    box: Box, proxy: Proxy, sleeper: str
) -> None:
    """After three tries the container is given up and named; the report is there."""
    bot = start(box, sleeper)
    proxy.rules.append(Rule(REMOVE, status=500))
    report = bot.finish()
    assert report.exit is None
    assert [report.leftover] == left(box)
    assert len([one for one in proxy.seen if re.search(REMOVE, one)]) == 1 + len(PAUSES)


def test_lost_engine_never_means_an_exit(box: Box, proxy: Proxy, sleeper: str) -> None:
    """A bot that ended while the engine cannot be asked has no exit, not an invented one."""
    bot = start(box, sleeper)
    proxy.rules.append(Rule("", status=500))
    direct = Engine.connect()
    direct.kill(left(box)[0])
    direct.close()

    def is_lost() -> bool:
        try:
            return bot.poll() is not None
        except EngineLostError:
            return True

    await_true(is_lost)
    with pytest.raises(EngineLostError):
        bot.finish()


def test_names_are_new_each_time(box: Box, proxy: Proxy, sleeper: str) -> None:
    """A name that the engine still holds is never asked for twice, not even after a conflict."""
    proxy.rules.append(Rule(CREATE, times=1, status=409))
    with pytest.raises(EngineLostError):
        start(box, sleeper)
    start(box, sleeper).finish()
    names = [call.partition("name=")[2] for call in proxy.seen if re.search(CREATE, call)]
    assert len(set(names)) == len(names) == 2
    assert all(engine_module.NAME.fullmatch(name) for name in names)


LOOPS = int(os.environ.get("BURA_LOOPS", "300"))
FIRST = """\
import burabot
burabot.play(lambda turn: 0, name="first", version="1")
"""


@pytest.fixture
def sockets(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the sockets of a test lie, and nobody else's."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short_folder))
    return short_folder


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_hundreds_of_matches_leave_nothing(tmp_path: Path, sockets: Path) -> None:
    """Containers, networks, volumes, sockets, descriptors and threads are as many as before.

    Others may make networks and volumes at the same engine: those of the arena's name count. A
    match of robber is played in one leg, so that there are as many legs as matches.
    """
    (tmp_path / "bot.py").write_text(FIRST)
    image = image_of(tmp_path)
    owner = f"loop-{os.getpid()}-of-the-arena"
    description = MatchDescription(
        spec=MatchSpec(
            variant="bura",
            rules=replace(find_variant("bura"), robber_target=3),
            seats=2,
            decks=1,
            match_format="robber",
            seed=bytes(range(32)),
            entrants=(Entrant("one"), Entrant("other")),
            time_control=TimeControl(move_time_ms=20_000, startup_ms=60_000),
        ),
        bots=(BotSource(image=image),) * 2,
        positions=(0, 1),
        sandbox="container",
        home=tmp_path / "home",
        folder="cup/1/1",
        owner=owner,
    )
    counts = []
    for number in range(LOOPS):
        outcome = attempt(description, lambda: None)
        assert isinstance(outcome, Played), outcome
        if number in {LOOPS // 10, LOOPS - 1}:
            counts.append(_count(owner))
    forget_image(image)
    assert list(sockets.iterdir()) == []
    first, last = counts
    assert last["containers"] == 0
    assert last["networks"] == last["volumes"] == 0
    assert last["descriptors"] <= first["descriptors"] + 2
    assert last["threads"] <= first["threads"] + 2


def _count(owner: str) -> dict[str, int]:
    gc.collect()
    client = docker.from_env()
    try:
        volumes = sum(map(is_ours, client.api.volumes()["Volumes"] or ()))
        networks = sum(map(is_ours, client.api.networks()))
    finally:
        client.close()
    engine = Engine.connect()
    containers = sum(its == owner for _, its, _ in engine.bots())
    engine.close()
    return {
        "containers": containers,
        "networks": networks,
        "volumes": volumes,
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
    }
