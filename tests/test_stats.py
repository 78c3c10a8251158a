import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from statistics import NormalDist

import pytest

from arena.statistics.intervals import interval, spread_of, student_below, student_quantile
from arena.statistics.stats import (
    PlayedMatch,
    StatsError,
    balance,
    by_pairs,
    fault_counts,
    pair_label,
    score_per_deal,
)

# Two-sided 95% points of Student's t, as printed in statistical tables.
TABLE = {
    1: 12.706,
    2: 4.303,
    3: 3.182,
    4: 2.776,
    5: 2.571,
    10: 2.228,
    20: 2.086,
    30: 2.042,
    60: 2.000,
    120: 1.980,
    1000: 1.962,
}


def duel(
    *decks: Sequence[int], number: int = 0, entrants: tuple[str, str] = ("a", "b")
) -> PlayedMatch:
    """Return a match of two, given the first entrant's score in each leg of each deck."""
    return PlayedMatch(
        number=number,
        entrants=entrants,
        decks=tuple(tuple((Fraction(x), Fraction(-x)) for x in legs) for legs in decks),
    )


def free_for_all(*totals: int, sides: tuple[int, ...] = ()) -> PlayedMatch:
    """Return a match of one deal with these scores."""
    return PlayedMatch(
        number=0,
        entrants=tuple("abcdef"[: len(totals)]),
        decks=((tuple(map(Fraction, totals)),),),
        sides=sides,
    )


def coverage(draw: Sequence[Sequence[float]], truth: float) -> float:
    """Return the part of the samples whose interval holds the truth."""
    held = 0
    for sample in draw:
        mean, half_width = interval(sample)
        assert half_width is not None
        held += abs(mean - truth) <= half_width
    return held / len(draw)


@pytest.mark.parametrize(("freedom", "quantile"), TABLE.items())
def test_student_quantile_agrees_with_printed_tables(freedom: int, quantile: float) -> None:
    """The quantile has the three digits of the tables."""
    assert student_quantile(0.975, freedom) == pytest.approx(quantile, abs=5.1e-4)


@pytest.mark.parametrize("probability", [0.6, 0.9, 0.975, 0.995, 0.999])
def test_student_quantile_has_closed_forms(probability: float) -> None:
    """One and two degrees of freedom have closed forms, which the quantile meets to ten digits."""
    one = math.tan(math.pi * (probability - 0.5))
    two = (2 * probability - 1) * math.sqrt(2 / (4 * probability * (1 - probability)))

    assert student_quantile(probability, 1) == pytest.approx(one, rel=1e-10)
    assert student_quantile(probability, 2) == pytest.approx(two, rel=1e-10)


