"""Which results are rated together, in which order, and up to when."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import stores

from arena import ledger, queries
from arena.errors import NotFoundError
from arena.formats import Pairing, Schedule
from arena.home import Home
from arena.plan_queries import count_changes
from arena.pools import FILE, Wish
from arena.rankings import (
    Ranking,
    pool_of,
    pool_ranking,
    tournament_ranking,
    tournament_table,
)
from arena.ratings import OpenSkill, TrueSkill, fold
from arena.reasons import ReasonKind
from arena.store import Store
from arena.tables import Change, Entrant, Tournament


@pytest.fixture(name="hours")
def _hours() -> stores.Hours:
    return stores.Hours()


@pytest.fixture(name="store")
def _store(tmp_path: Path, hours: stores.Hours) -> Iterator[Store]:
    with Store.open(Home(tmp_path), clock=hours) as store:
        yield store


def played(store: Store, name: str, *scores: int, bots: tuple[str, ...] = ("anna", "boris")) -> int:
    """Store a tournament of two whose matches the first won by these scores."""
    number = stores.add_tournament(store, bots=bots, matches=len(scores), name=name)
    for score in scores:
        assert ledger.finish(
            store, stores.lease(store, number), stores.result(scores=(score, -score)), []
        )
    return number


def again(store: Store, name: str, like: int, *scores: int, **changes: object) -> int:
    """Store a tournament of the same two bots, with some of its settings changed."""
    with store.write() as session:
        first = session.get_one(Tournament, like)
        values = {**first.model_dump(exclude={"id"}), "name": name, "folded": name, **changes}
        tournament = Tournament(**values)
        session.add(tournament)
        session.flush()
        number = tournament.id or 0
        for position in range(2):
            entrant = session.get_one(Entrant, (like, position))
            session.add(
                Entrant(
                    tournament_id=number,
                    position=position,
                    bot_version_id=entrant.bot_version_id,
                )
            )
    pairings = tuple(Pairing(place + 1, 1, (0, 1)) for place in range(len(scores)))
    ledger.plan(store, number, Schedule(pairings, complete=True))
    for score in scores:
        assert ledger.finish(
            store, stores.lease(store, number), stores.result(scores=(score, -score)), []
        )
    return number


def ranking_of(store: Store, name: str) -> Ranking:
    """Return the ranking of the pool that a tournament belongs to."""
    return pool_ranking(store, pool_of(queries.tournament(store, name)))


def test_a_pool_holds_all_its_tournaments_in_order(store: Store) -> None:
    """Matches of a pool are folded by tournament, then by schedule, and named by both."""
    first = played(store, "spring", 1, -1, 1)
    again(store, "autumn", first, 1, 1)

    ranking = ranking_of(store, "spring")

    assert ranking.names == ("spring/1", "spring/2", "spring/3", "autumn/1", "autumn/2")
    assert [match.number for match in ranking.matches] == [0, 1, 2, 3, 4]
    assert [row.balance.games for row in ranking.table()] == [5, 5]


@pytest.mark.parametrize("change", [{"match_format": "robber"}, {"seats": 3}])
def test_another_number_of_seats_or_format_is_another_pool(
    store: Store, change: dict[str, object]
) -> None:
    """Matches with other seats, or in another format, are never rated together."""
    first = played(store, "spring", 1)
    again(store, "other", first, -1, **change)

    assert ranking_of(store, "spring").names == ("spring/1",)
    assert ranking_of(store, "other").names == ("other/1",)


def test_a_tournament_is_rated_by_itself(store: Store) -> None:
    """The table of a tournament knows nothing of others in its pool."""
    first = played(store, "spring", 1)
    again(store, "autumn", first, -1)

    assert tournament_ranking(store, "spring").names == ("spring/1",)
    assert [row.entrant for row in tournament_table(store, "spring")] == ["anna@1", "boris@1"]


def test_results_recorded_later_do_not_count(store: Store, hours: stores.Hours) -> None:
    """Up to a moment only what was recorded by then counts, to the millisecond."""
    number = stores.add_tournament(store, matches=2, name="cup")
    for score in (1, -1):
        hours.seconds += 10
        lease = stores.lease(store, number)
        assert ledger.finish(store, lease, stores.result(scores=(score, -score)), [])
    last = store.now()

    assert tournament_ranking(store, "cup", until=last).names == ("cup/1", "cup/2")
    assert tournament_ranking(store, "cup", until=last - 1).names == ("cup/1",)
    assert tournament_ranking(store, "cup", until=0).names == ()


def test_result_that_is_recorded_meanwhile_does_no_harm(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matches and times are read at one moment, so that a run beside it can go on."""
    number = stores.add_tournament(store, matches=20, name="cup")

    def finish() -> None:
        assert ledger.finish(store, stores.lease(store, number), stores.result(), [])

    finish()
    stores.after_every_read(monkeypatch, finish)

    assert "cup/1" in tournament_ranking(store, "cup", until=store.now()).names


