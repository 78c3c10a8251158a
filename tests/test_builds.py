"""What the steps of a build may use, and whom they can reach."""

from __future__ import annotations

import contextlib
import json
import socket
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

import docker
import pytest
from sandboxes import forget_image, image_of, is_ours

from arena.cli import main
from arena.errors import RefusedError
from arena.sandbox import ImageRefusedError, images
from arena.sandbox.builds import (
    PROXIES,
    build_memory,
    build_network,
    evades,
    proxy_arguments,
    was_killed,
)
from arena.sandbox.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GIBI = 1 << 30
MEMORY = 64 << 20
ONLY_LO = "assert [name for _, name in socket.if_nameindex()] == ['lo']"
# What a step sees of its own limits, whichever version of control groups there is.
SHOW_LIMITS = """\
RUN cd /sys/fs/cgroup; \
 cat memory/memory.limit_in_bytes memory.max 2>/dev/null | sed 's/^/memory /'; \
 cat memory/memory.memsw.limit_in_bytes memory.swap.max 2>/dev/null | sed 's/^/swap /'; \
 cat cpu/cpu.shares cpu.weight 2>/dev/null | sed 's/^/shares /'; \
 df -k /dev/shm | sed 's/^/shm /'; exit 3
"""
SERVE = """\
import socket
with socket.create_server(("", 8080)) as server:
    while True:
        server.accept()[0].close()
"""
# A server may still be starting; what is not to be reached is asked for once.
REACH = """\
import socket, time
def reaches(host, port):
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True
def awaits(host, port):
    until = time.monotonic() + 60
    while not reaches(host, port):
        assert time.monotonic() < until, (host, port)
        time.sleep(0.1)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a bot whose program does not matter."""
    (tmp_path / "bot.py").write_text("print(1)")
    return tmp_path


@pytest.fixture
def client() -> Iterator[docker.DockerClient]:
    """The client of this machine's engine."""
    client = docker.from_env()
    yield client
    client.close()


@pytest.fixture
def engine() -> Iterator[Engine]:
    """The engine of this machine."""
    engine = Engine.connect()
    yield engine
    engine.close()


@dataclass(frozen=True, slots=True)
class Inside:
    """A network without a way out, with one server on it.

    Attributes:
        network: Name of the network.
        server: Name of the server on it.
        gateway: Where the machine would be in it.
    """

    network: str
    server: str
    gateway: str


@dataclass(frozen=True, slots=True)
class Outside:
    """The addresses of a server in the default network, and of the machine in it."""

    address: str
    gateway: str


@pytest.fixture
def inside(client: docker.DockerClient) -> Iterator[Inside]:
    """The network that docs/security.md tells organisers to make."""
    name = f"build-test-{uuid.uuid4().hex}"
    options = {"com.docker.network.bridge.inhibit_ipv4": "true"}
    network = client.networks.create(name, driver="bridge", internal=True, options=options)
    try:
        with _serving(client, name) as server:
            network.reload()
            gateway = network.attrs["IPAM"]["Config"][0]["Gateway"]
            yield Inside(name, server, gateway)
    finally:
        network.remove()


@pytest.fixture
def outsider(client: docker.DockerClient) -> Iterator[Outside]:
    """A server in the default network."""
    with _serving(client, "bridge") as name:
        settings = client.api.inspect_container(name)["NetworkSettings"]
        found = settings["Networks"]["bridge"]
        yield Outside(found["IPAddress"], found["Gateway"])


@contextlib.contextmanager
def _serving(client: docker.DockerClient, network: str) -> Iterator[str]:
    name = f"build-test-{uuid.uuid4().hex}"
    image = images.python_bot_image().id
    command = ["python", "-c", SERVE]
    container = client.containers.create(image, command, name=name, network=network)
    try:
        container.start()
        yield name
    finally:
        container.remove(force=True)


def _build(folder: Path, code: str, network: str | None = None) -> None:
    """Build an image with a step that runs Python code, and forget the image."""
    (folder / "step.py").write_text(f"import os, socket\n{code}\n")
    extra = "COPY step.py /bot/step.py\nRUN python /bot/step.py"
    forget_image(image_of(folder, extra=extra, network=network))


@pytest.mark.docker
def test_limits_are_in_force_in_a_step(folder: Path) -> None:
    """The kernel shows a step its limits of memory, swap, cores and shared memory."""
    with pytest.raises(ImageRefusedError) as caught:
        image_of(folder, extra=SHOW_LIMITS, memory=MEMORY)
    seen = [line.split() for line in caught.value.message.splitlines()]
    assert ["memory", str(MEMORY)] in seen
    # Version 1 counts memory in, and where swap is not counted it shows nothing.
    assert [words[1] for words in seen if words[0] == "swap"] in ([], ["0"], [str(MEMORY)])
    assert next(words[1] for words in seen if words[0] == "shares") in {"1", "2"}
    assert ["shm", "shm", "16384"] in [words[:3] for words in seen]


