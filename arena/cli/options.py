"""Options that several commands take, and how their values are read."""

import hashlib
import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar, get_args, get_type_hints

import click
from click.core import ParameterSource

from arena.home import Home
from arena.rulebook import USUAL_DECKS, Game, find_game
from referee.results import SERIES, SpecError, TimeControl
from referee.rules import Rules

Command = TypeVar("Command", bound=Callable[..., Any])

SANDBOX_WORDS = {"docker": "container", "process": "process"}
"""What the command line calls the backends, which are named after their mechanism."""

NATIVE = "native"
MATCH_FORMATS = (*get_args(get_type_hints(Rules)["match_format"]), NATIVE)

DAY = 86_400
MILLISECOND = Decimal("0.001")
STARTUP_SECONDS = 20
SEED_HEX = re.compile("[0-9a-fA-F]{64}")


class Seconds(click.ParamType[Decimal]):
    """A time in seconds, to the millisecond."""

    name = "seconds"

    def __init__(self, *, least: Decimal = Decimal(0)) -> None:
        self._least = least

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Decimal:
        """Return the number, or fail saying what a time looks like."""
        try:
            seconds = Decimal(value)
        except InvalidOperation:
            self.fail(f"{value!r} is no time; give seconds, for example 0.5", param, ctx)
        if not (seconds.is_finite() and self._least <= seconds <= DAY):
            self.fail(f"{value!r} is out of range; give {self._least} to {DAY} seconds", param, ctx)
        if seconds % MILLISECOND:
            self.fail(f"{value!r} is finer than 1 ms; give seconds with 3 decimals", param, ctx)
        return seconds


class Whole(click.IntRange):
    """A whole number within limits."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number, or fail saying which numbers there are."""
        expected = f"{self.min} or more" if self.max is None else f"{self.min} to {self.max}"
        try:
            number = int(value)
        except ValueError:
            self.fail(f"{value!r} is no whole number; give {expected}", param, ctx)
        if number < (self.min or 0) or (self.max is not None and number > self.max):
            self.fail(f"{number} is out of range; give {expected}", param, ctx)
        return number


class BankAndIncrement(click.ParamType[tuple[Decimal, Decimal]]):
    """A bank per leg and an increment per decision, in seconds: BANK+INC."""

    name = "bank+inc"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Decimal, Decimal]:
        """Return bank and increment, or fail saying what they look like."""
        if isinstance(value, tuple):
            return value
        bank, plus, increment = value.partition("+")
        if not bank or (plus and not increment):
            self.fail(f"{value!r} is no time control; give 30, or 30+0.1", param, ctx)
        seconds = Seconds()
        return seconds.convert(bank, param, ctx), seconds.convert(increment or "0", param, ctx)


class Seed(click.ParamType[bytes]):
    """32 bytes from 64 hexadecimal digits, or from any other text by its SHA-256."""

    name = "seed"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> bytes:
        """Return the 32 bytes."""
        if isinstance(value, bytes):
            return value
        if not value:
            self.fail("the seed is empty; give a number, a word or 64 hex digits", param, ctx)
        if SEED_HEX.fullmatch(value):
            return bytes.fromhex(value)
        return hashlib.sha256(value.encode("utf-8", "surrogateescape")).digest()


def refuse_beside(context: click.Context, option: str, others: Sequence[str]) -> None:
    """Refuse options that mean nothing beside another that was given.

    Args:
        context: Of the command.
        option: The one that was given, as it is typed.
        others: Names of the parameters that mean nothing beside it.

    Raises:
        click.UsageError: One of them is on the command line.
    """
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in others and source is ParameterSource.COMMANDLINE:
            word = max(parameter.opts, key=len)
            raise click.UsageError(f"{word} means nothing beside {option}; leave one of them away")


