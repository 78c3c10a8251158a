"""How much each sample bot beats the one before it, in mirrored series of `bura`.

    python benchmarks/strength.py [DECKS]

Bots are asked in this process, but through the messages of the contract and afresh in each leg, so
that they see and remember no more than as programs. The last line gives the lowest end of the 95%
intervals of the score per deal, and its bar; the exit code is 1 below it.
"""

import hashlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import burabot
from arena.statistics.intervals import interval
from burabot import bot_pb2
from referee.match import play_leg
from referee.players import Inbox, ScriptedPlayer, Turn, Update
from referee.results import Entrant, MatchResult, MatchSpec, TimeControl
from referee.variants import find_variant
from referee.wire import Wire

BOTS = Path(__file__).resolve().parent.parent / "sample_bots"
DECKS = 400
BAR = 0.0

Choose = Callable[[burabot.Turn], int]


def load(bot: str) -> ModuleType:
    """Import the program of a sample bot without running it."""
    spec = importlib.util.spec_from_file_location(f"sample_{bot}", BOTS / bot / "bot.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"no sample bot {bot!r}: expected {BOTS / bot / 'bot.py'}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def start(bot: str, seed: str) -> Choose:
    """Give a fresh bot's way to choose."""
    module = load(bot)
    choose: dict[str, Callable[[], Choose]] = {
        "random": lambda: module.RandomBot(seed).choose,
        "greedy": lambda: module.choose,
        "counter": lambda: module.CounterBot(seed).choose,
    }
    return choose[bot]()


def through_the_wire(choose: Choose, spec: MatchSpec, seat: int) -> Callable[[Turn], int]:
    """Let the referee ask a bot that knows messages of the contract only."""
    wire = Wire(spec, seat)
    game = burabot.Game(bot_pb2.RefereeMessage.FromString(wire.welcome()).welcome)

    def ask(turn: Turn) -> int:
        (raw,) = wire.packed(Update(turns=(turn,)))
        (message,) = bot_pb2.RefereeMessage.FromString(raw).turns
        return choose(burabot.Turn(message, game))

    return ask


def play(bots: tuple[str, ...], variant: str, decks: int) -> MatchResult:
    """Play a mirrored series of sample bots."""
    spec = MatchSpec(
        variant=variant,
        rules=find_variant(variant),
        seats=len(bots),
        decks=decks,
        seed=hashlib.sha256(f"strength {' '.join(bots)}".encode()).digest(),
        entrants=tuple(Entrant(bot) for bot in bots),
        # Nobody is to lose on time here because the machine is busy.
        time_control=TimeControl(move_time_ms=60_000),
    )
    legs = []
    for leg in range(spec.legs):
        inbox = Inbox()
        players = []
        for seat in range(spec.seats):
            bot = bots[spec.entrant_at(leg, seat)]
            choose = start(bot, f"{bot} {leg} {seat}")
            players.append(ScriptedPlayer(through_the_wire(choose, spec, seat), seat, inbox))
        legs.append(play_leg(spec, leg, players, inbox))
    return MatchResult(spec=spec, legs=tuple(legs))


def score_per_deal(result: MatchResult, entrant: int) -> tuple[float, float]:
    """The mean score of a deal and half its 95% interval, over decks."""
    decks = [float(deck[entrant]) / result.spec.legs for deck in result.deck_scores()]
    mean, half_width = interval(decks)
    if half_width is None:
        raise ValueError("one deck tells nothing of an interval: play at least two")
    return mean, half_width


def main(decks: int) -> int:
    """Play both pairs, print the scores, and judge the lowest end of their intervals."""
    lowest = float("inf")
    for better, worse in (("greedy", "random"), ("counter", "greedy")):
        result = play((better, worse), "bura", decks)
        mean, half_width = score_per_deal(result, 0)
        lowest = min(lowest, mean - half_width)
        print(
            f"{better} against {worse}: {mean:+.3f} +/- {half_width:.3f} points a deal"
            f" ({decks} decks, both rotations, {len(result.faults)} faults)"
        )
    print(f"strength: lowest end {lowest:+.3f}, bar {BAR:+.3f}")
    return 0 if lowest > BAR else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else DECKS))
