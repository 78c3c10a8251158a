"""What bots can learn, tell each other and do to the machine, tried by bots that try hard."""

from __future__ import annotations

import base64
import json
import os
import pwd
import re
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import docker
import pytest
from sandboxes import Box, await_exit, forget_image, image_of, make_box

from arena.jobs import MatchDescription
from arena.runner import run_match
from arena.sandbox import BotSource, Limits, StartRequest
from arena.sandbox.confinement import MAPPED_USERS, USERS
from arena.sandbox.owners import SocketFolder
from arena.sandbox.slots import usable_cores
from referee.results import Entrant, MatchSpec, TimeControl
from referee.shuffle import commitment
from referee.variants import find_variant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.sandbox import RunningBot

HOSTILE = Path(__file__).parent / "hostile"
MEBI = 1 << 20

pytestmark = pytest.mark.docker


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    """The container backend."""
    box = make_box("container", tmp_path)
    with box.stack:
        yield box


def image(box: Box, name: str, *arguments: str) -> str:
    """Build a hostile bot with arguments."""
    folder = box.folder / "-".join((name, *arguments))
    folder.mkdir()
    (folder / "bot.py").write_text((HOSTILE / name / "bot.py").read_text(encoding="utf-8"))
    made = image_of(folder, ("python", "-u", "/bot/bot.py", *arguments))
    box.stack.callback(forget_image, made)
    return made


def start(
    box: Box, source: str, *, log: int = MEBI, sockets: SocketFolder | None = None
) -> RunningBot:
    """Start a bot from an image."""
    sockets = sockets or new_sockets(box)
    request = StartRequest(
        source=BotSource(image=source),
        socket_dir=sockets.path,
        owner=box.owner,
        attempt="attempt",
        seat=0,
        limits=Limits(log=log),
    )
    bot = box.sandbox.start(request)
    box.stack.callback(bot.finish)
    return bot


def new_sockets(box: Box) -> SocketFolder:
    """Make a folder for the socket of a bot."""
    sockets = SocketFolder.create(box.owner)
    box.stack.callback(sockets.remove)
    return sockets


def report(bot: RunningBot) -> Any:
    """Return the last line that a bot printed, as JSON."""
    await_exit(bot)
    return json.loads(bot.finish().log.rstrip().splitlines()[-1])


# --------------------------------------------------------------------------- what a bot can learn


SEEN = HOSTILE / "nosy" / "seen.json"
NAMES = ("Cassandra-of-Troy", "Laocoon-the-priest")
SEED = bytes(range(150, 182))
# A short number is also one of those by which a kernel counts.
MATCH = 731_553_209_461_527
OWNER = "feedfacecafebeef" * 2
WATCHED_LIMITS = {"open files", "core file", "file size", "locked memory"}
WATCHED_MOUNTS = ("/", "/dev", "/proc", "/sys", "/tmp", "/run/arena")  # noqa: S108 - the bot's


