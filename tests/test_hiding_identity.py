"""Nothing tells a bot whom it plays, which match it is, or what another bot says of itself."""

from __future__ import annotations

import base64
import json
import re
import tempfile
import time
from dataclasses import dataclass

import pytest

from arena import runner
from arena.jobs import MatchDescription
from arena.runner import run_match
from arena.sandbox import BotSource
from burabot import bot_pb2
from referee.results import Entrant, MatchSpec, TimeControl
from referee.shuffle import commitment
from referee.variants import find_variant

SEED = bytes(range(200, 232))
MATCH = 0x5EC2E7C0FFEE
OWNER = "canary-owner-5f2b91"
FOLDER = "canary-cup-77c1/314159265358979/2"
SEATS = 3
YEAR_SECONDS = 365 * 86_400
# Everything a bot can look at without leaving its place, as it was given it.
BOT = """
import json, os, pathlib, queue, sys
import grpc
from burabot import bot_pb2
ME = {me!r}
print("LOG-" + ME, flush=True)
raw, outgoing = [], queue.SimpleQueue()
def keep(data):
    raw.append(data)
    return bot_pb2.RefereeMessage.FromString(data)
hello = bot_pb2.Hello(name="HELLO-" + ME, version="VERSION-" + ME, protocol=1)
outgoing.put(bot_pb2.BotMessage(hello=hello))
address = os.environ["ARENA_ADDRESS"]
options = [("grpc.default_authority", "localhost")]
with grpc.insecure_channel(address, options=options) as channel:
    call = channel.stream_stream(
        "/burabot.Referee/Play",
        request_serializer=bot_pb2.BotMessage.SerializeToString,
        response_deserializer=keep,
    )(iter(outgoing.get, None))
    for message in call:
        if message.turns:
            answer = bot_pb2.BotMessage()
            for turn in message.turns:
                answer.choices.choices.add(turn=turn.id, action={index})
            outgoing.put(answer)
    outgoing.put(None)
    metadata = [*(call.initial_metadata() or ()), *(call.trailing_metadata() or ())]
    said = [*map(str, metadata), str(call.details())]
socket = pathlib.Path(address.removeprefix("unix:"))
status = pathlib.Path("/proc/self")
found = {{
    "environment": dict(os.environ),
    "arguments": sys.argv + sys.orig_argv,
    "socket": [address, *map(str, socket.parent.iterdir())],
    "place": [os.getcwd(), *map(str, pathlib.Path.cwd().iterdir())],
    "metadata": said,
    "cgroup": status.joinpath("cgroup").read_text() if status.exists() else "",
    "parent": pathlib.Path(f"/proc/{{os.getppid()}}/cmdline").read_bytes().decode(errors="replace")
    if status.exists() else "",
    "parent's environment": pathlib.Path(f"/proc/{{os.getppid()}}/environ").read_bytes().decode(
        errors="replace") if status.exists() else "",
}}
number = len(list(pathlib.Path.cwd().glob("haul*.json")))
pathlib.Path(f"haul{{number}}.bytes").write_bytes(b"".join(raw))
pathlib.Path(f"haul{{number}}.json").write_text(json.dumps(found))
"""


@dataclass(frozen=True)
class Haul:
    """What one start of a bot found: the referee's bytes, and texts by where they stood."""

    bot: str
    data: bytes
    texts: dict[str, str]

    @property
    def messages(self) -> bot_pb2.RefereeMessage:
        """All messages as one, for that is what their bytes in a row are; the turns in order."""
        return bot_pb2.RefereeMessage.FromString(self.data)


def names() -> tuple[str, ...]:
    """Return the bots' names."""
    return tuple(f"canary-{letter * 9}" for letter in "abc")


