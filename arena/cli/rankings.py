"""`arena rankings`: the bots of a pool or of a tournament by rating."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any

import click

from arena import queries
from arena.cli.context import App, Documented, common_options
from arena.cli.options import (
    MATCH_FORMATS,
    Whole,
    game,
    refuse_beside,
    rules_option,
    variant_option,
)
from arena.cli.output import Column
from arena.cli.rows import check_form, csv_option, print_csv
from arena.cli.standings import STANDING_FIELDS, print_ratings, standing_json
from arena.cli.summary import NOT_COMMITTED
from arena.cli.words import count, signed, wrapped
from arena.pools import Pool, Wish
from arena.rankings import first_result, pool_of, pool_ranking, tournament_ranking
from arena.ratings import RATINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.cli.output import Output
    from arena.rankings import MatchChange, Ranking
    from arena.standings import Standing
    from arena.store import Store

ROW_FIELDS = {
    **STANDING_FIELDS,
    "committed": "false if the seed of a tournament that is rated here was given by hand",
}
CHANGE_FIELDS = {
    "match": "ID of the match",
    **{
        f"{when}.{value}": f"{value} {when} the match"
        for when in ("before", "after")
        for value in ("mu", "sigma", "rating")
    },
    "change": "by how much the rating rose",
    "committed": "false if the seed of its tournament was given by hand",
}
POOL_OPTIONS = ("variant", "changes", "seats", "match_format")
"""The parameters that say which pool is meant."""

LAST_OF_A_DAY = time(23, 59, 59, 999_000)

CHANGE_COLUMNS = (
    Column("Match", fold=True),
    Column("Name", fold=True),
    Column("Mu", "right"),
    Column("Sigma", "right"),
    Column("Rating", "right"),
    Column("Change", "right"),
)


class Until(click.ParamType[int]):
    """A moment in milliseconds since 1970, from a date, or a date and a time, in ISO 8601."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the last millisecond meant, or fail saying what a date looks like."""
        if isinstance(value, int):
            return value
        try:
            return round(_last_moment(value).timestamp() * 1000)
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is no date; give 2026-05-31, or 2026-05-31T18:00, in UTC", param, ctx
            )


