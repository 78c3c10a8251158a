"""Plays a leg between bot programs through real sockets."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from referee.match import play_leg
from referee.players import Fault, FaultKind
from referee.remote import Reception
from referee.results import Entrant, MatchSpec, TimeControl
from referee.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.results import LegResult

BOTS = Path(__file__).parent / "bots"
RULES = Rules(false_claim="lose_double", combinations=("bura", "molodka"))
EXIT_SECONDS = 60.0
EXPLAIN_SECONDS = 60.0
"""How long a bot whose stream has ended may take to exit, if that is what it does."""


@dataclass(frozen=True)
class Played:
    """A leg, and what the bots printed."""

    leg: LegResult
    outputs: tuple[str, ...]
    seconds: float


def spec(seats: int = 2, **changes: object) -> MatchSpec:
    """A short match of the first rules a bot meets."""
    options = {
        "variant": "test",
        "rules": RULES,
        "seats": seats,
        "decks": 2,
        "seed": bytes(range(32)),
        "entrants": tuple(Entrant(name) for name in "abcdef"[:seats]),
        "time_control": TimeControl(move_time_ms=30_000, startup_ms=60_000),
    }
    return MatchSpec(**{**options, **changes})  # type: ignore[arg-type]


def play(
    match: MatchSpec,
    *commands: Sequence[str],
    explain_seconds: float = EXPLAIN_SECONDS,
    let_end: bool = False,
) -> Played:
    """Play leg 0; a command is the name of a bot in tests/bots and its arguments.

    After a leg with faults the bots are killed, unless they are to end by themselves.
    """
    processes: list[subprocess.Popen[str]] = []

    def poll(seat: int) -> Fault | None:
        code = processes[seat].poll()
        return None if code is None else Fault(FaultKind.START_FAILED, seat, f"exit code {code}")

    def explain(fault: Fault) -> Fault | None:
        seconds = explain_seconds if fault.kind is FaultKind.DISCONNECTED else 0
        try:
            code = processes[fault.seat].wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        return Fault(FaultKind.CRASH, fault.seat, f"exit code {code}")

    began = time.monotonic()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bura-")))
        reception = stack.enter_context(Reception(match, 0))
        for seat, command in enumerate(commands):
            socket = folder / f"{seat}.sock"
            reception.listen(socket)
            processes.append(_start(command, socket))
            stack.callback(_end, processes[-1])
        reception.wait_for_bots(poll=poll)
        leg = play_leg(match, 0, reception.players, reception.inbox, explain=explain)
        seconds = time.monotonic() - began
        if leg.faults and not let_end:
            for process in processes:
                process.kill()
        outputs = tuple(process.communicate(timeout=EXIT_SECONDS)[0] for process in processes)
    return Played(leg, outputs, seconds)


def _start(command: Sequence[str], socket: Path) -> subprocess.Popen[str]:
    program = BOTS / f"{command[0]}.py"
    return subprocess.Popen(
        [sys.executable, str(program), *command[1:]],
        env={**os.environ, "ARENA_ADDRESS": f"unix:{socket}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()
