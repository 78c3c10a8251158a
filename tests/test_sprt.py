import math
from collections.abc import Mapping, Sequence
from random import Random

import pytest

from arena.errors import RefusedError
from arena.statistics.sprt import ELO_PER_DEVIATION, HIGHEST_ELO, Sprt, Verdict

# Scores of a deck as engine testers count them, from both deals lost to both won.
PENTANOMIAL = (-1.0, -0.5, 0.0, 0.5, 1.0)

# Score of a deck over two rotations, with its weight: level bots in a game that can be raised and
# in one that cannot, and one that wins often by little and loses seldom by much.
EVEN = {-3.0: 1, -2.0: 3, -1.5: 6, -1.0: 20, -0.5: 40, 0.0: 60, 0.5: 40, 1.0: 20, 1.5: 6, 3.0: 4}
LEVEL = {-1.0: 1, -0.5: 4, 0.0: 6, 0.5: 4, 1.0: 1}
SKEWED = {-6.0: 1, -3.0: 3, -2.0: 6, -1.0: 10, -0.5: 24, 0.0: 50, 0.5: 56, 1.0: 50}

# What a deal scores at most: twelve times the standard deviation of a deck of level bots.
HIGHEST = 6.0


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


def with_rare(score: float, share: float, elo: float) -> dict[float, float]:
    """Return weights of bots of this normalised Elo, one of which seldom scores this much."""
    low, high = -1000.0, 1000.0
    for _ in range(60):
        others = (low + high) / 2
        moved = tilted(LEVEL, others)
        total = sum(moved.values())
        found = {each: weight * (1 - share) / total for each, weight in moved.items()}
        found[score] = share
        low, high = (others, high) if normalised(found) < elo else (low, others)
    return found


def normalised(weights: Mapping[float, float]) -> float:
    """Return the normalised Elo of scores per deck over two rotations."""
    total = sum(weights.values())
    mean = sum(score * weight for score, weight in weights.items()) / total
    spread = sum((score - mean) ** 2 * weight for score, weight in weights.items()) / total
    return mean / math.sqrt(2 * spread) * ELO_PER_DEVIATION


def model(name: str, elo: float, *, is_better: bool) -> dict[float, float]:
    """Return weights of scores: what is rare speaks against what the others make believe."""
    if name == "even":
        return tilted(EVEN, elo)
    if name == "skewed":
        return tilted(SKEWED, elo)
    return with_rare(HIGHEST if is_better else -HIGHEST, 0.02, elo)


def wrong_verdicts(
    test: Sprt, weights: Mapping[float, float], wrong: Verdict, *, tests: int, batch: int, seed: int
) -> int:
    """Play tests in batches until each has decided; return how many accepted the wrong one."""
    random = Random(seed)
    errors = 0
    for _ in range(tests):
        decks: list[float] = []
        verdict = Verdict.CONTINUE
        while verdict is Verdict.CONTINUE:
            decks += random.choices(list(weights), list(weights.values()), k=batch)
            verdict = test.verdict(test.ratio(decks, 2, HIGHEST))
        errors += verdict is wrong
    return errors


def most_errors(tests: int, rate: float) -> int:
    """Return how many errors tests with this rate exceed once in ten thousand times."""
    left, errors = 1.0, -1
    while left > 1e-4:
        errors += 1
        left -= math.comb(tests, errors) * rate**errors * (1 - rate) ** (tests - errors)
    return errors


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

    ratio = Sprt(elo0=0, elo1=elo1).ratio(scores(counts), 2, 1)

    assert ratio == pytest.approx(published, abs=0.5001 * 10**-digits)


def test_bounds_are_walds() -> None:
    """With both error rates 5% the bounds are those known from engine tests."""
    test = Sprt(elo0=0, elo1=10, alpha=0.05, beta=0.05)

    assert (test.lower, test.upper) == pytest.approx((-2.944, 2.944), abs=5e-4)
    assert test.verdict(2.95) is Verdict.H1
    assert test.verdict(-2.95) is Verdict.H0
    assert test.verdict(2.94) is test.verdict(-2.94) is Verdict.CONTINUE


@pytest.mark.parametrize("name", ["even", "skewed", "rare"])
@pytest.mark.parametrize("truth", [Verdict.H0, Verdict.H1])
def test_error_rates_hold(name: str, truth: Verdict) -> None:
    """No more than 5% of tests accept the wrong hypothesis, though some bots seldom lose much."""
    check_error_rate(Sprt(elo1=50), name, truth, tests=300)


