from typing import Any

import pytest
from oracle import ending
from oracle.cards import beats, full_deck, in_order, points
from oracle.deal import Deal, deal, position
from oracle.options import VARIANTS, refusals, with_changes
from oracle.scoring import Match, burkozyol_charges, opened, series_scores
from oracle.sources import FixedSource, RandomSource, deck_for

BURA = VARIANTS["bura"]


def trick(variant: str, trump: str, lead: str, *responses: str) -> tuple[int, int]:
    """Play one trick without combinations and without a stock: its taker and its points."""
    options = with_changes(VARIANTS[variant], combinations=[])
    played = position(options, [lead, *responses], trump, 0)
    played.apply(0, "lead " + " ".join(in_order(lead.split())))
    for seat, cards in enumerate(responses, 1):
        played.apply(seat, "play " + " ".join(in_order(cards.split())))
    taker = played.last_taker
    assert taker is not None
    return taker, points(played.captured[taker])


def piles(totals: list[int], size: int = 36) -> list[list[str]]:
    """Share out a deck so that the piles have these points, the dearest cards first."""
    cards = sorted(full_deck(size), key=lambda card: -points([card]))
    shared: list[list[str]] = [[] for _ in totals]

    def place(at: int) -> bool:
        if at == len(cards):
            return [points(pile) for pile in shared] == totals
        for pile, total in zip(shared, totals, strict=True):
            if points([*pile, cards[at]]) <= total:
                pile.append(cards[at])
                if place(at + 1):
                    return True
                pile.pop()
        return False

    assert place(0)
    return shared


def counted(
    variant: str, totals: list[int], tricks: list[int] | None = None, **changes: Any
) -> dict[str, Any]:
    """Give the outcome of a deal played out with these points for the seats or sides."""
    options = with_changes(VARIANTS[variant], **changes)
    seats = [*totals, 0, 0] if options["sides"] == "pairs" else totals
    ended = Deal(options, len(seats), 0, FixedSource([]))
    ended.captured = piles(seats, options["deck"])
    ended.tricks = tricks or [1] * len(seats)
    ended.last_taker = 0
    return ending.by_points(ended)


def charges(variant: str, totals: list[int]) -> list[int]:
    """Give the charges of a deal of burkozyol_penalty."""
    return burkozyol_charges(VARIANTS[variant], counted(variant, totals))


def moves(played: Deal, *texts: str) -> dict[str, Any]:
    """Apply moves like "0 claim" and give the outcome."""
    for text in texts:
        seat, action = text.split(" ", 1)
        played.apply(int(seat), action)
    outcome = played.outcome()
    assert outcome is not None
    return outcome


def test_ruling_01_one_card_is_beaten_by_a_higher_one_or_a_trump() -> None:
    """A card is beaten in its suit or by a trump, not by an ace of another suit."""
    assert trick("bura", "H", "8S", "AS") == (1, 11)
    assert trick("bura", "H", "8S", "6H") == (1, 0)
    assert trick("bura", "H", "8S", "AD")[0] == 0


@pytest.mark.parametrize(("answer", "gained"), [("TS 6H", 14), ("TS AS", 25), ("TS JS", 16)])
def test_ruling_02_two_cards_are_beaten_by_any_pairing(answer: str, gained: int) -> None:
    """Two cards are beaten when some pairing beats both."""
    assert trick("bura", "H", "9S KS", answer) == (1, gained)


def test_ruling_03_one_card_unbeaten_and_the_leader_takes() -> None:
    """An ace covers only one card, and the eight covers none."""
    assert trick("bura", "H", "9S KS", "AS 8S") == (0, 15)


def test_ruling_04_trumps_are_beaten_by_higher_trumps_only() -> None:
    """Of two led trumps a plain ten beats none."""
    assert trick("bura", "H", "6H 7H", "8H TS") == (0, 10)
    assert trick("bura", "H", "6H 7H", "8H 9H")[0] == 1


def test_ruling_05_three_trumps_beat_three_plain_cards() -> None:
    """Three trumps beat king, ten and ace; a nine among the answers beats none of them."""
    assert trick("bura", "H", "TS KS AS", "6H 7H AH") == (1, 36)
    assert trick("bura", "H", "TS KS AS", "TH 9S 6H")[0] == 0


def test_ruling_06_the_third_beats_the_second() -> None:
    """With three seats the cards to beat are those of the last who beat."""
    assert trick("bura", "H", "7S", "9S", "JS")[0] == 2
    assert trick("bura", "H", "7S", "6H", "AS")[0] == 1


