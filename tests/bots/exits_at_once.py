"""Ends before it connects."""

import sys

sys.exit("no configuration found")
