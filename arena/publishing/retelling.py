"""Makes the tables of an exported folder again from its records."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

from arena.formats import sides_of
from arena.publishing.differences import compare, differ, fitting
from arena.publishing.documents import (
    ATTEMPTS,
    FAULTS,
    RESULTS,
    USAGE,
    Published,
    documents,
    record_path,
)
from arena.publishing.folder import same
from arena.publishing.progression import check_attempts, check_cancelled
from arena.publishing.published import PublishedAttempt, PublishedFault, PublishedUsage
from referee.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from arena.publishing.folder import Folder
    from arena.publishing.published import (
        PublishedPairing,
        PublishedResult,
        PublishedSchedule,
        PublishedTournament,
    )
    from arena.recorded import Recorded

Told = TypeVar("Told", PublishedFault, PublishedUsage)


def retold(
    folder: Folder,
    tournament: PublishedTournament,
    schedule: PublishedSchedule,
    results: Sequence[PublishedResult],
    recorded: Mapping[int, Recorded],
) -> Published:
    """Return what should be published, given the records; what they do not tell as claimed.

    Raises:
        DifferenceError: What is claimed is not of the matches that were played.
    """
    pairings = {each.match: each for each in schedule.pairings}
    sides = sides_of(Rules.from_dict(tournament.rules), tournament.seats)
    attempts = folder.read(ATTEMPTS, tuple[PublishedAttempt, ...])
    check_attempts(results, attempts, pairings)
    check_cancelled(tournament, schedule, attempts)
    faults = folder.read(FAULTS, tuple[PublishedFault, ...])
    usage = folder.read(USAGE, tuple[PublishedUsage, ...])
    sums = {each.match: folder.sums[record_path(each.match)].sha256 for each in results}
    return Published(
        tournament=tournament,
        schedule=schedule,
        results=tuple(
            _result(each, pairings[each.match], recorded[each.match], sides, sums[each.match])
            for each in results
        ),
        attempts=attempts,
        faults=tuple(_faults(faults, pairings, recorded)),
        usage=tuple(_usage(usage, pairings, recorded)),
        times={number: each.times for number, each in recorded.items()},
    )


def _result(
    claimed: PublishedResult,
    pairing: PublishedPairing,
    recorded: Recorded,
    sides: tuple[int, ...],
    sha256: str,
) -> PublishedResult:
    return claimed.model_copy(
        update={
            "entrants": pairing.entrants,
            "sides": sides,
            "totals": recorded.totals,
            "decks": recorded.decks,
            "conditions": recorded.conditions,
            "record": record_path(claimed.match),
            "record_sha256": sha256,
            "digest": recorded.digest,
        }
    )


def _faults(
    claimed: Iterable[PublishedFault],
    pairings: Mapping[int, PublishedPairing],
    recorded: Mapping[int, Recorded],
) -> Iterator[PublishedFault]:
    rest = _by_match(claimed, recorded, FAULTS)
    for number, each in recorded.items():
        compare(FAULTS, f"faults of match {number}", len(each.faults), len(rest[number]))
        for told, fault in zip(rest[number], each.faults, strict=True):
            known = asdict(fault) | {"entrant": pairings[number].entrants[fault.place]}
            # Older arenas did not note what a lost leg cost.
            if told.deals_played is None and told.deals_lost is None:
                known |= {"deals_played": None, "deals_lost": None}
            yield _told(told, known)


def _usage(
    claimed: Iterable[PublishedUsage],
    pairings: Mapping[int, PublishedPairing],
    recorded: Mapping[int, Recorded],
) -> Iterator[PublishedUsage]:
    rest = _by_match(claimed, recorded, USAGE)
    for number, each in recorded.items():
        compare(USAGE, f"runs of match {number}", len(each.runs), len(rest[number]))
        for told, run in zip(rest[number], each.runs, strict=True):
            known = asdict(run)
            times = known.pop("times")
            names = pairings[number].entrants
            yield _told(told, known | times | {"entrant": names[run.place]})


def check_documents(folder: Folder, published: Published) -> None:
    """Compare every table, and see that nothing else is there.

    Raises:
        DifferenceError: A table is missing, too many or other than what follows from the records.
    """
    with fitting(RESULTS):
        expected = documents(published)
    known = {*expected, *(result.record for result in published.results)}
    for path in sorted(known ^ folder.sums.keys()):
        if path in known:
            differ(path, "", "a file", "nothing")
        differ(path, "", "nothing: no match and no table goes by this name", "a file")
    for name, data in expected.items():
        same(name, data, folder.content(name))


def _told(claimed: Told, known: dict[str, Any]) -> Told:
    """Return a row in which what the record tells is as it tells it."""
    return type(claimed)(**claimed.model_dump() | known)


def _by_match(
    claimed: Iterable[Told], recorded: Mapping[int, Recorded], name: str
) -> dict[int, list[Told]]:
    """Return the rows of each match in their order; rows of no match are a difference."""
    rows: dict[int, list[Told]] = {number: [] for number in recorded}
    for number, row in enumerate(claimed):
        match = row.match
        if match not in rows:
            differ(name, f"[{number}].match", "a match that was played", str(match))
        rows[match].append(row)
    return rows
