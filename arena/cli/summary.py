"""How a tournament is printed: its settings, its seed, its format's own order; and in JSON."""

from __future__ import annotations

import shlex
from fractions import Fraction
from typing import TYPE_CHECKING

from arena.cli.output import Column
from arena.cli.words import NO_BOUNDARY, count, number
from arena.databases.urls import without_secrets
from arena.entropy import (
    Protection,
    StringState,
    protection,
    protection_words,
)
from arena.infos import Seeding
from referee.results import SERIES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from arena.cli.context import App
    from arena.cli.output import Output
    from arena.infos import Contribution, TournamentInfo
    from arena.planning import Placed

NOT_COMMITTED = "not committed, the seed was given by hand"
COMMITTED_MEANING = "false if the seed was given by hand: then the commitment proves nothing"
COMMITMENT_DIGITS = 16

COLUMNS = (
    Column("Tournament", fold=True),
    Column("State"),
    Column("Variant", fold=True),
    Column("Format", fold=True),
    Column("Bots", "right"),
    Column("Played", "right"),
    Column("Commitment"),
)
TITLES = {"Rating": "Ladder rating"}
"""What is printed for headings of a format's order that would be taken for something else."""
PLACE_FIELDS = {
    "rank": "place by the format's own order, null for one who was disqualified",
    "name": "name@version, of fixed partners name@version+name@version",
    "columns.*": "what the order rests on, by heading; fractions as text; Rating is "
    "that of a ladder, always TrueSkill's with its usual parameters",
    "note": "why it left (withdrawal, disqualification, replaced by name@version), else how it "
    "came after the start (late entry, replaces name@version), else empty",
}
INFO_FIELDS = {
    "name": "name of the tournament",
    "state": "planned, running, paused, finished or incomplete",
    "created": "time of creation (ISO 8601)",
    "variant": "name of the game's variant, followed by the options that were changed",
    "rules.*": "every option of the rules, by name",
    "seats": "bots in a match",
    "partners": "none, fixed (pairs that stay together) or rotating",
    "format": "who meets whom",
    "options.*": "what else the format was told, by name",
    "seeding": "given or rating: how the entrants were ordered",
    "final": "whether nobody may enter once it is made",
    "match_format": "how deals add up to a match",
    "rounds": "cycles or rounds, as the format counts; null for what it takes as usual",
    "decks": "decks a match, null but in a series: others last as long as their rules say",
    "time.move_ms": "time for one decision",
    "time.bank_ms": "bank of time per leg",
    "time.increment_ms": "what a decision adds to it",
    "time.startup_ms": "time from the start of a bot to its Hello",
    "sandbox": "where the bots run: container or process",
    "entrants[]": "name@version of an entrant; of fixed partners one follows the other",
    "late[]": "name@version of one who came after the start",
    "left.*": "why one left, by name@version",
    "matches.total": "matches scheduled so far but for the cancelled ones",
    "matches.done": "matches with a result",
    "matches.running": "matches being played",
    "matches.planned": "matches to be played",
    "matches.incomplete": "matches given up after too many void attempts, never scored",
    "matches.cancelled": "matches nobody plays: an entrant had left, or it was stopped",
    "complete": "whether all matches are scheduled that will ever be",
    "stopped": "when the organiser ended it (ISO 8601), else null",
    "stop_reason": "why, null if it was not stopped or no reason was asked for",
    "host_causes[]": "what made clocks unfair where it was run, by names of arena doctor; "
    "host_causes is null if nobody looked",
    "committed": COMMITTED_MEANING,
    "commitment": "SHA-256 of the secret, public from the start",
    "secret": "what was committed to, in hex once the last match is over, else null",
    "seed": "the secret with the entropy mixed in, in hex once the last match is over, else null",
    "entropy[]": "strings of entrants: the list of what can be mixed in, then what came too late",
    "entropy[].entrant": "name@version of an entrant that gave or promised a string",
    "entropy[].state": "open, promised (not told yet), revealed, known (told before it was "
    "listed), forgone or too late; open, revealed and known ones are in the seed",
    "entropy[].digest": "SHA-256 of the string",
    "entropy[].text": "the string, null unless it is in the seed",
    "entropy[].later": "of an open or known one, whether it was told after the commitment; "
    "else null",
    "entropy[].reason": "why a forgone one was not waited for, else empty",
    "promises": "SHA-256 of commitment and list: note it before you reveal a string",
    "listed": "when the list was fixed (ISO 8601), null while it can change",
    "protection": "promised, open or none: what the strings protect the decks from",
}


def print_places(output: Output, table: Sequence[Placed]) -> None:
    """Print a format's own order."""
    if not table:
        return
    headings = list(dict.fromkeys(heading for row in table for heading, _ in row.columns))
    columns = (
        Column("Place", "right"),
        Column("Name", fold=True),
        *(Column(TITLES.get(heading, heading), "right") for heading in headings),
        Column("Note"),
    )
    output.table(columns, [_place_row(row, headings) for row in table])
    output.line()