def _last_moment(text: str) -> datetime:
    """Return the end of a day, or the time that a text says.

    Raises:
        ValueError: It says neither.
        OverflowError: No calendar has it.
    """
    try:
        day = date.fromisoformat(text)
    except ValueError:
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return datetime.combine(day, LAST_OF_A_DAY, UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """Which results are asked for."""

    tournament: str | None
    pool: Pool
    pool_name: str
    wish: Wish
    until: int | None

    def ask(self, store: Store) -> Ranking:
        if self.tournament is not None:
            return tournament_ranking(store, self.tournament, self.wish, self.until)
        return pool_ranking(store, self.pool, self.wish, self.until)


@click.command(
    cls=Documented,
    examples=[
        "arena rankings",
        "arena rankings --variant bura-5 --seats 3 --csv",
        "arena rankings --tournament spring --at 2026-05-31 --json",
        "arena rankings --changes --tournament spring",
        "arena rankings --rating openskill",
        "arena rankings --draw-probability 0.02 --tau 0",
    ],
    fields={
        **ROW_FIELDS,
        "changes[]": "with --changes what each match did to it, in the order of rating",
        **{f"changes[].{name}": meaning for name, meaning in CHANGE_FIELDS.items()},
    },
)
@click.option("--tournament", metavar="NAME", help="Only this tournament, instead of a pool.")
@variant_option
@rules_option
@click.option(
    "--seats",
    type=Whole(2, 6),
    help="Bots a match.  [default: as the rules are usually played]",
)
@click.option(
    "--match-format",
    type=click.Choice(MATCH_FORMATS),
    default="series",
    show_default=True,
    help="How deals add up to a match.",
)
@click.option(
    "--rating",
    type=click.Choice(sorted(RATINGS)),
    help="Rating system.  [default: as ratings.toml says, else trueskill]",
)
@click.option("--draw-probability", type=float, help="Try this parameter of the ratings.")
@click.option("--beta", type=float, help="Try this parameter of the ratings.")
@click.option("--tau", type=float, help="Try this parameter of the ratings.")
@click.option(
    "--at",
    "until",
    type=Until(),
    metavar="DATE",
    help="How it stood at the end of this day, or at this time (UTC): later results do not count, "
    "who came later is not listed, who left later had not left.",
)
@click.option(
    "--changes", "changed", is_flag=True, help="Print also the change that each match made."
)
@csv_option
@common_options
@click.pass_context
def rankings(
    context: click.Context,
    /,
    *,
    tournament: str | None,
    variant: str,
    changes: tuple[str, ...],
    seats: int | None,
    match_format: str,
    rating: str | None,
    until: int | None,
    changed: bool,
    as_csv: bool,
    as_json: bool,
    **parameters: float | None,
) -> None:
    """Print all bots of a pool, or of a tournament, by rating.

    A pool is all matches by the same rules, with as many seats, in one match format; ratings.toml
    in the arena's folder sets its parameters. Rating is what a bot's skill almost certainly
    exceeds (mu - 3 sigma), +/- is 2 sigma. Bots that share a letter in the column Tied cannot be
    told apart. --json prints an array; --csv its rows, or with --changes a row for each change.
    """
    check_form(as_json=as_json, as_csv=as_csv)
    app = context.ensure_object(App)
    if tournament is not None:
        refuse_beside(context, "--tournament", POOL_OPTIONS)
    found, played_format = game(app.home, variant, changes, match_format)
    question = _Question(
        tournament=tournament,
        pool=Pool(rules=found.rules, seats=seats or found.usual_seats, match_format=played_format),
        pool_name=found.name,
        wish=Wish(
            rating=rating,
            parameters={name: value for name, value in parameters.items() if value is not None},
        ),
        until=until,
    )
    with app.open_store() as store:
        ranking = question.ask(store)
        if question.until is not None and not ranking.matches:
            _say_early(app.output, store, question)
        if not ranking.entrants and tournament is None:
            _say_empty(app.output, store, question)
    _mark(app.output, ranking, tournament)
    table, made = ranking.table(), ranking.changes() if changed else ()
    if as_csv and changed:
        rows = [_change_csv(ranking, each) for each in made]
        print_csv(app.output, rows, ("name", *CHANGE_FIELDS))
    elif as_csv:
        print_csv(app.output, [_row_csv(ranking, row) for row in table], ROW_FIELDS)
    elif as_json:
        app.output.json([_row_json(ranking, row, made) for row in table])
    elif table:
        _print(app.output, ranking, table, made)


def _print(
    output: Output, ranking: Ranking, table: Sequence[Standing], made: Sequence[MatchChange]
) -> None:
    print_ratings(output, table)
    if made:
        output.line()
        output.table(CHANGE_COLUMNS, [_change_row(each) for each in made])
    output.lines(wrapped(_foot(ranking)))


def _mark(output: Output, ranking: Ranking, tournament: str | None) -> None:
    """Say whose seeds were given by hand."""
    if tournament is not None and ranking.by_hand:
        output.status(f"{tournament}: {NOT_COMMITTED}")
    elif ranking.by_hand:
        output.status(f"not committed, with seeds given by hand: {', '.join(ranking.by_hand)}")


def _foot(ranking: Ranking) -> str:
    parameters = ", ".join(f"{name} {_short(value)}" for name, value in ranking.parameters.items())
    return f"{ranking.rating} over {count(len(ranking.matches), 'match', 'matches')}: {parameters}"


def _short(value: float) -> str:
    """Return four digits, or all where these would make a whole number of what is none."""
    text = f"{value:.4g}"
    return repr(value) if float(text).is_integer() and not float(value).is_integer() else text


def _say_early(output: Output, store: Store, question: _Question) -> None:
    """Say since when there are results, if there are."""
    first = first_result(store, question.tournament or question.pool)
    if first is not None:
        when = datetime.fromtimestamp(first / 1000, UTC)
        whose = question.tournament or "this pool"
        output.status(f"the first result of {whose} is of {when:%Y-%m-%d %H:%M:%S} UTC")


def _say_empty(output: Output, store: Store, question: _Question) -> None:
    pool = question.pool
    output.status(
        f"no tournaments of {_pool_words(question.pool_name, pool)}"
        + ("; type: arena tournament create --help" if question.until is None else " so early")
    )
    others = {
        _pool_words(info.variant, pool_of(info)): None
        for info in queries.tournaments(store)
        if pool_of(info) != pool
    }
    if others:
        output.status(f"there are tournaments of {'; '.join(others)}")


def _pool_words(variant: str, pool: Pool) -> str:
    return f"{variant} with {pool.seats} seats ({pool.match_format})"


def _change_row(change: MatchChange) -> tuple[object, ...]:
    after = change.after
    return (
        change.match,
        change.entrant,
        f"{after.mu:.2f}",
        f"{after.sigma:.2f}",
        f"{after.mu - 3 * after.sigma:.2f}",
        signed(change.delta, 2),
    )


def _row_json(ranking: Ranking, row: Standing, made: Sequence[MatchChange]) -> dict[str, Any]:
    mine = [each for each in made if each.entrant == row.entrant]
    return {**_row_csv(ranking, row), "changes": [_change_json(ranking, each) for each in mine]}


def _row_csv(ranking: Ranking, row: Standing) -> dict[str, Any]:
    return {**standing_json(row), "committed": not ranking.by_hand}


def _change_csv(ranking: Ranking, change: MatchChange) -> dict[str, Any]:
    return {"name": change.entrant, **_change_json(ranking, change)}


def _change_json(ranking: Ranking, change: MatchChange) -> dict[str, Any]:
    tournament = change.match.rpartition("/")[0]
    return {
        "match": change.match,
        **{
            when: {"mu": skill.mu, "sigma": skill.sigma, "rating": skill.mu - 3 * skill.sigma}
            for when, skill in (("before", change.before), ("after", change.after))
        },
        "change": change.delta,
        "committed": tournament not in ranking.by_hand,
    }
