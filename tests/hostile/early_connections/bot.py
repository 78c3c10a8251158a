"""Holds as many connections as it can get from five children, and never says Hello."""

import os
import socket
import time

import http2

CHILDREN = 5
AT_ONCE = 60


def is_open(peer: socket.socket) -> bool:
    """Tell whether the referee still holds a connection; what it sent is thrown away."""
    try:
        while peer.recv(1 << 16, socket.MSG_DONTWAIT):
            pass
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def hold(told: int, go: int) -> None:
    """Connect, count what is held when all others do, say how many, and stay."""
    peers = [http2.dial() for _ in range(AT_ONCE)]
    os.write(told, b".")
    os.read(go, 1)
    os.write(told, bytes([sum(map(is_open, peers))]))
    time.sleep(60)
    os._exit(0)


hears, told = os.pipe()
waits, go = os.pipe()
for _ in range(CHILDREN):
    if os.fork() == 0:
        hold(told, waits)
for _ in range(CHILDREN):
    os.read(hears, 1)
time.sleep(0.3)
os.write(go, b"." * CHILDREN)
held = sum(os.read(hears, 1)[0] for _ in range(CHILDREN))
print(held, "of", CHILDREN * AT_ONCE, "connections", flush=True)
time.sleep(60)
