"""An exported folder is believed only where it agrees with itself from the seed up."""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from copy import deepcopy
from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any

import pytest
from exports import (
    SEED,
    Forgery,
    Nobody,
    exported,
    halt,
    hash_strings,
    make_store,
    make_tournament,
    play,
    promised,
    run,
)
from pydantic import TypeAdapter

from arena import bots, queries, roster, tournament
from arena.cli import main
from arena.errors import ArenaError, NotFoundError, RefusedError
from arena.jobs import Voided
from arena.publishing.audit import audit
from arena.publishing.documents import Published, documents
from arena.publishing.export import export
from arena.publishing.manifest import MANIFEST, Sum, json_bytes, sum_of
from arena.publishing.published import (
    PublishedAttempt,
    PublishedFault,
    PublishedResult,
    PublishedSchedule,
    PublishedUsage,
    SecondTournament,
)
from arena.publishing.retelling import check_documents
from arena.publishing.trust import spans
from arena.recorded import read_recorded
from arena.tournament import StopFlag
from referee.shuffle import commitment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from arena.infos import MatchInfo
    from arena.jobs import MatchDescription, Outcome
    from arena.publishing.audit import Audit, Difference
    from arena.publishing.export import Exported
    from arena.publishing.folder import Folder
    from arena.recorded import RecordedTimes
    from arena.store import Store

FIRST = "records/0000001.jsonl"
SECOND = "records/0000002.jsonl"
OTHER_SEED = hashlib.sha256(b"another").digest()


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tournament of three bots, two of which gave a text for the seed."""
    folder = tmp_path_factory.mktemp("honest")
    return exported(folder, with_entropy=("anna", "boris")).folder


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tournament of the same bots and settings under another seed."""
    folder = tmp_path_factory.mktemp("other")
    return exported(folder, with_entropy=("anna", "boris"), seed=OTHER_SEED).folder


@pytest.fixture(scope="module")
def changing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tournament in which one bot came late and another left."""
    folder = tmp_path_factory.mktemp("changing")
    with make_store(folder, names="abcde") as store:
        make_tournament(store, bots=tuple("abcd"), decks=1)
        halt(store, after=2)
        roster.join(store, "cup", "e", "came late")
        roster.withdraw(store, "cup", "a", "does not work")
        run(store)
        return export(store, "cup", folder / "cup").folder


@pytest.fixture
def forgery(honest: Path, tmp_path: Path) -> Forgery:
    """A copy to be forged."""
    return Forgery(honest, tmp_path / "forged")


def difference(found: Audit) -> Difference:
    """Return the difference that must have been found."""
    assert found.difference is not None
    return found.difference


def check_named(forgery: Forgery, file: str, place: str) -> Difference:
    """Mend the manifest, and see that the difference is found in this file at this place."""
    forgery.chain()
    found = difference(audit(forgery.folder))
    assert found.file == file, found
    assert re.fullmatch(place, found.place), found
    return found


# ---------------------------------------------------------------------------------------- honesty


def test_honest_folder_holds(honest: Path) -> None:
    """Everything in an untouched folder agrees, and the report says what that proves."""
    found = audit(honest)

    assert found.difference is None
    assert found.matches == 3
    proved = "\n".join(found.proved)
    assert f"head {found.head}" in proved
    assert commitment(SEED) in proved
    assert "texts of 2 entrants" in proved
    assert "schedule of 3 matches" in proved
    assert "3 records" in proved
    unproved = "\n".join(found.unproved)
    for untold in ("digests", "times", "attempt", "commitment", "same folder", "text", "chose"):
        assert untold in unproved


def test_what_was_published_elsewhere_is_compared(honest: Path) -> None:
    """Who knows the head and the commitment from elsewhere need not trust the folder for them."""
    head = audit(honest).head

    known = audit(honest, head=head, committed=commitment(SEED))

    assert known.ok
    assert not any("commitment was" in line or "same folder" in line for line in known.unproved)
    wrong_head = difference(audit(honest, head="0" * 64))
    assert (wrong_head.file, wrong_head.expected) == (MANIFEST, "0" * 64)
    wrong = difference(audit(honest, committed=commitment(OTHER_SEED)))
    assert (wrong.file, wrong.place) == ("tournament.json", "commitment, as it was published")


def test_what_was_checked_is_told_without_reading_it_again(
    forgery: Forgery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that is changed when the check has ended does not change what that came to."""

    def then_change(folder: Folder, published: Published) -> None:
        check_documents(folder, published)
        forgery.path("tournament.json").write_text("{}")

    monkeypatch.setattr("arena.publishing.audit.check_documents", then_change)
    found = audit(forgery.folder)

    assert found.ok
    assert found.unproved


def test_manifest_of_any_length_is_not_read(forgery: Forgery) -> None:
    """A sparse file of 20 GB takes no room on a disk, but would fill the memory."""
    os.truncate(forgery.path(MANIFEST), 20 << 30)

    found = difference(audit(forgery.folder))

    assert (found.file, found.place) == (MANIFEST, "size")
    assert (found.expected, found.found) == ("268435456 bytes at most", "21474836480")


