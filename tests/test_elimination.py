from collections import Counter
from dataclasses import replace

import pytest
from schedules import Outcome, better_seed, by_chance, draw, join, leave, play, two

from arena.errors import RefusedError
from arena.formats import (
    Bye,
    Options,
    Pairing,
    Partners,
    Plan,
    Totals,
    expected_matches,
    ranking,
    schedule,
)
from arena.formats.bracket import stage_name
from arena.formats.knockout import MOST_REPLAYS

SINGLE, DOUBLE = "single-elimination", "double-elimination"


def knockout(entrants: int, rounds: int | None = None, *, third: bool | None = None) -> Plan:
    """Plan a knock-out with a seed of zeros."""
    options = Options(third_place=third)
    return Plan(entrants=entrants, seats=2, rounds=rounds, seed=bytes(32), options=options)


def ties(pairings: tuple[Pairing, ...]) -> list[tuple[str, set[int]]]:
    """Return the stage and who meets, match by match."""
    return [(pairing.stage, set(pairing.seats)) for pairing in pairings]


def ranks(name: str, plan: Plan, outcome: Outcome = better_seed) -> list[int]:
    """Return everybody's rank once all is played, by entrant."""
    _, results = play(name, plan, outcome)
    by_entrant = {place.entrant: place.rank for place in ranking(name, plan, results)}
    return [by_entrant[entrant] for entrant in sorted(by_entrant)]


def test_bracket_of_five() -> None:
    """One match, three byes; 2 meets 3 at the same time, then 1 meets the winner."""
    made, _ = play(SINGLE, knockout(5))
    assert ties(made.pairings) == [
        ("quarter-final", {3, 4}),
        ("semi-final", {1, 2}),
        ("semi-final", {0, 3}),
        ("third place", {2, 3}),
        ("final", {0, 1}),
    ]
    assert made.byes == (Bye(1, 0), Bye(1, 1), Bye(1, 2))
    assert ranks(SINGLE, knockout(5)) == [1, 2, 3, 4, 5]


def test_bracket_of_six() -> None:
    """The best two have byes."""
    made, _ = play(SINGLE, knockout(6))
    assert ties(made.pairings)[:2] == [("quarter-final", {3, 4}), ("quarter-final", {2, 5})]
    assert made.byes == (Bye(1, 0), Bye(1, 1))
    assert ranks(SINGLE, knockout(6)) == [1, 2, 3, 4, 5, 5]


def test_bracket_of_eight() -> None:
    """1 v 8 and 4 v 5 in one half, 2 v 7 and 3 v 6 in the other."""
    made, _ = play(SINGLE, knockout(8))
    quarters = [{0, 7}, {3, 4}, {1, 6}, {2, 5}]
    assert ties(made.pairings)[:4] == [("quarter-final", tie) for tie in quarters]
    assert ties(made.pairings)[4:] == [
        ("semi-final", {0, 3}),
        ("semi-final", {1, 2}),
        ("third place", {2, 3}),
        ("final", {0, 1}),
    ]
    assert made.byes == ()
    assert ranks(SINGLE, knockout(8)) == [1, 2, 3, 4, 5, 5, 5, 5]


def test_bracket_of_thirteen() -> None:
    """Five matches and three byes, and the best eight go on if the better always win."""
    made, _ = play(SINGLE, knockout(13))
    first = [tie for tie in ties(made.pairings) if tie[0] == "round of 16"]
    assert [tie for _, tie in first] == [{7, 8}, {3, 12}, {4, 11}, {6, 9}, {5, 10}]
    assert made.byes == (Bye(1, 0), Bye(1, 1), Bye(1, 2))
    assert ranks(SINGLE, knockout(13)) == [1, 2, 3, 4, *[5] * 4, *[9] * 5]


def test_without_a_match_for_the_third_place_two_share_it() -> None:
    """The losers of the semi-finals are level."""
    whole = knockout(8, third=False)
    made, _ = play(SINGLE, whole)
    assert all(pairing.stage != "third place" for pairing in made.pairings)
    assert ranks(SINGLE, whole) == [1, 2, 3, 3, 5, 5, 5, 5]


def test_rounds_are_called_by_their_distance_from_the_final() -> None:
    """A round of sixteen comes before the quarter-finals."""
    assert [stage_name(to_come) for to_come in range(5)] == [
        "final",
        "semi-final",
        "quarter-final",
        "round of 16",
        "round of 32",
    ]


