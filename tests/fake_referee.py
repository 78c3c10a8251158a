"""A referee for tests of clients: it says what a script tells it to say."""

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc

from burabot import bot_pb2, bot_pb2_grpc

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
