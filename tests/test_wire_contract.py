"""The committed stubs are what bot.proto says, and load where the project says they load."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from burabot import bot_pb2
from referee.cards import full_deck
from referee.players import Turn, Update
from referee.results import Entrant, MatchSpec
from referee.rules import ActionKind, Rules, State, TurnKind, deal
from referee.shuffle import SeededSource
from referee.variants import find_variant
from referee.view import observe
from referee.wire import Wire
from tools.gen_proto import PROTO, STUBS, generate

# What differs between releases of the generators without any meaning.
_RELEASE = re.compile(
    r"^# Protobuf Python Version:.*|^    \d+,$|^GRPC_GENERATED_VERSION = .*", re.MULTILINE
)


@pytest.fixture(scope="module")
def regenerated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of stubs generated now."""
    folder = tmp_path_factory.mktemp("stubs")
    generate(folder, Path(sys.executable))
    return folder / "burabot"


def _meaning(path: Path) -> str:
    return _RELEASE.sub("", path.read_text()).replace("(object):", ":")


@pytest.mark.parametrize("name", STUBS)
def test_stubs_are_fresh(regenerated: Path, name: str) -> None:
    """Each committed stub equals the one generated now from bot.proto."""
    committed = _meaning(PROTO / "burabot" / name)
    assert committed == _meaning(regenerated / name), "run python tools/gen_proto.py"


def test_stubs_load_with_the_oldest_allowed_libraries() -> None:
    """The releases that the stubs ask for are no newer than the bounds in pyproject.toml."""
    project = tomllib.loads((PROTO.parent / "pyproject.toml").read_text())["project"]
    bounds = dict(text.split(">=") for text in project["dependencies"])
    grpc = re.search(r"VERSION = '([\d.]+)'", (PROTO / "burabot/bot_pb2_grpc.py").read_text())
    protobuf = re.search(r"Python Version: ([\d.]+)", (PROTO / "burabot/bot_pb2.py").read_text())
    assert grpc
    assert protobuf
    assert _release(grpc[1]) <= _release(bounds["grpcio"])
    assert _release(protobuf[1]) <= _release(bounds["protobuf"])


def _release(text: str) -> list[int]:
    return [int(part) for part in f"{text}.0.0".split(".")[:3]]


def test_card_names_are_card_texts() -> None:
    """A card's value is one more than 9 * suit + rank, and its name is CARD_ and its text."""
    texts = [f"{rank}{suit}" for suit in "CDHS" for rank in "6789JQKTA"]
    assert bot_pb2.Card.items() == [
        ("CARD_UNSPECIFIED", 0),
        *((f"CARD_{text}", value) for value, text in enumerate(texts, start=1)),
    ]


def test_every_enum_starts_with_unspecified() -> None:
    """Value 0 of each enum means nothing, so that a field left out is never a card or an action."""
    enums = bot_pb2.DESCRIPTOR.enum_types_by_name.values()
    assert [enum.name for enum in enums if not enum.values[0].name.endswith("UNSPECIFIED")] == []


def test_nothing_on_the_wire_names_match_or_opponent() -> None:
    """No field of any message could tell a bot which match it plays or against whom."""
    fields = [
        f"{message.name}.{field.name}"
        for message in bot_pb2.DESCRIPTOR.message_types_by_name.values()
        for field in message.fields
    ]
    assert fields
    assert [name for name in fields if re.search(r"match|leg\b|tournament|opponent", name)] == []


def test_a_proposed_stake_is_in_the_view() -> None:
    """A bot that is asked whether to accept a raise sees what the stake is and would be."""
    rules = find_variant("bura-dave")
    state = deal(
        rules, seats=2, dealer=0, source=SeededSource(bytes(32), 0, 0, full_deck(rules.deck))
    )
    while TurnKind.RAISED is not state.kind_of_turn(seat := state.asked[0]):
        raises = [each for each in state.legal_actions(seat) if each.kind is ActionKind.RAISE]
        state.apply(seat, raises[0] if raises else state.legal_actions(seat)[0])
    view = wire_view(rules, state, state.asked[0])
    assert (view.stake, view.proposed) == (1, 2)


def wire_view(rules: Rules, state: State, seat: int) -> bot_pb2.View:
    """The view of an asked seat as its bot reads it."""
    entrants = (Entrant("a"), Entrant("b"))
    spec = MatchSpec(
        variant="any", rules=rules, seats=2, decks=1, seed=bytes(32), entrants=entrants
    )
    turn = Turn(
        id=1,
        table=0,
        deal=0,
        kind=state.kind_of_turn(seat),
        view=observe(state, seat),
        actions=state.legal_actions(seat),
        events=(),
    )
    (raw,) = Wire(spec, seat).packed(Update(turns=(turn,)))
    return bot_pb2.RefereeMessage.FromString(raw).turns[0].view
