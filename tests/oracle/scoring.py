"""Part 9: from deals to a match: the series, and every match format.

Outcomes are those of ending.py. Sides of pairs are scored seat by seat: partners always win and
lose the same, so they always have the same total.
"""

from fractions import Fraction
from typing import Any

from oracle.sources import Source


def same_side(options: dict[str, Any], seat: int, other: int) -> bool:
    """Part 8: seats 0 and 2 against 1 and 3, or each for itself."""
    return seat % 2 == other % 2 if options["sides"] == "pairs" else seat == other


def side_total(options: dict[str, Any], seat: int, numbers: list[int]) -> int:
    """Part 8: what a pair has captured counts together."""
    return sum(n for other, n in enumerate(numbers) if same_side(options, seat, other))


# The series.


def series_scores(options: dict[str, Any], outcome: dict[str, Any]) -> list[Fraction]:
    """Part 9, series: the score of each seat in one deal, as exact fractions that sum to 0."""
    seats = len(outcome["points"])
    if options["match_format"] == "eyes":
        eyes = [opened(options, outcome, seat) for seat in range(seats)]
        return [Fraction(eyes[seat] - eyes[(seat + 1) % seats]) for seat in range(seats)]
    if options["match_format"] == "burkozyol_penalty":
        charges = burkozyol_charges(options, outcome)
        return [others_less_own(options, charges, seat) for seat in range(seats)]
    return payments(outcome)


def others_less_own(options: dict[str, Any], charges: list[int], seat: int) -> Fraction:
    """Part 9, series: the others' mean charge less one's own; a partner is no other (part 8)."""
    others = [s for s in range(len(charges)) if not same_side(options, s, seat)]
    return Fraction(sum(charges[s] for s in others), len(others)) - charges[seat]


def payments(outcome: dict[str, Any]) -> list[Fraction]:
    """Part 9, series: each loser pays the winners its weight in equal shares.

    Without a winner (a seat that declined in a void deal; two_each) it pays all who did not lose,
    and if all lost, all others.
    """
    seats = list(range(len(outcome["points"])))
    scores = [Fraction(0) for _ in seats]
    losers = outcome["losers"]
    for loser, weight in losers.items():
        paid = outcome["winners"] or [s for s in seats if s not in losers]
        paid = paid or [s for s in seats if s != loser]
        scores[loser] -= weight
        for seat in paid:
            scores[seat] += Fraction(weight, len(paid))
    return scores


def burkozyol_charges(options: dict[str, Any], outcome: dict[str, Any]) -> list[int]:
    """Part 9, burkozyol_penalty: 0 for most, 2, below the mark 4, and 6 as six_for says.

    Deals not decided by points charge twice the weight.
    """
    seats = range(len(outcome["points"]))
    by_points = outcome["reason"] == "most_points"
    charges = []
    for seat in seats:
        weight = outcome["losers"].get(seat, 0)
        if weight and by_points and earns_six(options, outcome, seat):
            charges.append(6)
        else:
            charges.append(2 * weight)
    return charges


def earns_six(options: dict[str, Any], outcome: dict[str, Any], seat: int) -> bool:
    """Part 9, six_for: no points, or no trick at all."""
    if options["six_for"] == "off":
        return False
    counted = outcome["points"] if options["six_for"] == "zero_points" else outcome["tricks"]
    return side_total(options, seat, counted) == 0


def opened(options: dict[str, Any], outcome: dict[str, Any], seat: int) -> int:
    """Part 9, eyes: what the seat's side opens in this deal, before any svara counts."""
    if outcome["reason"] == "draw":
        return 0
    if outcome["reason"] != "most_points":
        weight = max(outcome["losers"].values(), default=0)
        return 2 * weight if seat in outcome["winners"] else 0
    return opened_by_points(options, outcome, seat)


def opened_by_points(options: dict[str, Any], outcome: dict[str, Any], seat: int) -> int:
    """Part 9, eyes: each side by its own points, or the winners only; 6 and 8 instead of the 4."""
    mine = side_total(options, seat, outcome["points"])
    theirs = side_total(options, seat + 1, outcome["points"])
    if theirs == 0:
        return 6 if side_total(options, seat + 1, outcome["tricks"]) else 8
    if options["eyes"] == "each_side":
        return 4 if mine >= 61 else 2 if mine >= 31 else 0
    if mine < theirs:
        return 0
    return 4 if theirs < 31 else 2


