"""Everything anew from the results, and the results anew from the records.

No table, statistic or rating is stored: each is computed when it is asked for. To rebuild is to
compute them all in canonical order and to say in a digest what came out, after the stored results
were compared with what their records say.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from arena import queries
from arena.formats import sides_of
from arena.infos import SHA256, MatchState
from arena.rankings import pair_table, pool_of, pool_ranking, tournament_table
from arena.recorded import deck_scores, read_recorded
from arena.recovery import attempt_folder
from arena.results_queries import (
    ResultValues,
    put_right,
    restore,
    result_rows,
    without_result,
)
from arena.statistics.cross_table import cross_table
from arena.stored_results import StoredFault
from arena.stored_texts import decks_text, numbers_text, totals_text
from referee.record import RecordError, read_record
from referee.shuffle import commitment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from arena.infos import TournamentInfo
    from arena.pools import Pool
    from arena.results_queries import ResultRow
    from arena.standings import Standing
    from arena.statistics.cross_table import Meeting
    from arena.statistics.stats import Estimate
    from arena.store import Store
    from referee.record import Record

SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Where a stored result departs from its record.

    Attributes:
        match: ID of the match.
        field: What differs.
        stored: What is stored.
        record: What the record says.
        fixed: Whether the result was stored anew.
    """

    match: str
    field: str
    stored: str
    record: str
    fixed: bool = False

    def __str__(self) -> str:
        return f"{self.match}, {self.field}: stored {self.stored}, the record says {self.record}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """What came out of a tournament or a pool, as a digest.

    Attributes:
        name: Of the tournament; of a pool its variant, seats and match format.
        results: How many results it rests on.
        digest: SHA-256 of its tables in canonical JSON.
    """

    name: str
    results: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilding:
    """What rebuilding came to; the digest is that of all digests."""

    tournaments: tuple[Rebuilt, ...]
    pools: tuple[Rebuilt, ...]
    digest: str


def check_records(
    store: Store,
    names: Sequence[str] = (),
    *,
    fix: bool = False,
    watch: Callable[[str], None] = lambda _: None,
) -> tuple[Difference, ...]:
    """Compare stored results with their records.

    A record whose bytes are not those that were recorded, or that is of another match, other
    entrants, other rules or another seed, is no witness: nothing is put right by it.

    Args:
        store: The arena's database.
        names: Of tournaments; all without.
        fix: Store anew what differs.
        watch: Told the ID of each match that was compared.

    Raises:
        NotFoundError: No tournament has one of the names.
    """
    differences: list[Difference] = []
    for info in _infos(store, names):
        seed = commitment(queries.deck_seed(store, info.id))
        for row in without_result(store, info.id):
            differences += _recover(store, info, seed, row, fix=fix)
        for row in result_rows(store, info.id):
            differences += _compare(store, info, seed, row, fix=fix)
            watch(f"{info.name}/{row.number}")
    return tuple(differences)


def missing_results(store: Store, names: Sequence[str] = ()) -> tuple[Difference, ...]:
    """Return the matches that are done without a result, and look at no record.

    Raises:
        NotFoundError: No tournament has one of the names.
    """
    return tuple(
        _difference(f"{info.name}/{row.number}", "result", "nothing", f"attempt {row.attempt}")
        for info in _infos(store, names)
        for row in without_result(store, info.id)
    )


def rebuild(store: Store, names: Sequence[str] = ()) -> Rebuilding:
    """Compute all tables, statistics and ratings anew, and return their digests.

    Args:
        store: The arena's database.
        names: Of tournaments; all without. Their pools are rebuilt with all that is in these.

    Raises:
        NotFoundError: No tournament has one of the names.
        RefusedError: The settings of pools will not do.
    """
    infos = _infos(store, names)
    tournaments = tuple(_tournament(store, info) for info in infos)
    pools: dict[Pool, str] = {}
    for info in infos:
        name = f"{info.variant} with {info.seats} seats ({info.match_format})"
        pools.setdefault(pool_of(info), name)
    rebuilt = tuple(_pool(store, name, pool) for pool, name in pools.items())
    return Rebuilding(
        tournaments=tournaments,
        pools=rebuilt,
        digest=_digest([each.digest for each in (*tournaments, *rebuilt)]),
    )


def _infos(store: Store, names: Sequence[str]) -> tuple[TournamentInfo, ...]:
    if not names:
        return queries.tournaments(store)
    return tuple(queries.tournament(store, name) for name in names)


# ------------------------------------------------------------------------ results against records


def _compare(
    store: Store, info: TournamentInfo, seed: str, row: ResultRow, *, fix: bool
) -> list[Difference]:
    match = f"{info.name}/{row.number}"
    if row.attempt_sha256 != row.record_sha256:
        # The two were stored together.
        place = f"record_sha256 of attempt {row.attempt}"
        return [_difference(match, place, row.attempt_sha256, f"{row.record_sha256} (result)")]
    record = _witness(store, info, seed, row)
    if isinstance(record, list):
        return record
    expected = _values(record, row, sides_of(info.rules, info.seats))
    differing = [
        _difference(match, name, getattr(row.values, name), getattr(expected, name), fixed=fix)
        for name in ("decks", "totals", "sides", "faults")
        if getattr(row.values, name) != getattr(expected, name)
    ]
    differing += [
        _difference(match, name, value, f"nothing: attempt {row.attempt} does", fixed=fix)
        for name, value in row.broken_times
    ]
    if differing and fix:
        put_right(store, row, expected)
    return differing


def _recover(
    store: Store, info: TournamentInfo, seed: str, row: ResultRow, *, fix: bool
) -> list[Difference]:
    """Name a match without its result, and with `fix` make it anew from the record."""
    match = f"{info.name}/{row.number}"
    if not SHA256.fullmatch(row.record_sha256):
        said = f"nothing: attempt {row.attempt} names none"
        return [_difference(match, "result", "nothing", said)]
    folder = store.home.records / attempt_folder(info.name, row.number, row.attempt)
    path = folder / f"{row.record_sha256}.jsonl"
    if not path.exists():
        said = f"nothing: {path.name} is not there"
        return [_difference(match, "result", "nothing", said)]
    row = replace(row, record=str(path.relative_to(store.home.path)))
    record = _witness(store, info, seed, row)
    if isinstance(record, list):
        return record
    values = _values(record, row, sides_of(info.rules, info.seats))
    if fix:
        restore(store, row, values, read_recorded(path))
    return [_difference(match, "result", "nothing", f"totals {values.totals}", fixed=fix)]


def _witness(
    store: Store, info: TournamentInfo, seed: str, row: ResultRow
) -> Record | list[Difference]:
    """Return the record that says what a result must be, or why there is none to be believed."""
    match = f"{info.name}/{row.number}"
    path = store.home.path / row.record
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != row.record_sha256:
            return [_difference(match, "record_sha256", row.record_sha256, found)]
        record = read_record(path)
    except OSError as error:
        return [_difference(match, "record", row.record, f"nothing: {error.strerror}")]
    except RecordError as error:
        return [_difference(match, "record", row.record, str(error))]
    foreign = [
        _difference(match, name, stored, said)
        for name, stored, said in _identity(info, seed, row, record)
        if stored != said
    ]
    return foreign or record


def _identity(
    info: TournamentInfo, seed: str, row: ResultRow, record: Record
) -> Iterator[tuple[str, object, object]]:
    """Give what makes a record that of this match: name, as it is stored, as the record says."""
    yield "state", row.state, str(MatchState.DONE)
    yield "number", row.number, record.match
    yield (
        "entrants",
        [_entrant(info, position) for position in row.seats],
        [f"{each.name}@{each.version} {each.digest}" for each in record.entrants],
    )
    for name in ("variant", "match_format", "seats", "decks"):
        yield name, getattr(info, name), getattr(record, name)
    options, recorded = info.rules.to_dict(), record.rules.to_dict()
    for name in options:
        yield f"rules, {name}", options[name], recorded[name]
    yield "time control", info.time, record.time_control
    yield "seed commitment", seed, record.seed_commitment


def _entrant(info: TournamentInfo, position: int) -> str:
    if not 0 <= position < len(info.entrants):
        return f"nobody at {position}"
    bot = info.entrants[position].bot
    return f"{bot.label} {bot.digest}"


def _values(record: Record, row: ResultRow, sides: Sequence[int]) -> ResultValues:
    return ResultValues(
        decks=decks_text(deck_scores(record)),
        totals=totals_text(record.totals),
        sides=numbers_text(sides),
        faults=tuple(
            StoredFault(
                leg=offence.leg,
                deal=offence.deal,
                seat=offence.fault.seat,
                position=row.seats[offence.entrant],
                kind=str(offence.fault.kind),
                detail=offence.fault.detail,
            )
            for offence in record.faults
        ),
    )


def _difference(
    match: str, field: str, stored: object, record: object, *, fixed: bool = False
) -> Difference:
    here, there = _apart(str(stored), str(record))
    return Difference(match=match, field=field, stored=here, record=there, fixed=fixed)


def _apart(one: str, other: str) -> tuple[str, str]:
    """Return two texts from shortly before where they part, and not too long."""
    same = next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    start = max(0, same - SHOWN // 3)
    return _cut(one, start), _cut(other, start)


def _cut(text: str, start: int) -> str:
    before = "..." if start else ""
    after = "..." if start + SHOWN < len(text) else ""
    return f"{before}{text[start : start + SHOWN]}{after}"


# ------------------------------------------------------------------------------------ all anew


def _tournament(store: Store, info: TournamentInfo) -> Rebuilt:
    matches = queries.played_matches(store, info.name)
    labels = [entrant.name for entrant in info.entrants]
    content = {
        "table": _table(tournament_table(store, info.name)),
        "pairs": _table(pair_table(store, info.name)),
        "meetings": [
            _meeting(meeting)
            for row in cross_table(matches, labels)
            for meeting in row
            if meeting is not None
        ],
    }
    return Rebuilt(name=info.name, results=len(matches), digest=_digest(content))


def _pool(store: Store, name: str, pool: Pool) -> Rebuilt:
    ranking = pool_ranking(store, pool)
    content = {
        "rules": pool.rules.to_dict(),
        "seats": pool.seats,
        "match_format": pool.match_format,
        "rating": ranking.rating,
        "parameters": ranking.parameters,
        "matches": ranking.names,
        "table": _table(ranking.table()),
    }
    return Rebuilt(name=name, results=len(ranking.matches), digest=_digest(content))


def _digest(content: object) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _table(table: Iterable[Standing]) -> list[dict[str, Any]]:
    return [
        {
            "rank": row.rank,
            "entrant": row.entrant,
            "balance": [row.balance.games, row.balance.wins, row.balance.draws],
            "score": str(row.balance.score),
            "per_deal": _estimate(row.per_deal),
            "faults": row.faults,
            "skill": row.rating and list(row.rating.skill),
            "groups": row.groups,
        }
        for row in table
    ]


def _meeting(meeting: Meeting) -> dict[str, Any]:
    balance = meeting.balance
    return {
        "entrants": [meeting.entrant, meeting.opponent],
        "balance": [balance.games, balance.wins, balance.draws],
        "per_deal": _estimate(meeting.per_deal),
    }


def _estimate(estimate: Estimate | None) -> list[Any] | None:
    if estimate is None:
        return None
    return [
        str(estimate.mean),
        estimate.half_width,
        estimate.superiority,
        estimate.mirroring,
        estimate.decks,
    ]
