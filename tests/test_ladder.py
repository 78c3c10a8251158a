import gc
import importlib
import random
import tracemalloc
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from schedules import Outcome, better_seed, draw, join, leave, play, two

from arena.errors import RefusedError
from arena.formats import (
    Change,
    Pairing,
    Partners,
    Plan,
    Totals,
    expected_matches,
    ranking,
    schedule,
)
from arena.formats.matchmaking import PLACEMENTS, newcomer, next_groups, quality
from arena.ratings import Skill
from referee.shuffle import Stream

ladder_module = importlib.import_module("arena.formats.ladder")


def ladder(entrants: int, seats: int = 2, partners: Partners = Partners.NONE) -> Plan:
    """Plan a ladder with a seed of zeros."""
    return Plan(entrants=entrants, seats=seats, rounds=None, seed=bytes(32), partners=partners)


def by_strength(entrants: int) -> Outcome:
    """Return results in which the smaller number is the stronger, with luck."""

    def outcome(pairing: Pairing) -> Totals:
        lot = random.Random(pairing.number)
        return tuple(
            Fraction(round(100 * (lot.gauss(0, 4) - 20 * one / entrants))) for one in pairing.seats
        )

    return outcome


def test_match_quality_is_the_chance_of_a_draw_beside_that_of_known_equals() -> None:
    """Known equals are 1, new ones less, and a gap in skill lowers it."""
    assert quality(Skill(25, 0), Skill(25, 0)) == 1
    assert quality(Skill(25, 25 / 3), Skill(25, 25 / 3)) == pytest.approx(0.4472, abs=1e-4)
    assert quality(Skill(30, 1), Skill(20, 1)) < quality(Skill(30, 1), Skill(25, 1))


def test_a_block_seats_nobody_twice_and_everybody_soon() -> None:
    """Ten entrants are in five matches of the first block."""
    made = schedule("ladder", ladder(10), {})
    assert not made.complete
    for block in (1, 2, 3):
        seats = [
            one for pairing in made.pairings if pairing.round == block for one in pairing.seats
        ]
        assert sorted(seats) == list(range(10))
    assert made.pairings[-1].round == 3
    assert expected_matches("ladder", ladder(10)) is None


def test_a_block_waits_for_all_but_the_last_two() -> None:
    """The fourth block comes when the first is over, whatever came of the others."""
    whole = ladder(6)
    made = schedule("ladder", whole, {})
    first = {pairing.number: better_seed(pairing) for pairing in made.pairings[:3]}
    later = {pairing.number: draw(pairing) for pairing in made.pairings[3:]}
    assert schedule("ladder", whole, {1: first[1], 2: first[2], **later}) == made
    grown = schedule("ladder", whole, first)
    assert grown.pairings[-1].round == 4
    assert schedule("ladder", whole, {**first, **later}).pairings[:12] == grown.pairings


def test_near_ratings_meet_more_often() -> None:
    """Among twenty, opponents are nearer than chance would have them, and ranks come out."""
    made, results = play("ladder", ladder(20), by_strength(20), matches=600)
    gaps = [abs(pairing.seats[0] - pairing.seats[1]) for pairing in made.pairings[200:]]
    assert sum(gaps) / len(gaps) < 5
    order = [place.entrant for place in ranking("ladder", ladder(20), results)]
    assert set(order[:4]) <= set(range(8))
    assert set(order[-4:]) <= set(range(12, 20))


def test_everybody_plays_about_equally_often_and_at_every_seat() -> None:
    """Nobody is forgotten, however strong or weak."""
    made, results = play("ladder", ladder(12), by_strength(12), matches=300)
    played = [pairing for pairing in made.pairings if pairing.number in results]
    games = Counter(one for pairing in played for one in pairing.seats)
    assert max(games.values()) - min(games.values()) < 15
    firsts = Counter(pairing.seats[0] for pairing in played)
    assert all(abs(2 * firsts[one] - games[one]) <= 2 for one in range(12))


def test_uncertain_ratings_are_played_first() -> None:
    """Of six, the two of whom least is known begin."""
    sure, unsure = Skill(25, 1), Skill(25, 8)
    players = {
        one: replace(newcomer(2), skill=unsure if one in {2, 4} else sure, games=1, block=1)
        for one in range(6)
    }
    (group,) = next_groups(players, range(6), 3, 1, Stream(bytes(32), "test", 0, 0))
    assert set(group) == {2, 4}


def test_an_old_pairing_is_preferred_to_a_fresh_one() -> None:
    """Between equals the opponent met longest ago, or never, is chosen."""
    known = replace(newcomer(2), games=3, block=3)
    players = dict.fromkeys(range(4), known) | {0: replace(known, block=1, recent=(2, 3))}
    for seed in range(5):
        stream = Stream(bytes([seed]) * 32, "test", 0, 0)
        assert next_groups(players, range(4), 5, 1, stream) == [(0, 1)]
    players[0] = replace(players[0], recent=(1, 3, 2))
    assert next_groups(players, range(4), 5, 1, Stream(bytes(32), "test", 0, 0)) == [(0, 2)]


