"""Promised strings: nobody, not even the organiser, chooses the deals by the last word."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cups import SEED, options, run, submit
from stores import Ticks

from arena import bots, ledger, promises, queries, roster, tournament
from arena.entropy import Protection, StringState, digest_of, protection, protection_words
from arena.errors import USAGE, NotFoundError, RefusedError
from arena.home import Home
from arena.infos import TournamentState
from arena.store import Store
from referee.shuffle import mixed_seed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.infos import Contribution, TournamentInfo

OLD_DATABASE = Path(__file__).parent / "databases" / "0004.sql"
TEXTS = {name: f"{name}'s dice" for name in ("anna", "boris", "clara", "dora", "emil")}
OPEN, PROMISED, REVEALED = StringState.OPEN, StringState.PROMISED, StringState.REVEALED
KNOWN, FORGONE, LATE = StringState.KNOWN, StringState.FORGONE, StringState.LATE


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store in which anna and boris promised a string, and clara gave none."""
    with Store.open(Home(tmp_path / "home"), clock=Ticks()) as store:
        for name in ("anna", "boris"):
            submit(store, tmp_path, name, promised=TEXTS[name])
        submit(store, tmp_path, "clara")
        yield store


def test_stopped_tournament_waits_for_no_string(store: Store) -> None:
    """Its seed is public, so that no string may change it any more."""
    tournament.create(store, options("anna", "boris", "clara", seed=SEED, format="ladder"))
    seed = roster.stop(store, "cup", "enough").seed
    with pytest.raises(RefusedError):
        reveal(store, "anna")
    with pytest.raises(RefusedError, match="has ended"):
        promises.give_up(store, "cup", "boris", "silent")
    assert queries.tournament(store, "cup").seed == seed


@pytest.fixture
def cup(store: Store) -> TournamentInfo:
    """A tournament of the three."""
    return tournament.create(store, options("anna", "boris", "clara", seed=SEED))


def reveal(store: Store, *names: str) -> None:
    """Tell what some bots promised."""
    for name in names:
        promises.reveal(store, name, TEXTS[name])


def strings(store: Store, name: str = "cup") -> dict[str, Contribution]:
    """Return the strings of a tournament by their entrants."""
    return {each.entrant: each for each in queries.tournament(store, name).contributions}


def states(store: Store, name: str = "cup") -> dict[str, StringState]:
    """Return what became of the strings of a tournament."""
    return {entrant: each.state for entrant, each in strings(store, name).items()}


def seed(store: Store) -> bytes:
    """Return what the decks of the cup follow from as it stands."""
    return queries.deck_seed(store, queries.tournament(store, "cup").id)


# ---------------------------------------------------------------------------------- kept promises


@pytest.mark.usefixtures("cup")
def test_promised_strings_are_mixed_in_once_they_are_told(store: Store, tmp_path: Path) -> None:
    """Open strings and kept promises together make the seed, each in its own way."""
    submit(store, tmp_path, "dora", "dora's dice")
    roster.join(store, "cup", "dora", "entry")
    reveal(store, "anna", "boris")
    assert states(store) == {
        "anna@1": REVEALED,
        "boris@1": REVEALED,
        "dora@1": OPEN,
    }
    run(store)
    info = queries.tournament(store, "cup")
    promised = [TEXTS[name].encode() for name in ("anna", "boris")]
    assert info.seed == mixed_seed(SEED, [b"dora's dice"], promised)
    assert protection(info.contributions) is Protection.PROMISED


@pytest.mark.usefixtures("cup")
def test_tournament_does_not_start_before_promises_are_kept(store: Store) -> None:
    """Whose strings are missing, and what can be done, is told in one line."""
    reveal(store, "anna")
    with pytest.raises(RefusedError) as caught:
        run(store)
    assert caught.value.exit_code == USAGE
    said = str(caught.value)
    assert "strings that boris@1 promised" in said
    assert "anna" not in said
    for way in ("arena bot reveal boris@1", "withdraw", "arena tournament forgo cup boris@1"):
        assert way in said
    assert "\n" not in said
    assert queries.tournament(store, "cup").state is TournamentState.PLANNED


def test_promise_that_comes_at_the_last_moment_holds_the_start_up(
    store: Store, cup: TournamentInfo
) -> None:
    """The transaction that fixes the seed looks once more."""
    with pytest.raises(RefusedError, match="waits for the strings that anna@1, boris@1 promised"):
        ledger.mark_started(store, cup.id)
    assert queries.tournament(store, "cup").started is None


