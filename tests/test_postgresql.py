"""PostgreSQL: what is the same as with a file, what is not, and what goes wrong."""

from __future__ import annotations

import itertools
import json
import re
import socket
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from clusters import name_of
from exports import Nobody, make_store, make_tournament, play, play_timed, run
from sqlalchemy import Double, Engine, Float, event, inspect, text
from sqlmodel import select
from stores import FORKS, OTHER, OWNER, Hours, add_tournament, lease, open_and_die, report, result

from arena import ledger, promises, queries, recovery, roster, rulebook, tournament
from arena.cli import main
from arena.databases.urls import without_secrets
from arena.doctor import _database
from arena.errors import ENVIRONMENT, USAGE, ArenaError, BusyStoreError, RefusedError, StoreError
from arena.home import DATABASE_VARIABLE, HOME_VARIABLE, Home
from arena.infos import TournamentState
from arena.owners import Owner, dead_owners, live_owners, ownership
from arena.publishing.audit import audit
from arena.publishing.export import export
from arena.recovery import stale
from arena.rulebook import save
from arena.sandbox.host import Level
from arena.store import Store, describe
from arena.tables import Attempt, Bot, Match, Tournament
from arena.tournament import StopFlag
from referee.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clusters import Cluster
    from sqlalchemy import Connection, Inspector
    from sqlalchemy.types import TypeEngine

    from arena.infos import MatchInfo

pytestmark = pytest.mark.postgresql

CAP = 60.0
ELSEWHERE = Owner("boot-3", "another machine")


@pytest.fixture
def home(tmp_path: Path, cluster: Cluster) -> Iterator[Home]:
    """A home that does not exist yet, with a database that has its tables."""
    url = cluster.migrated()
    yield Home(tmp_path / "home", url)
    cluster.drop(url)


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    """A new store."""
    with Store.open(home, busy_seconds=0.2) as opened:
        yield opened


def add_bots(store: Store, *names: str) -> None:
    """Store bots in a transaction of their own."""
    with store.write() as session:
        session.add_all(Bot(name=name, folded=name.casefold(), created=0) for name in names)


# ----------------------------------------------------------------------------------------- tables


def _kind(declared: TypeEngine[Any]) -> type[object]:
    """Return the kind of a column; a file tells of one kind of fractions only."""
    generic = type(declared.as_generic())
    return Float if generic is Double else generic


def told(found: Inspector) -> dict[str, Any]:
    """Return all that is declared of an arena's tables, without the words of a database."""
    return {
        table: {
            "columns": {
                each["name"]: (_kind(each["type"]), each["nullable"])
                for each in found.get_columns(table)
            },
            "key": found.get_pk_constraint(table)["constrained_columns"],
            "references": Counter(
                (
                    *each["constrained_columns"],
                    each["referred_table"],
                    *each["referred_columns"],
                    *each["options"],
                )
                for each in found.get_foreign_keys(table)
            ),
            "unique": Counter(
                tuple(each["column_names"]) for each in found.get_unique_constraints(table)
            ),
            "checks": {each["name"] for each in found.get_check_constraints(table)},
            "indexes": {
                each["name"]: (each["column_names"], bool(each["unique"]))
                for each in found.get_indexes(table)
                if "duplicates_constraint" not in each
            },
        }
        for table in found.get_table_names()
    }


