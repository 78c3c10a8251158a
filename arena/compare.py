"""Which of two bots is stronger: mirrored decks in batches, until a sequential test decides.

Bots are found once and play every batch afresh; nothing is stored and no rating moves.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, cast

from arena import play as playing
from arena.errors import RefusedError
from arena.runner import deal_table
from arena.statistics.intervals import CONFIDENCE, interval, student_quantile
from arena.statistics.sprt import ELO_PER_DEVIATION, Verdict
from arena.statistics.stats import estimate, pair_label
from referee.rules import Outcome, Reason, highest_weight
from referee.scoring import score_deal_series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from arena.home import Home
    from arena.play import PlayOptions, PlayReport
    from arena.statistics.sprt import Sprt
    from arena.statistics.stats import Estimate
    from referee.players import Message
    from referee.rules import Rules

_SIDES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """What to compare, and for how long.

    Attributes:
        play: Who plays what; its decks are those of a batch, and it keeps no record.
        sprt: The test.
        max_decks: Where to stop undecided; the last batch is as short as that needs.
        records: Folder for the record of each batch; None keeps none.
    """

    play: PlayOptions
    sprt: Sprt
    max_decks: int
    records: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What two sides scored against each other so far.

    Attributes:
        sides: What the two are called; everything is told from the first one's view.
        decks: Its score as [deck][rotation].
        sprt: The test.
        highest: The highest score of a deal that the rules allow.
        faults: How many faults each side committed.
        legs_lost: How many legs a fault lost with all deals that were left in them: decks of such
            a leg are not independent of each other.
        milliseconds: How long it took to play.
        conditions: What a reader of the times must know, else empty.
    """

    sides: tuple[str, str]
    decks: tuple[tuple[Fraction, ...], ...]
    sprt: Sprt
    highest: Fraction
    faults: tuple[int, int] = (0, 0)
    legs_lost: int = 0
    milliseconds: int = 0
    conditions: str = ""

    @property
    def rotations(self) -> int:
        """How many deals a deck is."""
        return len(self.decks[0])

    @property
    def deals(self) -> int:
        """How many deals were played."""
        return len(self.decks) * self.rotations

    @cached_property
    def scores(self) -> tuple[Fraction, ...]:
        """The mean score of each deck over its rotations: the unit of everything here."""
        return tuple(sum(deck, Fraction()) / len(deck) for deck in self.decks)

    @cached_property
    def per_deal(self) -> Estimate:
        """The score per deal with its interval and the likelihood of superiority."""
        return cast("Estimate", estimate([list(map(list, self.decks))]))

    @cached_property
    def ratio(self) -> float:
        """The log-likelihood ratio of the test."""
        return self.sprt.ratio(self.scores, self.rotations, self.highest)

    @property
    def verdict(self) -> Verdict:
        """What the test says."""
        return self.sprt.verdict(self.ratio)

    @property
    def decided(self) -> float:
        """The part of the way to the nearer bound, below 0 if that is H0's; 1 once it decides."""
        return self.ratio / (self.sprt.upper if self.ratio > 0 else -self.sprt.lower)

    @cached_property
    def points(self) -> tuple[int, ...]:
        """How many decks brought 0, a half, 1 and so on up to a point for each rotation.

        A deal that was won brings a point and a drawn one half, however high its score. With two
        rotations these are the five counts that engine testers call pentanomial.
        """
        counts = Counter(sum(_half_points(score) for score in deck) for deck in self.decks)
        return tuple(counts[halves] for halves in range(2 * self.rotations + 1))

    @property
    def outcomes(self) -> tuple[int, int, int]:
        """How many deals were won, drawn and lost."""
        counts = Counter(_half_points(score) for deck in self.decks for score in deck)
        return counts[2], counts[1], counts[0]

    @property
    def deck_outcomes(self) -> tuple[int, int, int]:
        """How many decks were won, drawn and lost, by their scores."""
        counts = Counter(_half_points(score) for score in self.scores)
        return counts[2], counts[1], counts[0]

    @property
    def level_decks(self) -> tuple[int, int]:
        """How many decks brought half the points with deals won and lost, and how many without."""
        level = [
            any(deck)
            for deck in self.decks
            if sum(_half_points(score) for score in deck) == len(deck)
        ]
        return level.count(True), level.count(False)

    @property
    def elo(self) -> tuple[float, float | None]:
        """Elo by the deals won and half of those drawn, and half its 95% interval over decks."""
        mean, half_width = interval(
            [sum(map(_half_points, deck)) / (2 * len(deck)) for deck in self.decks]
        )
        if half_width is None or not 0 < mean - half_width <= mean + half_width < 1:
            return _elo(mean), None
        return _elo(mean), (_elo(mean + half_width) - _elo(mean - half_width)) / 2

    @property
    def normalised_elo(self) -> tuple[float | None, float | None]:
        """Normalised Elo by the score per deck, and half its 95% interval; None without spread."""
        if len(set(self.scores)) == 1:
            return None, None
        deviations, error = _deviations([float(score) for score in self.scores])
        unit = ELO_PER_DEVIATION / math.sqrt(self.rotations)
        quantile = student_quantile((1 + CONFIDENCE) / 2, len(self.scores) - 1)
        return unit * deviations, unit * quantile * error


