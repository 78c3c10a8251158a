"""Tournaments for tests: bots that are nowhere, and matches that are decided by their names."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from stores import Ticks, result

from arena import bots, tournament
from arena.home import Home
from arena.jobs import MatchDescription, Outcome, Played
from arena.store import Store
from arena.tournament import RunReport, StopFlag, TournamentOptions
from referee.results import TimeControl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from arena.infos import BotVersionInfo, MatchInfo

SEED = bytes(range(32))


def submit(
    store: Store,
    folder: Path,
    name: str,
    entropy: str | None = None,
    *,
    promised: str | None = None,
) -> BotVersionInfo:
    """Submit a folder that holds no program, every time another one; promise what is promised."""
    source = folder / name
    source.mkdir(exist_ok=True)
    number = len(list(source.iterdir()))
    (source / f"{number}.txt").write_text(f"{name} {number}")
    digest = None if promised is None else hashlib.sha256(promised.encode()).hexdigest()
    return bots.submit(store, name, str(source), "process", entropy=entropy, entropy_digest=digest)


@contextmanager
def store_of(folder: Path, names: Iterable[str]) -> Iterator[Store]:
    """Open a store with bots of these names."""
    with Store.open(Home(folder / "home"), clock=Ticks()) as store:
        for name in names:
            submit(store, folder, name)
        yield store


def options(*names: str, **changes: object) -> TournamentOptions:
    """Give the options of a small tournament, with changes."""
    values: dict[str, object] = {
        "name": "cup",
        "bots": names,
        "time": TimeControl(),
        "decks": 1,
        "sandbox": "process",
    }
    return TournamentOptions(**{**values, **changes})  # type: ignore[arg-type]


def play(job: MatchDescription, _beat: Callable[[], None]) -> Outcome:
    """Let the names decide: who is earlier in the alphabet has more points."""
    names = [entrant.name for entrant in job.spec.entrants]
    mean = sum(map(ord, (name[0] for name in names)))
    scores = tuple(mean - len(names) * ord(name[0]) for name in names)
    return Played(result=result(scores=scores), reports=())


class Script:
    """Listens to a run, and does something after so many finished matches."""

    def __init__(self, steps: dict[int, Callable[[], object]] | None = None) -> None:
        self.steps = steps or {}
        self.finished_matches = 0
        self.lines: list[str] = []

    def started(self, match: MatchInfo) -> None:
        """Note who plays."""
        self.lines.append(f"{match.number}: {' '.join(match.entrants)}")

    def finished(self, _match: MatchInfo) -> None:
        """Do what is due."""
        self.finished_matches += 1
        step = self.steps.get(self.finished_matches)
        if step is not None:
            step()

    def voided(self, match: MatchInfo, reason: str) -> None:
        """Note it."""
        self.lines.append(f"{match.number}: void, {reason}")

    def note(self, text: str) -> None:
        """Note it."""
        self.lines.append(text)


def run(
    store: Store,
    script: Script | None = None,
    *,
    name: str = "cup",
    stop: StopFlag | None = None,
    play: Callable[..., Outcome] = play,
) -> RunReport:
    """Run a tournament, one match at a time however many cores there are."""
    return tournament.run(
        store,
        name,
        progress=script or Script(),
        stop=stop or StopFlag(),
        play=play,
        concurrency=1,
    )
