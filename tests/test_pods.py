from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest
from schedules import better_seed, join, leave, play

from arena.errors import RefusedError
from arena.formats import Partners, Plan, Schedule, expected_matches, ranking, schedule


def pods(
    entrants: int, seats: int, rounds: int | None = None, partners: Partners = Partners.NONE
) -> Plan:
    """Plan pods with a seed of zeros."""
    return Plan(entrants=entrants, seats=seats, rounds=rounds, seed=bytes(32), partners=partners)


def meetings(made: Schedule, entrants: int) -> list[int]:
    """Return how often each two met, the rarest first."""
    met = Counter(
        frozenset(couple) for pairing in made.pairings for couple in combinations(pairing.seats, 2)
    )
    return sorted(met[frozenset(couple)] for couple in combinations(range(entrants), 2))


@pytest.mark.parametrize(("entrants", "seats"), [(9, 3), (16, 4), (8, 4), (3, 3), (6, 6)])
def test_where_it_can_be_everybody_meets_everybody_equally_often(entrants: int, seats: int) -> None:
    """Fields for which there is a perfect plan get one."""
    rounds = 14 if entrants == 8 else None
    made, _ = play("pods", pods(entrants, seats, rounds))
    met = meetings(made, entrants)
    assert met[0] == met[-1]
    assert made.complete


@pytest.mark.parametrize("entrants", [4, 5, 7, 10, 20])
@pytest.mark.parametrize("seats", [3, 4, 5, 6])
def test_meetings_seats_and_byes_are_even(entrants: int, seats: int) -> None:
    """As even as lots and exchanges make them: meetings within 3, seats within 2, byes within 1."""
    if entrants < seats:
        return
    for rounds in (None, 20):
        made, _ = play("pods", pods(entrants, seats, rounds))
        met = meetings(made, entrants)
        assert met[-1] - met[0] <= 3
        sat = Counter(
            (entrant, seat)
            for pairing in made.pairings
            for seat, entrant in enumerate(pairing.seats)
        )
        for entrant in range(entrants):
            often = [sat[entrant, seat] for seat in range(seats)]
            assert max(often) - min(often) <= 2
        byes = Counter(bye.entrant for bye in made.byes)
        assert max(byes[one] for one in range(entrants)) <= 1 + min(
            byes[one] for one in range(entrants)
        )


@pytest.mark.parametrize("entrants", [4, 5, 8, 9, 14, 20])
def test_drawn_partners_are_even(entrants: int) -> None:
    """In about as many rounds as there are others, nobody is another's partner three times."""
    made, _ = play("pods", pods(entrants, 4, partners=Partners.ROTATING))
    together = Counter(
        frozenset(pairing.seats[side::2]) for pairing in made.pairings for side in range(2)
    )
    couples = [together[frozenset(couple)] for couple in combinations(range(entrants), 2)]
    assert max(couples) <= 2
    assert sum(couples) == len(made.pairings) * 2
    assert sum(couples) >= len(couples)


def test_a_round_is_known_two_rounds_ahead() -> None:
    """Before any result there are two rounds, and the third comes when the first is over."""
    whole = pods(9, 3)
    assert {pairing.round for pairing in schedule("pods", whole, {}).pairings} == {1, 2}
    _, results = play("pods", whole, matches=3)
    assert {pairing.round for pairing in schedule("pods", whole, results).pairings} == {1, 2, 3}


def test_late_entries_are_drawn_from_the_next_unknown_round_on() -> None:
    """The newcomer is in the third round, and not owed the byes of the others."""
    whole = pods(10, 3, 8)
    held = len(schedule("pods", whole, {}).pairings)
    late = replace(whole, changes=(join(10, held), leave(4, held)))
    made, _ = play("pods", late)
    assert made.pairings[:held] == schedule("pods", whole, {}).pairings
    for round_ in range(3, 9):
        seats = [
            one for pairing in made.pairings if pairing.round == round_ for one in pairing.seats
        ]
        out = [bye.entrant for bye in made.byes if bye.round == round_]
        assert sorted([*seats, *out]) == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10]
    byes = Counter(bye.entrant for bye in made.byes)
    assert byes[10] <= max(byes[one] for one in range(4))


def test_a_cancelled_pod_counts_for_nobody() -> None:
    """Nobody can tell who would have won it."""
    whole = replace(pods(3, 3, 2), changes=(leave(0, 2),))
    places = ranking("pods", whole, {1: None, 2: (Fraction(0), Fraction(1), Fraction(2))})
    assert {dict(place.columns)["Games"] for place in places} == {1}


def test_points_are_the_part_of_the_others_left_behind() -> None:
    """Second of three has half a point, who is level with one and above one has three quarters."""
    whole = pods(3, 3, 2)
    first, second = schedule("pods", whole, {}).pairings
    results = {
        first.number: better_seed(first),
        second.number: tuple(Fraction(entrant != 2) for entrant in second.seats),
    }
    points = {one.entrant: dict(one.columns)["Points"] for one in ranking("pods", whole, results)}
    assert points == {0: Fraction(7, 4), 1: Fraction(5, 4), 2: 0}


def test_other_seeds_draw_other_pods() -> None:
    """What is open is drawn by lot."""
    whole = pods(12, 4)
    drawn = {
        schedule("pods", replace(whole, seed=bytes([seed]) * 32), {}).pairings for seed in range(3)
    }
    assert len(drawn) == 3


def test_matches_are_counted() -> None:
    """As many as are played if nobody leaves."""
    for entrants, seats in ((7, 3), (9, 4), (12, 6)):
        made, _ = play("pods", pods(entrants, seats))
        assert len(made.pairings) == expected_matches("pods", pods(entrants, seats))


@pytest.mark.parametrize(
    ("seats", "partners"), [(2, Partners.NONE), (6, Partners.ROTATING), (3, Partners.ROTATING)]
)
def test_matches_of_two_and_partners_among_six_are_refused(seats: int, partners: Partners) -> None:
    """For two there are other formats."""
    with pytest.raises(RefusedError, match="round-robin"):
        schedule("pods", pods(8, seats, partners=partners), {})


def test_two_hundred_are_drawn_within_seconds() -> None:
    """Twelve rounds of fifty pods, nobody meeting another twice in the first four."""
    made, _ = play("pods", pods(200, 4, 12))
    assert len(made.pairings) == 600
    early = Schedule(tuple(pairing for pairing in made.pairings if pairing.round <= 4))
    assert meetings(early, 200)[-1] == 1
