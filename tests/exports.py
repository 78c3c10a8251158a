"""Tournaments that are really played, in this process, and their folders for tests to forge."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stores import Ticks
from timeline import Bot, Timeline, answers, good

from arena import bots, promises, queries, roster, tournament
from arena.entropy import digest_of
from arena.home import Home
from arena.jobs import Played
from arena.publishing.export import export
from arena.publishing.manifest import MANIFEST, chained, json_bytes, sum_of
from arena.runner import MatchReport, _stored, _write_record
from arena.store import Store
from arena.stored_results import StoredReport
from arena.tournament import StopFlag, TournamentOptions
from referee.match import play_leg, play_match
from referee.players import Choices, Fault, FaultKind
from referee.results import MatchResult, TimeControl

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

    from arena.infos import MatchInfo
    from arena.jobs import MatchDescription
    from arena.publishing.export import Exported
    from arena.workers import Play
    from referee.players import Turn, Update
    from referee.results import MatchSpec

SEED = bytes(range(32))


class Nobody:
    """Hears what happens and keeps quiet."""

    def started(self, match: MatchInfo) -> None:
        """A match began."""

    def finished(self, match: MatchInfo) -> None:
        """A match was recorded."""

    def voided(self, match: MatchInfo, reason: str) -> None:
        """An attempt did not count."""

    def note(self, text: str) -> None:
        """Something happened."""


def by_view(turn: Turn) -> int:
    """Choose at random, but the same in the same view."""
    return random.Random(repr((turn.view, turn.actions))).randrange(len(turn.actions))


def with_faults(spec: MatchSpec) -> MatchResult:
    """Play a match of two in which both commit faults, one of them fatal for a leg."""

    def illegal(bot: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        if bot.rounds == 3:
            return [(1, answers(update, lambda _: 99))]
        return good(bot, update)

    def broken(bot: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        if bot.rounds == 20:
            return [(1, Fault(FaultKind.CRASH, bot.seat, "code 3\u2028or so"))]
        return good(bot, update)

    legs = []
    for leg, reacts in enumerate([(illegal, good), (good, broken)][: spec.legs]):
        timeline = Timeline()
        players = [Bot(timeline, seat, react) for seat, react in enumerate(reacts)]
        legs.append(play_leg(spec, leg, players, timeline))
    return MatchResult(spec=spec, legs=tuple(legs))


def play(job: MatchDescription, _beat: Callable[[], None]) -> Played:
    """Play a match between equals, the second match of two seats with faults."""
    spec = job.spec
    if spec.match == 2 and spec.seats == 2:
        result = with_faults(spec)
    else:
        result = without_stalls(play_match(spec, [by_view] * spec.seats))
    return stored(job, result)


def without_stalls(result: MatchResult) -> MatchResult:
    """Forget that the machine of the tests stood still now and then."""
    legs = tuple(replace(leg, stalls=0, stalled_us=0) for leg in result.legs)
    return replace(result, legs=legs)


def play_timed(job: MatchDescription, _beat: Callable[[], None]) -> Played:
    """Play a match of two in which times repeat too, with faults."""
    return stored(job, with_faults(job.spec))


def play_stalled(job: MatchDescription, _beat: Callable[[], None]) -> Played:
    """Play a match of two whose referee stands still three times, for 310 ms in all."""
    result = with_faults(job.spec)
    first, second = result.legs
    legs = (
        replace(first, stalls=2, stalled_us=250_000),
        replace(second, stalls=1, stalled_us=60_000),
    )
    return stored(job, replace(result, legs=legs))


def stored(job: MatchDescription, result: MatchResult) -> Played:
    """Write the record of a match and tell what is stored of it."""
    spec = job.spec
    path, sha256 = _write_record(job, result)
    report = MatchReport(
        result=result, record=path, record_sha256=sha256, milliseconds=7, reports=()
    )
    reports = [
        StoredReport(
            leg=leg,
            seat=seat,
            position=job.positions[spec.entrant_at(leg, seat)],
            exit_code=0,
            signal=None,
            out_of_memory=False,
            cpu_seconds=0.25,
            peak_memory=1 << 24,
            log="",
            log_truncated=False,
            throttled_periods=leg,
            log_bytes=10 * seat,
        )
        for leg in range(spec.legs)
        for seat in range(spec.seats)
    ]
    return Played(result=_stored(job, report), reports=tuple(reports))


def make_store(
    folder: Path,
    names: Iterable[str] = ("anna", "boris", "clara"),
    with_entropy: Collection[str] = (),
    with_promise: Collection[str] = (),
    *,
    server: str = "",
    clock: Callable[[], float] | None = None,
) -> Store:
    """Open a store with bots that are plain folders, some with a text for the seed or a promise."""
    store = Store.open(Home(folder / "home", server), clock=clock or Ticks())
    for name in names:
        source = folder / name
        source.mkdir(parents=True)
        (source / "bot.py").write_text(f"print({name!r})\n")
        text = f"dice of {name}"
        bots.submit(
            store,
            name,
            str(source),
            "process",
            entropy=text if name in with_entropy else None,
            entropy_digest=digest_of(text) if name in with_promise else None,
        )
    return store


def make_tournament(store: Store, name: str = "cup", **options: Any) -> None:
    """Make a small tournament of process bots."""
    defaults = {
        "bots": ("anna", "boris", "clara"),
        "time": TimeControl(move_time_ms=60_000),
        "decks": 3,
        "tables": 1,
        "seed": SEED,
        "sandbox": "process",
    }
    tournament.create(store, TournamentOptions(name=name, **{**defaults, **options}))


def run(store: Store, name: str = "cup", play: Play = play) -> None:
    """Play all matches, one at a time however many cores there are."""
    report = tournament.run(
        store, name, progress=Nobody(), stop=StopFlag(), play=play, concurrency=1
    )
    assert report.exit_code == 0


class StopAfter(Nobody):
    """Asks for a stop when so many matches are recorded."""

    def __init__(self, stop: StopFlag, matches: int) -> None:
        """Keep what to ask, and when."""
        self.stop = stop
        self.left = matches

    def finished(self, match: MatchInfo) -> None:
        """Count, and ask."""
        del match
        self.left -= 1
        if not self.left:
            self.stop.request()


def halt(store: Store, *, after: int) -> None:
    """Play so many matches of the cup."""
    stop = StopFlag()
    listener = StopAfter(stop, after)
    tournament.run(store, "cup", progress=listener, stop=stop, play=play, concurrency=1)


def exported(
    folder: Path, name: str = "cup", with_entropy: Collection[str] = (), **options: Any
) -> Exported:
    """Make a tournament of three bots, play it and export it into folder/name."""
    with make_store(folder, with_entropy=with_entropy) as store:
        make_tournament(store, name, **options)
        run(store, name)
        return export(store, name, folder / name)


def promised(folder: Path) -> tuple[Path, str]:
    """Play a tournament with strings of every sort; give its export and the hash to be noted.

    Of the strings anna's and emil's are told, boris' is forgone, clara's open, dora's late.
    """
    names = ("anna", "boris", "clara", "dora", "emil")
    with make_store(
        folder, names, with_entropy=("clara", "dora"), with_promise=("anna", "boris", "emil")
    ) as store:
        make_tournament(store, bots=("anna", "boris", "clara", "emil"), decks=1)
        noted = queries.tournament(store, "cup").promises
        promises.reveal(store, "anna", "dice of anna")
        roster.join(store, "cup", "dora", "came late")
        promises.give_up(store, "cup", "boris", "does not answer")
        promises.reveal(store, "emil", "dice of emil")
        roster.withdraw(store, "cup", "emil", "ill")
        run(store)
        return export(store, "cup", folder / "cup").folder, noted


class Forgery:
    """A copy of a folder whose forger keeps the manifest right."""

    def __init__(self, original: Path, folder: Path) -> None:
        """Copy the folder."""
        self.folder = folder
        shutil.copytree(original, folder)

    def path(self, name: str) -> Path:
        """Return where a file is."""
        return self.folder / name

    def edit(self, name: str, change: Callable[[Any], Any]) -> None:
        """Change a JSON document in place, or put what the change returns in its stead."""
        value = json.loads(self.path(name).read_text())
        changed = change(value)
        self.path(name).write_bytes(json_bytes(value if changed is None else changed))

    def replace(self, name: str, old: str, new: str, times: int = 1) -> None:
        """Replace the first occurrences of a text that must be there."""
        text = self.path(name).read_text()
        assert old in text
        self.path(name).write_text(text.replace(old, new, times))

    def edit_record(self, name: str, change: Callable[[list[dict[str, Any]]], None]) -> None:
        """Change the lines of a record; its digest, its seal and the results' hashes are mended."""
        path = self.path(name)
        lines = [json.loads(line) for line in path.read_text().split("\n") if line]
        change(lines)
        path.write_text("".join(line + "\n" for line in sealed(lines)))
        self.adopt(name)

    def adopt(self, name: str) -> None:
        """Let the results name a record's hashes as they are now."""
        last = json.loads(self.path(name).read_text().rstrip().split("\n")[-1])
        sha256 = sum_of(self.path(name)).sha256

        def change(rows: list[dict[str, Any]]) -> None:
            for row in rows:
                if row["record"] == name:
                    row.update(record_sha256=sha256, digest=last["digest"])

        self.edit("results.json", change)

    def chain(self) -> None:
        """Write the manifest that fits the files as they are now."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        manifest = chained(
            (path.relative_to(self.folder).as_posix(), sum_of(path))
            for path in files
            if path.name != MANIFEST
        )
        self.path(MANIFEST).write_bytes(json_bytes(manifest.model_dump(mode="json")))


def hash_strings(forgery: Forgery) -> str:
    """Give the list of strings the hash that fits it as it is now, and return that."""

    def change(value: dict[str, Any]) -> None:
        kinds = {"open": "open", "known": "known", "too late": None}
        lines = sorted(
            f"{each['entrant']} {kinds.get(each['state'], 'promised')} {each['digest']}\n".encode()
            for each in value["entropy"]
            if each["state"] != "too late"
        )
        head = f"bura-arena/1/promises {value['commitment']}\n".encode()
        value["promises"] = hashlib.sha256(head + b"".join(lines)).hexdigest()

    forgery.edit("tournament.json", change)
    return str(json.loads(forgery.path("tournament.json").read_text())["promises"])


def sealed(lines: list[dict[str, Any]]) -> list[str]:
    """Give the changed lines of a record the digest and the seal that fit them."""
    *before, last = lines
    bare = [{k: v for k, v in line.items() if k != "measured"} for line in (*before, last)]
    del bare[-1]["digest"]
    last["digest"] = bare[-1]["digest"] = _digest(bare)
    last["measured"] = {"seal": _digest([*before, bare[-1]])}
    return [_dumped(line) for line in (*before, last)]


def _digest(values: list[dict[str, Any]]) -> str:
    return hashlib.sha256("\n".join(map(_dumped, values)).encode()).hexdigest()


def _dumped(line: dict[str, Any]) -> str:
    return json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
