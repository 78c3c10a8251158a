import hashlib
import hmac
import json
import os
import re
import secrets
import shutil
import subprocess
import time
import timeit
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from arena.entropy import promises_hash
from referee.programme import deck_source
from referee.shuffle import (
    SeededSource,
    ShuffleError,
    Stream,
    commitment,
    mixed_seed,
    new_seed,
    order,
)
from referee.variants import VARIANTS

ROOT = Path(__file__).parents[1]
SEED = bytes(range(32))
DECKS = {36: tuple(range(36)), 32: tuple(card for card in range(36) if card % 9)}


def vectors() -> dict[str, list[dict[str, Any]]]:
    """Return the test vectors of the document, by kind."""
    text = (ROOT / "docs/shuffle.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 1
    return dict(json.loads(blocks[0]))


def parse_deck(text: str) -> tuple[int, ...]:
    """Return the cards of a deck's text, without leaning on the referee's own parser."""
    return tuple(9 * "CDHS".index(c[1]) + "6789JQKTA".index(c[0]) for c in text.split())


def chi_square(counts: Counter[tuple[int, int]], cells: int) -> float:
    """Return Pearson's statistic against equally likely cells."""
    expected = counts.total() / cells
    missing = cells - len(counts)
    return sum((n - expected) ** 2 / expected for n in counts.values()) + missing * expected


def node() -> str:
    """Return the path of Node.js; without it skip, or fail where it is required."""
    program = shutil.which("node")
    if program is None:
        if os.environ.get("BURA_REQUIRE_NODE") == "1":
            pytest.fail("Node.js is required here and not on PATH")
        pytest.skip("no Node.js on PATH")
    return program


def test_vectors_are_present() -> None:
    """The document shows vectors of every kind, refusals among them."""
    shown = vectors()

    assert {kind: len(rows) > 1 for kind, rows in shown.items()} == dict.fromkeys(
        ("commitments", "words", "integers", "decks", "orders", "mixed", "promises"), True
    )
    stream = Stream(SEED, "lot", 0, 1)
    assert any(stream.word() >= shown["integers"][1]["below"][0] for _ in range(8))


@pytest.mark.parametrize("row", vectors()["commitments"])
def test_vector_commitment(row: dict[str, Any]) -> None:
    """The commitment is the SHA-256 shown in the document."""
    assert commitment(bytes.fromhex(row["seed"])) == row["sha256"]


@pytest.mark.parametrize("row", vectors()["words"])
def test_vector_words(row: dict[str, Any]) -> None:
    """A stream's words are those of the document, across the border of a block."""
    stream = Stream(bytes.fromhex(row["seed"]), row["purpose"], row["match"], row["deal"])

    assert [stream.word() for _ in row["words"]] == row["words"]


@pytest.mark.parametrize("row", vectors()["integers"])
def test_vector_integers(row: dict[str, Any]) -> None:
    """A stream's integers are those of the document, refused words included."""
    stream = Stream(bytes.fromhex(row["seed"]), row["purpose"], row["match"], row["deal"])

    assert [stream.below(n) for n in row["below"]] == row["drawn"]


@pytest.mark.parametrize("row", vectors()["decks"])
def test_vector_decks(row: dict[str, Any]) -> None:
    """A deck, first or dealt again, is the one of the document."""
    source = SeededSource(
        bytes.fromhex(row["seed"]), row["match"], row["deal"], DECKS[row["cards"]]
    )

    assert source.deck(row["attempt"]) == parse_deck(row["deck"])


@pytest.mark.parametrize("row", vectors()["orders"])
def test_vector_orders(row: dict[str, Any]) -> None:
    """The order of a leg's decks is the one of the document."""
    seed = bytes.fromhex(row["seed"])

    assert list(order(seed, match=row["match"], leg=row["leg"], n=row["n"])) == row["order"]


@pytest.mark.parametrize("row", vectors()["mixed"])
def test_vector_mixed_seeds(row: dict[str, Any]) -> None:
    """Mixing entropy into a secret gives the seed of the document."""
    entropies, promised = (
        [text.encode() for text in row.get(name, [])] for name in ("entropy", "promised")
    )

    assert mixed_seed(bytes.fromhex(row["secret"]), entropies, promised).hex() == row["seed"]


@pytest.mark.parametrize("row", vectors()["promises"])
def test_vector_promises(row: dict[str, Any]) -> None:
    """Commitment and strings have the hash of the document, in whatever order they are."""
    lines = [(kind, digest, entrant) for entrant, kind, digest in row["strings"]]

    assert promises_hash(row["commitment"], lines) == row["sha256"]
    assert promises_hash(row["commitment"], lines[::-1]) == row["sha256"]


def test_seed_cannot_be_known_from_promises() -> None:
    """Whoever knows the secret and the SHA-256 of a string does not know what is mixed in."""
    promise = hashlib.sha256(b"alpha").digest()

    assert mixed_seed(SEED, [], [b"alpha"]) != mixed_seed(SEED, [b"alpha"])
    known = hmac.digest(SEED, b"bura-arena/1/mix" + promise, "sha256")
    assert mixed_seed(SEED, [b"alpha"]) == known
    assert mixed_seed(SEED, [], [b"alpha"]) != known


def javascript(request: dict[str, list[dict[str, Any]]]) -> dict[str, list[Any]]:
    """Ask the implementation in JavaScript."""
    run = subprocess.run(
        [node(), str(ROOT / "tests/js/shuffle.mjs")],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return dict(json.loads(run.stdout))


def first_decks(name: str, number: int) -> list[dict[str, Any]]:
    """Return requests for so many decks of a variant, every fourth of them not dealt again."""
    return [
        {
            "seed": commitment(hashlib.sha256(f"{name} {n % 7}".encode()).digest()),
            "match": n // 100,
            "deal": n,
            "cards": VARIANTS[name].deck,
            "attempt": n % 4,
        }
        for n in range(number)
    ]


@pytest.mark.node
@pytest.mark.parametrize("name", VARIANTS)
def test_javascript_makes_the_same_decks(name: str) -> None:
    """An implementation in another language makes the same 1,000 decks of every variant."""
    requests = first_decks(name, 1_000)

    decks = javascript({"decks": requests})["decks"]

    made = [
        deck_source(VARIANTS[name], bytes.fromhex(row["seed"]), row["match"], row["deal"]).deck(
            row["attempt"]
        )
        for row in requests
    ]
    assert list(map(tuple, decks)) == made


@pytest.mark.node
@pytest.mark.parametrize("purpose", ["dealer", "bury", "lot", "cut"])
def test_javascript_draws_the_same_lots(purpose: str) -> None:
    """An implementation in another language draws the same 1,000 lots of each purpose."""
    below = [2, 3, 4, 6, 24, 36, 3 << 30, 1, 1 << 32, (1 << 31) + 1] * 5
    rows = [
        {"seed": SEED.hex(), "purpose": purpose, "match": n // 5, "deal": n, "below": below}
        for n in range(20)
    ]

    drawn = javascript({"integers": rows})["integers"]

    streams = [Stream(SEED, purpose, n // 5, n) for n in range(20)]
    assert drawn == [[stream.below(n) for n in below] for stream in streams]


@pytest.mark.node
def test_javascript_gives_the_vectors() -> None:
    """An implementation written from the document alone gives every vector in it."""
    shown = vectors()

    given = javascript(shown)

    assert given == {
        "commitments": [row["sha256"] for row in shown["commitments"]],
        "words": [row["words"] for row in shown["words"]],
        "integers": [row["drawn"] for row in shown["integers"]],
        "decks": [list(parse_deck(row["deck"])) for row in shown["decks"]],
        "orders": [row["order"] for row in shown["orders"]],
        "mixed": [row["seed"] for row in shown["mixed"]],
        "promises": [row["sha256"] for row in shown["promises"]],
    }


def test_deck_positions_are_uniform() -> None:
    """Every card is equally likely at every position: chi-square within five deviations."""
    counts: Counter[tuple[int, int]] = Counter()
    for deal in range(1_800):
        counts.update(enumerate(SeededSource(SEED, 0, deal, DECKS[36]).deck(0)))

    freedom = 35 * 35
    assert abs(chi_square(counts, 36 * 36) - freedom) < 5 * (2 * freedom) ** 0.5


def test_deck_neighbours_are_uniform() -> None:
    """Every ordered pair of cards is equally likely to be neighbours, within five deviations."""
    counts: Counter[tuple[int, int]] = Counter()
    for deal in range(1_800):
        counts.update(pairwise(SeededSource(SEED, 1, deal, DECKS[36]).deck(0)))

    freedom = 36 * 35 - 1
    assert abs(chi_square(counts, 36 * 35) - freedom) < 5 * (2 * freedom) ** 0.5


def test_integers_are_unbiased_where_a_plain_remainder_is_not() -> None:
    """Below 3 * 2**30 a plain remainder would fall into the lowest third half of the time."""
    stream = Stream(SEED, "lot", 0, 0)
    low = sum(stream.below(3 << 30) < 1 << 30 for _ in range(3_000))

    assert 900 < low < 1_100


@pytest.mark.parametrize("size", [36, 32])
def test_deck_is_a_permutation(size: int) -> None:
    """A deck holds each of its cards once."""
    deck = SeededSource(SEED, 5, 6, DECKS[size]).deck(0)

    assert tuple(sorted(deck)) == DECKS[size]
    assert deck != DECKS[size]


def test_redeals_do_not_depend_on_the_order_of_asking() -> None:
    """The deck of the third redeal is the same whether or not the earlier ones were asked for."""
    in_turn = SeededSource(SEED, 0, 0, DECKS[36])
    decks = [in_turn.deck(attempt) for attempt in range(4)]
    at_once = SeededSource(SEED, 0, 0, DECKS[36])

    assert at_once.deck(3) == decks[3]
    assert [at_once.deck(attempt) for attempt in range(4)] == decks
    assert len(set(decks)) == 4


def test_purposes_are_independent() -> None:
    """Drawing lots of one purpose moves neither another purpose's lots nor the decks."""
    plain = SeededSource(SEED, 0, 0, DECKS[36])
    drawn = SeededSource(SEED, 0, 0, DECKS[36])
    for _ in range(20):
        drawn.index("lot", 6)

    assert drawn.deck(1) == plain.deck(1)
    assert [drawn.index("bury", 1000) for _ in range(9)] == [
        plain.index("bury", 1000) for _ in range(9)
    ]


def test_each_lot_draws_on() -> None:
    """Successive lots of one purpose come from one stream."""
    source = SeededSource(SEED, 2, 3, DECKS[36])
    stream = Stream(SEED, "cut", 2, 3)

    assert [source.index("cut", 36) for _ in range(20)] == [stream.below(36) for _ in range(20)]


def test_numbers_of_match_and_deal_do_not_run_together() -> None:
    """Match 1, deal 11 and match 11, deal 1 have decks of their own."""
    assert SeededSource(SEED, 1, 11, DECKS[36]).deck(0) != SeededSource(
        SEED, 11, 1, DECKS[36]
    ).deck(0)


def test_order_differs_between_legs() -> None:
    """Each leg plays every deck once, in an order of its own."""
    first, second = (order(SEED, match=4, leg=leg, n=100) for leg in (0, 1))

    assert sorted(first) == sorted(second) == list(range(100))
    assert first != second


def test_new_seeds_differ() -> None:
    """Two seeds are 32 bytes each and not the same."""
    first, second = new_seed(), new_seed()

    assert len(first) == len(second) == 32
    assert first != second


def test_new_seed_is_what_the_system_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of a seed comes from the system's randomness for secrets, and nothing else."""
    monkeypatch.setattr(secrets, "token_bytes", lambda length: bytes(range(7, 7 + length)))

    assert new_seed() == bytes(range(7, 39))


@pytest.mark.parametrize("seed", [b"", b"short", bytes(33)])
def test_seed_of_wrong_length_is_refused(seed: bytes) -> None:
    """A seed must be 32 bytes: HMAC would pad or hash others into seeds that look different."""
    for attempt in (
        lambda: commitment(seed),
        lambda: mixed_seed(seed, []),
        lambda: SeededSource(seed, 0, 0, DECKS[36]),
    ):
        with pytest.raises(ShuffleError, match=f"seed of {len(seed)} bytes: expected 32"):
            attempt()


@pytest.mark.parametrize("purpose", ["", "Deck", "a/b", "lot\n", "é"])
def test_purpose_must_be_a_plain_word(purpose: str) -> None:
    """A purpose that could imitate another stream's name is refused."""
    with pytest.raises(ShuffleError, match="lower-case"):
        Stream(SEED, purpose, 0, 0)


@pytest.mark.parametrize("purpose", ["deck", "redeal"])
def test_lots_cannot_be_drawn_from_the_decks(purpose: str) -> None:
    """The streams of decks give no lots: a lot would tell cards."""
    with pytest.raises(ShuffleError, match="kept for decks"):
        SeededSource(SEED, 0, 0, DECKS[36]).index(purpose, 2)


def test_numbers_below_zero_are_refused() -> None:
    """Matches, deals and redeals count from 0."""
    with pytest.raises(ShuffleError, match="start at 0"):
        Stream(SEED, "lot", -1, 0)
    with pytest.raises(ShuffleError, match="start at 0"):
        Stream(SEED, "lot", 0, -1)
    with pytest.raises(ShuffleError, match="count from 0"):
        SeededSource(SEED, 0, 0, DECKS[36]).deck(-1)


@pytest.mark.parametrize("n", [0, -1, (1 << 32) + 1])
def test_ranges_of_integers_are_checked(n: int) -> None:
    """An integer below 0, or below more than a word can hold, is refused."""
    with pytest.raises(ShuffleError, match="cannot draw one of"):
        Stream(SEED, "lot", 0, 0).below(n)


def test_decks_are_cheap() -> None:
    """A deck takes far less than a millisecond, so decks are made afresh instead of kept."""
    timer = timeit.Timer(
        lambda: SeededSource(SEED, 0, 0, DECKS[36]).deck(0), timer=time.process_time
    )

    assert min(timer.repeat(repeat=10, number=20)) / 20 < 1e-3
