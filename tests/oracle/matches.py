"""Matches on the engine's scoring and on the oracle's, compared after every deal."""

import random
from typing import Any

from oracle.adapter import Case, DifferenceError, Setup, SideBySide, oracle_options
from oracle.cases import accepted, random_changes
from oracle.scoring import Match
from oracle.sources import FixedSource
from referee.rules import Outcome, Rules
from referee.scoring import MatchScore
from referee.tallies import Bank
from referee.variants import VARIANTS

FORMATS = ("robber", "penalty", "burkozyol_penalty", "burkozyol_double", "eyes", "bank")
_BASES = {
    "robber": "bura bura-basic bura-5 burkozyol-same-rank",
    "penalty": "bura-by bura-dave bura-no-trumps burkozyol-by",
    "burkozyol_penalty": "burkozyol-by burkozyol burkozyol-pairs",
    "burkozyol_double": "burkozyol burkozyol-pairs burkozyol-queue",
    "eyes": "burkozyol-eyes",
    "bank": "bura-bank bura-closed bura-dave kozel burkozyol bura",
}
_SHORT: dict[str, list[int]] = {
    "robber_target": [2, 5],
    "robber_margin": [1, 2, 3],
    "penalty_limit": [4, 12],
    "eyes_target": [4, 12],
    "max_deals": [3, 20],
    "max_void": [0, 1, 3],
    "ante": [1, 3],
}


def match_rules(match_format: str, seed: int) -> tuple[Rules, int]:
    """Find rules for a short match of that format, some of their options replaced by chance."""
    chance = random.Random(f"{match_format} {seed}")
    while True:
        base = VARIANTS[chance.choice(_BASES[match_format].split())]
        changes: dict[str, Any] = {name: chance.choice(n) for name, n in _SHORT.items()}
        if base.goal == "points":
            del changes["max_void"]
        if chance.random() < 0.7:
            changes |= random_changes(chance, base.hand_size)
        seats = chance.choice([2, 3, 3, 4, 4])
        pairs = changes.get("sides", base.sides) == "pairs"
        changes["players"] = (4,) if pairs else tuple(range(2, seats + 1))
        changes["match_format"] = match_format
        rules = accepted({**base.to_dict(), **changes}, changes["players"][-1])
        if rules is not None:
            return rules, changes["players"][-1]


class MatchSideBySide:
    """One match on the engine and on the oracle."""

    def __init__(self, match_format: str, seed: int) -> None:
        self.rules, self.seats = match_rules(match_format, seed)
        self.seed = seed
        self.chance = random.Random(seed)
        dealer = self.chance.randrange(self.seats)
        options = oracle_options(self.rules)
        self.oracle = Match(options, self.seats, FixedSource([], {"lot": [dealer]}))
        self.engine = MatchScore.start(self.rules, self.seats, dealer=dealer)
        self.done: list[str] = []

    def play(self) -> int:
        """Play to the end, compare after every deal, and return how many were played.

        Raises:
            DifferenceError: The two differ.
        """
        while not self.oracle.over:
            self.play_deal()
        final = self.engine.final()
        self.require("over", self.engine.next_deal(), None)
        self.require("final counts", list(final.tallies), self.oracle.totals)
        self.require("winners", list(final.winners), self.oracle.winners)
        if self.rules.match_format != "bank":
            self.require("sum of the scores", sum(final.scores), 0)
        return self.engine.deals

    def play_deal(self) -> None:
        """Set up the next deal on both, play it on both, and score it on both."""
        setup, expected = self.engine.next_deal(), self.oracle.next_deal()
        if setup is None:
            self.require("next deal", setup, expected)
            return
        playing = setup.playing
        leader = None if setup.leader is None else playing[setup.leader]
        self.require("playing", list(playing), expected["seats"])
        self.require("dealer", playing[setup.dealer], expected["dealer"])
        self.require("leader", leader, expected["leader"])
        self.require("multiplier", setup.multiplier, self.oracle.carry)
        if isinstance(self.engine.tally, Bank):
            self.require("bank", setup.bank, expected["bank"])
        case = Case("match", self.rules, len(playing), self.chance.randrange(1 << 40))
        deal = SideBySide(case, Setup(setup.dealer, setup.leader, expected["void_allowed"]))
        outcome = deal.play_on()
        theirs = deal.oracle.outcome()
        assert theirs is not None
        assert deal.oracle.first_leader is not None
        self.note(outcome, theirs)
        self.engine = self.engine.add(outcome)
        self.oracle.record(theirs, deal.oracle.first_leader)

    def note(self, outcome: Outcome, theirs: dict[str, Any]) -> None:
        """Write down how a deal ended, for the report of a difference."""
        losers, reason = dict(outcome.losers), theirs["reason"]
        self.done.append(f"{reason}: {theirs['winners']} beat {losers}, {outcome.points}")

    def require(self, what: str, engine: object, expected: object) -> None:
        """Compare one thing."""
        if engine != expected:
            plain = Rules().to_dict()
            changed = {k: v for k, v in self.rules.to_dict().items() if v != plain[k]}
            deals = "\n  ".join(self.done)
            raise DifferenceError(
                f"{what}\n engine: {engine}\n oracle: {expected}\n seed {self.seed},"
                f" {self.seats} seats, {changed}\n  {deals}"
            )
