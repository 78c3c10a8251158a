"""`arena bot`: submit bots and see what was submitted."""

import click

from arena import queries
from arena.bots import submit
from arena.cli.context import App, Documented, DocumentedGroup, common_options, pass_app
from arena.cli.options import sandbox_option
from arena.cli.output import Column
from arena.cli.words import digest
from arena.infos import BotInfo, BotVersionInfo

LIST_COLUMNS = (
    Column("Bot", fold=True),
    Column("Versions", "right"),
    Column("Kind"),
    Column("Digest"),
    Column("Submitted"),
)
VERSION_COLUMNS = (
    Column("Version"),
    Column("Kind"),
    Column("Digest"),
    Column("Submitted"),
    Column("Source", fold=True),
    Column("Entropy", fold=True),
)
VERSION_FIELDS = {
    "name": "name of the bot",
    "version": "number of the version, from 1",
    "label": "name@version, as commands take it",
    "kind": "image (runs in a container) or process",
    "digest": "what the version runs: image id, or hash of the source tree",
    "source": "what was submitted",
    "created": "time of the submission (ISO 8601)",
    "entropy": "the author's string for the seeds of tournaments, or null",
}


@click.group("bot", cls=DocumentedGroup, examples=["arena bot submit alice ./my_bot"])
def bot() -> None:
    """Submit bots and see what was submitted."""


@bot.command(
    "submit",
    cls=Documented,
    examples=[
        "arena bot submit alice ./my_bot",
        "arena bot submit alice alice:3",
        "arena bot submit alice alice.tar",
        "arena bot submit alice ./my_bot --sandbox process",
        "arena bot submit alice ./my_bot --entropy 'three blind mice 4711'",
    ],
    fields={**VERSION_FIELDS, "new": "false if the newest version has the same content"},
)
@click.argument("name")
@click.argument("source")
@click.option(
    "--entropy",
    metavar="TEXT",
    help="A random string of the author's, mixed into the seed of every tournament that the "
    "version starts in.",
)
@sandbox_option
@common_options
@pass_app
def submit_bot(
    app: App, *, name: str, source: str, entropy: str | None, sandbox: str, as_json: bool
) -> None:
    """Take in a bot and print its id and digest.

    SOURCE becomes the next version of NAME; what a version runs never changes. SOURCE is a
    folder with a Dockerfile, an image, or an archive made by `docker save`; an image that is not
    here is fetched only if its tag is given. A folder's
    Dockerfile runs on this machine while the image is built: submit folders of people you
    trust, and ask strangers for images. An image is started once, and refused if it ends at
    once. With --sandbox process, a folder with the program itself.

    Strings of entrants are mixed into the seed: the organiser commits to a secret when the
    tournament is made, and cannot know strings that others give afterwards. Whoever knows the
    secret and gives the last string can choose the decks by it.
    """
    with app.new_store() as store:
        version = submit(store, name, source, sandbox, entropy=entropy, say=app.output.status)
    if as_json:
        app.output.json({**_version_json(version), "new": version.new})
        return
    app.output.fields(
        {"bot": version.label, "digest": version.digest, "kind": version.kind}
        | ({} if version.entropy is None else {"entropy": version.entropy})
        | ({} if version.new else {"note": "unchanged, the newest version has the same content"})
    )


@bot.command(
    "list",
    cls=Documented,
    examples=["arena bot list", "arena bot list --json"],
    fields={
        "name": "name of the bot",
        "created": "time of the first submission (ISO 8601)",
        **{f"versions[].{name}": meaning for name, meaning in VERSION_FIELDS.items()},
    },
)
@common_options
@pass_app
def list_bots(app: App, *, as_json: bool) -> None:
    """List the bots; --json prints an array."""
    with app.open_store() as store:
        bots = queries.bots(store)
    if as_json:
        app.output.json([_bot_json(info) for info in bots])
    elif bots:
        app.output.table(LIST_COLUMNS, [_bot_row(info) for info in bots])
    else:
        app.output.status("no bots yet; type: arena bot submit NAME SOURCE")


@bot.command(
    "show",
    cls=Documented,
    examples=["arena bot show alice", "arena bot show alice --json"],
    fields={
        "name": "name of the bot",
        "created": "time of the first submission (ISO 8601)",
        **{f"versions[].{name}": meaning for name, meaning in VERSION_FIELDS.items()},
    },
)
@click.argument("name")
@common_options
@pass_app
def show_bot(app: App, *, name: str, as_json: bool) -> None:
    """Print all versions of the bot NAME, oldest first."""
    with app.open_store() as store:
        info = queries.bot(store, name)
    if as_json:
        app.output.json(_bot_json(info))
    else:
        app.output.table(VERSION_COLUMNS, [_version_row(version) for version in info.versions])


def _version_json(version: BotVersionInfo) -> dict[str, object]:
    return {
        "name": version.name,
        "version": version.version,
        "label": version.label,
        "kind": version.kind,
        "digest": version.digest,
        "source": version.source,
        "created": version.created.isoformat(),
        "entropy": version.entropy,
    }


def _bot_json(info: BotInfo) -> dict[str, object]:
    return {
        "name": info.name,
        "created": info.created.isoformat(),
        "versions": [_version_json(version) for version in info.versions],
    }


def _bot_row(info: BotInfo) -> tuple[object, ...]:
    newest = info.versions[-1]
    submitted = f"{newest.created:%Y-%m-%d %H:%M}"
    return info.name, len(info.versions), newest.kind, digest(newest.digest), submitted


def _version_row(version: BotVersionInfo) -> tuple[object, ...]:
    submitted = f"{version.created:%Y-%m-%d %H:%M}"
    short = digest(version.digest)
    entropy = "-" if version.entropy is None else version.entropy
    return version.label, version.kind, short, submitted, version.source, entropy
