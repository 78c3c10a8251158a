"""Comparing two bots: batches until the test decides, and the lines that tell of it."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import click
import pytest
from patient import ARENA, GENEROUS
from test_sprt import EVEN, SKEWED, tilted

from arena import compare as comparing
from arena.cli import main
from arena.cli.compare import SprtWords, compare, is_one_place, lines
from arena.compare import CompareOptions, Comparison, check_two_sides, highest_score
from arena.errors import RefusedError
from arena.home import Home
from arena.play import PlayOptions
from arena.statistics.sprt import Sprt, Verdict
from referee.record import read_record
from referee.results import TimeControl
from referee.variants import VARIANTS
from referee.verification import verify_record

ROOT = Path(__file__).parent.parent
RANDOM = str(ROOT / "sample_bots" / "random")
GREEDY = str(ROOT / "sample_bots" / "greedy")
SEED = bytes(range(32))
CAP = 60.0


def standing(
    counts: Sequence[int], sprt: Sprt | None = None, *, decks: Sequence[tuple[float, float]] = ()
) -> Comparison:
    """Return how two sides stand after decks with 0 to 2 points, as engine testers count."""
    legs = [(-1, -1), (-1, 0), (1, -1), (1, 0), (1, 1)]
    played = [deck for deck, times in zip(legs, counts, strict=True) for _ in range(times)]
    return Comparison(
        sides=("new", "old"),
        decks=tuple(tuple(map(Fraction, deck)) for deck in [*played, *decks]),
        sprt=sprt or Sprt(elo0=0, elo1=10),
        highest=Fraction(1),
    )


def options(**changes: Any) -> CompareOptions:
    """Return a comparison in batches of 10 decks."""
    play = PlayOptions(
        bots=("new", "old"),
        seed=SEED,
        time=TimeControl(),
        rules=VARIANTS["bura"],
        variant="bura",
        decks=10,
    )
    values = {"play": play, "sprt": Sprt(elo0=0, elo1=50), "max_decks": 25}
    return CompareOptions(**{**values, **changes})


FAULTS = [(1, None), (0, None), (1, 3)]
"""Who commits one in each match that is not played, and in which deal: both lose the same leg."""


class Played:
    """Stands in for playing: every deck of every match has the same scores."""

    def __init__(self, *legs: int) -> None:
        self.legs = legs
        self.matches: list[PlayOptions] = []

    def gather(self, *_: object) -> tuple[str, ...]:
        """Find whoever is asked for."""
        return ("new", "old")

    def play_match(self, match: PlayOptions, *_: object) -> SimpleNamespace:
        """Return a report of a match in which the first bot scored these legs."""
        self.matches.append(match)
        deals = [
            SimpleNamespace(deck=deck, leg=leg, scores=(Fraction(score), Fraction(-score)))
            for leg, score in enumerate(self.legs)
            for deck in range(match.decks)
        ]
        spec = SimpleNamespace(match_format="series", legs=len(self.legs), decks=match.decks)
        faults = [SimpleNamespace(entrant=one, leg=0, deal=deal) for one, deal in FAULTS]
        result = SimpleNamespace(spec=spec, deals=deals, faults=faults, conditions="")
        return SimpleNamespace(
            labels=("new", "old"),
            sides=(),
            match=SimpleNamespace(result=result, milliseconds=1000),
        )


@pytest.fixture(name="replaced")
def _replaced(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Played:
    played = Played(*request.param)
    monkeypatch.setattr(comparing.playing, "gather", played.gather)
    monkeypatch.setattr(comparing.playing, "play_match", played.play_match)
    return played


@pytest.mark.parametrize("replaced", [(1, 1)], indirect=True)
@pytest.mark.usefixtures("replaced")
def test_it_stops_when_the_test_decides(tmp_path: Path) -> None:
    """A bot that wins every deal is found better after as few batches as the test needs."""
    stood = list(comparing.compare(Home(tmp_path), options(max_decks=1000), "process"))

    assert [each.verdict for each in stood[:-1]] == [Verdict.CONTINUE] * (len(stood) - 1)
    assert stood[-1].verdict is Verdict.H1
    assert len(stood[-1].decks) == 10 * len(stood) < 100
    assert (stood[-1].faults, stood[-1].milliseconds) == (
        (len(stood), 2 * len(stood)),
        1000 * len(stood),
    )
    assert stood[-1].legs_lost == len(stood)


@pytest.mark.parametrize("replaced", [(1, -1)], indirect=True)
def test_it_stops_at_the_limit(replaced: Played, tmp_path: Path) -> None:
    """Undecided, it plays exactly the decks allowed, each batch a match of its own number."""
    *_, last = comparing.compare(Home(tmp_path), options(), "process")

    assert (len(last.decks), last.verdict) == (25, Verdict.CONTINUE)
    assert [(match.match, match.decks, match.seed) for match in replaced.matches] == [
        (0, 10, SEED),
        (1, 10, SEED),
        (2, 5, SEED),
    ]


@pytest.mark.parametrize(
    ("counts", "elo", "normalised", "superiority"),
    [
        # Lines of fastchess for matches of two engines.
        ((1, 11, 47, 25, 16), (77.71, 33.03), (117.50, 48.15), 1.0),
        ((1, 15, 25, 33, 26), (123.02, 40.58), (159.46, 48.15), 1.0),
        ((1, 24, 42, 25, 8), (26.11, 31.23), (40.51, 48.15), 0.9504),
    ],
)
def test_numbers_are_those_of_fastchess(
    counts: tuple[int, ...],
    elo: tuple[float, float],
    normalised: tuple[float, float],
    superiority: float,
) -> None:
    """On the same counts Elo and nElo are the published ones; intervals allow for what varies."""
    found = standing(counts)

    assert found.points == counts
    assert found.elo[0] == pytest.approx(elo[0], abs=0.006)
    assert found.elo[1] == pytest.approx(elo[1], rel=0.03)
    assert found.normalised_elo[0] == pytest.approx(normalised[0], abs=0.006)
    # The published margin is that of bots that are level.
    assert found.normalised_elo[1] == pytest.approx(normalised[1], rel=0.2)
    assert found.per_deal.superiority == pytest.approx(superiority, abs=0.003)


def test_lines_are_those_engine_testers_know() -> None:
    """The status is told in the words and the order of fastchess."""
    said = lines(standing((1, 11, 47, 25, 16)), "bura")

    assert [line.partition(":")[0] for line in said[1:]] == [
        "Elo",
        "LOS",
        "Games",
        "Ptnml(0-2)",
        "LLR",
        "PerDeal",
    ]
    assert said[0].startswith("Results of new vs old (bura, 100 decks in ")
    assert said[1].startswith("Elo: 77.71 +/- 33.")
    assert "nElo: 117.50 +/- 4" in said[1]
    assert said[2].endswith("DrawRatio: 47.00 %, PairsRatio: 3.42")
    assert said[3] == "Games: 200, Wins: 104, Losses: 60, Draws: 36, Points: 122.0 (61.00 %)"
    assert said[4] == "Ptnml(0-2): [1, 11, 47, 25, 16], WL/DD Ratio: inf"
    assert said[5] == "LLR: 1.71 (57.9%) (-2.94, 2.94) [0.00, 10.00]"


def test_level_decks_are_told_apart() -> None:
    """Of decks with half the points some have deals won and lost, and others none."""
    found = standing((0, 0, 3, 0, 0), decks=[(0, 0), (0, 0), (2, -1), (1, 0)])

    assert found.level_decks == (4, 2)
    assert lines(found, "bura")[4] == "Ptnml(0-2): [0, 0, 6, 1, 0], WL/DD Ratio: 2.00"


def test_scores_count_not_only_wins() -> None:
    """A bot that wins as often but loses doubles is behind by score, though level by deals."""
    found = standing((0, 0, 0, 0, 0), decks=[(1, -2), (-2, 1), (1, -3), (1, -2)])

    assert found.elo[0] == 0
    assert found.per_deal.mean < 0
    assert found.ratio < 0
    assert re.match(r"LLR: -\d+\.\d+ \(-\d+\.\d%\)", lines(found, "bura")[5])
    assert found.deck_outcomes == (0, 0, 4)


def test_without_spread_there_is_no_normalised_elo() -> None:
    """Decks that all score alike leave Elo without bounds, and the lines can still be told."""
    found = standing((0, 0, 0, 0, 9))

    assert found.elo[1] is None
    assert found.normalised_elo == (None, None)
    assert found.per_deal.superiority is None
    assert lines(found, "bura")[1] == "Elo: inf +/- -, nElo: - +/- -"


@pytest.mark.parametrize(("weights", "least"), [(EVEN, 0.925), (SKEWED, 0.90)])
@pytest.mark.parametrize("elo", [0, 450])
def test_interval_of_normalised_elo_holds_far_from_zero(
    weights: dict[float, float], least: float, elo: float
) -> None:
    """The true value lies in about 95% of the intervals, whether bots are level or far apart."""
    random = Random(11)
    chances = tilted(weights, elo)
    held = 0
    for _ in range(600):
        scores = random.choices(list(chances), list(chances.values()), k=100)
        drawn = [(score, score) for score in scores]
        found, margin = standing((0,) * 5, decks=drawn).normalised_elo
        assert found is not None
        assert margin is not None
        held += abs(found - elo) <= margin

    assert least <= held / 600 <= 0.975


@pytest.mark.parametrize(
    "words",
    [
        ["--sprt", "elo0=-5 elo1=10 alpha=0.1 beta=0.2"],
        ["--sprt", "elo0=-5", "elo1=10", "alpha=0.1", "beta=0.2"],
        ["--sprt=elo0=-5", "elo1=10", "beta=0.2", "alpha=0.1"],
        ["--sprt", "elo1=10", "beta=0.2", "alpha=0.1", "elo0=-5", "--json"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("first", [True, False])
def test_words_of_the_test_need_no_quotes(words: list[str], *, first: bool) -> None:
    """The four words are taken quoted or not, before the bots or after them, in any order."""
    line = [*words, "new", "old"] if first else ["new", "old", *words]

    context = compare.make_context("compare", line)

    assert context.params["sprt"] == Sprt(elo0=-5, elo1=10, alpha=0.1, beta=0.2)
    assert (context.params["one"], context.params["other"]) == ("new", "old")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("elo2=5", "'elo2=5' is not one of elo0= elo1= alpha= beta="),
        ("elo0=5 elo0=6", "each once"),
        ("elo1=much", "expected a number"),
        ("bounds", "is not one of"),
        ("elo0=0_1", "expected a number"),
        ("elo0=\N{ARABIC-INDIC DIGIT THREE}", "expected a number"),
        ("elo0=nan", "expected a number"),
        ("elo0=5 elo1=0", "elo0=5 elo1=0: expected elo0 below elo1"),
        ("elo0=0 elo1=0.1", "would hardly ever end: expected elo1 at least 0.5 above"),
        ("elo0=1e400", "both from -100 to 100"),
        ("alpha=0.5", "alpha=0.5: expected 0.000001 or more, and below 0.5"),
        ("beta=5e-324", "expected 0.000001 or more"),
    ],
)
def test_other_words_are_usage_errors(words: str, reason: str) -> None:
    """A word that is none of the four, or no number, is refused with what was expected."""
    with pytest.raises(click.UsageError, match=reason):
        SprtWords().convert(words, None, None)


def test_a_mistyped_word_without_quotes_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """What stands among the words of the test is taken for one of them, not for a bot."""
    assert main(["compare", "new", "old", "--sprt", "elo0=0", "elo2=10"]) == 2
    assert "'elo2=10' is not one of elo0= elo1= alpha= beta=" in capsys.readouterr().err


def test_level_bots_are_told_without_signs_of_their_own() -> None:
    """Decks that all end level give Elo 0, not -0, and no ratio of decks won to lost."""
    found = standing((0, 0, 9, 0, 0))

    said = lines(found, "bura")
    assert said[1].startswith("Elo: 0.00 +/-")
    assert said[2] == "LOS: -, DrawRatio: 100.00 %, PairsRatio: -"
    assert lines(standing((0, 0, 0, 0, 9)), "bura")[2].endswith("PairsRatio: inf")


@pytest.mark.parametrize(
    ("variant", "highest"),
    [
        ("bura-basic", 1),
        ("bura", 2),
        ("bura-dave", 12),
        ("burkozyol-by", 6),
        ("burkozyol-eyes", 8),
        ("burkozyol-pairs", 2),
    ],
)
def test_highest_score_is_that_of_a_fault(variant: str, highest: int) -> None:
    """A fault costs the highest weight of the rules in the unit that the deal is scored in."""
    rules = VARIANTS[variant]
    signs = [1, -1, 1, -1] if rules.sides == "pairs" else [1, -1]

    assert highest_score(rules, signs) == highest


@pytest.mark.parametrize("replaced", [(1, 1)], indirect=True)
@pytest.mark.usefixtures("replaced")
def test_what_the_rules_allow_can_still_come(tmp_path: Path) -> None:
    """The higher a deal may score, the longer it takes until simple wins decide."""
    decks = {}
    for variant in ("bura-basic", "bura-dave"):
        play = replace(options().play, rules=VARIANTS[variant])
        *_, last = comparing.compare(Home(tmp_path), options(play=play, max_decks=1000), "process")
        assert last.verdict is Verdict.H1
        decks[variant] = len(last.decks)

    assert decks["bura-basic"] < decks["bura-dave"]


def test_more_than_two_sides_are_refused() -> None:
    """Three against each other are no comparison; two pairs are."""
    check_two_sides(2, ())
    check_two_sides(4, (0, 1, 0, 1))
    with pytest.raises(RefusedError, match="compare two bots, or two pairs"):
        check_two_sides(3, ())


def test_bots_are_compared_through_real_matches(
    short_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the command line to records that hold under the seed, one for each batch."""
    records = short_folder / "records"
    words = ["--sandbox", "process", "--batch", "2", "--max-decks", "3", "--seed", SEED.hex()]
    home = ["--home", str(short_folder / "home")]
    line = ["compare", GREEDY, RANDOM, *words, "--records", str(records), *home]

    assert main([*line, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)

    assert (said["names"], said["decks"], said["deals"]) == (["greedy", "random"], 3, 6)
    assert said["verdict"] == "continue"
    assert set(compare.fields) >= {  # type: ignore[attr-defined]
        name if not isinstance(value, list) else f"{name}[]"
        for name, value in said.items()
        if name != "sprt"
    }
    kept = sorted(records.iterdir())
    assert [read_record(path).match for path in kept] == [0, 1]
    assert all(verify_record(path, SEED).ok for path in kept)
    totals = sum(read_record(path).totals[0] for path in kept)
    assert said["per_deal"] == pytest.approx(float(totals) / 6)
    assert main(line) == 2
    assert "exists" in capsys.readouterr().err


def test_lost_legs_are_told(short_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever reads a verdict is told that a leg was lost with the decks that were left in it."""
    broken = short_folder / "broken"
    broken.mkdir()
    (broken / "bot.py").write_text("raise SystemExit(1)\n")
    line = ["compare", GREEDY, str(broken), "--sandbox", "process", "--max-decks", "2"]

    assert main([*line, *GENEROUS, "--home", str(short_folder / "home")]) == 0

    assert "2 legs lost with all deals left in it" in " ".join(capsys.readouterr().err.split())


def test_pairs_are_compared_as_sides(
    short_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two pairs play four rotations of a deck, and are told of under both names."""
    line = ["compare", f"{GREEDY}+{GREEDY}", f"{RANDOM}+{RANDOM}", "--variant", "burkozyol-pairs"]
    words = ["--sandbox", "process", "--batch", "2", "--max-decks", "2", "--seed", "1", "--json"]

    assert main([*line, *words, "--home", str(short_folder / "home")]) == 0
    said = json.loads(capsys.readouterr().out)

    assert said["names"] == ["greedy#1+greedy#2", "random#1+random#2"]
    assert (said["decks"], said["deals"], len(said["points"])) == (2, 8, 9)


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_interruption_ends_with_the_result_so_far(short_folder: Path, form: list[str]) -> None:
    """Ctrl-C in the middle ends with its exit code and with what the batches came to."""
    line = ["compare", GREEDY, RANDOM, "--sandbox", "process", "--batch", "2", *form]
    hypotheses = ["--sprt", "elo0=-1", "elo1=0", "--home", str(short_folder / "home")]
    with subprocess.Popen(
        [*ARENA, *line, *hypotheses, *GENEROUS],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=short_folder,
        text=True,
    ) as process:
        assert process.stderr is not None
        for said in process.stderr:
            if said.startswith("LLR"):
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=CAP)

    assert process.returncode == 130
    assert err.endswith("interrupted; the batch that was being played does not count\n")
    if form:
        found = json.loads(out)
        assert (found["interrupted"], found["verdict"]) == (True, "continue")
        assert found["decks"] == found["decks_won"] + found["decks_drawn"] + found["decks_lost"]
    else:
        assert out.splitlines()[1].startswith("Results of greedy vs random (bura, ")
        assert out.splitlines()[-1].startswith("seed ")


@pytest.mark.parametrize("one_place", [True, False])
def test_what_was_told_already_is_not_told_again(
    short_folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    one_place: bool,
) -> None:
    """Where both streams go to one place, Ctrl-C adds the seed to the last batch, not its lines."""

    def interrupted(*_: object) -> Iterator[Comparison]:
        yield standing((1, 11, 47, 25, 16))
        raise KeyboardInterrupt

    monkeypatch.setattr(comparing, "compare", interrupted)
    monkeypatch.setattr("arena.cli.compare.is_one_place", lambda *_: one_place)
    line = ["compare", GREEDY, RANDOM, "--sandbox", "process", "--seed", "1"]

    assert main([*line, "--home", str(short_folder / "home")]) == 130

    out, err = capsys.readouterr()
    assert err.count("Results of new vs old") == 1
    assert out.count("Results of new vs old") == (0 if one_place else 1)
    assert out.splitlines()[-1].startswith("seed ")


def test_streams_are_told_apart(short_folder: Path) -> None:
    """Two streams are in one place only if they are one file, which a captured one is not."""
    with (short_folder / "one").open("w") as one, (short_folder / "other").open("w") as other:
        with os.fdopen(os.dup(one.fileno()), "w") as same:
            assert is_one_place(one, same)
        assert not is_one_place(one, other)
        assert not is_one_place(one, io.StringIO())


LOSING = """
import signal, sys
from arena.cli.play import DealCounter
from arena.start import main
from referee.players import Inbox

Inbox.LONGEST_STALL_NS *= 30
watch = DealCounter.watch

def lose(self, message, lost=[]):
    if lost:
        watch(self, message)
        return
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        lost.append(True)
        print("lost", file=sys.stderr)

DealCounter.watch = lose
sys.exit(main())
"""


def test_an_interruption_is_not_lost(short_folder: Path) -> None:
    """Ctrl-C ends it even where Python dropped what the signal raised."""
    line = ["compare", GREEDY, RANDOM, "--sandbox", "process", "--sprt", "elo0=-1", "elo1=0"]
    found = subprocess.run(
        [sys.executable, "-c", LOSING, *line, *GENEROUS, "--home", str(short_folder / "home")],
        cwd=short_folder,
        text=True,
        capture_output=True,
        timeout=CAP,
        check=False,
    )
    assert found.returncode == 130
    assert "lost\n" in found.stderr
    assert found.stderr.endswith("interrupted\n")
