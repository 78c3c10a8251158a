"""What a tournament will cost: matches, containers, and an estimate of the time."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

from sqlmodel import col, func, select

from arena import formats, planning
from arena.damage import row_of
from arena.ledger import seats_of
from arena.sandbox.slots import plan_slots
from arena.tables import Bot, BotVersion, Entrant, Match, Report, Result, Tournament
from referee.results import SERIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlmodel import Session

    from arena.infos import BotVersionInfo, TournamentInfo
    from arena.store import Store
    from arena.tournament import Draft
    from referee.rules import Rules

START_SECONDS = {"container": 2.0, "process": 0.7}
"""What the start and the end of a leg's bots are taken to cost where nothing was measured."""

DEAL_SECONDS = 0.05
"""What a deal is taken to last where nothing was measured: of bots that hardly think."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What is to come of a tournament.

    Attributes:
        matches: Still to be played; None if there is no end.
        is_least: Whether replays can add to these.
        known: How many of them are scheduled already.
        legs: Of a match, each with bots started afresh.
        starts: Bots started for a leg.
        containers: Bots started in all, be it as processes; None without end.
        at_once: Matches played at the same time on this machine.
        match_seconds: What one match is taken to last.
        seconds: What all are taken to last; None without end.
        measured: Past matches the time was measured in; 0 where it is an assumption.
        scaled_from: How many decks these had, ascending, if none had as many as are to come: then
            the time is scaled from theirs.
    """

    matches: int | None
    is_least: bool
    known: int
    legs: int
    starts: int
    containers: int | None
    at_once: int
    match_seconds: float
    seconds: float | None
    measured: int
    scaled_from: tuple[int, ...] = ()


def of_tournament(store: Store, info: TournamentInfo, concurrency: int | None = None) -> Forecast:
    """Tell what is left of a tournament.

    Raises:
        RefusedError: More matches at once than the cores allow.
    """
    expected = planning.expected_matches(store, info)
    return _forecast(
        store,
        _Game.of(info, info.rules, [entrant.bot for entrant in info.present]),
        matches=None if expected is None else max(0, expected - info.done - info.incomplete),
        is_least=planning.may_grow(info),
        known=info.planned + info.running,
        concurrency=concurrency,
    )