def happened(
    store: Store, kind: str, why: ReasonKind, position: int, created: int, *, after: int | None = 2
) -> None:
    """Store that a bot of the only tournament came or left at a moment."""
    with store.write() as session:
        number = count_changes(session, 1) + 1
        session.add(
            Change(
                tournament_id=1,
                number=number,
                kind=kind,
                reason_kind=why,
                bot_version_id=position + 1,
                position=None if after is None else position,
                after=after,
                reason="so it was",
                created=created,
            )
        )


def test_a_ranking_up_to_a_moment_knows_nothing_of_who_came_or_left_later(store: Store) -> None:
    """Entrants and marks are those of the moment; before a tournament was made it has none."""
    bots = ("anna", "boris", "clara", "dora")
    number = stores.add_tournament(store, bots=bots, matches=2, name="cup")
    with store.write() as session:
        row = session.get_one(Tournament, number)
        row.created, row.started = 10, 30
        session.add(row)
    happened(store, "join", ReasonKind.ENTRY, 1, 20, after=None)
    happened(store, "join", ReasonKind.LATE_ENTRY, 2, 40)
    happened(store, "leave", ReasonKind.WITHDRAWAL, 0, 50)
    happened(store, "leave", ReasonKind.DISQUALIFICATION, 0, 60)

    def stood(until: int) -> tuple[set[str], dict[str, str]]:
        ranking = tournament_ranking(store, "cup", until=until)
        assert pool_ranking(store, ranking.pool, until=until).entrants == ranking.entrants
        return set(ranking.entrants), dict(ranking.left)

    assert stood(9) == (set(), {})
    assert stood(19) == ({"anna@1", "dora@1"}, {})
    assert stood(39) == ({"anna@1", "boris@1", "dora@1"}, {})
    everybody = {f"{bot}@1" for bot in bots}
    assert stood(49) == (everybody, {})
    assert stood(59) == (everybody, {"anna@1": "withdrawal"})
    assert stood(60) == (everybody, {"anna@1": "disqualification"})


def test_who_was_taken_out_before_the_start_was_in_until_then(store: Store) -> None:
    """Up to a moment before a withdrawal that planned anew, the bot is listed."""
    number = stores.add_tournament(store, bots=("anna", "boris", "clara"), name="cup")
    with store.write() as session:
        session.delete(session.get_one(Entrant, (number, 2)))
    happened(store, "leave", ReasonKind.WITHDRAWAL, 2, 20, after=None)

    assert "clara@1" in tournament_ranking(store, "cup", until=19).entrants
    assert "clara@1" not in tournament_ranking(store, "cup", until=20).entrants


def test_pools_use_their_settings(store: Store) -> None:
    """The parameters of ratings.toml are those that the table is folded with."""
    played(store, "cup", 1, 1, -1)
    (store.home.path / FILE).write_text("[[pool]]\nseats = 2\ntrueskill = {tau = 1}\n", "utf-8")

    ranking = ranking_of(store, "cup")

    assert ranking.parameters["tau"] == 1
    wanted = {each.entrant: each for each in fold(ranking.matches, TrueSkill(tau=1))}
    assert {row.entrant: row.rating for row in ranking.table()} == wanted


def test_another_system_can_be_asked_for(store: Store) -> None:
    """The same results can be rated by the other system without a change of settings."""
    played(store, "cup", 1, -1, 1)
    (row, *_) = tournament_table(store, "cup", Wish(rating="openskill"))

    ranking = tournament_ranking(store, "cup", Wish(rating="openskill"))
    assert ranking.rating == "openskill"
    assert row.rating == fold(ranking.matches, OpenSkill())[0]
    with pytest.raises(NotFoundError):
        tournament_table(store, "cup", Wish(rating="elo"))


def test_changes_name_their_match(store: Store) -> None:
    """Each change says by the match's ID where it was made, and what it came to."""
    played(store, "cup", 1, 1)
    ranking = tournament_ranking(store, "cup")

    made = ranking.changes()

    assert [(each.match, each.entrant) for each in made] == [
        ("cup/1", "anna@1"),
        ("cup/1", "boris@1"),
        ("cup/2", "anna@1"),
        ("cup/2", "boris@1"),
    ]
    assert sum(each.delta for each in made if each.entrant == "anna@1") == pytest.approx(
        ranking.table()[0].rating.shown  # type: ignore[union-attr]
    )
