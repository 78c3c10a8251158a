"""The contract between the referee and a bot, and a small client for bots in Python."""

from burabot import bot_pb2, cards
from burabot.client import (
    DisconnectedError,
    Game,
    NoRefereeError,
    RefereeError,
    RefusedError,
    Turn,
    play,
)

__all__ = [
    "DisconnectedError",
    "Game",
    "NoRefereeError",
    "RefereeError",
    "RefusedError",
    "Turn",
    "bot_pb2",
    "cards",
    "play",
]