def test_double_elimination_of_eight_by_hand() -> None:
    """Losers of the first round meet; those of the second drop in crosswise."""
    made, _ = play(DOUBLE, knockout(8))
    assert sorted(map(str, ties(made.pairings))) == sorted(
        map(
            str,
            [
                ("winners' round 1", {0, 7}),
                ("winners' round 1", {3, 4}),
                ("winners' round 1", {1, 6}),
                ("winners' round 1", {2, 5}),
                ("winners' round 2", {0, 3}),
                ("winners' round 2", {1, 2}),
                ("losers' round 1", {4, 7}),
                ("losers' round 1", {5, 6}),
                ("losers' round 2", {2, 4}),
                ("losers' round 2", {3, 5}),
                ("losers' round 3", {2, 3}),
                ("winners' final", {0, 1}),
                ("losers' final", {1, 2}),
                ("grand final", {0, 1}),
            ],
        )
    )
    assert ranks(DOUBLE, knockout(8)) == [1, 2, 3, 4, 5, 5, 7, 7]


def test_an_upset_in_the_grand_final_is_played_again() -> None:
    """Who has not lost yet may lose the first grand final."""

    def outcome(pairing: Pairing) -> Totals:
        if pairing.stage == "grand final":
            return two(1 if pairing.seats[0] == 1 else -1)
        return better_seed(pairing)

    made, results = play(DOUBLE, knockout(4), outcome)
    assert ties(made.pairings)[-2:] == [("grand final", {0, 1}), ("second grand final", {0, 1})]
    assert len(made.pairings) == expected_matches(DOUBLE, knockout(4)) + 1
    winner, second = ranking(DOUBLE, knockout(4), results)[:2]
    assert (winner.entrant, winner.columns[0]) == (0, ("Reached", "winner"))
    assert second.columns[0] == ("Reached", "second grand final")


@pytest.mark.parametrize("entrants", [2, 3, 4, 5, 6, 7, 11, 16, 33])
def test_nobody_is_out_of_a_double_elimination_before_two_losses(entrants: int) -> None:
    """All but the winner lose twice, the winner at most once."""
    made, results = play(DOUBLE, knockout(entrants), by_chance(entrants))
    sides: dict[tuple[str, frozenset[int]], Counter[int]] = {}
    for pairing in made.pairings:
        totals = results[pairing.number]
        assert totals is not None
        tie = pairing.stage.removesuffix(", replay"), frozenset(pairing.seats)
        score = sides.setdefault(tie, Counter(dict.fromkeys(pairing.seats, 0)))
        first, second = pairing.seats
        score[first] += (totals[0] > totals[1]) - (totals[0] < totals[1])
        score[second] -= (totals[0] > totals[1]) - (totals[0] < totals[1])
    losses = Counter(min(score, key=lambda one: (score[one], -one)) for score in sides.values())
    champion = ranking(DOUBLE, knockout(entrants), results)[0].entrant
    assert losses.pop(champion, 0) <= 1
    assert losses == dict.fromkeys(set(range(entrants)) - {champion}, 2)


def test_a_drawn_match_is_replayed_and_then_the_better_seed_goes_on() -> None:
    """New matches with seats exchanged, until there have been enough."""
    made, _ = play(SINGLE, knockout(2), draw)
    assert made.complete
    stages = ["final", *["final, replay"] * MOST_REPLAYS]
    assert [pairing.stage for pairing in made.pairings] == stages
    assert [pairing.seats for pairing in made.pairings] == [(0, 1), (1, 0)] * 2
    assert ranks(SINGLE, knockout(2), draw) == [1, 2]


def test_a_replay_decides() -> None:
    """After one draw the worse seed wins the replay and the final."""
    results = {1: two(0), 2: two(1)}
    made = schedule(SINGLE, knockout(2), results)
    assert made.complete
    assert [place.entrant for place in ranking(SINGLE, knockout(2), results)] == [1, 0]


def test_rounds_are_the_matches_of_a_tie() -> None:
    """Three matches a tie, seats exchanged, and the majority decides."""
    whole = knockout(2, 3)
    made = schedule(SINGLE, whole, {})
    assert [pairing.seats for pairing in made.pairings] == [(0, 1), (1, 0), (0, 1)]
    won_twice = {1: two(-1), 2: two(1), 3: two(1)}
    assert schedule(SINGLE, whole, won_twice).complete
    assert ranking(SINGLE, whole, won_twice)[0].entrant == 1
    assert expected_matches(SINGLE, knockout(8, 3)) == 24


def test_a_round_is_known_when_the_one_before_is_over() -> None:
    """One open quarter-final holds back both semi-finals."""
    whole = knockout(8)
    _, results = play(SINGLE, whole, matches=4)
    assert len(schedule(SINGLE, whole, {1: results[1], 2: results[2]}).pairings) == 4
    assert len(schedule(SINGLE, whole, results).pairings) == 6


