import pytest
from positions import deck_of, endgame, options, play, position

from referee.cards import Cards, parse_card
from referee.rules import Combination, EventKind, FixedSource, Outcome, Reason, Rules, State, deal
from referee.variants import VARIANTS
from referee.view import observe

BURA, BASIC, BURA_BG = VARIANTS["bura"], VARIANTS["bura-basic"], VARIANTS["bura-bg"]
BURKOZYOL, BY = VARIANTS["burkozyol"], VARIANTS["burkozyol-by"]
QUEUE, SAME_RANK = VARIANTS["burkozyol-queue"], VARIANTS["burkozyol-same-rank"]
OPEN = BURA.replace(discards="open", combinations=(Combination.BURA,))
"""The cards and duels of bura without windows, for rulings on what beats what."""


def trick(lead: str, *answers: str, hands: tuple[str, ...], turned: str = "8H") -> State:
    """Play one trick of cards laid open."""
    rules = OPEN.replace(players=(2, 3), dealt_combination="stands", combinations=())
    state = position(rules, *hands, turned=turned)
    play(state, f"0 lead {lead}")
    for seat, answer in enumerate(answers, 1):
        play(state, f"{seat} play {answer}")
    return state


def taken(state: State) -> tuple[int | None, int]:
    """Return who took the trick and its points."""
    taker = state.last_taker
    assert taker is not None
    values = dict(zip("JQKTA", (2, 3, 4, 10, 11), strict=True))
    pile = str(Cards(state.captured[taker])).split()
    return taker, sum(values.get(word[0], 0) for word in pile)


@pytest.mark.parametrize(("answer", "expected"), [("AS", (1, 11)), ("6H", (1, 0)), ("AD", (0, 11))])
def test_ruling_1_one_card(answer: str, expected: tuple[int, int]) -> None:
    """A higher card of the suit and a trump beat 8S; a plain ace does not."""
    state = trick("8S", answer, hands=("8S 7C 7D", "AS 6H AD"))

    assert taken(state) == expected


@pytest.mark.parametrize(
    ("answer", "expected"), [("TS 6H", (1, 14)), ("TS AS", (1, 25)), ("TS JS", (1, 16))]
)
def test_ruling_2_two_cards_beaten(answer: str, expected: tuple[int, int]) -> None:
    """Two cards are beaten if they can be paired off with different cards that beat them."""
    other = next(card for card in ("6H", "AS", "JS") if card not in answer)
    state = trick("9S KS", answer, hands=("9S KS 7D", f"{answer} {other}"))

    assert taken(state) == expected


def test_ruling_3_one_card_left_unbeaten() -> None:
    """9S KS against AS 8S: the 8 beats neither, so the leader takes 15."""
    state = trick("9S KS", "AS 8S", hands=("9S KS 7D", "AS 8S 6C"))

    assert taken(state) == (0, 15)


def test_ruling_4_trumps_led() -> None:
    """6H 7H are beaten by two higher trumps, not by one and a plain ten."""
    one = trick("6H 7H", "8H TS", hands=("6H 7H 7D", "8H TS 6C"), turned="QH")
    two = trick("6H 7H", "8H 9H", hands=("6H 7H 7D", "8H 9H 6C"), turned="QH")

    assert taken(one) == (0, 10)
    assert taken(two)[0] == 1


def test_ruling_5_three_cards() -> None:
    """Three trumps beat KS TS AS for 36 points; 9S among the answers beats none of them."""
    beaten = trick("KS TS AS", "AH 6H 7H", hands=("KS TS AS", "AH 6H 7H"))
    kept = trick("KS TS AS", "TH 9S 6H", hands=("KS TS AS", "TH 9S 6H"))

    assert taken(beaten) == (1, 36)
    assert taken(kept)[0] == 0


