"""A recorded deal as text, card by card, with all cards open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.cli.words import count, fault_words, number
from referee.cards import Cards
from referee.record import replay
from referee.rules import EventKind, Reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from referee.record import Record
    from referee.results import DealResult
    from referee.rules import Event, Outcome, State

SENTENCES = {
    EventKind.REDEAL: "the cards are dealt again",
    EventKind.DEAL: "{name} is dealt {cards}",
    EventKind.INDICATOR: "{cards} is turned up and names the trump suit",
    EventKind.END_TURNED: "{cards} is turned up, goes back, and another card is turned",
    EventKind.CUT: "{name} cuts {cards}",
    EventKind.RED: "{name} guesses red",
    EventKind.BLACK: "{name} guesses black",
    EventKind.LEAD: "{name} leads {cards}",
    EventKind.PLAY: "{name} plays {cards}",
    EventKind.BEAT: "{name} beats with {cards}",
    EventKind.HIDE: "{name} lays {cards} face down",
    EventKind.TAKE: "{name} takes the trick",
    EventKind.LOOK: "{name} looks at the closed cards",
    EventKind.DRAW: "{name} draws {cards}",
    EventKind.CLAIM: "{name} claims",
    EventKind.COMBINATION: "{name} has a winning {combination}",
    EventKind.STOP: "{name} says stop: {combination}",
    EventKind.STOP_LOST: "{name} says stop: {combination}; a better one goes first",
    EventKind.OFFER: "{name} offers {cards} face down",
    EventKind.ACCEPT: "{name} accepts",
    EventKind.REFUSE: "{name} refuses",
    EventKind.RAISE: "{name} raises the stake to {number}",
    EventKind.DECLINE: "{name} declines and pays {number}",
    EventKind.PASS: "{name} passes",
}
REASONS = {
    Reason.CLAIM: "a right claim",
    Reason.FALSE_CLAIM: "a false claim",
    Reason.COMBINATION: "a combination",
    Reason.MOST_POINTS: "most points",
    Reason.DRAW: "a draw",
    Reason.VOID: "void, nobody claimed",
    Reason.DECLINED: "the raise was declined",
    Reason.FAULT: "a fault",
}


def deal_lines(record: Record, result: DealResult, labels: Sequence[str]) -> Iterator[str]:
    """Tell a deal in lines.

    Args:
        record: The record it is in.
        result: The deal.
        labels: What to call the entrants, in the record's order.

    Raises:
        RecordError: The deal cannot have gone this way.
    """
    of_leg = [labels[record.entrant_at(result.leg, seat)] for seat in range(record.seats)]
    names = [of_leg[seat] for seat in result.playing]
    yield f"leg {result.leg + 1}, deal {result.number} (deck {result.deck})"
    yield f"seats: {', '.join(names)}; {names[result.dealer]} deals"
    if not result.decks:
        yield "  not dealt: the leg was lost before"
    else:
        yield from (f"  {line}" for line in _event_lines(record, result, names))
    for fault in result.faults:
        yield f"  {of_leg[fault.seat]} {fault_words(fault.kind)}: {fault.detail}"
    yield f"end: {_outcome(result.outcome, names)}"
    points = ", ".join(
        f"{name} {count(won, 'point')}"
        for name, won in zip(names, result.outcome.points, strict=True)
    )
    yield f"captured: {points}"
    scores = zip(labels, result.scores, strict=True)
    yield "score: " + ", ".join(f"{label} {number(score, 3)}" for label, score in scores)


def _event_lines(record: Record, result: DealResult, names: Sequence[str]) -> Iterator[str]:
    last: State | None = None
    for state in replay(record.rules, result):
        last = state
    if last is not None:
        for event in last.events:
            yield _sentence(record, event, names)


def _sentence(record: Record, event: Event, names: Sequence[str]) -> str:
    kind, seat, cards, _, value = event
    combinations = record.rules.combinations
    combination = (
        combinations[value - 1].replace("_", " ") if 0 < value <= len(combinations) else ""
    )
    sentence = SENTENCES[kind].format(
        name=names[seat] if seat >= 0 else "",
        cards=Cards(cards),
        combination=combination,
        number=value,
    )
    return f"{sentence} ({combination})" if kind is EventKind.LEAD and combination else sentence


def _outcome(outcome: Outcome, names: Sequence[str]) -> str:
    winners = " and ".join(names[seat] for seat in outcome.winners)
    losers = ", ".join(f"{names[seat]} loses {weight}" for seat, weight in outcome.losers)
    parts = [REASONS[outcome.reason]]
    if outcome.detail:
        parts.append(outcome.detail.replace("_", " "))
    if winners:
        parts.append(f"{winners} wins")
    return "; ".join([", ".join(parts), losers]) if losers else ", ".join(parts)
