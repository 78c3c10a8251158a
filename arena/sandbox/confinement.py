"""How a bot's container is confined, and whether the engine really does it.

Each setting answers a fault that was seen somewhere; the engine's client is not needed here.
"""

from __future__ import annotations

import functools
import json
import re
import secrets
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.sandbox.base import ADDRESS_VARIABLE, SOCKET_NAME
from arena.sandbox.cgroups import Cgroup, parse_cpus
from arena.sandbox.owners import ProcessStamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arena.sandbox.base import Limits, StartRequest

__all__ = [
    "LABEL",
    "container_settings",
    "host_config",
    "masked_paths",
    "missing_in_kernel",
    "missing_in_process",
    "missing_settings",
    "new_user",
    "process_status",
    "seccomp_profile",
]

LABEL = "bura-arena."
SOCKET_FOLDER = "/run/arena"
GROUP = 65534
USERS = range(1_000_000_000, 2_000_000_000)
MAPPED_USERS = range(1024, 65_000)
ULIMITS = {"nofile": 256, "core": 0, "fsize": 64 << 20, "memlock": 1 << 16}

# Setting masks replaces the engine's own list, so that list comes first; the rest would tell a
# bot how busy the machine is, that is, whether its opponent computes, or carry bits between bots.
MASKED_PATHS = (
    *("/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats"),
    *("/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi"),
    *("/sys/firmware", "/sys/devices/virtual/powercap"),
    *("/proc/loadavg", "/proc/stat", "/proc/uptime", "/proc/meminfo", "/proc/vmstat"),
    *("/proc/interrupts", "/proc/softirqs", "/proc/diskstats", "/proc/locks", "/proc/pressure"),
    *("/proc/schedstat", "/proc/zoneinfo", "/proc/buddyinfo", "/proc/pagetypeinfo"),
    *("/proc/slabinfo", "/proc/vmallocinfo", "/proc/swaps", "/proc/partitions", "/proc/key-users"),
    *(
        "/proc/bootconfig",
        "/proc/cmdline",
        "/proc/config.gz",
        "/proc/kallsyms",
        "/proc/modules",
        "/proc/sysvipc",
        "/proc/tty",
    ),
    *("/proc/driver", "/proc/sys/fs", "/proc/sys/kernel/pty", "/dev/mqueue"),
    *("/sys/block", "/sys/bus", "/sys/class", "/sys/dev", "/sys/hypervisor", "/sys/kernel"),
    *("/sys/module", "/sys/power", "/sys/devices/system/node", "/sys/devices/virtual/block"),
    *("/sys/devices/virtual/thermal", "/sys/devices/virtual/workqueue"),
    "/sys/devices/system/cpu/cpufreq",
    # The kernel has one number of terminals for all containers; `/dev/ptmx` leads there too.
    "/dev/pts",
    # The first process has the bot's user; by its memory a bot could make it outlive its program.
    *("/proc/1/mem", "/proc/1/task/1/mem"),
)
NO_RESOLVER = "127.0.0.1"


def new_user(*, mapped: bool) -> str:
    """Return a user and group for one bot, as the engine takes them.

    The kernel counts watches, queued signals, pipes and descriptors under way by user, for all
    containers together: with a user in common one bot could use up what another needs, or read
    its messages off the counts.

    Args:
        mapped: Whether the engine gives its containers users of their own, and only 65,536.
    """
    return f"{secrets.choice(MAPPED_USERS if mapped else USERS)}:{GROUP}"


@functools.cache
def seccomp_profile() -> str:
    """Return the system call filter of bots, as one line of JSON."""
    text = resources.files("arena.sandbox").joinpath("seccomp.json").read_text(encoding="utf-8")
    return json.dumps(json.loads(text), separators=(",", ":"))


def host_config(limits: Limits, socket_dir: Path) -> dict[str, Any]:
    """Return the engine's host configuration of a bot, in the words of the engine's API."""
    execution = "exec" if limits.exec_tmp else "noexec"
    config: dict[str, Any] = {
        "NetworkMode": "none",
        "Dns": [NO_RESOLVER],
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges:true", f"seccomp={seccomp_profile()}"],
        "Privileged": False,
        "Init": True,
        "IpcMode": "none",
        "CgroupnsMode": "private",
        "Memory": limits.memory,
        "MemorySwap": limits.memory,
        "PidsLimit": limits.pids,
        "CpusetCpus": limits.cpus,
        "OomScoreAdj": 500,
        "Ulimits": [{"Name": name, "Soft": most, "Hard": most} for name, most in ULIMITS.items()],
        "Tmpfs": {
            "/tmp": f"rw,{execution},nosuid,nodev,size={limits.tmpfs},nr_inodes=4k,mode=1777"  # noqa: S108 - inside the container
        },
        "Mounts": [
            {
                "Type": "bind",
                "Source": str(socket_dir),
                "Target": SOCKET_FOLDER,
                "ReadOnly": True,
                "BindOptions": {"Propagation": "rprivate"},
            }
        ],
        "LogConfig": {
            "Type": "json-file",
            "Config": {"max-size": str(limits.log), "max-file": "2"},
        },
        "RestartPolicy": {"Name": "no"},
        "AutoRemove": False,
        "PublishAllPorts": False,
        "MaskedPaths": list(masked_paths()),
    }
    if not Path("/sys/fs/cgroup/cgroup.controllers").exists():
        # Control groups of version 2 have no such setting, and the engine would refuse it.
        config["MemorySwappiness"] = 0
    return config


