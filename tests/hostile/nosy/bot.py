"""Reads all that it can, prints it as one line of JSON, and then plays on."""

import json
import os
import socket
import sys

MOST = 1 << 14
SKIPPED = ("/proc/kpage", "/proc/kcore", "/proc/kmsg", "/proc/sysrq-trigger")
TREES = ("/proc", "/sys", "/run", "/etc", "/tmp", "/dev", "/var/run", "/home", "/root", "/bot")


def is_mine(path: str) -> bool:
    """Tell whether a folder of /proc is of the first process, of this one, or of none."""
    first = path.removeprefix("/proc/").split("/")[0]
    return not (path.startswith("/proc/") and first.isdecimal() and first not in {"1", str(ME)})


def read(path: str) -> str:
    """Return what is in a file, in a link or why nothing is."""
    try:
        if os.path.islink(path):
            return "-> " + os.readlink(path)
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            return os.read(file, MOST).decode("utf-8", "backslashreplace")
        finally:
            os.close(file)
    except OSError as error:
        return f"! {error.strerror}"


def names(path: str) -> list[str]:
    """Return what is in a folder, or why nothing is."""
    try:
        return sorted(os.listdir(path))
    except OSError as error:
        return [f"! {error.strerror}"]


def haul() -> dict[str, str]:
    """Read every file below the folders that tell of a machine."""
    found = {}
    for tree in TREES:
        for folder, folders, files in os.walk(tree):
            folders[:] = [one for one in folders if is_mine(f"{folder}/{one}")]
            for name in files:
                path = f"{folder}/{name}"
                if not path.startswith(SKIPPED) and "/task/" not in path:
                    found[path] = read(path)
    return found


def look() -> dict[str, object]:
    """Return what a bot sees of where it is; the test compares it with what was reviewed."""
    status = dict(line.split(":\t", 1) for line in read("/proc/self/status").splitlines())
    return {
        "environment": dict(sorted(os.environ.items())),
        "arguments": sys.argv,
        "working folder": os.getcwd(),
        "ids": [os.getuid(), os.getgid(), os.getgroups(), os.getpid(), os.getppid()],
        "host name": [socket.gethostname(), os.uname().nodename],
        "interfaces": [
            line.split(":")[0].strip() for line in read("/proc/net/dev").splitlines()[2:]
        ],
        "routes": read("/proc/net/route").splitlines()[1:],
        "hosts": read("/etc/hosts"),
        "resolver": read("/etc/resolv.conf"),
        "referee": names("/run/arena"),
        "root": names("/"),
        "devices": names("/dev"),
        "temporary files": names("/tmp"),
        "processes": {
            one: read(f"/proc/{one}/cmdline").replace("\0", " ").strip()
            for one in names("/proc")
            if one.isdecimal()
        },
        "descriptors": sorted(read(f"/proc/self/fd/{one}") for one in names("/proc/self/fd")),
        "status": {
            key: status[key].strip()
            for key in ("CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Uid", "Gid")
        },
        "mounts": [
            [fields[4], fields[3], fields[fields.index("-") + 1], fields[fields.index("-") + 2]]
            for fields in map(str.split, read("/proc/self/mountinfo").splitlines())
        ],
        "control groups": read("/proc/self/cgroup").splitlines(),
        "limits": [line.split()[:5] for line in read("/proc/self/limits").splitlines()[1:]],
    }


ME = os.getpid()
print(json.dumps({"look": look(), "haul": haul()}), flush=True)

import burabot  # noqa: E402 - what it imports must not change what it sees

burabot.play(lambda _: 0, name="nosy", version="1")
