"""How a command ends: exit codes, and an error as one line that says what to do next."""

import errno
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import click
from click.exceptions import NoArgsIsHelpError

from arena.errors import ArenaError
from referee.players import PlatformError
from referee.record import RecordError
from referee.results import SpecError
from referee.rules import RulesError
from referee.variants import UnknownVariantError

DONE = 0
FAILED = 1
USAGE = 2
ENVIRONMENT = 3
INTERRUPTED = 130

NEAR = re.compile(r"\. \(?Did you mean (?:one of: )?(.+)\?\)?$")
"""How click names what is like an unknown word."""


class Ending(NamedTuple):
    """An exit code and what to say on stderr, if anything."""

    code: int
    message: str = ""


def ending_of(error: BaseException) -> Ending:
    """Return how the command line ends when a command raised this error.

    Raises:
        BaseException: The error itself, when it is a mistake in this program.
    """
    for kinds, ending in ENDINGS:
        if isinstance(error, kinds):
            return ending(error)
    raise error


def _usage(error: click.UsageError) -> str:
    if isinstance(error, NoArgsIsHelpError):
        # Its own message is the whole help.
        message = f"{error.ctx.command_path} needs {_what_follows(error.ctx)}"
    else:
        message = NEAR.sub(r"; did you mean \1?", error.format_message()).rstrip(".")
    if error.ctx is None:
        return message
    end = "" if message.endswith("?") else ";"
    return f"{message}{end} type: {error.ctx.command_path} --help"


def _what_follows(context: click.Context) -> str:
    if isinstance(context.command, click.Group):
        return f"a command: {', '.join(context.command.list_commands(context))}"
    return "arguments"


def _environment(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    where = f"{error.filename}: " if error.filename else ""
    advice = {
        errno.ENOSPC: "free some space and run the same command again",
        errno.EDQUOT: "free some space and run the same command again",
        errno.EACCES: "choose another folder with --home, or change its permissions",
        errno.EROFS: "choose another folder with --home",
        errno.ENOENT: "check the path",
    }.get(error.errno or 0)
    return f"{where}{reason}" + (f"; {advice}" if advice else "")


# The first that fits counts: a closed pipe is also an error of the system. Where help is written
# into one, click asks to exit with 1 instead of raising it.
ENDINGS: tuple[tuple[tuple[type[BaseException], ...], Callable[[Any], Ending]], ...] = (
    ((KeyboardInterrupt, click.Abort), lambda _: Ending(INTERRUPTED, "interrupted")),
    ((ArenaError,), lambda error: Ending(error.exit_code, str(error))),
    ((RecordError,), lambda error: Ending(FAILED, str(error))),
    ((RulesError, SpecError, UnknownVariantError), lambda error: Ending(USAGE, str(error))),
    ((PlatformError,), lambda error: Ending(ENVIRONMENT, f"{error}; run the same command again")),
    (
        (UnicodeEncodeError,),
        lambda _: Ending(USAGE, "what was given is not in UTF-8"),
    ),
    ((click.UsageError,), lambda error: Ending(USAGE, _usage(error))),
    ((click.ClickException,), lambda error: Ending(error.exit_code, error.format_message())),
    ((BrokenPipeError, SystemExit), lambda _: Ending(DONE)),
    ((OSError,), lambda error: Ending(ENVIRONMENT, _environment(error))),
)
