import itertools
import json
import multiprocessing
import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from cups import SEED, run
from sqlalchemy import create_engine, event
from sqlmodel import select
from stores import (
    FORKS,
    OTHER,
    OWNER,
    Hours,
    add_tournament,
    fractions,
    lease,
    open_and_die,
    report,
    result,
)

from arena import queries, rulebook
from arena.databases.sqlite import SqliteDatabase
from arena.errors import ENVIRONMENT, BusyStoreError, StoreError
from arena.home import Home
from arena.infos import AttemptState, MatchState, TournamentState
from arena.ledger import (
    MAX_VOIDS,
    claim,
    finish,
    release,
    renew,
    retry,
    void,
)
from arena.migrations import known_revisions, upgrade
from arena.owners import Owner, live_owners, ownership
from arena.store import REVISION, NewerStoreError, Store
from arena.stored_results import StoredFault
from arena.tables import Attempt, Bot, Match, Result
from referee.rules import Rules

CHAOS_MATCHES = 600
PATIENCE = 60.0
"""Seconds that a process may wait for those that write, however slow the machine is."""
OLD_DATABASE = Path(__file__).parent / "databases" / "0003.sql"


@pytest.fixture
def clock() -> Hours:
    """A clock that stands still until moved."""
    return Hours()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home that does not exist yet, whose database will be a file."""
    return Home(tmp_path / "home")


@pytest.fixture
def file_store(home: Home) -> Iterator[Store]:
    """A new store of a file."""
    with Store.open(home, busy_seconds=0.2) as opened:
        yield opened


@pytest.fixture
def store(either_home: Home, clock: Hours) -> Iterator[Store]:
    """A new store, with a database of each kind in turn."""
    with Store.open(either_home, clock=clock, busy_seconds=0.2) as opened:
        yield opened


def pragma(store: Store, name: str) -> object:
    """Ask a session's connection for a setting."""
    with store.read() as session:
        return session.connection().exec_driver_sql(f"PRAGMA {name}").scalar()


def test_every_connection_is_durable_and_checked(file_store: Store) -> None:
    """WAL, full synchronisation and foreign keys are on."""
    assert pragma(file_store, "journal_mode") == "wal"
    assert pragma(file_store, "synchronous") == 2
    assert pragma(file_store, "foreign_keys") == 1


def test_only_writing_transactions_begin_immediate(file_store: Store) -> None:
    """Every transaction that writes began IMMEDIATE, and none that only reads did."""
    begun: list[str] = []

    def note(_c: object, _cursor: object, statement: str, *_rest: object) -> None:
        words = statement.split()
        if words[0] == "BEGIN":
            begun.append(statement)
        elif words[0] in {"INSERT", "UPDATE", "DELETE"}:
            assert begun[-1] == "BEGIN IMMEDIATE", statement

    event.listen(file_store._readers, "before_cursor_execute", note)
    number = add_tournament(file_store)
    finish(file_store, lease(file_store, number), result(), [report()])
    release(file_store, "here", [])
    writes = len(begun)
    assert set(begun) == {"BEGIN IMMEDIATE"}
    queries.bots(file_store)
    queries.match(file_store, "cup", 1)
    queries.played_matches(file_store, "cup")
    assert set(begun[writes:]) == {"BEGIN"}


def test_writing_transaction_is_all_or_nothing(store: Store) -> None:
    """An exception inside a writing transaction leaves nothing behind."""

    def fail() -> None:
        with store.write() as session:
            session.add(Bot(name="a", folded="a", created=0))
            session.flush()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert queries.bots(store) == ()


def test_migrations_make_the_tables_of_the_models(store: Store) -> None:
    """A database made by migrations has exactly the tables that the models describe."""
    with store.read() as session:
        context = MigrationContext.configure(session.connection())
        assert compare_metadata(context, Match.metadata) == []


def test_newest_migration_is_the_one_the_store_names() -> None:
    """The store's constant names the head of the migrations."""
    assert max(known_revisions()) == REVISION


