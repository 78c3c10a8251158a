"""How fast the rules are: random bura for two in Python against OpenSpiel's euchre.

Both sides choose with random.choice in this one process, in turns. A decision is one asked seat
choosing; OpenSpiel's chance nodes and our decks are in the time. The first run makes an environment
with OpenSpiel under .cache and goes on there. Slices are short and the best of each side counts,
because other work on the machine only ever slows down. Exits with 1 below the bar.
"""

import os
import random
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".cache" / "open-spiel"
REQUIREMENT = "open-spiel==2.0.2"
BAR = 1.0
WARM_UP = 20
ROUNDS = 120
SLICE_S = 0.05
DECKS_AT_ONCE = 500


def main() -> int:
    """Measure both, print the rates and their ratio, and return the exit code."""
    try:
        import pyspiel  # noqa: F401, PLC0415 - it lives in the benchmark's own environment only
    except ImportError:
        return _run_in_environment()
    sides = {"euchre": _euchre(), "bura": _bura()}
    for play in sides.values():
        for _ in range(WARM_UP):
            _rate(play)
    rates: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, play in sides.items():
            rates[name].append(_rate(play))
    best = {name: max(each) for name, each in rates.items()}
    for name, each in rates.items():
        median = sorted(each)[len(each) // 2]
        print(f"{name:8} {best[name]:9,.0f} decisions/s at best, {median:9,.0f} in the median")
    ratio = best["bura"] / best["euchre"]
    verdict = "ok" if ratio >= BAR else "too slow"
    print(f"rules_speed: ratio {ratio:.2f} (bar {BAR:.2f}) {verdict}")
    return 0 if ratio >= BAR else 1


def _run_in_environment() -> int:
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
    installed = subprocess.run([python, "-c", "import pyspiel"], capture_output=True, check=False)
    if installed.returncode:
        subprocess.run([python, "-m", "pip", "install", "--quiet", REQUIREMENT], check=True)
        subprocess.run([python, "-c", "import pyspiel"], check=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([python, __file__], env=environment, check=False).returncode


def _rate(play: Callable[[], int]) -> float:
    """Play whole deals for a while and return the decisions per second of processor time."""
    decisions = 0
    # Processor time, because other work on the machine would hit one side or the other by chance.
    start = now = time.process_time()
    while now - start < SLICE_S:
        decisions += play()
        now = time.process_time()
    return decisions / (now - start)


def _euchre() -> Callable[[], int]:
    import pyspiel  # noqa: PLC0415 - see main

    game = pyspiel.load_game("euchre")
    choice = random.choice

    def play() -> int:
        decisions = 0
        for _ in range(5):
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    state.apply_action(choice(state.legal_actions()))
                else:
                    state.apply_action(choice(state.legal_actions()))
                    decisions += 1
        return decisions

    return play


class ShuffledDecks:
    """Uniformly random decks, shuffled many at once."""

    def __init__(self, cards: Sequence[int]) -> None:
        import numpy as np  # noqa: PLC0415 - comes with OpenSpiel

        self._generator = np.random.default_rng()
        self._cards = np.tile(np.array(cards), (DECKS_AT_ONCE, 1))
        self._decks: list[list[int]] = []

    def deck(self, attempt: int) -> Sequence[int]:
        """Return another deck each time."""
        del attempt
        if not self._decks:
            self._decks = self._generator.permuted(self._cards, axis=1).tolist()
        return self._decks.pop()

    def index(self, purpose: str, n: int) -> int:
        """Return a random number below n."""
        del purpose
        return random.randrange(n)


def _bura() -> Callable[[], int]:
    from referee.cards import full_deck  # noqa: PLC0415 - the path is set in the environment only
    from referee.rules import deal  # noqa: PLC0415
    from referee.variants import VARIANTS  # noqa: PLC0415

    rules = VARIANTS["bura"]
    source = ShuffledDecks(full_deck(rules.deck))
    choice = random.choice

    def play() -> int:
        decisions = 0
        for _ in range(10):
            state = deal(rules, seats=2, dealer=0, source=source)
            while state.outcome is None:
                seat = state.asked[0]
                state.apply(seat, choice(state.legal_actions(seat)))
                decisions += 1
        return decisions

    return play


if __name__ == "__main__":
    sys.exit(main())
