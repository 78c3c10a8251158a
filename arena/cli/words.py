"""Values in the words of the command line."""

import textwrap
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from referee.players import FaultKind

Item = TypeVar("Item")

FAULT_WORDS = {
    FaultKind.NO_CONNECT: "never connected to the referee",
    FaultKind.START_FAILED: "could not be started",
    FaultKind.TIMEOUT: "answered too late",
    FaultKind.CRASH: "crashed",
    FaultKind.OUT_OF_MEMORY: "ran out of memory",
    FaultKind.DISCONNECTED: "closed its connection",
    FaultKind.ILLEGAL_ACTION: "chose an action that was not offered",
    FaultKind.OUT_OF_TURN: "answered when nothing was asked",
    FaultKind.DOUBLE_ACTION: "answered the same turn twice",
    FaultKind.PROTOCOL: "sent a message that cannot be read",
}

VOID_WORDS = {
    "engine_lost": "the container engine failed",
    "platform_stall": "the machine stood still",
    "worker_lost": "the process that played it died",
    "disk_full": "the disk was full",
    "image_missing": "an image was not on the machine",
    "limits_missing": "a limit for bots was not in force",
    "referee_error": "the referee failed",
    "leak": "a bot would have been told what only the referee may know",
    "interrupted": "the run was stopped",
    "fenced": "it came too late",
}

MINUTE = 60
LINE = 80
KIBI = 1024

NO_BOUNDARY = "bots run as plain processes: this is no security boundary"


def number(value: Fraction | float, digits: int = 2) -> str:
    """Return a number with at most so many decimals, without trailing zeros."""
    text = f"{float(value):.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def signed(value: Fraction | float, digits: int = 3) -> str:
    """Return a number with its sign and all its decimals, so that columns line up."""
    return f"{float(value):+.{digits}f}"


def against(names: Sequence[str], sides: Sequence[int] = ()) -> str:
    """Return who played whom, partners joined by a plus."""
    return " vs ".join("+".join(names[seat] for seat in seats) for seats in _by_side(names, sides))


def totals(scores: Sequence[Fraction] | None, sides: Sequence[int] = ()) -> str:
    """Return the totals of a match, apart by colons since they may be negative; "-" without.

    Of partners it is their mean, which is what both have wherever a side scores as one.
    """
    if scores is None:
        return "-"
    groups = _by_side(scores, sides)
    means = [sum((scores[seat] for seat in seats), Fraction()) / len(seats) for seats in groups]
    return " : ".join(map(number, means))


def _by_side(values: Sequence[object], sides: Sequence[int]) -> list[list[int]]:
    """Return the seats of each side, sides in the order of their first seat."""
    groups: dict[int, list[int]] = {}
    for seat in range(len(values)):
        groups.setdefault(sides[seat] if sides else seat, []).append(seat)
    return list(groups.values())


def wrapped(text: str) -> str:
    """Return a sentence in lines that fit any terminal, all but the first indented."""
    return textwrap.fill(text, LINE, subsequent_indent="  ", break_on_hyphens=False)


def percent(value: Fraction | None) -> str:
    """Return hundredths with one decimal, "-" where there is nothing to divide."""
    return "-" if value is None else f"{float(value):.1f}%"


def percent_of(part: float | None, digits: int = 1) -> str:
    """Return a part of 1 as hundredths, "-" where it is not known."""
    return "-" if part is None else f"{100 * part:.{digits}f}%"


def likelihood(part: float | None) -> str:
    """Return a probability that was estimated, which is never 0 or 1; "-" where it is not known."""
    if part is None:
        return "-"
    rounded = percent_of(part)
    return {"0.0%": "<0.1%", "100.0%": ">99.9%"}.get(rounded, rounded)


def interval(half_width: float | None, digits: int = 3) -> str:
    """Return half an interval, "-" where nothing is known of it."""
    return "-" if half_width is None else f"{half_width:.{digits}f}"


def count(amount: int, singular: str, plural: str = "") -> str:
    """Return the amount with its noun in the right number."""
    return f"{amount} {singular if amount == 1 else plural or singular + 's'}"


def fault_words(kind: str) -> str:
    """Return what a bot did, as the end of a sentence that begins with its name."""
    return FAULT_WORDS[FaultKind(kind)]


def grouped(items: Iterable[Item], key: Callable[[Item], Hashable]) -> list[list[Item]]:
    """Return items that are alike together, in the order of the first of each kind."""
    groups: dict[Hashable, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def void_words(verdict: str) -> str:
    """Return why an attempt counts for nobody, as a sentence without its end."""
    return VOID_WORDS.get(verdict, verdict)


def stall_words(stalls: int, stalled_us: int) -> str:
    """Return how often the referee did not run and for how long, as the end of a sentence."""
    times = "once" if stalls == 1 else count(stalls, "time")
    return f"stood still {times}, {seconds(stalled_us / 1e6)} in all, charged to no bot"


def size(count: int) -> str:
    """Return an amount of bytes in the unit that suits it."""
    value, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if value < KIBI:
            break
        value, unit = value / KIBI, larger
    return f"{number(value, 1)} {unit}"


def milliseconds(microseconds: int) -> str:
    """Return a short time with the decimals that tell bots apart."""
    return f"{number(microseconds / 1000, 1)} ms"


def seconds(value: float) -> str:
    """Return a time in the unit that suits it."""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < MINUTE:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), MINUTE)
    return f"{minutes} min {rest:02d} s"


def digest(text: str) -> str:
    """Return the first twelve digits of a digest, as the engine's own tools show it."""
    return text.removeprefix("sha256:")[:12]


def path_text(path: Path) -> str:
    """Return a path as short as it can be typed here."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
