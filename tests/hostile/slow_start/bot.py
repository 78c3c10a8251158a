"""Needs three seconds before it can play, as a large library may."""

import time

time.sleep(3)
from raw import begin  # noqa: E402 - the sleep stands for a slow import

begin().play()
