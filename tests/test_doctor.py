"""What the doctor finds on a machine, in its engine, and on the way to bots."""

from __future__ import annotations

import json
import socket
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from arena import doctor
from arena.cleaning import Leftover
from arena.cli import main
from arena.home import Home
from arena.sandbox import BotReport, EngineMissingError, Exit, checks, endpoint
from arena.sandbox.checks import PROBE_LIMITS, check_engine, check_limits
from arena.sandbox.endpoint import find_endpoint
from arena.sandbox.host import Finding, Host, Level

if TYPE_CHECKING:
    from arena.sandbox.container import ContainerSandbox

CALM = {
    "sys/devices/system/cpu/smt/active": "0\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "3000000\n",
    "proc/swaps": "Filename Type Size Used Priority\n",
    "proc/sys/kernel/core_pattern": "core\n",
}
CAUSES = {
    "threads": ("sys/devices/system/cpu/smt/active", "1\n"),
    "governor": ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n"),
    "kinds of cores": ("sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq", "1800000\n"),
    "swap": ("proc/swaps", "Filename Type\n/dev/sda2 partition 8388604 0 -2\n"),
    "core dumps": ("proc/sys/kernel/core_pattern", "|/usr/share/apport/apport -p%p\n"),
}
ENGINE = {
    "ServerVersion": "29.1.0",
    "Parts": {"runc": "1.3.6"},
    "MemoryLimit": True,
    "PidsLimit": True,
    "CPUSet": True,
    "CgroupVersion": "2",
    "SecurityOptions": ["name=seccomp,profile=builtin", "name=userns"],
    "LiveRestoreEnabled": False,
}


def machine(root: Path, files: dict[str, str]) -> Host:
    """Make a machine of files."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Host(proc=root / "proc", sys=root / "sys")


def levels(findings: list[Finding]) -> dict[str, Level]:
    """Return how much each check matters."""
    return {finding.check: finding.level for finding in findings}


def test_quiet_machine_has_nothing_to_mend(tmp_path: Path) -> None:
    """A machine without any known cause of unfair time passes every check."""
    found = list(machine(tmp_path, CALM).findings(range(3)))
    assert set(levels(found)) == {"cores", "cores of the engine", *CAUSES}
    assert set(levels(found).values()) == {Level.OK}


def test_machine_that_says_nothing_is_not_accused(tmp_path: Path) -> None:
    """Files that are not there, as in a virtual machine, are no findings."""
    assert set(levels(list(machine(tmp_path, {}).findings(range(3)))).values()) == {Level.OK}


@pytest.mark.parametrize("cause", CAUSES)
def test_each_cause_of_unfair_time_is_named(tmp_path: Path, cause: str) -> None:
    """One cause gives one warning, which says what to do about it."""
    name, text = CAUSES[cause]
    found = list(machine(tmp_path, {**CALM, name: text}).findings(range(3)))
    wrong = [finding for finding in found if finding.level is not Level.OK]
    assert [finding.check for finding in wrong] == [cause]
    assert wrong[0].fix


@pytest.mark.parametrize(("cores", "seats", "enough"), [(2, 2, False), (3, 2, True), (4, 6, False)])
def test_too_few_cores_are_named(tmp_path: Path, cores: int, seats: int, *, enough: bool) -> None:
    """Each bot and the referee want a core."""
    found = levels(list(machine(tmp_path, CALM).findings(range(cores), seats)))
    assert found["cores"] is (Level.OK if enough else Level.WARNING)


ENGINE_CORES = "cores of the engine"


def engine_on(program: str, cores: str, pid: int = 812) -> dict[str, str]:
    """Give the files of a running program that may run on some cores."""
    return {
        f"proc/{pid}/comm": f"{program}\n",
        f"proc/{pid}/status": f"Name:\t{program}\nCpus_allowed:\tff\nCpus_allowed_list:\t{cores}\n",
    }


@pytest.mark.parametrize(
    ("cores", "usable", "named"),
    [
        ("0-3", range(4), "1, 2, 3"),
        ("0,2", range(4), "2"),
        ("0", range(4), ""),
        ("0-3", range(4, 8), ""),
        ("0-1", range(2), ""),
    ],
)
@pytest.mark.parametrize("program", ["dockerd", "containerd"])
def test_engine_on_cores_of_bots_is_a_note(
    tmp_path: Path, program: str, cores: str, usable: range, named: str
) -> None:
    """What starts the next match's bots has to keep off those that play, where that can be."""
    host = machine(tmp_path, {**CALM, **engine_on(program, cores), **engine_on("sshd", "0-7", 9)})
    (found,) = [each for each in host.findings(usable) if each.check == ENGINE_CORES]
    assert found.level is (Level.NOTE if named else Level.OK)
    assert not named or f"{program} may run where bots play (cores {named})" in found.text
    assert not named or "CPUAffinity=0" in found.fix