def test_tables_are_those_of_a_file(tmp_path: Path, cluster: Cluster) -> None:
    """Columns, keys, references, unique and check constraints are the same in both databases."""
    homes = Home(tmp_path / "file"), Home(tmp_path / "server", cluster.empty())
    found = []
    for each in homes:
        with Store.open(each) as store, store.read() as session:
            found.append(told(inspect(session.connection())))
    assert found[0] == found[1]
    assert {*Match.metadata.tables} < {*found[0]}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE match SET state = 'lost'",
        "UPDATE match SET state = 'leased'",
        "UPDATE match SET owner = 'nobody', lease_until = 1, hard_until = 1",
        "UPDATE match SET number = 1",
        "UPDATE bot SET folded = 'anna'",
        "UPDATE entrant SET bot_version_id = 77",
        "DELETE FROM tournament",
    ],
)
def test_what_no_file_takes_is_refused(store: Store, statement: str) -> None:
    """States, leases, names and references are checked by the database itself."""
    add_tournament(store, matches=2)
    with pytest.raises(StoreError, match="refused a statement"), store.write() as session:
        session.connection().exec_driver_sql(statement)


def test_times_of_years_and_memory_of_gigabytes_fit(store: Store) -> None:
    """What may pass 2**31 is kept: times in milliseconds and microseconds, bytes."""
    number = add_tournament(store)
    with store.write() as session:
        row = session.get_one(Tournament, number)
        row.move_time_ms = row.bank_ms = row.increment_ms = row.startup_ms = 1 << 40
        session.add(row)
    assert ledger.finish(store, lease(store, number), result(), [report()])
    assert queries.match(store, "cup", 1).reports[0].peak_memory == 1 << 33
    assert queries.tournament(store, "cup").time.bank_ms == 1 << 40


def test_order_of_names_is_not_that_of_a_language(store: Store, tmp_path: Path) -> None:
    """Names come in the order of their letters' numbers, as from a file."""
    names = ("b", "_x", "a-b", "ab", "Z", "a_b", "10", "9")
    with Store.open(Home(tmp_path / "file")) as file:
        for each in (store, file):
            add_bots(each, *names)
            for name in names:
                save(each, f"x{name}", "bura", Rules())
        assert queries.bots(store) != ()
        assert [bot.name for bot in queries.bots(store)] == [bot.name for bot in queries.bots(file)]
        rules = [[each.name for each in rulebook.saved(one)] for one in (store, file)]
        assert rules[0] == rules[1]
    with store.read() as session:
        ordered = session.connection().exec_driver_sql("SELECT name FROM bot ORDER BY folded")
        assert [name for (name,) in ordered] != [bot.name for bot in queries.bots(store)]


def test_text_that_the_database_cannot_hold_is_kept_without_it(store: Store) -> None:
    """The character NUL stops nobody from storing the rest."""
    number = add_tournament(store)
    ledger.void(store, lease(store, number), "half \0 a text")
    assert (
        queries.match(store, "cup", 1).attempts[0].reason == "half \N{REPLACEMENT CHARACTER} a text"
    )


# ----------------------------------------------------------------------------------- transactions


def test_reader_sees_one_state_of_everything(store: Store) -> None:
    """What is stored meanwhile does not get into a reading transaction."""
    with store.read() as session:
        assert session.connection().exec_driver_sql("SELECT count(*) FROM bot").scalar() == 0
        add_bots(store, "anna")
        assert session.connection().exec_driver_sql("SELECT count(*) FROM bot").scalar() == 0
    assert len(queries.bots(store)) == 1


def test_reader_cannot_write(store: Store) -> None:
    """A reading transaction that would write is refused by the database."""

    def write() -> None:
        with store.read() as session:
            session.add(Bot(name="anna", folded="anna", created=0))
            session.flush()

    with pytest.raises(StoreError, match="may not write"):
        write()


def test_writer_sees_what_was_stored_while_it_waited(home: Home) -> None:
    """Who waited for another writer does not write on top of an old state."""
    with Store.open(home) as store:
        entered, seen = threading.Event(), []

        def follow() -> None:
            entered.set()
            with store.write() as session:
                count = session.connection().exec_driver_sql("SELECT count(*) FROM bot")
                seen.append(count.scalar())

        with store.write() as session:
            follower = threading.Thread(target=follow)
            follower.start()
            assert entered.wait(CAP)
            follower.join(0.3)
            session.add(Bot(name="anna", folded="anna", created=0))
        follower.join(CAP)
        assert seen == [1]


