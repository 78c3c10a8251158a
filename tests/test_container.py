"""What a container must hold against a hostile bot, and what the engine may do to us."""

from __future__ import annotations

import json
import os
import platform
import re
import socket
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import requests
import urllib3
from docker.errors import APIError, NotFound
from sandboxes import Box, await_exit, forget_image, image_of, make_box

from arena.sandbox import (
    BotSource,
    EngineLostError,
    EngineMissingError,
    ImageMissingError,
    ImageRefusedError,
    Limits,
    LimitsMissingError,
)
from arena.sandbox import container as container_module
from arena.sandbox import engine as engine_module
from arena.sandbox import session as session_module
from arena.sandbox.cgroups import Cgroup, Usage
from arena.sandbox.confinement import (
    MASKED_PATHS,
    host_config,
    missing_in_kernel,
    missing_settings,
    new_user,
    seccomp_profile,
)
from arena.sandbox.container import ContainerSandbox
from arena.sandbox.engine import Engine
from arena.sandbox.owners import SocketFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from arena.sandbox import RunningBot

MEBI = 1 << 20
SLEEP = "import time; time.sleep(600)"


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    """The container backend."""
    box = make_box("container", tmp_path)
    with box.stack:
        yield box


@pytest.mark.docker
def test_there_is_no_network(box: Box) -> None:
    """A bot sees its loopback only, and has no sockets for any address."""
    log = box.output("""
        import socket
        print([line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]])
        for address in ("198.51.100.1", "169.254.169.254"):
            try:
                socket.create_connection((address, 80), timeout=5)
            except OSError as error:
                print(error.errno)
        try:
            socket.getaddrinfo("localhost.example", 80)
        except OSError as error:
            print("no names")
    """)
    # 97: address family not supported.
    assert log == "['lo']\n97\n97\nno names\n"


@pytest.mark.docker
def test_only_tmp_can_be_written_and_not_much(box: Box) -> None:
    """The root is read-only, /tmp is small in bytes and in files and holds no programs."""
    log = box.output(
        """
        import errno, os
        written = []
        for root, folders, _ in os.walk("/"):
            folders[:] = [one for one in folders if one != "proc"]
            try:
                with open(root + "/probe", "w"):
                    written.append(root)
            except OSError:
                pass
        print(written)
        def fill():
            with open("/tmp/block", "wb") as file:
                while True:
                    file.write(bytes(1 << 20))
        def crowd():
            for number in range(10000):
                open(f"/tmp/{number}", "w").close()
        for attempt in (fill, crowd):
            try:
                attempt()
            except OSError as error:
                print(errno.errorcode[error.errno])
            for name in os.listdir("/tmp"):
                os.unlink("/tmp/" + name)
        with open("/tmp/program", "w") as file:
            file.write("#!/bin/sh\\n")
        os.chmod("/tmp/program", 0o755)
        try:
            os.execv("/tmp/program", ["program"])
        except OSError as error:
            print(errno.errorcode[error.errno])
        """,
        limits=Limits(tmpfs=4 * MEBI),
    )
    assert log == "['/tmp']\nENOSPC\nENOSPC\nEACCES\n"


@pytest.mark.docker
def test_programs_in_tmp_are_an_option(box: Box) -> None:
    """A bot whose compiler needs it may be allowed to run what it wrote."""
    log = box.output(
        """
        import os
        with open("/tmp/program", "w") as file:
            file.write("#!/bin/sh\\necho ran\\n")
        os.chmod("/tmp/program", 0o755)
        os.execv("/tmp/program", ["program"])
        """,
        limits=Limits(exec_tmp=True),
    )
    assert log == "ran\n"


