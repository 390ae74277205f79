"""The slots of templates: patterns that read them from sentences, functions that fill them from changes."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from whatchanged import words
from whatchanged.worlds import Box
from whatchanged.worlds.screens.elements import (
    ELEMENTS,
    LINES,
    PLURAL_ONLY,
    WORDLESS,
    all_nouns,
    nouns_of,
    plural,
)
from whatchanged.worlds.screens.templates import Template
from whatchanged.worlds.screens.truth import ScreenChange

Size = tuple[int, int]
_HUES = ("red", "orange", "yellow", "green", "turquoise", "blue", "purple", "pink", "brown", "grey")
COLORS = ("white", "black", *(f"{shade}{hue}" for hue in _HUES for shade in ("", "dark ", "light ")))
"""Every name of a colour that ``words.color_name`` gives."""
_POSITIONS = tuple(
    words.position_phrase(box, (100, 100))
    for box in (
        *((x, y, x + 10, y + 10) for x in (5, 45, 85) for y in (5, 45, 85)),
        *((0, y, 100, y + 10) for y in (5, 45, 85)),
        *((x, 0, x + 10, 100) for x in (5, 45, 85)),
        (0, 0, 100, 100),
    )
)
"""Every phrase for a place that ``words.position_phrase`` gives."""
COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}
_PLURALS = {
    "is": "are",
    "was": "were",
    "has": "have",
    "looks": "look",
    "shows": "show",
    "reads": "read",
    "stands": "stand",
    "its": "their",
}
"""Words of templates in the singular, and in the plural."""
LONGEST_NAME = 32
"""Characters of a name that is quoted; of a card or a table it is all that stands in it."""
LIGHTER = 4.0
"""Levels of luminance from which one colour is lighter than another."""


@dataclass(frozen=True)
class Naming:
    """How an element is named: its noun, whether with its name in quotes, and whether with its position."""

    noun: str
    named: bool = False
    with_position: bool = False


def longest_first(values: Sequence[str]) -> str:
    """An alternation of words in a pattern, longer words first."""
    return "|".join(re.escape(value) for value in sorted(set(values), key=lambda v: (-len(v), v)))


PLURAL_OF = {plural(noun): noun for noun in all_nouns()}
"""Plural -> singular. "words" is both: more than one word, and a noun of its own."""
_COUNT = rf"(?:(?P<count>{longest_first(tuple(COUNTS.values()))}|\d{{1,3}}) )?"
_NAMED = (
    rf'(?:"(?P<name>[^"]*)" )?(?P<noun>{longest_first((*all_nouns(), *PLURAL_OF))})(?: "(?P<called>[^"]*)")?'
    rf"(?: (?P<place>{longest_first(_POSITIONS)}))?"
)
_COLOR = longest_first(COLORS)
AMOUNT = r"\d[\d,]{0,11}"
"""An amount in pixels as it is read."""
STEP = rf"(?:left|right|up|down) by {AMOUNT} pixels?"
_GROWTH = rf"(?:{AMOUNT} pixels? )(?:wider|narrower|higher|lower)"
_GROWN = r"(?:wider|narrower|higher|lower|larger|smaller)"
PATTERNS: Mapping[str, str] = {
    "the": rf"(?:(?:the|all) )?{_COUNT}{_NAMED}",
    "a": rf"(?:(?:the|a|an|another|a new) )?{_COUNT}{_NAMED}",
    "way": rf"(?P<way>{STEP}(?: and {STEP})?)",
    "direction": r"(?P<direction>(?:(?:to the )?(?:left|right)|up|down)(?: and (?:up|down))?)",
    "growth": rf"(?P<growth>{_GROWTH}(?: and {_GROWTH})?)",
    "grown": rf"(?P<grown>{_GROWN}(?: and {_GROWN})?)",
    "before": rf"(?P<before>{_COLOR})",
    "after": rf"(?P<after>{_COLOR})",
    "shade": r"(?P<shade>darker|lighter)",
    "text_before": r'"(?P<text_before>[^"]*)"',
    "text_after": r'"(?P<text_after>[^"]*)"',
}
"""What each slot is read by."""


def pattern_of(template: Template) -> str:
    """The pattern that reads a template."""
    either = f"(?P<either>{longest_first(template.pair)})"
    patterns = {**PATTERNS, "more": either, "on": either}
    parts = re.split(r"\{(\w+)\}", template.text)
    texts = [_either_number(part) if i % 2 == 0 else patterns[part] for i, part in enumerate(parts)]
    return "".join(texts)


def _either_number(text: str) -> str:
    """The pattern of words whose verbs may be singular or plural."""
    words_of = [
        f"(?:{word}|{_PLURALS[word]})" if word in _PLURALS else re.escape(word) for word in text.split(" ")
    ]
    return " ".join(words_of)


def fill(template: Template, change: ScreenChange, naming: Naming, size: Size) -> str:
    """The template, filled as a statement about a change in a picture of this size."""
    values = {slot: FILLERS[slot](template, change, naming, size) for slot in template.slots}
    text = template.text
    several = len(change.boxes) > 1 or naming.noun in PLURAL_ONLY
    if several and not text.startswith("the "):  # whose subject is not the thing itself
        text = " ".join(_PLURALS.get(word, word) for word in text.split(" "))
    return text.format(**values)


def fits(template: Template, change: ScreenChange) -> bool:
    """Whether a template can state a change: kind and aspect match, and every slot can be filled."""
    if template.kind != change.kind or (template.aspects and change.aspect not in template.aspects):
        return False
    if template.state and template.state != change.values.get("state"):
        return False
    if any(part in template.text for part in _absent(change.element)):
        return False
    return all(_sayable(slot, template, change) for slot in template.slots)


def _absent(element: str) -> tuple[str, ...]:
    """What no template may name, because the element does not have it."""
    return ("text of",) * (element in WORDLESS) + ("border of",) * (element in LINES)


def _sayable(slot: str, template: Template, change: ScreenChange) -> bool:
    values = change.values
    if slot in ("way", "direction"):
        return any(step_of(change))
    if slot in ("growth", "grown"):
        return change.aspect != "text size" and bool(_grown(change))
    if slot in ("before", "after"):
        one, other = colors_of(change)
        return bool(one and other) and one != other
    if slot == "shade":
        return lighter(change) != 0 and len({hue_of(name) for name in colors_of(change)}) == 1
    if slot in ("text_before", "text_after"):
        return bool(values.get(slot)) and values.get("text_before") != values.get("text_after")
    if slot == "more":
        return more(change) != 0
    if slot == "on":
        return isinstance(values.get("on_after"), bool)
    return True


def _object(article: str, change: ScreenChange, naming: Naming, size: Size) -> str:
    count = len(change.boxes)
    noun, parts = naming.noun, []
    if article == "a" and count <= 1 and noun not in PLURAL_ONLY:
        parts.append("an" if noun[0] in "aeio" else "a")
    elif noun != "something":
        parts.append("the" if article == "the" else "")
    if noun == "something":
        parts = []
    if count > 1:
        parts.append(COUNTS.get(count, str(count)))
        noun = plural(noun) if noun != "something" else "things"
    text = " ".join(part for part in (*parts, noun) if part)
    if naming.named and 0 < len(change.name) <= LONGEST_NAME and count <= 1:
        text += f' "{change.name}"'
    return f"{text} {words.position_phrase(box_of(change), size)}" if naming.with_position else text


def box_of(change: ScreenChange) -> Box:
    """The box of the change in the picture after, or before if the element is only there."""
    box = change.box_after or change.box_before
    assert box is not None, "a change has a box"
    return box


FILLERS: Mapping[str, Callable[[Template, ScreenChange, Naming, Size], str]] = {
    "the": lambda t, c, n, s: _object("the", c, n, s),
    "a": lambda t, c, n, s: _object("a", c, n, s),
    "way": lambda t, c, n, s: words.way(*step_of(c)),
    "direction": lambda t, c, n, s: _direction(c),
    "growth": lambda t, c, n, s: " and ".join(f"{words.pixels(abs(a))} {w}" for w, a in _grown(c)),
    "grown": lambda t, c, n, s: " and ".join(w for w, _ in _grown(c)),
    "before": lambda t, c, n, s: colors_of(c)[0],
    "after": lambda t, c, n, s: colors_of(c)[1],
    "shade": lambda t, c, n, s: "lighter" if lighter(c) > 0 else "darker",
    "text_before": lambda t, c, n, s: f'"{c.values["text_before"]}"',
    "text_after": lambda t, c, n, s: f'"{c.values["text_after"]}"',
    "more": lambda t, c, n, s: t.pair[0] if more(c) > 0 else t.pair[1],
    "on": lambda t, c, n, s: t.pair[0] if c.values["on_after"] else t.pair[1],
}
"""What each slot is filled with."""


def step_of(change: ScreenChange) -> tuple[int, int]:
    """How far an element moved to the right and down, in pixels; (0, 0) where this is not known."""
    return _number(change, "dx"), _number(change, "dy")


def growth_of(change: ScreenChange) -> tuple[int, int]:
    """By how much an element became wider and higher, in pixels; (0, 0) where this is not known."""
    return _number(change, "dwidth"), _number(change, "dheight")


def _number(change: ScreenChange, name: str) -> int:
    value = change.values.get(name)
    return round(value) if isinstance(value, int | float) else 0


def _direction(change: ScreenChange) -> str:
    """The main direction of a motion, or both directions if they are about equal."""
    dx, dy = step_of(change)
    across = "right" if dx > 0 else "left"
    down = "down" if dy > 0 else "up"
    if abs(dx) > 2 * abs(dy):
        return f"to the {across}"
    return down if abs(dy) > 2 * abs(dx) else f"to the {across} and {down}"


def _grown(change: ScreenChange) -> list[tuple[str, int]]:
    """("wider", 12), ("lower", -3): how width and height changed."""
    width, height = growth_of(change)
    results = []
    if width:
        results.append(("wider" if width > 0 else "narrower", width))
    if height:
        results.append(("higher" if height > 0 else "lower", height))
    return results


def colors_of(change: ScreenChange) -> tuple[str, str]:
    """The names of the colours before and after; "" where they are not known."""
    results = [change.values.get(name) for name in ("color_before", "color_after")]
    one, other = (words.color_name(_rgb(c)) if isinstance(c, str) else "" for c in results)
    return one, other


def _rgb(code: str) -> tuple[int, int, int]:
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def hue_of(name: str) -> str:
    """The name of a colour without "dark" or "light"."""
    return name.split()[-1] if name else ""


def lighter(change: ScreenChange) -> int:
    """1 where the colour became lighter, -1 where darker, 0 where neither is clear."""
    results = [change.values.get(name) for name in ("color_before", "color_after")]
    if not all(isinstance(code, str) for code in results):
        return 0
    one, other = (
        sum(w * c for w, c in zip((0.25, 0.5, 0.25), _rgb(str(code)), strict=True)) for code in results
    )
    return 0 if abs(other - one) < LIGHTER else 1 if other > one else -1


def more(change: ScreenChange) -> int:
    """1 where the amount became larger, -1 where smaller, 0 where it is not known."""
    one, other = change.values.get("amount_before"), change.values.get("amount_after")
    if not isinstance(one, int | float) or not isinstance(other, int | float) or one == other:
        return 0
    return 1 if other > one else -1


def known_nouns(change: ScreenChange) -> tuple[str, ...]:
    """The nouns that a written sentence may use for the changed element: its own nouns."""
    return nouns_of(change.element) if change.element in ELEMENTS else ("something",)