def test_writer_that_falls_silent_is_given_up(home: Home) -> None:
    """A machine that went away while it wrote keeps the others waiting for a time only."""
    silence = text("SET LOCAL idle_in_transaction_session_timeout = 2000")
    with Store.open(home) as store, Store.open(home, busy_seconds=CAP) as other:

        def fall_silent() -> None:
            with store.write() as session:
                session.add(Bot(name="silent", folded="silent", created=0))
                session.flush()
                session.connection().execute(silence)
                add_bots(other, "anna")

        with pytest.raises(StoreError, match="does not answer"):
            fall_silent()
        assert [bot.name for bot in queries.bots(store)] == ["anna"]


def test_time_is_that_of_the_server(
    store: Store, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leases are counted by one clock, whatever machine asks."""
    monkeypatch.setattr(time, "time", lambda: 0.0)
    before, now, after = (
        cluster.execute("SELECT extract(epoch FROM clock_timestamp()) * 1000")[0][0],
        store.now(),
        cluster.execute("SELECT extract(epoch FROM clock_timestamp()) * 1000")[0][0],
    )
    assert before - 1 <= now <= after


# ------------------------------------------------------------------------------------- migrations


@pytest.mark.long
@pytest.mark.timeout(600)
def test_migration_killed_at_any_statement_is_all_or_nothing(
    tmp_path: Path, cluster: Cluster
) -> None:
    """A database is empty or complete, never in between, and the next opening completes it."""
    tables = set()
    for statements in itertools.count(1):
        home = Home(tmp_path / str(statements), cluster.empty())
        process = FORKS.Process(target=open_and_die, args=(home, statements))
        process.start()
        process.join(CAP)
        count = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        tables.add(cluster.execute(count, name_of(home.server))[0][0])
        with Store.open(home) as store:
            assert queries.bots(store) == ()
        cluster.drop(home.server)
        if process.exitcode == 0:
            break
    assert statements > len(Match.metadata.tables)
    assert tables == {0, len(Match.metadata.tables) + 1}


# ---------------------------------------------------------------------------------------- folders


def test_database_of_another_folder_is_refused(home: Home, tmp_path: Path) -> None:
    """A database knows its folder, wherever that is moved, and takes no other."""
    with Store.open(home) as store:
        add_bots(store, "anna")
    with pytest.raises(RefusedError, match="tells of another folder") as caught:
        Store.open(Home(tmp_path / "other", home.server))
    assert "\n" not in str(caught.value)
    home.path.rename(tmp_path / "moved")
    with Store.open(Home(tmp_path / "moved", home.server)) as store:
        assert len(queries.bots(store)) == 1


def test_folder_of_another_database_is_refused(home: Home, cluster: Cluster) -> None:
    """A folder with files of matches takes no database that does not know them."""
    Store.open(home).close()
    (home.bots / "one").mkdir()
    with pytest.raises(RefusedError, match="does not know"):
        Store.open(Home(home.path, cluster.migrated()))


def test_folder_of_a_live_arena_without_files_is_refused(home: Home, cluster: Cluster) -> None:
    """An arena of images has no files yet, and takes no second database all the same."""
    with Store.open(home) as store:
        add_bots(store, "anna")
    named = home.identity.read_text()
    with pytest.raises(RefusedError, match="does not know"):
        Store.open(Home(home.path, cluster.migrated()))
    assert home.identity.read_text() == named


def draft_of(home: Home) -> Path:
    """Return where a folder's id is kept until its database has it."""
    return home.path / "arena.id.part"


def test_folder_whose_naming_was_killed_before_the_database_knew_is_named_anew(home: Home) -> None:
    """A draft that no database knows costs nothing."""
    home.create()
    draft_of(home).write_text("abc\n")
    Store.open(home).close()
    assert home.identity.read_text() != "abc\n"
    assert not draft_of(home).exists()
    Store.open(home).close()


def test_folder_whose_naming_was_killed_once_the_database_knew_is_named(home: Home) -> None:
    """The next process finishes what the draft says."""
    Store.open(home).close()
    named = home.identity.read_text()
    home.identity.rename(draft_of(home))
    Store.open(home).close()
    assert home.identity.read_text() == named
    assert not draft_of(home).exists()


def test_id_is_the_folders_only_when_the_database_has_it(home: Home) -> None:
    """Until the transaction is over there is a draft and nothing else."""
    seen = []

    def look(connection: Connection) -> None:
        del connection
        if draft_of(home).exists():
            seen.append(home.identity.exists())

    event.listen(Engine, "commit", look)
    try:
        Store.open(home).close()
    finally:
        event.remove(Engine, "commit", look)
    assert seen == [False]
    assert home.identity.exists()


def state_of(home: Home, cluster: Cluster) -> tuple[object, ...]:
    """Return what is in a folder, and the tables and the revision of its database."""
    name = name_of(home.server)
    query = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
    tables = cluster.execute(query, name)
    revision = cluster.execute("SELECT version_num FROM alembic_version", name) if tables else []
    return home.path.exists(), sorted(home.path.rglob("*")), tables, revision


def test_refused_folder_leaves_an_older_database_as_it_is(
    home: Home, tmp_path: Path, cluster: Cluster
) -> None:
    """A database of another folder is not brought up to date, and a mistyped folder not made."""
    Store.open(home).close()
    cluster.execute("UPDATE alembic_version SET version_num = '0006'", name_of(home.server))
    wrong = Home(tmp_path / "mistyped", home.server)
    before = state_of(wrong, cluster)
    with pytest.raises(RefusedError, match="tells of another folder"):
        Store.open(wrong)
    assert state_of(wrong, cluster) == before


def test_refused_database_gets_no_tables(home: Home, cluster: Cluster) -> None:
    """A folder that another database knows changes nothing in an empty one."""
    Store.open(home).close()
    wrong = Home(home.path, cluster.empty())
    before = state_of(wrong, cluster)
    with pytest.raises(RefusedError, match="does not know"):
        Store.open(wrong)
    assert state_of(wrong, cluster) == before


def test_folder_is_not_opened_with_the_other_kind_of_database(home: Home, tmp_path: Path) -> None:
    """Forgetting the URL, or naming one for an arena with a file, changes nothing."""
    Store.open(home).close()
    with pytest.raises(RefusedError, match="PostgreSQL") as caught:
        Store.open(Home(home.path))
    assert not home.database.exists()
    assert (caught.value.exit_code, "\n" in str(caught.value)) == (USAGE, False)
    file = Home(tmp_path / "file")
    Store.open(file).close()
    with pytest.raises(RefusedError, match=r"arena\.db"):
        Store.open(Home(file.path, home.server))


# --------------------------------------------------------------------------------- other machines


def test_owners_of_other_machines_are_left_alone(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Locks that another machine holds cannot be seen here: nothing follows from that."""
    home.create()
    monkeypatch.setattr("arena.owners.host_id", lambda: "there")
    with ownership(home):
        (theirs,) = home.owners.iterdir()
    theirs.touch()
    monkeypatch.setattr("arena.owners.host_id", lambda: "here")
    with ownership(home) as mine:
        assert live_owners(home) == {mine.boot}
        assert dead_owners(home) == frozenset()
    assert list(home.owners.iterdir()) == [theirs]


def test_owners_of_other_machines_are_left_alone_without_the_url(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who looks after a shared folder and does not name its database removes no lock in it."""
    Store.open(home).close()
    monkeypatch.setattr("arena.owners.host_id", lambda: "there")
    with ownership(home):
        (theirs,) = home.owners.iterdir()
    theirs.touch()
    monkeypatch.setattr("arena.owners.host_id", lambda: "here")
    assert live_owners(Home(home.path)) == frozenset()
    assert list(home.owners.iterdir()) == [theirs]


def test_match_that_begins_elsewhere_meanwhile_is_not_swept(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another machine claims a match and makes its folder while this one looks round."""
    monkeypatch.setattr("arena.recovery.host_id", lambda: OWNER.host)
    read = recovery._attempts
    with Store.open(home) as store:
        number = add_tournament(store)
        folder = home.records / "cup/1/1"

        def begin_afterwards(store: Store) -> object:
            found = read(store)
            lease(store, number, ELSEWHERE)
            folder.mkdir(parents=True)
            return found

        monkeypatch.setattr(recovery, "_attempts", begin_afterwards)
        assert stale(store) == []
        assert folder.exists()


def test_matches_of_other_machines_are_free_when_their_leases_run_out(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a machine plays is neither taken back nor swept here before its lease ends."""
    monkeypatch.setattr("arena.recovery.host_id", lambda: OWNER.host)
    hours = Hours()
    with Store.open(home, clock=hours) as store:
        number = add_tournament(store, matches=2)
        for owner in (ELSEWHERE, OWNER):
            lease(store, number, owner)
        folders = [home.records / f"cup/{match}/1" for match in (1, 2)]
        for folder in folders:
            folder.mkdir(parents=True)
        assert [one.path for one in stale(store)] == [folders[1]]
        assert ledger.release(store, OWNER.host, []) == 1
        assert folders[0] not in {one.path for one in stale(store)}
        hours.seconds += 31
        assert {lease(store, number, OTHER).number for _ in range(2)} == {1, 2}
        assert {one.path for one in stale(store)} == {*folders}


# ----------------------------------------------------------------------------------------- errors


def refusal(home: Home) -> ArenaError:
    """Return why a home cannot be opened: one line that holds no password."""
    with pytest.raises(ArenaError) as caught:
        Store.open(home)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
    return caught.value


def test_missing_database_is_one_line(home: Home, cluster: Cluster) -> None:
    """It says how to make it."""
    error = refusal(Home(home.path, cluster.url("nowhere").replace("arena@", "arena:secret@")))
    assert "there is no database" in error.message
    assert "createdb" in error.hint
    assert error.exit_code == ENVIRONMENT


def test_server_that_does_not_run_is_one_line(home: Home) -> None:
    """It says which server, and that it does not answer."""
    url = f"postgresql://arena:secret@/arena?host={home.path}&password=secret"
    error = refusal(Home(home.path, url))
    assert f"postgresql://arena@/arena?host={home.path} does not answer" in error.message
    assert error.exit_code == ENVIRONMENT


@pytest.mark.parametrize(("user", "words"), [("guest", "may not write"), ("nobody", "let this")])
def test_user_without_permission_is_one_line(
    home: Home, cluster: Cluster, user: str, words: str
) -> None:
    """Who may not make tables, or is not known, is told so."""
    if user == "guest" and not cluster.execute("SELECT 1 FROM pg_user WHERE usename = 'guest'"):
        cluster.execute("CREATE USER guest")
    error = refusal(Home(home.path, cluster.empty().replace("arena@", f"{user}@")))
    assert words in error.message
    assert error.exit_code == ENVIRONMENT


def test_database_of_another_encoding_is_refused(home: Home, cluster: Cluster) -> None:
    """Names of all scripts must fit."""
    cluster.execute(
        "CREATE DATABASE old TEMPLATE template0 "
        "ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C'"
    )
    assert "UTF8" in refusal(Home(home.path, cluster.url("old"))).message


@pytest.mark.parametrize(
    ("code", "words"),
    [("53100", "disk under the database"), ("40P01", "busy"), ("XX000", "refused a statement")],
)
def test_error_of_the_server_is_one_line(store: Store, code: str, words: str) -> None:
    """A full disk and the like are told in words, and nothing is stored."""

    def write() -> None:
        with store.write() as session:
            session.add(Bot(name="anna", folded="anna", created=0))
            session.flush()
            session.connection().exec_driver_sql(
                f"DO $$ BEGIN RAISE 'it is over' USING ERRCODE = '{code}'; END $$"
            )

    with pytest.raises(StoreError, match=words) as caught:
        write()
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, BusyStoreError) == (code == "40P01")
    assert queries.bots(store) == ()


@pytest.mark.parametrize(
    "url",
    [
        "mysql://user:secret@host/arena",
        "postgresql://user:se/secret@host/arena",
        "postgresql://user:se@secret@host/arena",
        "postgresql://user:se?secret@host/arena",
        "postgresql://user:se#secret@host/arena",
        "postgresql://user:%zzsecret@host/arena",
        "postgresql://user:secret@[host/arena",
        "postgresql://user:secret/arena",
        "postgresql://user:5secret/arena",
        "postgresql://user:secret",
        "postgresql://user:123456/secret",
        "postgresql://host:1:secret/arena",
        "postgresql://user@host:1,other:secret/arena",
        "postgresql://user@[::1]:secret/arena",
        "postgresql://user@host:\N{ARABIC-INDIC DIGIT ONE}/secret",
        "secret",
    ],
)
def test_url_that_cannot_be_read_is_refused_without_quoting_it(home: Home, url: str) -> None:
    """A password with signs that end it too early gets into no message."""
    error = refusal(Home(home.path, url))
    assert "cannot be read" in error.message
    assert error.exit_code == USAGE


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("h:99999/arena", "port"),
        ("h:0/arena", "port"),
        ("h:54x2/arena", "port"),
        ("h/arena?port=99999", "'99999' in the database's URL is no port"),
        ("no..where/arena", "'no..where' in the database's URL is no name of a host"),
        (f"{'x' * 70}/arena", "is no name of a host"),
        ("h/arena?sslmod=require", "no parameter 'sslmod'.*did you mean 'sslmode'"),
        ("127.0.0.1:1/arena?sslmode=requir", "invalid sslmode value"),
        ("127.0.0.1:1/arena?connect_timeout=x", "connect_timeout"),
    ],
)
def test_mistake_in_a_url_is_named(tmp_path: Path, place: str, words: str) -> None:
    """What cannot be meant is the user's slip, not a server's silence, and makes no folder."""
    folder = tmp_path / "new"
    error = refusal(Home(folder, f"postgresql://arena:secret@{place}"))
    assert re.search(words, str(error))
    assert error.exit_code == USAGE
    assert not folder.exists()


