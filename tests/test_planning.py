"""What a tournament is made of: seeds, seeding, plans, forecasts, finals."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from cups import SEED, Script, options, play, run, store_of, submit
from sqlmodel import select
from stores import result

from arena import forecast, ledger, planning, queries, roster, tournament
from arena.cli.plans import basis
from arena.entropy import StringState, digest_of
from arena.errors import RefusedError
from arena.finals import finals_options
from arena.formats import FORMATS
from arena.formats.gauntlet import Gauntlet
from arena.infos import Contribution, Seeding, TournamentState
from arena.jobs import MatchDescription, Outcome, Played
from arena.tables import Match, Report, Result
from referee.shuffle import mixed_seed
from referee.variants import find_variant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from arena.forecast import Forecast
    from arena.store import Store

NAMES = ("anna", "boris", "clara", "dora")
BURA = find_variant("bura")
SEATS = {"pods": 3}
"""Formats that are not for matches of two."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with four bots."""
    with store_of(tmp_path, NAMES) as store:
        yield store


# ------------------------------------------------------------------------------------------- seeds


def given(entrant: str, text: str, *, is_later: bool) -> Contribution:
    """Return a string as it is told that was given in the open."""
    return Contribution(
        entrant=entrant,
        state=StringState.OPEN,
        digest=digest_of(text),
        text=text,
        is_later=is_later,
    )


def test_strings_of_the_entrants_are_mixed_into_the_seed(store: Store, tmp_path: Path) -> None:
    """The commitment is to the secret, the decks follow from secret and strings together."""
    submit(store, tmp_path, "anna", "alpha")
    submit(store, tmp_path, "boris", "beta")
    tournament.create(store, options("anna", "boris", "clara", seed=SEED))
    run(store)
    info = queries.tournament(store, "cup")
    assert info.commitment == hashlib.sha256(SEED).hexdigest()
    assert info.secret == SEED
    assert info.seed == mixed_seed(SEED, [b"alpha", b"beta"])
    assert info.contributions == (
        given("anna@2", "alpha", is_later=False),
        given("boris@2", "beta", is_later=False),
    )


def test_seed_without_strings_is_the_secret(store: Store) -> None:
    """Nothing is mixed where nobody gave anything."""
    tournament.create(store, options("anna", "boris", seed=SEED))
    run(store)
    info = queries.tournament(store, "cup")
    assert (info.seed, info.secret) == (SEED, SEED)


def test_string_given_after_the_commitment_is_known_as_such(store: Store, tmp_path: Path) -> None:
    """Only of a string that came after the secret can nobody have chosen the secret for it."""
    tournament.create(store, options("anna", "boris"))
    with store.write() as session:
        queries.find_tournament(session, "cup").created -= 10_000
    submit(store, tmp_path, "clara", "gamma")
    roster.join(store, "cup", "clara", "open until tonight")
    (found,) = queries.tournament(store, "cup").contributions
    assert found == given("clara@2", "gamma", is_later=True)


def test_string_that_comes_after_the_start_changes_no_deck(store: Store, tmp_path: Path) -> None:
    """The seed is fixed at the start: a late entrant cannot choose decks that are still to come."""
    submit(store, tmp_path, "clara", "gamma")
    tournament.create(store, options("anna", "boris"))
    ledger.mark_started(store, 1)
    before = queries.deck_seed(store, 1)
    info = roster.join(store, "cup", "clara", "late")
    assert [each.state for each in info.contributions] == [StringState.LATE]
    assert queries.deck_seed(store, 1) == before


def test_first_pairings_follow_from_the_seed_that_counts(store: Store, tmp_path: Path) -> None:
    """Who meets whom is drawn from the mixed seed, before and after the start alike."""
    submit(store, tmp_path, "anna", "alpha")
    tournament.create(store, options(*NAMES, format="swiss", rounds=1))
    before = [match.entrants for match in queries.matches(store, "cup")]
    run(store)
    assert [match.entrants for match in queries.matches(store, "cup")] == before


# ----------------------------------------------------------------------------------------- seeding


def test_entrants_are_seeded_by_what_they_did_in_the_same_game(
    store: Store, tmp_path: Path
) -> None:
    """The best comes first, a new version stands where its bot stood, the unknown come last."""
    tournament.create(store, options("clara", "boris", "anna"))
    run(store)
    submit(store, tmp_path, "boris")
    made = tournament.draft(
        store, options("dora", "clara", "boris", "anna", name="next", seeding=Seeding.RATING)
    )
    assert [entry.bot.label for entry in made.entries] == ["anna@1", "boris@2", "clara@1", "dora@1"]