@pytest.mark.parametrize("freedom", [2.5, 7.25, 99.0, 480.5])
def test_student_quantile_inverts_the_distribution(freedom: float) -> None:
    """The density summed between the quantiles is the confidence, also for broken freedoms."""
    edge = student_quantile(0.975, freedom)
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    scale /= math.sqrt(freedom * math.pi)
    steps = 2_000
    width = 2 * edge / steps
    weights = [1, *[4, 2] * (steps // 2 - 1), 4, 1]
    inside = sum(
        weight * scale * (1 + (width * n - edge) ** 2 / freedom) ** (-(freedom + 1) / 2)
        for n, weight in enumerate(weights)
    )

    assert inside * width / 3 == pytest.approx(0.95, abs=1e-10)


def test_student_quantile_ends_in_the_normal() -> None:
    """With ever more freedom the quantile falls to the normal one, without a step."""
    normal = NormalDist().inv_cdf(0.975)

    assert student_quantile(0.975, 2e6) == normal
    assert student_quantile(0.975, 999_999) == pytest.approx(normal, abs=1e-5)
    assert student_quantile(0.975, 999_999) > normal


def deal_score(lead: float) -> float:
    """Return what a lead is worth: mostly a simple win, seldom a double one or a raised one."""
    weight = sum(abs(lead) > bound for bound in (0.25, 1.6, 2.3, 2.8))
    return math.copysign((0, 1, 2, 4, 6)[weight], lead)


def mirrored_decks(skill: float, count: int) -> list[float]:
    """Return scores of decks over two rotations, whose luck turns its sign with the seats."""
    random = Random(11)
    decks = []
    for _ in range(count):
        luck = random.gauss(0, 0.8)
        legs = (skill + sign * luck + random.gauss(0, 0.7) for sign in (1, -1))
        decks.append(sum(map(deal_score, legs)) / 2)
    return decks


@pytest.mark.parametrize("skill", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("decks", [20, 60])
def test_intervals_cover_the_scores_of_mirrored_decks(skill: float, decks: int) -> None:
    """Skewed scores from -6 to 6: the interval of 20 decks holds the truth in 95% +- 1%."""
    population = mirrored_decks(skill, 100_000)
    truth = math.fsum(population) / len(population)
    random = Random(decks)
    samples = [random.choices(population, k=decks) for _ in range(10_000)]

    assert coverage(samples, truth) == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize("decks", [2, 3, 5, 12, 40])
def test_intervals_cover_normal_scores(decks: int) -> None:
    """An interval of few decks holds the true score in 95% +- 1%."""
    random = Random(decks)
    samples = [[random.gauss(0.25, 2.0) for _ in range(decks)] for _ in range(10_000)]

    assert coverage(samples, 0.25) == pytest.approx(0.95, abs=0.01)


def test_intervals_cover_scores_like_those_of_a_match() -> None:
    """With mirrored wins, losses and double losses the interval holds the truth as often."""
    random = Random(31)
    values = [-2, -1, -1, 0, 0, 0, 1, 1, 2]
    truth = sum(values) / len(values)
    decks = [(one + other) / 2 for one in values for other in values]
    samples = [random.choices(decks, k=60) for _ in range(10_000)]

    assert coverage(samples, truth) == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize(
    ("samples", "within"), [(1_500, 0.015), pytest.param(10_000, 0.01, marks=pytest.mark.long)]
)
def test_intervals_cover_a_bot_with_opponents_of_several_strengths(
    samples: int, within: float
) -> None:
    """Decks against different opponents together give an interval that holds 95% +- 1%."""
    random = Random(7)
    held = 0
    for _ in range(samples):
        matches = []
        for number, (opponent, edge) in enumerate({"b": -1.0, "c": 0.5, "d": 2.0}.items()):
            scores = [[round(random.gauss(edge, 2.0) * 64)] for _ in range(12)]
            matches.append(duel(*scores, number=number, entrants=("a", opponent)))
        estimate = score_per_deal(matches, "a")
        assert estimate is not None
        assert estimate.half_width is not None
        held += abs(float(estimate.mean) - 32) <= estimate.half_width

    assert held / samples == pytest.approx(0.95, abs=within)


@pytest.mark.long
def test_intervals_cover_skewed_scores_against_several_opponents() -> None:
    """With scores as in real games, and unequally many decks, it holds 95% +- 1% too."""
    decks = (20, 20, 60)
    random = Random(100)
    populations = [
        [round(2 * score) for score in mirrored_decks(skill, 20_000)] for skill in (0.0, 0.3, 0.8)
    ]
    truth = sum(
        count * math.fsum(each) / len(each) for count, each in zip(decks, populations, strict=True)
    ) / sum(decks)
    held = 0
    for _ in range(10_000):
        matches = [
            duel(*([score] for score in random.choices(each, k=count)), number=n, entrants=("a", b))
            for n, (b, count, each) in enumerate(zip("bcd", decks, populations, strict=True))
        ]
        estimate = score_per_deal(matches, "a")
        assert estimate is not None
        assert estimate.half_width is not None
        held += abs(float(estimate.mean) - truth) <= estimate.half_width

    assert held / 10_000 == pytest.approx(0.95, abs=0.01)


def test_interval_of_a_worked_sample() -> None:
    """Three decks with means 1, 2 and 3: the mean 2 and half the width t(2) / sqrt(3)."""
    mean, half_width = interval([1.0, 2.0, 3.0])

    assert mean == 2.0
    assert half_width == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)


def test_one_deck_has_no_interval() -> None:
    """Nothing can be said of the spread from one deck, and nothing is pretended."""
    estimate = score_per_deal([duel([1, 1])], "a")

    assert estimate is not None
    assert estimate.mean == 1
    assert estimate.half_width is None
    assert estimate.mirroring is None


def test_the_unit_is_the_deck_over_its_rotations() -> None:
    """Luck that a rotation cancels does not widen the interval; the other seat sees the same."""
    match = duel([2, -1], [1, 0], [-1, 2], [0, 2])
    first, second = score_per_deal([match], "a"), score_per_deal([match], "b")

    assert first is not None
    assert second is not None
    assert first.mean == Fraction(5, 8)
    assert first.half_width is not None
    assert first.half_width < (interval([2.0, -1.0, 1.0, 0.0, -1.0, 2.0, 0.0, 2.0])[1] or 0) / 2
    assert (first.decks, first.deals) == (4, 8)
    assert second.mean == -first.mean
    assert second.half_width == first.half_width


def test_mirroring_is_the_width_beside_unmirrored_deals() -> None:
    """The factor compares the interval over decks with that of as many independent deals."""
    decks = [(2, 0), (-1, 1), (1, -1), (0, 2), (1, 1)]
    estimate = score_per_deal([duel(*decks)], "a")
    _, mirrored = interval([sum(legs) / 2 for legs in decks])
    _, single = interval([float(score) for legs in decks for score in legs])

    assert estimate is not None
    assert mirrored is not None
    assert single is not None
    assert estimate.half_width == mirrored
    assert estimate.mirroring == pytest.approx(mirrored / single)
    assert estimate.mirroring is not None
    assert estimate.mirroring < 1


def test_unmirrored_matches_have_no_mirroring() -> None:
    """Where a deck is played once there is nothing to compare."""
    estimate = score_per_deal([duel([1], [-1], [1])], "a")

    assert estimate is not None
    assert estimate.half_width is not None
    assert estimate.mirroring is None


def test_strength_of_opponents_is_no_spread() -> None:
    """Only what varies against the same opponent counts, however far apart opponents are."""
    matches = [
        duel([2, 3], [2, 2], number=0, entrants=("a", "b")),
        duel([-50, -51], [-50, -50], number=1, entrants=("c", "a")),
    ]
    estimate = score_per_deal(matches, "a")

    assert estimate is not None
    assert estimate.mean == Fraction(105, 4)
    assert estimate.half_width is not None
    assert estimate.half_width < 1


def test_single_decks_against_several_opponents_are_taken_together() -> None:
    """One deck against each opponent still gives an interval, on the wide side."""
    matches = [duel([n], number=n, entrants=("a", "bcd"[n])) for n in range(3)]
    estimate = score_per_deal(matches, "a")

    assert estimate is not None
    assert estimate.half_width == interval([0.0, 1.0, 2.0])[1]


def test_estimates_do_not_depend_on_the_order_of_results() -> None:
    """The same matches in another order give the same digits."""
    random = Random(3)
    matches = [
        duel(*[[random.randrange(-2, 3) for _ in range(2)] for _ in range(7)], number=n)
        for n in range(9)
    ]
    shuffled = random.sample(matches, k=9)

    assert score_per_deal(shuffled, "a") == score_per_deal(matches, "a")


def test_a_bot_without_matches_has_no_estimate() -> None:
    """Who has not played has no score."""
    assert score_per_deal([duel([1])], "z") is None


def test_wins_draws_and_losses_go_by_the_total() -> None:
    """A whole match is won, drawn or lost by its total score, not deal by deal."""
    matches = [duel([3, -1], [-1, 0]), duel([1, -1]), duel([1, 1], [-1, -2])]
    mine, other = balance(matches, "a"), balance(matches, "b")

    assert (mine.games, mine.wins, mine.draws, mine.losses) == (3, 1, 1, 1)
    assert (other.wins, other.draws, other.losses) == (1, 1, 1)
    assert mine.score == other.score == Fraction(3, 2)


def test_the_best_of_many_share_a_win() -> None:
    """Of three or more only the best total wins; if two share it, each draws half a win."""
    match = free_for_all(4, 4, -3, -5)

    assert [match.share(label) for label in "abcd"] == [Fraction(1, 2), Fraction(1, 2), 0, 0]
    assert match.ranks == (0, 0, 1, 2)
    assert balance([match], "a").draws == balance([match], "c").losses == 1


def test_partners_win_together() -> None:
    """The two of a pair add up their scores and both have won, not drawn."""
    match = free_for_all(3, -1, 1, -3, sides=(0, 1, 0, 1))

    assert match.teams == (("a", "c"), ("b", "d"))
    assert list(match.totals) == [4, -4]
    assert [balance([match], label).wins for label in "abcd"] == [1, 0, 1, 0]


def test_a_pair_counts_as_one_bot() -> None:
    """By pairs a match is one of two labels, with what both partners scored and were guilty of."""
    match = free_for_all(3, -1, 1, -3, sides=(0, 1, 0, 1))
    (pairs,) = by_pairs([replace(match, faults=((2, "crash"), (0, "timeout"), (3, "crash")))])

    assert pairs.teams == (("a+c",), ("b+d",))
    assert pairs.totals == match.totals
    estimate = score_per_deal([pairs], "a+c")
    assert estimate is not None
    assert estimate.mean == 2
    assert balance([pairs], "a+c").wins == 1
    assert fault_counts([pairs], "a+c") == (("crash", 1), ("timeout", 1))
    assert pair_label(["c", "a"]) == "a+c"


def test_two_copies_on_one_side_count_once() -> None:
    """A bot that holds both seats of a pair plays one match, its score per deal their mean."""
    scores = tuple(map(Fraction, (3, -2, 1, -2)))
    match = PlayedMatch(
        number=0, entrants=("a", "b", "a", "b"), decks=((scores,),), sides=(0, 1, 0, 1)
    )
    estimate = score_per_deal([match], "a")

    assert balance([match], "a").games == 1
    assert estimate is not None
    assert estimate.mean == 2


def test_faults_are_counted_by_kind_and_bot() -> None:
    """Each bot's faults are counted under their kinds, in alphabetical order."""
    match = PlayedMatch(
        number=0,
        entrants=("a", "b"),
        decks=duel([1]).decks,
        faults=((1, "timeout"), (0, "crash"), (1, "illegal_action"), (1, "timeout")),
    )

    assert fault_counts([match], "b") == (("illegal_action", 1), ("timeout", 2))
    assert fault_counts([match], "a") == (("crash", 1),)


@pytest.mark.parametrize(
    ("entrants", "decks", "sides", "reason"),
    [
        (("a",), (((1,),),), (), "two sides"),
        (("a", "b"), (((1, -1),),), (0, 0), "two sides"),
        (("a", "b"), (((1, -1),),), (0,), "a side for every entrant"),
        (("a", "a"), (((1, -1),),), (), "names of their own"),
        (("a", "b"), (), (), "as many legs"),
        (("a", "b"), ((),), (), "as many legs"),
        (("a", "b"), (((1, -1), (1, -1)), ((1, -1),)), (), "as many legs"),
        (("a", "b"), (((1, -1, 0),),), (), "a score for every entrant"),
    ],
)
def test_results_that_do_not_fit_are_refused(
    entrants: tuple[str, ...],
    decks: tuple[tuple[tuple[int, ...], ...], ...],
    sides: tuple[int, ...],
    reason: str,
) -> None:
    """A result that cannot be a match's is refused with its number and the reason."""
    scores = tuple(tuple(tuple(map(Fraction, deal)) for deal in legs) for legs in decks)

    with pytest.raises(StatsError, match=rf"match 12: .*{reason}"):
        PlayedMatch(number=12, entrants=entrants, decks=scores, sides=sides)


@pytest.mark.parametrize(("t", "freedom"), [(-2.5, 3.0), (0.0, 7.5), (1.3, 20.0), (4.0, 1.0)])
def test_student_below_inverts_the_quantile(t: float, freedom: float) -> None:
    """The probability below a quantile is the one it was asked for, on both sides of 0."""
    below = student_below(t, freedom)

    assert below + student_below(-t, freedom) == pytest.approx(1)
    if t > 0:
        assert student_quantile(below, freedom) == pytest.approx(t, rel=1e-9)
    assert (below > 0.5) == (t > 0)


def test_superiority_agrees_with_the_interval() -> None:
    """Where an end of the interval is 0 the likelihood of superiority is 97.5%, or 2.5%."""
    spread = spread_of([[1.0, 2.0, 4.0, 7.0]])
    assert spread is not None

    assert spread.superiority(spread.half_width) == pytest.approx(0.975)
    assert spread.superiority(-spread.half_width) == pytest.approx(0.025)
    assert spread.superiority(0.0) == 0.5


@pytest.mark.parametrize("decks", [2, 3, 200])
@pytest.mark.parametrize("score", [1, 0, -7])
def test_decks_that_all_score_alike_tell_of_no_spread(score: int, decks: int) -> None:
    """Equal observations are no certainty: they give no interval and no superiority."""
    estimate = score_per_deal([duel(*[[score, score]] * decks)], "a")

    assert estimate is not None
    assert estimate.mean == score
    assert (estimate.half_width, estimate.superiority, estimate.mirroring) == (None, None, None)


def test_equal_units_have_no_spread_in_the_last_digit_either() -> None:
    """The rounded mean of equal fractions makes no interval of its own."""
    assert interval([0.1] * 3)[1] is None
    assert spread_of([[0.1] * 3, [0.7] * 3]) is None


def test_one_deck_has_no_superiority() -> None:
    """Nothing is said of who is better from one deck."""
    estimate = score_per_deal([duel([1, 1])], "a")

    assert estimate is not None
    assert estimate.superiority is None
