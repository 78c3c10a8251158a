from collections import Counter
from dataclasses import replace

import pytest
from schedules import join, leave, play

from arena.errors import RefusedError
from arena.formats import Options, Partners, Plan, expected_matches, ranking, schedule


def gauntlet(entrants: int, rounds: int | None = None, challenger: int | None = None) -> Plan:
    """Plan a gauntlet with a seed of zeros."""
    options = Options(challenger=challenger)
    return Plan(entrants=entrants, seats=2, rounds=rounds, seed=bytes(32), options=options)


def test_one_meets_all_and_seats_change_with_the_round() -> None:
    """Two rounds of four: three opponents twice, once at each seat."""
    made = schedule("gauntlet", gauntlet(4, 2), {})
    assert [pairing.seats for pairing in made.pairings] == [
        (0, 1),
        (2, 0),
        (0, 3),
        (1, 0),
        (0, 2),
        (3, 0),
    ]
    assert made.complete
    assert len(made.pairings) == expected_matches("gauntlet", gauntlet(4, 2))


def test_the_challenger_can_be_named() -> None:
    """Everybody else meets it."""
    made = schedule("gauntlet", gauntlet(4, challenger=2), {})
    met = Counter(entrant for pairing in made.pairings for entrant in pairing.seats)
    assert met == {2: 3, 0: 1, 1: 1, 3: 1}


def test_a_challenging_pair_is_named_by_either_partner() -> None:
    """Of fixed partners the pair is meant."""
    plan = replace(gauntlet(8, challenger=5), seats=4, partners=Partners.FIXED)
    made = schedule("gauntlet", plan, {})
    assert all({4, 5} < set(pairing.seats) for pairing in made.pairings)
    assert len(made.pairings) == 3


def test_a_late_entry_meets_the_challenger() -> None:
    """As often as the others did."""
    late = replace(gauntlet(3, 2), changes=(join(3, 4),))
    made = schedule("gauntlet", late, {})
    assert [set(pairing.seats) for pairing in made.pairings[4:]] == [{0, 3}, {0, 3}]
    assert expected_matches("gauntlet", late) == 6


def test_who_enters_after_the_challenger_left_takes_over() -> None:
    """A new version of the challenger meets all who are still in."""
    late = replace(gauntlet(4), changes=(leave(0, 3), leave(2, 3), join(4, 3)))
    made = schedule("gauntlet", late, {})
    assert [set(pairing.seats) for pairing in made.pairings[3:]] == [{4, 1}, {4, 3}]


def test_ranking_is_by_the_part_of_the_points() -> None:
    """The challenger that beat 3 of 3 is above those that have no point, and these share a rank."""
    _, results = play("gauntlet", gauntlet(3))
    places = ranking("gauntlet", gauntlet(3), results)
    assert [place.entrant for place in places] == [0, 1, 2]
    assert dict(places[0].columns)["Points"] == 2


@pytest.mark.parametrize("challenger", [-1, 4])
def test_a_challenger_who_is_not_there_is_refused(challenger: int) -> None:
    """The message says who could be."""
    with pytest.raises(RefusedError, match="0 to 3"):
        schedule("gauntlet", gauntlet(4, challenger=challenger), {})
