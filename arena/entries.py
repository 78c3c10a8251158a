"""Who takes part in a tournament: bots alone, or pairs written as one word, "alice+bob"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena import queries
from arena.bots import PLUS
from arena.errors import NotFoundError, RefusedError
from arena.formats import Partners
from arena.sandbox import SANDBOXES, find_sandbox

CONTAINER = "container"

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arena.infos import BotVersionInfo
    from referee.rules import Rules


@dataclass(frozen=True, slots=True)
class Entry:
    """A bot to be entered; `pair` numbers the pair it stays in, None if it is alone."""

    bot: BotVersionInfo
    pair: int | None = None


def split_pair(word: str, is_bot: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the bots that a word names: one, or the two of a pair.

    A name may hold a plus of its own: a word that names a bot is that bot.

    Raises:
        RefusedError: The word can be read as more than one pair.
    """
    if PLUS not in word or is_bot(word):
        return (word,)
    splits = [(word[:at], word[at + 1 :]) for at, letter in enumerate(word) if letter == PLUS]
    pairs = [pair for pair in splits if all(map(is_bot, pair))]
    if len(pairs) > 1:
        raise RefusedError(
            f"{word!r} can be read as more than one pair", "name the versions: alice@1+bob@1"
        )
    if pairs:
        return pairs[0]
    return splits[0] if len(splits) == 1 else (word,)


def partners_of(groups: Sequence[tuple[str, ...]], variant: str, rules: Rules) -> Partners:
    """Return who plays on whose side if these bots and pairs are entered.

    Raises:
        RefusedError: The game has no partners, or bots alone and pairs are mixed.
    """
    pairs = [PLUS.join(group) for group in groups if len(group) > 1]
    if not pairs:
        return Partners.ROTATING if rules.sides == "pairs" else Partners.NONE
    if rules.sides != "pairs":
        raise RefusedError(
            f"{pairs[0]} is a pair, but in {variant} each plays for itself",
            "name bots alone, or choose a variant of pairs",
        )
    if len(pairs) < len(groups):
        alone = next(group[0] for group in groups if len(group) == 1)
        raise RefusedError(
            f"{alone} is alone, but {pairs[0]} is a pair",
            "enter pairs only, or every bot alone with partners that rotate",
        )
    return Partners.FIXED


def enter(
    words: Sequence[str],
    variant: str,
    rules: Rules,
    find: Callable[[str], BotVersionInfo],
) -> tuple[list[Entry], Partners]:
    """Return the bots that words name, in the order of the words, and who their partners are.

    Args:
        words: Each a bot or a pair.
        variant: What the game is called.
        rules: Of the game.
        find: Gives the version that "name" or "name@2" means.

    Raises:
        NotFoundError: A bot is unknown.
        RefusedError: A bot is entered twice, or the pairs do not fit the game.
    """
    groups = [split_pair(word, lambda name: is_bot(find, name)) for word in words]
    for word, group in zip(words, groups, strict=True):
        _check_word(word, group, find)
    partners = partners_of(groups, variant, rules)
    entries = [
        Entry(find(name), number if partners is Partners.FIXED else None)
        for number, group in enumerate(groups)
        for name in group
    ]
    _check_once(entries)
    return entries, partners


def _check_word(word: str, group: Sequence[str], find: Callable[[str], BotVersionInfo]) -> None:
    """Refuse a word with a plus that is neither a bot nor two names.

    Raises:
        RefusedError: A name is missing, or there are more than two.
    """
    if PLUS not in word or is_bot(find, word):
        return
    if not all(group):
        raise RefusedError(f"in {word!r} a name is missing", "a pair is two bots: alice+bob")
    if len(group) == 1:
        raise RefusedError(f"{word!r} is more than two names", "a pair is two bots: alice+bob")


def is_bot(find: Callable[[str], BotVersionInfo], name: str) -> bool:
    """Tell whether a name is that of a bot."""
    try:
        find(name)
    except NotFoundError:
        return False
    return True


def usual_sandbox(entries: Sequence[Entry]) -> str:
    """Return the backend for bots when none is named: processes if all were submitted as such."""
    kinds = {entry.bot.kind for entry in entries}
    return queries.PROCESS if kinds == {queries.PROCESS} else CONTAINER


def check_backend(entries: Sequence[Entry], sandbox: str) -> None:
    """Refuse bots that the backend of this name cannot run.

    Raises:
        NotFoundError: There is no such backend.
        RefusedError: A bot cannot run there.
    """
    if sandbox not in SANDBOXES:
        find_sandbox(sandbox)
    for entry in entries:
        is_process = entry.bot.kind == queries.PROCESS
        if is_process and sandbox != queries.PROCESS:
            raise RefusedError(
                f"{entry.bot.label} was submitted as a process, and here bots run in docker",
                "create the tournament with --sandbox process, or "
                "submit the bot again with --sandbox docker",
            )
        if not is_process and sandbox == queries.PROCESS:
            raise RefusedError(
                f"{entry.bot.label} was submitted for docker, and here bots run as processes",
                "create the tournament with --sandbox docker, or "
                "submit the bot again with --sandbox process",
            )


def _check_once(entries: Sequence[Entry]) -> None:
    """Refuse a bot that would meet itself; in a pair two copies of it may play together."""
    for place, entry in enumerate(entries):
        others = [other for other in entries[:place] if other.bot == entry.bot]
        if entry.pair is None and others:
            raise RefusedError(f"{entry.bot.label} is entered twice", "name each version once")
        if any(other.pair != entry.pair for other in others):
            raise RefusedError(
                f"{entry.bot.label} is entered in two pairs", "name each version in one pair"
            )
