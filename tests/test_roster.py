"""Who comes and goes: entries, withdrawals, disqualifications, replaced versions."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cups import SEED, Script, options, play, run, store_of, submit
from stores import FORKS, OWNER, die_before, lease, result

from arena import desk, formats, ledger, planning, queries, roster, tournament
from arena.errors import NotFoundError, RefusedError
from arena.formats import Pairing, Schedule, check_entry
from arena.home import Home
from arena.infos import MatchState, TournamentState
from arena.jobs import Outcome, Voided
from arena.reasons import ReasonKind
from arena.store import Store
from arena.tournament import StopFlag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from arena.formats import Plan, Results
    from arena.infos import MatchInfo
    from arena.jobs import MatchDescription

NAMES = ("anna", "boris", "clara", "dora")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with four bots."""
    with store_of(tmp_path, NAMES) as store:
        yield store


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.driver._FIRST_PAUSE_SECONDS", 0.01)


def pairings(store: Store) -> set[frozenset[str]]:
    """Give who meets whom in the tournament, but for cancelled matches."""
    matches = queries.matches(store, "cup")
    return {
        frozenset(match.entrants) for match in matches if match.state is not MatchState.CANCELLED
    }


def of(store: Store, name: str) -> list[MatchInfo]:
    """Give the matches of a bot."""
    return list(queries.matches(store, "cup", entrant=name))


def note(store: Store) -> list[tuple[object, ...]]:
    """Give the history without times."""
    return [
        (each.kind, each.entrant, each.joined, each.after, each.reason)
        for each in queries.history(store, "cup")
    ]


# --------------------------------------------------------------------------------- before the start


def test_entry_before_the_start_plans_anew(store: Store) -> None:
    """Who is entered before the first match is as if it had been named at once."""
    tournament.create(store, options("anna", "boris", "clara"))
    info = roster.join(store, "cup", "dora", "invited")
    tournament.create(store, options(*NAMES, name="other"))
    assert [entrant.late for entrant in info.entrants] == [False] * 4
    assert info.total == queries.tournament(store, "other").total == 6
    assert note(store) == [("entry", "dora@1", True, None, "invited")]


def test_withdrawal_before_the_start_plans_anew(store: Store) -> None:
    """Nobody meets a bot that went before the first match, and it may come again."""
    tournament.create(store, options(*NAMES))
    info = roster.withdraw(store, "cup", "boris", "ill")
    assert [entrant.name for entrant in info.entrants] == ["anna@1", "clara@1", "dora@1"]
    assert info.total == 3
    assert roster.join(store, "cup", "boris", "well again").total == 6


def test_disqualified_before_the_start_stays_out(store: Store, tmp_path: Path) -> None:
    """The version does not come back, neither alone nor for another; the next one may."""
    tournament.create(store, options(*NAMES))
    roster.disqualify(store, "cup", "boris", "copied")
    with pytest.raises(RefusedError, match=r"left it \(disqualification\)"):
        roster.join(store, "cup", "boris", "again")
    submit(store, tmp_path, "boris")
    roster.join(store, "cup", "boris@2", "its own now")
    with pytest.raises(RefusedError, match=r"left it \(disqualification\)"):
        roster.replace_version(store, "cup", "boris@2", "boris@1", "back")


def test_replacement_before_the_start_takes_the_place(store: Store, tmp_path: Path) -> None:
    """The new version stands where the old one stood."""
    tournament.create(store, options(*NAMES))
    submit(store, tmp_path, "boris")
    info = roster.replace_version(store, "cup", "boris@1", "boris@2", "faster")
    assert [entrant.name for entrant in info.entrants] == ["anna@1", "boris@2", "clara@1", "dora@1"]
    assert [(kind, name) for kind, name, *_ in note(store)] == [
        ("replacement", "boris@1"),
        ("replacement", "boris@2"),
    ]


def test_too_few_are_left_before_the_start(store: Store) -> None:
    """A tournament nobody can play is kept, says why, does not run and reveals nothing."""
    tournament.create(store, options("anna", "boris"))
    info = roster.withdraw(store, "cup", "boris", "ill")
    assert (info.state, info.seed, info.total) == (TournamentState.PLANNED, None, 0)
    with pytest.raises(RefusedError, match="cannot fill 2 seats"):
        run(store)
    assert roster.join(store, "cup", "clara", "instead").total == 1