@pytest.mark.docker
def test_limit_of_memory_is_what_the_machine_can_spare(folder: Path, engine: Engine) -> None:
    """Without a limit given a step has the usual one, and never all that the machine has."""
    memory = build_memory(engine.memory())
    with pytest.raises(ImageRefusedError, match=rf"memory {memory}\b"):
        image_of(folder, extra=SHOW_LIMITS)


def test_limit_of_memory_leaves_half_of_a_small_machine() -> None:
    """A machine with little memory keeps half of it for others."""
    assert build_memory(32 * GIBI) == 4 * GIBI
    assert build_memory(2 * GIBI) == GIBI


@pytest.mark.docker
def test_step_that_wants_too_much_memory_is_told_so(
    folder: Path, client: docker.DockerClient
) -> None:
    """The first line of the error says what was exceeded and what to do."""
    if not client.info()["SwapLimit"]:
        pytest.skip("swap is not counted here, and may take what is too much")
    extra = f'RUN python -c "bytearray({4 * MEMORY})"'
    with pytest.raises(ImageRefusedError) as caught:
        image_of(folder, extra=extra, memory=MEMORY)
    first = caught.value.message.splitlines()[0]
    assert "more than 64 MiB of memory; let it want less" in first


@pytest.mark.parametrize(
    ("code", "text", "killed"),
    [
        (137, "", True),
        (1, "c++: fatal error: Killed signal terminated program cc1plus", True),
        (101, "process didn't exit successfully: `rustc` (signal: 9, SIGKILL: kill)", True),
        (1, "runtime: /usr/lib/go/pkg/tool/compile: signal: killed", True),
        (4, "g++: internal compiler error: Killed (program cc1plus)", True),
        (1, "error: Killed is not declared", False),
        (None, "", False),
    ],
)
def test_killed_steps_are_told_apart(code: int | None, text: str, killed: bool) -> None:  # noqa: FBT001 - a parameter
    """A step was killed if it, or a compiler in it, says so."""
    line = {"errorDetail": {} if code is None else {"code": code}}
    assert was_killed(line, [text]) is killed


@pytest.mark.docker
def test_network_none_leaves_a_step_alone(folder: Path) -> None:
    """In no network there is only a step's own loopback, and in the default one there is more."""
    _build(folder, ONLY_LO, "none")
    with pytest.raises(ImageRefusedError, match="AssertionError"):
        _build(folder, ONLY_LO, "default")


