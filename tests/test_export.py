"""What an exported folder holds, and when there is none."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import subprocess
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from exports import SEED, exported, halt, make_store, make_tournament, run
from sqlmodel import select

from arena import planning, queries, roster
from arena.cli import main
from arena.errors import MachineError, NotFoundError, RefusedError
from arena.formats import FORMATS
from arena.home import HOME_VARIABLE
from arena.publishing.audit import audit
from arena.publishing.export import export
from arena.publishing.gamelist import game_list
from arena.publishing.manifest import MANIFEST
from arena.rankings import tournament_table
from arena.ratings import RATINGS
from arena.statistics.stats import PlayedMatch
from arena.tables import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.store import Store

ROOT = Path(__file__).parents[1]
PGN_GAME = re.compile(
    r'\[Event "([^"]*)"\]\n\[Site "\?"\]\n\[Date "(\d{4}\.\d\d\.\d\d)"\]\n\[Round "(\d+\.\d+\.\d+)"\]\n'
    r'\[White "([^"]+)"\]\n\[Black "([^"]+)"\]\n\[Result "(1-0|0-1|1/2-1/2)"\]\n\n(\S+)\n'
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """An arena in which a tournament was played."""
    with make_store(tmp_path_factory.mktemp("arena")) as store:
        make_tournament(store)
        run(store)
        yield store


@pytest.fixture(scope="module")
def folder(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder."""
    return export(store, "cup", tmp_path_factory.mktemp("out") / "cup").folder


def document(folder: Path, name: str) -> Any:
    """Read a JSON document."""
    return json.loads((folder / name).read_text())


def table(folder: Path, name: str) -> list[dict[str, str]]:
    """Read a CSV table."""
    return list(csv.DictReader(io.StringIO((folder / name).read_text())))


# -------------------------------------------------------------------------------------- the files


def test_folder_holds_what_a_third_party_needs(folder: Path, store: Store) -> None:
    """Settings, rules, digests, seed, schedule, results, records and tables are there."""
    info = queries.tournament(store, "cup")
    settings = document(folder, "tournament.json")

    assert settings["rules"] == json.loads(json.dumps(info.rules.to_dict()))
    assert settings["seed"] == SEED.hex()
    assert hashlib.sha256(bytes.fromhex(settings["seed"])).hexdigest() == settings["commitment"]
    assert [each["digest"] for each in settings["entrants"]] == [
        entrant.bot.digest for entrant in info.entrants
    ]
    assert len(document(folder, "schedule.json")["pairings"]) == 3
    assert sorted(path.name for path in (folder / "records").iterdir()) == [
        "0000001.jsonl",
        "0000002.jsonl",
        "0000003.jsonl",
    ]
    for name in ("schedule", "results", "attempts", "faults", "usage", "resources", "ratings"):
        assert (folder / f"{name}.json").exists()
        assert (folder / f"{name}.csv").exists()