@pytest.mark.usefixtures("cup")
def test_telling_a_string_again_changes_nothing(store: Store) -> None:
    """The same string twice is one."""
    assert promises.reveal(store, "anna@1", TEXTS["anna"]).new
    before = queries.tournament(store, "cup")
    again = promises.reveal(store, "anna", TEXTS["anna"])
    assert not again.new
    assert [each.name for each in again.tournaments] == ["cup"]
    assert queries.tournament(store, "cup") == before


@pytest.mark.usefixtures("cup")
@pytest.mark.parametrize(
    ("bot", "text", "said"),
    [
        ("anna", "anna's dice ", "without blanks at the ends"),
        ("anna", "boris's dice", "this is not the string that anna@1 promised"),
        ("anna", "\udcff", "printable"),
        ("clara", "clara's dice", "clara@1 promised no string"),
    ],
)
def test_string_that_was_not_promised_is_refused(
    store: Store, bot: str, text: str, said: str
) -> None:
    """In one line, and nothing is fixed by it."""
    with pytest.raises(RefusedError, match=said) as caught:
        promises.reveal(store, bot, text)
    assert "\n" not in str(caught.value)
    assert queries.tournament(store, "cup").listed is None
    assert states(store)["anna@1"] is PROMISED


def test_promise_of_a_string_with_a_line_end_is_told_so(store: Store, tmp_path: Path) -> None:
    """The commonest mistake of an author is named."""
    submit(store, tmp_path, "emil", promised="emil's dice\n")
    tournament.create(store, options("anna", "emil"))
    with pytest.raises(RefusedError, match="with a line end"):
        promises.reveal(store, "emil", "emil's dice")


def test_version_that_did_promise_is_named(store: Store, tmp_path: Path) -> None:
    """A bare name is the newest version, which need not be the one that promised."""
    submit(store, tmp_path, "anna")
    with pytest.raises(RefusedError, match="name the version that did: anna@1"):
        promises.reveal(store, "anna", TEXTS["anna"])


def test_string_that_nobody_waits_for_is_kept_secret(store: Store) -> None:
    """Told before its bot is entered it would protect nobody, so it is refused."""
    with pytest.raises(RefusedError, match="no tournament waits for the string of anna@1"):
        promises.reveal(store, "anna", TEXTS["anna"])
    assert queries.bot_version(store, "anna").entropy is None


def test_pairings_are_drawn_anew_with_every_string(store: Store, tmp_path: Path) -> None:
    """What is stored of who meets whom follows from the seed that counts."""
    submit(store, tmp_path, "dora")
    tournament.create(
        store, options("anna", "boris", "clara", "dora", format="swiss", rounds=1, seed=SEED)
    )
    reveal(store, "anna", "boris")
    before = [match.entrants for match in queries.matches(store, "cup")]
    run(store)
    assert [match.entrants for match in queries.matches(store, "cup")] == before


# ------------------------------------------------------------------------------------ fixed lists


@pytest.mark.usefixtures("cup")
@pytest.mark.parametrize("is_promised", [False, True])
def test_string_that_comes_after_the_first_reveal_is_too_late(
    store: Store, tmp_path: Path, *, is_promised: bool
) -> None:
    """Given or promised: it is shown as too late, holds nothing up and is in no seed."""
    before = strings(store)
    reveal(store, "anna", "boris")
    fixed = queries.tournament(store, "cup")
    entropy, promised = (None, "late dice") if is_promised else ("late dice", None)
    submit(store, tmp_path, "dora", entropy, promised=promised)
    info = roster.join(store, "cup", "dora", "entry")
    assert [each.state for each in info.contributions] == [REVEALED, REVEALED, LATE]
    assert info.promises == fixed.promises
    run(store)
    info = queries.tournament(store, "cup")
    assert info.seed == mixed_seed(SEED, [], [TEXTS[name].encode() for name in ("anna", "boris")])
    assert before.keys() < strings(store).keys()


def test_hash_of_the_promises_changes_until_the_list_is_fixed_and_never_after(
    store: Store, tmp_path: Path, cup: TournamentInfo
) -> None:
    """What an author notes before telling a string is what stands at the end."""
    submit(store, tmp_path, "dora", promised=TEXTS["dora"])
    noted = roster.join(store, "cup", "dora", "entry")
    assert noted.promises != cup.promises
    assert noted.listed is None
    reveal(store, "anna")
    assert queries.tournament(store, "cup").listed is not None
    reveal(store, "boris")
    roster.withdraw(store, "cup", "dora", "ill")
    run(store)
    assert queries.tournament(store, "cup").promises == noted.promises


