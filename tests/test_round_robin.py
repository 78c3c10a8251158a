from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

from arena.errors import RefusedError
from arena.formats import (
    Change,
    ChangeKind,
    Pairing,
    Partners,
    Plan,
    expected_matches,
    ranking,
    schedule,
)


def plan(
    entrants: int, *, seats: int = 2, rounds: int = 1, partners: Partners = Partners.NONE
) -> Plan:
    """Plan a tournament with a seed of zeros."""
    return Plan(entrants=entrants, seats=seats, rounds=rounds, seed=bytes(32), partners=partners)


def pairings_of(plan: Plan) -> tuple[Pairing, ...]:
    """Return a round robin's pairings before its first result."""
    return schedule("round-robin", plan, {}).pairings


def sat(pairings: tuple[Pairing, ...]) -> Counter[tuple[int, int]]:
    """Count how often each entrant sits at each seat."""
    return Counter(
        (entrant, seat) for pairing in pairings for seat, entrant in enumerate(pairing.seats)
    )


@pytest.mark.parametrize("entrants", [2, 3, 4, 7, 8])
def test_round_robin_pairs_everybody_once_a_cycle(entrants: int) -> None:
    """Two cycles of a round robin hold each pair exactly twice."""
    pairings = pairings_of(plan(entrants, rounds=2))
    met = [frozenset(pairing.seats) for pairing in pairings]
    assert len(set(met)) == entrants * (entrants - 1) // 2
    assert all(met.count(pair) == 2 for pair in met)
    assert [pairing.round for pairing in pairings] == sorted(pairing.round for pairing in pairings)


def test_round_robin_spreads_each_entrants_matches() -> None:
    """With an even number of entrants all of them play before one plays again."""
    pairings = pairings_of(plan(6))
    for start in range(0, len(pairings), 3):
        block = [entrant for pairing in pairings[start : start + 3] for entrant in pairing.seats]
        assert sorted(block) == list(range(6))


@pytest.mark.parametrize("entrants", [2, 3, 8, 11, 200])
def test_everybody_sits_first_in_half_of_its_matches(entrants: int) -> None:
    """Exactly half of an even number, else half of one match more or less."""
    seats = sat(pairings_of(plan(entrants)))
    apart = {abs(seats[one, 0] - seats[one, 1]) for one in range(entrants)}
    assert apart == {(entrants + 1) % 2}


def test_round_robin_turns_the_seats_each_cycle() -> None:
    """Whoever sat first in one cycle sits second in the next."""
    first, second = pairings_of(plan(2, rounds=2))
    assert second.seats == first.seats[::-1]


@pytest.mark.parametrize(("entrants", "seats"), [(3, 3), (5, 3), (6, 3), (6, 4), (8, 4), (7, 6)])
def test_round_robin_of_many_seats_holds_every_group_once_a_cycle(
    entrants: int, seats: int
) -> None:
    """Every combination of entrants meets once, and the seats are shared out within one match."""
    pairings = pairings_of(plan(entrants, seats=seats))
    groups = {frozenset(pairing.seats) for pairing in pairings}
    assert len(groups) == len(pairings) == len(list(combinations(range(entrants), seats)))
    often = [sat(pairings)[entrant, seat] for entrant in range(entrants) for seat in range(seats)]
    assert max(often) - min(often) <= 1


def test_neighbours_change_sides_with_the_cycle() -> None:
    """Of three seats each entrant sits on either side of each other, and at every seat."""
    pairings = pairings_of(plan(3, seats=3, rounds=6))
    assert set(sat(pairings).values()) == {2}
    after = Counter(
        (pairing.seats[seat - 1], pairing.seats[seat]) for pairing in pairings for seat in range(3)
    )
    assert set(after.values()) == {3}


@pytest.mark.parametrize("entrants", range(4, 14))
def test_rotating_partners_are_partners_and_opponents_evenly(entrants: int) -> None:
    """Any number of bots: each two are partners equally often, and opponents twice as often."""
    pairings = pairings_of(plan(entrants, seats=4, partners=Partners.ROTATING))
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


def test_results_do_not_change_a_round_robin() -> None:
    """A round robin's schedule stands before its first result."""
    whole = schedule("round-robin", plan(4), {})
    assert whole.complete
    assert schedule("round-robin", plan(4), {1: (Fraction(1), Fraction(0))}) == whole


def test_a_late_entry_meets_everybody_still_in_as_often_as_there_are_cycles() -> None:
    """Who comes late plays all but those who have left, and nobody else plays again."""
    changes = (Change(ChangeKind.LEAVE, 1, 12), Change(ChangeKind.JOIN, 4, 12))
    late = replace(plan(4, rounds=2), changes=changes)
    pairings = pairings_of(late)
    assert pairings[:12] == pairings_of(plan(4, rounds=2))
    assert [set(pairing.seats) for pairing in pairings[12:]] == 2 * [{4, 0}, {4, 2}, {4, 3}]
    assert sat(pairings[12:])[4, 0] == sat(pairings[12:])[4, 1]


def test_a_late_entry_among_partners_is_partner_of_each_once_and_opponent_twice() -> None:
    """Where partners rotate the newcomer is treated as everybody else was."""
    before = plan(5, seats=4, partners=Partners.ROTATING)
    held = len(pairings_of(before))
    late = pairings_of(replace(before, changes=(Change(ChangeKind.JOIN, 5, held),)))[held:]
    across = Counter(pairing.seats[(pairing.seats.index(5) + 2) % 4] for pairing in late)
    beside = Counter(
        entrant
        for pairing in late
        for seat, entrant in enumerate(pairing.seats)
        if (seat - pairing.seats.index(5)) % 2
    )
    assert across == dict.fromkeys(range(5), 1)
    assert beside == dict.fromkeys(range(5), 2)


def test_ranking_counts_the_part_of_the_points_won() -> None:
    """Wins count 1 and draws 1/2; Sonneborn-Berger parts those who are level."""
    totals = {(0, 1): (5, -5), (1, 0): (-5, 5)}
    results = {
        pairing.number: tuple(map(Fraction, totals.get(pairing.seats, (3, 3))))
        for pairing in pairings_of(plan(3))
    }
    places = ranking("round-robin", plan(3), results)
    assert [(place.entrant, place.rank) for place in places] == [(0, 1), (2, 2), (1, 3)]
    assert places[0].columns == (
        ("Points", Fraction(3, 2)),
        ("Games", 2),
        ("SB", Fraction(1)),
        ("Score", Fraction(4)),
    )


def test_who_stays_wins_a_cancelled_match() -> None:
    """A match that is not played because one has left is won by the other."""
    (pairing,) = pairings_of(plan(2))
    left = replace(plan(2), changes=(Change(ChangeKind.LEAVE, 0, 1),))
    first, second = ranking("round-robin", left, {pairing.number: None})
    assert (first.entrant, first.columns[0]) == (1, ("Points", 1))
    assert (second.entrant, second.rank) == (0, 2)


def test_matches_are_counted_without_making_them() -> None:
    """What a round robin comes to is known by a formula, for pairs that rotate as well."""
    for entrants in range(4, 12):
        for seats, partners in ((2, Partners.NONE), (3, Partners.NONE), (4, Partners.ROTATING)):
            one = plan(entrants, seats=seats, rounds=2, partners=partners)
            assert expected_matches("round-robin", one) == len(pairings_of(one))


def test_groups_without_end_are_refused() -> None:
    """All groups of six among two hundred would never be played."""
    with pytest.raises(RefusedError, match="pods"):
        pairings_of(plan(200, seats=6))
