"""What is stored and makes no sense is told in one line that names the table and the row."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from arena.errors import DamagedError
from referee.record import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

NONSENSE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What reading a text or a number raises that is not what it should be."""


@contextmanager
def row_of(table: str, key: object, whose: str) -> Iterator[None]:
    """Read a row of a table, or say which one cannot be read.

    Args:
        table: Its name.
        key: Primary key of the row.
        whose: What the row is of: a tournament, or the ID of a match.

    Raises:
        DamagedError: What it holds makes no sense.
    """
    try:
        yield
    except NONSENSE as error:
        raise DamagedError(whose, table, key, in_words(error)) from error
