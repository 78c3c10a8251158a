"""One suite over every registered format; what is a format's own has a file of its own."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedules import better_seed, by_chance, join, leave, play

from arena.errors import RefusedError
from arena.formats import (
    FORMATS,
    Bye,
    Change,
    ChangeKind,
    Options,
    Pairing,
    Partners,
    Place,
    Plan,
    Results,
    Schedule,
    Totals,
    UnknownFormatError,
    check,
    check_entry,
    expected_matches,
    find_format,
    ranking,
    schedule,
)
from arena.formats.pairs import between_pairs

MOST_PLAYED = 40
"""Matches after which a made-up tournament is broken off: a ladder has no end."""


def plan(
    entrants: int,
    *,
    seats: int = 2,
    rounds: int | None = None,
    partners: Partners = Partners.NONE,
    seed: int = 0,
) -> Plan:
    """Plan a tournament whose seed repeats one byte."""
    return Plan(
        entrants=entrants, seats=seats, rounds=rounds, seed=bytes([seed]) * 32, partners=partners
    )


def accepted(name: str, whole: Plan) -> bool:
    """Tell whether a format holds a plan."""
    try:
        check(name, whole)
    except RefusedError:
        return False
    return True


def shapes(name: str) -> list[tuple[int, Partners]]:
    """Return the seats and partners that a format can do with."""
    asked = [(seats, Partners.NONE) for seats in (2, 3, 4, 6)]
    asked += [(4, Partners.ROTATING), (4, Partners.FIXED)]
    return [
        (seats, partners)
        for seats, partners in asked
        if accepted(name, plan(12, seats=seats, partners=partners))
    ]


CASES = [(name, *shape) for name in sorted(FORMATS) for shape in shapes(name)]
every_case = pytest.mark.parametrize(("name", "seats", "partners"), CASES)


SIZES = (2, 3, 4, 5, 7, 8, 13, 33, 64, 99, 128, 199, 200)
QUICK_ENTRANTS, QUICK_MATCHES = 13, 500
"""The largest tournaments that are played out in no time."""

MOST_AT_LENGTH = 20_000
"""Matches above which a tournament is not played out: only cycles of more than two seats have so
many."""


def fields_of_all() -> Iterator[object]:
    """Give each case with each number of entrants that it holds; the large ones are long."""
    for name, seats, partners in CASES:
        for entrants in SIZES:
            if entrants < seats or (partners is Partners.FIXED and entrants % 2):
                continue
            whole = plan(entrants, seats=seats, partners=partners)
            if not accepted(name, whole):
                continue
            matches = expected_matches(name, whole) or 0
            is_long = entrants > QUICK_ENTRANTS or matches > QUICK_MATCHES
            if matches <= MOST_AT_LENGTH:
                yield pytest.param(
                    (name, seats, partners, entrants),
                    marks=[pytest.mark.long] if is_long else [],
                    id=f"{name}-{seats}-{partners}-{entrants}",
                )


@dataclass(frozen=True)
class Played:
    """A tournament that was played out, one without an end until all have played."""

    name: str
    plan: Plan
    made: Schedule
    results: dict[int, Totals | None]

    @property
    def size(self) -> int:
        """How many entrants it has."""
        return self.plan.entrants

    @property
    def pair(self) -> int:
        """Entrants that stay together: 2 for partners, else 1."""
        return 1 + (self.plan.partners is Partners.FIXED)


@pytest.fixture(scope="module", name="played", params=tuple(fields_of_all()))
def _played(request: pytest.FixtureRequest) -> Played:
    name, seats, partners, entrants = request.param
    whole = plan(entrants, seats=seats, partners=partners, seed=4)
    endless = expected_matches(name, whole) is None
    most = MOST_PLAYED + entrants if endless else 2 * MOST_AT_LENGTH
    return Played(name, whole, *play(name, whole, by_chance(entrants), matches=most))


@dataclass
class Course:
    """A tournament as an arena runs it: results in any order, entrants that come and leave."""

    name: str
    plan: Plan
    lot: random.Random
    results: dict[int, Totals | None]
    made: Schedule

    @property
    def open(self) -> list[Pairing]:
        """The pairings without a result."""
        return [pairing for pairing in self.made.pairings if pairing.number not in self.results]

    def finish(self) -> None:
        """Give any one of the open matches a result."""
        pairing = self.lot.choice(self.open)
        totals = tuple(Fraction(self.lot.randrange(3)) for _ in pairing.seats)
        self.results[pairing.number] = totals

    def change(self) -> None:
        """Let somebody come or leave, if the format has room."""
        held = len(self.made.pairings)
        fixed = self.plan.partners is Partners.FIXED
        new = self.plan.ever_entered
        present = sorted(set(range(new)) - self.plan.left)
        changes = [leave(self.lot.choice(present), held)] if self.lot.random() < 0.6 else []
        if not changes or self.lot.random() < 0.5:
            changes += [join(new + more, held) for more in range(1 + fixed)]
        changed = replace(self.plan, changes=(*self.plan.changes, *changes))
        if len(present) < self.plan.seats + 2 or not accepted(self.name, changed):
            return
        self.plan = changed
        for pairing in self.open:
            if self.plan.left & set(pairing.seats) and self.lot.random() < 0.8:
                self.results[pairing.number] = None

    def ask(self) -> None:
        """Ask the format again: what it gave is given again."""
        now = schedule(self.name, self.plan, self.results)
        assert now.pairings[: len(self.made.pairings)] == self.made.pairings
        if not self.made.complete:
            assert now.byes[: len(self.made.byes)] == self.made.byes
        self.made = now


def run(name: str, whole: Plan, seed: int, *, changes: bool) -> Iterator[Course]:
    """Run a tournament of made-up results, stopping whenever the format was asked again."""
    lot = random.Random(seed)
    course = Course(name, whole, lot, {}, schedule(name, whole, {}))
    while course.open and len(course.results) < MOST_PLAYED:
        for _ in range(lot.randrange(1, 2 + len(course.open))):
            course.finish()
            if not course.open:
                break
        course.ask()
        if changes and lot.random() < 0.3:
            course.change()
            course.ask()
        yield course


@every_case
@given(data=st.data())
@settings(max_examples=6, deadline=None)
def test_what_was_paired_stays_whatever_comes_in_and_whoever_comes_or_leaves(
    name: str, seats: int, partners: Partners, data: st.DataObject
) -> None:
    """Results in any order, late entries and withdrawals only add pairings to the end."""
    entrants = data.draw(st.integers(seats, 9).filter(lambda n: partners != "fixed" or n % 2 == 0))
    whole = plan(entrants, seats=seats, partners=partners, seed=data.draw(st.integers(0, 255)))
    script = data.draw(st.integers(0, 1_000_000))
    asked = 0
    for course in run(name, whole, script, changes=True):
        asked += 1
        numbers = [pairing.number for pairing in course.made.pairings]
        assert numbers == list(range(1, len(numbers) + 1))
        for pairing in course.made.pairings:
            assert len(set(pairing.seats)) == seats
            assert set(pairing.seats) <= set(range(course.plan.ever_entered))
    assert asked


@every_case
def test_who_left_is_paired_no_more(name: str, seats: int, partners: Partners) -> None:
    """Every pairing made after a withdrawal is without who withdrew."""
    for seed in range(3):
        whole = plan(8, seats=seats, partners=partners, seed=seed)
        for course in run(name, whole, seed, changes=True):
            for change in course.plan.changes:
                if change.kind is ChangeKind.LEAVE:
                    after = course.made.pairings[change.after :]
                    assert all(change.entrant not in pairing.seats for pairing in after)


@every_case
def test_nobody_wins_by_leaving_after_a_win(name: str, seats: int, partners: Partners) -> None:
    """Who won its first match and left is not first, and last where parts of points decide."""
    gone = 5
    whole = plan(8, seats=seats, partners=partners)

    def favours_the_leaver(pairing: Pairing) -> Totals:
        return tuple(Fraction(9 if one == gone else one % 4) for one in pairing.seats)

    made, results = schedule(name, whole, {}), dict[int, Totals | None]()
    while not any(gone in pairing.seats for pairing in made.pairings):
        made, results = play(name, whole, favours_the_leaver, matches=len(results) + 1)
    first = next(pairing for pairing in made.pairings if gone in pairing.seats)
    spared = [pairing for pairing in made.pairings if gone in pairing.seats][1:]
    results[first.number] = favours_the_leaver(first)
    results |= {pairing.number: None for pairing in spared}
    late = replace(whole, changes=(leave(gone, len(made.pairings)),))
    _, results = play(name, late, favours_the_leaver, results=results, matches=len(results) + 120)
    order = [place.entrant for place in ranking(name, late, results)]
    leaver = gone // 2 if partners is Partners.FIXED else gone
    assert order[0] != leaver
    if name in {"round-robin", "gauntlet", "pods", "groups"}:
        assert order[-1] == leaver


@every_case
def test_the_order_of_arrival_does_not_matter(name: str, seats: int, partners: Partners) -> None:
    """A tournament resumed from any results, told in any order, is the same."""
    whole = plan(8, seats=seats, partners=partners, seed=5)
    for course in run(name, whole, 11, changes=False):
        turned = list(course.results.items())
        course.lot.shuffle(turned)
        assert schedule(name, whole, dict(turned)) == course.made
        assert ranking(name, whole, dict(turned)) == ranking(name, whole, course.results)


def test_everybody_is_seated_and_the_end_comes(played: Played) -> None:
    """Any number of entrants plays to the end; all meet somebody, nobody itself."""
    made, results = played.made, played.results
    expected = expected_matches(played.name, played.plan)
    assert {one for pairing in made.pairings for one in pairing.seats} == set(range(played.size))
    assert {len(set(pairing.seats)) for pairing in made.pairings} == {played.plan.seats}
    assert made.complete == (expected is not None)
    assert len(ranking(played.name, played.plan, results)) == played.size // played.pair
    if expected is not None:
        assert len(made.pairings) == len(results) >= expected
        assert len(results) == expected or find_format(played.name).can_grow


def test_seats_and_byes_are_shared_out(played: Played) -> None:
    """In all formats but knock-outs, in which the better are spared, nobody has two byes more."""
    # Of partners that stay together the first always sits first of the two.
    pair, sides = played.pair, played.plan.seats // played.pair
    sat = Counter(
        (one // pair, seat)
        for pairing in played.made.pairings
        for seat, one in enumerate(pairing.seats[:sides])
    )
    for one in range(played.size // pair):
        often = [sat[one, seat] for seat in range(sides)]
        assert max(often) - min(often) <= 3
    if not any(pairing.stage for pairing in played.made.pairings):
        byes = Counter(bye.entrant for bye in played.made.byes)
        out = [byes[one] for one in range(played.size)]
        assert max(out) - min(out) <= 1


def test_any_field_is_resumed_from_any_results_in_any_order(played: Played) -> None:
    """From some results, told in any order, the tournament goes on as if it had not stopped."""
    name, whole, made, results = played.name, played.plan, played.made, played.results
    lot = random.Random(played.size)

    def turned(known: dict[int, Totals | None]) -> dict[int, Totals | None]:
        told = list(known.items())
        lot.shuffle(told)
        return dict(told)

    assert schedule(name, whole, turned(results)) == made
    assert ranking(name, whole, turned(results)) == ranking(name, whole, results)
    for part in (1, 2, 3):
        first = {number: results[number] for number in range(1, len(results) * part // 4 + 1)}
        seen = [pairing.number for pairing in schedule(name, whole, first).pairings]
        more = [number for number in seen if number in results and lot.random() < 0.5]
        some = turned(first | {number: results[number] for number in more})
        known = schedule(name, whole, some).pairings
        assert known == made.pairings[: len(known)]
    again, _ = play(name, whole, by_chance(played.size), results=some, matches=len(results))
    held = min(len(again.pairings), len(made.pairings))
    assert again.pairings[:held] == made.pairings[:held]
    assert again == made or not made.complete


@every_case
def test_a_ranking_names_everybody_once(name: str, seats: int, partners: Partners) -> None:
    """From the start to the end, ranks begin at 1, never fall, and count those above."""
    whole = plan(8, seats=seats, partners=partners)
    units = 4 if partners is Partners.FIXED else 8
    assert {place.rank for place in ranking(name, whole, {})} >= {1}
    for course in run(name, whole, 3, changes=False):
        places = ranking(name, whole, course.results)
        assert sorted(place.entrant for place in places) == list(range(units))
        assert places[0].rank == 1
        for row, (above, below) in enumerate(pairwise(places), start=2):
            assert below.rank in (above.rank, row)
        assert len({tuple(heading for heading, _ in place.columns) for place in places}) == 1


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_the_best_comes_out_first(name: str) -> None:
    """If the better of two always wins, the first named wins the tournament."""
    seats, partners = shapes(name)[0]
    whole = plan(8, seats=seats, partners=partners)
    _, results = play(name, whole, better_seed, matches=200)
    assert ranking(name, whole, results)[0].entrant == 0


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("entrants", [200])
def test_large_fields_are_held(name: str, entrants: int) -> None:
    """Up to two hundred entrants are paired, and what was paired stays."""
    seats, partners = shapes(name)[0]
    whole = plan(entrants, seats=seats, partners=partners)
    before = schedule(name, whole, {})
    made, results = play(name, whole, by_chance(1), matches=250)
    assert made.pairings[: len(before.pairings)] == before.pairings
    assert {pairing.number for pairing in made.pairings} >= set(results)
    assert len(ranking(name, whole, results)) == entrants


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_refused_plan_is_refused_by_every_door(name: str) -> None:
    """What the check refuses is neither scheduled nor ranked nor counted."""
    refused = plan(9, seats=7)
    for door in (
        lambda: check(name, refused),
        lambda: schedule(name, refused, {}),
        lambda: ranking(name, refused, {}),
        lambda: expected_matches(name, refused),
    ):
        if name == "round-robin":
            door()
            continue
        with pytest.raises(RefusedError):
            door()


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_format_explains_itself(name: str) -> None:
    """One sentence, and a paragraph that says what happens to late entries and who leaves."""
    format_ = find_format(name)
    assert format_.name == name
    assert format_.summary.endswith(".")
    assert len(format_.summary) < 80
    text = format_.explanation
    for word in ("late entry", "leaves", "bye", "--rounds" if name != "ladder" else "rounds"):
        assert word in text, word
    assert len(text) > 300
    assert "  " not in text


@every_case
def test_a_late_entry_plays_or_is_refused(name: str, seats: int, partners: Partners) -> None:
    """What the check of an entry lets in is seated; a replacement always finds a place."""
    fixed = partners is Partners.FIXED
    whole = plan(12, seats=seats, partners=partners)
    _, results = play(name, whole, by_chance(1), matches=2)
    held = len(schedule(name, whole, results).pairings)
    entry = tuple(join(12 + more, held) for more in range(1 + fixed))
    for changes in (entry, (leave(0, held), *entry)):
        late = replace(whole, changes=changes)
        try:
            check_entry(name, late, results)
        except RefusedError:
            bracket = name in {"single-elimination", "double-elimination"}
            assert schedule(name, whole, results).complete or (bracket and changes == entry)
            continue
        known = {
            pairing.number: None
            for pairing in schedule(name, late, results).pairings
            if 0 in pairing.seats and pairing.number not in results and len(changes) > len(entry)
        }
        most = 400 if name != "ladder" else 30
        made, _ = play(name, late, results={**results, **known}, matches=most)
        assert any(12 in pairing.seats for pairing in made.pairings[held:])


def test_nobody_enters_what_is_over() -> None:
    """After the last round of a Swiss tournament there is nothing left to enter."""
    made, results = play("swiss", plan(4))
    late = replace(plan(4), changes=(join(4, len(made.pairings)),))
    with pytest.raises(RefusedError, match="no place"):
        check_entry("swiss", late, results)


def test_nobody_enters_a_knock_out_of_groups_without_a_place() -> None:
    """Once the groups are over a newcomer needs the place of somebody who is still in."""
    whole = plan(6)
    _, results = play("groups", whole, matches=6)
    made = schedule("groups", whole, results)
    held = len(made.pairings)
    with pytest.raises(RefusedError, match="no place"):
        check_entry("groups", replace(whole, changes=(join(6, held),)), results)
    for entrant, welcome in ((made.pairings[-1].seats[0], True), (5, False)):
        late = replace(whole, changes=(leave(entrant, held), join(6, held)))
        if welcome:
            check_entry("groups", late, results)
        else:
            with pytest.raises(RefusedError, match="no place"):
                check_entry("groups", late, results)


def test_no_schedule_depends_on_how_sets_are_ordered() -> None:
    """Interpreters that hash differently make the same schedules of every format."""
    script = (
        "from test_formats import *\n"
        "for name, seats, partners in CASES:\n"
        "    whole = plan(10, seats=seats, partners=partners)\n"
        "    print(play(name, whole, by_chance(3), matches=20)[0])\n"
    )
    said = set()
    for seed in ("0", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)}
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        said.add(done.stdout)
    assert len(said) == 1


def test_fixed_partners_sit_across_and_every_pair_meets_every_pair() -> None:
    """Pairs are entrants of a format for two; in the next cycle the other pair sits first."""
    pairings = schedule(
        "round-robin", plan(6, seats=4, rounds=2, partners=Partners.FIXED), {}
    ).pairings
    seats = [pairing.seats for pairing in pairings]
    assert len(seats) == 6
    for first, second, third, fourth in seats:
        assert (first // 2, second // 2) == (third // 2, fourth // 2)
    met = Counter(frozenset((first // 2, second // 2)) for first, second, _, _ in seats)
    assert set(met.values()) == {2}
    assert seats[0][0] // 2 == seats[3][1] // 2


class Told:
    """A format of one pairing that keeps what it was told."""

    name = summary = explanation = "told"

    def __init__(self) -> None:
        self.plans: list[Plan] = []
        self.results: list[Results] = []

    def check(self, plan: Plan) -> None:
        """Hold anything."""

    def schedule(self, plan: Plan, results: Results) -> Schedule:
        """Pair the second with the first, and give the third a bye."""
        self.plans.append(plan)
        self.results.append(results)
        return Schedule((Pairing(1, 1, (1, 0)),), (Bye(1, 2),))

    def ranking(self, plan: Plan, results: Results) -> tuple[Place, ...]:
        """Rank nobody."""
        del plan, results
        return ()

    def expected_matches(self, plan: Plan) -> int | None:
        """Count the one."""
        del plan
        return 1


def test_a_format_is_told_results_and_changes_by_pair() -> None:
    """A format of pairs sees one total a pair; a pair leaves when one of the two does."""
    told = Told()
    changes = (
        Change(ChangeKind.LEAVE, 3, 1),
        Change(ChangeKind.LEAVE, 2, 1),
        Change(ChangeKind.JOIN, 6, 1),
        Change(ChangeKind.JOIN, 7, 1),
    )
    whole = replace(plan(6, seats=4, partners=Partners.FIXED), changes=changes)
    scores = tuple(map(Fraction, (1, -3, 2, 0)))
    made = between_pairs(told, whole, {1: scores, 2: None})
    assert made == Schedule((Pairing(1, 1, (2, 0, 3, 1)),), (Bye(1, 4), Bye(1, 5)))
    assert told.results == [{1: (Fraction(3, 2), Fraction(-3, 2)), 2: None}]
    assert told.plans[0].changes == (
        Change(ChangeKind.LEAVE, 1, 1),
        Change(ChangeKind.JOIN, 3, 1),
    )
    assert (told.plans[0].entrants, told.plans[0].seats) == (3, 2)


def test_unknown_format_is_refused_with_the_known_ones() -> None:
    """A typo in a format's name is an error that lists what there is."""
    with pytest.raises(UnknownFormatError, match="round-robin"):
        find_format("roundrobin")


@pytest.mark.parametrize(("entrants", "seats", "rounds"), [(1, 2, 1), (3, 4, 1), (2, 2, 0)])
def test_plans_without_a_match_are_refused(entrants: int, seats: int, rounds: int) -> None:
    """Too few entrants or rounds are refused before a tournament exists."""
    with pytest.raises(RefusedError):
        plan(entrants, seats=seats, rounds=rounds)


def test_options_survive_json() -> None:
    """Only what is set is written, and a word that is no option is refused when read."""
    options = Options(groups=4, third_place=False)
    assert json.loads(json.dumps(options.to_dict())) == {"groups": 4, "third_place": False}
    assert Options.from_dict(options.to_dict()) == options
    with pytest.raises(RefusedError, match="group"):
        Options.from_dict({"group": 4})


@pytest.mark.parametrize("changes", [(join(5, 1),), (join(4, 2), join(5, 1)), (join(4, 1),) * 2])
def test_changes_out_of_order_are_an_error(changes: tuple[Change, ...]) -> None:
    """A newcomer has the next number, and what happened later stands later."""
    with pytest.raises(ValueError, match="expected"):
        replace(plan(4), changes=changes)
