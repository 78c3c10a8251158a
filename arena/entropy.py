"""Strings of entrants in a seed: what can become of them, their hash, what they are worth.

The bytes are fixed by docs/shuffle.md.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from referee.shuffle import mixed_seed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_LIST_LABEL = "bura-arena/1/promises"


class StringKind(StrEnum):
    """How a string was given when the list was fixed."""

    OPEN = "open"
    PROMISED = "promised"
    KNOWN = "known"


class StringState(StrEnum):
    """What became of an entrant's string in a tournament.

    Attributes:
        OPEN: Given in the open; in the seed.
        PROMISED: Promised by its SHA-256 and not told yet.
        REVEALED: Promised, and told after the list was fixed; in the seed.
        KNOWN: Promised, but told before its entrant was listed: as good as open; in the seed.
        FORGONE: Promised and listed, and not waited for.
        LATE: Of an entrant that came after the list was fixed.
    """

    OPEN = "open"
    PROMISED = "promised"
    REVEALED = "revealed"
    KNOWN = "known"
    FORGONE = "forgone"
    LATE = "too late"

    @property
    def kind(self) -> StringKind | None:
        """How the list says it was given; None of one that is not on the list."""
        return _KINDS.get(self)

    @property
    def is_in_seed(self) -> bool:
        """Whether it is mixed in."""
        return self in {StringState.OPEN, StringState.REVEALED, StringState.KNOWN}


_KINDS = {
    StringState.OPEN: StringKind.OPEN,
    StringState.PROMISED: StringKind.PROMISED,
    StringState.REVEALED: StringKind.PROMISED,
    StringState.KNOWN: StringKind.KNOWN,
    StringState.FORGONE: StringKind.PROMISED,
}


class SeedString(Protocol):
    """An entrant's string as this module looks at it; `is_later` as in `Contribution`."""

    @property
    def entrant(self) -> str:
        """Name and version."""

    @property
    def state(self) -> StringState:
        """What became of it."""

    @property
    def digest(self) -> str | None:
        """SHA-256 in hexadecimal; None where it is not told."""

    @property
    def text(self) -> str | None:
        """The string, None unless it is in the seed."""

    @property
    def is_later(self) -> bool | None:
        """Whether it was told after the commitment; None unless given in the open."""


def digest_of(text: str) -> str:
    """Return the SHA-256 of a string in UTF-8, in hexadecimal: its promise."""
    return hashlib.sha256(text.encode()).hexdigest()


def seed_with(secret: bytes, opened: Collection[str], promised: Collection[str]) -> bytes:
    """Return the seed of a secret and of strings; the secret itself without any.

    Args:
        secret: 32 bytes.
        opened: Given in the open.
        promised: Promised, and told since.
    """
    if not opened and not promised:
        return secret
    return mixed_seed(
        secret, [text.encode() for text in opened], [text.encode() for text in promised]
    )


def seed_of_strings(secret: bytes, strings: Iterable[SeedString]) -> bytes:
    """Return the seed of a secret and of what became of the entrants' strings."""
    told = [
        (each.state, each.text)
        for each in strings
        if each.text is not None and each.state.is_in_seed
    ]
    return seed_with(
        secret,
        [text for state, text in told if state is StringState.OPEN],
        [text for state, text in told if state is not StringState.OPEN],
    )


def promises_hash(commitment: str, lines: Iterable[tuple[str, str, str]]) -> str:
    """Return the SHA-256 that stands for a commitment and a list of strings, in hexadecimal.

    Args:
        commitment: SHA-256 of the secret, in hexadecimal.
        lines: Kind, SHA-256 and entrant of every string on the list, in any order.
    """
    listed = sorted(f"{entrant} {kind} {digest}\n".encode() for kind, digest, entrant in lines)
    head = f"{_LIST_LABEL} {commitment}\n".encode()
    return hashlib.sha256(head + b"".join(listed)).hexdigest()


def hash_of_strings(commitment: str, strings: Iterable[SeedString]) -> str:
    """Return the SHA-256 that stands for a commitment and what is listed of some strings."""
    return promises_hash(
        commitment,
        [
            (each.state.kind, each.digest or "", each.entrant)
            for each in strings
            if each.state.kind is not None
        ],
    )


class Protection(StrEnum):
    """What the strings protect the decks from.

    Attributes:
        PROMISED: Nobody can have chosen them, but by holding strings back.
        OPEN: Whoever knew the secret and gave the last string can have chosen them.
        NONE: Whoever drew the secret can have chosen them.
    """

    PROMISED = "promised"
    OPEN = "open"
    NONE = "none"


def protection(strings: Collection[SeedString]) -> Protection:
    """Return what some strings are worth to who believes that one of their authors is honest."""
    if any(each.state in {StringState.PROMISED, StringState.REVEALED} for each in strings):
        return Protection.PROMISED
    return Protection.OPEN if any(each.is_later for each in strings) else Protection.NONE


def protection_words(strings: Collection[SeedString]) -> str:
    """Say in a sentence how far the decks are protected from being chosen."""
    level = protection(strings)
    if level is Protection.PROMISED:
        kept = {StringState.PROMISED, StringState.REVEALED}
        names = ", ".join(each.entrant for each in strings if each.state in kept)
        return (
            "nobody could choose the decks without having known every one of these promised "
            f"strings before: {names}{_held_back(strings)}"
        )
    if level is Protection.OPEN:
        return (
            "strings were given in the open alone: who knew the secret and gave the last one "
            "could choose the decks by it"
        )
    if any(each.state.is_in_seed for each in strings):
        return (
            "every string was known before the commitment: who drew the secret may have chosen "
            "the decks by it"
        )
    return (
        "no string of an entrant is in the seed: who drew the secret may have chosen the decks by "
        "it"
    )


def _held_back(strings: Iterable[SeedString]) -> str:
    held = sum(each.state is StringState.FORGONE for each in strings)
    if not held:
        return ""
    what = "1 promise was" if held == 1 else f"{held} promises were"
    return f"; {what} not kept: who held back could choose between 2^{held} seeds or more"
