"""What must hold whoever dies, waits or comes late: claims, migrations, tables, repeats."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from statistics import mean, quantiles
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import create_engine, delete, update
from sqlmodel import select
from stores import FORKS, OTHER, OWNER, add_tournament, lease, open_and_die, report, result

from arena import bots, queries, tournament
from arena.databases.sqlite import set_up
from arena.errors import BusyStoreError, StoreError
from arena.home import DATABASE_VARIABLE, Home
from arena.infos import AttemptState, MatchState
from arena.ledger import MAX_VOIDS, claim, finish, release, void
from arena.migrations import known_revisions, upgrade
from arena.owners import Owner, host_id, ownership
from arena.rankings import tournament_table
from arena.store import BUSY_SECONDS, REVISION, Store
from arena.tables import Bot, Match, Result
from arena.tournament import StopFlag, TournamentOptions
from referee.record import read_record
from referee.results import TimeControl
from referee.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.queues import Queue
    from multiprocessing.sharedctypes import Synchronized
    from multiprocessing.synchronize import Barrier
    from pathlib import Path

CAP = 120.0
CLAIMERS = 20
HOLD = 0.005
PATIENCE = 600.0
BOT = "import burabot\nburabot.play(lambda turn: {choice}, name='x', version='1')\n"
OLD = tuple(revision for revision in sorted(known_revisions()) if revision != REVISION)


@pytest.fixture
def store(either_home: Home) -> Iterator[Store]:
    """A new store, with a database of each kind in turn."""
    with Store.open(either_home) as opened:
        yield opened


# ----------------------------------------------------------------------------------------- owners


def test_run_is_a_new_owner_though_process_and_machine_are_the_same(store: Store) -> None:
    """What an owner held is not adopted by its next life but released at once."""
    number = add_tournament(store)
    with ownership(store.home) as first:
        held = lease(store, number, first)
    with ownership(store.home) as second:
        assert (first.host, second.host) == (host_id(), host_id())
        assert first.boot != second.boot
        assert claim(store, number, second, hard_seconds=60) is None
        assert release(store, second.host, [second.boot]) == 1
        assert lease(store, number, second).attempt == held.attempt + 1
    assert not finish(store, held, result(), [])


@dataclass(frozen=True, slots=True)
class _Claim:
    """How one claim went: for how many seconds it waited, and how many others passed meanwhile."""

    won: bool
    waited: float
    passed: int


class _Common:
    """What the claimers share: when they begin, how many claims are through, and what they say."""

    def __init__(self) -> None:
        self.all_here: Barrier = FORKS.Barrier(CLAIMERS)
        self.served: Synchronized[int] = FORKS.Value("q", 0)
        self.attempt: Synchronized[int] = FORKS.Value("q", 0)
        self.results: Queue[list[_Claim]] = FORKS.Queue()


def _claim_and_give_back(home: Home, wins: int, pause: float, boot: str, common: _Common) -> None:
    claims: list[_Claim] = []
    with Store.open(home, busy_seconds=PATIENCE) as store:
        common.all_here.wait(PATIENCE)
        while common.attempt.value < wins or not any(one.won for one in claims):
            began, before = time.monotonic(), common.served.value
            held = claim(store, 1, Owner(boot, "here"), hard_seconds=3600, lease_seconds=3600)
            with common.served:
                passed = common.served.value - before
                common.served.value += 1
            claims.append(_Claim(held is not None, time.monotonic() - began, passed))
            if held is not None:
                common.attempt.value = held.attempt
                time.sleep(HOLD)
                assert void(store, held, "interrupted", counts=False) is MatchState.PLANNED
            time.sleep(pause)
    common.results.put(claims)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("either_home", "wins", "pause"),
    [
        # Who lost comes back later: else most of the time goes to claims that are lost.
        ("sqlite", 10_000, 0.1),
        ("sqlite", 250, 0.0),
        # A server of PostgreSQL is as many processes again.
        pytest.param("postgresql", 250, 0.0, marks=pytest.mark.postgresql),
    ],
    indirect=["either_home"],
)
def test_many_processes_that_claim_one_match_win_in_turn(
    either_home: Home, wins: int, pause: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each claim is won by exactly one, nobody is told of a busy database, and nobody starves."""
    with Store.open(either_home) as store:
        add_tournament(store)
    common = _Common()
    claimers = [
        FORKS.Process(
            target=_claim_and_give_back,
            args=(either_home, wins, pause, f"boot-{n}", common),
            daemon=True,
        )
        for n in range(CLAIMERS)
    ]
    for each in claimers:
        each.start()
    found = [common.results.get(timeout=3500) for _ in claimers]
    for each in claimers:
        each.join(CAP)
        assert each.exitcode == 0
    with Store.open(either_home) as store:
        attempts = queries.match(store, "cup", 1).attempts
    won = [sum(one.won for one in claims) for claims in found]
    assert sum(won) == len(attempts) >= wins
    assert [attempt.number for attempt in attempts] == list(range(1, len(attempts) + 1))
    assert {attempt.state for attempt in attempts} == {AttemptState.VOID}
    waits = [one.waited for claims in found for one in claims]
    # All but those that stood still while they were on their way to the line.
    passed = quantiles((one.passed for claims in found for one in claims), n=100)
    with capsys.disabled():
        print(
            f"\n{len(waits)} claims, {len(attempts)} won, {min(won)} to {max(won)} by each: waited "
            f"{mean(waits) * 1000:.1f} ms, at most {max(waits):.2f} s; {passed[-1]:.0f} passed"
        )
    assert passed[-1] < 2 * CLAIMERS
    assert max(waits) < BUSY_SECONDS


