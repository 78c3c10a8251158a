"""The record of a match: written once, read by anybody, refereed again to be believed.

A record is UTF-8 text of JSON lines with sorted keys, integers and strings only. The first line
describes the match, one line follows for each deal in the order of legs and numbers, one for each
leg after its deals, and the last holds the totals. What was measured (times, bytes on the wire)
lies under the key "measured" of its line. The digest in the last line is the SHA-256 of all lines
without that key, so it is the same whenever the same bots choose the same; the seal beside it is
the SHA-256 of everything.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from referee.cards import card_text, parse_card
from referee.players import Fault, FaultKind
from referee.programme import forced_seat
from referee.results import (
    ActionTaken,
    ClockUsage,
    DealResult,
    Entrant,
    MatchSpec,
    Offence,
    TimeControl,
)
from referee.rules import Action, FixedSource, Outcome, Reason, Rules, deal
from referee.score_text import read_score
from referee.shuffle import commitment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction
    from pathlib import Path

    from referee.results import LegResult, MatchResult
    from referee.rules import DealSource, State

__all__ = [
    "FORMAT",
    "MEASURED",
    "ActionError",
    "Record",
    "RecordError",
    "header",
    "in_words",
    "read_record",
    "replay",
    "to_record",
    "write_record",
]

FORMAT = 1
ENGINE = version("bura-arena")
MEASURED = "measured"
NOBODY = -1
# No match is larger, and nobody's file shall make the checker count further.
MOST = 1_000_000

MOST_BYTES = 1 << 26
"""Bytes of the longest line: a million answers' times take some eight million."""

UNREADABLE = (
    LookupError,
    TypeError,
    AttributeError,
    ValueError,
    ArithmeticError,
    RecursionError,
)
"""What reading values of other types than a record has may raise."""

Line = dict[str, Any]


class RecordError(ValueError):
    """A file that is no record, or not one of this format."""


class ActionError(RecordError):
    """An action that cannot have been taken."""

    def __init__(self, number: int, expected: str, found: str) -> None:
        super().__init__(f"action {number}: expected {expected}, found {found}")
        self.number = number
        self.expected = expected
        self.found = found


# ---------------------------------------------------------------------------------------- writing


def to_record(spec: MatchSpec, result: MatchResult) -> tuple[str, ...]:
    """Return the lines of a match's record, without line ends."""
    lines = [line_text(header(spec))]
    for leg in result.legs:
        lines += [line_text(deal_line(each)) for each in leg.deals]
        lines.append(line_text(_leg_line(leg)))
    last: Line = {
        "type": "result",
        "totals": [str(total) for total in result.totals],
        "conditions": result.conditions,
    }
    last["digest"] = digest_of([*lines, line_text(last)])
    last[MEASURED] = {"seal": seal_of([*lines, line_text(last)])}
    return (*lines, line_text(last))


def write_record(path: Path, spec: MatchSpec, result: MatchResult) -> str:
    """Write the record of a match so that it is on the disk whole or not at all.

    Returns:
        The SHA-256 of the file in hexadecimal.

    Raises:
        OSError: The file cannot be written.
    """
    data = "".join(line + "\n" for line in to_record(spec, result)).encode()
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    with unfinished.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return hashlib.sha256(data).hexdigest()