def sandbox_word(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> str | None:
    """Turn a word of --sandbox into the name of a backend."""
    return None if value is None else SANDBOX_WORDS[value]


def sandbox_option(command: Command) -> Command:
    """Let the command take --sandbox, as the name of a backend."""
    return click.option(
        "--sandbox",
        type=click.Choice(list(SANDBOX_WORDS)),
        default="docker",
        show_default=True,
        callback=sandbox_word,
        help="Where bots run. A process is no security boundary: only for bots you trust.",
    )(command)


tournament_sandbox_option = click.option(
    "--sandbox",
    type=click.Choice(list(SANDBOX_WORDS)),
    callback=sandbox_word,
    help="Where bots run. A process is no security boundary: only for bots you trust.  [default: "
    "process if all were submitted so, else docker]",
)

found_sandbox_option = click.option(
    "--sandbox",
    type=click.Choice(list(SANDBOX_WORDS)),
    callback=sandbox_word,
    help="Where bots run.  [default: docker if an engine answers and not all were submitted as "
    "processes, else process]",
)


def game_options(command: Command) -> Command:
    """Let the command take what every kind of match is made of."""
    return _with(GAME_OPTIONS, command)


def pace_options(command: Command) -> Command:
    """Let the command take what is between bots and their clocks: tables, times and the seed."""
    return _with(PACE_OPTIONS, command)


def _with(options: Sequence[Callable[[Any], Any]], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


variant_option = click.option(
    "--variant",
    default="bura",
    show_default=True,
    help="The game, or rules you saved; `arena variants` lists them.",
)

rules_option = click.option(
    "--rules",
    "changes",
    multiple=True,
    metavar="OPTION=VALUE",
    help="Change one option of the variant; may be given often.",
)

PACE_OPTIONS = (
    click.option(
        "--tables",
        type=Whole(1, 256),
        help="Deals played side by side in a leg.  [default: by match format]",
    ),
    click.option(
        "--move-time",
        type=Seconds(least=MILLISECOND),
        metavar="SECONDS",
        help="Time for one decision.  [default: 1, and 0.25 more for every card above three that "
        "a hand holds]",
    ),
    click.option(
        "--tc",
        type=BankAndIncrement(),
        default="0+0",
        metavar="BANK+INC",
        help="Bank of seconds per leg beside the move time, and seconds gained per decision; a "
        "match of a series has as many legs as seats.",
    ),
    click.option(
        "--startup",
        type=Seconds(least=MILLISECOND),
        metavar="SECONDS",
        help=f"Time from the start of a bot to its Hello.  [default: {STARTUP_SECONDS}]",
    ),
    click.option(
        "--seed",
        type=Seed(),
        metavar="SEED",
        help="A number, a word, or 64 hex digits.  [default: drawn in secret]",
    ),
)

GAME_OPTIONS = (
    variant_option,
    rules_option,
    click.option(
        "--decks",
        type=Whole(1, 100_000),
        help="Decks a match of a series; each is played once per rotation of the seats.  [default: "
        f"{USUAL_DECKS}]",
    ),
    click.option(
        "--match-format",
        type=click.Choice(MATCH_FORMATS),
        default="series",
        show_default=True,
        help="How deals add up to a match; `native` is the variant's own way. Only a series is "
        "mirrored; the others last as long as their rules say.",
    ),
    *PACE_OPTIONS,
)


def game(home: Home, variant: str, changes: Sequence[str], match_format: str) -> tuple[Game, str]:
    """Return the game and the match format that --variant, --rules and --match-format name.

    Raises:
        NotFoundError: There is no such variant.
        RefusedError: An option or its value is unknown.
        RulesError: The options cannot be played together, or not in this format.
    """
    found = find_game(home, variant, changes)
    if match_format == NATIVE:
        return found, found.rules.match_format
    if match_format == SERIES:
        return found, SERIES
    return Game(found.name, found.rules.replace(match_format=match_format)), match_format


def time_control(
    game: Game,
    move_time: Decimal | None,
    bank: tuple[Decimal, Decimal],
    startup: Decimal | None = None,
) -> TimeControl:
    """Return the time control that --move-time, --tc and --startup name, or what fits the game.

    Raises:
        click.UsageError: Nobody can play with it.
    """
    try:
        return TimeControl(
            move_time_ms=game.usual_move_ms if move_time is None else _milliseconds(move_time),
            bank_ms=_milliseconds(bank[0]),
            increment_ms=_milliseconds(bank[1]),
            startup_ms=STARTUP_SECONDS * 1000 if startup is None else _milliseconds(startup),
        )
    except SpecError as error:
        raise click.UsageError(str(error)) from error


def _milliseconds(seconds: Decimal) -> int:
    return int(seconds * 1000)
