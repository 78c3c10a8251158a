"""Who is in, at any point of the schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.formats.base import ChangeKind

if TYPE_CHECKING:
    from arena.formats.base import Plan


class Roster:
    """Who is in, followed from block to block of a schedule."""

    def __init__(self, plan: Plan) -> None:
        """Hold everybody of the first hour; no change has been heeded yet.

        `present` is in the order of coming, `left` in that of leaving.
        """
        self.present = list(range(plan.entrants))
        self.left: dict[int, None] = {}
        self._changes = plan.changes
        self._heeded = 0

    @property
    def changed(self) -> bool:
        """Whether anybody has come or left."""
        return self._heeded > 0

    def advance(self, number: int) -> list[int]:
        """Heed the changes that a block heeds whose first pairing has this number.

        Returns:
            Who came in since the last block and has not left again.
        """
        joined: list[int] = []
        heeded = self._heeded
        while self._heeded < len(self._changes):
            change = self._changes[self._heeded]
            if change.after >= number:
                break
            self._heeded += 1
            if change.kind is ChangeKind.JOIN:
                joined.append(change.entrant)
            else:
                self.left[change.entrant] = None
        if self._heeded > heeded:
            everybody = [*self.present, *joined]
            self.present = [entrant for entrant in everybody if entrant not in self.left]
        return [entrant for entrant in joined if entrant not in self.left]
