"""Single and double elimination: brackets from which one is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.formats.base import Format, Schedule
from arena.formats.bracket import THIRD_PLACE, double_bracket, single_bracket
from arena.formats.checks import refuse_options, refuse_rotating, refuse_seats, refuse_too_many
from arena.formats.knockout import Knockout, refuse_late_entries, ties_explained
from arena.formats.points import COUPLE, ranked, tally
from arena.formats.roster import Roster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.formats.base import Place, Plan, Results
    from arena.formats.bracket import Tie
    from arena.formats.points import Columns

_TIES = ties_explained("one match, or --rounds matches with the seats exchanged")


class Elimination(Format):
    """A format that is one bracket."""

    name: str
    summary: str
    explanation: str
    can_grow = True
    is_seeded = True
    options: tuple[str, ...] = ()

    def check(self, plan: Plan) -> None:
        """Refuse more than two seats, rotating partners, and late entries without a place.

        Raises:
            RefusedError: One of these was asked for.
        """
        refuse_options(self.name, plan, self.options)
        refuse_rotating(self.name, plan)
        refuse_seats(self.name, plan, COUPLE, COUPLE, "pods")
        refuse_late_entries(self.name, plan)
        refuse_too_many(self.expected_matches(plan), "play fewer matches a tie")

    def schedule(self, plan: Plan, results: Results) -> Schedule:
        """Give the ties whose sides are known, block by block."""
        knockout, complete = self._played(plan, results)
        return Schedule(tuple(knockout.pairings), tuple(knockout.byes), complete=complete)

    def ranking(self, plan: Plan, results: Results) -> tuple[Place, ...]:
        """Rank by how far each has come; who went out in the same round shares a rank.

        Who left without a match is below those who have come as far.
        """
        knockout, _ = self._played(plan, results)
        everybody = range(plan.ever_entered)
        reached = {entrant: knockout.reached(entrant) for entrant in everybody}
        sums = tally(plan, knockout.pairings, results)
        columns: dict[int, Columns] = {
            entrant: (("Reached", reached[entrant][1]), ("Points", sums.points[entrant]))
            for entrant in everybody
        }
        played = {
            entrant
            for pairing in knockout.pairings
            if results.get(pairing.number) is not None
            for entrant in pairing.seats
        }
        merits = {
            entrant: (merit, entrant in played or entrant not in plan.left)
            for entrant, (merit, _) in reached.items()
        }
        return ranked(merits, columns, plan.left)

    def expected_matches(self, plan: Plan) -> int:
        """Count the matches if no tie is level."""
        raise NotImplementedError

    def bracket(self, plan: Plan, places: int) -> Sequence[Tie]:
        """Return the ties among so many."""
        raise NotImplementedError

    def _played(self, plan: Plan, results: Results) -> tuple[Knockout, bool]:
        roster = Roster(plan)
        roster.advance(1)
        ties = self.bracket(plan, len(roster.present))
        knockout = Knockout(ties, list(roster.present), plan.rounds or 1)
        return knockout, knockout.play(roster, results)


class SingleElimination(Elimination):
    """Who loses is out."""

    name = "single-elimination"
    summary = "A knock-out: who loses is out, until one is left."
    explanation = (
        "A bracket in which the best rated meets the worst rated and the best two can only meet "
        "in the final. If the field does not fill it the best rated have a bye in the first "
        "round. The losers of the semi-finals play for the third place unless --no-third-place is "
        "given; who goes out in the same round shares a rank. " + _TIES
    )
    options = ("third_place",)

    def bracket(self, plan: Plan, places: int) -> Sequence[Tie]:
        """Return the ties among so many."""
        return single_bracket(places, third_place=plan.options.third_place is not False)

    def expected_matches(self, plan: Plan) -> int:
        """Count the ties, without replays."""
        third = any(tie.stage == THIRD_PLACE for tie in self.bracket(plan, plan.entrants))
        return (plan.entrants - 1 + third) * (plan.rounds or 1)


class DoubleElimination(Elimination):
    """Who loses twice is out."""

    name = "double-elimination"
    summary = "A knock-out in which everybody may lose once."
    explanation = (
        "Who loses in the winners' bracket goes on in the losers' bracket, and is out with the "
        "second loss. The bracket is seeded by rating, the best rated have byes if the field does "
        "not fill it. The winners of both brackets meet in the grand final; if the one that has "
        "not lost yet loses it, a second grand final decides. " + _TIES
    )

    def bracket(self, plan: Plan, places: int) -> Sequence[Tie]:  # noqa: ARG002 - it has no options
        """Return the ties among so many."""
        return double_bracket(places)

    def expected_matches(self, plan: Plan) -> int:
        """Count the ties, without replays and without a second grand final."""
        return 2 * (plan.entrants - 1) * (plan.rounds or 1)


single_elimination = SingleElimination()
double_elimination = DoubleElimination()
