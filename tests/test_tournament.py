import hashlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlmodel import select
from stores import OTHER, OWNER, fractions, result

from arena import bots, ledger, queries, roster, tournament
from arena.errors import ENVIRONMENT, MachineError, NotFoundError, RefusedError, StoreError
from arena.home import Home
from arena.infos import AttemptState, MatchInfo, MatchState, TournamentInfo, TournamentState
from arena.jobs import (
    ENGINE_LOST,
    INTERRUPTED,
    STALLED,
    WORKER_LOST,
    MatchDescription,
    Outcome,
    Played,
    Voided,
)
from arena.owners import ownership
from arena.play import PlayOptions, gather
from arena.recovery import alone
from arena.store import Store
from arena.tables import BotVersion, Match
from arena.tournament import StopFlag, TournamentOptions
from referee.results import TimeControl
from referee.rules import Rules

SEED = bytes(range(32))


class Listener:
    """Remembers what it is told; asks for a stop after so many finished matches."""

    def __init__(self, *, stop: StopFlag | None = None, after: int = 0, times: int = 1) -> None:
        self.lines: list[str] = []
        self.notes: list[str] = []
        self.stop = stop
        self.after = after
        self.times = times

    def started(self, match: MatchInfo) -> None:
        """Note a start."""
        self.lines.append(f"started {match.number}")
        if self.stop and self.after == 0:
            self._ask()

    def finished(self, match: MatchInfo) -> None:
        """Note a result."""
        self.lines.append(f"finished {match.number} {match.state}")
        self.after -= 1
        if self.stop and self.after == 0:
            self._ask()

    def voided(self, match: MatchInfo, reason: str) -> None:
        """Note an attempt that did not count."""
        self.lines.append(f"voided {match.number} {reason.partition(':')[0]} {match.state}")

    def note(self, text: str) -> None:
        """Note a remark, which may be about what somebody else left on this machine."""
        self.notes.append(text)

    def _ask(self) -> None:
        assert self.stop is not None
        for _ in range(self.times):
            self.stop.request()


def play(job: MatchDescription, _beat: Callable[[], None]) -> Outcome:
    """Give the first entrant as many points as the match's number says."""
    number = job.spec.match
    return Played(result=result(scores=(number, -number)), reports=())


