from collections.abc import Sequence
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.cards import full_deck
from referee.rules import Outcome, Reason, Rules, RulesError, deal
from referee.scoring import DealSetup, MatchFinal, MatchScore, ScoringError, score_deal_series
from referee.shuffle import SeededSource
from referee.tallies import Bank

HALF = Fraction(1, 2)


def rules_of(match_format: str, **options: object) -> Rules:
    """Return rules with a match format, other options as given."""
    plain: dict[str, object] = {"match_format": match_format, "max_deals": 200}
    if match_format in {"burkozyol_penalty", "burkozyol_double", "eyes"}:
        plain |= {"goal": "points", "hand_size": 4, "players": (2, 3, 4)}
    if match_format == "eyes":
        plain |= {"sides": "pairs", "deck": 32, "players": (4,), "draw_carry": "geometric"}
    return Rules.from_dict(plain | options)


def won(
    seats: int,
    *winners: int,
    weights: Sequence[int] | None = None,
    reason: Reason = Reason.CLAIM,
    last_taker: int | None = None,
    leader: int = 0,
) -> Outcome:
    """Return a deal that seats won from all others, at weight 1 unless given for each seat."""
    if weights is None:
        weights = [int(seat not in winners) for seat in range(seats)]
    return Outcome(
        reason=reason,
        winners=winners,
        losers=tuple((seat, weight) for seat, weight in enumerate(weights) if weight),
        points=(10,) * seats,
        tricks=(1,) * seats,
        last_taker=last_taker,
        leader=leader,
    )


def lost(seats: int, loser: int, weight: int = 2, reason: Reason = Reason.FALSE_CLAIM) -> Outcome:
    """Return a deal that one seat lost to all others, by a false claim unless said."""
    winners = [seat for seat in range(seats) if seat != loser]
    weights = [weight * (seat == loser) for seat in range(seats)]
    return won(seats, *winners, weights=weights, reason=reason)


def open_end(
    reason: Reason,
    points: Sequence[int],
    losers: Sequence[tuple[int, int]] = (),
    leader: int = 0,
    last_taker: int | None = 0,
) -> Outcome:
    """Return a void or drawn deal; the losers are those who declined a raise."""
    gone = {seat for seat, _ in losers}
    stayed = tuple(seat for seat in range(len(points)) if seat not in gone)
    return Outcome(
        reason=reason,
        winners=stayed if losers else (),
        losers=tuple(losers),
        points=tuple(points),
        tricks=(1,) * len(points),
        last_taker=last_taker,
        leader=leader,
    )


def counted(
    points: Sequence[int],
    weights: Sequence[int],
    tricks: Sequence[int] | None = None,
    winners: tuple[int, ...] | None = None,
) -> Outcome:
    """Return a deal decided by points, with the weights that the rules of the deal gave."""
    return Outcome(
        reason=Reason.MOST_POINTS,
        winners=winners or tuple(seat for seat, weight in enumerate(weights) if not weight),
        losers=tuple((seat, weight) for seat, weight in enumerate(weights) if weight),
        points=tuple(points),
        tricks=tuple(tricks or (1,) * len(points)),
        last_taker=0,
        leader=0,
    )


def level(*points: int) -> Outcome:
    """Return a svara."""
    return open_end(Reason.DRAW, points)


def after(rules: Rules, seats: int, *outcomes: Outcome, dealer: int = 0) -> MatchScore:
    """Return the score of a match after these deals."""
    score = MatchScore.start(rules, seats, dealer=dealer)
    for outcome in outcomes:
        score = score.add(outcome)
    return score


def series(rules: Rules, seats: int, outcome: Outcome) -> list[Fraction]:
    """Return the scores of a deal of a series, as a list to be compared with numbers."""
    return list(score_deal_series(rules, seats, outcome))


def bank_of(score: MatchScore) -> int:
    """Return the chips that the next deal of a match is played for."""
    setup = score.next_deal()
    assert setup is not None
    return setup.bank


