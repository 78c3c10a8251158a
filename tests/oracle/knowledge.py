"""Who may know what (parts 2, 3, 4, 6, 7, 8): the deal as one seat sees it."""

from typing import TYPE_CHECKING, Any

from oracle.cards import in_order

if TYPE_CHECKING:
    from oracle.deal import Deal


def knowledge(deal: "Deal", seat: int) -> dict[str, Any]:
    """Give all this seat may know but what happened, and nothing else."""
    guessing = deal.phase == "guess"  # part 2, colour_guess: before anybody sees a card
    return {
        "seat": seat,
        "phase": deal.phase,
        "dealer": deal.dealer,
        "leader": deal.leader,
        "asked": deal.asked(),
        "hand": None if guessing else list(deal.hands[seat]),
        "hand_counts": [len(hand) for hand in deal.hands],
        "known_in_hands": {} if guessing else known_in_hands(deal, seat),
        "trump": None if guessing else deal.trump,
        "indicator": None if guessing else deal.indicator,
        "indicator_place": None if guessing else deal.indicator_place,
        "end_turned": None if guessing else bool(deal.turned_ends),
        "stock": len(deal.stock),
        "table": [table_play(deal, play, seat) for play in deal.table],
        "captured": {other: captured(deal, other, seat) for other in range(deal.seats)},
        "out_of_play": {other: removed(deal, other, seat) for other in sorted(deal.removed)},
        "tricks": list(deal.tricks),
        "stake": deal.stake,
        "raised_to": deal.raised_to,
        "offered": offered(deal),
        "in_deal": deal.in_deal(),
    }


def happened(deal: "Deal", seat: int, start: int = 0) -> list[dict[str, Any]]:
    """Give the events from the given place on as this seat may know them."""
    if deal.phase == "guess":
        return []
    return [seen_event(event, seat) for event in deal.events[start:]]


def known_in_hands(deal: "Deal", seat: int) -> dict[int, list[str]]:
    """Part 2: the cards a seat knows in others' hands: a drawn indicator, or open hands."""
    known: dict[int, list[str]] = {}
    for other in range(deal.seats):
        if other == seat:
            continue
        if deal.options["hands"] == "open":
            cards = list(deal.hands[other])
        else:
            cards = [card for card, owner in deal.shown_in_hand.items() if owner == other]
        if cards:
            known[other] = cards
    return known


def table_play(deal: "Deal", play: dict[str, Any], seat: int) -> dict[str, Any]:
    """Part 3, discards: a closed play with its number only, until the deal is over."""
    over = deal.phase == "over"
    known = over or all(seat in deal.who_saw[card] for card in play["cards"])
    return {
        "seat": play["seat"],
        "face": play["face"],
        "beats": play["beats"],
        "count": len(play["cards"]),
        "cards": in_order(play["cards"]) if known else None,
    }


def captured(deal: "Deal", other: int, seat: int) -> dict[str, Any]:
    """Part 4: captured cards a seat has seen are known; closed ones only after the deal."""
    return pile_seen(deal, deal.captured[other], seat)


def removed(deal: "Deal", other: int, seat: int) -> dict[str, Any]:
    """Part 7: the captured cards of a seat that declined a raise."""
    return pile_seen(deal, deal.removed[other], seat)


def pile_seen(deal: "Deal", pile: list[str], seat: int) -> dict[str, Any]:
    """Give the cards of a pile that this seat has seen, and the number of the others."""
    over = deal.phase == "over"
    known = [card for card in pile if over or seat in deal.who_saw[card]]
    return {"known": in_order(known), "unknown": len(pile) - len(known)}


def offered(deal: "Deal") -> int:
    """Part 7: of an offer only the number of cards is said."""
    return len(deal.about_to_lead[1]) if deal.phase == "offer" else 0


def seen_event(event: dict[str, Any], seat: int) -> dict[str, Any]:
    """Give an event with its cards if this seat may see them, else with their number."""
    return {
        "kind": event["kind"],
        "seat": event["seat"],
        "detail": event["detail"],
        "count": len(event["cards"]),
        "cards": list(event["cards"]) if seat in event["seen_by"] else None,
    }
