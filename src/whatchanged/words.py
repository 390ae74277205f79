"""Plain words for numbers, positions, directions, colours and whole answers.

This module imports no other module of the package, so that worlds, measurement and every command may import
this module.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

SAME = "nothing changed"
NOISE = "nothing visible changed"

_HUES = (
    (13, "pink"), (36, "red"), (77, "orange"), (118, "yellow"), (168, "green"), (212, "turquoise"),
    (286, "blue"), (335, "purple"), (361, "pink"),
)  # fmt: skip
"""The upper limits of the hue ranges in OKLCH, in degrees.

Hues in OKLCH correspond better to people's colour names than hues in HSL.
"""
_PINK = (318.0, 0.65)
"""The hue and the lightness from which a colour is called pink.

A darker colour of such a hue is called purple.
"""
_COOL = (195, 290)
"""The range of the hues of bluish colours, in degrees."""
_PALEST = ((0.93, 0.018), (0.965, 0.01), (0.98, 0.0145))
"""Points of lightness and chroma for colours that are almost white.

Beside white, a pale tint has a hue that is visible at a small chroma. A paler one looks white.
"""
_GREY_COOL = ((0.6, 0.048), (0.87, 0.03), *_PALEST)
"""Points of lightness and chroma for bluish colours.

A bluish colour with a chroma below the line through these points is called grey. Slate is grey, but pale blue
is not.
"""
_GREY = ((0.6, 0.032), *_PALEST)
"""Points of lightness and chroma for colours that are not bluish.

A colour with a chroma below the line through these points is called grey.
"""
_BROWN = ((0.62, 0.17), (0.75, 0.13), (0.85, 0.1))
"""Points of lightness and chroma.

An orange that is darker and has less chroma than one of these points is called brown.
"""
_BROWN_HUES = (28, 85)
_RED_BROWN = 0.1
"""The chroma below which a dark red is called brown."""
_DARK, _LIGHT = 0.33, 0.75
"""The lightness in HSL below which a colour is dark, and the lightness above which a colour is light."""
_BLACK, _WHITE = 0.115, 0.96
"""The lightness in HSL below which a grey is called black, and the lightness above which a grey is called
white.
"""
_NO_HUE = 0.05
"""The lightness in HSL below which no hue is visible."""


OVER_ALL = "over the whole picture"
"""The position of something that reaches across a picture in both directions."""


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: "1 pair", "2,000 pairs"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def position_phrase(box: tuple[int, int, int, int], size: tuple[int, int]) -> str:
    """Return a phrase for the position of a box in a picture: "at the lower right", "across the top",
    "everywhere".

    box: left, top, right and bottom in pixels. Right and bottom are exclusive. size: width and height of the
    picture in pixels.
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
    """Return a share as readable text: "2.1 %", "less than 0.1 %"."""
    value = 100 * share
    if value < 0.1:
        return "less than 0.1 %"
    return f"{value:.1f} %" if value < 10 else f"{value:.0f} %"


def pixels(count: int) -> str:
    """Return "1 pixel", "24 pixels"."""
    return counted(count, "pixel")


def way(dx: int, dy: int) -> str:
    """Return a phrase for the direction and the length of a movement: "down by 24 pixels", "left by 3 and up
    by 2 pixels".
    """
    across = f"{'right' if dx > 0 else 'left'} by {pixels(abs(dx))}" if dx else ""
    down = f"{'down' if dy > 0 else 'up'} by {pixels(abs(dy))}" if dy else ""
    return " and ".join(part for part in (across, down) if part)


def joined(sentences: Sequence[str]) -> str:
    """Join statements into one sentence."""
    return "; ".join(sentences)


