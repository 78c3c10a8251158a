"""`arena compare`: two bots play until a sequential test tells which is stronger."""

from __future__ import annotations

import math
import os.path
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import click

from arena import compare as comparing
from arena import play as playing
from arena.cli.context import App, Documented, common_options, pass_app
from arena.cli.errors import DONE, INTERRUPTED
from arena.cli.options import (
    Whole,
    found_sandbox_option,
    game,
    pace_options,
    rules_option,
    time_control,
    variant_option,
)
from arena.cli.play import DealCounter
from arena.cli.words import NO_BOUNDARY, count, interval, percent_of, seconds, signed
from arena.compare import CompareOptions, Comparison
from arena.errors import RefusedError
from arena.formats import sides_of
from arena.play import CONTAINER, PlayOptions
from arena.statistics.sprt import Sprt, Verdict
from referee.results import SERIES
from referee.shuffle import new_seed

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal


SPRT = "--sprt"
WORD = re.compile(r"(elo0|elo1|alpha|beta)=(\S+)")
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.ASCII | re.IGNORECASE)
RULE = "-" * 50
"""What fastchess prints above and below a status."""

LIKE_A_WORD = re.compile(r"[A-Za-z]+\d*=[^/\s]*")

FIELDS = {
    "variant": "name of the variant, followed by the options that were changed",
    "seed": "the seed in hex",
    "sandbox": "where the bots ran: container or process",
    "names[]": "the two sides; all numbers are from the first one's view",
    "decks": "decks that were played, each once per rotation of the seats",
    "deals": "deals that were played",
    "won": "deals won",
    "drawn": "deals drawn",
    "lost": "deals lost",
    "decks_won": "decks won, by the score over all rotations",
    "decks_drawn": "decks drawn",
    "decks_lost": "decks lost",
    "points[]": "decks that brought 0, 1/2, 1 and so on points",
    "per_deal": "mean score of a deal",
    "half_width": "half of its 95% interval over decks, or null",
    "superiority": "likelihood that the true score per deal is above 0, or null",
    "mirroring": "width of that interval beside that of as many unmirrored deals, or null",
    "elo": "Elo by deals won and half of those drawn, null if infinite",
    "elo_half_width": "half of its 95% interval over decks, or null",
    "normalised_elo": "normalised Elo by the score per deck, or null",
    "normalised_elo_half_width": "half of its 95% interval over decks, or null",
    "sprt.elo0": "normalised Elo of H0",
    "sprt.elo1": "normalised Elo of H1",
    "sprt.alpha": "how often H1 may be accepted wrongly",
    "sprt.beta": "how often H0 may be accepted wrongly",
    "sprt.llr": "log-likelihood ratio of H1 to H0",
    "sprt.lower": "where H0 is accepted",
    "sprt.upper": "where H1 is accepted",
    "verdict": "H0, H1, or continue if the limit or an interruption came first",
    "interrupted": "whether it was interrupted; the batch that was being played does not count",
    "faults[]": "faults that each side committed",
    "legs_lost": "legs of which a fault lost all deals that were left",
    "seconds": "how long it took to play",
    "conditions": "what a reader of the times must know, else empty",
}


class SprtWords(click.ParamType[Sprt]):
    """The parameters of a sequential test, as in "elo0=0 elo1=20 alpha=0.05 beta=0.05"."""

    name = "sprt"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Sprt:
        """Return the test, or fail saying what its words look like."""
        if isinstance(value, Sprt):
            return value
        parameters: dict[str, float] = {}
        for word in value.split():
            found = WORD.fullmatch(word)
            if found is None or found[1] in parameters:
                self.fail(f"{word!r} is not one of elo0= elo1= alpha= beta=, each once", param, ctx)
            if not NUMBER.fullmatch(found[2]):
                self.fail(f"{word!r}: expected a number after the =", param, ctx)
            parameters[found[1]] = float(found[2])
        try:
            return Sprt(**parameters)
        except RefusedError as error:
            self.fail(f"{error.message}: {error.hint}", param, ctx)


class _Command(Documented):
    """Takes the words after --sprt unquoted, as engine testers type them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Join the words that belong to --sprt, then parse as usual."""
        joined: list[str] = []
        open_ = False
        for word in args:
            if open_ and LIKE_A_WORD.fullmatch(word) and joined[-1] != SPRT:
                joined[-1] += f" {word}"
                continue
            open_ = word.partition("=")[0] == SPRT or (open_ and joined[-1] == SPRT)
            joined.append(word)
        return super().parse_args(ctx, joined)