@pytest.mark.docker
def test_environment_names_the_network(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no network is given, the environment's is used."""
    monkeypatch.setenv("ARENA_BUILD_NETWORK", "none")
    _build(folder, ONLY_LO)


def test_given_network_comes_before_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is given counts, then the environment, then the default."""
    monkeypatch.delenv("ARENA_BUILD_NETWORK", raising=False)
    assert build_network() == "default"
    monkeypatch.setenv("ARENA_BUILD_NETWORK", "inside")
    assert build_network() == "inside"
    assert build_network("none") == "none"


@pytest.mark.docker
def test_named_network_reaches_only_what_is_on_it(
    folder: Path, inside: Inside, outsider: Outside
) -> None:
    """A step in an internal network reaches the server there, and neither others nor the machine.

    In the default network the other server and the machine are reached.
    """
    with socket.create_server(("", 0)) as machine:
        port = machine.getsockname()[1]
        try:
            _build(folder, f"{REACH}assert reaches({outsider.gateway!r}, {port})", "default")
        except ImageRefusedError:
            pytest.skip("containers do not reach this machine in the default network either")
        _build(
            folder,
            f"{REACH}awaits({inside.server!r}, 8080)\n"
            f"assert not reaches({outsider.address!r}, 8080)\n"
            f"assert not reaches({inside.gateway!r}, {port})",
            inside.network,
        )
    _build(folder, f"{REACH}awaits({outsider.address!r}, 8080)", "default")


@pytest.mark.docker
@pytest.mark.parametrize("name", ["no-such-network", "", "container:x", "a\nb", "../networks"])
def test_unknown_network_is_refused_before_anything_is_built(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network that the engine does not have ends in one line."""
    monkeypatch.setattr(Engine, "build", lambda *_, **__: pytest.fail("something was built"))
    with pytest.raises(RefusedError, match=r"there is no network .*docker network ls") as caught:
        image_of(folder, network=name)
    assert "\n" not in str(caught.value)


@pytest.mark.docker
def test_beginning_of_an_id_is_no_name_of_a_network(
    client: docker.DockerClient, engine: Engine
) -> None:
    """A network is meant by its whole name only."""
    bridge = client.api.inspect_network("bridge")["Id"]
    assert engine.has_network("bridge")
    assert not engine.has_network(bridge[:12])
    assert not engine.has_network("bridg")


@pytest.mark.docker
def test_proxies_reach_steps_and_stay_out_of_the_image(
    folder: Path, client: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a network that is named, steps are told the organiser's proxies, and the image is not."""
    marker = uuid.uuid4().hex
    for name in PROXIES:
        monkeypatch.setenv(name, f"http://{marker}.{name}:3128")
    tests = [f'test "${name}" = http://{marker}.{name}:3128' for name in PROXIES]
    # The steps of an image are told in its history, so they must not name the proxies outright.
    (folder / "step.sh").write_text(" && ".join(tests))
    image = image_of(folder, extra="COPY step.sh /step.sh\nRUN sh -e /step.sh", network="bridge")
    told = [client.api.inspect_image(image), client.api.history(image)]
    forget_image(image)
    assert marker not in json.dumps(told)


@pytest.mark.docker
def test_proxies_do_not_reach_steps_in_the_default_network(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is told to steps that did not ask for it, unless a network is named."""
    for name in PROXIES:
        monkeypatch.setenv(name, "http://proxy:3128")
    _build(folder, f"assert not set(os.environ) & set({PROXIES!r})", "default")


@pytest.mark.parametrize(
    ("lines", "adds"),
    [
        ("ADD http://127.0.0.1/ /x", True),
        ("  add\t$WHERE /x", True),
        ('ADD ["http://x/", "/x"]', True),
        ("ONBUILD ADD http://x/ /x", True),
        ("ON\\\nBUILD \\\n ADD http://x/ /x", True),
        ("A\\\n# a comment\n\nD\\ \nD http://x/ /x", True),
        ("A\\\n\x0c\nDD http://x/ /x", True),
        ("A\\\n\u00a0\nDD http://x/ /x", True),
        ("A\\\n\x0b# a comment\nDD http://x/ /x", True),
        ("A\\\r\nDD http://x/ /x\r", True),
        ("RUN true \\\\\nADD http://x/ /x", True),
        ("A\\\\\nDD http://x/ /x", False),
        ("ONBU\u0130LD ADD http://x/ /x", True),
        ("RUN apk --no-cache \\\n    add curl", False),
        ("RUN git \\\n  # a comment\n  add .", False),
        ("ADD\\\n http://x/ /x", True),
        ("RUN true \\ \n  # a comment\nADD http://x/ /x", False),
        ("# escape=`\nA`\nDD http://x/ /x", True),
        ("# escape=`\nRUN true \\\nADD http://x/ /x", True),
        ("RUN apk add curl", False),
        ("\n" * 1_000_000, False),
        ("COPY ADD /x\n# ADD http://x/ /x\nENV ADD=1", False),
        ("RUN ./ADD\nADDRESS", False),
    ],
)
def test_what_the_engine_would_fetch_itself_is_noticed(lines: str, adds: bool) -> None:  # noqa: FBT001 - a parameter
    """ADD is found however it is written, and nothing else is taken for it."""
    text = f"{lines}\n"
    assert evades(text, "none") is evades(text, "inside") is adds
    assert not evades(text, "default")


def test_add_is_refused_where_a_network_was_chosen(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the engine fetches is in no network of the steps, so that is said before it is."""
    monkeypatch.setattr(Engine, "connect", lambda: pytest.fail("the engine was asked"))
    with pytest.raises(ImageRefusedError, match=r"uses ADD.*use COPY") as caught:
        image_of(folder, extra="ADD http://127.0.0.1/ /x", network="none")
    assert "\n" not in str(caught.value)


def test_only_proxies_that_are_set_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the environment lacks, or where it would lead nowhere, is left out."""
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "")
    assert proxy_arguments("inside") == {"HTTPS_PROXY": "http://proxy:3128"}
    assert proxy_arguments("none") == proxy_arguments("default") == {}


def test_network_for_what_is_not_built_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An image and a process are not built, so no network can be given for that."""
    home = ["--build-network", "none", "--home", str(folder / "home")]
    assert main(["bot", "submit", "anna", "anna:1", *home]) == 2
    assert main(["bot", "submit", "anna", str(folder), "--sandbox", "process", *home]) == 2
    assert capsys.readouterr().err.count("is no folder to be built; leave --build-net") == 2
    assert not (folder / "home").exists()


@pytest.mark.docker
def test_network_of_the_command_line_reaches_the_build(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--build-network` is heeded: one that is not there ends the command in one line."""
    (folder / "Dockerfile").write_text("FROM bura-python-bot\n")
    home = ["--home", str(folder / "home")]
    assert main(["bot", "submit", "anna", str(folder), "--build-network", "nowhere", *home]) == 2
    errors = capsys.readouterr().err.splitlines()
    (line,) = errors
    assert "there is no network 'nowhere'" in line


@pytest.mark.parametrize(
    ("thing", "ours"),
    [
        ({"Name": "bura-match-1", "Labels": {}}, True),
        ({"Name": "x", "Labels": {"bura-arena.owner": "y"}}, True),
        ({"Name": "build-test-1", "Labels": {"z": "w"}}, False),
        ({"Name": "bridge", "Labels": None}, False),
    ],
)
def test_networks_that_others_make_are_not_the_arenas(thing: dict[str, object], ours: bool) -> None:  # noqa: FBT001 - a parameter
    """What tests compare after a match is what bears a name or a label of the arena's."""
    assert is_ours(thing) is ours
