"""Whether a format gives everybody equally many games, found by playing it in thought."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from arena import formats
from arena.errors import RefusedError
from arena.formats import Partners

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.formats import Pairing, Plan, Totals

MOST_TURNS = 10_000


def check_equal_games(name: str, plan: Plan) -> None:
    """Refuse a format that does not give everybody equally many games.

    A format in which results can make more matches is refused unseen: nobody can try all results.
    Else the whole tournament is played in thought, once with the first seats winning, once the
    last.

    Raises:
        RefusedError: Somebody would play more often than another, or there is no end.
    """
    if formats.find_format(name).is_endless:
        raise RefusedError(
            f"{name} has no end, and in finals everybody plays equally many games",
            "choose round-robin for finals",
        )
    if formats.find_format(name).can_grow:
        raise RefusedError(
            f"{name} plays again what ends level, and in finals everybody plays equally many games",
            "choose round-robin for finals",
        )
    for sign in (1, -1):
        games = _games(plan, played_in_thought(name, plan, sign))
        if min(games) != max(games):
            raise RefusedError(
                f"{name} with {plan.entrants} entrants gives some {max(games)} games and others "
                f"{min(games)}, and in finals everybody plays equally many",
                "choose round-robin for finals, or another number of entrants",
            )


def played_in_thought(name: str, plan: Plan, sign: int = 1) -> tuple[Pairing, ...]:
    """Return all pairings of a tournament in which a lower seat beats a higher, or the reverse."""
    results: dict[int, Totals | None] = {}
    for _ in range(MOST_TURNS):
        schedule = formats.schedule(name, plan, results)
        new = [pairing for pairing in schedule.pairings if pairing.number not in results]
        if not new:
            break
        results |= {pairing.number: _totals(plan, pairing.seats, sign) for pairing in new}
    return schedule.pairings


def _totals(plan: Plan, seats: Sequence[int], sign: int) -> Totals:
    fixed = plan.partners is not Partners.NONE
    ranks = [seat % 2 if fixed else seat for seat in range(len(seats))]
    return tuple(Fraction(-sign * rank) for rank in ranks)


def _games(plan: Plan, pairings: Sequence[Pairing]) -> list[int]:
    games = [0] * plan.ever_entered
    for pairing in pairings:
        for entrant in pairing.seats:
            games[entrant] += 1
    return games
