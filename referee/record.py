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
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from referee.cards import card_text, full_deck, parse_card
from referee.players import Fault, FaultKind
from referee.programme import (
    Chain,
    RecordingSource,
    Setup,
    deal_scores,
    deck_source,
    forced_seat,
    lost_by_fault,
    programme_of,
)
from referee.results import (
    SERIES,
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
from referee.shuffle import SEED_BYTES, commitment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from referee.programme import Programme
    from referee.results import LegResult, MatchResult
    from referee.rules import DealSource, State

__all__ = [
    "FORMAT",
    "Difference",
    "Record",
    "RecordError",
    "Verification",
    "header",
    "in_words",
    "read_record",
    "replay",
    "to_record",
    "verify_record",
    "write_record",
]

FORMAT = 1
ENGINE = version("bura-arena")
MEASURED = "measured"
NOBODY = -1
SHOWN = 200
# No match is larger, and nobody's file shall make the checker count further.
MOST = 1_000_000

MOST_BYTES = 1 << 26
"""Bytes of the longest line: a million answers' times take some eight million."""

# What reading values of other types than a record has may raise.
_UNREADABLE = (
    LookupError,
    TypeError,
    AttributeError,
    ValueError,
    ArithmeticError,
    RecursionError,
)

Line = dict[str, Any]
Checked = TypeVar("Checked")


class RecordError(ValueError):
    """A file that is no record, or not one of this format."""


class _ActionError(RecordError):
    """An action that cannot have been taken."""

    def __init__(self, number: int, expected: str, found: str) -> None:
        super().__init__(f"action {number}: expected {expected}, found {found}")
        self.number = number
        self.expected = expected
        self.found = found


# ---------------------------------------------------------------------------------------- writing


def to_record(spec: MatchSpec, result: MatchResult) -> tuple[str, ...]:
    """Return the lines of a match's record, without line ends."""
    lines = [_text(header(spec))]
    for leg in result.legs:
        lines += [_text(_deal_line(each)) for each in leg.deals]
        lines.append(_text(_leg_line(leg)))
    last: Line = {
        "type": "result",
        "totals": [str(total) for total in result.totals],
        "conditions": result.conditions,
    }
    last["digest"] = _digest([*lines, _text(last)])
    last[MEASURED] = {"seal": _seal([*lines, _text(last)])}
    return (*lines, _text(last))


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


def _text(line: Line) -> str:
    return json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _seal(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _digest(lines: Sequence[str]) -> str:
    canonical = []
    for line in lines:
        values = json.loads(line)
        values.pop(MEASURED, None)
        canonical.append(_text(values))
    return _seal(canonical)


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


def _deal_line(result: DealResult) -> Line:
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
        "faults": [_fault(fault) for fault in result.faults],
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
                **_fault(offence.fault),
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
        },
    }


def _fault(fault: Fault) -> Line:
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
        _check_format(head)
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
            deals=tuple(_read_deal(line) for line in lines if line["type"] == "deal"),
            faults=tuple(
                fault for line in lines if line["type"] == "leg" for fault in _read_offences(line)
            ),
            clocks=tuple(_read_clocks(line) for line in lines if line["type"] == "leg"),
            totals=tuple(map(read_score, last["totals"])),
            digest=last["digest"],
        )
    except _UNREADABLE as error:
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
        text = _read_bytes(path).decode()
        lines = [json.loads(line) for line in text.split("\n") if line]
    except RecordError:
        raise
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path} is no record: {in_words(error)}") from error
    if not all(isinstance(line, dict) for line in lines):
        raise RecordError(f"{path} is no record: a line is no object")
    return lines


def _read_bytes(path: Path) -> bytes:
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


def _check_format(head: Line) -> None:
    if head["type"] != "match" or head["format"] != FORMAT:
        raise RecordError(f"format {head.get('format')!r}: expected {FORMAT}; take another version")


def _read_deal(line: Line) -> DealResult:
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
    return _replay(rules, result, _given(result))


def _replay(rules: Rules, result: DealResult, source: DealSource) -> Iterator[State]:
    state = _dealt(rules, result, source)
    for number, taken in enumerate(result.actions):
        yield state
        if state.asked[:1] != (taken.seat,):
            raise _ActionError(number, f"seat {state.asked[:1]} to choose", f"seat {taken.seat}")
        actions = state.legal_actions(taken.seat)
        if not 0 <= taken.index < len(actions):
            raise _ActionError(number, f"an index below {len(actions)}", str(taken.index))
        if actions[taken.index] != taken.action:
            raise _ActionError(number, str(actions[taken.index]), str(taken.action))
        if taken.asked != (forced_seat(state) != taken.seat):
            raise _ActionError(number, f"asked: {not taken.asked}", f"asked: {taken.asked}")
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