def test_readers_pass_a_writer_and_writers_queue(either_home: Home) -> None:
    """While one holds the database, ten readers are through; four writers follow, none fails."""
    with Store.open(either_home, busy_seconds=PATIENCE) as store:
        holding, release_writer = threading.Event(), threading.Event()
        failures: list[StoreError] = []

        def hold() -> None:
            with store.write() as session:
                session.add(Bot(name="held", folded="held", created=0))
                session.flush()
                holding.set()
                assert release_writer.wait(CAP)

        def write(number: int) -> None:
            try:
                with store.write() as session:
                    session.add(Bot(name=f"w{number}", folded=f"w{number}", created=0))
            except StoreError as error:
                failures.append(error)

        holder = threading.Thread(target=hold)
        holder.start()
        assert holding.wait(CAP)
        writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for writer in writers:
            writer.start()
        seen: list[int] = []
        readers = [
            threading.Thread(target=lambda: seen.append(len(queries.bots(store))))
            for _ in range(10)
        ]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(CAP)
        # The holder still holds: whoever had to wait for it would not be here.
        assert seen == [0] * 10
        assert not release_writer.is_set()
        release_writer.set()
        for each in (holder, *writers):
            each.join(CAP)
        assert failures == []
        with store.read() as session:
            assert len(session.exec(select(Bot)).all()) == 5


# -------------------------------------------------------------------------------------- migrations


LATER: dict[str, dict[str, dict[str, object]]] = {
    "0004": {
        "tournament": {"options": "{}", "seeding": "given", "frozen": False, "complete": True},
        "match": {"stage": ""},
    }
}
"""What rows have to hold besides, by the revision and the table."""


