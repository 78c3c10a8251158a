from collections.abc import Sequence
from fractions import Fraction
from random import Random

import pytest

from arena.ratings import TrueSkill, fold
from arena.reasons import ReasonKind
from arena.standings import Standing, left_of_teams, standings
from arena.statistics.stats import PlayedMatch, score_per_deal


def match(
    number: int, entrants: str, *deals: Sequence[int], faults: tuple[tuple[int, str], ...] = ()
) -> PlayedMatch:
    """Return a match between bots with names of one letter, each deck played once."""
    return PlayedMatch(
        number=number,
        entrants=tuple(entrants),
        decks=tuple((tuple(map(Fraction, deal)),) for deal in deals),
        faults=faults,
    )


def table(*matches: PlayedMatch, entrants: str = "") -> list[tuple[int, str]]:
    """Return ranks and names of the table."""
    return [(row.rank or 0, row.entrant) for row in standings(matches, tuple(entrants))]


def row_of(label: str, *matches: PlayedMatch) -> Standing:
    """Return one bot's row."""
    return next(row for row in standings(matches) if row.entrant == label)


def test_ranks_follow_the_matches_won() -> None:
    """Two wins stand before one win, whatever the totals."""
    matches = [
        match(0, "ab", (1, -1)),
        match(1, "ac", (1, -1)),
        match(2, "bc", (9, -9)),
    ]

    assert table(*matches) == [(1, "a"), (2, "b"), (3, "c")]


def test_level_matches_are_ranked_by_score_per_deal() -> None:
    """A circle of wins is broken by the score per deal."""
    matches = [
        match(0, "ab", (1, -1)),
        match(1, "bc", (5, -5)),
        match(2, "ca", (2, -2)),
    ]

    assert table(*matches) == [(1, "b"), (2, "a"), (3, "c")]


def test_exact_ties_share_a_rank() -> None:
    """Who is level in everything shares a rank, and the next rank is left out."""
    matches = [match(0, "ab", (1, -1)), match(1, "cd", (1, -1)), match(2, "ef", (0, 0))]

    assert table(*matches) == [(1, "a"), (1, "c"), (3, "e"), (3, "f"), (5, "b"), (5, "d")]


def test_level_bots_stand_in_the_order_of_entry() -> None:
    """Bots that share a rank stand as they were entered."""
    assert table(match(0, "ab", (0, 0)), entrants="ba") == [(1, "b"), (1, "a")]


def test_disqualified_come_last_without_a_rank() -> None:
    """The best of all is not counted once it is out; who withdrew keeps its rank."""
    matches = [match(0, "ab", (1, -1)), match(1, "ac", (1, -1)), match(2, "bc", (1, -1))]
    left = {"a": ReasonKind.DISQUALIFICATION, "c": ReasonKind.WITHDRAWAL}

    rows = standings(matches, left=left)

    assert [(row.rank, row.entrant) for row in rows] == [(1, "b"), (2, "c"), (None, "a")]


def test_pair_is_out_with_one_of_it() -> None:
    """A pair one of which was disqualified is so itself; a pair that nobody left is not named."""
    left = {"a": ReasonKind.WITHDRAWAL, "b": ReasonKind.DISQUALIFICATION}

    found = left_of_teams([("b", "a"), ("c", "a"), ("c", "d")], left)

    assert found == {"a+b": ReasonKind.DISQUALIFICATION, "a+c": ReasonKind.WITHDRAWAL}


def test_who_has_not_played_comes_last() -> None:
    """A bot without a match stands below one that lost all, and has no percentages."""
    rows = standings([match(0, "ab", (1, -1))], ("z", "a", "b"))
    last = rows[-1]

    assert [row.entrant for row in rows] == ["a", "b", "z"]
    assert (
        last.rank,
        last.balance.games,
        last.per_deal,
        last.score_percent,
        last.draw_percent,
    ) == (
        3,
        0,
        None,
        None,
        None,
    )


def test_games_are_compared_by_their_share() -> None:
    """One win of one game stands before two wins of three: running tournaments are uneven."""
    matches = [
        match(0, "ac", (1, -1)),
        match(1, "ac", (1, -1)),
        match(2, "ac", (-1, 1)),
        match(3, "bd", (1, -1)),
    ]

    assert table(*matches)[:2] == [(1, "b"), (2, "a")]


def test_row_holds_the_balance() -> None:
    """Games, wins, draws, losses and both percentages are of whole matches."""
    row = row_of(
        "a",
        match(0, "ab", (1, -1), (1, -1)),
        match(1, "ba", (1, -1)),
        match(2, "ab", (1, -1), (-1, 1)),
        match(3, "ab", (2, -2)),
    )

    assert (row.balance.games, row.balance.wins, row.balance.draws, row.balance.losses) == (
        4,
        2,
        1,
        1,
    )
    assert row.score_percent == Fraction(125, 2)
    assert row.draw_percent == 25


def test_row_holds_the_score_per_deal_and_the_faults() -> None:
    """The row has the estimate over decks and the bot's own faults by kind."""
    played = match(
        0, "ab", (1, -1), (-2, 2), (1, -1), faults=((0, "timeout"), (1, "crash"), (0, "timeout"))
    )
    row = row_of("a", played)

    assert row.per_deal == score_per_deal([played], "a")
    assert row.faults == (("timeout", 2),)
    assert row_of("b", played).faults == (("crash", 1),)


def test_ratings_rank_if_they_are_given() -> None:
    """With ratings the rank follows the rating shown, and the row holds it."""
    matches = [match(n, "ab", (1, -1)) for n in range(5)] + [match(5, "cd", (1, -1))]
    ratings = fold(matches, TrueSkill(), ["e"])
    rows = standings(matches, ("e",), ratings)

    assert [row.entrant for row in rows if row.balance.wins] == ["a", "c"]
    assert [row.rating for row in rows[:2]] == list(ratings[:2])
    assert rows[0].rank == 1
    assert rows[-1].entrant == "e"


def test_equal_ratings_share_a_rank() -> None:
    """Bots that drew with each other are level in rating and rank."""
    matches = [match(0, "abc", (1, 1, -2))]

    rows = standings(matches, (), fold(matches, TrueSkill()))
    assert [(row.rank, row.entrant) for row in rows] == [(1, "a"), (1, "b"), (3, "c")]


@pytest.mark.parametrize("seed", range(3))
def test_order_of_results_does_not_matter(seed: int) -> None:
    """The same results in any order make the same table, to the last digit."""
    random = Random(seed)
    matches = [
        match(
            n,
            "".join(random.sample("abcd", 2)),
            *[(x, -x) for x in random.choices(range(-2, 3), k=4)],
        )
        for n in range(30)
    ]

    assert standings(random.sample(matches, k=30), tuple("abcd")) == standings(
        matches, tuple("abcd")
    )