def test_hash_stands_for_the_commitment_too(store: Store, cup: TournamentInfo) -> None:
    """The same promises under another secret have another hash."""
    other = tournament.create(store, options("anna", "boris", "clara", name="other"))
    assert other.promises != cup.promises
    assert {each.state for each in other.contributions} == {PROMISED}


def test_string_fixes_the_list_of_every_tournament_that_waits(store: Store) -> None:
    """What is known in one is known in all."""
    for name in ("one", "two"):
        tournament.create(store, options("anna", "boris", name=name))
    told = promises.reveal(store, "anna", TEXTS["anna"])
    assert [each.name for each in told.tournaments] == ["one", "two"]
    for name in ("one", "two"):
        assert queries.tournament(store, name).listed is not None
        assert states(store, name) == {"anna@1": REVEALED, "boris@1": PROMISED}


def test_start_fixes_the_list_where_nothing_was_promised(store: Store, tmp_path: Path) -> None:
    """A promise that comes after the start is too late, and nobody waits for it."""
    submit(store, tmp_path, "dora", "dora's dice")
    cup = tournament.create(store, options("clara", "dora", seed=SEED))
    ledger.mark_started(store, cup.id)
    assert queries.tournament(store, "cup").listed is not None
    roster.join(store, "cup", "anna", "late")
    assert states(store) == {"dora@1": OPEN, "anna@1": LATE}
    assert run(store).exit_code == 0
    assert queries.tournament(store, "cup").seed == mixed_seed(SEED, [b"dora's dice"])


# ------------------------------------------------------------------------- the organiser's attacks


@pytest.mark.usefixtures("cup")
def test_organiser_who_grinds_the_last_string_changes_no_deal(store: Store, tmp_path: Path) -> None:
    """He knows the secret and all strings, and enters, takes out and replaces whom he likes."""
    reveal(store, "anna", "boris")
    due = seed(store)
    for number in range(8):
        submit(store, tmp_path, "loaded", f"try {number}")
        roster.join(store, "cup", f"loaded@{number + 1}", "came late")
        assert seed(store) == due
    roster.withdraw(store, "cup", "loaded@3", "tired")
    roster.disqualify(store, "cup", "loaded@4", "cheats")
    roster.withdraw(store, "cup", "anna", "its author asked for it")
    submit(store, tmp_path, "boris", "another")
    roster.replace_version(store, "cup", "boris@1", "boris@2", "crashes")
    assert seed(store) == due
    run(store)
    assert queries.tournament(store, "cup").seed == due


def test_organiser_who_grinds_where_strings_are_open_chooses_the_deals(
    store: Store, tmp_path: Path
) -> None:
    """What promises mend: without them each string given last makes other deals."""
    submit(store, tmp_path, "emil", "honest")
    tournament.create(store, options("clara", "emil", seed=SEED))
    seeds = {seed(store)}
    for number in range(4):
        submit(store, tmp_path, "loaded", f"try {number}")
        roster.join(store, "cup", f"loaded@{number + 1}", "came late")
        seeds.add(seed(store))
        roster.withdraw(store, "cup", f"loaded@{number + 1}", "another try")
    assert len(seeds) == 5


@pytest.mark.usefixtures("cup")
def test_seed_is_not_known_before_the_first_reveal(store: Store) -> None:
    """With the secret and every promise the organiser cannot make the seed."""
    digests = [bytes.fromhex(each.digest) for each in strings(store).values()]
    texts = [each.hex().encode() for each in digests]
    reveal(store, "anna", "boris")
    guesses = {mixed_seed(SEED, *args) for args in ((digests,), (texts,), ([], digests))}
    assert seed(store) not in guesses


def test_holding_back_chooses_between_few_seeds_and_shows(store: Store, tmp_path: Path) -> None:
    """Two promises of the organiser's own are four seeds, and what he holds back is listed."""
    for name in ("dora", "emil"):
        submit(store, tmp_path, name, promised=TEXTS[name])
    seeds = set()
    for held in ((), ("dora",), ("emil",), ("dora", "emil")):
        name = "cup" + "-".join(held)
        tournament.create(store, options("anna", "dora", "emil", name=name, seed=SEED))
        for each in held:
            promises.give_up(store, name, each, "does not answer")
    reveal(store, "anna", "dora", "emil")
    for held in ((), ("dora",), ("emil",), ("dora", "emil")):
        info = queries.tournament(store, "cup" + "-".join(held))
        seeds.add(queries.deck_seed(store, info.id))
        forgone = [each.entrant for each in info.contributions if each.state is FORGONE]
        assert forgone == [f"{each}@1" for each in held]
        assert (f"2^{len(held)} seeds" in protection_words(info.contributions)) == bool(held)
    assert len(seeds) == 4


