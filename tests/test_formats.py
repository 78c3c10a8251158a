from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import RefusedError
from arena.formats import (
    FORMATS,
    Pairing,
    Partners,
    Plan,
    UnknownFormatError,
    find_format,
    schedule,
)
from arena.formats.pairs import between_pairs

plans = st.builds(
    Plan,
    entrants=st.integers(4, 9),
    seats=st.integers(2, 4),
    rounds=st.integers(1, 3),
    seed=st.binary(min_size=32, max_size=32),
)


def plan(
    entrants: int, *, seats: int = 2, rounds: int = 1, partners: Partners = Partners.NONE
) -> Plan:
    """Plan a tournament with a seed of zeros."""
    return Plan(entrants=entrants, seats=seats, rounds=rounds, seed=bytes(32), partners=partners)


def sat(pairings: tuple[Pairing, ...]) -> Counter[tuple[int, int]]:
    """Count how often each entrant sits at each seat."""
    return Counter(
        (entrant, seat) for pairing in pairings for seat, entrant in enumerate(pairing.seats)
    )


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


@pytest.mark.parametrize(("entrants", "seats"), [(3, 3), (5, 3), (6, 3), (6, 4), (8, 4), (7, 6)])
def test_round_robin_of_many_seats_holds_every_group_once_a_cycle(
    entrants: int, seats: int
) -> None:
    """Every combination of entrants meets once, and the seats are shared out within one match."""
    pairings = find_format("round-robin")(plan(entrants, seats=seats), {})
    groups = {frozenset(pairing.seats) for pairing in pairings}
    assert len(groups) == len(pairings) == len(list(combinations(range(entrants), seats)))
    often = [sat(pairings)[entrant, seat] for entrant in range(entrants) for seat in range(seats)]
    assert max(often) - min(often) <= 1


def test_neighbours_change_sides_with_the_cycle() -> None:
    """Of three seats each entrant sits on either side of each other, and at every seat."""
    pairings = find_format("round-robin")(plan(3, seats=3, rounds=6), {})
    assert set(sat(pairings).values()) == {2}
    after = Counter(
        (pairing.seats[seat - 1], pairing.seats[seat]) for pairing in pairings for seat in range(3)
    )
    assert set(after.values()) == {3}


@pytest.mark.parametrize("entrants", range(4, 14))
def test_rotating_partners_are_partners_and_opponents_evenly(entrants: int) -> None:
    """Any number of bots: each two are partners equally often, and opponents twice as often."""
    pairings = find_format("round-robin")(plan(entrants, seats=4, partners=Partners.ROTATING), {})
    partners: Counter[frozenset[int]] = Counter()
    opponents: Counter[frozenset[int]] = Counter()
    for pairing in pairings:
        first, second, third, fourth = pairing.seats
        partners.update([frozenset((first, third)), frozenset((second, fourth))])
        opponents.update(
            frozenset((one, other)) for one in (first, third) for other in (second, fourth)
        )
    couples = entrants * (entrants - 1) // 2
    assert len(pairings) == couples * (entrants - 3 + (entrants + 1) % 2) // 4
    times = {len(pairings) * 2 // couples}
    assert set(partners.values()) == times
    assert set(opponents.values()) == {2 * each for each in times}
    assert len(partners) == len(opponents) == couples
    often = sat(pairings).values()
    assert max(often) - min(often) <= 3


def test_fixed_partners_sit_across_and_every_pair_meets_every_pair() -> None:
    """Pairs are entrants of a format for two; in the next cycle the other pair sits first."""
    pairings = schedule("round-robin", plan(6, seats=4, rounds=2, partners=Partners.FIXED), {})
    seats = [pairing.seats for pairing in pairings]
    assert len(seats) == 6
    for first, second, third, fourth in seats:
        assert (first // 2, second // 2) == (third // 2, fourth // 2)
    met = Counter(frozenset((first // 2, second // 2)) for first, second, _, _ in seats)
    assert set(met.values()) == {2}
    assert seats[0][0] // 2 == seats[3][1] // 2


def test_a_format_is_told_results_by_pair() -> None:
    """What a format sees of a match of pairs is one total for each pair."""
    told: list[Mapping[int, tuple[Fraction, ...]]] = []

    def format_(plan: Plan, results: Mapping[int, tuple[Fraction, ...]]) -> tuple[Pairing, ...]:
        assert (plan.entrants, plan.seats) == (2, 2)
        told.append(results)
        return (Pairing(1, 1, (1, 0)),)

    scores = tuple(map(Fraction, (1, -3, 2, 0)))
    (pairing,) = between_pairs(format_, plan(4, seats=4, partners=Partners.FIXED), {1: scores})
    assert pairing.seats == (2, 0, 3, 1)
    assert told == [{1: (Fraction(3, 2), Fraction(-3, 2))}]


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
