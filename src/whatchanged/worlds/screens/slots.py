"""The slots of templates: patterns that parse their content, and functions that fill them from changes."""

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
"""All colour names that ``words.color_name`` can return."""
_POSITIONS = tuple(
    words.position_phrase(box, (100, 100))
    for box in (
        *((x, y, x + 10, y + 10) for x in (5, 45, 85) for y in (5, 45, 85)),
        *((0, y, 100, y + 10) for y in (5, 45, 85)),
        *((x, 0, x + 10, 100) for x in (5, 45, 85)),
        (0, 0, 100, 100),
    )
)
"""All position phrases that ``words.position_phrase`` can return."""
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
"""The singular words in templates, mapped to their plurals."""
LONGEST_NAME = 32
"""The largest number of characters of a name that is quoted.

The name of a card or table is its entire text.
"""
LIGHTER = 4.0
"""The smallest difference in luminance levels at which one colour is called lighter than another."""


@dataclass(frozen=True)
class Naming:
    """How a sentence names an element: the noun, and whether the quoted name and the position are added."""

    noun: str
    named: bool = False
    with_position: bool = False


def longest_first(values: Sequence[str]) -> str:
    """Return a pattern that matches any of the words. Longer words are tried first."""
    return "|".join(re.escape(value) for value in sorted(set(values), key=lambda v: (-len(v), v)))


PLURAL_OF = {plural(noun): noun for noun in all_nouns()}
"""A mapping from plural to singular nouns. "words" is both a plural and a noun of its own."""
_COUNT = rf"(?:(?P<count>{longest_first(tuple(COUNTS.values()))}|\d{{1,3}}) )?"
_NAMED = (
    rf'(?:"(?P<name>[^"]*)" )?(?P<noun>{longest_first((*all_nouns(), *PLURAL_OF))})(?: "(?P<called>[^"]*)")?'
    rf"(?: (?P<place>{longest_first(_POSITIONS)}))?"
)
_COLOR = longest_first(COLORS)
AMOUNT = r"\d[\d,]{0,11}"
"""The pattern of an amount in pixels."""
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
"""The pattern that parses each slot."""


def pattern_of(template: Template) -> str:
    """Return the pattern that parses statements made from a template."""
    either = f"(?P<either>{longest_first(template.pair)})"
    patterns = {**PATTERNS, "more": either, "on": either}
    parts = re.split(r"\{(\w+)\}", template.text)
    texts = [_either_number(part) if i % 2 == 0 else patterns[part] for i, part in enumerate(parts)]
    return "".join(texts)


def _either_number(text: str) -> str:
    """Return a pattern that matches a text with its verbs in the singular or the plural."""
    words_of = [
        f"(?:{word}|{_PLURALS[word]})" if word in _PLURALS else re.escape(word) for word in text.split(" ")
    ]
    return " ".join(words_of)


def fill(template: Template, change: ScreenChange, naming: Naming, size: Size) -> str:
    """Fill a template and return the statement about a change in a picture of this size."""
    values = {slot: FILLERS[slot](template, change, naming, size) for slot in template.slots}
    text = template.text
    several = len(change.boxes) > 1 or naming.noun in PLURAL_ONLY
    if several and not text.startswith("the "):  # its subject is not the element itself
        text = " ".join(_PLURALS.get(word, word) for word in text.split(" "))
    return text.format(**values)


def fits(template: Template, change: ScreenChange) -> bool:
    """Return whether a template can state a change.

    The kind, aspect and state must match, and it must be possible to fill every slot.
    """
    if template.kind != change.kind or (template.aspects and change.aspect not in template.aspects):
        return False
    if template.state and template.state != change.values.get("state"):
        return False
    if any(part in template.text for part in _absent(change.element)):
        return False
    return all(_sayable(slot, template, change) for slot in template.slots)


def _absent(element: str) -> tuple[str, ...]:
    """Return the words that a template must not contain because the element has no such part."""
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
    """Return the box of a change in the picture after, or before if the element was removed."""
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
"""The function that fills each slot."""


def step_of(change: ScreenChange) -> tuple[int, int]:
    """Return the movement of an element (right, down) in pixels; (0, 0) if it is not known."""
    return _number(change, "dx"), _number(change, "dy")


def growth_of(change: ScreenChange) -> tuple[int, int]:
    """Return the growth of an element in (width, height) in pixels; (0, 0) if it is not known."""
    return _number(change, "dwidth"), _number(change, "dheight")


def _number(change: ScreenChange, name: str) -> int:
    value = change.values.get(name)
    return round(value) if isinstance(value, int | float) else 0


def _direction(change: ScreenChange) -> str:
    """Return the main direction of a movement. If both components are similar, name both."""
    dx, dy = step_of(change)
    across = "right" if dx > 0 else "left"
    down = "down" if dy > 0 else "up"
    if abs(dx) > 2 * abs(dy):
        return f"to the {across}"
    return down if abs(dy) > 2 * abs(dx) else f"to the {across} and {down}"


def _grown(change: ScreenChange) -> list[tuple[str, int]]:
    """Return the changes in width and height with their words, such as [("wider", 12), ("lower", -3)]."""
    width, height = growth_of(change)
    results = []
    if width:
        results.append(("wider" if width > 0 else "narrower", width))
    if height:
        results.append(("higher" if height > 0 else "lower", height))
    return results


def colors_of(change: ScreenChange) -> tuple[str, str]:
    """Return the colour names before and after the change; "" for a colour that is not known."""
    results = [change.values.get(name) for name in ("color_before", "color_after")]
    one, other = (words.color_name(_rgb(c)) if isinstance(c, str) else "" for c in results)
    return one, other


def _rgb(code: str) -> tuple[int, int, int]:
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def hue_of(name: str) -> str:
    """Return a colour name without "dark" or "light"."""
    return name.split()[-1] if name else ""


def lighter(change: ScreenChange) -> int:
    """Return 1 if the colour became lighter, -1 if darker, and 0 if the difference is small or unknown."""
    results = [change.values.get(name) for name in ("color_before", "color_after")]
    if not all(isinstance(code, str) for code in results):
        return 0
    one, other = (
        sum(w * c for w, c in zip((0.25, 0.5, 0.25), _rgb(str(code)), strict=True)) for code in results
    )
    return 0 if abs(other - one) < LIGHTER else 1 if other > one else -1


def more(change: ScreenChange) -> int:
    """Return 1 if the amount increased, -1 if it decreased, and 0 if this is not known."""
    one, other = change.values.get("amount_before"), change.values.get("amount_after")
    if not isinstance(one, int | float) or not isinstance(other, int | float) or one == other:
        return 0
    return 1 if other > one else -1


def known_nouns(change: ScreenChange) -> tuple[str, ...]:
    """Return the nouns that written sentences may use for the changed element: its own nouns."""
    return nouns_of(change.element) if change.element in ELEMENTS else ("something",)