def capitalised(text: str) -> str:
    """Return a sentence with a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def lowered(sentence: str) -> str:
    """Return a sentence with a small first letter."""
    return sentence[:1].lower() + sentence[1:]


def color_name(color: tuple[int, int, int]) -> str:
    """Return a plain name of a colour: "dark blue", "light grey", "white".

    color: red, green and blue, from 0 to 255.
    """
    light = (max(color) + min(color)) / 510
    lightness, chroma, hue = _oklch(color)
    limits = _GREY_COOL if _COOL[0] <= hue < _COOL[1] else _GREY
    if light < _NO_HUE or chroma < _between(lightness, limits):
        return _grey(light)
    word = _hue_word(lightness, chroma, hue)
    if word == "brown":
        return "light brown" if light > 0.6 else word
    if light < _DARK:
        return f"dark {word}"
    return f"light {word}" if light > _LIGHT else word


def color_step(before: tuple[int, int, int], after: tuple[int, int, int]) -> str:
    """Return a phrase for the change of a colour: "turned from blue to green", "became lighter"."""
    one, other = color_name(before), color_name(after)
    if one != other and _base(one) != _base(other):
        return f"turned from {one} to {other}"
    darker = _luminance(after) < _luminance(before)
    if abs(_luminance(after) - _luminance(before)) < 6:
        return f"became another {_base(one)}"
    return "became darker" if darker else "became lighter"


def color_code(color: tuple[int, int, int]) -> str:
    """Return a colour in the notation of style sheets, "#rrggbb"."""
    return "#{:02x}{:02x}{:02x}".format(*color)


def step_of_codes(before: str, after: str) -> str:
    """Return a phrase for the change of a colour, as ``color_step`` does.

    The colours are in the notation of style sheets.
    """
    return color_step(color_of_code(before), color_of_code(after))


def color_name_of_code(code: str) -> str:
    """Return the name of a colour, as ``color_name`` does. The colour is in the notation of style sheets."""
    return color_name(color_of_code(code))


def color_of_code(code: str) -> tuple[int, int, int]:
    """Return red, green and blue of "#rrggbb"."""
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def _third(centre: float, extent: float, names: tuple[str, str, str]) -> str | None:
    """Return the name of the third of a picture's side that contains the centre of a box.

    The result is None if the box covers most of the side.
    """
    if extent > 0.7:
        return None
    return names[0] if centre < 0.4 else names[2] if centre > 0.6 else names[1]


def _hue_word(lightness: float, chroma: float, hue: float) -> str:
    """Return the name of a hue. An orange or red with little chroma is called brown."""
    word = next(word for end, word in _HUES if hue < end)
    may_be_brown = _BROWN_HUES[0] <= hue < _BROWN_HUES[1] and (word != "red" or chroma < _RED_BROWN)
    if may_be_brown and any(lightness < dark and chroma < dull for dark, dull in _BROWN):
        return "brown"
    return "pink" if word == "purple" and hue >= _PINK[0] and lightness > _PINK[1] else word


def _oklch(color: tuple[int, int, int]) -> tuple[float, float, float]:
    """Return lightness (0 to 1), chroma and hue (degrees) in OKLCH (Ottosson 2020), from sRGB."""
    red, green, blue = (_linear(channel / 255) for channel in color)
    long, medium, short = (
        math.cbrt(r * red + g * green + b * blue)
        for r, g, b in (
            (0.4122214708, 0.5363325363, 0.0514459929),
            (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005),
        )
    )
    lightness, along_red, along_yellow = (
        first * long + second * medium + third * short
        for first, second, third in (
            (0.2104542553, 0.7936177850, -0.0040720468),
            (1.9779984951, -2.4285922050, 0.4505937099),
            (0.0259040371, 0.7827717662, -0.8086757660),
        )
    )
    hue = math.degrees(math.atan2(along_yellow, along_red)) % 360
    return lightness, math.hypot(along_red, along_yellow), hue


def _linear(channel: float) -> float:
    """Return the linear light of an sRGB channel. Both values are from 0 to 1."""
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def _between(value: float, points: Sequence[tuple[float, float]]) -> float:
    """Return the y value at the x value ``value`` of a line through points (x, y).

    Beyond the first and the last point, the line is constant.
    """
    for (start, low), (end, high) in pairwise(points):
        if value <= end:
            return low + (high - low) * max(0.0, value - start) / (end - start)
    return points[-1][1]


def _grey(light: float) -> str:
    if light > _WHITE:
        return "white"
    if light < _BLACK:
        return "black"
    return "light grey" if light > 0.72 else "dark grey" if light < 0.35 else "grey"


def _base(word: str) -> str:
    """Return the name of a colour without "light" or "dark"."""
    return word.split()[-1]


def _luminance(color: tuple[int, int, int]) -> float:
    """Return the luminance Y = (R + 2 G + B) / 4, as used for measured pictures."""
    return (color[0] + 2 * color[1] + color[2]) / 4