@pytest.mark.docker
def test_bot_is_nobody_and_can_become_nobody_else(box: Box) -> None:
    """A bot has no user, no capability and no way to gain one, whatever its image says."""
    log = box.output("""
        import os
        print(os.getuid() >= 1024, os.getgid(), set(os.getgroups()) <= {65534})
        for line in open("/proc/self/status"):
            if line.startswith(("CapPrm", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp:")):
                print(line.split()[0], int(line.split()[1], 16))
        try:
            os.setuid(0)
        except PermissionError:
            print("refused")
    """)
    assert log.split("\n") == [
        "True 65534 True",
        "CapPrm: 0",
        "CapEff: 0",
        "CapBnd: 0",
        "NoNewPrivs: 1",
        "Seccomp: 2",
        "refused",
        "",
    ]


LONGER = 1 << 32
# By name: the call's number on x86-64 and on arm64, its arguments, and the error it must give.
CALLS = {
    "ptrace": (101, 117, (16, 1, 0, 0), 1),
    "process_vm_readv": (310, 270, (1, 0, 0, 0, 0, 0), 1),
    "process_vm_writev": (311, 271, (1, 0, 0, 0, 0, 0), 1),
    "kcmp": (312, 272, (1, 1, 0, 0, 0), 1),
    "pidfd_getfd": (438, 438, (0, 0, 0), 1),
    "mount": (165, 40, (0, 0, 0, 0, 0), 1),
    "umount2": (166, 39, (0, 0), 1),
    "pivot_root": (155, 41, (0, 0), 1),
    "chroot": (161, 51, (0,), 1),
    "unshare": (272, 97, (0x10000000,), 1),
    "setns": (308, 268, (0, 0), 1),
    "clone with a new namespace": (56, 220, (0x10000011, 0, 0, 0, 0), 1),
    "clone3": (435, 435, (0, 0), 38),
    "bpf": (321, 280, (0, 0, 0), 1),
    "perf_event_open": (298, 241, (0, 0, -1, -1, 0), 1),
    "userfaultfd": (323, 282, (0,), 1),
    "io_uring_setup": (425, 425, (8, 0), 38),
    "keyctl": (250, 219, (0, 0, 0, 0, 0), 1),
    "add_key": (248, 217, (0, 0, 0, 0, 0), 1),
    "request_key": (249, 218, (0, 0, 0, 0), 1),
    "shmget": (29, 194, (0, 4096, 0o1600), 1),
    "msgget": (68, 186, (0, 0o1600), 1),
    "semget": (64, 190, (0, 1, 0o1600), 1),
    "mq_open": (240, 180, (0, 0o102, 0o600, 0), 1),
    "personality": (135, 92, (0x0040000,), 1),
    "sysinfo": (99, 179, (0,), 38),
    "kexec_load": (246, 104, (0, 0, 0, 0), 1),
    "init_module": (175, 105, (0, 0, 0), 1),
    "open_by_handle_at": (304, 265, (0, 0, 0), 1),
    "swapon": (167, 224, (0, 0), 1),
    "reboot": (169, 142, (0, 0, 0, 0), 1),
    "settimeofday": (164, 170, (0, 0), 1),
    "socket of netlink": (41, 198, (16, 3, 0), 1),
    "socket of packets": (41, 198, (17, 3, 0), 1),
    "socket of vsock": (41, 198, (40, 1, 0), 1),
    "socket of alg": (41, 198, (38, 5, 0), 1),
    "socket of xdp": (41, 198, (44, 3, 0), 1),
    # 97: address family not supported.
    "raw socket": (41, 198, (2, 3, 1), 97),
    "socket of IPv4": (41, 198, (2, 1, 0), 97),
    "socket of IPv6": (41, 198, (10, 2, 0), 97),
    # The kernel reads the lower half of these words only.
    "fadvise64 that drops pages": (221, 223, (0, 0, 0, 4), 1),
    "fadvise64 that drops pages, in a longer word": (221, 223, (0, 0, 0, LONGER | 4), 1),
    "madvise that shares pages": (28, 233, (0, 0, 12), 1),
    "madvise that shares pages, in a longer word": (28, 233, (0, 0, LONGER | 12), 1),
    "prctl that shares pages": (157, 167, (67, 1, 0, 0, 0), 1),
    "prctl that stops the other thread of a core": (157, 167, (62, 1, 0, 1, 0), 1),
    "prctl in a longer word": (157, 167, (LONGER | 62, 1, 0, 1, 0), 1),
    "mmap of huge pages": (9, 222, (0, 2 << 20, 3, 0x40022, -1, 0), 1),
    "memfd_create of huge pages": (319, 279, (0, 4), 1),
    # Descriptor -1 would be an error if anything were done.
    "fsync": (74, 82, (-1,), "returned 0"),
    "fdatasync": (75, 83, (-1,), "returned 0"),
    "syncfs": (306, 267, (-1,), "returned 0"),
    "sync_file_range": (277, 84, (-1, 0, 0, 0), "returned 0"),
    "msync that writes": (26, 227, (0, 1 << 40, 4), "returned 0"),
}


