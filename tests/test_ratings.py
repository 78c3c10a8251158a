import dataclasses
import math
import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from pathlib import Path
from random import Random

import pytest
import trueskill
from openskill.models import PlackettLuce

from arena.errors import NotFoundError, RefusedError
from arena.ratings import (
    RATINGS,
    OpenSkill,
    Rating,
    Skill,
    TrueSkill,
    changes,
    find_rating,
    fold,
    tie_groups,
    with_parameters,
)
from arena.statistics.stats import PlayedMatch, by_pairs

NEW = Skill(25.0, 25.0 / 3)


def match(
    number: int, entrants: str, totals: Sequence[int], sides: tuple[int, ...] = ()
) -> PlayedMatch:
    """Return a match of one deal between bots with names of one letter."""
    scores = tuple(map(Fraction, totals))
    return PlayedMatch(number=number, entrants=tuple(entrants), decks=((scores,),), sides=sides)


def close(skill: Skill, mu: float, sigma: float) -> bool:
    """Tell whether a skill has these three published digits."""
    return abs(skill.mu - mu) < 6e-4 and abs(skill.sigma - sigma) < 6e-4


def test_win_has_published_values() -> None:
    """A win between new bots gives the values published with the algorithm."""
    (winner,), (loser,) = TrueSkill().update([[NEW], [NEW]], [0, 1])

    assert close(winner, 29.396, 7.171)
    assert close(loser, 20.604, 7.171)


def test_draw_has_published_values() -> None:
    """A draw between new bots leaves their means and narrows the doubt."""
    (one,), (other,) = TrueSkill().update([[NEW], [NEW]], [0, 0])

    assert close(one, 25.000, 6.458)
    assert one == other


def test_free_for_all_has_published_values() -> None:
    """Four new bots in a row of places get the values published with the algorithm."""
    after = TrueSkill().update([[NEW]] * 4, [0, 1, 2, 3])

    expected = [(33.207, 6.348), (27.401, 5.787), (22.599, 5.787), (16.793, 6.348)]
    assert all(close(skill, *wanted) for (skill,), wanted in zip(after, expected, strict=True))


def test_teams_have_published_values() -> None:
    """Two against two new bots: each of the winners gains what is published."""
    winners, losers = TrueSkill().update([[NEW, NEW], [NEW, NEW]], [0, 1])

    assert all(close(skill, 28.108, 7.774) for skill in winners)
    assert all(close(skill, 21.892, 7.774) for skill in losers)
    assert winners[0] == winners[1]


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_exact_ties_are_equal(seats: int) -> None:
    """New bots that all tie are equal to the last digit."""
    after = TrueSkill().update([[NEW]] * seats, [0] * seats)

    assert len(set(after)) == 1
    assert after[0][0].mu == pytest.approx(25.0, abs=1e-6)


def test_ties_in_the_middle_are_equal() -> None:
    """Where the package alone gives 24.998 and 25.002 to bots that tied, they are equal."""
    first, second, third, fourth = TrueSkill().update([[NEW]] * 4, [0, 1, 1, 2])

    assert second == third
    assert first[0].mu > second[0].mu > fourth[0].mu


@pytest.mark.parametrize("ranks", [[0, 1, 1, 1], [0, 1, 2, 3], [0, 0, 1, 2]])
@pytest.mark.parametrize("name", RATINGS)
def test_seats_do_not_matter(name: str, ranks: list[int]) -> None:
    """The same bots and places in another order of seats get the same values."""
    system = find_rating(name)
    skills = [NEW, Skill(30.0, 4.0), Skill(30.0, 5.0), Skill(21.0, 2.0)]
    expected = system.update([[skill] for skill in skills], ranks)

    for order in permutations(range(4)):
        after = system.update(
            [[skills[place]] for place in order], [ranks[place] for place in order]
        )
        assert after == tuple(expected[place] for place in order)


def test_partners_of_different_skill_keep_their_places() -> None:
    """Each partner's new skill stands where the old one stood, and order does not matter."""
    strong, weak = Skill(35.0, 3.0), Skill(15.0, 6.0)
    (one, two), _ = TrueSkill().update([[strong, weak], [NEW, NEW]], [0, 1])
    _, (three, four) = TrueSkill().update([[NEW, NEW], [weak, strong]], [1, 0])

    assert (one, two) == (four, three)
    assert one.mu > 35 > two.mu > 15