# ---------------------------------------------------------------------------- who comes and goes


@pytest.mark.usefixtures("cup")
def test_who_leaves_before_the_list_is_fixed_takes_the_promise_along(store: Store) -> None:
    """As long as nobody's string is known, leaving chooses nothing."""
    roster.withdraw(store, "cup", "boris", "ill")
    assert states(store) == {"anna@1": PROMISED}
    reveal(store, "anna")
    run(store)
    assert queries.tournament(store, "cup").seed == mixed_seed(SEED, [], [TEXTS["anna"].encode()])


@pytest.mark.usefixtures("cup")
@pytest.mark.parametrize("leave", [roster.withdraw, roster.disqualify])
def test_promise_of_who_leaves_a_fixed_list_is_forgone(store: Store, leave: object) -> None:
    """It stays on the list, with the reason, and the others can start."""
    reveal(store, "anna")
    leave(store, "cup", "boris", "ill")  # type: ignore[operator]
    forgone = strings(store)["boris@1"]
    assert forgone.state is FORGONE
    assert forgone.reason.endswith(": ill")
    assert "boris@1" not in [each.name for each in queries.tournament(store, "cup").entrants]
    run(store)
    assert queries.tournament(store, "cup").seed == mixed_seed(SEED, [], [TEXTS["anna"].encode()])


@pytest.mark.usefixtures("cup")
def test_string_of_who_leaves_a_fixed_list_stays_in_the_seed(store: Store) -> None:
    """Once it is known, taking it out would choose."""
    reveal(store, "anna", "boris")
    due = seed(store)
    roster.withdraw(store, "cup", "boris", "ill")
    assert states(store)["boris@1"] is REVEALED
    assert seed(store) == due


@pytest.mark.usefixtures("cup")
def test_promise_of_a_replaced_version_counts_as_long_as_nothing_is_told(
    store: Store, tmp_path: Path
) -> None:
    """Before the list is fixed the new version's promise takes the old one's place."""
    submit(store, tmp_path, "boris", promised="other dice")
    roster.replace_version(store, "cup", "boris@1", "boris@2", "mended")
    assert states(store) == {"anna@1": PROMISED, "boris@2": PROMISED}


@pytest.mark.usefixtures("cup")
def test_promise_of_a_version_that_replaces_another_later_is_too_late(
    store: Store, tmp_path: Path
) -> None:
    """Afterwards the old one's is forgone and the new one's comes too late."""
    reveal(store, "anna")
    submit(store, tmp_path, "boris", promised="other dice")
    roster.replace_version(store, "cup", "boris@1", "boris@2", "mended")
    assert states(store) == {"anna@1": REVEALED, "boris@1": FORGONE, "boris@2": LATE}


@pytest.mark.usefixtures("cup")
def test_who_comes_again_is_not_waited_for_again(store: Store) -> None:
    """A forgone promise stays forgone: else leaving and coming again would choose."""
    reveal(store, "anna")
    roster.withdraw(store, "cup", "boris", "ill")
    roster.join(store, "cup", "boris", "well again")
    assert states(store)["boris@1"] is FORGONE
    due = seed(store)
    with pytest.raises(RefusedError, match="no tournament waits"):
        reveal(store, "boris")
    assert seed(store) == due
    run(store)


def test_bot_that_is_its_own_partner_gives_its_string_twice(store: Store, tmp_path: Path) -> None:
    """It is entered twice, so it is listed twice, as ever."""
    submit(store, tmp_path, "dora", "dora's dice")
    changes = {"variant": "burkozyol-pairs", "seats": 4, "seed": SEED}
    tournament.create(store, options("anna+anna", "dora+dora", **changes))
    reveal(store, "anna")
    assert [each.entrant for each in queries.tournament(store, "cup").contributions] == [
        *("anna@1", "anna@1"),
        *("dora@1", "dora@1"),
    ]
    run(store)
    texts = [b"dora's dice"] * 2, [TEXTS["anna"].encode()] * 2
    assert queries.tournament(store, "cup").seed == mixed_seed(SEED, *texts)


# ---------------------------------------------------------------------------------- what is forgone