@pytest.mark.docker
def test_system_calls_that_lead_out_are_refused(box: Box) -> None:
    """Each call by which bots could reach each other or the kernel fails as it should."""
    column = {"x86_64": 0, "aarch64": 1}.get(platform.machine())
    if column is None:
        pytest.skip(f"no call numbers for {platform.machine()}")
    calls = {name: (row[column], row[2]) for name, row in CALLS.items()}
    log = box.output(f"""
        import ctypes, json
        libc = ctypes.CDLL(None, use_errno=True)
        answers = {{}}
        for name, (number, arguments) in json.loads({json.dumps(json.dumps(calls))}).items():
            ctypes.set_errno(0)
            found = libc.syscall(number, *(ctypes.c_long(one) for one in arguments))
            answers[name] = ctypes.get_errno() if found == -1 else f"returned {{found}}"
        print(json.dumps(answers))
    """)
    assert json.loads(log) == {name: row[3] for name, row in CALLS.items()}


@pytest.mark.docker
def test_what_runtimes_need_is_allowed(box: Box) -> None:
    """Threads, children, pipes, sockets, polling, timers and memory maps work."""
    log = box.output("""
        import asyncio, mmap, os, socket, sqlite3, subprocess, threading, time
        thread = threading.Thread(target=print, args=("thread",), kwargs={"flush": True})
        thread.start(); thread.join()
        print(subprocess.run(["python3", "-c", "print(7)"], capture_output=True).stdout)
        one, other = socket.socketpair()
        one.sendall(b"pair"); print(other.recv(4))
        server = socket.socket(socket.AF_UNIX); server.bind("/tmp/its.sock"); server.listen()
        socket.socket(socket.AF_UNIX).connect("/tmp/its.sock"); print("unix")
        with sqlite3.connect("/tmp/its.db") as base: base.execute("CREATE TABLE t (x)")
        asyncio.run(asyncio.sleep(0.01)); print("epoll")
        mmap.mmap(-1, 4096).close(); print("mmap")
        print(os.cpu_count() >= 1, os.memfd_create("x") > 0, len(os.urandom(8)))
    """)
    assert log.split("\n") == [
        *("thread", "b'7\\n'", "b'pair'", "unix", "epoll", "mmap", "True True 8", ""),
    ]


@pytest.mark.docker
def test_load_of_the_machine_is_hidden(box: Box) -> None:
    """Nothing that tells how busy the machine is can be read."""
    log = box.output(f"""
        import os
        for path in {MASKED_PATHS!r}:
            try:
                found = os.listdir(path) if os.path.isdir(path) else open(path).read()
            except (FileNotFoundError, PermissionError):
                continue
            if found:
                print(path, found[:80])
        print("looked")
    """)
    assert log == "looked\n"


