"""Two of these try to tell each other something by every way there is.

What it prints is JSON: for each channel what was said, and what was heard. The argument says who it
is: "say", "hear", or "both" in one container, which shows that the ears work.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import signal
import socket
import struct
import sys
import threading
import time

WORD = b"the opponent holds the ace of trumps"
SECONDS = 8.0
KEY = 0x42555241
PORT = 17171
SHARED = [sys.executable, json.__file__, socket.__file__, os.__file__]
# A lock of this kind ends when its process closes the file, however often it is open.
LOCKED = [signal.__file__, contextlib.__file__]
FOLDERS = ["/tmp", "/dev/shm", "/var/tmp", "/run/lock", "/run/arena", "/var/lock", "/"]
LIBC = ctypes.CDLL(None, use_errno=True)
CALLS = {
    "shmget": 29,
    "msgget": 68,
    "semget": 64,
    "mq_open": 240,
    "add_key": 248,
    "keyctl": 250,
    "cachestat": 451,
}
if os.uname().machine == "aarch64":
    CALLS = {
        "shmget": 194,
        "msgget": 186,
        "semget": 190,
        "mq_open": 180,
        "add_key": 217,
        "keyctl": 219,
        "cachestat": 451,
    }
RWF_NOWAIT = 8
TCP, UDP, RAW = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW
VSOCK, NETLINK, PACKET, ALG = 40, 16, 17, 38


def call(name, *arguments):
    """Call the kernel; raise what it answers."""
    found = LIBC.syscall(CALLS[name], *arguments)
    if found == -1:
        raise OSError(ctypes.get_errno(), name)
    return found


def serve(family, kind, address):
    """Say the word to whoever connects, until the end."""
    one = socket.socket(family, kind)
    one.bind(address)
    if kind == TCP:
        one.listen(4)
        threading.Thread(target=answer, args=(one,), daemon=True).start()
    return one


def answer(server):
    """Answer each caller with the word."""
    while True:
        with contextlib.suppress(OSError), server.accept()[0] as caller:
            caller.sendall(WORD)


def ask(family, address):
    """Connect and return whether the word is said."""
    with socket.socket(family, TCP) as one:
        one.settimeout(1)
        one.connect(address)
        return one.recv(100) == WORD


def send(family, kind, address):
    """Send the word again and again, to whoever listens by then."""
    one = socket.socket(family, kind)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)

    def repeat():
        while True:
            with contextlib.suppress(OSError):
                one.sendto(WORD, address)
            time.sleep(0.05)

    threading.Thread(target=repeat, daemon=True).start()
    return one


def receive(family, kind, address):
    """Listen for the word."""
    with socket.socket(family, kind) as one:
        one.settimeout(1)
        one.bind(address)
        return WORD in one.recv(1000)


def write_file(folder):
    """Leave a file."""
    with open(folder + "/talk", "wb") as file:
        file.write(WORD)


def read_file(folder):
    """Look for the file."""
    with open(folder + "/talk", "rb") as file:
        return file.read() == WORD


def lock(how, paths=SHARED):
    """Hold a lock on files that both can read."""
    held = [open(path, "rb") for path in paths]
    for file in held:
        how(file)
    return held


def is_flocked():
    """Tell whether any of the files is locked as `flock` does."""
    for path in SHARED:
        with open(path, "rb") as file:
            try:
                flock(file)
            except BlockingIOError:
                return True
    return False


def flock(file):
    """Lock as `flock` does."""
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def posix_lock(file):
    """Lock a range for reading, which needs no right to write."""
    fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)


def is_posix_locked():
    """Ask who would be in the way of a lock for writing, which needs no right to write either."""
    wanted = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    for path in LOCKED:
        with open(path, "rb") as file:
            kind, *_ = struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, wanted))
            if kind != fcntl.F_UNLCK:
                return True
    return False


def lease(file):
    """Ask to be told of others who open the file."""
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)


def is_held_open():
    """Ask for a lease that nobody gets of a file which others have open."""
    for path in SHARED:
        with open(path, "rb") as file:
            try:
                fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            except BlockingIOError:
                return True
    return False


def read_lock_table():
    """Read who holds which lock on this machine."""
    with open("/proc/locks") as file:
        return bool(file.read())


def touch():
    """Open and read the shared files again and again."""

    def repeat():
        while True:
            for path in SHARED:
                with open(path, "rb") as file:
                    file.read(1)
            time.sleep(0.02)

    threading.Thread(target=repeat, daemon=True).start()


def is_touched():
    """Watch whether somebody else opens the shared files."""
    watch = LIBC.inotify_init1(0o4000)
    for path in SHARED:
        LIBC.inotify_add_watch(watch, path.encode(), 0x21)
    time.sleep(1)
    try:
        return bool(os.read(watch, 4096))
    except BlockingIOError:
        return False


def page_of_an_image():
    """Return a file of the image and a page in it that nobody else reads."""
    file = os.open(SHARED[0], os.O_RDONLY)
    return file, (os.fstat(file).st_size // 4096 // 2) * 4096


def drop_page():
    """Take a page of a shared file out of memory."""
    file, place = page_of_an_image()
    os.posix_fadvise(file, place, 4096, os.POSIX_FADV_DONTNEED)


def is_page_there():
    """Ask whether the page is in memory, without reading it into memory."""
    file, place = page_of_an_image()
    return os.preadv(file, [bytearray(1)], place, RWF_NOWAIT) >= 0


def count_pages():
    """Ask the newer call the same."""
    file, place = page_of_an_image()
    return call("cachestat", file, (ctypes.c_uint64 * 2)(place, 4096), (ctypes.c_uint64 * 5)(), 0)


def fill_disk():
    """Change how much of the machine's disk is free."""
    print("x" * 300_000, file=sys.stderr, flush=True)


