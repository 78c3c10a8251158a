"""`arena bot`: submit bots, see what was submitted, promise and tell strings for seeds."""

from pathlib import Path

import click

from arena import promises, queries
from arena.bots import check_submission, submit
from arena.cli.context import (
    App,
    Documented,
    DocumentedGroup,
    common_options,
    json_option,
    pass_app,
)
from arena.cli.options import sandbox_option
from arena.cli.output import Column
from arena.cli.words import digest
from arena.entropy import digest_of
from arena.errors import MachineError, RefusedError
from arena.infos import BotInfo, BotVersionInfo
from arena.queries import PROCESS

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
    "entropy": "the author's string for the seeds of tournaments, or null; null until it is told",
    "entropy_digest": "SHA-256 of the string that was promised, or null",
    "revealed": "when the promised string was told (ISO 8601), or null",
}
EXAMPLE_DIGEST = "bdff65f0bfea9bb086e2ed4270b01232544e4f527c660d536e41584980a15b93"
MAX_READ = 4096
"""Characters of a file beyond which it cannot be a string for seeds."""
SHOWN = 80
"""Characters of a line of such a file that are shown."""


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
        "arena bot submit alice ./my_bot --build-network none",
        "arena bot submit alice ./my_bot --sandbox process",
        "arena bot submit alice ./my_bot --entropy 'three blind mice 4711'",
        f"arena bot submit alice ./my_bot --entropy-digest {EXAMPLE_DIGEST}",
    ],
    fields={**VERSION_FIELDS, "new": "false if the newest version has the same content"},
)
@click.argument("name")
@click.argument("source")
@click.option(
    "--entropy",
    metavar="TEXT",
    help="A random string of the author's, mixed into the seed of every tournament that the "
    "version is in when its list of strings is fixed.",
)
@click.option(
    "--entropy-digest",
    metavar="HEX",
    help="The SHA-256 of such a string, in 64 lower-case hex digits: a promise, which "
    "`arena bot reveal` keeps.",
)
@click.option(
    "--build-network",
    metavar="NETWORK",
    help="Network of the steps that build a folder: none, default, or the name of one that the "
    "engine has; else ARENA_BUILD_NETWORK, else default. In one that is named, steps are told the "
    "proxies of the environment.",
)
@sandbox_option
@common_options
@pass_app
def submit_bot(
    app: App,
    *,
    name: str,
    source: str,
    entropy: str | None,
    entropy_digest: str | None,
    build_network: str | None,
    sandbox: str,
    as_json: bool,
) -> None:
    """Take in a bot and print its id and digest.

    SOURCE becomes the next version of NAME; what a version runs never changes. SOURCE is a
    folder with a Dockerfile, an image, or an archive made by `docker save`; an image that is not
    here is fetched only if its tag is given. A folder's
    Dockerfile runs on this machine while the image is built: submit folders of people you
    trust, and ask strangers for images. Each step of it has bounded memory and the least share
    of the cores. An image is started once, and refused if it ends at
    once. With --sandbox process, a folder with the program itself.

    Strings of entrants are mixed into the seed: the organiser commits to a secret when the
    tournament is made, and cannot know strings that others give afterwards. Of strings given in
    the open, whoever knows the secret and gives the last one can choose the decks by it: so
    promise a string with --entropy-digest, and tell it when nobody can add another.
    """
    if entropy is not None and entropy_digest is not None:
        raise click.UsageError("give --entropy or --entropy-digest, not both")
    # Before an arena is made for it.
    check_submission(name, source, sandbox, entropy, entropy_digest)
    if build_network is not None and (sandbox == PROCESS or not Path(source).is_dir()):
        raise click.UsageError(f"{source} is no folder to be built; leave --build-network away")
    with app.new_store() as store:
        version = submit(
            store,
            name,
            source,
            sandbox,
            entropy=entropy,
            entropy_digest=entropy_digest,
            build_network=build_network,
            say=app.output.status,
        )
    if as_json:
        app.output.json({**_version_json(version), "new": version.new})
        return
    app.output.fields(
        {"bot": version.label, "digest": version.digest, "kind": version.kind}
        | ({} if _entropy_words(version) is None else {"entropy": _entropy_words(version)})
        | ({} if version.new else {"note": "unchanged, the newest version has the same content"})
    )