@pytest.mark.docker
def test_nothing_tells_where_the_bot_is(box: Box) -> None:
    """Neither names of the machine nor of the match, nor its resolver, can be read inside."""
    log = box.output("""
        import os, socket
        print(socket.gethostname(), os.environ)
        for path in ("/proc/self/mountinfo", "/proc/self/cgroup", "/etc/hosts", "/etc/resolv.conf",
                     "/etc/hostname", "/proc/self/environ", "/proc/1/cmdline"):
            print(open(path).read())
        for path in ("/tmp", "/"):
            print(os.listdir(path))
        try:
            print(os.listdir("/run/arena"))
        except PermissionError:
            print("closed")
    """)
    assert log.startswith("bot ")
    assert log.endswith("closed\n")
    for secret in (box.owner, "attempt", "seat"):
        assert secret not in log
    servers = re.findall(r"nameserver (\S+)", log)
    assert servers in ([], ["127.0.0.1"])


@pytest.mark.docker
def test_socket_folder_cannot_be_changed(box: Box) -> None:
    """A bot can neither plant a file nor take the socket's place."""
    log = box.output("""
        import errno, os, socket
        for attempt in (
            lambda: open("/run/arena/x", "w"),
            lambda: os.unlink("/run/arena/referee.sock"),
            lambda: os.chmod("/run/arena", 0o777),
            lambda: socket.socket(socket.AF_UNIX).bind("/run/arena/mine"),
        ):
            try:
                attempt()
                print("done")
            except OSError as error:
                print(errno.errorcode[error.errno])
    """)
    assert set(log.split()) <= {"EROFS", "EACCES", "EPERM", "ENOENT"}


@pytest.mark.docker
def test_pids_are_bounded(box: Box) -> None:
    """No more processes than allowed can be made; the container's first one counts too."""
    log = box.output(
        """
        import os, time
        children = 0
        try:
            while True:
                if os.fork() == 0:
                    time.sleep(600)
                children += 1
        except BlockingIOError:
            print(children)
        """,
        limits=Limits(pids=20),
    )
    assert 10 <= int(log) < 20


@pytest.mark.docker
@pytest.mark.parametrize(
    ("extra", "reason"),
    [
        ("VOLUME /data", "VOLUME /data"),
        ("LABEL bura-arena.owner=somebody", "bura-arena.owner"),
    ],
)
def test_images_that_ask_for_more_are_refused(box: Box, extra: str, reason: str) -> None:
    """An image cannot get itself writable folders, nor labels that the reaper trusts."""
    folder = box.folder / "image"
    folder.mkdir()
    (folder / "bot.py").write_text(SLEEP)
    with pytest.raises(ImageRefusedError, match=reason):
        image_of(folder, extra=extra)


@pytest.mark.docker
def test_image_settings_do_not_weaken_the_container(box: Box) -> None:
    """USER root, a health check and a stop signal of the image play no part."""
    folder = box.folder / "image"
    folder.mkdir()
    (folder / "bot.py").write_text("import os, time; print(os.getuid()); time.sleep(1.5)")
    image = image_of(
        folder, extra="USER root\nHEALTHCHECK --interval=1s CMD echo ill\nSTOPSIGNAL SIGCONT"
    )
    box.stack.callback(forget_image, image)
    sockets = SocketFolder.create(box.owner)
    box.stack.callback(sockets.remove)
    request = replace(box.request(SLEEP, sockets), source=BotSource(image=image))
    with box.sandbox.start(request) as bot:
        found = _inspected(box, bot)
        assert found["Config"]["Healthcheck"]["Test"] == ["NONE"]
        assert "Health" not in found["State"]
        await_exit(bot)
        assert int(bot.finish().log) >= 1024


@pytest.mark.docker
def test_only_ids_are_run(box: Box) -> None:
    """A name could be moved under a running tournament, so names are refused."""
    with pytest.raises(ImageRefusedError, match="not an image id"):
        box.sandbox.prepare(BotSource(image="bura-python-bot"))


@pytest.mark.docker
def test_image_that_is_not_here_is_nobodys_fault(box: Box) -> None:
    """A missing image is a failure of this machine, not of the bot."""
    with pytest.raises(ImageMissingError):
        box.sandbox.prepare(BotSource(image="sha256:" + "0" * 64))


