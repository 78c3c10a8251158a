"""Pairs: who sits across from whom, and pairs that stay together in any format made for two."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from arena.formats.base import Bye, Change, ChangeKind, Partners, Schedule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arena.formats.base import Format, Plan, Results
    from referee.rules import Rules


def sides_of(rules: Rules, seats: int) -> tuple[int, ...]:
    """Return the side of each seat, empty where each plays for itself."""
    return tuple(seat % 2 for seat in range(seats)) if rules.sides == "pairs" else ()


def between_pairs(format_: Format, plan: Plan, results: Results) -> Schedule:
    """Let a format pair the pairs as if each were one entrant, and seat partners across."""
    schedule = format_.schedule(pairs_as_entrants(plan), by_pair(results))
    return Schedule(
        pairings=tuple(
            replace(pairing, seats=_seats(*pairing.seats)) for pairing in schedule.pairings
        ),
        byes=tuple(
            Bye(bye.round, entrant)
            for bye in schedule.byes
            for entrant in (2 * bye.entrant, 2 * bye.entrant + 1)
        ),
        complete=schedule.complete,
    )


def pairs_as_entrants(plan: Plan) -> Plan:
    """Return the plan of a tournament for two in which each pair is one entrant."""
    challenger = plan.options.challenger
    return replace(
        plan,
        entrants=plan.entrants // 2,
        seats=2,
        partners=Partners.NONE,
        changes=tuple(_pair_changes(plan.changes)),
        options=replace(plan.options, challenger=None if challenger is None else challenger // 2),
    )


def by_pair(results: Results) -> Results:
    """Return results of pairs with one total for each pair: the mean of the partners'."""
    return {
        number: totals and ((totals[0] + totals[2]) / 2, (totals[1] + totals[3]) / 2)
        for number, totals in results.items()
    }


def _pair_changes(changes: Iterable[Change]) -> Iterator[Change]:
    """Give the changes by pair: it has come when both have, and has left when one has."""
    left: set[int] = set()
    for change in changes:
        pair, other = divmod(change.entrant, 2)
        if change.kind is ChangeKind.JOIN:
            if other:
                yield replace(change, entrant=pair)
        elif pair not in left:
            left.add(pair)
            yield replace(change, entrant=pair)


def _seats(pair: int, against: int) -> tuple[int, ...]:
    return (2 * pair, 2 * against, 2 * pair + 1, 2 * against + 1)
