"""Checks an exported folder from the seed up, without the database, and names what does not agree.

Nothing in the folder is believed because something else in it says so: the schedule is made again
from the settings, every record is refereed again, and all tables are made again from the records.
What the organiser's machine alone could know (times, memory, evidence) is taken as it is given,
and the report says so.
"""

from __future__ import annotations

import json
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from arena.entropy import Protection, protection, protection_words
from arena.errors import NotFoundError
from arena.formats import PLACEMENT, ChangeKind, Partners, sides_of
from arena.infos import AttemptState, MatchState
from arena.publishing.differences import (
    UNFIT,
    Difference,
    DifferenceError,
    as_json,
    compare,
    differ,
    fitting,
    place_of,
    reason_of,
    shown,
)
from arena.publishing.documents import (
    ATTEMPTS,
    FAULTS,
    RECORDS,
    RESULTS,
    SCHEDULE,
    TOURNAMENT,
    USAGE,
    Published,
    documents,
    rating_systems,
    record_path,
)
from arena.publishing.manifest import GENESIS, MANIFEST, Manifest, json_bytes, link, sum_of
from arena.publishing.published import (
    TOURNAMENTS,
    PublishedAttempt,
    PublishedFault,
    PublishedResult,
    PublishedSchedule,
    PublishedTournament,
    PublishedUsage,
)
from arena.publishing.rescheduling import is_endless, rescheduled
from arena.publishing.strings import check_strings, list_words, unproved_strings
from arena.recorded import Recorded, read_recorded
from referee.record import MOST_BYTES, RecordError, header, in_words
from referee.rules import Rules
from referee.shuffle import commitment
from referee.verification import verify_record

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from arena.publishing.manifest import Sum
    from arena.publishing.published import PublishedChange, PublishedPairing
    from referee.results import MatchSpec

__all__ = ["Audit", "Difference", "audit"]

PARALLEL_FROM = 4 << 20
"""Bytes of records below which other processes would take longer to start than they save."""

_OPEN = {MatchState.PLANNED, MatchState.LEASED, MatchState.INCOMPLETE}

_CHANGED = {ChangeKind.JOIN: "came", ChangeKind.LEAVE: "left"}

Item = TypeVar("Item")
Told = TypeVar("Told", PublishedFault, PublishedUsage)


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
    auditor = _Auditor(folder, head, committed, promises, processes, watch)
    difference = None
    try:
        auditor.check()
    except DifferenceError as error:
        difference = error.difference
    return Audit(
        difference=difference,
        proved=tuple(auditor.proved),
        unproved=auditor.unproved() if difference is None else (),
        protection=auditor.protection() if difference is None else "",
        head=auditor.found_head,
        matches=auditor.refereed,
    )