@pytest.mark.parametrize("name", ["usage.json", FIRST])
def test_file_of_any_length_is_not_read(
    forgery: Forgery, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The manifest that lists its length is by the same hand, and so no reason to read it all."""
    path = forgery.path(name)
    most = max(each.stat().st_size for each in forgery.folder.rglob("*") if each.is_file())
    monkeypatch.setattr("arena.publishing.folder.MOST_BYTES", most)
    os.truncate(path, most + 1)

    found = check_named(forgery, name, "size")

    assert (found.expected, found.found) == (f"{most} bytes at most", str(most + 1))


def test_file_that_is_longer_than_listed_is_not_hashed(
    forgery: Forgery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its length is told at once, however long it is."""
    hashed: list[Path] = []

    def noted(path: Path) -> Sum:
        hashed.append(path)
        return sum_of(path)

    monkeypatch.setattr("arena.publishing.folder.sum_of", noted)
    path = forgery.path(FIRST)
    size = path.stat().st_size
    os.truncate(path, size + 1)

    found = difference(audit(forgery.folder))

    assert (found.file, found.place) == (FIRST, "size")
    assert (found.expected, found.found) == (str(size), str(size + 1))
    assert hashed
    assert path not in hashed


def test_several_processes_find_the_same(
    honest: Path, forgery: Forgery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records refereed by several processes give the same report, and the same first difference."""
    monkeypatch.setattr("arena.publishing.refereeing.PARALLEL_FROM", 0)
    steps: list[int] = []

    assert audit(honest, processes=2, watch=steps.append) == audit(honest)
    assert steps == [1, 2, 3]
    forgery.edit_record(SECOND, lambda lines: lines[1].update(dealer=1 - lines[1]["dealer"]))
    forgery.chain()
    assert audit(forgery.folder, processes=2) == audit(forgery.folder)


def test_no_database_no_engine(honest: Path, tmp_path: Path) -> None:
    """The check needs neither the database nor an arena's folder, and opens no socket."""
    program = (
        "import sys, socket, sqlite3\n"
        "def no(*_, **__): raise AssertionError('used')\n"
        "socket.socket.connect = sqlite3.connect = no\n"
        "from arena.publishing.audit import audit\n"
        "from pathlib import Path\n"
        "found = audit(Path(sys.argv[1]))\n"
        "assert not {'sqlmodel', 'docker', 'grpc'} & sys.modules.keys(), sorted(sys.modules)\n"
        "print(found.ok)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(honest)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert run.stdout == "True\n", run.stderr


def test_folder_without_manifest_is_no_export(tmp_path: Path) -> None:
    """A folder that is none of ours is told in one line."""
    with pytest.raises(NotFoundError, match=r"no manifest\.json"):
        audit(tmp_path)


# --------------------------------------------------------------------------- manifest and chain


def test_changed_file_is_named(forgery: Forgery) -> None:
    """Without mending the manifest no byte can change."""
    forgery.replace("results.csv", "anna", "Anna")

    found = difference(audit(forgery.folder))

    assert (found.file, found.place) == ("results.csv", "SHA-256")


def test_longer_file_is_named(forgery: Forgery) -> None:
    """A file that grew is named with both sizes."""
    with forgery.path("games.pgn").open("a") as file:
        file.write("\n")

    found = difference(audit(forgery.folder))

    assert (found.file, found.place) == ("games.pgn", "size")
    assert int(found.found) == int(found.expected) + 1


def test_missing_file_is_named(forgery: Forgery) -> None:
    """A file that the manifest lists has to be there."""
    forgery.path(SECOND).unlink()

    assert difference(audit(forgery.folder)).file == SECOND


def test_extra_file_is_named(forgery: Forgery) -> None:
    """Nothing may be slipped in beside what is listed."""
    forgery.path("records/0000009.jsonl").write_text("{}\n")

    found = difference(audit(forgery.folder))

    assert (found.file, found.found) == ("records/0000009.jsonl", "a file")


@pytest.mark.parametrize("name", ["notes.txt", "records/0000009.jsonl"])
def test_extra_file_is_named_though_listed(forgery: Forgery, name: str) -> None:
    """A file that no match and no table accounts for is named even if the manifest lists it."""
    forgery.path(name).write_text("{}\n")

    check_named(forgery, name, "")


def test_link_is_named(forgery: Forgery) -> None:
    """A link could show every reader another file."""
    forgery.path("games.pgn").unlink()
    forgery.path("games.pgn").symlink_to("results.csv")

    assert difference(audit(forgery.folder)).file == "games.pgn"


def test_reordered_chain_is_named(forgery: Forgery) -> None:
    """The order of the manifest is fixed."""

    def swap(manifest: dict[str, Any]) -> None:
        files = manifest["files"]
        files[0], files[1] = files[1], files[0]

    forgery.edit(MANIFEST, swap)

    found = difference(audit(forgery.folder))

    assert (found.file, found.place) == (MANIFEST, "files")


@pytest.mark.parametrize("field", ["chain", "head"])
def test_broken_chain_is_named(forgery: Forgery, field: str) -> None:
    """A value of the chain that does not follow from those before it is named."""

    def change(manifest: dict[str, Any]) -> None:
        at = manifest if field == "head" else manifest["files"][4]
        at[field] = "ab" * 32

    forgery.edit(MANIFEST, change)

    found = difference(audit(forgery.folder))

    assert found.file == MANIFEST
    assert found.place.startswith("head" if field == "head" else "files[4].chain")


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/hostname", "records/../games.pgn"])
def test_paths_that_lead_outside_are_not_followed(forgery: Forgery, path: str) -> None:
    """The manifest of a stranger makes nobody read files outside of its folder."""
    (forgery.folder.parent / "outside.txt").write_text("secret")

    def add(manifest: dict[str, Any]) -> None:
        manifest["files"].append({**manifest["files"][0], "path": path})
        manifest["files"].sort(key=lambda each: each["path"])

    forgery.edit(MANIFEST, add)

    found = difference(audit(forgery.folder))

    assert (found.file, found.found) == (path, "nothing")


@pytest.mark.parametrize("text", ["", "{", '{"a": 1}', "[1]", "\xff", "[" * 100_000, "[NaN]"])
@pytest.mark.parametrize("name", [MANIFEST, "tournament.json", "results.json"])
def test_unreadable_document_is_named(forgery: Forgery, name: str, text: str) -> None:
    """What is no document is a difference and never an error of the program."""
    forgery.path(name).write_bytes(text.encode("latin-1"))
    if name != MANIFEST:
        forgery.chain()

    assert difference(audit(forgery.folder)).file == name


# ------------------------------------------------------- forgeries with a manifest that is mended


def test_other_form_of_the_same_values_is_named(forgery: Forgery) -> None:
    """There is one way to write a document: others could read differently elsewhere."""
    path = forgery.path("tournament.json")
    path.write_text(json.dumps(json.loads(path.read_text())))

    found = check_named(forgery, "tournament.json", "")

    assert "form" in found.expected


def test_name_given_twice_is_named(forgery: Forgery) -> None:
    """Of a name that is given twice readers may take either value."""
    forgery.replace("tournament.json", '"decks": 3', '"decks": 9,\n "decks": 3')

    check_named(forgery, "tournament.json", "")


def test_changed_seed_is_named(forgery: Forgery) -> None:
    """A seed that was not committed to is no seed."""
    forgery.edit("tournament.json", lambda value: value.update(seed=OTHER_SEED.hex()))

    check_named(forgery, "tournament.json", "commitment .*")


def test_changed_seed_with_its_commitment_is_named(forgery: Forgery) -> None:
    """Whoever changes the commitment too is betrayed by every record."""
    change = {"seed": OTHER_SEED.hex(), "commitment": commitment(OTHER_SEED)}
    forgery.edit("tournament.json", lambda value: value.update(change))
    hash_strings(forgery)

    check_named(forgery, FIRST, r"line 1\.seed_commitment")


def test_changed_entropy_is_named(forgery: Forgery) -> None:
    """The texts of the entrants are in every deck."""
    text = "loaded dice"
    forgery.edit("tournament.json", lambda value: value["entropy"][1].update(text=text))
    check_named(forgery, "tournament.json", r"entropy\[1\]\.digest")
    digest = hashlib.sha256(text.encode()).hexdigest()
    forgery.edit("tournament.json", lambda value: value["entropy"][1].update(digest=digest))
    check_named(forgery, "tournament.json", r"promises .*")
    hash_strings(forgery)
    check_named(forgery, FIRST, r"line 1\.seed_commitment")


def test_entropy_of_a_stranger_is_named(forgery: Forgery) -> None:
    """Only who is entered gives a text."""
    forgery.edit("tournament.json", lambda value: value["entropy"][1].update(entrant="zoe@1"))

    check_named(forgery, "tournament.json", r"entropy\[1\]\.entrant")


def test_changed_digest_is_named(forgery: Forgery) -> None:
    """The settings cannot say that another program played than the records do."""
    forgery.edit("tournament.json", lambda value: value["entrants"][2].update(digest="sha256:00"))

    check_named(forgery, FIRST, r"line 1, entrants\[1\]\.digest")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"decks": 4}, "decks"),
        ({"tables": 2}, "tables"),
        ({"variant": "bura-open"}, "variant"),
        ({"time_control": {}}, "time_control.*"),
    ],
)
def test_changed_settings_are_named(forgery: Forgery, change: dict[str, Any], place: str) -> None:
    """The records hold what was played."""

    def apply(value: dict[str, Any]) -> None:
        if "time_control" in change:
            value["time_control"]["move_time_ms"] += 1
        else:
            value.update(change)

    forgery.edit("tournament.json", apply)

    check_named(forgery, FIRST, rf"line 1\.{place}")


