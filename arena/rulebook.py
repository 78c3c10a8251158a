"""Rules by name: the variants and those an organiser saved, with single options changed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlmodel import select

from arena.bots import check_name
from arena.damage import row_of
from arena.errors import NotFoundError, RefusedError, with_near
from arena.reading import reading
from arena.tables import SavedRules
from referee.options import OPTIONS, Rules, choices_of
from referee.results import SERIES
from referee.variants import VARIANTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlmodel import Session

    from arena.home import Home
    from arena.store import Store

__all__ = [
    "USUAL_DECKS",
    "Game",
    "SavedRulesInfo",
    "change",
    "changes",
    "check_seats",
    "decks_of",
    "find_game",
    "find_saved",
    "is_same_game",
    "remove",
    "save",
    "saved",
]

USUAL_DECKS = 100
"""Decks of a match unless the organiser says otherwise."""

ALL = ", ".join(OPTIONS)
MAX_DIGITS = 9
USUAL_SEATS = 2
MOVE_MS = 1000
CARD_MS = 250
SMALL_HAND = 3


@dataclass(frozen=True, slots=True)
class Game:
    """Rules and what to call them: a variant's or a saved name, then the options changed."""

    name: str
    rules: Rules

    @property
    def usual_seats(self) -> int:
        """Two where the rules allow it, else the fewest they allow."""
        players = self.rules.players
        return USUAL_SEATS if USUAL_SEATS in players else players[0]

    @property
    def usual_move_ms(self) -> int:
        """Time for one decision: a second, and a quarter more for every card above three."""
        return MOVE_MS + CARD_MS * max(0, self.rules.hand_size - SMALL_HAND)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRulesInfo:
    """Rules under a name of the organiser's; `variant` says what they were made from."""

    name: str
    variant: str
    rules: Rules
    created: datetime


def find_game(home: Home, name: str, words: Sequence[str] = ()) -> Game:
    """Return the game that a name means, with some of its options changed.

    Args:
        home: Where saved rules are; it need not exist.
        name: Of a variant, or of saved rules.
        words: Changes, each as "option=value".

    Raises:
        NotFoundError: There are no such rules.
        RefusedError: There is no such option, or it has no such value.
        RulesError: The options cannot be played together.
    """
    known, rules = _named(home, name)
    changed = change(rules, words)
    differing = (f"{option}={text}" for option, text in changes(rules, changed).items())
    return Game(" ".join([known, *differing]), changed)


def change(rules: Rules, words: Sequence[str]) -> Rules:
    """Return the rules with options changed by words such as "target=41".

    Raises:
        RefusedError: There is no such option, or it has no such value.
        RulesError: The options cannot be played together.
    """
    changed: dict[str, Any] = {}
    for word in words:
        option, value = _parsed(word)
        if option in changed:
            raise RefusedError(f"{option} is changed twice", "give it one value")
        changed[option] = value
    return rules.replace(**changed)


def check_change(word: str) -> None:
    """Refuse a word that names no option, or no value that it has.

    Raises:
        RefusedError: Saying what there is.
    """
    _parsed(word)


def changes(before: Rules, after: Rules) -> dict[str, str]:
    """Return the options in which rules differ, with the later values as they are typed."""
    old, new = before.to_dict(), after.to_dict()
    return {option: _text_of(new[option]) for option in OPTIONS if old[option] != new[option]}


def is_same_game(one: Rules, other: Rules) -> bool:
    """Tell whether deals are played alike, however they add up to a match."""
    return not set(changes(one, other)) - {"match_format"}


def check_seats(name: str, rules: Rules, seats: int) -> None:
    """Refuse a number of seats that the rules do not allow.

    Raises:
        RefusedError: Saying which numbers they allow.
    """
    if seats not in rules.players:
        *fewer, most = map(str, rules.players)
        allowed = f"{', '.join(fewer)} or {most}" if fewer else most
        bots = "1 bot" if seats == 1 else f"{seats} bots"
        raise RefusedError(
            f"{name} cannot be played by {bots} in a match", f"it is played by {allowed}"
        )


def decks_of(decks: int | None, match_format: str) -> int:
    """Return how many decks a match has, the usual number unless one was asked for.

    Raises:
        RefusedError: One was asked for where a match lasts as long as its rules say.
    """
    if decks is not None and match_format != SERIES:
        raise RefusedError(
            f"{match_format} has no use for --decks: its matches last as long as their rules say",
            "leave it away, or choose series",
        )
    return USUAL_DECKS if decks is None else decks


