"""Says Hello and lets the referee write nothing: its window is shut, and it never reads."""

import struct
import time

import http2

from burabot import bot_pb2

peer = http2.dial()
hello = bot_pb2.BotMessage(hello=bot_pb2.Hello(name="deaf", protocol=1))
data = http2.message(hello.SerializeToString())
shut = struct.pack(">HI", http2.INITIAL_WINDOW_SIZE, 0)
peer.sendall(http2.open_stream(shut) + http2.frame(http2.DATA, data, stream=1))
time.sleep(60)