@pytest.mark.parametrize(
    ("answers", "taker"), [(("9S", "JS"), 2), (("6H", "AS"), 1)], ids=["higher", "trump"]
)
def test_ruling_6_the_last_who_beat(answers: tuple[str, str], taker: int) -> None:
    """The third seat must beat what the second beat with."""
    hands = ("7S 7C 7D", f"{answers[0]} 8C 8D", f"{answers[1]} 9C 9D")
    state = trick("7S", *answers, hands=hands)

    assert state.last_taker == taker


@pytest.mark.parametrize(("answer", "taker"), [("TS 6D", 1), ("TS AS", 2)])
def test_ruling_7_two_cards_of_the_second(answer: str, taker: int) -> None:
    """9S JS beat 7S 8S; the third needs to beat both of them."""
    hands = ("7S 8S 7C", "9S JS 8C", f"{answer} 9C")
    state = trick("7S 8S", "9S JS", answer, hands=hands)

    assert state.last_taker == taker


@pytest.mark.parametrize(
    ("turned", "lead", "answer", "taker"),
    [
        ("8D", "6S", "AD", 0),
        ("8D", "6S", "7S", 1),
        ("9S", "8H", "6S", 1),
        ("9S", "6S", "7S", 1),
    ],
)
def test_ruling_8_spades_are_immune(turned: str, lead: str, answer: str, taker: int) -> None:
    """In bura-5 only a higher spade beats a spade; as trumps spades beat as ever."""
    hands = (f"{lead} 7C 8C 9C JD", f"{answer} 6C JC QC KD")
    state = position(VARIANTS["bura-5"], *hands, turned=turned)
    while state.asked == (0, 1):
        play(state, f"0 lead {lead}", "1 pass")
    play(state, f"1 play {answer}")

    assert state.last_taker == taker


@pytest.mark.parametrize(
    ("rules", "pile", "reason", "losers"),
    [
        (BURA, "AS TS TD", Reason.CLAIM, ((1, 1),)),
        (BURA, "AS TS KC QC JC", Reason.FALSE_CLAIM, ((0, 2),)),
        (BASIC, "AS TS KC QC JC", Reason.FALSE_CLAIM, ((0, 1),)),
    ],
)
def test_ruling_9_claims(
    rules: Rules, pile: str, reason: Reason, losers: tuple[tuple[int, int], ...]
) -> None:
    """31 points are enough for a claim; with 30 it is false and costs what the rules say."""
    state = position(rules, "6C 7D 8S", "7C 8D 9S", captured=[pile])
    play(state, "0 claim")

    assert state.outcome is not None
    assert (state.outcome.reason, state.outcome.losers) == (reason, losers)


@pytest.mark.parametrize(("choice", "reason"), [("claim", Reason.CLAIM), ("pass", Reason.VOID)])
def test_ruling_10_the_final_claim(choice: str, reason: Reason) -> None:
    """31 reached on the last trick win by the final claim only."""
    state = endgame(BURA, "AS", "TS", captured=["TD", "6C"])
    play(state, "0 lead AS", "1 play TS", f"0 {choice}")

    assert state.outcome is not None
    assert state.outcome.reason is reason


def bura_after_the_draw(claim_vs_combination: str) -> State:
    """Let seat 0, with 31 captured, take a trick after which seat 1 draws a bura."""
    rules = BURA.replace(claim_vs_combination=claim_vs_combination)
    hands = ("AS 7D 8C", "6H 9H 6S")
    state = position(rules, *hands, turned="7H", then="7C AH", captured=["TC TD AD"])
    return play(state, "0 lead AS", "1 pass", "1 play 6S")


@pytest.mark.parametrize(
    ("order", "choices", "winner"),
    [
        ("claim_first", ("0 claim",), 0),
        ("claim_first", ("0 lead 7D", "1 pass"), 1),
        ("combination_first", (), 1),
    ],
)
def test_ruling_11_bura_after_the_draw(order: str, choices: tuple[str, ...], winner: int) -> None:
    """A bura wins at once; a claim of the seat due to lead goes first where the rules say so."""
    state = play(bura_after_the_draw(order), *choices)

    assert state.outcome is not None
    assert state.outcome.winners == (winner,)


