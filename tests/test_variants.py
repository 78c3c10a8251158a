import random

import pytest
from sources import RandomSource

from referee.options import OPTIONS, choices_of
from referee.rules import ActionKind, Combination, Rules, State, deal, highest_weight
from referee.variants import VARIANTS, UnknownVariantError, describe, find_variant, sources_of
from tools.gen_variants_docs import PAGE, render

NAMES = [
    *("bura", "bura-basic", "bura-bg", "bura-by", "bura-bank", "bura-no-molodka"),
    *("bura-three-aces", "bura-32", "bura-closed", "bura-open", "bura-no-trumps", "bura-dave"),
    *("bura-5", "burkozyol", "burkozyol-pairs", "burkozyol-eyes", "burkozyol-queue"),
    *("burkozyol-same-rank", "burkozyol-by", "kozel"),
]
TABLES = [(name, seats) for name, rules in VARIANTS.items() for seats in rules.players]


def test_every_named_variant_is_there() -> None:
    """The registry holds the variants of the rule page, in its order, and no others."""
    assert list(VARIANTS) == NAMES


def test_an_unknown_variant_is_refused_with_names_like_it() -> None:
    """A typo never changes the game played."""
    with pytest.raises(UnknownVariantError, match="bura-bank"):
        find_variant("bura-bnak")


def play_at_random(rules: Rules, seats: int, seed: int) -> State:
    """Play a deal by chance, claiming and declining seldom."""
    chance = random.Random(seed)
    state = deal(rules, seats=seats, dealer=seed % seats, source=RandomSource(chance, rules.deck))
    ends = (ActionKind.CLAIM, ActionKind.DECLINE)
    while state.outcome is None:
        seat = chance.choice(state.asked)
        actions = state.legal_actions(seat)
        quiet = [action for action in actions if action.kind not in ends] or actions
        state.apply(seat, chance.choice(quiet if chance.random() < 0.95 else actions))
    return state


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_every_variant_plays_to_the_end(name: str, seats: int) -> None:
    """Random choices end a deal of any variant, nobody is asked then, and no loss is too high."""
    rules = VARIANTS[name]
    for seed in range(10):
        state = play_at_random(rules, seats, seed)

        assert state.outcome is not None
        assert state.asked == ()
        assert not any(state.legal_actions(seat) for seat in range(seats))
        weights = [weight for _, weight in state.outcome.losers]
        assert max(weights, default=1) <= highest_weight(rules)


@pytest.mark.parametrize("name", NAMES)
def test_every_sentence_of_a_variant_names_its_source(name: str) -> None:
    """A variant describes itself in sentences, each with a source in brackets, none twice."""
    sentences = describe(VARIANTS[name])

    assert len(set(sentences)) == len(sentences)
    for sentence in sentences:
        text, _, sources = sentence.removesuffix("]").rpartition(" [")
        assert text.endswith(".")
        assert set(sources.split()) <= {"S0", "S1", "S3", "S4", "D"}
        assert sources


def test_every_source_named_is_explained() -> None:
    """Whoever reads a sentence can look up what the sign behind it stands for."""
    sentences = [sentence for rules in VARIANTS.values() for sentence in describe(rules)]
    assert list(sources_of(sentences)) == ["S0", "S1", "S3", "S4", "D"]
    assert list(sources_of(["The deck has 32 cards. [S1 D]"])) == ["S1", "D"]


def test_page_of_the_variants_is_current() -> None:
    """docs/variants.md says what the rules say; if not: python tools/gen_variants_docs.py."""
    assert PAGE.read_text(encoding="utf-8") == render()


def test_every_value_of_every_option_has_a_sentence() -> None:
    """Rules with any one option changed can still be described."""
    for option in OPTIONS:
        for value in choices_of(option):
            base = VARIANTS["burkozyol-pairs"] if option == "match_format" else Rules()
            changes = {option: value}
            if (option, value) == ("match_format", "eyes"):
                changes["deck"] = 32
            if (option, value) == ("trump", "none"):
                changes["combinations"] = ()  # type: ignore[assignment]
            if (option, value) == ("sides", "pairs"):
                changes["players"] = (4,)  # type: ignore[assignment]
            assert describe(base.replace(**changes))


def test_every_combination_has_a_sentence() -> None:
    """Each combination is described where its hand size allows it."""
    for combination in Combination:
        for size in (3, 4, 5):
            rules = Rules().to_dict() | {"hand_size": size, "combinations": (combination,)}
            try:
                described = describe(Rules.from_dict(rules))
            except ValueError:
                continue
            assert any(" win" in each or " led " in each for each in described)
