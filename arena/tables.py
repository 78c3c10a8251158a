"""The tables of the arena's database; sessions on them come from the store alone.

Times are milliseconds since 1970 (UTC). Scores are text: exact fractions such as "-3/2".
"""

from sqlalchemy import BigInteger, CheckConstraint, ForeignKeyConstraint, Index, UniqueConstraint
from sqlmodel import Field, SQLModel


class Folder(SQLModel, table=True):
    """The folder that a database elsewhere tells of; a file tells of the one it lies in."""

    __tablename__ = "folder"

    id: str = Field(primary_key=True)


class Bot(SQLModel, table=True):
    """A name under which versions are submitted, unique without regard to case."""

    __tablename__ = "bot"

    id: int | None = Field(default=None, primary_key=True)
    name: str
    folded: str = Field(unique=True)
    created: int = Field(sa_type=BigInteger)


class BotVersion(SQLModel, table=True):
    """One submission of a bot, by the digest of what it runs.

    `entropy` is the string that its author had mixed into the seeds of tournaments. Of one that
    was promised, `entropy_digest` is the SHA-256 in hexadecimal, `revealed` when it was told; the
    string is null until then.
    """

    __tablename__ = "bot_version"
    __table_args__ = (
        UniqueConstraint("bot_id", "number", name="bot_version_number"),
        CheckConstraint("kind IN ('image', 'process')", name="bot_version_kind"),
    )

    id: int | None = Field(default=None, primary_key=True)
    bot_id: int = Field(foreign_key="bot.id")
    number: int
    kind: str
    digest: str
    source: str
    created: int = Field(sa_type=BigInteger)
    entropy: str | None = None
    entropy_digest: str | None = None
    revealed: int | None = Field(default=None, sa_type=BigInteger)


class Tournament(SQLModel, table=True):
    """The settings of a tournament, fixed when it is made, and how far it has come.

    `rounds` is null for what the format takes as usual, `options` what else the format is told, as
    JSON. `seed` is the secret that was committed to; `listed` when the list of the strings that
    can be mixed into it was fixed, null until then. `complete` says that no further pairing will
    come, `stopped` when the organiser ended it and `stop_reason` why, `frozen` that nobody enters
    once it is made.
    """

    __tablename__ = "tournament"

    id: int | None = Field(default=None, primary_key=True)
    name: str
    folded: str = Field(unique=True)
    created: int = Field(sa_type=BigInteger)
    started: int | None = Field(default=None, sa_type=BigInteger)
    variant: str
    rules: str
    format: str
    seats: int
    rounds: int | None = None
    options: str = "{}"
    seeding: str = "given"
    frozen: bool = False
    decks: int
    match_format: str
    tables: int
    move_time_ms: int = Field(sa_type=BigInteger)
    bank_ms: int = Field(sa_type=BigInteger)
    increment_ms: int = Field(sa_type=BigInteger)
    startup_ms: int = Field(sa_type=BigInteger)
    sandbox: str
    seed: str
    seed_given: bool
    commitment: str
    listed: int | None = Field(default=None, sa_type=BigInteger)
    complete: bool = True
    stopped: int | None = Field(default=None, sa_type=BigInteger)
    stop_reason: str | None = None


class Entrant(SQLModel, table=True):
    """A bot version in a tournament.

    `position` is its place in the schedule, from 0; `pair` the number of the pair it stays in,
    null for a bot that plays alone or with changing partners.
    """

    __tablename__ = "entrant"

    tournament_id: int = Field(foreign_key="tournament.id", primary_key=True)
    position: int = Field(primary_key=True)
    bot_version_id: int = Field(foreign_key="bot_version.id")
    pair: int | None = None


class ListedString(SQLModel, table=True):
    """A string on a tournament's list, from when that was fixed.

    `kind` says how it was given then: in the open, promised, or promised and known already. A
    promise that was not waited for has the time in `forgone`, and why in `reason`.
    """

    __tablename__ = "listed_string"
    __table_args__ = (
        CheckConstraint("kind IN ('open', 'promised', 'known')", name="listed_string_kind"),
    )

    tournament_id: int = Field(foreign_key="tournament.id", primary_key=True)
    number: int = Field(primary_key=True)
    bot_version_id: int = Field(foreign_key="bot_version.id")
    kind: str
    forgone: int | None = Field(default=None, sa_type=BigInteger)
    reason: str = ""


class Change(SQLModel, table=True):
    """What happened to the list of entrants, in the order in which it happened.

    `position` is the entrant's place in the schedule and `after` how many pairings the tournament
    held; both are null for what happened before the start, which no pairing ever saw.
    """

    __tablename__ = "change"
    __table_args__ = (CheckConstraint("kind IN ('join', 'leave')", name="change_kind"),)

    tournament_id: int = Field(foreign_key="tournament.id", primary_key=True)
    number: int = Field(primary_key=True)
    kind: str
    reason_kind: str
    bot_version_id: int = Field(foreign_key="bot_version.id")
    position: int | None = None
    after: int | None = None
    reason: str
    created: int = Field(sa_type=BigInteger)


class SavedRules(SQLModel, table=True):
    """An organiser's rules under a name, unique without regard to case.

    `variant` says what they were made from; `rules` holds every option.
    """

    __tablename__ = "saved_rules"

    id: int | None = Field(default=None, primary_key=True)
    name: str
    folded: str = Field(unique=True)
    variant: str
    rules: str
    created: int = Field(sa_type=BigInteger)


