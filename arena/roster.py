"""Who is in a tournament: entries, withdrawals, disqualifications, replaced versions, the end.

Each is one transaction and keeps the organiser's reason. Before the start the tournament is
planned anew for those who are in. After it, what a leaver has not played is cancelled, what it
plays just now may end and counts, and the format pairs those who are in from its next block on: it
is asked by the run that goes on, not before, so that several changes between two rounds are one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena import entries, formats, ledger, planning, queries
from arena.desk import change, check_reason
from arena.entries import split_pair
from arena.errors import NotFoundError, RefusedError, with_near
from arena.formats import Partners
from arena.infos import is_named
from arena.plan_queries import plan_of
from arena.reasons import ReasonKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.desk import Desk
    from arena.entries import Entry
    from arena.infos import EntrantInfo, TournamentInfo
    from arena.store import Store


def join(store: Store, name: str, word: str, reason: str) -> TournamentInfo:
    """Enter a bot, or a pair, into a tournament: before the start, or late.

    Raises:
        NotFoundError: There is no such tournament or bot.
        RefusedError: The tournament takes nobody, or not this bot.
    """
    info = queries.tournament(store, name)
    new = _new_entries(store, info, word)

    def act(desk: Desk) -> None:
        desk.refuse_frozen("takes no late entries")
        desk.refuse_over()
        desk.add(new)

    change(store, info, reason, act)
    return queries.tournament(store, name)


def withdraw(store: Store, name: str, word: str, reason: str) -> TournamentInfo:
    """Take a bot, or a pair, out of a tournament; what it played counts.

    Raises:
        NotFoundError: There is no such tournament, or it is not in it.
        RefusedError: The tournament is over, or it is the challenger of one that has begun.
    """
    info = queries.tournament(store, name)
    leaving = _find(info, word, info.present)

    def act(desk: Desk) -> None:
        desk.refuse_over("its results stand; only disqualify can still take it out of the tables")
        _refuse_challenger(desk, info, leaving)
        desk.remove(leaving, ReasonKind.WITHDRAWAL)

    change(store, info, reason, act)
    return queries.tournament(store, name)


def disqualify(store: Store, name: str, word: str, reason: str) -> TournamentInfo:
    """Take a bot, or a pair, out of a tournament for what it did, even when that is over.

    Results stay as they were played; it is marked everywhere and comes last.

    Raises:
        NotFoundError: There is no such tournament, or it was never in it.
        RefusedError: It is disqualified already, or was never to play.
    """
    info = queries.tournament(store, name)
    if info.is_over and info.started is None:
        raise RefusedError(f"{info.name} was stopped before its start: nobody played in it")
    leaving = _find(info, word, info.entrants)
    if leaving[0].left is ReasonKind.DISQUALIFICATION:
        raise RefusedError(f"{word} is disqualified already")
    change(store, info, reason, lambda desk: desk.remove(leaving, ReasonKind.DISQUALIFICATION))
    return queries.tournament(store, name)


def replace_version(store: Store, name: str, old: str, new: str, reason: str) -> TournamentInfo:
    """Let another version of a bot, or of a pair's bots, take over; it begins without results.

    Raises:
        NotFoundError: There is no such tournament or bot, or the old one is not in it.
        RefusedError: The tournament takes no new versions, or they are different bots.
    """
    info = queries.tournament(store, name)
    leaving = _find(info, old, info.present)
    coming = _new_entries(store, info, new)
    if [entrant.bot.name for entrant in leaving] != [entry.bot.name for entry in coming]:
        raise RefusedError(
            f"{new} is no other version of {old}",
            "withdraw the one and enter the other, or name the pair in the same order",
        )
    if [entrant.name for entrant in leaving] == [entry.bot.label for entry in coming]:
        raise RefusedError(f"{new} is in {info.name} already", "name another version")

    def act(desk: Desk) -> None:
        desk.refuse_frozen("takes no new versions")
        desk.refuse_over()
        desk.exchange(leaving, coming)

    change(store, info, reason, act)
    return queries.tournament(store, name)


def stop(store: Store, name: str, reason: str) -> TournamentInfo:
    """End a tournament that has no end of its own: what is not played is cancelled.

    Raises:
        NotFoundError: No tournament has this name.
        RefusedError: It ends by itself, has ended or was stopped, or the reason is empty.
    """
    check_reason(reason)
    info = queries.tournament(store, name)
    if info.is_over:
        raise RefusedError(f"{info.name} is over already")
    if not planning.is_endless(info):
        raise RefusedError(
            f"{info.name} is a {info.format}, which ends by itself",
            "Ctrl-C pauses its run; arena tournament withdraw takes an entrant out",
        )
    with store.write() as session:
        row = queries.find_tournament(session, name)
        if row.stopped is not None:
            raise RefusedError(
                f"{info.name} was stopped already", "its last matches may end; then it is over"
            )
        row.stopped, row.stop_reason = store.now(), reason
        row.complete = True
        session.add(row)
        ledger.cancel(session, info.id)
    return queries.tournament(store, name)


def _refuse_challenger(desk: Desk, info: TournamentInfo, leaving: Sequence[EntrantInfo]) -> None:
    if desk.is_before_start:
        return
    challenger = formats.challenger(info.format, plan_of(desk.session, desk.row))
    units: Sequence[Sequence[EntrantInfo]] = info.pairs or [(each,) for each in info.entrants]
    if challenger is not None and leaving[0] in units[challenger]:
        old = "+".join(entrant.name for entrant in leaving)
        raise RefusedError(
            f"{old} is the challenger of {info.name}, without whom nobody has a match",
            f"replace it instead: arena tournament replace {info.name} {old} NEW --reason TEXT",
        )


def _new_entries(store: Store, info: TournamentInfo, word: str) -> list[Entry]:
    new, partners = entries.enter(
        [word],
        info.variant,
        info.rules,
        lambda name: queries.bot_version(store, name),
    )
    entries.check_backend(new, info.sandbox)
    if info.entrants and partners is not info.partners:
        fixed = info.partners is Partners.FIXED
        raise RefusedError(
            f"{word} is {'alone' if fixed else 'a pair'}, but in {info.name} "
            f"{'pairs stay together' if fixed else 'every bot is entered alone'}",
            "name a pair, alice+bob" if fixed else "name one bot",
        )
    return new


def _find(info: TournamentInfo, word: str, among: Sequence[EntrantInfo]) -> tuple[EntrantInfo, ...]:
    """Return the bot that a word names among some entrants, or the pair, by one of it or both."""

    def named(name: str) -> list[EntrantInfo]:
        return [entrant for entrant in among if is_named(entrant.name, name)]

    parts = split_pair(word, lambda name: bool(named(name)))
    units = set.intersection(*({_unit(each) for each in named(part)} for part in parts))
    if not units:
        known = [entrant.name for entrant in among]
        raise NotFoundError(
            f"{word} is not in {info.name}",
            with_near(f"arena tournament show {info.name} says who is", word, known),
        )
    if len(units) > 1:
        raise RefusedError(f"{word} is more than one entrant of {info.name}", "name the version")
    unit = units.pop()
    return tuple(entrant for entrant in among if _unit(entrant) == unit)


def _unit(entrant: EntrantInfo) -> tuple[str, int]:
    """Return what tells a bot that is alone, or a pair, from all others of the tournament."""
    return ("bot", entrant.index) if entrant.pair is None else ("pair", entrant.pair)
