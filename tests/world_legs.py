"""Legs in two worlds that one seat may not tell apart, and all that it is sent in each of them.

In the second world the seed is another, the entrants are others, and so is what the seat has not
seen of the deals. Both are played by the match itself; each message is kept as the bytes that go
through a bot's socket, with the time at which they would.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from unittest import mock

from sources import RandomSource
from timeline import MS, Timeline
from worlds import (
    Answers,
    Course,
    ImpossibleError,
    LeakError,
    Rigged,
    begin,
    is_asked,
    other_deal,
    play_on,
    shown_at_the_end,
    some_action,
)

from referee import match
from referee.options import OPTIONS, Combination, RulesError, choices_of
from referee.players import Arrival, Choice, Choices, Fault, FaultKind, Traffic, Update
from referee.programme import deal_scores, lost_by_fault, programme_of
from referee.results import SERIES, Entrant, MatchSpec, TimeControl
from referee.rules import Action, Rules, State, TurnKind
from referee.wire import Wire

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping, Sequence

    from referee.players import Message, Turn
    from referee.programme import Programme, Setup

Cue = tuple[object, ...]
SEND_NS = 1_000
TRIES = 12
LATE, ILLEGAL, TWICE, EARLY, GONE = "late", "illegal", "twice", "early", "gone"
MISDEEDS = (LATE, ILLEGAL, TWICE, EARLY, GONE)
_OF_FORMATS = ("match_format", "double_as", "on_limit", "eyes", "draw_carry", "six_for")
_CLAIMS = ("claim_window", "false_claim", "claim_vs_combination", "final_claim", "no_claim")


@dataclass(frozen=True)
class Sent:
    """Bytes that reached a seat, when, and the cues of the turns they carry."""

    time_ns: int
    data: bytes
    asks: tuple[Cue, ...] = ()


@dataclass
class World:
    """A leg to play: who plays what, and how its deals go."""

    spec: MatchSpec
    public: MatchSpec
    courses: dict[int, Course]

    @property
    def by_number(self) -> dict[int, Course]:
        """The deals by their number in the leg."""
        return {course.setup.number: course for course in self.courses.values()}

    def play(self, leg: int = 0) -> tuple[tuple[Sent, ...], ...]:
        """Play the leg, and return what reached each seat."""
        timeline = Timeline()
        script = _Script(self.by_number)
        players = [Recorder(self.spec, seat, timeline, script) for seat in range(self.spec.seats)]
        sources = {deck: course.source() for deck, course in self.courses.items()}
        with (
            mock.patch.object(
                match, "deck_source", lambda _rules, _seed, _match, deck: sources[deck]
            ),
            mock.patch.object(match, "programme_of", lambda _, leg: programme_of(self.public, leg)),
        ):
            match.play_leg(self.spec, leg, players, timeline)
        return tuple(tuple(player.sent) for player in players)


class _Script:
    """What each seat answers, found by what it can tell its turn by."""

    def __init__(self, courses: Mapping[int, Course]) -> None:
        self._lines: dict[Cue, Action | str] = {}
        for number, course in courses.items():
            for at, answers in enumerate(course.rounds):
                state = course.states[at]
                for seat, action in answers.items():
                    self._lines[_cue(number, state, seat)] = action
            if course.misdeed is not None:
                seat, kind = course.misdeed
                at = len(course.rounds) - 1
                self._lines[_cue(number, course.states[at], seat)] = kind

    def line(self, turn: Turn) -> Action | str:
        """Return what is answered; the first action where the script does not know the turn."""
        return self._lines.get(_cue_of(turn), turn.actions[0])


def _cue(number: int, state: State, seat: int) -> Cue:
    """Return what the turn of a seat in a deal of that number can be told by."""
    return (
        number,
        seat,
        state.kind_of_turn(seat),
        0 if state.guessing else state.hands[seat],
        frozenset(state.legal_actions(seat)),
        len(state.stock),
        len(state.table),
        state.leader,
        tuple(hand.bit_count() for hand in state.hands),
        state.proposed,
    )


def _cue_of(turn: Turn) -> Cue:
    view = turn.view
    return (
        turn.deal,
        view.seat,
        turn.kind,
        0 if turn.kind is TurnKind.COLOUR else int(view.hand),
        frozenset(turn.actions),
        view.stock,
        len(view.table),
        view.leader,
        view.hand_counts,
        view.proposed,
    )


class Recorder:
    """A scripted player that keeps every byte a bot at its seat would be sent."""

    def __init__(self, spec: MatchSpec, seat: int, timeline: Timeline, script: _Script) -> None:
        self._wire = Wire(spec, seat)
        self._seat, self._timeline, self._script = seat, timeline, script
        self.sent = [Sent(timeline.now, self._wire.welcome())]

    @property
    def traffic(self) -> Traffic:
        """Not counted."""
        return Traffic()

    def prepare(self, message: Message) -> Callable[[], None]:
        """Make a message ready."""
        parts = self._wire.packed(message)
        turns = message.turns if isinstance(message, Update) else ()

        def send() -> None:
            self._timeline.now += SEND_NS
            asks = tuple(_cue_of(turn) for turn in turns)
            self.sent += [Sent(self._timeline.now, part, asks) for part in parts]
            if turns:
                self._answer(turns)

        return send

    def _answer(self, turns: Sequence[Turn]) -> None:
        choices = []
        for turn in turns:
            line = self._script.line(turn)
            if isinstance(line, Action):
                index = turn.actions.index(line) if line in turn.actions else 0
                choices.append(Choice(turn.id, index))
            elif line == GONE:
                self._arrive(Fault(FaultKind.CRASH, self._seat, f"{len(turn.actions)} actions"))
                return
            else:
                choices += _misdeed(turn, line)
        self._arrive(Choices(tuple(choices)))

    def _arrive(self, payload: Choices | Fault) -> None:
        received = self._timeline.now + MS
        self._timeline.at(received, Arrival(self._seat, received, payload))


def _misdeed(turn: Turn, kind: str) -> list[Choice]:
    """Return choices that lose the deal of the turn."""
    if kind == LATE:
        return []
    if kind == ILLEGAL:
        return [Choice(turn.id, 10_000)]
    if kind == TWICE:
        return [Choice(turn.id, 0), Choice(turn.id, 0)]
    return [Choice(turn.id + 1_000_000, 0), Choice(turn.id, 0)]


# --------------------------------------------------------------------------------- two worlds


@dataclass
class Pair:
    """A leg in two worlds, and how much of it must be the same to the viewer.

    Attributes:
        first: A world.
        second: The other.
        viewer: A seat.
        until: The cue of the viewer's turn up to which everything must be the same; None: to the
            very end.
    """

    first: World
    second: World
    viewer: int
    until: Cue | None = None

    @property
    def changed(self) -> bool:
        """Whether a card lies elsewhere in the second world."""
        return any(
            course.decks[-1] != self.second.courses[deck].decks[-1]
            for deck, course in self.first.courses.items()
        )

    def check(self, *, timed: bool = True) -> None:
        """Play both and compare, the times of the messages too unless that is not wanted.

        Raises:
            LeakError: The viewer is sent something else.
        """
        ours, theirs = (self._relevant(world) for world in (self.first, self.second))
        for number, (one, other) in enumerate(zip(ours, theirs, strict=False)):
            if one.data != other.data or (timed and one.time_ns != other.time_ns):
                raise LeakError(f"message {number} of {len(ours)}: {one} or {other}")
        if len(ours) != len(theirs):
            raise LeakError(f"{len(ours)} messages, or {len(theirs)}")

    def _relevant(self, world: World) -> tuple[Sent, ...]:
        sent = world.play()[self.viewer]
        for number, each in enumerate(sent):
            if self.until in each.asks:
                return sent[: number + 1]
        return sent if self.until is None else ()


def spec_of(
    rules: Rules, name: str, seats: int, chance: random.Random, **changes: object
) -> MatchSpec:
    """Return a match between nobody in particular."""
    options = {
        "variant": name,
        "rules": rules,
        "seats": seats,
        "decks": chance.randrange(1, 4),
        "seed": chance.randbytes(32),
        "entrants": tuple(Entrant(f"{chance.random()}") for _ in range(seats)),
        "time_control": TimeControl(move_time_ms=60_000, bank_ms=500, increment_ms=3),
        "tables": 1 if rules.fault_cost == "match" else chance.choice((1, 1, 2)),
    }
    return MatchSpec(**{**options, **changes})  # type: ignore[arg-type]


def first_world(spec: MatchSpec, chance: random.Random) -> World:
    """Play the deals of a leg by chance, at most one of them ended by a fault."""
    world = World(spec, spec, {})
    programme = programme_of(spec, 0)
    fault_in = chance.randrange(4) if spec.match_format == SERIES else -1
    lost = False
    while (setup := programme.next_deal()) is not None:
        course = _some_course(spec.rules, setup, chance)
        if not lost:
            play_on(course, chance)
            if setup.number == fault_in:
                lost = _spoil(course, spec, chance)
        world.courses[setup.deck] = course
        _count(spec, programme, course, lost=lost)
    return world


def _some_course(rules: Rules, setup: Setup, chance: random.Random) -> Course:
    source = RandomSource(chance, rules.deck)
    if chance.random() < 0.3:
        source = Rigged(chance, rules, setup)
    return begin(rules, setup, source)


def _count(spec: MatchSpec, programme: Programme, course: Course, *, lost: bool) -> None:
    outcome = course.end.outcome
    if outcome is None or lost:
        outcome = lost_by_fault(course.end, [0])
    scores = deal_scores(spec.rules, spec.seats, course.setup, outcome)
    programme.add(outcome, scores)


def _spoil(course: Course, spec: MatchSpec, chance: random.Random) -> bool:
    """End a deal by a fault; tell whether it loses the leg."""
    leg_lost = spec.rules.fault_cost == "match"
    # These concern other tables than the one at which they are committed.
    kinds = [kind for kind in MISDEEDS if spec.tables == 1 or kind not in (GONE, EARLY)]
    places = [
        (at, seat)
        for at, state in enumerate(course.states)
        for seat in state.asked
        if is_asked(state, seat)
    ]
    if not places:
        return False
    at, seat = chance.choice(places)
    kind = chance.choice(kinds)
    del course.rounds[at + 1 :]
    del course.states[at + 1 :]
    course.misdeed = (seat, kind)
    return leg_lost or kind == GONE


def _elsewhere(world: World, chance: random.Random) -> World:
    """Return the same leg under another seed, of another match between others."""
    other = replace(
        world.spec,
        seed=chance.randbytes(32),
        match=chance.randrange(1 << 30),
        attempt=2,
        entrants=tuple(Entrant(f"{chance.random()}", "9", "d") for _ in world.spec.entrants),
    )
    return World(other, world.public, dict(world.courses))


def pair_to_the_end(spec: MatchSpec, chance: random.Random) -> Pair:
    """Return worlds that differ in what the viewer never gets to see."""
    first = first_world(spec, chance)
    second = _elsewhere(first, chance)
    viewer = chance.randrange(spec.seats)
    for deck, course in first.courses.items():
        if viewer not in course.setup.playing or (course.misdeed or (-1,))[0] == viewer:
            continue
        own = course.setup.playing.index(viewer)
        other = _try_other(course, own, len(course.states) - 1, chance, shown_at_the_end(course))
        if other is not None:
            if course.misdeed is not None:
                other.rounds.append(_last_answers(course, other, own, chance))
                other.misdeed = course.misdeed
            second.courses[deck] = other
    return Pair(first, second, viewer)


def _last_answers(course: Course, other: Course, own: int, chance: random.Random) -> Answers:
    """Return what is answered in a round that a fault makes void: the viewer's as before."""
    return {
        seat: course.rounds[-1][seat] if seat == own else some_action(other.end, seat, chance)
        for seat in other.end.asked
    }


