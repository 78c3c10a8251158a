"""Tournaments: made from options, then driven match by match until the schedule is played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from arena.infos import MatchInfo, TournamentInfo
    from arena.store import Store
    from referee.results import TimeControl
    from referee.rules import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentOptions:
    """What an organiser decides; None leaves a choice to the platform.

    `bots` are "name" (its newest version) or "name@2". `rules` are the variant's own unless
    given. `seed` is 32 bytes; without one a secret seed is drawn.
    """

    name: str
    bots: tuple[str, ...]
    time: TimeControl
    variant: str = "bura"
    rules: Rules | None = None
    format: str = "round-robin"
    seats: int = 2
    rounds: int = 1
    decks: int = 100
    match_format: str = "series"
    tables: int | None = None
    seed: bytes | None = None
    sandbox: str = "container"


class ProgressListener(Protocol):
    """Told of what happens while a tournament runs, in the order in which it happens."""

    def started(self, match: MatchInfo) -> None:
        """A match was given to a worker."""

    def finished(self, match: MatchInfo) -> None:
        """A match was recorded."""

    def voided(self, match: MatchInfo, reason: str) -> None:
        """An attempt did not count; the match is played again unless its state is incomplete."""

    def note(self, text: str) -> None:
        """Something the organiser should know, in one line."""


class StopFlag:
    """How a run is told to stop: once for after the running matches, twice for at once."""

    def request(self) -> None:
        """Ask to stop; the second time, to stop at once."""
        raise NotImplementedError

    def request_now(self) -> None:
        """Ask to stop at once."""
        raise NotImplementedError

    @property
    def draining(self) -> bool:
        """Whether no new match may start."""
        raise NotImplementedError

    @property
    def now(self) -> bool:
        """Whether running matches are given up."""
        raise NotImplementedError

    def signals(self) -> AbstractContextManager[StopFlag]:
        """Take SIGINT (once, twice) and SIGTERM (at once) while the context lasts."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What one run of a tournament did."""

    tournament: TournamentInfo
    played: int
    voided: int
    fenced: int
    reaped: int
    interrupted: bool

    @property
    def exit_code(self) -> int:
        """0 when the schedule is played, 1 when matches stayed incomplete, 130 when stopped."""
        if self.interrupted:
            return 130
        return 1 if self.tournament.incomplete else 0


def create(store: Store, options: TournamentOptions) -> TournamentInfo:
    """Make a tournament and commit to its seed.

    Raises:
        NotFoundError: A bot, the variant or the format is unknown.
        RefusedError: The options do not go together, or the name is taken.
    """
    raise NotImplementedError


def run(
    store: Store,
    name: str,
    *,
    progress: ProgressListener,
    stop: StopFlag,
    concurrency: int | None = None,
) -> RunReport:
    """Play what is left of a tournament; the same call starts and resumes it.

    Raises:
        NotFoundError: No tournament has this name.
        RefusedError: More matches at once than the cores allow, or it is being run elsewhere.
        MachineError: The engine, the disk or the database failed; nothing half done is left.
    """
    raise NotImplementedError
