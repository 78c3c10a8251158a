"""Checks of an exported schedule: what was played, what was not, who came and left, and when."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from arena.formats import PLACEMENT, ChangeKind, find_format
from arena.infos import AttemptState, MatchState
from arena.publishing.differences import UNFIT, compare, differ, fitting, reason_of
from arena.publishing.documents import ATTEMPTS, RESULTS, SCHEDULE, TOURNAMENT
from arena.publishing.rescheduling import check_plan

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from arena.publishing.published import (
        PublishedAttempt,
        PublishedChange,
        PublishedPairing,
        PublishedResult,
        PublishedSchedule,
        PublishedTournament,
    )

_OPEN = {MatchState.PLANNED, MatchState.LEASED, MatchState.INCOMPLETE}


def done(schedule: PublishedSchedule) -> list[PublishedPairing]:
    """Return what was played, in the order of the schedule."""
    return [each for each in schedule.pairings if each.state == MatchState.DONE]


def check_states(
    tournament: PublishedTournament,
    schedule: PublishedSchedule,
    results: Sequence[PublishedResult],
) -> None:
    """Check that every match that was to be played has one result, and no other has.

    Raises:
        DifferenceError: One has none, or one too many; somebody came or left out of time.
    """
    left = {change.position for change in tournament.changes if change.kind == ChangeKind.LEAVE}
    _check_changes(tournament, schedule)
    is_endless = _check_end(tournament)
    _check_pairings(tournament, schedule)
    for number, each in enumerate(schedule.pairings):
        place = f"pairings[{number}].state (match {each.match})"
        if tournament.seed is not None and each.state in _OPEN:
            differ(SCHEDULE, place, "done, for the seed is revealed", each.state)
        gone = tournament.stopped is not None or left & set(each.seats)
        if each.state == MatchState.CANCELLED and not gone and not is_endless:
            differ(SCHEDULE, place, "done, for no entrant of it has left", each.state)
    expected = [each.match for each in done(schedule)]
    found = [result.match for result in results]
    for at, (number, other) in enumerate(zip(expected, found, strict=False)):
        compare(RESULTS, f"[{at}].match", number, other)
    compare(RESULTS, "number of results", len(expected), len(found))


def _check_end(tournament: PublishedTournament) -> bool:
    """Only what has no end of its own is stopped, and ends by nothing else; return which.

    A reason is given of nothing but a stop.
    """
    try:
        endless = find_format(tournament.tournament_format).is_endless
        check_plan(tournament)
    except UNFIT as error:
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


def _check_changes(tournament: PublishedTournament, schedule: PublishedSchedule) -> None:
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


def _check_pairings(tournament: PublishedTournament, schedule: PublishedSchedule) -> None:
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


def check_attempts(
    results: Sequence[PublishedResult],
    attempts: Sequence[PublishedAttempt],
    scheduled: Container[int],
) -> None:
    """Check that attempts are numbered from 1, and that of each match played the recorded counts.

    Raises:
        DifferenceError: They are not, or an attempt is of no match.
    """
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


def check_cancelled(
    tournament: PublishedTournament,
    schedule: PublishedSchedule,
    attempts: Sequence[PublishedAttempt],
) -> None:
    """Check that a match that nobody tried was cancelled before any began that goes after it.

    Free matches are begun in the order of their numbers, but the first matches of a newcomer
    before all others. So nobody played on past a match that was cancelled because it had left;
    and where nobody had left, nothing was begun that goes after it. One that goes before it may
    have been begun first, even if its number is higher: it was planned later.

    Raises:
        DifferenceError: One should have been played.
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


def _is_leave(change: PublishedChange) -> bool:
    return change.kind == ChangeKind.LEAVE and change.position is not None
