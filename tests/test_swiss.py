import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest
from schedules import better_seed, by_chance, draw, join, leave, play, two

from arena.errors import RefusedError
from arena.formats import Bye, Plan, Schedule, expected_matches, ranking, schedule, swiss_pairing
from arena.formats.swiss_pairing import Player, Position, next_round


def swiss(entrants: int, rounds: int | None = None) -> Plan:
    """Plan a Swiss tournament with a seed of zeros."""
    return Plan(entrants=entrants, seats=2, rounds=rounds, seed=bytes(32))


def meetings(made: Schedule) -> Counter[frozenset[int]]:
    """Count how often each two meet."""
    return Counter(frozenset(pairing.seats) for pairing in made.pairings)


def test_the_first_round_pairs_the_upper_half_with_the_lower() -> None:
    """Of seven the first meets the fourth and so on, seats alternate, the last has a bye."""
    made = schedule("swiss", swiss(7), {})
    assert [pairing.seats for pairing in made.pairings] == [(0, 3), (4, 1), (2, 5)]
    assert made.byes == (Bye(1, 6),)
    assert not made.complete


def test_a_round_begins_when_the_one_before_is_over() -> None:
    """With one result missing there is no second round."""
    whole = swiss(8)
    _, results = play("swiss", whole, matches=4)
    assert len(schedule("swiss", whole, {1: results[1], 3: results[3]}).pairings) == 4
    assert len(schedule("swiss", whole, results).pairings) == 8


def test_winners_meet_winners() -> None:
    """In the second round of eight entrants everybody meets one of its own score."""
    made, _ = play("swiss", swiss(8), matches=4)
    winners = {0, 1, 2, 3}
    assert all(len(winners & set(pairing.seats)) != 1 for pairing in made.pairings[4:])


@pytest.mark.parametrize("entrants", [2, 3, 4, 5, 6, 7, 8, 9, 12, 15])
def test_nobody_meets_twice_however_many_rounds_there_are(entrants: int) -> None:
    """From the usual number of rounds to the most there are, no meeting and no bye repeats."""
    for rounds in (None, *range(1, entrants + entrants % 2)):
        for seed in range(2):
            made, _ = play("swiss", swiss(entrants, rounds), by_chance(seed))
            assert set(meetings(made).values()) <= {1}
            assert set(Counter(bye.entrant for bye in made.byes).values()) <= {1}
            assert len(made.pairings) == expected_matches("swiss", swiss(entrants, rounds))
            assert made.complete


@pytest.mark.parametrize("entrants", [10, 33, 64])
def test_everybody_sits_first_about_as_often_as_second(entrants: int) -> None:
    """Nobody sits at one seat more than two times more often than at the other."""
    made, _ = play("swiss", swiss(entrants), by_chance(1))
    firsts = Counter(pairing.seats[0] for pairing in made.pairings)
    seconds = Counter(pairing.seats[1] for pairing in made.pairings)
    assert all(abs(firsts[one] - seconds[one]) <= 2 for one in range(entrants))


@pytest.mark.parametrize("seed", range(6))
def test_the_bye_goes_to_the_lowest_that_had_none(seed: int) -> None:
    """First to the last of the seeding, then to one than whom nobody without a bye has less."""
    whole = swiss(11, 4)
    made, results = play("swiss", whole, by_chance(seed))
    assert made.byes[0] == Bye(1, 10)
    for number, bye in enumerate(made.byes[1:], start=1):
        until = {key: results[key] for key in range(1, 5 * number + 1)}
        earlier = {one.entrant for one in made.byes[:number]}
        points: dict[int, Fraction] = {
            place.entrant: Fraction(dict(place.columns)["Points"])
            for place in ranking("swiss", whole, until)
        }
        # The ranking counts the bye of the round that has just been paired.
        points[bye.entrant] -= 1
        assert points[bye.entrant] == min(points[one] for one in range(11) if one not in earlier)


def test_buchholz_and_sonneborn_berger_by_hand() -> None:
    """Four entrants, two rounds: 0 beats 2 and 3-1 is drawn, then 0 draws, and so on."""
    whole = swiss(4, 2)
    made, results = play("swiss", whole, draw, matches=0)
    assert [pairing.seats for pairing in made.pairings] == [(0, 2), (3, 1)]
    results = {1: two(1), 2: two(0)}
    made = schedule("swiss", whole, results)
    third, fourth = made.pairings[2:]
    assert 0 in third.seats
    rival = sum(third.seats)
    rest = 4 - rival
    assert {rival, rest} == {1, 3}
    assert set(fourth.seats) == {2, rest}
    # The leader draws with its rival, and 2 beats the other.
    results[3] = two(0)
    results[4] = two(1 if fourth.seats[0] == 2 else -1)
    places = {place.entrant: place for place in ranking("swiss", whole, results)}
    half = Fraction(1, 2)
    points = {0: 3 * half, rival: Fraction(1), 2: Fraction(1), rest: half}
    buchholz = {
        0: points[2] + points[rival],
        rival: points[rest] + points[0],
        2: points[0] + points[rest],
        rest: points[rival] + points[2],
    }
    berger = {
        0: points[2] + half * points[rival],
        rival: half * points[rest] + half * points[0],
        2: points[rest],
        rest: half * points[rival],
    }
    for one, place in places.items():
        assert place.columns == (
            ("Points", points[one]),
            ("Buchholz", buchholz[one]),
            ("SB", berger[one]),
        )
    assert [places[one].rank for one in (0, rival, 2, rest)] == [1, 2, 3, 4]


