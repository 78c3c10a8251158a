"""The options of the game as one frozen value that refuses impossible combinations.

The names and values of the options are those of the rule page; docs/rules.md says what was decided
where that page leaves room.
"""

import dataclasses
import enum
import functools
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, Self, get_args, get_origin, get_type_hints

MIN_HAND, MAX_HAND = 3, 5
ANY_SEATS: Final = (2, 3, 4, 5, 6)


class RulesError(ValueError):
    """Options that cannot be played together, or a value that an option does not have."""


class Combination(enum.StrEnum):
    """A combination with its effect; where a game reads one differently it has a second name.

    The three names that end in LEADS, and THREE_ACES, differ from their namesakes in effect only:
    they give the right to lead out of turn and do not win.
    """

    BURA = "bura"
    BURA_LEADS = "bura_leads"
    MOLODKA = "molodka"
    MOLODKA_WAITS = "molodka_waits"
    MOSCOW = "moscow"
    MOSCOW_LEADS = "moscow_leads"
    MOSCOW_OF_THREE = "moscow_of_three"
    LITTLE_MOSCOW = "little_moscow"
    THREE_ACES = "three_aces"
    THREE_ACES_WIN = "three_aces_win"
    GOLDEN_MOSCOW = "golden_moscow"
    FOUR_ACES = "four_aces"
    COMPLECT = "complect"


_HAND_SIZES: Final[Mapping[Combination, tuple[int, ...]]] = {
    Combination.BURA: (3, 4, 5),
    Combination.BURA_LEADS: (3, 4, 5),
    Combination.MOLODKA: (3, 4, 5),
    Combination.MOLODKA_WAITS: (3, 4, 5),
    Combination.MOSCOW: (3, 4),
    Combination.MOSCOW_LEADS: (4,),
    Combination.MOSCOW_OF_THREE: (4,),
    Combination.LITTLE_MOSCOW: (3,),
    Combination.THREE_ACES: (3,),
    Combination.THREE_ACES_WIN: (3,),
    Combination.GOLDEN_MOSCOW: (4,),
    Combination.FOUR_ACES: (4,),
    Combination.COMPLECT: (4,),
}