def test_unknown_host_is_a_slip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that nobody has is told as one."""

    def fail(*_: object, **__: object) -> NoReturn:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    error = refusal(Home(tmp_path / "new", "postgresql://arena:secret@nowhere/arena"))
    assert "'nowhere'" in error.message
    assert error.exit_code == USAGE


def test_refused_user_leaves_no_folder(tmp_path: Path, cluster: Cluster) -> None:
    """Who may not make tables gets no folder that means nothing."""
    if not cluster.execute("SELECT 1 FROM pg_user WHERE usename = 'guest'"):
        cluster.execute("CREATE USER guest")
    folder = tmp_path / "new"
    refusal(Home(folder, cluster.empty().replace("arena@", "guest@")))
    assert not folder.exists()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (
            "postgres://user:p%40ss@host:5433/arena?sslmode=require&password=x&ssl%70assword=y",
            "postgresql://user@host:5433/arena?sslmode=require",
        ),
        (
            "postgresql://user@host/a?oauth_client_secret=x&scram_client_key=y&scram_server_key=z",
            "postgresql://user@host/a",
        ),
        ("postgresql://u@[::1]:5432,b:6,c/a", "postgresql://u@[::1]:5432,b:6,c/a"),
        ("postgresql:///arena", "postgresql:///arena"),
        ("postgresql://user@/arena?host=/run/x", "postgresql://user@/arena?host=/run/x"),
    ],
)
def test_url_is_shown_without_its_passwords(url: str, shown: str) -> None:
    """All else of it is kept, and can be pasted."""
    assert without_secrets(url) == shown
    assert "p%40ss" not in repr(Home(Path("x"), url))


def test_missing_driver_says_what_to_install(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without psycopg one line names the extra."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "arena.databases.postgresql", raising=False)
    assert "pip install 'psycopg[binary]'" in refusal(home).hint


# --------------------------------------------------------------------------------------- restarts


class Restarter(Nobody):
    """Does something to the server when the first match was recorded."""

    def __init__(self, *steps: Any) -> None:
        """Keep what to do."""
        self.steps = steps

    def finished(self, match: MatchInfo) -> None:
        """Do it, once."""
        del match
        for step in self.steps:
            step()
        self.steps = ()


def test_run_survives_a_restart_of_the_server(tmp_path: Path, cluster: Cluster) -> None:
    """Connections that a restart ended are made anew."""
    with make_store(tmp_path, server=cluster.migrated()) as store:
        make_tournament(store)
        restarter = Restarter(cluster.restart)
        done = tournament.run(store, "cup", progress=restarter, stop=StopFlag(), play=play)
        assert (done.exit_code, done.played, done.fenced) == (0, 3, 0)


def test_server_that_answered_before_is_waited_for(store: Store, cluster: Cluster) -> None:
    """A restart may take its time."""
    add_bots(store, "anna")
    stopped, done = threading.Event(), threading.Event()

    def restart() -> None:
        cluster.stop()
        stopped.set()
        time.sleep(0.5)
        cluster.start()
        # The server ends with the thread that started it.
        done.wait(CAP)

    restarter = threading.Thread(target=restart)
    restarter.start()
    try:
        assert stopped.wait(CAP)
        assert [bot.name for bot in queries.bots(store)] == ["anna"]
    finally:
        done.set()
        restarter.join(CAP)
        cluster.restart()


def test_run_without_its_server_ends_and_is_resumed(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that stays away is one line; the next run plays what is left."""
    monkeypatch.setattr("arena.databases.postgresql.RETURN_SECONDS", 0.5)
    with make_store(tmp_path, server=cluster.migrated()) as store:
        make_tournament(store)
        try:
            with pytest.raises(StoreError, match="does not answer") as caught:
                tournament.run(
                    store, "cup", progress=Restarter(cluster.stop), stop=StopFlag(), play=play
                )
        finally:
            cluster.restart()
        assert caught.value.exit_code == ENVIRONMENT
        assert queries.tournament(store, "cup").state is not TournamentState.FINISHED
        run(store)
        with store.read() as session:
            states = session.exec(select(Attempt.state)).all()
        assert Counter(states)["recorded"] == 3


