"""Drops its stream in its fourth move, and comes back on another for a second life."""

import time

import grpc
from raw import Stream, begin, connect

stream = begin()
for number, message in stream.asked():
    if number == 3:
        stream.call.cancel()
        break
    stream.answer(message)
second = Stream(connect())
second.hello()
try:
    print(next(iter(second)).goodbye.text, flush=True)
except grpc.RpcError as error:
    print(error.code().name, flush=True)
time.sleep(60)
