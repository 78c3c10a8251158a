"""Bytes and texts from outside, at random: each is taken or refused in the words meant for it.

`make fuzz` gives every target its share of FUZZ_SECONDS; without that each runs for a moment. What
once broke something is kept as an example beside its target.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import socket
import tempfile
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import fields
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from bots.raw import Stream, connect
from hostile import http2
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from legs import spec
from timeline import Bot, Timeline, answers, good

from arena.errors import ArenaError
from arena.rulebook import change
from arena.sandbox.logs import TRUNCATED_MARK, clean_log
from burabot import bot_pb2
from referee.actions import ActionError
from referee.cards import CardError, Cards, card_text, parse_card
from referee.match import play_leg, play_match
from referee.players import Choices, Fault, FaultKind
from referee.record import RecordError, read_record, write_record
from referee.remote import Reception, _choices, _wrong_hello
from referee.results import TimeControl
from referee.rules import Action, Rules, RulesError
from referee.variants import VARIANTS
from referee.verification import verify_record
from referee.wire import MESSAGE_BYTES, received_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hypothesis.strategies import DrawFn

    from referee.players import Turn, Update

SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
MOST_CHOICES = 65
EXAMPLES = 200 if SECONDS else 25
FEW = 40 if SECONDS else 4
FUZZED = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=not SECONDS,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
LATIN = 256
BLANKS = "\n\t\N{NO-BREAK SPACE}"
SETTINGS = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"

integers = st.integers()
numbers = st.one_of(st.integers(0, 60), st.integers(0, (1 << 32) - 1))
texts = st.text(max_size=60)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def bot_messages(draw: DrawFn) -> bytes:
    """Bytes a bot could send: a message, a damaged one, or anything."""
    message = bot_pb2.BotMessage()
    if draw(st.booleans()):
        message.choices.SetInParent()
        for turn, action in draw(st.lists(st.tuples(numbers, numbers), max_size=6)):
            message.choices.choices.add(turn=turn, action=action)
    else:
        message.hello.name = draw(texts)
        message.hello.protocol = draw(st.integers(0, 3))
    return damaged(draw, message.SerializeToString())


def damaged(draw: DrawFn, data: bytes) -> bytes:
    """Leave bytes as they are, or change, cut or lengthen them, or take others."""
    match draw(st.integers(0, 4)):
        case 0 | 1:
            return data
        case 2:
            return draw(st.binary(max_size=80))
        case 3:
            place = draw(st.integers(0, len(data)))
            return data[:place] + draw(st.binary(max_size=8)) + data[place + 1 :]
        case _:
            return data[: draw(st.integers(0, len(data)))]


def choices_in(raw: bytes, seat: int) -> Choices | Fault:
    """Read bytes as the referee's socket does."""
    found = _choices(raw, MOST_CHOICES)
    return Fault(FaultKind.PROTOCOL, seat, found) if isinstance(found, str) else found


# ------------------------------------------------------------------------------------- messages


@FUZZED
@given(raw=bot_messages() | st.binary(max_size=400))
@example(raw=b"\x0b" * 10_000)
@example(raw=b"\x4a" * (MESSAGE_BYTES + 1))
@example(raw=gzip.compress(bytes(MESSAGE_BYTES + 1)))
@example(raw=gzip.compress(b"\x12\x00")[:-1])
@example(raw=zlib.compress(b"\x12\x00") + b"\x00")
def fuzz_messages(raw: bytes) -> None:
    """Any bytes are choices, or a fault in words; either can be shown on one line."""
    found = _choices(raw, MOST_CHOICES)
    assert isinstance(found, Choices) or found
    if isinstance(found, Choices):
        assert _choices(gzip.compress(raw), MOST_CHOICES) == found
    wrong = _wrong_hello(raw)
    assert wrong is None or wrong
    assert "\n" not in received_text(raw)
    assert received_text(raw)


