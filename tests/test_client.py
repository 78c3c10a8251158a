"""The Python client keeps its side of the contract, and needs nothing of the platform."""

import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import grpc
import pytest
from fake_referee import Script, fake_referee, goodbye, respond_turn, turns, welcome

import burabot
from burabot import bot_pb2, bot_pb2_grpc, cards

PROTO = Path(__file__).resolve().parent.parent / "proto"
TWO_TURNS = turns(respond_turn(1, "6C 7S 9D", "TD"), respond_turn(2, "JD AS KD", "QD"))


class Recorder:
    """A script that plays given messages, and what the bot said to them."""

    def __init__(self, *messages: bot_pb2.RefereeMessage) -> None:
        self.messages = messages
        self.heard: list[bot_pb2.BotMessage] = []

    def script(self, incoming: Iterator[bot_pb2.BotMessage]) -> Iterator[bot_pb2.RefereeMessage]:
        """Wait for Hello, then for an answer to each message with turns."""
        self.heard.append(next(incoming))
        for message in self.messages:
            yield message
            if message.turns:
                self.heard.append(next(incoming))


def choices_of(message: bot_pb2.BotMessage) -> list[tuple[int, int]]:
    """The turns and indexes of an answer."""
    return [(choice.turn, choice.action) for choice in message.choices.choices]


def play_script(script: Script, choose: burabot.client.Choose) -> bot_pb2.Goodbye:
    """Play against a script under a plain name."""
    with fake_referee(script) as address:
        return burabot.play(choose, name="tester", version="3", address=address)


def test_hello_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client introduces itself with name, version, protocol and the token it was given."""
    monkeypatch.setenv("ARENA_TOKEN", "seat-token")
    referee = Recorder(welcome(), goodbye())
    play_script(referee.script, lambda _: 0)
    expected = bot_pb2.Hello(name="tester", version="3", protocol=1, token="seat-token")  # noqa: S106
    assert referee.heard[0].hello == expected


def test_all_turns_of_a_message_are_answered_in_one() -> None:
    """Two turns that came together are answered by one message with two choices."""
    referee = Recorder(welcome(), TWO_TURNS, goodbye())
    play_script(referee.script, lambda turn: turn.message.id)
    assert choices_of(referee.heard[1]) == [(1, 1), (2, 2)]


def test_an_action_is_a_choice() -> None:
    """Instead of an index, choose may return one of the turn's actions."""
    referee = Recorder(welcome(), TWO_TURNS, goodbye())
    play_script(referee.script, lambda turn: turn.actions[2])
    assert choices_of(referee.heard[1]) == [(1, 2), (2, 2)]


def test_turn_shows_game_and_clock() -> None:
    """A turn gives access to the options of Welcome and to the clock of its message."""
    seen = []

    def choose(turn: burabot.Turn) -> int:
        assert turn.clock
        seen.append((turn.game.seat, turn.game.options["target"], turn.clock.time_left_us))
        return 0

    play_script(Recorder(welcome(target="31"), TWO_TURNS, goodbye()).script, choose)
    assert seen == [(1, "31", 1_000_000)] * 2


def test_observe_sees_every_message() -> None:
    """The observer is shown all messages of the referee, in order."""
    referee = Recorder(welcome(), TWO_TURNS, goodbye())
    seen: list[bot_pb2.RefereeMessage] = []
    with fake_referee(referee.script) as address:
        burabot.play(lambda _: 0, name="tester", address=address, observe=seen.append)
    assert seen == [welcome(), TWO_TURNS, goodbye()]


