"""Referees a recorded match again, and names the first thing that does not agree."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NoReturn, TypeVar

from referee.cards import card_text, full_deck
from referee.players import Fault, FaultKind
from referee.programme import (
    Chain,
    RecordingSource,
    ScoreSum,
    Setup,
    deal_scores,
    deck_source,
    lost_by_fault,
    programme_of,
)
from referee.record import (
    FORMAT,
    MEASURED,
    MOST,
    NOBODY,
    UNREADABLE,
    ActionError,
    check_format,
    deal_line,
    digest_of,
    fault_line,
    given_source,
    header,
    in_words,
    line_text,
    read_bytes,
    read_deal,
    replay_from,
    seal_of,
)
from referee.results import SERIES, DealResult, Entrant, MatchSpec, TimeControl
from referee.rules import Outcome, Rules
from referee.shuffle import SEED_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from referee.programme import Programme
    from referee.record import Line
    from referee.rules import State

__all__ = ["Difference", "Verification", "verify_record"]

SHOWN = 200

Checked = TypeVar("Checked")


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
        digest = _Checker(read_bytes(path), seed).check()
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
            self._equal("text", line_text(line), text)
            return check(line)
        except ActionError as error:
            self._differ(f"actions[{error.number}]", error.expected, error.found)
        except UNREADABLE as error:
            self._differ("text", f"a line of format {FORMAT}", in_words(error))

    def _equal(self, name: str, expected: object, found: object) -> None:
        # As text, because Python holds 1, 1.0 and True for equal; a record does not.
        if line_text({"": expected}) != line_text({"": found}):
            self._differ(name, _shown(expected), _shown(found))

    def _differ(self, name: str, expected: str, found: str) -> NoReturn:
        raise _DifferenceError(Difference(self._at, name, expected, found))

    def _same(self, expected: Line, found: Line) -> None:
        """Compare a line with what it should be, value by value."""
        for name in sorted(expected.keys() | found.keys()):
            self._equal(name, expected.get(name, "nothing"), found.get(name, "nothing"))

    # ------------------------------------------------------------------------------ the lines

    def _check_header(self, line: Line) -> MatchSpec:
        check_format(line)
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
        claimed = read_deal(line)
        begun = replace(
            claimed,
            leg=leg,
            number=setup.number,
            deck=setup.deck,
            playing=setup.playing,
            dealer=setup.dealer,
            leader=setup.leader,
        )
        self._same(deal_line(begun), line)
        self._check_decks(claimed, spec)
        source = self._source(claimed, spec)
        *_, state = replay_from(spec.rules, claimed, source)
        outcome = self._outcome(claimed, state)
        by_seat = deal_scores(spec.rules, spec.seats, setup, outcome)
        expected = replace(
            claimed,
            decks=tuple(source.decks),
            lots=tuple(source.lots),
            outcome=outcome,
            scores=spec.by_entrant(leg, by_seat),
        )
        self._same(deal_line(expected), line)
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
            return RecordingSource(given_source(claimed))
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
        self._equal(
            "faults", sorted(map(line_text, expected)), sorted(map(line_text, line["faults"]))
        )
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
        expected["digest"] = digest_of([*before, line_text(expected)])
        expected[MEASURED] = {"seal": seal_of([*before, line_text(expected)])}
        self._same(expected, line)
        if len(self._texts) > self._at:
            self._at += 1
            self._differ("text", "the end of the file", "another line")
        return str(line["digest"])


class _GivenSeries(ScoreSum):
    """A series whose decks and dealers are those the record names, for want of the seed."""

    def __init__(self, spec: MatchSpec, upcoming: Callable[[], Line]) -> None:
        super().__init__(spec.seats)
        self._spec = spec
        self._upcoming = upcoming
        self._left = set(range(spec.decks))

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


def _offence(spec: MatchSpec, leg: int, number: int, fault: Fault) -> Line:
    return {**fault_line(fault), "entrant": spec.entrant_at(leg, fault.seat), "deal": number}


def _sorted_text(deck: Sequence[int]) -> str:
    return " ".join(map(card_text, sorted(deck)))


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."
