"""Referees the records of an exported folder again, several at once where that pays."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, TypeVar

from arena.publishing.differences import (
    UNFIT,
    Difference,
    DifferenceError,
    as_json,
    compare,
    differ,
)
from arena.publishing.documents import record_path
from arena.publishing.progression import done
from arena.recorded import Recorded, read_recorded
from referee.record import MOST_BYTES, RecordError, header, in_words
from referee.verification import verify_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from arena.publishing.folder import Folder
    from arena.publishing.published import PublishedSchedule, PublishedTournament
    from referee.results import MatchSpec

PARALLEL_FROM = 4 << 20
"""Bytes of records below which other processes would take longer to start than they save."""

Item = TypeVar("Item")


def referee_records(
    folder: Folder,
    tournament: PublishedTournament,
    schedule: PublishedSchedule,
    *,
    processes: int,
    watch: Callable[[int], None],
) -> dict[int, Recorded]:
    """Referee the record of every match that was played.

    Args:
        folder: Its manifest was checked.
        tournament: What it is of.
        schedule: Which matches were played, and by whom.
        processes: How many referee records at once.
        watch: Told how many records were refereed.

    Returns:
        What the records tell, by match.

    Raises:
        DifferenceError: A record is missing, or departs from its match or from the rules.
    """
    played = done(schedule)
    paths = [record_path(each.match) for each in played]
    for path in paths:
        if path not in folder.sums:
            differ(path, "", "the record of a match that was played", "nothing")
    is_mixed = any(each.state.is_in_seed for each in tournament.strings)
    jobs = [
        _Job(
            folder=folder.path,
            spec=tournament.spec(each.match, each.seats),
            seed=tournament.playing_seed,
            commitment=None if is_mixed else tournament.commitment,
        )
        for each in played
    ]
    recorded: dict[int, Recorded] = {}
    size = sum(folder.sums[path].size for path in paths)
    with _mapped(min(processes, len(jobs)) if size >= PARALLEL_FROM else 1) as mapped:
        for job, found in zip(jobs, mapped(_referee, jobs), strict=True):
            if isinstance(found, Difference):
                raise DifferenceError(found)
            recorded[job.spec.match] = found
            watch(len(recorded))
    commitments = {each.seed_commitment for each in recorded.values()}
    if len(commitments) > 1:
        differ("records", "seed_commitment", "the same in all", f"{len(commitments)} of them")
    return recorded


@dataclass(frozen=True, slots=True)
class _Job:
    """A record to referee again; plain values, for they cross processes."""

    folder: Path
    spec: MatchSpec
    seed: bytes | None
    commitment: str | None


def _referee(job: _Job) -> Recorded | Difference:
    """Return what a record comes to, or how it departs from the match it is said to be of."""
    name = record_path(job.spec.match)
    path = job.folder / name
    try:
        _check_head(job, name, path)
    except DifferenceError as error:
        return error.difference
    try:
        difference = verify_record(path, job.seed).difference
    except RecordError as error:
        return Difference(name, "", "a record", str(error))
    if difference is not None:
        place = f"line {difference.line}, {difference.field}"
        return Difference(name, place, difference.expected, difference.found)
    try:
        return read_recorded(path)
    except UNFIT as error:
        return Difference(name, "what was measured", "what a record holds", in_words(error))


def _check_head(job: _Job, name: str, path: Path) -> None:
    """Compare the first line with what the schedule and the settings make of the match."""
    with path.open("rb") as file:
        text = file.readline(MOST_BYTES)
    try:
        line = json.loads(text)
        expected = {**as_json(header(job.spec)), "engine": line["engine"]}
        if job.seed is None:
            expected["seed_commitment"] = job.commitment or line["seed_commitment"]
    except UNFIT as error:
        differ(name, "line 1", "the first line of a record", in_words(error))
    # Who sits where comes first: of a record of another match nothing else is worth telling.
    for field_ in ("match", "entrants"):
        compare(name, f"line 1, {field_}", expected[field_], line.get(field_))
    compare(name, "line 1", expected, line)


@contextmanager
def _mapped(
    processes: int,
) -> Iterator[Callable[[Callable[[_Job], Item], Sequence[_Job]], Iterable[Item]]]:
    """Give a `map` that works in so many processes, or in this one."""
    if processes <= 1:
        yield map
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        try:
            yield pool.map
        finally:
            pool.shutdown(cancel_futures=True)
