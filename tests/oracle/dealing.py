"""Part 2: the first leader, the cards, the indicator, the redeals.

The functions fill in a Deal (see deal.py); they are called once, before anybody is asked.
"""

from typing import TYPE_CHECKING

from oracle.cards import full_deck, in_order, is_end, strength
from oracle.combinations import combination

if TYPE_CHECKING:
    from oracle.deal import Deal


def deal_cards(deal: "Deal") -> None:
    """Part 2: deal until the indicator can be turned and no redeal is due."""
    attempt = 0
    start = len(deal.events)
    while True:
        give_hands(deal, list(deal.source.deck(attempt)))
        if turn_indicator(deal) and not must_redeal(deal):
            break
        attempt += 1
        del deal.events[start:]
        deal.note("redeal", None)
        start = len(deal.events)
    for seat in range(deal.seats):
        deal.note("deal", seat, deal.hands[seat], deal.hand_viewers(seat))


def give_hands(deal: "Deal", deck: list[str]) -> None:
    """Part 2: cards one at a time, clockwise from the dealer's left."""
    deal.hands = [[] for _ in range(deal.seats)]
    for _ in range(deal.options["hand_size"]):
        for step in range(deal.seats):
            seat = (deal.dealer + 1 + step) % deal.seats
            deal.hands[seat].append(deck.pop(0))
    deal.hands = [in_order(hand) for hand in deal.hands]
    deal.stock = deck
    deal.trump = None
    deal.indicator = None
    deal.indicator_place = None
    deal.turned_ends = []


def turn_indicator(deal: "Deal") -> bool:
    """Part 2: turn the card that fixes the trump; false if the stock holds nothing but ends."""
    if deal.options["trump"] == "none":
        return True
    turned = deal.stock.pop(0)
    if is_end(turned):
        deal.turned_ends.append(turned)
    if is_end(turned) and deal.options["end_indicator"] == "redraw":
        while is_end(turned):
            deal.note("end_turned", None, [turned], range(deal.seats))
            if not deal.stock:
                return False
            turned = deal.stock.pop(0)
            if is_end(turned):
                deal.turned_ends.append(turned)
        for end in deal.turned_ends:
            put_back(deal, end)
    deal.indicator = turned
    deal.trump = turned[1]
    deal.note("indicator", None, [turned], range(deal.seats))
    place_indicator(deal, turned)
    return True


def place_indicator(deal: "Deal", card: str) -> None:
    """Part 2, indicator and end_indicator bury: under, on top of, or somewhere in the stock."""
    place = deal.options["indicator"]
    if is_end(card) and deal.options["end_indicator"] == "bury":
        place = "shuffled"
    if place == "bottom":
        deal.stock.append(card)
    elif place == "top":
        deal.stock.insert(0, card)
    else:
        put_back(deal, card)
    deal.indicator_place = place


def put_back(deal: "Deal", card: str) -> None:
    """Part 2: a card goes back into the stock at a random place, 0 being the top."""
    deal.stock.insert(deal.source.index("bury", len(deal.stock) + 1), card)


def must_redeal(deal: "Deal") -> bool:
    """Part 2, dealt_combination = redeal: some hand is a combination right after the deal."""
    if deal.options["dealt_combination"] == "stands":
        return False
    return any(
        combination(hand, deal.trump, deal.options, end_turned=bool(deal.turned_ends))
        for hand in deal.hands
    )


def first_leader(deal: "Deal") -> int | None:
    """Part 2, first_lead; none while a seat has yet to guess the colour."""
    if deal.options["first_lead"] == "left_of_dealer":
        return (deal.dealer + 1) % deal.seats
    if deal.options["first_lead"] == "high_card":
        return highest_cut(deal)
    return None


def highest_cut(deal: "Deal") -> int:
    """Part 2, high_card: each side cuts a card, the higher leads, equal ranks cut again.

    The sides cut in turn from the dealer's left, a pair by its first seat.
    """
    cutting: list[int] = []
    for step in range(deal.seats):
        seat = (deal.dealer + 1 + step) % deal.seats
        if not any(deal.same_side(seat, other) for other in cutting):
            cutting.append(seat)
    while len(cutting) > 1:
        cuts = {seat: cut(deal, seat) for seat in cutting}
        top = max(cuts.values())
        cutting = [seat for seat in cutting if cuts[seat] == top]
    return cutting[0]


def cut(deal: "Deal", seat: int) -> int:
    """Part 2, high_card: one card of a sorted deck, open to all; its strength decides."""
    deck = full_deck(deal.options["deck"])
    card = deck[deal.source.index("cut", len(deck))]
    deal.note("cut", seat, [card], range(deal.seats))
    return strength(card, deal.options)


def guessed_leader(deal: "Deal", seat: int, colour: str) -> int:
    """Part 2, colour_guess: right, and it leads, else the next seat of the other side."""
    red = deal.trump in ("D", "H")
    if (colour == "red") == red:
        return seat
    return next(s for s in deal.clockwise(seat) if not deal.same_side(s, seat))