@pytest.mark.parametrize(
    "reason",
    [
        "lstat /var/lib/docker/overlay2/1f/merged: not a directory",
        "mkdir /var/lib/docker/overlay2/1f/merged: no such file or directory",
        "mkdir /var/lib/docker/rootfs/overlayfs/" + "a" * 64 + ": not a directory",
        "open /var/lib/docker/containers/1f/hosts: not a directory",
        'error mounting "/run/s" to rootfs at "/run/arena": /srv/merged/run: input/output error',
        "mkdir /sys/fs/cgroup/docker/1f: too many levels of symbolic links",
    ],
)
def test_trouble_of_an_engine_is_not_a_bots(reason: str) -> None:
    """Only what an engine says of places inside a container can be the image's fault."""
    assert not container_module.BOT_CANNOT_START.search(reason)


@pytest.mark.parametrize(
    "reason",
    [
        "lstat /var/lib/docker/overlay2/1f/merged/etc/x/y: not a directory",
        "mkdir /var/lib/docker/rootfs/overlayfs/" + "a" * 64 + "/etc/x/y: not a directory",
        "evalSymlinksInScope: too many links in /var/lib/docker/overlay2/1f/merged/a/b",
    ],
)
def test_places_inside_a_container_are_the_images(reason: str) -> None:
    """What cannot be a folder inside a container was made so by its image."""
    assert container_module.BOT_CANNOT_START.search(reason)
    told = container_module.ON_THIS_MACHINE.sub("", reason)
    assert "/var/lib" not in told
    assert re.search(r" /(etc/x/y|a/b)", told)


@pytest.mark.docker
def test_container_removed_by_somebody_is_an_engine_failure(box: Box) -> None:
    """No exit is invented for a bot whose container vanished."""
    bot = box.start(SLEEP)
    _engine(box).remove(_name(bot))
    with pytest.raises(EngineLostError, match="removed by somebody else"):
        bot.finish()


@pytest.mark.docker
def test_restart_of_the_engine_is_no_crash(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exit that was seen after the engine went away blames nobody."""
    bot = box.start("raise SystemExit(255)")
    monkeypatch.setattr(session_module.Session, "is_alive", lambda _: False)
    with pytest.raises(EngineLostError, match="restarted"):
        await_exit(bot)
    monkeypatch.undo()


@pytest.mark.docker
def test_engine_that_is_shutting_down_is_no_crash(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that takes no new calls may have ended the bot itself."""
    bot = box.start("raise SystemExit(143)")

    def refuse(_: str) -> socket.socket:
        raise ConnectionRefusedError

    monkeypatch.setattr(session_module, "ping", refuse)
    with pytest.raises(EngineLostError, match="restarted"):
        await_exit(bot)
    monkeypatch.undo()


@pytest.mark.docker
def test_twenty_bots_leave_nothing(box: Box) -> None:
    """Starting and ending bots in a row keeps no container, no folder and no connection."""
    folder = SocketFolder.create(box.owner)
    box.stack.callback(folder.remove)
    request = box.request(SLEEP, folder)
    counts = []
    for _ in range(20):
        with box.sandbox.start(request):
            pass
        counts.append(len(list(Path("/proc/self/fd").iterdir())))
    # The engine's client keeps up to 25 idle connections.
    assert counts[-1] <= counts[9] + 2
    assert box.owner not in {owner for _, owner, _ in _engine(box).bots()}


def test_no_engine_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an engine the error is one line with a way out."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/socket")
    with pytest.raises(EngineMissingError) as caught:
        Engine.connect()
    assert "\n" not in str(caught.value)
    assert "start it" in caught.value.hint
    assert caught.value.exit_code == 3