def test_open_tournament_commits_before_anybody_is_in(store: Store) -> None:
    """The commitment comes first, then the entrants, then the matches."""
    made = tournament.create(store, options(is_open=True))
    for name in NAMES[:2]:
        roster.join(store, "cup", name, "came")
    assert run(store).exit_code == 0
    assert queries.tournament(store, "cup").commitment == made.commitment


def test_challenger_stays_the_challenger_whoever_comes(store: Store) -> None:
    """The place of the challenger follows it through every new order."""
    if "gauntlet" not in tournament.planning.formats.FORMATS:
        pytest.skip("no gauntlet")
    tournament.create(
        store, options("anna", "boris", "clara", format="gauntlet", challenger="clara")
    )
    roster.withdraw(store, "cup", "anna", "ill")
    info = roster.join(store, "cup", "dora", "came")
    assert info.options.challenger == 1
    assert all("clara@1" in match.entrants for match in queries.matches(store, "cup"))


# ---------------------------------------------------------------------------------- after the start


def started(store: Store, *steps: tuple[int, Callable[[], object]], **changes: object) -> Script:
    """Run a tournament of all bots with steps after so many matches."""
    names = changes.pop("names", NAMES)
    tournament.create(store, options(*names, **changes))  # type: ignore[misc]
    script = Script(dict(steps))
    report = run(store, script)
    assert report.exit_code == 0
    return script


def test_late_entry_meets_everybody_while_the_run_goes_on(store: Store) -> None:
    """A newcomer's matches come at the end of the schedule, in the same run."""
    started(store, (1, lambda: roster.join(store, "cup", "dora", "late train")), names=NAMES[:3])
    info = queries.tournament(store, "cup")
    assert (info.state, info.done) == (TournamentState.FINISHED, 6)
    assert info.entrants[3].late
    assert [match.number for match in of(store, "dora")] == [4, 5, 6]
    assert note(store) == [("late entry", "dora@1", True, 3, "late train")]
    assert [row.note for row in planning.table(store, info)].count("late entry") == 1


def test_challenger_that_has_begun_is_replaced_not_withdrawn(store: Store, tmp_path: Path) -> None:
    """Without it nobody has a match; who takes over is then as hard to withdraw."""
    tournament.create(store, options(*NAMES, format="gauntlet", challenger="clara"))
    ledger.mark_started(store, 1)
    submit(store, tmp_path, "clara")
    with pytest.raises(RefusedError, match="instead: arena tournament replace cup clara@1"):
        roster.withdraw(store, "cup", "clara", "asked")
    roster.withdraw(store, "cup", "boris", "asked")
    roster.replace_version(store, "cup", "clara@1", "clara@2", "crashed")
    with pytest.raises(RefusedError, match="clara@2 is the challenger"):
        roster.withdraw(store, "cup", "clara", "asked")
    roster.disqualify(store, "cup", "clara@2", "copied")
    assert queries.tournament(store, "cup").planned == 0


def test_withdrawn_bot_plays_no_more_and_keeps_its_results(store: Store) -> None:
    """What was planned for a leaver is cancelled; what it played counts."""
    started(store, (3, lambda: roster.withdraw(store, "cup", "anna", "on fire")))
    states = {match.state for match in of(store, "anna")}
    assert states <= {MatchState.DONE, MatchState.CANCELLED}
    assert MatchState.CANCELLED in states
    info = queries.tournament(store, "cup")
    assert info.entrants[0].left is ReasonKind.WITHDRAWAL
    assert (info.state, info.done + info.cancelled) == (TournamentState.FINISHED, 6)
    assert info.seed is not None


def test_match_being_played_ends_and_counts(store: Store) -> None:
    """Who is withdrawn in the middle of a match has its result."""
    tournament.create(store, options("anna", "boris"))
    ledger.mark_started(store, 1)
    held = ledger.claim(store, 1, OWNER, hard_seconds=60)
    assert held is not None
    info = roster.withdraw(store, "cup", "anna", "on fire")
    assert (info.running, info.seed) == (1, None)
    assert ledger.finish(store, held, result(), [])
    assert run(store).exit_code == 0
    assert queries.tournament(store, "cup").done == 1


