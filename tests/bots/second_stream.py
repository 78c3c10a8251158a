"""Opens two more streams in its fourth move, prints what became of them, and plays on properly."""

import grpc
from raw import Stream, begin, connect

from burabot import bot_pb2


def refusal() -> str:
    """Try to open a second stream and return how it ended."""
    second = Stream(connect())
    second.hello()
    reasons = []
    try:
        reasons.extend(bot_pb2.GoodbyeReason.Name(each.goodbye.reason) for each in second)
    except grpc.RpcError as error:
        return f"{reasons} {error.code().name}"
    return f"{reasons} no error"


stream = begin()
for number, message in stream.asked():
    if number == 3:
        print(refusal())
        print(refusal(), flush=True)
    stream.answer(message)
