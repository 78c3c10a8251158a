"""A tournament in one TOML file: everything that `arena tournament create` can be told."""

from __future__ import annotations

import os
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from arena import queries, tournament
from arena.bots import IMAGE, PATH_BEGINS, check_name, check_source, check_string
from arena.cli.options import (
    DAY,
    MATCH_FORMATS,
    MILLISECOND,
    SANDBOX_WORDS,
    Seed,
    game,
    time_control,
)
from arena.entries import enter
from arena.errors import ArenaError, MachineError, NotFoundError, RefusedError, with_near
from arena.formats import find_format
from arena.infos import BotVersionInfo, Seeding
from arena.rulebook import Game, check_change, check_seats
from arena.sandbox import ImageMissingError
from arena.tournament import TournamentOptions
from referee.results import SERIES, SpecError, TimeControl
from referee.rules import Rules, RulesError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pydantic_core import ErrorDetails

    from arena.home import Home
    from arena.store import Store
    from arena.tournament import Draft

Count = Annotated[int, Field(ge=1, le=100_000)]
SHOWN_CHARS = 80
LONG_NUMBER = "a whole number of thousands of digits"
NO_SUCH_DEPTH = "no key takes more than lists of plain values"
EXPECTED = {
    "list_type": "give a list in brackets, as in ['alice', 'bob']",
    "string_type": "give a text in quotes",
    "int_type": "give a whole number, without quotes",
    "float_type": "give a number, without quotes",
    "finite_number": "give a number that has an end",
    "rule_value": "give a text in quotes, a whole number, or a list of either",
    "seed_value": "give a text in quotes or a whole number",
    "fine_time": "give seconds with 3 decimals",
    "bool_type": "give true or false, without quotes",
    "dict_type": "give a table: keys with values",
    "model_type": "give a table: keys with values",
    "literal_error": "give {expected}",
    "greater_than_equal": "give at least {ge:g}",
    "less_than_equal": "give at most {le:g}",
}


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _rule_value(value: object) -> str:
    """Return what a rule is changed to, as the command line would say it."""
    parts = value if isinstance(value, list) else [value]
    if not (parts and all(map(_is_scalar, parts))):
        raise PydanticCustomError("rule_value", "not the value of a rule")
    return ",".join(map(str, parts))


def _whole_milliseconds(seconds: float) -> float:
    if Decimal(str(seconds)) % MILLISECOND:
        raise PydanticCustomError("fine_time", "finer than a millisecond")
    return seconds


def _seed_value(value: object) -> str:
    if not _is_scalar(value):
        raise PydanticCustomError("seed_value", "not a seed")
    return str(value)


Time = Annotated[
    float,
    Field(ge=0, le=DAY, allow_inf_nan=False),
    AfterValidator(_whole_milliseconds),
]
PositiveTime = Annotated[Time, Field(ge=float(MILLISECOND))]
RuleValue = Annotated[str, PlainValidator(_rule_value)]
SeedValue = Annotated[str, PlainValidator(_seed_value)]


