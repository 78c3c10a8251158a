"""Sends Hello byte by byte, too slowly ever to end it."""

import time

import http2

from burabot import bot_pb2

peer = http2.dial()
peer.sendall(http2.open_stream())
hello = bot_pb2.BotMessage(hello=bot_pb2.Hello(name="slow " * 50, protocol=1))
for byte in http2.message(hello.SerializeToString()):
    peer.sendall(http2.frame(http2.DATA, bytes([byte]), stream=1))
    time.sleep(0.5)