def test_transaction_during_a_restart_stores_nothing(store: Store, cluster: Cluster) -> None:
    """What was being stored when the server went is not there, and the next goes through."""

    def write() -> None:
        with store.write() as session:
            session.add(Bot(name="anna", folded="anna", created=0))
            session.flush()
            cluster.restart()

    with pytest.raises(StoreError, match="does not answer"):
        write()
    assert queries.bots(store) == ()
    add_bots(store, "boris")


# ---------------------------------------------------------------------------------------- exports


@pytest.mark.parametrize(
    "options",
    [{"rounds": 2}, {"format": "swiss", "rounds": 2}, {"format": "double-elimination"}],
    ids=lambda options: options.get("format", "round-robin"),
)
def test_export_is_that_of_a_file_to_the_byte(
    tmp_path: Path, cluster: Cluster, options: dict[str, Any]
) -> None:
    """The same tournament gives the same folder from both databases, and it verifies."""
    folders = []
    for name, server in (("file", ""), ("server", cluster.migrated())):
        with make_store(
            tmp_path / name, with_entropy=("anna",), server=server, clock=Hours()
        ) as store:
            make_tournament(store, **options)
            run(store, play=play_timed)
            folders.append(export(store, "cup", tmp_path / name / "out").folder)
    assert held_in(folders[0]) == held_in(folders[1])
    assert audit(folders[1]).ok