def test_changed_rules_are_named(forgery: Forgery) -> None:
    """The rules are those of the records."""
    forgery.edit("tournament.json", lambda value: value["rules"].update(target=41))

    check_named(forgery, FIRST, r"line 1\.rules\.target")


def test_rules_that_do_not_exist_are_named(forgery: Forgery) -> None:
    """Settings that nobody can play by are no settings."""
    forgery.edit("tournament.json", lambda value: value["rules"].update(target="many"))

    check_named(forgery, "tournament.json", "")


def test_dropped_match_is_named(forgery: Forgery) -> None:
    """A match that went badly cannot be left out, with all that tells of it."""

    def drop(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row for row in rows if row["match"] != 3]

    for name in ("results.json", "attempts.json", "faults.json", "usage.json", "resources.json"):
        forgery.edit(name, drop)
    forgery.edit("schedule.json", lambda value: value.update(pairings=drop(value["pairings"])))
    forgery.path("records/0000003.jsonl").unlink()

    found = check_named(forgery, "schedule.json", "pairings")

    assert (found.expected, found.found) == ("3 items", "2")


def test_match_that_is_said_to_be_open_is_named(forgery: Forgery) -> None:
    """Once the seed is revealed no match is still to be played."""
    forgery.edit("schedule.json", lambda value: value["pairings"][2].update(state="incomplete"))

    check_named(forgery, "schedule.json", r"pairings\[2\]\.state .*")


def test_match_cancelled_without_cause_is_named(forgery: Forgery) -> None:
    """Only what an entrant left, or the organiser ended, is cancelled."""
    forgery.edit("schedule.json", lambda value: value["pairings"][2].update(state="cancelled"))

    found = check_named(forgery, "schedule.json", r"pairings\[2\]\.state .*")

    assert "left" in found.expected


def test_result_without_a_match_is_named(forgery: Forgery) -> None:
    """Every result belongs to a match of the schedule."""
    forgery.edit("results.json", lambda rows: rows.append({**rows[-1], "match": 4}))

    check_named(forgery, "results.json", "number of results")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"seats": [2, 1], "entrants": ["clara@1", "boris@1"]}, r"seats\[0\]"),
        ({"round": 2}, "round"),
        ({"stage": "final"}, "stage"),
    ],
)
def test_fake_schedule_is_named(forgery: Forgery, change: dict[str, Any], field: str) -> None:
    """Who meets whom follows from the settings."""
    forgery.edit("schedule.json", lambda value: value["pairings"][0].update(change))

    check_named(forgery, "schedule.json", rf"pairings\[0\] \(match 1\)\.{field}")


def test_invented_bye_is_named(forgery: Forgery) -> None:
    """Who rests follows from the schedule too."""
    forgery.edit("schedule.json", lambda value: value["byes"].append({"round": 1, "entrant": 0}))

    check_named(forgery, "schedule.json", "byes")


