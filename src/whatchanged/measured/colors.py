"""Names of colours, and what one colour became beside another."""

import math

import numpy as np

from whatchanged.measured.layers import RGBColor
from whatchanged.measured.planes import UNIT, luminance

_HUES = (
    (13, "pink"), (36, "red"), (77, "orange"), (118, "yellow"), (168, "green"), (212, "turquoise"),
    (282, "blue"), (335, "purple"), (361, "pink"),
)  # fmt: skip
"""Ends of the ranges of hue in OKLCH, in degrees: unlike those of HSL they follow what the eye calls so."""
_PINK = (318.0, 0.65)
"""From which hue on, and from which lightness on, what is purple when dark is pink."""
_GREY_COOL = ((0.6, 0.87, 0.93), (0.048, 0.03, 0.018))
"""Lightness and the chroma below which a blueish colour is called grey: slate is, pale blue is not."""
_GREY = ((0.6, 0.93), (0.032, 0.018))
"""The same of other hues, in which less chroma is seen."""
_COOL = (195, 290)
"""Between which hues a colour is blueish."""
_BROWN = ((0.62, 0.17), (0.75, 0.13), (0.85, 0.1))
"""An orange that is darker and has less chroma than one of these is brown."""
_BROWN_HUES = (28, 85)
_RED_BROWN = 0.1
"""Chroma below which a red of these hues is brown as well."""
_DARK, _LIGHT = 0.33, 0.75
"""Lightness in HSL below which a colour is dark, and above which it is light."""
_BLACK, _WHITE = 0.115, 0.96
"""Likewise black and white, of greys."""
_NO_HUE = 0.05
"""Lightness in HSL below which no hue is seen."""


def name(color: RGBColor) -> str:
    """A plain word for a color: "dark blue", "light grey", "white"."""
    light = (max(color) + min(color)) / 510
    lightness, chroma, hue = _oklch(color)
    limits = _GREY_COOL if _COOL[0] <= hue < _COOL[1] else _GREY
    if light < _NO_HUE or chroma < np.interp(lightness, *limits):
        return _grey(light)
    word = _hue_word(lightness, chroma, hue)
    if word == "brown":
        return "light brown" if light > 0.6 else word
    if light < _DARK:
        return f"dark {word}"
    return f"light {word}" if light > _LIGHT else word


def _hue_word(lightness: float, chroma: float, hue: float) -> str:
    """The name of a hue; brown where orange or red is too dull for it."""
    word = next(word for end, word in _HUES if hue < end)
    may_be_brown = _BROWN_HUES[0] <= hue < _BROWN_HUES[1] and (word != "red" or chroma < _RED_BROWN)
    if may_be_brown and any(lightness < dark and chroma < dull for dark, dull in _BROWN):
        return "brown"
    return "pink" if word == "purple" and hue >= _PINK[0] and lightness > _PINK[1] else word


def _oklch(color: RGBColor) -> tuple[float, float, float]:
    """Lightness (0 to 1), chroma and hue (degrees) in OKLCH (Ottosson 2020), from sRGB."""
    channels = np.array(color) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    lightness, a, b = _LMS_TO_OKLAB @ np.cbrt(_RGB_TO_LMS @ linear)
    return float(lightness), math.hypot(a, b), math.degrees(math.atan2(b, a)) % 360


_RGB_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LMS_TO_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


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
    if light > _WHITE:
        return "white"
    if light < _BLACK:
        return "black"
    return "light grey" if light > 0.72 else "dark grey" if light < 0.35 else "grey"


def _base(word: str) -> str:
    """A colour's name without light or dark."""
    return word.split()[-1]


def _luminance(color: RGBColor) -> float:
    return float(luminance(np.array(color, np.uint8))) / UNIT