def test_export_with_promised_strings_is_that_of_a_file_to_the_byte(
    tmp_path: Path, cluster: Cluster
) -> None:
    """Strings of every sort, one known from before, come in the same order from both."""
    folders = []
    for name, server in (("file", ""), ("server", cluster.migrated())):
        with make_store(
            tmp_path / name,
            ("Zoe", "anna", "boris", "clara", "dora"),
            with_entropy=("clara", "dora"),
            with_promise=("Zoe", "anna", "boris"),
            server=server,
            clock=Hours(),
        ) as store:
            make_tournament(store, "before", bots=("Zoe", "boris"), decks=1)
            promises.reveal(store, "Zoe", "dice of Zoe")
            make_tournament(store, bots=("boris", "clara", "Zoe", "anna"), decks=1)
            promises.reveal(store, "anna", "dice of anna")
            promises.give_up(store, "cup", "boris", "does not answer")
            roster.join(store, "cup", "dora", "came late")
            run(store, play=play_timed)
            folders.append(export(store, "cup", tmp_path / name / "out").folder)
    assert held_in(folders[0]) == held_in(folders[1])
    told = json.loads((folders[1] / "tournament.json").read_text())["entropy"]
    assert {each["state"] for each in told} == {"revealed", "forgone", "open", "known", "too late"}
    assert audit(folders[1]).ok


