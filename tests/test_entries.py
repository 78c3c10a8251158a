import pytest

from arena.entries import partners_of, split_pair
from arena.errors import RefusedError
from arena.formats import Partners
from referee.variants import VARIANTS

EACH, PAIRS = VARIANTS["bura"], VARIANTS["burkozyol-pairs"]


@pytest.mark.parametrize(
    ("word", "known", "bots"),
    [
        ("a", {"a"}, ("a",)),
        ("a+b", {"a", "b"}, ("a", "b")),
        ("a@1+a@1", {"a@1"}, ("a@1", "a@1")),
        ("c++", {"c++"}, ("c++",)),
        ("c+++x", {"c++", "x"}, ("c++", "x")),
        ("a+b", {"a", "b", "a+b"}, ("a+b",)),
        ("a+x", {"a"}, ("a", "x")),
        ("a+b+x", {"a"}, ("a+b+x",)),
    ],
)
def test_word_is_split_where_bots_are(word: str, known: set[str], bots: tuple[str, ...]) -> None:
    """A name may hold a plus; a word that names a bot is that bot."""
    assert split_pair(word, known.__contains__) == bots


def test_word_of_two_meanings_is_refused() -> None:
    """Where a word can be read as two pairs nobody guesses."""
    with pytest.raises(RefusedError, match="more than one pair"):
        split_pair("a+b+c", {"a", "b+c", "a+b", "c"}.__contains__)


def test_partners_follow_from_the_game_and_the_words() -> None:
    """Pairs stay together, single bots in a game of pairs rotate, else nobody has a partner."""
    assert partners_of([("a",), ("b",)], "bura", EACH) is Partners.NONE
    assert partners_of([("a",), ("b",)], "p", PAIRS) is Partners.ROTATING
    assert partners_of([("a", "b"), ("c", "d")], "p", PAIRS) is Partners.FIXED


def test_pairs_are_refused_where_they_do_not_fit() -> None:
    """Pairs in a game without partners, and pairs beside single bots, are mistakes."""
    with pytest.raises(RefusedError, match=r"a\+b is a pair, but in bura each plays"):
        partners_of([("a", "b")], "bura", EACH)
    with pytest.raises(RefusedError, match=r"c is alone, but a\+b is a pair"):
        partners_of([("a", "b"), ("c",)], "p", PAIRS)