class TestSeries:
    """Each deal scores by itself and the scores are together 0."""

    def test_loser_pays_the_winner_its_weight(self) -> None:
        """Of two, the winner gains what the loser pays, doubled for a double loss."""
        rules = rules_of("series")

        assert series(rules, 2, won(2, 0)) == [1, -1]
        assert series(rules, 2, won(2, 1, weights=(2, 0))) == [-2, 2]

    def test_each_loser_pays_the_winner(self) -> None:
        """Of three, both losers pay the winner."""
        assert series(rules_of("series"), 3, won(3, 1)) == [-1, 2, -1]

    def test_false_claimant_pays_all_others_in_equal_shares(self) -> None:
        """A false claim of weight 2 among four is paid in thirds, exactly."""
        scores = series(rules_of("series"), 4, lost(4, 2))

        assert scores == [Fraction(2, 3), Fraction(2, 3), -2, Fraction(2, 3)]

    def test_fault_is_paid_like_a_false_claim(self) -> None:
        """A seat at fault pays its weight to all others in equal shares."""
        assert series(rules_of("series"), 3, lost(3, 0, reason=Reason.FAULT)) == [
            -2,
            1,
            1,
        ]

    def test_pairs_pay_pairs(self) -> None:
        """Each of the losing pair pays its weight, each of the winning pair gains as much."""
        rules = rules_of("series", sides="pairs", players=(4,))

        assert series(rules, 4, won(4, 1, 3)) == [-1, 1, -1, 1]

    @pytest.mark.parametrize("reason", [Reason.VOID, Reason.DRAW])
    def test_void_and_drawn_deals_score_nothing(self, reason: Reason) -> None:
        """A series neither plays a void deal again nor carries a draw over."""
        outcome = open_end(reason, (40, 40, 40))

        assert series(rules_of("series"), 3, outcome) == [0, 0, 0]

    def test_who_declined_pays_even_if_the_deal_is_void(self) -> None:
        """A declined stake of 2 goes in equal shares to those who stayed in."""
        outcome = open_end(Reason.VOID, (0, 20, 20), losers=[(0, 2)])

        assert series(rules_of("series", raise_="dave"), 3, outcome) == [-2, 1, 1]

    def test_equal_winners_of_a_bank_share(self) -> None:
        """Of three who play Kozel two are level at the top: they halve what the third pays."""
        rules = rules_of("bank", goal="points", hand_size=4, top_tie="split")

        assert series(rules, 3, counted((45, 45, 30), (0, 0, 1))) == [HALF, HALF, -1]

    def test_all_level_winners_of_a_bank_gain_nothing(self) -> None:
        """Where all split the bank, nobody pays."""
        rules = rules_of("bank", goal="points", hand_size=4, top_tie="split")

        assert series(rules, 3, counted((40, 40, 40), (0, 0, 0))) == [0, 0, 0]

    def test_double_bank_counts_as_a_double_loss(self) -> None:
        """There is no bank in a series: the false claimant loses double."""
        rules = rules_of("bank", false_claim="double_bank")

        assert series(rules, 2, lost(2, 0)) == [-2, 2]

    def test_charges_are_the_others_mean_less_ones_own(self) -> None:
        """Charges of 0, 2 and 4 score 3, 0 and -3."""
        outcome = counted((60, 40, 20), (0, 1, 1))

        assert series(rules_of("burkozyol_penalty"), 3, outcome) == [3, 0, -3]

    def test_eyes_are_ones_own_less_the_other_sides(self) -> None:
        """Eyes of 4 and 2 score 2 and -2 for each of a pair."""
        outcome = counted((50, 31, 39, 0), (0, 1, 0, 1))

        assert series(rules_of("eyes"), 4, outcome) == [2, -2, 2, -2]

    def test_all_at_fault_score_nothing(self) -> None:
        """If every seat lost by a fault nobody can be paid."""
        outcome = won(2, weights=(2, 2), reason=Reason.FAULT)

        assert series(rules_of("series"), 2, outcome) == [0, 0]

    def test_outcome_of_other_seats_is_refused(self) -> None:
        """A deal of three seats has no score for two."""
        with pytest.raises(ScoringError, match="outcome of 3 seats: expected one of 2"):
            series(rules_of("series"), 2, won(3, 0))


class TestRobber:
    """First to so many deals, with the margin."""

    def test_ruling_25_margin_of_two(self) -> None:
        """Ruling 25: robber(11): 11 : 10 is not over; 12 : 10 is."""
        rules = rules_of("robber", robber_target=11)
        score = after(rules, 2, *[won(2, 0), won(2, 1)] * 10, won(2, 0))

        assert score.tally.counts == (11, 10)
        assert not score.is_over
        assert score.add(won(2, 0)).is_over
        assert score.add(won(2, 0)).final().winners == (0,)

    def test_double_counts_two(self) -> None:
        """A deal won from a double loss counts two."""
        assert after(rules_of("robber"), 2, won(2, 1, weights=(2, 0))).tally.counts == (0, 2)

    def test_false_claim_counts_for_each_other(self) -> None:
        """With two seats a false claim counts for the other, with more for each other seat."""
        rules = rules_of("robber")

        assert after(rules, 2, lost(2, 0, weight=1)).tally.counts == (0, 1)
        assert after(rules, 3, lost(3, 1)).tally.counts == (2, 0, 2)

    def test_margin_is_over_each_other_seat(self) -> None:
        """With three seats the second best decides about the margin."""
        rules = rules_of("robber", robber_target=3)
        close = after(rules, 3, won(3, 0), won(3, 1), won(3, 0), won(3, 1), won(3, 0))
        assert close.tally.counts == (3, 2, 0)
        assert not close.is_over
        assert close.add(won(3, 0)).is_over

    def test_pairs_count_together(self) -> None:
        """Partners are no rivals: a pair that leads the other by the margin has won."""
        rules = rules_of("robber", sides="pairs", players=(4,), robber_target=2)
        score = after(rules, 4, won(4, 1, 3), won(4, 1, 3))

        assert score.is_over
        assert score.final().winners == (1, 3)
        assert list(score.final().scores) == [-1, 1, -1, 1]

    def test_burkozyol_double_can_be_played_as_a_robber(self) -> None:
        """A loser below the pass mark makes the deal count two."""
        rules = rules_of("burkozyol_double", double_as="robber")
        score = after(rules, 3, counted((80, 21, 19), (0, 1, 2)))

        assert score.tally.counts == (2, 0, 0)


