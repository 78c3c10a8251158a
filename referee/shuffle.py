"""Every random choice of the referee, as a function of a seed: reproducible in any language.

The bytes are fixed by docs/shuffle.md. Changing any of them makes old records unverifiable.
"""

import hashlib
import hmac
import re
import secrets
import struct
from collections.abc import Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")

SEED_BYTES = 32
_LABEL = "bura-arena/1"
_MIX_LABEL = b"bura-arena/1/mix"
_PROMISED_LABEL = b"bura-arena/1/promised/"
_WORDS = struct.Struct(">8I")
_WORD_VALUES = 1 << 32
_PURPOSE = re.compile("[a-z]+")
_DECK, _REDEAL, _ORDER = "deck", "redeal", "order"


class ShuffleError(ValueError):
    """A seed, purpose, number or range that no stream can be made of."""


def new_seed() -> bytes:
    """Draw a seed of 32 bytes from the operating system's entropy."""
    return secrets.token_bytes(SEED_BYTES)


def commitment(seed: bytes) -> str:
    """Return the SHA-256 of the seed in hexadecimal, to be published before the first deal.

    Raises:
        ShuffleError: The seed is not 32 bytes long.
    """
    return hashlib.sha256(_checked_seed(seed)).hexdigest()


def mixed_seed(secret: bytes, entropies: Iterable[bytes], promised: Iterable[bytes] = ()) -> bytes:
    """Mix the entrants' entropy into the organiser's committed secret; the order is immaterial.

    Neither side alone can then choose the decks: the secret was fixed before the entropy came,
    and the entropy was given without knowing the secret.

    Args:
        secret: 32 bytes.
        entropies: What was given in the open.
        promised: What was promised by its SHA-256 and told later.

    Raises:
        ShuffleError: The secret is not 32 bytes long.
    """
    # The SHA-256 of what was promised is public before it is told: mixing that in would let
    # whoever knows the secret know the seed, too.
    texts = [*entropies, *(_PROMISED_LABEL + entropy for entropy in promised)]
    digests = sorted(hashlib.sha256(text).digest() for text in texts)
    return hmac.digest(_checked_seed(secret), _MIX_LABEL + b"".join(digests), "sha256")


class Stream:
    """An endless sequence of 32-bit words, keyed by seed, purpose, match and deal."""

    __slots__ = ("_block", "_prefix", "_seed", "_words")

    def __init__(self, seed: bytes, purpose: str, match: int, deal: int) -> None:
        """Start at the first word.

        Args:
            seed: 32 bytes.
            purpose: Lower-case letters; streams of different purposes are independent.
            match: Number of the match, 0 or more.
            deal: Number of the deal (or of the leg) in the match, 0 or more.

        Raises:
            ShuffleError: One of these is out of its range.
        """
        if not _PURPOSE.fullmatch(purpose):
            raise ShuffleError(f"purpose {purpose!r} is not a word of lower-case letters a to z")
        if match < 0 or deal < 0:
            raise ShuffleError(f"match {match}, deal {deal}: numbers of streams start at 0")
        self._seed = _checked_seed(seed)
        self._prefix = f"{_LABEL}/{purpose}/{match}/{deal}/"
        self._block = 0
        self._words: list[int] = []

    def word(self) -> int:
        """Return the next word, 0 to 2**32 - 1."""
        if not self._words:
            message = f"{self._prefix}{self._block}".encode("ascii")
            self._words.extend(_WORDS.unpack(hmac.digest(self._seed, message, "sha256"))[::-1])
            self._block += 1
        return self._words.pop()

    def below(self, n: int) -> int:
        """Return an integer from 0 to n - 1, each equally likely.

        Raises:
            ShuffleError: n is less than 1 or more than 2**32.
        """
        if not 1 <= n <= _WORD_VALUES:
            raise ShuffleError(f"cannot draw one of {n} values: expected 1 to 2**32")
        # The remainder of a word is biased unless the incomplete last run of n words is refused.
        limit = _WORD_VALUES - _WORD_VALUES % n
        word = self.word()
        while word >= limit:
            word = self.word()
        return word % n

    def shuffled(self, items: Sequence[Item]) -> tuple[Item, ...]:
        """Return the items in a random order (Fisher-Yates), every order equally likely."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            chosen = self.below(last + 1)
            order[last], order[chosen] = order[chosen], order[last]
        return tuple(order)


class SeededSource:
    """All randomness of one deal: its decks and the lots drawn in it."""

    __slots__ = ("_cards", "_deal", "_decks", "_match", "_seed", "_streams")

    def __init__(self, seed: bytes, match: int, deal: int, cards: Sequence[int]) -> None:
        """Bind the source to a deal.

        Args:
            seed: 32 bytes.
            match: Number of the match, 0 or more.
            deal: Number of the deck in the match, 0 or more; the same in every leg.
            cards: The whole deck in ascending order: its order is part of what is shuffled.

        Raises:
            ShuffleError: A number is out of its range, or the seed is not 32 bytes long.
        """
        self._seed, self._match, self._deal = seed, match, deal
        self._cards = tuple(cards)
        self._decks = [Stream(seed, _DECK, match, deal).shuffled(self._cards)]
        self._streams: dict[str, Stream] = {}

    def deck(self, attempt: int) -> tuple[int, ...]:
        """Return the whole deck in dealing order.

        Args:
            attempt: 0 for the first deck, k for the one of the k-th redeal.

        Raises:
            ShuffleError: The attempt is negative.
        """
        if attempt < 0:
            raise ShuffleError(f"redeal {attempt}: redeals count from 0")
        while len(self._decks) <= attempt:
            self._decks.append(self._stream(_REDEAL).shuffled(self._cards))
        return self._decks[attempt]

    def index(self, purpose: str, n: int) -> int:
        """Return the next integer from 0 to n - 1 of the deal's stream for this purpose.

        Raises:
            ShuffleError: The purpose is one of the decks' own, or n is out of range.
        """
        if purpose in {_DECK, _REDEAL}:
            raise ShuffleError(f"purpose {purpose!r} is kept for decks: take another word")
        return self._stream(purpose).below(n)

    def _stream(self, purpose: str) -> Stream:
        stream = self._streams.get(purpose)
        if stream is None:
            stream = Stream(self._seed, purpose, self._match, self._deal)
            self._streams[purpose] = stream
        return stream


def order(seed: bytes, *, match: int, leg: int, n: int, purpose: str = _ORDER) -> tuple[int, ...]:
    """Return 0 to n - 1 in the order in which a leg plays its decks.

    Raises:
        ShuffleError: A number is out of its range, or the seed is not 32 bytes long.
    """
    return Stream(seed, purpose, match, leg).shuffled(range(n))


def _checked_seed(seed: bytes) -> bytes:
    if len(seed) != SEED_BYTES:
        raise ShuffleError(f"seed of {len(seed)} bytes: expected {SEED_BYTES}; take new_seed()")
    return seed
