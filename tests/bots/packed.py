"""Compresses all it says, and its fourth answer has as many bytes more as its argument says."""

import sys

import grpc
from raw import Stream, connect

stream = Stream(connect(getattr(grpc.Compression, sys.argv[1])))
stream.hello()
for number, message in stream.asked():
    if number == 3 and sys.argv[2] != "0":
        # Fields that the contract does not know, which a message may have.
        stream.send(b"\x7a\x00" * (int(sys.argv[2]) // 2))
    stream.answer(message)
