"""The strings of a tournament's entrants, inside a transaction: listed, told, mixed, forgone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from sqlmodel import col, select

from arena.entropy import StringKind, StringState, digest_of, seed_of_strings
from arena.errors import RefusedError
from arena.infos import Contribution, version_label
from arena.tables import Bot, BotVersion, Entrant, ListedString

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlmodel import Session

    from arena.tables import Tournament


def seed_of(session: Session, row: Tournament) -> bytes:
    """Return the secret with the entrants' strings mixed in, the secret itself without any."""
    return seed_of_strings(bytes.fromhex(row.seed), contributions(session, row))


def contributions(session: Session, row: Tournament) -> tuple[Contribution, ...]:
    """Return the strings of the list, then those too late for it, each in order of its entrant.

    Until the list is fixed these are the strings of who is in.
    """
    carriers = _carriers(session, row)
    if row.listed is None:
        listed = [_contribution(row, name, version, kind_of(version)) for name, version in carriers]
        return tuple(sorted(listed, key=_by_entrant))
    rows = list_of(session, row)
    listed = [
        _contribution(row, name, version, StringKind(string.kind), string)
        for string, name, version in rows
    ]
    known = {version.id for _, _, version in rows}
    late = [
        Contribution(
            entrant=version_label(name, version.number),
            state=StringState.LATE,
            digest=_digest(version),
        )
        for name, version in carriers
        if version.id not in known
    ]
    return (*sorted(listed, key=_by_entrant), *sorted(late, key=_by_entrant))


def list_of(session: Session, row: Tournament) -> Sequence[tuple[ListedString, str, BotVersion]]:
    """Return the strings of a list that is fixed, each with the name and the version it is of."""
    return session.exec(
        select(ListedString, Bot.name, BotVersion)
        .join(BotVersion, col(BotVersion.id) == ListedString.bot_version_id)
        .join(Bot, col(Bot.id) == BotVersion.bot_id)
        .where(ListedString.tournament_id == row.id)
        .order_by(col(ListedString.number))
    ).all()


def fix_list(session: Session, row: Tournament, now: int) -> bool:
    """Fix the list of strings as it is now, `now` in milliseconds; False if it was fixed before."""
    if row.listed is not None:
        return False
    session.add_all(
        ListedString(
            tournament_id=cast("int", row.id),
            number=number,
            bot_version_id=cast("int", version.id),
            kind=kind_of(version),
        )
        for number, (_, version) in enumerate(_carriers(session, row), start=1)
    )
    row.listed = now
    session.add(row)
    session.flush()
    return True


def forgo(
    session: Session, row: Tournament, versions: Collection[int], reason: str, now: int
) -> int:
    """Wait no more for what some versions promised and did not tell; return how many those were.

    What is not on a fixed list is left alone. `now` is in milliseconds.
    """
    given_up = [
        string
        for string, _, version in list_of(session, row)
        if version.id in versions and _state(StringKind(string.kind), version, string) in WAITING
    ]
    for string in given_up:
        string.forgone, string.reason = now, reason
        session.add(string)
    session.flush()
    return len(given_up)


WAITING = frozenset({StringState.PROMISED})
"""What a tournament does not start with."""


def waiting(name: str, strings: Collection[Contribution]) -> RefusedError | None:
    """Return why a tournament waits for strings that were promised; None if it need not."""
    missing = [each.entrant for each in strings if each.state in WAITING]
    if not missing:
        return None
    return RefusedError(
        f"{name} waits for the strings that {', '.join(dict.fromkeys(missing))} promised",
        f"arena bot reveal {missing[0]} tells one; else withdraw it, or start without: "
        f"arena tournament forgo {name} {missing[0]} --reason TEXT",
    )


def kind_of(version: BotVersion) -> StringKind:
    """Return how the string of a version is given to a list that is fixed now."""
    if version.entropy_digest is None:
        return StringKind.OPEN
    return StringKind.PROMISED if version.revealed is None else StringKind.KNOWN


def _carriers(session: Session, row: Tournament) -> list[tuple[str, BotVersion]]:
    """Return name and version of every entrant that carries a string, in their order."""
    rows = session.exec(
        select(Bot.name, BotVersion)
        .join(Bot, col(Bot.id) == BotVersion.bot_id)
        .join(Entrant, col(Entrant.bot_version_id) == BotVersion.id)
        .where(Entrant.tournament_id == row.id)
        .order_by(col(Entrant.position))
    ).all()
    return [
        (name, version)
        for name, version in rows
        if version.entropy is not None or version.entropy_digest is not None
    ]


def _contribution(
    row: Tournament,
    name: str,
    version: BotVersion,
    kind: StringKind,
    string: ListedString | None = None,
) -> Contribution:
    state = _state(kind, version, string)
    told = version.created if kind is StringKind.OPEN else version.revealed
    is_public = kind is not StringKind.PROMISED and told is not None
    forgone = None if string is None else string.forgone
    return Contribution(
        entrant=version_label(name, version.number),
        state=state,
        digest=_digest(version),
        text=version.entropy if state.is_in_seed else None,
        is_later=cast("int", told) > row.created if is_public else None,
        reason="" if string is None else string.reason,
        forgone=None if forgone is None else datetime.fromtimestamp(forgone / 1000, tz=UTC),
        told=told,
    )


def _state(kind: StringKind, version: BotVersion, string: ListedString | None) -> StringState:
    if string is not None and string.forgone is not None:
        return StringState.FORGONE
    if kind is not StringKind.PROMISED:
        return StringState(kind)
    return StringState.PROMISED if version.revealed is None else StringState.REVEALED


def _digest(version: BotVersion) -> str:
    return version.entropy_digest or digest_of(version.entropy or "")


def _by_entrant(contribution: Contribution) -> bytes:
    return contribution.entrant.encode()
