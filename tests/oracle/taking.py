"""Part 3, the end of a trick: taking it, drawing, and what comes when no cards are left."""

from typing import TYPE_CHECKING

from oracle import ending
from oracle.cards import in_order

if TYPE_CHECKING:
    from oracle.deal import Deal


def take(deal: "Deal") -> None:
    """Part 3: the last who beat takes all cards of the trick; if nobody beat, the leader."""
    taker = next(play["seat"] for play in reversed(deal.table) if play["beats"])
    deal.note("take", taker)
    look(deal, taker)
    for play in deal.table:
        deal.captured[taker] += play["cards"]
    deal.tricks[taker] += 1
    deal.last_taker = taker
    deal.table = []
    last_trick = no_cards_left(deal) and not draw_to_come(deal)
    after_taking = deal.options["claim_window"] == "after_taking"
    if deal.options["goal"] == "claim" and after_taking and not last_trick:
        deal.ask("taken", [taker])
    else:
        draw_and_go_on(deal)


def look(deal: "Deal", taker: int) -> None:
    """Part 3, taker_looks: the taker sees closed cards while a draw is still to come."""
    if deal.options["discards"] != "taker_looks" or not draw_to_come(deal):
        return
    for play in deal.table:
        closed = [card for card in play["cards"] if taker not in deal.who_saw[card]]
        for card in closed:
            deal.who_saw[card].append(taker)
        if closed:
            deal.note("look", taker, closed, [play["seat"], taker])


def no_cards_left(deal: "Deal") -> bool:
    """Tell whether every hand in the deal is empty."""
    return not any(deal.hands[seat] for seat in deal.in_deal())


def serves_all(deal: "Deal") -> bool:
    """Part 3, short_stock = set_aside: the stock can serve every seat once more."""
    return len(deal.stock) >= len(deal.in_deal())


def draw_to_come(deal: "Deal") -> bool:
    """Part 3: after this trick at least one card will be drawn."""
    if deal.options["short_stock"] == "set_aside":
        return serves_all(deal)
    return bool(deal.stock)


def draw_and_go_on(deal: "Deal") -> None:
    """Part 3: draw; the taker leads next, or the deal has been played out."""
    taker = deal.last_taker or 0
    if deal.options["draw_order"] == "round_robin":
        draw_in_turn(deal, taker)
    else:
        fill_in_turn(deal, taker)
    if no_cards_left(deal):
        played_out(deal, taker)
    else:
        deal.before_lead(taker)


def draw_in_turn(deal: "Deal", taker: int) -> None:
    """Part 3, round_robin: one card at a time, the taker first, then clockwise."""
    set_aside = deal.options["short_stock"] == "set_aside"
    while deal.stock and not all(deal.is_full(seat) for seat in deal.in_deal()):
        if set_aside and not serves_all(deal):
            return
        for seat in deal.clockwise(taker):
            if deal.stock and not deal.is_full(seat):
                draw_card(deal, seat)


def fill_in_turn(deal: "Deal", taker: int) -> None:
    """Part 3, fill_in_turn: each fills up; under set_aside at most its equal part."""
    part = len(deal.stock) // len(deal.in_deal())
    set_aside = deal.options["short_stock"] == "set_aside"
    for seat in deal.clockwise(taker):
        drawn = 0
        while deal.stock and not deal.is_full(seat) and not (set_aside and drawn == part):
            draw_card(deal, seat)
            drawn += 1


def draw_card(deal: "Deal", seat: int) -> None:
    """Part 3: the top card of the stock; an indicator that lies open is drawn openly."""
    card = deal.stock.pop(0)
    deal.hands[seat] = in_order([*deal.hands[seat], card])
    if card == deal.indicator and deal.indicator_place in ("bottom", "top"):
        deal.indicator_place = "drawn"
        deal.shown_in_hand[card] = seat
        deal.note("draw", seat, [card], range(deal.seats))
    else:
        deal.note("draw", seat, [card], deal.hand_viewers(seat))


def played_out(deal: "Deal", taker: int) -> None:
    """Part 4: all cards are played: count the points, or the last taker may still claim."""
    if deal.options["goal"] == "points":
        if deal.options["leftover_points"] == "last_taker":
            deal.captured[taker] += deal.stock
            deal.stock = []
        deal.end(ending.by_points(deal))
    elif deal.options["final_claim"] == "yes" and taker in deal.in_deal():
        deal.ask("final", [taker])
    else:
        deal.end(ending.unclaimed(deal))