def test_order_of_arrival_does_not_matter() -> None:
    """Ratings follow the schedule: shuffled results give the same digits."""
    random = Random(5)
    matches = [
        match(n, "".join(random.sample("abcdef", 3)), [random.randrange(-3, 4) for _ in range(3)])
        for n in range(60)
    ]
    expected = fold(matches, TrueSkill())

    for _ in range(5):
        assert fold(random.sample(matches, k=60), TrueSkill()) == expected


def test_the_schedule_does_matter() -> None:
    """The fold uses the numbers of the matches: exchanged numbers give other ratings."""
    early = [match(0, "ab", (1, -1)), match(1, "bc", (1, -1))]
    late = [match(1, "ab", (1, -1)), match(0, "bc", (1, -1))]

    assert fold(early, TrueSkill()) != fold(late, TrueSkill())


def test_a_whole_match_is_one_result() -> None:
    """A match of many decks counts as one win, however high its total."""
    decks = (((Fraction(9), Fraction(-9)),) * 2,) * 50
    many = PlayedMatch(number=0, entrants=("a", "b"), decks=decks)

    assert fold([many], TrueSkill()) == fold([match(0, "ab", (1, -1))], TrueSkill())


def test_shown_rating_and_margin() -> None:
    """The rating shown is mu - 3 sigma, the +/- is 2 sigma, and a new bot stands at 0."""
    best, worst = fold([match(0, "ab", (1, -1))], TrueSkill())
    (new,) = fold([], TrueSkill(), ["c"])

    assert best.shown == best.skill.mu - 3 * best.skill.sigma
    assert best.margin == 2 * best.skill.sigma
    assert (best.entrant, worst.entrant, best.games) == ("a", "b", 1)
    assert new.shown == 0
    assert new.games == 0


def test_pairs_are_rated_as_teams() -> None:
    """Both partners of the winning pair gain the same, both losers lose the same."""
    ratings = fold([match(0, "abcd", (2, -2, 2, -2), sides=(0, 1, 0, 1))], TrueSkill())
    skills = {rating.entrant: rating.skill for rating in ratings}

    assert skills["a"] == skills["c"] > NEW > skills["b"] == skills["d"]


@pytest.mark.parametrize("name", sorted(RATINGS))
@pytest.mark.parametrize("ranks", [(0, 1), (1, 0), (0, 0)])
def test_a_bot_that_is_its_own_partner_is_a_team_of_two(name: str, ranks: tuple[int, int]) -> None:
    """Two copies are rated as two bots of their skill, and the bot gets the mean of both."""
    system = RATINGS[name]
    score = ranks[1] - ranks[0]
    played = match(0, "abac", [score, -score, score, -score], (0, 1, 0, 1))

    mine, theirs = system.update([[NEW, NEW], [NEW, NEW]], ranks)
    rated = {rating.entrant: rating for rating in fold([played], system)}

    assert rated["a"].skill == mine[0] == mine[1]
    assert (rated["b"].skill, rated["c"].skill) == theirs
    assert [rated[label].games for label in "abc"] == [1, 1, 1]


def test_a_pair_of_copies_is_one_bot_by_pairs() -> None:
    """In the table by pairs a pair is rated as a bot that plays alone."""
    played = match(0, "abab", [1, -1, 1, -1], (0, 1, 0, 1))

    (pairs,) = by_pairs([played])
    rated = {rating.entrant: rating.skill for rating in fold([pairs], TrueSkill())}

    (winner,), (loser,) = TrueSkill().update([[NEW], [NEW]], [0, 1])
    assert rated == {"a+a": winner, "b+b": loser}


def test_what_cannot_be_computed_is_refused_in_one_line() -> None:
    """Where sums overflow after all, the result and what to change are named."""
    system = TrueSkill(mu=0, sigma=1, beta=0.01, tau=100, draw_probability=1e-12)
    streak = [match(number, "abcd", [3, 2, 2, 1]) for number in range(2)]

    with pytest.raises(RefusedError, match="result 1 is beyond what can be rated"):
        fold(streak, system)