_CLAIM_OPTIONS = (
    "claim_window",
    "target",
    "false_claim",
    "claim_vs_combination",
    "final_claim",
    "no_claim",
    "max_void",
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Every option of the game; the defaults are those of the rule page.

    Raises:
        RulesError: On an impossible value or combination of values, with the reason.
    """

    players: tuple[int, ...] = ANY_SEATS
    deck: Literal[36, 32] = 36
    low_rank_order: Literal["6789", "9876"] = "6789"
    hand_size: Literal[3, 4, 5] = 3
    trump: Literal["indicator", "none"] = "indicator"
    indicator: Literal["bottom", "top", "shuffled"] = "bottom"
    end_indicator: Literal["keep", "bury", "redraw"] = "keep"
    first_lead: Literal["left_of_dealer", "high_card", "colour_guess"] = "left_of_dealer"
    next_lead: Literal["last_taker", "left_of_dealer", "alternate"] = "last_taker"
    next_dealer: Literal["winner", "rotate", "same"] = "winner"
    dealt_combination: Literal["redeal", "stands"] = "redeal"
    hands: Literal["private", "open"] = "private"

    lead_sizes: tuple[int, ...] = (1, 2, 3)
    trump_immune_suit: Literal["none", "spades"] = "none"
    discards: Literal["open", "closed_all", "closed_optional", "taker_looks"] = "open"
    draw_order: Literal["round_robin", "fill_in_turn"] = "round_robin"
    short_stock: Literal["set_aside", "deal_out"] = "set_aside"
    short_hand: Literal["give_all", "cap_lead"] = "give_all"
    leftover_points: Literal["last_taker", "nobody"] = "last_taker"

    goal: Literal["claim", "points"] = "claim"
    claim_window: Literal["on_lead", "on_any_turn", "after_taking"] = "on_lead"
    target: int = 31
    false_claim: Literal["lose", "lose_double", "double_bank"] = "lose"
    claim_vs_combination: Literal["claim_first", "combination_first"] = "claim_first"
    final_claim: Literal["yes", "no"] = "yes"
    no_claim: Literal["void", "most_points"] = "void"
    max_void: int = 3
    top_tie: Literal["zero_each", "two_each", "draw", "split"] = "zero_each"
    fault_cost: Literal["deal", "match"] = "deal"

    combinations: tuple[Combination, ...] = (Combination.BURA,)
    moscow: Literal["three_aces", "with_trump_ace"] = "three_aces"
    little_moscow: Literal["sixes_with_trump", "tens"] = "sixes_with_trump"
    bura_tie: Literal["leader_unless_covered", "highest_card", "leader"] = "leader_unless_covered"
    stop_block: Literal["declared", "held"] = "declared"
    same_rank_leads: Literal["no", "ask"] = "no"
    raise_: Literal["no", "dave"] = "no"
    sides: Literal["each", "pairs"] = "each"

    match_format: Literal[
        "series", "robber", "penalty", "burkozyol_penalty", "burkozyol_double", "eyes", "bank"
    ] = "series"
    robber_target: int = 21
    robber_margin: int = 2
    penalty_limit: int = 12
    on_limit: Literal["match_over", "eliminate"] = "match_over"
    double_as: Literal["penalty", "robber"] = "penalty"
    four_singles_mark: Literal[31, 21] = 31
    six_for: Literal["zero_points", "no_tricks", "off"] = "zero_points"
    eyes: Literal["each_side", "winner_only"] = "each_side"
    eyes_target: int = 12
    ante: int = 1
    draw_carry: Literal["double_once", "geometric", "none"] = "double_once"
    max_deals: int = 1000

    _hash: int = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("combinations", "players", "lead_sizes"):
            value = getattr(self, name)
            if not isinstance(value, tuple | list):
                raise RulesError(f"{name}={value!r}: expected a list")
            object.__setattr__(self, name, tuple(value))
        combinations = tuple(_combination(value) for value in self.combinations)
        object.__setattr__(self, "combinations", combinations)
        _check_values(self)
        for impossible, reason in _IMPOSSIBLE:
            if impossible(self):
                raise RulesError(reason)
        object.__setattr__(self, "_hash", hash(tuple(self.to_dict().items())))

    def __hash__(self) -> int:
        # Every deal looks its precomputed tables up by the rules, so hashing must cost nothing.
        return self._hash

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], "Rules"], tuple[dict[str, Any]]]:
        # Hashes of strings differ between processes: the cached hash must not travel.
        return Rules.from_dict, (self.to_dict(),)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain JSON values, tuples for lists."""
        return {
            name: tuple(str(value) for value in self.combinations)
            if name == "combinations"
            else getattr(self, name)
            for name in OPTIONS
        }

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Self:
        """Return the rules with these options, the others at their defaults.

        Raises:
            RulesError: An option is unknown, or the options are impossible together.
        """
        for name in options:
            if name not in OPTIONS:
                raise RulesError(f"no option {name!r}: expected one of {', '.join(OPTIONS)}")
        return cls(**options)

    def replace(self, **options: Any) -> "Rules":
        """Return the same rules with some options changed.

        Raises:
            RulesError: An option is unknown, or the options are impossible together.
        """
        return Rules.from_dict({**self.to_dict(), **options})

    def check_seats(self, seats: int) -> None:
        """Refuse a number of seats that these rules do not allow.

        Raises:
            RulesError: The number is not among the allowed ones.
        """
        if seats not in self.players:
            allowed = ", ".join(map(str, self.players))
            raise RulesError(f"{seats} seats: this game is played by {allowed}")


OPTIONS: Final = tuple(field.name for field in dataclasses.fields(Rules) if field.init)


def _combination(value: str) -> Combination:
    try:
        return Combination(value)
    except ValueError:
        raise RulesError(
            f"combinations: no combination {value!r}, expected of {', '.join(Combination)}"
        ) from None


@functools.cache
def choices_of(option: str) -> tuple[str | int, ...]:
    """Return the values an option may take, its default first; empty for numbers and tuples."""
    hint = get_type_hints(Rules)[option]
    return get_args(hint) if get_origin(hint) is Literal else ()


def _check_values(rules: Rules) -> None:
    for name in OPTIONS:
        value = getattr(rules, name)
        choices = choices_of(name)
        if choices and (value not in choices or isinstance(value, bool)):
            raise RulesError(f"{name}={value!r}: expected one of {', '.join(map(str, choices))}")
    for name in _LEAST_VALUES:
        value = getattr(rules, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < _LEAST_VALUES[name]:
            raise RulesError(
                f"{name}={value!r}: expected a number of at least {_LEAST_VALUES[name]}"
            )
    _check_numbers("players", rules.players, range(2, 12))
    _check_numbers("lead_sizes", rules.lead_sizes, range(1, rules.hand_size + 1))
    if len(set(rules.combinations)) < len(rules.combinations):
        raise RulesError("combinations: a combination is listed twice, list each once")


_LEAST_VALUES: Final = {
    "target": 1,
    "max_void": 0,
    "robber_target": 1,
    "robber_margin": 1,
    "penalty_limit": 1,
    "eyes_target": 1,
    "ante": 1,
    "max_deals": 1,
}


def _check_numbers(name: str, numbers: tuple[int, ...], allowed: range) -> None:
    fits = all(isinstance(n, int) and not isinstance(n, bool) and n in allowed for n in numbers)
    if not numbers or not fits or list(numbers) != sorted(set(numbers)):
        raise RulesError(
            f"{name}={numbers!r}: expected different numbers of {allowed[0]} to {allowed[-1]},"
            " ascending"
        )


def _has(rules: Rules, *combinations: Combination) -> bool:
    return any(combination in rules.combinations for combination in combinations)


def _misfits(rules: Rules) -> bool:
    return any(rules.hand_size not in _HAND_SIZES[each] for each in rules.combinations)


def _without_trumps(rules: Rules) -> bool:
    moscow_of_four = rules.hand_size == 4 and _has(  # noqa: PLR2004 - the game's own size
        rules, Combination.MOSCOW, Combination.MOSCOW_LEADS
    )
    return (
        moscow_of_four
        or _has(rules, Combination.BURA, Combination.BURA_LEADS)
        or (_has(rules, Combination.MOSCOW) and rules.moscow == "with_trump_ace")
        or (_has(rules, Combination.LITTLE_MOSCOW) and rules.little_moscow == "sixes_with_trump")
        or rules.first_lead == "colour_guess"
        or rules.end_indicator in ("bury", "redraw")
    )


def _claims_for_points(rules: Rules) -> bool:
    defaults = {field.name: field.default for field in dataclasses.fields(Rules)}
    return any(getattr(rules, name) != defaults[name] for name in _CLAIM_OPTIONS)


def _needs_cards(rules: Rules) -> int:
    return max(rules.players) * rules.hand_size + (rules.trump == "indicator")


_IMPOSSIBLE: Final[tuple[tuple[Callable[[Rules], bool], str], ...]] = (
    (
        lambda rules: _needs_cards(rules) > rules.deck,
        "players: that many hands and the indicator need more cards than the deck has",
    ),
    (
        lambda rules: 1 not in rules.lead_sizes,
        "lead_sizes: without leads of one card the last cards could not be led, add 1",
    ),
    (
        _misfits,
        "combinations: one of them does not exist with this hand_size, leave it out",
    ),
    (
        lambda rules: rules.trump == "none" and _without_trumps(rules),
        (
            "trump=none: without trumps there is no bura, no moscow of four, no with_trump_ace, no"
            " sixes_with_trump, no colour_guess, no bury and no redraw"
        ),
    ),
    (
        lambda rules: (
            rules.deck == 32  # noqa: PLR2004 - the deck's own size
            and _has(rules, Combination.LITTLE_MOSCOW)
            and rules.little_moscow == "sixes_with_trump"
        ),
        "little_moscow=sixes_with_trump: a deck of 32 has no sixes, take tens",
    ),
    (
        lambda rules: rules.goal == "points" and _claims_for_points(rules),
        f"goal=points: nobody claims, so leave {', '.join(_CLAIM_OPTIONS)} at their defaults",
    ),
    (
        lambda rules: rules.goal == "points" and rules.raise_ == "dave",
        "raise_=dave: the stake is raised in claim games only, not with goal=points",
    ),
    (
        lambda rules: rules.sides == "pairs" and rules.players != (4,),
        "sides=pairs: two pairs need players=(4,)",
    ),
    (
        lambda rules: rules.match_format == "eyes" and (rules.sides != "pairs" or rules.deck != 32),  # noqa: PLR2004 - the deck's own size
        "match_format=eyes: the sixes keep the score of two pairs, so sides=pairs and deck=32",
    ),
    (
        lambda rules: (
            rules.match_format in ("burkozyol_penalty", "burkozyol_double", "eyes")
            and rules.goal != "points"
        ),
        "match_format: burkozyol_penalty, burkozyol_double and eyes count points, so goal=points",
    ),
)
