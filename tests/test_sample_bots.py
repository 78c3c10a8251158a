"""The sample bots speak the contract as programs of their own and play as they say."""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from fake_referee import OPTIONS, ROOT, respond_turn, run_program, welcome

import burabot
from benchmarks.strength import load, play, score_per_deal, start
from burabot import bot_pb2
from referee.match import play_leg
from referee.remote import Reception
from referee.results import Entrant, LegResult, MatchResult, MatchSpec, TimeControl
from referee.variants import VARIANTS, find_variant

BOTS = ROOT / "sample_bots"
PYTHON_BOTS = sorted(path.parent.name for path in BOTS.glob("*/bot.py"))


def greedy() -> Callable[[burabot.Turn], int]:
    """The greedy bot's way to choose."""
    return start("greedy", "seed")


def counter() -> Callable[[burabot.Turn], int]:
    """The counting bot's way to choose."""
    return start("counter", "seed")


def as_turn(message: bot_pb2.Turn, **options: str) -> burabot.Turn:
    """The turn as the client shows it to a bot."""
    return burabot.Turn(message, burabot.Game(welcome(**{**OPTIONS, **options}).welcome))


def lead_turn(hand: str, captured: str, hidden: int = 0) -> bot_pb2.Turn:
    """A turn to claim or to lead one card, with these captured cards; trump is hearts."""
    turn = respond_turn(1, hand, "6C")
    turn.kind = bot_pb2.TURN_LEAD
    turn.view.leader = turn.view.seat
    turn.view.ClearField("table")
    turn.view.hand_counts[0] = 3
    turn.view.captured[1].cards.extend(_cards(captured))
    turn.view.captured[1].hidden = hidden
    turn.view.stock = 12
    for action in turn.actions:
        action.kind = bot_pb2.ACTION_LEAD
    turn.actions.add(kind=bot_pb2.ACTION_CLAIM)
    return turn


def _cards(text: str) -> list[bot_pb2.Card.ValueType]:
    return [bot_pb2.Card.Value(f"CARD_{word}") for word in text.split()]


def chosen(choose: Callable[[burabot.Turn], int], message: bot_pb2.Turn) -> str:
    """What a bot does at a turn, as text."""
    action = message.actions[choose(as_turn(message))]
    kind = bot_pb2.ActionKind.Name(action.kind).removeprefix("ACTION_").lower()
    return f"{kind} {burabot.cards.cards_text(action.cards)}".strip()


@pytest.mark.parametrize("bot", PYTHON_BOTS)
def test_bot_plays_as_a_program(bot: str) -> None:
    """Started by hand with PYTHONPATH=proto, a bot plays to Goodbye and exits with 0."""
    match = run_program([sys.executable, "bot.py"], BOTS / bot)
    assert match.hello.name == bot
    match.check()


def test_random_repeats_itself_with_a_seed() -> None:
    """The same seed makes the same choices."""
    turn = as_turn(respond_turn(1, "6C 7S 9D", "TD"))
    rows = []
    for _ in range(2):
        choose = start("random", "7")
        rows.append([choose(turn) for _ in range(50)])
    assert rows[0] == rows[1]
    assert set(rows[0]) == {0, 1, 2}


def test_greedy_beats_with_the_cheapest_when_it_pays() -> None:
    """A ten is taken with the trump six, not with the trump ace; a six is left alone."""
    assert chosen(greedy(), respond_turn(1, "7S 6H AH", "TD")) == "play 6H"
    assert chosen(greedy(), respond_turn(1, "7S 6H AH", "6D")) == "play 7S"


def test_counter_takes_what_is_worth_taking() -> None:
    """A ten is beaten, also at the price of a trump."""
    assert chosen(counter(), respond_turn(1, "7S 8C AH", "TD")) == "play AH"


@pytest.mark.parametrize("choose", [greedy, counter])
def test_throws_the_cheapest_when_it_cannot_beat(
    choose: Callable[[], Callable[[burabot.Turn], int]],
) -> None:
    """A trump ace is answered with what is worth least."""
    assert chosen(choose(), respond_turn(1, "TS 6C AD", "AH")) == "play 6C"


@pytest.mark.parametrize("choose", [greedy, counter])
@pytest.mark.parametrize(
    ("captured", "claims"), [("AS TS TC", True), ("AS TS KS QS QD", True), ("AS TS 6S", False)]
)
def test_claims_what_it_counted(
    choose: Callable[[], Callable[[burabot.Turn], int]],
    captured: str,
    claims: bool,  # noqa: FBT001 - a table of cases
) -> None:
    """With 31 points in sight the bot claims, with 21 it leads."""
    assert (chosen(choose(), lead_turn("6C 7D 9S", captured)) == "claim") is claims


def test_counter_counts_hidden_cards_at_their_least() -> None:
    """With 29 points seen it claims once every card still unseen is worth at least three."""
    module = load("counter")
    turn = lead_turn("JC JD JS", "AS TS KS KD", hidden=1)
    worthless = [card for card in range(1, 37) if burabot.cards.POINTS[card] < 3]
    seen = [card for card in worthless if card not in turn.view.hand]
    turn.view.captured[0].cards.extend(_cards(burabot.cards.cards_text(seen)))
    assert module.Position(as_turn(turn)).certain == 29 + 3
    assert chosen(counter(), turn) == "claim"