def pair_to_a_turn(spec: MatchSpec, chance: random.Random) -> Pair | None:
    """Return worlds that differ in what the viewer has not seen by a turn of its own."""
    first = first_world(spec, chance)
    second = _elsewhere(first, chance)
    viewer = chance.randrange(spec.seats)
    places = [
        (deck, at)
        for deck, course in first.courses.items()
        if viewer in course.setup.playing
        for at, state in enumerate(course.states)
        if is_asked(state, course.setup.playing.index(viewer))
    ]
    if not places:
        return None
    deck, until = chance.choice(places)
    course = first.courses[deck]
    own = course.setup.playing.index(viewer)
    other = _try_other(course, own, until, chance, 0)
    if other is None:
        return None
    play_on(other, chance)
    second.courses[deck] = other
    cue = _cue(course.setup.number, course.states[until], own)
    return Pair(first, second, viewer, cue)


def _try_other(
    course: Course, own: int, until: int, chance: random.Random, revealed: int
) -> Course | None:
    for _ in range(TRIES):
        try:
            return other_deal(course, own, until, chance, revealed=revealed)
        except ImpossibleError:
            continue
    return None


# --------------------------------------------------------------------------------- any rules


def some_rules(chance: random.Random) -> tuple[Rules, int]:
    """Return a random legal combination of options, and a number of seats for it."""
    while True:
        options: dict[str, Any] = {
            name: chance.choice(choices_of(name))
            for name in OPTIONS
            if choices_of(name) and name not in _OF_FORMATS and chance.random() < 0.4
        }
        size = int(options.get("hand_size", 3))
        options["lead_sizes"] = chance.choice([(1, 2, 3), (1, 3), tuple(range(1, size + 1))])
        options["combinations"] = chance.sample(list(Combination), chance.randrange(6))
        if options.get("goal") == "points":
            options = {name: value for name, value in options.items() if name not in _CLAIMS}
        if options.get("sides") == "pairs":
            options["players"] = (4,)
        else:
            options["players"] = tuple(range(2, 1 + 30 // size))[:5]
        try:
            rules = Rules.from_dict(options)
        except RulesError:
            continue
        return rules, chance.choice(rules.players)
