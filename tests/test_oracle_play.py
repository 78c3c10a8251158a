import random
from typing import Any

import pytest
from oracle.cards import full_deck, in_order
from oracle.deal import Deal, deal
from oracle.options import VARIANTS, with_changes
from oracle.scoring import series_scores
from oracle.sources import RandomSource

CASES = [(name, seats) for name, options in VARIANTS.items() for seats in options["players"]]

CHANGES: list[tuple[str, int, dict[str, Any]]] = [
    ("bura", 5, {"short_stock": "deal_out"}),
    ("bura-32", 6, {"short_stock": "deal_out", "short_hand": "cap_lead"}),
    ("bura-dave", 4, {"claim_window": "on_any_turn", "discards": "closed_all"}),
    ("bura-dave", 5, {"short_stock": "deal_out", "draw_order": "fill_in_turn"}),
    ("bura", 4, {"sides": "pairs", "claim_window": "after_taking", "raise": "dave"}),
    ("bura", 3, {"first_lead": "colour_guess", "claim_vs_combination": "combination_first"}),
    ("burkozyol-queue", 3, {"stop_block": "held", "first_lead": "colour_guess"}),
    ("burkozyol-by", 3, {"stop_block": "held", "same_rank_leads": "ask"}),
    ("bura-5", 2, {"indicator": "shuffled", "low_rank_order": "9876"}),
]


def all_cards(played: Deal) -> list[str]:
    """Gather the cards of hands, stock, table and piles."""
    lists = [*played.hands, played.stock, *played.captured, *played.removed.values()]
    return [card for cards in lists for card in cards] + [
        card for play in played.table for card in play["cards"]
    ]


def play_at_random(options: dict[str, Any], seats: int, seed: int) -> Deal:
    """Play a deal by chance, seldom claiming, checking the cards and the views on the way."""
    chance = random.Random(seed)
    played = deal(options, seats, seed % seats, RandomSource(seed, options["deck"]))
    while played.outcome() is None:
        if not played.declined:
            assert in_order(all_cards(played)) == full_deck(options["deck"])
        for seat in range(seats):
            known = played.knowledge(seat)["known_in_hands"]
            assert all(card in played.hands[other] for other in known for card in known[other])
        seat = chance.choice(played.asked())
        legal = played.legal(seat)
        quiet = [text for text in legal if text not in ("claim", "decline")]
        played.apply(seat, chance.choice(quiet if chance.random() < 0.95 else legal))
    return played


@pytest.mark.parametrize(("name", "seats"), CASES)
def test_every_variant_plays_to_an_end(name: str, seats: int) -> None:
    """A deal of any variant ends, no card is lost, and the series scores sum to 0."""
    for seed in range(3):
        outcome = play_at_random(VARIANTS[name], seats, seed).outcome()
        assert outcome is not None
        assert sum(series_scores(VARIANTS[name], outcome)) == 0


@pytest.mark.parametrize(("name", "seats", "changes"), CHANGES)
def test_rare_options_play_to_an_end(name: str, seats: int, changes: dict[str, Any]) -> None:
    """The options no named variant uses also lead to an end without losing cards."""
    options = with_changes(VARIANTS[name], **changes)
    for seed in range(20):
        outcome = play_at_random(options, seats, seed).outcome()
        assert outcome is not None
        assert sum(series_scores(options, outcome)) == 0
