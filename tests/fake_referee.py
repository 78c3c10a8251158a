"""A referee for tests of clients: it says what a script tells it to say."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc

from burabot import bot_pb2, bot_pb2_grpc

ROOT = Path(__file__).resolve().parent.parent
OPTIONS = {
    "goal": "claim",
    "target": "31",
    "false_claim": "lose_double",
    "sides": "each",
    "deck": "36",
}

Script = Callable[[Iterator[bot_pb2.BotMessage]], Iterator[bot_pb2.RefereeMessage]]


class _Servicer(bot_pb2_grpc.RefereeServicer):
    def __init__(self, script: Script) -> None:
        self._script = script

    def Play(  # noqa: N802 - the name is the contract's
        self,
        request_iterator: Iterator[bot_pb2.BotMessage],
        context: grpc.ServicerContext,  # noqa: ARG002
    ) -> Iterator[bot_pb2.RefereeMessage]:
        return self._script(request_iterator)


@contextmanager
def fake_referee(script: Script) -> Iterator[str]:
    """Serve the script on a Unix socket and give its address."""
    with tempfile.TemporaryDirectory(prefix="bura-") as folder:
        server = grpc.server(ThreadPoolExecutor(max_workers=2))
        bot_pb2_grpc.add_RefereeServicer_to_server(_Servicer(script), server)
        address = f"unix:{Path(folder, 'referee.sock')}"
        server.add_insecure_port(address)
        server.start()
        try:
            yield address
        finally:
            server.stop(grace=None).wait()


def welcome(**options: str) -> bot_pb2.RefereeMessage:
    """A Welcome with these options."""
    pairs = [bot_pb2.Option(name=name, value=value) for name, value in options.items()]
    message = bot_pb2.Welcome(protocol=1, seat=1, seats=2, variant="bura", options=pairs, tables=1)
    return bot_pb2.RefereeMessage(welcome=message)


def turns(*messages: bot_pb2.Turn) -> bot_pb2.RefereeMessage:
    """A message that carries turns and a clock."""
    return bot_pb2.RefereeMessage(turns=messages, clock=bot_pb2.Clock(time_left_us=1_000_000))


def respond_turn(turn: int, hand: str, lead: str) -> bot_pb2.Turn:
    """A turn in which one card answers another; trump is hearts."""
    message = bot_pb2.Turn(id=turn, kind=bot_pb2.TURN_RESPOND)
    view = message.view
    view.seats, view.seat, view.trump, view.stake = 2, 1, bot_pb2.SUIT_HEARTS, 1
    view.hand.extend(_wire(hand))
    view.hand_counts.extend([2, 3])
    view.table.add(seat=0, cards=_wire(lead), beats=True)
    view.captured.add()
    view.captured.add()
    for card in hand.split():
        message.actions.add(kind=bot_pb2.ACTION_PLAY, cards=_wire(card))
    return message


def _wire(text: str) -> list[bot_pb2.Card.ValueType]:
    return [bot_pb2.Card.Value(f"CARD_{word}") for word in text.split()]


def goodbye(
    reason: bot_pb2.GoodbyeReason.ValueType = bot_pb2.GOODBYE_FINISHED, text: str = "all played"
) -> bot_pb2.RefereeMessage:
    """A Goodbye."""
    return bot_pb2.RefereeMessage(goodbye=bot_pb2.Goodbye(reason=reason, text=text))


class OneMatch:
    """A script of two messages with turns, and what the bot answered."""

    def __init__(self) -> None:
        self.hello = bot_pb2.Hello()
        self.answers: list[bot_pb2.Choices] = []

    def script(self, incoming: Iterator[bot_pb2.BotMessage]) -> Iterator[bot_pb2.RefereeMessage]:
        """Welcome the bot, ask it three times, and let it go."""
        self.hello = next(incoming).hello
        yield welcome(**OPTIONS)
        for message in (
            turns(respond_turn(1, "6C 7S 9D", "TD"), respond_turn(2, "JD AS KD", "QD")),
            turns(respond_turn(3, "6C 7S 9H", "TD")),
        ):
            yield message
            self.answers.append(next(incoming).choices)
        yield goodbye()

    def check(self) -> None:
        """Every turn was answered once, by an index in range."""
        assert [[choice.turn for choice in each.choices] for each in self.answers] == [[1, 2], [3]]
        assert {choice.action < 3 for each in self.answers for choice in each.choices} == {True}


def run_program(command: list[str], folder: Path) -> OneMatch:
    """Let a program play against the script to the end."""
    match = OneMatch()
    with fake_referee(match.script) as address:
        environment = {**os.environ, "ARENA_ADDRESS": address, "PYTHONPATH": str(ROOT / "proto")}
        subprocess.run(command, check=True, env=environment, timeout=60, cwd=folder)
    return match
