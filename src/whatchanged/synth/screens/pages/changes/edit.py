"""A change to a page as data, and the functions that all kinds of change share."""

import colorsys
import json
from collections.abc import Callable
from dataclasses import dataclass

from whatchanged.synth.screens.choices import magnitude
from whatchanged.synth.screens.pages.shown import PageElement, PageLayout, RGBAColor
from whatchanged.synth.screens.words import RandomTexts, Rng
from whatchanged.worlds.screens.kinds import Kind


@dataclass(frozen=True)
class PageEdit:
    """One change to be made.

    script: a call in the page, as ``call`` writes it. inserts: whether it inserts one element, which becomes
    the last one. state: the state that the element enters or leaves. on: whether it enters the state or gains
    the property (a shadow, italics); None where neither applies. alike: whether it makes sense on several
    alike elements at once. swap: the other element with which it exchanges positions.
    """

    kind: Kind
    aspect: str
    script: str
    inserts: bool = False
    state: str = ""
    on: bool | None = None
    alike: bool = False
    swap: int = -1


@dataclass(frozen=True)
class Setting:
    """The information that a change may use: the element, the whole layout, and words in the language of the
    page.
    """

    element: PageElement
    layout: PageLayout
    texts: RandomTexts


Way = Callable[[Rng, Setting], PageEdit | None]
"""A change that fits the element; None where it does not."""


def call(function: str, *values: object) -> str:
    """Return a script that calls a function of ``edits.js`` with the element and these values.

    ``$I`` stands for the number of the element until it is known.
    """
    return f"screens.edits.{function}({', '.join(['$I', *map(json.dumps, values)])});"


def styled(**properties: str) -> str:
    """Return a script that sets style properties of the element."""
    return call("style", {name.replace("_", "-"): value for name, value in properties.items()})


def inserted(where: str, html: str, inside: bool = True) -> str:
    """Return a script that inserts HTML beside the element, or into the page where ``inside`` is false."""
    return f"screens.insert({'$I' if inside else -1}, {json.dumps(where)}, {json.dumps(html)});"


def sign(rng: Rng, up: float = 0.5) -> int:
    """Return 1 with this probability, else -1."""
    return 1 if rng.random() < up else -1


def other_color(rng: Rng, color: RGBAColor) -> str:
    """Return another colour in CSS: a step lighter or darker, another hue, or any; its opacity is kept."""
    red, green, blue, alpha = color
    hue, light, vivid = colorsys.rgb_to_hls(red / 255, green / 255, blue / 255)
    way = int(rng.integers(3))
    if way == 0:
        step = magnitude(rng, 0.03, 0.5) * sign(rng)
        light += step if 0 <= light + step <= 1 else -step
        light = min(1.0, max(0.0, light))
    elif way == 1:
        hue, vivid = (hue + rng.uniform(0.08, 0.92)) % 1, max(vivid, 0.4)
        light = min(max(light, 0.25), 0.8)
    else:
        hue, light, vivid = rng.random(), rng.uniform(0.2, 0.9), rng.random()
    new = [round(255 * value) for value in colorsys.hls_to_rgb(hue, light, vivid)]
    return f"rgba({new[0]},{new[1]},{new[2]},{alpha or 1:.3f})"


def has_text(element: PageElement) -> bool:
    """Return whether the element has text of its own."""
    return bool(element.text) and element.tag not in ("svg", "option")


def has_look(element: PageElement) -> bool:
    """Return whether its box is visible: a fill or a border."""
    return element.fill[3] > 0.1 or (element.border > 0.4 and element.border_color[3] > 0.1)
