"""Makes itself hard to end, as its argument says, and stays."""

import ctypes
import os
import signal
import subprocess
import sys
import time

from raw import begin

# A process of its own, for gRPC's threads do not survive a fork.
DAEMONS = """import os, time
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
"""
libc = ctypes.CDLL(None, use_errno=True)


def ignore() -> None:
    """Ignore every signal that can be ignored, and sleep."""
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    time.sleep(60)


def stop() -> None:
    """Stop this process."""
    os.kill(os.getpid(), signal.SIGSTOP)


def trace() -> None:
    """Take hold of the container's first process, and of this one's parent."""
    ways = [(request, process) for process in (1, os.getppid()) for request in (16, 0x4206)]
    print("traced", [way for way in ways if libc.ptrace(*way, 0, 0) == 0], flush=True)


def scatter() -> None:
    """Leave children that belong to nobody, each in a session of its own."""
    subprocess.run([sys.executable, "-c", DAEMONS], check=True)


def wait() -> None:
    """Wait in the kernel for a child that never ends."""
    if libc.vfork() == 0:
        libc.pause()


stream = begin()
for number, message in stream.asked():
    if number == 3:
        {"ignore": ignore, "stop": stop, "trace": trace, "scatter": scatter, "wait": wait}[
            sys.argv[1]
        ]()
    stream.answer(message)
if sys.argv[1] == "trace":
    time.sleep(60)
