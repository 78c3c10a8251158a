from collections.abc import Iterator
from pathlib import Path

import pytest

from arena import rulebook
from arena.errors import NotFoundError, RefusedError
from arena.home import Home
from arena.rulebook import change, changes, check_seats, find_game, is_same_game
from arena.store import Store
from referee.options import OPTIONS, Combination, Rules, RulesError, choices_of
from referee.variants import VARIANTS


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home that does not exist yet."""
    return Home(tmp_path / "home")


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    """A new store."""
    with Store.open(home) as opened:
        yield opened


def test_variant_is_found_where_there_is_no_arena(home: Home) -> None:
    """Whoever only plays needs no database, and none is made."""
    game = find_game(home, "bura-5")
    assert (game.name, game.rules) == ("bura-5", VARIANTS["bura-5"])
    assert not home.path.exists()


@pytest.mark.parametrize(
    ("word", "option", "value"),
    [
        ("target=41", "target", 41),
        ("deck=32", "deck", 32),
        ("goal=points", "goal", "points"),
        ("raise=dave", "raise_", "dave"),
        ("raise_=dave", "raise_", "dave"),
        ("players=2,4", "players", (2, 4)),
        ("lead_sizes=1,3", "lead_sizes", (1, 3)),
        ("combinations=bura,molodka", "combinations", (Combination.BURA, Combination.MOLODKA)),
        ("combinations=none", "combinations", ()),
    ],
)
def test_word_changes_one_option(word: str, option: str, value: object) -> None:
    """An option takes the value it was given, in the type it has, and nothing else changes."""
    changed = change(Rules(), [word])
    assert getattr(changed, option) == value
    assert set(changes(Rules(), changed)) == {option}


def test_every_option_can_be_typed_as_it_is_printed() -> None:
    """What `changes` prints of any variant makes that variant again."""
    for rules in VARIANTS.values():
        words = [f"{option}={text}" for option, text in changes(Rules(), rules).items()]
        assert change(Rules(), words) == rules


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["target"], "OPTION=VALUE"),
        (["taget=41"], "did you mean 'target'"),
        (["zzz=1"], "there are players, deck"),
        (["_hash=1"], "there is no rule"),
        (["goal=pints"], "expected claim or points"),
        (["deck=52"], "expected 36 or 32"),
        (["target=many"], "expected a number"),
        (["target=-1"], "expected a number"),
        (["target=" + "9" * 5000], "expected a number"),
        (["players=2;3"], "numbers apart by commas"),
        (["target=41", "target=51"], "changed twice"),
    ],
)
def test_what_no_rule_is_called_is_refused_with_what_there_is(words: list[str], said: str) -> None:
    """A typo is an error that names what was probably meant, or what is allowed."""
    with pytest.raises(RefusedError, match=said):
        change(Rules(), words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["goal=points", "raise=dave"], "the stake is raised in claim games only"),
        (["sides=pairs"], "two pairs need"),
        (["combinations=burra"], "no combination 'burra'"),
        (["hand_size=5", "combinations=moscow"], "does not exist with this hand_size"),
        (["target=0"], "at least 1"),
    ],
)
def test_impossible_rules_are_refused_with_the_reason(words: list[str], said: str) -> None:
    """Options that cannot be played together say why."""
    with pytest.raises(RulesError, match=said):
        change(Rules(), words)


def test_changes_that_need_each_other_are_made_together() -> None:
    """No order of the words leads through impossible rules."""
    words = ["sides=pairs", "players=4"]
    assert change(Rules(), words) == change(Rules(), words[::-1])


def test_name_of_a_changed_game_says_what_was_changed(home: Home) -> None:
    """However the changes are typed, one game has one name; what changes nothing is not in it."""
    words = ["target=41", "false_claim=lose", "deck=36"]
    games = [find_game(home, "bura", order) for order in (words, words[::-1])]
    assert [game.name for game in games] == ["bura target=41 false_claim=lose"] * 2


def test_saved_rules_are_found_by_name(home: Home, store: Store) -> None:
    """Saved rules stand wherever a variant may, whatever the case of their name."""
    game = find_game(home, "bura", ["target=41"])
    rulebook.save(store, "House", game.name, game.rules)
    assert find_game(home, "house") == rulebook.Game("House", game.rules)
    assert find_game(home, "HOUSE", ["deck=32", "little_moscow=tens"]).name == (
        "House deck=32 little_moscow=tens"
    )
    (info,) = rulebook.saved(store)
    assert (info.name, info.variant, info.rules) == ("House", "bura target=41", game.rules)
    assert rulebook.find_saved(store, "house") == info


def test_removed_rules_are_gone(home: Home, store: Store) -> None:
    """After removal the name is free, and unknown."""
    rulebook.save(store, "house", "bura", VARIANTS["bura"])
    assert rulebook.remove(store, "HOUSE") == "house"
    assert rulebook.saved(store) == ()
    with pytest.raises(NotFoundError, match="no variant 'house'"):
        find_game(home, "house")
    rulebook.save(store, "house", "kozel", VARIANTS["kozel"])


@pytest.mark.parametrize("name", ["bura", "BURA", "House", "a b", "../x", ""])
def test_names_that_are_taken_or_no_names_are_refused(store: Store, name: str) -> None:
    """A saved name never hides a variant or other rules."""
    rulebook.save(store, "house", "bura", VARIANTS["bura"])
    with pytest.raises(RefusedError):
        rulebook.save(store, name, "bura", VARIANTS["bura"])
    assert len(rulebook.saved(store)) == 1


def test_unknown_saved_rules_bring_the_near_ones(home: Home, store: Store) -> None:
    """A typo in a saved name is answered with what was probably meant."""
    rulebook.save(store, "house", "bura", VARIANTS["bura"])
    for find in (lambda: rulebook.remove(store, "hose"), lambda: find_game(home, "hose")):
        with pytest.raises(NotFoundError, match="did you mean 'house'"):
            find()


def test_games_are_the_same_whatever_the_match_format() -> None:
    """How deals add up to a match is no difference between games; any other option is one."""
    rules = VARIANTS["bura"]
    assert is_same_game(rules, rules.replace(match_format="penalty"))
    assert not is_same_game(rules, rules.replace(target=32))


@pytest.mark.parametrize(
    ("name", "seats", "said"),
    [
        ("bura-5", 3, "bura-5 cannot be played by 3 bots in a match; it is played by 2$"),
        ("burkozyol", 5, "played by 2, 3 or 4$"),
        ("burkozyol-pairs", 2, "played by 4$"),
        ("bura", 1, "by 1 bot in"),
    ],
)
def test_seats_that_do_not_fit_are_refused_in_one_line(name: str, seats: int, said: str) -> None:
    """The line says which numbers fit."""
    with pytest.raises(RefusedError, match=said):
        check_seats(name, VARIANTS[name], seats)


def test_usual_seats_fit_every_variant(home: Home) -> None:
    """Who says no number of seats gets two where two can play, else what the game needs."""
    seats = {name: find_game(home, name).usual_seats for name in VARIANTS}
    assert seats["bura"] == 2
    assert seats["burkozyol-pairs"] == 4
    assert all(seats[name] in rules.players for name, rules in VARIANTS.items())


def test_every_listed_value_is_taken() -> None:
    """Each value of each option that has a list is understood as it is written in the documents."""
    for option in OPTIONS:
        for choice in choices_of(option):
            try:
                changed = change(Rules(), [f"{option}={choice}"])
            except RulesError:
                continue
            assert getattr(changed, option) == choice