def is_disk_seen():
    """Ask how much of the machine's disk is free."""
    return os.statvfs("/").f_bfree >= 0


def system_v(name):
    """Make a thing that is known by its key all over an ipc namespace."""
    arguments = {"shmget": (KEY, 4096, 0o1666), "msgget": (KEY, 0o1666), "semget": (KEY, 1, 0o1666)}
    return call(name, *arguments[name])


def find_system_v(name):
    """Look for the thing with the key."""
    arguments = {"shmget": (KEY, 4096, 0), "msgget": (KEY, 0), "semget": (KEY, 1, 0)}
    return call(name, *arguments[name]) >= 0


def read_queues():
    """Look for message queues of others."""
    return "talk" in os.listdir("/dev/mqueue")


def add_key():
    """Leave a key in the keyring of the user, which containers may share."""
    return call("add_key", b"user", b"talk", WORD, len(WORD), -4)


def read_key():
    """Look for the key."""
    return call("keyctl", 10, -4, b"user", b"talk", 0) >= 0


def await_signal():
    """Be there for a signal."""
    heard = []
    signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))
    return heard


def signal_all():
    """Send a signal to everybody."""
    for pid in range(2, 4096):
        with contextlib.suppress(OSError):
            if pid != os.getpid():
                os.kill(pid, signal.SIGUSR1)


def read_environments():
    """Look for processes of others, and into them."""
    mine = {os.getpid(), os.getppid(), 1}
    others = [int(one) for one in os.listdir("/proc") if one.isdecimal()]
    return any(pid not in mine for pid in others)


def read_load():
    """Look whether somebody else computes."""
    for path in ("/proc/loadavg", "/proc/stat", "/proc/uptime", "/proc/schedstat"):
        with contextlib.suppress(OSError), open(path) as file:
            if file.read():
                return True
    return False


def set_knob():
    """Turn a setting of the kernel that everybody can read."""
    with open("/proc/sys/kernel/domainname", "wb") as file:
        file.write(b"talk")


def read_knob():
    """Read the setting."""
    with open("/proc/sys/kernel/domainname", "rb") as file:
        return file.read().strip() == b"talk"


def open_family(family, kind):
    """Open a socket of a family that crosses containers."""
    return socket.socket(family, kind)


