"""Rebuilding: the same digits from the same results, and results that agree with their records."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import stores
from sqlmodel import SQLModel, select
from test_record import play_with_faults, spec

from arena.cli import main
from arena.home import Home
from arena.ledger import finish
from arena.rebuilding import check_records, rebuild
from arena.results_queries import put_right, result_rows
from arena.runner import deal_table
from arena.store import Store
from arena.stored_results import StoredFault, StoredResult
from arena.tables import Attempt, FaultRow, Match, Result, SavedRules, Tournament
from arena.tables import Entrant as Entered
from referee.record import write_record
from referee.results import Entrant, TimeControl
from referee.rules import Rules
from referee.shuffle import SEED_BYTES, commitment


@pytest.fixture(name="store")
def _store(either_home: Home) -> Iterator[Store]:
    """An arena with two matches, their records on disk, faults in both."""
    with Store.open(either_home) as store:
        number = stores.add_tournament(store, matches=2)
        for match in (1, 2):
            keep(store, number, match)
        yield store


DECKS = 5


def keep(store: Store, tournament: int, match: int) -> None:
    """Play a match with faults and store what it came to, as a worker does."""
    with store.write() as session:
        row = session.get_one(Tournament, tournament)
        row.decks = DECKS
        session.add(row)
        rules = Rules.from_dict(json.loads(row.rules))
    result = play_with_faults(
        spec(
            rules=rules,
            decks=DECKS,
            match=match,
            seed=bytes(SEED_BYTES),
            entrants=(Entrant("anna", "1", "sha256:0"), Entrant("boris", "1", "sha256:1")),
            time_control=TimeControl(move_time_ms=1000, startup_ms=5000),
        )
    )
    path = store.home.records / f"{match}.jsonl"
    sha256 = write_record(path, result.spec, result)
    stored = StoredResult(
        decks=deal_table(result),
        totals=result.totals,
        conditions="",
        milliseconds=5,
        record=str(path.relative_to(store.home.path)),
        record_sha256=sha256,
        faults=tuple(
            StoredFault(
                leg=each.leg,
                deal=each.deal,
                seat=each.fault.seat,
                position=each.entrant,
                kind=each.fault.kind,
                detail=each.fault.detail,
            )
            for each in result.faults
        ),
    )
    assert finish(store, stores.lease(store, tournament), stored, [])


def spoil(store: Store, match: int, **values: object) -> None:
    """Change the stored result of a match behind the arena's back."""
    with store.write() as session:
        row = session.get_one(Result, match)
        for name, value in values.items():
            setattr(row, name, value)
        session.add(row)


def test_results_agree_with_their_records(store: Store) -> None:
    """What a worker stores is what the record says: scores, totals, sides and faults."""
    rows = result_rows(store, 1)

    assert all(row.values.faults for row in rows)
    assert check_records(store) == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("totals", '["1", "-1"]'),
        ("decks", '[[["1", "-1"]]]'),
        ("sides", "0 1"),
    ],
)
def test_a_changed_result_is_found_and_put_right(store: Store, field: str, value: str) -> None:
    """A result that departs from its record is named, with both values, and can be restored."""
    before = rebuild(store).digest
    kept = result_rows(store, 1)
    spoil(store, 2, **{field: value})

    (found,) = check_records(store)
    assert (found.match, found.field, found.stored, found.fixed) == ("cup/2", field, value, False)
    (fixed,) = check_records(store, fix=True)

    assert fixed.fixed
    assert check_records(store) == ()
    assert result_rows(store, 1) == kept
    assert rebuild(store).digest == before


def test_lost_faults_are_put_right(store: Store) -> None:
    """Faults that are gone from the database come back from the record."""
    kept = result_rows(store, 1)
    with store.write() as session:
        for fault in session.exec(select(FaultRow).where(FaultRow.match_id == 1)):
            session.delete(fault)

    (found,) = check_records(store, ["cup"], fix=True)

    assert found.field == "faults"
    assert result_rows(store, 1) == kept