@pytest.fixture(scope="module")
def hauls(tmp_path_factory: pytest.TempPathFactory) -> list[Haul]:
    """Play a match of three bots that look around, one of which is at fault, in all rotations."""
    home = tmp_path_factory.mktemp("canary-home")
    bots = tmp_path_factory.mktemp("bots")
    for index, name in enumerate(names()):
        (bots / name).mkdir()
        # The last one loses every deal by an index out of range, so that faults are told, too.
        code = BOT.format(me=name, index=0 if index < SEATS - 1 else 999)
        (bots / name / "bot.py").write_text(code)
    description = MatchDescription(
        spec=MatchSpec(
            variant="bura",
            rules=find_variant("bura"),
            seats=SEATS,
            decks=3,
            seed=SEED,
            match=MATCH,
            entrants=tuple(
                Entrant(f"NAME-{name}", f"REVISION-{name}", f"sha256:{name.encode().hex():0<64}")
                for name in names()
            ),
            time_control=TimeControl(move_time_ms=20_000, startup_ms=60_000),
        ),
        bots=tuple(BotSource(directory=bots / name) for name in names()),
        positions=(101, 202, 303),
        sandbox="process",
        home=home,
        folder=FOLDER,
        owner=OWNER,
    )
    with (
        tempfile.TemporaryDirectory(prefix="run-") as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("XDG_RUNTIME_DIR", folder)
        patch.setenv("CANARY_OF_THE_REFEREE", "canary-environment-3391")
        # What a bot found it writes down when all is over.
        patch.setattr(runner, "GOODBYE_SECONDS", 60.0)
        run_match(description)
    return [
        Haul(
            name,
            path.with_suffix(".bytes").read_bytes(),
            {where: json.dumps(text) for where, text in json.loads(path.read_text()).items()},
        )
        for name in names()
        for path in sorted((bots / name).glob("haul*.json"))
    ]


def varint(number: int) -> bytes:
    """Return a number as protobuf writes it."""
    low = bytearray()
    while number > 127:
        low.append(number & 127 | 128)
        number >>= 7
    return bytes([*low, number])


def private() -> dict[str, list[bytes]]:
    """Return what no bot may be told, in the ways in which it could be written."""
    numbers = [
        str(MATCH).encode(),
        f"{MATCH:x}".encode(),
        varint(MATCH),
        MATCH.to_bytes(8, "big").lstrip(b"\0"),
        MATCH.to_bytes(8, "little").rstrip(b"\0"),
    ]
    ways = {
        "seed": [SEED, SEED[::-1], SEED.hex().encode(), SEED.hex().upper().encode()],
        "seed in base64": [base64.b64encode(SEED).rstrip(b"=")[:-1]],
        "commitment": [commitment(SEED).encode(), bytes.fromhex(commitment(SEED))],
        "number of the match": numbers,
        "owner": [OWNER.encode()],
        "folder of the match": [b"canary-cup-77c1", b"314159265358979"],
        "the arena's folder": [b"canary-home"],
        "the referee's environment": [b"canary-environment-3391", b"CANARY_OF_THE_REFEREE"],
    }
    for name in names():
        ways[f"name of {name}"] = [f"NAME-{name}".encode()]
        ways[f"version of {name}"] = [f"REVISION-{name}".encode()]
        ways[f"digest of {name}"] = [name.encode().hex().encode()]
    return ways


def of_others(bot: str) -> dict[str, list[bytes]]:
    """Return what a bot's opponents say of themselves."""
    return {f"what {name} says": [name.encode()] for name in names() if name != bot}


def test_every_start_of_every_bot_looked_around(hauls: list[Haul]) -> None:
    """Each bot was started once a rotation, and was sent something each time."""
    assert [haul.bot for haul in hauls] == [name for name in names() for _ in range(SEATS)]
    assert all(b"bura" in haul.data for haul in hauls)
    assert all(haul.bot in haul.texts["place"] for haul in hauls)


def test_no_byte_of_the_referee_names_anybody(hauls: list[Haul]) -> None:
    """Neither private fields of the match nor what bots say of themselves are sent to a bot."""
    told = [
        (haul.bot, what)
        for haul in hauls
        for what, ways in (private() | of_others("")).items()
        for way in ways
        if way in haul.data
    ]

    assert told == []


def test_nothing_around_a_bot_names_anybody_else(hauls: list[Haul]) -> None:
    """Environment, arguments, socket, metadata and the process above it tell of nobody else."""
    told = [
        (haul.bot, where, what)
        for haul in hauls
        for what, ways in (private() | of_others(haul.bot)).items()
        for where, text in haul.texts.items()
        for way in ways
        if way in text.encode()
    ]

    assert told == []


def test_turns_are_counted_from_one_at_each_start(hauls: list[Haul]) -> None:
    """The ids of turns tell only how many this bot has had since it was started."""
    for haul in hauls:
        ids = [turn.id for turn in haul.messages.turns]
        assert len(ids) > 1
        assert ids == list(range(1, len(ids) + 1))


def test_no_time_of_day_is_sent(hauls: list[Haul]) -> None:
    """No number that a bot is sent is a time of this year, in any unit, and no text is a date."""
    now = time.time()
    units = [10**power for power in (0, 3, 6, 9)]
    this_year = time.strftime("%Y")
    for haul in hauls:
        messages = haul.messages
        told = f"{messages} {haul.texts['metadata']}"
        numbers = [float(each) for each in re.findall(r"\d+(?:\.\d+)?", told)]
        assert len(numbers) > 100
        assert [
            each for each in numbers for unit in units if abs(each / unit - now) < YEAR_SECONDS
        ] == []
        # An answer may have taken as many microseconds as the year has.
        messages.ClearField("clock")
        told = f"{messages} {haul.texts['metadata']}"
        assert re.findall(rf"\b{this_year}\b|\d\d?:\d\d:\d\d|\b(?:GMT|UTC)\b", told) == []


def test_sockets_tell_nothing_by_their_path(hauls: list[Haul]) -> None:
    """Each start has a socket in a random place of its own, and no other one is beside it."""
    places = {haul.texts["socket"] for haul in hauls}

    assert len(places) == SEATS * SEATS
    # What lies beside it is told, too: nothing, for it goes once its bot is in.
    assert all(text.count("referee.sock") == 1 for text in places)
    # The folder of this test has a random name, in which such a word may be.
    below = [re.sub(r"/run-[^/]+/", "/", text) for text in places]
    assert all(len(text) < len(whole) for text, whole in zip(below, places, strict=True))
    assert all(word not in text for text in below for word in ("seat", "leg", "match"))


def test_a_bot_is_told_that_another_one_failed_but_not_how(hauls: list[Haul]) -> None:
    """A fault of another seat is named by seat and kind; its detail goes to its own bot alone."""
    at_fault = names()[-1]
    for haul in hauls:
        assert b"illegal_action by seat" in haul.data
        assert (b"index 999" in haul.data) == (haul.bot == at_fault)


def test_logs_stay_with_their_bots(hauls: list[Haul]) -> None:
    """What a bot printed is nowhere in what others found."""
    printed = {name: f"LOG-{name}".encode() for name in names()}
    for haul in hauls:
        everything = haul.data + "".join(haul.texts.values()).encode()
        assert all(text not in everything for text in printed.values())
