"""Tournaments: made from options, then driven match by match until the schedule is played."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from sqlmodel import select

from arena import ledger, queries
from arena.bots import check_name
from arena.driver import Driver, ProgressListener, StopFlag
from arena.entries import enter
from arena.errors import RefusedError
from arena.formats import Plan, schedule
from arena.owners import ownership
from arena.recovery import alone, recover, sweep
from arena.rulebook import check_seats
from arena.runner import attempt
from arena.sandbox import find_sandbox
from arena.sandbox.slots import plan_slots
from arena.tables import Entrant, Tournament
from arena.workers import WorkerPool
from referee import results
from referee.results import SERIES, MatchSpec, SpecError
from referee.shuffle import commitment, new_seed
from referee.variants import find_variant

if TYPE_CHECKING:
    from arena.entries import Entry
    from arena.infos import TournamentInfo
    from arena.store import Store
    from arena.workers import Play
    from referee.results import TimeControl
    from referee.rules import Rules

__all__ = [
    "ProgressListener",
    "RunReport",
    "StopFlag",
    "TournamentOptions",
    "create",
    "run",
]

SERIES_TABLES = 32
"""Deals of a series played side by side unless the organiser says otherwise."""

INTERRUPTED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentOptions:
    """What an organiser decides; None leaves a choice to the platform.

    `bots` are "name" (its newest version) or "name@2"; in a game of pairs all of them may be pairs,
    "name+other", and stay so, else partners rotate. `rules` are the variant's own unless given.
    `seed` is 32 bytes; without one a secret seed is drawn.
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
    match_format: str = SERIES
    tables: int | None = None
    seed: bytes | None = None
    sandbox: str = "container"


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
        return 0 if self.tournament.done == self.tournament.total else 1


def create(store: Store, options: TournamentOptions) -> TournamentInfo:
    """Make a tournament and commit to its seed.

    Raises:
        NotFoundError: A bot, the variant or the format is unknown.
        RefusedError: The options do not go together, or the name is taken.
    """
    check_name(options.name, "tournament")
    rules = options.rules or find_variant(options.variant)
    check_seats(options.variant, rules, options.seats)
    entries, partners = enter(store, options.bots, options.variant, rules, options.sandbox)
    tables = options.tables or (SERIES_TABLES if options.match_format == SERIES else 1)
    seed = options.seed or new_seed()
    plan = Plan(
        entrants=len(entries),
        seats=options.seats,
        rounds=options.rounds,
        seed=seed,
        partners=partners,
    )
    pairings = schedule(options.format, plan, {}).pairings
    _check_match(options, rules, tables, seed)
    row = Tournament(
        name=options.name,
        folded=options.name.casefold(),
        created=store.now(),
        variant=options.variant,
        rules=json.dumps(rules.to_dict()),
        format=options.format,
        seats=options.seats,
        rounds=options.rounds,
        decks=options.decks,
        match_format=options.match_format,
        tables=tables,
        move_time_ms=options.time.move_time_ms,
        bank_ms=options.time.bank_ms,
        increment_ms=options.time.increment_ms,
        startup_ms=options.time.startup_ms,
        sandbox=options.sandbox,
        seed=seed.hex(),
        seed_given=options.seed is not None,
        commitment=commitment(seed),
    )
    ledger.plan(store, _insert(store, row, entries), pairings)
    return queries.tournament(store, options.name)


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
        RefusedError: More matches at once than the cores allow, or another run is on.
        MachineError: The engine, the disk or the database failed; nothing half done is left.
    """
    info = queries.tournament(store, name)
    slots = plan_slots(seats=info.seats, wanted=concurrency)
    sandbox = find_sandbox(info.sandbox)
    with alone(store.home), ownership(store.home) as owner:
        reaped = recover(store, sandbox, owner)
        if reaped:
            progress.note(f"{reaped} leftovers of a run that died were taken back")
        driver = Driver(store, info, sandbox, owner, progress=progress, stop=stop)
        try:
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
        interrupted=stop.draining and bool(info.planned or info.running),
    )


def _check_match(options: TournamentOptions, rules: Rules, tables: int, seed: bytes) -> None:
    """Refuse what no match could be played with.

    Raises:
        RefusedError: The options do not go together.
    """
    try:
        MatchSpec(
            variant=options.variant,
            rules=rules,
            seats=options.seats,
            decks=options.decks,
            seed=seed,
            entrants=(results.Entrant(""),) * options.seats,
            match_format=options.match_format,
            tables=tables,
            time_control=options.time,
        )
    except SpecError as error:
        raise RefusedError(str(error)) from error


def _insert(store: Store, row: Tournament, entries: list[Entry]) -> int:
    with store.write() as session:
        taken = session.exec(select(Tournament.id).where(Tournament.folded == row.folded)).first()
        if taken is not None:
            raise RefusedError(f"there is a tournament {row.name} already", "choose another name")
        session.add(row)
        session.flush()
        number = cast("int", row.id)
        session.add_all(
            Entrant(
                tournament_id=number,
                position=position,
                bot_version_id=queries.find_version(session, entry.bot),
                pair=entry.pair,
            )
            for position, entry in enumerate(entries)
        )
        return number
