"""Tournament formats: pure functions from the results so far to the pairings to play next."""

from fractions import Fraction

from arena.errors import RefusedError
from arena.formats.base import (
    Bye,
    Change,
    ChangeKind,
    Format,
    Options,
    Pairing,
    Partners,
    Place,
    Plan,
    Results,
    Schedule,
    Totals,
    UnknownFormatError,
    without,
)
from arena.formats.elimination import double_elimination, single_elimination
from arena.formats.gauntlet import gauntlet
from arena.formats.groups import groups
from arena.formats.ladder import PLACEMENT, ladder
from arena.formats.pairs import between_pairs, by_pair, pairs_as_entrants, sides_of
from arena.formats.pods import pods
from arena.formats.round_robin import round_robin
from arena.formats.swiss import swiss

__all__ = [
    "FORMATS",
    "PLACEMENT",
    "Bye",
    "Change",
    "ChangeKind",
    "Format",
    "Options",
    "Pairing",
    "Partners",
    "Place",
    "Plan",
    "Results",
    "Schedule",
    "Totals",
    "UnknownFormatError",
    "challenger",
    "check",
    "check_entry",
    "expected_matches",
    "find_format",
    "ranking",
    "schedule",
    "sides_of",
    "without",
]

FORMATS: dict[str, Format] = {
    format_.name: format_
    for format_ in (
        round_robin,
        swiss,
        single_elimination,
        double_elimination,
        groups,
        gauntlet,
        pods,
        ladder,
    )
}


def find_format(name: str) -> Format:
    """Return the format with this name.

    Raises:
        UnknownFormatError: There is none; the message lists the known ones.
    """
    if name not in FORMATS:
        known = ", ".join(sorted(FORMATS))
        raise UnknownFormatError(f"unknown format {name!r}: expected one of {known}")
    return FORMATS[name]


def check(name: str, plan: Plan) -> None:
    """Refuse a plan that a format cannot hold.

    Raises:
        UnknownFormatError: There is no such format.
        RefusedError: Naming what does not fit and what would.
    """
    find_format(name).check(_for_format(plan))


def challenger(name: str, plan: Plan) -> int | None:
    """Return who meets everybody, of fixed partners the pair; None in a format without one.

    Raises:
        UnknownFormatError: There is no such format.
        RefusedError: It cannot hold the plan.
    """
    check(name, plan)
    return find_format(name).challenger(_for_format(plan))


def schedule(name: str, plan: Plan, results: Results) -> Schedule:
    """Return every pairing of a format known so far, for bots alone and for pairs alike.

    Args:
        name: Of the format.
        plan: What the tournament fixed, and how its field has changed.
        results: As formats take them.

    Raises:
        UnknownFormatError: There is no such format.
        RefusedError: It cannot hold the plan.
    """
    check(name, plan)
    format_ = find_format(name)
    if plan.partners is Partners.FIXED:
        return between_pairs(format_, plan, results)
    return format_.schedule(plan, results)


def ranking(name: str, plan: Plan, results: Results) -> tuple[Place, ...]:
    """Return a format's own order of the entrants so far; of fixed partners that of the pairs.

    Raises:
        UnknownFormatError: There is no such format.
        RefusedError: It cannot hold the plan.
    """
    check(name, plan)
    told = by_pair(results) if plan.partners is Partners.FIXED else results
    return find_format(name).ranking(_for_format(plan), told)


def check_entry(name: str, plan: Plan, results: Results) -> None:
    """Refuse a late entry that would find nothing to play.

    Whether there is a place for it can depend on what has been played: so the tournament is
    played out with made-up results until the newcomer is seated.

    Args:
        name: Of the format.
        plan: With the change by which it comes in as the last of its kind.
        results: As formats take them.

    Raises:
        UnknownFormatError: There is no such format.
        RefusedError: It has no place for a late entry, or none any more.
    """
    newcomer = plan.ever_entered - 1
    told = dict(results)
    made = schedule(name, plan, told)
    while all(newcomer not in pairing.seats for pairing in made.pairings):
        open_ = [pairing for pairing in made.pairings if pairing.number not in told]
        if not open_:
            raise RefusedError(
                f"{name} has no place for a late entry any more",
                "a newcomer can only replace an entrant that leaves and still has matches to play",
            )
        for pairing in open_:
            first_wins = tuple(Fraction(-seat) for seat in range(len(pairing.seats)))
            told[pairing.number] = None if plan.left & set(pairing.seats) else first_wins
        made = schedule(name, plan, told)


def expected_matches(name: str, plan: Plan) -> int | None:
    """Return how many matches are to come of a plan if nobody leaves; None: no end to them.

    Raises:
        UnknownFormatError: There is no such format.
        RefusedError: It cannot hold the plan.
    """
    check(name, plan)
    return find_format(name).expected_matches(_for_format(plan))


def _for_format(plan: Plan) -> Plan:
    return pairs_as_entrants(plan) if plan.partners is Partners.FIXED else plan
