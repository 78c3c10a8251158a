"""Tournaments: made from options, then driven match by match until the schedule is played."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from sqlmodel import select

from arena import planning, queries
from arena.bots import PLUS, check_name
from arena.desk import units
from arena.driver import Driver, ProgressListener, StopFlag
from arena.entries import check_backend, enter, is_bot, split_pair, usual_sandbox
from arena.entropy import seed_with
from arena.equal_games import check_equal_games
from arena.errors import RefusedError
from arena.formats import Options, Plan, Schedule, check, find_format, schedule
from arena.infos import Seeding, TournamentState
from arena.ledger import note_causes
from arena.owners import ownership
from arena.pools import Pool
from arena.recovery import alone, recover, sweep
from arena.rulebook import check_seats, decks_of
from arena.runner import attempt
from arena.sandbox import find_sandbox
from arena.sandbox.host import unfair_causes
from arena.sandbox.slots import plan_slots
from arena.seeding import by_rating, ratings_of
from arena.tables import Entrant, Tournament
from arena.workers import WorkerPool
from referee import results
from referee.results import SERIES, MatchSpec, SpecError
from referee.shuffle import commitment, new_seed
from referee.variants import find_variant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlmodel import Session

    from arena.entries import Entry
    from arena.formats import Partners
    from arena.infos import BotVersionInfo, TournamentInfo
    from arena.store import Store
    from arena.workers import Play
    from referee.results import TimeControl
    from referee.rules import Rules

__all__ = [
    "Draft",
    "ProgressListener",
    "RunReport",
    "StopFlag",
    "TournamentOptions",
    "create",
    "draft",
    "run",
]

SERIES_TABLES = 32
"""Deals of a series played side by side unless the organiser says otherwise."""

INTERRUPTED = 130

LIKELY_FIELDS = (24, 8, 6)
"""Numbers of entrants of which every format that fits the game can hold one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentOptions:
    """What an organiser decides; None leaves a choice to the platform.

    Attributes:
        bots: "name" (its newest version) or "name@2"; in a game of pairs all of them may be pairs,
            "name+other", and stay so, else partners rotate.
        rules: The variant's own unless given.
        rounds: What the format counts; by default what it takes as usual.
        groups: For the formats that have groups, as are the next three for theirs.
        advance: How many of each group go on.
        third_place: Whether third place is played for.
        challenger: The bot or pair that meets all others, as one of `bots`.
        seeding: How the entrants are ordered; by rating where the order decides who meets whom.
        is_final: Nobody enters later, and everybody plays equally many games.
        is_open: It may be made before there are enough entrants.
        decks: Of a match of a series; others last as long as their rules say.
        seed: The secret, 32 bytes; without one it is drawn.
        sandbox: Where the bots run; processes if all of them were submitted as such.
    """

    name: str
    bots: tuple[str, ...]
    time: TimeControl
    variant: str = "bura"
    rules: Rules | None = None
    format: str = "round-robin"
    seats: int = 2
    rounds: int | None = None
    groups: int | None = None
    advance: int | None = None
    third_place: bool | None = None
    challenger: str | None = None
    seeding: Seeding | None = None
    is_final: bool = False
    is_open: bool = False
    decks: int | None = None
    match_format: str = SERIES
    tables: int | None = None
    seed: bytes | None = None
    sandbox: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A tournament that was checked and is not stored.

    Attributes:
        row: What would be stored of it.
        rules: What is played.
        time: The clock.
        entries: Who is in, in the order of the schedule.
        plan: What the format would be told; None while there are too few.
        schedule: What is known of who meets whom.
    """

    row: Tournament
    rules: Rules
    time: TimeControl
    entries: tuple[Entry, ...]
    plan: Plan | None
    schedule: Schedule


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
        """0 when the schedule is played, 1 when matches stayed open, 130 when stopped."""
        if self.interrupted:
            return INTERRUPTED
        return 0 if self.tournament.is_over else 1


def create(store: Store, options: TournamentOptions) -> TournamentInfo:
    """Make a tournament and commit to its seed.

    Raises:
        NotFoundError: A bot, the variant or the format is unknown.
        RefusedError: The options do not go together, or the name is taken.
    """
    made = draft(store, options)
    with store.write() as session:
        _refuse_taken(session, made.row.name)
        session.add(made.row)
        session.flush()
        session.add_all(
            Entrant(
                tournament_id=cast("int", made.row.id),
                position=position,
                bot_version_id=queries.find_version(session, entry.bot),
                pair=entry.pair,
            )
            for position, entry in enumerate(made.entries)
        )
        planning.plan_anew(session, made.row)
    return queries.tournament(store, options.name)


def draft(
    store: Store,
    options: TournamentOptions,
    find: Callable[[str], BotVersionInfo] | None = None,
) -> Draft:
    """Check a tournament and draw its seed, without storing anything.

    Args:
        store: Where the bots are.
        options: What the organiser decided.
        find: Gives the version that a name means, if others count than those in the store.

    Raises:
        NotFoundError: A bot, the variant or the format is unknown.
        RefusedError: The options do not go together, or the name is taken.
    """
    check_name(options.name, "tournament")
    with store.read() as session:
        _refuse_taken(session, options.name)
    find_format(options.format)
    rules = options.rules or find_variant(options.variant)
    check_seats(options.variant, rules, options.seats)
    decks = decks_of(options.decks, options.match_format)
    version = find or (lambda word: queries.bot_version(store, word))
    listed, partners = enter(options.bots, options.variant, rules, version)
    challenger = _challenger(options, listed, version)
    seeding = options.seeding or _usual_seeding(options.format)
    if seeding is Seeding.RATING:
        pool = Pool(rules=rules, seats=options.seats, match_format=options.match_format)
        listed = by_rating(listed, ratings_of(store, pool))
    tables = options.tables or (SERIES_TABLES if options.match_format == SERIES else 1)
    secret = options.seed or new_seed()
    _check_match(options, rules, decks, tables, secret)
    told = Options(
        groups=options.groups,
        advance=options.advance,
        third_place=options.third_place,
        challenger=None if challenger is None else units(listed).index(challenger),
    )
    plan = _plan(options, listed, partners, told, secret)
    sandbox = options.sandbox or usual_sandbox(listed)
    check_backend(listed, sandbox)
    row = Tournament(
        name=options.name,
        folded=options.name.casefold(),
        created=store.now(),
        variant=options.variant,
        rules=json.dumps(rules.to_dict()),
        format=options.format,
        seats=options.seats,
        rounds=options.rounds,
        options=json.dumps(told.to_dict()),
        seeding=seeding,
        frozen=options.is_final,
        decks=decks,
        match_format=options.match_format,
        tables=tables,
        move_time_ms=options.time.move_time_ms,
        bank_ms=options.time.bank_ms,
        increment_ms=options.time.increment_ms,
        startup_ms=options.time.startup_ms,
        sandbox=sandbox,
        seed=secret.hex(),
        seed_given=options.seed is not None,
        commitment=commitment(secret),
    )
    return Draft(
        row=row,
        rules=rules,
        time=options.time,
        entries=tuple(listed),
        plan=plan,
        schedule=Schedule(()) if plan is None else schedule(options.format, plan, {}),
    )


def _plan(
    options: TournamentOptions,
    listed: Sequence[Entry],
    partners: Partners,
    told: Options,
    secret: bytes,
) -> Plan | None:
    """Return what the format would be told; None if an open tournament has too few as yet.

    Raises:
        RefusedError: The format cannot hold it, or nobody could enter what is open.
    """
    seed = _seed(listed, secret)

    def checked(entrants: int) -> Plan:
        plan = Plan(
            entrants=entrants,
            seats=options.seats,
            rounds=options.rounds,
            seed=seed,
            partners=partners,
            options=told,
        )
        check(options.format, plan)
        return plan

    if options.is_open:
        if options.is_final:
            raise RefusedError("nobody enters a final once it is made", "name its entrants now")
        try:
            return checked(len(listed))
        except RefusedError:
            _refuse_for_any_number(checked)
            return None
    plan = checked(len(listed))
    if options.is_final:
        check_equal_games(options.format, plan)
    return plan


def _seed(listed: Sequence[Entry], secret: bytes) -> bytes:
    """Return the seed as it would be with what is told of the entrants' strings by now."""
    told = [entry.bot for entry in listed if entry.bot.entropy is not None]
    return seed_with(
        secret,
        [bot.entropy or "" for bot in told if bot.entropy_digest is None],
        [bot.entropy or "" for bot in told if bot.entropy_digest is not None],
    )