@pytest.mark.usefixtures("cup")
def test_forgone_promise_is_not_waited_for(store: Store) -> None:
    """The tournament starts without it, and says so for ever."""
    promises.give_up(store, "cup", "boris", "does not answer")
    assert states(store) == {"anna@1": PROMISED, "boris@1": FORGONE}
    reveal(store, "anna")
    assert run(store).exit_code == 0
    info = queries.tournament(store, "cup")
    assert info.seed == mixed_seed(SEED, [], [TEXTS["anna"].encode()])
    assert strings(store)["boris@1"].reason == "does not answer"


@pytest.mark.usefixtures("cup")
def test_forgone_promise_stands_in_the_history(store: Store) -> None:
    """Between the changes of the entrants, where it happened."""
    roster.withdraw(store, "cup", "clara", "ill")
    promises.give_up(store, "cup", "boris", "does not answer")
    roster.join(store, "cup", "clara", "well again")
    found = queries.history(store, "cup")
    assert [(each.number, each.entrant, each.kind.value) for each in found] == [
        (1, "clara@1", "withdrawal"),
        (2, "boris@1", "forgone string"),
        (3, "clara@1", "entry"),
    ]
    assert [each.joined for each in found] == [False, None, True]


@pytest.mark.usefixtures("cup")
def test_forgoing_fixes_the_list(store: Store, tmp_path: Path) -> None:
    """Who is given up is known, so that what comes later could have been chosen."""
    promises.give_up(store, "cup", "boris", "does not answer")
    submit(store, tmp_path, "dora", promised=TEXTS["dora"])
    roster.join(store, "cup", "dora", "entry")
    assert states(store)["dora@1"] is LATE


@pytest.mark.usefixtures("cup")
def test_only_what_is_waited_for_can_be_forgone(store: Store) -> None:
    """Neither a string that was told, nor none, nor anything after the start; with a reason."""
    with pytest.raises(NotFoundError, match="it waits for anna@1, boris@1"):
        promises.give_up(store, "cup", "clara", "x")
    with pytest.raises(RefusedError, match="needs a reason"):
        promises.give_up(store, "cup", "anna", " ")
    reveal(store, "anna")
    with pytest.raises(NotFoundError, match="waits for no string of anna"):
        promises.give_up(store, "cup", "anna", "x")
    reveal(store, "boris")
    run(store)
    with pytest.raises(RefusedError, match="cup has begun"):
        promises.give_up(store, "cup", "boris", "x")


# ------------------------------------------------------------------------------------ known strings


def test_string_revealed_for_an_earlier_tournament_protects_nobody(
    store: Store, cup: TournamentInfo
) -> None:
    """It is mixed in, but flagged, and fixes no list."""
    reveal(store, "anna", "boris")
    run(store)
    info = tournament.create(store, options("anna", "boris", name="next", seed=SEED))
    assert {each.state for each in info.contributions} == {KNOWN}
    assert {each.is_later for each in info.contributions} == {False}
    assert info.listed is None
    assert protection(info.contributions) is Protection.NONE
    run(store, name="next")
    assert queries.tournament(store, "next").seed == queries.tournament(store, cup.name).seed


def test_string_revealed_after_the_commitment_but_before_its_entry_is_as_good_as_open(
    store: Store, tmp_path: Path
) -> None:
    """The organiser did not know it when the secret was drawn, but everybody does now."""
    tournament.create(store, options(name="next", is_open=True))
    with store.write() as session:
        queries.find_tournament(session, "next").created -= 10_000
    tournament.create(store, options("anna", "clara"))
    reveal(store, "anna")
    submit(store, tmp_path, "dora", promised=TEXTS["dora"])
    for name in ("anna", "dora"):
        roster.join(store, "next", name, "entry")
    found = strings(store, "next")
    assert (found["anna@1"].state, found["anna@1"].is_later) == (KNOWN, True)
    assert found["dora@1"].state is PROMISED


def test_versions_that_promised_the_same_are_known_together(store: Store, tmp_path: Path) -> None:
    """A string that is told for one version is no secret of another."""
    submit(store, tmp_path, "anna", promised=TEXTS["anna"])
    tournament.create(store, options("anna@1", "clara"))
    tournament.create(store, options("anna@2", "clara", name="other"))
    told = promises.reveal(store, "anna@1", TEXTS["anna"])
    assert [each.name for each in told.tournaments] == ["cup", "other"]
    assert states(store, "other") == {"anna@2": REVEALED}


