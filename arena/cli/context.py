"""What every command shares: where the arena lives, the two streams, and the options for both."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from arena.cli.output import Output
from arena.errors import ForbiddenError, NotFoundError
from arena.home import DATABASE_VARIABLE, HOME_VARIABLE, Home, find_home
from arena.reading import may_write, reading
from arena.store import Store

Command = TypeVar("Command", bound=Callable[..., Any])


class App:
    """The state of one call of the command line."""

    def __init__(self) -> None:
        self.output = Output()
        self.given_home: Path | None = None
        self.given_database: str | None = None
        self._interrupted = False

    def interrupt(self) -> NoReturn:
        """End the command: its user asked for it.

        Raises:
            KeyboardInterrupt: Always.
        """
        self._interrupted = True
        raise KeyboardInterrupt

    def heed(self) -> None:
        """End the command if its user asked for it and that was lost.

        Python drops what a signal's handler raises where it cannot be passed on, as in a
        destructor; what takes long asks here again and again.

        Raises:
            KeyboardInterrupt: The user asked.
        """
        if self._interrupted:
            raise KeyboardInterrupt

    @property
    def home(self) -> Home:
        """Where the arena is: as the command says, else the group, else the default."""
        return find_home(self.given_home, self.given_database)

    def new_store(self) -> Store:
        """Open the arena's database to write to it, made first if need be.

        Raises:
            ForbiddenError: This user may only read it.
        """
        home = self.home
        if home.database.exists() and not may_write(home):
            raise ForbiddenError(home.path)
        return Store.open(home)

    def look(self) -> AbstractContextManager[Store]:
        """Open the arena's database to read what is there, if anything is; nothing is made."""
        return reading(self.home)

    def open_store(self) -> AbstractContextManager[Store]:
        """Open the arena's database; where this user may not write, reading it is all that works.

        Raises:
            NotFoundError: There is no arena in this folder.
        """
        home = self.home
        if not home.is_begun:
            raise NotFoundError(
                f"there is no arena in {home.path}",
                "name its folder with --home, or begin one: arena bot submit NAME SOURCE",
            )
        return reading(home)


pass_app = click.make_pass_decorator(App)


def _set_home(context: click.Context, _: click.Parameter, value: Path | None) -> None:
    if value is not None:
        context.ensure_object(App).given_home = value


def _set_database(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.ensure_object(App).given_database = value


def place_options(command: Command) -> Command:
    """Let the command take --home and --database."""
    command = click.option(
        "--database",
        metavar="URL",
        expose_value=False,
        callback=_set_database,
        is_eager=True,
        help="PostgreSQL database, as postgresql://USER@HOST/NAME; else "
        f"{DATABASE_VARIABLE}, else a file in the folder.",
    )(command)
    return click.option(
        "--home",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        expose_value=False,
        callback=_set_home,
        is_eager=True,
        help=f"Folder of the database, records and logs; else {HOME_VARIABLE}, else ./.arena.",
    )(command)


def common_options(command: Command) -> Command:
    """Let the command take --json, as the argument `as_json`, --home and --database."""
    return json_option(place_options(command))


def json_option(command: Command) -> Command:
    """Let the command take --json, as the argument `as_json`."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print JSON on stdout, and nothing else there."
    )(command)


class Documented(click.Command):
    """A command whose help ends with examples and with the fields of its JSON.

    Args:
        examples: command lines that work.
        fields: what --json prints, from name to meaning; `[]` marks the items of a list and `*`
            stands for names that are data.
    """

    def __init__(
        self,
        *args: Any,
        examples: Sequence[str] = (),
        fields: dict[str, str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.examples = examples
        self.fields = fields or {}

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and the fields under the options."""
        del ctx
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        if self.fields:
            with formatter.section("Fields of --json"):
                formatter.write_dl(list(self.fields.items()))


class DocumentedGroup(Documented, click.Group):
    """A group of commands whose help ends with examples."""