@pytest.mark.parametrize("ending", ["void", "release", "overdue"])
def test_match_of_a_leaver_is_not_played_again(store: Store, ending: str) -> None:
    """An attempt that fails after an entrant left cancels the match, however it fails."""
    tournament.create(store, options("anna", "boris"))
    ledger.mark_started(store, 1)
    seconds = -1 if ending == "overdue" else 60
    held = ledger.claim(store, 1, OWNER, hard_seconds=seconds, lease_seconds=seconds)
    assert held is not None
    roster.withdraw(store, "cup", "anna", "on fire")
    if ending == "void":
        assert ledger.void(store, held, "worker_lost") is MatchState.CANCELLED
    elif ending == "release":
        assert ledger.release(store, "here", []) == 1
    assert ledger.claim(store, 1, OWNER, hard_seconds=60) is None
    assert queries.match(store, "cup", 1).match.state is MatchState.CANCELLED
    assert run(store).exit_code == 0


def test_incomplete_match_of_a_leaver_holds_nobody_up(store: Store) -> None:
    """A match given up is cancelled when one of its entrants goes, and the seed comes out."""
    tournament.create(store, options("anna", "boris", "clara"))
    run(store, play=void_anna)
    assert queries.tournament(store, "cup").state is TournamentState.INCOMPLETE
    info = roster.withdraw(store, "cup", "anna", "does not start here")
    assert (info.incomplete, info.cancelled) == (0, 2)
    assert run(store).tournament.state is TournamentState.FINISHED


def void_anna(job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """Fail whenever anna plays."""
    if any(entrant.name == "anna" for entrant in job.spec.entrants):
        return Voided(reason="referee_error")
    return play(job, beat)


def test_results_of_a_replaced_version_do_not_count_for_the_new_one(
    store: Store, tmp_path: Path
) -> None:
    """Old and new are two entrants, each with results of its own."""
    submit(store, tmp_path, "anna")
    step = (2, lambda: roster.replace_version(store, "cup", "anna", "anna@2", "bug found"))
    started(store, step, names=("anna@1", *NAMES[1:]))
    played = queries.played_matches(store, "cup")
    games = {name: sum(name in match.entrants for match in played) for name in ("anna@1", "anna@2")}
    assert games["anna@2"] == 3
    assert games["anna@1"] < 3
    kinds = {entrant.name: entrant.left for entrant in queries.tournament(store, "cup").entrants}
    assert (kinds["anna@1"], kinds["anna@2"]) == (ReasonKind.REPLACEMENT, None)
    assert not any({"anna@1", "anna@2"} <= set(match.entrants) for match in played)


def test_disqualified_bot_comes_last_though_it_won(store: Store) -> None:
    """Results stay, the order passes the disqualified over, even after the end."""
    started(store)
    before = planning.table(store, queries.tournament(store, "cup"))
    assert before[0].names == ("anna@1",)
    info = roster.disqualify(store, "cup", "anna", "a copy of boris")
    rows = planning.table(store, info)
    assert [(row.rank, row.names[0]) for row in rows] == [
        (1, "boris@1"),
        (2, "clara@1"),
        (3, "dora@1"),
        (None, "anna@1"),
    ]
    assert (info.state, info.done) == (TournamentState.FINISHED, 6)
    assert info.seed is not None


def test_withdrawn_bot_can_be_disqualified_but_not_twice(store: Store) -> None:
    """What comes to light later outweighs that it had gone."""
    started(store, (1, lambda: roster.withdraw(store, "cup", "dora", "asked")))
    info = roster.disqualify(store, "cup", "dora", "read our files")
    assert info.entrants[3].left is ReasonKind.DISQUALIFICATION
    with pytest.raises(RefusedError, match="disqualified already"):
        roster.disqualify(store, "cup", "dora", "again")


def test_swiss_goes_on_with_who_is_in(store: Store, tmp_path: Path) -> None:
    """From the next round on a newcomer is paired and a leaver is not."""
    for name in ("emil", "frida"):
        submit(store, tmp_path, name)

    def change() -> None:
        roster.withdraw(store, "cup", "dora", "asked")
        roster.join(store, "cup", "frida", "late")

    started(store, (1, change), names=(*NAMES, "emil"), format="swiss", rounds=3)
    last = max(match.round for match in queries.matches(store, "cup"))
    assert last == 3
    rounds = {match.round for match in of(store, "dora") if match.state is MatchState.DONE}
    assert rounds <= {1}
    assert {match.round for match in of(store, "frida")} <= {2, 3}
    assert of(store, "frida")


def test_pairs_come_and_go_together(store: Store, tmp_path: Path) -> None:
    """Naming one of a pair takes both out, and a pair comes as one word."""
    for name in ("emil", "frida"):
        submit(store, tmp_path, name)
    from referee.variants import VARIANTS  # noqa: PLC0415

    tournament.create(
        store,
        options(
            "anna+boris",
            "clara+dora",
            variant="burkozyol-pairs",
            rules=VARIANTS["burkozyol-pairs"],
            seats=4,
        ),
    )
    ledger.mark_started(store, 1)
    info = roster.join(store, "cup", "emil+frida", "late")
    assert [entrant.pair for entrant in info.entrants] == [0, 0, 1, 1, 2, 2]
    assert planning.extend(store, info) == 2
    info = roster.withdraw(store, "cup", "clara", "asked")
    assert [entrant.left for entrant in info.entrants].count(ReasonKind.WITHDRAWAL) == 2
    assert info.total == 1
    with pytest.raises(RefusedError, match="is alone"):
        roster.join(store, "cup", "clara", "alone")


def _replace_and_die(path: str, statements: int) -> None:
    """Replace a version, but die before so many statements have been carried out."""
    with Store.open(Home(Path(path))) as store:
        die_before(statements)
        roster.replace_version(store, "cup", "anna@1", "anna@2", "better")


@pytest.mark.long
@pytest.mark.timeout(600)
def test_change_killed_at_any_statement_is_all_or_nothing(store: Store, tmp_path: Path) -> None:
    """History, entrants and cancelled matches change together or not at all."""
    submit(store, tmp_path, "anna")
    tournament.create(store, options("anna@1", *NAMES[1:]))
    ledger.mark_started(store, 1)
    found = set()
    for statements in itertools.count(1):
        process = FORKS.Process(target=_replace_and_die, args=(str(store.home.path), statements))
        process.start()
        process.join(60)
        with Store.open(store.home) as again:
            info = queries.tournament(again, "cup")
            noted = len(queries.history(again, "cup"))
        found.add((len(info.entrants), info.cancelled, noted))
        if noted or process.exitcode == 0:
            break
    assert statements > 10
    assert found == {(4, 0, 0), (5, 3, 2)}


# --------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("", "the history needs a reason"),
        ("  ", "the history needs a reason"),
        ("x" * 501, "the reason has 501 characters; at most 500"),
    ],
)
def test_change_without_a_reason_is_refused(store: Store, reason: str, said: str) -> None:
    """The history says why, in bounded words, or nothing happens."""
    tournament.create(store, options(*NAMES))
    with pytest.raises(RefusedError, match=said):
        roster.withdraw(store, "cup", "anna", reason)
    assert len(queries.tournament(store, "cup").entrants) == 4


