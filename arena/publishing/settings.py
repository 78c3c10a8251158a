"""Checks of what an exported tournament says of itself: its settings, its entrants, its seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.formats import Partners
from arena.publishing.differences import as_json, compare, fitting
from arena.publishing.documents import TOURNAMENT, rating_systems
from arena.publishing.strings import check_strings, list_words
from referee.rules import Rules
from referee.shuffle import commitment

if TYPE_CHECKING:
    from arena.publishing.published import PublishedTournament
    from arena.publishing.trust import Known


def check_settings(tournament: PublishedTournament) -> None:
    """Check that matches can be played and rated by the settings, and that pairs are pairs.

    Raises:
        DifferenceError: At the first difference.
    """
    with fitting(TOURNAMENT):
        rules = Rules.from_dict(tournament.rules)
        tournament.check()
        rating_systems(tournament.rating)
    _check_pairs(tournament)
    compare(TOURNAMENT, "rules", as_json(rules.to_dict()), tournament.rules)


def _check_pairs(tournament: PublishedTournament) -> None:
    """Two that follow each other are a pair where pairs stay together; else nobody is."""
    pairs = [entrant.pair for entrant in tournament.entrants]
    fixed = tournament.partners is Partners.FIXED
    numbers = pairs[::2] if fixed else [None] * len(pairs)
    expected = [number for number in numbers for _ in range(1 + fixed)]
    compare(TOURNAMENT, "pairs of the entrants", expected, pairs)


def check_seed(tournament: PublishedTournament, known: Known) -> tuple[str, ...]:
    """Check commitment, strings and seed; return what holds, in sentences.

    Raises:
        DifferenceError: One is not what was published, or the seed is revealed too early.
    """
    if known.committed is not None:
        place = "commitment, as it was published"
        compare(TOURNAMENT, place, known.committed, tournament.commitment)
    check_strings(tournament, known.promises)
    told = (list_words(tournament), _seed_words(tournament))
    return tuple(words for words in told if words is not None)


def _seed_words(tournament: PublishedTournament) -> str | None:
    if tournament.seed is None:
        return None
    due = commitment(bytes.fromhex(tournament.seed))
    compare(TOURNAMENT, "commitment (SHA-256 of the seed)", due, tournament.commitment)
    state = tournament.state
    compare(TOURNAMENT, "state, for the seed is revealed", "finished", str(state))
    texts = sum(each.state.is_in_seed for each in tournament.strings)
    whose = "text of 1 entrant" if texts == 1 else f"texts of {texts} entrants"
    mixed = f", with the {whose} mixed in" if texts else ""
    if tournament.seed_given:
        return (
            f"the seed is the one whose SHA-256 is {tournament.commitment}{mixed}; it was given by "
            "hand, so nothing was committed to"
        )
    return f"the seed is the one committed to: {tournament.commitment}{mixed}"