def test_ruling_07_the_third_beats_both_cards_of_the_second() -> None:
    """With three seats two cards must both beat the second's, not the lead."""
    assert trick("bura", "H", "7S 8S", "9S JS", "TS 6D")[0] == 1
    assert trick("bura", "H", "7S 8S", "9S JS", "TS AS")[0] == 2


def test_ruling_08_spades_are_immune_to_trumps() -> None:
    """In five-card Bura trumps do not beat spades, unless spades are trump themselves."""
    options = VARIANTS["bura-5"]
    assert not beats("AD", "6S", "D", options)
    assert beats("7S", "6S", "D", options)
    assert beats("6S", "8H", "S", options)
    assert beats("7S", "6S", "S", options)


@pytest.mark.parametrize(
    ("variant", "pile", "reason", "losers"),
    [
        ("bura", "AS TS TC", "claim", {1: 1}),
        ("bura", "AS TS KC KD 7C", "false_claim", {0: 2}),
        ("bura", "AS TS KD QD JH", "false_claim", {0: 2}),
        ("bura-basic", "AS TS KD QD JH", "false_claim", {0: 1}),
    ],
)
def test_ruling_09_a_claim_needs_thirty_one(
    variant: str, pile: str, reason: str, losers: dict[int, int]
) -> None:
    """Exactly 31 is enough; less loses with the weight of the variant."""
    played = position(VARIANTS[variant], ["6C 7D 8S", "9C JD 7S"], "H", 0, captured=[pile, ""])
    outcome = moves(played, "0 claim")
    assert (outcome["reason"], outcome["losers"]) == (reason, losers)


def test_ruling_10_the_last_taker_may_still_claim() -> None:
    """31 reached on the last trick wins by a final claim; without one the deal is void."""
    for last, reason, winners in [("claim", "claim", [1]), ("pass", "void", [])]:
        played = position(BURA, ["9S", "AS"], "H", 0, captured=["", "TS TD"])
        outcome = moves(played, "0 lead 9S", "1 play AS", f"1 {last}")
        assert (outcome["reason"], outcome["winners"]) == (reason, winners)


def test_ruling_11_a_bura_wins_but_a_claim_goes_first() -> None:
    """A drawn bura wins at once, after a claim of the seat due to lead or before it."""
    hands = ["7C 7D 8S", "6H 9H AH"]
    piles_now = ["AS TS TC", ""]
    played = position(BURA, hands, "H", 0, captured=piles_now)
    assert moves(played, "0 claim")["winners"] == [0]
    played = position(BURA, hands, "H", 0, captured=piles_now)
    outcome = moves(played, "0 lead 7C", "1 pass")
    assert (outcome["reason"], outcome["winners"]) == ("combination", [1])
    first = with_changes(BURA, claim_vs_combination="combination_first")
    outcome = position(first, hands, "H", 0, captured=piles_now).outcome()
    assert outcome is not None
    assert (outcome["detail"], outcome["winners"]) == ("bura", [1])


def winner_of(options: dict[str, Any], hands: list[str], trump: str = "H") -> list[int]:
    """Give the winners when nobody claims and the first seat is to move."""
    played = position(options, hands, trump, 0)
    while played.outcome() is None:
        for seat in played.asked():
            played.apply(seat, next(text for text in played.legal(seat) if text != "claim"))
    outcome = played.outcome()
    assert outcome is not None
    assert outcome["reason"] == "combination"
    return list(outcome["winners"])


def test_ruling_12_the_second_bura_must_cover_the_first() -> None:
    """The seat to move wins unless each of its cards is covered; or the higher top card wins."""
    assert winner_of(BURA, ["6H 9H JH", "7H TH AH"]) == [1]
    assert winner_of(BURA, ["6H AH TH", "7H 9H JH"]) == [0]
    assert winner_of(VARIANTS["bura-bg"], ["6H 9H JH", "7H TH AH"]) == [1]
    assert winner_of(VARIANTS["bura-bg"], ["6H AH TH", "7H 9H JH"]) == [0]


def test_ruling_13_moscow_stands_above_bura() -> None:
    """Three aces beat a bura, but not when the trump ace is asked for and missing."""
    hands = ["6H 7H 8H", "AC AD AS"]
    assert winner_of(BURA, hands) == [1]
    assert winner_of(with_changes(BURA, moscow="with_trump_ace"), hands) == [0]