def test_engine_that_is_not_seen_is_not_praised(tmp_path: Path) -> None:
    """An engine in a virtual machine, or on another one, may run anywhere for all we know."""
    (found,) = [
        each for each in machine(tmp_path, CALM).findings(range(4)) if each.check == ENGINE_CORES
    ]
    assert (found.level, "is seen" in found.text) == (Level.OK, True)


def test_all_programs_of_an_engine_are_named(tmp_path: Path) -> None:
    """One of them that is kept off does not hide another that is not."""
    files = engine_on("dockerd", "0", 7) | engine_on("containerd", "0-3", 8)
    host = machine(tmp_path, {**CALM, **files, **engine_on("dockerd", "1", 9)})
    (found,) = [each for each in host.findings(range(4)) if each.check == ENGINE_CORES]
    assert "containerd and dockerd may run where bots play (cores 1, 2, 3)" in found.text


def test_sound_engine_has_nothing_to_mend() -> None:
    """A maintained engine with all limits passes."""
    assert set(levels(list(check_engine(ENGINE))).values()) == {Level.OK}


@pytest.mark.parametrize(
    ("change", "check", "level"),
    [
        ({"ServerVersion": "20.10.24+dfsg1"}, "engine version", Level.WARNING),
        ({"ServerVersion": ""}, "engine version", Level.WARNING),
        ({"Parts": {"runc": "1.1.5+ds1"}}, "runc version", Level.WARNING),
        ({"Parts": {"runc": "1.3.5"}}, "runc version", Level.WARNING),
        ({"Parts": {"runc": "1.4.2"}}, "runc version", Level.WARNING),
        ({"Parts": {"runc": "1.4.3"}}, "runc version", Level.OK),
        ({"Parts": {"runc": "1.5.0-rc.1"}}, "runc version", Level.OK),
        ({"Parts": {"runc": "2.0.0"}}, "runc version", Level.OK),
        ({"Parts": {}}, "runc version", Level.NOTE),
        ({"MemoryLimit": False}, "control groups", Level.ERROR),
        ({"PidsLimit": False}, "control groups", Level.ERROR),
        ({"LiveRestoreEnabled": True}, "live restore", Level.NOTE),
        ({"SecurityOptions": []}, "user namespaces", Level.NOTE),
        (
            {"SecurityOptions": ["name=rootless"], "CgroupVersion": "1"},
            "control groups",
            Level.ERROR,
        ),
        ({"SecurityOptions": ["name=rootless"]}, "control groups", Level.OK),
    ],
)
def test_what_is_wrong_with_an_engine_is_named(
    change: dict[str, Any], check: str, level: Level
) -> None:
    """Age and missing limits of an engine are found by what it says of itself."""
    found = {finding.check: finding for finding in check_engine({**ENGINE, **change})}
    assert found[check].level is level
    assert (found[check].fix == "") == (level is Level.OK or not change.get("Parts", True))


@pytest.mark.parametrize(
    ("log", "out_of_memory", "wrong"),
    [
        (f"processes {PROBE_LIMITS.pids - 1}\n", True, set()),
        (f"processes {PROBE_LIMITS.pids + 1}\n", True, {"limit of processes"}),
        (f"processes {PROBE_LIMITS.pids - 1}\nmemory 100663296\n", False, {"limit of memory"}),
        ("", True, {"limit of processes"}),
    ],
)
def test_limit_that_does_not_hold_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
    log: str,
    *,
    out_of_memory: bool,
    wrong: set[str],
) -> None:
    """A probe that got more than it may have means that no bot must be run."""
    report = BotReport(exit=Exit(code=0), out_of_memory=out_of_memory, log=log, log_truncated=False)
    monkeypatch.setattr(checks, "_run", lambda *_: report)
    monkeypatch.setattr(checks, "_image", lambda _: "sha256:probe")
    sandbox: Any = None
    found = levels(list(check_limits(sandbox)))
    assert {check for check, level in found.items() if level is Level.ERROR} == wrong


def test_verdict_is_the_worst_finding() -> None:
    """Notes are no reason to mend, warnings are, and errors forbid to run bots."""
    found = [Finding("a", Level.OK, ""), Finding("b", Level.NOTE, "")]
    assert doctor.verdict(found) == 0
    found.append(Finding("c", Level.WARNING, ""))
    assert doctor.verdict(found) == 1
    found.append(Finding("d", Level.ERROR, ""))
    assert doctor.verdict(found) == 3