@pytest.mark.usefixtures("cup")
def test_known_string_cannot_be_promised(store: Store, tmp_path: Path) -> None:
    """Neither one that was told nor one that was given in the open."""
    reveal(store, "anna")
    submit(store, tmp_path, "dora", "dora's dice")
    for name in ("anna", "dora"):
        with pytest.raises(RefusedError, match=f"known already: it is that of {name}@1"):
            submit(store, tmp_path, "emil", promised=TEXTS[name])


def test_promised_string_cannot_be_given_in_the_open(store: Store, tmp_path: Path) -> None:
    """It would be known without fixing any list."""
    with pytest.raises(RefusedError, match="arena bot reveal anna@1"):
        submit(store, tmp_path, "emil", TEXTS["anna"])


# ----------------------------------------------------------------------------------------- versions


@pytest.mark.parametrize(
    "digest", ["", "abc", "A" * 64, "g" * 64, "0" * 63, "0" * 65, "0" * 64 + "\n"]
)
def test_digest_that_is_none_is_refused(store: Store, tmp_path: Path, digest: str) -> None:
    """Length, case and digits have to be right, or nobody could keep the promise."""
    with pytest.raises(RefusedError, match="64 hex digits in lower case"):
        bots.submit(store, "anna", str(tmp_path / "anna"), "process", entropy_digest=digest)


def test_string_is_given_or_promised(store: Store, tmp_path: Path) -> None:
    """Both at once is a mistake."""
    with pytest.raises(RefusedError, match="not both"):
        submit(store, tmp_path, "anna", "x", promised="y")


def test_promise_makes_a_version_as_a_string_does(store: Store, tmp_path: Path) -> None:
    """The same promise of the same content is the same version, another one is another."""

    def version(entropy: str | None, digest: str | None) -> int:
        source = str(tmp_path / "clara")
        return bots.submit(
            store, "clara", source, "process", entropy=entropy, entropy_digest=digest
        ).version

    first, second = digest_of("first"), digest_of("second")
    given = [(None, None), (None, first), (None, first), (None, None), (None, second), ("x", None)]
    assert [version(*each) for each in given] == [1, 2, 2, 2, 3, 4]


def test_drawn_strings_differ() -> None:
    """And each can be promised and told."""
    drawn = {promises.new_string() for _ in range(20)}
    assert len(drawn) == 20
    for text in drawn:
        bots.check_entropy(text)
        bots.check_string(None, digest_of(text))


# ---------------------------------------------------------------------------------- older databases


@pytest.fixture
def old(tmp_path: Path) -> Iterator[Store]:
    """A database of the release before promises, with rows that it wrote itself.

    In it winter is over, spring stopped after a match and lost an entrant, summer has not begun.
    """
    home = Home(tmp_path / "old")
    home.create()
    with sqlite3.connect(home.database) as connection:
        connection.executescript(OLD_DATABASE.read_text(encoding="utf-8"))
    connection.close()
    with Store.open(home) as store:
        yield store


def test_strings_of_old_tournaments_become_their_lists(old: Store) -> None:
    """Seeds, strings and results are what they were, whoever left since."""
    expected = mixed_seed(SEED, [b"three mice", b"four rats"])
    for name in ("winter", "spring"):
        info = queries.tournament(old, name)
        assert info.listed == info.started
        assert states(old, name) == {"first@1": OPEN, "middle@1": OPEN}
        assert queries.deck_seed(old, info.id) == expected
    assert queries.tournament(old, "winter").seed == expected
    assert len(queries.played_matches(old, "winter")) == 3


def test_old_tournament_that_had_begun_goes_on_under_its_seed(old: Store) -> None:
    """Its run is resumed, and who comes now is too late."""
    submit(old, old.home.path, "late", "late dice")
    roster.join(old, "spring", "late", "came late")
    assert run(old, name="spring").exit_code == 0
    info = queries.tournament(old, "spring")
    assert info.seed == mixed_seed(SEED, [b"three mice", b"four rats"])
    assert states(old, "spring")["late@1"] is LATE


def test_old_tournament_that_had_not_begun_takes_promises(old: Store) -> None:
    """Its list is not fixed before the first promise is kept."""
    assert queries.tournament(old, "summer").listed is None
    submit(old, old.home.path, "new", promised="new dice")
    roster.join(old, "summer", "new", "entry")
    promises.reveal(old, "new", "new dice")
    assert run(old, name="summer").exit_code == 0
    assert queries.tournament(old, "summer").seed == mixed_seed(
        SEED, [b"three mice", b"four rats"], [b"new dice"]
    )
