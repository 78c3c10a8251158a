"""A tournament that was made by mistake is taken back; one that others rely on is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from commands import arena, read
from cups import options, run, store_of, submit
from sqlmodel import SQLModel, select

from arena import ledger, promises, queries, roster, tournament
from arena.deletion import delete_tournament
from arena.errors import NotFoundError, RefusedError
from arena.recovery import alone
from arena.tables import Change, Entrant, Match, Tournament

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from arena.store import Store

NAMES = ("anna", "boris", "clara")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with three bots."""
    with store_of(tmp_path, NAMES) as store:
        yield store


def stored(store: Store, table: type[SQLModel]) -> int:
    """Return how many rows a table has."""
    with store.read() as session:
        return len(session.exec(select(table)).all())


def test_what_never_began_leaves_nothing(store: Store) -> None:
    """Its rows are gone, another stays whole, and the name can be given again and played."""
    tournament.create(store, options(*NAMES, name="other"))
    kept = {table: stored(store, table) for table in (Tournament, Entrant, Match, Change)}
    made = tournament.create(store, options(*NAMES))
    roster.withdraw(store, "cup", "clara", "ill")

    assert delete_tournament(store, "CUP", "a mistake").commitment == made.commitment

    assert {table: stored(store, table) for table in kept} == kept
    with pytest.raises(NotFoundError):
        queries.tournament(store, "cup")
    tournament.create(store, options(*NAMES))
    assert run(store).exit_code == 0


def test_what_began_or_ended_stays(store: Store) -> None:
    """Once it was started, or its seed is public, nothing is taken back."""
    tournament.create(store, options(*NAMES))
    ledger.mark_started(store, 1)
    with pytest.raises(RefusedError, match="has begun"):
        delete_tournament(store, "cup", "a mistake")
    tournament.create(store, options(*NAMES, name="ladder", format="ladder"))
    roster.stop(store, "ladder", "no more")
    with pytest.raises(RefusedError, match="its seed is public"):
        delete_tournament(store, "ladder", "a mistake")
    assert stored(store, Tournament) == 2


def test_who_has_seen_a_string_cannot_start_again(store: Store, tmp_path: Path) -> None:
    """Once the list is fixed the decks can be known, and a deletion would choose others."""
    submit(store, tmp_path, "anna", promised="a string")
    tournament.create(store, options(*NAMES))
    promises.reveal(store, "anna", "a string")
    with pytest.raises(RefusedError, match="could choose the seed"):
        delete_tournament(store, "cup", "a mistake")
    assert queries.tournament(store, "cup").total == 3


def test_nothing_is_deleted_without_a_reason_or_beside_a_run(store: Store) -> None:
    """A run that is just beginning cannot lose its tournament."""
    tournament.create(store, options(*NAMES))
    with pytest.raises(RefusedError, match="needs a reason"):
        delete_tournament(store, "cup", " ")
    with alone(store.home), pytest.raises(RefusedError):
        delete_tournament(store, "cup", "a mistake")
    assert stored(store, Tournament) == 1


def test_a_run_that_began_a_moment_too_late_finds_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who starts what is just being deleted is told in one line."""
    tournament.create(store, options(*NAMES))
    slots = tournament.plan_slots

    def late(**how: int) -> object:
        delete_tournament(store, "cup", "a mistake")
        return slots(**how)

    monkeypatch.setattr(tournament, "plan_slots", late)
    with pytest.raises(NotFoundError, match="there is no tournament"):
        run(store)


def test_the_command_says_what_is_gone(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Name, commitment and reason are printed, since they are recorded nowhere."""
    home = ("--home", str(tmp_path / "home"))
    words = ("tournament", "delete", "cup", "--reason", "misspelt", *home)
    made = tournament.create(store, options(*NAMES))
    out, err = arena(capsys, *words)
    assert made.commitment in out
    assert "misspelt" in out
    assert "nothing is kept of cup" in err
    tournament.create(store, options(*NAMES))
    assert read(capsys, *words)["deleted"] == "cup"
    assert "there is no tournament" in arena(capsys, *words, code=2)[1]