def test_final_takes_nobody_and_no_new_version(store: Store, tmp_path: Path) -> None:
    """Submissions are frozen from the creation on; who cannot play may still go."""
    submit(store, tmp_path, "anna")
    tournament.create(store, options("anna@1", "boris", "clara", is_final=True))
    with pytest.raises(RefusedError, match="no late entries"):
        roster.join(store, "cup", "dora", "late")
    with pytest.raises(RefusedError, match="no new versions"):
        roster.replace_version(store, "cup", "anna@1", "anna@2", "better")
    assert roster.withdraw(store, "cup", "anna", "broken").total == 1


def test_finished_tournament_takes_nobody(store: Store) -> None:
    """Its seed is public: whoever came now would know the decks."""
    started(store, names=NAMES[:3])
    for change in (
        lambda: roster.join(store, "cup", "dora", "late"),
        lambda: roster.withdraw(store, "cup", "anna", "late"),
    ):
        with pytest.raises(RefusedError, match="is over"):
            change()


def test_one_bot_is_entered_once(store: Store) -> None:
    """Neither a bot that is in nor one that left after the start comes in again."""
    tournament.create(store, options("anna", "boris", "clara"))
    with pytest.raises(RefusedError, match="is in cup already"):
        roster.join(store, "cup", "anna", "again")
    ledger.mark_started(store, 1)
    roster.withdraw(store, "cup", "anna", "asked")
    with pytest.raises(RefusedError, match="left it"):
        roster.join(store, "cup", "anna", "again")


