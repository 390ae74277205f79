"""Names of colours, and what one colour became beside another."""

import colorsys

import numpy as np

from whatchanged.measured.layers import RGBColor
from whatchanged.measured.planes import UNIT, luminance

_HUES = (
    (14, "red"), (40, "orange"), (68, "yellow"), (165, "green"), (195, "turquoise"), (255, "blue"),
    (290, "purple"), (340, "pink"), (361, "red"),
)  # fmt: skip
"""Ends of the ranges of hue, in degrees."""


def name(color: RGBColor) -> str:
    """A plain word for a color: "dark blue", "light grey", "white"."""
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


def step(before: RGBColor, after: RGBColor) -> str:
    """What happened to a colour: "turned from blue to green", "became lighter"."""
    one, other = name(before), name(after)
    if one != other and _base(one) != _base(other):
        return f"turned from {one} to {other}"
    darker = _luminance(after) < _luminance(before)
    if abs(_luminance(after) - _luminance(before)) < 6:
        return f"became another {_base(one)}"
    return "became darker" if darker else "became lighter"


def code(color: RGBColor) -> str:
    """The colour as style sheets write it."""
    return "#{:02x}{:02x}{:02x}".format(*color)


def step_of_codes(before: str, after: str) -> str:
    """``step`` for colours as style sheets write them."""
    one, other = ((int(c[1:3], 16), int(c[3:5], 16), int(c[5:7], 16)) for c in (before, after))
    return step(one, other)


def _grey(light: float) -> str:
    if light > 0.96:
        return "white"
    if light < 0.07:
        return "black"
    return "light grey" if light > 0.72 else "dark grey" if light < 0.35 else "grey"


def _base(word: str) -> str:
    """A colour's name without light or dark."""
    return word.split()[-1]


def _luminance(color: RGBColor) -> float:
    return float(luminance(np.array(color, np.uint8))) / UNIT
