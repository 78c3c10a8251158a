"""Results as a list of games in PGN, which rating programs such as Ordo and BayesElo read."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from arena.statistics.stats import pair_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arena.statistics.stats import PlayedMatch

WHITE_WON, BLACK_WON, DRAWN = "1-0", "0-1", "1/2-1/2"


def game_list(
    event: str, date: str, matches: Iterable[PlayedMatch], rounds: Mapping[int, int]
) -> str:
    """Return a game for each two sides of each match, in the order of the schedule.

    The side that sits first in the first leg is White; the higher total won. Of pairs the labels
    of both bots make the player's name, as in the table of the pairs.

    Args:
        event: Name of the tournament.
        date: Of its creation, YYYY.MM.DD.
        matches: Results.
        rounds: The round of each match by its number.
    """
    games = []
    for match in sorted(matches, key=lambda match: match.number):
        names = _names(match)
        for white, black in combinations(range(len(names)), 2):
            lead = match.totals[white] - match.totals[black]
            result = WHITE_WON if lead > 0 else BLACK_WON if lead < 0 else DRAWN
            tags = {
                "Event": event,
                "Site": "?",
                "Date": date,
                "Round": f"{rounds[match.number]}.{match.number}",
                "White": names[white],
                "Black": names[black],
                "Result": result,
            }
            lines = [f'[{tag} "{_quoted(value)}"]' for tag, value in tags.items()]
            games.append("\n".join([*lines, "", result, ""]))
    return "\n".join(games)


def _names(match: PlayedMatch) -> list[str]:
    """Return the player's name of each side, in the order of the teams; copies count twice."""
    sides: defaultdict[int, list[str]] = defaultdict(list)
    for place, label in enumerate(match.entrants):
        sides[match.sides[place] if match.sides else place].append(label)
    return [pair_label(labels) for labels in sides.values()]


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