def test_unknown_and_ambiguous_names_are_refused(store: Store, tmp_path: Path) -> None:
    """A change that could mean two entrants, or none, is not guessed at."""
    submit(store, tmp_path, "anna")
    tournament.create(store, options("anna@1", "anna@2", "boris"))
    with pytest.raises(NotFoundError, match="dora is not in cup"):
        roster.withdraw(store, "cup", "dora", "asked")
    with pytest.raises(RefusedError, match="more than one entrant"):
        roster.withdraw(store, "cup", "anna", "asked")
    with pytest.raises(RefusedError, match="already"):
        roster.replace_version(store, "cup", "boris", "boris@1", "better")
    with pytest.raises(RefusedError, match="no other version"):
        roster.replace_version(store, "cup", "boris", "dora", "better")


def test_refused_change_leaves_no_trace(store: Store) -> None:
    """A change that the format cannot hold is undone as a whole."""
    tournament.create(store, options(*NAMES[:3], format="single-elimination"))
    ledger.mark_started(store, 1)
    before = queries.tournament(store, "cup")
    with pytest.raises(RefusedError):
        roster.join(store, "cup", "dora", "late")
    assert queries.tournament(store, "cup") == before
    assert queries.history(store, "cup") == ()


def test_replacement_is_told_from_a_late_entry(store: Store, tmp_path: Path) -> None:
    """The order says of a new version that it replaced another, also of the winner."""
    submit(store, tmp_path, "anna")
    started(
        store,
        (1, lambda: roster.replace_version(store, "cup", "anna@1", "anna@2", "crashed")),
        names=("anna@1", *NAMES[1:]),
        format="double-elimination",
    )
    table = planning.table(store, queries.tournament(store, "cup"))
    notes = {row.names[0]: row.note for row in table if row.note}
    assert table[0].names == ("anna@2",)
    assert notes == {"anna@1": "replaced by anna@2", "anna@2": "replaces anna@1"}


def test_late_entry_that_would_find_nothing_to_play_is_refused(store: Store) -> None:
    """In the last round of a Swiss tournament nobody comes in any more."""
    tournament.create(store, options(*NAMES[:3], format="swiss", rounds=1))
    ledger.mark_started(store, 1)
    with pytest.raises(RefusedError, match="no place for a late entry"):
        roster.join(store, "cup", "dora", "late")
    assert queries.history(store, "cup") == ()


def playing_swiss(store: Store, tmp_path: Path) -> None:
    """Begin a Swiss of six of which the fourth round is to come."""
    for name in ("emil", "fedor", "greta"):
        submit(store, tmp_path, name)
    tournament.create(store, options(*NAMES, "emil", "fedor", format="swiss", rounds=4, seed=SEED))
    stop = StopFlag()
    run(store, Script({7: stop.request}), stop=stop)


