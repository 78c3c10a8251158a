"""Promised strings: made, told, or not waited for; each is one transaction."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from sqlmodel import col, select

from arena import planning, queries
from arena.bots import check_entropy
from arena.contributions import WAITING, contributions, fix_list, forgo
from arena.desk import change
from arena.entropy import StringState, digest_of
from arena.errors import NotFoundError, RefusedError, with_near
from arena.infos import is_named
from arena.tables import BotVersion, Entrant, ListedString, Tournament

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlmodel import Session

    from arena.desk import Desk
    from arena.infos import BotVersionInfo, TournamentInfo
    from arena.store import Store

_STRING_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Revealed:
    """What telling a string came to.

    Attributes:
        bot: The version that had promised it.
        new: False if it was told before.
        tournaments: Those that have not begun and mix it in.
    """

    bot: BotVersionInfo
    new: bool
    tournaments: tuple[TournamentInfo, ...]


def new_string() -> str:
    """Draw a string that nobody can guess from its digest."""
    return secrets.token_hex(_STRING_BYTES)


def reveal(store: Store, label: str, text: str) -> Revealed:
    """Tell the string that a version promised: every tournament that waits for it mixes it in.

    The list of strings of these tournaments is fixed first, unless it is. Telling it again changes
    nothing.

    Args:
        store: The arena's database.
        label: "name@2", or "name" for its newest version.
        text: The string, without a line end.

    Raises:
        NotFoundError: There is no such bot.
        RefusedError: It promised no string or not this one, or no tournament waits for it.
    """
    bot = queries.bot_version(store, label)
    _check_promise(store, bot, text)
    with store.write() as session:
        # Versions that promised the same string are known with each other.
        versions = session.exec(
            select(BotVersion).where(BotVersion.entropy_digest == bot.entropy_digest)
        ).all()
        is_new = any(version.revealed is None for version in versions)
        rows = _not_begun(session, [cast("int", version.id) for version in versions])
        if is_new:
            if not rows:
                raise _unwaited(session, bot)
            now = store.now()
            for row in rows:
                fix_list(session, row, now)
            for version in versions:
                version.entropy, version.revealed = text, now
                session.add(version)
            for row in rows:
                planning.plan_anew(session, row)
        names = [row.name for row in rows if _is_mixed(session, row, text)]
    return Revealed(
        bot=queries.bot_version(store, bot.label),
        new=is_new,
        tournaments=tuple(queries.tournament(store, name) for name in names),
    )


def _check_promise(store: Store, bot: BotVersionInfo, text: str) -> None:
    if bot.entropy_digest is None:
        others = [
            version.label
            for version in queries.bot(store, bot.name).versions
            if version.entropy_digest is not None
        ]
        advice = f"name the version that did: {', '.join(others)}" if others else ""
        raise RefusedError(
            f"{bot.label} promised no string",
            advice or "arena bot submit NAME SOURCE --entropy-digest HEX promises one",
        )
    check_entropy(text)
    found = digest_of(text)
    if found != bot.entropy_digest:
        is_line = digest_of(f"{text}\n") == bot.entropy_digest
        raise RefusedError(
            f"this is not the string that {bot.label} promised: its SHA-256 is {found}, not "
            f"{bot.entropy_digest}",
            "that is of the string with a line end, which no string may hold: forgo it, or submit "
            "another version"
            if is_line
            else "give the very string, without blanks or a line end",
        )


def _not_begun(session: Session, versions: Collection[int]) -> Sequence[Tournament]:
    """Return the tournaments that have not begun and list one of these, or have it in."""
    entered = select(Entrant.tournament_id).where(col(Entrant.bot_version_id).in_(versions))
    listed = select(ListedString.tournament_id).where(
        col(ListedString.bot_version_id).in_(versions), col(ListedString.forgone).is_(None)
    )
    return session.exec(
        select(Tournament)
        .where(
            col(Tournament.started).is_(None),
            col(Tournament.stopped).is_(None),
            (col(Tournament.listed).is_(None) & col(Tournament.id).in_(entered))
            | (col(Tournament.listed).is_not(None) & col(Tournament.id).in_(listed)),
        )
        .order_by(col(Tournament.id))
    ).all()


def _unwaited(session: Session, bot: BotVersionInfo) -> RefusedError:
    """Return why a string is not to be told: it was forgone, or nobody has asked for it yet."""
    version = queries.find_version(session, bot)
    given_up = session.exec(
        select(Tournament.name, ListedString.reason)
        .join(ListedString, col(ListedString.tournament_id) == Tournament.id)
        .where(ListedString.bot_version_id == version, col(ListedString.forgone).is_not(None))
        .order_by(col(Tournament.id))
    ).all()
    message = f"no tournament waits for the string of {bot.label}"
    if not given_up:
        return RefusedError(message, "enter it first: what is known before protects nobody")
    why = "; ".join(f"{name} forwent it ({reason})" for name, reason in given_up)
    return RefusedError(
        f"{message}: {why}",
        "what is forgone stays so; keep it secret, it is good for the next tournament that "
        "the bot enters",
    )


def _is_mixed(session: Session, row: Tournament, text: str) -> bool:
    return any(
        each.text == text and each.state is StringState.REVEALED
        for each in contributions(session, row)
    )


def give_up(store: Store, name: str, word: str, reason: str) -> TournamentInfo:
    """Let a tournament start without the string that a bot promised; this cannot be undone.

    Args:
        store: The arena's database.
        name: The tournament's.
        word: "name" or "name@2" of the bot, also of one that has left.
        reason: For the history.

    Raises:
        NotFoundError: There is no such tournament, or it waits for no string of this bot.
        RefusedError: It has begun, or was stopped.
    """
    info = queries.tournament(store, name)
    if info.started is not None or info.stopped is not None:
        raise RefusedError(
            f"{info.name} has {'begun' if info.stopped is None else 'ended'}: its seed is fixed",
            "a string can be forgone before the start",
        )
    missing = [each.entrant for each in info.contributions if each.state in WAITING]
    found = {each for each in missing if is_named(each, word)}
    if not found:
        hint = f"it waits for {', '.join(missing)}" if missing else "it waits for nobody's string"
        raise NotFoundError(
            f"{info.name} waits for no string of {word}", with_near(hint, word, missing)
        )
    if len(found) > 1:
        raise RefusedError(f"{word} is more than one entrant of {info.name}", "name the version")
    bot = queries.bot_version(store, found.pop())

    def act(desk: Desk) -> None:
        now = store.now()
        fix_list(desk.session, desk.row, now)
        version = queries.find_version(desk.session, bot)
        if not (desk.is_before_start and forgo(desk.session, desk.row, {version}, reason, now)):
            raise RefusedError(f"{info.name} waits no more for the string of {bot.label}")

    change(store, info, reason, act)
    return queries.tournament(store, name)
