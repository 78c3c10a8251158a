"""The record of a match: what it holds, how it is checked, that no change goes unnoticed."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from timeline import Bot, Timeline, answers, good

from arena.cli import main
from arena.recorded import read_recorded
from referee.match import play_leg, play_match
from referee.players import Choices, Fault, FaultKind
from referee.record import RecordError, read_record, replay, to_record, write_record
from referee.results import Entrant, MatchResult, MatchSpec, TimeControl
from referee.rules import Rules
from referee.variants import VARIANTS
from referee.verification import Verification, verify_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from referee.players import Turn, Update

SEED = bytes(range(32))
RULES = VARIANTS["bura"]


def spec(**changes: object) -> MatchSpec:
    """A short match of two."""
    seats = int(str(changes.pop("seats", 2)))
    options = {
        "variant": "bura",
        "rules": RULES,
        "seats": seats,
        "decks": 3,
        "seed": SEED,
        "entrants": tuple(Entrant(name, "1", f"sha256:{name}") for name in "abcdef"[:seats]),
        "time_control": TimeControl(move_time_ms=60_000),
    }
    return MatchSpec(**{**options, **changes})  # type: ignore[arg-type]


def by_view(turn: Turn) -> int:
    """Choose at random, but the same in the same view."""
    return random.Random(repr((turn.view, turn.actions))).randrange(len(turn.actions))


def play(match: MatchSpec) -> MatchResult:
    """Play a match between equals."""
    return play_match(match, [by_view] * match.seats)


def play_with_faults(match: MatchSpec) -> MatchResult:
    """Play a match in which seat 0 once answers nonsense and seat 1 breaks in the second leg."""

    def illegal(bot: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        if bot.rounds == 3:
            return [(1, answers(update, lambda _: 99))]
        return good(bot, update)

    def broken(bot: Bot, update: Update) -> Iterable[tuple[float, Choices | Fault]]:
        if bot.rounds == 40:
            return [(1, Fault(FaultKind.CRASH, bot.seat, "exit code 3"))]
        return good(bot, update)

    legs = []
    for leg, reacts in enumerate([(illegal, good), (good, broken)]):
        timeline = Timeline()
        bots = [Bot(timeline, seat, react) for seat, react in enumerate(reacts)]
        legs.append(play_leg(match, leg, bots, timeline))
    return MatchResult(spec=match, legs=tuple(legs))


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """The record of a match with faults of both kinds."""
    match = spec(decks=4)
    return list(to_record(match, play_with_faults(match)))


def check(path: Path, lines: Iterable[str], seed: bytes | None = None) -> Verification:
    """Write lines to a file and verify it."""
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return verify_record(path, seed)


def sealed(lines: Iterable[str]) -> list[str]:
    """Give changed lines the digest and the seal that fit them, as a forger would."""
    *before, last = [json.loads(line) for line in lines]

    def digest(values: list[dict[str, Any]]) -> str:
        return hashlib.sha256("\n".join(map(dumped, values)).encode()).hexdigest()

    bare = [{k: v for k, v in line.items() if k != "measured"} for line in (*before, last)]
    del bare[-1]["digest"]
    last["digest"] = digest(bare)
    bare[-1]["digest"] = last["digest"]
    last["measured"] = {"seal": digest([*before, bare[-1]])}
    return [dumped(line) for line in (*before, last)]


def dumped(line: dict[str, Any]) -> str:
    """The canonical text of a line."""
    return json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize("stalls", [0, 3])
def test_stalls_are_measured_and_change_no_digest(tmp_path: Path, stalls: int) -> None:
    """How long the referee stood still is told, and the match is the same one without it."""
    match = spec()
    calm = play(match)
    legs = [replace(leg, stalls=stalls, stalled_us=stalls * 50_000) for leg in calm.legs]
    held_up = replace(calm, legs=tuple(legs))
    assert (held_up.stalls, held_up.stalled_us) == (2 * stalls, stalls * 100_000)
    path = tmp_path / "record.jsonl"
    write_record(path, match, held_up)
    assert verify_record(path, SEED).difference is None
    told = read_recorded(path)
    assert (told.stalls, told.stalled_us) == (2 * stalls, stalls * 100_000)
    assert told.digest == json.loads(to_record(match, calm)[-1])["digest"]


def test_record_of_an_older_arena_knows_of_no_stalls(tmp_path: Path, lines: list[str]) -> None:
    """What was not measured is not known, which is no fault of the record's."""
    older = [json.loads(line) for line in lines]
    for line in older:
        for name in ("stalls", "stalled_us"):
            line.get("measured", {}).pop(name, None)
    assert check(tmp_path / "r", sealed(map(dumped, older)), SEED).difference is None
    told = read_recorded(tmp_path / "r")
    assert told.stalls is told.stalled_us is None


