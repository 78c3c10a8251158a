"""Checks an exported folder from the seed up, without the database, and names what does not agree.

Nothing in the folder is believed because something else in it says so: the schedule is made again
from the settings, every record is refereed again, and all tables are made again from the records.
What the organiser's machine alone could know (times, memory, evidence) is taken as it is given,
and the report says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.entropy import protection_words
from arena.errors import NotFoundError
from arena.publishing.differences import Difference, DifferenceError, fitting
from arena.publishing.documents import RESULTS, SCHEDULE
from arena.publishing.folder import Folder, same
from arena.publishing.manifest import MANIFEST, json_bytes
from arena.publishing.progression import check_states
from arena.publishing.published import PublishedResult, PublishedSchedule
from arena.publishing.refereeing import referee_records
from arena.publishing.rescheduling import rescheduled
from arena.publishing.retelling import check_documents, retold
from arena.publishing.settings import check_seed, check_settings
from arena.publishing.trust import Known, unproved

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from arena.publishing.published import PublishedTournament
    from arena.recorded import Recorded

__all__ = ["Audit", "Difference", "audit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What checking a folder came to.

    Attributes:
        difference: The first, None if everything agrees.
        proved: What holds, one sentence each, in the order in which it was checked.
        unproved: What nobody can tell from the folder.
        protection: How far the decks are protected from being chosen, in a sentence; empty unless
            everything agrees.
        head: The head of the manifest's chain.
        matches: How many records were refereed again.
    """

    difference: Difference | None
    proved: tuple[str, ...]
    unproved: tuple[str, ...]
    protection: str
    head: str
    matches: int

    @property
    def ok(self) -> bool:
        """Whether everything agrees."""
        return self.difference is None


def audit(
    folder: Path,
    *,
    head: str | None = None,
    committed: str | None = None,
    promises: str | None = None,
    processes: int = 1,
    watch: Callable[[int], None] = lambda _: None,
) -> Audit:
    """Check everything in a folder up to the first difference.

    Args:
        folder: As `arena.publishing.export` writes it.
        head: The head of the manifest as it was published, if it is known from elsewhere.
        committed: The commitment as it was published before the first match, likewise.
        promises: The hash of commitment and strings, as it was shown before they were revealed.
        processes: How many referee records at once.
        watch: Told how many records were refereed.

    Raises:
        NotFoundError: There is no exported folder.
    """
    if not (folder / MANIFEST).is_file():
        raise NotFoundError(
            f"there is no {MANIFEST} in {folder}", "name a folder that arena tournament export made"
        )
    auditor = _Auditor(
        Folder(folder),
        Known(head=head, committed=committed, promises=promises),
        processes,
        watch,
    )
    difference = None
    try:
        auditor.check()
    except DifferenceError as error:
        difference = error.difference
    return auditor.report(difference)


class _Auditor:
    """Checks a folder step by step; each step rests on those before it."""

    def __init__(
        self, folder: Folder, known: Known, processes: int, watch: Callable[[int], None]
    ) -> None:
        self._folder = folder
        self._known = known
        self._processes = processes
        self._watch = watch
        self._proved: list[str] = []
        self._unproved: tuple[str, ...] = ()
        self._protection = ""
        self._matches = 0

    def check(self) -> None:
        """Check everything.

        Raises:
            DifferenceError: At the first difference.
        """
        folder = self._folder
        with fitting(MANIFEST):
            folder.check_manifest(self._known.head)
        self._proved.append(
            f"the manifest lists every file as it is: {len(folder.sums)} of them, head "
            f"{folder.head}"
        )
        tournament = folder.tournament()
        check_settings(tournament)
        self._proved += check_seed(tournament, self._known)
        schedule = folder.read(SCHEDULE, PublishedSchedule)
        results = folder.read(RESULTS, tuple[PublishedResult, ...])
        check_states(tournament, schedule, results)
        self._check_schedule(tournament, schedule, results)
        recorded = self._check_records(tournament, schedule)
        with fitting(RESULTS):
            published = retold(folder, tournament, schedule, results, recorded)
        check_documents(folder, published)
        self._proved.append(
            "results, faults, standings, ratings and game list follow from the records, to the "
            "last digit"
        )
        self._unproved = unproved(tournament, schedule, self._known)
        self._protection = protection_words(tournament.strings)

    def report(self, difference: Difference | None) -> Audit:
        """Tell what checking came to."""
        return Audit(
            difference=difference,
            proved=tuple(self._proved),
            unproved=self._unproved,
            protection=self._protection,
            head=self._folder.head,
            matches=self._matches,
        )

    def _check_schedule(
        self,
        tournament: PublishedTournament,
        schedule: PublishedSchedule,
        results: Sequence[PublishedResult],
    ) -> None:
        seed = tournament.playing_seed
        if seed is None:
            return
        totals = {result.match: result.totals for result in results}
        with fitting(SCHEDULE):
            expected = rescheduled(tournament, schedule, totals, seed)
        same(
            SCHEDULE,
            json_bytes(expected.model_dump(mode="json")),
            json_bytes(schedule.model_dump(mode="json")),
        )
        self._proved.append(
            f"the schedule of {len(schedule.pairings)} matches follows from settings, seed, "
            "changes and results"
        )

    def _check_records(
        self, tournament: PublishedTournament, schedule: PublishedSchedule
    ) -> dict[int, Recorded]:
        def count(matches: int) -> None:
            self._matches = matches
            self._watch(matches)

        recorded = referee_records(
            self._folder, tournament, schedule, processes=self._processes, watch=count
        )
        decks = "the decks they name" if tournament.playing_seed is None else "the seed"
        self._proved.append(
            f"{len(recorded)} records: every deck, lot, action and score follows from {decks} and "
            "the rules"
        )
        return recorded
