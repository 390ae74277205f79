"""Plain words for numbers, places, ways, colours and whole answers.

Imports nothing of the package, so that worlds, measurement and every command may use it.
"""

import colorsys
from collections.abc import Sequence

SAME = "nothing changed"
NOISE = "nothing visible changed"

_HUES = (
    (14, "red"), (40, "orange"), (68, "yellow"), (165, "green"), (195, "turquoise"), (255, "blue"),
    (290, "purple"), (340, "pink"), (361, "red"),
)  # fmt: skip
"""Ends of the ranges of hue, in degrees."""


def counted(count: int, noun: str) -> str:
    """A number and what it counts: "1 pair", "2,000 pairs"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def position_phrase(box: tuple[int, int, int, int], size: tuple[int, int]) -> str:
    """Where a box lies in a picture of this size: "at the lower right", "across the top", "everywhere".

    box: left, top, right, bottom in pixels; right and bottom are exclusive. size: width and height.
    """
    width, height = size
    across = _third((box[0] + box[2]) / 2 / width, (box[2] - box[0]) / width, ("left", "", "right"))
    down = _third((box[1] + box[3]) / 2 / height, (box[3] - box[1]) / height, ("upper", "", "lower"))
    wide, high = across is None, down is None
    if wide and high:
        return "over the whole picture"
    if wide:
        return {"upper": "across the top", "": "across the middle", "lower": "across the bottom"}[down or ""]
    if high:
        return {"left": "down the left side", "": "down the middle", "right": "down the right side"}[
            across or ""
        ]
    if not across and not down:
        return "in the middle"
    if not across:
        return {"upper": "at the top", "lower": "at the bottom"}[down or ""]
    if not down:
        return f"at the {across}"
    return f"at the {down} {across}"


def percent(share: float) -> str:
    """A share as a person reads it: "2.1 %", "less than 0.1 %"."""
    value = 100 * share
    if value < 0.1:
        return "less than 0.1 %"
    return f"{value:.1f} %" if value < 10 else f"{value:.0f} %"


def pixels(count: int) -> str:
    """ "1 pixel", "24 pixels"."""
    return counted(count, "pixel")


def way(dx: int, dy: int) -> str:
    """Direction and amount of a motion: "down by 24 pixels", "left by 3 and up by 2 pixels"."""
    across = f"{'right' if dx > 0 else 'left'} by {pixels(abs(dx))}" if dx else ""
    down = f"{'down' if dy > 0 else 'up'} by {pixels(abs(dy))}" if dy else ""
    return " and ".join(part for part in (across, down) if part)


def joined(sentences: Sequence[str]) -> str:
    """Statements as one sentence."""
    return "; ".join(sentences)


def capitalised(text: str) -> str:
    """With a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def lowered(sentence: str) -> str:
    """A sentence with a small first letter."""
    return sentence[:1].lower() + sentence[1:]


def color_name(color: tuple[int, int, int]) -> str:
    """A plain word for a color, red, green and blue in 0..255: "dark blue", "light grey", "white"."""
    hue, light, saturation = colorsys.rgb_to_hls(*(channel / 255 for channel in color))
    chroma = (max(color) - min(color)) / 255
    if chroma < 0.08 or (saturation < 0.12 and chroma < 0.15):
        return _grey(light)
    word = next(word for end, word in _HUES if hue * 360 < end)
    if word == "orange" and light < 0.4:
        return "brown"
    if light < 0.3:
        return f"dark {word}"
    return f"light {word}" if light > 0.75 else word


def color_step(before: tuple[int, int, int], after: tuple[int, int, int]) -> str:
    """What happened to a colour: "turned from blue to green", "became lighter"."""
    one, other = color_name(before), color_name(after)
    if one != other and _base(one) != _base(other):
        return f"turned from {one} to {other}"
    darker = _luminance(after) < _luminance(before)
    if abs(_luminance(after) - _luminance(before)) < 6:
        return f"became another {_base(one)}"
    return "became darker" if darker else "became lighter"


def color_code(color: tuple[int, int, int]) -> str:
    """The colour as style sheets write it."""
    return "#{:02x}{:02x}{:02x}".format(*color)


def step_of_codes(before: str, after: str) -> str:
    """``color_step`` for colours as style sheets write them."""
    one, other = ((int(c[1:3], 16), int(c[3:5], 16), int(c[5:7], 16)) for c in (before, after))
    return color_step(one, other)


def _third(centre: float, extent: float, names: tuple[str, str, str]) -> str | None:
    """The name of the third that the centre lies in, None where most of the side is covered."""
    if extent > 0.7:
        return None
    return names[0] if centre < 0.4 else names[2] if centre > 0.6 else names[1]


def _grey(light: float) -> str:
    if light > 0.96:
        return "white"
    if light < 0.07:
        return "black"
    return "light grey" if light > 0.72 else "dark grey" if light < 0.35 else "grey"


def _base(word: str) -> str:
    """A colour's name without light or dark."""
    return word.split()[-1]


def _luminance(color: tuple[int, int, int]) -> float:
    """Y = (R + 2 G + B) / 4, as the planes of measured pictures have it."""
    return (color[0] + 2 * color[1] + color[2]) / 4
