"""Tournaments of made-up results, for the tests of formats."""

import random
from collections.abc import Callable
from fractions import Fraction

from arena.formats import Change, ChangeKind, Pairing, Plan, Schedule, Totals, schedule

Outcome = Callable[[Pairing], Totals | None]


def better_seed(pairing: Pairing) -> Totals:
    """Let whoever has the smaller number win."""
    return tuple(Fraction(-entrant) for entrant in pairing.seats)


def draw(pairing: Pairing) -> Totals:
    """Let nobody win."""
    return (Fraction(),) * len(pairing.seats)


def by_chance(seed: int) -> Outcome:
    """Return results that look drawn by lot, the same for a pairing whenever it is asked for."""

    def outcome(pairing: Pairing) -> Totals:
        lot = random.Random(f"{seed}/{pairing.number}")
        return tuple(Fraction(lot.randrange(4)) for _ in pairing.seats)

    return outcome


def two(first: int) -> Totals:
    """Return the totals of a match of two in which the first has so many, the second as many less.

    So 1 is a win of the first, 0 a draw, -1 a win of the second.
    """
    return Fraction(first), Fraction(-first)


def play(
    name: str,
    plan: Plan,
    outcome: Outcome = better_seed,
    *,
    results: dict[int, Totals | None] | None = None,
    matches: int = 100_000,
) -> tuple[Schedule, dict[int, Totals | None]]:
    """Play a tournament out, or so many matches of it; return its schedule and the results."""
    known = dict(results or {})
    while True:
        made = schedule(name, plan, known)
        open_ = [pairing for pairing in made.pairings if pairing.number not in known]
        if not open_ or len(known) >= matches:
            return made, known
        for pairing in open_[: matches - len(known)]:
            known[pairing.number] = outcome(pairing)


def join(entrant: int, after: int) -> Change:
    """Let a newcomer come."""
    return Change(ChangeKind.JOIN, entrant, after)


def leave(entrant: int, after: int) -> Change:
    """Let somebody leave."""
    return Change(ChangeKind.LEAVE, entrant, after)