def test_who_left_gives_a_walkover() -> None:
    """Before its match is made, and when its match is cancelled."""
    whole = replace(knockout(4), changes=(leave(0, 2),))
    cancelled = schedule(SINGLE, whole, {1: None, 2: two(1)})
    assert ties(cancelled.pairings)[2:] == [("final", {1, 3})]
    won = schedule(SINGLE, whole, {1: two(1), 2: two(1)})
    assert ties(won.pairings)[2:] == [("third place", {2, 3})]
    assert won.byes == (Bye(2, 1),)
    assert [place.entrant for place in ranking(SINGLE, whole, {1: two(1), 2: two(1)})][:2] == [1, 0]


def test_of_two_who_leave_the_first_has_lost() -> None:
    """Who has won by a walkover stays the winner, also when it leaves later."""
    whole = replace(knockout(2), changes=(leave(0, 1), leave(1, 1)))
    assert [place.entrant for place in ranking(SINGLE, whole, {1: None})] == [1, 0]


def test_a_winner_who_leaves_has_won() -> None:
    """What was decided stays decided."""
    whole = replace(knockout(2), changes=(leave(0, 1),))
    assert ranking(SINGLE, whole, {1: two(1)})[0].entrant == 0
    assert schedule(SINGLE, whole, {1: two(1)}).complete


def test_a_newcomer_takes_over_the_place_of_who_left() -> None:
    """A replaced version is replaced in the bracket; a match it had not played is played anew."""
    whole = replace(knockout(4), changes=(leave(1, 2), join(4, 2)))
    # The winner of its semi-final is replaced: the newcomer plays the final.
    made = schedule(SINGLE, whole, {1: two(1), 2: two(1)})
    assert ties(made.pairings)[2:] == [("third place", {2, 3}), ("final", {0, 4})]
    # Its semi-final is cancelled: the newcomer plays that.
    made = schedule(SINGLE, whole, {1: two(1), 2: None})
    assert ties(made.pairings)[2:] == [("semi-final, replay", {2, 4})]
    places = {place.entrant: place for place in ranking(SINGLE, whole, {1: two(1), 2: None})}
    assert places[1].rank == 5
    assert places[1].columns[0] == ("Reached", "none")


def test_a_late_entry_without_a_place_is_refused() -> None:
    """A bracket that is drawn cannot grow."""
    with pytest.raises(RefusedError, match="no place"):
        schedule(SINGLE, replace(knockout(4), changes=(join(4, 2),)), {})


def test_options_of_other_formats_are_refused() -> None:
    """A double elimination has no match for the third place, and neither has groups."""
    with pytest.raises(RefusedError, match="third-place"):
        schedule(DOUBLE, knockout(4, third=True), {})
    with pytest.raises(RefusedError, match="groups"):
        schedule(SINGLE, replace(knockout(4), options=Options(groups=2)), {})


def test_pairs_are_knocked_out_as_pairs() -> None:
    """Four pairs make two semi-finals, with partners across."""
    whole = Plan(entrants=8, seats=4, rounds=None, seed=bytes(32), partners=Partners.FIXED)
    made, results = play(SINGLE, whole)
    assert made.pairings[0].seats == (0, 6, 1, 7)
    assert [place.entrant for place in ranking(SINGLE, whole, results)] == [0, 1, 2, 3]


@pytest.mark.parametrize("entrants", [8, 16, 32])
def test_losers_do_not_soon_meet_again(entrants: int) -> None:
    """Who met in the winners' bracket does not meet in the first half of the losers' bracket."""
    made, _ = play(DOUBLE, knockout(entrants), by_chance(5))
    early = [tie for stage, tie in ties(made.pairings) if stage.startswith("losers' round 1")]
    early += [tie for stage, tie in ties(made.pairings) if stage.startswith("losers' round 2")]
    winners = [tie for stage, tie in ties(made.pairings) if stage.startswith("winners")]
    assert early
    assert not [tie for tie in early if tie in winners]


def test_who_was_replaced_without_a_match_is_below_who_was_replaced_after_some() -> None:
    """Both places went on in other hands, but one of the two had played before."""
    changes = (leave(1, 2), join(4, 2), leave(2, 4), join(5, 4))
    whole = replace(knockout(4), changes=changes)
    first, second = schedule(DOUBLE, whole, {}).pairings
    assert second.seats == (1, 2)
    _, results = play(DOUBLE, whole, results={1: better_seed(first), 2: None})
    order = [(place.entrant, place.rank) for place in ranking(DOUBLE, whole, results)]
    assert order[-2:] == [(2, 5), (1, 6)]
