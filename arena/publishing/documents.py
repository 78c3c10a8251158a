"""The files of an exported folder, each a function of what is published: no file says anything new.

The tables are given twice, as JSON and as CSV; the CSV says less where a cell would hold a list.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from arena.formats import ChangeKind, Partners, without
from arena.publishing.gamelist import game_list, game_list_by_matches
from arena.publishing.manifest import json_bytes
from arena.publishing.published import (
    PublishedAttempt,
    PublishedFault,
    PublishedPairing,
    PublishedSchedule,
    PublishedUsage,
    played_match,
)
from arena.publishing.rescheduling import final_order
from arena.ratings import RATINGS, fold, with_parameters
from arena.reasons import ReasonKind
from arena.standings import left_of_teams, standings
from arena.statistics.stats import by_pairs
from referee.score_text import read_score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from arena.publishing.published import (
        PublishedRating,
        PublishedResult,
        PublishedTournament,
        Value,
    )
    from arena.ratings import Rating, RatingSystem
    from arena.recorded import RecordedTimes
    from arena.standings import Standing
    from arena.statistics.stats import PlayedMatch

TOURNAMENT = "tournament.json"
SCHEDULE = "schedule.json"
RESULTS = "results.json"
ATTEMPTS = "attempts.json"
FAULTS = "faults.json"
USAGE = "usage.json"
RECORDS = "records"

GAMES_BY_DECK = 3
"""The first form of folders whose game list has a game for each deck."""

_RISKY = ("=", "+", "-", "@", "\t", "\r")
_SUMMED = (
    "sending_us",
    "sent_bytes",
    "received_bytes",
    "sent_messages",
    "received_messages",
    "cpu_seconds",
    "memory_kills",
    "throttled_seconds",
    "throttled_periods",
    "log_bytes",
)

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """All that a folder tells; `times` are those of the entrants of each match over all legs."""

    tournament: PublishedTournament
    schedule: PublishedSchedule
    results: tuple[PublishedResult, ...]
    attempts: tuple[PublishedAttempt, ...]
    faults: tuple[PublishedFault, ...]
    usage: tuple[PublishedUsage, ...]
    times: Mapping[int, tuple[RecordedTimes, ...]]

    def played(self) -> tuple[PlayedMatch, ...]:
        """Return the results as statistics and ratings take them.

        Raises:
            StatsError: Scores do not fit together.
        """
        faults: defaultdict[int, list[PublishedFault]] = defaultdict(list)
        for fault in self.faults:
            faults[fault.match].append(fault)
        return tuple(played_match(result, tuple(faults[result.match])) for result in self.results)


def record_path(match: int) -> str:
    """Return where the record of a match lies in the folder."""
    return f"{RECORDS}/{match:07}.jsonl"


def documents(published: Published) -> dict[str, bytes]:
    """Return all files of a folder but the records and the manifest, by path.

    They stand in the order in which a difference is of interest.

    Raises:
        StatsError: Scores do not fit together.
    """
    played = published.played()
    labels = tuple(dict.fromkeys(published.tournament.labels))
    resources = _resources(published)
    systems = rating_systems(published.tournament.rating)
    ranked_by = systems[published.tournament.rating.system]
    left = _left(published.tournament)
    tables = {
        "bots": _table(played, labels, ranked_by, left),
        "pairs": _pairs_table(played, ranked_by, left),
        "format_order": _format_order(published),
    }
    ratings = _ratings(played, labels, systems)
    return {
        TOURNAMENT: json_bytes(_json(published.tournament)),
        SCHEDULE: json_bytes(_json(published.schedule)),
        RESULTS: json_bytes(_list(published.results)),
        ATTEMPTS: json_bytes(_list(published.attempts)),
        FAULTS: json_bytes(_list(published.faults)),
        USAGE: json_bytes(_list(published.usage)),
        "resources.json": json_bytes(resources),
        "standings.json": json_bytes(tables),
        "ratings.json": json_bytes(ratings),
        "schedule.csv": _schedule_csv(published.schedule),
        "results.csv": _results_csv(published),
        "attempts.csv": _values_csv(PublishedAttempt, published.attempts),
        "faults.csv": _values_csv(PublishedFault, published.faults, {"sent", "received"}),
        "usage.csv": _values_csv(PublishedUsage, published.usage),
        "resources.csv": _csv(resources),
        "standings.csv": _csv([_flat(row) for row in tables["bots"]]),
        "ratings.csv": _csv([{"system": name, **row} for name in ratings for row in ratings[name]]),
        "games.pgn": _pgn(published, played),
    }


# ----------------------------------------------------------------------------------------- tables


def _pairs_table(
    played: Sequence[PlayedMatch], system: RatingSystem, left: Mapping[str, ReasonKind]
) -> list[Row]:
    """The table of the pairs that have played, in games of pairs."""
    if not any(match.sides for match in played):
        return []
    paired = by_pairs(played)
    labels = sorted({label for match in paired for label in match.entrants})
    teams = (team for match in played for team in match.teams)
    return _table(paired, labels, system, left_of_teams(teams, left))


def _format_order(published: Published) -> list[Row]:
    """The format's own order, who was disqualified last; nothing while the seed is secret."""
    tournament = published.tournament
    totals = {result.match: result.totals for result in published.results}
    places = final_order(tournament, published.schedule, totals)
    units = _units(tournament)
    notes = [_note(tournament, unit) for unit in units]
    out = {unit for unit, note in enumerate(notes) if note == ReasonKind.DISQUALIFICATION}
    return [
        {
            "rank": rank,
            "entrant": "+".join(tournament.labels[number] for number in units[place.entrant]),
            "columns": {
                title: str(value) if isinstance(value, Fraction) else value
                for title, value in place.columns
            },
            "note": notes[place.entrant],
        }
        for rank, place in without(places, out)
    ]


