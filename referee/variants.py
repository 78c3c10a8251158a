"""The named variants, and any rules in plain sentences with the text that wants them."""

import difflib
from collections.abc import Iterable
from typing import Final

from referee.options import OPTIONS, Combination, Rules, choices_of
from referee.sentences import (
    SENTENCES,
    SOURCES,
    combination_sentence,
    matters,
    number_sentence,
)


class UnknownVariantError(LookupError):
    """No variant has that name."""


_SIMPLE = Rules(dealt_combination="stands")
_BURA = Rules(
    discards="closed_optional",
    false_claim="lose_double",
    combinations=(
        Combination.MOSCOW,
        Combination.BURA,
        Combination.LITTLE_MOSCOW,
        Combination.MOLODKA,
    ),
    match_format="robber",
)
_BURA_BY = _BURA.replace(
    discards="open",
    dealt_combination="stands",
    little_moscow="tens",
    bura_tie="highest_card",
    match_format="penalty",
)
_BURA_BANK = _SIMPLE.replace(
    false_claim="double_bank",
    combinations=(Combination.BURA, Combination.THREE_ACES, Combination.MOLODKA),
    bura_tie="leader",
    next_lead="left_of_dealer",
    match_format="bank",
)
_BURKOZYOL = Rules(
    players=(2, 3, 4),
    hand_size=4,
    lead_sizes=(1, 2, 3, 4),
    goal="points",
    discards="taker_looks",
    end_indicator="bury",
    first_lead="high_card",
    dealt_combination="stands",
    combinations=(Combination.MOSCOW, Combination.BURA, Combination.MOLODKA),
    match_format="burkozyol_double",
    draw_carry="double_once",
)
_PAIRS = _BURKOZYOL.replace(players=(4,), sides="pairs")

VARIANTS: Final[dict[str, Rules]] = {
    "bura": _BURA,
    "bura-basic": _SIMPLE.replace(match_format="robber"),
    "bura-bg": _BURA.replace(bura_tie="highest_card"),
    "bura-by": _BURA_BY,
    "bura-bank": _BURA_BANK,
    "bura-no-molodka": _BURA_BANK.replace(combinations=(Combination.BURA, Combination.THREE_ACES)),
    "bura-three-aces": _BURA_BANK.replace(
        combinations=(Combination.THREE_ACES_WIN, Combination.MOLODKA)
    ),
    "bura-32": _BURA_BANK.replace(deck=32),
    "bura-closed": _BURA_BANK.replace(discards="closed_all"),
    "bura-open": _BURA_BY.replace(hands="open"),
    "bura-no-trumps": _BURA_BY.replace(
        trump="none",
        combinations=(Combination.MOSCOW, Combination.LITTLE_MOSCOW, Combination.MOLODKA),
    ),
    "bura-dave": _BURA_BY.replace(raise_="dave"),
    "bura-5": Rules(
        players=(2,),
        hand_size=5,
        lead_sizes=(1, 2, 3, 4, 5),
        goal="points",
        trump_immune_suit="spades",
        dealt_combination="stands",
        combinations=(Combination.BURA, Combination.MOLODKA),
        draw_carry="none",
        match_format="robber",
    ),
    "burkozyol": _BURKOZYOL,
    "burkozyol-pairs": _PAIRS,
    "burkozyol-eyes": _PAIRS.replace(deck=32, match_format="eyes", draw_carry="geometric"),
    "burkozyol-queue": _BURKOZYOL.replace(
        end_indicator="redraw",
        combinations=(
            Combination.MOSCOW_LEADS,
            Combination.BURA_LEADS,
            Combination.COMPLECT,
            Combination.MOLODKA_WAITS,
        ),
    ),
    "burkozyol-same-rank": _BURKOZYOL.replace(same_rank_leads="ask"),
    "burkozyol-by": _BURKOZYOL.replace(
        discards="open",
        end_indicator="keep",
        first_lead="left_of_dealer",
        combinations=(
            Combination.GOLDEN_MOSCOW,
            Combination.BURA_LEADS,
            Combination.MOSCOW_OF_THREE,
            Combination.MOLODKA,
        ),
        match_format="burkozyol_penalty",
        on_limit="eliminate",
        draw_carry="none",
    ),
    "kozel": Rules(
        players=(2, 3, 4, 5),
        hand_size=4,
        lead_sizes=(1, 3),
        goal="points",
        dealt_combination="stands",
        combinations=(Combination.BURA, Combination.FOUR_ACES),
        bura_tie="leader",
        top_tie="split",
        next_lead="left_of_dealer",
        match_format="bank",
        draw_carry="none",
    ),
}


def find_variant(name: str) -> Rules:
    """Return the rules of a named variant.

    Raises:
        UnknownVariantError: There is none; the message lists names like it, or else all.
    """
    try:
        return VARIANTS[name]
    except KeyError:
        near = difflib.get_close_matches(name, VARIANTS) or list(VARIANTS)
        raise UnknownVariantError(
            f"no variant {name!r}: expected a name such as {', '.join(near)}"
        ) from None


def describe(rules: Rules) -> list[str]:
    """Return the rules in plain sentences, each with the text it comes from."""
    sentences = []
    for option in OPTIONS:
        value = getattr(rules, option)
        if option == "combinations":
            sentences += [combination_sentence(rules, each) for each in rules.combinations]
        elif not matters(rules, option):
            continue
        elif choices_of(option):
            sentences.append(SENTENCES[option, value])
        else:
            sentences.append(number_sentence(option, value))
    return sentences


def sources_of(sentences: Iterable[str]) -> dict[str, str]:
    """Return what the sources that sentences name are, in their order."""
    named = {
        source
        for sentence in sentences
        for source in sentence.rpartition("[")[2].removesuffix("]").split()
    }
    return {source: text for source, text in SOURCES.items() if source in named}