@pytest.mark.parametrize("choose", [greedy, counter])
def test_stops_with_a_strong_combination(
    choose: Callable[[], Callable[[burabot.Turn], int]],
) -> None:
    """Ace, ten and king of one suit are led out of turn."""
    turn = respond_turn(1, "KS TS AS", "6C")
    turn.kind = bot_pb2.TURN_STOP
    turn.view.ClearField("table")
    turn.view.hand_counts[0] = 3
    turn.ClearField("actions")
    turn.actions.add(kind=bot_pb2.ACTION_PASS)
    turn.actions.add(
        kind=bot_pb2.ACTION_STOP,
        cards=_cards("KS TS AS"),
        combination=bot_pb2.COMBINATION_MOLODKA,
    )
    assert chosen(choose(), turn) == "stop KS TS AS"


def test_pairs_count_together() -> None:
    """Where four play in pairs a claim counts the partner's captured cards."""
    message = lead_turn("6C 7D 9S", "AS TS")
    message.view.seats = 4
    message.view.hand_counts[:] = [3, 3, 3, 3]
    message.view.captured.add()
    message.view.captured.add(cards=_cards("AC"))
    for choose in (greedy(), counter()):
        action = message.actions[choose(as_turn(message, sides="pairs"))]
        assert action.kind == bot_pb2.ACTION_CLAIM
        action = message.actions[choose(as_turn(message))]
        assert action.kind == bot_pb2.ACTION_LEAD


@pytest.mark.parametrize("bot", sorted(path.name for path in BOTS.iterdir() if path.is_dir()))
def test_every_bot_has_a_dockerfile_with_an_open_base(bot: str) -> None:
    """The base image of each sample bot can be chosen when it is built."""
    lines = (BOTS / bot / "Dockerfile").read_text().splitlines()
    assert lines[0].startswith("ARG BASE=")
    assert lines[1] == "FROM ${BASE}"


def test_javascript_bot_carries_the_contract() -> None:
    """The copy of bot.proto in the JavaScript bot's folder is the contract as it is."""
    copy = BOTS / "javascript-random" / "bot.proto"
    assert copy.read_text() == (ROOT / "proto" / "burabot" / "bot.proto").read_text()


@pytest.fixture(scope="session")
def javascript_bot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the JavaScript bot and its packages."""
    folder = tmp_path_factory.mktemp("javascript") / "bot"
    shutil.copytree(BOTS / "javascript-random", folder, ignore=lambda *_: {"node_modules"})
    install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
    done = subprocess.run(install, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = f"npm could not install the packages: {done.stderr[-300:]}"
        if os.environ.get("BURA_REQUIRE_NODE") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


@pytest.mark.node
def test_javascript_bot_plays(javascript_bot: Path) -> None:
    """The bot in JavaScript connects over the Unix socket, answers every turn, and exits with 0."""
    match = run_program(["node", "bot.js"], javascript_bot)
    assert match.hello.name == "javascript-random"
    match.check()


@pytest.mark.node
def test_javascript_bot_plays_a_whole_match(javascript_bot: Path) -> None:
    """Two programs, one in JavaScript and one in Python, play both legs without a fault."""
    programs = {
        "javascript-random": ["node", str(javascript_bot / "bot.js")],
        "greedy": [sys.executable, str(BOTS / "greedy" / "bot.py")],
    }
    spec = MatchSpec(
        variant="bura",
        rules=find_variant("bura"),
        seats=2,
        decks=20,
        tables=8,
        seed=bytes(32),
        entrants=tuple(Entrant(name) for name in programs),
        time_control=TimeControl(move_time_ms=30_000, startup_ms=60_000),
    )
    legs = tuple(play_programs(spec, leg, programs) for leg in range(spec.legs))
    result = MatchResult(spec=spec, legs=legs)
    assert result.faults == ()
    assert len(result.deals) == 40
    assert sum(result.totals) == 0


def play_programs(spec: MatchSpec, leg: int, programs: dict[str, list[str]]) -> LegResult:
    """Play a leg between programs, each of which must exit with 0."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bura-")))
        reception = stack.enter_context(Reception(spec, leg))
        running = []
        for seat in range(spec.seats):
            socket = folder / f"{seat}.sock"
            reception.listen(socket)
            environment = {
                **os.environ,
                "ARENA_ADDRESS": f"unix:{socket}",
                "PYTHONPATH": str(ROOT / "proto"),
            }
            command = programs[spec.entrants[spec.entrant_at(leg, seat)].name]
            program = stack.enter_context(subprocess.Popen(command, env=environment))
            stack.callback(program.kill)
            running.append(program)
        reception.wait_for_bots()
        result = play_leg(spec, leg, reception.players, reception.inbox)
        assert [program.wait(timeout=30) for program in running] == [0, 0]
    return result


@pytest.mark.parametrize("variant", VARIANTS)
def test_bots_play_every_variant(variant: str) -> None:
    """With the fewest and the most seats, all deals of a variant come to an end by the rules."""
    players = find_variant(variant).players
    for seats in sorted({min(players), max(players)}):
        bots = tuple(itertools.islice(itertools.cycle(("counter", "greedy", "random")), seats))
        result = play(bots, variant, decks=1)
        assert result.faults == ()
        assert len(result.deals) == seats


def test_same_seeds_play_the_same_deals() -> None:
    """Two runs of the benchmark's series agree in every action."""
    first, second = (play(("counter", "random"), "bura", decks=3) for _ in range(2))
    assert actions_of(first) == actions_of(second)


def actions_of(result: MatchResult) -> list[tuple[int, str]]:
    """Every choice of a match, in order, without its time."""
    return [(taken.seat, str(taken.action)) for deal in result.deals for taken in deal.actions]


@pytest.mark.parametrize(("better", "worse"), [("greedy", "random"), ("counter", "greedy")])
def test_each_bot_beats_the_one_before_it(better: str, worse: str) -> None:
    """In a mirrored series the 95% interval of the better bot's score per deal is above zero."""
    mean, half_width = score_per_deal(play((better, worse), "bura", decks=100), 0)
    assert mean - half_width > 0