def test_results_are_those_of_the_store(folder: Path, store: Store) -> None:
    """Every result is the stored one, exactly."""
    rows = document(folder, "results.json")

    for row, match in zip(rows, queries.matches(store, "cup"), strict=True):
        assert tuple(map(Fraction, row["totals"])) == match.scores
        assert tuple(row["entrants"]) == match.entrants
        assert row["record_sha256"] == match.record_sha256
        data = (folder / row["record"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == match.record_sha256


def test_standings_are_those_of_the_tournament(folder: Path, store: Store) -> None:
    """The exported table is the one that `arena tournament show` prints, to the last digit."""
    rows = document(folder, "standings.json")["bots"]

    shown = tournament_table(store, "cup")
    assert [(row["rank"], row["entrant"], row["rating"]) for row in rows] == [
        (row.rank, row.entrant, None if row.rating is None else row.rating.shown) for row in shown
    ]


def test_same_tournament_gives_the_same_bytes(folder: Path, store: Store, tmp_path: Path) -> None:
    """Two exports of a tournament cannot be told apart."""
    again = export(store, "cup", tmp_path / "again").folder

    names = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    assert names == {path.relative_to(again) for path in again.rglob("*") if path.is_file()}
    for name in names:
        assert (folder / name).read_bytes() == (again / name).read_bytes(), name


def test_manifest_can_be_checked_by_hand(folder: Path) -> None:
    """The chain is the one that docs/export.md tells: a few lines in any language check it."""
    manifest = document(folder, MANIFEST)
    chain = hashlib.sha256(b"bura-arena/export/1").hexdigest()

    for each in manifest["files"]:
        data = (folder / each["path"]).read_bytes()
        sha256 = hashlib.sha256(data).hexdigest()
        line = f"{chain} {sha256} {len(data)} {each['path']}"
        chain = hashlib.sha256(line.encode()).hexdigest()
        assert (each["sha256"], each["chain"]) == (sha256, chain)

    assert manifest["head"] == chain


def test_tables_agree_with_their_json(folder: Path) -> None:
    """CSV holds the same rows in the same order."""
    for name in ("attempts", "faults", "usage", "resources"):
        rows = document(folder, f"{name}.json")
        cells = table(folder, f"{name}.csv")
        assert [row["match"] for row in rows] == [int(row["match"]) for row in cells], name
    total = [row["total"] for row in table(folder, "results.csv")]
    assert total == [each for row in document(folder, "results.json") for each in row["totals"]]


def test_resources_are_told_by_bot_and_match(folder: Path) -> None:
    """CPU, memory, times, traffic, throttling and logs of all legs are put together."""
    first = document(folder, "resources.json")[0]
    legs = [row for row in document(folder, "usage.json") if (row["match"], row["place"]) == (1, 0)]

    assert [row["leg"] for row in legs] == [0, 1]
    assert first["cpu_seconds"] == 0.5
    assert first["peak_memory"] == 1 << 24
    assert first["throttled_periods"] == 1
    assert first["log_bytes"] == sum(row["log_bytes"] for row in legs)
    assert first["time_us"] == sum(row["time_us"] for row in legs)
    assert first["answers"] == sum(row["answers"] for row in legs)
    assert first["p50_us"] <= first["p95_us"] <= first["p99_us"] <= first["max_us"]
    assert first["sending_us"] is None


def test_faults_are_told(folder: Path) -> None:
    """A fault is told with bot, place and cost."""
    illegal, crash = document(folder, "faults.json")

    assert (illegal["kind"], illegal["deal"], illegal["entrant"]) == (
        "illegal_action",
        0,
        crash["entrant"],
    )
    assert (crash["kind"], crash["deal"]) == ("crash", None)
    assert crash["deals_played"] + crash["deals_lost"] == 3


@pytest.mark.node
def test_javascript_checks_the_folder(tmp_path: Path) -> None:
    """A check in another language, written from the pages, makes chain, seed and every deck."""
    made = exported(tmp_path, with_entropy=("anna", "clara"))
    records = [path.read_text() for path in (made.folder / "records").iterdir()]

    run = subprocess.run(
        ["node", str(ROOT / "tests/js/export.mjs"), str(made.folder)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    decks = sum(record.count('"type":"deal"') for record in records)
    assert json.loads(run.stdout) == {"head": made.head, "decks": decks}


@pytest.mark.node
def test_javascript_checks_an_unfinished_folder(halted: Store, tmp_path: Path) -> None:
    """As long as the seed is secret there is the manifest to check, and nothing fails."""
    made = export(halted, "cup", tmp_path / "out", unfinished=True)

    run = subprocess.run(
        ["node", str(ROOT / "tests/js/export.mjs"), str(made.folder)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == {"head": made.head, "decks": 0}


# -------------------------------------------------------------------------------------- game lists


def test_game_list_is_what_rating_programs_read(folder: Path) -> None:
    """Every deck is a game of PGN with the tags that Ordo and BayesElo look for."""
    text = (folder / "games.pgn").read_text()

    games = PGN_GAME.findall(text)
    assert "\n".join(m.group(0) for m in PGN_GAME.finditer(text)) == text
    expected = [
        (row["entrants"], [sum(Fraction(leg[place]) for leg in legs) for place in range(2)], deck)
        for row in document(folder, "results.json")
        for deck, legs in enumerate(row["decks"])
    ]
    assert len(games) == len(expected)
    for game, (entrants, scores, deck) in zip(games, expected, strict=True):
        order = (1, 0) if deck % 2 else (0, 1)
        assert game[3:5] == tuple(entrants[place] for place in order)
        lead = scores[order[0]] - scores[order[1]]
        assert game[5] == ("1-0" if lead > 0 else "0-1" if lead < 0 else "1/2-1/2")
        assert game[5] == game[6]


def test_long_names_stay_apart_in_the_game_list() -> None:
    """BayesElo keeps 63 bytes of a name: those that begin alike for longer are still two."""
    pairs = PlayedMatch(
        number=1,
        entrants=(f"{'a' * 40}@1", "b@1", f"{'z' * 37}-x@1", f"{'z' * 37}-y@1"),
        decks=(((Fraction(1), Fraction(-1), Fraction(1), Fraction(-1)),),),
        sides=(0, 1, 0, 1),
    )
    other = replace(pairs, number=2, entrants=(f"{'a' * 40}@1", "b@1", f"{'z' * 37}-y@1", "c@1"))

    games = PGN_GAME.findall(game_list("cup", "2026.01.02", [pairs, other], {1: 1, 2: 1}))

    one, two = (game[3] for game in games)
    assert one != two
    assert len(one) == len(two) == 63
    assert games[1][4] == "b@1+c@1"


def test_game_list_pairs_all_seats_of_a_match() -> None:
    """More than two seats give a game for each two of them; pairs count as one player."""
    three = PlayedMatch(
        number=1,
        entrants=("a@1", "b@1", "c@1"),
        decks=(((Fraction(3), Fraction(-1), Fraction(-1)),),),
    )
    pairs = PlayedMatch(
        number=2,
        entrants=("a@1", "b@1", "c@1", "d@1"),
        decks=(((Fraction(1), Fraction(-1), Fraction(1), Fraction(-1)),),),
        sides=(0, 1, 0, 1),
    )
    copies = replace(pairs, number=3, entrants=("a@1", "d@1", "a@1", "b@1"))

    played = [pairs, copies, three]
    games = PGN_GAME.findall(game_list("cup", "2026.01.02", played, {1: 1, 2: 1, 3: 1}))

    assert [game[2:6] for game in games] == [
        ("1.1.1", "a@1", "b@1", "1-0"),
        ("1.1.1", "a@1", "c@1", "1-0"),
        ("1.1.1", "b@1", "c@1", "1/2-1/2"),
        ("1.2.1", "a@1+c@1", "b@1+d@1", "1-0"),
        ("1.3.1", "a@1+a@1", "b@1+d@1", "1-0"),
    ]


def test_names_cannot_break_the_game_list() -> None:
    """A quote in a name stays within its tag."""
    match = PlayedMatch(number=1, entrants=('a"]', "b\\"), decks=(((Fraction(1), Fraction(-1)),),))

    text = game_list("cup", "2026.01.02", [match], {1: 1})

    assert '[White "a\\"]"]' in text
    assert '[Black "b\\\\"]' in text


# ------------------------------------------------------------------------------- other tournaments


@pytest.mark.parametrize(
    "options",
    [
        {"seats": 3, "decks": 2},
        {"rounds": 2, "decks": 1, "variant": "burkozyol"},
        {"match_format": "native", "decks": 1},
    ],
    ids=["three seats", "two rounds", "native"],
)
def test_every_kind_of_tournament_holds(tmp_path: Path, options: dict[str, Any]) -> None:
    """What is exported can be checked, whatever was played."""
    found = audit(exported(tmp_path, **options).folder)

    assert found.difference is None


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_holds(tmp_path: Path, name: str) -> None:
    """Schedules that depend on results and lots are made again; one without an end is stopped."""
    with make_store(tmp_path, names="abcde", with_entropy="b") as store:
        seats = 3 if name == "pods" else 2
        make_tournament(store, bots=tuple("abcde"), format=name, seats=seats, decks=1)
        info = queries.tournament(store, "cup")
        if planning.expected_matches(store, info) is None:
            halt(store, after=6)
            roster.stop(store, "cup", "enough")
        else:
            run(store)
        folder = export(store, "cup", tmp_path / "out").folder

    found = audit(folder)
    assert found.difference is None
    assert found.matches >= 4


def test_coming_and_going_holds(tmp_path: Path) -> None:
    """Late entries, withdrawals and replaced versions are told, and the schedule fits them."""
    with make_store(tmp_path, names="abcde") as store:
        make_tournament(store, bots=tuple("abcd"), decks=1)
        halt(store, after=2)
        roster.join(store, "cup", "e", "came late")
        roster.withdraw(store, "cup", "a", "does not work")
        run(store)
        roster.disqualify(store, "cup", "b", "copied")
        folder = export(store, "cup", tmp_path / "out").folder
        shown = planning.table(store, queries.tournament(store, "cup"))

    assert audit(folder).difference is None
    order = document(folder, "standings.json")["format_order"]
    assert [(row["rank"], row["entrant"], row["note"]) for row in order] == [
        (row.rank, *row.names, row.note) for row in shown
    ]
    assert (order[-1]["rank"], order[-1]["note"]) == (None, "disqualification")
    changes = document(folder, "tournament.json")["changes"]
    assert [(each["reason_kind"], each["entrant"], each["reason"]) for each in changes] == [
        ("late entry", "e@1", "came late"),
        ("withdrawal", "a@1", "does not work"),
        ("disqualification", "b@1", "copied"),
    ]
    states = Counter(each["state"] for each in document(folder, "schedule.json")["pairings"])
    assert states["cancelled"] > 0
    assert states["done"] == len(document(folder, "results.json"))


@pytest.mark.parametrize("bots", [("a", "b", "c", "d"), ("a+b", "c+d")], ids=["rotating", "fixed"])
def test_pairs_hold(tmp_path: Path, bots: tuple[str, ...]) -> None:
    """Tournaments of pairs can be checked, and have a table of the pairs."""
    with make_store(tmp_path, names="abcd") as store:
        make_tournament(store, bots=bots, variant="burkozyol-pairs", seats=4, decks=2)
        run(store)
        folder = export(store, "cup", tmp_path / "out").folder

    assert audit(folder).difference is None
    pairs = document(folder, "standings.json")["pairs"]
    assert Counter(row["games"] for row in pairs) == {1: 2 * len(document(folder, "results.json"))}


# --------------------------------------------------------------------------- before the last match


@pytest.fixture
def halted(tmp_path: Path) -> Iterator[Store]:
    """An arena in which one of three matches was played."""
    with make_store(tmp_path) as store:
        make_tournament(store)
        halt(store, after=1)
        yield store


def test_unfinished_tournament_is_refused(halted: Store, tmp_path: Path) -> None:
    """Before the last match there is no seed to check against, and the refusal says so."""
    with pytest.raises(RefusedError, match=r"seed is not revealed.*--unfinished"):
        export(halted, "cup", tmp_path / "out")

    assert not (tmp_path / "out").exists()


def test_unfinished_export_keeps_the_seed_secret(halted: Store, tmp_path: Path) -> None:
    """What is exported before the end holds only finished matches and nowhere the seed."""
    folder = export(halted, "cup", tmp_path / "out", unfinished=True).folder

    assert len(document(folder, "results.json")) == 1
    assert [path.name for path in (folder / "records").iterdir()] == ["0000001.jsonl"]
    assert document(folder, "tournament.json")["seed"] is None
    for path in folder.rglob("*"):
        assert path.is_dir() or SEED.hex() not in path.read_text()


def test_unfinished_export_holds_as_far_as_it_goes(halted: Store, tmp_path: Path) -> None:
    """Its records are consistent; that the decks are the seed's is not said."""
    folder = export(halted, "cup", tmp_path / "out", unfinished=True).folder

    found = audit(folder)

    assert found.difference is None
    assert any("decks they name" in line for line in found.proved)
    assert not any("committed to" in line for line in found.proved)
    assert any("not revealed yet" in line for line in found.unproved)


@pytest.mark.parametrize("bots", [(), ("anna",)], ids=["nobody", "one"])
def test_tournament_without_a_match_holds(tmp_path: Path, bots: tuple[str, ...]) -> None:
    """A tournament that waits for entrants can be exported and checked as it is."""
    with make_store(tmp_path) as store:
        make_tournament(store, bots=bots, is_open=True)
        folder = export(store, "cup", tmp_path / "out", unfinished=True).folder

    assert audit(folder).difference is None


# ------------------------------------------------------------------------------------ what can fail


def test_unknown_tournament_is_refused(store: Store, tmp_path: Path) -> None:
    """There is nothing to export of a tournament that is not there."""
    with pytest.raises(NotFoundError, match="no tournament 'spring'"):
        export(store, "spring", tmp_path / "out")


def test_folder_with_something_in_it_is_refused(store: Store, tmp_path: Path) -> None:
    """Nothing of the organiser's is overwritten or mixed in."""
    (tmp_path / "mine.txt").write_text("mine")

    with pytest.raises(RefusedError, match="there is something in"):
        export(store, "cup", tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_empty_folder_is_taken(store: Store, tmp_path: Path) -> None:
    """A folder that is there and empty may be named."""
    (tmp_path / "out").mkdir()

    assert audit(export(store, "cup", tmp_path / "out").folder).ok


@pytest.mark.parametrize("kind", ["file", "link", "part"])
def test_other_things_at_its_place_are_refused(store: Store, tmp_path: Path, kind: str) -> None:
    """A file, a link, or what an export that was killed left is not touched."""
    if kind == "file":
        (tmp_path / "out").write_text("mine")
    elif kind == "link":
        (tmp_path / "out").symlink_to(tmp_path)
    else:
        (tmp_path / "out.part").mkdir()

    with pytest.raises(RefusedError):
        export(store, "cup", tmp_path / "out")


def test_changed_record_is_not_exported(tmp_path: Path) -> None:
    """A record that is not the one that was made ends the export, and no folder is left."""
    with make_store(tmp_path) as store:
        make_tournament(store, bots=("anna", "boris"))
        run(store)
        with store.read() as session:
            path = store.home.path / session.exec(select(Result.record)).one()
        path.write_text(path.read_text().replace("anna", "Anna"))

        with pytest.raises(MachineError, match="is not the record that was made of match 1"):
            export(store, "cup", tmp_path / "out")
        path.unlink()
        with pytest.raises(MachineError, match="record of match 1 is missing"):
            export(store, "cup", tmp_path / "out")

    assert not list(tmp_path.glob("out*"))


def test_interrupted_export_leaves_nothing(store: Store, tmp_path: Path) -> None:
    """An export that is stopped half-way leaves neither the folder nor a part of it."""

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(store, "cup", tmp_path / "out", watch=interrupt)

    assert list(tmp_path.iterdir()) == []


def test_place_that_cannot_be_written_is_told(store: Store, tmp_path: Path) -> None:
    """A path below a file is the machine's fault in one line."""
    (tmp_path / "file").write_text("")

    with pytest.raises(MachineError, match="cannot write"):
        export(store, "cup", tmp_path / "file" / "out")


# --------------------------------------------------------------------------------- command line


def test_command_prints_the_head(
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The head to publish is printed, with the commitment, in words and as JSON."""
    monkeypatch.setenv(HOME_VARIABLE, str(store.home.path))

    assert main(["tournament", "export", "cup", str(tmp_path / "one")]) == 0
    head = document(tmp_path / "one", MANIFEST)["head"]
    said = capsys.readouterr()
    assert head in said.out
    assert "arena tournament verify" in said.err
    assert main(["tournament", "export", "cup", str(tmp_path / "two"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "folder": str(tmp_path / "two"),
        "head": head,
        "commitment": hashlib.sha256(SEED).hexdigest(),
        "promises": document(tmp_path / "two", "tournament.json")["promises"],
        "committed": False,
        "files": 22,
        "matches": 3,
        "bytes": sum(
            path.stat().st_size
            for path in (tmp_path / "two").rglob("*")
            if path.is_file() and path.name != MANIFEST
        ),
    }


# ----------------------------------------------------------------------------------------- the page


def names_in(value: object) -> set[str]:
    """Return the names of all fields in a document, but for names that are data."""
    if isinstance(value, list):
        return set().union(*map(names_in, value))
    if not isinstance(value, dict):
        return set()
    data = {"rules", "options", "time_control", "parameters", "faults", "columns"}
    inner = (names_in(each) for name, each in value.items() if name not in data)
    return set(value).union(*inner)


def test_page_names_every_file_and_field(folder: Path) -> None:
    """docs/export.md leaves no file and no field of any document out."""
    text = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    paths = [path for path in folder.rglob("*") if path.parent == folder and path.is_file()]
    fields = set[str]().union(
        *(names_in(json.loads(path.read_text())) for path in paths if path.suffix == ".json")
    )

    assert [path.name for path in paths if f"`{path.name}`" not in text] == []
    assert sorted(name for name in fields - set(RATINGS) if f"`{name}`" not in text) == []