def winner_of_combinations(rules: Rules, first: str, second: str, turned: str = "8H") -> int:
    """Return who wins when both hands are dealt and stand."""
    rules = rules.replace(dealt_combination="stands")
    state = position(rules, first, second, turned=turned)
    while state.outcome is None:
        lead = next(action for action in state.legal_actions(0) if str(action) != "claim")
        play(state, f"0 {lead}", "1 pass")
    (winner,) = state.outcome.winners
    return winner


@pytest.mark.parametrize(
    ("rules", "first", "second", "winner"),
    [
        (BURA, "6H 9H JH", "7H TH AH", 1),
        (BURA, "6H AH TH", "7H 9H JH", 0),
        (BURA_BG, "6H 9H JH", "7H TH AH", 1),
        (BURA_BG, "6H AH TH", "7H 9H JH", 0),
        (BURA.replace(bura_tie="leader"), "6H 9H JH", "7H TH AH", 0),
    ],
)
def test_ruling_12_two_buras(rules: Rules, first: str, second: str, winner: int) -> None:
    """The seat to move wins unless it is covered; in bura-bg the higher top card does."""
    assert winner_of_combinations(rules, first, second) == winner


def test_ruling_13_moscow_against_bura() -> None:
    """Three aces win over a bura; where the trump ace is wanted they are no moscow."""
    hands = ("6H 7H 9H", "AC AD AS")

    assert winner_of_combinations(BURA, *hands) == 1
    assert winner_of_combinations(BURA.replace(moscow="with_trump_ace"), *hands) == 0


STANDS = BURA.replace(dealt_combination="stands")


def test_ruling_14_stop() -> None:
    """A stop leads the whole molodka; the lead it displaces is seen by nobody."""
    state = position(STANDS, "6C 8D 9H", "7S TS AS", turned="8H")
    play(state, "1 stop 7S TS AS", "0 lead 9H")

    assert state.leader == 1
    assert state.table == ((1, Cards.parse("7S TS AS"), True, True),)
    assert state.hands[0] == Cards.parse("6C 8D 9H")
    nine = Cards.parse("9H")
    assert not any(cards & nine for kind, _, cards, _, _ in state.events if kind > EventKind.DEAL)


def test_ruling_14_little_moscow_goes_before_molodka() -> None:
    """The seat due to lead keeps its turn by leading three sixes, one of them of trumps, whole."""
    state = position(STANDS, "6C 6D 6H", "7S TS AS", turned="8H")
    play(state, "1 stop 7S TS AS", "0 lead 6C 6D 6H")

    assert state.leader == 0
    assert (EventKind.STOP_LOST, 1, 0, 0, 4) in state.events


@pytest.mark.parametrize(("lead", "leader"), [("7C TC AC", 0), ("7C", 1)])
def test_ruling_15_molodka_against_molodka(lead: str, leader: int) -> None:
    """The seat to move keeps its turn if it leads its molodka whole, not if it leads less."""
    state = position(STANDS, "7C TC AC", "7S TS AS", turned="8H")
    play(state, f"0 lead {lead}", "1 stop 7S TS AS")

    assert state.leader == leader


def test_ruling_16_a_dealt_molodka_is_dealt_again() -> None:
    """The cards are dealt again with the same dealer and leader, and nobody is told why."""
    first = deck_of(BURA, ("7S TS AS", "6C 8D 9H"), dealer=1, turned="8H")
    second = deck_of(BURA, ("7S TS AC", "6C 8D 9H"), dealer=1, turned="8H")
    state = deal(BURA, seats=2, dealer=1, source=FixedSource([first, second]))

    assert state.hands[0] == Cards.parse("7S TS AC")
    assert (state.dealer, state.leader) == (1, 0)
    assert state.events[0] == (EventKind.REDEAL, -1, 0, 0, 0)


