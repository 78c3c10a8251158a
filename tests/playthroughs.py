"""Golden playthroughs and counts of action sequences of every variant.

`python tests/playthroughs.py` writes tests/golden anew; look at what changed before committing it.
"""

import random
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from referee.cards import SUIT_NAMES, SUITS, Card, Cards, card_text, full_deck
from referee.rules import Action, ActionKind, Outcome, Rules, State, deal
from referee.scoring import score_deal_series
from referee.shuffle import SeededSource
from referee.variants import VARIANTS
from referee.view import Observation, SeenEvent, TablePlay, events_for, observe

GOLDEN = Path(__file__).parent / "golden"
COUNTS = GOLDEN / "counts.toml"
SEED = bytes(range(32))
ENOUGH_SEQUENCES = 2000

GAMES = [(name, seats) for name, rules in VARIANTS.items() for seats in rules.players]
SHOWN_GAMES = [(name, rules.players[0]) for name, rules in VARIANTS.items()]


class SuitedSource(SeededSource):
    """A source whose first deck deals each seat cards of one suit while there are some."""

    def __init__(self, rules: Rules, seats: int) -> None:
        super().__init__(SEED, 0, 1, full_deck(rules.deck))
        self._seats = seats
        self._dealt = seats * rules.hand_size

    def deck(self, attempt: int) -> tuple[int, ...]:
        """Return a deck with suits in turn on top, and after a redeal a shuffled one."""
        cards = super().deck(attempt)
        if attempt:
            return cards
        left = list(cards)
        stacked: list[Card] = []
        for place in range(self._dealt):
            wanted = place % self._seats % len(SUITS)
            card = next((card for card in left if card // 9 == wanted), left[0])
            left.remove(card)
            stacked.append(card)
        return (*stacked, *left)


def playthrough(name: str, seats: int) -> str:
    """Play a shuffled deal and one of suited hands, and write down what every seat is told."""
    rules = VARIANTS[name]
    shuffled = SeededSource(SEED, 0, 0, full_deck(rules.deck))
    lines = [f"{name}, {seats} seats"]
    for number, source in enumerate((shuffled, SuitedSource(rules, seats))):
        state = deal(rules, seats=seats, dealer=0, source=source)
        lines += ["", f"Deal {number}", *_written(state, random.Random(number))]
    return "\n".join(lines) + "\n"


def _written(state: State, chance: random.Random) -> Iterable[str]:
    shown = 0
    while state.outcome is None:
        yield from _position(state, shown)
        shown = len(state.events)
        for seat in state.asked:
            yield f"seat {seat} may {state.kind_of_turn(seat).value}: {_choices(state, seat)}"
        for seat in state.asked:
            if seat in state.asked:
                action = _chosen(state.legal_actions(seat), chance)
                yield f"> {seat} {action}"
                state.apply(seat, action)
    yield from _position(state, shown)
    yield from _end(state, state.outcome)


def _chosen(actions: Sequence[Action], chance: random.Random) -> Action:
    """Choose by chance, seldom what ends the deal soon."""
    lasting = [a for a in actions if a.kind not in (ActionKind.CLAIM, ActionKind.DECLINE)]
    options = lasting if chance.random() < 0.97 else actions
    return options[int(chance.random() * len(options))]


def _choices(state: State, seat: int) -> str:
    return ", ".join(map(str, state.legal_actions(seat)))


def _position(state: State, shown: int) -> Iterable[str]:
    yield ""
    yield f"hands: {_by_seat(state.hands)}"
    yield f"stock: {' '.join(map(card_text, state.stock)) or 'empty'}"
    yield f"captured: {_by_seat(state.captured)}"
    for seat in range(state.seats):
        for event in events_for(state, seat, shown):
            yield f"seat {seat} is told: {_event(event)}"
        if seat in state.asked or state.outcome:
            yield f"seat {seat} knows: {'; '.join(_known(observe(state, seat)))}"


def _by_seat(masks: Iterable[int]) -> str:
    return " | ".join(f"{seat} {Cards(mask)}".rstrip() for seat, mask in enumerate(masks))


def _known(view: Observation) -> Iterable[str]:
    yield f"leader {view.leader}"
    yield f"hand {view.hand}".rstrip()
    yield "trump " + ("none" if view.trump is None else SUIT_NAMES[view.trump])
    if view.indicator is not None:
        yield f"{card_text(view.indicator)} lies in the stock"
    if view.end_turned:
        yield "an end was turned"
    yield f"stock {view.stock}"
    yield "cards held " + " ".join(map(str, view.hand_counts))
    for seat, cards in enumerate(view.known):
        if cards:
            yield f"{seat} holds {cards}"
    yield from (_play("table", play) for play in view.table)
    yield from (_play("last trick", play) for play in view.last_trick)
    for seat, pile in enumerate(view.captured):
        if pile.cards or pile.hidden:
            yield f"{seat} captured {_some(pile.cards, pile.hidden)}"
    yield from _stakes(view)


def _stakes(view: Observation) -> Iterable[str]:
    if view.stake > 1 or view.proposed:
        yield f"stake {view.stake}, proposed {view.proposed}"
    if view.offered:
        yield f"{view.offered} cards offered"
    if view.out:
        yield f"out of the deal {' '.join(map(str, view.out))}"


def _play(where: str, play: TablePlay) -> str:
    beats = "" if play.beats else " (does not beat)"
    return f"{where} {play.seat} {_some(play.cards, play.hidden)}{beats}"


def _some(cards: Cards, hidden: int) -> str:
    return " ".join([*map(card_text, cards), *["?"] * hidden])


def _event(event: SeenEvent) -> str:
    words = [event.kind.name.lower().replace("_", " ")]
    if event.seat >= 0:
        words.insert(0, str(event.seat))
    if event.cards or event.hidden:
        words.append(_some(event.cards, event.hidden))
    if event.combination:
        words.append(f"({event.combination})")
    if event.stake:
        words.append(f"(stake {event.stake})")
    return " ".join(words)


def _end(state: State, outcome: Outcome) -> Iterable[str]:
    losers = ", ".join(f"{seat} with weight {weight}" for seat, weight in outcome.losers)
    scores = score_deal_series(state.rules, state.seats, outcome)
    yield ""
    yield f"ended by {outcome.reason} {outcome.detail}".rstrip()
    yield f"winners: {', '.join(map(str, outcome.winners)) or 'none'}"
    yield f"losers: {losers or 'none'}"
    yield f"points: {' '.join(map(str, outcome.points))}"
    yield f"scores: {' '.join(map(str, scores))}"


def counts(name: str, seats: int) -> list[int]:
    """Count the sequences of 1, 2, 3 ... legal actions from the start of a fixed deal.

    Of several asked seats the lowest acts first; a deal that has ended adds nothing.
    """
    rules = VARIANTS[name]
    source = SeededSource(SEED, 0, 0, full_deck(rules.deck))
    states = [deal(rules, seats=seats, dealer=0, source=source)]
    found: list[int] = []
    while states and (not found or found[-1] < ENOUGH_SEQUENCES):
        states = [after for state in states for after in _after(state)]
        found.append(len(states))
    return found


def _after(state: State) -> Iterable[State]:
    if state.asked:
        seat = state.asked[0]
        for action in state.legal_actions(seat):
            after = state.copy()
            after.apply(seat, action)
            yield after


def golden_counts() -> dict[str, list[int]]:
    """Read the counts that were written down."""
    return tomllib.loads(COUNTS.read_text(encoding="utf-8"))


def golden_file(name: str, seats: int) -> Path:
    """Say where the playthrough of a game is written down."""
    return GOLDEN / f"{name}-{seats}.txt"


def write() -> None:
    """Write down everything anew."""
    GOLDEN.mkdir(exist_ok=True)
    for path in GOLDEN.glob("*.txt"):
        path.unlink()
    for name, seats in SHOWN_GAMES:
        golden_file(name, seats).write_text(playthrough(name, seats), encoding="utf-8")
    lines = [f"{name}-{seats} = {counts(name, seats)}\n" for name, seats in GAMES]
    COUNTS.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write()