def _units(tournament: PublishedTournament) -> list[tuple[int, ...]]:
    """Return the numbers of the entrants of each unit that the format ranks."""
    numbers = range(len(tournament.entrants))
    if tournament.partners is Partners.FIXED:
        return list(zip(numbers[::2], numbers[1::2], strict=True))
    return [(number,) for number in numbers]


def _note(tournament: PublishedTournament, unit: Sequence[int]) -> str:
    """Return why a unit left, else how it came after the start; the last reason counts."""
    changes = [change for change in tournament.changes if change.position in unit]
    left = [change.reason_kind for change in changes if change.kind == ChangeKind.LEAVE]
    reasons = left or [change.reason_kind for change in changes]
    return reasons[-1] if reasons else ""


def _left(tournament: PublishedTournament) -> dict[str, ReasonKind]:
    """Return why bots left, by label; the last reason counts."""
    return {
        tournament.labels[change.position]: ReasonKind(change.reason_kind)
        for change in tournament.changes
        if change.kind == ChangeKind.LEAVE and change.position is not None
    }


def _table(
    played: Sequence[PlayedMatch],
    labels: Sequence[str],
    system: RatingSystem,
    left: Mapping[str, ReasonKind],
) -> list[Row]:
    rated = fold(played, system, labels)
    return [_standing(row) for row in standings(played, labels, rated, left)]


def _standing(row: Standing) -> Row:
    estimate = row.per_deal
    return {
        "rank": row.rank,
        "entrant": row.entrant,
        "rating": None if row.rating is None else row.rating.shown,
        "tied": list(row.groups),
        "games": row.balance.games,
        "wins": row.balance.wins,
        "draws": row.balance.draws,
        "losses": row.balance.losses,
        "score": str(row.balance.score),
        "per_deal": None if estimate is None else str(estimate.mean),
        "half_width": None if estimate is None else estimate.half_width,
        "superiority": None if estimate is None else estimate.superiority,
        "decks": 0 if estimate is None else estimate.decks,
        "deals": 0 if estimate is None else estimate.deals,
        "mirroring": None if estimate is None else estimate.mirroring,
        "faults": dict(row.faults),
    }


def _flat(row: Row) -> Row:
    faults = " ".join(f"{kind}:{times}" for kind, times in row["faults"].items())
    return {**row, "tied": " ".join(map(str, row["tied"])), "faults": faults}


def rating_systems(published: PublishedRating) -> dict[str, RatingSystem]:
    """Return all rating systems by name, the published one with its parameters.

    Raises:
        NotFoundError: There is no such system.
        RefusedError: It has no such parameter, or not of this value.
    """
    named = with_parameters(published.system, published.parameters)
    return {**dict(sorted(RATINGS.items())), published.system: named}


