"""Prints what it finds, leaves files, shared memory, keys and children, and plays properly."""

import contextlib
import ctypes
import hashlib
import os
import subprocess
import sys

from raw import begin

found = []
for root, folders, files in os.walk("/"):
    folders[:] = sorted(one for one in folders if os.path.join(root, one) not in {"/proc", "/sys"})
    for name in sorted(files):
        with contextlib.suppress(OSError):
            path = os.path.join(root, name)
            found.append((path, os.lstat(path).st_size))
found.append(("processes", sum(one.isdecimal() for one in os.listdir("/proc"))))
print(len(found), hashlib.sha256(repr(found).encode()).hexdigest(), flush=True)

for place in ("/tmp", "/dev/shm", "/run", "/run/lock", "/var/tmp", "/bots", "/run/arena"):
    with contextlib.suppress(OSError), open(f"{place}/litter", "w") as file:
        file.write("x" * 1000)
libc = ctypes.CDLL(None)
libc.shmget(4711, 4096, 0o1600)
libc.msgget(4711, 0o1600)
libc.syscall(248, b"user", b"litter", b"x", 1, -3)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
begin().play()
os._exit(0)
