"""What the store tells: frozen values, free of the database."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from arena.formats import Options, Partners

if TYPE_CHECKING:
    from datetime import datetime
    from fractions import Fraction
    from pathlib import Path

    from arena.entropy import StringState
    from arena.reasons import ReasonKind
    from referee.results import TimeControl
    from referee.rules import Rules

SHA256 = re.compile("[0-9a-f]{64}")
"""A SHA-256 as it is stored, shown and published."""


class MatchState(StrEnum):
    """Where a match is in its life."""

    PLANNED = "planned"
    LEASED = "leased"
    DONE = "done"
    INCOMPLETE = "incomplete"
    CANCELLED = "cancelled"


class AttemptState(StrEnum):
    """How an attempt at a match stands, or ended."""

    LEASED = "leased"
    RECORDED = "recorded"
    VOID = "void"
    LOST = "lost"
    FENCED = "fenced"


class TournamentState(StrEnum):
    """How far a tournament is."""

    PLANNED = "planned"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    INCOMPLETE = "incomplete"

    @property
    def is_over(self) -> bool:
        """Whether no match will be played any more."""
        return self is TournamentState.FINISHED


class Seeding(StrEnum):
    """How the order of the entrants came about."""

    GIVEN = "given"
    RATING = "rating"


def version_label(name: str, number: int) -> str:
    """Return a bot's name and the number of its version as they are written on a command line."""
    return f"{name}@{number}"


def is_named(label: str, word: str) -> bool:
    """Tell whether a word names the version of a label: with its number or without, in any case."""
    return word.casefold() in {label.casefold(), label.partition("@")[0].casefold()}


