"""Engines of other kinds: what holds on this machine's engine is asked of theirs.

BURA_ENGINES names engines beside the machine's own, as DOCKER_HOST would, separated by commas.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

import pytest

from arena import doctor
from arena.home import Home
from arena.sandbox.engine import Engine
from arena.sandbox.host import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

pytestmark = [pytest.mark.docker, pytest.mark.long]


def is_marked(word: str) -> Callable[[Mapping[str, Any]], bool]:
    """Return what tells whether an engine names a word among its options of security."""
    return lambda about: any(f"name={word}" in one for one in about["SecurityOptions"] or ())


KINDS: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "control groups of version 1": lambda about: about.get("CgroupVersion", "1") == "1",
    "control groups of version 2": lambda about: about.get("CgroupVersion") == "2",
    "a rootless engine": is_marked("rootless"),
    "user namespaces": is_marked("userns"),
    "AppArmor": is_marked("apparmor"),
    "SELinux": is_marked("selinux"),
    "gVisor as default runtime": lambda about: about["DefaultRuntime"] == "runsc",
    "Docker Desktop": lambda about: about["OperatingSystem"].startswith("Docker Desktop"),
    "an engine of version 20": lambda about: about["ServerVersion"].startswith("20."),
    "an engine of version 25 or later": lambda about: (
        int(about["ServerVersion"].split(".")[0]) > 24
    ),
}


@functools.cache
def engines() -> dict[str, Mapping[str, Any]]:
    """Return what the engines that can be reached say of themselves, by address ("" is usual)."""
    found: dict[str, Mapping[str, Any]] = {}
    for host in ["", *filter(None, os.environ.get("BURA_ENGINES", "").split(","))]:
        with pytest.MonkeyPatch.context() as patch:
            if host:
                patch.setenv("DOCKER_HOST", host)
            engine = Engine.connect()
        found[host] = engine.about()
        engine.close()
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_engine_of_a_kind_holds_bots_and_hears_them(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bots get no more than their limits, and answer; where a limit is missing, none is run."""
    hosts = [host for host, about in engines().items() if KINDS[kind](about)]
    if not hosts:
        pytest.skip(f"{kind}: not here; name such an engine in BURA_ENGINES")
    for host in hosts:
        if host:
            monkeypatch.setenv("DOCKER_HOST", host)
        found = {one.check: one for one in doctor.examine(Home(tmp_path), probe=True)}
        if found["control groups"].level is Level.ERROR:
            assert found["probe"].level is Level.ERROR
            continue
        for check in ("engine", "limit of processes", "limit of memory"):
            assert found[check].level is Level.OK, found[check]
        # How fast answers travel is not asked here, only whether they do.
        assert "sockets reach into containers" in found["transport"].text