def line_text(line: Line) -> str:
    """Return a line as it is written: sorted keys, no spaces, no line end."""
    return json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def seal_of(lines: Sequence[str]) -> str:
    """Return the SHA-256 of lines, in hex: of everything that stands before the seal."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def digest_of(lines: Sequence[str]) -> str:
    """Return the SHA-256 of lines without what was measured, in hex."""
    canonical = []
    for line in lines:
        values = json.loads(line)
        values.pop(MEASURED, None)
        canonical.append(line_text(values))
    return seal_of(canonical)


def header(spec: MatchSpec) -> Line:
    """Return the first line of a record as a value: all that is fixed before the first deal."""
    control = spec.time_control
    return {
        "type": "match",
        "format": FORMAT,
        "engine": ENGINE,
        "variant": spec.variant,
        "rules": spec.rules.to_dict(),
        "match_format": spec.match_format,
        "seats": spec.seats,
        "decks": spec.decks,
        "tables": spec.tables,
        "match": spec.match,
        "seed_commitment": commitment(spec.seed),
        "time_control": {
            "move_time_ms": control.move_time_ms,
            "bank_ms": control.bank_ms,
            "increment_ms": control.increment_ms,
            "startup_ms": control.startup_ms,
        },
        "entrants": [
            {"name": each.name, "version": each.version, "digest": each.digest}
            for each in spec.entrants
        ],
    }


def deal_line(result: DealResult) -> Line:
    """Return the line of a deal."""
    return {
        "type": "deal",
        "leg": result.leg,
        "number": result.number,
        "deck": result.deck,
        "table": result.table,
        "playing": list(result.playing),
        "dealer": result.dealer,
        "leader": NOBODY if result.leader is None else result.leader,
        "decks": [" ".join(map(card_text, deck)) for deck in result.decks],
        "lots": [list(lot) for lot in result.lots],
        "actions": [
            [taken.seat, taken.index, str(taken.action), int(taken.asked)]
            for taken in result.actions
        ],
        "faults": [fault_line(fault) for fault in result.faults],
        "lost_by": list(result.lost_by),
        "outcome": _outcome(result.outcome),
        "scores": [str(score) for score in result.scores],
        MEASURED: {"times_us": [taken.time_us for taken in result.actions]},
    }


def _leg_line(leg: LegResult) -> Line:
    return {
        "type": "leg",
        "leg": leg.leg,
        "faults": [
            {
                **fault_line(offence.fault),
                "entrant": offence.entrant,
                "deal": NOBODY if offence.deal is None else offence.deal,
            }
            for offence in leg.faults
        ],
        "scores": [str(score) for score in leg.scores],
        MEASURED: {
            "decisions": [clock.decisions for clock in leg.clocks],
            "answers_us": [list(clock.answers_us) for clock in leg.clocks],
            "sent_bytes": [traffic.sent_bytes for traffic in leg.traffic],
            "received_bytes": [traffic.received_bytes for traffic in leg.traffic],
            "stalls": leg.stalls,
            "stalled_us": leg.stalled_us,
        },
    }


def fault_line(fault: Fault) -> Line:
    """Return the values of a fault, which stand in lines of deals and legs."""
    return {"seat": fault.seat, "kind": str(fault.kind), "detail": fault.detail}


def _outcome(outcome: Outcome) -> Line:
    return {
        "reason": str(outcome.reason),
        "winners": list(outcome.winners),
        "losers": [list(loser) for loser in outcome.losers],
        "points": list(outcome.points),
        "tricks": list(outcome.tricks),
        "last_taker": NOBODY if outcome.last_taker is None else outcome.last_taker,
        "leader": outcome.leader,
        "stake": outcome.stake,
        "detail": outcome.detail,
    }


# ---------------------------------------------------------------------------------------- reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a record says; nothing of it has been checked.

    Attributes:
        engine: Version of the platform that wrote it.
        variant: Name of the rules.
        rules: What was played.
        match_format: How deals were scored together.
        seats: How many played.
        decks: How many deals a leg had.
        match: Number of the match under its seed.
        seed_commitment: SHA-256 of the seed in hexadecimal.
        time_control: The clock.
        entrants: As they sat in leg 0.
        deals: In the order of legs and numbers.
        faults: Of all legs in order.
        clocks: By leg, then by seat.
        totals: By entrant.
        digest: Of all that was not measured.
    """

    engine: str
    variant: str
    rules: Rules
    match_format: str
    seats: int
    decks: int
    match: int
    seed_commitment: str
    time_control: TimeControl
    entrants: tuple[Entrant, ...]
    deals: tuple[DealResult, ...]
    faults: tuple[Offence, ...]
    clocks: tuple[tuple[ClockUsage, ...], ...]
    totals: tuple[Fraction, ...]
    digest: str

    def entrant_at(self, leg: int, seat: int) -> int:
        """Return the index of the entrant that sat at a seat in a leg."""
        return (seat + leg) % self.seats

    def clock(self, entrant: int) -> ClockUsage:
        """Return how an entrant used its time in all legs."""
        usage = ClockUsage()
        for leg, clocks in enumerate(self.clocks):
            usage += clocks[(entrant - leg) % self.seats]
        return usage


