"""Results as a list of games in PGN, which rating programs such as Ordo and BayesElo read."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from arena.statistics.stats import pair_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from arena.statistics.stats import PlayedMatch

WHITE_WON, BLACK_WON, DRAWN = "1-0", "0-1", "1/2-1/2"
# BayesElo cuts a longer name without a word, and takes those that begin alike for one player.
NAME_BYTES = 63
SUM_DIGITS = 12


def game_list(
    event: str, date: str, matches: Iterable[PlayedMatch], rounds: Mapping[int, int]
) -> str:
    """Return a game for each two sides on each deck of each match, in the order of the schedule.

    The higher score of a deck, over all its legs, won. Sides take White in turn. Of pairs the
    labels of both bots make the player's name, as in the table of the pairs; a long name is cut,
    and ends in a part of its SHA-256.

    Args:
        event: Name of the tournament.
        date: Of its creation, YYYY.MM.DD.
        matches: Results.
        rounds: The round of each match by its number.
    """
    return "\n".join(
        _game(event, date, f"{rounds[match.number]}.{match.number}.{deck + 1}", *players)
        for match in sorted(matches, key=lambda match: match.number)
        for deck, scores in enumerate(_scores(match))
        for players in _games(match, scores, swap=deck % 2 == 1)
    )


def game_list_by_matches(
    event: str, date: str, matches: Iterable[PlayedMatch], rounds: Mapping[int, int]
) -> str:
    """Return the list of folders before the third form: a game for each two sides of a match.

    The side that sits first in the first leg is White; the higher total won. Arguments are those
    of `game_list`.
    """
    return "\n".join(
        _game(event, date, f"{rounds[match.number]}.{match.number}", white, black)
        for match in sorted(matches, key=lambda match: match.number)
        for white, black in combinations(zip(_names(match), match.totals, strict=True), 2)
    )


def _games(
    match: PlayedMatch, scores: Sequence[Fraction], *, swap: bool
) -> Iterator[tuple[tuple[str, Fraction], tuple[str, Fraction]]]:
    """Yield White and Black of each game on a deck, each with its score."""
    names = [_short(name) for name in _names(match)]
    for one, other in combinations(zip(names, scores, strict=True), 2):
        yield (other, one) if swap else (one, other)


def _game(
    event: str, date: str, number: str, white: tuple[str, Fraction], black: tuple[str, Fraction]
) -> str:
    lead = white[1] - black[1]
    result = WHITE_WON if lead > 0 else BLACK_WON if lead < 0 else DRAWN
    tags = {
        "Event": event,
        "Site": "?",
        "Date": date,
        "Round": number,
        "White": white[0],
        "Black": black[0],
        "Result": result,
    }
    lines = [f'[{tag} "{_quoted(value)}"]' for tag, value in tags.items()]
    return "\n".join([*lines, "", result, ""])


def _scores(match: PlayedMatch) -> Iterator[list[Fraction]]:
    """Yield the score of each side on each deck, in the order of the teams."""
    for legs in match.decks:
        sides: defaultdict[int, Fraction] = defaultdict(Fraction)
        for place in range(len(match.entrants)):
            side = match.sides[place] if match.sides else place
            sides[side] += sum((leg[place] for leg in legs), start=Fraction())
        yield list(sides.values())


def _short(name: str) -> str:
    if len(name.encode()) <= NAME_BYTES:
        return name
    digits = hashlib.sha256(name.encode()).hexdigest()[:SUM_DIGITS]
    kept = name.encode()[: NAME_BYTES - SUM_DIGITS - 1].decode(errors="ignore")
    return f"{kept}~{digits}"


def _names(match: PlayedMatch) -> list[str]:
    """Return the player's name of each side, in the order of the teams; copies count twice."""
    sides: defaultdict[int, list[str]] = defaultdict(list)
    for place, label in enumerate(match.entrants):
        sides[match.sides[place] if match.sides else place].append(label)
    return [pair_label(labels) for labels in sides.values()]


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