def test_arena_of_the_first_version_keeps_its_tournaments(home: Home) -> None:
    """A database of the first revision is brought up to date, copied first, with all its rows."""
    home.create()
    engine = create_engine(f"sqlite:///{home.database}")
    with engine.begin() as connection:
        upgrade(connection, "0001")
        rows = {
            "bot": (1, "anna", "anna", 0),
            "bot_version": (1, 1, 1, "process", "sha256:0", "here", 0),
            "tournament": (
                *(1, "cup", "cup", 0, None, "bura", json.dumps(Rules().to_dict())),
                *("round-robin", 2, 1, 1, "series", 1, 1000, 0, 0, 5000, "process"),
                *("00" * 32, True, "c"),
            ),
            "entrant": (1, 0, 1),
        }
        for table, row in rows.items():
            marks = ", ".join("?" * len(row))
            connection.exec_driver_sql(f"INSERT INTO {table} VALUES ({marks})", row)  # noqa: S608 - no input
    engine.dispose()
    with Store.open(home) as store:
        info = queries.tournament(store, "cup")
        assert [(entrant.name, entrant.pair) for entrant in info.entrants] == [("anna@1", None)]
        assert rulebook.saved(store) == ()
    assert home.path.joinpath(f"arena.db.before-{REVISION}").exists()


def test_arena_of_the_last_release_goes_on_where_it_stopped(home: Home) -> None:
    """A database that an older program wrote opens with its results, and its run is resumed."""
    home.create()
    with sqlite3.connect(home.database) as connection:
        connection.executescript(OLD_DATABASE.read_text(encoding="utf-8"))
    connection.close()
    with Store.open(home) as store:
        before = queries.tournament(store, "spring")
        assert (before.state, before.done, before.total) == (TournamentState.PAUSED, 2, 3)
        assert (before.rounds, before.seed, before.contributions) == (1, None, ())
        old = queries.played_matches(store, "spring")
        assert [match.totals for match in old] == [fractions(-7, 7), fractions(-1, 1)]
        assert run(store, name="spring").exit_code == 0
        after = queries.tournament(store, "spring")
        assert (after.seed, after.secret) == (SEED, SEED)
        assert queries.played_matches(store, "spring")[:2] == old
        assert pragma(store, "integrity_check") == "ok"
    assert home.path.joinpath(f"arena.db.before-{REVISION}").exists()


def test_upgrade_that_would_break_a_reference_is_refused(home: Home) -> None:
    """An old database in which a row refers to none stays as it was."""
    home.create()
    with sqlite3.connect(home.database) as connection:
        connection.executescript(OLD_DATABASE.read_text(encoding="utf-8"))
        connection.execute("UPDATE entrant SET bot_version_id = 77 WHERE position = 0")
    connection.close()
    with pytest.raises(StoreError, match="a row of table entrant refers to none"):
        Store.open(home)
    with sqlite3.connect(home.database) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("0003",)
    connection.close()


def test_database_of_a_newer_program_is_refused_in_one_line(store: Store) -> None:
    """A revision this program does not know is refused and nothing is changed."""
    with store.write() as session:
        session.connection().exec_driver_sql("UPDATE alembic_version SET version_num = 'ffff'")
    store.close()
    with pytest.raises(NewerStoreError, match="newer version") as caught:
        Store.open(store.home)
    assert caught.value.exit_code == ENVIRONMENT
    assert "\n" not in str(caught.value)


