"""How a command ends: exit codes, and an error as one line that says what to do next."""

import errno
from typing import NamedTuple

import click

from arena.errors import ArenaError

DONE = 0
FAILED = 1
USAGE = 2
ENVIRONMENT = 3
INTERRUPTED = 130


class Ending(NamedTuple):
    """An exit code and what to say on stderr, if anything."""

    code: int
    message: str = ""


def ending_of(error: BaseException) -> Ending:
    """Return how the command line ends when a command raised this error.

    Raises:
        BaseException: The error itself, when it is a mistake in this program.
    """
    match error:
        case KeyboardInterrupt() | click.Abort():
            return Ending(INTERRUPTED, "interrupted")
        case ArenaError():
            return Ending(error.exit_code, str(error))
        case click.UsageError():
            return Ending(USAGE, _usage(error))
        case click.ClickException():
            return Ending(error.exit_code, error.format_message())
        case BrokenPipeError():
            return Ending(DONE)
        case OSError(errno=int(number)):
            return Ending(ENVIRONMENT, _environment(error, number))
    raise error


def _usage(error: click.UsageError) -> str:
    message = error.format_message().rstrip(".")
    if error.ctx is None:
        return message
    return f"{message}; type: {error.ctx.command_path} --help"


def _environment(error: OSError, number: int) -> str:
    reason = error.strerror or errno.errorcode.get(number, str(number))
    where = f"{error.filename}: " if error.filename else ""
    advice = {
        errno.ENOSPC: "free some space and run the same command again",
        errno.EDQUOT: "free some space and run the same command again",
        errno.EACCES: "choose another folder with --home, or change its permissions",
        errno.EROFS: "choose another folder with --home",
        errno.ENOENT: "check the path",
    }.get(number)
    return f"{where}{reason}" + (f"; {advice}" if advice else "")