class _Table(BaseModel):
    """What every table of the file has in common: no key is ignored."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TimeTable(_Table):
    """Times in seconds, as --move-time, --tc and --startup give them."""

    move: PositiveTime | None = None
    bank: Time = 0.0
    increment: Time = 0.0
    startup: PositiveTime | None = None


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
    rules: dict[str, RuleValue] = {}
    format: str = "round-robin"
    rounds: Count | None = None
    groups: Count | None = None
    advance: Count | None = None
    third_place: bool | None = None
    challenger: str | None = None
    seeding: Literal["given", "rating"] | None = None
    finals: Annotated[bool, Field(validation_alias=AliasChoices("finals", "final"))] = False
    open: bool = False
    seats: Annotated[int, Field(ge=2, le=6)] | None = None
    decks: Count | None = None
    match_format: str = "series"
    tables: Annotated[int, Field(ge=1, le=256)] | None = None
    seed: SeedValue | None = None
    sandbox: Literal["docker", "process"] | None = None
    time: TimeTable = TimeTable()
    entrants: list[str] | None = None
    bots: list[BotTable] = []


@dataclass(frozen=True, slots=True)
class DescriptionFile:
    """A file that was read; what is wrong with what it says names the file and the key."""

    path: Path
    said: Description

    def options(self, home: Home) -> TournamentOptions:
        """Return what the file says, as the command line would have said it.

        Raises:
            RefusedError: There is no such variant, rule, match format, format or seed, or a name
                will not do.
        """
        said = self.said
        with self._about("name"):
            check_name(said.name, "tournament")
        for number, bot in enumerate(said.bots):
            with self._about(f"bots[{number}].name"):
                check_name(bot.name, "bot")
        with self._about("format"):
            find_format(said.format)
        played, match_format = self._game(home)
        seats = said.seats or played.usual_seats
        with self._about("seats"):
            check_seats(played.name, played.rules, seats)
        with self._about("seed"):
            seed = None if said.seed is None else Seed().convert(said.seed, None, None)
        entrants = [bot.name for bot in said.bots] if said.entrants is None else said.entrants
        return TournamentOptions(
            name=said.name,
            bots=tuple(entrants),
            time=self._time(played),
            variant=played.name,
            rules=played.rules,
            format=said.format,
            seats=seats,
            rounds=said.rounds,
            groups=said.groups,
            advance=said.advance,
            third_place=said.third_place,
            challenger=said.challenger,
            seeding=None if said.seeding is None else Seeding(said.seeding),
            is_final=said.finals,
            is_open=said.open,
            decks=said.decks,
            match_format=match_format,
            tables=said.tables,
            seed=seed,
            sandbox=None if said.sandbox is None else SANDBOX_WORDS[said.sandbox],
        )

    def _game(self, home: Home) -> tuple[Game, str]:
        said = self.said
        if said.match_format not in MATCH_FORMATS:
            raise RefusedError(
                f"{self.path}: match_format has no value {said.match_format!r}",
                f"give one of {', '.join(MATCH_FORMATS)}",
            )
        with self._about("variant"):
            game(home, said.variant, (), SERIES)
        words = [f"{option}={value}" for option, value in said.rules.items()]
        for option, word in zip(said.rules, words, strict=True):
            with self._about(f"rules.{option}"):
                check_change(word)
        with self._about("rules"):
            game(home, said.variant, words, SERIES)
        with self._about("match_format"):
            return game(home, said.variant, words, said.match_format)

    def _time(self, played: Game) -> TimeControl:
        time = self.said.time
        with self._about("time"):
            return time_control(
                played,
                _decimal(time.move),
                (Decimal(str(time.bank)), Decimal(str(time.increment))),
                _decimal(time.startup),
            )

    def sources(self) -> Iterator[tuple[BotTable, str]]:
        """Give each bot and where it is: a path as the file means it; an image stays as it is."""
        for bot in self.said.bots:
            is_path = bot.source.startswith(PATH_BEGINS)
            path = (self.path.parent / os.path.expanduser(bot.source)).absolute()  # noqa: PTH111 - leaves users that are unknown
            yield bot, str(path) if is_path or path.exists() else bot.source

    def check_sources(self, sandbox: str) -> None:
        """Refuse bots that could not be submitted, as their source or their string cannot be taken.

        Raises:
            RefusedError: There is no such folder or file, or what is said of a string is wrong.
            MachineError: There is no such image, or no engine that would know.
        """
        for number, (bot, source) in enumerate(self.sources()):
            with self._about(f"bots[{number}].source"):
                check_source(source, sandbox)
            with self._about(f"bots[{number}]"):
                check_string(bot.entropy, bot.entropy_digest)

    def draft(self, store: Store, options: TournamentOptions) -> Draft:
        """Return the tournament as it would be once the bots with a source are submitted.

        Raises:
            RefusedError: A bot is unknown, or what the file says does not go together.
        """
        coming = {bot.name.casefold(): bot for bot in self.said.bots}

        def find(word: str) -> BotVersionInfo:
            name, _, number = word.partition("@")
            bot = coming.get(name.casefold())
            if bot is None or number:
                return queries.bot_version(store, word)
            return self._unborn(store, bot)

        with self._about("entrants"):
            enter(options.bots, options.variant, options.rules or Rules(), find)
        with self._about():
            return tournament.draft(store, options, find)

    @contextmanager
    def _about(self, key: str = "") -> Iterator[None]:
        """Let an error say which file, and which key of it, is to be mended.

        Raises:
            RefusedError: What was refused, with file and key before it.
            MachineError: The machine is at fault, whatever the file says; or it lacks an image,
                with file and key before that.
        """
        try:
            yield
        except ImageMissingError as error:
            raise MachineError(self._placed(key, error.message), error.hint) from error
        except MachineError:
            raise
        except ArenaError as error:
            raise RefusedError(self._placed(key, error.message), error.hint) from error
        except click.UsageError as error:
            raise RefusedError(self._placed(key, error.message)) from error
        except (RulesError, SpecError) as error:
            raise RefusedError(self._placed(key, str(error))) from error

    def _placed(self, key: str, message: str) -> str:
        return ": ".join(part for part in (str(self.path), key, message) if part)

    def _unborn(self, store: Store, bot: BotTable) -> BotVersionInfo:
        try:
            version = len(queries.bot(store, bot.name).versions) + 1
        except NotFoundError:
            version = 1
        return BotVersionInfo(
            name=bot.name,
            version=version,
            kind=queries.PROCESS if self.said.sandbox == queries.PROCESS else IMAGE,
            digest="",
            source=bot.source,
            folder=None,
            created=datetime.now(tz=UTC),
            entropy=bot.entropy,
            entropy_digest=bot.entropy_digest,
        )


def read_description(path: Path) -> DescriptionFile:
    """Read the file.

    Raises:
        RefusedError: It is not there or no TOML, or says what cannot be meant; naming the line or
            the key.
        MachineError: It cannot be read.
    """
    try:
        content = path.read_bytes().decode()
        return DescriptionFile(path, Description.model_validate(tomllib.loads(content)))
    except FileNotFoundError as error:
        raise RefusedError(f"there is no file {path}", "see docs/tournaments.md for one") from error
    except OSError as error:
        raise MachineError(f"cannot read {path}: {error.strerror}", "check the file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RefusedError(f"{path} is no TOML: {error}", "mend that line") from error
    except ValidationError as error:
        raise _explain(path, error) from error
    except RecursionError as error:
        message = f"{path} has lists or tables within each other without end"
        raise RefusedError(message, NO_SUCH_DEPTH) from error
    # Python reads no whole number of thousands of digits.
    except ValueError as error:
        raise RefusedError(f"{path} has {LONG_NUMBER}", "give a shorter number") from error


def _explain(path: Path, error: ValidationError) -> RefusedError:
    """Say the first thing that is wrong in one line."""
    errors = error.errors()
    # What is missing may be there under a name that is misspelt.
    unknown = (each for each in errors if each["type"] == "extra_forbidden")
    first = next(unknown, errors[0])
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])[1:]
    if first["type"] == "extra_forbidden":
        known = _known(first["loc"])
        hint = with_near(f"there are {', '.join(known)}", str(first["loc"][-1]), known)
        return RefusedError(f"{path}: there is no key {key!r}", hint)
    if first["type"] == "missing":
        whose = "every description" if len(first["loc"]) == 1 else "every bot with a table"
        return RefusedError(f"{path}: {key} is missing", f"{whose} needs it")
    return RefusedError(f"{path}: {key} has no value {_shown(first['input'])}", _expected(first))


def _shown(value: Any) -> str:
    """Return a value about as the file has it, its beginning if it is long."""
    if isinstance(value, bool):
        return str(value).lower()
    is_plain = isinstance(value, str | int | float | list | dict)
    try:
        text = repr(value) if is_plain else str(value)
    except ValueError:
        return f"with {LONG_NUMBER}"
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}..."


def _expected(error: ErrorDetails) -> str:
    """Return what a key takes, in words of the file."""
    words = EXPECTED.get(error["type"], "see docs/tournaments.md for what it takes")
    return words.format_map(error.get("ctx", {}))


def _known(place: tuple[int | str, ...]) -> list[str]:
    tables: dict[object, type[_Table]] = {"time": TimeTable, "bots": BotTable}
    table = tables.get(place[0], Description) if len(place) > 1 else Description
    return list(table.model_fields)


def _decimal(seconds: float | None) -> Decimal | None:
    return None if seconds is None else Decimal(str(seconds))
