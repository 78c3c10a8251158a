"""How tables of bots are printed, and the names of their values in JSON."""

from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING

from arena.cli.output import Column
from arena.cli.words import interval, percent, signed
from referee.results import SERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from arena.cli.output import Output
    from arena.standings import Standing
    from arena.statistics.stats import Estimate

FEW = 20
"""Below so many decks an interval may hold the true score less often than it says."""

RATING_COLUMNS = (
    Column("Rank", "right"),
    Column("Name", fold=True),
    Column("Rating", "right"),
    Column("+/-", "right"),
    Column("Mu", "right"),
    Column("Sigma", "right"),
    Column("Tied"),
    Column("Games", "right"),
    Column("Score", "right"),
    Column("Draw", "right"),
)
STANDING_FIELDS = {
    "rank": "place by rating, from 1; level bots share it; null for one who was disqualified",
    "name": "name@version",
    "left": "why it left the tournament, else null",
    "rating": "mu - 3 sigma, null without a rating",
    "margin": "2 sigma, null without a rating",
    "mu": "mean of the belief about its skill, or null",
    "sigma": "standard deviation of that belief, or null",
    "tied[]": "groups of bots, from 0, that their ratings do not tell apart and it is in",
    "games": "matches with a result",
    "wins": "matches won",
    "draws": "matches drawn",
    "losses": "matches lost",
    "score_percent": "hundredths of its matches won, a shared win in parts, or null",
    "draw_percent": "hundredths of its matches drawn, or null",
    "per_deal": "mean score of a deal, outside series of a match, or null",
    "half_width": "half of its 95% interval over decks, or null",
    "superiority": "likelihood that its true score per deal is above 0, or null",
    "mirroring": "width of that interval beside that of as many unmirrored deals, or null",
    "decks": "decks that interval rests on, outside series matches",
    "faults.*": "how many faults of a kind it committed",
}


PAIR_FIELDS = {**STANDING_FIELDS, "name": "name@version+name@version of a pair"}


def print_ratings(output: Output, table: Sequence[Standing]) -> None:
    """Print the table in the order and the words of chess tools."""
    output.table(RATING_COLUMNS, [_rating_row(row) for row in table])


def print_tables(
    output: Output,
    table: Sequence[Standing],
    match_format: str,
    by_pairs: Sequence[Standing] = (),
) -> None:
    """Print ratings, and below them the results they rest on; then the same by pairs."""
    print_table(output, table, match_format)
    if by_pairs:
        output.line()
        print_table(output, by_pairs, match_format)
    warning = few_units((row.per_deal for row in (*table, *by_pairs)), match_format)
    if warning is not None:
        output.line()
        output.paragraph(warning)


def print_table(output: Output, table: Sequence[Standing], match_format: str) -> None:
    """Print ratings, and below them the results they rest on."""
    print_ratings(output, table)
    output.line()
    mean, units = unit_titles(match_format)
    columns = (
        Column("Name", fold=True),
        Column("Won", "right"),
        Column("Drawn", "right"),
        Column("Lost", "right"),
        Column(mean, "right"),
        Column("+/-", "right"),
        Column(units, "right"),
        Column("Faults", fold=True),
    )
    output.table(columns, [_result_row(row) for row in table])


def unit_titles(match_format: str) -> tuple[str, str]:
    """Return what a mean score is of, and what its interval counts, as titles of columns."""
    return ("Per deal", "Decks") if match_format == SERIES else ("Per match", "Matches")


def few_units(estimates: Iterable[Estimate | None], match_format: str) -> str | None:
    """Say that intervals rest on too little to be trusted, None if all rest on enough."""
    least = min((each.decks for each in estimates if each is not None), default=FEW)
    if least >= FEW:
        return None
    _, units = unit_titles(match_format)
    return (
        f"from fewer than {FEW} {units.lower()} an interval holds the truth less often than "
        f"in 95%; here are some from {least}"
    )


def standing_json(row: Standing) -> dict[str, object]:
    """Return a row of the table under the names of `STANDING_FIELDS`."""
    rating, estimate = row.rating, row.per_deal
    return {
        "rank": row.rank,
        "name": row.entrant,
        "left": row.left,
        "rating": None if rating is None else rating.shown,
        "margin": None if rating is None else rating.margin,
        "mu": None if rating is None else rating.skill.mu,
        "sigma": None if rating is None else rating.skill.sigma,
        "tied": list(row.groups),
        "games": row.balance.games,
        "wins": row.balance.wins,
        "draws": row.balance.draws,
        "losses": row.balance.losses,
        "score_percent": None if row.score_percent is None else float(row.score_percent),
        "draw_percent": None if row.draw_percent is None else float(row.draw_percent),
        "per_deal": None if estimate is None else float(estimate.mean),
        "half_width": None if estimate is None else estimate.half_width,
        "superiority": None if estimate is None else estimate.superiority,
        "mirroring": None if estimate is None else estimate.mirroring,
        "decks": 0 if estimate is None else estimate.decks,
        "faults": dict(row.faults),
    }


def _rating_row(row: Standing) -> tuple[object, ...]:
    rating = row.rating
    return (
        "-" if row.rank is None else row.rank,
        _name(row),
        "-" if rating is None else f"{rating.shown:.2f}",
        "-" if rating is None else f"{rating.margin:.2f}",
        "-" if rating is None else f"{rating.skill.mu:.2f}",
        "-" if rating is None else f"{rating.skill.sigma:.2f}",
        _letters(row.groups),
        row.balance.games,
        percent(row.score_percent),
        percent(row.draw_percent),
    )


def _result_row(row: Standing) -> tuple[object, ...]:
    estimate = row.per_deal
    return (
        _name(row),
        row.balance.wins,
        row.balance.draws,
        row.balance.losses,
        "-" if estimate is None else signed(estimate.mean),
        "-" if estimate is None else interval(estimate.half_width),
        0 if estimate is None else estimate.decks,
        ", ".join(f"{kind} {times}" for kind, times in row.faults) or "-",
    )


def _name(row: Standing) -> str:
    return row.entrant if row.left is None else f"{row.entrant} ({row.left})"


def _letters(groups: Sequence[int]) -> str:
    """Return a bot's groups as letters; they follow each other, so the first and last will do."""
    ends = [_letter(groups[0]), _letter(groups[-1])] if groups else []
    return "-".join(dict.fromkeys(ends))


def _letter(number: int) -> str:
    """Return a to z, then aa, ab and so on."""
    before, place = divmod(number, len(ascii_lowercase))
    return (_letter(before - 1) if before else "") + ascii_lowercase[place]
