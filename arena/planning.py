"""From the store to a format and back: what is to be played next, and how it stands so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmodel import delete

from arena import formats, ledger, queries
from arena.bots import PLUS
from arena.contributions import waiting
from arena.errors import RefusedError
from arena.formats import Schedule
from arena.plan_queries import plan_of
from arena.reasons import ReasonKind
from arena.tables import Match

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from fractions import Fraction

    from sqlmodel import Session

    from arena.formats import Bye
    from arena.infos import ChangeInfo, EntrantInfo, TournamentInfo
    from arena.store import Store
    from arena.tables import Tournament


def extend(store: Store, info: TournamentInfo) -> int:
    """Ask the format what comes next and plan it; return how many matches are new.

    Raises:
        StoreError: The database failed.
    """
    while True:
        changes = queries.changes_so_far(store, info.id)
        plan = queries.format_plan(store, info.id)
        results = queries.format_results(store, info.id)
        schedule = formats.schedule(info.format, plan, results)
        added = ledger.plan(store, info.id, schedule, changes=changes)
        if added is not None:
            return added


def plan_anew(session: Session, row: Tournament) -> None:
    """Plan a tournament that has not begun for those who are in now, if they are enough.

    One that was stopped is left as it is.
    """
    if row.stopped is not None:
        return
    session.flush()
    session.exec(delete(Match).where(Match.tournament_id == row.id))  # type: ignore[arg-type]
    try:
        schedule = formats.schedule(row.format, plan_of(session, row), {})
    except RefusedError:
        schedule = Schedule(())
    ledger.add_pairings(session, row, schedule)


def obstacle(store: Store, info: TournamentInfo) -> RefusedError | None:
    """Return why a tournament cannot be played as it stands; None if it can."""
    try:
        formats.check(info.format, queries.format_plan(store, info.id))
    except RefusedError as error:
        may_enter = info.started is None and info.stopped is None and not info.frozen
        if not may_enter or len(info.entrants) >= info.seats:
            return error
        command = f"arena tournament enter {info.name} BOT --reason TEXT"
        return RefusedError(error.message, f"{error.hint}: {command}")
    return None


def hindrance(store: Store, info: TournamentInfo) -> RefusedError | None:
    """Return why a tournament cannot be run now: it cannot be played, or it waits for strings.

    None of one that is over: its run has nothing to do.
    """
    if info.is_over:
        return None
    return obstacle(store, info) or waiting(info.name, info.contributions)


def expected_matches(store: Store, info: TournamentInfo) -> int | None:
    """Return how many matches a tournament will have come to; None if nobody can know.

    Where nobody came or left it is what the format expects; else what is scheduled, if that is
    all.
    """
    if info.complete:
        return info.total
    if info.stopped is not None or obstacle(store, info) is not None:
        return None
    plan = queries.format_plan(store, info.id)
    expected = formats.expected_matches(info.format, plan)
    return None if expected is None else max(expected, info.total)


def may_grow(info: TournamentInfo) -> bool:
    """Tell whether results can bring more matches than are expected, if nobody comes or leaves."""
    return not info.complete and formats.find_format(info.format).can_grow


def is_endless(info: TournamentInfo) -> bool:
    """Tell whether only the organiser can end a tournament, however many are in."""
    return formats.find_format(info.format).is_endless


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A row of a format's own order.

    Attributes:
        rank: From 1, shared by who is level; None for one who was disqualified.
        names: Of the bot, or of the two of a pair that stays together.
        columns: What the order rests on, what counts most first.
        note: Why it left, else how it came after the start, else empty; where one version took
            over from another, each names the other.
    """

    rank: int | None
    names: tuple[str, ...]
    columns: tuple[tuple[str, Fraction | int | str], ...]
    note: str


def table(store: Store, info: TournamentInfo) -> tuple[Placed, ...]:
    """Return the format's own order so far, best first, who was disqualified last.

    Empty as long as there are too few entrants for an order.
    """
    if obstacle(store, info) is not None:
        return ()
    plan = queries.format_plan(store, info.id)
    places = formats.ranking(info.format, plan, queries.format_results(store, info.id))
    units: Sequence[Sequence[EntrantInfo]] = info.pairs or [(each,) for each in info.entrants]
    out = {number for number, unit in enumerate(units) if _is_out(unit)}
    heirs = successors(queries.history(store, info.name))
    return tuple(
        Placed(
            rank=rank,
            names=tuple(entrant.name for entrant in units[place.entrant]),
            columns=place.columns,
            note=_note(units[place.entrant], heirs),
        )
        for rank, place in formats.without(places, out)
    )


def _is_out(unit: Sequence[EntrantInfo]) -> bool:
    return any(entrant.left is ReasonKind.DISQUALIFICATION for entrant in unit)


def _note(unit: Sequence[EntrantInfo], heirs: Mapping[str, str]) -> str:
    left = next((entrant for entrant in unit if entrant.left is not None), None)
    if left is not None:
        new = [heirs[each.name] for each in unit if each.name in heirs]
        is_replaced = left.left is ReasonKind.REPLACEMENT and new
        return f"replaced by {PLUS.join(new)}" if is_replaced else str(left.left)
    came = next((entrant for entrant in unit if entrant.came is not None), None)
    if came is None:
        return ""
    names = {each.name for each in unit}
    old = [before for before, after in heirs.items() if after in names]
    is_new = came.came is ReasonKind.REPLACEMENT and old
    return f"replaces {PLUS.join(old)}" if is_new else str(came.came)


def successors(changes: Iterable[ChangeInfo]) -> dict[str, str]:
    """Return by the name of each version that was replaced that of the one that took over.

    Of a pair both leave before the others come, in the same order; a version is replaced by
    another of the same bot.
    """
    waiting: dict[str, list[str]] = {}
    heirs: dict[str, str] = {}
    for change in changes:
        if change.kind is not ReasonKind.REPLACEMENT or change.entrant is None:
            continue
        queue = waiting.setdefault(change.entrant.rpartition("@")[0], [])
        if change.joined is False:
            queue.append(change.entrant)
        elif queue:
            heirs[queue.pop(0)] = change.entrant
    return heirs


def byes(store: Store, info: TournamentInfo) -> tuple[Bye, ...]:
    """Return who sits out which round, as far as it is known."""
    if obstacle(store, info) is not None:
        return ()
    plan = queries.format_plan(store, info.id)
    return formats.schedule(info.format, plan, queries.format_results(store, info.id)).byes