def test_machine_without_an_engine_is_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The socket that was tried, why that one, and what to type; exit code 3."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/socket")
    assert main(["doctor", "--home", str(tmp_path), "--json"]) == 3
    said = json.loads(capsys.readouterr().out)
    assert said["ok"] is False
    (engine,) = [one for one in said["findings"] if one["check"] == "engine"]
    assert engine["level"] == "error"
    assert "unix:///no/such/socket" in engine["text"]
    assert "DOCKER_HOST" in engine["text"]
    assert engine["fix"]


@pytest.mark.docker
def test_limits_hold_and_answers_travel_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Real probes against the engine of this machine: a start, two limits and a short match."""
    code = main(["doctor", "--home", str(tmp_path), "--json"])
    found = {one["check"]: one for one in json.loads(capsys.readouterr().out)["findings"]}
    assert code in {0, 1}
    assert found["limit of processes"]["level"] == "ok"
    assert found["limit of memory"]["level"] == "ok"
    assert "p50" in found["transport"]["text"]
    assert "p99" in found["transport"]["text"]
    assert found["engine"]["level"] == "ok"
    assert all(one["fix"] for one in found.values() if one["level"] == "warning")


def test_leftovers_are_named_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container that could not be removed is on the list until it is gone."""
    stuck = Leftover("container", "bura-bot-1", "its owner is dead", lambda: None)

    def leftovers(
        _home: Home, _sandbox: ContainerSandbox | None, *, removes: bool
    ) -> list[Leftover]:
        assert not removes
        return [stuck]

    monkeypatch.setattr(doctor, "find_leftovers", leftovers)
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/socket")
    found = list(doctor.examine(Home(tmp_path), probe=False))
    assert found[-1].check == "leftovers"
    assert "bura-bot-1" in found[-1].text
    assert found[-1].fix == "arena clean"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without any engine, and with a folder of settings for `docker`."""
    for name in ("DOCKER_HOST", "DOCKER_CONTEXT", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
    monkeypatch.setattr(endpoint, "USUAL", tmp_path / "usual.sock")
    (tmp_path / "docker").mkdir()
    return tmp_path


def context(folder: Path, name: str, address: str) -> None:
    """Write a context as `docker context create` does."""
    place = folder / "docker" / "contexts" / "meta" / sha256(name.encode()).hexdigest()
    place.mkdir(parents=True)
    meta = {"Name": name, "Endpoints": {"docker": {"Host": address, "SkipTLSVerify": False}}}
    (place / "meta.json").write_text(json.dumps(meta))


def test_host_of_the_environment_comes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DOCKER_HOST wins over a context, as it does for `docker`."""
    context(folder, "colima", "unix:///colima.sock")
    monkeypatch.setenv("DOCKER_CONTEXT", "colima")
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:2375")
    assert str(find_endpoint()) == "tcp://127.0.0.1:2375 (from DOCKER_HOST)"


def test_current_context_is_honoured(folder: Path) -> None:
    """The engine is the one that `docker context use` chose."""
    context(folder, "colima", "unix:///colima.sock")
    (folder / "docker" / "config.json").write_text('{"currentContext": "colima"}')
    assert str(find_endpoint()) == "unix:///colima.sock (from the docker context colima)"


def test_missing_context_says_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A context that is gone is named, with a way to choose another."""
    assert folder.is_dir()
    monkeypatch.setenv("DOCKER_CONTEXT", "gone")
    with pytest.raises(EngineMissingError, match="context gone") as caught:
        find_endpoint()
    assert "docker context use" in caught.value.hint


@pytest.mark.parametrize("text", ["{", "[]", '{"currentContext": 3}', '{"currentContext": ""}'])
def test_spoilt_settings_mean_the_default(folder: Path, text: str) -> None:
    """Settings that cannot be read are those of a user who has none."""
    (folder / "docker" / "config.json").write_text(text)
    assert find_endpoint().address == f"unix://{folder / 'usual.sock'}"


@pytest.mark.usefixtures("folder")
def test_first_socket_found_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rootless engines and desktops are found without any setting, the usual one first."""
    # The paths of sockets must be short.
    with tempfile.TemporaryDirectory(prefix="d-") as place:
        short = Path(place)
        monkeypatch.setenv("HOME", place)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(short / "run"))
        monkeypatch.setattr(endpoint, "USUAL", short / "usual.sock")
        for name in (".docker/run/docker.sock", "run/docker.sock", "usual.sock"):
            path = short / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with socket.socket(socket.AF_UNIX) as one:
                one.bind(str(path))
            assert find_endpoint().address == f"unix://{path}"