class TestPenalty:
    """Two penalty points for each weight of a loss."""

    def test_ruling_24_charges_and_elimination(self) -> None:
        """Ruling 24: 2, 2 and 0; a false claimant 4; at 12 out, and two play on."""
        rules = rules_of("penalty", on_limit="eliminate")
        score = after(rules, 3, won(3, 2))
        assert score.tally.counts == (2, 2, 0)

        score = score.add(lost(3, 0))
        assert score.tally.counts == (6, 2, 0)

        score = score.add(lost(3, 0)).add(lost(3, 0, weight=1))
        assert score.tally.counts == (12, 2, 0)
        assert score.playing == (1, 2)
        setup = score.next_deal()
        assert setup is not None
        assert setup.playing == (1, 2)

    def test_the_last_one_in_wins(self) -> None:
        """Seats that left stand behind those still in, the first to leave last."""
        rules = rules_of("penalty", on_limit="eliminate", penalty_limit=4)
        score = after(rules, 3, lost(3, 1), lost(2, 0))

        assert score.is_over
        assert score.next_deal() is None
        assert score.final() == MatchFinal(
            places=(1, 2, 0),
            winners=(2,),
            tallies=(4, 4, 0),
            scores=(Fraction(0), Fraction(-1), Fraction(1)),
        )

    def test_match_is_over_at_the_limit(self) -> None:
        """With match_over the match is lost at 12 or more, and the lowest total wins."""
        rules = rules_of("penalty")
        score = after(rules, 3, *[lost(3, 0)] * 2, won(3, 2))
        assert not score.is_over

        score = score.add(lost(3, 0))
        assert score.is_over
        assert score.tally.counts == (14, 2, 0)
        assert score.final().places == (2, 1, 0)

    def test_level_at_the_lowest_is_a_shared_win(self) -> None:
        """Two who are level at the lowest total share the win."""
        score = after(rules_of("penalty"), 3, *[lost(3, 0)] * 3)

        assert score.final().winners == (1, 2)
        assert list(score.final().scores) == [-1, HALF, HALF]

    def test_if_all_would_go_the_lowest_stays(self) -> None:
        """When all reach the limit together the lowest stays in and has won."""
        rules = rules_of("penalty", on_limit="eliminate", penalty_limit=4)
        both = after(rules, 2, won(2, 0), won(2, 1), won(2, weights=(3, 2)))
        assert both.tally.counts == (8, 6)
        assert both.playing == (1,)
        assert both.final().winners == (1,)

    def test_if_all_would_go_and_are_level_another_deal_is_played(self) -> None:
        """When all reach the limit level, the next deal decides."""
        rules = rules_of("penalty", on_limit="eliminate", penalty_limit=4)
        score = after(rules, 2, won(2, weights=(2, 2)))
        assert not score.is_over

        score = score.add(won(2, 1))
        assert score.playing == (1,)
        assert score.is_over

    def test_draw_doubles_the_next_decided_deal_once(self) -> None:
        """Ruling 18: 60 : 60 twice, then decided: doubled once."""
        rules = rules_of("burkozyol_double")
        score = after(rules, 2, level(60, 60), level(60, 60))
        setup = score.next_deal()
        assert setup is not None
        assert setup.multiplier == 2

        score = score.add(counted((90, 30), (0, 2)))
        assert score.tally.counts == (0, 8)
        assert score.add(counted((89, 31), (0, 1))).tally.counts == (0, 10)

    def test_draw_carries_nothing_where_the_rules_say_so(self) -> None:
        """With draw_carry none the deal after a draw counts single."""
        rules = rules_of("burkozyol_double", draw_carry="none")

        assert after(rules, 2, level(60, 60), counted((89, 31), (0, 1))).tally.counts == (0, 2)

    def test_void_deal_keeps_what_a_draw_carries(self) -> None:
        """A void deal decides nothing: the doubling waits for the next."""
        rules = rules_of("penalty")
        score = after(rules, 2, level(50, 50), open_end(Reason.VOID, (50, 50)), won(2, 0))

        assert score.tally.counts == (0, 4)

    def test_fault_can_cost_the_match(self) -> None:
        """With fault_cost match a seat at fault is out, whatever its total."""
        rules = rules_of("penalty", fault_cost="match")
        score = after(rules, 2, *[lost(2, 0)] * 2, lost(2, 1, reason=Reason.FAULT))

        assert score.tally.counts == (8, 4)
        assert score.is_over
        assert score.final().winners == (0,)


