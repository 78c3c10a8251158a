"""Prints eight kilobytes and exits with code 3 before it connects."""

import sys

print("x" * 4096)
print("y" * 4000, "the end of what it said", flush=True)
sys.exit(3)
