"""What the benchmarks against OpenSpiel's euchre share: its environment, the players, the clock.

Both sides choose with random.choice in one process, in turns. A decision is one asked seat
choosing; OpenSpiel's chance nodes and our decks are in the time. The first run makes an environment
with OpenSpiel under .cache and goes on there.
"""

import os
import random
import subprocess
import time
import venv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from referee.rules import Rules

ROOT = Path(__file__).resolve().parent.parent.parent
ENVIRONMENT = ROOT / ".cache" / "open-spiel"
REQUIREMENT = "open-spiel==2.0.2"
SLICE_S = 0.02
DECKS_AT_ONCE = 50
DEALS_AT_ONCE = 10

Play = Callable[[], int]
"""Plays some deals and returns the number of decisions."""


class Rate(NamedTuple):
    """Decisions per second of processor time, over all slices of a side."""

    best: float
    median: float


def run(script: str, measure: Callable[[], int]) -> int:
    """Measure where OpenSpiel is, here or in an environment of its own; return the exit code."""
    try:
        import pyspiel  # noqa: F401, PLC0415 - it lives in the benchmarks' own environment only
    except ImportError:
        return _run_in_environment(script)
    return measure()


def _run_in_environment(script: str) -> int:
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
    installed = subprocess.run([python, "-c", "import pyspiel"], capture_output=True, check=False)
    if installed.returncode:
        subprocess.run([python, "-m", "pip", "install", "--quiet", REQUIREMENT], check=True)
        subprocess.run([python, "-c", "import pyspiel"], check=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([python, script], env=environment, check=False).returncode


def rates(sides: Mapping[str, Play], *, warm_up: int, rounds: int) -> dict[str, Rate]:
    """Let the sides play in turns, a slice each time, and return the rate of each.

    Slices are short, and the best one of each side is what counts, because other work on the
    machine only ever slows down.
    """
    for play in sides.values():
        for _ in range(warm_up):
            _rate(play)
    measured: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, play in sides.items():
            measured[name].append(_rate(play))
    return {name: Rate(max(each), sorted(each)[len(each) // 2]) for name, each in measured.items()}


def _rate(play: Play) -> float:
    """Play whole deals for a while and return the decisions per second of processor time."""
    decisions = 0
    # Processor time, because other work on the machine would hit one side or the other by chance.
    start = now = time.process_time()
    while now - start < SLICE_S:
        decisions += play()
        now = time.process_time()
    return decisions / (now - start)


def euchre() -> Play:
    """Return what plays deals of OpenSpiel's euchre."""
    import pyspiel  # noqa: PLC0415 - see run

    game = pyspiel.load_game("euchre")
    choice = random.choice

    def play() -> int:
        decisions = 0
        for _ in range(DEALS_AT_ONCE // 2):
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    state.apply_action(choice(state.legal_actions()))
                else:
                    state.apply_action(choice(state.legal_actions()))
                    decisions += 1
        return decisions

    return play


def deals(rules: "Rules", seats: int) -> Play:
    """Return what plays deals by our rules."""
    from referee.cards import full_deck  # noqa: PLC0415 - the path is set in the environment only
    from referee.rules import deal  # noqa: PLC0415

    source = _ShuffledDecks(full_deck(rules.deck))
    choice = random.choice

    def play() -> int:
        decisions = 0
        for _ in range(DEALS_AT_ONCE):
            state = deal(rules, seats=seats, dealer=0, source=source)
            while state.outcome is None:
                seat = state.asked[0]
                state.apply(seat, choice(state.legal_actions(seat)))
                decisions += 1
        return decisions

    return play


class _ShuffledDecks:
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
