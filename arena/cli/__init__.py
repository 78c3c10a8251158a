"""The command line `arena`: every command parses, calls one function and prints what it got."""

from __future__ import annotations

import contextlib
import pkgutil
import signal
import threading
from typing import TYPE_CHECKING, NoReturn, cast

import click
from click.exceptions import NoSuchCommand

from arena.cli.context import App, DocumentedGroup, place_options
from arena.cli.errors import DONE, ending_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

__all__ = ["arena", "main"]

# Names instead of commands: none waits for what only another one imports.
COMMANDS = {
    "play": "arena.cli.play:play",
    "compare": "arena.cli.compare:compare",
    "bot": "arena.cli.bots:bot",
    "tournament": "arena.cli.tournaments:tournament_group",
    "rankings": "arena.cli.rankings:rankings",
    "stats": "arena.cli.stats:stats",
    "match": "arena.cli.matches:match",
    "verify": "arena.cli.verify:verify",
    "formats": "arena.cli.formats:formats",
    "rebuild": "arena.cli.rebuild:rebuild_command",
    "variants": "arena.cli.variants:variants",
    "rules": "arena.cli.rules:rules_group",
    "doctor": "arena.cli.doctor:doctor",
    "clean": "arena.cli.clean:clean",
}


class Commands(DocumentedGroup):
    """The commands, in the order in which a newcomer meets them, imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name, if there is one."""
        del ctx
        place = COMMANDS.get(cmd_name)
        return None if place is None else cast("click.Command", pkgutil.resolve_name(place))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command a line begins with; an unknown one fails and names the near ones.

        Raises:
            NoSuchCommand: There is no such command.
        """
        if args[0] in COMMANDS or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        raise NoSuchCommand(args[0], possibilities=COMMANDS, ctx=ctx)


@click.group(
    cls=Commands,
    examples=[
        "arena play ./my_bot ./other_bot --decks 20",
        "arena bot submit alice ./my_bot",
        "arena tournament create spring alice bob",
        "arena tournament run spring",
        "arena rankings",
    ],
)
@click.version_option(package_name="bura-arena", prog_name="arena")
@place_options
def arena() -> None:
    """Run tournaments of bots that play the card game Bura.

    Exit codes: 0 done, 1 a check or verification failed, 2 usage, 3 environment (engine, disk,
    database), 130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code.

    Args:
        arguments: what follows the program's name, by default what the process was given.
    """
    app = App()
    try:
        with _interruptible(app):
            code = arena.main(arguments, prog_name="arena", standalone_mode=False, obj=app)
            app.output.flush()
    except BaseException as error:  # noqa: BLE001 - every ending is decided in one place
        ending = ending_of(error)
        app.output.give_up()
        if ending.message:
            app.output.error(ending.message)
        return ending.code
    return code if isinstance(code, int) else DONE


@contextlib.contextmanager
def _interruptible(app: App) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP unwind the program alike: what it started is removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
        app.interrupt()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        # Under nohup, or behind a shell's &, what is ignored is to stay so.
        if number == signal.SIGTERM or handler is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