class TestBurkozyolPenalty:
    """0, 2, 4 or 6 by the points of a deal."""

    @pytest.mark.parametrize(
        ("points", "charges"),
        [
            ((70, 50), (0, 2)),
            ((89, 31), (0, 2)),
            ((95, 25), (0, 4)),
            ((120, 0), (0, 6)),
            ((60, 40, 20), (0, 2, 4)),
            ((78, 21, 21), (0, 2, 2)),
            ((59, 31, 30, 0), (0, 2, 2, 6)),
        ],
    )
    def test_ruling_20_scale(self, points: tuple[int, ...], charges: tuple[int, ...]) -> None:
        """Ruling 20: by the pass mark, 31 for two players, else 21, and 6 for no points."""
        outcome = counted(points, [int(n > 0) for n in range(len(points))])
        score = after(rules_of("burkozyol_penalty"), len(points), outcome)

        assert score.tally.counts == charges

    @pytest.mark.parametrize(
        ("six_for", "tricks", "charge"),
        [
            ("zero_points", 3, 6),
            ("zero_points", 0, 6),
            ("no_tricks", 3, 4),
            ("no_tricks", 0, 6),
            ("off", 0, 4),
        ],
    )
    def test_what_costs_six(self, six_for: str, tricks: int, charge: int) -> None:
        """Six is for no points, for no tricks, or never, as the option says."""
        outcome = counted((120, 0), (0, 1), tricks=(9, tricks))
        score = after(rules_of("burkozyol_penalty", six_for=six_for), 2, outcome)

        assert score.tally.counts == (0, charge)

    def test_tied_tops_are_charged_what_the_deal_says(self) -> None:
        """With two_each the tied pay 2 and the third by the scale."""
        rules = rules_of("burkozyol_penalty", top_tie="two_each")
        outcome = counted((50, 50, 20), (1, 1, 1), winners=())

        assert after(rules, 3, outcome).tally.counts == (2, 2, 4)

    def test_mark_rises_when_two_are_left(self) -> None:
        """A player at 12 is out though on_limit is at its default; then 30 points fail."""
        rules = rules_of("burkozyol_penalty")
        score = after(rules, 3, *[counted((60, 60, 0), (0, 0, 1))] * 2)
        assert score.playing == (0, 1)

        assert score.add(counted((90, 30), (0, 1))).tally.counts == (0, 4, 12)
        three = after(rules, 3, counted((90, 30, 0), (0, 1, 1)))
        assert three.tally.counts == (0, 2, 6)


class TestBurkozyolDouble:
    """The weights of the deal as penalty points."""

    @pytest.mark.parametrize(
        ("points", "weights"),
        [((90, 30), (0, 2)), ((80, 21, 19), (0, 1, 2)), ((40, 31, 30, 19), (0, 1, 2, 2))],
    )
    def test_ruling_18_weights(self, points: tuple[int, ...], weights: tuple[int, ...]) -> None:
        """Ruling 18: each loser is charged 2 for each weight."""
        score = after(rules_of("burkozyol_double"), len(points), counted(points, weights))

        assert score.tally.counts == tuple(2 * weight for weight in weights)


class TestEyes:
    """Eyes to 12 between pairs."""

    @pytest.mark.parametrize(
        ("points", "tricks", "each_side", "winner_only"),
        [
            ((89, 31), 3, (4, 2), (2, 0)),
            ((70, 50), 3, (4, 2), (2, 0)),
            ((95, 25), 3, (4, 0), (4, 0)),
            ((120, 0), 1, (6, 0), (6, 0)),
            ((120, 0), 0, (8, 0), (8, 0)),
            ((25, 95), 3, (0, 4), (0, 4)),
        ],
    )
    def test_ruling_22_scale(
        self,
        points: tuple[int, int],
        tricks: int,
        each_side: tuple[int, int],
        winner_only: tuple[int, int],
    ) -> None:
        """Ruling 22: both readings of the eyes; 6 for no points, 8 for no trick."""
        winner = int(points[1] > points[0])
        outcome = counted(
            (points[0], 0, 0, points[1]),
            [int(seat % 2 != winner) for seat in range(4)],
            tricks=(4, tricks, 4, 0),
        )
        for eyes, opened in (("each_side", each_side), ("winner_only", winner_only)):
            score = after(rules_of("eyes", eyes=eyes), 4, outcome)
            assert score.tally.counts == opened * 2

    def test_rulings_18_and_22_svaras_double_and_double_again(self) -> None:
        """60 : 60 opens nothing; the next deal counts double, after two in a row fourfold."""
        deal = counted((70, 50, 0, 0), (0, 1, 0, 1))
        once = after(rules_of("eyes"), 4, level(60, 60, 0, 0), deal)
        twice = after(rules_of("eyes"), 4, *[level(60, 60, 0, 0)] * 2, deal)

        assert once.tally.counts == (8, 4, 8, 4)
        assert twice.tally.counts == (16, 8, 16, 8)

    def test_combination_opens_two_for_each_weight(self) -> None:
        """Points do not matter when a combination wins: 2, or 4 for a double win."""
        single = won(4, 1, 3, reason=Reason.COMBINATION)
        double = won(4, 1, 3, weights=(2, 0, 2, 0), reason=Reason.COMBINATION)

        assert after(rules_of("eyes"), 4, single).tally.counts == (0, 2, 0, 2)
        assert after(rules_of("eyes"), 4, double).tally.counts == (0, 4, 0, 4)

    def test_higher_wins_if_both_reach_the_target(self) -> None:
        """When both sides reach 12 in one deal, the higher wins."""
        deals = [counted((70, 50, 0, 0), (0, 1, 0, 1))] * 2
        score = after(rules_of("eyes"), 4, *deals, *[level(60, 60, 0, 0)] * 2, deals[0])

        assert score.tally.counts == (24, 12, 24, 12)
        assert score.is_over
        assert score.final().winners == (0, 2)

    def test_level_beyond_the_target_goes_to_the_last_deal(self) -> None:
        """When both are level at 12 or more, the points of the last deal decide."""
        first, second = (
            counted((70, 50, 0, 0), (0, 1, 0, 1)),
            counted((50, 70, 0, 0), (1, 0, 1, 0)),
        )
        rules = rules_of("eyes", eyes_target=6)
        score = after(rules, 4, first, second)

        assert score.tally.counts == (6, 6, 6, 6)
        assert score.final().winners == (1, 3)


