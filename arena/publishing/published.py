"""What is published of a tournament: the values of an exported folder and their JSON.

Every value is read strictly: no missing and no unknown name, no number of another kind. How they
become files is told by `docs/export.md`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator

from arena.entropy import StringState, digest_of, seed_of_strings
from arena.formats import ChangeKind, Partners
from arena.infos import SHA256, AttemptState, MatchState, Seeding, TournamentState
from arena.reasons import ReasonKind
from arena.statistics.stats import PlayedMatch
from referee.results import Entrant, MatchSpec, TimeControl
from referee.rules import Rules
from referee.score_text import read_score
from referee.shuffle import SEED_BYTES

FORMAT: Final = 3
"""Version of the form of exported folders."""

MOST = 1_000_000
"""No tournament holds more of anything, and nobody's folder shall make the checker count on."""


def _fraction(value: object) -> Fraction:
    return value if isinstance(value, Fraction) else read_score(value)


def _time(value: str) -> str:
    """Take a time only as the export writes it."""
    try:
        time = datetime.fromisoformat(value)
        is_written_so = time.utcoffset() == timedelta(0) and time.isoformat() == value
    except ValueError:
        is_written_so = False
    if not is_written_so:
        raise ValueError("expected a time such as '2026-01-31T12:00:00+00:00'")
    return value


Share = Annotated[Fraction, PlainValidator(_fraction), PlainSerializer(str)]
Time = Annotated[str, AfterValidator(_time)]
Count = Annotated[int, Field(ge=0, le=MOST)]
Number = Annotated[int, Field(ge=1, le=MOST)]
Hash = Annotated[str, Field(pattern=f"^{SHA256.pattern}$")]


class Value(BaseModel):
    """A frozen value that is read strictly."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class PublishedEntrant(Value):
    """A bot version in the tournament; its place in the list is its number in the schedule.

    `digest` is the image id, or for a bot that runs as a process the hash of its source tree.
    `pair` numbers the pair it stays in.
    """

    name: str
    version: Number
    kind: str
    digest: str
    pair: Count | None

    @property
    def label(self) -> str:
        """Name and version as tables show them."""
        return f"{self.name}@{self.version}"


class PublishedEntropy(Value):
    """A text that an entrant had mixed into the seed, as the first form tells it.

    `is_later` says that it was submitted after the commitment was published.
    """

    entrant: str
    text: str
    is_later: bool


class PublishedString(Value):
    """An entrant's string, and what became of it.

    `digest` is its SHA-256, null if it came too late for the list, and `text` is null unless it is
    in the seed. `is_later` says of one that was given in the open, or known, that this was after
    the commitment was published; it is null of all others. `reason` says why one was not waited
    for, `forgone` since when.
    """

    entrant: str
    state: StringState
    digest: Hash | None
    text: str | None
    is_later: bool | None
    reason: str
    forgone: Time | None


class PublishedChange(Value):
    """An entrant that joined or left, and why.

    `position` is its number and `after` how many matches the schedule held; both are null for what
    happened before the start, which no pairing ever saw.
    """

    kind: ChangeKind
    entrant: str
    position: Count | None
    after: Count | None
    reason_kind: ReasonKind
    reason: str
    created: Time


class PublishedRating(Value):
    """The rating system by which standings are ranked, with all its parameters."""

    system: str
    parameters: dict[str, float]


class PublishedTournament(Value):
    """The settings of a tournament, fixed when it was made, and its seed once it is revealed.

    `entrants` are all there ever were, those of the beginning first: `starters` counts these.
    `seed` is what was committed to; what `strings` tells is mixed into it. `stopped` is when the
    organiser ended it before its schedule was played, `frozen` whether nobody could enter late.
    Times are in ISO 8601.
    """

    format: int
    engine: str
    name: str
    created: Time
    started: Time | None
    stopped: Time | None
    state: TournamentState
    variant: str
    rules: dict[str, Any]
    seats: Count
    decks: Number
    match_format: str
    tables: Number
    time_control: TimeControl
    sandbox: str
    tournament_format: str
    rounds: Number | None
    options: dict[str, Any]
    partners: Partners
    seeding: Seeding
    frozen: bool
    entrants: tuple[PublishedEntrant, ...]
    starters: Count
    changes: tuple[PublishedChange, ...]
    rating: PublishedRating
    entropy: tuple[Value, ...]
    commitment: Hash
    seed: Hash | None
    seed_given: bool

    @property
    def strings(self) -> tuple[PublishedString, ...]:
        """What became of the entrants' strings."""
        raise NotImplementedError

    @property
    def why_stopped(self) -> str | None:
        """Why the organiser ended it; None if nobody did, or no reason was asked for."""
        return None

    @property
    def labels(self) -> tuple[str, ...]:
        """The entrants' labels by their numbers."""
        return tuple(entrant.label for entrant in self.entrants)

    @property
    def playing_seed(self) -> bytes | None:
        """The seed from which every deck and lot follows; None until it is revealed."""
        if self.seed is None:
            return None
        return seed_of_strings(bytes.fromhex(self.seed), self.strings)

    def spec(self, number: int, seats: tuple[int, ...]) -> MatchSpec:
        """Return what a match of these entrants has to be, under a seed of zeros if it is secret.

        Raises:
            RulesError: There are no such rules.
            SpecError: The settings do not go together.
            LookupError: There is no such entrant.
        """
        entrants = [self.entrants[seat] for seat in seats]
        return self._spec(
            number, tuple(Entrant(bot.name, str(bot.version), bot.digest) for bot in entrants)
        )

    def check(self) -> None:
        """Refuse settings by which no match could be played.

        Raises:
            RulesError: There are no such rules.
            SpecError: The settings do not go together.
        """
        self._spec(1, (Entrant(""),) * self.seats)

    def _spec(self, number: int, entrants: tuple[Entrant, ...]) -> MatchSpec:
        return MatchSpec(
            variant=self.variant,
            rules=Rules.from_dict(self.rules),
            seats=self.seats,
            decks=self.decks,
            seed=self.playing_seed or bytes(SEED_BYTES),
            entrants=entrants,
            match=number,
            match_format=self.match_format,
            tables=self.tables,
            time_control=self.time_control,
        )


