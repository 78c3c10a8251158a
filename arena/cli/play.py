"""`arena play`: a quick match between bots from wherever they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena import play as playing
from arena.cli.context import App, Documented, common_options, pass_app
from arena.cli.options import found_sandbox_option, game, game_options, time_control
from arena.cli.output import Column, plain_lines
from arena.cli.standings import unit_titles
from arena.cli.words import (
    NO_BOUNDARY,
    against,
    count,
    fault_words,
    grouped,
    interval,
    number,
    seconds,
    signed,
    stall_words,
)
from arena.play import CONTAINER, PlayOptions, PlayReport
from arena.rulebook import decks_of
from referee.players import Update
from referee.results import SERIES
from referee.shuffle import new_seed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from arena.cli.output import Bar, Output
    from referee.players import Message
    from referee.results import Offence

LOG_LINES = 10


@click.command(
    cls=Documented,
    examples=[
        "arena play ./my_bot ./other_bot",
        "arena play ./my_bot alice@2 --decks 20 --seed 42 --record game.jsonl",
        "arena play ./my_bot ./my_bot --variant bura-5 --sandbox process",
        "arena play ./my_bot alice bob --rules false_claim=lose --rules target=41",
        "arena play ./my_bot+alice bob+carol --variant burkozyol-pairs",
    ],
    fields={
        "variant": "name of the variant, followed by the options that were changed",
        "rules.*": "every option of the rules, by name",
        "seats": "bots in the match",
        "match_format": "how deals add up to a match",
        "decks": "decks, each played once per rotation of the seats; null but in a series",
        "deals": "deals that were played",
        "seed": "the seed in hex",
        "sandbox": "where the bots ran: container or process",
        "seconds": "how long it took",
        "conditions": "what a reader of the times must know, else empty",
        "stalls": "how often the referee did not run while it waited",
        "stalled_ms": "for how long in all, which no clock was charged for",
        "record": "path of the record, or null",
        "bots[].name": "name of the bot",
        "bots[].side": "its side, 0 or 1, or null if each plays for itself",
        "bots[].score": "total score",
        "bots[].per_deal": "mean score of a deal",
        "bots[].half_width": "half of the 95% interval over decks, null if decks all scored alike",
        "bots[].decisions": "turns answered",
        "bots[].time_ms": "time of all answers together",
        "bots[].slowest_ms": "time of the slowest answer",
        "faults[].bot": "name of the bot",
        "faults[].leg": "leg, from 1",
        "faults[].deal": "deal within the leg, null if the rest of the leg was lost",
        "faults[].kind": "kind of fault",
        "faults[].detail": "what was wrong and expected",
    },
)
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT...")
@game_options
@found_sandbox_option
@click.option(
    "--record",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Keep the record of the match in a new file.",
)
@common_options
@pass_app
def play(
    app: App,
    *,
    bots: tuple[str, ...],
    variant: str,
    changes: tuple[str, ...],
    decks: int | None,
    match_format: str,
    tables: int | None,
    move_time: Decimal | None,
    tc: tuple[Decimal, Decimal],
    startup: Decimal | None,
    seed: bytes | None,
    sandbox: str | None,
    record: Path | None,
    as_json: bool,
) -> None:
    """Play a quick match between bots and print its result.

    BOT is a submitted name or name@version, a folder, or an image, one for each seat; an image that
    is not here is fetched only if its tag is given. In a variant of pairs seats 0 and 2 play
    against 1 and 3; BOT+BOT is a pair. Each deck is played once per rotation of the seats, so the
    luck of the deal cancels. Nothing is stored and no rating moves. A folder is built as `arena bot
    submit` builds it, in the network that ARENA_BUILD_NETWORK names.
    """
    played, played_format = game(app.home, variant, changes, match_format)
    options = PlayOptions(
        bots=bots,
        seed=new_seed() if seed is None else seed,
        time=time_control(played, move_time, tc, startup),
        rules=played.rules,
        variant=played.name,
        decks=decks_of(decks, played_format),
        match_format=played_format,
        tables=tables,
        sandbox=sandbox,
        record=record,
    )
    seats = len(playing.seated(app.home, options))
    backend = playing.choose_backend(app.home, options)
    if backend != CONTAINER:
        app.output.status(NO_BOUNDARY)
    with app.output.progress("playing", options.decks * seats, "deals") as bar:
        counter = DealCounter(app, bar, seats)
        report = playing.play(app.home, options, backend, counter.watch, bar.status)
    if as_json:
        app.output.json(_json(report, options))
    else:
        _print(app.output, report, options)


class DealCounter:
    """Moves a bar by the deals that end; each end is told to every seat."""

    def __init__(self, app: App, bar: Bar, seats: int) -> None:
        self._app = app
        self._bar = bar
        self._seats = seats
        self._told = 0

    def watch(self, message: Message) -> None:
        """Count the ends that a seat is told.

        Raises:
            KeyboardInterrupt: The user asked for the end.
        """
        self._app.heed()
        if isinstance(message, Update) and message.deals_over:
            self._told += len(message.deals_over)
            self._bar.set(self._told // self._seats)


def _print(output: Output, report: PlayReport, options: PlayOptions) -> None:
    result = report.match.result
    columns = (
        Column("Name", fold=True),
        Column("Score", "right"),
        Column(unit_titles(options.match_format)[0], "right"),
        Column("+/-", "right"),
        Column("Decisions", "right"),
        Column("Time", "right"),
        Column("Slowest", "right"),
        Column("Faults", "right"),
    )
    output.table(columns, [_row(report, entrant) for entrant in range(len(report.labels))])
    if report.sides:
        output.line(f"pairs: {against(report.labels, report.sides)}")
    took = seconds(report.match.milliseconds / 1000)
    decks = f" of {count(options.decks, 'deck')}" if options.match_format == SERIES else ""
    deals = count(len(result.deals), "deal")
    output.line(f"{options.variant}, {options.match_format}: {deals}{decks} in {took}")
    if result.conditions:
        output.line(f"times were taken with {result.conditions}")
    if result.stalls:
        output.line(f"the referee {stall_words(result.stalls, result.stalled_us)}")
    output.line(f"seed {options.seed.hex()}")
    # A leg is lost once, deals may be lost in hundreds.
    for alike in grouped(
        result.faults, lambda one: (one.entrant, one.leg, one.fault.kind, one.deal is None)
    ):
        output.line(f"{report.labels[alike[0].entrant]} lost {_lost(alike)}")
    if result.faults:
        _print_logs(output, report)
    if options.record is not None:
        output.line(f"record {options.record}; check it: arena verify {options.record}")


def _lost(alike: Sequence[Offence]) -> str:
    """Return what faults of a kind in a leg cost and what they were, with the first's detail."""
    first = alike[0]
    where = "the rest of" if first.deal is None else f"deal {first.deal} of"
    if len(alike) > 1:
        where = f"{len(alike)} deals, the first deal {first.deal}, of"
    return f"{where} leg {first.leg + 1}: it {fault_words(first.fault.kind)}: {first.fault.detail}"


