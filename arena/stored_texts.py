"""The texts in which seats, sides and scores are stored: written and read here and nowhere else."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from referee.score_text import read_score

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

_NUMBERS = re.compile(r"(?:[0-9]{1,9}(?: [0-9]{1,9})*)?", re.ASCII)


def numbers_text(numbers: Sequence[int]) -> str:
    """Return places in the schedule by seats, or sides, as they are stored."""
    return " ".join(map(str, numbers))


def read_numbers(text: str) -> tuple[int, ...]:
    """Read places in the schedule by seats, or sides; none from an empty text.

    Raises:
        ValueError: The text is none that `numbers_text` gives.
    """
    if _NUMBERS.fullmatch(text) is None:
        raise ValueError(f"{text[:40]!r}, expected whole numbers such as '0 1'")
    return tuple(map(int, text.split()))


def totals_text(totals: Sequence[Fraction]) -> str:
    """Return the totals of a match as they are stored."""
    return json.dumps([str(total) for total in totals])


def read_totals(text: str) -> tuple[Fraction, ...]:
    """Read the totals of a match.

    Raises:
        ValueError: The text is no JSON, or one of them is no score.
        TypeError: It is no list.
    """
    return _scores(json.loads(text))


def decks_text(decks: Sequence[Sequence[Sequence[Fraction]]]) -> str:
    """Return the scores of a match, [deck][leg][entrant], as they are stored."""
    return json.dumps([[[str(score) for score in leg] for leg in deck] for deck in decks])


def read_decks(text: str) -> tuple[tuple[tuple[Fraction, ...], ...], ...]:
    """Read the scores of a match, [deck][leg][entrant].

    Raises:
        ValueError: The text is no JSON, or one of them is no score.
        TypeError: It is no list of lists of lists.
    """
    return tuple(tuple(map(_scores, deck)) for deck in json.loads(text))


def _scores(texts: Sequence[str]) -> tuple[Fraction, ...]:
    return tuple(map(read_score, texts))