def test_long_streaks_stay_finite() -> None:
    """Four thousand wins in a row give finite ratings that still move the right way."""
    system = TrueSkill()
    winner, loser = system.start(), system.start()
    for _ in range(4_000):
        before = winner
        ((winner,), (loser,)) = system.update([[winner], [loser]], [0, 1])

    assert math.isfinite(winner.mu - loser.mu)
    assert 0 < winner.sigma < 25.0 / 3
    assert winner.mu > before.mu > 25 > loser.mu


@pytest.mark.parametrize("gap", [10.0, 60.0, 250.0, 1e4, 1e8])
@pytest.mark.parametrize("ranks", [(0, 1), (1, 0), (0, 0)])
def test_any_gap_can_be_rated(gap: float, ranks: tuple[int, int]) -> None:
    """The surest win, the greatest upset and the oddest draw give finite ratings."""
    strong, weak = Skill(25.0 + gap, 1.0), Skill(25.0, 1.0)
    (up,), (down,) = TrueSkill().update([[strong], [weak]], ranks)

    assert all(map(math.isfinite, (up.mu, up.sigma, down.mu, down.sigma)))
    if ranks == (0, 1):
        assert up.mu >= strong.mu
        assert down.mu <= weak.mu
    else:
        assert up.mu < strong.mu
        assert down.mu > weak.mu


@pytest.mark.parametrize("draw_probability", [1e-9, 0.001, 0.5, 0.999])
def test_corrected_tails_meet_the_formulas_smoothly(draw_probability: float) -> None:
    """Where the plain formulas give way to those of the tails the ratings take no step."""
    system = TrueSkill(draw_probability=draw_probability)
    for rank in (0, 1):
        means = []
        for step in range(400):
            strong, weak = Skill(50.0 + step / 4, 1.0), Skill(25.0, 1.0)
            ((_,), (down,)) = system.update([[strong], [weak]], [rank, 0])
            means.append(down.mu)
        steps = [late - early for early, late in pairwise(means)]
        assert all(step >= -1e-6 for step in steps)
        assert max(steps) < 0.02


def test_parameters_belong_to_the_system() -> None:
    """Two systems with draw probabilities of their own do not disturb each other."""
    rare, common = TrueSkill(draw_probability=0.01), TrueSkill(draw_probability=0.5)
    before = rare.update([[NEW], [NEW]], [0, 1])
    other = common.update([[NEW], [NEW]], [0, 1])

    assert other != before
    assert rare.update([[NEW], [NEW]], [0, 1]) == before
    assert dataclasses.replace(rare, mu=0.0).start() == Skill(0.0, 25.0 / 3)


@pytest.mark.parametrize(
    ("parameter", "value", "reason"),
    [
        ("draw_probability", 0.0, "draw_probability is 0"),
        ("draw_probability", 1.0, "draw_probability is 1"),
        ("draw_probability", math.nan, "draw_probability is nan"),
        ("sigma", 0.0, "sigma is 0; expected from 0.001"),
        ("sigma", math.inf, "sigma is inf"),
        ("beta", 0.0, "beta is 0; expected from 0.0833"),
        ("beta", 1e200, "beta is 1e.200"),
        ("beta", 1e154, "beta is 1e.154"),
        ("beta", 1e-200, "beta is 1e-200"),
        ("beta", math.nan, "beta is nan"),
        ("tau", -1.0, "tau is -1; expected from 0"),
        ("tau", 1e200, "tau is 1e.200; expected from 0 to 833.3"),
        ("mu", 1e6, "mu is 1e.06"),
    ],
)
def test_impossible_parameters_are_refused(parameter: str, value: float, reason: str) -> None:
    """Parameters under which some result could not be rated are refused."""
    with pytest.raises(RefusedError, match=reason):
        TrueSkill(**{parameter: value})


def test_numbers_of_matches_must_differ() -> None:
    """Results of two pools with the same numbers are not mixed up silently."""
    with pytest.raises(RefusedError, match="same place in the schedule"):
        fold([match(3, "ab", (1, -1)), match(3, "cd", (1, -1))], TrueSkill())