@pytest.mark.parametrize("value", ["3", -1, 1.5, True, [], 1 << 70])
def test_stalls_that_are_no_number_are_not_read(
    tmp_path: Path, lines: list[str], value: object
) -> None:
    """A database holds whole numbers only, so nothing else comes out of a record."""
    forged = [json.loads(line) for line in lines]
    next(line for line in forged if line["type"] == "leg")["measured"]["stalls"] = value
    check(tmp_path / "r", sealed(map(dumped, forged)))
    with pytest.raises(ValueError, match="stalls"):
        read_recorded(tmp_path / "r")


def test_a_record_holds_and_says_what_was_proved(tmp_path: Path, lines: list[str]) -> None:
    """A record is consistent with its own decks, and with those of the revealed seed."""
    path = tmp_path / "match.jsonl"
    alone = check(path, lines)
    assert alone.ok
    assert "decks in the record" in alone.proved
    revealed = check(path, lines, SEED)
    assert revealed.ok
    assert "revealed seed" in revealed.proved
    assert alone.digest == revealed.digest == json.loads(lines[-1])["digest"]


def test_another_seed_is_refused(tmp_path: Path, lines: list[str]) -> None:
    """A seed that was not committed to is the first difference."""
    difference = check(tmp_path / "match.jsonl", lines, bytes(32)).difference
    assert difference is not None
    assert (difference.line, difference.field) == (1, "seed_commitment")


def test_the_same_match_gives_the_same_record_but_for_what_was_measured() -> None:
    """Two runs of bots that decide alike differ in times only."""
    match = spec()

    def canonical(record: Iterable[str]) -> list[dict[str, Any]]:
        values = [json.loads(line) for line in record]
        for line in values:
            line.pop("measured")
        return values

    def run() -> list[str]:
        return list(to_record(match, play(match)))

    def without_header(record: list[str]) -> list[str]:
        return record[1:]

    one, two = run(), run()
    assert one != two
    assert canonical(without_header(one)) == canonical(without_header(two))
    assert one[0] == two[0]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """Reading gives the deals, clocks and totals that were written, names of any kind included."""
    match = spec(entrants=(Entrant('"<b>\u2028\u0431'), Entrant("b")))
    result = play(match)
    path = tmp_path / "match.jsonl"
    sha256 = write_record(path, match, result)
    assert sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    record = read_record(path)
    assert record.deals == result.deals
    assert record.totals == result.totals
    assert record.entrants == match.entrants
    assert record.clock(1) == result.clock(1)
    assert verify_record(path).ok
    assert [each.name for each in tmp_path.iterdir()] == ["match.jsonl"]


