"""Answers its fourth message as its argument says."""

import sys

from raw import begin

from burabot import bot_pb2

LARGEST = 2**32 - 1


def varint(number: int) -> bytes:
    """Return a number as protobuf writes it."""
    data = b""
    while number > 127:
        data += bytes([number % 128 + 128])
        number //= 128
    return data + bytes([number])


def choice(turn: int, action: bytes) -> bytes:
    """Return an answer of one choice with the bytes of an action."""
    one = b"\x08" + varint(turn) + action
    many = b"\x0a" + varint(len(one)) + one
    return b"\x12" + varint(len(many)) + many


def proper(turn: int) -> bytes:
    """Return a proper answer."""
    return choice(turn, b"\x10\x00")


ANSWERS = {
    "minus_one": lambda turn: choice(turn, b"\x10" + varint(2**64 - 1)),
    "largest": lambda turn: choice(turn, b"\x10" + varint(LARGEST)),
    # Only the lower 32 bits of a uint32 count, and they are the first action.
    "wraps_around": lambda turn: choice(turn, b"\x10" + varint(2**63)),
    "nan": lambda turn: choice(turn, b"\x11\x00\x00\x00\x00\x00\x00\xf8\x7f"),
    "text": lambda turn: choice(turn, b"\x12\x04true"),
    "unknown_fields": lambda turn: proper(turn) + b"\x7a" + varint(60_000) + b"x" * 60_000,
    "too_long": lambda turn: proper(turn) + b"\x7a" + varint(65_536) + b"x" * 65_536,
    "much_too_long": lambda turn: proper(turn) + b"\x7a" + varint(1 << 20) + b"x" * (1 << 20),
    "cut_off": lambda turn: proper(turn) + b"\x7a" + varint(1 << 24) + b"x" * (1 << 24),
    "old": lambda turn: choice(1, b"\x10\x00") + proper(turn),
    "next": lambda turn: choice(turn + 1, b"\x10\x00") + proper(turn),
    "nothing": lambda _: bot_pb2.BotMessage(choices=bot_pb2.Choices()).SerializeToString(),
}

stream = begin()
for number, message in stream.asked():
    if number == 3:
        stream.send(ANSWERS[sys.argv[1]](message.turns[0].id))
        if sys.argv[1] == "nothing":
            stream.answer(message)
    else:
        stream.answer(message)