@dataclass(slots=True)
class _Auditor:
    """Checks a folder step by step; each step rests on those before it."""

    folder: Path
    head: str | None
    committed: str | None
    promises: str | None
    processes: int
    watch: Callable[[int], None]
    proved: list[str] = field(default_factory=list)
    found_head: str = ""
    refereed: int = 0
    _sums: dict[str, Sum] = field(default_factory=dict)

    def check(self) -> None:
        """Check everything.

        Raises:
            DifferenceError: At the first difference.
        """
        with fitting(MANIFEST):
            self._check_manifest()
        tournament = self._read_tournament()
        self._check_settings(tournament)
        self._check_seed(tournament)
        schedule = self._read(SCHEDULE, PublishedSchedule)
        results = self._read(RESULTS, tuple[PublishedResult, ...])
        self._check_states(tournament, schedule, results)
        self._check_schedule(tournament, schedule, results)
        recorded = self._check_records(tournament, schedule)
        with fitting(RESULTS):
            published = self._from_records(tournament, schedule, results, recorded)
        self._check_documents(published)

    def unproved(self) -> tuple[str, ...]:
        """Return what a folder that holds leaves to trust, given what was known from elsewhere."""
        tournament = self._read_tournament()
        unproved = [
            "that the programs with these digests are those their authors submitted: they know",
            "times, memory, bytes, dates, reasons, evidence of faults: the organiser noted them",
            "that no attempt was given up for what it would have come to: see attempts.csv",
        ]
        if tournament.seed is None:
            unproved.append("that decks and schedule follow from the seed: it is not revealed yet")
        if protection(tournament.strings) is Protection.PROMISED:
            unproved.append(
                "that the secret came by chance: nothing depends on it where one promised string "
                "was honest"
            )
        elif tournament.seed_given:
            unproved.append("that the seed came by chance: the organiser chose it")
        else:
            unproved.append(
                "that the seed came by chance, even if the folder says so: who draws many and "
                "commits to one has chosen it"
            )
        unproved += unproved_strings(tournament, is_noted=self.promises is not None)
        unproved.append(
            "that the settings are those of the beginning, the rating system for one: the "
            "commitment binds the seed alone, and nothing but the head binds the settings"
        )
        if tournament.stopped is not None:
            why = f", for this reason: {tournament.why_stopped}" if tournament.why_stopped else ""
            unproved.append(f"that its end came by chance: the organiser ended it{why}")
        unproved += self._unproved_changes(tournament)
        if self.committed is None:
            unproved.append(
                "that the commitment was published before the first match: give it as you noted it"
            )
        if self.head is None:
            unproved.append("that others were given the same folder: compare the head")
        return tuple(unproved)

    def protection(self) -> str:
        """Say how far the decks of a folder that holds are protected from being chosen."""
        return protection_words(self._read_tournament().strings)

    def _unproved_changes(self, tournament: PublishedTournament) -> Iterator[str]:
        """Name every change of the entrants after the start, and every match that was cancelled."""
        for change in tournament.changes:
            if change.position is not None:
                yield (
                    f"that {change.entrant} {_CHANGED[change.kind]} when {change.after} matches "
                    f"were scheduled, and for this reason: {change.reason_kind}"
                    f"{f', {change.reason}' if change.reason else ''}"
                )
        schedule = self._read(SCHEDULE, PublishedSchedule)
        gone = [each.match for each in schedule.pairings if each.state == MatchState.CANCELLED]
        if gone:
            yield f"that nobody played what was cancelled: {spans(gone)}"

    # ---------------------------------------------------------------------------------- the files

    def _check_manifest(self) -> None:
        manifest = self._read(MANIFEST, Manifest)
        if manifest.format not in TOURNAMENTS:
            differ(MANIFEST, "format", " or ".join(map(str, TOURNAMENTS)), str(manifest.format))
        listed = {each.path: each for each in manifest.files}
        names = [each.path for each in manifest.files]
        if names != sorted(listed, key=str.encode):
            differ(MANIFEST, "files", "each path once, in ascending order", "another order")
        there = self._walk()
        for path in sorted(listed.keys() | there):
            if path not in there:
                differ(path, "", "a file, for the manifest lists it", "nothing")
            if path not in listed:
                differ(path, "", "nothing, for the manifest does not list it", "a file")
        chain = GENESIS
        for number, each in enumerate(manifest.files):
            found = self._sums[each.path] = sum_of(self.folder / each.path)
            compare(each.path, "size", each.size, found.size)
            compare(each.path, "SHA-256", each.sha256, found.sha256)
            chain = link(chain, each.path, found.size, found.sha256)
            compare(MANIFEST, f"files[{number}].chain ({each.path})", chain, each.chain)
        compare(MANIFEST, "head", chain, manifest.head)
        self.found_head = chain
        if self.head is not None:
            compare(MANIFEST, "head, as it was published", self.head, chain)
        self.proved.append(
            f"the manifest lists every file as it is: {len(listed)} of them, head {chain}"
        )

    def _read_tournament(self) -> PublishedTournament:
        return self._read(TOURNAMENT, TOURNAMENTS[self._read(MANIFEST, Manifest).format])

    def _walk(self) -> set[str]:
        """Return all files below the folder but the manifest; there must be nothing else."""
        found = set()
        for path in self.folder.rglob("*"):
            name = path.relative_to(self.folder).as_posix()
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                differ(name, "", "a plain file", "a link or a special file")
            if path.is_dir() and name != RECORDS:
                differ(name, "", "nothing: there is one folder, that of the records", "a folder")
            if path.is_file() and name != MANIFEST:
                found.add(name)
        return found

    def _read(self, name: str, kind: type[Item]) -> Item:
        """Read a document, which has to be written in the one way there is."""
        if name != MANIFEST and name not in self._sums:
            differ(name, "", "a file", "nothing")
        data = (self.folder / name).read_bytes()
        adapter = TypeAdapter(kind)
        try:
            value = adapter.validate_json(data)
        except ValidationError as error:
            first = error.errors()[0]
            if first["type"] == "json_invalid":
                differ(name, "", "JSON", str(first["msg"]))
            differ(name, place_of(first["loc"]), str(first["msg"]), shown(first["input"]))
        with fitting(name):
            expected = json_bytes(adapter.dump_python(value, mode="json"))
        self._same(name, expected, data)
        return value

    def _same(self, name: str, expected: bytes, found: bytes) -> None:
        """Compare two files; name the value, the line or, if only this differs, the form."""
        if expected == found:
            return
        if name.endswith(".json"):
            try:
                values = json.loads(expected), json.loads(found)
            except UNFIT as error:
                differ(name, "", "JSON", in_words(error))
            compare(name, "", *values)
            differ(name, "", "the form that docs/export.md tells", "another one")
        lines = expected.decode().split("\n"), found.decode(errors="replace").split("\n")
        for number, (line, other) in enumerate(zip(*lines, strict=False), start=1):
            compare(name, f"line {number}", line, other)
        differ(name, "", f"{len(lines[0])} lines", str(len(lines[1])))

    # ------------------------------------------------------------------------------- the settings

    def _check_settings(self, tournament: PublishedTournament) -> None:
        with fitting(TOURNAMENT):
            rules = Rules.from_dict(tournament.rules)
            tournament.check()
            rating_systems(tournament.rating)
        self._check_pairs(tournament)
        compare(TOURNAMENT, "rules", as_json(rules.to_dict()), tournament.rules)

    def _check_pairs(self, tournament: PublishedTournament) -> None:
        """Two that follow each other are a pair where pairs stay together; else nobody is."""
        pairs = [entrant.pair for entrant in tournament.entrants]
        fixed = tournament.partners is Partners.FIXED
        numbers = pairs[::2] if fixed else [None] * len(pairs)
        expected = [number for number in numbers for _ in range(1 + fixed)]
        compare(TOURNAMENT, "pairs of the entrants", expected, pairs)

    def _check_seed(self, tournament: PublishedTournament) -> None:
        if self.committed is not None:
            place = "commitment, as it was published"
            compare(TOURNAMENT, place, self.committed, tournament.commitment)
        check_strings(tournament, self.promises)
        words = list_words(tournament)
        if words is not None:
            self.proved.append(words)
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
            self.proved.append(
                f"the seed is the one whose SHA-256 is {tournament.commitment}{mixed}; it was "
                "given by hand, so nothing was committed to"
            )
        else:
            self.proved.append(f"the seed is the one committed to: {tournament.commitment}{mixed}")

    # ------------------------------------------------------------------------------- the schedule

    def _check_states(
        self,
        tournament: PublishedTournament,
        schedule: PublishedSchedule,
        results: Sequence[PublishedResult],
    ) -> None:
        """Every match that was to be played has one result, and no other has."""
        left = {change.position for change in tournament.changes if change.kind == ChangeKind.LEAVE}
        self._check_changes(tournament, schedule)
        is_endless = self._check_end(tournament)
        self._check_pairings(tournament, schedule)
        for number, each in enumerate(schedule.pairings):
            place = f"pairings[{number}].state (match {each.match})"
            if tournament.seed is not None and each.state in _OPEN:
                differ(SCHEDULE, place, "done, for the seed is revealed", each.state)
            gone = tournament.stopped is not None or left & set(each.seats)
            if each.state == MatchState.CANCELLED and not gone and not is_endless:
                differ(SCHEDULE, place, "done, for no entrant of it has left", each.state)
        expected = [each.match for each in _done(schedule)]
        found = [result.match for result in results]
        for at, (number, other) in enumerate(zip(expected, found, strict=False)):
            compare(RESULTS, f"[{at}].match", number, other)
        compare(RESULTS, "number of results", len(expected), len(found))

    def _check_end(self, tournament: PublishedTournament) -> bool:
        """Only what has no end of its own is stopped, and ends by nothing else; return which.

        A reason is given of nothing but a stop.
        """
        try:
            endless = is_endless(tournament)
        except UNFIT as error:
            # What has not begun may have too few entrants for any match.
            if tournament.seed is None and tournament.stopped is None:
                return False
            differ(TOURNAMENT, "", "settings of a tournament", reason_of(error))
        if not endless and tournament.stopped is not None:
            expected = f"null, for a {tournament.tournament_format} ends by itself"
            differ(TOURNAMENT, "stopped", expected, tournament.stopped)
        if endless and tournament.stopped is None and tournament.seed is not None:
            expected = f"a time, for a {tournament.tournament_format} ends only when it is stopped"
            differ(TOURNAMENT, "stopped", expected, "null")
        if tournament.stopped is None and tournament.why_stopped is not None:
            differ(TOURNAMENT, "stop_reason", "null, for nobody stopped it", tournament.why_stopped)
        return endless

    def _check_changes(self, tournament: PublishedTournament, schedule: PublishedSchedule) -> None:
        """Who came later has a number of its own in turn; nobody comes or goes out of time."""
        newcomers = tournament.starters
        before = 0
        for number, change in enumerate(tournament.changes):
            if change.position is None or change.after is None:
                continue
            place = f"changes[{number}]"
            if change.kind == ChangeKind.JOIN:
                compare(TOURNAMENT, f"{place}.position", newcomers, change.position)
                newcomers += 1
            with fitting(TOURNAMENT):
                label = tournament.labels[change.position]
            compare(TOURNAMENT, f"{place}.entrant", label, change.entrant)
            held = len(schedule.pairings)
            if not before <= change.after <= held:
                differ(TOURNAMENT, f"{place}.after", f"{before} to {held}", str(change.after))
            before = change.after
        compare(TOURNAMENT, "number of entrants", newcomers, len(tournament.entrants))

    def _check_pairings(self, tournament: PublishedTournament, schedule: PublishedSchedule) -> None:
        """Every match has a number of its own, and its seats are taken by entrants."""
        before = 0
        for number, each in enumerate(schedule.pairings):
            place = f"pairings[{number}]"
            if each.match <= before:
                differ(SCHEDULE, f"{place}.match", f"more than {before}", str(each.match))
            before = each.match
            compare(SCHEDULE, f"{place}.seats", tournament.seats, len(each.seats))
            with fitting(SCHEDULE):
                names = [tournament.labels[seat] for seat in each.seats]
            compare(SCHEDULE, f"{place}.entrants", names, list(each.entrants))

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
        self._same(
            SCHEDULE,
            json_bytes(expected.model_dump(mode="json")),
            json_bytes(schedule.model_dump(mode="json")),
        )
        self.proved.append(
            f"the schedule of {len(schedule.pairings)} matches follows from settings, seed, "
            "changes and results"
        )

    # -------------------------------------------------------------------------------- the records

    def _check_records(
        self, tournament: PublishedTournament, schedule: PublishedSchedule
    ) -> dict[int, Recorded]:
        seed = tournament.playing_seed
        paths = [record_path(each.match) for each in _done(schedule)]
        for path in paths:
            if path not in self._sums:
                differ(path, "", "the record of a match that was played", "nothing")
        is_mixed = any(each.state.is_in_seed for each in tournament.strings)
        jobs = [
            _Job(
                folder=self.folder,
                spec=tournament.spec(each.match, each.seats),
                seed=seed,
                commitment=None if is_mixed else tournament.commitment,
            )
            for each in _done(schedule)
        ]
        recorded: dict[int, Recorded] = {}
        size = sum(self._sums[path].size for path in paths)
        with _mapped(min(self.processes, len(jobs)) if size >= PARALLEL_FROM else 1) as mapped:
            for job, found in zip(jobs, mapped(_referee, jobs), strict=True):
                if isinstance(found, Difference):
                    raise DifferenceError(found)
                recorded[job.spec.match] = found
                self.refereed += 1
                self.watch(self.refereed)
        commitments = {each.seed_commitment for each in recorded.values()}
        if len(commitments) > 1:
            differ("records", "seed_commitment", "the same in all", f"{len(commitments)} of them")
        decks = "the decks they name" if seed is None else "the seed"
        self.proved.append(
            f"{len(recorded)} records: every deck, lot, action and score follows from {decks} and "
            "the rules"
        )
        return recorded

    # --------------------------------------------------------------------------------- the tables

    def _from_records(
        self,
        tournament: PublishedTournament,
        schedule: PublishedSchedule,
        results: Sequence[PublishedResult],
        recorded: Mapping[int, Recorded],
    ) -> Published:
        """Return what should be published, given the records; what they do not tell as claimed."""
        pairings = {each.match: each for each in schedule.pairings}
        sides = sides_of(Rules.from_dict(tournament.rules), tournament.seats)
        attempts = self._read(ATTEMPTS, tuple[PublishedAttempt, ...])
        self._check_attempts(results, attempts, pairings)
        self._check_cancelled(tournament, schedule, attempts)
        faults = self._read(FAULTS, tuple[PublishedFault, ...])
        usage = self._read(USAGE, tuple[PublishedUsage, ...])
        return Published(
            tournament=tournament,
            schedule=schedule,
            results=tuple(
                self._result(each, pairings[each.match], recorded[each.match], sides)
                for each in results
            ),
            attempts=attempts,
            faults=tuple(self._faults(faults, pairings, recorded)),
            usage=tuple(self._usage(usage, pairings, recorded)),
            times={number: each.times for number, each in recorded.items()},
        )

    def _result(
        self,
        claimed: PublishedResult,
        pairing: PublishedPairing,
        recorded: Recorded,
        sides: tuple[int, ...],
    ) -> PublishedResult:
        path = record_path(claimed.match)
        return claimed.model_copy(
            update={
                "entrants": pairing.entrants,
                "sides": sides,
                "totals": recorded.totals,
                "decks": recorded.decks,
                "conditions": recorded.conditions,
                "record": path,
                "record_sha256": self._sums[path].sha256,
                "digest": recorded.digest,
            }
        )

    def _check_attempts(
        self,
        results: Sequence[PublishedResult],
        attempts: Sequence[PublishedAttempt],
        scheduled: Container[int],
    ) -> None:
        """Attempts are numbered from 1; of each match that was played the recorded one counts."""
        recorded: defaultdict[int, list[int]] = defaultdict(list)
        before = (0, 0)
        for number, each in enumerate(attempts):
            if each.match not in scheduled:
                differ(ATTEMPTS, f"[{number}].match", "a match of the schedule", str(each.match))
            if each.match < before[0]:
                place = f"[{number}].match"
                differ(ATTEMPTS, place, f"{before[0]} or more", str(each.match))
            due = before[1] + 1 if each.match == before[0] else 1
            compare(ATTEMPTS, f"[{number}].attempt (match {each.match})", due, each.attempt)
            before = (each.match, each.attempt)
            if each.state == AttemptState.RECORDED:
                recorded[each.match].append(each.attempt)
        for result in results:
            place = f"recorded attempts of match {result.match}"
            compare(ATTEMPTS, place, [result.attempt], recorded.pop(result.match, []))
        if recorded:
            differ(ATTEMPTS, f"match {min(recorded)}", "no recorded attempt: no result", "one")

    def _check_cancelled(
        self,
        tournament: PublishedTournament,
        schedule: PublishedSchedule,
        attempts: Sequence[PublishedAttempt],
    ) -> None:
        """A match that nobody tried was cancelled before any began that goes after it.

        Free matches are begun in the order of their numbers, but the first matches of a newcomer
        before all others. So nobody played on past a match that was cancelled because it had left;
        and where nobody had left, nothing was begun that goes after it. One that goes before it may
        have been begun first, even if its number is higher: it was planned later.
        """
        tried = {each.match for each in attempts}
        leavers = [change.position for change in tournament.changes if _is_leave(change)]
        # Of each entrant and, under None, of all: the last match, by whether it is a placement.
        last_of = {
            (seat, each.stage == PLACEMENT): each.match
            for each in schedule.pairings
            for seat in (*each.seats, None)
            if each.match in tried
        }
        for number, each in enumerate(schedule.pairings):
            if each.state != MatchState.CANCELLED or each.match in tried:
                continue
            first = next((leaver for leaver in leavers if leaver in each.seats), None)
            place = f"pairings[{number}].state (match {each.match})"
            if first is None and tournament.stopped is None:
                differ(SCHEDULE, place, "done, for no entrant of it has left", each.state)
            kinds = (False, True) if each.stage == PLACEMENT else (False,)
            last = max(last_of.get((first, kind), 0) for kind in kinds)
            if last > each.match:
                who = "" if first is None else f" of {tournament.labels[first]}"
                differ(SCHEDULE, place, f"done, for match {last}{who} began later", each.state)

    def _faults(
        self,
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
        self,
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

    def _check_documents(self, published: Published) -> None:
        with fitting(RESULTS):
            expected = documents(published)
        known = {*expected, *(result.record for result in published.results)}
        for path in sorted(known ^ self._sums.keys()):
            if path in known:
                differ(path, "", "a file", "nothing")
            differ(path, "", "nothing: no match and no table goes by this name", "a file")
        for name, data in expected.items():
            self._same(name, data, (self.folder / name).read_bytes())
        self.proved.append(
            "results, faults, standings, ratings and game list follow from the records, to the "
            "last digit"
        )


# ---------------------------------------------------------------------------------------- records


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
            pool.shutdown(wait=False, cancel_futures=True)


# ---------------------------------------------------------------------------------------- helpers


def spans(numbers: Iterable[int]) -> str:
    """Return ascending numbers in words: matches 2, 5 to 9."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    texts = [" to ".join(map(str, run)) for run in runs]
    is_one = len(runs) == 1 and len(runs[0]) == 1
    return f"match{'' if is_one else 'es'} {', '.join(texts)}"


def _is_leave(change: PublishedChange) -> bool:
    return change.kind == ChangeKind.LEAVE and change.position is not None


def _done(schedule: PublishedSchedule) -> list[PublishedPairing]:
    return [each for each in schedule.pairings if each.state == MatchState.DONE]


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
