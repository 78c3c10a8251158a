"""Bots for the tests of the sandboxes: a few lines of Python in a folder or in an image."""

from __future__ import annotations

import json
import tempfile
import textwrap
import time
import uuid
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.sandbox import BotSource, EngineLostError, Limits, StartRequest, find_sandbox, images
from arena.sandbox.engine import Engine
from arena.sandbox.owners import SocketFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from arena.sandbox import Exit, RunningBot, Sandbox

SECONDS = 100
"""A generous cap on waiting for what takes milliseconds, or as long as an image is built."""


@dataclass
class Box:
    """One backend, with what a test started in it."""

    sandbox: Sandbox
    folder: Path
    owner: str = field(default_factory=lambda: f"test-{uuid.uuid4().hex}")
    stack: ExitStack = field(default_factory=ExitStack)

    def source(self, code: str, *, command: tuple[str, ...] = ()) -> BotSource:
        """Return a bot that runs this code, or another command."""
        folder = self.folder / uuid.uuid4().hex
        folder.mkdir()
        (folder / "bot.py").write_text(textwrap.dedent(code))
        if self.sandbox.name == "process":
            return BotSource(directory=folder, command=command)
        image = image_of(folder, command)
        self.stack.callback(forget_image, image)
        return BotSource(image=image)

    def start(
        self, code: str, *, command: tuple[str, ...] = (), limits: Limits | None = None
    ) -> RunningBot:
        """Start such a bot; it is removed at the end of the test if the test does not."""
        folder = SocketFolder.create(self.owner)
        self.stack.callback(folder.remove)
        bot = self.sandbox.start(self.request(code, folder, command=command, limits=limits))
        self.stack.callback(_end, bot)
        return bot

    def request(
        self,
        code: str,
        folder: SocketFolder,
        *,
        command: tuple[str, ...] = (),
        limits: Limits | None = None,
    ) -> StartRequest:
        """Return the request to start such a bot."""
        return StartRequest(
            source=self.source(code, command=command),
            socket_dir=folder.path,
            owner=self.owner,
            attempt="attempt",
            seat=0,
            limits=limits or Limits(),
        )

    def output(self, code: str, *, limits: Limits | None = None) -> str:
        """Run such a bot to its end and return what it printed."""
        bot = self.start(code, limits=limits)
        await_exit(bot)
        return bot.finish().log


def make_box(name: str, folder: Path) -> Box:
    """Return a box of the backend with this name."""
    return Box(find_sandbox(name), folder)


def image_of(folder: Path, command: tuple[str, ...] = (), extra: str = "", **settings: Any) -> str:
    """Build an image of a folder with a bot.py, unlike any other so that it can be removed."""
    words = json.dumps(command or ("python", "-u", "/bot/bot.py"))
    (folder / "Dockerfile").write_text(
        # From the first layer on it shares nothing with another's that may be removed meanwhile.
        f"ARG BASE=bura-python-bot\nFROM ${{BASE}}\nLABEL test={uuid.uuid4().hex}\n"
        f"COPY bot.py /bot/bot.py\n{extra}\nCMD {words}\n"
    )
    return images.build(folder, **settings).id


@contextmanager
def socket_place() -> Iterator[Path]:
    """Make a folder, with a path short enough for sockets wherever temporary files lie."""
    with tempfile.TemporaryDirectory(prefix="s-", dir="/tmp") as name:
        yield Path(name)


def is_ours(thing: Mapping[str, Any]) -> bool:
    """Tell whether a network or a volume has a name or a label of the arena's."""
    return any("bura" in word for word in (thing["Name"], *(thing["Labels"] or ())))


def forget_image(image: str) -> None:
    """Remove an image that a test made."""
    engine = Engine.connect()
    engine.remove_image(f"{images.KEPT}:{image.removeprefix('sha256:')[:16]}")
    engine.close()


def _end(bot: RunningBot) -> None:
    # Some tests take the engine away from a bot.
    with suppress(EngineLostError):
        bot.finish()


def await_exit(bot: RunningBot) -> Exit:
    """Wait until a bot has ended by itself."""
    found: list[Exit] = []

    def ended() -> bool:
        end = bot.poll()
        found.extend([end] if end else [])
        return end is not None

    await_true(ended)
    return found[0]


def await_true(holds: Callable[[], bool]) -> None:
    """Wait until something holds, and fail if it does not."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"{holds} still does not hold after {SECONDS} s"
        time.sleep(0.01)


def processes_with(word: str) -> list[int]:
    """Return the processes of this machine whose command line or environment has a word."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                text = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            except OSError:
                continue
            if word.encode() in text:
                found.append(int(entry.name))
    return found