def test_a_changed_record_is_not_believed(store: Store) -> None:
    """A record with other bytes than were recorded is reported, and nothing is taken from it."""
    path = store.home.records / "1.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"claim"', b'"draw"'))
    kept = result_rows(store, 1)

    (found,) = check_records(store, fix=True)

    assert (found.match, found.field, found.fixed) == ("cup/1", "record_sha256", False)
    assert result_rows(store, 1) == kept


def test_a_missing_record_is_reported(store: Store) -> None:
    """A record that is gone is a difference like any other."""
    (store.home.records / "2.jsonl").unlink()

    (found,) = check_records(store)

    assert (found.match, found.field) == ("cup/2", "record")
    assert found.record == "nothing: No such file or directory"


def test_the_digest_knows_every_result(store: Store) -> None:
    """Another score gives other digests, of the tournament and of its pool."""
    before = rebuild(store)
    decks = json.loads(result_rows(store, 1)[0].values.decks)
    decks[0][0] = ["41", "-41"]
    spoil(store, 1, decks=json.dumps(decks))
    after = rebuild(store)

    assert [each.results for each in before.tournaments + before.pools] == [2, 2]
    assert after.tournaments[0].digest != before.tournaments[0].digest
    assert after.pools[0].digest != before.pools[0].digest
    assert after.digest != before.digest


def test_order_of_arrival_does_not_change_the_digest(tmp_path: Path, store: Store) -> None:
    """The same results recorded in the other order are rebuilt to the same digest."""
    with Store.open(Home(tmp_path / "other")) as other:
        number = stores.add_tournament(other, matches=2)
        leases = [stores.lease(other, number) for _ in range(2)]
        assert rebuild(other).digest != rebuild(store).digest
        source = {row.number: row for row in result_rows(store, 1)}
        for lease in reversed(leases):
            assert finish(other, lease, stores.result(), [])
        for row in result_rows(other, number):
            put_right(other, row, source[row.number].values)
        assert rebuild(other) == rebuild(store)


def test_the_command_ends_with_1_where_a_difference_stays(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code says whether results and records agree now; the digest is printed anyhow."""
    home = ["--home", str(store.home.path), "--database", store.home.server]
    assert main(["rebuild", "--json", *home]) == 0
    before = json.loads(capsys.readouterr().out)
    spoil(store, 1, totals='["9", "-9"]')

    assert main(["rebuild", "cup", "--records", *home]) == 1
    assert 'cup/1, totals: stored ["9", "-9"], the record says' in capsys.readouterr().err
    assert main(["rebuild", "--records", "--fix", *home]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"digest {before['digest']}"
    assert main(["rebuild", "--fix", *home]) == 2
    assert "add --records" in capsys.readouterr().err


# ------------------------------------------------------------------------- whose record it is


def change(store: Store, table: type, key: object, **values: object) -> None:
    """Change a row behind the arena's back."""
    with store.write() as session:
        row = session.get_one(table, key)
        for name, value in values.items():
            setattr(row, name, value)
        session.add(row)


def fields(store: Store, *, fix: bool = True) -> set[tuple[str, str]]:
    """Return where results and records differ; nothing of it may have been put right."""
    kept = result_rows(store, 1)
    found = check_records(store, fix=fix)
    assert not any(each.fixed for each in found)
    assert result_rows(store, 1) == kept
    return {(each.match, each.field) for each in found}


def test_seats_that_are_exchanged_are_found(store: Store) -> None:
    """A result is that of the entrants whose record it has, in the order of their seats."""
    change(store, Match, 2, seats="1 0")

    assert fields(store) == {("cup/2", "entrants")}


@pytest.mark.parametrize("seats", ["0 9", "junk", ""])
def test_seats_of_nobody_are_found(store: Store, seats: str) -> None:
    """Seats that nobody has are a difference and no error of the program."""
    change(store, Match, 2, seats=seats)

    assert fields(store) == {("cup/2", "entrants")}


def test_positions_that_are_exchanged_are_found(store: Store) -> None:
    """Whoever exchanges entrants in the schedule exchanges all their results."""
    with store.write() as session:
        one, other = session.get_one(Entered, (1, 0)), session.get_one(Entered, (1, 1))
        one.bot_version_id, other.bot_version_id = other.bot_version_id, one.bot_version_id
        session.add_all([one, other])

    assert fields(store) == {("cup/1", "entrants"), ("cup/2", "entrants")}


@pytest.mark.parametrize("with_attempt", [False, True])
def test_record_of_another_match_is_not_taken(store: Store, *, with_attempt: bool) -> None:
    """A result that names another match's record is found, and never put right by it."""
    first = result_rows(store, 1)[0]
    spoil(store, 2, record=first.record, record_sha256=first.record_sha256)
    if with_attempt:
        change(store, Attempt, (2, 1), record_sha256=first.record_sha256)

    place = "number" if with_attempt else "record_sha256 of attempt 1"
    assert fields(store) == {("cup/2", place)}


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"seed": "11" * 32}, "seed commitment"),
        ({"decks": 6}, "decks"),
        ({"variant": "bura-open"}, "variant"),
        ({"move_time_ms": 2000}, "time control"),
        ({"rules": json.dumps({**Rules().to_dict(), "target": 41})}, "rules, target"),
    ],
)
def test_changed_settings_are_found(store: Store, values: dict[str, object], field: str) -> None:
    """The settings of the tournament are those of every record."""
    change(store, Tournament, 1, **values)

    assert fields(store) == {("cup/1", field), ("cup/2", field)}


