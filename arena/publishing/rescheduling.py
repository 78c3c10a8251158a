"""What a tournament's format makes of what is published of it: the schedule and the final order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena import formats
from arena.errors import RefusedError
from arena.formats import Change, ChangeKind, Options, Plan
from arena.infos import MatchState
from arena.publishing.published import MOST, PublishedBye, PublishedPairing, PublishedSchedule
from referee.shuffle import SEED_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from arena.formats import Place, Results, Totals
    from arena.publishing.published import PublishedTournament


def rescheduled(
    tournament: PublishedTournament,
    schedule: PublishedSchedule,
    totals: Mapping[int, Totals],
    seed: bytes,
) -> PublishedSchedule:
    """Return the schedule that the format makes, with the states that are published.

    Of a tournament that is not over, and of a format that never ends, it has as many matches as
    are published; none if it has not begun and there were too few for any.

    Args:
        tournament: The settings and how the field changed.
        schedule: As it is published.
        totals: Of the matches that were played, by number, in the order of their seats.
        seed: From which the format draws lots.

    Raises:
        RefusedError: The format cannot hold this.
        NotFoundError: There is no such format.
    """
    plan = plan_of(tournament, seed)
    if plan is None:
        return PublishedSchedule(pairings=(), byes=())
    number = formats.expected_matches(tournament.tournament_format, plan)
    if number is not None and number > MOST:
        raise RefusedError(f"a schedule of {number} matches", f"expected {MOST} at most")
    made = formats.schedule(tournament.tournament_format, plan, results_of(schedule, totals))
    held = {each.match: each.state for each in schedule.pairings}
    pairings = sorted(made.pairings, key=lambda pairing: pairing.number)
    is_cut = number is None or not tournament.state.is_over
    if is_cut:
        pairings = pairings[: len(held)]
    rounds = {pairing.round for pairing in pairings}
    return PublishedSchedule(
        pairings=tuple(
            PublishedPairing(
                match=pairing.number,
                round=pairing.round,
                stage=pairing.stage,
                seats=pairing.seats,
                entrants=tuple(tournament.labels[seat] for seat in pairing.seats),
                state=held.get(pairing.number, MatchState.PLANNED),
            )
            for pairing in pairings
        ),
        byes=tuple(
            PublishedBye(round=bye.round, entrant=bye.entrant)
            for bye in made.byes
            if not is_cut or bye.round in rounds
        ),
    )


def final_order(
    tournament: PublishedTournament,
    schedule: PublishedSchedule,
    totals: Mapping[int, Totals],
) -> tuple[Place, ...]:
    """Return the format's own order of the entrants; empty while the seed is secret.

    Empty, too, if it never began and there were too few for any.

    Raises:
        RefusedError: The format cannot hold this.
        NotFoundError: There is no such format.
    """
    seed = tournament.playing_seed
    plan = None if seed is None else plan_of(tournament, seed)
    if plan is None:
        return ()
    results = results_of(schedule, totals)
    return formats.ranking(tournament.tournament_format, plan, results)


def check_plan(tournament: PublishedTournament) -> None:
    """Refuse settings that the format cannot hold.

    Raises:
        RefusedError: It cannot hold them.
        NotFoundError: There is no such format.
    """
    # What a format can hold is no matter of lots.
    plan_of(tournament, bytes(SEED_BYTES))


def plan_of(tournament: PublishedTournament, seed: bytes) -> Plan | None:
    """Return a tournament as formats take it.

    None if it has not begun and the format cannot hold it as it stands: there may be too few
    entrants yet, or there were when it was stopped.

    Raises:
        RefusedError: The format cannot hold what has begun, or is over.
        NotFoundError: There is no such format.
    """
    try:
        plan = Plan(
            entrants=tournament.starters,
            seats=tournament.seats,
            rounds=tournament.rounds,
            seed=seed,
            partners=tournament.partners,
            options=Options.from_dict(tournament.options),
            changes=tuple(_changes(tournament)),
        )
        formats.check(tournament.tournament_format, plan)
    except RefusedError:
        is_waiting = tournament.seed is None or tournament.stopped is not None
        if tournament.started is None and is_waiting:
            return None
        raise
    return plan


def _changes(tournament: PublishedTournament) -> Iterator[Change]:
    """Give the changes that pairings depend on; who leaves twice left the first time."""
    seen: set[tuple[ChangeKind, int]] = set()
    for change in tournament.changes:
        if change.position is None or change.after is None:
            continue
        if (change.kind, change.position) not in seen:
            seen.add((change.kind, change.position))
            yield Change(change.kind, change.position, change.after)


def results_of(schedule: PublishedSchedule, totals: Mapping[int, Totals]) -> Results:
    """Return results as formats take them: None for a match that was cancelled."""
    cancelled = [each.match for each in schedule.pairings if each.state == MatchState.CANCELLED]
    return {**totals, **dict.fromkeys(cancelled)}
