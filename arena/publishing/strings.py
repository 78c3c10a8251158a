"""Checks what an exported folder tells of the entrants' strings."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from arena.entropy import Protection, StringState, digest_of, hash_of_strings, protection
from arena.formats import ChangeKind
from arena.publishing.differences import compare, differ
from arena.publishing.documents import TOURNAMENT
from arena.publishing.published import SecondTournament

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.publishing.published import PublishedString, PublishedTournament


def check_strings(tournament: PublishedTournament, promises: str | None) -> None:
    """Check every string against its promise, and the list against its hash.

    Args:
        tournament: As it is published.
        promises: The hash as somebody noted it, None if nobody did.

    Raises:
        DifferenceError: At the first difference.
    """
    if not isinstance(tournament, SecondTournament):
        if promises is not None:
            differ(TOURNAMENT, "promises, as they were noted", promises, "none in this form")
        _check_starters(tournament)
        return
    for number, each in enumerate(tournament.strings):
        _check_one(f"entropy[{number}]", each)
    _check_times(tournament)
    _check_order(tournament)
    _check_entrants(tournament)
    due = hash_of_strings(tournament.commitment, tournament.strings)
    compare(TOURNAMENT, "promises (SHA-256 of commitment and list)", due, tournament.promises)
    if promises is not None:
        compare(TOURNAMENT, "promises, as they were noted", promises, tournament.promises)


def list_words(tournament: PublishedTournament) -> str | None:
    """Say what holds of the list once it was checked; None in a form that has none."""
    if not isinstance(tournament, SecondTournament):
        return None
    listed = sum(each.state.kind is not None for each in tournament.strings)
    if not listed:
        return f"no entrant gave a string for the seed, as the hash {tournament.promises} says"
    strings = "1 string" if listed == 1 else f"{listed} strings"
    return f"the list of {strings} of entrants is the one with the hash {tournament.promises}"


def unproved_strings(tournament: PublishedTournament, *, is_noted: bool) -> Iterator[str]:
    """Say what nobody can tell of strings that were checked.

    Args:
        tournament: As it is published.
        is_noted: Whether the hash of the promises was known from elsewhere.
    """
    if not tournament.strings:
        return
    for each in tournament.strings:
        if each.state is StringState.FORGONE:
            yield f"that {each.entrant} held its promised text back: {each.reason}"
    yield (
        "that each text is of the entrant and the time it is said to be of, and was promised or "
        "known when the folder says so: who gave it knows"
    )
    if protection(tournament.strings) is not Protection.PROMISED:
        yield "that whoever gave a text for the seed did not know the organiser's secret"
        yield from _late_changes(tournament)
        return
    yield "that no promised text was told to the organiser before: its author knows"
    if not is_noted:
        yield (
            "that the list of strings was fixed before the first was revealed: give its hash as "
            "you noted it"
        )
    yield from _late_changes(tournament)


def _late_changes(tournament: PublishedTournament) -> Iterator[str]:
    """Name who came or left between the fixing of the list and the start, as far as it is told."""
    if not isinstance(tournament, SecondTournament) or tournament.listed is None:
        return
    for change in tournament.changes:
        if change.position is None and change.created >= tournament.listed:
            verb = "came" if change.kind is ChangeKind.JOIN else "left"
            yield (
                f"that {change.entrant} {verb} for this reason, before the start and after the "
                f"list of strings was fixed: {change.reason_kind}, {change.reason}; who knew the "
                "seed could choose by it who plays which deals"
            )


def _check_starters(tournament: PublishedTournament) -> None:
    """In the first form texts stand in the order of the entrants that they are of."""
    starters = iter(tournament.labels[: tournament.starters])
    for number, each in enumerate(tournament.strings):
        # Each looks on from where the one before was found.
        if each.entrant not in starters:
            place = f"entropy[{number}].entrant"
            expected = "an entrant of the beginning, after the one before it"
            differ(TOURNAMENT, place, expected, each.entrant)


def _check_one(place: str, each: PublishedString) -> None:
    """A string is told if and only if it is in the seed, and is the one that was promised."""
    if (each.text is not None) != each.state.is_in_seed:
        expected = "the string, for it is in the seed" if each.state.is_in_seed else "null"
        differ(TOURNAMENT, f"{place}.text", expected, str(each.text))
    if each.text is not None:
        compare(TOURNAMENT, f"{place}.digest", digest_of(each.text), each.digest)
    if (each.digest is None) != (each.state is StringState.LATE):
        differ(TOURNAMENT, f"{place}.digest", "one of what is listed, and only there", each.state)
    if (each.is_later is None) == (each.state in {StringState.OPEN, StringState.KNOWN}):
        expected = "true or false of what was given in the open, else null"
        differ(TOURNAMENT, f"{place}.is_later", expected, str(each.is_later))
    is_forgone = each.state is StringState.FORGONE
    if bool(each.reason) != is_forgone or (each.forgone is not None) != is_forgone:
        differ(TOURNAMENT, f"{place}.forgone", "time and reason of what is forgone", each.state)


def _check_times(tournament: SecondTournament) -> None:
    """Before the start nothing need be fixed; afterwards everything is."""
    states = [each.state for each in tournament.strings]
    if tournament.started is not None:
        if tournament.listed is None:
            differ(TOURNAMENT, "listed", "a time, for the tournament has begun", "null")
        if StringState.PROMISED in states:
            place = f"entropy[{states.index(StringState.PROMISED)}].state"
            differ(TOURNAMENT, place, "revealed or forgone, for it has begun", "promised")
    if tournament.listed is None:
        for number, state in enumerate(states):
            if state in {StringState.REVEALED, StringState.FORGONE, StringState.LATE}:
                place = f"entropy[{number}].state"
                differ(TOURNAMENT, place, "open, promised or known: no list is fixed", state)


def _check_order(tournament: SecondTournament) -> None:
    """What is listed comes first; in both parts entrants stand in the order of their bytes."""

    def key(each: PublishedString) -> tuple[bool, bytes]:
        return each.state is StringState.LATE, each.entrant.encode()

    keys = [key(each) for each in tournament.strings]
    for number, (before, after) in enumerate(pairwise(keys), start=1):
        if before > after:
            found = tournament.strings[number].entrant
            differ(TOURNAMENT, f"entropy[{number}].entrant", "what is listed, by name", found)


def _check_entrants(tournament: SecondTournament) -> None:
    """Strings are of who was in when the list was fixed, or is in; one for each time it is."""
    left = Counter(
        change.entrant
        for change in tournament.changes
        if change.kind is ChangeKind.LEAVE and change.position is None
    )
    there = Counter(tournament.labels)
    seen: Counter[str] = Counter()
    for number, each in enumerate(tournament.strings):
        seen[each.entrant] += 1
        allowed = there[each.entrant]
        if each.state is not StringState.LATE:
            # Who left before the start stays on the list; it may have come again.
            allowed = max(allowed, left[each.entrant])
        if seen[each.entrant] > allowed:
            differ(TOURNAMENT, f"entropy[{number}].entrant", "an entrant, once", each.entrant)