def read_record(path: Path) -> Record:
    """Read a record without checking that what it says is true.

    Raises:
        RecordError: The file is no record, or one of another format.
        OSError: The file cannot be read.
    """
    lines = _read_lines(path)
    try:
        head, last = lines[0], lines[-1]
        check_format(head)
        return Record(
            engine=head["engine"],
            variant=head["variant"],
            rules=Rules.from_dict(head["rules"]),
            match_format=head["match_format"],
            seats=head["seats"],
            decks=head["decks"],
            match=head["match"],
            seed_commitment=head["seed_commitment"],
            time_control=TimeControl(**head["time_control"]),
            entrants=tuple(Entrant(**each) for each in head["entrants"]),
            deals=tuple(read_deal(line) for line in lines if line["type"] == "deal"),
            faults=tuple(
                fault for line in lines if line["type"] == "leg" for fault in _read_offences(line)
            ),
            clocks=tuple(_read_clocks(line) for line in lines if line["type"] == "leg"),
            totals=tuple(map(read_score, last["totals"])),
            digest=last["digest"],
        )
    except UNREADABLE as error:
        raise RecordError(f"{path} is no record of format {FORMAT}: {in_words(error)}") from error


def in_words(error: Exception) -> str:
    """Return in words what is wrong with a text or its values that cannot be read."""
    if isinstance(error, UnicodeDecodeError):
        return "bytes that are not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return "text that is not JSON"
    if isinstance(error, KeyError):
        return f"an object without {error.args[0]!r}"
    if isinstance(error, RecursionError):
        return "values in too many others"
    return (
        f"values that do not fit: {error}"
        if type(error) is ValueError
        else "values of the wrong kind"
    )


def _read_lines(path: Path) -> list[Line]:
    try:
        text = read_bytes(path).decode()
        lines = [json.loads(line) for line in text.split("\n") if line]
    except RecordError:
        raise
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path} is no record: {in_words(error)}") from error
    if not all(isinstance(line, dict) for line in lines):
        raise RecordError(f"{path} is no record: a line is no object")
    return lines


