"""Swiss: a fixed number of rounds, each against somebody of about the same score."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from arena.errors import RefusedError
from arena.formats.base import Bye, Format, Pairing, Schedule
from arena.formats.checks import refuse_options, refuse_rotating, refuse_seats
from arena.formats.points import COUPLE, Tally, add_result, ranked
from arena.formats.roster import Roster
from arena.formats.swiss_pairing import Player, Position, circle_round, first_round, next_round

if TYPE_CHECKING:
    from collections.abc import Collection

    from arena.formats.base import Place, Plan, Results
    from arena.formats.points import Columns


class Swiss(Format):
    """Rounds of matches between entrants of about the same score, no two meeting twice."""

    name = "swiss"
    is_seeded = True
    summary = "A few rounds, each against somebody of about the same score; nobody is out."
    explanation = (
        "--rounds rounds are played, usually as many as a knock-out would take (7 for 100 "
        "entrants), and nobody drops out. In the first the upper half of the field, by rating, "
        "meets the lower half; from then on everybody meets somebody with as nearly as possible "
        "the same points (a win 1, a draw 1/2), nobody twice unless late entries "
        "and withdrawals leave no other way, and sits first about as often as second; what is "
        "still open is drawn by lot from the tournament's seed. Pairings are found by "
        "maximum-weight matching. With more rounds than half the field each "
        "round is one of a round robin, the one that brings the nearest scores together, so that "
        "the last rounds can be paired as well. Of an odd number the lowest that has had none yet "
        "has a bye, worth 1 point. A round begins when the one before is over. Ties are broken by "
        "Buchholz (the points of all opponents), then Sonneborn-Berger (the points of those "
        "beaten and half of those drawn with); a round without a match counts there as one "
        "against an opponent with one's own points. A late entry starts in the next round with 0 "
        "points. When an entrant leaves, a match that was still to be played is a point for the "
        "other, and it is paired no more."
    )

    def check(self, plan: Plan) -> None:
        """Refuse more than two seats, partners that rotate, and rounds that must repeat meetings.

        Raises:
            RefusedError: One of these was asked for.
        """
        refuse_options(self.name, plan)
        refuse_rotating(self.name, plan)
        refuse_seats(self.name, plan, COUPLE, COUPLE, "pods")
        most = _most_rounds(plan.entrants)
        if plan.rounds is not None and plan.rounds > most:
            raise RefusedError(
                f"{plan.rounds} rounds among {plan.entrants} would repeat meetings",
                f"play at most {most}, or choose round-robin",
            )

    def schedule(self, plan: Plan, results: Results) -> Schedule:
        """Pair every round whose predecessor is over."""
        course = _course(plan, results)
        return Schedule(tuple(course.pairings), tuple(course.byes), complete=course.complete)

    def ranking(self, plan: Plan, results: Results) -> tuple[Place, ...]:
        """Rank by points, Buchholz and Sonneborn-Berger."""
        course = _course(plan, results)
        course.close_round(plan, results, plan.left)
        points = course.tally.points
        buchholz, berger = course.tie_breaks()
        everybody = range(plan.ever_entered)
        merits = {one: (points[one], buchholz[one], berger[one]) for one in everybody}
        columns: dict[int, Columns] = {
            one: (("Points", points[one]), ("Buchholz", buchholz[one]), ("SB", berger[one]))
            for one in everybody
        }
        return ranked(merits, columns, plan.left)

    def expected_matches(self, plan: Plan) -> int:
        """Count a match for every two entrants and round."""
        return _rounds(plan) * (plan.entrants // 2)


swiss = Swiss()


def _rounds(plan: Plan) -> int:
    """Return the rounds asked for, or as many as a knock-out takes."""
    return plan.rounds or (plan.entrants - 1).bit_length()


def _most_rounds(entrants: int) -> int:
    return entrants - 1 + entrants % 2


@dataclass(slots=True)
class _Course:
    """What has been paired and what came of it, round by round."""

    pairings: list[Pairing] = field(default_factory=list)
    byes: list[Bye] = field(default_factory=list)
    complete: bool = False
    tally: Tally = field(default_factory=Tally)
    unplayed: defaultdict[int, list[Fraction]] = field(default_factory=lambda: defaultdict(list))
    """By entrant what it got in each round without a match."""
    met: Counter[tuple[int, int]] = field(default_factory=Counter)
    firsts: Counter[int] = field(default_factory=Counter)
    """By entrant how much more often it sat first than second."""
    last_seat: dict[int, int] = field(default_factory=dict)
    closed: int = 0
    """How many pairings have been added up."""

    def close_round(self, plan: Plan, results: Results, left: Collection[int]) -> None:
        """Add up what is known of the pairings not added up yet."""
        for pairing in self.pairings[self.closed :]:
            if pairing.number not in results:
                continue
            totals = results[pairing.number]
            before = {entrant: self.tally.points[entrant] for entrant in pairing.seats}
            add_result(self.tally, plan, pairing, totals, left)
            if totals is None:
                for entrant in pairing.seats:
                    gain = self.tally.points[entrant] - before[entrant]
                    self.unplayed[entrant].append(gain)
        self.closed = len(self.pairings)

    def position(self, plan: Plan, round_: int, present: list[int]) -> Position:
        """Return all that the pairing of a round depends on."""
        had_bye = {bye.entrant for bye in self.byes}
        players = tuple(
            Player(
                entrant=entrant,
                half_points=int(2 * self.tally.points[entrant]),
                firsts=self.firsts[entrant],
                last_seat=self.last_seat.get(entrant, -1),
                had_bye=entrant in had_bye,
            )
            for entrant in present
        )
        return Position(plan.seed, round_, players, tuple(sorted(self.met.items())))

    def add_round(self, round_: int, pairs: tuple[tuple[int, int], ...], bye: int | None) -> None:
        """Append a round."""
        for pair in pairs:
            self.pairings.append(Pairing(len(self.pairings) + 1, round_, pair))
            self.met[min(pair), max(pair)] += 1
            for seat, entrant in enumerate(pair):
                self.firsts[entrant] += 1 - 2 * seat
                self.last_seat[entrant] = seat
        if bye is not None:
            self.byes.append(Bye(round_, bye))
            self.tally.points[bye] += 1
            self.unplayed[bye].append(Fraction(1))

    def tie_breaks(self) -> tuple[defaultdict[int, Fraction], defaultdict[int, Fraction]]:
        """Return Buchholz and Sonneborn-Berger by entrant.

        Rounds without a match count as FIDE has it (Handbook C.07): as against an opponent with
        as many points as the entrant itself.
        """
        points = self.tally.points
        buchholz: defaultdict[int, Fraction] = defaultdict(Fraction)
        for met in self.tally.encounters:
            buchholz[met.entrant] += points[met.opponent]
        berger = defaultdict(Fraction, self.tally.sonneborn_berger())
        for entrant, gains in self.unplayed.items():
            buchholz[entrant] += len(gains) * points[entrant]
            berger[entrant] += sum(gains) * points[entrant]
        return buchholz, berger


def _course(plan: Plan, results: Results) -> _Course:
    course = _Course()
    roster = Roster(plan)
    rounds = _rounds(plan)
    for round_ in range(1, rounds + 1):
        if any(pairing.number not in results for pairing in course.pairings[course.closed :]):
            return course
        for newcomer in roster.advance(len(course.pairings) + 1):
            course.unplayed[newcomer] = [Fraction()] * (round_ - 1)
        course.close_round(plan, results, roster.left)
        if len(roster.present) < COUPLE:
            break
        position = course.position(plan, round_, roster.present)
        if not roster.changed and rounds > (plan.entrants + 1) // 2:
            course.add_round(round_, *circle_round(position))
        elif round_ == 1:
            course.add_round(round_, *first_round(position))
        else:
            course.add_round(round_, *next_round(position))
    course.complete = True
    return course
