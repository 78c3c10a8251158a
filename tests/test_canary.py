"""What only the referee may know: if a bot is told, by bytes, log or environment, nobody loses."""

from __future__ import annotations

import base64
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from arena.jobs import LEAK, MatchDescription, Outcome, Played, Voided
from arena.runner import attempt
from arena.sandbox import BotSource, StartRequest, container, process
from referee.canary import Canaries, LeakError, secrets_of, strangers_of
from referee.players import FaultKind
from referee.results import Entrant, MatchSpec, TimeControl
from referee.rules import Rules
from referee.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from referee.players import Message

SEED = bytes(range(100, 132))
OWNER = "0123456789abcdef" * 2
BOT = "import burabot\nburabot.play(lambda turn: 0, name='x', version='1')\n"
NAMES = ("Cassandra-of-Troy", "Laocoon-the-priest")


@pytest.fixture(autouse=True)
def _sockets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with tempfile.TemporaryDirectory(prefix="run-") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield


def spec(names: tuple[str, ...] = NAMES, seed: bytes = SEED) -> MatchSpec:
    """A short match of two bots with these names."""
    return MatchSpec(
        variant="bura",
        rules=Rules(),
        seats=2,
        decks=1,
        seed=seed,
        entrants=tuple(Entrant(name, "1", f"sha256:{name:f<64}") for name in names),
        time_control=TimeControl(move_time_ms=20_000, startup_ms=30_000),
    )


def play(home: Path, code: str = BOT, match: MatchSpec | None = None) -> Outcome:
    """Play such a match of a bot against itself, as a worker would."""
    folder = home / "bot"
    folder.mkdir()
    (folder / "bot.py").write_text(code)
    description = MatchDescription(
        spec=match or spec(),
        bots=(BotSource(directory=folder),) * 2,
        positions=(0, 1),
        sandbox="process",
        home=home,
        folder="cup/1/1",
        owner=OWNER,
    )
    return attempt(description, lambda: None)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (SEED.hex(), "seed"),
        (SEED.hex().upper(), "seed"),
        (base64.b64encode(SEED).decode(), "seed"),
        (OWNER, "id of the referee's process"),
    ],
)
def test_secret_is_known_however_it_is_written(text: str, what: str) -> None:
    """What nobody can guess is found in each of its spellings, and named without its value."""
    with pytest.raises(LeakError, match=what) as caught:
        secrets_of(spec(), OWNER).check(f"so {text} it is".encode(), "the log of seat 0")
    assert text not in str(caught.value)


def test_secret_in_a_log_voids_the_match(tmp_path: Path) -> None:
    """A bot that prints what nobody can guess was told it, and the reason says what and where."""
    outcome = play(tmp_path, f"print('I know', '{SEED.hex()}', flush=True)\n{BOT}")
    assert isinstance(outcome, Voided)
    assert outcome.reason == LEAK
    assert "seed of the match was found in the log of seat 0" in str(outcome)


def test_guesses_in_a_log_are_nobodys_leak(tmp_path: Path) -> None:
    """No bot can void its matches by printing names, digests and paths that it can guess."""
    guesses = [*NAMES, f"sha256:{NAMES[1]:f<64}", str(tmp_path), "0" * 64]
    assert isinstance(play(tmp_path, f"print({guesses!r}, flush=True)\n{BOT}"), Played)


@pytest.mark.parametrize(
    "planted",
    [
        SEED,
        NAMES[1].encode(),
    ],
)
@pytest.mark.parametrize("method", ["welcome", "packed"])
def test_secret_in_bytes_to_a_bot_voids_the_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, planted: bytes
) -> None:
    """A referee that writes a secret into any message of a seat is stopped before it is sent."""
    plant(monkeypatch, method, planted)
    outcome = play(tmp_path)
    assert isinstance(outcome, Voided)
    assert outcome.reason == LEAK
    assert "seat 0" in outcome.detail


def test_path_of_the_arena_in_bytes_to_a_bot_voids_the_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where the arena's files lie is sent."""
    plant(monkeypatch, "packed", str(tmp_path).encode())
    outcome = play(tmp_path)
    assert isinstance(outcome, Voided)
    assert "a path of this machine" in outcome.detail


def test_secret_in_the_environment_voids_the_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot that would find a secret in its environment is not started."""
    honest = process._environment

    def leaky(request: StartRequest) -> dict[str, str]:
        return {**honest(request), "CONFIGURATION": f'{{"seed": "{SEED.hex()}"}}'}

    monkeypatch.setattr(process, "_environment", leaky)
    outcome = play(tmp_path)
    assert isinstance(outcome, Voided)
    assert outcome.reason == LEAK
    assert "the environment of seat" in outcome.detail


@pytest.mark.parametrize("settings", ["container_settings", "host_config"])
def test_secret_among_what_a_container_is_given_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str
) -> None:
    """A container whose environment or mounts tell a secret is not asked for."""
    request = StartRequest(
        source=BotSource(image="sha256:x"),
        socket_dir=tmp_path,
        owner=OWNER,
        attempt="cup/1/1/0",
        seat=1,
        canaries=secrets_of(spec(), OWNER),
    )
    asked = container._everything(request, "4711:65534")
    assert OWNER in repr(asked["labels"])
    honest: Callable[..., dict[str, object]] = getattr(container, settings)
    monkeypatch.setattr(
        container, settings, lambda *known: {**honest(*known), "x": {"CONFIGURATION": SEED.hex()}}
    )
    with pytest.raises(LeakError, match=r"seed of the match .* the environment of seat 1"):
        container._everything(request, "4711:65534")


def test_words_of_the_rules_are_no_secrets() -> None:
    """A bot named after an option, a variant or a fault does not void its matches."""
    match = spec(("combinations", "bura"))
    welcome = Wire(match, 0).welcome() + " ".join(FaultKind).encode()
    (secrets_of(match) | strangers_of(match)).check(welcome, "the welcome")
    with pytest.raises(LeakError, match="the log"):
        strangers_of(match).check(b"...sha256:" + b"bura".ljust(64, b"f"), "the log")


def test_seeds_that_can_be_guessed_prove_nothing(tmp_path: Path) -> None:
    """With a seed of zeros, a bot that prints zeros has not been told anything."""
    match = replace(spec(), seed=bytes(32))
    assert isinstance(
        play(tmp_path, f"print('{bytes(32).hex()}', flush=True)\n{BOT}", match), Played
    )


def test_nothing_is_found_where_nothing_is_hidden() -> None:
    """No value, and empty values, are found nowhere."""
    Canaries().check(b"anything", "here")
    (Canaries({"nothing": (b"",)}) | Canaries()).check(b"anything", "here")


def plant(monkeypatch: pytest.MonkeyPatch, method: str, secret: bytes) -> None:
    """Let the wire write something into its messages that does not belong there."""
    honest: Callable[..., bytes | tuple[bytes, ...]] = getattr(Wire, method)

    def leaky(self: Wire, *message: Message) -> bytes | tuple[bytes, ...]:
        made = honest(self, *message)
        return made + secret if isinstance(made, bytes) else (*made[:-1], made[-1] + secret)

    monkeypatch.setattr(Wire, method, leaky)