# Matches.


class Match:
    """Part 9: one match in any format but series; ask `next_deal`, play it, `record` it."""

    def __init__(self, options: dict[str, Any], seats: int, source: Source) -> None:
        self.options = options
        self.seats = seats
        self.format = options["match_format"]
        if self.format == "burkozyol_double":
            self.format = options["played_as"]
        self.totals = [0] * seats  # deals won, penalty points, eyes, or chips won
        self.left = list(range(seats))
        self.dealer = source.index("lot", seats)
        self.leader: int | None = None  # none: by first_lead
        self.first_leader: int | None = None  # who led first in the last deal
        self.carry = 1
        self.voids = 0
        self.deals = 0
        self.bank = 0
        self.ante_due = True
        self.over = False
        self.winners: list[int] = []

    # The next deal.

    def next_deal(self) -> dict[str, Any]:
        """Part 9: who plays, who deals, who leads, in match seats, and the bank.

        void_allowed is false after max_void void deals in a row (part 4, no_claim).
        """
        if self.format == "bank" and self.ante_due:
            for seat in self.left:
                self.pay_bank(seat, self.options["ante"])
            self.ante_due = False
        return {
            "seats": list(self.left),
            "dealer": self.dealer,
            "leader": self.leader,
            "void_allowed": self.voids < self.options["max_void"],
            "bank": self.bank,
        }

    def record(self, outcome: dict[str, Any], first_leader: int) -> None:
        """Part 9: score a deal; its seats are numbered as next_deal listed them."""
        played = list(self.left)
        done = in_match_seats(outcome, played, self.seats)
        self.first_leader = played[first_leader]
        self.deals += 1
        self.score(done)
        if done["reason"] == "fault" and self.options["fault_cost"] == "match":
            self.expel(done)
        self.settle(done)
        self.voids = self.voids + 1 if self.is_void(done) else 0
        if self.is_void(done):
            self.leader = self.first_leader
        else:
            winner = self.first_winner(done)
            self.move_dealer(winner)
            self.move_leader(done, winner)
        self.dealer = self.seat_left(self.dealer)
        self.leader = None if self.leader is None else self.seat_left(self.leader)
        if self.deals >= self.options["max_deals"] and not self.over:
            self.finish(self.best())
        if self.over and self.format == "bank":
            self.share_the_rest()

    def is_void(self, done: dict[str, Any]) -> bool:
        """Part 4: nobody claimed, or a false claim doubled the bank."""
        doubled = self.format == "bank" and self.options["false_claim"] == "double_bank"
        return bool(done["reason"] == "void" or (doubled and done["reason"] == "false_claim"))

    def seat_left(self, seat: int) -> int:
        """Part 9: an eliminated seat's place goes to the next seat clockwise."""
        around = [(seat + step) % self.seats for step in range(self.seats)]
        return next(other for other in around if other in self.left)

    def clockwise(self) -> list[int]:
        """Part 2: all seats, beginning with the dealer's left and ending with the dealer."""
        return [(self.dealer + step) % self.seats for step in range(1, self.seats + 1)]

    def first_winner(self, done: dict[str, Any]) -> int | None:
        """Part 2, next_dealer: of several winners the first clockwise from the dealer."""
        return next((seat for seat in self.clockwise() if seat in done["winners"]), None)

    def move_dealer(self, winner: int | None) -> None:
        """Part 2, next_dealer: the winner, the next seat, or the same."""
        if self.options["next_dealer"] == "rotate":
            self.dealer = next(seat for seat in self.clockwise() if seat in self.left)
        if self.options["next_dealer"] == "winner" and winner is not None:
            self.dealer = winner

    def move_leader(self, done: dict[str, Any], winner: int | None) -> None:
        """Part 2, next_lead: left of the dealer, in turn, or the last taker.

        After a deal without tricks its winner; without either the same leader.
        """
        if self.options["next_lead"] == "left_of_dealer":
            self.leader = self.seat_left((self.seat_left(self.dealer) + 1) % self.seats)
        elif self.options["next_lead"] == "alternate":
            self.leader = self.seat_left(((self.first_leader or 0) + 1) % self.seats)
        elif done["last_taker"] is not None:
            self.leader = done["last_taker"]
        else:
            self.leader = self.first_leader if winner is None else winner

    # Scores.

    def score(self, done: dict[str, Any]) -> None:
        """Part 9: hand the deal to its format; a svara is carried to the next decided deal."""
        {
            "series": self.score_nothing,
            "robber": self.score_robber,
            "penalty": self.score_penalty,
            "burkozyol_penalty": self.score_penalty,
            "eyes": self.score_eyes,
            "bank": self.score_bank,
        }[self.format](done)
        if done["reason"] == "draw":
            kind = self.options["draw_carry"]
            self.carry = {"none": 1, "double_once": 2, "geometric": 2 * self.carry}[kind]
        elif not self.is_void(done):
            self.carry = 1

    def score_nothing(self, done: dict[str, Any]) -> None:
        """Part 9: a series is scored deal by deal, see series_scores."""
        raise ValueError(f"a series is no match: {done['reason']}")

    def score_robber(self, done: dict[str, Any]) -> None:
        """Part 9, robber: a deal won counts one, a double two."""
        weight = max(done["losers"].values(), default=0) * self.carry
        for seat in self.takers(done):
            self.totals[seat] += weight

    def settle_robber(self, done: dict[str, Any]) -> None:
        """Part 9, robber: the first to n, at least the margin ahead of each other side."""
        del done
        for seat in self.left:
            ahead = [
                self.totals[seat] - self.totals[other] >= self.options["margin"]
                for other in self.left
                if not same_side(self.options, seat, other)
            ]
            if self.totals[seat] >= self.options["robber_target"] and all(ahead):
                self.finish([s for s in self.left if same_side(self.options, s, seat)])

    def takers(self, done: dict[str, Any]) -> list[int]:
        """Part 7, dave: if nobody won, who declined pays those who stayed in the deal."""
        if done["winners"] or not done["losers"]:
            return list(done["winners"])
        return [seat for seat in self.left if seat not in done["losers"]]

    def score_penalty(self, done: dict[str, Any]) -> None:
        """Part 9, penalty and burkozyol_penalty: 2 for a loss, 4 doubled, or the S4 charges."""
        if self.format == "burkozyol_penalty":
            charges = burkozyol_charges(self.options, done)
        else:
            charges = [2 * done["losers"].get(seat, 0) for seat in range(self.seats)]
        for seat in self.left:
            self.totals[seat] += charges[seat] * self.carry

    def settle_penalty(self, done: dict[str, Any]) -> None:
        """Part 9, penalty: at the limit the match is over, or who reached it is out."""
        del done
        reached = [seat for seat in self.left if self.totals[seat] >= self.options["limit"]]
        if not reached:
            return
        if self.options["on_limit"] == "match_over" and self.format == "penalty":
            self.finish(self.best())
        else:
            self.eliminate(reached)

    def eliminate(self, reached: list[int]) -> None:
        """Part 9, eliminate: out at the limit; if all would go, the lowest stay.

        If several are level at the lowest, they play another deal.
        """
        if reached == self.left:
            lowest = min(self.totals[seat] for seat in reached)
            stay = [seat for seat in reached if self.totals[seat] == lowest]
        else:
            stay = [seat for seat in self.left if seat not in reached]
        self.left = stay
        if all(same_side(self.options, stay[0], seat) for seat in stay):
            self.finish(stay)

    def expel(self, done: dict[str, Any]) -> None:
        """Part 5, fault_cost = match: the side at fault leaves the match; the others play on.

        Who declined a raise in that deal owes less and stays.
        """
        worst = max(done["losers"].values())
        self.left = [seat for seat in self.left if done["losers"].get(seat) != worst]
        one_side = all(same_side(self.options, self.left[0], seat) for seat in self.left)
        if one_side or len(self.left) not in self.options["players"]:
            self.finish(self.best())

    def settle(self, done: dict[str, Any]) -> None:
        """Part 9: see whether the totals end the match for the seats that are left, or for some."""
        if self.over or self.format == "bank":
            return
        {
            "robber": self.settle_robber,
            "penalty": self.settle_penalty,
            "burkozyol_penalty": self.settle_penalty,
            "eyes": self.settle_eyes,
        }[self.format](done)

    def score_eyes(self, done: dict[str, Any]) -> None:
        """Part 9, eyes: what each side opens, times what a svara before it makes of that."""
        for seat in range(self.seats):
            self.totals[seat] += opened(self.options, done, seat) * self.carry

    def settle_eyes(self, done: dict[str, Any]) -> None:
        """Part 9, eyes: to the limit; both there: the higher, then the last deal's points."""
        if max(self.totals) >= self.options["limit"]:
            top = max(
                (self.totals[seat], side_total(self.options, seat, done["points"]))
                for seat in range(self.seats)
            )
            self.finish(
                [
                    seat
                    for seat in range(self.seats)
                    if (self.totals[seat], side_total(self.options, seat, done["points"])) == top
                ]
            )

    def pay_bank(self, seat: int, chips: int) -> None:
        """Part 9, bank: chips go from a seat into the bank."""
        self.totals[seat] -= chips
        self.bank += chips

    def score_bank(self, done: dict[str, Any]) -> None:
        """Part 9, bank: the winner takes it, equal winners split it; svara; double_bank."""
        void = self.is_void(done)
        if done["reason"] == "draw":
            self.pay_extras(done, 0)
            self.pay_equally(self.left, self.bank)
        elif void and done["reason"] == "false_claim":
            worst = max(done["losers"].values())
            claimants = [seat for seat, weight in done["losers"].items() if weight == worst]
            others = {s: w for s, w in done["losers"].items() if s not in claimants}
            due = self.bank
            self.pay_extras({"losers": others}, 0)
            self.pay_equally(claimants, due)
        else:
            self.pay_extras(done, 0 if void else 1)
            self.ante_due = True
        if not void and done["winners"]:
            share = self.bank // len(done["winners"])
            for seat in done["winners"]:
                self.pay_bank(seat, -share)

    def pay_extras(self, done: dict[str, Any], covered: int) -> None:
        """Part 9, weights in a bank: an ante for each weight that the ante paid does not cover."""
        for seat, weight in done["losers"].items():
            self.pay_bank(seat, self.options["ante"] * (weight - covered))

    def pay_equally(self, seats: list[int], chips: int) -> None:
        """Part 9: the bank doubles: these seats pay equal parts, rounded up to whole chips."""
        for seat in seats:
            self.pay_bank(seat, -(-chips // len(seats)))

    def share_the_rest(self) -> None:
        """Part 9, bank: what is left at the end is shared equally, an odd chip to nobody."""
        share = self.bank // len(self.left)
        for seat in self.left:
            self.pay_bank(seat, -share)
        self.winners = self.best()

    # The end.

    def best(self) -> list[int]:
        """Part 9: the lowest penalty, or the highest count, among the seats left; shared."""
        totals = {seat: self.totals[seat] for seat in self.left}
        pick = min if self.format in ("penalty", "burkozyol_penalty") else max
        return [seat for seat, total in totals.items() if total == pick(totals.values())]

    def finish(self, winners: list[int]) -> None:
        """Part 9: the match is over."""
        self.over = True
        self.winners = winners


def in_match_seats(outcome: dict[str, Any], played: list[int], seats: int) -> dict[str, Any]:
    """Part 9, elimination: number the seats of a closed-up deal as the match numbers them."""
    taker = outcome["last_taker"]
    done = dict(outcome)
    done["winners"] = [played[seat] for seat in outcome["winners"]]
    done["losers"] = {played[seat]: weight for seat, weight in outcome["losers"].items()}
    done["last_taker"] = None if taker is None else played[taker]
    for name in ("points", "tricks"):
        done[name] = [0] * seats
        for seat, number in enumerate(outcome[name]):
            done[name][played[seat]] = number
    return done
