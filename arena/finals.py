"""Finals: who reaches them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena import planning, queries
from arena.bots import PLUS
from arena.errors import RefusedError
from arena.tournament import TournamentOptions
from referee.results import SERIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.planning import Placed
    from arena.store import Store

FEWEST = 2
"""Who can play a final at least."""


def finals_options(
    store: Store,
    name: str,
    source: str,
    *,
    top: int,
    format_name: str,
    rounds: int | None,
    decks: int | None,
) -> TournamentOptions:
    """Return what a final of the best of a finished tournament is made of, in the same game.

    Raises:
        NotFoundError: No tournament is called `source`.
        RefusedError: It is not over, has fewer who could play on, or the last place in the final
            is shared.
    """
    info = queries.tournament(store, source)
    if not info.is_over:
        raise RefusedError(
            f"{info.name} is not over, so nobody has reached its finals",
            f"play it first: arena tournament run {info.name}",
        )
    present = {entrant.name for entrant in info.present}
    able = [row for row in planning.table(store, info) if present.issuperset(row.names)]
    if len(able) < top:
        raise RefusedError(
            f"{info.name} has {len(able)} who can play on, not {top}", f"ask for up to {len(able)}"
        )
    _refuse_cut_tie(able, top)
    return TournamentOptions(
        name=name,
        bots=tuple(PLUS.join(row.names) for row in able[:top]),
        time=info.time,
        rules=info.rules,
        variant=info.variant,
        format=format_name,
        seats=info.seats,
        rounds=rounds,
        is_final=True,
        decks=info.decks if decks is None and info.match_format == SERIES else decks,
        match_format=info.match_format,
        tables=info.tables,
        sandbox=info.sandbox,
    )


def _refuse_cut_tie(able: Sequence[Placed], top: int) -> None:
    """Refuse to take some of those who share a place and not the others.

    Raises:
        RefusedError: Naming who is level, and how many can be asked for.
    """
    last = able[top - 1].rank
    tied = [row for row in able if row.rank == last]
    above = next(place for place, row in enumerate(able) if row.rank == last)
    if above + len(tied) == top:
        return
    names = [PLUS.join(row.names) for row in tied]
    fewer = f" or {above}" if above >= FEWEST else ""
    raise RefusedError(
        f"{', '.join(names[:-1])} and {names[-1]} share place {last}",
        f"ask for --top {above + len(tied)}{fewer}",
    )
