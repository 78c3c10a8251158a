"""Plays on, and has children that send the referee descriptors with all that they say to it."""

import array
import os
import socket

import http2
from http2 import ACK, PREFACE, SETTINGS, frame
from raw import begin

CHILDREN = 3
AT_ONCE = 200
TIMES = 500


def hand_over(peer: socket.socket, told: int) -> None:
    """Send descriptors until nobody takes them any more, and say how many went."""
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * AT_ONCE))
    sent = 0
    try:
        while sent < AT_ONCE * TIMES:
            peer.sendmsg([frame(SETTINGS)], [rights])
            sent += AT_ONCE
    except OSError:
        pass
    os.write(told, b"sent" if sent else b"none")
    os._exit(0)


peers = [http2.dial() for _ in range(CHILDREN)]
for each in peers:
    each.sendall(PREFACE + frame(SETTINGS) + frame(SETTINGS, flags=ACK))
stream = begin()
for number, message in stream.asked():
    if number == 1:
        for each in peers:
            hears, told = os.pipe()
            if os.fork() == 0:
                hand_over(each, told)
            print(os.read(hears, 4).decode(), flush=True)
    stream.answer(message)
