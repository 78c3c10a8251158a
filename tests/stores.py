"""Stores for tests: a home in a temporary folder, bots and a tournament in it."""

import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction

import pytest
from sqlalchemy import Engine, event
from sqlmodel import Session

from arena.formats import Pairing, Schedule
from arena.home import Home
from arena.jobs import MatchDescription
from arena.ledger import Lease, claim, plan
from arena.owners import Owner
from arena.sandbox import BotSource
from arena.store import Store
from arena.stored_results import StoredFault, StoredReport, StoredResult
from arena.tables import Bot, BotVersion, Entrant, Tournament
from referee.results import Entrant as Player
from referee.results import MatchSpec
from referee.rules import Rules

OWNER = Owner("boot-1", "here")
OTHER = Owner("boot-2", "here")

FORKS = multiprocessing.get_context("forkserver")
"""How tests start many children that use a database. A process with threads must not fork itself:
a child that was forked while a thread, as gRPC has, held a lock waits for that lock forever."""
FORKS.set_forkserver_preload(["alembic.command", "arena.migrations", "arena.tournament", "pytest"])


def die_before(statements: int) -> None:
    """Kill this process before so many statements have been carried out, by whatever database."""
    left = statements

    def count(*_args: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "before_cursor_execute", count)


def open_and_die(home: Home, statements: int) -> None:
    """Open a database, and so bring it up to date, but die before so many statements."""
    die_before(statements)
    Store.open(home).close()


def after_every_read(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Let something happen to the database as soon as a reading transaction has ended."""
    read = Store.read
    acting = False

    @contextmanager
    def busy(store: Store) -> Iterator[Session]:
        nonlocal acting
        with read(store) as session:
            yield session
        if not acting:
            acting = True
            act()
            acting = False

    monkeypatch.setattr(Store, "read", busy)


class Hours:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.seconds = 1_000_000.0

    def __call__(self) -> float:
        """Tell the time in seconds."""
        return self.seconds


class Ticks(Hours):
    """A clock that goes on whenever somebody looks at it, and never back as the machine's may."""

    def __call__(self) -> float:
        """Tell a time that was never told before."""
        # Slowly, so that no lease runs out, and exactly in binary: later in milliseconds, too.
        self.seconds += 1 / 64
        return self.seconds


def add_tournament(
    store: Store, *, bots: Sequence[str] = ("anna", "boris"), matches: int = 1, name: str = "cup"
) -> int:
    """Store bots and a tournament of the first two that meet again and again; give its id."""
    with store.write() as session:
        tournament = Tournament(
            name=name,
            folded=name,
            created=0,
            variant="bura",
            format="round-robin",
            seats=2,
            rules=json.dumps(Rules().to_dict()),
            rounds=matches,
            decks=2,
            match_format="series",
            tables=1,
            move_time_ms=1000,
            bank_ms=0,
            increment_ms=0,
            startup_ms=5000,
            sandbox="process",
            seed="00" * 32,
            seed_given=True,
            commitment="c",
        )
        session.add(tournament)
        session.flush()
        for position, bot_name in enumerate(bots):
            bot = Bot(name=bot_name, folded=bot_name, created=0)
            session.add(bot)
            session.flush()
            version = BotVersion(
                bot_id=bot.id or 0,
                number=1,
                kind="process",
                digest=f"sha256:{position}",
                source="here",
                created=0,
            )
            session.add(version)
            session.flush()
            session.add(
                Entrant(
                    tournament_id=tournament.id or 0,
                    position=position,
                    bot_version_id=version.id or 0,
                )
            )
        number = tournament.id or 0
    pairings = tuple(Pairing(place + 1, 1, (0, 1)) for place in range(matches))
    plan(store, number, Schedule(pairings, complete=True))
    return number


def result(
    *, scores: tuple[int, ...] = (1, -1), faults: tuple[StoredFault, ...] = ()
) -> StoredResult:
    """Give a result of one deck in one leg."""
    fractions = tuple(map(Fraction, scores))
    return StoredResult(
        decks=((fractions,),),
        totals=fractions,
        conditions="",
        milliseconds=5,
        record="records/cup/1/1/x.jsonl",
        record_sha256="ab",
        faults=faults,
    )


def report(seat: int = 0) -> StoredReport:
    """Give a report of a bot that exited by itself."""
    return StoredReport(
        leg=0,
        seat=seat,
        position=seat,
        exit_code=0,
        signal=None,
        out_of_memory=False,
        cpu_seconds=0.1,
        peak_memory=1 << 33,
        log="",
        log_truncated=False,
    )


def lease(
    store: Store, tournament: int, owner: Owner = OWNER, *, hard_seconds: float = 3600.0
) -> Lease:
    """Claim the next match, which must be there."""
    claimed = claim(store, tournament, owner, hard_seconds=hard_seconds)
    assert claimed is not None
    return claimed


def fractions(*scores: int) -> tuple[Fraction, ...]:
    """Give whole scores as results hold them."""
    return tuple(map(Fraction, scores))


def description(home: Home, *, number: int = 1) -> MatchDescription:
    """Describe a match of two bots that are nowhere."""
    return MatchDescription(
        spec=MatchSpec(
            variant="bura",
            rules=Rules(),
            seats=2,
            decks=1,
            seed=bytes(32),
            entrants=(Player("anna"), Player("boris")),
            match=number,
        ),
        bots=(BotSource(directory=home.path), BotSource(directory=home.path)),
        positions=(0, 1),
        sandbox="process",
        home=home.path,
        folder=f"cup/{number}/1",
    )
