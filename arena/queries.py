"""What can be asked of the store; nothing here changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena.infos import BotInfo, BotVersionInfo, MatchDetails, MatchInfo, TournamentInfo
    from arena.store import Store


def bots(store: Store) -> tuple[BotInfo, ...]:
    """Return all bots by name."""
    raise NotImplementedError


def bot(store: Store, name: str) -> BotInfo:
    """Return one bot.

    Raises:
        NotFoundError: No bot has this name.
    """
    raise NotImplementedError


def bot_version(store: Store, label: str) -> BotVersionInfo:
    """Return the version that "name@2" means, or the newest for a bare "name".

    Raises:
        NotFoundError: There is no such bot, or no such version of it.
    """
    raise NotImplementedError


def tournaments(store: Store) -> tuple[TournamentInfo, ...]:
    """Return all tournaments, oldest first."""
    raise NotImplementedError


def tournament(store: Store, name: str) -> TournamentInfo:
    """Return one tournament.

    Raises:
        NotFoundError: No tournament has this name.
    """
    raise NotImplementedError


def matches(store: Store, tournament: str, *, entrant: str | None = None) -> tuple[MatchInfo, ...]:
    """Return a tournament's matches in schedule order, or one bot's only ("name" or "name@2").

    Raises:
        NotFoundError: No tournament has this name.
    """
    raise NotImplementedError


def match(store: Store, tournament: str, number: int) -> MatchDetails:
    """Return one match with all that is known of it.

    Raises:
        NotFoundError: There is no such tournament, or no such match in it.
    """
    raise NotImplementedError
