"""Which deals are compared: every variant at every number of seats, and random rules."""

import functools
import random
from collections.abc import Iterator
from typing import Any

from oracle.adapter import Case, oracle_name, oracle_options
from oracle.options import refusals
from referee.options import choices_of
from referee.rules import Combination, Rules, RulesError
from referee.variants import VARIANTS

VARIANT_SEATS = [(name, seats) for name, rules in VARIANTS.items() for seats in rules.players]
DEALS_OF_ONE_RULES = 8
FREE = [name for name in Rules().to_dict() if choices_of(name)]
NUMBERS = {"target": [1, 20, 31, 45], "max_void": [0, 3]}

DOCUMENTED = (
    "combinations: one of them does not exist with this hand_size",
    "match_format: burkozyol_penalty, burkozyol_double and eyes count points",
)
"""What the engine refuses and the rules do not name; docs/rules.md names it."""


def random_changes(chance: random.Random, hand_size: int) -> dict[str, Any]:
    """Replace some options, combinations or sizes of a lead."""
    changes: dict[str, Any] = {
        name: chance.choice(choices_of(name)) for name in chance.sample(FREE, chance.randint(1, 9))
    }
    hand_size = changes.get("hand_size", hand_size)
    if chance.random() < 0.5:
        changes["combinations"] = random_combinations(chance, hand_size)
    if "hand_size" in changes or chance.random() < 0.3:
        sizes = range(1, hand_size + 1)
        changes["lead_sizes"] = sorted(chance.sample(sizes, chance.randint(1, hand_size)))
    if chance.random() < 0.1:
        name = chance.choice(list(NUMBERS))
        changes[name] = chance.choice(NUMBERS[name])
    return changes


def random_combinations(chance: random.Random, hand_size: int) -> list[Combination]:
    """List combinations in any order, each game's reading of one at most once."""
    found: list[Combination] = []
    for each in chance.sample(list(Combination), chance.randint(0, 9)):
        if same_cards(each) not in map(same_cards, found) and exists(each, hand_size):
            found.append(each)
    return found


def same_cards(combination: Combination) -> str:
    """Give one name to combinations of which one can hide the other, so that one is listed."""
    name = oracle_name(combination)
    return "moscow" if name in ("golden_moscow", "four_aces", "three_aces") else name


def exists(combination: Combination, hand_size: int) -> bool:
    """Tell whether rules accept a combination with hands of that size."""
    try:
        Rules(hand_size=hand_size, lead_sizes=(1,), combinations=(combination,))  # type: ignore[arg-type]
    except RulesError:
        return False
    return True


def random_attempt(chance: random.Random) -> tuple[dict[str, Any], int]:
    """Change a variant by chance; whether the rules allow it remains to be seen."""
    base = VARIANTS[chance.choice(list(VARIANTS))]
    seats = chance.choice([2, 2, 3, 3, 4, 4, 4, 5, 6, 7])
    options = {**base.to_dict(), **random_changes(chance, base.hand_size)}
    return {**options, "players": (seats,)}, seats


def accepted(options: dict[str, Any], seats: int) -> Rules | None:
    """Give the rules, or none if the engine and the oracle refuse them.

    Raises:
        AssertionError: One of them accepts what the other refuses.
    """
    reasons = refusals(spelled(options), seats)
    try:
        rules = Rules.from_dict(options)
    except RulesError as error:
        if not reasons and not str(error).startswith(DOCUMENTED):
            raise AssertionError(f"the engine alone refuses {options}") from error
        return None
    if reasons:
        raise AssertionError(f"the oracle alone refuses {options}: {reasons}")
    return rules


def spelled(options: dict[str, Any]) -> dict[str, Any]:
    """Spell refused options for the oracle, by way of rules that take them one by one."""
    return oracle_options(_Unchecked(options))  # type: ignore[arg-type]


class _Unchecked:
    """Options that nobody has checked, read like rules."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.__dict__.update(options)

    def to_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


@functools.lru_cache(maxsize=8)
def random_rules(seed: str) -> tuple[Rules, int]:
    """Find rules that are allowed; every attempt is put to both the engine and the oracle."""
    chance = random.Random(seed)
    while True:
        options, seats = random_attempt(chance)
        rules = accepted(options, seats)
        if rules is not None:
            return rules, seats


def variant_case(seed: int, number: int) -> Case:
    """Give a deal of a variant; the variants and numbers of seats come in turn."""
    name, seats = VARIANT_SEATS[number % len(VARIANT_SEATS)]
    return Case(name, VARIANTS[name], seats, seed + number)


def random_case(seed: int, number: int) -> Case:
    """Give a deal of random rules; a few deals in a row have the same."""
    rules, seats = random_rules(f"{seed} {number // DEALS_OF_ONE_RULES}")
    return Case("random rules", rules, seats, seed + number)


def cases(seed: int, numbers: range) -> Iterator[Case]:
    """Give the deals with these numbers: of variants and of random rules alternately."""
    for number in numbers:
        yield random_case(seed, number // 2) if number % 2 else variant_case(seed, number // 2)