@pytest.mark.parametrize(
    ("hand", "moscow"),
    [
        ("AH TH AS TS", True),
        ("TC TD TH TS", False),
        ("AC AD AS TC", False),
        ("AC TC TD TH", True),
    ],
)
def test_ruling_17_moscow_of_four(hand: str, moscow: bool) -> None:  # noqa: FBT001
    """Aces and tens with an ace and a trump win doubly; without either they do not."""
    state = position(BURKOZYOL, "6C 7D 8S 9C", hand, turned="8H")

    won = (Reason.COMBINATION, ((0, 2),))
    outcome = state.outcome
    assert (outcome is not None and (outcome.reason, outcome.losers) == won) == moscow


PILES = {
    90: "AC TC KC QC JC AD TD KD QD JD AH TH KH QH JH",
    30: "AS TS KS QS JS",
    89: "AC TC KC QC JC AD TD KD QD JD AH TH AS JS QS",
    31: "KH QH JH TS KS 6C",
    60: "AC TC KC QC JC AD TD KD QD JD",
}


@pytest.mark.parametrize(
    ("totals", "losers"),
    [
        ((90, 30), ((1, 2),)),
        ((89, 31), ((1, 1),)),
        ((60, 60), ()),
        ((80, 21, 19), ((1, 1), (2, 2))),
        ((40, 31, 30, 19), ((1, 1), (2, 2), (3, 2))),
    ],
)
def test_ruling_18_pass_marks(totals: tuple[int, ...], losers: tuple[tuple[int, int], ...]) -> None:
    """A loss below the pass mark is doubled; all sides level is a draw."""
    outcome = settled(BURKOZYOL, totals)

    assert outcome.losers == losers
    assert outcome.reason is (Reason.MOST_POINTS if losers else Reason.DRAW)


def test_ruling_18_four_singles_mark() -> None:
    """With four_singles_mark 21 a loss of 30 points is single."""
    outcome = settled(BURKOZYOL.replace(four_singles_mark=21), (40, 31, 30, 19))

    assert outcome.losers == ((1, 1), (2, 1), (3, 2))


def settled(rules: Rules, totals: tuple[int, ...]) -> Outcome:
    """Share all cards out so that the seats captured these totals, and settle the deal."""
    seats = len(totals)
    hands = [f"{rank}{suit}" for rank, suit in zip("6666", "CDHS", strict=True)][:seats]
    piles = share_out(totals)
    state = endgame(rules, *hands, captured=piles)
    play(state, f"0 lead {hands[0]}", *(f"{s} play {hands[s]}" for s in range(1, seats)))
    assert state.outcome is not None
    assert state.outcome.points == totals
    return state.outcome


def share_out(totals: tuple[int, ...]) -> list[str]:
    """Find piles of the counting cards that are worth the totals."""
    cards = [f"{rank}{suit}" for rank in "ATKQJ" for suit in "CDHS"]
    worth = dict(zip("ATKQJ", (11, 10, 4, 3, 2), strict=True))

    def search(left: tuple[int, ...], at: int) -> list[list[str]] | None:
        if at == len(cards):
            return [[] for _ in left] if not any(left) else None
        value = worth[cards[at][0]]
        for seat, points in enumerate(left):
            if points >= value:
                found = search((*left[:seat], points - value, *left[seat + 1 :]), at + 1)
                if found is not None:
                    found[seat].append(cards[at])
                    return found
        return None

    piles = search(totals, 0)
    assert piles is not None
    return [" ".join(pile) for pile in piles]


def test_ruling_19_a_buried_end() -> None:
    """An ace turned up goes back unseen; its suit stays trump and no view shows its place."""
    hands = ("6C 7D 8S 9C", "6D 7C 8D 9S")
    state = position(BURKOZYOL, *hands, turned="AS", indexes={"bury": [5]})

    assert state.trump == parse_card("AS") // 9
    assert state.stock[5] == parse_card("AS")
    assert [observe(state, seat).indicator for seat in (0, 1)] == [None, None]