def test_a_bye_counts_as_a_win_over_ones_equal() -> None:
    """A round without a match adds one's own points to Buchholz, and to SB if it was won."""
    whole = swiss(3, 1)
    places = ranking("swiss", whole, {1: two(1)})
    assert [(place.entrant, place.rank) for place in places] == [(2, 1), (0, 2), (1, 3)]
    assert places[0].columns == (("Points", 1), ("Buchholz", 1), ("SB", 1))
    assert places[1].columns == (("Points", 1), ("Buchholz", 0), ("SB", 0))


def test_a_late_entry_starts_with_no_points_in_the_next_round() -> None:
    """The held round stays; the next has everybody in it."""
    whole = swiss(6)
    before, results = play("swiss", whole, matches=3)
    late = replace(whole, changes=(join(6, 3),))
    made = schedule("swiss", late, results)
    assert made.pairings[:3] == before.pairings[:3]
    second = [pairing for pairing in made.pairings if pairing.round == 2]
    in_second = {entrant for pairing in second for entrant in pairing.seats}
    assert in_second | {bye.entrant for bye in made.byes} == set(range(7))
    assert dict(ranking("swiss", late, results)[-1].columns)["Points"] in {0, 1}


def test_who_left_is_paired_no_more_and_its_match_is_a_point_for_the_other() -> None:
    """A cancelled match is worth a point to who stayed, also when that one leaves later."""
    whole = swiss(8)
    _, results = play("swiss", whole, matches=4)
    gone = replace(whole, changes=(leave(0, 4),))
    cancelled = {**results, 1: None}
    made = schedule("swiss", gone, cancelled)
    assert all(0 not in pairing.seats for pairing in made.pairings[4:])
    points = {one.entrant: dict(one.columns)["Points"] for one in ranking("swiss", gone, cancelled)}
    assert (points[0], points[4]) == (0, 1)
    both = replace(gone, changes=(*gone.changes, leave(4, len(made.pairings))))
    assert schedule("swiss", both, cancelled) == made


def matchings(players: list[Player]) -> Iterator[list[tuple[Player, Player]]]:
    """Give every way to pair an even number of players."""
    if not players:
        yield []
        return
    first, *rest = players
    for place, other in enumerate(rest):
        for others in matchings(rest[:place] + rest[place + 1 :]):
            yield [(first, other), *others]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("entrants", [5, 6, 8])
def test_no_other_pairing_of_a_round_is_better(entrants: int, seed: int) -> None:
    """The round costs as little as the best of all that there are."""
    lot = random.Random(seed)
    players = tuple(
        Player(one, lot.randrange(5), lot.randrange(-2, 3), lot.randrange(2), lot.random() < 0.3)
        for one in range(entrants)
    )
    couples = combinations(range(entrants), 2)
    met = {couple: lot.randrange(1, 3) for couple in couples if lot.random() < 0.3}
    position = Position(bytes(32), seed, players, tuple(sorted(met.items())))
    pairs, bye = next_round(position)
    by_entrant = {player.entrant: player for player in (*players, swiss_pairing._NOBODY)}
    chosen = [*pairs, *([] if bye is None else [(bye, swiss_pairing.BYE)])]
    costs = [
        sum(swiss_pairing._cost(met, *pair) for pair in pairing)
        for pairing in matchings([by_entrant[one] for couple in chosen for one in couple])
    ]
    assert min(costs) == sum(
        swiss_pairing._cost(met, by_entrant[one], by_entrant[other]) for one, other in chosen
    )


def test_no_round_depends_on_the_order_of_a_set() -> None:
    """Interpreters that hash differently make the same schedule."""
    script = (
        "from schedules import *; "
        "plan = Plan(entrants=23, seats=2, rounds=None, seed=bytes(32)); "
        "print(play('swiss', plan, by_chance(3))[0])"
    )
    said = set()
    for seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)}
        command = [sys.executable, "-c", script]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        said.add(run.stdout)
    assert len(said) == 1


def test_a_seed_decides_the_lots() -> None:
    """Level entrants are paired by lot: other seeds pair them differently."""
    whole = swiss(16)
    _, results = play("swiss", whole, better_seed, matches=8)
    rounds = {
        schedule("swiss", replace(whole, seed=bytes([seed]) * 32), results).pairings[8:]
        for seed in range(4)
    }
    assert len(rounds) > 1


@pytest.mark.parametrize(("entrants", "rounds"), [(4, 4), (5, 6), (2, 2)])
def test_rounds_that_must_repeat_meetings_are_refused(entrants: int, rounds: int) -> None:
    """There are no more rounds than everybody has opponents, or a bye besides."""
    with pytest.raises(RefusedError, match="at most"):
        schedule("swiss", swiss(entrants, rounds), {})


def test_more_seats_are_refused() -> None:
    """Swiss pairs two; for more there are pods."""
    with pytest.raises(RefusedError, match="pods"):
        schedule("swiss", Plan(entrants=6, seats=3, rounds=2, seed=bytes(32)), {})


def test_two_hundred_are_paired_within_seconds() -> None:
    """Eight rounds of a hundred matches, without a repeated meeting."""
    made, _ = play("swiss", swiss(200), by_chance(1))
    assert len(made.pairings) == 800
    assert set(meetings(made).values()) == {1}
