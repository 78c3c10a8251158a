"""`arena tournament enter` and its kin: who is in a tournament, and why that changed."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from arena import planning, promises, queries, roster
from arena.cli.context import App, Documented, common_options, pass_app
from arena.cli.output import Column
from arena.cli.summary import (
    INFO_FIELDS,
    entered,
    info_json,
    matches_words,
    print_mark,
    say_of_strings,
    tournament_command,
)
from arena.deletion import delete_tournament
from arena.infos import TournamentState
from arena.reasons import ReasonKind
from arena.results_queries import recorded_between

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arena.infos import ChangeInfo, TournamentInfo
    from arena.store import Store

HISTORY_COLUMNS = (
    Column("When"),
    Column("What"),
    Column("Bot", fold=True),
    Column("Scheduled", "right"),
    Column("Reason", fold=True),
)
CREATION, START, STOP, END = "creation", "start", "stop", "end"
CHANGE_FIELDS = {
    "number": "place in the history, from 1",
    "created": "when (ISO 8601)",
    "joined": "true for one who came, false for one who left, else null",
    "kind": "creation, start, stop or end; entry, late entry, withdrawal, disqualification, "
    "replacement or forgone string",
    "entrant": "name@version, null for what happened to the tournament",
    "after": "how many matches were scheduled then, null before the start and at it",
    "reason": "the organiser's words, null where none were asked",
}


def change(*arguments: str, verb: str, examples: Sequence[str]) -> Callable[..., click.Command]:
    """Return what makes a command of a change to a tournament, with a reason for the history.

    Args:
        arguments: What the help calls the bots that it takes.
        verb: Its name.
        examples: Lines that work.
    """

    def make(function: Callable[..., None]) -> click.Command:
        command = common_options(pass_app(function))
        command = click.option(
            "--reason", required=True, metavar="TEXT", help="Why, in words that the history keeps."
        )(command)
        for argument in reversed(arguments):
            command = click.argument(argument.lower().replace("@", ""), metavar=argument)(command)
        command = click.argument("name")(command)
        return click.command(verb, cls=Documented, examples=examples, fields=INFO_FIELDS)(command)

    return make


@change(
    "BOT",
    verb="enter",
    examples=[
        "arena tournament enter spring dora --reason 'came by the evening train'",
        "arena tournament enter pairs dora+emil --reason 'second invitation'",
    ],
)
def enter(app: App, *, name: str, bot: str, reason: str, as_json: bool) -> None:
    """Let BOT into the tournament NAME.

    Before the start everything is planned anew for those who are in. Afterwards it is a late
    entry: `arena formats` says what each format makes of it.
    """
    with app.open_store() as store:
        _say(app, store, roster.join(store, name, bot, reason), as_json=as_json)


@change(
    "BOT",
    verb="withdraw",
    examples=["arena tournament withdraw spring bob --reason 'its author asked for it'"],
)
def withdraw(app: App, *, name: str, bot: str, reason: str, as_json: bool) -> None:
    """Take BOT out of the tournament NAME.

    What it played counts, and so does what it plays just now; its other matches are cancelled.
    """
    with app.open_store() as store:
        _say(app, store, roster.withdraw(store, name, bot, reason), as_json=as_json)


@change(
    "BOT",
    verb="disqualify",
    examples=["arena tournament disqualify spring bob --reason 'plays a copy of alice'"],
)
def disqualify(app: App, *, name: str, bot: str, reason: str, as_json: bool) -> None:
    """Take BOT out of the tournament NAME for what it did.

    Its results stay as they were played, its other matches are cancelled, and it is shown last
    with the mark. It can be done after the end, too.
    """
    with app.open_store() as store:
        _say(app, store, roster.disqualify(store, name, bot, reason), as_json=as_json)


@change(
    "BOT@1",
    "BOT@2",
    verb="replace",
    examples=["arena tournament replace spring bob@1 bob@2 --reason 'crashed on every deal'"],
)
def replace(app: App, *, name: str, bot1: str, bot2: str, reason: str, as_json: bool) -> None:
    """Let another version of a bot take over in the tournament NAME.

    The results of the old version stay its own: they do not count for the new one, which is a late
    entry. Before the start it takes the old one's place.
    """
    with app.open_store() as store:
        _say(app, store, roster.replace_version(store, name, bot1, bot2, reason), as_json=as_json)


@change(
    "BOT",
    verb="forgo",
    examples=["arena tournament forgo spring bob --reason 'its author does not answer'"],
)
def forgo(app: App, *, name: str, bot: str, reason: str, as_json: bool) -> None:
    """Let the tournament NAME start without the string that BOT promised.

    BOT plays all the same. The list of strings is fixed, if it was not; this cannot be undone, and
    is shown and published: who holds strings back can choose between seeds.
    """
    with app.open_store() as store:
        _say(app, store, promises.give_up(store, name, bot, reason), as_json=as_json)


@change(
    verb="stop",
    examples=["arena tournament stop ladder --reason 'the season is over'"],
)
def stop(app: App, *, name: str, reason: str, as_json: bool) -> None:
    """End the tournament NAME, a ladder, which has no end of its own.

    What is being played may end and counts; then the seed is public. Only to pause it, stop its run
    with Ctrl-C.
    """
    with app.open_store() as store:
        info = roster.stop(store, name, reason)
    if as_json:
        app.output.json(info_json(info))
        return
    app.output.fields({"tournament": f"{info.name}, {info.state}", "matches": matches_words(info)})


@click.command(
    "delete",
    cls=Documented,
    examples=["arena tournament delete sprnig --reason 'its name is misspelt'"],
    fields={
        "deleted": "name of the tournament that was",
        "commitment": "SHA-256 of its secret, which was thrown away",
        "reason": "why",
    },
)
@click.argument("name")
@click.option(
    "--reason", required=True, metavar="TEXT", help="Why, in words that are printed and not kept."
)
@common_options
@pass_app
def delete(app: App, *, name: str, reason: str, as_json: bool) -> None:
    """Delete the tournament NAME, which was made by mistake and never began.

    Nothing is kept of it, and its name is free. It is refused once the list of strings is fixed or
    anything was played. Who noted its commitment sees that another tournament has another.
    """
    with app.open_store() as store:
        info = delete_tournament(store, name, reason)
    if as_json:
        deleted = {"deleted": info.name, "commitment": info.commitment, "reason": reason}
        app.output.json(deleted)
        return
    app.output.fields({"deleted": info.name, "commitment": info.commitment, "reason": reason})
    app.output.status(
        f"nothing is kept of {info.name}: tell those who noted its commitment why it is gone"
    )


@click.command(
    "history",
    cls=Documented,
    examples=["arena tournament history spring", "arena tournament history spring --json"],
    fields=CHANGE_FIELDS,
)
@click.argument("name")
@common_options
@pass_app
def history(app: App, *, name: str, as_json: bool) -> None:
    """Print what happened to the tournament NAME, when and why; --json prints an array.

    When it was made, started, stopped and over; who came and who left, and promised strings that
    were not waited for. Scheduled is how many matches there were by then.
    """
    with app.open_store() as store:
        info = queries.tournament(store, name)
        changes = queries.history(store, name)
        between = recorded_between(store, [info.id])
    happened = _happened(info, changes, None if between is None else between[1])
    if as_json:
        app.output.json([_event_json(number, each) for number, each in enumerate(happened, 1)])
        return
    app.output.table(HISTORY_COLUMNS, [_event_row(each) for each in happened])
    print_mark(app.output, info.name, committed=info.is_committed)


COMMANDS = (enter, withdraw, disqualify, replace, forgo, stop, delete, history)


def _say(app: App, store: Store, info: TournamentInfo, *, as_json: bool) -> None:
    """Print who is in now and what that makes of the schedule."""
    if as_json:
        app.output.json(info_json(info))
        return
    present = {entrant.name for entrant in info.present}
    names = [name for name in entered(info) if present.issuperset(_bots(info, name))]
    app.output.fields(
        {
            "tournament": f"{info.name}, {info.state}",
            "entrants": ", ".join(names),
            "matches": matches_words(info),
        }
    )
    say_of_strings(app, info)
    hindrance = planning.hindrance(store, info)
    if hindrance is not None:
        app.output.status(f"not to be run as it stands: {hindrance}")
    elif info.state is TournamentState.RUNNING:
        app.output.status("the run that is on takes it up")
    elif not info.is_over:
        app.output.status(f"play what is left: {tournament_command(app, 'run', info)}")


def _bots(info: TournamentInfo, name: str) -> set[str]:
    pairs = {"+".join(bot.name for bot in pair): pair for pair in info.pairs}
    return {bot.name for bot in pairs[name]} if name in pairs else {name}


@dataclass(frozen=True, slots=True)
class _Event:
    """Something that happened to a tournament."""

    created: datetime
    kind: str
    change: ChangeInfo | None = None
    after: int | None = None

    @property
    def entrant(self) -> str | None:
        return None if self.change is None else self.change.entrant

    @property
    def joined(self) -> bool | None:
        return None if self.change is None else self.change.joined

    @property
    def reason(self) -> str | None:
        return None if self.change is None else self.change.reason


def _happened(
    info: TournamentInfo, changes: Sequence[ChangeInfo], last: int | None
) -> list[_Event]:
    """Return the changes and what happened to the tournament itself, in order.

    Args:
        info: The tournament.
        changes: In order.
        last: When its last result was recorded, in milliseconds since 1970; None without one.
    """
    told = [_Event(each.created, each.kind or STOP, each, each.after) for each in changes]
    ended = []
    if info.is_over and last is not None:
        moment = datetime.fromtimestamp(last / 1000, UTC)
        ended.append(_Event(moment, END, after=info.total + info.cancelled))
    started = [] if info.started is None else [_Event(info.started, START)]
    # Changes stay in the order in which they came, whatever the clock did.
    merged = heapq.merge(told, started, ended, key=lambda event: event.created)
    return [_Event(info.created, CREATION), *merged]


def _event_row(event: _Event) -> tuple[object, ...]:
    what = event.kind
    if event.kind == ReasonKind.REPLACEMENT:
        what = f"{what}, {'in' if event.joined else 'out'}"
    return (
        f"{event.created:%Y-%m-%d %H:%M}",
        what,
        event.entrant or "-",
        "-" if event.after is None else event.after,
        event.reason or "-",
    )


def _event_json(number: int, event: _Event) -> dict[str, object]:
    return {
        "number": number,
        "created": event.created.isoformat(),
        "joined": event.joined,
        "kind": event.kind,
        "entrant": event.entrant,
        "after": event.after,
        "reason": event.reason,
    }