@pytest.fixture(scope="module")
def hauls(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Play a match of two bots that read all they can, in both legs; return what they printed."""
    box = make_box("container", tmp_path_factory.mktemp("nosy"))
    home = tmp_path_factory.mktemp("canary-home-of-the-arena")
    with box.stack:
        source = image(box, "nosy")
        description = MatchDescription(
            spec=MatchSpec(
                variant="bura",
                rules=find_variant("bura"),
                seats=2,
                decks=1,
                seed=SEED,
                match=MATCH,
                entrants=tuple(
                    Entrant(name, f"of-{name}", f"sha256:{name:f<64}") for name in NAMES
                ),
                time_control=TimeControl(move_time_ms=20_000, startup_ms=60_000),
            ),
            bots=(BotSource(image=source),) * 2,
            positions=(0, 1),
            sandbox="container",
            home=home,
            folder=f"canary-cup/{MATCH}/2",
            limits=Limits(log=8 * MEBI),
            owner=OWNER,
        )
        result = run_match(description).result
        assert result.faults == ()
        environment = _image_environment(source)
    logs = sorted((home / "logs").rglob("*.log"))
    assert len(logs) == 4
    found = []
    for log in logs:
        line = next(line for line in log.read_text().splitlines() if line.startswith('{"look"'))
        haul = json.loads(line)
        haul["look"]["environment"] = {
            name: value
            for name, value in haul["look"]["environment"].items()
            if f"{name}={value}" not in environment
        }
        haul["home"] = str(home)
        found.append(haul)
    return found


def test_nosy_bot_sees_what_was_reviewed(hauls: list[dict[str, Any]]) -> None:
    """What a bot finds around it is what tests/hostile/nosy/seen.json says, in every seat and leg.

    If a change is meant, review the new picture and write it there.
    """
    reviewed = json.loads(SEEN.read_text(encoding="utf-8"))
    for haul in hauls:
        assert _picture(haul["look"]) == reviewed


def test_nosy_bot_finds_no_secret(hauls: list[dict[str, Any]]) -> None:
    """Neither opponent, match, seed, owner, path nor machine stands in any file a bot can read."""
    for haul in hauls:
        assert len(haul["haul"]) > 500
        text = json.dumps([haul["look"], haul["haul"]])
        forbidden = [
            *(word for name in NAMES for word in (name, f"of-{name}", f"{name:f<64}")),
            *(SEED.hex(), base64.b64encode(SEED).decode()[:-2], commitment(SEED)),
            *(str(MATCH), "canary-cup", OWNER, haul["home"], str(Path(__file__).parent)),
            "bura-arena.",
        ]
        # A short name is also a word of the kernel's.
        forbidden += [word for word in (os.uname().nodename, _user()) if len(word) > 5]
        assert [word for word in forbidden if word in text] == []


def _user() -> str:
    """Return who runs the tests, if that says something: images know the usual names too."""
    name = pwd.getpwuid(os.getuid()).pw_name
    return "" if name in {"nobody", "daemon", "backup", "runner", "ubuntu", "debian"} else name


def test_seats_and_legs_look_alike(hauls: list[dict[str, Any]]) -> None:
    """Nothing that a bot can read tells its seat or its leg: no stable file has two contents."""
    found = [_by_stable_names(haul) for haul in hauls]
    names = set.union(*map(set, found))
    differing = {name for name in names if len({one.get(name, "not there") for one in found}) > 1}
    assert {name for name in differing if not _LIVELY.match(name)} == set()


def _by_stable_names(haul: dict[str, Any]) -> dict[str, str]:
    """Call the bot's own process the same whatever its number is."""
    own = f"/proc/{haul['look']['ids'][3]}/"
    files: dict[str, str] = haul["haul"]
    return {name.replace(own, "/proc/self/", 1): text for name, text in files.items()}


# Numbers that the kernel counts for each process, container, boot or moment.
_LIVELY = re.compile(
    "/dev/u?random$|/sys/devices/|/sys/fs/|/sys/kernel/slab/|/proc/fs/|/proc/irq/"
    "|/proc/(cgroups|cpuinfo|execdomains)$"
    # What changes when the kernel loads a module.
    "|/proc/(crypto|devices|filesystems|misc)$"
    # The kernel lowers the sample rate on a busy machine.
    "|/proc/sys/(kernel/random/|kernel/ns_last_pid|kernel/perf_event_max_sample_rate|net/|vm/)"
    "|/proc/(1|self)/(fd|fdinfo|map_files|net|ns)/"
    "|/proc/(1|self)/(arch_status|autogroup|auxv|cgroup|cpuset|io|maps|mount(info|s|stats)|numa_maps"
    "|oom_score|pagemap|sched|schedstat|smaps|smaps_rollup|stack|stat|statm|status|syscall|timers"
    "|wchan)$"
)


def _picture(look: dict[str, Any]) -> dict[str, Any]:
    """Leave out of what a bot sees what differs from machine to machine."""
    picture = {
        key: look[key]
        for key in (
            *("environment", "arguments", "working folder", "host name", "interfaces", "routes"),
            *("resolver", "referee", "devices", "temporary files", "status"),
        )
    }
    user, group, groups = look["ids"][:3]
    assert look["status"]["Uid"].split() == [str(user)] * 4
    picture["ids"] = ["NEW" if user in USERS or user in MAPPED_USERS else user, group, groups]
    picture["status"] = {**look["status"], "Uid": "NEW"}
    picture["devices"] = [one for one in look["devices"] if one != "mqueue"]
    picture["processes"] = sorted(look["processes"].values())
    picture["descriptors"] = [re.sub(r"\d+", "N", one) for one in look["descriptors"]]
    picture["mounts"] = [
        [where, re.sub(r"^.*/bura-[0-9a-f]{22}/", "PLACE/bura-RANDOM/", source)]
        for where, source, *_ in look["mounts"]
        if where in WATCHED_MOUNTS
    ]
    picture["limits"] = [
        line for line in look["limits"] if WATCHED_LIMITS & {" ".join(line[1:3]), line[1]}
    ]
    return picture


def _image_environment(source: str) -> list[str]:
    client = docker.from_env()
    try:
        return list(client.api.inspect_image(source)["Config"]["Env"] or ())
    finally:
        client.close()


# -------------------------------------------------------------------------- what bots can tell


# How much of the disk is free: the engine's own start needs the call that asks it, and the log of
# a bot takes room. docs/security.md says so.
KNOWN_OPEN = {"disk"}
CONTROLS = {"abstract socket", "socket file", "flock", "posix lock", "opening files", "signal"}
EARS = {"file in /tmp", "processes"}
# What can be asked and tells nothing even in one container; all else fails with an error.
MASKED = {"table of locks", "load", "posix queue", "kernel setting"}


@pytest.mark.long
@pytest.mark.alone
def test_two_talkers_tell_each_other_nothing(box: Box) -> None:
    """Of all channels that work inside one container, none but the known one crosses two."""
    speaker = start(box, image(box, "talker", "say"))
    listener = start(box, image(box, "talker", "hear"))
    heard = report(listener)["heard"]
    said = report(speaker)["said"]
    assert {name for name, done in said.items() if done is True} >= CONTROLS
    assert len(heard) > 30
    assert {name for name, found in heard.items() if found is True} == KNOWN_OPEN
    may_work = CONTROLS | EARS | KNOWN_OPEN | MASKED
    assert [name for name in heard.keys() - may_work if not isinstance(heard[name], str)] == []
    assert said["lease"] == heard["lease"] == "EACCES"
    refused = ("vsock", "netlink", "packets", "kernel crypto", "keyring", "shared memory")
    assert {heard[name] for name in refused} == {"EPERM"}
    assert {heard[name] for name in ("tcp", "tcp6", "udp", "broadcast", "raw")} == {"EAFNOSUPPORT"}


@pytest.mark.long
@pytest.mark.alone
def test_talkers_have_ears(box: Box) -> None:
    """In one container the same listener hears the same speaker, so silence means something."""
    bot = start(box, image(box, "talker", "both"))
    await_exit(bot)
    lines = [line for line in bot.finish().log.splitlines() if line.startswith('{"heard"')]
    heard = json.loads(lines[-1])["heard"]
    assert {name for name, found in heard.items() if found is True} == (
        CONTROLS | EARS | KNOWN_OPEN
    )
    assert {name for name, found in heard.items() if found is False} == MASKED


NEEDY = """
import array, ctypes, fcntl, json, os, socket
libc = ctypes.CDLL(None)
left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
left.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 50))])
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
pipes = [fcntl.fcntl(os.pipe()[1], fcntl.F_SETPIPE_SZ, 1 << 20) for _ in range(20)]
print(json.dumps({
    "watches": min(libc.inotify_init() for _ in range(20)) >= 0,
    "pipes": min(pipes) == 1 << 20,
    "signals": status["SigQ"].split("/")[0].strip(),
}))
"""


def test_no_bot_uses_up_what_another_needs(box: Box) -> None:
    """What the kernel counts by user is each bot's own: neither taken nor seen by another."""
    folder = box.folder / "needy"
    folder.mkdir()
    (folder / "bot.py").write_text(NEEDY)
    needy = image_of(folder)
    box.stack.callback(forget_image, needy)
    sockets = new_sockets(box)
    with socket.socket(socket.AF_UNIX) as referee:
        referee.bind(str(sockets.socket))
        sockets.socket.chmod(0o666)
        referee.listen()
        referee.settimeout(60)
        hog = start(box, image(box, "hog", "stay"), sockets=sockets)
        with referee.accept()[0]:
            assert report(start(box, needy)) == {"watches": True, "pipes": True, "signals": "0"}
            assert hog.poll() is None
    assert re.match(r"watcher \d\d+, descriptors \d+, pipe [1-9]", hog.finish().log)


# --------------------------------------------------------------------------------- ways out


PROBES = """
import ctypes, errno, json, mmap, os, signal, stat, subprocess
answers = {}
def attempt(name, way):
    try:
        answers[name] = f"done: {way()}"
    except OSError as error:
        answers[name] = errno.errorcode[error.errno]
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname",
             "/proc/sys/vm/swappiness",
             "/proc/sysrq-trigger", "/proc/1/oom_score_adj",
             "/sys/fs/cgroup/release_agent",
             "/sys/kernel/uevent_helper", "/dev/kmsg", "/etc/passwd", "/usr/sbin/docker-init"):
    attempt("write " + path, lambda: os.write(os.open(path, os.O_WRONLY), b"-1"))
for folder, _, files in os.walk("/sys/fs/cgroup"):
    for name in files:
        try:
            os.close(os.open(f"{folder}/{name}", os.O_WRONLY))
            answers["control group"] = f"{folder}/{name} can be written"
        except OSError:
            pass
attempt("mknod of a disk", lambda: os.mknod("/tmp/disk", 0o600 | stat.S_IFBLK, os.makedev(8, 0)))
attempt("mknod of memory", lambda: os.mknod("/tmp/mem", 0o600 | stat.S_IFCHR, os.makedev(1, 1)))
root = lambda: os.path.samestat(os.stat("/proc/1/root/"), os.stat("/"))
attempt("root of the first process is its own", root)
for path in ("/proc/1/mem", "/proc/1/task/1/mem"):
    attempt(path, lambda: os.read(os.open(path, os.O_RDWR), 4))
attempt("setuid", lambda: os.setuid(0))
attempt("setgroups", lambda: os.setgroups([0]))
attempt("nice", lambda: os.nice(-5))
attempt("realtime", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
done = subprocess.run(["/suid-python", "-c", "import os; print(os.geteuid())"],
                      capture_output=True, text=True)
answers["setuid program"] = done.stdout.strip()
def foreign(code):
    child = os.fork()
    if child == 0:
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(code)
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        found = ctypes.CFUNCTYPE(ctypes.c_int)(address)()
        os._exit(1 if found > 0 else 0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
if os.uname().machine == "x86_64":
    # mov eax, 20 (getpid); int 0x80; ret
    answers["32-bit call"] = foreign(bytes.fromhex("b814000000cd80c3"))
    # mov eax, 0x40000027 (getpid of x32); syscall; ret
    answers["x32 call"] = foreign(bytes.fromhex("b8270000400f05c3"))
print(json.dumps(answers))
"""


def test_ways_out_are_closed(box: Box) -> None:
    """Each attempt on the kernel's files, devices, users and call tables fails as it must."""
    folder = box.folder / "probe"
    folder.mkdir()
    (folder / "bot.py").write_text(PROBES)
    setuid = "RUN cp $(readlink -f $(command -v python3)) /suid-python && chmod 4755 /suid-python"
    made = image_of(folder, extra=f"USER root\n{setuid}")
    box.stack.callback(forget_image, made)
    bot = start(box, made)
    answers = report(bot)
    written = {name: found for name, found in answers.items() if name.startswith("write ")}
    assert len(written) == 10
    assert {
        name: found
        for name, found in written.items()
        if found not in {"EROFS", "EACCES", "EPERM", "ENOENT"}
    } == {}
    assert "control group" not in answers
    assert int(answers["setuid program"]) > 0
    expected = {
        "mknod of a disk": {"EPERM"},
        "mknod of memory": {"EPERM"},
        "root of the first process is its own": {"done: True", "EACCES"},
        "/proc/1/mem": {"done: b''", "EACCES"},
        "/proc/1/task/1/mem": {"done: b''", "EACCES"},
        "setuid": {"EPERM"},
        "setgroups": {"EPERM"},
        "nice": {"EPERM", "EACCES"},
        "realtime": {"EPERM"},
    }
    if os.uname().machine == "x86_64":
        # Killed by the filter, or by a kernel that has no such calls.
        ended = {-signal.SIGSYS, -signal.SIGSEGV, 0}
        expected |= {"32-bit call": ended, "x32 call": ended}
    assert {
        name: answers.get(name, "not tried")
        for name, allowed in expected.items()
        if answers.get(name) not in allowed
    } == {}


def test_program_on_other_cores_is_kept_on_its_own(box: Box) -> None:
    """A bot cannot leave the cores of its slot, whatever it asks for."""
    core = usable_cores()[-1]
    log = box.output(
        """
        import os
        try:
            os.sched_setaffinity(0, range(os.cpu_count()))
        except OSError:
            pass
        print(sorted(os.sched_getaffinity(0)))
        """,
        limits=Limits(cpus=str(core)),
    )
    assert log == f"[{core}]\n"