@bot.command(
    "promise",
    cls=Documented,
    examples=["arena bot promise", "arena bot promise --json"],
    fields={
        "entropy": "a random string: keep it to yourself until you reveal it",
        "entropy_digest": "its SHA-256, for --entropy-digest",
    },
)
@json_option
@pass_app
def promise(app: App, *, as_json: bool) -> None:
    """Make a random string for seeds, and its SHA-256.

    Nothing is stored. An author keeps the string secret, submits its SHA-256 with
    --entropy-digest, and tells the string when entries are closed and the hash of the promises is
    noted: the first string that is told fixes the list.
    """
    text = promises.new_string()
    made = {"entropy": text, "entropy_digest": digest_of(text)}
    if as_json:
        app.output.json(made)
        return
    app.output.fields({"entropy": text, "SHA-256": made["entropy_digest"]})
    app.output.status("keep the string to yourself until it is to be revealed")


@bot.command(
    "reveal",
    cls=Documented,
    examples=[
        "arena bot reveal alice 'three blind mice 4711'",
        "arena bot reveal alice@2 --from alice.txt",
        "arena bot reveal alice --from -",
    ],
    fields={
        **VERSION_FIELDS,
        "new": "false if it was told before",
        "tournaments[].name": "a tournament that has not begun and mixes the string in",
        "tournaments[].promises": "SHA-256 of its commitment and list of strings",
    },
)
@click.argument("name", metavar="BOT")
@click.argument("text", required=False)
@click.option(
    "--from",
    "file",
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Read the string from a file, or with - from standard input, without its line end.",
)
@common_options
@pass_app
def reveal(app: App, *, name: str, text: str | None, file: Path | None, as_json: bool) -> None:
    """Tell the string TEXT that BOT promised.

    BOT is a name (the newest version) or name@version. The string is checked against the promise.
    Telling the first one fixes the list of strings of every tournament that has not begun and has
    BOT in: no string that comes later is mixed in there.
    """
    if (text is None) == (file is None):
        raise click.UsageError("give the string, or --from FILE")
    with app.open_store() as store:
        told = promises.reveal(store, name, _read_string(file) if file else text or "")
    if as_json:
        listed = [{"name": each.name, "promises": each.promises} for each in told.tournaments]
        app.output.json({**_version_json(told.bot), "new": told.new, "tournaments": listed})
        return
    app.output.fields(
        {"bot": told.bot.label, "entropy": told.bot.entropy}
        | {f"promises of {each.name}": each.promises for each in told.tournaments}
        | ({} if told.new else {"note": "unchanged, it was told before"})
    )


def _read_string(file: Path) -> str:
    """Return the text of a file, or of standard input, without its line end.

    Raises:
        RefusedError: There is no such file, or it is no line of text.
        MachineError: It cannot be read.
    """
    try:
        with click.open_file(str(file), encoding="utf-8") as stream:
            text = str(stream.read(MAX_READ))
    except FileNotFoundError as error:
        raise RefusedError(f"there is no file {file}", "name the file of the string") from error
    except UnicodeDecodeError as error:
        raise RefusedError(f"{file} is no text", "give the string in UTF-8") from error
    except OSError as error:
        raise MachineError(f"cannot read {file}: {error.strerror}", "check the file") from error
    line = text.removesuffix("\n").removesuffix("\r")
    if len(line.splitlines()) > 1:
        raise RefusedError(
            f"{file} has more than one line, the first is {line.splitlines()[0][:SHOWN]!r}",
            "the file must hold the string only, without a word before it and without its SHA-256",
        )
    return line


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
        "entropy_digest": version.entropy_digest,
        "revealed": None if version.revealed is None else version.revealed.isoformat(),
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
    entropy = _entropy_words(version) or "-"
    return version.label, version.kind, short, submitted, version.source, entropy


def _entropy_words(version: BotVersionInfo) -> str | None:
    if version.entropy_digest is None:
        return version.entropy
    promised = f"promised, SHA-256 {version.entropy_digest}"
    return promised if version.entropy is None else f"{version.entropy} ({promised})"
