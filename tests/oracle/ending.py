"""Parts 4, 5, 6 and 9: what a deal's end means: reason, winners, losers and their weights."""

from typing import TYPE_CHECKING, Any

from oracle.cards import points
from oracle.combinations import combination_effects

if TYPE_CHECKING:
    from oracle.deal import Deal

BURKOZYOL_FORMATS = ("burkozyol_double", "burkozyol_penalty", "eyes")


def finish(
    deal: "Deal", reason: str, winners: list[int], losers: dict[int, int], detail: str = ""
) -> dict[str, Any]:
    """Part 9: an outcome; the stake of a dave multiplies, who declined pays what stood then."""
    weights = {seat: weight * deal.stake for seat, weight in losers.items()}
    weights.update(deal.declined)
    return {
        "reason": reason,
        "detail": detail,
        "winners": sorted(winners),
        "losers": dict(sorted(weights.items())),
        "points": [points(pile) for pile in deal.captured],
        "tricks": list(deal.tricks),
        "last_taker": deal.last_taker,
        "out_of_play": sorted(deal.declined),
    }


def one_side_wins(
    deal: "Deal", seat: int, reason: str, weight: int = 1, detail: str = ""
) -> dict[str, Any]:
    """Part 8: the seat's side wins, every other seat in the deal loses."""
    winners = [s for s in deal.in_deal() if deal.same_side(s, seat)]
    losers = {s: weight for s in deal.in_deal() if not deal.same_side(s, seat)}
    return finish(deal, reason, winners, losers, detail)


def one_side_loses(
    deal: "Deal", seat: int, reason: str, weight: int, detail: str = ""
) -> dict[str, Any]:
    """Part 4, false claim: only the claimant's side loses, all others win."""
    losers = {s: weight for s in deal.in_deal() if deal.same_side(s, seat)}
    winners = [s for s in deal.in_deal() if not deal.same_side(s, seat)]
    return finish(deal, reason, winners, losers, detail)


def by_claim(deal: "Deal", seat: int) -> dict[str, Any]:
    """Part 4: target or more wins, less loses; all captured cards count, closed ones too."""
    counted = sum(points(deal.captured[s]) for s in range(deal.seats) if deal.same_side(s, seat))
    if counted >= deal.options["target"]:
        return one_side_wins(deal, seat, "claim")
    weight = 1 if deal.options["false_claim"] == "lose" else 2
    return one_side_loses(deal, seat, "false_claim", weight)


def by_combination(deal: "Deal", seat: int, one: dict[str, Any]) -> dict[str, Any]:
    """Part 6: wins or wins_double, whatever the points and pass marks."""
    weight = 2 if one["effect"] == "wins_double" else 1
    return one_side_wins(deal, seat, "combination", weight, one["name"])


def side_points(deal: "Deal") -> list[tuple[list[int], int]]:
    """Part 8: the sides still in the deal, each with its captured points."""
    sides: list[list[int]] = []
    for seat in deal.in_deal():
        mine = [side for side in sides if deal.same_side(side[0], seat)]
        if mine:
            mine[0].append(seat)
        else:
            sides.append([seat])
    return [(side, sum(points(deal.captured[s]) for s in side)) for side in sides]


def unclaimed(deal: "Deal") -> dict[str, Any]:
    """Part 4, no_claim: void, or most points wins and equal tops are a draw."""
    if deal.options["no_claim"] == "void" and deal.void_allowed:
        return finish(deal, "void", [], {})
    counted = side_points(deal)
    top = max(total for _, total in counted)
    tops = [side for side, total in counted if total == top]
    if len(tops) > 1:
        return finish(deal, "draw", [], {})
    return one_side_wins(deal, tops[0][0], "most_points")


def pass_mark(options: dict[str, Any], sides: int, seats: int) -> int:
    """Part 9: 31 for two players and pairs, else 21; burkozyol_double has its own four singles."""
    if sides == 2:
        return 31
    if options["match_format"] != "burkozyol_penalty" and seats == 4:
        return int(options["four_singles_mark"])
    return 21


def by_points(deal: "Deal") -> dict[str, Any]:
    """Part 4, goal points: most points wins; level sides by svara, split or top_tie."""
    counted = side_points(deal)
    top = max(total for _, total in counted)
    tied = [side for side, total in counted if total == top]
    rest = [(side, total) for side, total in counted if total < top]
    losers = points_losers(deal, rest, len(counted))
    top_seats = [seat for side in tied for seat in side]
    if len(tied) == 1 or deal.options["top_tie"] == "split":
        return finish(deal, "most_points", top_seats, losers)
    if not rest or deal.options["top_tie"] == "draw":
        return finish(deal, "draw", [], {})
    if deal.options["top_tie"] == "zero_each":
        return finish(deal, "most_points", top_seats, losers)
    return finish(deal, "most_points", [], {**losers, **dict.fromkeys(top_seats, 1)})


def points_losers(deal: "Deal", rest: list[tuple[list[int], int]], sides: int) -> dict[int, int]:
    """Part 9: weight 1, in the Burkozyol formats 2 below the pass mark."""
    mark = pass_mark(deal.options, sides, deal.seats)
    doubles = deal.options["match_format"] in BURKOZYOL_FORMATS
    return {seat: 2 if doubles and total < mark else 1 for side, total in rest for seat in side}


def highest_weight(options: dict[str, Any]) -> int:
    """Part 5: the highest weight the variant can inflict, a raise to 6 included."""
    weight = 1
    if options["goal"] == "claim" and options["false_claim"] != "lose":
        weight = 2
    if options["match_format"] in BURKOZYOL_FORMATS:
        weight = 2
    if "wins_double" in combination_effects(options):
        weight = 2
    if options["match_format"] == "burkozyol_penalty" and options["six_for"] != "off":
        weight = 3
    if options["match_format"] == "eyes":
        weight = 4
    return weight * (6 if options["raise"] == "dave" else 1)


def by_fault(deal: "Deal", seat: int, detail: str) -> dict[str, Any]:
    """Part 5: the deal is lost by an offence, at the highest weight of the variant."""
    outcome = one_side_loses(deal, seat, "fault", 1, detail)
    for loser in outcome["losers"]:
        if loser not in deal.declined:
            outcome["losers"][loser] = highest_weight(deal.options)
    return outcome