class FakeApi:
    """An engine's client that fails as it is told to."""

    base_url = "http+docker://localhost"

    def __init__(self, error: Exception, times: int = 99) -> None:
        self.error = error
        self.times = times
        self.calls = 0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*_: Any, **__: Any) -> Any:
            if name != "close":
                self.calls += 1
                if self.calls <= self.times:
                    raise self.error
            return None

        return call


def _api_error(status: int, kind: type[APIError] = APIError) -> APIError:
    response = requests.Response()
    response.status_code = status
    return kind("no", response=response, explanation="no")


LATE = [
    requests.exceptions.ReadTimeout(),
    # An answer whose end does not come.
    requests.exceptions.ConnectionError(
        urllib3.exceptions.ReadTimeoutError(None, "/", "read timed out")  # type: ignore[arg-type]
    ),
]
FAILURES = [
    requests.exceptions.ConnectionError(),
    requests.exceptions.ChunkedEncodingError(),
    urllib3.exceptions.ProtocolError(),
    ConnectionResetError(),
    _api_error(500),
    _api_error(503),
]


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("call", ["kill", "remove", "inspect", "output"])
def test_engine_failures_are_told_as_one(
    call: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However the engine fails, it is asked again, and then the platform has failed."""
    monkeypatch.setattr(engine_module, "PAUSES", (0.0, 0.0))
    api: Any = FakeApi(error)
    with pytest.raises(EngineLostError):
        getattr(Engine(api), call)("name")
    assert api.calls == 3


@pytest.mark.parametrize("error", LATE, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("call", ["kill", "remove", "inspect", "output"])
def test_engine_that_is_late_is_not_asked_again(call: str, error: Exception) -> None:
    """Who waits for a late answer three times over is given up before the reason is known."""
    api: Any = FakeApi(error)
    with pytest.raises(EngineLostError):
        getattr(Engine(api), call)("name")
    assert api.calls == 1


@pytest.mark.parametrize("call", ["kill", "remove"])
def test_passing_failures_are_survived(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One lost answer does not lose a match."""
    monkeypatch.setattr(engine_module, "PAUSES", (0.0, 0.0))
    api: Any = FakeApi(requests.exceptions.ConnectionError(), times=2)
    getattr(Engine(api), call)("name")
    assert api.calls == 3


@pytest.mark.parametrize("status", [404, 409])
@pytest.mark.parametrize("call", ["kill", "remove"])
def test_what_is_gone_counts_as_done(call: str, status: int) -> None:
    """Killing or removing what is gone or going needs no second try."""
    api: Any = FakeApi(_api_error(status, NotFound if status == 404 else APIError))
    getattr(Engine(api), call)("name")
    assert api.calls == 1


def test_settings_are_read_back() -> None:
    """Each setting that an engine drops is named."""
    limits = Limits(cpus="1")
    config = {"User": new_user(mapped=False)}
    given = host_config(limits, Path("/run/x"))
    assert missing_settings(limits, given, config) == []
    weaker = {
        "NetworkMode": "bridge",
        "ReadonlyRootfs": False,
        "CapDrop": None,
        "CapAdd": ["SYS_ADMIN"],
        "SecurityOpt": [],
        "Privileged": True,
        "Init": None,
        "IpcMode": "private",
        "Memory": 0,
        "MemorySwap": -1,
        "PidsLimit": None,
        "CpusetCpus": "",
        "Ulimits": None,
        "LogConfig": {"Type": "json-file", "Config": {}},
        "MaskedPaths": None,
    }
    for key, value in weaker.items():
        assert missing_settings(limits, {**given, key: value}, config), key
    for user in ("", "root", "0:0", "1000:65534", "65534:65534", "1000000000:0"):
        assert missing_settings(limits, given, {"User": user}) == ["user"], user


@pytest.mark.parametrize("mapped", [False, True])
def test_each_bot_gets_a_user_of_its_own(*, mapped: bool) -> None:
    """No two bots have a user in common, and an engine that maps users knows all of them."""
    users = [int(new_user(mapped=mapped).split(":")[0]) for _ in range(30)]
    assert len(set(users)) > 20
    assert all(user < 1 << 16 for user in users) is mapped


V1 = {
    "memory/memory.limit_in_bytes": "268435456",
    "memory/memory.memsw.limit_in_bytes": "268435456",
    "memory/memory.swappiness": "0",
    "pids/pids.max": "64",
    "cpuset/cpuset.cpus": "2-3",
}
V2 = {
    "memory.max": "268435456",
    "memory.swap.max": "0",
    "pids.max": "64",
    "cpuset.cpus": "2-3",
}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("broken", ["", "memory", "pids", "cores", "unreadable"])
def test_limits_are_read_back_from_the_kernel(tmp_path: Path, version: int, broken: str) -> None:
    """A limit that the kernel does not have is named, for either version of control groups."""
    cgroup = _fake_cgroup(tmp_path, version, broken)
    missing = missing_in_kernel(Limits(cpus="2,3"), cgroup)
    names = ["memory", "pids", "cores"] if broken == "unreadable" else [broken] if broken else []
    assert missing == [f"{name} (by its control group)" for name in names]


@pytest.mark.parametrize(
    ("version", "stat", "seconds", "periods"),
    [
        (1, "nr_periods 90\nnr_throttled 7\nthrottled_time 1500000000\n", 1.5, 7),
        (1, "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n", 0.0, 0),
        (2, "usage_usec 2500000\nnr_periods 90\nnr_throttled 7\nthrottled_usec 250000\n", 0.25, 7),
        (2, "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n", None, None),
    ],
)
def test_throttling_is_read_from_the_kernel(
    tmp_path: Path, version: int, stat: str, seconds: float | None, periods: int | None
) -> None:
    """How often and how long a quota withheld cores, and the CPU time, for either version."""
    cgroup = _fake_cgroup(tmp_path, version, "")
    folders = {"cpu": "cpu/bot", "cpuacct": "cpuacct/bot"} if version == 1 else {"": "bot"}
    for folder in folders.values():
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "cpu.stat").write_text(stat)
        (tmp_path / folder / "cpuacct.usage").write_text("2500000000\n")
    known = Cgroup.of(7, proc=tmp_path / "proc", root=tmp_path)
    assert known.folders.keys() >= folders.keys()
    assert cgroup.folders.keys() <= known.folders.keys()
    used = known.usage()
    assert (used.throttled_seconds, used.throttled_periods) == (seconds, periods)
    assert used.cpu_seconds == 2.5


