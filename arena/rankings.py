"""The tables of one tournament, by bots and by pairs, or of all tournaments in one pool."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from arena import queries
from arena.formats import Partners
from arena.pools import Pool, rating_of
from arena.ratings import changes, fold
from arena.results_queries import recorded_between
from arena.standings import left_of_teams, standings
from arena.statistics.stats import by_pairs, pair_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from arena.infos import TournamentInfo
    from arena.pools import Wish
    from arena.ratings import RatingSystem, Skill
    from arena.reasons import ReasonKind
    from arena.standings import Standing
    from arena.statistics.stats import PlayedMatch
    from arena.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchChange:
    """What one match did to a bot's skill; `match` is what the command line calls it."""

    match: str
    entrant: str
    before: Skill
    after: Skill
    delta: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Results that are rated together, and how.

    Attributes:
        pool: What the matches have in common.
        rating: Name of the rating system.
        system: The system with the parameters of the pool.
        matches: In canonical order and numbered by it: tournaments in the order in which they
            were created, in each the matches in the order of the schedule.
        names: What the command line calls each match, in the same order.
        entrants: Bots to list even if they played no match.
        left: Why bots left, by label; of one tournament, since others of a pool rank them still.
        by_hand: The tournaments whose seeds were given by hand.
    """

    pool: Pool
    rating: str
    system: RatingSystem
    matches: tuple[PlayedMatch, ...]
    names: tuple[str, ...]
    entrants: tuple[str, ...]
    left: Mapping[str, ReasonKind] = field(default_factory=dict)
    by_hand: tuple[str, ...] = ()

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters of the rating system, by name."""
        return asdict(cast("Any", self.system))

    def table(self) -> tuple[Standing, ...]:
        """Return the table, best rating first."""
        ratings = fold(self.matches, self.system, self.entrants)
        return standings(self.matches, self.entrants, ratings, self.left)

    def changes(self) -> tuple[MatchChange, ...]:
        """Return what each match did to the skill of each of its bots."""
        return tuple(
            MatchChange(
                match=self.names[change.number],
                entrant=change.entrant,
                before=change.before,
                after=change.after,
                delta=change.delta,
            )
            for change in changes(self.matches, self.system)
        )


def pool_of(info: TournamentInfo) -> Pool:
    """Return the pool that a tournament's matches belong to."""
    return Pool(rules=info.rules, seats=info.seats, match_format=info.match_format)


def tournament_ranking(
    store: Store, name: str, wish: Wish | None = None, until: int | None = None
) -> Ranking:
    """Return what is rated of one tournament, all its entrants among them.

    Args:
        store: The arena's database.
        name: Of the tournament.
        wish: What to rate by instead of the pool's settings.
        until: Leave out what was recorded later, and who came, or left, later; in milliseconds
            since 1970.

    Raises:
        NotFoundError: No tournament or rating system has this name.
        RefusedError: The settings of pools, or a parameter, will not do.
    """
    info = queries.tournament(store, name)
    left = _field(store, info, until).left
    return replace(_ranking(store, pool_of(info), [info], wish, until), left=left)


def pool_ranking(
    store: Store, pool: Pool, wish: Wish | None = None, until: int | None = None
) -> Ranking:
    """Return what is rated of a pool: all matches by its rules, whatever these were called.

    Args:
        store: The arena's database.
        pool: What its matches have in common.
        wish: What to rate by instead of the pool's settings.
        until: Leave out what was created or recorded later, in milliseconds since 1970.

    Raises:
        NotFoundError: No rating system has this name.
        RefusedError: The settings of pools, or a parameter, will not do.
    """
    infos = [
        info
        for info in queries.tournaments(store)
        if pool_of(info) == pool and (until is None or _milliseconds(info.created) <= until)
    ]
    return _ranking(store, pool, infos, wish, until)


def tournament_table(
    store: Store, name: str, wish: Wish | None = None, until: int | None = None
) -> tuple[Standing, ...]:
    """Return the table of one tournament, best rating first; see `tournament_ranking`."""
    return tournament_ranking(store, name, wish, until).table()


def pair_table(
    store: Store, name: str, wish: Wish | None = None, until: int | None = None
) -> tuple[Standing, ...]:
    """Return the table of a tournament by pairs, best rating first; empty without pairs.

    Pairs that stay together are all in it, others once they have played.

    Raises:
        NotFoundError: No tournament or rating system has this name.
        RefusedError: The settings of pools, or a parameter, will not do.
    """
    info = queries.tournament(store, name)
    if info.partners is Partners.NONE:
        return ()
    ranking = tournament_ranking(store, name, wish, until)
    entered = set(ranking.entrants)
    pairs = [tuple(bot.name for bot in pair) for pair in info.pairs]
    fixed = [pair for pair in pairs if entered.issuperset(pair)]
    teams = [*fixed, *(team for match in ranking.matches for team in match.teams)]
    return replace(
        ranking,
        matches=by_pairs(ranking.matches),
        entrants=tuple(map(pair_label, fixed)),
        left=left_of_teams(teams, ranking.left),
    ).table()


def first_result(store: Store, question: Pool | str) -> int | None:
    """Return when the first result of a pool, or of a tournament, was recorded.

    Returns:
        Milliseconds since 1970, None if there is no result.

    Raises:
        NotFoundError: No tournament has this name.
    """
    if isinstance(question, str):
        infos = [queries.tournament(store, question)]
    else:
        infos = [info for info in queries.tournaments(store) if pool_of(info) == question]
    between = recorded_between(store, [info.id for info in infos])
    return None if between is None else between[0]


@dataclass(frozen=True, slots=True)
class _Field:
    """Who was in a tournament at a moment, those who had left among them, and why these left."""

    entrants: tuple[str, ...]
    left: Mapping[str, ReasonKind]


def _field(store: Store, info: TournamentInfo, until: int | None) -> _Field:
    """Return who was in, told by the changes up to a moment, in milliseconds since 1970."""
    names = tuple(entrant.name for entrant in info.entrants)
    if until is None:
        left = {each.name: each.left for each in info.entrants if each.left is not None}
        return _Field(names, left)
    if _milliseconds(info.created) > until:
        return _Field((), {})
    changes = [each for each in queries.history(store, info.name) if each.joined is not None]
    named = dict.fromkeys([*names, *(each.entrant or "" for each in changes)])
    came_first = {each.entrant: each.joined for each in reversed(changes)}
    present = {name: not came_first.get(name, False) for name in named}
    gone: dict[str, ReasonKind] = {}
    for change in changes:
        if _milliseconds(change.created) > until or change.entrant is None or change.kind is None:
            continue
        if change.joined or change.after is None:
            present[change.entrant] = bool(change.joined)
        else:
            gone[change.entrant] = change.kind
    return _Field(tuple(name for name in named if present[name]), gone)


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _ranking(
    store: Store,
    pool: Pool,
    infos: Sequence[TournamentInfo],
    wish: Wish | None,
    until: int | None,
) -> Ranking:
    matches: list[PlayedMatch] = []
    names: list[str] = []
    entrants: dict[str, None] = {}
    for info in infos:
        entrants |= dict.fromkeys(_field(store, info, until).entrants)
        for match in queries.played_matches(store, info.name, until=until):
            names.append(f"{info.name}/{match.number}")
            matches.append(replace(match, number=len(matches)))
    rating, system = rating_of(store.home, pool, wish)
    return Ranking(
        pool=pool,
        rating=rating,
        system=system,
        matches=tuple(matches),
        names=tuple(names),
        entrants=tuple(entrants),
        by_hand=tuple(info.name for info in infos if not info.is_committed),
    )