@dataclass(frozen=True, slots=True, kw_only=True)
class BotVersionInfo:
    """One submitted version of a bot; what it runs never changes.

    `kind` is "image" (run in a container) or "process" (a copied source tree); `digest` is the
    image id or the hash of the tree, `folder` the copied tree, `source` what was submitted.
    `entropy` is the author's string for the seeds of tournaments, None if there is none or it is
    not told yet; `entropy_digest` its SHA-256 in hexadecimal if it was promised, `revealed` when
    it was told then.
    """

    name: str
    version: int
    kind: str
    digest: str
    source: str
    folder: Path | None
    created: datetime
    entropy: str | None = None
    entropy_digest: str | None = None
    revealed: datetime | None = None
    new: bool = False

    @property
    def label(self) -> str:
        """Name and version as they are written on a command line."""
        return version_label(self.name, self.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class BotInfo:
    """A bot and all its versions, oldest first."""

    name: str
    created: datetime
    versions: tuple[BotVersionInfo, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrantInfo:
    """A bot version in a tournament; `index` is its place in the schedule.

    `pair` numbers the pair it stays in, None for a bot that is entered alone. `came` says how
    it came after the start, None of one that was in from the first, `left` why it is no longer in.
    """

    index: int
    bot: BotVersionInfo
    pair: int | None = None
    came: ReasonKind | None = None
    left: ReasonKind | None = None

    @property
    def late(self) -> bool:
        """Whether it came after the start."""
        return self.came is not None

    @property
    def name(self) -> str:
        """The name shown in tables: the bot's, with its version."""
        return self.bot.label


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeInfo:
    """Something that happened to a tournament, with the organiser's reason.

    `joined` is False for one who left, and None for one whose string was not waited for; when the
    organiser ended the tournament, `joined`, `kind` and `entrant` are None. `after` is how many
    pairings the tournament held, None before the start. `reason` is None if it was not asked for
    at the time.
    """

    number: int
    created: datetime
    joined: bool | None
    kind: ReasonKind | None
    entrant: str | None
    after: int | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """An entrant's string, and what becomes of it in a tournament.

    `text` is None unless it is in the seed, `digest` its SHA-256 in hexadecimal. `is_later` says of
    one that was given in the open whether that was after the commitment: only then is it certain
    that the organiser did not know it when the secret was drawn. `told` is when it was given, in
    milliseconds since 1970, None for a promise that is not kept yet: whoever gave the last one in
    the open and knew the secret could try strings until the decks pleased. `reason` says why it was
    not waited for, `forgone` since when.
    """

    entrant: str
    state: StringState
    digest: str
    text: str | None = None
    is_later: bool | None = None
    reason: str = ""
    forgone: datetime | None = field(default=None, compare=False)
    told: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentInfo:
    """A tournament, its settings and its progress.

    Attributes:
        rounds: None for what the format takes as usual.
        options: What else the format was told.
        seeding: How the order of the entrants came about.
        frozen: Whether nobody enters and no version is replaced once it is made.
        entrants: In the order of the schedule, also those who left.
        first_entrants: How many of them were in at the start.
        commitment: SHA-256 of the secret in hexadecimal, public from the start.
        secret: What was committed to, 32 bytes; None before the last match is over.
        seed: What the decks follow from: the secret, with the entrants' strings mixed in if there
            are any; None before the last match is over.
        seed_given: Whether the organiser chose the secret: then the commitment proves nothing.
        contributions: The strings of the entrants: those on the list, which is what can be mixed
            in, then those that came too late for it. Until it is fixed, the list as it would be.
        listed: When the list was fixed.
        promises: SHA-256 of commitment and list, in hexadecimal.
        complete: Whether every match is scheduled that will ever be.
        stopped: When the organiser ended it.
        stop_reason: Why; None if it was not stopped, or no reason was asked for at the time.
        host_causes: What made clocks unfair where it was run, as `arena doctor` names it; None if
            nobody looked.
    """

    id: int
    name: str
    created: datetime
    started: datetime | None = None
    stopped: datetime | None = None
    stop_reason: str | None = None
    host_causes: tuple[str, ...] | None = None
    state: TournamentState
    variant: str
    rules: Rules
    format: str
    options: Options = field(default_factory=Options)
    seats: int
    rounds: int | None
    seeding: Seeding = Seeding.GIVEN
    frozen: bool = False
    decks: int
    match_format: str
    tables: int
    time: TimeControl
    sandbox: str
    entrants: tuple[EntrantInfo, ...]
    first_entrants: int
    commitment: str
    secret: bytes | None
    seed: bytes | None
    seed_given: bool
    contributions: tuple[Contribution, ...] = ()
    listed: datetime | None = None
    promises: str = ""
    complete: bool = True
    planned: int
    running: int
    done: int
    incomplete: int
    cancelled: int = 0

    @property
    def total(self) -> int:
        """Matches scheduled so far but for the cancelled ones, which nobody plays."""
        return self.planned + self.running + self.done + self.incomplete

    @property
    def partners(self) -> Partners:
        """Who plays on whose side."""
        if self.rules.sides != "pairs":
            return Partners.NONE
        alone = any(entrant.pair is None for entrant in self.entrants)
        return Partners.ROTATING if alone else Partners.FIXED

    @property
    def pairs(self) -> tuple[tuple[EntrantInfo, ...], ...]:
        """The pairs that stay together, in the order in which they were entered."""
        if self.partners is not Partners.FIXED:
            return ()
        firsts, seconds = self.entrants[::2], self.entrants[1::2]
        return tuple(zip(firsts, seconds, strict=True))

    @property
    def present(self) -> tuple[EntrantInfo, ...]:
        """Those who have not left."""
        return tuple(entrant for entrant in self.entrants if entrant.left is None)

    @property
    def is_committed(self) -> bool:
        """Whether the commitment proves that nobody chose the decks by their seed."""
        return not self.seed_given

    @property
    def is_over(self) -> bool:
        """Whether no match will be played any more."""
        return self.state.is_over

    @property
    def is_sandboxed(self) -> bool:
        """False if the bots run as plain processes, which is no security boundary."""
        return self.sandbox != "process"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultInfo:
    """A fault a bot committed in the attempt that counts; `deal` is None for a leg's fault.

    Of one that lost the rest of a leg, `deals_played` counts the deals that were over before and
    `deals_lost` those it cost. `sent` is the last message to the bot and `received` the one that
    was judged, or the last before it where silence was, both as text of bounded length;
    `limit_us`, `elapsed_us` and `bank_us` the clock, in microseconds. None where nothing is known.
    """

    match: int
    leg: int
    deal: int | None
    seat: int
    entrant: str
    kind: str
    detail: str
    deals_played: int | None = None
    deals_lost: int | None = None
    sent: str | None = None
    received: str | None = None
    limit_us: int | None = None
    elapsed_us: int | None = None
    bank_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInfo:
    """How one bot's run in one leg ended, and what it used; None where nothing is known.

    Memory and traffic are in bytes; what is named `_us` is the time of answers in microseconds, of
    which `sending_us` was the platform's.
    """

    attempt: int
    leg: int
    seat: int
    entrant: str
    exit_code: int | None
    signal: int | None
    out_of_memory: bool
    cpu_seconds: float | None
    peak_memory: int | None
    log: Path | None
    log_truncated: bool
    memory_limit: int | None = None
    memory_kills: int | None = None
    throttled_seconds: float | None = None
    throttled_periods: int | None = None
    start_seconds: float | None = None
    log_bytes: int | None = None
    decisions: int | None = None
    answers: int | None = None
    time_us: int | None = None
    p50_us: int | None = None
    p95_us: int | None = None
    p99_us: int | None = None
    max_us: int | None = None
    sending_us: int | None = None
    sent_bytes: int | None = None
    sent_messages: int | None = None
    received_bytes: int | None = None
    received_messages: int | None = None
    last_sent: str | None = None
    last_received: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptInfo:
    """One try at playing a match; `reason` says why it did not count: a word, then details."""

    number: int
    state: AttemptState
    reason: str
    started: datetime
    ended: datetime | None

    @property
    def verdict(self) -> str:
        """Why it did not count, in one word; empty for one that counts or is on its way."""
        if self.state is AttemptState.VOID:
            return self.reason.partition(":")[0]
        return {AttemptState.LOST: "worker_lost", AttemptState.FENCED: "fenced"}.get(self.state, "")

    @property
    def detail(self) -> str:
        """What is known besides that word."""
        if self.state is AttemptState.VOID:
            return self.reason.partition(":")[2].strip()
        return self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchInfo:
    """A match of a tournament; entrants stand in the order of the first leg's seats.

    `sides` numbers the side of each in the same order, empty if each plays for itself. Scores are
    the entrants' totals in the same order, None until the match is done. `stage` is the format's
    word for what is at stake, often empty. `committed` is False if its seed was given by hand.
    `stalls` is how often the referee was kept from running, `stalled_us` for how long in all.
    """

    tournament: str
    number: int
    round: int
    entrants: tuple[str, ...]
    sides: tuple[int, ...]
    state: MatchState
    attempt: int
    reason: str
    scores: tuple[Fraction, ...] | None
    faults: int
    conditions: str
    record: Path | None
    record_sha256: str | None
    seconds: float | None
    stage: str = ""
    committed: bool = True
    stalls: int | None = None
    stalled_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchDetails:
    """A match with its attempts, faults and the reports of its bots."""

    match: MatchInfo
    attempts: tuple[AttemptInfo, ...]
    faults: tuple[FaultInfo, ...]
    reports: tuple[ReportInfo, ...]
