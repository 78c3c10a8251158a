"""Writes to the socket what is no gRPC, and stays."""

import os
import socket
import time

peer = socket.socket(socket.AF_UNIX)
peer.connect(os.environ["ARENA_ADDRESS"].removeprefix("unix:"))
peer.sendall(b"GET / HTTP/1.1\r\n\r\n")
time.sleep(60)
