"""Pods: rounds of matches of three to six, everybody meeting everybody as evenly as can be."""

from __future__ import annotations

from collections import Counter
from math import ceil, comb
from typing import TYPE_CHECKING

from arena.formats.base import Bye, Format, Pairing, Partners, Schedule
from arena.formats.checks import (
    refuse_options,
    refuse_partners_but_in_fours,
    refuse_seats,
    refuse_too_many,
)
from arena.formats.drawing import Drawing, draw
from arena.formats.points import ranked_by_share, tally
from arena.formats.roster import Roster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.formats.base import Place, Plan, Results

_FEWEST, _MOST = 3, 6
_PARTNERS_IN_A_POD = 2
_LOOK_AHEAD = 2


class Pods(Format):
    """Rounds in which as many as can be are in a match."""

    name = "pods"
    summary = "Rounds of matches of 3 to 6, everybody meeting everybody as evenly as can be."
    explanation = (
        "In each of --rounds rounds everybody is drawn into a match of as many as there are "
        "seats, so that all meet all as evenly as can be and everybody sits at every seat about "
        "equally often; without --rounds there are as many as let each two meet about once. If "
        "the field does not fill the matches some have a bye, in turn, and it counts for nothing. "
        "In games of pairs in which partners are not fixed they are drawn anew each round, "
        "everybody with everybody as evenly as can be, and there are as many rounds as let each "
        "two be partners about once. What is still open is drawn by lot from the tournament's "
        "seed; results have no part in it. A round is made known two rounds ahead, so that nobody "
        "waits for one slow match. Entrants are ranked by the part of their points that they won "
        "(in a match the part of the others that one left behind, who is level counting half), "
        "then by Sonneborn-Berger, then by their mean total. A late entry is drawn from the next "
        "round on that is not known yet. Who leaves is drawn no more and comes after all who "
        "stayed, and a match that it still had to play counts for nobody."
    )

    def check(self, plan: Plan) -> None:
        """Refuse matches of two, and partners in any but matches of four.

        Raises:
            RefusedError: One of these was asked for.
        """
        refuse_options(self.name, plan)
        refuse_seats(self.name, plan, _FEWEST, _MOST, "round-robin or swiss")
        refuse_partners_but_in_fours(self.name, plan)
        refuse_too_many(self.expected_matches(plan), "play fewer rounds")

    def schedule(self, plan: Plan, results: Results) -> Schedule:
        """Draw every round but the next two that can be known."""
        blocks: list[list[Pairing]] = []
        byes: list[Bye] = []
        complete = False
        roster = Roster(plan)
        sat_out: Counter[int] = Counter()
        while not complete and _is_over(blocks[: 1 - _LOOK_AHEAD][-1:], results):
            held = sum(map(len, blocks))
            newcomers = roster.advance(held + 1)
            if len(roster.present) < plan.seats:
                complete = True
                break
            # Who comes late is not owed the byes that others have had.
            others = set(roster.present) - set(newcomers)
            fewest = min((sat_out[entrant] for entrant in others), default=0)
            sat_out.update(dict.fromkeys(newcomers, fewest))
            drawn = draw(_drawing(plan, roster.present, blocks, sat_out))
            round_ = len(blocks) + 1
            byes += (Bye(round_, entrant) for entrant in drawn.byes)
            sat_out.update(drawn.byes)
            blocks.append(
                [Pairing(held + place, round_, seats) for place, seats in enumerate(drawn.pods, 1)]
            )
            complete = len(blocks) == _rounds(plan)
        pairings = tuple(pairing for block in blocks for pairing in block)
        return Schedule(pairings, tuple(byes), complete=complete)

    def ranking(self, plan: Plan, results: Results) -> tuple[Place, ...]:
        """Rank by the part of the points won."""
        return ranked_by_share(plan, tally(plan, self.schedule(plan, results).pairings, results))

    def expected_matches(self, plan: Plan) -> int:
        """Count the matches of a round, and the rounds."""
        return _rounds(plan) * (plan.entrants // plan.seats)


pods = Pods()


def _rounds(plan: Plan) -> int:
    """Return the rounds asked for, or as many as let each two meet, or be partners, once."""
    if plan.rounds is not None:
        return plan.rounds
    rotating = plan.partners is Partners.ROTATING
    couples = _PARTNERS_IN_A_POD if rotating else comb(plan.seats, 2)
    return ceil(comb(plan.entrants, 2) / (plan.entrants // plan.seats * couples))


def _is_over(blocks: Sequence[Sequence[Pairing]], results: Results) -> bool:
    return all(pairing.number in results for block in blocks for pairing in block)


def _drawing(
    plan: Plan, present: Sequence[int], blocks: Sequence[Sequence[Pairing]], sat_out: Counter[int]
) -> Drawing:
    return Drawing(
        seed=plan.seed,
        round=len(blocks) + 1,
        seats=plan.seats,
        rotating=plan.partners is Partners.ROTATING,
        present=tuple((entrant, sat_out[entrant]) for entrant in present),
        before=tuple(pairing.seats for block in blocks for pairing in block),
    )