def _place_row(row: Placed, headings: Sequence[str]) -> tuple[object, ...]:
    values = dict(row.columns)
    cells = (_cell(values[heading]) if heading in values else "-" for heading in headings)
    return "-" if row.rank is None else row.rank, "+".join(row.names), *cells, row.note


def _cell(value: Fraction | int | str) -> str:
    return value if isinstance(value, str) else number(value)


def place_json(row: Placed) -> dict[str, object]:
    """Return a row of a format's order under the names of `PLACE_FIELDS`."""
    columns = {
        heading: str(value) if isinstance(value, Fraction) else value
        for heading, value in row.columns
    }
    return {
        "rank": row.rank,
        "name": "+".join(row.names),
        "columns": columns,
        "note": row.note,
    }


def head(info: TournamentInfo) -> dict[str, object]:
    """Return what is said of a tournament above its tables."""
    sandbox = "" if info.is_sandboxed else f" ({NO_BOUNDARY})"
    lines: dict[str, object] = {
        "tournament": f"{info.name}, {info.state}{sandbox}",
        "game": game_words(info),
        "format": format_words(info),
        "time": time_words(info),
        "matches": matches_words(info),
    }
    if info.incomplete:
        lines["incomplete"] = f"{count(info.incomplete, 'match', 'matches')} given up, not scored"
    if info.stopped is not None:
        lines["stopped"] = stop_words(info.stopped, info.stop_reason)
    if info.host_causes:
        lines["unfair time"] = f"{', '.join(info.host_causes)} (see arena doctor)"
    return lines | seed_lines(info)


def stop_words(when: datetime, reason: str | None) -> str:
    """Return when the organiser ended a tournament, and why."""
    return f"{when:%Y-%m-%d %H:%M}: {reason or 'no reason was asked for'}"


def seed_lines(info: TournamentInfo) -> dict[str, object]:
    """Return what is known of the seed: commitment and strings, at the end all of it."""
    lines: dict[str, object] = {"commitment": commitment_words(info)}
    for each in info.contributions:
        lines[f"entropy of {each.entrant}"] = string_words(each)
    if info.contributions:
        lines["promises"] = promises_words(info)
        lines["strings"] = protection_words(info.contributions)
    if protection(info.contributions) is not Protection.PROMISED:
        lines |= _last_string(info)
    if info.seed is not None and info.secret is not None:
        if info.seed != info.secret:
            lines["secret"] = info.secret.hex()
        lines["seed"] = info.seed.hex()
    return lines


def promises_words(info: TournamentInfo) -> str:
    """Return the hash of the promises, and whether it can still change."""
    return f"{info.promises} ({'not fixed yet' if info.listed is None else 'fixed'})"


def string_words(each: Contribution) -> str:
    """Return what became of an entrant's string."""
    when = "after" if each.is_later else "before"
    match each.state:
        case StringState.OPEN:
            return f"{each.text} (given {when} the commitment)"
        case StringState.PROMISED:
            return f"promised, SHA-256 {each.digest}"
        case StringState.REVEALED:
            return f"{each.text} (promised, then revealed), SHA-256 {each.digest}"
        case StringState.KNOWN:
            worth = "as if given in the open" if each.is_later else "protects nobody"
            known = f"promised, but known {when} the commitment: {worth}"
            return f"{each.text} ({known}), SHA-256 {each.digest}"
        case StringState.FORGONE:
            return f"promised, SHA-256 {each.digest}, but forgone, not in the seed: {each.reason}"
        case StringState.LATE:
            return f"too late, not in the seed, SHA-256 {each.digest}"


def say_of_strings(app: App, info: TournamentInfo) -> None:
    """Say which promises are worth nothing here, as the strings are known or come too late."""
    for each in info.contributions:
        if each.state is StringState.KNOWN:
            app.output.status(
                f"the string of {each.entrant} was revealed before: here it protects "
                f"{'as one given in the open' if each.is_later else 'nobody'}; another version can "
                "promise another"
            )
        elif each.state is StringState.LATE and info.started is None:
            app.output.status(
                f"the string of {each.entrant} comes too late: the list is fixed, and it is not "
                "mixed in"
            )


def commitment_words(info: TournamentInfo) -> str:
    """Return the commitment, and whether it means anything."""
    return info.commitment if info.is_committed else f"{info.commitment} ({NOT_COMMITTED})"


def _last_string(info: TournamentInfo) -> dict[str, object]:
    """Return who gave a string in the open last, if that was after the commitment."""
    later = [each for each in info.contributions if each.is_later]
    latest = max((each.told or 0 for each in later), default=0)
    names = ", ".join(each.entrant for each in later if each.told == latest)
    return {"last string": f"of {names}"} if names else {}


def print_mark(output: Output, name: str, *, committed: bool) -> None:
    """Print below what a tournament came to that its seed was given by hand, if it was."""
    if not committed:
        output.line(f"{name}: {NOT_COMMITTED}")


