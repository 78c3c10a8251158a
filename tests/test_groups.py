from collections import Counter
from dataclasses import replace

import pytest
from schedules import by_chance, join, leave, play, two

from arena.errors import RefusedError
from arena.formats import Options, Plan, expected_matches, ranking, schedule
from arena.formats.bracket import bracket_places
from arena.formats.groups import crossed, letters, snake


def in_groups(entrants: int, rounds: int | None = None, **options: int) -> Plan:
    """Plan groups and a knock-out with a seed of zeros."""
    told = Options.from_dict(options)
    return Plan(entrants=entrants, seats=2, rounds=rounds, seed=bytes(32), options=told)


def test_groups_are_dealt_to_and_fro() -> None:
    """The best of each row goes to the group that had the worst of the row before."""
    assert snake(range(8), 3) == [[0, 5, 6], [1, 4, 7], [2, 3]]


def test_groups_have_letters() -> None:
    """After Z comes AA."""
    assert [letters(number) for number in (0, 25, 26, 27, 51, 52)] == [
        "A",
        "Z",
        "AA",
        "AB",
        "AZ",
        "BA",
    ]


@pytest.mark.parametrize(
    ("entrants", "groups"), [(2, 1), (5, 1), (6, 2), (12, 4), (24, 8), (200, 64)]
)
def test_the_usual_groups_are_of_three_to_five_and_a_power_of_two(
    entrants: int, groups: int
) -> None:
    """How many there are unless the organiser says."""
    made = schedule("groups", in_groups(entrants), {})
    assert len({pairing.stage for pairing in made.pairings}) == groups


def test_everybody_meets_its_group_as_often_as_there_are_rounds() -> None:
    """Two rounds among 9 in 3 groups: two matches for each couple of a group."""
    made = schedule("groups", in_groups(9, 2, groups=3), {})
    met = Counter(frozenset(pairing.seats) for pairing in made.pairings)
    couples = {
        frozenset((one, other))
        for group in snake(range(9), 3)
        for one in group
        for other in group
        if one < other
    }
    assert met == dict.fromkeys(couples, 2)
    assert len(made.pairings) + 6 == expected_matches("groups", in_groups(9, 2, groups=3))


def test_the_knock_out_begins_when_all_groups_are_over() -> None:
    """Four groups of three: A1 meets C2, D1 B2, B1 D2 and C1 A2."""
    whole = in_groups(12)
    _, results = play("groups", whole, matches=12)
    ahead = schedule("groups", whole, results).pairings[12:]
    assert [(pairing.stage, set(pairing.seats)) for pairing in ahead] == [
        ("quarter-final", {0, 5}),
        ("quarter-final", {3, 6}),
        ("quarter-final", {1, 4}),
        ("quarter-final", {2, 7}),
    ]
    missing = dict(results)
    del missing[3]
    assert len(schedule("groups", whole, missing).pairings) == 12


@pytest.mark.parametrize("number", [2, 4, 8, 16, 64])
def test_first_and_second_of_a_group_can_only_meet_in_the_final(number: int) -> None:
    """With a power of two of groups, mates are in different halves."""
    seeded = crossed((tuple(range(number)), tuple(range(number))))
    row = {place: row for row, place in enumerate(bracket_places(2 * number))}
    halves: dict[int, set[bool]] = {}
    for place, (group, _) in enumerate(seeded):
        halves.setdefault(group, set()).add(row[place] < number)
    assert all(len(half) == 2 for half in halves.values())
    assert [rank for _, rank in seeded] == [0] * number + [1] * number


def test_four_of_a_group_are_spread_over_the_quarters() -> None:
    """Two groups of which four advance: mates do not meet in the first round."""
    seeded = crossed((tuple(range(2)),) * 4)
    places = bracket_places(8)
    for row in range(0, 8, 2):
        assert seeded[places[row]][0] != seeded[places[row + 1]][0]


def test_ranking_puts_the_knock_out_above_the_groups() -> None:
    """If the better always win, the order of ratings comes out as far as places decide."""
    whole = in_groups(8)
    _, results = play("groups", whole)
    places = ranking("groups", whole, results)
    assert [place.entrant for place in places[:4]] == [0, 1, 2, 3]
    assert [place.rank for place in places] == list(range(1, 9))
    assert dict(places[0].columns)["Reached"] == "winner"
    assert dict(places[7].columns)["Reached"] in {"group A", "group B"}


def test_a_late_entry_joins_the_smallest_group() -> None:
    """While the groups are played it meets all of that group who are still in."""
    whole = in_groups(7, groups=2)
    held = len(schedule("groups", whole, {}).pairings)
    late = replace(whole, changes=(leave(0, held), join(7, held)))
    made = schedule("groups", late, {})
    # Group A is 0, 3, 4 (and 0 has left), group B 1, 2, 5, 6.
    assert [set(pairing.seats) for pairing in made.pairings[held:]] == [{7, 3}, {7, 4}]
    assert {pairing.stage for pairing in made.pairings[held:]} == {"group A"}


def test_who_left_does_not_advance() -> None:
    """The next of its group does."""
    whole = in_groups(6)
    _, results = play("groups", whole, matches=6)
    gone = replace(whole, changes=(leave(0, 6),))
    ahead = schedule("groups", gone, results).pairings[6:]
    assert {entrant for pairing in ahead for entrant in pairing.seats} == {1, 2, 3, 4}


def test_a_late_entry_after_the_groups_replaces_or_waits() -> None:
    """In the knock-out a newcomer has the place of who left, or none."""
    whole = in_groups(6)
    _, results = play("groups", whole, matches=6)
    held = len(schedule("groups", whole, results).pairings)
    known = {**results, 7: two(1), 8: two(1)}
    first, second = (
        schedule("groups", whole, results).pairings[number].seats[0] for number in (6, 7)
    )
    replaced = replace(whole, changes=(leave(first, held), join(6, held)))
    final = schedule("groups", replaced, known).pairings[-1]
    assert (final.stage, set(final.seats)) == ("final", {6, second})
    extra = replace(whole, changes=(join(6, held),))
    assert schedule("groups", extra, known) == schedule("groups", whole, known)
    assert ranking("groups", extra, known)[-1].entrant == 6


def test_nobody_left_is_no_error() -> None:
    """A tournament that everybody leaves is over."""
    whole = replace(in_groups(4), changes=tuple(leave(one, 6) for one in range(4)))
    cancelled = dict.fromkeys(range(1, 7))
    made = schedule("groups", whole, cancelled)
    assert made.complete
    assert len(ranking("groups", whole, cancelled)) == 4


@pytest.mark.parametrize(
    ("entrants", "options"),
    [
        (6, {"groups": 4}),
        (6, {"groups": 0}),
        (6, {"groups": 2, "advance": 4}),
        (6, {"groups": 1, "advance": 1}),
        (6, {"challenger": 1}),
    ],
)
def test_groups_that_cannot_be_are_refused(entrants: int, options: dict[str, int]) -> None:
    """Every group holds a match, and nobody advances who is not there."""
    with pytest.raises(RefusedError):
        schedule("groups", in_groups(entrants, **options), {})


def test_results_by_chance_end_in_a_winner() -> None:
    """Whatever the results, one is left."""
    whole = in_groups(11, groups=3, advance=2)
    made, results = play("groups", whole, by_chance(9))
    assert made.complete
    assert [place.rank for place in ranking("groups", whole, results)][:2] == [1, 2]