def by_rules(turn: Turn) -> int:
    """Choose at random, but the same in the same view."""
    return random.Random(repr((turn.view, turn.actions))).randrange(len(turn.actions))


@FUZZED
@given(
    spoken=st.lists(
        st.none() | st.lists(st.tuples(st.floats(0, 3_000), bot_messages()), max_size=3),
        max_size=12,
    ),
    variant=st.sampled_from(["bura", "bura-basic", "burkozyol"]),
    tables=st.integers(1, 3),
)
def fuzz_match(spoken: list[list[tuple[float, bytes]] | None], variant: str, tables: int) -> None:
    """Whatever one bot says and when, the leg ends, and the other bot is not charged."""
    timeline = Timeline()

    def babble(bot: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        said = spoken[bot.rounds] if bot.rounds < len(spoken) else None
        if said is None:
            return [(1, answers(update, by_rules))]
        return [(delay, choices_in(raw, bot.seat)) for delay, raw in sorted(said)]

    bots = [Bot(timeline, seat, react) for seat, react in enumerate((good, babble))]
    leg = play_leg(
        spec(decks=3, rules=VARIANTS[variant], tables=tables, variant=variant), 0, bots, timeline
    )
    assert [deal.number for deal in leg.deals] == [0, 1, 2]
    assert {fault.fault.seat for fault in leg.faults} <= {1}
    assert sum(leg.scores) == 0
    assert [bot.goodbye.scores for bot in bots] == [leg.scores, leg.scores]


@settings(FUZZED, max_examples=FEW)
@given(parts=st.lists(st.binary(max_size=200), min_size=1, max_size=4), head=st.integers(0, 2))
def fuzz_socket(parts: list[bytes], head: int) -> None:
    """No bytes on a socket harm the referee, nor do they make a bot of whoever sends them."""
    folder = Path(tempfile.mkdtemp(prefix="bura-"))
    match = spec(decks=1, time_control=TimeControl(startup_ms=150))
    try:
        with Reception(match, 0) as reception:
            for seat in range(2):
                reception.listen(folder / f"{seat}.sock")
            with socket.socket(socket.AF_UNIX) as wire:
                wire.connect(str(folder / "0.sock"))
                wire.settimeout(1)
                try:
                    for part in [(b"", PREFACE, PREFACE + SETTINGS)[head], *parts]:
                        wire.sendall(part)
                except OSError:
                    # The referee may hang up at any byte.
                    pass
                reception.wait_for_bots()
            found = [reception.inbox.receive(0) for _ in range(2)]
            assert all(each is not None and isinstance(each.payload, Fault) for each in found)
    finally:
        shutil.rmtree(folder)


frames = st.builds(
    http2.frame,
    st.integers(0, 12),
    st.binary(max_size=60),
    flags=st.integers(0, 255),
    stream=st.integers(0, 5),
)
messages = bot_messages().map(http2.message) | st.binary(max_size=80)
spoken_bytes = messages.map(partial(http2.frame, http2.DATA, stream=1)) | frames | st.binary()


@settings(FUZZED, max_examples=FEW)
@given(parts=st.lists(spoken_bytes, max_size=6))
@example(parts=[http2.frame(http2.DATA, http2.message(b"\x12\x04\x0a\x02\x08\x01"), stream=1)])
@example(parts=[http2.frame(http2.DATA, b"\x02" + bytes(4), stream=1)])
@example(parts=[http2.frame(http2.RST_STREAM, bytes(4), stream=1)])
def fuzz_stream(parts: list[bytes]) -> None:
    """Whatever bytes follow Hello on a real stream, the leg ends, and its sender alone lost it."""
    folder = Path(tempfile.mkdtemp(prefix="bura-"))
    match = spec(decks=2, time_control=TimeControl(move_time_ms=60_000, startup_ms=60_000))
    doors = [folder / f"{seat}.sock" for seat in range(2)]
    try:
        with (
            Reception(match, 0) as reception,
            ThreadPoolExecutor(2) as pool,
            pytest.MonkeyPatch.context() as patch,
        ):
            for door in doors:
                reception.listen(door)
            patch.setenv("ARENA_ADDRESS", f"unix:{doors[1]}")
            said = [pool.submit(speak, doors[0], parts), pool.submit(play_on)]
            reception.wait_for_bots()
            leg = play_leg(match, 0, reception.players, reception.inbox)
            for each in said:
                each.result(60)
        assert {fault.fault.seat for fault in leg.faults} == {0}
        assert [deal.number for deal in leg.deals] == [0, 1]
        assert sum(leg.scores) == 0
    finally:
        shutil.rmtree(folder)


def speak(door: Path, parts: list[bytes]) -> None:
    """Say Hello, wait for Welcome, say the parts and hang up."""
    hello = bot_pb2.BotMessage(hello=bot_pb2.Hello(name="fuzz", protocol=1)).SerializeToString()
    with socket.socket(socket.AF_UNIX) as wire:
        wire.connect(str(door))
        wire.sendall(http2.open_stream() + http2.frame(http2.DATA, http2.message(hello), stream=1))
        next(kind for kind, *_ in http2.frames(wire) if kind == http2.DATA)
        # The referee may hang up at any byte.
        with suppress(OSError):
            wire.sendall(b"".join(parts))


def play_on() -> None:
    """Play properly at the other seat until Goodbye."""
    with connect() as channel:
        stream = Stream(channel)
        stream.hello()
        stream.play()


# ---------------------------------------------------------------------------------------- records


@cache
def _record() -> bytes:
    """Give the bytes of a record that holds."""
    match = spec(decks=2, rules=VARIANTS["bura"])
    folder = Path(tempfile.mkdtemp(prefix="bura-"))
    try:
        write_record(folder / "r.jsonl", match, play_match(match, [by_rules] * 2))
        return (folder / "r.jsonl").read_bytes()
    finally:
        shutil.rmtree(folder)


def _with_value(kind: str, name: str, value: object) -> bytes:
    """Change a value in all lines of a kind."""
    lines = [json.loads(line) for line in _record().splitlines()]
    changed = [{**line, name: value} if line["type"] == kind else line for line in lines]
    return "".join(json.dumps(line) + "\n" for line in changed).encode()


@st.composite
def damaged_records(draw: DrawFn) -> bytes:
    """A record in which bytes, lines or values are not what they were."""
    data = _record()
    if draw(st.booleans()):
        place = draw(st.integers(0, len(data) - 1))
        length = draw(st.integers(0, 40))
        return data[:place] + draw(st.binary(max_size=12)) + data[place + length :]
    lines = [json.loads(line) for line in data.splitlines()]
    line = draw(st.sampled_from(lines))
    name = draw(st.sampled_from(sorted(line)))
    if draw(st.integers(0, 3)):
        inner, key = line, name
        while isinstance(inner[key], dict | list) and inner[key] and draw(st.integers(0, 3)):
            inner = inner[key]
            keys = sorted(inner) if isinstance(inner, dict) else range(len(inner))
            key = draw(st.sampled_from(list(keys)))
        inner[key] = draw(json_values)
    else:
        del line[name]
    return "".join(json.dumps(each) + "\n" for each in lines).encode()


@FUZZED
@given(data=damaged_records() | st.binary(max_size=200))
@example(data=_with_value("deal", "decks", [None]))
@example(data=_with_value("deal", "actions", [[0, 0, None, 1]]))
@example(data=b"[" * 100_000)
def fuzz_records(data: bytes) -> None:
    """A damaged record is no record, or does not hold, or says what the whole one says."""
    folder = Path(tempfile.mkdtemp(prefix="bura-"))
    path = folder / "r.jsonl"
    path.write_bytes(data)
    said = ""
    try:
        read_record(path)
        verification = verify_record(path)
        assert not verification.ok or _same_but_spelling(data)
    except RecordError as error:
        said = str(error)
    finally:
        shutil.rmtree(folder)
    assert "\n" not in said


def _same_but_spelling(data: bytes) -> bool:
    """Tell whether bytes hold what the record holds, spelled as JSON may be."""
    return [json.loads(line) for line in data.decode().split("\n") if line] == [
        json.loads(line) for line in _record().splitlines()
    ]


# ------------------------------------------------------------------------------------------ texts

card_words = st.sampled_from([card_text(card) for card in range(36)]) | texts


@FUZZED
@given(words=st.lists(card_words, max_size=5), kind=st.sampled_from(["lead", "play", "claim", ""]))
def fuzz_cards(words: list[str], kind: str) -> None:
    """A text names cards or an action, and is written again as it was read, or is refused."""
    text = " ".join(words)
    try:
        assert Cards.parse(str(Cards.parse(text))) == Cards.parse(text)
        assert card_text(parse_card(text)) == text
    except CardError:
        pass
    try:
        action = Action.parse(f"{kind} {text}".strip())
    except (ActionError, CardError):
        return
    assert Action.parse(str(action)) == action


option_names = st.sampled_from([each.name for each in fields(Rules)]) | texts
option_values = json_values | st.sampled_from(list(Rules().to_dict().values()))


@FUZZED
@given(changed=st.dictionaries(option_names, option_values, max_size=4))
@example(changed={"players": None})
@example(changed={"lead_sizes": [1, "2"]})
@example(changed={"combinations": 7})
def fuzz_rules(changed: dict[str, Any]) -> None:
    """Any JSON is rules that can be written down again, or is refused."""
    try:
        rules = Rules.from_dict({**Rules().to_dict(), **changed})
    except RulesError:
        return
    assert Rules.from_dict(json.loads(json.dumps(rules.to_dict()))) == rules


@FUZZED
@given(words=st.lists(st.tuples(option_names, texts | integers.map(str)), max_size=3))
def fuzz_changed_rules(words: list[tuple[str, str]]) -> None:
    """Any words after --rules change rules, or are refused in one line."""
    said = "changed"
    try:
        change(VARIANTS["bura"], [f"{name}={value}" for name, value in words])
    except (ArenaError, RulesError) as error:
        said = str(error)
    assert said


@FUZZED
@given(data=st.binary(max_size=300), cap=st.integers(1, 120), truncated=st.booleans())
@example(data=b"\xc2\xa0", cap=2, truncated=False)
def fuzz_logs(data: bytes, cap: int, truncated: bool) -> None:  # noqa: FBT001 - drawn by name
    """What a bot prints becomes text of bounded size that no terminal obeys."""
    text, missing = clean_log(data, cap, truncated=truncated)
    assert missing or not truncated
    assert len(text.removeprefix(TRUNCATED_MARK).encode()) <= cap
    assert all(char.isprintable() or char in BLANKS for char in text if ord(char) < LATIN)


TARGETS = (
    fuzz_messages,
    fuzz_match,
    fuzz_socket,
    fuzz_stream,
    fuzz_records,
    fuzz_cards,
    fuzz_rules,
    fuzz_changed_rules,
    fuzz_logs,
)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.__name__)
def test_anything_from_outside_is_taken_or_refused(
    target: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """No input of a kind makes an error that was not meant for it; how many were tried is told."""
    began = time.monotonic()
    rounds = 0
    while not rounds or time.monotonic() < began + SECONDS / len(TARGETS):
        target()
        rounds += 1
    if SECONDS:
        with capsys.disabled():
            each = FEW if target in {fuzz_socket, fuzz_stream} else EXAMPLES
            tried = f"{rounds * each} inputs in {time.monotonic() - began:.0f} s"
            print(f"\n{target.__name__}: {tried}")