def game_words(info: TournamentInfo) -> str:
    """Return what is played."""
    decks = f", {count(info.decks, 'deck')} a match" if info.match_format == SERIES else ""
    return f"{info.variant}, {info.match_format}, {info.seats} seats{decks}"


def format_words(info: TournamentInfo) -> str:
    """Return who meets whom."""
    rounds = "" if info.rounds is None else f", {count(info.rounds, 'round')}"
    options = "".join(
        f", {name.replace('_', ' ')} {_option_text(info, name, value)}"
        for name, value in info.options.to_dict().items()
    )
    seeding = ", seeded by rating" if info.seeding is Seeding.RATING else ""
    return f"{info.format}{rounds}{options}{seeding}{', final' if info.frozen else ''}"


def _option_text(info: TournamentInfo, name: str, value: int) -> str:
    if name == "challenger":
        return entered(info)[value]
    return ("yes" if value else "no") if name == "third_place" else str(value)


def time_words(info: TournamentInfo) -> str:
    """Return the time control in seconds."""
    time = info.time
    bank = ""
    if time.bank_ms or time.increment_ms:
        legs = info.seats if info.match_format == SERIES else 1
        whole = f" ({_seconds(legs * time.bank_ms)} a match)" if time.bank_ms else ""
        bank = f", bank {_seconds(time.bank_ms)} a {f'leg{whole}' if legs > 1 else 'match'}"
    if time.increment_ms:
        bank += f", {_seconds(time.increment_ms)} more a decision"
    return f"{_seconds(time.move_time_ms)} a decision{bank}, {_seconds(time.startup_ms)} to start"


def _seconds(milliseconds: int) -> str:
    return f"{number(milliseconds / 1000, 3)} s"


def matches_words(info: TournamentInfo) -> str:
    """Return how many matches are played, and whether more will be scheduled."""
    more = "" if info.complete else ", more to follow"
    cancelled = f", {info.cancelled} cancelled" if info.cancelled else ""
    return f"{info.done} of {info.total} played{cancelled}{more}"


def entered(info: TournamentInfo) -> list[str]:
    """Return the names of the bots, or of the pairs that stay together."""
    if info.pairs:
        return ["+".join(bot.name for bot in pair) for pair in info.pairs]
    return [entrant.name for entrant in info.entrants]


def tournament_command(app: App, verb: str, info: TournamentInfo, *words: str) -> str:
    """Return a command for a tournament as it can be pasted."""
    place = [] if app.given_home is None else ["--home", str(app.given_home)]
    if app.given_database is not None:
        # Empty is how the file is named where the environment names a database.
        place += ["--database", app.given_database and without_secrets(app.given_database)]
    return shlex.join(["arena", "tournament", verb, info.name, *words, *place])


def row(info: TournamentInfo) -> tuple[object, ...]:
    """Return a tournament as a row under `COLUMNS`."""
    played = f"{info.done}/{info.total}{'' if info.complete else '+'}"
    game = info.variant, info.format
    commitment = info.commitment[:COMMITMENT_DIGITS] if info.is_committed else "not committed"
    return info.name, info.state, *game, len(info.entrants), played, commitment


def info_json(info: TournamentInfo) -> dict[str, object]:
    """Return a tournament under the names of `INFO_FIELDS`."""
    return {
        "name": info.name,
        "state": info.state,
        "created": info.created.isoformat(),
        "variant": info.variant,
        "rules": info.rules.to_dict(),
        "seats": info.seats,
        "partners": info.partners,
        "format": info.format,
        "options": info.options.to_dict(),
        "seeding": info.seeding,
        "final": info.frozen,
        "match_format": info.match_format,
        "rounds": info.rounds,
        "decks": info.decks if info.match_format == SERIES else None,
        "time": {
            "move_ms": info.time.move_time_ms,
            "bank_ms": info.time.bank_ms,
            "increment_ms": info.time.increment_ms,
            "startup_ms": info.time.startup_ms,
        },
        "sandbox": info.sandbox,
        "entrants": [entrant.name for entrant in info.entrants],
        "late": [entrant.name for entrant in info.entrants if entrant.late],
        "left": {each.name: each.left for each in info.entrants if each.left is not None},
        "matches": {
            "total": info.total,
            "done": info.done,
            "running": info.running,
            "planned": info.planned,
            "incomplete": info.incomplete,
            "cancelled": info.cancelled,
        },
        "complete": info.complete,
        "stopped": None if info.stopped is None else info.stopped.isoformat(),
        "stop_reason": info.stop_reason,
        "host_causes": None if info.host_causes is None else list(info.host_causes),
        "committed": info.is_committed,
        "commitment": info.commitment,
        "secret": info.secret.hex() if info.secret is not None else None,
        "seed": info.seed.hex() if info.seed is not None else None,
        "entropy": [
            {
                "entrant": each.entrant,
                "state": each.state,
                "digest": each.digest,
                "text": each.text,
                "later": each.is_later,
                "reason": each.reason,
            }
            for each in info.contributions
        ],
        "promises": info.promises,
        "listed": None if info.listed is None else info.listed.isoformat(),
        "protection": protection(info.contributions),
    }