SAY = {
    "tcp": lambda: serve(socket.AF_INET, TCP, ("127.0.0.1", PORT)),
    "tcp6": lambda: serve(socket.AF_INET6, TCP, ("::1", PORT)),
    "udp": lambda: send(socket.AF_INET, UDP, ("127.0.0.1", PORT + 1)),
    "broadcast": lambda: send(socket.AF_INET, UDP, ("255.255.255.255", PORT + 2)),
    "abstract socket": lambda: serve(socket.AF_UNIX, TCP, "\0talk"),
    "socket file": lambda: serve(socket.AF_UNIX, TCP, "/tmp/talk.sock"),
    "socket beside the referee's": lambda: serve(socket.AF_UNIX, TCP, "/run/arena/talk.sock"),
    "flock": lambda: lock(flock),
    "posix lock": lambda: lock(posix_lock, LOCKED),
    "lease": lambda: lock(lease),
    "opening files": touch,
    "page cache": drop_page,
    "disk": fill_disk,
    "shared memory": lambda: system_v("shmget"),
    "message queue": lambda: system_v("msgget"),
    "semaphore": lambda: system_v("semget"),
    "keyring": add_key,
    "signal": signal_all,
    "kernel setting": set_knob,
    **{f"file in {folder}": lambda folder=folder: write_file(folder) for folder in FOLDERS},
}
HEAR = {
    "tcp": lambda: ask(socket.AF_INET, ("127.0.0.1", PORT)),
    "tcp6": lambda: ask(socket.AF_INET6, ("::1", PORT)),
    "udp": lambda: receive(socket.AF_INET, UDP, ("127.0.0.1", PORT + 1)),
    "broadcast": lambda: receive(socket.AF_INET, UDP, ("", PORT + 2)),
    "abstract socket": lambda: ask(socket.AF_UNIX, "\0talk"),
    "socket file": lambda: ask(socket.AF_UNIX, "/tmp/talk.sock"),
    "socket beside the referee's": lambda: ask(socket.AF_UNIX, "/run/arena/talk.sock"),
    "flock": is_flocked,
    "posix lock": is_posix_locked,
    "lease": is_held_open,
    "table of locks": read_lock_table,
    "opening files": is_touched,
    "page cache": is_page_there,
    "count of pages": lambda: count_pages() >= 0,
    "disk": is_disk_seen,
    "shared memory": lambda: find_system_v("shmget"),
    "message queue": lambda: find_system_v("msgget"),
    "semaphore": lambda: find_system_v("semget"),
    "posix queue": read_queues,
    "keyring": read_key,
    "processes": read_environments,
    "load": read_load,
    "kernel setting": read_knob,
    "vsock": lambda: bool(open_family(VSOCK, TCP)),
    "netlink": lambda: bool(open_family(NETLINK, RAW)),
    "packets": lambda: bool(open_family(PACKET, RAW)),
    "kernel crypto": lambda: bool(open_family(ALG, socket.SOCK_SEQPACKET)),
    "raw": lambda: bool(socket.socket(socket.AF_INET, RAW, 1)),
    **{f"file in {folder}": lambda folder=folder: read_file(folder) for folder in FOLDERS},
}


def attempt(ways):
    """Try every way; keep what it needs alive, and give the results by name."""
    results, kept = {}, []
    for name, way in ways.items():
        try:
            found = way()
        except OSError as error:
            results[name] = errno.errorcode.get(error.errno, str(error))
        else:
            kept.append(found)
            results[name] = found is not False
    return results, kept


def main():
    """Say, hear, or both."""
    role = sys.argv[1]
    heard = await_signal()
    report = {}
    hears, told = os.pipe()
    if role == "both" and os.fork() == 0:
        role = "say"
        sys.stdout = open("/dev/null", "w")
    if role == "say":
        report["said"], kept = attempt(SAY)
        os.write(told, b".")
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            signal_all()
            time.sleep(0.1)
        del kept
    else:
        if role == "both":
            os.read(hears, 1)
        report["heard"], _ = attempt(HEAR)
        report["heard"]["signal"] = bool(heard)
    print(json.dumps(report), flush=True)


main()
