import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import RefusedError
from arena.formats import (
    FORMATS,
    Bye,
    Change,
    ChangeKind,
    Options,
    Pairing,
    Partners,
    Place,
    Plan,
    Results,
    Schedule,
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


@pytest.mark.parametrize("name", sorted(FORMATS))
@given(plan=plans)
def test_pairings_are_numbered_from_one_and_seat_nobody_twice(name: str, plan: Plan) -> None:
    """Every format numbers its pairings without gaps and seats different entrants."""
    pairings = schedule(name, plan, {}).pairings
    assert [pairing.number for pairing in pairings] == list(range(1, len(pairings) + 1))
    for pairing in pairings:
        assert len(set(pairing.seats)) == plan.seats
        assert set(pairing.seats) <= set(range(plan.entrants))


def test_fixed_partners_sit_across_and_every_pair_meets_every_pair() -> None:
    """Pairs are entrants of a format for two; in the next cycle the other pair sits first."""
    pairings = schedule(
        "round-robin", plan(6, seats=4, rounds=2, partners=Partners.FIXED), {}
    ).pairings
    seats = [pairing.seats for pairing in pairings]
    assert len(seats) == 6
    for first, second, third, fourth in seats:
        assert (first // 2, second // 2) == (third // 2, fourth // 2)
    met = Counter(frozenset((first // 2, second // 2)) for first, second, _, _ in seats)
    assert set(met.values()) == {2}
    assert seats[0][0] // 2 == seats[3][1] // 2


class Told:
    """A format of one pairing that keeps what it was told."""

    name = summary = explanation = "told"

    def __init__(self) -> None:
        self.plans: list[Plan] = []
        self.results: list[Results] = []

    def check(self, plan: Plan) -> None:
        """Hold anything."""

    def schedule(self, plan: Plan, results: Results) -> Schedule:
        """Pair the second with the first, and give the third a bye."""
        self.plans.append(plan)
        self.results.append(results)
        return Schedule((Pairing(1, 1, (1, 0)),), (Bye(1, 2),))

    def ranking(self, plan: Plan, results: Results) -> tuple[Place, ...]:
        """Rank nobody."""
        del plan, results
        return ()

    def expected_matches(self, plan: Plan) -> int | None:
        """Count the one."""
        del plan
        return 1


def test_a_format_is_told_results_and_changes_by_pair() -> None:
    """A format of pairs sees one total a pair; a pair leaves when one of the two does."""
    told = Told()
    changes = (
        Change(ChangeKind.LEAVE, 3, 1),
        Change(ChangeKind.LEAVE, 2, 1),
        Change(ChangeKind.JOIN, 6, 1),
        Change(ChangeKind.JOIN, 7, 1),
    )
    whole = replace(plan(6, seats=4, partners=Partners.FIXED), changes=changes)
    scores = tuple(map(Fraction, (1, -3, 2, 0)))
    made = between_pairs(told, whole, {1: scores, 2: None})
    assert made == Schedule((Pairing(1, 1, (2, 0, 3, 1)),), (Bye(1, 4), Bye(1, 5)))
    assert told.results == [{1: (Fraction(3, 2), Fraction(-3, 2)), 2: None}]
    assert told.plans[0].changes == (
        Change(ChangeKind.LEAVE, 1, 1),
        Change(ChangeKind.JOIN, 3, 1),
    )
    assert (told.plans[0].entrants, told.plans[0].seats) == (3, 2)


def test_unknown_format_is_refused_with_the_known_ones() -> None:
    """A typo in a format's name is an error that lists what there is."""
    with pytest.raises(UnknownFormatError, match="round-robin"):
        find_format("roundrobin")


@pytest.mark.parametrize(("entrants", "seats", "rounds"), [(1, 2, 1), (3, 4, 1), (2, 2, 0)])
def test_plans_without_a_match_are_refused(entrants: int, seats: int, rounds: int) -> None:
    """Too few entrants or rounds are refused before a tournament exists."""
    with pytest.raises(RefusedError):
        plan(entrants, seats=seats, rounds=rounds)


def test_options_survive_json() -> None:
    """Only what is set is written, and a word that is no option is refused when read."""
    options = Options(groups=4, third_place=False)
    assert json.loads(json.dumps(options.to_dict())) == {"groups": 4, "third_place": False}
    assert Options.from_dict(options.to_dict()) == options
    with pytest.raises(RefusedError, match="group"):
        Options.from_dict({"group": 4})
