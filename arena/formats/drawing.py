"""Draws a round of pods: who sits out, who meets, who is whose partner, who sits where."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

from arena.formats.seating import across, fairest
from referee.shuffle import Stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Seats = tuple[int, ...]
_REMEMBERED = 2048
_PASSES = 4
"""How often at most all entrants are tried in other pods."""
_TRIED = 240
"""How many entrants are put into pods in all: small fields are drawn several times over."""
_DEAREST = 8
"""Meetings above the fewest from which on one more costs the same."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """All that the drawing of a round depends on.

    Attributes:
        seed: 32 bytes from which lots are drawn.
        round: Its number.
        seats: Of a pod.
        rotating: Whether those who sit across are partners.
        present: Who is in, and how often it has sat out.
        before: The seats of all pods before.
    """

    seed: bytes
    round: int
    seats: int
    rotating: bool
    present: tuple[tuple[int, int], ...]
    before: tuple[Seats, ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A round: its pods, and who sits out."""

    pods: tuple[Seats, ...]
    byes: tuple[int, ...]


@lru_cache(_REMEMBERED)
def draw(drawing: Drawing) -> Drawn:
    """Draw a round; the same arguments give the same, and the last answers are remembered."""
    stream = Stream(drawing.seed, "pods", drawing.round, 0)
    met = _meetings(drawing.before)
    partners = _partners(drawing.before) if drawing.rotating else Counter[tuple[int, int]]()
    sat = Counter((one, seat) for pod in drawing.before for seat, one in enumerate(pod))
    drawn: list[tuple[int, list[list[int]]]] = []
    for _ in range(max(_TRIED // len(drawing.present), 1)):
        lots = stream.shuffled(drawing.present)
        cost, pods = _Partition(lots, drawing.seats, met).improved()
        drawn.append((cost + (_repeats(pods, partners) if drawing.rotating else 0), pods))
    _, best = min(drawn, key=lambda one: one[0])
    playing = {one for pod in best for one in pod}
    return Drawn(
        pods=tuple(_seated(pod, drawing.rotating, partners, sat) for pod in best),
        byes=tuple(sorted(one for one, _ in drawing.present if one not in playing)),
    )


class _Partition:
    """Entrants in pods, one bench besides, and what it costs each to be in each of them."""

    def __init__(
        self, lots: Sequence[tuple[int, int]], seats: int, met: Counter[tuple[int, int]]
    ) -> None:
        """Fill the pods one entrant after another, each into the one where it has met fewest.

        Args:
            lots: Entrants in the order in which they are drawn, and how often each sat out.
            seats: Of a pod.
            met: How often two have met.
        """
        self._entrants = [entrant for entrant, _ in lots]
        self._sat_out = [times for _, times in lots]
        size = len(lots)
        fewest = min(met[couple] for couple in combinations(sorted(self._entrants), 2))
        self._cost = [[0] * size for _ in range(size)]
        for one, other in combinations(range(size), 2):
            couple = _couple(self._entrants[one], self._entrants[other])
            cost = 4 ** min(met[couple] - fewest, _DEAREST) - 1
            self._cost[one][other] = self._cost[other][one] = cost
        self._bench = size // seats
        self._pods: list[list[int]] = [[] for _ in range(self._bench + 1)]
        self._in = [0] * size
        self._with = [[0] * len(self._pods) for _ in range(size)]
        by_turn = sorted(range(size), key=lambda one: self._sat_out[one])
        out = size % seats
        for one in by_turn[:out]:
            self._enter(one, self._bench)
        for one in sorted(by_turn[out:]):
            open_ = (pod for pod in range(self._bench) if len(self._pods[pod]) < seats)
            chosen = min(open_, key=lambda pod: (self._with[one][pod], len(self._pods[pod])))
            self._enter(one, chosen)

    def improved(self) -> tuple[int, list[list[int]]]:
        """Exchange players of two pods while that lowers the cost; return it and the pods."""
        size = len(self._entrants)
        for _ in range(_PASSES):
            changed = False
            for one in range(size):
                here = self._in[one]
                if self._with[one][here] == 0:
                    continue
                gain, other = min((self._change(one, other), other) for other in range(size))
                if gain < 0:
                    there = self._in[other]
                    self._leave(one)
                    self._leave(other)
                    self._enter(one, there)
                    self._enter(other, here)
                    changed = True
            if not changed:
                break
        cost = sum(self._with[one][pod] for one, pod in enumerate(self._in)) // 2
        pods = self._pods[: self._bench]
        return cost, [[self._entrants[one] for one in pod] for pod in pods]

    def _change(self, one: int, other: int) -> int:
        """Return what it would cost more if two changed places; 0 for those who may not."""
        here, there = self._in[one], self._in[other]
        if here == there:
            return 0
        pods = 2
        if self._bench in (here, there):
            pods = 1
            if self._sat_out[one] != self._sat_out[other]:
                return 0
        mine, theirs = self._with[one], self._with[other]
        between = pods * self._cost[one][other]
        return mine[there] + theirs[here] - between - mine[here] - theirs[there]

    def _enter(self, one: int, pod: int) -> None:
        self._in[one] = pod
        self._pods[pod].append(one)
        if pod == self._bench:
            return
        for costs, cost in zip(self._with, self._cost[one], strict=True):
            costs[pod] += cost

    def _leave(self, one: int) -> None:
        pod = self._in[one]
        self._pods[pod].remove(one)
        if pod == self._bench:
            return
        for costs, cost in zip(self._with, self._cost[one], strict=True):
            costs[pod] -= cost


def _seated(
    pod: Sequence[int],
    rotating: bool,  # noqa: FBT001 - one fact of the drawing among others
    partners: Counter[tuple[int, int]],
    sat: Counter[tuple[int, int]],
) -> Seats:
    """Return a pod's entrants in their seats: each where it sat least, new partners across."""
    if not rotating:
        return fairest(pod, sat)
    one, _, _, partner = _best_split(pod, partners)
    return fairest(pod, sat, across(pod, one, partner))


def _best_split(pod: Sequence[int], partners: Counter[tuple[int, int]]) -> tuple[int, ...]:
    """Return a pod with partners outside and inside: those who were partners least."""
    first, *others = pod
    ways = [(first, *(one for one in others if one != partner), partner) for partner in others]
    return min(ways, key=lambda way: _together(way, partners))


def _together(split: Sequence[int], partners: Counter[tuple[int, int]]) -> int:
    """Return how much more uneven partners become; 0 for two couples that never were."""
    one, left, right, other = split
    return sum(
        4 ** min(partners[_couple(*pair)], _DEAREST) - 1 for pair in ((one, other), (left, right))
    )


def _repeats(pods: Sequence[Sequence[int]], partners: Counter[tuple[int, int]]) -> int:
    return sum(_together(_best_split(pod, partners), partners) for pod in pods)


def _meetings(pods: Iterable[Seats]) -> Counter[tuple[int, int]]:
    return Counter(couple for pod in pods for couple in combinations(sorted(pod), 2))


def _partners(pods: Iterable[Seats]) -> Counter[tuple[int, int]]:
    return Counter(_couple(*pod[side::2]) for pod in pods for side in range(2))


def _couple(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)
