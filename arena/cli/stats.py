"""`arena stats`: who beats whom, how deals end, what seats and cards are worth."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import click

from arena import queries
from arena.cli.context import App, Documented, common_options, pass_app
from arena.cli.output import Column
from arena.cli.rows import check_form, csv_option, print_csv
from arena.cli.standings import few_units, unit_titles
from arena.cli.summary import COMMITTED_MEANING, print_mark
from arena.cli.words import count, interval, likelihood, percent_of, signed
from arena.errors import NotFoundError, RefusedError
from arena.infos import is_named
from arena.statistics.endings import LEVEL, LOST, WON
from arena.statistics.tournament_stats import tournament_statistics
from referee.results import SERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from arena.cli.output import Output
    from arena.infos import TournamentInfo
    from arena.statistics.cross_table import Meeting
    from arena.statistics.endings import Ending, SeatAdvantage
    from arena.statistics.luck import Luck
    from arena.statistics.stats import Estimate
    from arena.statistics.tournament_stats import TournamentStatistics

BOT_COLUMNS = (Column("Name", fold=True), Column("Games", "right"))
MEETING_COLUMNS = (
    Column("Name", fold=True),
    Column("Opponent", fold=True),
    Column("W-D-L", "right"),
)
_ESTIMATE_FIELDS = {
    "per_deal": "mean score of a deal, outside series of a match, or null",
    "half_width": "half of its 95% interval over decks, or null",
    "superiority": "likelihood that the true mean is above 0, or null",
    "mirroring": "width of that interval beside that of as many unmirrored deals, or null",
    "decks": "decks it rests on, outside series matches",
}
_MEETING_FIELDS = {
    "name": "name@version",
    "opponent": "name@version of the other",
    "games": "matches against it, on different sides",
    "wins": "matches in which its side's total was higher",
    "draws": "matches in which it was the same",
    "losses": "matches in which it was lower",
    **_ESTIMATE_FIELDS,
}
_SEAT_FIELDS = {
    "place": "0 for the seat itself, 1 for the next to play and so on",
    "per_deal": "mean score per deal of who sat there",
    "half_width": "half of its 95% interval over decks, or null",
    "decks": "decks it rests on",
}
FIELDS = {
    "tournament": "name of the tournament",
    "committed": COMMITTED_MEANING,
    "bots[].name": "name@version",
    "bots[].games": "matches with a result",
    **{f"bots[].{name}": meaning for name, meaning in _ESTIMATE_FIELDS.items()},
    **{f"meetings[].{name}": meaning for name, meaning in _MEETING_FIELDS.items()},
    "meetings[].reasons.*": "of the deals against the other that ended for a reason: how many it "
    "won, how many it paid for (lost), and how many it did neither in (level)",
    "pair_meetings[]": "the same but for reasons by pairs; empty if each plays for itself",
    **{f"pair_meetings[].{name}": meaning for name, meaning in _MEETING_FIELDS.items()},
    "endings[].name": "name@version",
    "endings[].reason": "why deals ended; of a combination, which",
    "endings[].won": "such deals it won",
    "endings[].lost": "such deals it paid for",
    "endings[].level": "such deals it neither won nor paid for",
    "reasons.*": "how many deals ended for a reason",
    **{f"lead[].{name}": f"from the first lead: {words}" for name, words in _SEAT_FIELDS.items()},
    **{f"deal[].{name}": f"from the dealer: {words}" for name, words in _SEAT_FIELDS.items()},
    "seats[]": "the seats of what is not mirrored; empty in a series",
    "seats[].place": "outside series: 0 for who sat first in a match, 1 for the next and so on",
    "seats[].per_deal": "mean score per match of who sat there",
    "seats[].half_width": "half of its 95% interval over matches, or null",
    "seats[].decks": "matches it rests on",
    "luck.share": "part of the variance of a deal's score that is in the cards, or null",
    "luck.low": "where the 95% interval of that part begins, or null",
    "luck.high": "where it ends, or null",
    "luck.deviation": "standard deviation of a deal's score, or null",
    "luck.decks": "decks that rests on",
    "missing[]": "IDs of matches whose record cannot be read, left out of endings, lead and deal",
}


@click.command(
    cls=Documented,
    examples=[
        "arena stats spring",
        "arena stats spring --between alice bob",
        "arena stats spring --csv",
        "arena stats spring --json",
    ],
    fields=FIELDS,
)
@click.argument("tournament")
@click.option(
    "--between",
    nargs=2,
    metavar="BOT BOT",
    help="Print only the meeting of two bots, and how their deals ended.",
)
@csv_option
@common_options
@pass_app
def stats(
    app: App, *, tournament: str, between: tuple[str, str] | None, as_csv: bool, as_json: bool
) -> None:
    """Print what the results of a TOURNAMENT say of its bots and of the game.

    Scores per deal come with half of their 95% interval over decks, the likelihood of superiority
    (LOS) that the true score is above 0, and what mirroring did to the interval; outside series
    the unit is a match. Meetings have matches won, drawn and lost (W-D-L); the cross table holds
    the same scores. --csv prints the meetings, the array `meetings` of --json, which also has how
    the deals of each two ended; --between prints that of two.
    """
    check_form(as_json=as_json, as_csv=as_csv)
    if between is not None and (as_json or as_csv):
        raise click.UsageError("--between is no part of --json or --csv, which have all meetings")
    with app.open_store() as store:
        found = tournament_statistics(store, tournament)
        info = queries.tournament(store, tournament)
    if as_json:
        app.output.json({"committed": info.is_committed, **_json(found)})
    elif as_csv:
        print_csv(app.output, _with_reasons(found))
    elif between is not None:
        one, other = (_entrant(info, word) for word in between)
        _print_between(app.output, found, one, other)
    else:
        _print(app.output, found)
    if not as_json and not as_csv:
        if found.missing:
            app.output.status(f"records that cannot be read: {', '.join(found.missing)}")
        print_mark(app.output, found.tournament, committed=info.is_committed)


def _print(output: Output, found: TournamentStatistics) -> None:
    output.table(
        [*BOT_COLUMNS, *_estimate_columns(found)],
        [(bot.entrant, bot.balance.games, *_estimate_row(bot.per_deal)) for bot in found.bots],
    )
    for labels, table in (
        ([bot.entrant for bot in found.bots], found.table),
        (found.pairs, found.pair_table),
    ):
        if any(meeting for row in table for meeting in row):
            _print_meetings(output, found, table)
            _print_cross_table(output, labels, table)
    _print_endings(output, found)
    _print_places(output, found)
    output.line()
    if found.luck is not None:
        output.paragraph(_luck_words(found.luck))
    elif found.match_format != SERIES:
        output.paragraph("luck of the deal: only in a series, which plays each deck in all seats")
    estimates = [bot.per_deal for bot in found.bots if bot.per_deal is not None]
    met = [
        meeting.per_deal
        for row in (*found.table, *found.pair_table)
        for meeting in row
        if meeting is not None
    ]
    for line in _legend(found, [*estimates, *met]):
        output.paragraph(line)


def _luck_words(luck: Luck) -> str:
    between = ""
    if luck.low is not None and luck.high is not None:
        between = f", 95% interval {percent_of(luck.low)} to {percent_of(luck.high)}"
    return (
        f"luck of the deal: {percent_of(luck.share)} of the variance of a deal's score is in the "
        f"cards{between} (standard deviation of a score {luck.deviation:.2f}, "
        f"{count(luck.decks, 'deck')})"
    )


def _legend(found: TournamentStatistics, estimates: Sequence[Estimate]) -> Iterator[str]:
    """Say what the columns mean, and which numbers are worth little."""
    _, units = unit_titles(found.match_format)
    if not estimates:
        yield "no match has a result yet"
        return
    yield (
        f"+/-: half of the 95% interval over {units.lower()}; LOS: likelihood that the true score "
        "is above 0; Mirroring: width of the interval beside that of as many unmirrored deals; "
        "W-D-L: matches won, drawn, lost"
    )
    if found.endings:
        yield "deals by reason: won +, paid for -, neither ="
    warning = few_units(estimates, found.match_format)
    if warning is not None:
        yield warning


def _print_meetings(
    output: Output, found: TournamentStatistics, table: Sequence[Sequence[Meeting | None]]
) -> None:
    output.line()
    output.table(
        [*MEETING_COLUMNS, *_estimate_columns(found)],
        [
            _meeting_row(meeting)
            for place, row in enumerate(table)
            for meeting in row[place:]
            if meeting is not None
        ],
    )


def _print_cross_table(
    output: Output, labels: Sequence[str], table: Sequence[Sequence[Meeting | None]]
) -> None:
    numbers = range(1, len(labels) + 1)
    columns = [Column("No", "right"), Column("Name", fold=True)]
    output.line()
    output.table(
        [*columns, *(Column(str(number), "right") for number in numbers)],
        [
            (number, label, *("" if each is None else signed(each.per_deal.mean) for each in row))
            for number, label, row in zip(numbers, labels, table, strict=True)
        ],
    )


def _print_endings(output: Output, found: TournamentStatistics) -> None:
    if not found.endings:
        return
    output.line()
    _print_reasons(output, found.endings, found.reasons)


def _print_reasons(output: Output, endings: Iterable[Ending], deals: Mapping[str, int]) -> None:
    """Print how often each bot won and paid for each reason, and how many deals there were."""
    cells: dict[str, dict[str, str]] = defaultdict(dict)
    for each in endings:
        level = f"={each.level}" if each.level else ""
        cells[each.entrant][each.reason] = f"+{each.won}-{each.lost}{level}"
    output.table(
        [Column("Deals by reason", fold=True), *(Column(each, "right") for each in deals)],
        [
            *((bot, *(row.get(reason, "") for reason in deals)) for bot, row in cells.items()),
            ("all deals", *deals.values()),
        ],
    )


def _entrant(info: TournamentInfo, word: str) -> str:
    """Return the label of the entrant that a word names, with its version or without.

    Raises:
        NotFoundError: There is none.
        RefusedError: There are several versions of it.
    """
    labels = sorted({each.name for each in info.entrants if is_named(each.name, word)})
    if not labels:
        raise NotFoundError(
            f"{word} is not in {info.name}", f"arena tournament show {info.name} says who is"
        )
    if len(labels) > 1:
        raise RefusedError(f"{word} is {' and '.join(labels)}", "name the version")
    return labels[0]


def _print_between(output: Output, found: TournamentStatistics, one: str, other: str) -> None:
    met = [
        meeting
        for row in found.table
        for meeting in row
        if meeting is not None and (meeting.entrant, meeting.opponent) == (one, other)
    ]
    if not met:
        output.status(f"{one} and {other} have not met")
        return
    output.table(
        [*MEETING_COLUMNS, *_estimate_columns(found)], [_meeting_row(each) for each in met]
    )
    mine, theirs = found.against.get((one, other), ()), found.against.get((other, one), ())
    if mine:
        output.line()
        deals = {each.reason: each.won + each.lost + each.level for each in mine}
        _print_reasons(output, (*mine, *theirs), deals)
    output.line()
    for line in _legend(found, [each.per_deal for each in met]):
        output.paragraph(line)


def _print_places(output: Output, found: TournamentStatistics) -> None:
    rows = [
        (_place_words(each.place, title), signed(each.mean), interval(each.half_width), each.decks)
        for title, places in (
            ("first to lead", found.lead),
            ("dealer", found.deal),
            ("first in the match", found.seats),
        )
        for each in places
    ]
    if rows:
        mean, units = unit_titles(found.match_format)
        output.line()
        output.table(
            (
                Column("Seat"),
                Column(mean, "right"),
                Column("+/-", "right"),
                Column(units, "right"),
            ),
            rows,
        )


def _place_words(place: int, title: str) -> str:
    return f"{place} after the {title}" if place else title


def _estimate_columns(found: TournamentStatistics) -> list[Column]:
    mean, units = unit_titles(found.match_format)
    return [Column(title, "right") for title in (mean, "+/-", "LOS", units, "Mirroring")]


def _estimate_row(estimate: Estimate | None) -> tuple[object, ...]:
    if estimate is None:
        return ("-", "-", "-", 0, "-")
    return (
        signed(estimate.mean),
        interval(estimate.half_width),
        likelihood(estimate.superiority),
        estimate.decks,
        interval(estimate.mirroring, 2),
    )


def _meeting_row(meeting: Meeting) -> tuple[object, ...]:
    balance = meeting.balance
    return (
        meeting.entrant,
        meeting.opponent,
        f"{balance.wins}-{balance.draws}-{balance.losses}",
        *_estimate_row(meeting.per_deal),
    )


def _json(found: TournamentStatistics) -> dict[str, Any]:
    luck = found.luck
    return {
        "tournament": found.tournament,
        "bots": [
            {"name": bot.entrant, "games": bot.balance.games, **_estimate_json(bot.per_deal)}
            for bot in found.bots
        ],
        "meetings": _with_reasons(found),
        "pair_meetings": _meetings_json(found.pair_table),
        "endings": [
            {
                "name": each.entrant,
                "reason": each.reason,
                "won": each.won,
                "lost": each.lost,
                "level": each.level,
            }
            for each in found.endings
        ],
        "lead": [_place_json(each) for each in found.lead],
        "deal": [_place_json(each) for each in found.deal],
        "seats": [_place_json(each) for each in found.seats],
        "reasons": dict(found.reasons),
        "luck": {
            "share": luck and luck.share,
            "low": luck and luck.low,
            "high": luck and luck.high,
            "deviation": luck and luck.deviation,
            "decks": 0 if luck is None else luck.decks,
        },
        "missing": list(found.missing),
    }


def _with_reasons(found: TournamentStatistics) -> list[dict[str, Any]]:
    """Return the meetings with how their deals ended, for each the same reasons."""
    rows = _meetings_json(found.table)
    for row in rows:
        ended = {
            each.reason: each for each in found.against.get((row["name"], row["opponent"]), ())
        }
        row["reasons"] = {
            reason: {
                word: getattr(ended[reason], word) if reason in ended else 0
                for word in (WON, LOST, LEVEL)
            }
            for reason in found.reasons
        }
    return rows


def _meetings_json(table: Sequence[Sequence[Meeting | None]]) -> list[dict[str, Any]]:
    return [
        {
            "name": meeting.entrant,
            "opponent": meeting.opponent,
            "games": meeting.balance.games,
            "wins": meeting.balance.wins,
            "draws": meeting.balance.draws,
            "losses": meeting.balance.losses,
            **_estimate_json(meeting.per_deal),
        }
        for row in table
        for meeting in row
        if meeting is not None
    ]


def _estimate_json(estimate: Estimate | None) -> dict[str, Any]:
    return {
        "per_deal": None if estimate is None else float(estimate.mean),
        "half_width": None if estimate is None else estimate.half_width,
        "superiority": None if estimate is None else estimate.superiority,
        "mirroring": None if estimate is None else estimate.mirroring,
        "decks": 0 if estimate is None else estimate.decks,
    }


def _place_json(each: SeatAdvantage) -> dict[str, Any]:
    return {
        "place": each.place,
        "per_deal": each.mean,
        "half_width": each.half_width,
        "decks": each.decks,
    }
