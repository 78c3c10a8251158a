"""Scores as text: whole numbers and fractions such as "-3/2", and nothing else.

`Fraction` itself takes more forms, of which "1e9999999" keeps a machine busy for hours.
"""

from __future__ import annotations

import re
from fractions import Fraction

# A score is a sum of a million deals at the most, over a denominator that counts seats.
_SCORE = re.compile(r"-?[0-9]{1,30}(?:/[1-9][0-9]{0,29})?", re.ASCII)


def read_score(text: object) -> Fraction:
    """Read a score.

    Raises:
        ValueError: It is no whole number and no fraction, or a longer one than any score is.
    """
    if not isinstance(text, str) or _SCORE.fullmatch(text) is None:
        raise ValueError("expected a fraction as text, such as '-3/2'")
    return Fraction(text)
