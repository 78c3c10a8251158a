"""What becomes of a bot's output."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.sandbox.logs import TRUNCATED_MARK, clean_log


def test_plain_text_is_kept() -> None:
    """Text in any script, tabs and line ends come through."""
    assert clean_log("Gänse\t♠\n東京 🐎\r\n".encode(), 100) == ("Gänse\t♠\n東京 🐎\n", False)


def test_control_characters_are_spelled() -> None:
    """What would move a cursor or turn the writing direction is made visible."""
    text, _ = clean_log("\x1b]0;x\x07 \r\x00 \u202e \u2028 \x9b31m".encode(), 1000)
    assert text == "\\x1b]0;x\\x07 \\r\\x00 \\u202e \\u2028 \\x9b31m"


def test_the_end_is_what_is_kept() -> None:
    """Of too much, the newest is kept and the loss is marked."""
    text, missing = clean_log(b"old " * 100 + b"new", 7)
    assert missing
    assert text == TRUNCATED_MARK + "old new"


def test_loss_before_us_is_marked() -> None:
    """What the engine dropped is marked like what we drop."""
    assert clean_log(b"x", 10, truncated=True) == (TRUNCATED_MARK + "x", True)


@given(data=st.binary(max_size=400), cap=st.integers(1, 200))
def test_any_bytes_become_bounded_harmless_text(data: bytes, cap: int) -> None:
    """Whatever is printed, the result is valid, printable and within its cap."""
    text, missing = clean_log(data, cap)
    body = text.removeprefix(TRUNCATED_MARK) if missing else text
    assert len(body.encode()) <= cap
    assert all(char.isprintable() or char in "\n\t" or char.isspace() for char in body)
    assert "\x1b" not in body
    assert missing or len(data) <= cap
