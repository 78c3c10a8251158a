"""What a folder tells of promised strings is believed only where it agrees with itself."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from exports import Forgery, hash_strings, make_store, make_tournament, promised, run

from arena import queries
from arena.cli import main
from arena.entropy import digest_of
from arena.publishing.audit import audit
from arena.publishing.export import export

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.publishing.audit import Audit, Difference

ROOT = Path(__file__).parents[1]
FIRST = "records/0000001.jsonl"
ORDER = ["anna@1", "boris@1", "clara@1", "emil@1", "dora@1"]
"""Of the strings: anna's and emil's are told, boris' is forgone, clara's open, dora's late."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A tournament with strings of every sort, and the hash that its authors noted."""
    return promised(tmp_path_factory.mktemp("promised"))


@pytest.fixture
def forgery(made: tuple[Path, str], tmp_path: Path) -> Forgery:
    """A copy to be forged."""
    return Forgery(made[0], tmp_path / "forged")


def edit(forgery: Forgery, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the settings and nothing else but the manifest."""

    def apply(value: dict[str, Any]) -> None:
        change(value)

    forgery.edit("tournament.json", apply)
    forgery.chain()


def difference(found: Audit) -> Difference:
    """Return the difference that must have been found."""
    assert found.difference is not None
    return found.difference


def check_named(forgery: Forgery, place: str, file: str = "tournament.json") -> Difference:
    """See that the difference is found at this place."""
    found = difference(audit(forgery.folder))
    assert found.file == file, found
    assert re.fullmatch(place, found.place), found
    return found


# ---------------------------------------------------------------------------------------- honesty


def test_honest_folder_says_how_far_the_decks_are_protected(made: tuple[Path, str]) -> None:
    """By whose strings, how many were held back, and what only their authors know."""
    folder, noted = made
    found = audit(folder, promises=noted)
    assert found.difference is None
    assert f"the list of 4 strings of entrants is the one with the hash {noted}" in found.proved
    assert "texts of 3 entrants" in "\n".join(found.proved)
    assert "nobody could choose the decks" in found.protection
    assert "anna@1, emil@1" in found.protection
    assert "1 promise was not kept: who held back could choose between 2^1 seeds" in (
        found.protection
    )
    unproved = "\n".join(found.unproved)
    assert "that emil@1 left for this reason, before the start and after" in unproved
    assert "that boris@1 held its promised text back: does not answer" in unproved
    assert "promised or known when the folder says so" in unproved
    assert "that the secret came by chance: nothing depends on it" in unproved
    assert "give its hash" not in unproved
    assert "give its hash" in "\n".join(audit(folder).unproved)


def test_every_string_is_published_with_its_end(made: tuple[Path, str]) -> None:
    """Told where it is in the seed, with the reason where it was forgone, bare where it is late."""
    rows = json.loads((made[0] / "tournament.json").read_text())["entropy"]
    assert [row["entrant"] for row in rows] == ORDER
    assert [row["state"] for row in rows] == [
        *("revealed", "forgone", "open", "revealed", "too late")
    ]
    texts = [None if row["text"] is None else row["text"].rpartition(" ")[2] for row in rows]
    assert texts == ["anna", None, "clara", "emil", None]
    assert rows[1]["digest"] == digest_of("dice of boris")
    assert rows[1]["reason"] == "does not answer"
    assert rows[4]["digest"] is None


@pytest.mark.node
def test_javascript_makes_list_and_seed(made: tuple[Path, str]) -> None:
    """A check in another language comes to the same hash, the same seed and the same decks."""
    command = ["node", str(ROOT / "tests/js/export.mjs"), str(made[0])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["decks"] > 0


@pytest.mark.parametrize("with_strings", [True, False])
def test_folder_without_promises_is_said_to_protect_less(
    tmp_path: Path, *, with_strings: bool
) -> None:
    """Strings given in the open before the commitment, or none: the organiser could choose."""
    names = ("anna", "boris")
    with make_store(tmp_path, names, with_entropy=names if with_strings else ()) as store:
        make_tournament(store, bots=names, decks=1)
        run(store)
        folder = export(store, "cup", tmp_path / "cup").folder
    said = audit(folder).protection
    assert ("every string was known" if with_strings else "no string of an entrant") in said
    assert "who drew the secret may have chosen" in said


def test_unfinished_folder_tells_promises(tmp_path: Path) -> None:
    """Before the start the promises are there, and nobody's string."""
    with make_store(tmp_path, ("anna", "boris"), with_promise=("anna", "boris")) as store:
        make_tournament(store, bots=("anna", "boris"), decks=1)
        noted = queries.tournament(store, "cup").promises
        folder = export(store, "cup", tmp_path / "cup", unfinished=True).folder
    found = audit(folder, promises=noted)
    assert found.ok
    value = json.loads((folder / "tournament.json").read_text())
    assert value["listed"] is None
    assert [row["state"] for row in value["entropy"]] == ["promised", "promised"]
    assert "dice" not in (folder / "tournament.json").read_text()


# ---------------------------------------------------------------------------------------- forgers


def test_another_list_than_was_noted_is_named(made: tuple[Path, str]) -> None:
    """Who noted another hash was shown other promises."""
    found = difference(audit(made[0], promises="0" * 64))
    assert found.place == "promises, as they were noted"


@pytest.mark.parametrize("number", [0, 1, 2])
def test_changed_digest_is_named(forgery: Forgery, number: int) -> None:
    """Of a string that is told by the string, of one that is not by the hash of the list."""
    other = digest_of("loaded")
    edit(forgery, lambda value: value["entropy"][number].update(digest=other))
    check_named(forgery, rf"entropy\[{number}\]\.digest" if number != 1 else "promises .*")


def test_changed_string_is_named(forgery: Forgery) -> None:
    """It is not the one that was promised; with digest and hash mended, it is in no deck."""
    edit(forgery, lambda value: value["entropy"][0].update(text="loaded"))
    check_named(forgery, r"entropy\[0\]\.digest")
    edit(forgery, lambda value: value["entropy"][0].update(digest=digest_of("loaded")))
    check_named(forgery, "promises .*")
    hash_strings(forgery)
    forgery.chain()
    check_named(forgery, r"line 1\.seed_commitment", FIRST)


def test_reordered_strings_are_named(forgery: Forgery) -> None:
    """There is one order."""
    edit(forgery, lambda value: value["entropy"].reverse())
    check_named(forgery, r"entropy\[1\]\.entrant")


def test_dropped_promise_is_named(made: tuple[Path, str], forgery: Forgery) -> None:
    """By the hash; and whoever mends that is found out by those who noted it."""
    edit(forgery, lambda value: value["entropy"].pop(1))
    check_named(forgery, "promises .*")
    hash_strings(forgery)
    forgery.chain()
    assert audit(forgery.folder).ok
    found = difference(audit(forgery.folder, promises=made[1]))
    assert found.place == "promises, as they were noted"


def test_late_string_that_is_added_to_the_seed_is_named(
    made: tuple[Path, str], forgery: Forgery
) -> None:
    """By the hash, by the records, and by whoever noted the list."""
    text = "dice of dora"
    row = {"state": "open", "text": text, "digest": digest_of(text), "is_later": True}

    def add(value: dict[str, Any]) -> None:
        value["entropy"][4].update(row)
        value["entropy"].sort(key=lambda each: each["entrant"])

    edit(forgery, add)
    check_named(forgery, "promises .*")
    hash_strings(forgery)
    forgery.chain()
    check_named(forgery, r"line 1\.seed_commitment", FIRST)
    assert not audit(forgery.folder, promises=made[1]).ok


def test_promise_that_becomes_a_string_in_the_open_is_named(forgery: Forgery) -> None:
    """How it was given decides how it is mixed in."""
    edit(forgery, lambda value: value["entropy"][0].update(state="open", is_later=True))
    check_named(forgery, "promises .*")
    hash_strings(forgery)
    forgery.chain()
    check_named(forgery, r"line 1\.seed_commitment", FIRST)


def test_known_string_that_becomes_a_promise_is_named_by_the_list(
    made: tuple[Path, str], forgery: Forgery
) -> None:
    """The flag of one that protects nobody is in the hash that was noted."""
    edit(forgery, lambda value: value["entropy"][0].update(state="known", is_later=False))
    check_named(forgery, "promises .*")
    hash_strings(forgery)
    forgery.chain()
    found = difference(audit(forgery.folder, promises=made[1]))
    assert found.place == "promises, as they were noted"


@pytest.mark.parametrize(
    ("number", "change", "place"),
    [
        (0, {"text": None}, r"entropy\[0\]\.text"),
        (1, {"text": "dice of boris"}, r"entropy\[1\]\.text"),
        (0, {"state": "promised", "text": None}, r"entropy\[0\]\.state"),
        (0, {"is_later": True}, r"entropy\[0\]\.is_later"),
        (2, {"is_later": None}, r"entropy\[2\]\.is_later"),
        (1, {"reason": ""}, r"entropy\[1\]\.forgone"),
        (1, {"forgone": None}, r"entropy\[1\]\.forgone"),
        (0, {"reason": "x"}, r"entropy\[0\]\.forgone"),
        (4, {"digest": "0" * 64}, r"entropy\[4\]\.digest"),
        (0, {"digest": None}, r"entropy\[0\]\.digest"),
        (0, {"entrant": "abel@1"}, r"entropy\[0\]\.entrant"),
        (4, {"entrant": "zoe@1"}, r"entropy\[4\]\.entrant"),
        (1, {"entrant": "anna@1"}, r"entropy\[1\]\.entrant"),
        (3, {"entrant": "clara@1"}, r"entropy\[3\]\.entrant"),
        (0, {"state": "lost"}, r"entropy\[0\]\.state"),
    ],
)
def test_string_that_cannot_be_so_is_named(
    forgery: Forgery, number: int, change: dict[str, Any], place: str
) -> None:
    """Every state has what belongs to it, and every string an entrant."""
    edit(forgery, lambda value: value["entropy"][number].update(change))
    check_named(forgery, place)


def test_list_that_was_never_fixed_is_named(forgery: Forgery) -> None:
    """A tournament that has begun has fixed its list."""
    edit(forgery, lambda value: value.update(listed=None))
    check_named(forgery, "listed")


# ------------------------------------------------------------------------------- folders of old


@pytest.fixture
def old(tmp_path: Path) -> Forgery:
    """A copy of a folder in the first form, as the release before promises wrote it."""
    return Forgery(ROOT / "tests" / "folders" / "format_1", tmp_path / "old")


def test_folder_of_the_first_form_can_still_be_checked(old: Forgery) -> None:
    """Its strings were all given in the open, and it has no list."""
    found = audit(old.folder)
    assert found.difference is None
    assert found.matches == 3
    assert "texts of 2 entrants" in "\n".join(found.proved)
    assert "hash" not in "\n".join(found.proved)
    assert "every string was known before the commitment" in found.protection


def test_folder_of_the_first_form_has_no_promises(old: Forgery) -> None:
    """Who noted some is told that it has none."""
    assert difference(audit(old.folder, promises="0" * 64)).place == "promises, as they were noted"


def test_text_of_the_first_form_is_in_every_deck(old: Forgery) -> None:
    """It is checked as it ever was."""
    old.edit("tournament.json", lambda value: value["entropy"][1].update(text="loaded"))
    old.chain()
    check_named(old, "format")
    old.edit("manifest.json", lambda value: value.update(format=1))
    check_named(old, r"line 1\.seed_commitment", FIRST)


def test_folder_of_the_second_form_can_still_be_checked() -> None:
    """Its game list has a game for each match."""
    found = audit(ROOT / "tests" / "folders" / "format_2")
    assert found.difference is None
    assert found.matches == 3


def test_form_of_the_tournament_is_that_of_the_manifest(forgery: Forgery) -> None:
    """No folder is of two forms."""
    forgery.edit("manifest.json", lambda value: value.update(format=2))
    check_named(forgery, "format, as the manifest says")


@pytest.mark.parametrize("form", [0, 4])
def test_form_that_nobody_knows_is_named(forgery: Forgery, form: int) -> None:
    """A newer folder needs a newer program."""
    forgery.edit("manifest.json", lambda value: value.update(format=form))
    found = check_named(forgery, "format", "manifest.json")
    assert found.expected == "1 or 2 or 3"


# ------------------------------------------------------------------------------- the command line


def test_command_takes_the_noted_hash(
    made: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """In words and as JSON; another one fails the check."""
    folder, noted = made
    assert main(["tournament", "verify", str(folder), "--promises", noted]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "protected: nobody could choose the decks" in said
    assert main(["tournament", "verify", str(folder), "--promises", noted, "--json"]) == 0
    assert "anna@1" in json.loads(capsys.readouterr().out)["protection"]
    assert main(["tournament", "verify", str(folder), "--promises", "0" * 64]) == 1
    assert "promises, as they were noted" in capsys.readouterr().out
    assert main(["tournament", "verify", str(folder), "--promises", "abc"]) == 2