class TestBank:
    """Chips."""

    def test_winner_takes_the_bank(self) -> None:
        """Three antes are put in and the winner takes them."""
        score = after(rules_of("bank", ante=5), 3, won(3, 1))

        assert bank_of(after(rules_of("bank", ante=5), 3)) == 15
        assert score.tally.counts == (-5, 10, -5)
        assert list(score.final().scores) == [-5, 10, -5]

    def test_ruling_23_false_claim_doubles_the_bank(self) -> None:
        """Ruling 23: bank 3; a false claim puts 3 in: the next is for 6 without new antes."""
        rules = rules_of("bank", false_claim="double_bank")
        score = after(rules, 3)
        assert bank_of(score) == 3

        score = score.add(lost(3, 1))
        assert bank_of(score) == 6
        assert score.tally.counts == (-1, -4, -1)
        assert score.add(won(3, 0)).tally.counts == (5, -4, -1)

    def test_ruling_23_void_deal_adds_antes(self) -> None:
        """Ruling 23: a void deal without a claim adds three antes."""
        rules = rules_of("bank", false_claim="double_bank")
        score = after(rules, 3, open_end(Reason.VOID, (30, 30, 30)))

        assert bank_of(score) == 6
        assert bank_of(score.add(lost(3, 1))) == 12

    def test_false_claim_elsewhere_gives_the_bank_to_the_others(self) -> None:
        """Where a false claim just loses, the others split the bank and an odd chip stays in."""
        score = after(rules_of("bank", ante=3), 3, lost(3, 0, weight=1))
        assert score.tally.counts == (-3, 1, 1)
        assert bank_of(score) == 10

    def test_a_double_loss_costs_an_ante_more(self) -> None:
        """A weight of 2 makes its loser put in a second ante."""
        assert after(rules_of("bank"), 2, won(2, 0, weights=(0, 2))).tally.counts == (2, -2)

    def test_kozel_splits_and_an_odd_chip_stays(self) -> None:
        """Two level at the top of three halve the bank; the odd chip waits for the next deal."""
        rules = rules_of("bank", goal="points", hand_size=4, top_tie="split")
        score = after(rules, 3, counted((45, 45, 30), (0, 0, 1)))

        assert score.tally.counts == (0, 0, -1)
        assert bank_of(score) == 4

    def test_svara_doubles_the_bank(self) -> None:
        """After a draw all pay equal parts, so that the bank has doubled; no new antes."""
        score = after(rules_of("bank", no_claim="most_points"), 2, level(60, 60))
        assert bank_of(score) == 4
        assert bank_of(score.add(level(60, 60))) == 8

    def test_leftovers_are_shared_at_the_end(self) -> None:
        """What is left when the deals run out goes back in equal parts, an odd chip to nobody."""
        rules = rules_of("bank", false_claim="double_bank", max_deals=1, ante=3)
        carried = after(rules.replace(ante=1), 2, open_end(Reason.VOID, (30, 30)))
        odd = after(rules, 4, lost(4, 0), dealer=1)

        assert carried.is_over
        assert list(carried.final().scores) == [0, 0]
        assert list(odd.final().scores) == [-9, 3, 3, 3]
        split = after(rules.replace(false_claim="lose"), 3, lost(3, 0, weight=2))
        assert split.final().tallies == (-6, 3, 3)
        assert isinstance(split.tally, Bank)
        assert split.tally.bank == 0

    def test_who_declined_pays_a_void_deal(self) -> None:
        """A declined stake is paid into the bank also if nobody wins."""
        rules = rules_of("bank", raise_="dave")
        score = after(rules, 3, open_end(Reason.VOID, (0, 20, 20), losers=[(0, 1)]))

        assert score.tally.counts == (-2, -1, -1)
        assert bank_of(score) == 7

    def test_who_declined_pays_beside_a_false_claim(self) -> None:
        """The claimant doubles the bank, the decliner's stake included."""
        rules = rules_of("bank", raise_="dave", false_claim="double_bank")
        outcome = won(3, 2, weights=(1, 4, 0), reason=Reason.FALSE_CLAIM)
        score = after(rules, 3, outcome)

        assert score.tally.counts == (-2, -4, -1)
        assert bank_of(score) == 7