def name_by_hash(store: Store, match: int) -> Path:
    """Put the record of a match where a worker does, and give its new place."""
    row = result_rows(store, 1)[match - 1]
    path = store.home.records / "cup" / str(match) / "1" / f"{row.record_sha256}.jsonl"
    path.parent.mkdir(parents=True)
    (store.home.path / row.record).rename(path)
    spoil(store, match, record=str(path.relative_to(store.home.path)))
    return path


def forget(store: Store, match: int) -> None:
    """Delete the result of a match, and what is stored of its faults."""
    with store.write() as session:
        session.delete(session.get_one(Result, match))
        for fault in session.exec(select(FaultRow).where(FaultRow.match_id == match)):
            session.delete(fault)


def test_deleted_result_is_made_anew_from_its_record(store: Store) -> None:
    """A match that is done has a result: what its attempt recorded brings it back, and faults."""
    name_by_hash(store, 2)
    before, digest = result_rows(store, 1), rebuild(store).digest
    forget(store, 2)

    (found,) = check_records(store)
    assert (found.match, found.field, found.stored) == ("cup/2", "result", "nothing")
    assert found.record.startswith("totals")
    assert not found.fixed
    (fixed,) = check_records(store, fix=True)

    assert fixed.fixed
    assert check_records(store) == ()
    assert result_rows(store, 1) == before
    assert rebuild(store).digest == digest


def test_deleted_result_without_a_record_stays_open(store: Store) -> None:
    """Without the record, with a changed one or without the attempt's word nothing is made up."""
    path = name_by_hash(store, 2)
    forget(store, 2)
    content = path.read_bytes()

    path.write_bytes(content + b"\n")
    assert fields(store) == {("cup/2", "record_sha256")}
    path.unlink()
    assert fields(store) == {("cup/2", "result")}
    path.write_bytes(content)
    change(store, Attempt, (2, 1), record_sha256="")
    (found,) = check_records(store, fix=True)
    assert (found.fixed, found.record) == (False, "nothing: attempt 1 names none")


