"""A match for trying things: bots from wherever they are, nothing stored, no rating moved."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena import queries
from arena.bots import PATH_BEGINS, tree_digest
from arena.cleaning import take_back
from arena.entries import partners_of, split_pair
from arena.errors import NotFoundError, RefusedError, with_near
from arena.formats import Partners, sides_of
from arena.home import Home
from arena.jobs import MatchDescription
from arena.owners import ownership
from arena.queries import PROCESS
from arena.reading import reading
from arena.rulebook import check_seats
from arena.runner import deal_table, run_match
from arena.sandbox import BotSource, EngineMissingError, ImageMissingError, find_sandbox
from arena.sandbox.slots import plan_slots
from arena.statistics.stats import PlayedMatch, score_per_deal
from referee.results import SERIES, Entrant, MatchResult, MatchSpec, TimeControl

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from arena.infos import BotVersionInfo
    from arena.runner import MatchReport
    from arena.statistics.stats import Estimate
    from referee.players import Message
    from referee.rules import Rules

CONTAINER = "container"
_NO_HARD_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS})
SERIES_TABLES = 8
"""Deals side by side where they do not depend on each other: one message carries their turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayOptions:
    """How to play; None leaves the choice to the platform.

    Attributes:
        bots: Submitted names ("alice", "alice@2"), folders, or images; one a seat, or two pairs
            such as "alice+bob", which sit across.
        sandbox: Name of the backend; None is processes if all bots were
            submitted as such or there is no engine, else containers.
        record: Where to put the record; None keeps none.
        match: Number of the match under the seed: each has other decks.
    """

    bots: tuple[str, ...]
    seed: bytes
    time: TimeControl
    rules: Rules
    variant: str
    decks: int = 100
    match_format: str = SERIES
    tables: int | None = None
    sandbox: str | None = None
    record: Path | None = None
    match: int = 0


@dataclass(frozen=True, slots=True)
class Contestant:
    """A bot that plays: how tables call it, and where it comes from."""

    entrant: Entrant
    label: str
    source: BotSource


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayReport:
    """What came of it; labels, sides (empty without) and estimates in the order of the seats."""

    labels: tuple[str, ...]
    sides: tuple[int, ...]
    match: MatchReport
    estimates: tuple[Estimate, ...]
    sandbox: str
    logs: tuple[tuple[str, int, str], ...]
    """What the bots printed: label, leg, text."""


def choose_backend(home: Home, options: PlayOptions) -> str:
    """Return the backend to run bots with.

    If none is named, that is processes where all bots were submitted as such or no engine answers.

    Raises:
        UnknownSandboxError: There is no such backend.
        EngineMissingError: Containers were asked for and no engine answers.
    """
    if options.sandbox is not None:
        find_sandbox(options.sandbox)
        return options.sandbox
    words = seated(home, options)
    known = _submitted(home, words)
    if all(word in known and known[word].kind == PROCESS for word in words):
        return PROCESS
    try:
        find_sandbox(CONTAINER)
    except EngineMissingError:
        return PROCESS
    return CONTAINER


