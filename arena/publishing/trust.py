"""What an exported folder in which everything agrees leaves to trust."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.entropy import Protection, protection
from arena.formats import ChangeKind
from arena.infos import MatchState
from arena.publishing.strings import unproved_strings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from arena.publishing.published import PublishedSchedule, PublishedTournament

_CHANGED = {ChangeKind.JOIN: "came", ChangeKind.LEAVE: "left"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What whoever checks a folder knows from elsewhere, None where nothing.

    Attributes:
        head: The head of the manifest as it was published.
        committed: The commitment as it was published before the first match.
        promises: The hash of commitment and strings, as it was shown before they were revealed.
    """

    head: str | None = None
    committed: str | None = None
    promises: str | None = None


def unproved(
    tournament: PublishedTournament, schedule: PublishedSchedule, known: Known
) -> tuple[str, ...]:
    """Return what a folder that holds leaves to trust, given what was known from elsewhere."""
    claims = [
        "that the programs with these digests are those their authors submitted: they know",
        "times, memory, bytes, dates, reasons, evidence of faults: the organiser noted them",
        "that no attempt was given up for what it would have come to: see attempts.csv",
    ]
    if tournament.seed is None:
        claims.append("that decks and schedule follow from the seed: it is not revealed yet")
    if protection(tournament.strings) is Protection.PROMISED:
        claims.append(
            "that the secret came by chance: nothing depends on it where one promised string "
            "was honest"
        )
    elif tournament.seed_given:
        claims.append("that the seed came by chance: the organiser chose it")
    else:
        claims.append(
            "that the seed came by chance, even if the folder says so: who draws many and "
            "commits to one has chosen it"
        )
    claims += unproved_strings(tournament, is_noted=known.promises is not None)
    claims.append(
        "that the settings are those of the beginning, the rating system for one: the "
        "commitment binds the seed alone, and nothing but the head binds the settings"
    )
    if tournament.stopped is not None:
        why = f", for this reason: {tournament.why_stopped}" if tournament.why_stopped else ""
        claims.append(f"that its end came by chance: the organiser ended it{why}")
    claims += _unproved_changes(tournament, schedule)
    if known.committed is None:
        claims.append(
            "that the commitment was published before the first match: give it as you noted it"
        )
    if known.head is None:
        claims.append("that others were given the same folder: compare the head")
    return tuple(claims)


def _unproved_changes(
    tournament: PublishedTournament, schedule: PublishedSchedule
) -> Iterator[str]:
    """Name every change of the entrants after the start, and every match that was cancelled."""
    for change in tournament.changes:
        if change.position is not None:
            yield (
                f"that {change.entrant} {_CHANGED[change.kind]} when {change.after} matches "
                f"were scheduled, and for this reason: {change.reason_kind}"
                f"{f', {change.reason}' if change.reason else ''}"
            )
    gone = [each.match for each in schedule.pairings if each.state == MatchState.CANCELLED]
    if gone:
        yield f"that nobody played what was cancelled: {spans(gone)}"


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
