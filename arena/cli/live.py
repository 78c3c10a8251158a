"""A running tournament on the terminal: status lines, the bar, what stopping does."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from arena.cli.words import against, count, totals
from arena.infos import MatchState
from arena.tournament import StopFlag

if TYPE_CHECKING:
    from arena.cli.output import Bar
    from arena.infos import MatchInfo


class StatusLines:
    """Tells of matches in the lines that users of chess tools know.

    Args:
        bar: where the lines and the count go.
        total: matches that the tournament will come to, None if nobody can know.
        done: matches that were played before.
        is_least: whether replays can add to the total.
    """

    def __init__(self, bar: Bar, total: int | None, done: int, *, is_least: bool = False) -> None:
        self._bar = bar
        self._total = total
        self._is_least = is_least
        self._done = done

    def started(self, match: MatchInfo) -> None:
        """A match was given to a worker."""
        place = f"{match.number}{self._of_all(match.number)}"
        self._bar.status(f"Started match {place} ({_pairing(match)})")

    def _of_all(self, number: int) -> str:
        """Return how many there are; nothing where late entries or walkovers changed that."""
        if self._total is None:
            return ""
        if self._is_least:
            return f" of at least {max(self._total, number)}"
        return f" of {self._total}" if number <= self._total else ""

    def finished(self, match: MatchInfo) -> None:
        """A match was recorded."""
        self._done += 1
        self._bar.set(self._done)
        scores = totals(match.scores, match.sides)
        line = f"Finished match {match.number} ({_pairing(match)}): {scores}"
        self._bar.status(f"{line} {{{_reason(match)}}}")

    def voided(self, match: MatchInfo, reason: str) -> None:
        """An attempt did not count; the match is played again unless it is given up."""
        is_again = match.state in {MatchState.PLANNED, MatchState.LEASED}
        after = "to be played again" if is_again else "given up"
        self._bar.status(f"Void match {match.number} ({_pairing(match)}): {reason}; {after}")

    def note(self, text: str) -> None:
        """Something the organiser should know, in one line."""
        self._bar.status(text)


def _pairing(match: MatchInfo) -> str:
    return against(match.entrants, match.sides)


def _reason(match: MatchInfo) -> str:
    return count(match.faults, "fault") if match.faults else "no faults"


STDERR = 2
DRAINING = "stopping after the matches that are being played; press Ctrl-C again to stop at once"
STOPPING = "stopping at once"


class TellingStopFlag(StopFlag):
    """A stop flag that says on stderr what the signal it got will do."""

    def request(self) -> None:
        """Ask to stop, and say so; the second time at once."""
        super().request()
        _tell(STOPPING if self.now else DRAINING)

    def request_now(self) -> None:
        """Ask to stop at once, and say so."""
        super().request_now()
        _tell(STOPPING)


def _tell(text: str) -> None:
    # A signal may come in the middle of a print, whose stream refuses to be entered again.
    with contextlib.suppress(OSError):
        os.write(STDERR, f"\n{text}\n".encode())