def test_late_entry_without_matches_is_named(forgery: Forgery) -> None:
    """A change of the entrants has to show in the schedule."""

    def join(value: dict[str, Any]) -> None:
        value["entrants"].append({**value["entrants"][0], "name": "zoe"})
        value["changes"].append(
            {
                "kind": "join",
                "entrant": "zoe@1",
                "position": 3,
                "after": 0,
                "reason_kind": "late entry",
                "reason": "a friend",
                "created": "2026-01-01T00:00:00+00:00",
            }
        )

    forgery.edit("tournament.json", join)

    check_named(forgery, "schedule.json", ".*")


def test_swapped_records_are_named(forgery: Forgery) -> None:
    """A record is of one match and no other."""
    first, second = forgery.path(FIRST), forgery.path(SECOND)
    kept = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(kept)

    check_named(forgery, FIRST, "line 1, match")


def test_record_of_another_tournament_is_named(forgery: Forgery, other: Path) -> None:
    """A record that holds in itself, of the same bots and number, is not from this seed."""
    shutil.copyfile(other / FIRST, forgery.path(FIRST))
    forgery.adopt(FIRST)

    check_named(forgery, FIRST, r"line 1\.seed_commitment")


def test_record_with_this_commitment_and_other_decks_is_named(
    forgery: Forgery, other: Path
) -> None:
    """Writing the right commitment over it does not help: the decks are not the seed's."""
    right = json.loads(forgery.path(FIRST).read_text().splitlines()[0])["seed_commitment"]
    shutil.copyfile(other / FIRST, forgery.path(FIRST))
    forgery.edit_record(FIRST, lambda lines: lines[0].update(seed_commitment=right))

    check_named(forgery, FIRST, r"line 2, .*")


def test_edited_action_is_named(forgery: Forgery) -> None:
    """An action that the rules do not allow there, or that leads elsewhere, is found."""

    def change(lines: list[dict[str, Any]]) -> None:
        action = lines[1]["actions"][0]
        action[1] += 1

    forgery.edit_record(FIRST, change)

    check_named(forgery, FIRST, r"line 2, actions\[0\]")


def test_edited_score_in_a_record_is_named(forgery: Forgery) -> None:
    """A score has to follow from the outcome of the deal."""

    def change(lines: list[dict[str, Any]]) -> None:
        lines[1]["scores"] = ["5", "-5"]

    forgery.edit_record(FIRST, change)

    check_named(forgery, FIRST, "line 2, scores")


def test_edited_total_in_a_record_is_named(forgery: Forgery) -> None:
    """The totals are the sums of the deals."""
    forgery.edit_record(FIRST, lambda lines: lines[-1].update(totals=["5", "-5"]))

    check_named(forgery, FIRST, r"line \d+, totals")


@pytest.mark.parametrize("field", ["totals", "decks", "conditions", "digest", "record_sha256"])
def test_edited_result_is_named(forgery: Forgery, field: str) -> None:
    """What a result says is what its record comes to."""

    def change(rows: list[dict[str, Any]]) -> None:
        row = rows[1]
        value = row[field]
        if field == "totals":
            row[field] = value[::-1]
        elif field == "decks":
            value[0][0] = ["9", "-9"]
        else:
            row[field] = "shared cores" if field == "conditions" else "0" * 64

    forgery.edit("results.json", change)

    check_named(forgery, "results.json", rf"\[1\] \(match 2\)\.{field}.*")


def test_edited_attempts_are_named(forgery: Forgery) -> None:
    """The attempt that counts is the one that was recorded."""
    forgery.edit("attempts.json", lambda rows: rows[0].update(state="void", verdict="leak"))

    check_named(forgery, "attempts.json", "recorded attempts of match 1")


def test_attempt_at_no_match_is_named(forgery: Forgery) -> None:
    """Attempts are at matches of the schedule."""
    forgery.edit("attempts.json", lambda rows: rows.append({**rows[0], "match": 9}))

    check_named(forgery, "attempts.json", r"\[3\]\.match")


def test_dropped_fault_is_named(forgery: Forgery) -> None:
    """No fault that a record tells can be left out."""
    forgery.edit("faults.json", lambda rows: rows[1:])

    check_named(forgery, "faults.json", "faults of match 2")


@pytest.mark.parametrize(
    ("field", "value"), [("kind", "timeout"), ("entrant", "anna@1"), ("deals_lost", 1)]
)
def test_edited_fault_is_named(forgery: Forgery, field: str, value: object) -> None:
    """A fault is the one that the record tells, of the bot that committed it."""
    forgery.edit("faults.json", lambda rows: rows[1].update({field: value}))

    check_named(forgery, "faults.json", rf"\[1\] \(match 2\)\.{field}")


@pytest.mark.parametrize("field", ["p99_us", "decisions", "received_bytes", "entrant"])
def test_edited_usage_is_named(forgery: Forgery, field: str) -> None:
    """Times and traffic that the record holds too cannot be told differently."""

    def change(rows: list[dict[str, Any]]) -> None:
        rows[2][field] = "anna@1" if field == "entrant" else rows[2][field] + 1

    forgery.edit("usage.json", change)

    check_named(forgery, "usage.json", rf"\[2\] \(match 1\)\.{field}")


def test_usage_that_does_not_add_up_is_named(forgery: Forgery) -> None:
    """What a bot used in a match is the sum of what it used in the legs."""
    forgery.edit("resources.json", lambda rows: rows[0].update(cpu_seconds=0.1))

    check_named(forgery, "resources.json", r"\[0\] \(match 1\)\.cpu_seconds")


def test_edited_standings_are_named(forgery: Forgery) -> None:
    """The table follows from the results."""
    forgery.edit("standings.json", lambda value: value["bots"][1].update(wins=1))

    check_named(forgery, "standings.json", r"bots\[1\]\.wins")


def test_edited_order_of_the_format_is_named(forgery: Forgery) -> None:
    """The format's own order follows from the results too."""
    forgery.edit("standings.json", lambda value: value["format_order"].reverse())

    check_named(forgery, "standings.json", r"format_order\[0\]\..*")


