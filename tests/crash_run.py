"""Runs a tournament of an arena, and kills processes at one step of a match's life.

Arguments: the home; then, if somebody is to be killed, the step, who dies (driver, worker or both;
with nobody, whoever passes the step stands still) and, if it is not the first, which time the step
is passed. It happens once in the life of the home.
Prints the standings as JSON, the last of them the format's own order.

The code above the guard runs in the workers too: they import this file as their main module.
"""

import json
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import docker

from arena import planning, queries, steps, tournament
from arena.home import find_home
from arena.infos import MatchInfo
from arena.ratings import find_rating, fold
from arena.statistics.stats import balance, score_per_deal
from arena.steps import Step
from arena.store import Store
from arena.tournament import StopFlag

HOME = Path(sys.argv[1])
STEP, WHO = (sys.argv[2], sys.argv[3]) if len(sys.argv) > 3 else ("", "")
CREATED = "created"
IMPATIENT = "IMPATIENT"
"""A variable of the environment: if it is set, a leg that stood still is played again."""

LATER = {Step.DEALING: 7}
"""Steps that are passed often: which time to die."""

if IMPATIENT not in os.environ:
    import patient  # noqa: F401 - to import it is enough

TIME = int(sys.argv[4]) if len(sys.argv) > 4 else 0

passed = 0
_start_container = docker.APIClient.start


def crash(step: str) -> None:
    """Kill whom the arguments say, the first time this step is passed in this home."""
    global passed  # noqa: PLW0603 - counts within this process
    if step != STEP:
        return
    passed += 1
    if passed < (TIME or LATER.get(Step(step) if step != CREATED else Step.LEASED, 1)):
        return
    try:
        os.close(os.open(HOME / "crashed", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    in_worker = multiprocessing.parent_process() is not None
    if WHO in {"driver", "both"}:
        os.kill(os.getppid() if in_worker else os.getpid(), signal.SIGKILL)
    if WHO in {"worker", "both"}:
        os.kill(os.getpid(), signal.SIGKILL)
    while WHO == "nobody":
        time.sleep(1)


def start_container(self: docker.APIClient, name: str) -> None:
    """Start a container, or die between its creation and its start."""
    crash(CREATED)
    _start_container(self, name)


steps.checkpoint = crash
docker.APIClient.start = start_container  # type: ignore[method-assign]


class Quiet:
    """Prints what goes wrong only."""

    def started(self, match: MatchInfo) -> None:
        """Say nothing."""

    def finished(self, match: MatchInfo) -> None:
        """Say nothing."""

    def voided(self, match: MatchInfo, reason: str) -> None:
        """Say why."""
        print(f"void: {match.number} {reason}", file=sys.stderr)

    def note(self, text: str) -> None:
        """Say it."""
        print(text, file=sys.stderr)


def standings(store: Store) -> list[dict[str, Any]]:
    """Give everything that a table could show, to the last digit."""
    played = queries.played_matches(store, "cup")
    rows: list[dict[str, Any]] = [
        {
            "name": rating.entrant,
            "rating": [repr(rating.skill.mu), repr(rating.skill.sigma), rating.games],
            "score": repr(score_per_deal(played, rating.entrant)),
            "balance": repr(balance(played, rating.entrant)),
        }
        for rating in fold(played, find_rating("trueskill"))
    ]
    return [*rows, {"order": repr(planning.table(store, queries.tournament(store, "cup")))}]


if __name__ == "__main__":
    with Store.open(find_home(HOME)) as store, StopFlag().signals() as stop:
        report = tournament.run(store, "cup", progress=Quiet(), stop=stop, concurrency=1)
        print(json.dumps(standings(store), sort_keys=True))
    sys.exit(report.exit_code)