def _ratings(
    played: Sequence[PlayedMatch], labels: Sequence[str], systems: Mapping[str, RatingSystem]
) -> dict[str, list[Row]]:
    return {
        name: [_rating(each) for each in fold(played, system, labels)]
        for name, system in systems.items()
    }


def _rating(rating: Rating) -> Row:
    return {
        "entrant": rating.entrant,
        "rating": rating.shown,
        "margin": rating.margin,
        "mu": rating.skill.mu,
        "sigma": rating.skill.sigma,
        "games": rating.games,
    }


def _resources(published: Published) -> list[Row]:
    """What each bot used in all legs of a match."""
    runs: defaultdict[tuple[int, int], list[PublishedUsage]] = defaultdict(list)
    for run in published.usage:
        runs[run.match, run.place].append(run)
    return [
        _resource_row(
            result, place, published.times[result.match][place], runs[result.match, place]
        )
        for result in published.results
        for place in range(len(result.entrants))
    ]


def _resource_row(
    result: PublishedResult, place: int, times: RecordedTimes, runs: Sequence[PublishedUsage]
) -> Row:
    return {
        "match": result.match,
        "place": place,
        "entrant": result.entrants[place],
        "conditions": result.conditions,
        **asdict(times),
        **{name: _together(runs, name, sum) for name in _SUMMED},
        "peak_memory": _together(runs, "peak_memory", max),
    }


def _together(
    runs: Sequence[PublishedUsage], name: str, join: Callable[[Iterable[Any]], Any]
) -> Any:
    """Null unless it is known of every run: a part would pass for the whole."""
    values = [getattr(run, name) for run in runs]
    return None if not values or None in values else join(values)


# ------------------------------------------------------------------------------------------ forms


def _json(value: Value) -> Any:
    return value.model_dump(mode="json")


def _list(values: Iterable[Value]) -> list[Row]:
    return [_json(value) for value in values]


def _schedule_csv(schedule: PublishedSchedule) -> bytes:
    rows = [
        {
            **_json(pairing),
            "seats": " ".join(map(str, pairing.seats)),
            "entrants": " ".join(pairing.entrants),
        }
        for pairing in schedule.pairings
    ]
    return _csv(rows, list(PublishedPairing.model_fields))


def _results_csv(published: Published) -> bytes:
    """A row for each entrant of each match."""
    rounds = _rounds(published)
    rows = [
        {
            "match": result.match,
            "round": rounds[result.match],
            "place": place,
            "entrant": entrant,
            "side": result.sides[place] if result.sides else place,
            "total": str(result.totals[place]),
            "won": str(match.share(entrant)),
            "faults": sum(at == place for at, _ in match.faults),
            "decks": len(result.decks),
            "conditions": result.conditions,
            "milliseconds": result.milliseconds,
            "record_sha256": result.record_sha256,
        }
        for result, match in zip(published.results, published.played(), strict=True)
        for place, entrant in enumerate(result.entrants)
    ]
    return _csv(rows)


def _pgn(published: Published, played: Sequence[PlayedMatch]) -> bytes:
    date = published.tournament.created[:10].replace("-", ".")
    listed = game_list if published.tournament.format >= GAMES_BY_DECK else game_list_by_matches
    return listed(published.tournament.name, date, played, _rounds(published)).encode()


def _rounds(published: Published) -> dict[int, int]:
    return {pairing.match: pairing.round for pairing in published.schedule.pairings}


def _values_csv(
    kind: type[Value], values: Iterable[Value], leave_out: AbstractSet[str] = frozenset()
) -> bytes:
    names = [name for name in kind.model_fields if name not in leave_out]
    return _csv(_list(values), names)


def _csv(rows: Sequence[Row], names: Sequence[str] = ()) -> bytes:
    """Return a table; without rows it has a head only if the names are given."""
    text = io.StringIO()
    head = names or list(rows[0] if rows else ())
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_cell(row[name]) for name in head] for row in rows)
    return text.getvalue().encode()


def _cell(value: object) -> object:
    """Return what a cell shows; text that a spreadsheet would run as a formula gets a quote."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and value.startswith(_RISKY) and not _is_number(value):
        return f"'{value}"
    return "" if value is None else value


def _is_number(text: str) -> bool:
    try:
        read_score(text)
    except ValueError:
        return False
    return True