def held_in(folder: Path) -> dict[Path, bytes]:
    """Return the files of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): path.read_bytes() for path in files}


# ----------------------------------------------------------------------------------- command line


def test_commands_take_the_url_as_an_option_or_from_the_environment(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both name the same database; the option goes first, and no password is printed."""
    url = home.server.replace("arena@", "arena:hush@")
    monkeypatch.setenv(HOME_VARIABLE, str(home.path))
    with Store.open(home) as store:
        add_tournament(store)
    assert main(["tournament", "list", "--json", "--database", url]) == 0
    assert main(["--database", url, "tournament", "show", "cup"]) == 0
    monkeypatch.setenv(DATABASE_VARIABLE, "postgresql://nobody@/nowhere")
    assert main(["tournament", "show", "cup", "--database", url]) == 0
    monkeypatch.setenv(DATABASE_VARIABLE, url)
    assert main(["bot", "list", "--json"]) == 0
    printed = capsys.readouterr()
    assert "hush" not in printed.out + printed.err
    assert [bot["name"] for bot in json.loads(printed.out[printed.out.rindex("\n[") :])] == [
        "anna",
        "boris",
    ]


def test_arena_that_is_not_begun_is_not_made_by_a_question(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    """To read from a database without an arena is an error in one line."""
    place = ["--home", str(home.path), "--database", home.server]
    assert main(["bot", "list", *place]) == USAGE
    assert "there is no arena" in capsys.readouterr().err
    assert "PostgreSQL" in describe(home)
    assert not home.path.exists()


def test_doctor_says_which_database_is_used(home: Home, cluster: Cluster) -> None:
    """Its version and place are told, or why it cannot be used."""
    found = _database(home)
    assert (found.check, found.level) == ("database", Level.OK)
    assert found.text.startswith("PostgreSQL")
    assert found.text.endswith(f"at {home.server}; no arena is begun there")
    missing = _database(Home(home.path, cluster.url("nowhere")))
    assert (missing.level, "there is no database" in missing.text) == (Level.ERROR, True)
    assert _database(Home(home.path)).text.startswith("SQLite")