def test_unknown_system_names_the_known() -> None:
    """An unknown name is an error that lists what there is."""
    with pytest.raises(NotFoundError, match=r"'elo'; known are: openskill, trueskill"):
        find_rating("elo")


@pytest.mark.parametrize("name", RATINGS)
def test_every_system_rates_every_number_of_seats(name: str) -> None:
    """Two to six seats and pairs: the best gain, the worst lose, the shape is kept."""
    system = find_rating(name)
    new = system.start()
    for seats in range(2, 7):
        after = system.update([[new]] * seats, list(range(seats)))
        assert [len(side) for side in after] == [1] * seats
        assert after[0][0].mu > new.mu > after[-1][0].mu
    winners, losers = system.update([[new, new], [new, new]], [0, 1])
    assert min(winners).mu > new.mu > max(losers).mu


def test_documented_parameters_are_the_defaults() -> None:
    """The tables of docs/ratings.md show the defaults of both systems."""
    page = (Path(__file__).parents[1] / "docs/ratings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \| ([\d/., ]*?) \|", page, re.MULTILINE)
    shown = {
        name.strip("`"): float(Fraction(value))
        for names, values in rows
        for name, value in zip(names.split(", "), values.split(", "), strict=True)
    }

    assert shown == pytest.approx(dataclasses.asdict(TrueSkill()) | dataclasses.asdict(OpenSkill()))


def test_two_sides_are_rated_as_the_package_rates_them() -> None:
    """With one pass of messages two sides get what the package gives them, to its precision."""
    random = Random(5)
    environment = trueskill.TrueSkill(backend=None)
    for _ in range(300):
        one, other = (Skill(random.gauss(25, 6), random.uniform(0.5, 8)) for _ in range(2))
        ranks = random.choice([(0, 1), (1, 0), (0, 0)])
        ((up,), (down,)) = TrueSkill().update([[one], [other]], ranks)
        groups = [(trueskill.Rating(*one),), (trueskill.Rating(*other),)]
        ((first,), (second,)) = environment.rate(groups, ranks)
        assert (*up, *down) == pytest.approx(
            (first.mu, first.sigma, second.mu, second.sigma), abs=1e-4
        )


def test_openskill_rates_as_its_package() -> None:
    """A win between new bots, and four in a row of places, get what the package gives."""
    model = PlackettLuce()
    for ranks in ([0, 1], [0, 1, 2, 3], [3, 0, 2, 1]):
        after = OpenSkill().update([[NEW]] * len(ranks), ranks)
        teams = [[model.rating()] for _ in ranks]
        wanted = model.rate(teams, ranks=list(map(float, ranks)))
        assert [skill for (skill,) in after] == [Skill(r.mu, r.sigma) for (r,) in wanted]


@pytest.mark.parametrize("name", RATINGS)
def test_ties_are_exact_in_every_system(name: str) -> None:
    """Bots that tied come out equal to the last digit, wherever they sat."""
    system = find_rating(name)
    for ranks in permutations((0, 1, 1, 2)):
        after = system.update([[system.start()]] * 4, ranks)
        tied = [after[place][0] for place in range(4) if ranks[place] == 1]
        assert tied[0] == tied[1]


@pytest.mark.parametrize("name", RATINGS)
def test_bots_with_the_same_results_have_the_same_rating(name: str) -> None:
    """Two bots that the results do not tell apart are equal, though one played before the other."""
    matches = [
        match(1, "ac", (1, -1)),
        match(2, "bd", (1, -1)),
        match(3, "cb", (-1, 1)),
        match(4, "da", (-1, 1)),
        match(5, "cd", (3, -3)),
    ]
    skills = {rating.entrant: rating.skill for rating in fold(matches, find_rating(name))}

    assert skills["a"] == skills["b"]
    assert skills["c"] != skills["d"]


def test_a_circle_of_wins_leaves_nobody_ahead_of_its_mirror() -> None:
    """Two bots that beat each other once are equal, whoever won last."""
    one, other = fold([match(1, "ab", (1, -1)), match(2, "ab", (-1, 1))], TrueSkill())

    assert one.skill == other.skill


