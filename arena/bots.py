"""Taking in bots: each submission becomes a version that never changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena.infos import BotVersionInfo
    from arena.store import Store


def submit(
    store: Store, name: str, source: str, sandbox: str = "container", *, note: str = ""
) -> BotVersionInfo:
    """Take in a folder, an image reference or an image archive as the next version of a bot.

    The same content as the newest version gives that version back, with `new` False.

    Raises:
        RefusedError: The name or the source cannot be taken.
        MachineError: The engine, the disk or the database failed.
    """
    raise NotImplementedError