def container_settings(request: StartRequest, user: str) -> dict[str, Any]:
    """Return the other settings of a bot's container, as arguments of the engine's client."""
    labels = {
        "kind": "bot",
        "owner": request.owner,
        "process": ProcessStamp.current().text,
        "attempt": request.attempt,
        "seat": str(request.seat),
    }
    return {
        "hostname": "bot",
        "user": user,
        "environment": {
            "HOME": "/tmp",  # noqa: S108 - the only folder that the bot can write
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            ADDRESS_VARIABLE: f"unix:{SOCKET_FOLDER}/{SOCKET_NAME}",
        },
        "healthcheck": {"test": ["NONE"]},
        "stop_signal": "SIGKILL",
        "stdin_open": False,
        "tty": False,
        "labels": {f"{LABEL}{key}": value for key, value in labels.items()},
    }


@functools.cache
def masked_paths() -> tuple[str, ...]:
    """Return what is hidden from bots, with how this machine's cores fare."""
    cores = Path("/sys/devices/system/cpu")
    folders = ("cpufreq", "cpuidle", "thermal_throttle")
    more = [path for folder in folders for path in cores.glob(f"cpu*/{folder}")]
    return (*MASKED_PATHS, *sorted(str(one) for one in more))


def missing_settings(
    limits: Limits, host: Mapping[str, Any], config: Mapping[str, Any]
) -> list[str]:
    """Name the settings that the engine took differently from what was asked."""
    options = host.get("SecurityOpt") or []
    checks = {
        "no network": host.get("NetworkMode") == "none",
        "read-only root": host.get("ReadonlyRootfs") is True,
        "no capabilities": host.get("CapDrop") == ["ALL"] and not host.get("CapAdd"),
        "no-new-privileges": "no-new-privileges:true" in options,
        "system call filter": any(one.startswith("seccomp={") for one in options),
        "unprivileged": host.get("Privileged") is False,
        "init": host.get("Init") is True,
        "no ipc": host.get("IpcMode") == "none",
        "memory": host.get("Memory") == limits.memory,
        "no swap": host.get("MemorySwap") == limits.memory,
        "pids": host.get("PidsLimit") == limits.pids,
        "cores": host.get("CpusetCpus", "") == limits.cpus,
        "file limits": {one["Name"]: one["Hard"] for one in host.get("Ulimits") or []} == ULIMITS,
        "log size": host.get("LogConfig", {}).get("Config", {}).get("max-size") == str(limits.log),
        "masked paths": set(MASKED_PATHS) <= set(host.get("MaskedPaths") or ()),
        "user": _is_new_user(str(config.get("User"))),
    }
    return [name for name, holds in checks.items() if not holds]


def _is_new_user(text: str) -> bool:
    found = re.fullmatch(rf"(\d+):{GROUP}", text)
    return found is not None and (int(found[1]) in USERS or int(found[1]) in MAPPED_USERS)


def missing_in_kernel(limits: Limits, cgroup: Cgroup) -> list[str]:
    """Name the limits that the control groups do not have."""
    memory = cgroup.number("memory", "memory.limit_in_bytes", "memory.max")
    cpus = cgroup.read("cpuset", "cpuset.cpus", "cpuset.cpus")
    checks = {
        "memory": memory is not None and memory <= limits.memory,
        "no swap": not cgroup.swap_is_open(limits.memory),
        "pids": cgroup.number("pids", "pids.max", "pids.max") == limits.pids,
        "cores": not limits.cpus or parse_cpus(cpus or "") == parse_cpus(limits.cpus),
    }
    return [f"{name} (by its control group)" for name, holds in checks.items() if not holds]


def missing_in_process(pid: int) -> list[str]:
    """Name what the container's first process ought not to be able to do, but is."""
    fields = process_status(pid)
    checks = {
        "system call filter": fields.get("Seccomp") == "2",
        "no-new-privileges": fields.get("NoNewPrivs") == "1",
        "no capabilities": not int(fields.get("CapEff", "1") + fields.get("CapBnd", "1"), 16),
        "user": fields.get("Uid", "0").split()[0] != "0",
    }
    return [f"{name} (by its process)" for name, holds in checks.items() if not holds]


def process_status(pid: int) -> dict[str, str]:
    """Return what the kernel says of a process, empty when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    except OSError:
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