def test_a_newcomer_is_placed_at_once() -> None:
    """It has its first matches in the next block, without waiting for any result."""
    whole = ladder(10)
    made, results = play("ladder", whole, by_strength(10), matches=100)
    late = replace(whole, changes=(join(10, len(made.pairings)),))
    grown = schedule("ladder", late, results)
    assert grown.pairings[: len(made.pairings)] == made.pairings
    first = grown.pairings[len(made.pairings) :][:PLACEMENTS]
    assert all(10 in pairing.seats and pairing.stage == "placement" for pairing in first)
    opponents = [sum(pairing.seats) - 10 for pairing in first]
    assert len(set(opponents)) == PLACEMENTS
    order = [place.entrant for place in ranking("ladder", whole, results)]
    places = [order.index(one) for one in opponents]
    assert all(weaker > stronger - 3 for weaker, stronger in pairwise(places))
    assert max(places) - min(places) >= 5


def test_who_left_plays_no_more() -> None:
    """Its cancelled matches count for nobody, and the ladder goes on without it."""
    whole = ladder(6)
    made, results = play("ladder", whole, matches=30)
    gone = replace(whole, changes=(leave(2, len(made.pairings)),))
    cancelled = {
        pairing.number: None if 2 in pairing.seats else better_seed(pairing)
        for pairing in made.pairings
        if pairing.number not in results
    }
    grown = schedule("ladder", gone, {**results, **cancelled})
    after = grown.pairings[len(made.pairings) :]
    assert after
    assert all(2 not in pairing.seats for pairing in after)
    before = {one.entrant: dict(one.columns) for one in ranking("ladder", whole, results)}
    now = {
        one.entrant: dict(one.columns)
        for one in ranking("ladder", gone, results | dict.fromkeys(cancelled))
    }
    assert now == before


def test_too_few_to_play_wait_for_the_next() -> None:
    """When all but one have left there is no match, and when one comes there is."""
    whole = ladder(2)
    gone = replace(whole, changes=(leave(0, 3),))
    results = dict.fromkeys(range(1, 4))
    assert len(schedule("ladder", gone, results).pairings) == 3
    back = replace(gone, changes=(*gone.changes, join(2, 3)))
    grown = schedule("ladder", back, results)
    assert set(grown.pairings[3].seats) == {1, 2}


@pytest.mark.parametrize(
    ("seats", "partners"), [(3, Partners.NONE), (6, Partners.NONE), (4, Partners.ROTATING)]
)
def test_matches_of_many_and_drawn_partners(seats: int, partners: Partners) -> None:
    """Everybody meets everybody within some blocks."""
    whole = ladder(8, seats, partners)
    made, results = play("ladder", whole, by_strength(8), matches=60)
    met = {
        frozenset(couple) for pairing in made.pairings for couple in combinations(pairing.seats, 2)
    }
    assert len(met) == 28
    assert len(ranking("ladder", whole, results)) == 8


def test_an_end_is_refused() -> None:
    """A ladder is stopped, not planned."""
    with pytest.raises(RefusedError, match="until it is stopped"):
        schedule("ladder", replace(ladder(4), rounds=3), {})


def test_what_is_long_past_takes_little_memory() -> None:
    """A ladder has no end: what it keeps of a block must not grow with who is in."""
    whole = ladder(300)
    _, results = play("ladder", whole, draw, matches=160)
    tracemalloc.start()
    try:
        play("ladder", whole, draw, results=results, matches=400)
        # What updates came to is kept up to a bound.
        ladder_module._updated.cache_clear()
        gc.collect()
        # What the threads of the test runner take meanwhile is not the ladder's.
        ours = tracemalloc.Filter(inclusive=True, filename_pattern="*/arena/*")
        kept = tracemalloc.take_snapshot().filter_traces([ours])
        taken = sum(trace.size for trace in kept.traces)
    finally:
        tracemalloc.stop()
    assert taken / 30 < 12_000


@pytest.mark.parametrize("changes", [(), (join(20, 100), leave(3, 150), join(21, 310))])
def test_another_past_is_worked_out_from_what_is_kept(
    monkeypatch: pytest.MonkeyPatch, changes: tuple[Change, ...]
) -> None:
    """A result that is another than before gives what it gives where nothing is remembered."""
    monkeypatch.setattr(ladder_module, "_NEAR", 3)
    monkeypatch.setattr(ladder_module, "_CHECKPOINT", 10)
    whole = replace(ladder(20), seed=bytes([9]) * 32, changes=changes)
    _, results = play("ladder", whole, better_seed, matches=400)
    others = {number: results[number] for number in range(1, 260)}
    others |= {number: two(-1) for number in range(200, 260)}

    made = schedule("ladder", whole, others)
    ladder_module._start.cache_clear()

    assert made == schedule("ladder", whole, others)
    assert made.pairings != schedule("ladder", whole, results).pairings[: len(made.pairings)]


def test_what_is_old_is_not_worked_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ladder is asked for after every few of its thousands of matches."""
    whole = replace(ladder(20), seed=bytes([7]) * 32)
    made, results = play("ladder", whole, draw, matches=1000)
    chosen: list[int] = []
    monkeypatch.setattr(ladder_module, "next_groups", lambda *_: chosen.append(1))
    assert schedule("ladder", whole, results) == made
    assert not chosen