class TestVoids:
    """Void deals are dealt again, but not for ever."""

    def test_after_three_voids_points_decide(self) -> None:
        """The fourth deal in a row that nobody claims goes to the most points."""
        void = open_end(Reason.VOID, (20, 50, 49))
        score = after(rules_of("penalty"), 3, void, void, void)
        assert score.tally.counts == (0, 0, 0)

        score = score.add(void)
        assert score.tally.counts == (2, 0, 2)
        assert score.voids == 0

    def test_level_points_after_three_voids_are_a_draw(self) -> None:
        """Equal tops then are a draw, and carry as one."""
        void = open_end(Reason.VOID, (60, 60))
        score = after(rules_of("penalty"), 2, void, void, void, void)
        assert score.tally.counts == (0, 0)
        assert score.multiplier == 2

    def test_decided_deal_ends_the_row(self) -> None:
        """Only voids in a row are counted."""
        void = open_end(Reason.VOID, (20, 50))
        score = after(rules_of("penalty"), 2, void, void, void, won(2, 0), void)

        assert score.tally.counts == (0, 2)

    def test_double_bank_voids_are_counted(self) -> None:
        """False claims that double the bank are voids of the row too."""
        rules = rules_of("bank", false_claim="double_bank", max_void=2)
        score = after(rules, 2, lost(2, 0), lost(2, 0), open_end(Reason.VOID, (20, 50)))

        assert score.tally.counts == (-7, 7)

    def test_max_void_zero_never_voids(self) -> None:
        """With max_void 0 points decide at once."""
        score = after(rules_of("penalty", max_void=0), 2, open_end(Reason.VOID, (20, 50)))

        assert score.tally.counts == (2, 0)

    def test_who_declined_cannot_win_by_points(self) -> None:
        """A seat that left the deal has no part in the decision by points and pays its stake."""
        rules = rules_of("penalty", raise_="dave", max_void=0)
        outcome = open_end(Reason.VOID, (60, 40, 20), losers=[(0, 1)])._replace(stake=2)

        assert after(rules, 3, outcome).tally.counts == (2, 0, 4)

    def test_pairs_count_their_points_together(self) -> None:
        """Points of partners are added before the pairs are compared."""
        rules = rules_of("penalty", sides="pairs", players=(4,), max_void=0)
        score = after(rules, 4, open_end(Reason.VOID, (40, 30, 0, 30)))

        assert score.tally.counts == (2, 0, 2, 0)


class TestNextDeal:
    """Who deals and who leads."""

    def test_first_deal_leaves_the_lead_to_the_rules(self) -> None:
        """The dealer comes by lot, the leader by first_lead."""
        setup = MatchScore.start(rules_of("penalty"), 4, dealer=2).next_deal()

        assert setup is not None
        assert (setup.number, setup.playing, setup.dealer, setup.leader) == (
            0,
            (0, 1, 2, 3),
            2,
            None,
        )
        assert (setup.multiplier, setup.bank) == (1, 0)

    @pytest.mark.parametrize(
        ("next_dealer", "outcome", "dealer"),
        [
            ("winner", won(4, 3), 3),
            ("winner", lost(4, 2), 3),
            ("winner", lost(4, 3), 0),
            ("winner", won(4, 2), 2),
            ("winner", level(30, 30, 30, 30), 2),
            ("winner", open_end(Reason.VOID, (30, 30, 30, 30)), 2),
            ("rotate", won(4, 1), 3),
            ("rotate", level(30, 30, 30, 30), 3),
            ("rotate", open_end(Reason.VOID, (30, 30, 30, 30)), 2),
            ("same", won(4, 1), 2),
        ],
    )
    def test_next_dealer(self, next_dealer: str, outcome: Outcome, dealer: int) -> None:
        """The winner deals, of several the first after the dealer; a void keeps the dealer."""
        score = after(rules_of("penalty", next_dealer=next_dealer), 4, outcome, dealer=2)

        assert score.dealer == dealer

    @pytest.mark.parametrize(
        ("next_lead", "outcome", "leader"),
        [
            ("last_taker", won(4, 3, last_taker=1), 1),
            ("last_taker", won(4, 3), 3),
            ("last_taker", lost(4, 0), 3),
            ("last_taker", open_end(Reason.VOID, (30,) * 4, leader=1, last_taker=2), 1),
            ("last_taker", open_end(Reason.DRAW, (30,) * 4, leader=1, last_taker=3), 3),
            ("last_taker", open_end(Reason.DRAW, (30,) * 4, leader=1, last_taker=None), 1),
            ("left_of_dealer", won(4, 3, last_taker=1), 0),
            ("left_of_dealer", open_end(Reason.VOID, (30,) * 4, leader=1), 1),
            ("alternate", won(4, 0, last_taker=1, leader=3), 0),
            ("alternate", open_end(Reason.VOID, (30,) * 4, leader=3), 3),
        ],
    )
    def test_next_lead(self, next_lead: str, outcome: Outcome, leader: int) -> None:
        """The taker of the last trick leads, or as the option says; a void keeps the leader."""
        score = after(rules_of("penalty", next_lead=next_lead), 4, outcome, dealer=2)

        assert score.leader == leader

    def test_place_of_a_leader_who_left_goes_clockwise(self) -> None:
        """Seats close up: deal seats are those of the match that are left, in their order."""
        rules = rules_of("penalty", on_limit="eliminate", penalty_limit=2)
        score = after(rules, 4, lost(4, 1, weight=1)._replace(last_taker=1), dealer=0)
        setup = score.next_deal()

        assert setup is not None
        assert setup.playing == (0, 2, 3)
        assert score.leader == 2
        assert setup.leader == 1

    def test_place_of_a_dealer_who_left_goes_clockwise(self) -> None:
        """A dealer who left is followed by the next seat that is still in."""
        rules = rules_of("penalty", on_limit="eliminate", penalty_limit=2, next_dealer="same")

        assert after(rules, 3, lost(3, 2, weight=1), dealer=2).dealer == 0

    def test_outcomes_are_read_by_the_seats_of_the_deal(self) -> None:
        """After a seat left, the second seat of a deal is the third of the match."""
        rules = rules_of("penalty", on_limit="eliminate", penalty_limit=4)
        score = after(rules, 3, lost(3, 1), won(2, 0, last_taker=1))

        assert score.playing == (0, 2)
        assert score.tally.counts == (0, 4, 2)
        assert score.leader == 2