def test_edited_rating_is_named_to_the_last_digit(forgery: Forgery) -> None:
    """Ratings are recomputed exactly."""

    def change(value: dict[str, Any]) -> None:
        row = value["trueskill"][0]
        row["mu"] = math.nextafter(row["mu"], math.inf)

    forgery.edit("ratings.json", change)

    check_named(forgery, "ratings.json", r"trueskill\[0\]\.mu")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("results.csv", ",1,", ",2,"),
        ("standings.csv", "anna@1", "boris@1"),
        ("ratings.csv", "anna@1", "boris@1"),
        ("schedule.csv", "done", "planned"),
        ("usage.csv", "clara@1", "anna@1"),
        ("resources.csv", "clara@1", "anna@1"),
        ("faults.csv", "crash", "timeout"),
        ("attempts.csv", "recorded", "void"),
        ("games.pgn", '[Result "0-1"]', '[Result "1-0"]'),
    ],
)
def test_edited_table_is_named_with_its_line(
    forgery: Forgery, name: str, old: str, new: str
) -> None:
    """CSV and game list say what the JSON says, or the line is named."""
    forgery.replace(name, old, new)

    check_named(forgery, name, r"line \d+")


def test_shortened_table_is_named(forgery: Forgery) -> None:
    """A table that ends early is not the table."""
    path = forgery.path("results.csv")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))

    check_named(forgery, "results.csv", r"line 7")


def test_measurements_of_another_kind_are_named(forgery: Forgery) -> None:
    """What no check of the game looks at has to be readable all the same."""

    def change(lines: list[dict[str, Any]]) -> None:
        leg = next(line for line in lines if line["type"] == "leg")
        leg["measured"]["sent_bytes"] = {"a": 1}

    forgery.edit_record(FIRST, change)

    check_named(forgery, FIRST, "what was measured")


@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("match", 1, "match"),
        ("seats", [0, 9], ""),
        ("seats", [0, 1, 2], "seats"),
        ("entrants", ["zoe@1", "anna@1"], r"entrants\[0\]"),
    ],
)
def test_impossible_pairing_is_named(
    forgery: Forgery, field: str, value: object, place: str
) -> None:
    """A schedule that no tournament can have is told, before anything is done with it."""
    forgery.edit("schedule.json", lambda whole: whole["pairings"][1].update({field: value}))

    check_named(forgery, "schedule.json", rf"pairings\[1\]\.{place}" if place else "")


def test_invented_pair_is_named(forgery: Forgery) -> None:
    """Where everybody plays alone nobody is in a pair."""
    forgery.edit("tournament.json", lambda value: value["entrants"][1].update(pair=0))

    check_named(forgery, "tournament.json", r"pairs of the entrants\[1\]")


# ------------------------------------------------------------------------- the thorough forger

INPUTS = {
    "tournament.json": SecondTournament,
    "schedule.json": PublishedSchedule,
    "results.json": tuple[PublishedResult, ...],
    "attempts.json": tuple[PublishedAttempt, ...],
    "faults.json": tuple[PublishedFault, ...],
    "usage.json": tuple[PublishedUsage, ...],
}
TRUSTED = {
    "tournament.json": {
        *("engine", "name", "created", "started", "sandbox", "seeding", "frozen"),
        *("seed_given", "entrants.kind", "entropy.is_later", "listed"),
        # One cycle of a round robin is the usual.
        "rounds",
        *(f"rating.parameters.{name}" for name in ("mu", "sigma", "beta", "tau")),
        "rating.parameters.draw_probability",
    },
    "results.json": {"milliseconds"},
    "attempts.json": {"verdict", "started", "ended"},
    "faults.json": {"limit_us", "elapsed_us", "bank_us", "sent", "received"},
    "usage.json": {
        *("sending_us", "sent_messages", "received_messages", "cpu_seconds", "peak_memory"),
        *("memory_limit", "memory_kills", "out_of_memory", "throttled_seconds"),
        *("throttled_periods", "start_seconds", "log_bytes", "log_truncated", "exit_code"),
        "signal",
    },
}
"""What nobody but the organiser can know, as docs/export.md and the report of the check say."""