def play_third_attempts(job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """Void two attempts of every match."""
    if job.spec.attempt < 3:
        return Voided(reason="referee_error", detail="a bug")
    return play(job, beat)


def play_even_matches(job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """Void every attempt of odd matches."""
    return Voided(reason="referee_error") if job.spec.match % 2 else play(job, beat)


def die_first(job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """End the worker in the first attempt of every match."""
    if job.spec.attempt == 1:
        raise SystemExit(9)
    return play(job, beat)


def lose_the_engine(_job: MatchDescription, _beat: Callable[[], None]) -> Outcome:
    """Fail as if the engine had gone."""
    return Voided(reason=ENGINE_LOST, detail="connection refused")


def play_for_ever(_job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """Never end by itself."""
    while True:
        beat()


def hang_first(job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """Show no sign of progress in the first attempt of the first match; leave a file then."""
    if (job.spec.match, job.spec.attempt) == (1, 1):
        (job.home / "hangs").touch()
        time.sleep(600)
    return play(job, beat)


def play_slowly(job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """Take longer than a lease, with progress all the while."""
    until = time.monotonic() + (50 if job.spec.match == 1 else 0)
    while time.monotonic() < until:
        time.sleep(0.05)
        beat()
    return play(job, beat)


def play_in_odd_order(job: MatchDescription, beat: Callable[[], None]) -> Outcome:
    """End after the match that follows in the schedule."""
    while job.spec.match < 3 and not (job.home / f"played {job.spec.match + 1}").exists():
        time.sleep(0.01)
    (job.home / f"played {job.spec.match}").touch()
    return play(job, beat)


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store with three bots that are plain folders; of either kind for tests that ask for it."""
    asks = "either_home" in request.fixturenames
    home = request.getfixturevalue("either_home") if asks else Home(tmp_path / "home")
    with Store.open(home) as store:
        for name in ("anna", "boris", "clara"):
            folder = tmp_path / name
            folder.mkdir()
            (folder / "bot.py").write_text(f"print({name!r})\n")
            bots.submit(store, name, str(folder), "process")
        yield store


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.driver._FIRST_PAUSE_SECONDS", 0.01)


def options(**changes: object) -> TournamentOptions:
    """Give the options of a small tournament, with changes."""
    values: dict[str, object] = {
        "name": "cup",
        "bots": ("anna", "boris", "clara"),
        "time": TimeControl(),
        "decks": 1,
        "seed": SEED,
        "sandbox": "process",
    }
    return TournamentOptions(**{**values, **changes})  # type: ignore[arg-type]


def run(
    store: Store, play: Callable[..., Outcome] = play, listener: Listener | None = None
) -> tournament.RunReport:
    """Run the tournament, one match at a time, with a way to play its matches."""
    listener = listener or Listener()
    stop = listener.stop or StopFlag()
    return tournament.run(store, "cup", progress=listener, stop=stop, concurrency=1, play=play)


@pytest.fixture
def cup(store: Store) -> TournamentInfo:
    """A tournament of three matches."""
    return tournament.create(store, options())


# ------------------------------------------------------------------------------------------ bots


def test_versions_are_numbered_and_keep_what_was_submitted(store: Store, tmp_path: Path) -> None:
    """An edit after submission changes nothing until it is submitted as the next version."""
    program = tmp_path / "anna" / "bot.py"
    program.write_text("print('better')\n")
    first = queries.bot_version(store, "anna")
    assert first.folder is not None
    assert (first.folder / "bot.py").read_text() == "print('anna')\n"
    second = bots.submit(store, "anna", str(tmp_path / "anna"), "process")
    assert (second.version, second.new) == (2, True)
    assert queries.bot_version(store, "anna").digest == second.digest
    assert queries.bot_version(store, "anna@1").digest == first.digest


def test_unchanged_submission_is_no_new_version(store: Store, tmp_path: Path) -> None:
    """Submitting the same content again gives the newest version back."""
    again = bots.submit(store, "ANNA", str(tmp_path / "anna"), "process")
    assert (again.name, again.version, again.new) == ("anna", 1, False)


def test_digest_changes_with_names_modes_and_content(tmp_path: Path) -> None:
    """Anything that can change what runs changes the digest of a tree."""
    program = tmp_path / "a"
    program.write_text("1")
    digests = [bots.tree_digest(tmp_path)]
    program.chmod(0o755)
    digests.append(bots.tree_digest(tmp_path))
    program.write_text("2")
    digests.append(bots.tree_digest(tmp_path))
    program.rename(tmp_path / "b")
    digests.append(bots.tree_digest(tmp_path))
    assert len(set(digests)) == 4


@pytest.mark.parametrize(
    "name", ["", "a b", "../x", "-x", "a@1", "a/b", "é", "x" * 41, "a\n", "con.", "<b>", "b+c"]
)
def test_names_that_could_be_more_than_names_are_refused(
    store: Store, tmp_path: Path, name: str
) -> None:
    """A name is letters, digits and a few signs: never a path, an option or markup."""
    with pytest.raises(RefusedError, match="cannot name a bot"):
        bots.submit(store, name, str(tmp_path / "anna"), "process")


def test_folder_with_a_link_that_leads_outside_is_refused(store: Store, tmp_path: Path) -> None:
    """A submission cannot copy files of the organiser's."""
    (tmp_path / "anna" / "secret").symlink_to("/etc/passwd")
    with pytest.raises(RefusedError, match="leads outside"):
        bots.submit(store, "anna", str(tmp_path / "anna"), "process")
    assert not list(store.home.bots.glob("*.part"))


def test_empty_or_missing_folder_is_refused(store: Store, tmp_path: Path) -> None:
    """There must be something to run."""
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "missing"):
        with pytest.raises(RefusedError):
            bots.submit(store, "dora", str(tmp_path / folder), "process")
    assert [bot.name for bot in queries.bots(store)] == ["anna", "boris", "clara"]


@pytest.mark.parametrize(
    ("kind", "backend", "words"),
    [
        ("process", "container", "plain process; play it with --sandbox process"),
        ("image", "process", "needs a container engine; play it with --sandbox docker"),
    ],
)
def test_bot_of_the_other_sandbox_is_not_played(
    store: Store, kind: str, backend: str, words: str
) -> None:
    """The error says which sandbox the bot needs, whichever was chosen for the player."""
    with store.write() as session:
        for version in session.exec(select(BotVersion)):
            version.kind = kind
    options = PlayOptions(
        bots=("anna", "boris"), seed=SEED, time=TimeControl(), rules=Rules(), variant="bura"
    )
    with pytest.raises(RefusedError, match=words):
        gather(store.home, options, backend)


# ------------------------------------------------------------------------------------- creation


def test_seed_is_committed_at_once_and_revealed_at_the_end(
    store: Store, cup: TournamentInfo
) -> None:
    """The commitment is the SHA-256 of a seed that nobody sees before the last match."""
    assert cup.commitment == hashlib.sha256(SEED).hexdigest()
    assert (cup.seed, cup.seed_given, cup.state) == (None, True, TournamentState.PLANNED)
    run(store)
    assert queries.tournament(store, "cup").seed == SEED


def test_seed_is_drawn_when_none_is_given(store: Store) -> None:
    """Two tournaments without a seed have different ones."""
    made = [tournament.create(store, options(name=name, seed=None)) for name in ("a", "b")]
    assert made[0].commitment != made[1].commitment
    assert not made[0].seed_given


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bots": ("anna",)}, "fill 2 seats"),
        ({"bots": ("anna", "anna@1")}, "entered twice"),
        ({"sandbox": "container"}, "submitted as a process"),
        ({"rounds": 0}, "rounds"),
        ({"decks": 0}, "decks"),
        ({"name": "a b"}, "cannot name a tournament"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    store: Store, changes: dict[str, object], words: str
) -> None:
    """What could not be played is refused before it exists."""
    with pytest.raises(RefusedError, match=words):
        tournament.create(store, options(**changes))
    assert queries.tournaments(store) == ()


@pytest.mark.parametrize(
    "changes", [{"bots": ("anna", "dora")}, {"bots": ("anna", "boris@7")}, {"format": "knockout"}]
)
def test_unknown_names_are_not_found(store: Store, changes: dict[str, object]) -> None:
    """A typo is an error, never a default."""
    with pytest.raises(NotFoundError):
        tournament.create(store, options(**changes))


@pytest.mark.usefixtures("cup")
def test_name_of_a_tournament_is_taken_once(store: Store) -> None:
    """Names differ by more than case, and the first tournament stays as it is."""
    with pytest.raises(RefusedError, match="already"):
        tournament.create(store, options(name="CUP", decks=9))
    assert queries.tournament(store, "cup").decks == 1


# ------------------------------------------------------------------------------------- the run


@pytest.mark.usefixtures("cup")
def test_run_plays_the_schedule_once(store: Store) -> None:
    """All matches are recorded, and a second run has nothing to play."""
    report = run(store)
    assert (report.played, report.exit_code) == (3, 0)
    assert report.tournament.state is TournamentState.FINISHED
    assert queries.format_results(store, 1) == {n: fractions(n, -n) for n in (1, 2, 3)}
    assert run(store).played == 0


@pytest.mark.usefixtures("cup")
def test_listener_hears_of_starts_and_results(store: Store) -> None:
    """Each match is told of when it starts and when it is recorded."""
    listener = Listener()
    run(store, listener=listener)
    assert listener.lines[:2] == ["started 1", "finished 1 done"]
    assert len(listener.lines) == 6


@pytest.mark.usefixtures("cup")
def test_platform_failures_are_played_again(store: Store) -> None:
    """Two void attempts of a match cost nobody anything."""
    report = run(store, play_third_attempts)
    assert (report.played, report.voided, report.exit_code) == (3, 6, 0)
    states = [attempt.state for attempt in queries.match(store, "cup", 1).attempts]
    assert states == [AttemptState.VOID, AttemptState.VOID, AttemptState.RECORDED]


@pytest.mark.usefixtures("either_home", "cup")
def test_match_that_fails_three_times_stays_incomplete_and_unscored(store: Store) -> None:
    """The others are played, and the run says with its exit code that something is missing."""
    report = run(store, play_even_matches)
    assert (report.played, report.tournament.incomplete, report.exit_code) == (1, 2, 1)
    assert report.tournament.state is TournamentState.INCOMPLETE
    assert report.tournament.seed is None
    assert [match.scores for match in queries.matches(store, "cup")] == [
        None,
        fractions(2, -2),
        None,
    ]


@pytest.mark.usefixtures("cup")
def test_lost_worker_voids_the_attempt_only(store: Store) -> None:
    """A worker that dies is the platform's failure; its match is played by a new one."""
    report = run(store, die_first)
    assert (report.played, report.voided) == (3, 3)
    first = queries.match(store, "cup", 1).attempts[0]
    assert first.reason.startswith(WORKER_LOST)


@pytest.mark.usefixtures("cup")
def test_first_request_to_stop_finishes_running_matches_only(store: Store) -> None:
    """A drained run ends with 130, and the next run plays the rest."""
    stop = StopFlag()
    report = run(store, listener=Listener(stop=stop, after=1))
    assert (report.interrupted, report.exit_code) == (True, 130)
    assert report.tournament.state is TournamentState.PAUSED
    assert report.tournament.running == 0
    rest = run(store)
    assert report.played + rest.played == 3
    assert queries.format_results(store, 1) == {n: fractions(n, -n) for n in (1, 2, 3)}


@pytest.mark.usefixtures("cup")
def test_second_request_gives_running_matches_up_without_counting_them(store: Store) -> None:
    """Stopped at once, a match goes back as if it had never been started."""
    for _ in range(ledger.MAX_VOIDS + 1):
        report = run(store, play_for_ever, Listener(stop=StopFlag(), times=2))
        assert (report.played, report.interrupted) == (0, True)
    details = queries.match(store, "cup", 1)
    assert details.match.state is MatchState.PLANNED
    assert details.attempts[-1].reason == INTERRUPTED
    assert run(store).played == 3


@pytest.mark.usefixtures("cup")
def test_run_ends_when_the_engine_stays_away(store: Store) -> None:
    """Without an engine the run says so, and no match loses an attempt."""
    with pytest.raises(MachineError, match="connection refused") as caught:
        run(store, lose_the_engine)
    assert caught.value.exit_code == ENVIRONMENT
    assert queries.match(store, "cup", 1).match.state is MatchState.PLANNED
    assert run(store).exit_code == 0


@pytest.mark.usefixtures("either_home", "cup")
def test_result_that_cannot_be_stored_is_not_half_stored(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk ends the run in one line; the next run plays the match again."""

    def fail(*_args: object) -> bool:
        raise StoreError("the disk is full")

    monkeypatch.setattr("arena.ledger.finish", fail)
    with pytest.raises(StoreError):
        run(store)
    monkeypatch.undo()
    assert queries.format_results(store, 1) == {}
    assert queries.tournament(store, "cup").running == 0
    assert run(store).played == 3


@pytest.mark.usefixtures("cup")
def test_match_without_progress_is_ended_and_played_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that lives but does not move is replaced; its match costs nobody anything."""
    hangs = store.home.path / "hangs"
    # The start of a worker is silence too: none counts but that of the one that hangs.
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + 10_000 * hangs.exists())
    monkeypatch.setattr("arena.driver.time", clock)
    monkeypatch.setattr("arena.driver._longest_silence", lambda _info: 1000.0)
    report = run(store, hang_first)
    assert report.played == 3
    assert report.voided >= 1
    assert queries.match(store, "cup", 1).attempts[0].reason.startswith(STALLED)


@pytest.mark.long
@pytest.mark.usefixtures("cup")
def test_progress_keeps_a_lease_however_long_a_match_takes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A match that outlasts its lease is recorded at the first attempt."""
    monkeypatch.setattr("arena.driver._longest_silence", lambda _info: 40.0)
    report = run(store, play_slowly)
    assert (report.played, report.voided, report.fenced) == (3, 0, 0)


class Thief(Listener):
    """Gives the first match to somebody else while it is played."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store

    def started(self, match: MatchInfo) -> None:
        """Take the lease of the first match."""
        if match.number == 1:
            with self.store.write() as session:
                row = session.get_one(Match, 1)
                row.owner = OTHER.boot
                session.add(row)


@pytest.mark.usefixtures("cup")
def test_tournament_runs_between_two_matches_too(store: Store) -> None:
    """It is paused when its run has ended, not while the next match is being chosen."""
    with ownership(store.home) as owner:
        ledger.mark_started(store, 1)
        lease = ledger.claim(store, 1, owner, hard_seconds=60)
        assert lease is not None
        assert ledger.finish(store, lease, result(), ())
        assert queries.tournament(store, "cup").state is TournamentState.RUNNING
    assert queries.tournament(store, "cup").state is TournamentState.PAUSED


class Doorkeeper(Listener):
    """Lets a fourth bot in while the first match is played, and stops after three."""

    def __init__(self, store: Store) -> None:
        super().__init__(stop=StopFlag(), after=3)
        self.store = store
        self.seen: list[MatchInfo] = []

    def started(self, match: MatchInfo) -> None:
        """Enter the newcomer during the first match."""
        self.seen.append(match)
        if match.number == 1:
            roster.join(self.store, "cup", "dora", "came by the evening train")


def test_newcomer_of_a_running_ladder_plays_next(store: Store, tmp_path: Path) -> None:
    """It does not wait until what was planned before it came is played."""
    folder = tmp_path / "dora"
    folder.mkdir()
    (folder / "bot.py").write_text("print('dora')\n")
    bots.submit(store, "dora", str(folder), "process")
    tournament.create(store, options(format="ladder"))
    keeper = Doorkeeper(store)
    run(store, listener=keeper)
    first, second, third = keeper.seen[:3]
    assert (first.number, first.stage) == (1, "")
    assert second.number > first.number + 1
    for match in (second, third):
        assert match.stage == "placement"
        assert "dora@1" in match.entrants


@pytest.mark.usefixtures("either_home", "cup")
def test_result_of_a_lost_lease_is_thrown_away(store: Store) -> None:
    """What another owner holds by now is not recorded, and the run says so."""
    thief = Thief(store)
    report = run(store, listener=thief)
    assert (report.played, report.fenced, report.exit_code) == (2, 1, 1)
    assert queries.format_results(store, 1).keys() == {2, 3}
    assert any("thrown away" in line for line in thief.notes)


@pytest.mark.usefixtures("either_home", "cup")
def test_number_of_workers_and_order_of_results_change_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three workers whose matches end in reverse give what one worker gives."""
    run(store)
    alone = queries.played_matches(store, "cup")
    tournament.create(store, options(name="wide"))
    monkeypatch.setattr("arena.tournament.plan_slots", lambda **_: [None, None, None])
    listener = Listener()
    tournament.run(store, "wide", progress=listener, stop=StopFlag(), play=play_in_odd_order)
    assert listener.lines[:3] == ["started 1", "started 2", "started 3"]
    assert queries.played_matches(store, "wide") == alone


def test_signals_ask_for_a_stop() -> None:
    """SIGINT once drains, twice stops at once, and SIGTERM stops at once; then all is as before."""
    before = signal.getsignal(signal.SIGINT)
    with StopFlag().signals() as stop:
        os.kill(os.getpid(), signal.SIGINT)
        assert (stop.draining, stop.now) == (True, False)
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.now
    with StopFlag().signals() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.now
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("ignored", [False, True])
def test_closed_terminal_stops_at_once_unless_it_is_to_be_ignored(*, ignored: bool) -> None:
    """SIGHUP stops a run as SIGTERM does; under nohup, which ignores it, the run goes on."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
    try:
        stop = StopFlag()
        with stop.signals():
            os.kill(os.getpid(), signal.SIGHUP)
        assert stop.now is not ignored
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("cup")
def test_second_run_of_an_arena_is_refused(store: Store) -> None:
    """Two runs would slow each other's bots."""
    with alone(store.home), pytest.raises(RefusedError, match="another run") as caught:
        run(store)
    assert caught.value.exit_code == ENVIRONMENT


@pytest.mark.usefixtures("cup")
def test_more_matches_at_once_than_the_cores_allow_are_refused(store: Store) -> None:
    """Fair clocks come before speed."""
    with pytest.raises(RefusedError, match="cores"):
        tournament.run(
            store, "cup", progress=Listener(), stop=StopFlag(), concurrency=1000, play=play
        )


@pytest.mark.usefixtures("cup")
def test_next_run_removes_files_no_result_names(store: Store) -> None:
    """Records of attempts that never counted, and drafts, are swept; the others stay."""
    run(store)
    orphan = store.home.records / "cup" / "1" / "7"
    kept = store.home.records / "cup" / "1" / "1"
    draft = store.home.bots / "x.part"
    for folder in (orphan, kept, draft):
        folder.mkdir(parents=True)
    run(store)
    assert (orphan.exists(), kept.exists(), draft.exists()) == (False, True, False)


@pytest.mark.usefixtures("cup")
def test_statistics_see_matches_in_schedule_order(store: Store) -> None:
    """Whatever order results came in, they are folded by match number."""
    for number in (3, 1, 2):
        skip = {1, 2, 3} - {number}
        lease = ledger.claim(store, 1, OWNER, hard_seconds=60, skip=skip)
        assert lease is not None
        ledger.finish(store, lease, result(scores=(number, -number)), [])
    played = queries.played_matches(store, "cup")
    assert [match.number for match in played] == [1, 2, 3]
    assert [match.totals[0] for match in played] == [Fraction(1), Fraction(2), Fraction(3)]