@click.command(
    cls=_Command,
    examples=[
        "arena compare alice@2 alice@1",
        "arena compare ./new ./old --sprt elo0=0 elo1=10 alpha=0.05 beta=0.05",
        "arena compare alice bob --variant bura-5 --max-decks 2000 --json",
        "arena compare alice+bob carol+dave --variant burkozyol-pairs",
    ],
    fields=FIELDS,
)
@click.argument("one", metavar="BOT")
@click.argument("other", metavar="BOT")
@click.option(
    SPRT,
    type=SprtWords(),
    default="",
    metavar="WORDS",
    help="The test: elo0= elo1= in normalised Elo, half a point apart or more, "
    "alpha= beta= its error rates.  "
    "[default: elo0=0 elo1=20 alpha=0.05 beta=0.05]",
)
@click.option(
    "--max-decks",
    type=Whole(1, 1_000_000),
    default=10_000,
    show_default=True,
    help="Stop undecided after so many decks.",
)
@click.option(
    "--batch",
    type=Whole(1, 10_000),
    default=50,
    show_default=True,
    help="Decks between two looks at the test; bots are started afresh for each leg of a batch.",
)
@variant_option
@rules_option
@pace_options
@found_sandbox_option
@click.option(
    "--records",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep the record of each batch in this folder, made if need be.",
)
@common_options
@pass_app
def compare(
    app: App,
    *,
    one: str,
    other: str,
    sprt: Sprt,
    max_decks: int,
    batch: int,
    variant: str,
    changes: tuple[str, ...],
    tables: int | None,
    move_time: Decimal | None,
    tc: tuple[Decimal, Decimal],
    startup: Decimal | None,
    seed: bytes | None,
    sandbox: str | None,
    records: Path | None,
    as_json: bool,
) -> int:
    """Let two bots play until a sequential test tells whether the first is stronger.

    BOT is what `arena play` takes, or BOT+BOT for a pair. Each deck is played once per rotation of
    the seats, and its score is what is tested: H0 says that the first bot is no better than elo0,
    H1 that it is at least elo1 better. Nothing is stored and no rating moves. Exit code 0 says
    that it was played, whatever the verdict. Ctrl-C ends it with what the batches that are over
    came to.
    """
    played, _ = game(app.home, variant, changes, SERIES)
    play = PlayOptions(
        bots=(one, other),
        seed=new_seed() if seed is None else seed,
        time=time_control(played, move_time, tc, startup),
        rules=played.rules,
        variant=played.name,
        decks=batch,
        tables=tables,
        sandbox=sandbox,
    )
    options = CompareOptions(play=play, sprt=sprt, max_decks=max_decks, records=records)
    seats = len(playing.seated(app.home, play))
    comparing.check_two_sides(seats, sides_of(played.rules, seats))
    backend = playing.choose_backend(app.home, play)
    if backend != CONTAINER:
        app.output.status(NO_BOUNDARY)
    if records is not None:
        records.mkdir(parents=True, exist_ok=True)
    standing, interrupted, is_told = _run(app, options, backend, seats)
    if as_json:
        said = _json(standing, options, backend)
        app.output.json({**said, "interrupted": interrupted})
    else:
        if not is_told or not is_one_place(app.output.out.file, app.output.err.file):
            _print(app.output.line, standing, options)
        app.output.line(f"seed {play.seed.hex()}")
    if standing.legs_lost:
        app.output.status(
            f"{count(standing.legs_lost, 'leg')} lost with all deals left in it: the test takes "
            "decks for independent, and errs more often than it says; look for the fault, or take "
            "a smaller --batch"
        )
    if interrupted:
        app.output.status("interrupted; the batch that was being played does not count")
    return INTERRUPTED if interrupted else DONE


def _run(
    app: App, options: CompareOptions, backend: str, seats: int
) -> tuple[Comparison, bool, bool]:
    """Play, telling how things stand after each batch but the last.

    Returns:
        How things stand, whether it was interrupted, and whether this standing was told already.

    Raises:
        KeyboardInterrupt: It was, and before the first batch was over.
    """
    last: Comparison | None = None
    is_told = False
    with app.output.progress("comparing", options.max_decks * seats, "deals") as bar:
        watch = DealCounter(app, bar, seats).watch
        try:
            for standing in comparing.compare(app.home, options, backend, watch, bar.status):
                last, is_told = standing, False
                if standing.verdict is Verdict.CONTINUE and len(standing.decks) < options.max_decks:
                    _print(bar.status, standing, options)
                    is_told = True
        except KeyboardInterrupt:
            if last is None:
                raise
            return last, True, is_told
    # There is one batch at least.
    return cast("Comparison", last), False, is_told


def is_one_place(out: TextIO, err: TextIO) -> bool:
    """Tell whether what was said of the last batch on stderr stands where results are printed."""
    try:
        return os.path.sameopenfile(out.fileno(), err.fileno())
    except (OSError, ValueError):
        return False