class TestBounds:
    """What cannot be scored is refused, and every match ends."""

    def test_series_has_no_match_score(self) -> None:
        """A series is scored deal by deal."""
        with pytest.raises(ScoringError, match="match_format=series"):
            MatchScore.start(rules_of("series"), 2, dealer=0)

    def test_number_of_seats_is_checked(self) -> None:
        """Seats that the rules do not allow are refused."""
        with pytest.raises(RulesError, match="5 seats"):
            MatchScore.start(rules_of("burkozyol_double"), 5, dealer=0)

    def test_elimination_needs_rules_for_fewer(self) -> None:
        """Where seats leave, the rules must allow each smaller number of seats."""
        rules = rules_of("penalty", players=(2, 4), on_limit="eliminate")

        with pytest.raises(ScoringError, match="allow 3 as well"):
            MatchScore.start(rules, 4, dealer=0)
        assert MatchScore.start(rules.replace(on_limit="match_over"), 4, dealer=0).seats == 4

    def test_nothing_is_added_to_a_match_that_is_over(self) -> None:
        """After the last deal another outcome is refused."""
        score = after(rules_of("penalty", max_deals=1), 2, won(2, 0))

        with pytest.raises(ScoringError, match="the match is over"):
            score.add(won(2, 0))

    def test_outcome_of_a_wrong_number_of_seats_is_refused(self) -> None:
        """An outcome must be one of the seats still in."""
        with pytest.raises(ScoringError, match="outcome of 3 seats: expected one of 2"):
            MatchScore.start(rules_of("penalty"), 2, dealer=0).add(won(3, 0))

    def test_max_deals_bounds_voids_too(self) -> None:
        """Void deals count towards max_deals; nobody has won then."""
        rules = rules_of("robber", max_deals=2)
        score = after(rules, 2, *[open_end(Reason.VOID, (30, 30))] * 2)

        assert score.is_over
        assert score.final().winners == (0, 1)
        assert list(score.final().scores) == [0, 0]


FORMATS = st.sampled_from(
    [
        rules_of("robber", robber_target=4),
        rules_of("robber", sides="pairs", players=(4,), robber_target=4),
        rules_of("penalty"),
        rules_of("penalty", on_limit="eliminate", fault_cost="match"),
        rules_of("penalty", raise_="dave", on_limit="eliminate", next_dealer="rotate"),
        rules_of("burkozyol_penalty", next_lead="alternate"),
        rules_of("burkozyol_double", draw_carry="geometric", next_lead="left_of_dealer"),
        rules_of("burkozyol_double", double_as="robber", robber_target=5),
        rules_of("eyes"),
        rules_of("eyes", eyes="winner_only", fault_cost="match"),
        rules_of("bank", false_claim="double_bank", ante=7, fault_cost="match"),
        rules_of("bank", goal="points", hand_size=4, top_tie="split"),
    ]
).map(lambda rules: rules.replace(max_deals=30))


