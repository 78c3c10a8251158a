"""Write docs/variants.md from the variants themselves: `python tools/gen_variants_docs.py`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from referee.options import OPTIONS, Combination, Rules, choices_of
from referee.sentences import SENTENCES, SOURCES, combination_sentence, number_sentence
from referee.variants import VARIANTS, describe

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).resolve().parent.parent / "docs" / "variants.md"

HEAD = """\
# The variants

The games that `--variant` names, and the options that `--rules` changes. This page is generated:
`python tools/gen_variants_docs.py`.

    arena variants                                         # the list, with the rules you saved
    arena variants burkozyol                               # one in sentences
    arena play ./a ./b ./c --variant bura --rules target=41 --rules false_claim=lose
    arena rules save house --variant bura --rules target=41
    arena tournament create spring alice bob --variant house

The letters in brackets say where a rule comes from:

"""
OPTIONS_HEAD = """\
## The options

Each is a `--rules OPTION=VALUE`; the first value is the one a variant has unless it says otherwise.
Several values of one option are joined by commas (`lead_sizes=1,3`); no combinations at all are
`combinations=none`. Options that cannot be played together are refused with the reason.

| option | values | meaning |
|---|---|---|
"""


def overview() -> Iterator[str]:
    """Give the lines of the table of all variants."""
    yield "| variant | seats | deck | hand | goal | sides | match format |"
    yield "|---|---|---|---|---|---|---|"
    for name, rules in VARIANTS.items():
        seats = ", ".join(map(str, rules.players))
        cells = (rules.deck, rules.hand_size, rules.goal, rules.sides, rules.match_format)
        yield f"| [`{name}`](#{name}) | {seats} | {' | '.join(map(str, cells))} |"


def option_lines() -> Iterator[str]:
    """Give a line for each value of each option, and one for each option without fixed values."""
    defaults = Rules()
    for option in OPTIONS:
        choices = choices_of(option)
        for choice in choices:
            yield f"| `{option}` | `{choice}` | {meaning(option, choice)} |"
        if not choices:
            value = getattr(defaults, option)
            text = ",".join(map(str, value)) if isinstance(value, tuple) else value
            yield f"| `{option}` | such as `{text}` | {free_meaning(option, value)} |"


def free_meaning(option: str, value: int | tuple[int, ...]) -> str:
    """Return the sentence of an option whose values are not listed, at its default."""
    if option == "combinations":
        return "Which combinations of those below count, the one that counts most first."
    return number_sentence(option, value)


def meaning(option: str, choice: str | int) -> str:
    """Return the sentence of a value; how a combination is read is said of the combination."""
    if (option, choice) in SENTENCES:
        return SENTENCES[option, choice]
    combination = Combination(option)
    rules = Rules.from_dict({"combinations": (combination,), option: choice})
    return combination_sentence(rules, combination)


def render() -> str:
    """Return the page."""
    parts = [HEAD, "".join(f"- **{sign}**: {text}\n" for sign, text in SOURCES.items()), "\n"]
    parts += [f"{line}\n" for line in overview()]
    for name, rules in VARIANTS.items():
        parts.append(f"\n## {name}\n\n")
        parts += [f"- {sentence}\n" for sentence in describe(rules)]
    parts.append(f"\n{OPTIONS_HEAD}")
    parts += [f"{line}\n" for line in option_lines()]
    parts.append(f"\nCombinations: {', '.join(f'`{each}`' for each in Combination)}.\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