def _print_logs(output: Output, report: PlayReport) -> None:
    for label, leg, text in report.logs:
        output.line(f"last output of {label} in leg {leg + 1}:")
        for line in plain_lines(text.rstrip("\n"))[-LOG_LINES:]:
            output.line(f"  {line}")


def _row(report: PlayReport, entrant: int) -> tuple[object, ...]:
    result = report.match.result
    estimate = report.estimates[entrant]
    clock = result.clock(entrant)
    return (
        report.labels[entrant],
        number(result.totals[entrant]),
        signed(estimate.mean),
        interval(estimate.half_width),
        clock.decisions,
        seconds(clock.total_us / 1e6),
        seconds(clock.max_us / 1e6),
        sum(offence.entrant == entrant for offence in result.faults),
    )


def _json(report: PlayReport, options: PlayOptions) -> dict[str, object]:
    result = report.match.result
    return {
        "variant": options.variant,
        "rules": options.rules.to_dict(),
        "seats": result.spec.seats,
        "match_format": options.match_format,
        "decks": options.decks if options.match_format == SERIES else None,
        "deals": len(result.deals),
        "seed": options.seed.hex(),
        "sandbox": report.sandbox,
        "seconds": report.match.milliseconds / 1000,
        "conditions": result.conditions,
        "stalls": result.stalls,
        "stalled_ms": result.stalled_us / 1000,
        "record": None if options.record is None else str(options.record),
        "bots": [_bot_json(report, entrant) for entrant in range(len(report.labels))],
        "faults": [
            {
                "bot": report.labels[offence.entrant],
                "leg": offence.leg + 1,
                "deal": offence.deal,
                "kind": offence.fault.kind,
                "detail": offence.fault.detail,
            }
            for offence in result.faults
        ],
    }


def _bot_json(report: PlayReport, entrant: int) -> dict[str, object]:
    clock = report.match.result.clock(entrant)
    estimate = report.estimates[entrant]
    return {
        "name": report.labels[entrant],
        "side": report.sides[entrant] if report.sides else None,
        "score": float(report.match.result.totals[entrant]),
        "per_deal": float(estimate.mean),
        "half_width": estimate.half_width,
        "decisions": clock.decisions,
        "time_ms": clock.total_us / 1000,
        "slowest_ms": clock.max_us / 1000,
    }