@st.composite
def outcomes(draw: st.DrawFn, rules: Rules, seats: int) -> Outcome:
    """Draw an outcome such as a deal of these rules could have."""
    points = draw(st.lists(st.integers(0, 60), min_size=seats, max_size=seats))
    sides = [seat % 2 if rules.sides == "pairs" else seat for seat in range(seats)]
    reasons = [Reason.VOID, Reason.FALSE_CLAIM, Reason.CLAIM, Reason.DRAW, Reason.FAULT]
    if rules.goal == "points":
        reasons = [Reason.MOST_POINTS, Reason.DRAW, Reason.FAULT, Reason.COMBINATION]
    reason = draw(st.sampled_from(reasons))
    chosen = draw(st.sampled_from(sides))
    weight = draw(st.integers(1, 3))
    losing = {
        seat
        for seat, side in enumerate(sides)
        if (side == chosen) == (reason in {Reason.FALSE_CLAIM, Reason.FAULT})
    }
    if reason in {Reason.VOID, Reason.DRAW}:
        losing = set()
    decided = reason not in {Reason.VOID, Reason.DRAW}
    return Outcome(
        reason=reason,
        winners=tuple(seat for seat in range(seats) if decided and seat not in losing),
        losers=tuple((seat, weight) for seat in sorted(losing)),
        points=tuple(points),
        tricks=tuple(draw(st.lists(st.integers(0, 9), min_size=seats, max_size=seats))),
        last_taker=draw(st.none() | st.integers(0, seats - 1)),
        leader=draw(st.integers(0, seats - 1)),
    )


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_every_match_ends_and_its_scores_sum_to_zero(data: st.DataObject) -> None:
    """Whatever the outcomes, a match ends within max_deals and nobody's gain comes from nowhere."""
    rules = data.draw(FORMATS)
    seats = data.draw(st.sampled_from([seats for seats in rules.players if seats <= 4]))
    score = MatchScore.start(rules, seats, dealer=data.draw(st.integers(0, seats - 1)))
    while (setup := score.next_deal()) is not None:
        assert setup.number < rules.max_deals
        assert 0 <= setup.dealer < len(setup.playing)
        assert setup.leader is None or 0 <= setup.leader < len(setup.playing)
        score = score.add(data.draw(outcomes(rules, len(setup.playing))))
        if isinstance(score.tally, Bank):
            assert sum(score.tally.counts) + score.tally.bank == 0
            assert score.tally.bank >= 0
    final = score.final()

    assert final.winners
    assert {final.places[seat] for seat in final.winners} == {0}
    assert sum(final.scores) == 0 or rules.match_format == "bank"
    assert -seats < sum(final.scores) <= 0


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_every_deal_of_a_series_sums_to_zero(data: st.DataObject) -> None:
    """Whatever the outcome and the format of the rules, a series is a zero-sum game."""
    rules = data.draw(FORMATS)
    seats = data.draw(st.sampled_from(rules.players))
    scores = score_deal_series(rules, seats, data.draw(outcomes(rules, seats)))

    assert len(scores) == seats
    assert sum(scores) == 0


PLAYED = {
    "robber": (rules_of("robber", robber_target=5, combinations=("bura", "molodka")), 2),
    "penalty": (rules_of("penalty", on_limit="eliminate", false_claim="lose_double"), 4),
    "penalty with raises": (rules_of("penalty", raise_="dave", on_limit="eliminate"), 3),
    "burkozyol_penalty": (rules_of("burkozyol_penalty", top_tie="two_each"), 4),
    "burkozyol_double": (
        rules_of("burkozyol_double", combinations=("moscow", "bura"), first_lead="high_card"),
        3,
    ),
    "burkozyol_double in pairs": (rules_of("burkozyol_double", sides="pairs", players=(4,)), 4),
    "eyes": (rules_of("eyes", end_indicator="bury"), 4),
    "bank": (rules_of("bank", false_claim="double_bank", next_lead="left_of_dealer"), 3),
    "kozel": (
        rules_of("bank", goal="points", hand_size=4, top_tie="split", lead_sizes=(1, 3)),
        5,
    ),
}


def played_deal(rules: Rules, setup: DealSetup, random: Random) -> Outcome:
    """Return the outcome of a deal played at random."""
    source = SeededSource(bytes(32), 0, setup.number, full_deck(rules.deck))
    state = deal(
        rules, seats=len(setup.playing), dealer=setup.dealer, leader=setup.leader, source=source
    )
    while state.outcome is None:
        for seat in state.asked:
            if state.outcome is None and seat in state.asked:
                state.apply(seat, random.choice(state.legal_actions(seat)))
    return state.outcome


@pytest.mark.parametrize("name", PLAYED)
def test_matches_of_played_deals_end(name: str) -> None:
    """Deals as the rules play them make a match that ends; its scores and those of deals add up."""
    rules, seats = PLAYED[name]
    rules = rules.replace(max_deals=60)
    random = Random(name)
    for dealer in range(seats):
        score = MatchScore.start(rules, seats, dealer=dealer)
        while (setup := score.next_deal()) is not None:
            outcome = played_deal(rules, setup, random)
            assert sum(score_deal_series(rules, len(setup.playing), outcome)) == 0
            assert setup.leader in {None, outcome.leader}
            score = score.add(outcome)
        final = score.final()
        assert score.deals <= 60
        assert final.winners
        assert sum(final.scores) == 0 or rules.match_format == "bank"
