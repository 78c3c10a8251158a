"""Part 6: which combination a hand is, and which of several counts."""

from typing import Any

from oracle.cards import covers, is_end, strength


def one_suit(hand: list[str]) -> bool:
    """Tell whether all cards are of one suit."""
    return len({card[1] for card in hand}) == 1


def ranks_only(hand: list[str], ranks: str) -> bool:
    """Tell whether all cards are of these ranks."""
    return all(card[0] in ranks for card in hand)


def is_moscow_of_four(hand: list[str], trump: str | None) -> bool:
    """Part 6, moscow, 4 cards (S0): aces and tens only, at least one ace, at least one trump."""
    high = all(is_end(card) for card in hand)
    return high and any(c[0] == "A" for c in hand) and any(c[1] == trump for c in hand)


def moscow(hand: list[str], trump: str | None, options: dict[str, Any]) -> list[str]:
    """Part 6, moscow: three aces, perhaps with the trump ace; of four cards the fourth stays."""
    if options["moscow"] == "high_cards":
        return list(hand) if len(hand) == 4 and is_moscow_of_four(hand, trump) else []
    aces = [card for card in hand if card[0] == "A"]
    if len(aces) != 3 or len(hand) not in (3, 4):
        return []
    if options["moscow"] == "with_trump_ace" and f"A{trump}" not in aces:
        return []
    return aces


def little_moscow(hand: list[str], trump: str | None, options: dict[str, Any]) -> list[str]:
    """Part 6, little moscow: three sixes, one of them trump; or three tens."""
    if len(hand) != 3:
        return []
    if options["little_moscow"] == "tens":
        return list(hand) if ranks_only(hand, "T") else []
    return list(hand) if ranks_only(hand, "6") and f"6{trump}" in hand else []


def cards_of(name: str, hand: list[str], trump: str | None, options: dict[str, Any]) -> list[str]:
    """Part 6, the table: the cards of this hand that are the combination; none if it is not one."""
    if name == "moscow":
        return moscow(hand, trump, options)
    if name == "little_moscow":
        return little_moscow(hand, trump, options)
    whole_hand = {
        "bura": one_suit(hand) and hand[0][1] == trump,
        "molodka": one_suit(hand) and hand[0][1] != trump,
        "three_aces": len(hand) == 3 and ranks_only(hand, "A"),
        "golden_moscow": len(hand) == 4 and ranks_only(hand, "A"),
        "four_aces": len(hand) == 4 and ranks_only(hand, "A"),
        "complect": len(hand) == 4 and ranks_only(hand, "AT"),
    }
    return list(hand) if whole_hand[name] else []


def effect_now(effect: str, *, end_turned: bool) -> str:
    """Part 6, molodka waits: no effect, unless an end was turned; then a stop."""
    if effect == "stop_after_end":
        return "stop" if end_turned else "none"
    return effect


def combination(
    hand: list[str], trump: str | None, options: dict[str, Any], *, end_turned: bool
) -> dict[str, Any] | None:
    """Part 6: the highest combination of a full hand; every win goes before every stop."""
    if len(hand) != options["hand_size"]:
        return None
    found = []
    for level, entries in enumerate(options["combinations"]):
        for name, effect in entries:
            cards = cards_of(name, hand, trump, options)
            if cards:
                now = effect_now(effect, end_turned=end_turned)
                kind = ["wins", "stop", "none"].index(now.removesuffix("_double"))
                place = [kind, level]
                found.append({"name": name, "cards": cards, "effect": now, "place": place})
    return min(found, key=lambda one: one["place"]) if found else None


def best_bura(
    holders: list[int], hands: list[list[str]], trump: str | None, options: dict[str, Any]
) -> int:
    """Part 6, two buras; the holders come clockwise from the seat due to lead."""
    if options["bura_tie"] == "leader":
        return holders[0]
    if options["bura_tie"] == "highest_card":
        return max(holders, key=lambda seat: max(strength(c, options) for c in hands[seat]))
    candidate = holders[0]
    for seat in holders[1:]:
        if covers(hands[seat], hands[candidate], trump, options):
            candidate = seat
    return candidate


def best_holder(
    found: list[tuple[int, dict[str, Any]]],
    hands: list[list[str]],
    trump: str | None,
    options: dict[str, Any],
) -> int:
    """Part 6: the strongest winning combination; ties clockwise, buras by bura_tie.

    The pairs of seat and combination come clockwise from the seat due to lead.
    """
    top = min(one["place"] for _, one in found)
    tied = [(seat, one) for seat, one in found if one["place"] == top]
    if all(one["name"] == "bura" for _, one in tied):
        return best_bura([seat for seat, _ in tied], hands, trump, options)
    return tied[0][0]


def best_stop(
    declared: list[tuple[int, dict[str, Any]]],
    held: list[tuple[int, dict[str, Any]]],
    options: dict[str, Any],
) -> int | None:
    """Part 6, several stops: the earlier in the list, then the first clockwise.

    Both lists come clockwise from the seat due to lead. With stop_block held, a stronger
    combination in another hand voids a stop although nobody said so.
    """
    if options["stop_block"] == "held":
        declared = [
            (seat, one)
            for seat, one in declared
            if not any(other != seat and his["place"] < one["place"] for other, his in held)
        ]
    if not declared:
        return None
    top = min(one["place"] for _, one in declared)
    return next(seat for seat, one in declared if one["place"] == top)


def combination_effects(options: dict[str, Any]) -> list[str]:
    """Part 6: the effects of this game's combinations, strongest first."""
    return [effect for level in options["combinations"] for _, effect in level]
