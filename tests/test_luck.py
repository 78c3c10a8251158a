import math
from fractions import Fraction
from random import Random

import pytest

from arena.statistics.luck import luck_of_the_deal
from arena.statistics.stats import PlayedMatch


def series(
    seats: int,
    luck: float,
    play: float,
    *,
    skill: float = 0.0,
    decks: int = 3_000,
    random: Random | None = None,
) -> PlayedMatch:
    """Return a mirrored match: hands of some worth, bots of some strength, and chance in play."""
    random = random or Random(seats)
    played = []
    for _ in range(decks):
        hands = [random.gauss(0, luck) for _ in range(seats)]
        deck = []
        for leg in range(seats):
            scores = [
                hands[(entrant - leg) % seats] + skill * entrant + random.gauss(0, play)
                for entrant in range(seats)
            ]
            mean = sum(scores) / seats
            deck.append(tuple(Fraction(round(1000 * (score - mean))) for score in scores))
        played.append(tuple(deck))
    return PlayedMatch(number=0, entrants=tuple("abcdef"[:seats]), decks=tuple(played))


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize(("luck", "share"), [(0.0, 0.0), (1.0, 0.5), (3.0, 0.9)])
def test_the_share_of_the_cards_is_found(seats: int, luck: float, share: float) -> None:
    """What hands add to the variance of scores is told from what play adds."""
    found = luck_of_the_deal([series(seats, luck, 1.0)])

    assert found is not None
    assert found.share == pytest.approx(share, abs=0.04)
    assert found.decks == 3_000


# Two hands differ by as much luck as play differs by chance. The signs of two normal numbers that
# correlate by 1/2 correlate by 2/pi asin(1/2) = 1/3; a weight of 1, in a tenth of deals of 6, has
# the mean 3/2 and the mean square 9/2.
SHARE_OF_SKEWED = (3 / 2) ** 2 * (1 / 3) / (9 / 2)


def test_interval_of_the_share_holds_the_truth() -> None:
    """In about 95% of tournaments, though a deal in ten scores sixfold."""
    held = [holds(skewed(Random(seed), 300), SHARE_OF_SKEWED) for seed in range(200)]

    assert 0.90 <= sum(held) / 200 <= 0.99


@pytest.mark.long
@pytest.mark.parametrize(
    ("seats", "decks", "most"),
    [(2, 300, 0.01), (3, 300, 0.01), (2, 60, 0.03), (3, 60, 0.03)],
)
def test_interval_of_the_share_holds_the_truth_in_95_of_100(
    seats: int, decks: int, most: float
) -> None:
    """300 decks hold the true share in 95% +- 1%, 60 decks nearly, if scores are skewed or not."""
    random = Random(decks + seats)
    if seats == 2:
        held = [holds(skewed(random, decks), SHARE_OF_SKEWED) for _ in range(2_500)]
    else:
        held = [
            holds(series(seats, 1.0, 1.0, decks=decks, random=random), 0.5) for _ in range(2_500)
        ]

    assert sum(held) / len(held) == pytest.approx(0.95, abs=most)


def holds(match: PlayedMatch, share: float) -> bool:
    """Tell whether the interval of what is found in a match holds the true share."""
    found = luck_of_the_deal([match])
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.share <= found.high
    return found.low <= share <= found.high


def skewed(random: Random, decks: int) -> PlayedMatch:
    """Return a mirrored match of two in which each deal scores 1, or seldom 6."""
    found = []
    for _ in range(decks):
        lead = random.gauss(0, math.sqrt(2))
        deck = []
        for sign in (1, -1):
            weight = 6 if random.random() < 0.1 else 1
            won = sign * lead + random.gauss(0, math.sqrt(2)) > 0
            deck.append(SCORES[weight if won else -weight])
        found.append(tuple(deck))
    return PlayedMatch(number=0, entrants=("a", "b"), decks=tuple(found))


SCORES = {score: (Fraction(score), Fraction(-score)) for score in (-6, -1, 1, 6)}


@pytest.mark.parametrize(("second_leg", "share"), [(-1, 1.0), (1, 0.0)])
def test_a_share_without_exception_has_no_interval(second_leg: int, share: float) -> None:
    """Where all decks say that all was luck, or none, nothing is known of the error."""
    decks = tuple(
        (SCORES[score], SCORES[score * second_leg]) for score in (1, -1, 1, -1, 1, -1, 1, -1)
    )
    found = luck_of_the_deal([PlayedMatch(number=0, entrants=("a", "b"), decks=decks)])

    assert found is not None
    assert (found.share, found.low, found.high) == (share, None, None)


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
