"""Plays any action the rules allow, each as likely as the others.

The same turns get the same choices; $BOT_SEED gives it other dice.
"""

import os
import random

import burabot


class RandomBot:
    """Throws dice for every decision."""

    def __init__(self, seed: str | None = None) -> None:
        self._dice = random.Random(seed)

    def choose(self, turn: burabot.Turn) -> int:
        """Return the index of any action."""
        return self._dice.randrange(len(turn.actions))


if __name__ == "__main__":
    burabot.play(RandomBot(os.environ.get("BOT_SEED", "0")).choose, name="random", version="1")
