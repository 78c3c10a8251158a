"""Takes all it can get of what the kernel counts by user, keeps it, says how much, and plays on.

With an argument it only dials and stays: a client does not wait for ever for a silent referee.
"""

import array
import ctypes
import fcntl
import itertools
import os
import signal
import socket
import sys
import time
from collections.abc import Callable

from burabot import play

MOST = 200_000
PIPE_BYTES = 1 << 20
SIGNAL = signal.SIGRTMIN + 6
libc = ctypes.CDLL(None, use_errno=True)
left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
number = itertools.count()


def checked(result: int) -> int:
    """Return what the C library returned, or raise what it says is wrong."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def watcher() -> None:
    """Have one more instance that watches files."""
    checked(libc.inotify_init())


def descriptors() -> None:
    """Have fifty more descriptors under way to nobody."""
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 50))
    left.sendmsg([b"x"], [rights], socket.MSG_DONTWAIT)


def pipe() -> None:
    """Have one more pipe, as large as it may be."""
    fcntl.fcntl(os.pipe()[1], fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def queued_signal() -> None:
    """Have one more signal that waits for this process."""
    checked(libc.sigqueue(os.getpid(), SIGNAL, ctypes.c_void_p(0)))


def queue() -> None:
    """Have one more queue of messages."""
    checked(libc.mq_open(b"/%d" % next(number), os.O_CREAT | os.O_RDWR, 0o600, None))


def key() -> None:
    """Have one more key."""
    name = b"%d" % next(number)
    checked(libc.syscall({"x86_64": 248}.get(os.uname().machine, 217), b"user", name, b"x", 1, -4))


def terminal() -> None:
    """Have one more terminal."""
    os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)


KINDS = (watcher, descriptors, pipe, queued_signal, queue, key, terminal)


def take(kind: Callable[[], None], told: int) -> None:
    """Take of one kind until there is no more, tell how often that went well, and keep it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [SIGNAL])
    count = 0
    try:
        while count < MOST:
            kind()
            count += 1
    except OSError:
        pass
    os.write(told, b"%d" % count)
    while True:
        signal.pause()


taken = []
for one in KINDS:
    hears, told = os.pipe()
    # A child of its own for each, which has all the descriptors that a process may have.
    if os.fork() == 0:
        take(one, told)
    taken.append(f"{one.__name__} {os.read(hears, 20).decode()}")
print(", ".join(taken), flush=True)
if len(sys.argv) > 1:
    with socket.socket(socket.AF_UNIX) as referee:
        referee.connect(os.environ["ARENA_ADDRESS"].removeprefix("unix:"))
        time.sleep(600)
play(lambda _: 0, name="hog", version="1")
