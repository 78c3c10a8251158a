"""What a bot printed, made harmless."""

from __future__ import annotations

import unicodedata

__all__ = ["TRUNCATED_MARK", "clean_log"]

TRUNCATED_MARK = "[earlier output was dropped]\n"

_KEPT = frozenset("\n\t")
_HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


def clean_log(data: bytes, cap: int, *, truncated: bool = False) -> tuple[str, bool]:
    r"""Return the end of what was printed as text, and whether something is missing before it.

    Invalid UTF-8 is replaced; terminal escapes and other control or invisible format characters
    become their `\xNN` spelling, so that neither a terminal nor a page acts on them. The text
    takes `cap` bytes at most, not counting the mark that says what is missing.
    """
    text, cut = _tail(data, cap)
    text = text.replace("\r\n", "\n")
    text = text.translate({ord(one): _spell(one) for one in set(text) if _is_hidden(one)})
    text, cut_again = _tail(text.encode(), cap)
    missing = truncated or cut or cut_again
    return (TRUNCATED_MARK + text if missing else text), missing


def _tail(data: bytes, cap: int) -> tuple[str, bool]:
    cut = len(data) > cap
    text = data[max(0, len(data) - cap) :].decode("utf-8", "replace")
    while len(text.encode()) > cap:
        # A replaced byte takes three.
        text = text[(len(text.encode()) - cap + 3) // 4 :]
        cut = True
    return text, cut


def _is_hidden(char: str) -> bool:
    return char not in _KEPT and unicodedata.category(char) in _HIDDEN


def _spell(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
