"""Ladder: matches without end, each chosen by the ratings that the earlier ones gave."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from arena.errors import RefusedError
from arena.formats.base import Format, Pairing, Partners, Schedule
from arena.formats.checks import refuse_options, refuse_partners_but_in_fours, refuse_seats
from arena.formats.matchmaking import (
    PLACEMENTS,
    SYSTEM,
    Player,
    booked,
    newcomer,
    next_groups,
    placements,
    seated,
)
from arena.formats.points import ranked
from arena.formats.roster import Roster
from referee.shuffle import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arena.formats.base import Place, Plan, Results, Totals
    from arena.formats.points import Columns
    from arena.ratings import Skill

    Block = tuple[Pairing, ...]
    Ranks = tuple[int, ...] | None

PLACEMENT = "placement"
"""The stage of a newcomer's first matches."""

_FEWEST, _MOST = 2, 6
_BLOCK = 8
_LOOK_AHEAD = 3
_NEAR, _CHECKPOINT = 8, 256
_LADDERS = 8
_UPDATES = 1 << 16


class Ladder(Format):
    """Blocks of matches, each chosen once the block before the last two is over."""

    name = "ladder"
    is_endless = True
    summary = "Matches without end, chosen by rating; new entrants may come at any time."
    explanation = (
        "The ladder goes on until it is stopped. Whoever has waited longest for how uncertain its "
        "rating still is plays next, against whom TrueSkill promises an even match, whose own "
        "rating is uncertain, and whom it has not met lately; what is level is drawn by lot from "
        f"the tournament's seed. Matches are made in blocks of at most {_BLOCK} in which nobody "
        f"is twice, and a block rests on the results of all but the last {_LOOK_AHEAD - 1}, so "
        "that nobody waits for one slow match. There are no rounds to ask for, no byes, and a "
        "drawn match is a draw. Who has the best rating, mu - 3 sigma, is first; here it is always "
        "that of TrueSkill with its usual parameters, since pairings must not change with the "
        "settings of a pool. A late entry "
        f"gets up to {PLACEMENTS} placement matches at once, from weak opponents to strong. Who "
        "leaves plays no more, and its matches that were still to be played count for nobody."
    )

    def check(self, plan: Plan) -> None:
        """Refuse an end, and partners in any but matches of four.

        Raises:
            RefusedError: One of these was asked for.
        """
        refuse_options(self.name, plan)
        refuse_seats(self.name, plan, _FEWEST, _MOST, "2 to 6 seats")
        if plan.rounds is not None:
            raise RefusedError(
                f"{self.name} has no {plan.rounds} rounds, it runs until it is stopped",
                "leave --rounds away, or choose swiss or round-robin",
            )
        refuse_partners_but_in_fours(self.name, plan)

    def schedule(self, plan: Plan, results: Results) -> Schedule:
        """Give every block that the results allow."""
        return Schedule(tuple(pairing for block in _blocks(plan, results) for pairing in block))

    def ranking(self, plan: Plan, results: Results) -> tuple[Place, ...]:
        """Rank by the rating shown, all results counted."""
        everybody = range(plan.ever_entered)
        skills = dict.fromkeys(everybody, SYSTEM.start())
        games = dict.fromkeys(everybody, 0)
        for block in _blocks(plan, results):
            for pairing in block:
                ranks = _ranks(plan, results.get(pairing.number))
                skills |= _rated(plan, skills, pairing.seats, ranks)
                for entrant in pairing.seats if ranks else ():
                    games[entrant] += 1
        merits = {one: (Fraction(skills[one].mu - 3 * skills[one].sigma),) for one in everybody}
        columns: dict[int, Columns] = {
            one: (
                ("Rating", f"{skills[one].mu - 3 * skills[one].sigma:.2f}"),
                ("+/-", f"{2 * skills[one].sigma:.2f}"),
                ("Games", games[one]),
            )
            for one in everybody
        }
        return ranked(merits, columns, plan.left)

    def expected_matches(self, plan: Plan) -> None:  # noqa: ARG002 - whatever it is, there is no end
        """Return None: there is no end."""
        return


ladder = Ladder()


@dataclass(frozen=True, slots=True)
class _Step:
    """What one block more rests on.

    Attributes:
        told: The outcomes of the oldest unrated blocks, which count from then on.
        present: Who is in.
        came: Who of them has just come and gets placement matches.
    """

    told: tuple[tuple[Ranks, ...], ...]
    present: tuple[int, ...]
    came: tuple[int, ...]


