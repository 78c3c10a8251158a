"""Runs the tournament of crash_run.py, and prints what it came to."""

import json
import sys
from pathlib import Path
from typing import Any

from arena import planning, queries, tournament
from arena.home import find_home
from arena.infos import MatchInfo
from arena.ratings import find_rating, fold
from arena.statistics.stats import balance, score_per_deal
from arena.store import Store
from arena.tournament import StopFlag


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


def drive(home: Path) -> int:
    """Run it to its end, print the standings, and return the exit code."""
    with Store.open(find_home(home)) as store, StopFlag().signals() as stop:
        report = tournament.run(store, "cup", progress=Quiet(), stop=stop, concurrency=1)
        print(json.dumps(standings(store), sort_keys=True))
    return report.exit_code
