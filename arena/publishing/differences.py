"""The first difference between what is there and what follows from the rest, and its place."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from arena.errors import ArenaError
from referee.record import in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SHOWN = 200
"""Characters of a value that a difference shows."""

# What values that do not fit together may raise in what computes with them.
UNFIT = (
    ArenaError,
    ValueError,
    LookupError,
    ArithmeticError,
    TypeError,
    AttributeError,
    RecursionError,
)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing that does not agree.

    Attributes:
        file: Where, below the folder.
        place: Where in the file; may be empty.
        expected: What follows from the rest.
        found: What is there.
    """

    file: str
    place: str
    expected: str
    found: str

    def __str__(self) -> str:
        where = f"{self.file}, {self.place}" if self.place else self.file
        return f"{where}: expected {self.expected}, found {self.found}"


class DifferenceError(Exception):
    """Ends the check at the first difference."""

    def __init__(self, difference: Difference) -> None:
        """Keep the difference."""
        super().__init__(str(difference))
        self.difference = difference


@contextmanager
def fitting(file: str) -> Iterator[None]:
    """Turn the refusal of values that do not fit together into a difference.

    Raises:
        DifferenceError: Something in the block refused its values.
    """
    try:
        yield
    except UNFIT as error:
        differ(file, "", "values that fit together", reason_of(error))


def reason_of(error: Exception) -> str:
    """Return in words why values were refused: the error's own, unless they are Python's."""
    return str(error) if isinstance(error, ArenaError | ValueError) else in_words(error)


def compare(file: str, place: str, expected: object, found: object) -> None:
    """Find the first difference between two values of JSON; 1, 1.0 and True differ.

    Raises:
        DifferenceError: They differ.
    """
    if type(expected) is not type(found):
        differ(file, place, shown(expected), shown(found))
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in [*expected, *(name for name in found if name not in expected)]:
            inner = f"{place}.{name}" if place else name
            if name not in expected or name not in found:
                there = (expected.get(name, "nothing"), found.get(name, "nothing"))
                differ(file, inner, *map(shown, there))
            compare(file, inner, expected[name], found[name])
    elif isinstance(expected, list) and isinstance(found, list):
        for number, (one, other) in enumerate(zip(expected, found, strict=False)):
            compare(file, f"{place}[{number}]{_match_of(one)}", one, other)
        if len(expected) != len(found):
            differ(file, place, f"{len(expected)} items", str(len(found)))
    elif expected != found:
        differ(file, place, shown(expected), shown(found))


def as_json(value: object) -> Any:
    """Return a value as it comes back from JSON, lists for tuples."""
    return json.loads(json.dumps(value))


def _match_of(row: object) -> str:
    return f" (match {row['match']})" if isinstance(row, dict) and "match" in row else ""


def place_of(steps: Iterable[int | str]) -> str:
    """Return the place of a value as it is written: results[3].totals."""
    words = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return "".join(words).strip(".")


def shown(value: object) -> str:
    """Return a value as a difference shows it, cut to a bearable length."""
    text = value if isinstance(value, str) else json.dumps(value, default=repr)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def differ(file: str, place: str, expected: str, found: str) -> NoReturn:
    """Name a difference.

    Raises:
        DifferenceError: Always.
    """
    raise DifferenceError(Difference(file, place, shown(expected), shown(found)))