def play(
    home: Home,
    options: PlayOptions,
    backend: str,
    watch: Callable[[Message], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> PlayReport:
    """Play one match.

    Args:
        home: Where submitted bots are.
        options: What to play.
        backend: As `choose_backend` gave it.
        watch: Shown every message before a seat is sent it.
        say: Told in a line what takes its time.

    Raises:
        NotFoundError: A bot is not there.
        RefusedError: The options do not go together, or the record is in the way.
        SpecError: The variant cannot be played like this.
        PlatformError: The platform failed, not a bot.
    """
    return play_match(options, gather(home, options, backend, say), backend, watch)


def gather(
    home: Home, options: PlayOptions, backend: str, say: Callable[[str], None] = lambda _: None
) -> tuple[Contestant, ...]:
    """Return who plays, in the order of the seats, each with a label of its own.

    Raises:
        NotFoundError: A bot is not there.
        RefusedError: The options do not go together, or the record is in the way.
    """
    if options.record is not None:
        _check_target(options.record)
    words = seated(home, options)
    # What names nothing is told before why others cannot run here, and before images are built.
    known = _submitted(home, words)
    found = {
        word: _contestant(home, word, known.get(word), backend, say)
        for word in sorted(words, key=lambda word: _rank(word, known))
    }
    contestants = _distinct([found[word] for word in words])
    if take_back(find_sandbox(backend)):
        say("what a command left that was killed has been removed")
    return tuple(contestants)


def play_match(
    options: PlayOptions,
    contestants: Sequence[Contestant],
    backend: str,
    watch: Callable[[Message], None] = lambda _: None,
) -> PlayReport:
    """Play one match between those who were gathered.

    Raises:
        RefusedError: The record is in the way.
        SpecError: The variant cannot be played like this.
        PlatformError: The platform failed, not a bot.
    """
    if options.record is not None:
        _check_target(options.record)
    with tempfile.TemporaryDirectory(prefix="bura-play-") as folder:
        scratch = Home(Path(folder))
        scratch.create()
        # Whoever looks for what the dead left takes a folder without an owner for one of theirs.
        with ownership(scratch) as owner:
            description = MatchDescription(
                spec=_spec(options, contestants),
                bots=tuple(contestant.source for contestant in contestants),
                positions=tuple(range(len(contestants))),
                sandbox=backend,
                home=scratch.path,
                folder="play",
                slot=plan_slots(seats=len(contestants), wanted=1)[0],
                owner=owner.boot,
            )
            return _play(description, contestants, options, watch)


def _play(
    description: MatchDescription,
    contestants: Sequence[Contestant],
    options: PlayOptions,
    watch: Callable[[Message], None],
) -> PlayReport:
    report = run_match(description, watch)
    labels = tuple(contestant.label for contestant in contestants)
    played = _played(report.result, labels)
    if options.record is not None:
        _keep(report.record, options.record)
    return PlayReport(
        labels=labels,
        sides=played.sides,
        match=report,
        estimates=tuple(
            estimate for label in labels if (estimate := score_per_deal([played], label))
        ),
        sandbox=description.sandbox,
        logs=_logs(report, labels, Home(description.home)),
    )


def seated(home: Home, options: PlayOptions) -> tuple[str, ...]:
    """Return the words of single bots in the order of the seats.

    Raises:
        RefusedError: The words name pairs where there are none, or the game is not for so many.
    """

    def is_bot(word: str) -> bool:
        return Path(word).is_dir() or bool(_submitted(home, [word]))

    groups = [split_pair(word, is_bot) for word in options.bots]
    partners = partners_of(groups, options.variant, options.rules)
    words = tuple(word for group in groups for word in group)
    check_seats(options.variant, options.rules, len(words))
    return words if partners is not Partners.FIXED else words[::2] + words[1::2]


def _spec(options: PlayOptions, contestants: Sequence[Contestant]) -> MatchSpec:
    is_series = options.match_format == SERIES
    return MatchSpec(
        variant=options.variant,
        rules=options.rules,
        seats=len(contestants),
        decks=options.decks,
        match_format=options.match_format,
        tables=options.tables or (min(SERIES_TABLES, options.decks) if is_series else 1),
        seed=options.seed,
        time_control=options.time,
        entrants=tuple(contestant.entrant for contestant in contestants),
        match=options.match,
    )


def _distinct(contestants: Sequence[Contestant]) -> list[Contestant]:
    """Give copies of one bot labels of their own, so that tables can tell them apart."""
    often = Counter(contestant.label for contestant in contestants)
    seen: Counter[str] = Counter()
    distinct = []
    for contestant in contestants:
        label = contestant.label
        seen[label] += 1
        numbered = f"{label}#{seen[label]}" if often[label] > 1 else label
        distinct.append(replace(contestant, label=numbered))
    return distinct


def _played(result: MatchResult, labels: Sequence[str]) -> PlayedMatch:
    return PlayedMatch(
        number=1,
        entrants=tuple(labels),
        decks=deal_table(result),
        sides=sides_of(result.spec.rules, result.spec.seats),
        faults=tuple((offence.entrant, offence.fault.kind) for offence in result.faults),
    )


def _check_target(target: Path) -> None:
    """Refuse a place for the record before anything is played."""
    if target.exists():
        raise RefusedError(f"{target} exists", "name another file or remove it")
    if not target.parent.is_dir():
        raise RefusedError(f"there is no folder {target.parent}", "make it, or name another file")


def _keep(record: Path, target: Path) -> None:
    """Put the record where it was asked for: there whole or not at all, and never over a file."""
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        shutil.copyfile(record, draft)
        os.link(draft, target)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        draft.unlink(missing_ok=True)
        _copy_anew(record, target)
    finally:
        draft.unlink(missing_ok=True)


def _copy_anew(source: Path, target: Path) -> None:
    """Copy a file where none is: whole, unless the process is killed meanwhile."""
    with source.open("rb") as original, target.open("xb") as copy:
        try:
            shutil.copyfileobj(original, copy)
            copy.flush()
        except BaseException:
            target.unlink(missing_ok=True)
            raise


def _logs(
    report: MatchReport, labels: Sequence[str], scratch: Home
) -> tuple[tuple[str, int, str], ...]:
    return tuple(
        (labels[each.position], each.leg, (scratch.path / each.log).read_text("utf-8"))
        for each in report.reports
        if each.log
    )


def _contestant(
    home: Home,
    word: str,
    known: BotVersionInfo | None,
    backend: str,
    say: Callable[[str], None],
) -> Contestant:
    folder = Path(word)
    if known is not None:
        return _from_version(known, backend)
    if folder.is_dir():
        return _from_folder(folder, backend, say)
    names = [*_submitted_names(home), *_folders_beside(word)]
    hint = with_near("arena bot list shows the submitted ones", word, names)
    if backend == PROCESS or word.startswith(PATH_BEGINS):
        raise NotFoundError(f"there is no bot {word!r}, neither submitted nor a folder", hint)
    try:
        return _from_image(word)
    except ImageMissingError as error:
        message = f"there is no bot {word!r}, neither submitted nor a folder, and {error.message}"
        # What to do about a plain word is said by the names that are like it.
        is_reference = ":" in word or "/" in word
        raise NotFoundError(message, error.hint if is_reference else hint) from error


def _rank(word: str, known: Container[str]) -> int:
    """Return when to look for a bot: words for nothing here first, folders to be built last."""
    if word in known:
        return 1
    return 2 if Path(word).is_dir() else 0


def _submitted(home: Home, words: Iterable[str]) -> dict[str, BotVersionInfo]:
    """Return the versions that words name; the arena is opened once, or copied if need be."""
    # What can only be a path needs no arena that can be opened.
    wanted = [word for word in words if not word.startswith(PATH_BEGINS)]
    found: dict[str, BotVersionInfo] = {}
    if not wanted or not home.is_begun:
        return found
    with reading(home) as store:
        for word in wanted:
            with suppress(NotFoundError):
                found[word] = queries.bot_version(store, word)
    return found


def _submitted_names(home: Home) -> list[str]:
    if not home.is_begun:
        return []
    with reading(home) as store:
        return [bot.name for bot in queries.bots(store)]


def _folders_beside(word: str) -> list[str]:
    """Return the folders among which a word would lie, spelled as the word is."""
    path = Path(word)
    before = word.removesuffix("/").removesuffix(path.name)
    try:
        return [f"{before}{one.name}" for one in path.parent.iterdir() if one.is_dir()]
    except OSError:
        return []


def _from_version(version: BotVersionInfo, backend: str) -> Contestant:
    if (version.kind == PROCESS) != (backend == PROCESS):
        if version.kind == PROCESS:
            raise RefusedError(
                f"{version.label} was submitted as a plain process",
                "play it with --sandbox process",
            )
        raise RefusedError(
            f"{version.label} is an image, which needs a container engine",
            "play it with --sandbox docker where one runs, or play its folder",
        )
    return Contestant(
        entrant=Entrant(version.name, str(version.version), version.digest),
        label=version.label,
        source=BotSource(directory=version.folder)
        if version.kind == PROCESS
        else BotSource(image=version.digest),
    )


def _from_folder(folder: Path, backend: str, say: Callable[[str], None]) -> Contestant:
    name = folder.resolve().name
    if backend == PROCESS:
        source, digest = BotSource(directory=folder.resolve()), tree_digest(folder)
    else:
        from arena.sandbox import images  # noqa: PLC0415 - waits for the engine's client

        digest = images.build(folder, name=name, say=say).id
        source = BotSource(image=digest)
    return Contestant(entrant=Entrant(name, digest=digest), label=name, source=source)


def _from_image(reference: str) -> Contestant:
    from arena.sandbox import images  # noqa: PLC0415 - waits for the engine's client

    digest = images.resolve(reference).id
    entrant = Entrant(reference, digest=digest)
    return Contestant(entrant=entrant, label=reference, source=BotSource(image=digest))
