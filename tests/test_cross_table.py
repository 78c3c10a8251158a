from collections.abc import Sequence
from fractions import Fraction

import pytest

from arena.statistics.cross_table import cross_table
from arena.statistics.stats import PlayedMatch, score_per_deal


def match(
    number: int, entrants: str, *decks: Sequence[Sequence[int]], sides: tuple[int, ...] = ()
) -> PlayedMatch:
    """Return a match between bots with names of one letter, given scores as [deck][leg][bot]."""
    return PlayedMatch(
        number=number,
        entrants=tuple(entrants),
        decks=tuple(tuple(tuple(map(Fraction, deal)) for deal in legs) for legs in decks),
        sides=sides,
    )


def duel(number: int, entrants: str, *decks: Sequence[int]) -> PlayedMatch:
    """Return a match of two, given the first one's scores as [deck][leg]."""
    return match(number, entrants, *([(x, -x) for x in legs] for legs in decks))


def test_each_pair_has_its_own_score() -> None:
    """Between two sides a meeting is the bot's score per deal, interval, mirroring and all."""
    matches = [duel(1, "ab", (2, 0), (1, -1), (3, 1)), duel(2, "ac", (-1, -1), (0, -2))]

    row = cross_table(matches, "abc")[0]

    assert row[0] is None
    assert [meeting and meeting.per_deal for meeting in row[1:]] == [
        score_per_deal(matches[:1], "a"),
        score_per_deal(matches[1:], "a"),
    ]


def test_the_table_is_the_same_from_both_sides() -> None:
    """What one gains the other loses, and both have the same interval."""
    table = cross_table([duel(1, "ab", (2, 0), (1, -1)), duel(2, "ba", (1, 1), (3, -1))], "ab")
    ours, theirs = table[0][1], table[1][0]

    assert ours is not None
    assert theirs is not None
    assert ours.per_deal.mean == -theirs.per_deal.mean == Fraction(-1, 4)
    assert ours.per_deal.half_width == theirs.per_deal.half_width
    assert ours.per_deal.superiority is not None
    assert theirs.per_deal.superiority is not None
    assert ours.per_deal.superiority + theirs.per_deal.superiority == pytest.approx(1)
    assert (ours.balance.wins, ours.balance.losses) == (1, 1)
    assert (theirs.balance.wins, theirs.balance.losses) == (1, 1)


def test_of_many_seats_each_two_are_compared() -> None:
    """With three at a table a meeting is half of the lead over the other, whoever won."""
    table = cross_table([match(1, "abc", [(4, 1, -5)], [(2, 3, -5)])], "abc")
    first, last = table[0][1], table[1][2]

    assert first is not None
    assert last is not None
    assert (first.per_deal.mean, first.balance.wins) == (Fraction(1, 2), 1)
    assert (last.per_deal.mean, last.balance.wins) == (Fraction(7, 2), 1)


def test_level_totals_are_draws() -> None:
    """Equal totals are a draw between the two, even behind a third."""
    table = cross_table([match(1, "abc", [(4, -2, -2)])], "abc")
    meeting = table[1][2]

    assert meeting is not None
    assert (meeting.balance.draws, meeting.balance.score) == (1, Fraction(1, 2))


def test_partners_do_not_meet() -> None:
    """Who plays on the same side is never compared; each is with both opponents."""
    table = cross_table([match(1, "abcd", [(2, -2, 2, -2)], sides=(0, 1, 0, 1))], "abcd")

    met = ["".join("-+"[meeting is not None] for meeting in row) for row in table]
    assert met == ["-+-+", "+-+-", "-+-+", "+-+-"]


def test_who_never_met_has_no_meeting() -> None:
    """The table has a place for every two bots, and nothing in it where they never met."""
    assert cross_table([duel(1, "ab", (1, 1))], "abc")[2] == (None, None, None)
