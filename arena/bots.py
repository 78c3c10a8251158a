"""Taking in bots: each submission becomes a version that never changes."""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sqlmodel import col, select

from arena.entropy import digest_of
from arena.errors import MachineError, RefusedError
from arena.infos import SHA256, version_label
from arena.owners import bot_draft, ownership
from arena.queries import PROCESS, version_info
from arena.sandbox import SANDBOXES, UnknownSandboxError
from arena.tables import Bot, BotVersion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sqlmodel import Session

    from arena.home import Home
    from arena.infos import BotVersionInfo
    from arena.sandbox.images import BotImage
    from arena.store import Store

IMAGE = "image"
MAX_FILES = 20_000
MAX_BYTES = 512 << 20
MAX_ENTROPY = 200

PATH_BEGINS = (".", "/", "~")
"""How a word begins that can only be a path."""

PLUS = "+"
"""What joins the names of partners."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}")
_LEFT_OUT = frozenset({".git", "__pycache__", ".mypy_cache", ".ruff_cache", ".venv"})


def submit(
    store: Store,
    name: str,
    source: str,
    sandbox: str = "container",
    *,
    entropy: str | None = None,
    entropy_digest: str | None = None,
    starts: bool = True,
    build_network: str | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> BotVersionInfo:
    """Take in a folder, an image reference or an image archive as the next version of a bot.

    The same content as the newest version gives that version back, with `new` False. `entropy` is
    a string of the author's that is mixed into the seeds of the tournaments in which it is when
    their lists of strings are fixed, `entropy_digest` the SHA-256 of one that is promised and told
    later; another one makes another version. An image is started once, unless `starts` is False,
    and refused if it ends at once. `build_network` is the network in which a folder is built, by
    default that of the environment. `say` is told in a line what takes its time.

    Raises:
        RefusedError: The name, the source or the entropy cannot be taken.
        MachineError: The engine, the disk or the database failed.
    """
    check_submission(name, source, sandbox, entropy, entropy_digest)
    if sandbox == PROCESS:
        kind, digest = PROCESS, _keep_tree(store.home, Path(source))
    else:
        image = _image(name, source, build_network, say)
        kind, digest = IMAGE, _take_in(store.home, image, starts=starts)
    with store.write() as session:
        submission = _Submission(kind, digest, source, entropy, entropy_digest)
        return _add_version(session, store, name, submission)


def check_submission(
    name: str,
    source: str,
    sandbox: str,
    entropy: str | None = None,
    entropy_digest: str | None = None,
) -> None:
    """Refuse what can be seen to be wrong without an arena and without an engine.

    Raises:
        RefusedError: The name, the source or the entropy cannot be taken.
        UnknownSandboxError: There is no such sandbox.
    """
    check_name(name, "bot")
    if PLUS in name:
        raise RefusedError(f"{name!r} cannot name a bot", "leave '+' out: it joins partners")
    check_string(entropy, entropy_digest)
    if sandbox not in SANDBOXES:
        raise UnknownSandboxError(f"unknown sandbox {sandbox!r}: expected {' or '.join(SANDBOXES)}")
    if sandbox == PROCESS:
        _check_folder(Path(source))
    elif not Path(source).exists():
        _refuse_path(source)


def check_source(source: str, sandbox: str) -> None:
    """Refuse a source that is not here, without building, loading or fetching anything.

    An image that would be fetched is taken as it is named.

    Raises:
        RefusedError: There is no such folder or file.
        ImageMissingError: A plain word names no image.
        SandboxError: The engine that would know is missing or fails.
    """
    path = Path(source)
    if sandbox == PROCESS:
        _check_folder(path)
    elif not path.exists():
        _refuse_path(source)
        if not any(mark in source for mark in "/:"):
            from arena.sandbox import images  # noqa: PLC0415 - waits for the engine's client

            images.resolve(source)


def _check_folder(source: Path) -> None:
    if not source.is_dir():
        raise RefusedError(
            f"{source} is not a folder", "a bot that runs as a process is submitted as a folder"
        )


def _refuse_path(source: str) -> None:
    if source.startswith(PATH_BEGINS):
        raise RefusedError(
            f"there is no folder or file {source}",
            "give a folder with a Dockerfile, an archive made by docker save, or an image",
        )


def check_name(name: str, what: str) -> None:
    """Refuse names that do not read the same in a path, a table and a command line.

    Raises:
        RefusedError: The name will not do.
    """
    if not _NAME.fullmatch(name) or name.endswith("."):
        signs = "'.', '_'" if what == "bot" else "'.', '_', '+'"
        raise RefusedError(
            f"{name!r} cannot name a {what}",
            f"use 1 to 40 letters, digits, {signs} or '-', beginning with a letter or digit",
        )


def check_string(entropy: str | None, entropy_digest: str | None) -> None:
    """Refuse what is no string for seeds, no promise of one, or both.

    Raises:
        RefusedError: It cannot be taken.
    """
    if entropy is not None and entropy_digest is not None:
        raise RefusedError(
            "a string is given or promised, not both", "leave out the string or its SHA-256"
        )
    if entropy is not None:
        check_entropy(entropy)
    if entropy_digest is not None and not SHA256.fullmatch(entropy_digest):
        raise RefusedError(
            f"{entropy_digest!r} is no SHA-256 of a string",
            "give 64 hex digits in lower case; arena bot promise makes a string and its SHA-256",
        )


def check_entropy(text: str) -> None:
    """Refuse strings that do not read the same in a table, a file and a command line.

    Raises:
        RefusedError: It cannot be mixed into a seed.
    """
    if not (text.isprintable() and 1 <= len(text) <= MAX_ENTROPY and text.strip() == text):
        raise RefusedError(
            "this string cannot be mixed into a seed",
            f"give 1 to {MAX_ENTROPY} printable characters, without blanks at the ends",
        )


@dataclass(frozen=True, slots=True)
class _Submission:
    """What a version is made of, besides its name and number."""

    kind: str
    digest: str
    source: str
    entropy: str | None
    entropy_digest: str | None

    def is_in(self, version: BotVersion) -> bool:
        """Tell whether a version has this content, and this string or promise if any is given."""
        if (version.kind, version.digest) != (self.kind, self.digest):
            return False
        if self.entropy is not None:
            return version.entropy_digest is None and version.entropy == self.entropy
        return self.entropy_digest in {None, version.entropy_digest}


def _add_version(
    session: Session, store: Store, name: str, submission: _Submission
) -> BotVersionInfo:
    now = store.now()
    bot = session.exec(select(Bot).where(Bot.folded == name.casefold())).first()
    if bot is None:
        bot = Bot(name=name, folded=name.casefold(), created=now)
        session.add(bot)
        session.flush()
    newest = session.exec(
        select(BotVersion)
        .where(BotVersion.bot_id == bot.id)
        .order_by(col(BotVersion.number).desc())
        .limit(1)
    ).first()
    if newest is not None and submission.is_in(newest):
        return version_info(store.home, bot.name, newest)
    _refuse_told(session, submission)
    version = BotVersion(
        bot_id=cast("int", bot.id),
        number=newest.number + 1 if newest else 1,
        kind=submission.kind,
        digest=submission.digest,
        source=submission.source,
        entropy=submission.entropy,
        entropy_digest=submission.entropy_digest,
        created=now,
    )
    session.add(version)
    session.flush()
    return version_info(store.home, bot.name, version, new=True)


def _refuse_told(session: Session, submission: _Submission) -> None:
    """Refuse a promise of what is known, and to tell in the open what others promised.

    Raises:
        RefusedError: It is one of these.
    """
    if submission.entropy is None and submission.entropy_digest is None:
        return
    wanted = submission.entropy_digest or digest_of(submission.entropy or "")
    rows = session.exec(
        select(Bot.name, BotVersion).join(Bot, col(Bot.id) == BotVersion.bot_id)
    ).all()
    for name, version in rows:
        label = version_label(name, version.number)
        is_told = version.entropy is not None and digest_of(version.entropy) == wanted
        if submission.entropy_digest is not None and is_told:
            raise RefusedError(
                f"the string that is promised is known already: it is that of {label}",
                "promise another; arena bot promise makes one",
            )
        is_promised = version.entropy_digest == wanted and version.revealed is None
        if submission.entropy is not None and is_promised:
            raise RefusedError(
                f"{label} promised this very string, which is not told yet",
                f"arena bot reveal {label} tells it; or give another",
            )


def _image(
    name: str, source: str, build_network: str | None, say: Callable[[str], None]
) -> BotImage:
    """Build, load or find an image."""
    from arena.sandbox import images  # noqa: PLC0415 - waits for the engine's client

    path = Path(source)
    if path.is_dir():
        return images.build(path, name=name, network=build_network, say=say)
    if path.is_file():
        return images.load(path)
    _refuse_path(source)
    return images.resolve(source)


def _take_in(home: Home, image: BotImage, *, starts: bool) -> str:
    """Try an image, keep it for this arena and return its id."""
    from arena.sandbox import images  # noqa: PLC0415 - waits for the engine's client

    if starts:
        images.check_start(image.id)
    images.keep(image.id, home.path)
    return image.id


def _keep_tree(home: Home, source: Path) -> str:
    """Copy a source tree under its digest, so that later edits change no submitted version."""
    _check_folder(source)
    try:
        with ownership(home) as owner:
            return _copy_tree(home, source, bot_draft(home, owner))
    except OSError as error:
        where = error.filename or source
        raise MachineError(
            f"cannot copy {where}: {error.strerror or error}", "check the folder and the disk"
        ) from error


def _copy_tree(home: Home, source: Path, draft: Path) -> str:
    try:
        for relative in _files(source):
            target = draft / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / relative, target)
        hashes = _hashes(draft)
        if hashes != _hashes(source):
            raise RefusedError(
                f"{source} was changed while it was copied", "submit it when nothing writes to it"
            )
        digest = _digest(draft, hashes)
        _rename(draft, home.bots / digest.removeprefix("sha256:"))
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return digest


def _rename(draft: Path, kept: Path) -> None:
    """Give a tree its place, unless the same one has it."""
    try:
        draft.replace(kept)
    except OSError:
        if not kept.is_dir():
            raise


def tree_digest(folder: Path) -> str:
    """Return the digest of a source tree: of every path, whether it may be run, and content."""
    return _digest(folder, _hashes(folder))


def _hashes(folder: Path) -> dict[Path, str]:
    return {
        relative: hashlib.sha256((folder / relative).read_bytes()).hexdigest()
        for relative in _files(folder)
    }


def _digest(folder: Path, hashes: Mapping[Path, str]) -> str:
    total = hashlib.sha256()
    for relative, content in hashes.items():
        mode = "x" if (folder / relative).stat().st_mode & 0o100 else "-"
        total.update(f"{content} {mode} {relative.as_posix()}\0".encode("utf-8", "surrogateescape"))
    return f"sha256:{total.hexdigest()}"


def _files(folder: Path) -> Iterator[Path]:
    """Give the files of a tree, relative to it, sorted.

    Raises:
        RefusedError: It is empty or too large, or a link in it leads outside.
    """
    root = folder.resolve()
    found = sorted(
        path.relative_to(folder)
        for path in folder.rglob("*")
        if path.is_file() and not _LEFT_OUT.intersection(path.relative_to(folder).parts)
    )
    if not found:
        raise RefusedError(f"{folder} holds no file", "submit the folder of a bot")
    if len(found) > MAX_FILES or _size(folder, found) > MAX_BYTES:
        raise RefusedError(
            f"{folder} is too large for a bot",
            f"keep it below {MAX_FILES} files and {MAX_BYTES >> 20} MiB",
        )
    for relative in found:
        if not (folder / relative).resolve().is_relative_to(root):
            raise RefusedError(
                f"{relative} in {folder} is a link that leads outside", "submit the file itself"
            )
    yield from found


def _size(folder: Path, files: list[Path]) -> int:
    return sum((folder / relative).stat().st_size for relative in files)
