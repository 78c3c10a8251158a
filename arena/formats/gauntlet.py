"""Gauntlet: one against all the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.errors import RefusedError
from arena.formats.at_once import AtOnce
from arena.formats.checks import refuse_options, refuse_rotating, refuse_seats, refuse_too_many
from arena.formats.points import COUPLE
from arena.formats.roster import Roster
from arena.formats.round_robin import cycles, in_cycles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.formats.base import Pairing, Plan


class Gauntlet(AtOnce):
    """The challenger meets everybody; the others do not meet each other."""

    name = "gauntlet"
    has_challenger = True
    summary = "One challenger meets all the others, who do not meet each other."
    explanation = (
        "The challenger (--challenger, else the first named) meets everybody else, --rounds times "
        "each, usually once. It sits first in every other match, and changes seats with each "
        "opponent from round to round. The whole schedule is known from the start and nobody has "
        "a bye. Entrants are ranked by the part of their points that they won (a win 1, a draw "
        "1/2), then by Sonneborn-Berger, then by their mean total. A late entry meets the "
        "challenger as often as the others did. When an entrant leaves, its other matches are won "
        "by those who were to meet it, and it comes after all who stayed. Once it has begun the "
        "challenger cannot be withdrawn, only replaced by another version, which meets all who are "
        "still in, or disqualified: then the run ends, unless it is paused and somebody enters, "
        "who takes over."
    )

    def check(self, plan: Plan) -> None:
        """Refuse a challenger that is not there, and all but matches of two.

        Raises:
            RefusedError: One of these was asked for.
        """
        refuse_options(self.name, plan, ("challenger",))
        refuse_rotating(self.name, plan)
        refuse_seats(self.name, plan, COUPLE, COUPLE, "pods")
        challenger = plan.options.challenger or 0
        if not 0 <= challenger < plan.entrants:
            raise RefusedError(
                f"challenger {challenger} is none of the {plan.entrants} entrants",
                f"expected 0 to {plan.entrants - 1}",
            )
        refuse_too_many(self.expected_matches(plan), "play fewer rounds")

    def pairings(self, plan: Plan) -> Iterator[Pairing]:
        """Pair the challenger with everybody; then with who comes late."""
        return iter(self._course(plan)[0])

    def challenger(self, plan: Plan) -> int:
        """Return who meets everybody: at first as the plan says, later who took over last."""
        return self._course(plan)[1]

    def expected_matches(self, plan: Plan) -> int:
        """Count one match for every opponent and round; what late entries add is in it."""
        if plan.changes:
            return len(self._course(plan)[0])
        return (plan.entrants - 1) * cycles(plan)

    def _course(self, plan: Plan) -> tuple[list[Pairing], int]:
        """Return all pairings, and who is the challenger after them."""
        challenger = plan.options.challenger or 0
        roster = Roster(plan)
        roster.advance(1)
        newcomers = list(roster.present)
        made: list[Pairing] = []
        met = 0
        while newcomers:
            if challenger in roster.left:
                challenger = newcomers[0]
                newcomers = list(roster.present)
            opponents = [entrant for entrant in newcomers if entrant != challenger]
            seats = [
                (opponent, challenger) if (met + place) % 2 else (challenger, opponent)
                for place, opponent in enumerate(opponents)
            ]
            met += len(opponents)
            made += in_cycles(seats, plan, len(made) + 1)
            newcomers = roster.advance(len(made) + 1)
        return made, challenger


gauntlet = Gauntlet()