def test_old_database_is_copied_before_an_upgrade(
    home: Home, file_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upgrade that fails leaves the database as it was, and a copy of it."""
    add_tournament(file_store)
    file_store.close()

    def fail(connection: object, revision: str) -> None:
        connection.exec_driver_sql("DROP TABLE report")  # type: ignore[attr-defined]
        raise StoreError(f"killed on the way to {revision}")

    monkeypatch.setattr("arena.store.REVISION", "9999")
    monkeypatch.setattr("arena.migrations.upgrade", fail)
    with pytest.raises(StoreError, match="9999"):
        Store.open(home)
    monkeypatch.undo()
    copy = home.path / "arena.db.before-9999"
    for path in (home.database, copy):
        with sqlite3.connect(path) as connection:
            assert connection.execute("SELECT count(*) FROM entrant").fetchone() == (2,)
            assert connection.execute("SELECT count(*) FROM report").fetchone() == (0,)
        connection.close()


@pytest.mark.long
def test_migration_killed_at_any_statement_is_all_or_nothing(tmp_path: Path) -> None:
    """A database is empty or complete, never in between, and the next opening completes it."""
    tables = set()
    for statements in itertools.count(1):
        home = Home(tmp_path / str(statements))
        process = FORKS.Process(target=open_and_die, args=(home, statements))
        process.start()
        process.join(60)
        with sqlite3.connect(home.database) as connection:
            found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            tables.add(len(found.fetchall()))
        connection.close()
        with Store.open(home) as store:
            assert queries.bots(store) == ()
        if process.exitcode == 0:
            break
    assert statements > len(Match.metadata.tables)
    assert tables == {0, len(Match.metadata.tables) + 1}


def _open_and_count(home: Home, results: "multiprocessing.Queue[int]") -> None:
    with Store.open(home, busy_seconds=PATIENCE) as store:
        results.put(len(queries.bots(store)))


def test_processes_that_open_a_new_home_together_share_one_database(empty_home: Home) -> None:
    """The first database is made once, however many processes ask for it."""
    spawn = multiprocessing.get_context("spawn")
    results: multiprocessing.Queue[int] = spawn.Queue()
    opening = [spawn.Process(target=_open_and_count, args=(empty_home, results)) for _ in "abc"]
    for process in opening:
        process.start()
    for process in opening:
        process.join(60)
    assert [process.exitcode for process in opening] == [0, 0, 0]
    assert [results.get(timeout=5) for _ in opening] == [0, 0, 0]
    results.close()


def test_busy_database_is_one_line_and_an_environment_failure(store: Store) -> None:
    """A writer that waits too long for another is told so in one line."""
    with store.write(), pytest.raises(BusyStoreError, match="busy") as caught:
        add_tournament(store)
    assert caught.value.exit_code == ENVIRONMENT
    assert "\n" not in str(caught.value)


def test_migration_that_waits_too_long_for_another_is_told_so_in_one_line(tmp_path: Path) -> None:
    """A process that hangs in a migration holds nobody up forever."""
    home = Home(tmp_path)
    other = SqliteDatabase(home.database, 0)
    with other.migrating(), pytest.raises(BusyStoreError, match="is writing to it") as caught:
        Store.open(home, busy_seconds=0.1)
    other.engine.dispose()
    assert caught.value.exit_code == ENVIRONMENT
    assert "\n" not in str(caught.value)
    with Store.open(home) as store:
        assert queries.bots(store) == ()


def test_readers_do_not_wait_for_a_writer(store: Store) -> None:
    """While one process writes, others read the state before it."""
    with store.write() as session:
        session.add(Bot(name="a", folded="a", created=0))
        session.flush()
        assert queries.bots(store) == ()


def test_reading_transaction_sees_one_state(either_home: Home) -> None:
    """What is stored while it is open it never sees, however much it has read by then."""
    with Store.open(either_home) as store:
        number = add_tournament(store, matches=1)
        with store.read() as session:
            assert (
                queries.info_of(session, store, queries.find_tournament(session, "cup")).done == 0
            )
            finish(store, lease(store, number), result(), [])
            assert session.exec(select(Result)).all() == []
        assert queries.tournament(store, "cup").done == 1


def test_writers_wait_for_each_other(either_home: Home) -> None:
    """A writer waits while another holds the database for a moment."""
    with Store.open(either_home) as store:
        entered = threading.Event()

        def hold() -> None:
            with store.write() as session:
                session.add(Bot(name="a", folded="a", created=0))
                session.flush()
                entered.set()
                time.sleep(0.3)

        holder = threading.Thread(target=hold)
        holder.start()
        assert entered.wait(10)
        with store.write() as session:
            assert session.exec(select(Bot.name)).all() == ["a"]
        holder.join()


@pytest.mark.parametrize(
    ("pragma", "words"), [("query_only = ON", "may not write"), ("max_page_count = 1", "full")]
)
def test_full_disk_and_read_only_file_write_nothing(
    home: Home, file_store: Store, pragma: str, words: str
) -> None:
    """When the disk refuses, one line says so and no row of the transaction is there."""
    file_store.close()

    def cripple(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute(f"PRAGMA {pragma}")

    with Store.open(home) as crippled:
        event.listen(crippled._readers, "connect", cripple)
        crippled.close()
        with pytest.raises(StoreError, match=words) as caught, crippled.write() as session:
            session.add_all(Bot(name="x" * 9999, folded=f"{n}", created=0) for n in range(50))
        assert caught.value.exit_code == ENVIRONMENT
    with Store.open(home) as again:
        assert queries.bots(again) == ()


def test_file_that_is_no_database_is_refused_in_one_line(home: Home) -> None:
    """Rubbish in the place of the database is not overwritten."""
    home.create()
    home.database.write_bytes(b"rubbish " * 2000)
    with pytest.raises(StoreError, match="not a database"):
        Store.open(home)
    assert home.database.read_bytes().startswith(b"rubbish")


def test_claims_go_through_the_schedule_in_order(store: Store) -> None:
    """Each claim gives the next free match, and None after the last."""
    number = add_tournament(store, matches=2)
    assert [lease(store, number).number for _ in range(2)] == [1, 2]
    assert claim(store, number, OWNER, hard_seconds=60) is None


def test_claims_leave_out_what_they_are_told_to(store: Store) -> None:
    """Matches that wait for their next attempt are skipped."""
    number = add_tournament(store, matches=2)
    claimed = claim(store, number, OWNER, hard_seconds=60, skip=[1])
    assert claimed is not None
    assert claimed.number == 2


def test_finished_match_has_one_result_and_its_details(store: Store) -> None:
    """What was recorded can be asked for: scores, faults, reports, the attempt."""
    number = add_tournament(store)
    fault = StoredFault(leg=0, deal=None, seat=1, position=1, kind="crash", detail="gone")
    assert finish(store, lease(store, number), result(faults=(fault,)), [report()])
    details = queries.match(store, "cup", 1)
    assert details.match.state is MatchState.DONE
    assert details.match.scores == fractions(1, -1)
    assert details.match.entrants == ("anna@1", "boris@1")
    assert [(fault.entrant, fault.kind) for fault in details.faults] == [("boris@1", "crash")]
    assert details.reports[0].peak_memory == 1 << 33
    assert [attempt.state for attempt in details.attempts] == [AttemptState.RECORDED]
    (played,) = queries.played_matches(store, "cup")
    assert played.totals == fractions(1, -1)
    assert played.faults == ((1, "crash"),)


def test_finishing_again_after_a_lost_reply_changes_nothing(store: Store) -> None:
    """The same attempt may be finished twice and counts once."""
    number = add_tournament(store)
    claimed = lease(store, number)
    assert finish(store, claimed, result(), [report()])
    assert finish(store, claimed, result(scores=(5, -5)), [report()])
    assert queries.format_results(store, number) == {1: fractions(1, -1)}


@pytest.mark.parametrize("new_owner_finished", [False, True])
def test_late_result_is_fenced(store: Store, clock: Hours, *, new_owner_finished: bool) -> None:
    """A result that comes after its lease was given away counts nothing, before or after."""
    number = add_tournament(store)
    late = lease(store, number)
    clock.seconds += 31
    current = lease(store, number, OTHER)
    assert current.attempt == late.attempt + 1
    if new_owner_finished:
        assert finish(store, current, result(), [])
    assert not finish(store, late, result(scores=(9, -9)), [report()])
    assert finish(store, current, result(), [])
    assert queries.format_results(store, number) == {1: fractions(1, -1)}
    states = [attempt.state for attempt in queries.match(store, "cup", 1).attempts]
    assert states == [AttemptState.FENCED, AttemptState.RECORDED]


def test_renewed_lease_is_not_given_away_before_its_hard_end(store: Store, clock: Hours) -> None:
    """Progress renews a lease, but never beyond the attempt's hard end."""
    number = add_tournament(store)
    claimed = lease(store, number, hard_seconds=60)
    clock.seconds += 29
    assert renew(store, claimed)
    clock.seconds += 29
    assert claim(store, number, OTHER, hard_seconds=60) is None
    clock.seconds += 3
    assert not renew(store, claimed)
    assert claim(store, number, OTHER, hard_seconds=60) is not None


def test_lost_lease_is_not_renewed(store: Store, clock: Hours) -> None:
    """An owner learns by its next renewal that another took over."""
    number = add_tournament(store)
    late = lease(store, number)
    clock.seconds += 31
    lease(store, number, OTHER)
    assert not renew(store, late)


def test_match_stays_incomplete_after_three_voids(store: Store) -> None:
    """The platform's failures send a match back twice and then leave it open, unscored."""
    number = add_tournament(store)
    states = [void(store, lease(store, number), "worker_lost") for _ in range(MAX_VOIDS)]
    assert states == [MatchState.PLANNED, MatchState.PLANNED, MatchState.INCOMPLETE]
    assert claim(store, number, OWNER, hard_seconds=60) is None
    assert queries.tournament(store, "cup").state is TournamentState.INCOMPLETE
    assert queries.format_results(store, number) == {}


def test_incomplete_match_can_be_tried_again(store: Store) -> None:
    """An organiser who mended the cause gets the attempts back."""
    number = add_tournament(store)
    for _ in range(MAX_VOIDS):
        void(store, lease(store, number), "worker_lost")
    assert retry(store, number) == 1
    assert lease(store, number).attempt == MAX_VOIDS + 1


def test_stopped_attempts_do_not_count_as_voids(store: Store) -> None:
    """However often the organiser stops a run, no match becomes incomplete."""
    number = add_tournament(store)
    for _ in range(MAX_VOIDS + 1):
        state = void(store, lease(store, number), "interrupted", counts=False)
        assert state is MatchState.PLANNED


def test_void_of_a_lost_lease_changes_nothing(store: Store, clock: Hours) -> None:
    """A late failure does not take the match away from its new owner."""
    number = add_tournament(store)
    late = lease(store, number)
    clock.seconds += 31
    current = lease(store, number, OTHER)
    assert void(store, late, "worker_lost") is None
    assert finish(store, current, result(), [])


def test_dead_owners_matches_are_released_at_once(store: Store) -> None:
    """A new run does not wait for leases of a driver that is dead on this machine."""
    number = add_tournament(store, matches=2)
    lease(store, number, OWNER)
    lease(store, number, OTHER)
    assert release(store, "elsewhere", []) == 0
    assert release(store, "here", [OTHER.boot]) == 1
    assert lease(store, number).number == 1
    states = [attempt.state for attempt in queries.match(store, "cup", 1).attempts]
    assert states == [AttemptState.LOST, AttemptState.LEASED]


def _race(home: Home, boot: str, won: "multiprocessing.Queue[int]") -> None:
    with Store.open(home, busy_seconds=PATIENCE) as store:
        taken = 0
        while claim(store, 1, Owner(boot, "here"), hard_seconds=3600, lease_seconds=3600):
            taken += 1
        won.put(taken)


def test_each_match_is_claimed_by_exactly_one_of_many_processes(either_home: Home) -> None:
    """Processes that claim at the same time share the schedule without overlap or gap."""
    with Store.open(either_home) as store:
        add_tournament(store, matches=40)
        spawn = multiprocessing.get_context("spawn")
        won: multiprocessing.Queue[int] = spawn.Queue()
        racers = [
            spawn.Process(target=_race, args=(either_home, f"boot-{n}", won)) for n in range(4)
        ]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join(PATIENCE)
        assert sum(won.get(timeout=PATIENCE) for _ in racers) == 40
        won.close()
        with store.read() as session:
            attempts = session.exec(select(Attempt)).all()
        assert sorted(attempt.match_id for attempt in attempts) == list(range(1, 41))


def test_result_needs_an_attempt(store: Store) -> None:
    """The database itself refuses a result that no attempt stands behind."""
    add_tournament(store)
    orphan = Result(
        match_id=1,
        attempt=7,
        recorded=0,
        decks="[]",
        sides="",
        totals="[]",
        conditions="",
        milliseconds=0,
        record="",
        record_sha256="",
    )
    with pytest.raises(StoreError), store.write() as session:
        session.add(orphan)


def test_owner_is_live_exactly_while_its_context_lasts(store: Store) -> None:
    """A driver's lock makes it live; afterwards it is forgotten."""
    with ownership(store.home) as owner:
        assert live_owners(store.home) == {owner.boot}
    assert live_owners(store.home) == frozenset()


def _own_and_die(home: Home) -> None:
    with ownership(home):
        os.kill(os.getpid(), signal.SIGKILL)


def test_killed_owner_is_dead_at_once(store: Store) -> None:
    """A kill -9 ends an ownership without anybody's help."""
    process = multiprocessing.get_context("spawn").Process(target=_own_and_die, args=(store.home,))
    process.start()
    process.join(60)
    assert len(list(store.home.owners.iterdir())) == 1
    assert live_owners(store.home) == frozenset()
    assert list(store.home.owners.iterdir()) == []


def _work_until_done(home: Home, seed: int) -> None:
    dice = random.Random(seed)
    owner = Owner(f"boot-{seed}", "here")
    with Store.open(home, busy_seconds=PATIENCE) as store:
        while True:
            claimed = claim(store, 1, owner, hard_seconds=60, lease_seconds=0.3)
            if claimed is None:
                if len(queries.format_results(store, 1)) == CHAOS_MATCHES:
                    return
                time.sleep(0.02)
                continue
            time.sleep(0.4 if dice.random() < 0.2 else 0.005)
            finish(store, claimed, result(scores=(claimed.number, -claimed.number)), [report()])


@pytest.mark.long
@pytest.mark.timeout(600)
def test_chaos_loses_and_doubles_nothing(either_home: Home) -> None:
    """With workers killed at random and stalled beyond their leases, each match counts once."""
    dice = random.Random(1)
    seeds = iter(range(100_000))

    def start() -> multiprocessing.process.BaseProcess:
        worker = FORKS.Process(target=_work_until_done, args=(either_home, next(seeds)))
        worker.start()
        return worker

    with Store.open(either_home) as store:
        add_tournament(store, matches=CHAOS_MATCHES)
        workers = [start() for _ in range(4)]
        for _ in range(80):
            time.sleep(dice.uniform(0.05, 0.25))
            victim = dice.randrange(4)
            workers[victim].kill()
            workers[victim].join()
            assert workers[victim].exitcode in {0, -signal.SIGKILL}
            workers[victim] = start()
        for worker in workers:
            worker.join(300)
            assert worker.exitcode == 0
        if not either_home.server:
            assert pragma(store, "integrity_check") == "ok"
        assert queries.format_results(store, 1) == {
            number: fractions(number, -number) for number in range(1, CHAOS_MATCHES + 1)
        }
        with store.read() as session:
            attempts = session.exec(select(Attempt)).all()
    recorded = [row.match_id for row in attempts if row.state == AttemptState.RECORDED]
    assert sorted(recorded) == list(range(1, CHAOS_MATCHES + 1))
    assert any(row.state == AttemptState.FENCED for row in attempts)