def _fake_cgroup(root: Path, version: int, broken: str) -> Cgroup:
    spoilt = {
        "memory": ("memory/memory.limit_in_bytes", "memory.max"),
        "pids": ("pids/pids.max", "pids.max"),
        "cores": ("cpuset/cpuset.cpus", "cpuset.cpus"),
    }.get(broken, ())
    for name, text in (V1 if version == 1 else V2).items():
        folder, _, leaf = name.rpartition("/")
        path = root / folder / "bot" / leaf
        path.parent.mkdir(parents=True, exist_ok=True)
        if broken != "unreadable":
            wrong = "0" if broken == "cores" else "max"
            path.write_text(wrong if name in spoilt else text)
    if version == 2:
        (root / "cgroup.controllers").write_text("cpu memory pids cpuset")
    (root / "proc" / "7").mkdir(parents=True)
    names = ("cpu,cpuacct", "memory", "pids", "cpuset")
    lines = "".join(f"{number}:{name}:/bot\n" for number, name in enumerate(names, 2)) + "0::/\n"
    lines = "0::/bot\n" if version == 2 else lines
    (root / "proc" / "7" / "cgroup").write_text(lines)
    return Cgroup.of(7, proc=root / "proc", root=root)


def test_filter_denies_unless_allowed() -> None:
    """The filter is an allow list, and nothing on it is on the list of what must fail."""
    profile = json.loads(seccomp_profile())
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    allowed = {
        name
        for rule in profile["syscalls"]
        if rule["action"] == "SCMP_ACT_ALLOW" and not rule.get("args")
        for name in rule["names"]
    }
    assert allowed.isdisjoint(name.split()[0] for name in CALLS)


