"""Says Hello, then sends its first answer byte by byte, too slowly ever to end it."""

import time

import http2

from burabot import bot_pb2

peer = http2.dial()
hello = bot_pb2.BotMessage(hello=bot_pb2.Hello(name="slow", protocol=1))
data = http2.message(hello.SerializeToString())
peer.sendall(http2.open_stream() + http2.frame(http2.DATA, data, stream=1))
answer = bot_pb2.BotMessage()
for number in range(200):
    answer.choices.choices.add(turn=number + 1, action=0)
for byte in http2.message(answer.SerializeToString()):
    peer.sendall(http2.frame(http2.DATA, bytes([byte]), stream=1))
    time.sleep(0.2)
