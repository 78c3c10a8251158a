"""Texts in which seats, sides and scores are stored."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
import stores

from arena import ledger, queries
from arena.errors import DamagedError
from arena.home import Home
from arena.store import Store
from arena.stored_texts import (
    decks_text,
    numbers_text,
    read_decks,
    read_numbers,
    read_totals,
    totals_text,
)
from arena.tables import Result

if TYPE_CHECKING:
    from pathlib import Path

SCORES = (Fraction(-3, 2), Fraction(7), Fraction())


def test_what_is_written_is_read() -> None:
    """Numbers and scores come back as they were, and so does an empty row of numbers."""
    assert read_numbers(numbers_text((0, 12, 3))) == (0, 12, 3)
    assert read_numbers(numbers_text(())) == ()
    assert read_totals(totals_text(SCORES)) == SCORES
    decks = ((SCORES, SCORES[::-1]), (SCORES,))
    assert read_decks(decks_text(decks)) == decks


@pytest.mark.parametrize("text", ["0 x", "-1 0", "0  1", " 0", "1_0", "+1", "\u0661", "1" * 10])
def test_no_other_form_of_a_number_is_read(text: str) -> None:
    """A place in the schedule counts from 0, so that no damaged one means another entrant."""
    with pytest.raises(ValueError, match="expected whole numbers such as '0 1'"):
        read_numbers(text)


@pytest.mark.parametrize("score", ['"0.5"', '"1e9999999"', "0.5", "null"])
def test_no_other_form_of_a_score_is_read(score: str) -> None:
    """A decimal of a few characters can be a number of millions of digits."""
    with pytest.raises(ValueError, match="expected a fraction as text"):
        read_totals(f'["1", {score}]')
    with pytest.raises(ValueError, match="expected a fraction as text"):
        read_decks(f'[[["1", {score}]]]')


def test_formats_read_scores_as_everybody_does(tmp_path: Path) -> None:
    """A total that the list of matches refuses decides no pairing either."""
    with Store.open(Home(tmp_path / "home")) as store:
        cup = stores.add_tournament(store)
        ledger.finish(store, stores.lease(store, cup), stores.result(), ())
        with store.write() as session:
            session.get_one(Result, 1).totals = '["0.5", "-0.5"]'

        with pytest.raises(DamagedError, match="row 1 of the table result"):
            queries.matches(store, "cup")
        with pytest.raises(DamagedError, match="row 1 of the table result"):
            queries.format_results(store, cup)