def _refuse_for_any_number(checked: Callable[[int], Plan]) -> None:
    """Refuse an open tournament that would not be played however many come.

    Raises:
        RefusedError: It would not with any of some numbers of entrants.
    """
    for entrants in LIKELY_FIELDS[:-1]:
        with contextlib.suppress(RefusedError):
            checked(entrants)
            return
    checked(LIKELY_FIELDS[-1])


def _usual_seeding(name: str) -> Seeding:
    return Seeding.RATING if find_format(name).is_seeded else Seeding.GIVEN


def _challenger(
    options: TournamentOptions, listed: Sequence[Entry], find: Callable[[str], BotVersionInfo]
) -> tuple[str, ...] | None:
    """Return the names of the challenger's bots; the first named is it unless another is.

    Raises:
        NotFoundError: There is no such bot.
        RefusedError: Nobody of this name is entered.
    """
    entered = units(listed)
    if options.challenger is None:
        has_challenger = find_format(options.format).has_challenger
        return entered[0] if has_challenger and entered else None
    for unit in entered:
        bare = [label.partition("@")[0] for label in unit]
        if options.challenger in {PLUS.join(unit), PLUS.join(bare)}:
            return unit
    for word in split_pair(options.challenger, lambda name: is_bot(find, name)):
        find(word)
    raise RefusedError(
        f"the challenger {options.challenger} is not entered", "name one of the entrants"
    )