def leaves(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Give the paths of all single values in a document."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    if not isinstance(value, dict | list):
        yield path
    for step, each in inner:
        yield from leaves(each, (*path, step))


def others(value: object) -> list[object]:
    """Return values to put in a value's place: of its kind, and of others."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value / 2, -1]
    if isinstance(value, str):
        return [f"{value}x", "1", "rating", "ab" * 32, "2026-01-01T00:00:00+00:00"]
    return [1, "x", True, 1.5]


def regenerate(forgery: Forgery, times: Mapping[int, tuple[RecordedTimes, ...]]) -> None:
    """Make all tables from the forged documents, as the platform itself would."""
    tournament, schedule, results, attempts, faults, usage = (
        TypeAdapter(kind).validate_json(forgery.path(name).read_bytes())
        for name, kind in INPUTS.items()
    )
    published = Published(
        tournament=tournament,
        schedule=schedule,
        results=results,
        attempts=attempts,
        faults=faults,
        usage=usage,
        times=times,
    )
    for name, data in documents(published).items():
        forgery.path(name).write_bytes(data)


def unnoticed(honest: Path, folder: Path, name: str) -> set[str]:
    """Forge each kind of value of a document, and all tables after it; return what passes."""
    forgery = Forgery(honest, folder)
    times = {
        row["match"]: read_recorded(honest / row["record"]).times
        for row in json.loads((honest / "results.json").read_text())
    }
    original = json.loads(forgery.path(name).read_text())
    by_kind = {
        ".".join(step for step in path if isinstance(step, str)): path for path in leaves(original)
    }
    passed: set[str] = set()
    for kind, path in by_kind.items():
        *steps, last = path
        for other in others(reduce(getitem, path, original)):
            shutil.copytree(honest, forgery.folder, dirs_exist_ok=True)
            forged = deepcopy(original)
            reduce(getitem, steps, forged)[last] = other
            forgery.path(name).write_bytes(json_bytes(forged))
            # What the platform cannot make tables from stays with the old ones.
            with suppress(ValueError, LookupError, ArithmeticError, ArenaError):
                regenerate(forgery, times)
            forgery.chain()
            if audit(forgery.folder).ok:
                passed.add(kind)
    return passed


@pytest.mark.long
@pytest.mark.parametrize("name", INPUTS)
def test_every_value_is_proved_or_said_to_be_trusted(
    honest: Path, tmp_path: Path, name: str
) -> None:
    """Whoever forges one value and all tables after it is caught, but for what the page lists."""
    assert unnoticed(honest, tmp_path / "forged", name) == TRUSTED.get(name, set())


@pytest.mark.long
@pytest.mark.parametrize("name", ["tournament.json", "schedule.json"])
def test_every_change_is_proved_but_its_reason(changing: Path, tmp_path: Path, name: str) -> None:
    """Who came and left when is proved by the schedule; why, and at what time of day, is not."""
    passed = unnoticed(changing, tmp_path / "forged", name)

    trusted = {f"changes.{field}" for field in ("reason", "created")}
    assert {each for each in passed if each.startswith("changes")} == (
        trusted if name == "tournament.json" else set()
    )
    assert name == "tournament.json" or not passed


@pytest.mark.long
def test_every_promise_is_proved_but_its_words(tmp_path: Path) -> None:
    """What became of a string is proved; why it was not waited for, and at what time, is not."""
    folder, _ = promised(tmp_path)

    passed = unnoticed(folder, tmp_path / "forged", "tournament.json")

    trusted = {"entropy.is_later", "entropy.reason", "entropy.forgone"}
    assert {each for each in passed if each.startswith("entropy")} <= trusted
    assert "promises" not in passed


# ----------------------------------------------------------------------------- the command line


def test_command_tells_what_holds(honest: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints what was proved and what nobody can tell."""
    assert main(["tournament", "verify", str(honest)]) == 0
    said = capsys.readouterr().out
    assert "holds: 3 records" in said
    assert "not proved: " in said


def test_seed_given_by_hand_is_no_commitment(
    honest: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the organiser chose the seed, the command claims no commitment."""
    assert json.loads((honest / "tournament.json").read_text())["seed_given"] is True
    assert main(["tournament", "verify", str(honest)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "given by hand, so nothing was committed to" in said
    assert "committed to: " not in said


def test_command_names_the_first_difference(
    forgery: Forgery, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command fails with file and place, on a line and as JSON."""
    forgery.edit("standings.json", lambda value: value["bots"][1].update(wins=1))
    forgery.chain()

    assert main(["tournament", "verify", str(forgery.folder)]) == 1
    assert "does not agree: standings.json, bots[1].wins" in capsys.readouterr().out
    assert main(["tournament", "verify", str(forgery.folder), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["ok"] is False
    assert said["difference"]["file"] == "standings.json"
    assert said["proved"]


@pytest.mark.parametrize("option", ["--head", "--commitment"])
def test_hash_that_is_none_is_refused(
    honest: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mistyped hash is a mistake of the caller, not a difference."""
    assert main(["tournament", "verify", str(honest), option, "abc"]) == 2
    assert "64 hex digits" in capsys.readouterr().err


# ------------------------------------------------------------------------ what keeps a machine busy


@pytest.mark.parametrize("text", ["1/0", "1e9999999", "9" * 5_000, " 1", "1_0", "1.5", "٣"])
@pytest.mark.parametrize("name", ["results.json", FIRST])
def test_score_of_another_form_is_named(forgery: Forgery, name: str, text: str) -> None:
    """A score is a whole number or a fraction: what else Fraction takes could go on for hours."""
    if name == FIRST:
        forgery.edit_record(FIRST, lambda lines: lines[1].update(scores=[text, text]))
    else:
        forgery.edit(name, lambda rows: rows[0].update(totals=[text, text]))

    found = check_named(forgery, name, r"\[0\]\.totals\[0\]|line 2, text")

    assert "fraction" in found.expected + found.found


def test_text_that_reads_like_an_endless_number_is_text(forgery: Forgery) -> None:
    """What goes into a table is not computed to see whether it is a number."""
    forgery.edit("faults.json", lambda rows: rows[0].update(detail="-1e9999999"))

    check_named(forgery, "faults.json", r".*detail")


# ------------------------------------------------------------------------------ what was cancelled


def cancel(forgery: Forgery, match: int) -> None:
    """Cancel a match that was played, and make everything else as if it never had been."""
    original = forgery.folder
    times = {
        row["match"]: read_recorded(original / row["record"]).times
        for row in json.loads((original / "results.json").read_text())
    }

    def drop(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row for row in rows if row["match"] != match]

    def mark(value: dict[str, Any]) -> None:
        next(row for row in value["pairings"] if row["match"] == match)["state"] = "cancelled"

    for name in ("results.json", "attempts.json", "faults.json", "usage.json"):
        forgery.edit(name, drop)
    forgery.edit("schedule.json", mark)
    forgery.path(f"records/{match:07}.jsonl").unlink()
    regenerate(forgery, times)


def test_stop_of_what_ends_by_itself_is_named(forgery: Forgery) -> None:
    """The arena stops nothing that has an end, so a stop excuses no missing match of it."""
    stopped = {"stopped": "2026-01-01T00:00:00+00:00"}
    forgery.edit("tournament.json", lambda value: value.update(stopped))

    check_named(forgery, "tournament.json", "stopped")
    cancel(forgery, 2)
    check_named(forgery, "tournament.json", "stopped")


def test_match_cancelled_though_its_entrant_played_on_is_named(
    forgery: Forgery,
) -> None:
    """Nobody plays past a match that was cancelled because it had left."""

    def leave(value: dict[str, Any]) -> None:
        position, after = 0, 3
        value["changes"].append(
            {
                "kind": "leave",
                "entrant": value["entrants"][position]["name"] + "@1",
                "position": position,
                "after": after,
                "reason_kind": "withdrawal",
                "reason": "tired",
                "created": "2026-01-01T00:00:00+00:00",
            }
        )

    pairings = json.loads(forgery.path("schedule.json").read_text())["pairings"]
    unwelcome, *later = [row["match"] for row in pairings if 0 in row["seats"]]
    forgery.edit("tournament.json", leave)
    cancel(forgery, unwelcome)

    found = check_named(forgery, "schedule.json", rf"pairings\[\d\]\.state \(match {unwelcome}\)")

    assert f"match {later[-1]} of anna@1 began later" in found.expected


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder that its organiser stopped."""
    folder = tmp_path_factory.mktemp("stopped")
    with make_store(folder, names="abcd") as store:
        make_tournament(store, bots=tuple("abcd"), format="ladder", decks=1)
        halt(store, after=4)
        roster.stop(store, "cup", "enough")
        return export(store, "cup", folder / "cup").folder


def test_match_dropped_from_a_stopped_ladder_is_named(stopped: Path, tmp_path: Path) -> None:
    """A stop cancels what was not begun, and matches begin in their order."""
    forgery = Forgery(stopped, tmp_path / "forged")
    assert audit(stopped).ok
    # Its last match could as well never have been scheduled; one before it could not.
    cancel(forgery, 2)

    check_named(forgery, "schedule.json", r"pairings\[1\]\.state .*")


def test_reason_of_a_stop_is_published(stopped: Path) -> None:
    """Whoever reads the report learns why the organiser ended it."""
    assert any("for this reason: enough" in line for line in audit(stopped).unproved)


def test_end_of_a_ladder_without_a_stop_is_named(stopped: Path, tmp_path: Path) -> None:
    """A ladder ends because somebody ended it, and the report shall say so."""
    forgery = Forgery(stopped, tmp_path / "forged")
    forgery.edit("tournament.json", lambda value: value.update(stopped=None))

    check_named(forgery, "tournament.json", "stopped")


class Meddler(Nobody):
    """Lets bots come and go while a tournament runs, as lots are drawn; then ends it, if it may."""

    def __init__(self, store: Store, lots: random.Random, spare: Iterable[str], most: int) -> None:
        """Keep whom to enter and how many matches to meddle with."""
        self.store = store
        self.lots = lots
        self.spare = list(spare)
        self.left = most
        self.changes = 0

    def started(self, match: MatchInfo) -> None:
        """Meddle while it is played."""
        del match
        self.meddle()

    def finished(self, match: MatchInfo) -> None:
        """Meddle before the next one begins."""
        del match
        self.meddle()
        self.left -= 1
        if not self.left:
            with suppress(RefusedError):
                roster.stop(self.store, "cup", "enough")

    def meddle(self) -> None:
        """Let one come, go or be replaced, or nobody; what the format refuses does not happen."""
        if self.left <= 0:
            return
        change = self.lots.choice((self.enter, self.leave, self.replace, int, int, int, int))
        with suppress(RefusedError):
            change()
            self.changes += change is not int

    def enter(self) -> None:
        """Let a bot in, and now and then another one at the same moment."""
        for name in self.spare[: self.lots.choice((1, 1, 2))]:
            roster.join(self.store, "cup", name, "came late")
            self.spare.remove(name)

    def leave(self) -> None:
        """Let a bot go."""
        roster.withdraw(self.store, "cup", self.present(), "gone")

    def replace(self) -> None:
        """Let a bot give its place to another version of it."""
        old = self.present()
        name = old.partition("@")[0]
        source = self.store.home.path.parent / name
        (source / "bot.py").write_text(f"print({self.lots.random()})\n")
        new = bots.submit(self.store, name, str(source), "process")
        roster.replace_version(self.store, "cup", old, new.label, "better")

    def present(self) -> str:
        """Draw one who is in."""
        return self.lots.choice(queries.tournament(self.store, "cup").present).name


def play_or_void(job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """Play a match, but let the first attempt at every fifth fail."""
    if job.spec.match % 5 == 2 and job.spec.attempt == 1:
        return Voided(reason="engine lost")
    return play(job, beat)


def meddled(folder: Path, lots: random.Random, concurrency: int, **options: Any) -> Exported:
    """Play a tournament whose entrants change all the time, and export it."""
    with make_store(folder, names="abcdefgh") as store:
        make_tournament(store, bots=tuple("abcde"), decks=1, **options)
        meddler = Meddler(store, lots, "fgh", most=12)
        tournament.run(
            store,
            "cup",
            progress=meddler,
            stop=StopFlag(),
            concurrency=concurrency,
            play=play_or_void,
        )
        assert meddler.changes
        return export(store, "cup", folder / "cup")


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize(
    ("format_", "draw"),
    [
        ("ladder", 0),
        ("round-robin", 0),
        pytest.param("ladder", 1, marks=pytest.mark.long),
        pytest.param("ladder", 2, marks=pytest.mark.long),
        pytest.param("swiss", 0, marks=pytest.mark.long),
        pytest.param("groups", 0, marks=pytest.mark.long),
        pytest.param("single-elimination", 0, marks=pytest.mark.long),
        pytest.param("double-elimination", 0, marks=pytest.mark.long),
    ],
)
def test_no_honest_run_is_called_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str, draw: int, concurrency: int
) -> None:
    """Whoever comes and goes while matches are played, again or at once, the folder holds."""
    monkeypatch.setattr("arena.driver._FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr("arena.tournament.plan_slots", lambda *, wanted, **_: [None] * wanted)
    lots = random.Random(f"{format_} {concurrency} {draw}")

    folder = meddled(tmp_path, lots, concurrency, format=format_).folder

    assert audit(folder).difference is None


@pytest.fixture(scope="module")
def overtaken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder in which matches of a newcomer went before others, and an older bot left."""
    folder = tmp_path_factory.mktemp("overtaken")
    with make_store(folder, names="abcd") as store:
        make_tournament(store, bots=tuple("abc"), format="ladder", decks=1)
        halt(store, after=1)
        roster.join(store, "cup", "d", "came late")
        halt(store, after=3)
        roster.withdraw(store, "cup", "c", "gone")
        halt(store, after=1)
        roster.stop(store, "cup", "over")
        return export(store, "cup", folder / "cup").folder


def test_match_that_a_newcomer_overtook_may_be_cancelled(overtaken: Path) -> None:
    """The first matches of a newcomer go before matches of its opponents with lower numbers."""
    pairings = json.loads((overtaken / "schedule.json").read_text())["pairings"]
    its = [row for row in pairings if 2 in row["seats"]]
    first = next(row["match"] for row in its if row["state"] == "cancelled")

    assert any(row["match"] > first and row["state"] == "done" for row in its)
    assert audit(overtaken).difference is None


def test_cancelled_placement_before_a_played_match_is_named(
    overtaken: Path, tmp_path: Path
) -> None:
    """A newcomer's first matches go before all others, so none is left out while others begin."""
    forgery = Forgery(overtaken, tmp_path / "forged")
    pairings = json.loads(forgery.path("schedule.json").read_text())["pairings"]
    first = next(row["match"] for row in pairings if row["stage"] == "placement")
    cancel(forgery, first)

    check_named(forgery, "schedule.json", rf"pairings\[\d+\]\.state \(match {first}\)")


def test_match_cancelled_in_a_ladder_though_nobody_left_is_named(
    stopped: Path, tmp_path: Path
) -> None:
    """As long as nobody stopped a ladder, its matches are cancelled only for who left."""
    forgery = Forgery(stopped, tmp_path / "forged")
    unstopped = {"stopped": None, "stop_reason": None, "seed": None, "state": "paused"}
    forgery.edit("tournament.json", lambda value: value.update(unstopped))
    regenerate(
        forgery,
        {
            row["match"]: read_recorded(stopped / row["record"]).times
            for row in json.loads((stopped / "results.json").read_text())
        },
    )

    check_named(forgery, "schedule.json", r"pairings\[\d+\]\.state .*")


def test_changes_and_cancelled_matches_are_listed(changing: Path) -> None:
    """Whoever reads the report sees who came and left, and what was not played for it."""
    unproved = "\n".join(audit(changing).unproved)
    pairings = json.loads((changing / "schedule.json").read_text())["pairings"]
    gone = [row["match"] for row in pairings if row["state"] == "cancelled"]

    assert "that a@1 left when 6 matches were scheduled" in unproved
    assert "does not work" in unproved
    assert "that e@1 came" in unproved
    said = next(line for line in audit(changing).unproved if "cancelled" in line)
    assert spans(gone) in said


def test_numbers_are_joined_in_words() -> None:
    """Many numbers that follow each other make a short text."""
    assert spans([2]) == "match 2"
    assert spans([2, 5, 6, 7, 9]) == "matches 2, 5 to 7, 9"


# --------------------------------------------------------------------- what nothing else depends on


def test_reordered_texts_are_named(forgery: Forgery) -> None:
    """Texts stand in the order of their entrants, one of each."""
    forgery.edit("tournament.json", lambda value: value["entropy"].reverse())

    check_named(forgery, "tournament.json", r"entropy\[1\]\.entrant")


def test_two_texts_of_one_entrant_are_named(forgery: Forgery) -> None:
    """Nobody gives two texts."""
    forgery.edit("tournament.json", lambda value: value["entropy"][1].update(entrant="anna@1"))

    check_named(forgery, "tournament.json", r"entropy\[1\]\.entrant")


@pytest.mark.parametrize("attempts", [[1, 1], [2, 1], [1, 3], [0, 1]])
def test_attempts_out_of_order_are_named(forgery: Forgery, attempts: list[int]) -> None:
    """The attempts at a match are numbered from 1 without a gap."""

    def change(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        one = {**rows[0], "state": "void", "verdict": "leak", "attempt": attempts[0]}
        return [one, {**rows[0], "attempt": attempts[1]}, *rows[1:]]

    forgery.edit("attempts.json", change)
    forgery.edit("results.json", lambda rows: rows[0].update(attempt=attempts[1]))

    check_named(forgery, "attempts.json", r"\[[01]\]\.attempt.*")


def test_attempts_of_matches_out_of_order_are_named(forgery: Forgery) -> None:
    """Attempts stand in the order of the schedule."""
    forgery.edit("attempts.json", lambda rows: rows.reverse())

    check_named(forgery, "attempts.json", r"\[1\]\.match")


@pytest.mark.parametrize("time", ["junk", "2026-01-01", "2026-01-01T00:00:00+02:00", ""])
def test_time_that_is_none_is_named(forgery: Forgery, time: str) -> None:
    """There is one way to write a time."""
    forgery.edit("attempts.json", lambda rows: rows[0].update(started=time))

    check_named(forgery, "attempts.json", r"\[0\]\.started")


@pytest.mark.parametrize("name", ["notes", "records/notes"])
def test_empty_folder_is_named(forgery: Forgery, name: str) -> None:
    """Nothing else lies in the folder, be it empty."""
    forgery.path(name).mkdir()

    assert difference(audit(forgery.folder)).file == name


@pytest.mark.parametrize("given", [True, False])
def test_chance_and_settings_are_never_proved(forgery: Forgery, *, given: bool) -> None:
    """Whatever the folder says, drawing often is choosing, and settings were promised nowhere."""
    forgery.edit("tournament.json", lambda value: value.update(seed_given=given))
    forgery.chain()

    unproved = "\n".join(audit(forgery.folder).unproved)

    assert "that the seed came by chance" in unproved
    assert "rating system" in unproved
    assert "that each text is of the entrant" in unproved


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\xff"])
def test_differences_are_told_in_words(forgery: Forgery, text: str) -> None:
    """Nobody has to know the names of Python's errors."""
    for name in ("results.json", FIRST):
        before = forgery.path(name).read_bytes()
        forgery.path(name).write_bytes(text.encode("latin-1"))
        forgery.chain()
        found = difference(audit(forgery.folder))
        assert not re.search(r"Error|b'", f"{found}"), found
        forgery.path(name).write_bytes(before)


def test_report_fits_a_terminal(changing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report stands on lines of 80 columns."""
    assert main(["tournament", "verify", str(changing)]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
