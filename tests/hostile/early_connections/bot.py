"""Holds as many connections as it can get from five children, and goes without a Hello."""

import os
import socket
import time

import http2

CHILDREN = 5
AT_ONCE = 60
ALLOWED = 8
SECONDS = 20.0


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


def hold(told: int, orders: int) -> None:
    """Connect, say so, and count what is held whenever that is asked."""
    peers = [http2.dial() for _ in range(AT_ONCE)]
    os.write(told, b".")
    while os.read(orders, 1):
        os.write(told, bytes([sum(map(is_open, peers))]))


hears, told = os.pipe()
children = []
for _ in range(CHILDREN):
    orders, child = os.pipe()
    if os.fork() == 0:
        hold(told, orders)
        os._exit(0)
    children.append(child)
for _ in range(CHILDREN):
    os.read(hears, 1)
held = CHILDREN * AT_ONCE
until = time.monotonic() + SECONDS
# The referee closes what is too much as soon as it comes to it.
while held > ALLOWED and time.monotonic() < until:
    for child in children:
        os.write(child, b".")
    held = sum(os.read(hears, 1)[0] for _ in range(CHILDREN))
print(held, "of", CHILDREN * AT_ONCE, "connections", flush=True)
