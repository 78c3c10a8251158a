from fractions import Fraction
from random import Random

import pytest

from arena.statistics.luck import luck_of_the_deal
from arena.statistics.stats import PlayedMatch


def series(seats: int, luck: float, play: float, *, skill: float = 0.0) -> PlayedMatch:
    """Return a mirrored match: hands of some worth, bots of some strength, and chance in play."""
    random = Random(seats)
    decks = []
    for _ in range(3_000):
        hands = [random.gauss(0, luck) for _ in range(seats)]
        deck = []
        for leg in range(seats):
            scores = [
                hands[(entrant - leg) % seats] + skill * entrant + random.gauss(0, play)
                for entrant in range(seats)
            ]
            mean = sum(scores) / seats
            deck.append(tuple(Fraction(round(1000 * (score - mean))) for score in scores))
        decks.append(tuple(deck))
    return PlayedMatch(number=0, entrants=tuple("abcdef"[:seats]), decks=tuple(decks))


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize(("luck", "share"), [(0.0, 0.0), (1.0, 0.5), (3.0, 0.9)])
def test_the_share_of_the_cards_is_found(seats: int, luck: float, share: float) -> None:
    """What hands add to the variance of scores is told from what play adds."""
    found = luck_of_the_deal([series(seats, luck, 1.0)])

    assert found is not None
    assert found.share == pytest.approx(share, abs=0.04)
    assert found.decks == 3_000


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("worth", [0.0, 1.0])
def test_interval_of_the_share_holds_the_truth(seats: int, worth: float) -> None:
    """In nine of ten tournaments or more, also where a deal in ten scores sixfold."""
    random = Random(10 * seats + int(worth))
    truth = luck_of_the_deal([skewed(random, seats, worth, 20_000)])
    samples = [luck_of_the_deal([skewed(random, seats, worth, 300)]) for _ in range(150)]

    assert truth is not None
    held = [s is not None and (s.low or 0) <= truth.share <= (s.high or 0) for s in samples]
    assert sum(held) >= 0.9 * len(held)
    assert all(s is not None and (s.high or 0) < truth.share + 0.3 for s in samples)


def skewed(random: Random, seats: int, worth: float, decks: int) -> PlayedMatch:
    """Return a mirrored match whose deals one wins and all others pay for, seldom sixfold."""
    found = []
    for _ in range(decks):
        hands = [worth * random.gauss(0, 1) for _ in range(seats)]
        deck = []
        for leg in range(seats):
            tries = [hands[(one - leg) % seats] + random.gauss(0, 1) for one in range(seats)]
            weight = 6 if random.random() < 0.1 else 1
            best = tries.index(max(tries))
            deck.append(
                tuple(Fraction(weight * (seats * (one == best) - 1)) for one in range(seats))
            )
        found.append(tuple(deck))
    return PlayedMatch(number=0, entrants=tuple("abcdef"[:seats]), decks=tuple(found))


def test_stronger_bots_neither_hide_luck_nor_count_as_luck() -> None:
    """The share is the same however far apart the bots are."""
    level, apart = (luck_of_the_deal([series(2, 1.0, 1.0, skill=s)]) for s in (0.0, 10.0))

    assert level is not None
    assert apart is not None
    assert apart.share == pytest.approx(level.share, abs=1e-3)


def test_chess_like_scores_have_no_luck() -> None:
    """If only the bot decides, nothing varies between decks, and there is nothing to tell."""
    match = PlayedMatch(
        number=0,
        entrants=("a", "b"),
        decks=(((Fraction(1), Fraction(-1)), (Fraction(1), Fraction(-1))),) * 5,
    )

    assert luck_of_the_deal([match]) is None


def test_unmirrored_matches_tell_nothing() -> None:
    """A deck that was played once tells nothing of its luck."""
    scores = (Fraction(1), Fraction(-1))

    assert (
        luck_of_the_deal([PlayedMatch(number=0, entrants=("a", "b"), decks=((scores,),))]) is None
    )
