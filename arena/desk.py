"""One transaction on the entrants of a tournament, with its place in the history.

Whether a format has a place for who comes late can take it long to tell, and who writes makes all
others wait. So a change is rehearsed, the format asked when the transaction is over, and the change
made if nothing else happened that the answer rests on.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from sqlalchemy import delete, func
from sqlmodel import col, select

from arena import formats, ledger, planning, queries
from arena.contributions import forgo
from arena.entries import Entry
from arena.errors import RefusedError
from arena.formats import ChangeKind, Options
from arena.infos import Seeding, version_label
from arena.plan_queries import count_changes, plan_of, results_of
from arena.rankings import pool_of
from arena.reasons import ReasonKind
from arena.seeding import by_rating, ratings_of
from arena.tables import Bot, BotVersion, Change, Entrant, Match

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sqlmodel import Session

    from arena.formats import Plan, Results
    from arena.infos import BotVersionInfo, EntrantInfo, TournamentInfo
    from arena.store import Store
    from arena.tables import Tournament

MAX_REASON = 500

MOST_REHEARSALS = 10
"""How often a format is asked anew because the tournament went on meanwhile."""


def change(store: Store, info: TournamentInfo, reason: str, act: Callable[[Desk], object]) -> None:
    """Change the entrants in one transaction, after which the format must be able to hold them.

    Args:
        store: The arena's database.
        info: The tournament as the organiser knows it.
        reason: For the history.
        act: Makes the change, whenever it is called.

    Raises:
        RefusedError: The reason is empty, the entrants are no longer those of `info`, the format
            cannot go on so, or the tournament goes on too fast to ask it: nothing is stored.
    """
    check_reason(reason)
    is_seeded = info.started is None and info.seeding is Seeding.RATING
    ratings = ratings_of(store, pool_of(info)) if is_seeded else {}
    answered: _Question | None = None
    for _ in range(MOST_REHEARSALS):
        try:
            with _opened(store, info, reason, ratings) as desk:
                act(desk)
                desk.close(answered)
        except _Unanswered as rehearsal:
            answered = rehearsal.question
            formats.check_entry(answered.format, answered.plan, answered.results)
        else:
            return
    raise RefusedError(
        f"{info.name} goes on while its format looks for a place", "run the same command again"
    )


@contextmanager
def _opened(
    store: Store, info: TournamentInfo, reason: str, ratings: Mapping[str, float]
) -> Iterator[Desk]:
    """Begin the transaction.

    Raises:
        RefusedError: The entrants are no longer those of `info`.
    """
    with store.write() as session:
        row = queries.find_tournament(session, info.name)
        if _seen(queries.entrants_of(session, store.home, row)) != _seen(info.entrants):
            raise RefusedError(
                f"the entrants of {info.name} changed meanwhile", "run the same command again"
            )
        is_over = queries.state_of(session, row, store.now()).is_over
        yield Desk(store, session, row, reason, is_over, ratings)


@dataclass(frozen=True, slots=True)
class _Question:
    """Whether a format has a place for the last newcomer of a plan."""

    format: str
    plan: Plan
    results: Results


class _Unanswered(Exception):  # noqa: N818 - nothing has failed
    """Ends a rehearsal, so that nothing is stored."""

    def __init__(self, question: _Question) -> None:
        """Keep what the format is to be asked first."""
        super().__init__()
        self.question = question


@dataclass(slots=True)
class Desk:
    """Where bots come and go, for one transaction; see `change`."""

    store: Store
    session: Session
    row: Tournament
    reason: str
    is_over: bool
    ratings: Mapping[str, float]
    has_let_in: bool = False

    def close(self, answered: _Question | None) -> None:
        """Plan for who is in now, or see that the format can go on with them.

        Args:
            answered: What the format has been asked, and said yes to.

        Raises:
            RefusedError: It cannot go on.
            _Unanswered: It must be asked first.
        """
        if self.is_before_start:
            planning.plan_anew(self.session, self.row)
        elif not self.is_over:
            self.session.flush()
            plan = plan_of(self.session, self.row)
            formats.check(self.row.format, plan)
            if self.has_let_in:
                results = results_of(self.session, self.tournament_id)
                question = _Question(self.row.format, plan, results)
                if question != answered:
                    raise _Unanswered(question)

    @property
    def tournament_id(self) -> int:
        """The id of the tournament."""
        return cast("int", self.row.id)

    @property
    def is_before_start(self) -> bool:
        """Whether nothing was played yet."""
        return self.row.started is None

    def refuse_frozen(self, words: str) -> None:
        """Refuse what finals do not allow.

        Raises:
            RefusedError: The tournament is frozen.
        """
        if self.row.frozen:
            raise RefusedError(
                f"{self.row.name} is a final, which {words}",
                "withdraw or disqualify who cannot play; others enter the next tournament",
            )

    def refuse_over(self, advice: str = "enter the next tournament") -> None:
        """Refuse what can only be done while there is something to play.

        Raises:
            RefusedError: The tournament is over.
        """
        if self.is_over:
            raise RefusedError(f"{self.row.name} is over and its seed is public", advice)

    def add(self, new: Sequence[Entry]) -> None:
        """Let bots in.

        Raises:
            RefusedError: One is in, or was.
        """
        self._refuse_known(entry.bot for entry in new)
        if not self.is_before_start:
            self._join(new, ReasonKind.LATE_ENTRY, self._matches())
            return
        self._seat([*self._entries(), *self._numbered(new)])
        for entry in new:
            self._note(ChangeKind.JOIN, ReasonKind.ENTRY, entry.bot)

    def remove(self, leaving: Sequence[EntrantInfo], why: ReasonKind) -> None:
        """Let bots go."""
        if not self.is_before_start:
            self._leave(leaving, why, self._matches())
            return
        self._forgo(leaving, why)
        gone = {entrant.index for entrant in leaving}
        self._seat([entry for place, entry in enumerate(self._entries()) if place not in gone])
        for entrant in leaving:
            self._note(ChangeKind.LEAVE, why, entrant.bot)

    def exchange(self, leaving: Sequence[EntrantInfo], coming: Sequence[Entry]) -> None:
        """Let bots go and others in, in the same order, at the same moment.

        Raises:
            RefusedError: One who comes is in, or was.
        """
        why = ReasonKind.REPLACEMENT
        old = {entrant.name for entrant in leaving}
        self._refuse_known(entry.bot for entry in coming if entry.bot.label not in old)
        if not self.is_before_start:
            held = self._matches()
            self._leave(leaving, why, held)
            self._join(coming, why, held)
            return
        self._forgo(leaving, why)
        listed = self._entries()
        for entrant, entry in zip(leaving, coming, strict=True):
            listed[entrant.index] = replace(listed[entrant.index], bot=entry.bot)
            self._note(ChangeKind.LEAVE, why, entrant.bot)
            self._note(ChangeKind.JOIN, why, entry.bot)
        self._seat(listed)

    # ---------------------------------------------------------------------------- after the start

    def _leave(self, leaving: Sequence[EntrantInfo], why: ReasonKind, held: int) -> None:
        for entrant in leaving:
            self._note(ChangeKind.LEAVE, why, entrant.bot, position=entrant.index, after=held)
        if not self.is_over:
            self.session.flush()
            gone = {entrant.index for entrant in leaving}
            ledger.cancel(self.session, self.tournament_id, gone)
            self._reopen()

    def _join(self, new: Sequence[Entry], why: ReasonKind, held: int) -> None:
        for entry in self._numbered(new):
            position = self._add_entrant(entry)
            self._note(ChangeKind.JOIN, why, entry.bot, position=position, after=held)
        self.has_let_in = True
        self._reopen()

    def _reopen(self) -> None:
        """Let the format be asked again, even if it had said that nothing more comes."""
        if self.row.stopped is None:
            self.row.complete = False
            self.session.add(self.row)

    def _matches(self) -> int:
        query = select(func.count()).where(Match.tournament_id == self.tournament_id)
        return self.session.exec(query).one()

    # --------------------------------------------------------------------------- before the start

    def _forgo(self, leaving: Sequence[EntrantInfo], why: ReasonKind) -> None:
        """Wait no more for what leavers promised; what they told stays in the seed."""
        versions = {queries.find_version(self.session, entrant.bot) for entrant in leaving}
        reason = f"{why}: {self.reason}"
        forgo(self.session, self.row, versions, reason, self.store.now())

    def _seat(self, listed: Sequence[Entry]) -> None:
        """Store the list anew, seeded as the tournament is; the challenger stays the challenger."""
        options = Options.from_dict(json.loads(self.row.options))
        before = units(self._entries())
        seeded = listed
        if self.row.seeding == Seeding.RATING:
            seeded = by_rating(listed, self.ratings)
        self.session.execute(delete(Entrant).where(col(Entrant.tournament_id) == self.row.id))
        for entry in seeded:
            self._add_entrant(entry)
        if options.challenger is not None:
            after = units(seeded)
            challenger = before[options.challenger]
            place = after.index(challenger) if challenger in after else None
            self.row.options = json.dumps(replace(options, challenger=place).to_dict())
            self.session.add(self.row)

    # ------------------------------------------------------------------------------------- the list

    def _entries(self) -> list[Entry]:
        entrants = queries.entrants_of(self.session, self.store.home, self.row)
        return [Entry(entrant.bot, entrant.pair) for entrant in entrants]

    def _numbered(self, new: Sequence[Entry]) -> list[Entry]:
        """Give a pair that comes the number after those of the others."""
        pairs = [entry.pair for entry in self._entries() if entry.pair is not None]
        number = max(pairs, default=-1) + 1
        return [replace(entry, pair=None if entry.pair is None else number) for entry in new]

    def _add_entrant(self, entry: Entry) -> int:
        query = select(func.count()).where(Entrant.tournament_id == self.tournament_id)
        position = self.session.exec(query).one()
        self.session.add(
            Entrant(
                tournament_id=self.tournament_id,
                position=position,
                bot_version_id=queries.find_version(self.session, entry.bot),
                pair=entry.pair,
            )
        )
        self.session.flush()
        return position

    def _refuse_known(self, coming: Iterator[BotVersionInfo]) -> None:
        listed = queries.entrants_of(self.session, self.store.home, self.row)
        left = self._disqualified() | {entrant.name: entrant.left for entrant in listed}
        for bot in coming:
            if bot.label not in left:
                continue
            if left[bot.label] is None:
                raise RefusedError(f"{bot.label} is in {self.row.name} already")
            raise RefusedError(
                f"{bot.label} was in {self.row.name} and left it ({left[bot.label]})",
                "submit it as another version to enter it again",
            )

    def _disqualified(self) -> dict[str, ReasonKind | None]:
        """Return who was disqualified, before the start too, when nobody is listed who left."""
        rows = self.session.exec(
            select(Bot.name, BotVersion.number)
            .join(BotVersion, col(BotVersion.bot_id) == Bot.id)
            .join(Change, col(Change.bot_version_id) == BotVersion.id)
            .where(
                Change.tournament_id == self.row.id,
                Change.reason_kind == ReasonKind.DISQUALIFICATION,
            )
        ).all()
        return {version_label(*row): ReasonKind.DISQUALIFICATION for row in rows}

    def _note(
        self,
        kind: ChangeKind,
        why: ReasonKind,
        bot: BotVersionInfo,
        position: int | None = None,
        after: int | None = None,
    ) -> None:
        """Keep what happened."""
        self.session.add(
            Change(
                tournament_id=self.tournament_id,
                number=count_changes(self.session, self.tournament_id) + 1,
                kind=kind,
                reason_kind=why,
                bot_version_id=queries.find_version(self.session, bot),
                position=position,
                after=after,
                reason=self.reason,
                created=self.store.now(),
            )
        )
        self.session.flush()


def units(listed: Sequence[Entry]) -> list[tuple[str, ...]]:
    """Return what a format counts as one entrant each: the names of a bot, or of a pair."""
    names: dict[tuple[str, int], list[str]] = {}
    for place, entry in enumerate(listed):
        key = ("bot", place) if entry.pair is None else ("pair", entry.pair)
        names.setdefault(key, []).append(entry.bot.label)
    return [tuple(unit) for unit in names.values()]


def _seen(entrants: Sequence[EntrantInfo]) -> list[tuple[object, ...]]:
    return [(each.name, each.pair, each.left) for each in entrants]


def check_reason(text: str) -> None:
    """Refuse what tells readers of the history nothing, or too much.

    Raises:
        RefusedError: The text is blank, too long, or not in UTF-8.
    """
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise RefusedError("the reason is not in UTF-8", "say it in letters of this terminal")
    if not text.strip():
        raise RefusedError("the history needs a reason", f"say why in 1 to {MAX_REASON} characters")
    if len(text) > MAX_REASON:
        raise RefusedError(f"the reason has {len(text)} characters", f"at most {MAX_REASON}")