def test_address_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an address the client goes where $ARENA_ADDRESS points."""
    with fake_referee(Recorder(welcome(), goodbye()).script) as address:
        monkeypatch.setenv("ARENA_ADDRESS", address)
        assert burabot.play(lambda _: 0, name="tester").text == "all played"


def test_exception_of_choose_goes_through() -> None:
    """A bot's own error ends play with that error, not with one about the stream."""
    with pytest.raises(ZeroDivisionError):
        play_script(Recorder(welcome(), TWO_TURNS, goodbye()).script, lambda _: 1 // 0)


def break_off(incoming: Iterator[bot_pb2.BotMessage]) -> Iterator[bot_pb2.RefereeMessage]:
    """Fail after the first answer."""
    next(incoming)
    yield welcome()
    yield TWO_TURNS
    next(incoming)
    raise ValueError


@pytest.mark.parametrize(
    ("script", "choose", "raised"),
    [
        (Recorder(welcome(), TWO_TURNS, goodbye()).script, lambda _: 1 // 0, ZeroDivisionError),
        (break_off, lambda _: 0, burabot.DisconnectedError),
    ],
    ids=["the bot's", "the stream's"],
)
def test_an_exception_does_not_keep_the_call(
    script: Script,
    choose: burabot.client.Choose,
    raised: type[Exception],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A program that ends by it has let go of what may wait for ever when Python ends."""
    kept: list[weakref.ref[object]] = []
    stub = bot_pb2_grpc.RefereeStub

    def noting(channel: grpc.Channel) -> SimpleNamespace:
        def start(outgoing: Iterator[bot_pb2.BotMessage]) -> object:
            call = stub(channel).Play(outgoing)
            kept.append(weakref.ref(call))
            return call

        return SimpleNamespace(Play=start)

    monkeypatch.setattr(bot_pb2_grpc, "RefereeStub", noting)
    with pytest.raises(raised) as caught:
        play_script(script, choose)
    assert caught.tb
    assert [call() for call in kept] == [None]


def test_a_choice_of_the_wrong_type_is_explained() -> None:
    """Returning None names what should have been returned."""
    with pytest.raises(TypeError, match="return the index of an action"):
        play_script(
            Recorder(welcome(), TWO_TURNS, goodbye()).script,
            lambda _: None,  # type: ignore[arg-type, return-value]
        )


def test_refusal_is_an_error() -> None:
    """A bot with an unknown protocol version ends with the referee's explanation."""
    refusal = goodbye(bot_pb2.GOODBYE_UNKNOWN_PROTOCOL, "this referee speaks protocol 2")
    with pytest.raises(burabot.RefusedError, match="speaks protocol 2"):
        play_script(Recorder(refusal).script, lambda _: 0)


def test_end_without_goodbye_is_an_error() -> None:
    """A stream that just ends does not look like a finished match."""
    with pytest.raises(burabot.DisconnectedError):
        play_script(Recorder(welcome()).script, lambda _: 0)


def test_no_referee_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot started by hand without a referee says so instead of waiting for ever."""
    monkeypatch.setattr("burabot.client.CONNECT_SECONDS", 0.1)
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.raises(burabot.NoRefereeError, match="no referee at unix:"),
    ):
        burabot.play(lambda _: 0, name="tester", address=f"unix:{folder}/none.sock")


def test_package_stands_alone() -> None:
    """Importing burabot in a clean interpreter loads grpc and protobuf, nothing of the platform."""
    program = f"""
import sys
sys.path.insert(0, {str(PROTO)!r})
import burabot
print(" ".join(sorted({{name.partition(".")[0] for name in sys.modules}})))
"""
    command = [sys.executable, "-I", "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    loaded = set(done.stdout.split())
    # grpc itself looks for grpc_tools, and its extension module brings cython_runtime.
    allowed = {"burabot", "grpc", "google", "typing_extensions", "grpc_tools", "cython_runtime"}
    assert {"burabot", "grpc", "google"} <= loaded
    foreign = loaded - sys.stdlib_module_names - allowed
    assert [name for name in foreign if not name.startswith(("_", "sitecustomize"))] == []


@pytest.mark.parametrize("text", ["6C", "TS", "AH"])
def test_card_texts_round_trip(text: str) -> None:
    """A card's text gives the card, and its name in the contract ends in the text."""
    card = cards.parse_card(text)
    assert cards.card_text(card) == text
    assert bot_pb2.Card.Value(f"CARD_{text}") == card


@pytest.mark.parametrize("text", ["", "10S", "SX", "1S"])
def test_bad_card_text_is_refused(text: str) -> None:
    """What is no card raises an error that says how to write one."""
    with pytest.raises(ValueError, match="write a rank of"):
        cards.parse_card(text)


def test_points_of_a_deck() -> None:
    """All cards together count 120."""
    assert cards.points(range(1, 37)) == cards.DECK_POINTS == 120


@pytest.mark.parametrize(
    ("answer", "lead", "trump", "beats"),
    [
        ("AS", "8S", "H", True),
        ("6H", "8S", "H", True),
        ("AD", "8S", "H", False),
        ("TS 6H", "9S KS", "H", True),
        ("TS JS", "9S KS", "H", True),
        ("AS 8S", "9S KS", "H", False),
        ("8H TS", "6H 7H", "H", False),
        ("8H 9H", "6H 7H", "H", True),
        ("AH 6H 7H", "KS TS AS", "H", True),
        ("TH 9S 6H", "KS TS AS", "H", False),
    ],
)
def test_beating(answer: str, lead: str, trump: str, beats: bool) -> None:  # noqa: FBT001
    """Cards beat cards if they can be paired off, as in rulings 1 to 5."""
    beating = burabot.cards.Beating({})
    suit = 1 + cards.SUITS.index(trump)
    assert beating.all(cards.parse_cards(answer), cards.parse_cards(lead), suit) is beats


def test_spades_can_be_immune_to_trumps() -> None:
    """With trump_immune_suit spades a trump does not beat a spade, a higher spade does."""
    beating = cards.Beating({"trump_immune_suit": "spades"})
    assert not beating.one(cards.parse_card("AD"), cards.parse_card("6S"), bot_pb2.SUIT_DIAMONDS)
    assert beating.one(cards.parse_card("7S"), cards.parse_card("6S"), bot_pb2.SUIT_DIAMONDS)


def test_low_ranks_can_be_reversed() -> None:
    """With low_rank_order 9876 a six beats a nine and loses to a jack."""
    beating = cards.Beating({"low_rank_order": "9876"})
    six, nine, jack = cards.parse_cards("6S 9S JS")
    assert beating.one(six, nine, bot_pb2.SUIT_HEARTS)
    assert not beating.one(six, jack, bot_pb2.SUIT_HEARTS)
