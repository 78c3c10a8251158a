"""Dealing out cores to bots and referee."""

from __future__ import annotations

import os

import pytest

from arena.sandbox.cgroups import parse_cpus
from arena.sandbox.slots import SHARED_CORES, CapacityError, pinned, plan_slots, usable_cores


@pytest.mark.parametrize("seats", [2, 3, 4, 6])
@pytest.mark.parametrize("count", [8, 9, 16, 64])
def test_every_bot_has_cores_of_its_own(count: int, seats: int) -> None:
    """No core belongs to two bots, nor to a bot and the referee."""
    slots = plan_slots(range(10, 10 + count), seats=seats)
    cores = [core for slot in slots for bot in slot.bots for core in parse_cpus(bot)]
    assert len(slots) == (count - 1) // seats
    assert len(set(cores)) == len(cores) == len(slots) * seats
    assert {slot.referee for slot in slots} == {"10"}
    assert 10 not in cores
    assert {slot.condition for slot in slots} == {""}


def test_two_cores_are_shared_and_say_so() -> None:
    """With two cores both bots get one, the referee the other, and results tell it."""
    (slot,) = plan_slots([0, 1])
    assert (slot.bots, slot.referee, slot.condition) == (("1", "1"), "0", SHARED_CORES)


def test_one_core_still_plays() -> None:
    """Even with one core a match can be played."""
    (slot,) = plan_slots([5])
    assert (slot.bots, slot.referee, slot.condition) == (("5", "5"), "5", SHARED_CORES)


def test_what_is_left_is_shared_equally() -> None:
    """Bots that must share get the same cores, so that none has an advantage."""
    (slot,) = plan_slots([0, 1, 2], seats=3)
    assert slot.bots == ("1,2",) * 3
    assert slot.condition == SHARED_CORES


def test_more_than_fits_is_refused_with_the_arithmetic() -> None:
    """A request beyond the machine names what fits."""
    with pytest.raises(CapacityError, match="5 cores hold 2") as caught:
        plan_slots(range(5), wanted=3)
    assert caught.value.hint == "ask for 1 to 2"
    with pytest.raises(CapacityError):
        plan_slots(range(2), wanted=2)
    with pytest.raises(CapacityError):
        plan_slots(range(5), wanted=0)
    assert len(plan_slots(range(5), wanted=1)) == 1


def test_cores_of_this_process_are_the_default() -> None:
    """What the process may not use is not dealt out."""
    cores = usable_cores()
    used = {core for slot in plan_slots() for bot in slot.bots for core in parse_cpus(bot)}
    assert used <= set(cores)


@pytest.mark.parametrize(
    ("text", "cores"), [("", set()), ("3", {3}), ("0-2,5\n", {0, 1, 2, 5}), ("1,1", {1})]
)
def test_cpusets_are_read(text: str, cores: set[int]) -> None:
    """The kernel's notation gives a set of cores."""
    assert parse_cpus(text) == cores


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no cores can be chosen here")
@pytest.mark.parametrize("cpuset", ["", "9999"])
def test_cores_that_cannot_be_had_change_nothing(cpuset: str) -> None:
    """Without a core to be kept on, or with one that is not there, a thread runs where it may."""
    before = os.sched_getaffinity(0)
    with pinned(cpuset):
        assert os.sched_getaffinity(0) == before
    assert os.sched_getaffinity(0) == before
