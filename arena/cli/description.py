"""A tournament in one TOML file: everything that `arena tournament create` can be told."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path  # noqa: TC003 - pydantic reads the annotations
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena import queries
from arena.bots import IMAGE, PATH_BEGINS, check_source, check_string
from arena.cli.options import (
    DAY,
    MATCH_FORMATS,
    SANDBOX_WORDS,
    Seed,
    game,
    time_control,
)
from arena.errors import MachineError, NotFoundError, RefusedError, with_near
from arena.infos import BotVersionInfo, Seeding
from arena.tournament import TournamentOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_core import ErrorDetails

    from arena.home import Home
    from arena.store import Store

Count = Annotated[int, Field(ge=1, le=100_000)]
Time = Annotated[float, Field(ge=0, le=DAY)]
EXPECTED = {
    "list_type": "give a list in brackets, as in ['alice', 'bob']",
    "string_type": "give a text in quotes",
    "int_type": "give a whole number, without quotes",
    "float_type": "give a number, without quotes",
    "bool_type": "give true or false, without quotes",
    "dict_type": "give a table: keys with values",
    "model_type": "give a table: keys with values",
    "literal_error": "give {expected}",
    "greater_than_equal": "give at least {ge}",
    "less_than_equal": "give at most {le}",
}
Value = str | int | list[str] | list[int]


class _Table(BaseModel):
    """What every table of the file has in common: no key is ignored."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TimeTable(_Table):
    """Times in seconds, as --move-time, --tc and --startup give them."""

    move: Time | None = None
    bank: Time = 0.0
    increment: Time = 0.0
    startup: Time | None = None


class BotTable(_Table):
    """A bot to submit before the tournament is made; a folder is relative to the file."""

    name: str
    source: str
    entropy: str | None = None
    entropy_digest: str | None = None


class Description(_Table):
    """The file. Without `entrants` every bot of `bots` is entered alone."""

    name: str
    variant: str = "bura"
    rules: dict[str, Value] = {}
    format: str = "round-robin"
    rounds: Count | None = None
    groups: Count | None = None
    advance: Count | None = None
    third_place: bool | None = None
    challenger: str | None = None
    seeding: Literal["given", "rating"] | None = None
    final: bool = False
    open: bool = False
    seats: Annotated[int, Field(ge=2, le=6)] | None = None
    decks: Count = 100
    match_format: str = "series"
    tables: Annotated[int, Field(ge=1, le=256)] | None = None
    seed: str | int | None = None
    sandbox: Literal["docker", "process"] | None = None
    time: TimeTable = TimeTable()
    entrants: list[str] | None = None
    bots: list[BotTable] = []

    def options(self, home: Home) -> TournamentOptions:
        """Return what the file says, as the command line would have said it.

        Raises:
            NotFoundError: There is no such variant.
            RefusedError: A rule or the match format is unknown, or there is nobody to enter.
        """
        if self.match_format not in MATCH_FORMATS:
            raise RefusedError(
                f"unknown match format {self.match_format!r}",
                f"expected one of {', '.join(MATCH_FORMATS)}",
            )
        words = [f"{option}={_text(value)}" for option, value in self.rules.items()]
        played, match_format = game(home, self.variant, words, self.match_format)
        entrants = [bot.name for bot in self.bots] if self.entrants is None else self.entrants
        return TournamentOptions(
            name=self.name,
            bots=tuple(entrants),
            time=time_control(
                played,
                _decimal(self.time.move),
                (Decimal(str(self.time.bank)), Decimal(str(self.time.increment))),
                _decimal(self.time.startup),
            ),
            variant=played.name,
            rules=played.rules,
            format=self.format,
            seats=self.seats or played.usual_seats,
            rounds=self.rounds,
            groups=self.groups,
            advance=self.advance,
            third_place=self.third_place,
            challenger=self.challenger,
            seeding=None if self.seeding is None else Seeding(self.seeding),
            is_final=self.final,
            is_open=self.open,
            decks=self.decks,
            match_format=match_format,
            tables=self.tables,
            seed=None if self.seed is None else Seed().convert(str(self.seed), None, None),
            sandbox=None if self.sandbox is None else SANDBOX_WORDS[self.sandbox],
        )

    def source(self, bot: BotTable, file: Path) -> str:
        """Return where a bot is, a path as it is meant in the file; an image stays as it is."""
        path = file.parent / bot.source
        return str(path) if path.exists() or bot.source.startswith(PATH_BEGINS) else bot.source

    def check_sources(self, file: Path, sandbox: str) -> None:
        """Refuse bots that could not be submitted, as their source or their string cannot be taken.

        Raises:
            RefusedError: There is no such folder or file, or what is said of a string is wrong.
            MachineError: There is no such image, or no engine that would know.
        """
        for bot in self.bots:
            check_string(bot.entropy, bot.entropy_digest)
            check_source(self.source(bot, file), sandbox)

    def finder(self, store: Store) -> Callable[[str], BotVersionInfo]:
        """Return what finds bots as they would be once those with a source are submitted."""
        coming = {bot.name.casefold(): bot for bot in self.bots}

        def find(word: str) -> BotVersionInfo:
            name, _, number = word.partition("@")
            bot = coming.get(name.casefold())
            if bot is None or number:
                return queries.bot_version(store, word)
            return self._unborn(store, bot)

        return find

    def _unborn(self, store: Store, bot: BotTable) -> BotVersionInfo:
        try:
            version = len(queries.bot(store, bot.name).versions) + 1
        except NotFoundError:
            version = 1
        return BotVersionInfo(
            name=bot.name,
            version=version,
            kind=queries.PROCESS if self.sandbox == queries.PROCESS else IMAGE,
            digest="",
            source=bot.source,
            folder=None,
            created=datetime.now(tz=UTC),
            entropy=bot.entropy,
            entropy_digest=bot.entropy_digest,
        )


def read_description(path: Path) -> Description:
    """Read the file.

    Raises:
        RefusedError: It is not there or no TOML, or says what cannot be meant; naming the line or
            the key.
        MachineError: It cannot be read.
    """
    try:
        content = path.read_bytes().decode()
        return Description.model_validate(tomllib.loads(content))
    except FileNotFoundError as error:
        raise RefusedError(f"there is no file {path}", "see docs/tournaments.md for one") from error
    except OSError as error:
        raise MachineError(f"cannot read {path}: {error.strerror}", "check the file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RefusedError(f"{path} is no TOML: {error}", "mend that line") from error
    except ValidationError as error:
        raise _explain(path, error) from error


def _explain(path: Path, error: ValidationError) -> RefusedError:
    """Say the first thing that is wrong in one line."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = _known(first["loc"])
        hint = with_near(f"there are {', '.join(known)}", str(first["loc"][-1]), known)
        return RefusedError(f"{path}: there is no key {key!r}", hint)
    if first["type"] == "missing":
        return RefusedError(f"{path}: {key} is missing", "every description needs it")
    return RefusedError(f"{path}: {key} has no value {first['input']!r}", _expected(first))


def _expected(error: ErrorDetails) -> str:
    """Return what a key takes, in words of the file."""
    words = EXPECTED.get(error["type"], "see docs/tournaments.md for what it takes")
    return words.format_map(error.get("ctx", {}))


def _known(place: tuple[int | str, ...]) -> list[str]:
    tables: dict[object, type[_Table]] = {"time": TimeTable, "bots": BotTable}
    table = tables.get(place[0], Description) if len(place) > 1 else Description
    return list(table.model_fields)


def _text(value: Value) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _decimal(seconds: float | None) -> Decimal | None:
    return None if seconds is None else Decimal(str(seconds))