def old_database(home: Home, revision: str) -> None:
    """Make a database of an old revision with a row in each of its main tables."""
    home.create()
    engine = create_engine(f"sqlite:///{home.database}")
    rules = json.dumps(Rules().to_dict())
    rows: dict[str, dict[str, object]] = {
        "bot": {"id": 1, "name": "anna", "folded": "anna", "created": 0},
        "bot_version": {
            "id": 1,
            "bot_id": 1,
            "number": 1,
            "kind": "process",
            "digest": "sha256:0",
            "source": "here",
            "created": 0,
        },
        "tournament": {
            "id": 1,
            "name": "cup",
            "folded": "cup",
            "created": 0,
            "variant": "bura",
            "rules": rules,
            "format": "round-robin",
            "seats": 2,
            "rounds": 1,
            "decks": 1,
            "match_format": "series",
            "tables": 1,
            "move_time_ms": 1000,
            "bank_ms": 0,
            "increment_ms": 0,
            "startup_ms": 5000,
            "sandbox": "process",
            "seed": "00" * 32,
            "seed_given": True,
            "commitment": "c",
        },
        "entrant": {"tournament_id": 1, "position": 0, "bot_version_id": 1},
        "match": {
            "id": 1,
            "tournament_id": 1,
            "number": 1,
            "round": 1,
            "seats": "0 0",
            "state": "done",
            "attempt": 1,
            "voids": 0,
            "reason": "",
        },
        "attempt": {
            "match_id": 1,
            "number": 1,
            "owner": "o",
            "host": "h",
            "started": 0,
            "state": "recorded",
            "reason": "",
            "record_sha256": "",
        },
        "fault": {
            "match_id": 1,
            "attempt": 1,
            "leg": 0,
            "seat": 0,
            "position": 0,
            "kind": "crash",
            "detail": "gone",
        },
        "report": {
            "match_id": 1,
            "attempt": 1,
            "leg": 0,
            "seat": 0,
            "position": 0,
            "out_of_memory": False,
            "log": "",
            "log_truncated": False,
        },
    }
    for since, columns in LATER.items():
        for table, row in columns.items() if since <= revision else ():
            rows[table] |= row
    with engine.begin() as connection:
        upgrade(connection, revision)
        for table, row in rows.items():
            names, marks = ", ".join(row), ", ".join("?" * len(row))
            connection.exec_driver_sql(
                f"INSERT INTO {table} ({names}) VALUES ({marks})",  # noqa: S608 - no input
                tuple(row.values()),
            )
    engine.dispose()


def rows_of(path: Path) -> dict[str, int]:
    """Count the rows of each table, and check that the database is sound."""
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]  # noqa: S608 - no input
            for (name,) in names
        }
    finally:
        connection.close()


def revision_of(path: Path) -> str:
    """Read which revision a database is of."""
    connection = sqlite3.connect(path)
    try:
        return str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])
    finally:
        connection.close()


@pytest.mark.long
@pytest.mark.parametrize("revision", OLD)
def test_upgrade_killed_at_any_statement_is_all_or_nothing(tmp_path: Path, revision: str) -> None:
    """A database of an old release is old or new, its copy is old, and every row is there."""
    found = set()
    for statements in itertools.count(1):
        home = Home(tmp_path / str(statements))
        old_database(home, revision)
        before = rows_of(home.database)
        process = FORKS.Process(target=open_and_die, args=(home, statements))
        process.start()
        process.join(CAP)
        found.add(revision_of(home.database))
        assert before.items() <= rows_of(home.database).items()
        copy = home.path / f"arena.db.before-{REVISION}"
        if copy.exists():
            assert (rows_of(copy), revision_of(copy)) == (before, revision)
        with Store.open(home) as store:
            assert [fault.kind for fault in queries.match(store, "cup", 1).faults] == ["crash"]
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
    assert statements > 3
    assert found == {revision, REVISION}


def test_folder_that_processes_cannot_share_is_refused() -> None:
    """Where SQLite cannot keep a log beside the database, as on network shares, it says so."""

    class Shared:
        """A connection to a database on a share."""

        def execute(self, _: str) -> Shared:
            return self

        def fetchone(self) -> tuple[str]:
            return ("delete",)

    with pytest.raises(StoreError, match="keep the arena's folder on a local disk"):
        set_up(Shared(), 0)