@pytest.mark.parametrize("name", ["*", "../2", "/etc/passwd", "[0-9]", ""])
def test_damaged_hash_names_no_file(store: Store, name: str) -> None:
    """What is no hash is looked for nowhere, whatever it would mean as a path."""
    name_by_hash(store, 2)
    forget(store, 2)
    change(store, Attempt, (2, 1), record_sha256=name)
    (found,) = check_records(store, fix=True)
    assert (found.fixed, found.record) == (False, "nothing: attempt 1 names none")


def test_record_of_a_lost_result_is_looked_for_in_its_place_only(store: Store) -> None:
    """A record that lies elsewhere is none of the attempt's."""
    path = name_by_hash(store, 2)
    forget(store, 2)
    path.rename(store.home.records / path.name)
    (found,) = check_records(store, fix=True)
    assert (found.fixed, found.record[:9]) == (False, "nothing: ")


@pytest.mark.parametrize("value", ["junk", -1, 5.5, 10**18], ids=str)
@pytest.mark.parametrize("name", ["recorded", "milliseconds"])
def test_broken_time_of_a_result_is_found_and_put_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, value: object
) -> None:
    """It is taken from the attempt, as that of a lost result is; the other one stays."""
    with Store.open(Home(tmp_path / "arena")) as store:
        keep(store, stores.add_tournament(store, matches=1), 1)
        before = times(store)
        spoil(store, 1, **{name: value})

        (found,) = check_records(store)
        assert (found.match, found.field, found.stored) == ("cup/1", name, str(value))
        home = ["--home", str(store.home.path)]
        assert main(["rebuild", "--records", "--fix", *home]) == 0

        assert check_records(store) == ()
        with store.read() as session:
            attempt = session.get_one(Attempt, (1, 1))
            assert attempt.ended is not None
            restored = {"recorded": attempt.ended, "milliseconds": attempt.ended - attempt.started}
        assert times(store) == {**before, name: restored[name]}
        assert main(["match", "show", "cup/1", *home]) == 0
    assert "damaged" not in capsys.readouterr().err


def times(store: Store) -> dict[str, int]:
    """Return the times of the first result."""
    with store.read() as session:
        row = session.get_one(Result, 1)
        return {"recorded": row.recorded, "milliseconds": row.milliseconds}


