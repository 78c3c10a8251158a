import pytest
from oracle.adapter import SideBySide
from oracle.cases import VARIANT_SEATS, cases, random_case, variant_case
from oracle.matches import FORMATS, MatchSideBySide

DEALS_OF_VARIANTS, DEALS_OF_RANDOM_RULES = 20, 1200
PARTS = range(20)
MATCHES_OF_A_FORMAT = 40
DEALS_OF_A_PART = 500


@pytest.mark.parametrize(
    "number", range(len(VARIANT_SEATS)), ids=lambda n: "-".join(map(str, VARIANT_SEATS[n]))
)
def test_variants_play_as_the_rules_written_out_plainly_say(number: int) -> None:
    """Engine and oracle agree on every action, view, event and outcome of a variant's deals."""
    for round_of_variants in range(DEALS_OF_VARIANTS):
        SideBySide(variant_case(0, number + round_of_variants * len(VARIANT_SEATS))).play()


@pytest.mark.parametrize("part", PARTS)
def test_random_rules_play_as_the_rules_written_out_plainly_say(part: int) -> None:
    """Engine and oracle agree on which options go together, and on deals with them."""
    for number in range(part, DEALS_OF_RANDOM_RULES, len(PARTS)):
        SideBySide(random_case(1, number * 4)).play()


@pytest.mark.parametrize("match_format", FORMATS)
def test_matches_are_scored_as_the_rules_written_out_plainly_say(match_format: str) -> None:
    """Engine and oracle agree on who deals and leads, what counts, and who wins the match."""
    for seed in range(MATCHES_OF_A_FORMAT):
        MatchSideBySide(match_format, seed).play()


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_many_more_deals_are_played_alike(part: int) -> None:
    """Engine and oracle agree on thousands of deals more."""
    for case in cases(1_000_000_000, range(part * DEALS_OF_A_PART, (part + 1) * DEALS_OF_A_PART)):
        SideBySide(case).play()