def test_new_file_to_which_another_process_writes_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite does not wait by itself before the file has its log."""
    home = Home(tmp_path)
    other = sqlite3.connect(home.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    clock = SimpleNamespace(monotonic=time.monotonic, time=time.time)
    clock.sleep = lambda _: other.execute("ROLLBACK")
    monkeypatch.setattr("arena.databases.sqlite.time", clock)
    with Store.open(home, busy_seconds=CAP) as store:
        assert queries.bots(store) == ()
    other.close()


def test_new_file_to_which_another_process_writes_for_too_long_is_busy(tmp_path: Path) -> None:
    """The wait for the log ends as that for any other writer does."""
    home = Home(tmp_path)
    other = sqlite3.connect(home.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(BusyStoreError, match="another process is writing"):
        Store.open(home, busy_seconds=0.05)
    other.close()


# ------------------------------------------------------------------------------------------ tables


def table(store: Store) -> str:
    """Give the table of the tournament to the last digit."""
    return repr(tournament_table(store, "cup"))


def play_in(store: Store, number: int, order: list[int]) -> None:
    """Finish the matches of a tournament in an order."""
    for match in order:
        held = claim(store, number, OWNER, hard_seconds=60, skip=set(range(1, 100)) - {match})
        assert held is not None
        finish(store, held, result(scores=(match % 3 - 1, 1 - match % 3)), [report()])


def forget(store: Store) -> None:
    """Take all matches back to before they were played."""
    with store.write() as session:
        session.execute(delete(Result))
        session.execute(update(Match).values(state=MatchState.PLANNED))


@pytest.mark.long
def test_hundred_orders_of_arrival_make_one_table(store: Store) -> None:
    """The table is a function of the results, not of when they came."""
    dice = random.Random(1)
    order = list(range(1, 7))
    number = add_tournament(store, matches=len(order))
    tables = set()
    for _ in range(100):
        dice.shuffle(order)
        play_in(store, number, order)
        tables.add(table(store))
        forget(store)
    assert len(tables) == 1


def test_match_that_never_counted_leaves_no_trace_in_the_table(store: Store) -> None:
    """A match given up makes the table of a tournament in which it was not played."""
    number = add_tournament(store, matches=3)
    play_in(store, number, [1, 3])
    without = table(store)
    for _ in range(MAX_VOIDS):
        void(store, lease(store, number, OTHER), "referee_error: a bug")
    assert queries.match(store, "cup", 2).match.state is MatchState.INCOMPLETE
    assert table(store) == without


COMPUTE = """
import sys
from arena.home import find_home
from arena.rankings import tournament_table
from arena.store import Store
from pathlib import Path
with Store.open(find_home(Path(sys.argv[1]))) as store:
    print(repr(tournament_table(store, "cup")))
"""


def test_table_computed_anew_elsewhere_is_the_same_to_the_last_digit(store: Store) -> None:
    """Nothing of a process, such as how it hashes, gets into a rating; none is stored either."""
    number = add_tournament(store, matches=5)
    play_in(store, number, [1, 2, 3, 4, 5])
    found = {
        subprocess.run(
            [sys.executable, "-c", COMPUTE, str(store.home.path)],
            env={**os.environ, "PYTHONHASHSEED": seed, DATABASE_VARIABLE: store.home.server},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {table(store)}
    assert not [name for name in Match.metadata.tables if "rating" in name]


# ----------------------------------------------------------------------------------------- repeats


class Silent:
    """Listens to nothing."""

    def __getattr__(self, _: str) -> object:
        return lambda *_args: None


@pytest.mark.long
@pytest.mark.timeout(600)
def test_same_seed_gives_the_same_matches_with_any_number_of_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results and records of deterministic bots repeat, but for what was measured."""
    digests = []
    for place, workers in enumerate((1, 1, 4)):
        monkeypatch.setattr(
            "arena.tournament.plan_slots", lambda workers=workers, **_: [None] * workers
        )
        with Store.open(Home(tmp_path / str(place))) as store:
            for name, choice in {"first": "0", "last": "len(turn.actions) - 1"}.items():
                folder = tmp_path / f"{place}-{name}"
                folder.mkdir()
                (folder / "bot.py").write_text(BOT.format(choice=choice))
                bots.submit(store, name, str(folder), "process")
            options = TournamentOptions(
                name="cup",
                bots=("first", "last"),
                time=TimeControl(move_time_ms=20_000, startup_ms=60_000),
                rounds=4,
                decks=3,
                seed=bytes(32),
                sandbox="process",
            )
            tournament.create(store, options)
            tournament.run(store, "cup", progress=Silent(), stop=StopFlag())  # type: ignore[arg-type]
            matches = queries.matches(store, "cup")
            records = [match.record for match in matches if match.record is not None]
            digests.append([read_record(path).digest for path in records])
            assert len(digests[-1]) == 4
    assert digests[0] == digests[1] == digests[2]