def compare(
    home: Home,
    options: CompareOptions,
    backend: str,
    watch: Callable[[Message], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[Comparison]:
    """Yield how things stand after each batch, until the test decides or the limit is reached.

    Args:
        home: Where submitted bots are.
        options: What to compare.
        backend: Where bots run, as `arena.play.choose_backend` gave it.
        watch: Shown every message before a seat is sent it.
        say: Told in a line what takes its time.

    Raises:
        NotFoundError: A bot is not there.
        RefusedError: The options do not go together, or a record is in the way.
        SpecError: The variant cannot be played like this.
        PlatformError: The platform failed, not a bot.
    """
    contestants = playing.gather(home, options.play, backend, say)
    standing: Comparison | None = None
    batch = 0
    while standing is None or _goes_on(standing, options.max_decks):
        left = options.max_decks - (0 if standing is None else len(standing.decks))
        match = replace(
            options.play,
            decks=min(options.play.decks, left),
            match=batch,
            record=None if options.records is None else options.records / f"{batch:05}.jsonl",
        )
        report = playing.play_match(match, contestants, backend, watch)
        standing = _after(standing, report, options)
        batch += 1
        yield standing


def check_two_sides(seats: int, sides: tuple[int, ...]) -> None:
    """Refuse matches in which more than two play against each other.

    Raises:
        RefusedError: There are more than two sides.
    """
    if len(set(sides)) != _SIDES and seats != _SIDES:
        raise RefusedError(
            f"{seats} bots against each other cannot be compared",
            "compare two bots, or two pairs in a variant of pairs",
        )


def _goes_on(standing: Comparison, max_decks: int) -> bool:
    return standing.verdict is Verdict.CONTINUE and len(standing.decks) < max_decks


def _after(before: Comparison | None, report: PlayReport, options: CompareOptions) -> Comparison:
    sides = report.sides or tuple(range(len(report.labels)))
    signs = [1 if side == sides[0] else -1 for side in sides]
    result = report.match.result
    decks = tuple(tuple(_lead(scores, signs) for scores in deck) for deck in deal_table(result))
    faults = Counter(sides[offence.entrant] == sides[0] for offence in result.faults)
    names = [
        pair_label(label for label, sign in zip(report.labels, signs, strict=True) if sign == each)
        for each in (1, -1)
    ]
    return Comparison(
        sides=(names[0], names[1]),
        decks=decks if before is None else before.decks + decks,
        sprt=options.sprt,
        highest=highest_score(options.play.rules, signs) if before is None else before.highest,
        faults=(
            faults[True] + (before.faults[0] if before else 0),
            faults[False] + (before.faults[1] if before else 0),
        ),
        legs_lost=len({offence.leg for offence in result.faults if offence.deal is None})
        + (before.legs_lost if before else 0),
        milliseconds=report.match.milliseconds + (before.milliseconds if before else 0),
        conditions=result.conditions,
    )


def _lead(scores: tuple[Fraction, ...], signs: Sequence[int]) -> Fraction:
    """Return the first side's score per bot: half of its lead, since deals are zero-sum."""
    lead = sum((score * sign for score, sign in zip(scores, signs, strict=True)), Fraction())
    return lead / len(scores)


def highest_score(rules: Rules, signs: Sequence[int]) -> Fraction:
    """Return the highest score per bot of a deal: that of a deal which the others lose by a fault.

    Args:
        rules: Of the deal.
        signs: By seat, 1 for the first side and -1 for the other.
    """
    weight = highest_weight(rules)
    lost = Outcome(
        reason=Reason.FAULT,
        winners=tuple(seat for seat, sign in enumerate(signs) if sign > 0),
        losers=tuple((seat, weight) for seat, sign in enumerate(signs) if sign < 0),
        points=(0,) * len(signs),
        tricks=(0,) * len(signs),
        last_taker=None,
        leader=0,
    )
    return _lead(score_deal_series(rules, len(signs), lost), signs)


def _deviations(units: Sequence[float]) -> tuple[float, float]:
    """Return how many standard deviations the mean is above 0, and its standard error.

    The error is that of the delta method: the deviation is estimated too, which counts the more
    the further the mean is from 0, and less or more as the units are skewed.
    """
    mean = math.fsum(units) / len(units)
    second, third, fourth = (
        math.fsum((unit - mean) ** power for unit in units) / len(units) for power in (2, 3, 4)
    )
    found = mean / math.sqrt(second)
    skewness, kurtosis = third / second**1.5, fourth / second**2
    variance = 1 - skewness * found + (kurtosis - 1) / 4 * found**2
    return found, math.sqrt(max(0.0, variance) / len(units))


def _half_points(score: Fraction) -> int:
    return 1 + (score > 0) - (score < 0)


def _elo(share: float) -> float:
    if 0 < share < 1:
        # Without the sum a level score would be -0.
        return -400 * math.log10(1 / share - 1) + 0.0
    return math.copysign(math.inf, share - 1 / 2)
