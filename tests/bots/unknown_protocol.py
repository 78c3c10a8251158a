"""Speaks a version of the contract that nobody knows, and prints the answer."""

from raw import Stream, connect

from burabot import bot_pb2

stream = Stream(connect())
stream.hello(protocol=99)
for message in stream:
    print(bot_pb2.GoodbyeReason.Name(message.goodbye.reason), message.goodbye.text, flush=True)
stream.close()