def test_ruling_14_a_stop_takes_the_lead_unseen() -> None:
    """A stop leads its cards, the dropped lead is never seen, and a little moscow goes first."""
    played = position(BURA, ["AC TD 9D", "7S TS AS"], "H", 0)
    played.apply(1, "stop 7S TS AS")
    played.apply(0, "lead AC")
    assert played.table[0]["cards"] == ["7S", "TS", "AS"]
    assert played.leader == 1
    assert played.asked() == [0]
    assert "AC" in played.hands[0]
    assert "AC" not in str(played.knowledge(1))
    played = position(BURA, ["6C 6D 6H", "7S TS AS"], "H", 0)
    played.apply(0, "lead 6C 6D 6H")
    played.apply(1, "stop 7S TS AS")
    assert (played.leader, played.asked()) == (0, [1])
    lost = [event for event in played.knowledge(0)["events"] if event["kind"] == "stop_lost"]
    assert [(event["seat"], event["detail"]) for event in lost] == [(1, "molodka")]
    assert "AS" not in str(played.knowledge(0))


def test_ruling_15_equal_stops_leave_the_turn_with_a_whole_lead() -> None:
    """The seat to move keeps its turn by leading all of its molodka, not by leading one card."""
    for lead, leader in [("lead 8C 9C TC", 0), ("lead 8C", 1)]:
        played = position(BURA, ["8C 9C TC", "7S TS AS"], "H", 0)
        played.apply(0, lead)
        played.apply(1, "stop 7S TS AS")
        assert played.leader == leader


def test_ruling_16_a_dealt_molodka_is_dealt_again() -> None:
    """A molodka in the dealt hands is dealt again, with the same dealer and leader."""
    dealt = deck_for([["7S", "TS", "AS"], ["6C", "7D", "8H"]], 0, ["9H"])
    again = deck_for([["7S", "TD", "AS"], ["6C", "7D", "8H"]], 0, ["9H"])
    played = deal(BURA, 2, 0, FixedSource([dealt, again]))
    assert played.hands[0] == ["TD", "7S", "AS"]
    assert (played.dealer, played.leader) == (0, 1)
    assert "TS" not in str(played.knowledge(1))


@pytest.mark.parametrize(
    ("hand", "losers"),
    [
        ("AH TH AS TS", {0: 2}),
        ("TC TD TH TS", None),
        ("AC AD AS TC", None),
        ("AC TC TD TH", {0: 2}),
    ],
)
def test_ruling_17_moscow_of_four(hand: str, losers: dict[int, int] | None) -> None:
    """Moscow of four is aces and tens with at least one ace and at least one trump."""
    outcome = position(VARIANTS["burkozyol"], ["6C 7D 8S 9S", hand], "H", 0).outcome()
    assert (outcome and outcome["losers"]) == losers


def test_ruling_18_pass_marks_and_svaras() -> None:
    """Below the pass mark the weight is 2; a svara doubles the next decided deal."""
    assert counted("burkozyol", [90, 30])["losers"] == {1: 2}
    assert counted("burkozyol", [89, 31])["losers"] == {1: 1}
    assert counted("burkozyol", [60, 60])["reason"] == "draw"
    assert counted("burkozyol", [80, 21, 19])["losers"] == {1: 1, 2: 2}
    four = [40, 31, 30, 19]
    assert counted("burkozyol", four)["losers"] == {1: 1, 2: 2, 3: 2}
    assert counted("burkozyol", four, four_singles_mark=21)["losers"] == {1: 1, 2: 1, 3: 2}
    once = Match(VARIANTS["burkozyol"], 2, FixedSource([]))
    for totals in [[60, 60], [60, 60], [89, 31]]:
        once.record(counted("burkozyol", totals), 0)
    assert once.totals == [0, 4]
    eyes = Match(with_changes(VARIANTS["burkozyol-eyes"], limit=99), 4, FixedSource([]))
    for totals in [[60, 60], [60, 60], [70, 50]]:
        eyes.record(counted("burkozyol-eyes", totals), 0)
    assert eyes.totals == [16, 8, 16, 8]