def _given(result: DealResult) -> FixedSource:
    """Return the chances of a deal as the record gives them."""
    lots: dict[str, Sequence[int]] = {}
    for purpose, _, value in result.lots:
        lots[purpose] = (*lots.get(purpose, ()), value)
    return FixedSource(result.decks, lots)


# --------------------------------------------------------------------------------------- checking


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a record departs from what refereeing it again gives.

    Attributes:
        line: From 1.
        field: Name of the value in the line.
        expected: What refereeing gives.
        found: What the record says.
    """

    line: int
    field: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"line {self.line}, {self.field}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True, slots=True)
class Verification:
    """What checking a record came to.

    Attributes:
        difference: The first one; None if the record holds.
        proved: What a record that holds is consistent with.
        digest: Of the record, empty if it does not hold.
    """

    difference: Difference | None
    proved: str
    digest: str = ""

    @property
    def ok(self) -> bool:
        """Whether the record holds."""
        return self.difference is None


def verify_record(path: Path, seed: bytes | None = None) -> Verification:
    """Referee a recorded match again, from its decks and actions.

    Args:
        path: The record.
        seed: The revealed seed, 32 bytes; without it the decks are taken as the record gives them.

    Raises:
        RecordError: The file is no plain file, or has a line that is too long.
        OSError: The file cannot be read.
    """
    proved = "consistent with the decks in the record"
    if seed is not None:
        proved = "consistent with the decks of the revealed seed"
    try:
        digest = _Checker(_read_bytes(path), seed).check()
    except _DifferenceError as error:
        return Verification(error.difference, proved)
    return Verification(None, proved, digest)


class _DifferenceError(Exception):
    """Ends the check at the first difference."""

    def __init__(self, difference: Difference) -> None:
        super().__init__(str(difference))
        self.difference = difference


class _Checker:
    """Walks through a record line by line, doing again what each line tells."""

    def __init__(self, data: bytes, seed: bytes | None) -> None:
        self._data = data
        self._seed = seed
        self._at = 0
        self._texts: list[str] = []
        self._first_leg: dict[int, DealResult] = {}

    def check(self) -> str:
        """Check everything and return the digest.

        Raises:
            _DifferenceError: At the first difference.
        """
        self._split()
        spec = self._guarded(self._check_header)
        totals = [Fraction(0)] * spec.seats
        for leg in range(spec.legs):
            for entrant, score in enumerate(self._check_leg(spec, leg)):
                totals[entrant] += score
        return self._guarded(lambda line: self._check_last(line, totals))

    def _split(self) -> None:
        try:
            text = self._data.decode()
        except UnicodeDecodeError as error:
            self._at = self._data[: error.start].count(b"\n") + 1
            self._differ("text", "UTF-8", "other bytes")
        self._texts = text.split("\n")
        if self._texts.pop() != "":
            self._at = len(self._texts) + 1
            self._differ("text", "a line end", "the end of the file")

    def _guarded(self, check: Callable[[Line], Checked], step: int = 1) -> Checked:
        """Check the next line; what cannot even be read is a difference too."""
        self._at += 1
        try:
            return self._checked(check)
        finally:
            self._at -= 1 - step

    def _checked(self, check: Callable[[Line], Checked]) -> Checked:
        if self._at > len(self._texts):
            self._differ("text", "another line", "the end of the file")
        text = self._texts[self._at - 1]
        try:
            line = json.loads(text)
            self._equal("text", _text(line), text)
            return check(line)
        except _ActionError as error:
            self._differ(f"actions[{error.number}]", error.expected, error.found)
        except _UNREADABLE as error:
            self._differ("text", f"a line of format {FORMAT}", in_words(error))

    def _equal(self, name: str, expected: object, found: object) -> None:
        # As text, because Python holds 1, 1.0 and True for equal; a record does not.
        if _text({"": expected}) != _text({"": found}):
            self._differ(name, _shown(expected), _shown(found))

    def _differ(self, name: str, expected: str, found: str) -> NoReturn:
        raise _DifferenceError(Difference(self._at, name, expected, found))

    def _same(self, expected: Line, found: Line) -> None:
        """Compare a line with what it should be, value by value."""
        for name in sorted(expected.keys() | found.keys()):
            self._equal(name, expected.get(name, "nothing"), found.get(name, "nothing"))

    # ------------------------------------------------------------------------------ the lines

    def _check_header(self, line: Line) -> MatchSpec:
        _check_format(line)
        for name in ("seats", "decks", "tables", "match"):
            if type(line[name]) is not int or not 0 <= line[name] < MOST:
                self._differ(name, f"a whole number below {MOST}", _shown(line[name]))
        seed = self._seed or bytes(SEED_BYTES)
        spec = MatchSpec(
            variant=line["variant"],
            rules=Rules.from_dict(line["rules"]),
            seats=line["seats"],
            decks=line["decks"],
            tables=line["tables"],
            seed=seed,
            match=line["match"],
            match_format=line["match_format"],
            time_control=TimeControl(**line["time_control"]),
            entrants=tuple(Entrant(**each) for each in line["entrants"]),
        )
        expected = header(spec)
        # Neither follows from anything else in the record.
        expected["engine"] = str(line["engine"])
        if self._seed is None:
            expected["seed_commitment"] = str(line["seed_commitment"])
        self._same(expected, line)
        return spec

    def _check_leg(self, spec: MatchSpec, leg: int) -> tuple[Fraction, ...]:
        programme = self._programme(spec, leg)
        results: list[DealResult] = []
        while (setup := programme.next_deal()) is not None:
            check = partial(self._check_deal, spec=spec, leg=leg, setup=setup)
            result, by_seat = self._guarded(check)
            programme.add(result.outcome, by_seat)
            results.append(result)
        scores = spec.by_entrant(leg, programme.scores())
        check_end = partial(self._check_leg_line, spec=spec, leg=leg, results=results)
        self._guarded(partial(check_end, scores=scores))
        return scores

    def _programme(self, spec: MatchSpec, leg: int) -> Programme:
        if self._seed is not None:
            return programme_of(spec, leg)
        if spec.match_format == SERIES:
            return _GivenSeries(spec, self._next_deal_line)
        return Chain(spec.rules, spec.seats, self._next_deal_line()["dealer"])

    def _next_deal_line(self) -> Line:
        """Return the line that comes next, which has to be a deal's."""
        return self._guarded(self._check_is_deal, step=0)

    def _check_is_deal(self, line: Line) -> Line:
        self._equal("type", "deal", line.get("type"))
        for name, below in (("deck", MOST), ("dealer", len(line["playing"]))):
            if type(line[name]) is not int or not 0 <= line[name] < below:
                self._differ(name, "a number of one there is", _shown(line[name]))
        return line

    def _check_deal(
        self, line: Line, *, spec: MatchSpec, leg: int, setup: Setup
    ) -> tuple[DealResult, tuple[Fraction, ...]]:
        """Play a deal again, and return it with its scores by seat."""
        claimed = _read_deal(line)
        begun = replace(
            claimed,
            leg=leg,
            number=setup.number,
            deck=setup.deck,
            playing=setup.playing,
            dealer=setup.dealer,
            leader=setup.leader,
        )
        self._same(_deal_line(begun), line)
        self._check_decks(claimed, spec)
        source = self._source(claimed, spec)
        *_, state = _replay(spec.rules, claimed, source)
        outcome = self._outcome(claimed, state)
        by_seat = deal_scores(spec.rules, spec.seats, setup, outcome)
        expected = replace(
            claimed,
            decks=tuple(source.decks),
            lots=tuple(source.lots),
            outcome=outcome,
            scores=spec.by_entrant(leg, by_seat),
        )
        self._same(_deal_line(expected), line)
        return expected, by_seat

    def _check_decks(self, claimed: DealResult, spec: MatchSpec) -> None:
        whole = sorted(full_deck(spec.rules.deck))
        if not claimed.decks:
            self._differ("decks", "at least one deck", "none")
        for deck in claimed.decks:
            self._equal("decks", " ".join(map(card_text, whole)), _sorted_text(deck))
        first = self._first_leg.setdefault(claimed.deck, claimed)
        for name in ("dealer", "decks", "lots"):
            self._equal(name, getattr(first, name), getattr(claimed, name))
        if not 0 <= claimed.table < min(spec.tables, spec.decks):
            self._differ("table", f"one of {spec.tables}", str(claimed.table))

    def _source(self, claimed: DealResult, spec: MatchSpec) -> RecordingSource:
        if self._seed is None:
            return RecordingSource(_given(claimed))
        return RecordingSource(deck_source(spec.rules, self._seed, spec.match, claimed.deck))

    def _outcome(self, claimed: DealResult, state: State) -> Outcome:
        """Return the end of a deal that was played again."""
        at_fault = [fault.seat for fault in claimed.faults]
        self._equal("faults", sorted(set(at_fault)), at_fault)
        lost_by = sorted(set(claimed.lost_by) & set(claimed.playing) | set(at_fault))
        self._equal("lost_by", lost_by, list(claimed.lost_by))
        if lost_by:
            return lost_by_fault(state, [claimed.playing.index(seat) for seat in lost_by])
        if state.outcome is None:
            self._differ("actions", "actions up to the end of the deal", str(len(claimed.actions)))
        return state.outcome

    def _check_leg_line(
        self,
        line: Line,
        *,
        spec: MatchSpec,
        leg: int,
        results: Sequence[DealResult],
        scores: Sequence[Fraction],
    ) -> None:
        self._equal("type", "leg", line.get("type"))
        self._equal("leg", leg, line["leg"])
        self._equal("scores", [str(score) for score in scores], line["scores"])
        self._equal("fields", ["faults", "leg", MEASURED, "scores", "type"], sorted(line))
        expected = [
            _offence(spec, leg, result.number, fault)
            for result in results
            for fault in result.faults
        ]
        lost: set[int] = set()
        for each in line["faults"]:
            if each["deal"] == NOBODY:
                fault = Fault(FaultKind(each["kind"]), each["seat"], each["detail"])
                expected.append(_offence(spec, leg, NOBODY, fault))
                lost.add(fault.seat)
        self._equal("faults", sorted(map(_text, expected)), sorted(map(_text, line["faults"])))
        # Who lost the leg lost a deal by it, and only they lose deals they did no wrong in.
        blamed = {
            seat
            for result in results
            for seat in set(result.lost_by) - {fault.seat for fault in result.faults}
        }
        losers = {seat for result in results for seat in result.lost_by}
        if not blamed <= lost <= losers:
            self._differ("faults", f"what seats {sorted(blamed)} lost by", f"{sorted(lost)}")

    def _check_last(self, line: Line, totals: Sequence[Fraction]) -> str:
        expected: Line = {
            "type": "result",
            "totals": [str(total) for total in totals],
            "conditions": str(line["conditions"]),
        }
        self._equal("totals", expected["totals"], line["totals"])
        before = self._texts[: self._at - 1]
        expected["digest"] = _digest([*before, _text(expected)])
        expected[MEASURED] = {"seal": _seal([*before, _text(expected)])}
        self._same(expected, line)
        if len(self._texts) > self._at:
            self._at += 1
            self._differ("text", "the end of the file", "another line")
        return str(line["digest"])