def test_the_game_by_other_rules_of_the_match_makes_nobody_unrated(store: Store) -> None:
    """It is another pool; who is in that alone is rated by it."""
    rules = BURA.replace(match_format="penalty")
    tournament.create(store, options("clara", "boris", name="first"))
    run(store, name="first")
    tournament.create(store, options("boris", "anna", name="second", rules=rules))
    run(store, name="second")

    made = tournament.draft(
        store, options("dora", "clara", "boris", "anna", seeding=Seeding.RATING)
    )

    assert [entry.bot.label for entry in made.entries] == ["boris@1", "anna@1", "clara@1", "dora@1"]


def test_rating_in_the_pool_itself_goes_first(store: Store) -> None:
    """What was played in another match format counts for those who are in no nearer pool."""
    rules = BURA.replace(match_format="penalty")
    tournament.create(store, options("anna", "boris", name="first"))
    run(store, name="first")
    tournament.create(store, options("anna", "boris", name="second", rules=rules, rounds=3))
    run(store, name="second", play=reversed_play)

    for pool, expected in ((BURA, "anna@1"), (rules, "boris@1")):
        asked = options("anna", "boris", rules=pool, seeding=Seeding.RATING)
        assert tournament.draft(store, asked).entries[0].bot.label == expected


def reversed_play(job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """Let who is later in the alphabet win."""
    played = play(job, beat)
    assert isinstance(played, Played)
    totals = tuple(-total for total in played.result.totals)
    return replace(played, result=result(scores=tuple(map(int, totals))))


def test_only_formats_whose_first_round_needs_it_are_seeded(store: Store) -> None:
    """A round robin keeps the order in which its entrants were named."""
    for name, expected in {"round-robin": Seeding.GIVEN, "swiss": Seeding.RATING}.items():
        assert tournament.draft(store, options(*NAMES, format=name)).row.seeding is expected


def test_formats_say_themselves_what_they_need(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A format that is added to the registry is seeded, has a challenger and ends as it says."""
    added = Added()
    monkeypatch.setitem(FORMATS, added.name, added)

    made = tournament.draft(store, options("boris", "anna", format=added.name))
    assert made.row.seeding is Seeding.RATING
    assert made.row.options == '{"challenger": 0}'

    tournament.create(store, options("boris", "anna", format=added.name))
    ledger.mark_started(store, 1)
    with pytest.raises(RefusedError, match="boris@1 is the challenger"):
        roster.withdraw(store, "cup", "boris", "ill")
    assert roster.stop(store, "cup", "enough").is_over


class Added(Gauntlet):
    """A gauntlet of the organiser's own."""

    name = "added"
    is_seeded = True
    is_endless = True


def test_late_name_before_the_start_is_seeded_too(store: Store) -> None:
    """The order is made anew while nothing was played."""
    tournament.create(store, options("clara", "boris", "anna", name="first"))
    run(store, name="first")
    tournament.create(store, options("clara", "boris", seeding=Seeding.RATING))
    info = roster.join(store, "cup", "anna", "invited")
    assert [entrant.name for entrant in info.entrants] == ["anna@1", "boris@1", "clara@1"]


# ------------------------------------------------------------------------------------------- plans


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_runs_from_the_store_to_its_end(store: Store, name: str) -> None:
    """Planned, played, ranked; the secret comes out at the end and not before."""
    info = tournament.create(store, options(*NAMES, format=name, seats=SEATS.get(name, 2)))
    if planning.expected_matches(store, info) is None:
        pytest.skip("has no end")
    secrets: list[object] = []
    script = Script({1: lambda: secrets.append(queries.tournament(store, "cup").seed)})
    report = run(store, script)
    assert (report.exit_code, report.tournament.state) == (0, TournamentState.FINISHED)
    assert secrets == [None]
    table = planning.table(store, report.tournament)
    assert table[0].names == ("anna@1",)
    assert {row.names[0] for row in table} == {f"{name}@1" for name in NAMES}
    assert run(store).played == 0


def test_expectation_is_met(store: Store) -> None:
    """What is expected before the first match is what is played in the end."""
    for name in FORMATS:
        info = tournament.create(
            store, options(*NAMES, name=name, format=name, seats=SEATS.get(name, 2))
        )
        expected = planning.expected_matches(store, info)
        if expected is not None:
            assert run(store, name=name).played == expected


def test_format_is_asked_again_when_the_entrants_changed_meanwhile(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pairings made for entrants who have changed are not stored; those for the others are."""
    info = tournament.create(store, options(*NAMES[:3]))
    ledger.mark_started(store, info.id)
    ask = planning.formats.schedule

    def change_first(*arguments: object) -> object:
        monkeypatch.undo()
        roster.join(store, "cup", "dora", "just now")
        return ask(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("arena.formats.schedule", change_first)
    assert planning.extend(store, info) == 3


# ---------------------------------------------------------------------------------------- forecasts


def test_forecast_counts_matches_and_bots(store: Store) -> None:
    """Six matches of two legs with two bots each: 24 starts, and time in proportion."""
    info = tournament.create(store, options(*NAMES, decks=10))
    cost = forecast.of_tournament(store, info)
    assert (cost.matches, cost.known, cost.legs, cost.containers) == (6, 6, 2, 24)
    assert cost.match_seconds == pytest.approx(2 * (0.7 + 10 * 0.05))
    assert cost.seconds == pytest.approx(-(-6 // cost.at_once) * cost.match_seconds)
    assert cost.measured == 0


def test_forecast_of_a_draft_is_that_of_the_tournament(store: Store) -> None:
    """What --dry-run says is what `plan` says afterwards."""
    chosen = options(*NAMES, format="swiss")
    before = forecast.of_draft(store, tournament.draft(store, chosen))
    assert before == forecast.of_tournament(store, tournament.create(store, chosen))
    assert before.matches is not None
    assert before.matches > before.known


def played(
    store: Store, name: str, *, decks: int, seconds: float, starting: float | None = None
) -> None:
    """Run a tournament of two bots whose only match lasts so long."""
    info = tournament.create(store, options("anna", "boris", name=name, decks=decks))
    run(store, name=name)
    with store.write() as session:
        (match,) = session.exec(select(Match).where(Match.tournament_id == info.id)).all()
        row = session.get_one(Result, match.id)
        row.milliseconds = round(1000 * seconds)
        for leg, seat in itertools.product(range(2), range(2)):
            report = Report(
                match_id=row.match_id,
                attempt=row.attempt,
                leg=leg,
                seat=seat,
                position=seat,
                out_of_memory=False,
                log="",
                log_truncated=False,
                start_seconds=None if starting is None else starting - seat * 0.01,
            )
            session.add(report)


def cost_of(store: Store, decks: int) -> Forecast:
    """Return what a match of anna and boris is taken to cost."""
    made = tournament.draft(store, options("anna", "boris", name="next", decks=decks))
    return forecast.of_draft(store, made)


def test_forecast_is_measured_where_these_bots_played(store: Store) -> None:
    """Past matches of these bots with as many decks count as they are, and others not at all."""
    tournament.create(store, options("clara", "dora", name="others", decks=20))
    run(store, name="others")
    played(store, "short", decks=2, seconds=2.4)
    played(store, "alike", decks=20, seconds=11.0)
    played(store, "again", decks=20, seconds=13.0)

    cost = cost_of(store, 20)

    assert (cost.measured, cost.scaled_from) == (2, ())
    assert basis(cost, "process") == "measured in 2 past matches of these bots"
    assert cost.match_seconds == pytest.approx(12.0)


def test_forecast_of_other_decks_is_scaled(store: Store) -> None:
    """Beyond the start the time grows with the decks, a past match counting by its decks."""
    played(store, "first", decks=2, seconds=2.4)
    cost = cost_of(store, 20)
    assert (cost.measured, cost.scaled_from) == (1, (2,))
    assert basis(cost, "process") == "scaled from 1 past match of these bots, of 2 decks"
    assert cost.match_seconds == pytest.approx(1.2 + 10 * 1.2)

    played(store, "second", decks=198, seconds=101.4)
    cost = cost_of(store, 20)
    assert (cost.measured, cost.scaled_from) == (2, (2, 198))
    assert basis(cost, "process") == "scaled from 2 past matches of these bots, of 2 to 198 decks"
    assert cost.match_seconds == pytest.approx((1.2 + 1.4) / 2 + 20 * (1.2 + 100) / 200)


@pytest.mark.parametrize(("seconds", "starting"), [(0.3, None), (1.15, None), (1.15, 0.05)])
def test_ten_times_the_decks_last_longer(
    store: Store, seconds: float, starting: float | None
) -> None:
    """However short the match that was measured, decks take time: ten times as many take more."""
    played(store, "short", decks=10, seconds=seconds, starting=starting)

    lasting = [cost_of(store, decks).match_seconds for decks in (100, 1000, 100_000)]

    assert lasting[0] > 4 * seconds
    assert lasting[1] > 8 * lasting[0]
    assert lasting[2] > 80 * lasting[1]


def test_measured_starts_are_no_time_of_decks(store: Store) -> None:
    """What starting the bots of each leg took, side by side, does not grow with the decks."""
    played(store, "short", decks=10, seconds=10.0, starting=4.0)

    assert cost_of(store, 100).match_seconds == pytest.approx(8.0 + 10 * 2.0)


# ------------------------------------------------------------------------------------------- finals


def test_finals_are_of_the_best_in_the_same_game(store: Store) -> None:
    """The first of the order are entered, who left is passed over."""
    tournament.create(store, options(*NAMES, decks=3))
    run(store)
    roster.disqualify(store, "cup", "anna", "a copy")
    chosen = finals_options(
        store, "last", "cup", top=2, format_name="round-robin", rounds=4, decks=None
    )
    info = tournament.create(store, chosen)
    assert [entrant.name for entrant in info.entrants] == ["boris@1", "clara@1"]
    assert (info.frozen, info.decks, info.total) == (True, 3, 4)


def test_finals_need_a_finished_tournament_with_enough_bots(store: Store) -> None:
    """Nobody has reached the finals of what is not over."""
    tournament.create(store, options(*NAMES))
    how = {"format_name": "round-robin", "rounds": None, "decks": None}
    with pytest.raises(RefusedError, match="is not over"):
        finals_options(store, "last", "cup", top=2, **how)  # type: ignore[arg-type]
    run(store)
    with pytest.raises(RefusedError, match="has 4 who can play on, not 5"):
        finals_options(store, "last", "cup", top=5, **how)  # type: ignore[arg-type]


def in_a_circle(job: MatchDescription, _beat: Callable[[], None]) -> Outcome:
    """Let anna, boris and clara beat each other in a circle, and all of them dora."""
    one, other = (entrant.name[0] for entrant in job.spec.entrants)
    first = 1 if other == "d" or one + other in {"ab", "bc", "ca"} else -1
    return Played(result=result(scores=(first, -first)), reports=())


def test_finals_cut_no_tie(store: Store) -> None:
    """Who shares a place is in or out with all who share it; the line says with how many."""
    tournament.create(store, options(*NAMES))
    run(store, play=in_a_circle)
    how = {"format_name": "round-robin", "rounds": None, "decks": None}
    with pytest.raises(RefusedError, match="boris@1 and clara@1 share place 1") as refused:
        finals_options(store, "last", "cup", top=2, **how)  # type: ignore[arg-type]
    assert refused.value.hint == "ask for --top 3"
    assert len(finals_options(store, "last", "cup", top=3, **how).bots) == 3  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_final_gives_everybody_equally_many_games(store: Store, name: str) -> None:
    """A format that is taken for a final does that, and others are refused for it."""
    chosen = options(*NAMES, format=name, seats=SEATS.get(name, 2), is_final=True)
    try:
        tournament.create(store, chosen)
    except RefusedError as error:
        assert "equally many" in str(error)  # noqa: PT017 - either way is right, none other
        assert name not in {"round-robin", "swiss"}
        return
    run(store)
    played = queries.played_matches(store, "cup")
    games = {sum(f"{name}@1" in match.entrants for match in played) for name in NAMES}
    assert len(games) == 1


@pytest.mark.parametrize("name", ["single-elimination", "double-elimination", "groups", "ladder"])
def test_final_is_refused_to_formats_that_favour_some(store: Store, name: str) -> None:
    """Where some play on, or a level tie is played again, or nothing ends, there is no final."""
    with pytest.raises(RefusedError, match="equally many"):
        tournament.create(store, options(*NAMES, format=name, is_final=True))


def test_swiss_with_byes_is_no_final(store: Store) -> None:
    """Who sits out plays less."""
    with pytest.raises(RefusedError, match="equally many"):
        tournament.create(store, options(*NAMES[:3], format="swiss", is_final=True))