def _refuse_taken(session: Session, name: str) -> None:
    folded = name.casefold()
    taken = session.exec(select(Tournament.name).where(Tournament.folded == folded)).first()
    if taken is not None:
        raise RefusedError(f"there is a tournament {taken} already", "choose another name")


def run(
    store: Store,
    name: str,
    *,
    progress: ProgressListener,
    stop: StopFlag,
    concurrency: int | None = None,
    play: Play = attempt,
) -> RunReport:
    """Play what is left of a tournament; the same call starts and resumes it.

    Raises:
        NotFoundError: No tournament has this name.
        RefusedError: More matches at once than the cores allow, another run is on, or a string
            that was promised is not told.
        MachineError: The engine, the disk or the database failed; nothing half done is left.
    """
    info = queries.tournament(store, name)
    hindrance = planning.hindrance(store, info)
    if hindrance is not None:
        raise hindrance
    slots = plan_slots(seats=info.seats, wanted=concurrency)
    sandbox = find_sandbox(info.sandbox)
    with alone(store.home), ownership(store.home) as owner:
        # It may have been deleted until now, and not from now on.
        info = queries.tournament(store, name)
        reaped = recover(store, sandbox, owner)
        if reaped:
            what = "1 leftover" if reaped == 1 else f"{reaped} leftovers"
            progress.note(f"taken back of a run that died: {what}")
        note_causes(store, info.id, unfair_causes(info.seats))
        driver = Driver(
            store, info, sandbox, owner, progress=progress, stop=stop, reaped=reaped > 0
        )
        try:
            # Of what is over nothing is left to play, and nobody need ever have been in it.
            if not info.is_over:
                with WorkerPool(store.home, slots, play) as pool:
                    driver.drive(pool)
        finally:
            driver.give_back()
        # A worker may have died between its record and its report.
        sweep(store)
    info = queries.tournament(store, name)
    return RunReport(
        tournament=info,
        played=driver.played,
        voided=driver.voided,
        fenced=driver.fenced,
        reaped=reaped,
        interrupted=stop.draining and info.state is TournamentState.PAUSED,
    )


def _check_match(
    options: TournamentOptions, rules: Rules, decks: int, tables: int, seed: bytes
) -> None:
    """Refuse what no match could be played with.

    Raises:
        RefusedError: The options do not go together.
    """
    try:
        MatchSpec(
            variant=options.variant,
            rules=rules,
            seats=options.seats,
            decks=decks,
            seed=seed,
            entrants=(results.Entrant(""),) * options.seats,
            match_format=options.match_format,
            tables=tables,
            time_control=options.time,
        )
    except SpecError as error:
        raise RefusedError(str(error)) from error