def test_a_record_is_integers_and_strings(lines: list[str]) -> None:
    """Nothing in a record depends on how a language writes fractions, truth or absence."""

    def leaves(value: object) -> Iterator[object]:
        if isinstance(value, dict):
            for each in value.values():
                yield from leaves(each)
        elif isinstance(value, list):
            for each in value:
                yield from leaves(each)
        else:
            yield value

    kinds = {type(leaf) for line in lines for leaf in leaves(json.loads(line))}
    assert kinds == {int, str}


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("fewest", [True, False])
def test_every_variant_is_verified(name: str, fewest: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """Records of all variants hold, as a series and in the variant's own format."""
    rules = VARIANTS[name].replace(max_deals=6)
    seats = rules.players[0] if fewest else rules.players[-1]
    series = spec(variant=name, rules=rules, seats=seats, decks=2, tables=2)
    assert check(tmp_path / "series.jsonl", to_record(series, play(series)), SEED).ok
    assert verify_record(tmp_path / "series.jsonl").ok
    if rules.match_format != "series":
        native = replace(series, match_format="native", tables=1)
        assert check(tmp_path / "native.jsonl", to_record(native, play(native)), SEED).ok
        assert verify_record(tmp_path / "native.jsonl").ok


def changes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a changed copy of a JSON value for each place in it, with the name of the place."""
    if isinstance(value, dict):
        for name, each in value.items():
            for place, changed in changes(each):
                yield f"{name}.{place}", {**value, name: changed}
            yield f"{name} left out", {k: v for k, v in value.items() if k != name}
        yield "another field", {**value, "more": 1}
    elif isinstance(value, list):
        for number, each in enumerate(value[:3]):
            for place, changed in changes(each):
                yield f"{number}.{place}", [*value[:number], changed, *value[number + 1 :]]
        if value:
            yield "last left out", value[:-1]
            yield "last doubled", [*value, value[-1]]
        else:
            yield "filled", [0]
    elif isinstance(value, int):
        yield "greater", value + 1
        yield "less", value - 1
        yield "a fraction", value + 0.5
        yield "true", True if value == 1 else None
    else:
        yield "changed", value + "x"
        yield "emptied", "" if value else "y"


def test_every_change_of_a_value_is_detected(tmp_path: Path, lines: list[str]) -> None:
    """Whatever value of whatever line is changed, added or left out, the record does not hold."""
    path = tmp_path / "match.jsonl"
    kinds = {}
    for number, text in enumerate(lines):
        line = json.loads(text)
        kinds.setdefault((line["type"], bool(line.get("faults"))), number)
    tried = 0
    for number in kinds.values():
        for place, changed in changes(json.loads(lines[number])):
            altered = [*lines[:number], dumped(changed), *lines[number + 1 :]]
            verification = check(path, altered)
            assert not verification.ok, (number, place)
            assert verification.difference is not None
            tried += 1
    assert tried > 500


def test_every_change_of_lines_is_detected(tmp_path: Path, lines: list[str]) -> None:
    """Lines left out, doubled, swapped or added at either end do not go unnoticed."""
    path = tmp_path / "match.jsonl"
    altered = [lines[:i] + lines[i + 1 :] for i in range(len(lines))]
    altered += [lines[:i] + lines[i:][:1] + lines[i:] for i in range(len(lines))]
    altered += [
        [*lines[:i], lines[i + 1], lines[i], *lines[i + 2 :]] for i in range(len(lines) - 1)
    ]
    altered += [[*lines, "{}"], [*lines, ""], ["", *lines]]
    for each in altered:
        assert not check(path, each).ok


def test_every_change_of_bytes_is_detected(tmp_path: Path, lines: list[str]) -> None:
    """A record cut short anywhere, or with a byte changed, does not hold."""
    path = tmp_path / "match.jsonl"
    check(path, lines)
    data = path.read_bytes()
    rng = random.Random(5)
    for _ in range(300):
        at = rng.randrange(len(data))
        changed = bytes([(data[at] + rng.randrange(1, 256)) % 256])
        path.write_bytes(data[:at] + changed + data[at + 1 :])
        assert not verify_record(path).ok, at
        path.write_bytes(data[:at])
        assert not verify_record(path).ok, at
    path.write_bytes(data)
    assert verify_record(path).ok


def _played(lines: list[dict[str, Any]]) -> dict[str, Any]:
    return next(line for line in lines if line["type"] == "deal" and not line["lost_by"])


def _lost(lines: list[dict[str, Any]]) -> dict[str, Any]:
    return next(line for line in lines if line["type"] == "deal" and line["faults"])


def _another_action(lines: list[dict[str, Any]]) -> None:
    _played(lines)["actions"][0][2] = "lead 6C 7C 8C"


def _another_index(lines: list[dict[str, Any]]) -> None:
    _played(lines)["actions"][0][1] = 77


def _an_action_less(lines: list[dict[str, Any]]) -> None:
    deal = _played(lines)
    deal["actions"].pop()
    deal["measured"]["times_us"].pop()


def _another_winner(lines: list[dict[str, Any]]) -> None:
    _played(lines)["outcome"]["points"] = [120, 0]


def _another_score(lines: list[dict[str, Any]]) -> None:
    _played(lines)["scores"] = ["7", "-7"]


def _a_forgiven_fault(lines: list[dict[str, Any]]) -> None:
    deal = _lost(lines)
    deal["faults"], deal["lost_by"] = [], []


def _an_invented_loss(lines: list[dict[str, Any]]) -> None:
    _played(lines)["lost_by"] = [0]


def _another_total(lines: list[dict[str, Any]]) -> None:
    lines[-1]["totals"] = ["9", "-9"]


def _a_marked_card(lines: list[dict[str, Any]]) -> None:
    deal = _played(lines)
    deal["decks"][-1] = deal["decks"][-1].replace("6C", "AS", 1)


def _another_deck_in_one_leg(lines: list[dict[str, Any]]) -> None:
    deal = next(line for line in lines if line["type"] == "deal" and line["leg"] == 1)
    cards = deal["decks"][-1].split()
    deal["decks"][-1] = " ".join([cards[1], cards[0], *cards[2:]])


def _a_deck_twice(lines: list[dict[str, Any]]) -> None:
    deals = [line for line in lines if line["type"] == "deal" and line["leg"] == 0]
    deals[1]["deck"] = deals[0]["deck"]


def _a_turn_nobody_was_asked_for(lines: list[dict[str, Any]]) -> None:
    _played(lines)["actions"][0][3] = 0


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (_another_action, "actions[0]"),
        (_another_index, "actions[0]"),
        (_an_action_less, "actions"),
        (_another_winner, "outcome"),
        (_another_score, "scores"),
        (_a_forgiven_fault, "actions"),
        (_an_invented_loss, "outcome"),
        (_another_total, "totals"),
        (_a_marked_card, "decks"),
        (_another_deck_in_one_leg, "decks"),
        (_a_deck_twice, "deck"),
        (_a_turn_nobody_was_asked_for, "actions[0]"),
    ],
)
def test_a_forged_record_fails_where_it_was_forged(
    change: Callable[[list[dict[str, Any]]], None],
    field: str,
    tmp_path: Path,
    lines: list[str],
) -> None:
    """A change with a digest made to fit it is found by refereeing, and named."""
    values = [json.loads(line) for line in lines]
    change(values)
    texts = [dumped(line) for line in values]
    first_changed = next(i for i, (a, b) in enumerate(zip(lines, texts, strict=True)) if a != b)
    difference = check(tmp_path / "match.jsonl", sealed(texts)).difference
    assert difference is not None
    assert difference.line == first_changed + 1
    assert difference.field.startswith(field)
    assert str(difference).startswith(f"line {difference.line}, {difference.field}: expected ")


def test_decks_that_are_not_the_seeds_fail_only_with_the_seed(tmp_path: Path) -> None:
    """Whoever makes up the decks is found out when the seed is revealed."""
    match, other = spec(), spec(seed=bytes(32))
    values = [json.loads(line) for line in to_record(other, play(other))]
    values[0]["seed_commitment"] = json.loads(to_record(match, play(match))[0])["seed_commitment"]
    forged = sealed(map(dumped, values))
    path = tmp_path / "match.jsonl"
    assert check(path, forged).ok
    difference = check(path, forged, SEED).difference
    assert difference is not None
    assert difference.line == 2


def test_a_replay_shows_every_state(tmp_path: Path) -> None:
    """Replaying a deal gives one state more than it has actions, the last with the outcome."""
    match = spec()
    path = tmp_path / "match.jsonl"
    write_record(path, match, play(match))
    record = read_record(path)
    for result in record.deals:
        states = list(replay(record.rules, result))
        assert len(states) == len(result.actions) + 1
        assert states[-1].outcome == result.outcome


def test_a_replay_of_a_deal_that_cannot_be_is_refused() -> None:
    """An action nobody could take ends the replay with its number."""
    result = play(spec()).deals[0]
    taken = replace(result.actions[0], index=99)
    wrong = replace(result, actions=(taken, *result.actions[1:]))
    with pytest.raises(RecordError, match="action 0: expected an index below"):
        list(replay(RULES, wrong))


@pytest.mark.parametrize(
    "text", ["", "nonsense\n", "[]\n", "{}\n", '{"type":"match","format":2}\n']
)
def test_what_is_no_record_is_refused(text: str, tmp_path: Path) -> None:
    """A file of another kind is refused in words, and verifies as nothing."""
    path = tmp_path / "match.jsonl"
    path.write_text(text)
    with pytest.raises(RecordError, match="is no record"):
        read_record(path)
    assert not verify_record(path).ok


def test_the_rules_of_a_record_are_all_options(lines: list[str]) -> None:
    """A record can be checked without knowing what a name meant when it was written."""
    assert Rules.from_dict(json.loads(lines[0])["rules"]) == RULES
    assert set(json.loads(lines[0])["rules"]) == set(RULES.to_dict())


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_what_is_no_plain_file_is_refused(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A file without an end is not read for one."""
    for check in (read_record, verify_record):
        with pytest.raises(RecordError, match="plain file"):
            check(Path(path))
    assert main(["verify", path]) == 1
    assert "expected a plain file" in capsys.readouterr().err


def test_line_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is read that is longer than any of a record."""
    monkeypatch.setattr("referee.record.MOST_BYTES", 100)
    path = tmp_path / "long.jsonl"
    path.write_bytes(b"{}\n" + b"\0" * 101)

    with pytest.raises(RecordError, match="line 2 has more than 100 bytes"):
        verify_record(path)
