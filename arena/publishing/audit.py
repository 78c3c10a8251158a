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
from arena.formats import Partners
from arena.publishing.differences import Difference, DifferenceError, as_json, compare, fitting
from arena.publishing.documents import RESULTS, SCHEDULE, TOURNAMENT, rating_systems
from arena.publishing.folder import Folder, same
from arena.publishing.manifest import MANIFEST, json_bytes
from arena.publishing.progression import check_states
from arena.publishing.published import PublishedResult, PublishedSchedule
from arena.publishing.refereeing import referee_records
from arena.publishing.rescheduling import rescheduled
from arena.publishing.retelling import check_documents, retold
from arena.publishing.strings import check_strings, list_words
from arena.publishing.trust import Known, unproved
from referee.rules import Rules
from referee.shuffle import commitment

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
        _check_settings(tournament)
        self._check_seed(tournament)
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

    def report(self, difference: Difference | None) -> Audit:
        """Tell what checking came to."""
        trusted: tuple[str, ...] = ()
        protected = ""
        if difference is None:
            tournament = self._folder.tournament()
            schedule = self._folder.read(SCHEDULE, PublishedSchedule)
            trusted = unproved(tournament, schedule, self._known)
            protected = protection_words(tournament.strings)
        return Audit(
            difference=difference,
            proved=tuple(self._proved),
            unproved=trusted,
            protection=protected,
            head=self._folder.head,
            matches=self._matches,
        )

    def _check_seed(self, tournament: PublishedTournament) -> None:
        if self._known.committed is not None:
            place = "commitment, as it was published"
            compare(TOURNAMENT, place, self._known.committed, tournament.commitment)
        check_strings(tournament, self._known.promises)
        words = list_words(tournament)
        if words is not None:
            self._proved.append(words)
        if tournament.seed is None:
            return
        due = commitment(bytes.fromhex(tournament.seed))
        compare(TOURNAMENT, "commitment (SHA-256 of the seed)", due, tournament.commitment)
        state = tournament.state
        compare(TOURNAMENT, "state, for the seed is revealed", "finished", str(state))
        texts = sum(each.state.is_in_seed for each in tournament.strings)
        whose = "text of 1 entrant" if texts == 1 else f"texts of {texts} entrants"
        mixed = f", with the {whose} mixed in" if texts else ""
        if tournament.seed_given:
            self._proved.append(
                f"the seed is the one whose SHA-256 is {tournament.commitment}{mixed}; it was "
                "given by hand, so nothing was committed to"
            )
        else:
            self._proved.append(f"the seed is the one committed to: {tournament.commitment}{mixed}")

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


def _check_settings(tournament: PublishedTournament) -> None:
    with fitting(TOURNAMENT):
        rules = Rules.from_dict(tournament.rules)
        tournament.check()
        rating_systems(tournament.rating)
    _check_pairs(tournament)
    compare(TOURNAMENT, "rules", as_json(rules.to_dict()), tournament.rules)


def _check_pairs(tournament: PublishedTournament) -> None:
    """Two that follow each other are a pair where pairs stay together; else nobody is."""
    pairs = [entrant.pair for entrant in tournament.entrants]
    fixed = tournament.partners is Partners.FIXED
    numbers = pairs[::2] if fixed else [None] * len(pairs)
    expected = [number for number in numbers for _ in range(1 + fixed)]
    compare(TOURNAMENT, "pairs of the entrants", expected, pairs)