def of_draft(store: Store, made: Draft, concurrency: int | None = None) -> Forecast:
    """Tell what a tournament would cost that is not stored.

    Raises:
        RefusedError: More matches at once than the cores allow.
    """
    row = made.row
    expected = None
    if made.plan is not None:
        expected = formats.expected_matches(row.format, made.plan)
    return _forecast(
        store,
        _Game.of(row, made.rules, [entry.bot for entry in made.entries]),
        matches=expected,
        is_least=not made.schedule.complete and formats.find_format(row.format).can_grow,
        known=len(made.schedule.pairings),
        concurrency=concurrency,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Game:
    """What decides how long a match lasts; `bots` are names without versions."""

    rules: str
    seats: int
    decks: int
    match_format: str
    tables: int
    sandbox: str
    bots: frozenset[str]

    @classmethod
    def of(
        cls, made: TournamentInfo | Tournament, rules: Rules, bots: Sequence[BotVersionInfo]
    ) -> Self:
        """Take what is fixed of a tournament, stored or not."""
        return cls(
            rules=json.dumps(rules.to_dict()),
            seats=made.seats,
            decks=made.decks,
            match_format=made.match_format,
            tables=made.tables,
            sandbox=made.sandbox,
            bots=frozenset(bot.name for bot in bots),
        )

    @property
    def legs(self) -> int:
        """Legs of a match."""
        return self.seats if self.match_format == SERIES else 1

    def is_as_long(self, decks: int) -> bool:
        """Tell whether a match of so many decks is one of this length; only a series has decks."""
        return decks == self.decks or self.match_format != SERIES


class _Past(NamedTuple):
    """A match that was played: its decks, and what it and the starts of its bots lasted."""

    decks: int
    seconds: float
    starting: float


def _forecast(
    store: Store,
    game: _Game,
    *,
    matches: int | None,
    is_least: bool,
    known: int,
    concurrency: int | None,
) -> Forecast:
    at_once = len(plan_slots(seats=game.seats, wanted=concurrency))
    past = _past_matches(store, game)
    alike = [match for match in past if game.is_as_long(match.decks)]
    lasts = _seconds(game, alike or past)
    return Forecast(
        matches=matches,
        is_least=is_least and matches is not None,
        known=known,
        legs=game.legs,
        starts=game.seats,
        containers=None if matches is None else matches * game.legs * game.seats,
        at_once=at_once,
        match_seconds=lasts,
        seconds=None if matches is None else -(-matches // at_once) * lasts,
        measured=len(alike or past),
        scaled_from=() if alike else tuple(sorted({match.decks for match in past})),
    )


def _seconds(game: _Game, past: Sequence[_Past]) -> float:
    """Return what a match is taken to last: the starts of its legs, and the time of its decks.

    A past match counts the more the more decks it had: a short one tells little of what a deck
    lasts.
    """
    if not past:
        deals = game.decks if game.match_format == SERIES else 1
        return game.legs * (START_SECONDS[game.sandbox] + deals * DEAL_SECONDS)
    if all(game.is_as_long(match.decks) for match in past):
        return sum(match.seconds for match in past) / len(past)
    starting = [_starting(game, match) for match in past]
    playing = sum(match.seconds for match in past) - sum(starting)
    return sum(starting) / len(past) + playing * game.decks / sum(match.decks for match in past)


def _starting(game: _Game, match: _Past) -> float:
    """Return what of a past match's time does not grow with its decks.

    That the programs were started is measured, that the bots were ready is not. Of what is only
    assumed no more than half of the match counts: it was played in some of its time.
    """
    assumed = game.legs * START_SECONDS[game.sandbox]
    return min(match.seconds, max(match.starting, min(assumed, match.seconds / 2)))


def _past_matches(store: Store, game: _Game) -> list[_Past]:
    """Return the matches of this game in which only these bots played, in any version."""
    with store.read() as session:
        tournaments = session.exec(
            select(Tournament).where(
                Tournament.seats == game.seats,
                Tournament.match_format == game.match_format,
                Tournament.sandbox == game.sandbox,
                Tournament.tables == game.tables,
                Tournament.rules == game.rules,
            )
        ).all()
        return [match for row in tournaments for match in _past_of(session, row, game)]


def _past_of(session: Session, row: Tournament, game: _Game) -> Iterator[_Past]:
    """Give every match of a tournament in which only these bots played."""
    positions = {
        position
        for position, name in session.exec(
            select(Entrant.position, Bot.name)
            .join(BotVersion, col(BotVersion.id) == Entrant.bot_version_id)
            .join(Bot, col(Bot.id) == BotVersion.bot_id)
            .where(Entrant.tournament_id == row.id)
        )
        if name in game.bots
    }
    starting = _starting_seconds(session, row)
    for match, milliseconds in session.exec(
        select(Match, Result.milliseconds)
        .join(Result, col(Result.match_id) == Match.id)
        .where(Match.tournament_id == row.id)
    ):
        if seats_of(match) <= positions:
            with row_of("result", match.id, f"{row.name}/{match.number}"):
                seconds = milliseconds / 1000
            yield _Past(row.decks, seconds, starting.get(match.id, 0.0))


def _starting_seconds(session: Session, row: Tournament) -> dict[int | None, float]:
    """Return what starting the bots took in the matches of a tournament, by the match.

    The bots of a leg are started side by side.
    """
    legs = session.exec(
        select(Report.match_id, func.max(Report.start_seconds))
        .join(
            Result,
            (col(Result.match_id) == Report.match_id) & (col(Result.attempt) == Report.attempt),
        )
        .join(Match, col(Match.id) == Report.match_id)
        .where(Match.tournament_id == row.id)
        .group_by(col(Report.match_id), col(Report.leg))
    )
    found: dict[int | None, float] = defaultdict(float)
    for match, seconds in legs:
        found[match] += seconds or 0.0
    return found