@pytest.mark.docker
def test_missing_limit_stops_the_start(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot whose limit is not in force is not run, and nothing of it is left."""
    monkeypatch.setattr(container_module, "missing_in_kernel", lambda *_: ["memory"])
    with pytest.raises(LimitsMissingError, match="memory"):
        box.start(SLEEP)
    assert box.owner not in {owner for _, owner, _ in _engine(box).bots()}


@pytest.mark.docker
def test_removal_that_fails_does_not_lose_the_report(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container that cannot be removed now is named, for the reaper to take later."""
    bot = box.start("print('played')")
    await_exit(bot)

    def stuck(*_: object) -> None:
        raise EngineLostError("removal in progress")

    monkeypatch.setattr(Engine, "remove", stuck)
    report = bot.finish()
    monkeypatch.undo()
    assert report.log == "played\n"
    assert report.leftover == _name(bot)
    _engine(box).remove(report.leftover)


@pytest.mark.docker
def test_silent_connections_do_not_stop_the_bot(box: Box) -> None:
    """A bot whose referee never answers is simply running, and is ended on time."""
    bot = box.start(SLEEP)
    assert bot.poll() is None
    bot.kill()
    assert await_exit(bot).signal == 9


def _engine(box: Box) -> Engine:
    assert isinstance(box.sandbox, ContainerSandbox)
    return box.sandbox.engine


def _name(bot: RunningBot) -> str:
    return str(bot.name)  # type: ignore[attr-defined]


def _inspected(box: Box, bot: RunningBot) -> dict[str, Any]:
    found = _engine(box).inspect(_name(bot))
    assert found is not None
    return found


class _Ended:
    """An engine, and control groups, of a bot that was killed for want of memory.

    The engine has missed what it was killed for.
    """

    def inspect(self, _: str) -> dict[str, Any]:
        """Say that the container has ended."""
        return {"State": {"Running": False, "ExitCode": 137, "OOMKilled": False}}

    def usage(self) -> Usage:
        """Say what the kernel counted."""
        return Usage(oom_kills=1)

    def is_alive(self) -> bool:
        """Have an engine that lived all the while."""
        return True

    takes_calls = is_alive


def _ended_bot() -> Any:
    ended: Any = _Ended()
    bot = container_module._Container(ended, ended, "name", Limits(), 0)
    bot._cgroup = ended
    return bot


def test_want_of_memory_is_seen_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot that is killed between two looks ran out of memory, though the engine missed it."""
    bot = _ended_bot()
    monkeypatch.setattr(bot, "_is_seen_running", lambda: False)
    assert bot.poll().out_of_memory


def test_pid_of_another_process_is_no_bot() -> None:
    """A bot that has ended is not taken to run because its pid was given to another process."""
    bot = _ended_bot()
    bot._pid, bot._started = os.getpid(), "long ago"
    assert bot.poll().signal == 9


def test_engine_that_closes_idle_connections_is_no_restarted_one(tmp_path: Path) -> None:
    """Engines hang up where nothing is asked for minutes; a long leg is not to suffer from it."""
    path = tmp_path / "e.sock"
    held: list[socket.socket] = []

    def serve() -> None:
        for _ in range(2):
            client = server.accept()[0]
            call = client.recv(4096).split(b" ")[1]
            if call == b"/_ping":
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK")
                client.close()
            else:
                client.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                held.append(client)

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        serving = threading.Thread(target=serve)
        serving.start()
        session = session_module.Session(str(path))
        assert session.takes_calls()
        serving.join()
        assert session.is_alive()
        held[0].sendall(b"0\r\n\r\n")
        held[0].close()
        assert not session.is_alive()
        session.close()
