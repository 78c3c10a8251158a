"""What a seat may not know changes nothing that it is sent: not a byte, not the time of one."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from sources import RandomSource
from world_legs import (
    MISDEEDS,
    first_world,
    pair_to_a_turn,
    pair_to_the_end,
    some_rules,
    spec_of,
)
from worlds import TABLES, ImpossibleError, begin, differences, other_deal, play_on

from referee.players import Turn, Update
from referee.programme import Setup
from referee.results import SERIES, Entrant, MatchSpec
from referee.rules import Rules, State, TurnKind
from referee.variants import VARIANTS
from referee.view import events_for, observe
from referee.wire import Wire

if TYPE_CHECKING:
    from worlds import Course

SECRETS = {
    "bura": {"hands", "stock", "closed", "holders", "redealt", "dropped lead"},
    "bura-by": {"hands", "stock", "holders", "dropped lead"},
    "burkozyol": {"hands", "stock", "closed", "holders", "buried"},
    "burkozyol-same-rank": {"offer"},
    "burkozyol-queue": {"buried", "holders"},
    "bura-open": {"stock"},
}


def state_bytes(rules: Rules, seats: int, state: State, seat: int) -> bytes:
    """Return all a seat could be told of a state, asked or not, as it would be sent."""
    entrants = tuple(Entrant(str(number)) for number in range(seats))
    spec = MatchSpec(
        variant="any", rules=rules, seats=seats, decks=1, seed=bytes(32), entrants=entrants
    )
    turn = Turn(
        id=1,
        table=0,
        deal=0,
        kind=state.kind_of_turn(seat) if seat in state.asked else TurnKind.LEAD,
        view=observe(state, seat),
        actions=state.legal_actions(seat),
        events=events_for(state, seat, 0),
    )
    return b"".join(Wire(spec, seat).packed(Update(turns=(turn,))))


def two_deals(
    rules: Rules, seats: int, chance: random.Random
) -> tuple[Course, Course, int, int] | None:
    """Return deals that are the same to a seat until a state, that seat and that state."""
    setup = Setup(
        number=0,
        deck=0,
        playing=tuple(range(seats)),
        dealer=chance.randrange(seats),
        leader=chance.choice((None, chance.randrange(seats))),
    )
    course = begin(rules, setup, RandomSource(chance, rules.deck))
    play_on(course, chance)
    viewer, until = chance.randrange(seats), chance.randrange(len(course.states))
    if course.states[until].outcome is not None:
        until -= 1
    for _ in range(12):
        try:
            return course, other_deal(course, viewer, until, chance), viewer, until
        except ImpossibleError:
            continue
    return None


def compare_states(rules: Rules, seats: int, chance: random.Random) -> bool:
    """Compare what a seat is told in two worlds; return whether two could be made."""
    deals = two_deals(rules, seats, chance)
    if deals is None:
        return False
    ours, theirs, viewer, until = deals
    for one, other in zip(ours.states[: until + 1], theirs.states, strict=True):
        assert state_bytes(rules, seats, one, viewer) == state_bytes(rules, seats, other, viewer)
    return True


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_no_state_tells_what_a_seat_may_not_know(name: str, seats: int) -> None:
    """View, actions and events are the same bytes whatever the hidden cards are."""
    chance = random.Random(f"state {name} {seats}")

    made = [compare_states(VARIANTS[name], seats, chance) for _ in range(5)]

    assert sum(made) >= 2


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_no_leg_tells_what_comes_out_later(name: str, seats: int) -> None:
    """All that is sent up to a turn is the same whatever the seat has not seen by then."""
    chance = random.Random(f"turn {name} {seats}")
    changed = 0
    for _ in range(4):
        pair = pair_to_a_turn(spec_of(VARIANTS[name], name, seats, chance), chance)
        if pair is not None:
            pair.check()
            changed += pair.changed

    assert changed


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_no_leg_tells_what_never_comes_out(name: str, seats: int) -> None:
    """All that is sent in a leg is the same whatever the seat never sees, faults included."""
    chance = random.Random(f"end {name} {seats}")
    for _ in range(3):
        pair_to_the_end(spec_of(VARIANTS[name], name, seats, chance), chance).check()


@pytest.mark.parametrize(
    "name", [name for name in VARIANTS if VARIANTS[name].match_format != SERIES]
)
def test_no_match_of_its_own_format_tells_what_never_comes_out(name: str) -> None:
    """In deals that depend on each other nothing hidden shows either."""
    chance = random.Random(f"native {name}")
    rules = VARIANTS[name].replace(max_deals=3)
    seats = chance.choice(rules.players)
    spec = spec_of(rules, name, seats, chance, match_format=rules.match_format, tables=1)

    pair_to_the_end(spec, chance).check()
    pair = pair_to_a_turn(spec, chance)
    if pair is not None:
        pair.check()


@pytest.mark.parametrize("seed", range(12))
def test_no_rules_tell_what_a_seat_may_not_know(seed: int) -> None:
    """Random legal combinations of options hide as well as the named variants."""
    check_any_rules(random.Random(f"rules {seed}"), 7)


def check_any_rules(chance: random.Random, count: int) -> None:
    """Compare states and legs under random rules."""
    for _ in range(count):
        rules, seats = some_rules(chance)
        compare_states(rules, seats, chance)
        spec = spec_of(rules, "any", seats, chance)
        pair_to_the_end(spec, chance).check()
        pair = pair_to_a_turn(spec, chance)
        if pair is not None:
            pair.check()


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(20))
def test_no_rules_tell_in_thousands_of_legs(seed: int) -> None:
    """The same, many more times."""
    check_any_rules(random.Random(f"long {seed}"), 75)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_no_variant_tells_in_thousands_of_legs(name: str, seats: int) -> None:
    """Every variant at every number of seats, many more times."""
    chance = random.Random(f"long {name} {seats}")
    for _ in range(30):
        spec = spec_of(VARIANTS[name], name, seats, chance)
        pair_to_the_end(spec, chance).check()
        pair = pair_to_a_turn(spec, chance)
        if pair is not None:
            pair.check()


@pytest.mark.parametrize("name", SECRETS)
def test_the_worlds_differ_in_every_secret(name: str) -> None:
    """The proof compares worlds in which each kind of secret is another, or it would be empty."""
    chance = random.Random(f"secrets {name}")
    found: Counter[str] = Counter()
    for _ in range(250):
        deals = two_deals(VARIANTS[name], VARIANTS[name].players[0], chance)
        if deals is not None:
            found.update(differences(*deals))

    assert SECRETS[name] - set(found) == set()


def test_the_legs_end_by_every_fault() -> None:
    """Deals end by each kind of misdeed, so that what it tells the others is compared as well."""
    chance = random.Random("faults")
    found = set()
    for _ in range(60):
        world = first_world(spec_of(VARIANTS["bura-basic"], "any", 2, chance), chance)
        found |= {course.misdeed[1] for course in world.courses.values() if course.misdeed}

    assert found == set(MISDEEDS)