def test_nothing_is_told_of_a_tournament_whose_result_is_not_there(
    store: Store, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A format would take the match for cancelled: commands say in a line how to mend it."""
    name_by_hash(store, 2)
    home = ["--home", str(store.home.path), "--database", store.home.server]
    forget(store, 2)

    for line in (
        ["tournament", "show", "cup"],
        ["tournament", "export", "cup", str(tmp_path / "x")],
    ):
        assert main([*line, *home]) == 3
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "cup/2: row 2 of the table result is damaged: it is not there; arena rebuild" in said
    assert main(["rebuild", *home]) == 1
    assert "cup/2 has no result: arena rebuild --records --fix\n" in capsys.readouterr().err
    assert main(["rebuild", "--records", "--fix", *home]) == 0
    assert main(["tournament", "show", "cup", *home]) == 0
    assert main(["rebuild", *home]) == 0


READING = (
    ("tournament", "list"),
    ("tournament", "show", "cup"),
    ("tournament", "plan", "cup"),
    ("rankings", "--tournament", "cup"),
    ("rankings",),
    ("stats", "cup"),
    ("match", "list", "cup"),
    ("match", "show", "cup/2"),
    ("tournament", "history", "cup"),
    ("rebuild",),
)


@pytest.mark.parametrize(
    ("table", "key", "values"),
    [
        (Tournament, 1, {"rules": "junk"}),
        (Tournament, 1, {"rules": '{"target": "x"}'}),
        (Tournament, 1, {"rules": "[]"}),
        (Tournament, 1, {"options": "{"}),
        (Tournament, 1, {"seeding": "by lot"}),
        (Tournament, 1, {"seed": "zz"}),
        (Tournament, 1, {"listed": 2**62}),
        (Tournament, 1, {"started": 10**18}),
        (Match, 2, {"seats": "0 x"}),
        (Match, 2, {"seats": "0 7"}),
        (Result, 2, {"totals": "junk"}),
        (Result, 2, {"totals": '["1/0", "1"]'}),
        (Result, 2, {"decks": "7"}),
        (Attempt, (2, 1), {"started": 10**18}),
        (FaultRow, 3, {"kind": "rude"}),
        (FaultRow, 3, {"position": 9}),
    ],
    ids=str,
)
def test_no_reading_command_shows_a_traceback_for_a_damaged_row(
    store: Store,
    capsys: pytest.CaptureFixture[str],
    table: type[SQLModel],
    key: object,
    values: dict[str, object],
) -> None:
    """One line that names the table and the row, with 3; a command that needs it not goes on."""
    change(store, Tournament, 1, commitment=commitment(bytes(SEED_BYTES)))
    change(store, table, key, **values)
    row = ", ".join(map(str, key)) if isinstance(key, tuple) else key
    named = f"row {row} of the table {table.__tablename__} is damaged"

    codes = set()
    folder = str(store.home.path / "exported")
    for line in (*READING, ("tournament", "export", "cup", folder, "--unfinished")):
        code = main([*line, "--home", str(store.home.path), "--database", store.home.server])
        said = capsys.readouterr().err
        codes.add(code)
        if code == 3:
            assert said.count("\n") == 1
            assert named in said
        else:
            assert "Traceback" not in said
    assert 3 in codes


def test_damaged_rules_that_were_saved_are_told_in_a_line(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line names the rules and their row."""
    home = ["--home", str(store.home.path), "--database", store.home.server]
    assert main(["rules", "save", "house", *home]) == 0
    change(store, SavedRules, 1, rules="junk")
    capsys.readouterr()

    for line in (["rules", "list"], ["rules", "show", "house"], ["variants", "house"]):
        assert main([*line, *home]) == 3
        said = capsys.readouterr().err
        assert said == (
            "arena: house: row 1 of the table saved_rules is damaged: text that is not JSON; "
            "restore a copy of the database\n"
        )


@pytest.mark.parametrize(
    "values", [{"decks": "junk"}, {"decks": '[[[NaN, "1"]]]'}, {"sides": "0 0"}, {"decks": "[[["}]
)
def test_damaged_result_is_told_in_a_line(
    store: Store, capsys: pytest.CaptureFixture[str], values: dict[str, object]
) -> None:
    """What cannot be read is named with its match, and what the record holds restores it."""
    home = ["--home", str(store.home.path), "--database", store.home.server]
    spoil(store, 2, **values)

    assert main(["rebuild", *home]) == 3
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "cup/2: row 2 of the table result is damaged" in said
    assert main(["rebuild", "--records", "--fix", *home]) == 0
    assert main(["rebuild", *home]) == 0


def test_time_that_is_no_number_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SQLite keeps a text where a number belongs: what forecasts by it says so, and the way out."""
    with Store.open(Home(tmp_path / "arena")) as store:
        keep(store, stores.add_tournament(store, matches=1), 1)
        spoil(store, 1, milliseconds="junk")
        for line in (["tournament", "plan", "cup"], ["match", "show", "cup/1"]):
            assert main([*line, "--home", str(store.home.path)]) == 3
            said = capsys.readouterr().err
            assert said.count("\n") == 1
            assert "cup/1: row 1 of the table result is damaged" in said


def test_lines_fit_a_terminal(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """Differences and digests stand on lines of 80 columns."""
    home = ["--home", str(store.home.path), "--database", store.home.server]
    change(store, Match, 2, seats="1 0")

    assert main(["rebuild", "--records", *home]) == 1
    out, err = capsys.readouterr()
    assert max(map(len, (out + err).splitlines())) <= 80