class _GivenSeries:
    """A series whose decks and dealers are those the record names, for want of the seed."""

    def __init__(self, spec: MatchSpec, upcoming: Callable[[], Line]) -> None:
        self._spec = spec
        self._upcoming = upcoming
        self._left = set(range(spec.decks))
        self._scores = (Fraction(0),) * spec.seats

    def next_deal(self) -> Setup | None:
        if not self._left:
            return None
        line = self._upcoming()
        deck = line["deck"]
        # A deck that is not to come is met by one that is, so that the two are told to differ.
        if deck not in self._left:
            deck = min(self._left)
        self._left.remove(deck)
        return Setup(
            number=self._spec.decks - len(self._left) - 1,
            deck=deck,
            playing=tuple(range(self._spec.seats)),
            dealer=line["dealer"],
            leader=None,
        )

    def add(self, outcome: Outcome, scores: tuple[Fraction, ...]) -> None:
        del outcome
        self._scores = tuple(a + b for a, b in zip(self._scores, scores, strict=True))

    def scores(self) -> tuple[Fraction, ...]:
        return self._scores


def _offence(spec: MatchSpec, leg: int, number: int, fault: Fault) -> Line:
    return {**_fault(fault), "entrant": spec.entrant_at(leg, fault.seat), "deal": number}


def _sorted_text(deck: Sequence[int]) -> str:
    return " ".join(map(card_text, sorted(deck)))


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."