# ----------------------------------------------------------------------------------- saved rules


def save(store: Store, name: str, variant: str, rules: Rules) -> SavedRulesInfo:
    """Keep rules under a name that every command takes for a variant.

    Raises:
        RefusedError: The name will not do, or is taken.
    """
    check_name(name, "set of rules")
    folded = name.casefold()
    if folded in VARIANTS:
        raise RefusedError(f"{name} is a variant already", "choose another name")
    with store.write() as session:
        if _row(session, name) is not None:
            raise RefusedError(
                f"there are rules {name} already",
                f"choose another name, or first: arena rules remove {name}",
            )
        row = SavedRules(
            name=name,
            folded=folded,
            variant=variant,
            rules=json.dumps(rules.to_dict()),
            created=store.now(),
        )
        session.add(row)
        return _info(row)


def saved(store: Store) -> tuple[SavedRulesInfo, ...]:
    """Return all saved rules by name."""
    with store.read() as session:
        rows = session.exec(select(SavedRules)).all()
        # Databases order texts by the customs of a language.
        return tuple(map(_info, sorted(rows, key=lambda row: row.folded)))


def remove(store: Store, name: str) -> str:
    """Forget saved rules; tournaments made with them keep them. Return the name as it was saved.

    Raises:
        NotFoundError: There are no saved rules of this name.
    """
    with store.write() as session:
        row = _saved_row(session, name)
        session.delete(row)
        return row.name


def find_saved(store: Store, name: str) -> SavedRulesInfo:
    """Return saved rules.

    Raises:
        NotFoundError: There are no saved rules of this name.
    """
    with store.read() as session:
        return _info(_saved_row(session, name))


def _named(home: Home, name: str) -> tuple[str, Rules]:
    if name in VARIANTS:
        return name, VARIANTS[name]
    known = list(VARIANTS)
    if home.is_begun:
        with reading(home) as store, store.read() as session:
            row = _row(session, name)
            if row is not None:
                return row.name, _info(row).rules
            known += session.exec(select(SavedRules.name)).all()
    raise NotFoundError(
        f"there is no variant {name!r}", with_near("arena variants lists them", name, known)
    )


def _row(session: Session, name: str) -> SavedRules | None:
    return session.exec(select(SavedRules).where(SavedRules.folded == name.casefold())).first()


def _saved_row(session: Session, name: str) -> SavedRules:
    row = _row(session, name)
    if row is None:
        known = session.exec(select(SavedRules.name)).all()
        raise NotFoundError(
            f"there are no saved rules {name!r}",
            with_near("arena rules list shows those there are", name, known),
        )
    return row


def _info(row: SavedRules) -> SavedRulesInfo:
    with row_of("saved_rules", row.id, row.name):
        return SavedRulesInfo(
            name=row.name,
            variant=row.variant,
            rules=Rules.from_dict(json.loads(row.rules)),
            created=datetime.fromtimestamp(row.created / 1000, tz=UTC),
        )


# --------------------------------------------------------------------------------- options as text


def _parsed(word: str) -> tuple[str, Any]:
    """Return the option and the value that a word such as "target=41" means."""
    name, equals, text = word.partition("=")
    # The option carries an underscore because "raise" is a word of Python's.
    option = "raise_" if name == "raise" else name
    if not equals:
        raise RefusedError(f"{word!r} changes no rule", "write OPTION=VALUE, such as target=41")
    if option not in OPTIONS:
        near = with_near("", name, OPTIONS)
        hint = f"{near}arena variants bura --json names all" if near else f"there are {ALL}"
        raise RefusedError(f"there is no rule {name!r}", hint)
    return option, _value(option, text)


def _value(option: str, text: str) -> Any:
    choices = {str(choice): choice for choice in choices_of(option)}
    if choices:
        if text not in choices:
            raise RefusedError(
                f"{option} has no value {text!r}", f"expected {' or '.join(choices)}"
            )
        return choices[text]
    if option == "combinations":
        return tuple(text.split(",")) if text != "none" else ()
    if option in ("players", "lead_sizes"):
        return tuple(_number(option, part, "numbers apart by commas") for part in text.split(","))
    return _number(option, text, "a number")


def _number(option: str, text: str, expected: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS):
        raise RefusedError(f"{option} has no value {text!r}", f"expected {expected}")
    return int(text)


def _text_of(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ",".join(map(str, value)) or "none"
    return str(value)
