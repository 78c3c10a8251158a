import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import RefusedError
from arena.formats import FORMATS, Plan, UnknownFormatError, find_format

plans = st.builds(
    Plan,
    entrants=st.integers(4, 9),
    seats=st.integers(2, 4),
    rounds=st.integers(1, 3),
    seed=st.binary(min_size=32, max_size=32),
)


def plan(entrants: int, *, seats: int = 2, rounds: int = 1) -> Plan:
    """Plan a tournament with a seed of zeros."""
    return Plan(entrants=entrants, seats=seats, rounds=rounds, seed=bytes(32))


@pytest.mark.parametrize("name", sorted(FORMATS))
@given(plan=plans)
def test_pairings_are_numbered_from_one_and_seat_nobody_twice(name: str, plan: Plan) -> None:
    """Every format numbers its pairings without gaps and seats different entrants."""
    pairings = find_format(name)(plan, {})
    assert [pairing.number for pairing in pairings] == list(range(1, len(pairings) + 1))
    for pairing in pairings:
        assert len(set(pairing.seats)) == plan.seats
        assert set(pairing.seats) <= set(range(plan.entrants))


@pytest.mark.parametrize("entrants", [2, 3, 4, 7, 8])
def test_round_robin_pairs_everybody_once_a_cycle(entrants: int) -> None:
    """Two cycles of a round robin hold each pair exactly twice."""
    pairings = find_format("round-robin")(plan(entrants, rounds=2), {})
    met = [frozenset(pairing.seats) for pairing in pairings]
    assert len(set(met)) == entrants * (entrants - 1) // 2
    assert all(met.count(pair) == 2 for pair in met)
    assert [pairing.round for pairing in pairings] == sorted(pairing.round for pairing in pairings)


def test_round_robin_spreads_each_entrants_matches() -> None:
    """With an even number of entrants all of them play before one plays again."""
    pairings = find_format("round-robin")(plan(6), {})
    for start in range(0, len(pairings), 3):
        block = [entrant for pairing in pairings[start : start + 3] for entrant in pairing.seats]
        assert sorted(block) == list(range(6))


def test_round_robin_turns_the_seats_each_cycle() -> None:
    """Whoever sat first in one cycle sits second in the next."""
    first, second = find_format("round-robin")(plan(2, rounds=2), {})
    assert second.seats == first.seats[::-1]


def test_results_do_not_change_a_round_robin() -> None:
    """A round robin's schedule stands before its first result."""
    whole = find_format("round-robin")(plan(4), {})
    assert find_format("round-robin")(plan(4), {1: ()}) == whole


def test_unknown_format_is_refused_with_the_known_ones() -> None:
    """A typo in a format's name is an error that lists what there is."""
    with pytest.raises(UnknownFormatError, match="round-robin"):
        find_format("roundrobin")


@pytest.mark.parametrize(("entrants", "seats", "rounds"), [(1, 2, 1), (3, 4, 1), (2, 2, 0)])
def test_plans_without_a_match_are_refused(entrants: int, seats: int, rounds: int) -> None:
    """Too few entrants or rounds are refused before a tournament exists."""
    with pytest.raises(RefusedError):
        plan(entrants, seats=seats, rounds=rounds)