class Match(SQLModel, table=True):
    """A pairing and where it is in its life.

    `seats` lists entrants' positions by the seats of the first leg. `stage` is the format's word
    for what is at stake. `voids` counts attempts that failed for a reason of the platform's.
    `attempt` and `owner` fence late results off. A cancelled match is not played: an entrant had
    left, or the tournament was stopped.
    """

    __tablename__ = "match"
    __table_args__ = (
        UniqueConstraint("tournament_id", "number", name="match_number"),
        CheckConstraint(
            "state IN ('planned', 'leased', 'done', 'incomplete', 'cancelled')", name="match_state"
        ),
        CheckConstraint(
            "(state = 'leased') = (owner IS NOT NULL AND lease_until IS NOT NULL "
            "AND hard_until IS NOT NULL)",
            name="match_lease",
        ),
        Index("match_by_state", "tournament_id", "state", "number"),
    )

    id: int | None = Field(default=None, primary_key=True)
    tournament_id: int = Field(foreign_key="tournament.id")
    number: int
    round: int
    seats: str
    stage: str = ""
    state: str = "planned"
    attempt: int = 0
    voids: int = 0
    owner: str | None = None
    lease_until: int | None = Field(default=None, sa_type=BigInteger)
    hard_until: int | None = Field(default=None, sa_type=BigInteger)
    reason: str = ""


class Attempt(SQLModel, table=True):
    """One try at playing a match, by the driver that owned it."""

    __tablename__ = "attempt"
    __table_args__ = (
        CheckConstraint(
            "state IN ('leased', 'recorded', 'void', 'lost', 'fenced')", name="attempt_state"
        ),
    )

    match_id: int = Field(foreign_key="match.id", primary_key=True)
    number: int = Field(primary_key=True)
    owner: str
    host: str
    started: int = Field(sa_type=BigInteger)
    ended: int | None = Field(default=None, sa_type=BigInteger)
    state: str = "leased"
    reason: str = ""
    record_sha256: str = ""


class Result(SQLModel, table=True):
    """What a match came to; the primary key is the second lock against a match counted twice.

    `decks` holds the scores as [deck][leg][entrant], entrants in the order of the match's seats;
    `sides` the side of each, empty if each plays for itself.
    """

    __tablename__ = "result"
    __table_args__ = (
        ForeignKeyConstraint(
            ["match_id", "attempt"], ["attempt.match_id", "attempt.number"], name="result_attempt"
        ),
    )

    match_id: int = Field(foreign_key="match.id", primary_key=True)
    attempt: int
    recorded: int = Field(sa_type=BigInteger)
    decks: str
    sides: str
    totals: str
    conditions: str
    milliseconds: int = Field(sa_type=BigInteger)
    record: str
    record_sha256: str


class FaultRow(SQLModel, table=True):
    """A fault a bot committed in an attempt; `deal` is null for one that ended a leg.

    Of one that lost the rest of a leg, `deals_played` counts the deals that were over before and
    `deals_lost` those it cost. `sent` and `received` are the last messages as text, bounded;
    `limit_us`, `elapsed_us` and `bank_us` the clock, in microseconds. Null where nothing is known.
    """

    __tablename__ = "fault"
    __table_args__ = (
        ForeignKeyConstraint(
            ["match_id", "attempt"], ["attempt.match_id", "attempt.number"], name="fault_attempt"
        ),
        Index("fault_by_match", "match_id", "attempt"),
    )

    id: int | None = Field(default=None, primary_key=True)
    match_id: int
    attempt: int
    leg: int
    deal: int | None = None
    seat: int
    position: int
    kind: str
    detail: str
    deals_played: int | None = None
    deals_lost: int | None = None
    sent: str | None = None
    received: str | None = None
    limit_us: int | None = Field(default=None, sa_type=BigInteger)
    elapsed_us: int | None = Field(default=None, sa_type=BigInteger)
    bank_us: int | None = Field(default=None, sa_type=BigInteger)


class Report(SQLModel, table=True):
    """How one bot's run in one leg of an attempt ended, and what it used; null where unknown.

    Times named `_us` are of answers, in microseconds; `sending_us` is what of them was ours.
    """

    __tablename__ = "report"
    __table_args__ = (
        ForeignKeyConstraint(
            ["match_id", "attempt"], ["attempt.match_id", "attempt.number"], name="report_attempt"
        ),
    )

    match_id: int = Field(primary_key=True)
    attempt: int = Field(primary_key=True)
    leg: int = Field(primary_key=True)
    seat: int = Field(primary_key=True)
    position: int
    exit_code: int | None = None
    signal: int | None = None
    out_of_memory: bool
    cpu_seconds: float | None = None
    peak_memory: int | None = Field(default=None, sa_type=BigInteger)
    log: str
    log_truncated: bool
    memory_limit: int | None = Field(default=None, sa_type=BigInteger)
    memory_kills: int | None = None
    throttled_seconds: float | None = None
    throttled_periods: int | None = None
    start_seconds: float | None = None
    log_bytes: int | None = None
    decisions: int | None = None
    answers: int | None = None
    time_us: int | None = Field(default=None, sa_type=BigInteger)
    p50_us: int | None = Field(default=None, sa_type=BigInteger)
    p95_us: int | None = Field(default=None, sa_type=BigInteger)
    p99_us: int | None = Field(default=None, sa_type=BigInteger)
    max_us: int | None = Field(default=None, sa_type=BigInteger)
    sending_us: int | None = Field(default=None, sa_type=BigInteger)
    sent_bytes: int | None = Field(default=None, sa_type=BigInteger)
    sent_messages: int | None = None
    received_bytes: int | None = Field(default=None, sa_type=BigInteger)
    received_messages: int | None = None
