"""How a bracket is played: ties, walkovers, replays, and newcomers in the place of who left."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from arena.errors import RefusedError
from arena.formats.base import Bye, ChangeKind, Pairing
from arena.formats.bracket import Of
from arena.formats.points import encounters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arena.formats.base import Plan, Results
    from arena.formats.bracket import Side, Tie
    from arena.formats.roster import Roster

MOST_REPLAYS = 3
"""Matches after which the better seed goes on if a tie is still level."""

_OPEN = -1
_NO_PLACE = (-1, "none")

Sides = tuple[int | None, int | None]
"""Places that meet: None for nobody, -1 for who is not known yet."""


@dataclass(frozen=True, slots=True)
class _Decision:
    """Places that come out of a tie; None where nobody does."""

    winner: int | None
    loser: int | None


@dataclass(slots=True)
class Knockout:
    """A bracket as far as it has been played.

    Attributes:
        ties: Of the bracket.
        holders: Who holds each place of the seeding, the best first.
        matches: How many a tie has unless it is level after them.
        pairings: All of the tournament so far.
        rounds_before: How many rounds were played before the bracket.
    """

    ties: Sequence[Tie]
    holders: list[int]
    matches: int
    pairings: list[Pairing] = field(default_factory=list)
    rounds_before: int = 0
    byes: list[Bye] = field(default_factory=list)
    _played: defaultdict[int, list[tuple[Pairing, Sides]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _decided: dict[int, _Decision] = field(default_factory=dict)
    _firsts: Counter[int] = field(default_factory=Counter)

    def play(self, roster: Roster, results: Results) -> bool:
        """Add every block of pairings whose predecessor is over; return whether all is decided."""
        block: list[Pairing] = []
        while all(pairing.number in results for pairing in block):
            newcomers = roster.advance(len(self.pairings) + 1)
            self._seat(newcomers, roster)
            self._decide(roster, results)
            block = list(self._block())
            self.pairings += block
            if not block:
                return True
        return False

    def reached(self, entrant: int) -> tuple[int, str]:
        """Return how far an entrant has come at least, greater is better, and the stage's name."""
        if entrant not in self.holders:
            return _NO_PLACE
        place = self.holders.index(entrant)
        merit, stage = 0, ""
        for number, tie in enumerate(self.ties):
            if place not in self._sides(tie):
                continue
            decision = self._decided.get(number)
            won = decision is not None and decision.winner == place
            if not self._is_spared(tie):
                merit, stage = tie.loser_merit, tie.stage
            if won and tie.winner_merit is not None:
                merit = tie.winner_merit
                stage = "winner" if number == len(self.ties) - 1 else tie.stage
        return merit, stage

    def _seat(self, newcomers: list[int], roster: Roster) -> None:
        """Give newcomers the places of those who left, if these still have a tie before them."""
        waiting = {
            self._place(side)
            for number, tie in enumerate(self.ties)
            if number not in self._decided
            for side in tie.sides
        }
        holders = {entrant: place for place, entrant in enumerate(self.holders)}
        vacant = [
            holders[entrant]
            for entrant in roster.left
            if entrant in holders and holders[entrant] in waiting
        ]
        for place, newcomer in zip(vacant, newcomers, strict=False):
            self.holders[place] = newcomer

    def _decide(self, roster: Roster, results: Results) -> None:
        for number, tie in enumerate(self.ties):
            if number in self._decided:
                continue
            decision = self._decision(number, tie, roster, results)
            if decision is None:
                continue
            self._decided[number] = decision
            unplayed = not self._played[number] and not self._is_spared(tie)
            if unplayed and decision.winner is not None:
                bye = Bye(self.rounds_before + tie.round, self.holders[decision.winner])
                self.byes.append(bye)

    def _decision(
        self, number: int, tie: Tie, roster: Roster, results: Results
    ) -> _Decision | None:
        """Return what a tie has come to, None if it is open."""
        one, other = self._sides(tie)
        if _OPEN in (one, other):
            return None
        if one is None or other is None:
            return _Decision(other if one is None else one, None)
        if self._is_spared(tie):
            return _Decision(one, other)
        score = self._score(number, results)
        ahead, behind = sorted((one, other), key=lambda place: (-score[place], place))
        lead = score[ahead] - score[behind]
        holders = {self.holders[place]: place for place in (one, other)}
        gone = [holders[entrant] for entrant in roster.left if entrant in holders]
        matches = len(self._played[number])
        if lead and (2 * score[ahead] > self.matches or (matches >= self.matches and not gone)):
            return _Decision(ahead, behind)
        if gone:
            # If both have left, the first to do so had lost by then.
            return _Decision(one + other - gone[0], gone[0])
        if matches >= self.matches + MOST_REPLAYS:
            return _Decision(min(one, other), max(one, other))
        return None

    def _score(self, number: int, results: Results) -> defaultdict[int | None, Fraction]:
        """Return the points by place; a cancelled match has none to give."""
        score: defaultdict[int | None, Fraction] = defaultdict(Fraction)
        for pairing, places in self._played[number]:
            totals = results[pairing.number]
            if totals is not None:
                for met in encounters(pairing.seats, totals):
                    score[places[pairing.seats.index(met.entrant)]] += met.result
        return score

    def _block(self) -> Iterator[Pairing]:
        """Give the matches of all ties that can be played: all of a tie, or one more if level."""
        numbers = len(self.pairings)
        for number, tie in enumerate(self.ties):
            one, other = self._sides(tie)
            if number in self._decided or one is None or other is None or _OPEN in (one, other):
                continue
            replay = bool(self._played[number])
            for _ in range(1 if replay else self.matches):
                numbers += 1
                seats = self._seats(one, other)
                pairing = Pairing(
                    number=numbers,
                    round=self.rounds_before + tie.round,
                    seats=(self.holders[seats[0]], self.holders[seats[1]]),
                    stage=f"{tie.stage}, replay" if replay else tie.stage,
                )
                self._played[number].append((pairing, seats))
                yield pairing

    def _seats(self, one: int, other: int) -> tuple[int, int]:
        """Let sit first who did so less, of equals the better seed."""
        first, second = sorted((one, other), key=lambda place: (self._firsts[place], place))
        self._firsts[first] += 1
        self._firsts[second] -= 1
        return first, second

    def _is_spared(self, tie: Tie) -> bool:
        """Tell whether a tie falls away: it follows an upset, and there was none."""
        if not tie.only_after_upset:
            return False
        final = self.ties[tie.sides[0].index]
        return self._place(tie.sides[0]) == self._place(final.sides[0])

    def _sides(self, tie: Tie) -> Sides:
        return self._place(tie.sides[0]), self._place(tie.sides[1])

    def _place(self, side: Side) -> int | None:
        if side.of is Of.PLACE:
            return side.index if side.index < len(self.holders) else None
        decision = self._decided.get(side.index)
        if decision is None:
            return _OPEN
        return decision.winner if side.of is Of.WINNER else decision.loser


def refuse_late_entries(name: str, plan: Plan) -> None:
    """Refuse newcomers for whom nobody has made room: a bracket cannot grow.

    Raises:
        RefusedError: More have come than had left before.
    """
    vacant = 0
    for change in plan.changes:
        if change.after == 0:
            continue
        vacant += 1 if change.kind is ChangeKind.LEAVE else -1
        if vacant < 0:
            raise RefusedError(
                f"the bracket of {name} is drawn: there is no place for a late entry",
                "a newcomer can only replace an entrant that leaves",
            )


def ties_explained(length: str) -> str:
    """Return how ties are played, for explanations of formats, given how many matches they have."""
    return (
        "When all matches made so far are over, every tie whose two sides are known is made. A "
        f"tie is {length}; if it is level it is played again with new decks, one match at a time, "
        f"and after {MOST_REPLAYS} more without a winner the better seed goes on. When an entrant "
        "leaves, its tie is a walkover for the other unless it was decided already. There is no "
        "late entry into a bracket, but a newcomer takes over the place of one that leaves while "
        "this still has a tie to play."
    )
