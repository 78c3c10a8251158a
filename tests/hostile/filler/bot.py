"""Fills what it can write, as its argument says, prints what stops it, and plays on."""

import errno
import os
import socket
import sys

from raw import begin


def fill_file() -> None:
    """Fill /tmp with one file."""
    with open("/tmp/block", "wb") as file:
        while True:
            file.write(bytes(1 << 20))


def fill_inodes() -> None:
    """Fill /tmp with files that hold nothing."""
    for number in range(1_000_000):
        os.close(os.open(f"/tmp/{number}", os.O_CREAT))


def fill_shm() -> None:
    """Write where shared memory usually lies."""
    with open("/dev/shm/block", "wb") as file:
        while True:
            file.write(bytes(1 << 20))


def fill_sparse() -> None:
    """Make a file of a terabyte that holds nothing."""
    with open("/tmp/sparse", "wb") as file:
        os.ftruncate(file.fileno(), 1 << 40)


def fill_memory() -> None:
    """Write a gigabyte to files that have no name."""
    for number in range(64):
        held = os.memfd_create(str(number))
        for _ in range(16):
            os.write(held, bytes(1 << 20))


def fill_network() -> None:
    """Send datagrams that nobody reads, to as many sockets as there can be."""
    held = []
    while True:
        peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        held.append(peer)
        peer.bind(("127.0.0.1", 0))
        for _ in range(200):
            peer.sendto(bytes(1000), peer.getsockname())


FILLS = {
    "file": fill_file,
    "inodes": fill_inodes,
    "shm": fill_shm,
    "sparse": fill_sparse,
    "memory": fill_memory,
    "network": fill_network,
}

stream = begin()
for number, message in stream.asked():
    if number == 3:
        try:
            FILLS[sys.argv[1]]()
        except OSError as error:
            print(errno.errorcode[error.errno], flush=True)
    stream.answer(message)
