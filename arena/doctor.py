"""Looks this machine over before a tournament does: what is wrong, and how to mend it."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cleaning import find_leftovers
from arena.errors import ArenaError
from arena.home import Home
from arena.jobs import MatchDescription
from arena.owners import ownership
from arena.runner import run_match
from arena.sandbox import BotSource, EngineMissingError
from arena.sandbox.endpoint import find_endpoint
from arena.sandbox.host import Finding, Host, Level
from arena.sandbox.slots import plan_slots, usable_cores
from arena.store import describe
from referee.players import PlatformError
from referee.results import ClockUsage, Entrant, MatchSpec, TimeControl
from referee.shuffle import new_seed
from referee.variants import find_variant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from arena.sandbox.container import ContainerSandbox

__all__ = ["examine", "verdict"]

ECHO_DECKS = 20
# What the referee adds to a bot's own time on an idle machine stays far below these.
USUAL_P50_US, USUAL_P99_US = 2_000, 10_000


def examine(
    home: Home, *, probe: bool = True, say: Callable[[str], None] = lambda _: None
) -> Iterator[Finding]:
    """Check the machine, engine and database, limits, the way to bots, and what dead runs left.

    Args:
        home: The arena, which need not exist.
        probe: Whether bots may be started to see how they are held.
        say: Told in a line what takes its time.
    """
    yield from Host().findings(usable_cores())
    sandbox = None
    try:
        where = find_endpoint()
        sandbox = _connect()
        yield Finding("engine", Level.OK, f"answers at {where}")
    except EngineMissingError as error:
        yield Finding("engine", Level.ERROR, error.message, error.hint)
    yield _database(home)
    try:
        if sandbox is not None:
            yield from _containers(sandbox, probe=probe, say=say)
        yield from _leftovers(home, sandbox)
    except ArenaError as error:
        yield Finding("leftovers", Level.ERROR, error.message, error.hint)
    finally:
        if sandbox is not None:
            sandbox.engine.close()


def verdict(findings: list[Finding]) -> int:
    """Return the exit code: 3 if bots cannot be run here, 1 if anything needs mending, else 0."""
    levels = {finding.level for finding in findings}
    return 3 if Level.ERROR in levels else 1 if Level.WARNING in levels else 0


def _connect() -> ContainerSandbox:
    from arena.sandbox.container import ContainerSandbox  # noqa: PLC0415 - the engine's client

    return ContainerSandbox()


def _containers(
    sandbox: ContainerSandbox, *, probe: bool, say: Callable[[str], None]
) -> Iterator[Finding]:
    from arena.sandbox.checks import check_engine, check_limits  # noqa: PLC0415 - the same

    try:
        yield from check_engine(sandbox.engine.about())
        if not probe:
            return
        say("starting bots that take more than they may, and a match of bots that answer at once")
        yield from check_limits(sandbox)
        yield _overhead(_echo_match())
    except (ArenaError, PlatformError) as error:
        yield Finding("probe", Level.ERROR, *_told(error))


def _told(error: Exception) -> tuple[str, str]:
    if isinstance(error, ArenaError):
        return " ".join(error.message.split()), error.hint
    return " ".join(str(error).split()), ""


def _echo_match() -> ClockUsage:
    """Play a match between bots that answer at once; return how long their answers took."""
    from arena.sandbox.checks import echo_image  # noqa: PLC0415 - the engine's client

    image = echo_image()
    with tempfile.TemporaryDirectory(prefix="bura-play-") as folder, ExitStack() as stack:
        scratch = Home(Path(folder))
        scratch.create()
        report = run_match(
            MatchDescription(
                spec=MatchSpec(
                    variant="bura",
                    rules=find_variant("bura"),
                    seats=2,
                    decks=ECHO_DECKS,
                    seed=new_seed(),
                    entrants=(Entrant("echo"), Entrant("echo")),
                    time_control=TimeControl(move_time_ms=10_000, startup_ms=60_000),
                ),
                bots=(BotSource(image=image),) * 2,
                positions=(0, 1),
                sandbox="container",
                home=scratch.path,
                folder="doctor",
                slot=plan_slots(wanted=1)[0],
                owner=stack.enter_context(ownership(scratch)).boot,
            )
        )
    if report.result.faults:
        fault = report.result.faults[0].fault
        raise PlatformError(f"a bot that answers at once was at fault: {fault.detail}")
    clocks = [clock for leg in report.result.legs for clock in leg.clocks]
    return sum(clocks[1:], clocks[0])


def _overhead(usage: ClockUsage) -> Finding:
    p50, p99 = usage.percentile_us(50), usage.percentile_us(99)
    text = (
        f"sockets reach into containers; {len(usage.answers_us)} answers took "
        f"{p50 / 1000:.2f} ms (p50), {p99 / 1000:.2f} ms (p99), a Python bot's own time included"
    )
    if p50 <= USUAL_P50_US and p99 <= USUAL_P99_US:
        return Finding("transport", Level.OK, text)
    return Finding(
        "transport",
        Level.WARNING,
        f"{text}: slower than the usual {USUAL_P50_US // 1000} and {USUAL_P99_US // 1000} ms",
        "see what else runs on this machine, and give bots more time with --move-time",
    )


def _database(home: Home) -> Finding:
    try:
        begun = "" if home.is_begun else "; no arena is begun there"
        return Finding("database", Level.OK, f"{describe(home)}{begun}")
    except ArenaError as error:
        return Finding("database", Level.ERROR, error.message, error.hint)


def _leftovers(home: Home, sandbox: ContainerSandbox | None) -> Iterator[Finding]:
    found = find_leftovers(home, sandbox, removes=False)
    if not found:
        yield Finding("leftovers", Level.OK, "none")
    for one in found:
        text = f"{one.kind} {one.name}: {one.why}"
        yield Finding("leftovers", Level.WARNING, text, "arena clean")