def test_ruling_19_a_turned_end_is_buried_or_redrawn() -> None:
    """A turned ace goes back unseen; or another card is turned and molodka becomes a stop."""
    hands = [["6C", "7C", "8C", "9C"], ["6D", "7D", "8H", "9H"]]
    deck = deck_for(hands, 0, ["AS", "JD"])
    buried = deal(VARIANTS["burkozyol"], 2, 0, FixedSource([deck], {"bury": [9]}), 1)
    assert (buried.trump, buried.stock.index("AS")) == ("S", 9)
    assert len(buried.stock) == 28
    other = deal(VARIANTS["burkozyol"], 2, 0, FixedSource([deck], {"bury": [20]}), 1)
    assert other.stock.index("AS") == 20
    assert [buried.knowledge(seat) for seat in (0, 1)] == [other.knowledge(seat) for seat in (0, 1)]
    queue = deal(VARIANTS["burkozyol-queue"], 2, 0, FixedSource([deck], {"bury": [9]}), 1)
    assert (queue.trump, queue.indicator, queue.stock[-1]) == ("D", "JD", "JD")
    assert queue.knowledge(1)["end_turned"]
    assert queue.legal(0) == ["stop 6C 7C 8C 9C", "pass"]
    plain = deck_for(hands, 0, ["JD"])
    waits = deal(VARIANTS["burkozyol-queue"], 2, 0, FixedSource([plain]), 1)
    assert waits.legal(0) == ["pass"]


def test_ruling_20_charges_of_the_belarusian_burkozyol() -> None:
    """The most points are charged nothing, then 2, 4 below the mark, 6 without points."""
    assert charges("burkozyol-by", [70, 50]) == [0, 2]
    assert charges("burkozyol-by", [95, 25]) == [0, 4]
    assert charges("burkozyol-by", [120, 0]) == [0, 6]
    assert charges("burkozyol-by", [60, 40, 20]) == [0, 2, 4]


def test_ruling_21_a_short_stock_is_set_aside() -> None:
    """With five seats one card is left undrawn; two cards cannot be led, three can."""
    kozel = VARIANTS["kozel"]
    played = deal(kozel, 5, 0, RandomSource(1, 36))
    assert len(played.stock) == 16
    left = []
    while played.outcome() is None:
        seat = played.asked()[0]
        if seat == played.leader and not played.table:
            left.append(len(played.stock))
        played.apply(seat, played.legal(seat)[0])
    outcome = played.outcome()
    assert outcome is not None
    assert left == [16, 11, 6, 1, 1, 1, 1]
    assert sum(outcome["points"]) == 120
    leads = position(kozel, ["6S 8S TS 7D", "6C 7C 8C 9D"], "H", 0).legal(0)
    assert "lead 6S 8S TS" in leads
    assert all(len(text.split()) in (2, 4) for text in leads)


@pytest.mark.parametrize(
    ("totals", "tricks", "each_side", "winner_only"),
    [
        ([89, 31], 1, [4, 2], [2, 0]),
        ([95, 25], 1, [4, 0], [4, 0]),
        ([120, 0], 1, [6, 0], [6, 0]),
        ([120, 0], 0, [8, 0], [8, 0]),
        ([60, 60], 1, [0, 0], [0, 0]),
    ],
)
def test_ruling_22_eyes(
    totals: list[int], tricks: int, each_side: list[int], winner_only: list[int]
) -> None:
    """A side opens eyes by its own points, or the winners only; 6 and 8 for nothing at all."""
    outcome = counted("burkozyol-eyes", totals, [1, tricks, 0, 0])
    for eyes, expected in [("each_side", each_side), ("winner_only", winner_only)]:
        options = with_changes(VARIANTS["burkozyol-eyes"], eyes=eyes)
        assert [opened(options, outcome, seat) for seat in (0, 1)] == expected
        match = Match(options, 4, FixedSource([]))
        match.record(outcome, 0)
        assert match.carry == (2 if totals == [60, 60] else 1)


def result(
    reason: str, winners: list[int], losers: dict[int, int], seats: int, taker: int = 0
) -> dict[str, Any]:
    """Write down an outcome of a deal without points."""
    return {
        "reason": reason,
        "detail": "",
        "winners": winners,
        "losers": losers,
        "points": [0] * seats,
        "tricks": [0] * seats,
        "last_taker": taker,
        "out_of_play": [],
    }


def test_ruling_23_the_bank_grows_by_false_claims_and_voids() -> None:
    """A false claim doubles the bank without new antes; an unclaimed deal adds antes."""
    match = Match(VARIANTS["bura-bank"], 3, FixedSource([], {"lot": [2]}))
    assert match.next_deal()["bank"] == 3
    match.record(result("false_claim", [1, 2], {0: 2}, 3), 0)
    again = match.next_deal()
    assert (again["bank"], again["dealer"], again["leader"]) == (6, 2, 0)
    assert match.totals == [-4, -1, -1]
    match.record(result("void", [], {}, 3), 0)
    assert match.next_deal()["bank"] == 9
    match.record(result("claim", [1], {0: 1, 2: 1}, 3), 0)
    assert match.totals == [-5, 7, -2]


