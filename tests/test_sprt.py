import math
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

import pytest

from arena.errors import RefusedError
from arena.statistics.sprt import ELO_PER_DEVIATION, HIGHEST_ELO, Sprt, Verdict

# Scores of a deck as engine testers count them, from both deals lost to both won.
PENTANOMIAL = (-1.0, -0.5, 0.0, 0.5, 1.0)

# Score of a deck over two rotations, with its weight: level bots, and one that wins often by
# little and loses seldom by much.
EVEN = {-3.0: 1, -2.0: 3, -1.5: 6, -1.0: 20, -0.5: 40, 0.0: 60, 0.5: 40, 1.0: 20, 1.5: 6, 3.0: 4}
SKEWED = {-6.0: 1, -3.0: 3, -2.0: 6, -1.0: 10, -0.5: 24, 0.0: 50, 0.5: 56, 1.0: 50}


def scores(counts: Sequence[int]) -> list[float]:
    """Return the scores of decks that were counted."""
    return [score for score, times in zip(PENTANOMIAL, counts, strict=True) for _ in range(times)]


def tilted(weights: Mapping[float, float], elo: float) -> dict[float, float]:
    """Return weights moved towards one end until their mean has this normalised Elo."""
    wanted = elo * math.sqrt(2) / ELO_PER_DEVIATION
    low, high = -5.0, 5.0
    moved: dict[float, float] = {}
    for _ in range(60):
        tilt = (low + high) / 2
        moved = {score: weight * math.exp(tilt * score) for score, weight in weights.items()}
        total = sum(moved.values())
        mean = sum(score * weight for score, weight in moved.items()) / total
        spread = sum((score - mean) ** 2 * weight for score, weight in moved.items()) / total
        low, high = (tilt, high) if mean / math.sqrt(spread) < wanted else (low, tilt)
    return moved


def verdicts(test: Sprt, weights: Mapping[float, float], trials: int) -> Counter[Verdict]:
    """Play tests in batches of 50 decks until each has decided."""
    random = Random(17)
    found: Counter[Verdict] = Counter()
    for _ in range(trials):
        decks: list[float] = []
        verdict = Verdict.CONTINUE
        while verdict is Verdict.CONTINUE:
            decks += random.choices(list(weights), list(weights.values()), k=50)
            verdict = test.verdict(test.ratio(decks, 2))
        found[verdict] += 1
    return found


@pytest.mark.parametrize(
    ("counts", "elo1", "published"),
    [
        # A fishtest server's raw statistics, "Normalized (exact)".
        ((13, 37, 50, 25, 3), 4.0, -0.54912),
        # Lines of fastchess for matches of two engines.
        ((1, 11, 47, 25, 16), 10.0, 1.71),
        ((1, 15, 25, 33, 26), 10.0, 2.19),
        ((1, 24, 42, 25, 8), 10.0, 0.60),
    ],
)
def test_ratio_is_the_published_one(counts: Sequence[int], elo1: float, published: float) -> None:
    """The ratio has the digits that fishtest and fastchess print for the same counts."""
    digits = len(str(published).partition(".")[2])

    ratio = Sprt(elo0=0, elo1=elo1).ratio(scores(counts), 2)

    assert ratio == pytest.approx(published, abs=0.5001 * 10**-digits)


def test_bounds_are_walds() -> None:
    """With both error rates 5% the bounds are those known from engine tests."""
    test = Sprt(elo0=0, elo1=10, alpha=0.05, beta=0.05)

    assert (test.lower, test.upper) == pytest.approx((-2.944, 2.944), abs=5e-4)
    assert test.verdict(2.95) is Verdict.H1
    assert test.verdict(-2.95) is Verdict.H0
    assert test.verdict(2.94) is test.verdict(-2.94) is Verdict.CONTINUE


@pytest.mark.parametrize("weights", [EVEN, SKEWED], ids=["even", "skewed"])
@pytest.mark.parametrize("truth", [Verdict.H0, Verdict.H1])
def test_error_rates_hold(weights: Mapping[float, float], truth: Verdict) -> None:
    """Of 500 tests no more than 5% accept the wrong hypothesis, whichever of the two is true."""
    test = Sprt(elo0=0, elo1=50, alpha=0.05, beta=0.05)
    elo = test.elo0 if truth is Verdict.H0 else test.elo1

    found = verdicts(test, tilted(weights, elo), 500)

    wrong = Verdict.H1 if truth is Verdict.H0 else Verdict.H0
    assert found[truth] + found[wrong] == 500
    assert found[wrong] <= 0.05 * 500
    assert found[wrong] > 0


def test_ratio_does_not_depend_on_the_unit_of_scores() -> None:
    """Scores ten times as high decide the same."""
    test = Sprt(elo0=0, elo1=30)
    decks = scores((3, 8, 20, 14, 9))

    ten = test.ratio([10 * score for score in decks], 2)

    assert ten == pytest.approx(test.ratio(decks, 2), rel=1e-9)


def test_the_other_bot_sees_the_opposite() -> None:
    """With hypotheses around 0, who is looked at only turns the sign."""
    test = Sprt(elo0=-20, elo1=20)
    decks = scores((3, 8, 20, 14, 9))

    assert test.ratio([-score for score in decks], 2) == pytest.approx(-test.ratio(decks, 2))


@pytest.mark.parametrize("rotations", [2, 4])
@pytest.mark.parametrize(
    "decks",
    [[0.0], [0.0] * 50, [1.0], [1.0] * 50, [-6.0] * 50, [0.0] * 30 + [6.0], [-0.5, -0.5, 6.0]],
    ids=str,
)
def test_odd_scores_give_finite_ratios(decks: list[float], rotations: int) -> None:
    """Scores without spread, or of one sign, give a ratio that points the right way."""
    test = Sprt(elo0=-HIGHEST_ELO, elo1=HIGHEST_ELO)

    ratio = test.ratio(decks, rotations)

    assert math.isfinite(ratio)
    assert ratio == pytest.approx(0, abs=1e-9) or ratio * sum(decks) > 0


def test_identical_bots_end_in_h0() -> None:
    """Two bots that always score 0 are found not to differ by elo1, in the end."""
    test = Sprt(elo0=0, elo1=50)

    assert test.verdict(test.ratio([0.0] * 200, 2)) is Verdict.H0


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"elo0": 5.0, "elo1": 5.0}, "elo0 below elo1"),
        ({"elo1": math.inf}, "from -100 to 100"),
        ({"elo0": math.nan}, "elo0 below elo1"),
        ({"elo0": -101.0}, "from -100 to 100"),
        ({"elo0": 0.0, "elo1": 1e-320}, "elo1 at least 0.5 above elo0"),
        ({"alpha": 0.0}, "alpha=0: expected 0.000001 or more"),
        ({"beta": 0.5}, "below 0.5"),
        ({"beta": math.nan}, "beta=nan"),
    ],
)
def test_tests_that_cannot_decide_are_refused(parameters: dict[str, float], reason: str) -> None:
    """A test that could not end, or would end at once, is refused with what was expected."""
    with pytest.raises(RefusedError) as caught:
        Sprt(**parameters)
    assert reason in str(caught.value).replace("; ", ": ")
