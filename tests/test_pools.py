from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.home import Home
from arena.pools import FILE, Pool, Wish, rating_of
from arena.ratings import OpenSkill, TrueSkill
from referee.variants import VARIANTS

POOL = Pool(rules=VARIANTS["bura"], seats=2, match_format="series")
THREE = Pool(rules=VARIANTS["bura-5"], seats=3, match_format="series")

SETTINGS = """
[trueskill]
tau = 0

[[pool]]
seats = 3
trueskill = {beta = 6.0, draw_probability = 0.02}

[[pool]]
variant = "bura-5"
match_format = "series"
trueskill = {beta = 7}

[[pool]]
variant = "bura"
rules = ["target=41"]
rating = "openskill"
openskill = {kappa = 0.001}
"""


@pytest.fixture(name="home")
def _home(tmp_path: Path) -> Home:
    (tmp_path / FILE).write_text(SETTINGS, "utf-8")
    return Home(tmp_path)


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    """No settings mean TrueSkill with its defaults."""
    assert rating_of(Home(tmp_path), POOL) == ("trueskill", TrueSkill())


def test_a_pool_has_what_fits_it(home: Home) -> None:
    """What is said of all pools holds, and what fits more closely goes over it."""
    assert rating_of(home, POOL) == ("trueskill", TrueSkill(tau=0))
    expected = TrueSkill(tau=0, beta=7, draw_probability=0.02)
    assert rating_of(home, THREE) == ("trueskill", expected)


def test_rules_of_a_pool_are_those_played(home: Home) -> None:
    """A pool is meant by the rules as they are played, options changed among them."""
    pool = Pool(rules=POOL.rules.replace(target=41), seats=2, match_format="series")

    assert rating_of(home, pool) == ("openskill", OpenSkill(kappa=0.001))


def test_rules_without_a_variant_are_refused(tmp_path: Path) -> None:
    """Options change a variant: alone they would say nothing, and are not taken for all pools."""
    (tmp_path / FILE).write_text('[[pool]]\nrules = ["target=41"]\nrating = "openskill"\n', "utf-8")

    with pytest.raises(ArenaError, match="rules but no variant; name the variant"):
        rating_of(Home(tmp_path), POOL)


@pytest.mark.parametrize("number", ["1e200", f"1{'0' * 400}", "nan"])
def test_numbers_beyond_all_bounds_are_refused(tmp_path: Path, number: str) -> None:
    """A parameter too large to compute with is refused in one line that names file and key."""
    (tmp_path / FILE).write_text(f"[trueskill]\nbeta = {number}\n", "utf-8")

    with pytest.raises(ArenaError, match=rf"{FILE}: (beta is|trueskill is .*beta)"):
        rating_of(Home(tmp_path), POOL)


def test_the_command_line_goes_first(home: Home) -> None:
    """What is asked for replaces what the file says, and only that."""
    wish = Wish(parameters={"beta": 1.0})
    expected = TrueSkill(tau=0, beta=1.0, draw_probability=0.02)

    assert rating_of(home, THREE, wish) == ("trueskill", expected)
    assert rating_of(home, THREE, Wish(rating="openskill")) == ("openskill", OpenSkill())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("tau = ", "cannot be read"),
        ("truskill = {tau = 1}", "unknown key 'truskill'; did you mean 'trueskill'?"),
        ("[[pool]]\nseat = 2", "unknown key 'seat'; did you mean 'seats'?"),
        ("[[pool]]\nseats = true", "seats is True; expected a whole number"),
        ("[[pool]]\nrules = 'target=41'", "expected a list"),
        ("[pool]\nseats = 2", "write [[pool]] above each"),
        ("trueskill = {tau = '1'}", "expected a table of numbers"),
        ("[trueskill]\ntow = 1", "no parameter 'tow'"),
        ("[trueskill]\ndraw_probability = 0", "above 0 and below 1"),
        ("rating = 'elo'", "unknown rating system 'elo'"),
        ("[[pool]]\nvariant = 'bora'", "no variant 'bora'"),
    ],
)
def test_settings_that_will_not_do_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    """A mistake in the file is refused in one line that says what was expected."""
    (tmp_path / FILE).write_text(text, "utf-8")

    with pytest.raises(ArenaError) as caught:
        rating_of(Home(tmp_path), POOL)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