class FirstTournament(PublishedTournament):
    """A tournament as the first form of folders tells it."""

    format: Literal[1]
    entropy: tuple[PublishedEntropy, ...]

    @property
    def strings(self) -> tuple[PublishedString, ...]:
        """The texts in the seed, all of them given in the open."""
        return tuple(
            PublishedString(
                entrant=each.entrant,
                state=StringState.OPEN,
                digest=digest_of(each.text),
                text=each.text,
                is_later=each.is_later,
                reason="",
                forgone=None,
            )
            for each in self.entropy
        )


class SecondTournament(PublishedTournament):
    """A tournament as folders of the second and of the present form tell it.

    `stop_reason` is why the organiser ended it, null if nobody did or no reason was asked for then.
    `listed` is when the list of the strings was fixed, and `promises` the SHA-256 of it and of the
    commitment.
    """

    format: Literal[2, 3] = FORMAT
    stop_reason: str | None
    entropy: tuple[PublishedString, ...]
    listed: Time | None
    promises: Hash

    @property
    def why_stopped(self) -> str | None:
        """Why the organiser ended it."""
        return self.stop_reason

    @property
    def strings(self) -> tuple[PublishedString, ...]:
        """What became of the entrants' strings."""
        return self.entropy


TOURNAMENTS: dict[int, type[PublishedTournament]] = {
    1: FirstTournament,
    2: SecondTournament,
    FORMAT: SecondTournament,
}
"""How a tournament is told, by the version of the form of its folder."""


class PublishedPairing(Value):
    """A match of the schedule; `seats` and `entrants` stand in the order of the first leg."""

    match: Number
    round: Number
    stage: str
    seats: tuple[Count, ...]
    entrants: tuple[str, ...]
    state: MatchState


class PublishedBye(Value):
    """An entrant that rests in a round."""

    round: Number
    entrant: Count


class PublishedSchedule(Value):
    """All matches in the order of their numbers, and who rested."""

    pairings: tuple[PublishedPairing, ...]
    byes: tuple[PublishedBye, ...]


class PublishedResult(Value):
    """What a match came to.

    Totals stand in the order of the match's entrants; `decks` holds the scores as
    [deck][leg][entrant], `sides` the side of each, empty if each plays for itself. `digest` is
    that of the record's last line, which leaves out what was measured.
    """

    match: Number
    attempt: Number
    entrants: tuple[str, ...]
    sides: tuple[Count, ...]
    totals: tuple[Share, ...]
    decks: tuple[tuple[tuple[Share, ...], ...], ...]
    conditions: str
    milliseconds: Annotated[int, Field(ge=0)]
    record: str
    record_sha256: Hash
    digest: Hash


class PublishedAttempt(Value):
    """One try at playing a match; `verdict` says in a word why it did not count (ISO 8601)."""

    match: Number
    attempt: Number
    state: AttemptState
    verdict: str
    started: Time
    ended: Time | None


class PublishedFault(Value):
    """A fault; `deal` is null for one that lost the rest of a leg.

    What the referee noted of it besides is no part of the record, and null where it noted nothing.
    """

    match: Number
    leg: Count
    deal: Count | None
    seat: Count
    place: Count
    entrant: str
    kind: str
    detail: str
    deals_played: int | None = None
    deals_lost: int | None = None
    limit_us: int | None = None
    elapsed_us: int | None = None
    bank_us: int | None = None
    sent: str | None = None
    received: str | None = None


class PublishedUsage(Value):
    """What a bot used in one leg; null where it is not known.

    Memory, traffic and logs are in bytes, `_us` in microseconds of answers, of which `sending_us`
    was the platform's.
    """

    match: Number
    leg: Count
    seat: Count
    place: Count
    entrant: str
    decisions: int
    answers: int
    time_us: int
    p50_us: int
    p95_us: int
    p99_us: int
    max_us: int
    sending_us: int | None = None
    sent_bytes: int
    received_bytes: int
    sent_messages: int | None = None
    received_messages: int | None = None
    cpu_seconds: float | None = None
    peak_memory: int | None = None
    memory_limit: int | None = None
    memory_kills: int | None = None
    out_of_memory: bool | None = None
    throttled_seconds: float | None = None
    throttled_periods: int | None = None
    start_seconds: float | None = None
    log_bytes: int | None = None
    log_truncated: bool | None = None
    exit_code: int | None = None
    signal: int | None = None


def played_match(result: PublishedResult, faults: tuple[PublishedFault, ...]) -> PlayedMatch:
    """Return a result as statistics and ratings take it.

    Args:
        result: The match's.
        faults: Of this match, in the order of the record.

    Raises:
        StatsError: The scores do not fit together.
    """
    return PlayedMatch(
        number=result.match,
        entrants=result.entrants,
        decks=result.decks,
        sides=result.sides,
        faults=tuple((fault.place, fault.kind) for fault in faults),
    )