def _print(say: Callable[[str], None], standing: Comparison, options: CompareOptions) -> None:
    for line in (RULE, *lines(standing, options.play.variant), RULE):
        say(line)
    if standing.verdict is not Verdict.CONTINUE:
        say(_verdict(standing))
    elif len(standing.decks) >= options.max_decks:
        say(f"undecided after {count(len(standing.decks), 'deck')}: --max-decks was reached")


def lines(standing: Comparison, variant: str) -> list[str]:
    """Return how things stand: the six lines of fastchess in its words, and one of our own."""
    elo, elo_margin = standing.elo
    normalised, normalised_margin = standing.normalised_elo
    won, drawn, lost = standing.outcomes
    decks_won, decks_drawn, decks_lost = standing.deck_outcomes
    per_deal, sprt = standing.per_deal, standing.sprt
    points = won + drawn / 2
    return [
        (
            f"Results of {standing.sides[0]} vs {standing.sides[1]} ({variant}, "
            f"{count(len(standing.decks), 'deck')} in {seconds(standing.milliseconds / 1000)}):"
        ),
        (
            f"Elo: {elo:z.2f} +/- {interval(elo_margin, 2)}, "
            f"nElo: {interval(normalised, 2)} +/- {interval(normalised_margin, 2)}"
        ),
        (
            f"LOS: {_percent(per_deal.superiority)}, "
            f"DrawRatio: {_percent(decks_drawn / len(standing.decks))}, "
            f"PairsRatio: {_ratio(decks_won, decks_lost)}"
        ),
        (
            f"Games: {standing.deals}, Wins: {won}, Losses: {lost}, Draws: {drawn}, "
            f"Points: {points:.1f} ({_percent(points / standing.deals)})"
        ),
        (
            f"Ptnml(0-{standing.rotations}): {list(standing.points)}, "
            f"WL/DD Ratio: {_ratio(*standing.level_decks)}"
        ),
        (
            f"LLR: {standing.ratio:.2f} ({percent_of(standing.decided)}) "
            f"({sprt.lower:.2f}, {sprt.upper:.2f}) [{sprt.elo0:.2f}, {sprt.elo1:.2f}]"
        ),
        (
            f"PerDeal: {signed(per_deal.mean)} +/- {interval(per_deal.half_width)}, "
            f"Faults: {standing.faults[0]} - {standing.faults[1]}"
        ),
    ]


def _percent(part: float | None) -> str:
    """Return hundredths as fastchess has them, apart from their sign."""
    return "-" if part is None else f"{100 * part:.2f} %"


def _ratio(won: int, lost: int) -> str:
    if lost:
        return f"{won / lost:.2f}"
    return "inf" if won else "-"


def _verdict(standing: Comparison) -> str:
    sprt, one = standing.sprt, standing.sides[0]
    if standing.verdict is Verdict.H1:
        return f"H1 accepted: {one} is better by more than {sprt.elo0:g} nElo"
    return f"H0 accepted: {one} is not better by {sprt.elo1:g} nElo"


def _json(standing: Comparison, options: CompareOptions, backend: str) -> dict[str, object]:
    elo, elo_margin = standing.elo
    normalised, normalised_margin = standing.normalised_elo
    per_deal, sprt = standing.per_deal, standing.sprt
    return {
        "variant": options.play.variant,
        "seed": options.play.seed.hex(),
        "sandbox": backend,
        "names": list(standing.sides),
        "decks": len(standing.decks),
        "deals": standing.deals,
        **dict(zip(("won", "drawn", "lost"), standing.outcomes, strict=True)),
        **dict(
            zip(("decks_won", "decks_drawn", "decks_lost"), standing.deck_outcomes, strict=True)
        ),
        "points": list(standing.points),
        "per_deal": float(per_deal.mean),
        "half_width": per_deal.half_width,
        "superiority": per_deal.superiority,
        "mirroring": per_deal.mirroring,
        "elo": elo if math.isfinite(elo) else None,
        "elo_half_width": elo_margin,
        "normalised_elo": normalised,
        "normalised_elo_half_width": normalised_margin,
        "sprt": {
            "elo0": sprt.elo0,
            "elo1": sprt.elo1,
            "alpha": sprt.alpha,
            "beta": sprt.beta,
            "llr": standing.ratio,
            "lower": sprt.lower,
            "upper": sprt.upper,
        },
        "verdict": str(standing.verdict),
        "faults": list(standing.faults),
        "legs_lost": standing.legs_lost,
        "seconds": standing.milliseconds / 1000,
        "conditions": standing.conditions,
    }