def test_ruling_19_an_end_turned_lets_molodka_stop() -> None:
    """In burkozyol-queue another card is turned, and molodka becomes a stop in this deal."""
    hands = ("6C 7D 8S 9C", "6D 8D 9D JD")
    after_end = position(QUEUE, *hands, turned="AS", then="7H", indexes={"bury": [3]})
    without = position(QUEUE, *hands, turned="7H")

    assert after_end.trump == without.trump
    assert after_end.stock[3] == parse_card("AS")
    assert options(after_end, 1) == {"pass", "stop 6D 8D 9D JD"}
    assert options(without, 1) == {"pass"}


@pytest.mark.parametrize("totals", [(70, 50), (95, 25), (120, 0), (60, 40, 20)])
def test_ruling_20_points_and_tricks_reach_the_score(totals: tuple[int, ...]) -> None:
    """The outcome of burkozyol-by carries the points that the charges are made of."""
    outcome = settled(BY, totals)

    assert outcome.winners == (0,)


def test_ruling_21_kozel_leaves_one_card() -> None:
    """After three full rounds of five seats one card is never drawn, and leads are 1 or 3."""
    kozel = VARIANTS["kozel"]
    hands = (
        "6C 7C 8C 6D",
        "9C JC 7D 8D",
        "QC KC 9D JD",
        "TC 6S QD KD",
        "AC 7S TD AD",
    )
    state = position(kozel, *hands, turned="6H")
    leads = {text.count(" ") for text in options(state, 0)}
    assert leads == {1, 3}
    while sum(hand.bit_count() for hand in state.hands) == 20:
        for _ in range(5):
            seat = state.asked[0]
            play(state, f"{seat} {state.legal_actions(seat)[0]}")

    assert len(state.stock) == 1


@pytest.mark.parametrize(
    ("choices", "winners", "losers"),
    [
        (("0 raise", "1 decline"), (0,), ((1, 1),)),
        (("0 raise", "1 raise", "0 decline"), (1,), ((0, 2),)),
    ],
)
def test_ruling_26_dave(
    choices: tuple[str, ...], winners: tuple[int, ...], losers: tuple[tuple[int, int], ...]
) -> None:
    """Who declines a raise loses the stake as it stood."""
    state = position(VARIANTS["bura-dave"], "6C 8D 9S", "7C 9D JS")
    play(state, "0 lead 6C", "1 pass", *choices)

    assert state.outcome is not None
    assert (state.outcome.reason, state.outcome.winners) == (Reason.DECLINED, winners)
    assert state.outcome.losers == losers


def test_ruling_27_same_rank() -> None:
    """Three eights offered and accepted are beaten card by card."""
    state = position(SAME_RANK, "8C 8D 8S 7C", "9C 6H JS 7D", turned="9H")
    play(state, "0 offer 8C 8D 8S", "1 pass", "1 accept", "1 play 9C 6H JS")

    assert state.last_taker == 1


@pytest.mark.parametrize(("rules", "winner"), [(BURA, 0), (BURA_BG, 1)])
def test_ruling_28_a_bura_not_covered(rules: Rules, winner: int) -> None:
    """8H covers neither 9H nor TH beside 7H and AH, so the seat to move wins."""
    assert winner_of_combinations(rules, "6H 9H TH", "7H 8H AH", turned="QH") == winner


def test_ruling_29_three_aces_of_four() -> None:
    """The stop leads the three aces, the fourth card stays, and the draw refills three."""
    state = position(BY, "6C 7D 8S 9C", "AC AD AS 7H", turned="8H")
    play(state, "0 lead 6C", "1 stop AC AD AS")
    kept = state.hands[1]
    play(state, "0 play 6C 7D 8S")

    assert kept == Cards.parse("7H")
    assert [hand.bit_count() for hand in state.hands] == [4, 4]