@dataclass(slots=True, eq=False)
class _Node:
    """A ladder after some blocks.

    What follows is remembered in the node: a ladder is asked for again after every few of its
    thousands of matches, and then only what is new is to be worked out. What the choice of matches
    knows of the players is kept by the last nodes and by a few on the way alone: all of it after
    every block would fill the memory of what has no end.

    Attributes:
        plan: Of the tournament, without its changes.
        block: The last one.
        number: How many blocks there are.
        held: How many pairings there are.
        unrated: The blocks whose results do not count yet, the oldest first.
        before: The ladder without the last block, and what that rests on; None of an empty one.
        players: All who have ever come; None where they are forgotten.
    """

    plan: Plan
    block: Block
    number: int
    held: int
    unrated: tuple[Block, ...]
    before: tuple[_Node, _Step] | None
    players: Mapping[int, Player] | None
    _next: dict[_Step, _Node] = field(default_factory=dict)

    def after(self, step: _Step) -> _Node:
        """Return the ladder with one block more."""
        if step not in self._next:
            # Who is in seldom changes: one list of them does for many blocks.
            last = self.before and self.before[1].present
            if step.present == last:
                step = replace(step, present=last)
            self._next[step] = self._grown(step)
        return self._next[step]

    def _grown(self, step: _Step) -> _Node:
        plan, present, number = self.plan, step.present, self.number + 1
        players = self.rated(self.known_players(), step)
        stream = Stream(plan.seed, "ladder", number, 0)
        if step.came:
            others = [one for one in present if one not in step.came]
            groups = [
                group for one in step.came for group in placements(players, one, others, stream)
            ]
        else:
            matches = min(len(present) // plan.seats, _BLOCK)
            groups = next_groups(players, present, number, matches, stream)
        grown: list[Pairing] = []
        for group in groups:
            seats = seated(players, group, rotating=plan.partners is Partners.ROTATING)
            stage = PLACEMENT if step.came else ""
            grown.append(Pairing(self.held + len(grown) + 1, number, seats, stage))
            _book(players, grown[-1], len(present))
        node = _Node(
            plan=plan,
            block=tuple(grown),
            number=number,
            held=self.held + len(grown),
            unrated=(*self.unrated[len(step.told) :], tuple(grown)),
            before=(self, step),
            players=players,
        )
        node.forget_old_players()
        return node

    def rated(self, players: Mapping[int, Player], step: _Step) -> dict[int, Player]:
        """Return the players after the results that count from a step on, its newcomers added."""
        moved = dict(players)
        moved |= {one: newcomer(self.plan.seats) for one in step.present if one not in moved}
        for block, outcomes in zip(self.unrated, step.told, strict=False):
            _count(self.plan, moved, block, outcomes)
        return moved

    def known_players(self) -> Mapping[int, Player]:
        """Return all who have ever come, worked out from an earlier node if they are forgotten."""
        way: list[tuple[_Node, _Step, _Node]] = []
        node = self
        while node.players is None and node.before is not None:
            way.append((*node.before, node))
            node = node.before[0]
        players = dict(node.players or {})
        for earlier, step, later in reversed(way):
            players = earlier.rated(players, step)
            for pairing in later.block:
                _book(players, pairing, len(step.present))
        return players

    def forget_old_players(self) -> None:
        """Let a node some blocks back, which is seldom gone on from, know its players no more."""
        node = self
        for _ in range(_NEAR):
            if node.before is None:
                return
            node = node.before[0]
        if node.number % _CHECKPOINT:
            node.players = None


def _book(players: dict[int, Player], pairing: Pairing, field_: int) -> None:
    """Note that those of a pairing have been put into a match."""
    for seat, one in enumerate(pairing.seats):
        players[one] = booked(players[one], pairing.seats, seat, pairing.round, field_)


@lru_cache(_LADDERS)
def _start(plan: Plan) -> _Node:
    return _Node(plan=plan, block=(), number=0, held=0, unrated=(), before=None, players={})


def _blocks(plan: Plan, results: Results) -> list[Block]:
    """Return all blocks that can be known."""
    node = _start(replace(plan, changes=()))
    roster = Roster(plan)
    roster.advance(1)
    blocks: list[Block] = []
    while True:
        came = tuple(roster.advance(node.held + 1)) if blocks else ()
        opponents = len(roster.present) - len(came)
        if came and opponents >= plan.seats - 1:
            told: tuple[tuple[Ranks, ...], ...] = ()
        else:
            came = ()
            due = node.unrated[: max(len(node.unrated) - _LOOK_AHEAD + 1, 0)]
            over = all(pairing.number in results for block in due for pairing in block)
            if not over or len(roster.present) < plan.seats:
                return blocks
            told = tuple(
                tuple(_ranks(plan, results[pairing.number]) for pairing in block) for block in due
            )
        node = node.after(_Step(told, tuple(roster.present), came))
        blocks.append(node.block)


def _count(plan: Plan, players: dict[int, Player], block: Block, outcomes: Sequence[Ranks]) -> None:
    """Let the outcomes of a block move the skills."""
    for pairing, ranks in zip(block, outcomes, strict=True):
        skills = {one: players[one].skill for one in pairing.seats}
        for one, skill in _rated(plan, skills, pairing.seats, ranks).items():
            players[one] = replace(players[one], skill=skill)


def _ranks(plan: Plan, totals: Totals | None) -> Ranks:
    """Return the place of each side, 0 for the best; None for a match without a result."""
    if totals is None:
        return None
    sides = _sides(plan)
    sums = totals
    if sides < len(totals):
        sums = tuple(sum(totals[side::sides], start=Fraction()) for side in range(sides))
    return tuple(sum(other > mine for other in sums) for mine in sums)


def _rated(
    plan: Plan, skills: Mapping[int, Skill], seats: Sequence[int], ranks: Ranks
) -> dict[int, Skill]:
    """Return the skills after a match of those who were in it."""
    if ranks is None:
        return {}
    sides = [seats[side :: _sides(plan)] for side in range(_sides(plan))]
    after = _updated(tuple(tuple(skills[one] for one in side) for side in sides), ranks)
    return {
        one: skill
        for side, side_after in zip(sides, after, strict=True)
        for one, skill in zip(side, side_after, strict=True)
    }


@lru_cache(_UPDATES)
def _updated(
    sides: tuple[tuple[Skill, ...], ...], ranks: tuple[int, ...]
) -> tuple[tuple[Skill, ...], ...]:
    return SYSTEM.update(sides, ranks)


def _sides(plan: Plan) -> int:
    return 2 if plan.partners is Partners.ROTATING else plan.seats
