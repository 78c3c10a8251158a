import pytest
from playthroughs import (
    GAMES,
    GOLDEN,
    SHOWN_GAMES,
    counts,
    golden_counts,
    golden_file,
    playthrough,
)


def test_every_variant_has_a_playthrough_and_nothing_else_has() -> None:
    """No variant is forgotten and no file is left over."""
    assert set(GOLDEN.glob("*.txt")) == {golden_file(*game) for game in SHOWN_GAMES}


@pytest.mark.parametrize(("name", "seats"), SHOWN_GAMES)
def test_deals_go_as_they_were_written_down(name: str, seats: int) -> None:
    """States, views, events, legal actions and outcomes are those of the golden file."""
    written = golden_file(name, seats).read_text(encoding="utf-8")
    assert playthrough(name, seats).splitlines() == written.splitlines()


def test_every_game_has_its_counts() -> None:
    """No variant and no number of seats is forgotten."""
    assert list(golden_counts()) == [f"{name}-{seats}" for name, seats in GAMES]


@pytest.mark.parametrize(("name", "seats"), GAMES)
def test_as_many_sequences_of_actions_are_legal_as_were_counted(name: str, seats: int) -> None:
    """The numbers of legal sequences from a fixed deal are those that were written down."""
    assert counts(name, seats) == golden_counts()[f"{name}-{seats}"]
