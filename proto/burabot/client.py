"""The client side of the contract: `play` connects, and asks `choose` for every decision."""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from queue import SimpleQueue
from typing import TypeAlias

import grpc

from burabot import bot_pb2, bot_pb2_grpc
from burabot.cards import Beating

PROTOCOL = 1
DEFAULT_ADDRESS = "unix:/run/arena/referee.sock"
CONNECT_SECONDS = 20.0

_REFUSALS = (bot_pb2.GOODBYE_UNKNOWN_PROTOCOL, bot_pb2.GOODBYE_REFUSED)


class RefereeError(Exception):
    """The talk with the referee failed; never raised itself."""


class NoRefereeError(RefereeError):
    """Nobody listens at the address."""


class RefusedError(RefereeError):
    """The referee said Goodbye instead of Welcome."""


class DisconnectedError(RefereeError):
    """The stream ended without Goodbye."""


class Game:
    """What the Welcome message says, ready to use.

    Attributes:
        seat: Your seat.
        seats: How many seats play.
        variant: The name of the variant.
        options: Every rule of the game by name, values as text.
        beating: Which cards beat which under these options.
        welcome: The message itself.
    """

    __slots__ = ("beating", "options", "seat", "seats", "variant", "welcome")

    def __init__(self, welcome: bot_pb2.Welcome) -> None:
        self.welcome = welcome
        self.seat = welcome.seat
        self.seats = welcome.seats
        self.variant = welcome.variant
        self.options = {option.name: option.value for option in welcome.options}
        self.beating = Beating(self.options)

    def side(self, seat: int) -> int:
        """The side a seat plays for: 0 or 1 where four play in pairs, else the seat itself."""
        return seat % 2 if self.options.get("sides") == "pairs" else seat


class Turn:
    """A decision to make: a thin cover over the message, which holds everything.

    Attributes:
        message: The Turn message.
        game: The game it belongs to.
        clock: The clock of all turns that came together, None without a time control.
    """

    __slots__ = ("clock", "game", "message")

    def __init__(
        self, message: bot_pb2.Turn, game: Game, clock: bot_pb2.Clock | None = None
    ) -> None:
        self.message = message
        self.game = game
        self.clock = clock

    @property
    def kind(self) -> bot_pb2.TurnKind.ValueType:
        """What is asked, for example `bot_pb2.TURN_LEAD`."""
        return self.message.kind

    @property
    def view(self) -> bot_pb2.View:
        """The deal as your seat sees it."""
        return self.message.view

    @property
    def actions(self) -> Sequence[bot_pb2.Action]:
        """What the rules allow; a choice is an index into this."""
        return self.message.actions

    @property
    def events(self) -> Sequence[bot_pb2.Event]:
        """What happened at this table since your last turn here."""
        return self.message.events


Choose: TypeAlias = Callable[[Turn], "int | bot_pb2.Action"]
Observe: TypeAlias = Callable[[bot_pb2.RefereeMessage], None]


def play(
    choose: Choose,
    *,
    name: str,
    version: str = "",
    address: str | None = None,
    observe: Observe | None = None,
) -> bot_pb2.Goodbye:
    """Play until the referee says Goodbye.

    What `choose` raises goes through to the caller, and the referee sees a crash.

    Args:
        choose: Is given a turn and returns the index of an action, or the action itself.
        name: What the logs call your bot.
        version: Which of your versions this is.
        address: Where the referee listens; $ARENA_ADDRESS, or the socket in a bot's container, if
            left out.
        observe: Is shown every message of the referee before its turns are chosen.

    Returns:
        The referee's last message.

    Raises:
        NoRefereeError: Nobody listens at the address.
        RefusedError: The referee does not want this bot here, or does not speak its protocol.
        DisconnectedError: The stream ended without Goodbye.
        TypeError: `choose` returned neither a number nor an action.
        ValueError: `choose` returned a negative number, or an action that the turn does not allow.
    """
    address = address or os.environ.get("ARENA_ADDRESS") or DEFAULT_ADDRESS
    hello = bot_pb2.Hello(
        name=name,
        version=version,
        protocol=PROTOCOL,
        token=os.environ.get("ARENA_TOKEN", ""),
    )
    outgoing: SimpleQueue[bot_pb2.BotMessage | None] = SimpleQueue()
    outgoing.put(bot_pb2.BotMessage(hello=hello))
    incoming = _receive(address, outgoing)
    try:
        return _converse(incoming, outgoing, choose, observe)
    finally:
        outgoing.put(None)
        incoming.close()


def _receive(
    address: str, outgoing: "SimpleQueue[bot_pb2.BotMessage | None]"
) -> Generator[bot_pb2.RefereeMessage, None, None]:
    """Yield what the referee says; closing it lets go of the channel and of the call.

    No exception that leaves may hold them. A call that is let go of when the interpreter ends may
    wait for ever for a thread of gRPC that the interpreter has stopped, and the bot never exits.
    """
    # Without it gRPC sends the socket's path as the host name, which servers refuse.
    options = [("grpc.default_authority", "localhost")]
    reason = ""
    with grpc.insecure_channel(address, options=options) as channel:
        _connect(channel, address)
        try:
            yield from bot_pb2_grpc.RefereeStub(channel).Play(iter(outgoing.get, None))
        except grpc.RpcError as error:
            # The error is the call, and its traceback leads back to it.
            error.__traceback__ = None
            reason = str(error)
    del channel
    if reason:
        raise DisconnectedError(f"the referee ended the stream: {reason}")


def _connect(channel: grpc.Channel, address: str) -> None:
    try:
        grpc.channel_ready_future(channel).result(timeout=CONNECT_SECONDS)
    except grpc.FutureTimeoutError as error:
        raise NoRefereeError(
            f"no referee at {address} within {CONNECT_SECONDS:.0f} s: "
            "the arena starts bots itself, with $ARENA_ADDRESS set"
        ) from error


def _converse(
    incoming: Iterator[bot_pb2.RefereeMessage],
    outgoing: "SimpleQueue[bot_pb2.BotMessage | None]",
    choose: Choose,
    observe: Observe | None,
) -> bot_pb2.Goodbye:
    game: Game | None = None
    for message in incoming:
        if observe is not None:
            observe(message)
        if message.HasField("welcome"):
            game = Game(message.welcome)
        if message.turns:
            outgoing.put(_answer(message, game, choose))
        if message.HasField("goodbye"):
            if message.goodbye.reason in _REFUSALS:
                raise RefusedError(message.goodbye.text)
            return message.goodbye
    raise DisconnectedError("the referee ended the stream without Goodbye")


def _answer(
    message: bot_pb2.RefereeMessage, game: Game | None, choose: Choose
) -> bot_pb2.BotMessage:
    if game is None:
        raise DisconnectedError("the referee sent turns before Welcome")
    clock = message.clock if message.HasField("clock") else None
    answer = bot_pb2.BotMessage()
    add = answer.choices.choices.add
    for wire in message.turns:
        action = choose(Turn(wire, game, clock))
        if not isinstance(action, int):
            action = _index(wire, action)
        add(turn=wire.id, action=action)
    return answer


def _index(turn: bot_pb2.Turn, action: bot_pb2.Action) -> int:
    if not isinstance(action, bot_pb2.Action):
        raise TypeError(
            f"choose returned {action!r}: return the index of an action, or one of turn.actions"
        )
    return list(turn.actions).index(action)
