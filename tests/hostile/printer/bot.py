"""Prints for ever, as its argument says, while it plays; it does not stop at Goodbye."""

import sys
import threading

from raw import begin

WORDS = {
    "lines": b"a line that is printed again and again\n" * 1000,
    # Three hundred megabytes, and never a newline.
    "line": b"x" * (1 << 20),
    "bytes": bytes(range(128, 256)) * 100 + b"\n",
    "escapes": b"\x1b]0;owned\x07\x1b[2J\x1b[31mred\xe2\x80\xae\n" * 1000,
}
MOST = 300 << 20


def flood() -> None:
    """Print to both streams in turn."""
    data, printed = WORDS[sys.argv[1]], 0
    while sys.argv[1] != "line" or printed < MOST:
        for out in (sys.stdout.buffer, sys.stderr.buffer):
            out.write(data)
            out.flush()
        printed += 2 * len(data)


threading.Thread(target=flood).start()
begin().play()
