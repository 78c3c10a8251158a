"""How deals ended and what seats were worth, from worked deals and from real records."""

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from test_record import play, play_with_faults, spec

from arena.statistics.endings import (
    EndedDeal,
    advantage_of_the_deal,
    advantage_of_the_lead,
    advantage_of_the_match,
    ended_deals,
    endings,
    endings_against,
)
from arena.statistics.intervals import interval
from arena.statistics.stats import PlayedMatch
from referee.record import read_record, write_record
from referee.results import MatchResult


def deal(
    deck: int,
    scores: tuple[float, ...],
    *,
    leader: int = 0,
    dealer: int = 1,
    reason: str = "claim",
    labels: str = "abcd",
    sides: tuple[int, ...] = (0, 1, 2, 3),
) -> EndedDeal:
    """Return a deal whose scores say who won."""
    words = {1: "won", -1: "lost", 0: "level"}
    return EndedDeal(
        match=1,
        deck=deck,
        labels=tuple(labels[: len(scores)]),
        sides=sides[: len(scores)],
        reason=reason,
        results=tuple(words[(score > 0) - (score < 0)] for score in scores),
        leader=leader,
        dealer=dealer,
        scores=scores,
    )


def recorded(tmp_path: Path, result: MatchResult) -> tuple[EndedDeal, ...]:
    """Write a match's record and return what statistics keep of it."""
    path = tmp_path / "match.jsonl"
    write_record(path, result.spec, result)
    return ended_deals(7, read_record(path), "abcdef"[: result.spec.seats])


def test_endings_are_counted_by_bot_and_reason() -> None:
    """Each bot's won, lost and level deals stand under the reason they ended for."""
    deals = [
        deal(0, (1, -1)),
        deal(0, (-1, 1)),
        deal(1, (1, -1), reason="bura"),
        deal(1, (0, 0), reason="draw"),
    ]

    found = {
        (each.entrant, each.reason): (each.won, each.lost, each.level) for each in endings(deals)
    }

    assert found == {
        ("a", "bura"): (1, 0, 0),
        ("a", "claim"): (1, 1, 0),
        ("a", "draw"): (0, 0, 1),
        ("b", "bura"): (0, 1, 0),
        ("b", "claim"): (1, 1, 0),
        ("b", "draw"): (0, 0, 1),
    }


def test_endings_are_counted_by_two_bots_and_reason() -> None:
    """A bot's deals against each other bot are counted apart, of three sides against both."""
    deals = [
        deal(0, (1, -1)),
        deal(0, (-1, 1), reason="bura", labels="ca"),
        deal(1, (1, -1, -1)),
    ]

    found = {
        pair: [(each.reason, each.won, each.lost, each.level) for each in ended]
        for pair, ended in endings_against(deals).items()
    }

    assert found == {
        ("a", "b"): [("claim", 2, 0, 0)],
        ("a", "c"): [("bura", 1, 0, 0), ("claim", 1, 0, 0)],
        ("b", "a"): [("claim", 0, 2, 0)],
        ("b", "c"): [("claim", 0, 1, 0)],
        ("c", "a"): [("bura", 0, 1, 0), ("claim", 0, 1, 0)],
        ("c", "b"): [("claim", 0, 1, 0)],
    }


def test_partners_do_not_meet() -> None:
    """Who is on the same side is no opponent, nor is a copy of the same bot."""
    found = endings_against([deal(0, (1, -1, 1, -1), labels="abcb", sides=(0, 1, 0, 1))])

    assert set(found) == {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")}
    assert [each.won for each in found["a", "b"]] == [1]
    assert [each.lost for each in found["b", "a"]] == [2]


def test_seats_of_matches_are_worth_the_mean_over_matches() -> None:
    """Where matches are not mirrored, each is one observation of who sat where in it."""
    matches = [
        PlayedMatch(number=n, entrants=("a", "b"), decks=(((Fraction(x), Fraction(-x)),),))
        for n, x in enumerate((3, -1, 1))
    ]

    first, second = advantage_of_the_match(matches)

    assert (first.mean, first.half_width) == interval([3.0, -1.0, 1.0])
    assert (first.place, first.decks, second.place) == (0, 3, 1)
    assert second.mean == -first.mean


def test_a_seat_is_worth_the_mean_over_decks() -> None:
    """The rotations of a deck are one observation of each place, counted from the leader."""
    deals = [
        deal(0, (3, -3), leader=0),
        deal(0, (-1, 1), leader=1),
        deal(1, (2, -2), leader=1),
    ]

    first, second = advantage_of_the_lead(deals)

    assert (first.mean, first.half_width) == interval([2.0, -2.0])
    assert (first.place, first.decks, second.place) == (0, 2, 1)
    assert second.mean == -first.mean


def test_places_go_round_from_the_dealer() -> None:
    """With three seats the places are those after the dealer, in the order of play."""
    places = advantage_of_the_deal([deal(0, (5, -2, -3), dealer=2)])

    assert [(each.place, each.mean) for each in places] == [(0, -3.0), (1, 5.0), (2, -2.0)]


@pytest.mark.parametrize("seats", [2, 3])
def test_records_say_who_sat_where(tmp_path: Path, seats: int) -> None:
    """A record's deals hold each entrant's score at the seat it had in that leg."""
    result = play(spec(seats=seats))
    deals = recorded(tmp_path, result)

    totals: Counter[str] = Counter()
    for each in deals:
        totals.update(dict(zip(each.labels, each.scores, strict=True)))
    assert [totals[label] for label in "abc"[:seats]] == list(map(float, result.totals))
    assert {each.labels[0] for each in deals} == set("abc"[:seats])
    assert {(each.match, each.deck) for each in deals} == {(7, deck) for deck in range(3)}


def test_a_combination_goes_by_its_name(tmp_path: Path) -> None:
    """Deals won by a combination are told apart by which it was, others by their reason."""
    result = play(spec(decks=40))
    reasons = Counter(each.reason for each in recorded(tmp_path, result))
    outcomes = [each.outcome for each in result.deals]

    assert reasons == Counter(outcome.detail or str(outcome.reason) for outcome in outcomes)
    assert "bura" in reasons


def test_faults_are_a_reason(tmp_path: Path) -> None:
    """Who lost deals by faults has them under this reason."""
    found = endings(recorded(tmp_path, play_with_faults(spec(decks=4))))

    assert sum(each.lost for each in found if each.reason == "fault") > 0


def test_dependent_deals_have_endings_but_no_seats(tmp_path: Path) -> None:
    """Where deals depend on each other they have no scores, so seats are worth nothing there."""
    deals = recorded(tmp_path, play(spec(match_format="robber", rules=ROBBER)))

    assert endings(deals)
    assert advantage_of_the_lead(deals) == ()


ROBBER = spec().rules.replace(match_format="robber")
