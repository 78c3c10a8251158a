"""An engine that takes calls and does not answer: whoever waits for it says so soon."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from arena.sandbox import BotSource, EngineLostError, Limits
from arena.sandbox import container as container_module
from arena.sandbox.confinement import LABEL
from arena.sandbox.container import ContainerSandbox, _Container
from arena.sandbox.engine import MOST_SILENCES, Engine

LATE = requests.exceptions.ReadTimeout("read timed out")
SEATS = 6


class Api:
    """A client of an engine with containers that run; it fails in the calls that a test names."""

    def __init__(self, containers: int = 0) -> None:
        self.fails: dict[str, Exception] = {}
        self.asked: list[str] = []
        self.here = [f"bura-bot-{number:032x}" for number in range(containers)]

    def __getattr__(self, call: str) -> Any:
        def answer(name: str = "", **_: object) -> object:
            self.asked.append(call)
            if call in self.fails:
                raise self.fails[call]
            return self._answer(call, name)

        return answer

    def _answer(self, call: str, name: str) -> object:
        if call == "containers":
            labels = {f"{LABEL}owner": "dead", f"{LABEL}process": ""}
            return [{"Names": [f"/{one}"], "Labels": labels} for one in self.here]
        if call == "inspect_image":
            return {"Id": name, "Config": {"Cmd": ["bot"]}}
        if call == "remove_container":
            self.here.remove(name)
        return {"State": {"Running": name in self.here}}


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what these tests leave from the starts of others."""
    monkeypatch.setattr(container_module, "_strays", container_module._Strays())


def running(api: Api) -> tuple[ContainerSandbox, list[_Container]]:
    """Return the backend, and all containers as bots that were started."""
    engine = Engine(api)  # type: ignore[arg-type]
    session: Any = SimpleNamespace(is_alive=lambda: True, takes_calls=lambda: True)
    now = time.monotonic_ns()
    bots = [_Container(engine, session, name, Limits(), now) for name in api.here]
    return ContainerSandbox(engine), bots


def test_failure_to_end_a_bot_is_told_again_without_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaving the bot's context after a failed end does not wait for the engine once more."""
    api = Api(1)
    api.fails["kill"] = LATE
    _, (bot,) = running(api)
    with pytest.raises(EngineLostError) as first:
        bot.finish()
    assert api.asked == ["inspect_container", "kill", "remove_container"]
    assert api.here == []
    monkeypatch.setattr(api, "fails", {})
    for ask in (bot.finish, bot.poll, bot.kill):
        with pytest.raises(EngineLostError) as again:
            ask()
        assert again.value is first.value
    with pytest.raises(EngineLostError), bot:
        pass
    assert len(api.asked) == 3


def test_bot_that_was_lost_sight_of_has_no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the engine could not tell whether a bot runs, only its removal is asked for."""
    api = Api(1)
    api.fails["inspect_container"] = LATE
    _, (bot,) = running(api)
    with pytest.raises(EngineLostError):
        bot.poll()
    monkeypatch.setattr(api, "fails", {})
    with pytest.raises(EngineLostError):
        bot.finish()
    assert api.asked == ["inspect_container", "remove_container"]
    assert api.here == []


def test_bots_of_a_silent_engine_are_given_up_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many bots a match has, it waits for two answers; what is left goes later."""
    api = Api(SEATS)
    api.fails |= dict.fromkeys(("inspect_container", "kill", "remove_container"), LATE)
    sandbox, bots = running(api)
    for bot in bots:
        with pytest.raises(EngineLostError):
            bot.finish()
    assert len(api.asked) == MOST_SILENCES
    assert len(api.here) == SEATS
    monkeypatch.setattr(api, "fails", {})
    # As a match does before its bots are started.
    sandbox.prepare(BotSource(image="sha256:1"))
    sandbox._remove_strays()
    assert api.here == []


def test_reaping_stops_where_the_engine_falls_silent() -> None:
    """The driver has other matches to look after."""
    api = Api(SEATS)
    api.fails["remove_container"] = LATE
    sandbox, _ = running(api)
    sandbox.reap("me", [], ["dead"])
    assert api.asked == ["containers", *["remove_container"] * MOST_SILENCES]