@pytest.mark.long
@pytest.mark.parametrize("name", ["even", "skewed", "rare"])
@pytest.mark.parametrize("truth", [Verdict.H0, Verdict.H1])
@pytest.mark.parametrize(
    ("test", "batch", "tests"),
    [
        (Sprt(), 50, 200),
        (Sprt(elo1=50), 10, 300),
        (Sprt(elo0=-25, elo1=25), 50, 500),
        (Sprt(elo1=100), 50, 1000),
    ],
    ids=["20", "50 in tens", "around 0", "100"],
)
def test_error_rates_hold_for_other_tests(
    *, test: Sprt, batch: int, tests: int, truth: Verdict, name: str
) -> None:
    """Narrow and wide spans, small batches and other random numbers err no more often."""
    check_error_rate(test, name, truth, tests=tests, batch=batch, seed=1)


def check_error_rate(
    test: Sprt, name: str, truth: Verdict, *, tests: int, batch: int = 50, seed: int = 17
) -> None:
    """Play tests in which one hypothesis is just true, and count how often the other won."""
    is_better = truth is Verdict.H1
    weights = model(name, test.elo1 if is_better else test.elo0, is_better=is_better)
    wrong = Verdict.H0 if is_better else Verdict.H1

    errors = wrong_verdicts(test, weights, wrong, tests=tests, batch=batch, seed=seed)

    assert errors <= most_errors(tests, test.beta if is_better else test.alpha)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_loss_that_may_still_come_is_reckoned_with(sign: int) -> None:
    """What a few decks seem to decide is open while the rules allow a score that undoes it."""
    test = Sprt(elo0=-25, elo1=25)
    decks = [sign * score for score in scores((0, 4, 19, 22, 5))]

    assert test.verdict(test.ratio(decks, 2, 1)) is (Verdict.H1 if sign > 0 else Verdict.H0)
    assert test.verdict(test.ratio(decks, 2, HIGHEST)) is Verdict.CONTINUE


@pytest.mark.parametrize("elo", [0, 20])
def test_what_may_come_costs_little_where_it_would_hardly_matter(elo: float) -> None:
    """As many decks as an ordinary test lasts decide almost as if there were nothing unseen."""
    weights = tilted(EVEN, elo)
    decks = [
        score
        for score, weight in weights.items()
        for _ in range(round(900 * weight / sum(weights.values())))
    ]
    seen = Sprt().ratio(decks, 2, 3)

    assert abs(seen) > 2.5
    assert Sprt().ratio(decks, 2, HIGHEST) == pytest.approx(seen, rel=0.02)


def test_ratio_does_not_depend_on_the_unit_of_scores() -> None:
    """Scores ten times as high decide the same."""
    test = Sprt(elo0=0, elo1=30)
    decks = scores((3, 8, 20, 14, 9))

    ten = test.ratio([10 * score for score in decks], 2, 60)

    assert ten == pytest.approx(test.ratio(decks, 2, 6), rel=1e-9)


def test_the_other_bot_sees_the_opposite() -> None:
    """With hypotheses around 0, who is looked at only turns the sign."""
    test = Sprt(elo0=-20, elo1=20)
    decks = scores((3, 8, 20, 14, 9))

    other = test.ratio([-score for score in decks], 2, HIGHEST)

    assert other == pytest.approx(-test.ratio(decks, 2, HIGHEST))


@pytest.mark.parametrize("rotations", [2, 4])
@pytest.mark.parametrize(
    "decks",
    [[0.0], [0.0] * 50, [1.0], [1.0] * 50, [-6.0] * 50, [0.0] * 30 + [6.0], [-0.5, -0.5, 6.0]],
    ids=str,
)
def test_odd_scores_give_finite_ratios(decks: list[float], rotations: int) -> None:
    """Scores without spread, or of one sign, give a ratio that points the right way."""
    test = Sprt(elo0=-HIGHEST_ELO, elo1=HIGHEST_ELO)

    ratio = test.ratio(decks, rotations, HIGHEST)

    assert math.isfinite(ratio)
    assert ratio == pytest.approx(0, abs=1e-9) or ratio * sum(decks) > 0


def test_identical_bots_end_in_h0() -> None:
    """Two bots that always score 0 are found not to differ by elo1, in the end."""
    test = Sprt(elo0=0, elo1=50)

    assert test.verdict(test.ratio([0.0] * 200, 2, HIGHEST)) is Verdict.H0


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
