import itertools
import random

import pytest

from referee import choices
from referee.actions import Action, ActionKind
from referee.cards import ALL_CARDS, RANK_MASKS, SUIT_MASKS, Cards, mask_of
from referee.variants import VARIANTS

FIVE = VARIANTS["bura-5"]
DISCARDS = {
    "open": [ActionKind.PLAY],
    "closed_all": [ActionKind.HIDE],
    "closed_optional": [ActionKind.PLAY, ActionKind.HIDE],
    "taker_looks": [ActionKind.PLAY, ActionKind.HIDE],
}


def hands(size: int) -> list[int]:
    """Return some hands of that many cards, the first of them in one suit or of one rank."""
    dice = random.Random(size)
    whole = [Cards(part) for part in (*SUIT_MASKS, *RANK_MASKS, ALL_CARDS)]
    return [mask_of(dice.sample(list(part), size)) for part in whole * 5 if len(part) >= size]


def sets(kind: ActionKind, cards: int, size: int) -> list[Action]:
    """Return the sets of so many of the cards, counted up from the lowest."""
    return [Action.of(kind, mask_of(each)) for each in itertools.combinations(Cards(cards), size)]


@pytest.mark.parametrize("size", range(1, 6))
@pytest.mark.parametrize("cap", [2, 5])
def test_leads_stand_by_suit_and_then_by_size(size: int, cap: int) -> None:
    """What is put together from two halves is in the order of suits, sizes and cards."""
    leads = choices.leads(FIVE, cap)
    for hand in hands(size):
        assert list(leads[hand]) == [
            lead
            for suit in SUIT_MASKS
            for many in range(1, cap + 1)
            for lead in sets(ActionKind.LEAD, hand & suit, many)
        ]


def test_offers_stand_by_rank_after_the_leads() -> None:
    """Offers of equal ranks follow the ordinary leads, and only those are left after a refusal."""
    rules = VARIANTS["burkozyol-same-rank"]
    both, ordinary = choices.leads(rules, 4), choices.ordinary_leads(rules, 4)
    for hand in hands(4):
        offers = [
            offer
            for rank in RANK_MASKS
            for many in (2, 3, 4)
            for offer in sets(ActionKind.OFFER, hand & rank, many)
        ]
        assert [*ordinary[hand], *offers] == list(both[hand])


@pytest.mark.parametrize("discards", DISCARDS)
@pytest.mark.parametrize("size", range(1, 6))
def test_answers_stand_by_kind_and_then_by_cards(discards: str, size: int) -> None:
    """A hand answers with as many cards as were led, or with all it has, open ones first."""
    answers = choices.answers(FIVE.replace(discards=discards), size)
    for held in range(1, 6):
        for hand in hands(held):
            assert list(answers[hand]) == [
                answer
                for kind in DISCARDS[discards]
                for answer in sets(kind, hand, min(size, held))
            ]


def test_hands_of_five_cards_are_not_kept() -> None:
    """Memory has a bound: there are some 400,000 hands of five cards, and 67,000 smaller ones."""
    answers = choices.answers(FIVE, 3)
    five, four = hands(5), hands(4)
    assert all(answers[hand] for hand in five + four)
    assert answers.keys().isdisjoint(five)
    assert answers.keys() >= set(four)