def read_bytes(path: Path) -> bytes:
    """Read a file that has an end, and lines that have one.

    Raises:
        RecordError: It is no plain file, or a line is too long.
        OSError: It cannot be read.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise RecordError(f"{path} is no record: expected a plain file")
    lines: list[bytes] = []
    with path.open("rb") as file:
        while line := file.readline(MOST_BYTES + 1):
            if len(line) > MOST_BYTES:
                raise RecordError(
                    f"{path} is no record: line {len(lines) + 1} has more than {MOST_BYTES} bytes"
                )
            lines.append(line)
    return b"".join(lines)


def check_format(head: Line) -> None:
    """Refuse a first line of another format.

    Raises:
        RecordError: It is of another.
    """
    if head["type"] != "match" or head["format"] != FORMAT:
        raise RecordError(f"format {head.get('format')!r}: expected {FORMAT}; take another version")


def read_deal(line: Line) -> DealResult:
    """Return what the line of a deal tells.

    Raises:
        LookupError, TypeError, AttributeError, ValueError: It is no such line (`UNREADABLE`).
    """
    times = line[MEASURED]["times_us"]
    return DealResult(
        leg=line["leg"],
        number=line["number"],
        deck=line["deck"],
        table=line["table"],
        playing=tuple(line["playing"]),
        dealer=line["dealer"],
        leader=None if line["leader"] == NOBODY else line["leader"],
        decks=tuple(tuple(map(parse_card, deck.split())) for deck in line["decks"]),
        lots=tuple((purpose, n, value) for purpose, n, value in line["lots"]),
        actions=tuple(
            ActionTaken(seat, Action.parse(text), index, bool(asked), time_us)
            for (seat, index, text, asked), time_us in zip(line["actions"], times, strict=True)
        ),
        faults=tuple(map(_read_fault, line["faults"])),
        lost_by=tuple(line["lost_by"]),
        outcome=_read_outcome(line["outcome"]),
        scores=tuple(map(read_score, line["scores"])),
    )


def _read_offences(line: Line) -> list[Offence]:
    return [
        Offence(
            leg=line["leg"],
            deal=None if each["deal"] == NOBODY else each["deal"],
            entrant=each["entrant"],
            fault=_read_fault(each),
        )
        for each in line["faults"]
    ]


def _read_fault(line: Line) -> Fault:
    return Fault(FaultKind(line["kind"]), line["seat"], line["detail"])


def _read_clocks(line: Line) -> tuple[ClockUsage, ...]:
    answers = line[MEASURED]["answers_us"]
    return tuple(
        ClockUsage(decisions=decisions, answers_us=tuple(times))
        for decisions, times in zip(line[MEASURED]["decisions"], answers, strict=True)
    )


def _read_outcome(line: Line) -> Outcome:
    taker = line["last_taker"]
    return Outcome(
        reason=Reason(line["reason"]),
        winners=tuple(line["winners"]),
        losers=tuple((seat, weight) for seat, weight in line["losers"]),
        points=tuple(line["points"]),
        tricks=tuple(line["tricks"]),
        last_taker=None if taker == NOBODY else taker,
        leader=line["leader"],
        stake=line["stake"],
        detail=line["detail"],
    )


def replay(rules: Rules, result: DealResult) -> Iterator[State]:
    """Yield the state of a recorded deal before each action and after the last.

    It is one state that moves on; copy it to keep it.

    Raises:
        RecordError: The deal cannot have gone this way.
    """
    return replay_from(rules, result, given_source(result))


def replay_from(rules: Rules, result: DealResult, source: DealSource) -> Iterator[State]:
    """Yield the states of a recorded deal as `replay` does, with its chances from elsewhere.

    Raises:
        ActionError: An action cannot have been taken.
    """
    state = _dealt(rules, result, source)
    for number, taken in enumerate(result.actions):
        yield state
        if state.asked[:1] != (taken.seat,):
            raise ActionError(number, f"seat {state.asked[:1]} to choose", f"seat {taken.seat}")
        actions = state.legal_actions(taken.seat)
        if not 0 <= taken.index < len(actions):
            raise ActionError(number, f"an index below {len(actions)}", str(taken.index))
        if actions[taken.index] != taken.action:
            raise ActionError(number, str(actions[taken.index]), str(taken.action))
        if taken.asked != (forced_seat(state) != taken.seat):
            raise ActionError(number, f"asked: {not taken.asked}", f"asked: {taken.asked}")
        state.apply(taken.seat, taken.action)
    yield state


def _dealt(rules: Rules, result: DealResult, source: DealSource) -> State:
    return deal(
        rules,
        seats=len(result.playing),
        dealer=result.dealer,
        leader=result.leader,
        source=source,
    )


def given_source(result: DealResult) -> FixedSource:
    """Return the chances of a deal as the record gives them."""
    lots: dict[str, Sequence[int]] = {}
    for purpose, _, value in result.lots:
        lots[purpose] = (*lots.get(purpose, ()), value)
    return FixedSource(result.decks, lots)