def test_nobody_waits_while_a_format_looks_for_a_place(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result that is recorded meanwhile is in what the format is asked again."""
    playing_swiss(store, tmp_path)
    told: list[int] = []

    def meanwhile(name: str, plan: Plan, results: Results) -> None:
        told.append(len(results))
        check_entry(name, plan, results)
        if len(told) == 1:
            with Store.open(store.home, busy_seconds=0.05) as other:
                ledger.finish(other, lease(other, 1), result(), ())

    monkeypatch.setattr(formats, "check_entry", meanwhile)
    info = roster.join(store, "cup", "greta", "new")

    assert told == [7, 8]
    assert (info.done, [each.name for each in info.present][-1]) == (8, "greta@1")
    assert [line[1] for line in note(store)] == ["greta@1"]


def test_entry_into_what_goes_on_too_fast_is_refused(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A format is not asked for ever; nothing is stored, and the command may be tried again."""
    playing_swiss(store, tmp_path)
    numbers = itertools.count(100)

    def meanwhile(*_args: object) -> None:
        ledger.plan(store, 1, Schedule((Pairing(next(numbers), 9, (0, 1)),)))

    monkeypatch.setattr(formats, "check_entry", meanwhile)
    with pytest.raises(RefusedError, match="goes on while its format looks for a place"):
        roster.join(store, "cup", "greta", "new")

    assert next(numbers) == 100 + desk.MOST_REHEARSALS
    assert note(store) == []
    assert len(queries.tournament(store, "cup").entrants) == 6


def test_end_by_hand_stands_between_what_came_before_and_after(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disqualification after the stop comes after it in the history, too."""
    times = itertools.count(1000)
    monkeypatch.setattr(Store, "now", lambda _: next(times))
    tournament.create(store, options(*NAMES, format="ladder"))
    ledger.mark_started(store, 1)
    roster.withdraw(store, "cup", "anna", "asked")
    roster.stop(store, "cup", "enough")
    roster.disqualify(store, "cup", "boris", "a copy")
    found = queries.history(store, "cup")
    assert [each.reason for each in found] == ["asked", "enough", "a copy"]
    assert [each.number for each in found] == [1, 2, 3]


def test_tournament_is_stopped_once(store: Store) -> None:
    """The first reason stays the reason."""
    tournament.create(store, options(*NAMES, format="ladder"))
    ledger.mark_started(store, 1)
    assert ledger.claim(store, 1, OWNER, hard_seconds=60) is not None
    roster.stop(store, "cup", "enough")
    with pytest.raises(RefusedError, match="stopped already"):
        roster.stop(store, "cup", "again")
    assert queries.tournament(store, "cup").stop_reason == "enough"


def test_who_was_named_is_the_one_that_goes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change that comes while another one is made is not done to somebody else."""
    tournament.create(store, options(*NAMES))
    check_reason = desk.check_reason

    def meanwhile(_text: str) -> None:
        monkeypatch.setattr(desk, "check_reason", check_reason)
        roster.withdraw(store, "cup", "boris", "ill")

    monkeypatch.setattr(desk, "check_reason", meanwhile)
    with pytest.raises(RefusedError, match="changed meanwhile"):
        roster.withdraw(store, "cup", "boris", "ill")
    present = [entrant.bot.name for entrant in queries.tournament(store, "cup").present]
    assert present == [name for name in NAMES if name != "boris"]


def test_nothing_brings_back_a_ladder_that_was_stopped_before_its_start(store: Store) -> None:
    """Its seed is public: whatever is tried, nothing of it is played."""
    tournament.create(store, options(*NAMES, format="ladder"))
    seed = roster.stop(store, "cup", "enough").seed
    with pytest.raises(RefusedError, match="nobody played"):
        roster.disqualify(store, "cup", "boris", "copied")
    ledger.mark_started(store, 1)
    assert run(store).exit_code == 0
    info = queries.tournament(store, "cup")
    assert (info.state, info.seed) == (TournamentState.FINISHED, seed)
    assert info.started is None
    assert ledger.claim(store, 1, OWNER, hard_seconds=60) is None


@pytest.mark.parametrize("names", [(), ("anna",)], ids=["nobody", "one"])
def test_ladder_that_too_few_entered_is_stopped(store: Store, names: tuple[str, ...]) -> None:
    """What nobody comes to can be ended like any other; it has no order and nothing to play."""
    tournament.create(store, options(*names, format="ladder", is_open=True))
    info = roster.stop(store, "cup", "nobody came")
    assert (info.state, info.stop_reason) == (TournamentState.FINISHED, "nobody came")
    assert planning.table(store, info) == ()
    assert run(store).exit_code == 0


def test_reason_is_text(store: Store) -> None:
    """What is not in UTF-8 could be neither stored nor shown."""
    tournament.create(store, options(*NAMES))
    with pytest.raises(RefusedError, match="UTF-8"):
        roster.withdraw(store, "cup", "boris", "ill \udcff")


def test_only_an_endless_tournament_is_stopped(store: Store) -> None:
    """What ends by itself is paused by stopping its run."""
    tournament.create(store, options(*NAMES))
    with pytest.raises(RefusedError, match="ends by itself"):
        roster.stop(store, "cup", "enough")


def test_walkover_lets_a_knockout_go_on(store: Store) -> None:
    """Who waits for one that left wins without a match."""
    started(
        store,
        (1, lambda: roster.withdraw(store, "cup", "anna", "ill")),
        format="single-elimination",
    )
    info = queries.tournament(store, "cup")
    assert info.state is TournamentState.FINISHED
    assert planning.table(store, info)[0].names != ("anna@1",)


def test_new_version_takes_over_a_place_in_a_knockout(store: Store, tmp_path: Path) -> None:
    """The tie that the old version did not play is played by the new one."""
    submit(store, tmp_path, "dora")
    tournament.create(
        store, options("anna", "boris", "clara", "dora@1", format="single-elimination")
    )
    ledger.mark_started(store, 1)
    roster.replace_version(store, "cup", "dora@1", "dora@2", "crashed")
    assert run(store).exit_code == 0
    info = queries.tournament(store, "cup")
    assert info.state is TournamentState.FINISHED
    assert any(match.scores for match in of(store, "dora@2"))
    assert not any(match.scores for match in of(store, "dora@1"))
    assert planning.table(store, info)[0].names == ("anna@1",)


def test_stopped_run_is_paused_between_rounds(store: Store) -> None:
    """A round that is over does not end a tournament of which more will come, nor its secret."""
    tournament.create(store, options(*NAMES, format="swiss", rounds=2))
    stop = StopFlag()
    report = run(store, Script({2: stop.request}), stop=stop)
    assert (report.exit_code, report.tournament.state) == (130, TournamentState.PAUSED)
    assert (report.tournament.seed, report.tournament.complete) == (None, False)
    assert run(store).exit_code == 0


# ------------------------------------------------------------------------------------- the ladder


def test_ladder_runs_until_it_is_stopped_and_newcomers_play_at_once(store: Store) -> None:
    """A bot that enters while it runs is in its next matches; the stop ends the run."""
    tournament.create(store, options(*NAMES[:3], format="ladder"))
    script = Script(
        {
            5: lambda: roster.join(store, "cup", "dora", "new"),
            20: lambda: roster.withdraw(store, "cup", "clara", "asked"),
            30: lambda: roster.stop(store, "cup", "enough"),
        }
    )
    report = run(store, script)
    assert (report.exit_code, report.tournament.state) == (0, TournamentState.FINISHED)
    assert report.tournament.seed is not None
    played = [match for match in queries.matches(store, "cup") if match.scores is not None]
    assert 30 <= len(played) <= 32
    held = next(each.after for each in queries.history(store, "cup") if each.joined)
    first = of(store, "dora")[0].number
    assert first - (held or 0) <= 2
    withdrawn = queries.history(store, "cup")[1].after or 0
    assert all(match.number <= withdrawn for match in of(store, "clara"))


def test_stopped_ladder_gives_back_nothing_to_play(store: Store) -> None:
    """A match that is being played when the ladder is stopped may end; if it fails it is over."""
    tournament.create(store, options(*NAMES, format="ladder"))
    ledger.mark_started(store, 1)
    held = ledger.claim(store, 1, OWNER, hard_seconds=60)
    assert held is not None
    info = roster.stop(store, "cup", "enough")
    assert (info.state.is_over, info.planned, info.seed) == (False, 0, None)
    assert ledger.void(store, held, "worker_lost") is MatchState.CANCELLED
    assert queries.tournament(store, "cup").seed is not None
    assert run(store).played == 0


def test_paused_ladder_goes_on(store: Store) -> None:
    """Ctrl-C pauses; the next run plays on."""
    tournament.create(store, options(*NAMES, format="ladder"))
    stop = StopFlag()
    report = run(store, Script({3: stop.request}), stop=stop)
    assert (report.exit_code, report.tournament.state) == (130, TournamentState.PAUSED)
    assert run(store, Script({3: lambda: roster.stop(store, "cup", "enough")})).exit_code == 0
    assert queries.tournament(store, "cup").done >= 6


def test_ladder_passes_over_a_match_that_cannot_be_played(store: Store) -> None:
    """What the platform gives up is cancelled, and the ladder goes on with others."""
    tournament.create(store, options("anna", "boris", "clara", format="ladder"))
    script = Script({20: lambda: roster.stop(store, "cup", "enough")})
    report = run(store, script, play=void_first)
    assert report.exit_code == 0
    details = queries.match(store, "cup", 1)
    assert details.match.state is MatchState.CANCELLED
    assert len(details.attempts) == ledger.MAX_VOIDS
    assert report.tournament.done >= 20


def void_first(job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """Fail in the first match."""
    return Voided(reason="referee_error") if job.spec.match == 1 else play(job, beat)


def test_tournament_that_lost_its_entrants_just_before_the_start_does_not_begin(
    store: Store,
) -> None:
    """Whoever goes between the look at the list and the start is noticed."""
    info = tournament.create(store, options("anna", "boris"))
    roster.withdraw(store, "cup", "anna", "ill")
    with pytest.raises(RefusedError, match="cannot fill"):
        ledger.mark_started(store, info.id)
    assert queries.tournament(store, "cup").started is None
