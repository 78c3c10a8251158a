"""When a seat is asked does not tell it who holds a combination."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from legs import spec
from timeline import Ticking

from benchmarks.hiding_time import PLANTED_BAR, measure, planted, standard_error, told
from referee import remote

if TYPE_CHECKING:
    import pytest


def test_waits_do_not_tell_who_holds_a_combination() -> None:
    """No feature of a bot's times tells windows with a combination from those without.

    By chance the worst of seven goes beyond this in one run of a hundred thousand.
    """
    windows = measure(500)

    assert max(told(windows).values()) < 0.5 + 5 * 2**0.5 * standard_error(windows)


def test_a_planted_delay_is_found() -> None:
    """Some milliseconds of delay for holders tell them, so that the test before can fail."""
    assert max(told(planted(300, seconds=0.02)).values()) > PLANTED_BAR


def test_work_is_stretched_to_its_usual_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a round takes a little longer shows in the time of few messages, not in each."""
    clock = Ticking()
    monkeypatch.setattr("referee.remote.time.monotonic_ns", clock.read)
    holding = [number % 2 == 0 for number in range(2_000)]
    sent = []
    with remote.Reception(spec(), 0) as reception:
        for one in holding:
            reception.inbox.receive(0)
            resumed = clock.now
            clock.now += 106_000 if one else 100_000
            reception.inbox.even_out((2, 0))
            sent.append(clock.now - resumed)

    means = [
        statistics.mean(each for each, one in zip(sent, holding, strict=True) if one is held)
        for held in (True, False)
    ]
    assert abs(means[0] - means[1]) < 2_000