def test_ruling_24_penalty_with_elimination() -> None:
    """Each loser is charged 2, a false claimant 4, and at 12 a seat is out."""
    options = with_changes(VARIANTS["bura-by"], on_limit="eliminate")
    match = Match(options, 3, FixedSource([]))
    match.record(result("claim", [2], {0: 1, 1: 1}, 3), 0)
    assert match.totals == [2, 2, 0]
    match.record(result("false_claim", [0, 1], {2: 2}, 3), 0)
    assert match.totals == [2, 2, 4]
    for _ in range(2):
        match.record(result("false_claim", [0, 1], {2: 2}, 3), 0)
    assert match.totals == [2, 2, 12]
    assert match.next_deal()["seats"] == [0, 1]
    assert not match.over


def test_ruling_25_a_robber_needs_a_margin_of_two() -> None:
    """11 to 10 is not over, 12 to 10 is."""
    options = with_changes(BURA, match_format="robber", robber_target=11)
    match = Match(options, 2, FixedSource([]))
    match.totals = [10, 10]
    match.record(result("claim", [0], {1: 1}, 2), 0)
    assert (match.totals, match.over) == ([11, 10], False)
    match.record(result("claim", [0], {1: 1}, 2), 0)
    assert (match.totals, match.over, match.winners) == ([12, 10], True, [0])


def test_ruling_26_a_declined_raise_costs_the_stake_as_it_stood() -> None:
    """A declined raise to 2 costs 1; raised to 3 by the other and declined it costs 2."""
    hands = ["6C 7D 8S", "9C JD 7S"]
    dave = VARIANTS["bura-dave"]
    outcome = moves(position(dave, hands, "H", 0), "0 lead 6C", "1 pass", "0 raise", "1 decline")
    assert (outcome["reason"], outcome["winners"]) == ("declined", [0])
    assert outcome["losers"] == {1: 1}
    outcome = moves(
        position(dave, hands, "H", 0), "0 lead 6C", "1 pass", "0 raise", "1 raise", "0 decline"
    )
    assert (outcome["winners"], outcome["losers"]) == ([1], {0: 2})
    assert series_scores(dave, outcome) == [-2, 2]


def test_ruling_27_cards_of_one_rank_are_answered_card_by_card() -> None:
    """Three offered and accepted eights are beaten each in its suit or by a trump."""
    same = VARIANTS["burkozyol-same-rank"]
    played = position(same, ["8C 8D 8S KD", "9C 6H JS 7D"], "H", 0)
    played.apply(0, "offer 8C 8D 8S")
    played.apply(1, "pass")
    assert played.asked() == [1]
    assert played.knowledge(1)["offered"] == 3
    assert "8C" not in str(played.knowledge(1))
    played.apply(1, "accept")
    played.apply(1, "play 9C 6H JS")
    assert played.last_taker == 1
    assert len(played.captured[1]) == 6


def test_ruling_28_a_bura_that_covers_two_cards_of_three_is_not_enough() -> None:
    """One uncovered card keeps the win with the seat to move; by the top card the other wins."""
    hands = ["6H 9H TH", "7H 8H AH"]
    assert winner_of(BURA, hands) == [0]
    assert winner_of(with_changes(BURA, bura_tie="highest_card"), hands) == [1]


def test_ruling_29_the_fourth_card_stays_in_hand() -> None:
    """Moscow of three aces leads the aces only, and the draw refills three."""
    options = VARIANTS["burkozyol-by"]
    hands = ["6C 7D 8S 9S", "AC AD AS 7H"]
    played = position(options, hands, "H", 0, stock="6D 8D 9D 6S 7S 6H")
    played.apply(0, "lead 6C")
    played.apply(1, "stop AC AD AS")
    assert played.hands[1] == ["7H"]
    played.apply(0, "play 6C 7D 8S")
    assert played.hands == [["8D", "6H", "6S", "9S"], ["6D", "9D", "7H", "7S"]]


def test_every_variant_is_possible_for_its_seats() -> None:
    """No named variant is refused for the numbers of seats it allows."""
    for options in VARIANTS.values():
        for seats in options["players"]:
            assert refusals(options, seats) == []