def test_bots_with_other_opponents_are_no_exact_tie() -> None:
    """As many wins against another opponent is another result."""
    matches = [match(1, "cd", (1, -1)), match(2, "ac", (1, -1)), match(3, "bd", (1, -1))]
    skills = {rating.entrant: rating.skill for rating in fold(matches, TrueSkill())}

    assert skills["a"] != skills["b"]


def test_changes_lead_from_match_to_match() -> None:
    """Each change begins where the bot's last one ended, and the last ends at its rating."""
    matches = [match(1, "ab", (1, -1)), match(2, "ca", (0, 0)), match(3, "bc", (2, -2))]
    made = list(changes(reversed(matches), TrueSkill()))

    assert [(each.number, each.entrant) for each in made] == [
        (1, "a"),
        (1, "b"),
        (2, "c"),
        (2, "a"),
        (3, "b"),
        (3, "c"),
    ]
    assert made[0].before == NEW
    assert made[3].before == made[0].after
    assert made[0].delta == made[0].after.mu - 3 * made[0].after.sigma
    last = {each.entrant: each.after for each in made}
    assert last == {rating.entrant: rating.skill for rating in fold(matches, TrueSkill())}


def rated(**spans: tuple[float, float]) -> list[Rating]:
    """Return ratings from their mu and sigma."""
    return [Rating(name, Skill(*skill), 1) for name, skill in spans.items()]


def test_groups_hold_those_whose_intervals_overlap() -> None:
    """A chain of overlaps makes two groups, and the one in the middle is in both."""
    groups = tie_groups(rated(a=(30, 1), b=(27, 1), c=(24, 1), d=(10, 1)))

    assert groups == {"a": (0,), "b": (0, 1), "c": (1,)}


def test_a_wide_interval_ties_bots_that_are_apart() -> None:
    """A bot of which little is known is in the group of each, and these stay apart."""
    groups = tie_groups(rated(a=(30, 1), b=(20, 1), new=(25, 8)))

    assert groups == {"a": (0,), "b": (1,), "new": (0, 1)}


@pytest.mark.parametrize("seed", range(20))
def test_groups_are_the_largest_sets_that_overlap(seed: int) -> None:
    """Two bots share a group exactly if their intervals overlap, and no group is in another."""
    random = Random(seed)
    ratings = [
        Rating(f"b{n}", Skill(random.uniform(0, 40), random.uniform(0.5, 4)), 1) for n in range(12)
    ]
    groups = tie_groups(ratings)
    members: dict[int, set[str]] = {}
    for name, numbers in groups.items():
        assert list(numbers) == list(range(numbers[0], numbers[-1] + 1))
        for number in numbers:
            members.setdefault(number, set()).add(name)

    for one, other in combinations(ratings, 2):
        apart = abs(one.skill.mu - other.skill.mu) > one.margin + other.margin
        shared = set(groups.get(one.entrant, ())) & set(groups.get(other.entrant, ()))
        assert bool(shared) != apart
    assert not any(one < other for one, other in permutations(members.values(), 2))


def test_parameters_can_be_set_by_name() -> None:
    """A system with parameters of a pool's own has these, and the defaults for the others."""
    assert with_parameters("trueskill", {"beta": 1.0}) == TrueSkill(beta=1.0)
    assert with_parameters("openskill", {}) == OpenSkill()


def test_unknown_parameters_are_refused() -> None:
    """A parameter that only the other system has is refused, and the known ones are named."""
    with pytest.raises(RefusedError, match=r"no parameter 'draw_probability'; it has mu, sigma"):
        with_parameters("openskill", {"draw_probability": 0.1})


@pytest.mark.parametrize(
    ("parameter", "value"), [("kappa", 0.0), ("beta", -1.0), ("beta", 1e200), ("mu", math.inf)]
)
def test_impossible_parameters_of_openskill_are_refused(parameter: str, value: float) -> None:
    """Parameters under which some result could not be rated are refused."""
    with pytest.raises(RefusedError):
        OpenSkill(**{parameter: value})
