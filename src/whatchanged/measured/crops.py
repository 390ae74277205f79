"""What a model sees of a proposed place: both pictures cut there, at native size and as a whole; and numbers.

Axis letters: S pixels of a side of a cut.
"""

import math

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from whatchanged.measured.boxes import area, grown
from whatchanged.measured.layers import Layer, read_layer
from whatchanged.measured.proposals import Proposal
from whatchanged.measured.reading import Pixels
from whatchanged.measured.result import KINDS, Box

PLANES = 8
"""Planes of a place in one picture: red, green, blue and the box's mask, at native size and as a whole."""
AROUND = 0.5
"""What is seen around the place as a whole, as a part of its longer side, and at least ``LEAST_AROUND``."""
LEAST_AROUND = 8
NUMBERS = 48
"""Numbers of a place; see ``numbers``."""
ASPECTS = (
    "position",
    "pushed in",
    "closed up",
    "fill",
    "ink",
    "border",
    "text",
    "length",
    "thing",
    "cluster",
)
"""Finer words of the rules that a number stands for."""
WIDEST = 4000
"""Pixels that are 1 on the scale of lengths."""


def cut(picture: Pixels, box: Box, side: int) -> NDArray[np.uint8]:
    """One picture around a box: (PLANES, S, S).

    The first four planes are at native size around the box's middle, with white beyond the picture's edge;
    the others show all of the box with what is around it, made smaller (never larger).
    """
    x, y = (box[0] + box[2]) // 2 - side // 2, (box[1] + box[3]) // 2 - side // 2
    near = _window(picture, (x, y, x + side, y + side), box)
    reach = max(LEAST_AROUND, round(AROUND * max(box[2] - box[0], box[3] - box[1])))
    height, width = picture.shape[:2]
    wide = grown(box, reach, (width, height))
    longest = max(wide[2] - wide[0], wide[3] - wide[1], side)
    left, top = (wide[0] + wide[2] - longest) // 2, (wide[1] + wide[3] - longest) // 2
    whole = _window(picture, (left, top, left + longest, top + longest), box)
    if longest > side:
        planes = [Image.fromarray(plane).resize((side, side), Image.Resampling.BOX) for plane in whole]
        whole = np.stack([np.asarray(plane) for plane in planes])
    return np.concatenate([near, whole])


def _window(picture: Pixels, window: Box, box: Box) -> NDArray[np.uint8]:
    """A part of a picture, which may reach beyond it, and the mask of a box: (4, h, w)."""
    left, top, right, bottom = window
    planes = np.full((4, bottom - top, right - left), 255, np.uint8)
    height, width = picture.shape[:2]
    rows = slice(max(0, top), max(0, min(height, bottom)))
    columns = slice(max(0, left), max(0, min(width, right)))
    there = picture[rows, columns].transpose(2, 0, 1)
    first, start = rows.start - top, columns.start - left
    planes[:3, first : first + there.shape[1], start : start + there.shape[2]] = there
    planes[3] = 0
    planes[3, max(0, box[1] - top) : max(0, box[3] - top), max(0, box[0] - left) : max(0, box[2] - left)] = (
        255
    )
    return planes


def numbers(before: Pixels, after: Pixels, proposal: Proposal, place: int, count: int) -> NDArray[np.float32]:
    """What was measured of the proposal at this place of ``count``: NUMBERS numbers, most in 0..1.

    Whether each box is there, place in the picture, sizes, steps, strength, what the rules say, and the
    layers of both pictures there: ground, fill and ink, their colours and shares.
    """
    one, other = proposal.boxes
    height, width = after.shape[:2]
    dx, dy = other[0] - one[0], other[1] - one[1]
    grew = [(other[k + 2] - other[k]) - (one[k + 2] - one[k]) for k in (0, 1)]
    found = [
        float(proposal.box_before is not None),
        float(proposal.box_after is not None),
        (other[0] + other[2]) / 2 / width,
        (other[1] + other[3]) / 2 / height,
        *(_length(other[k + 2] - other[k]) for k in (0, 1)),
        area(other) / (width * height),
        _signed(dx),
        _signed(dy),
        *(_signed(step) for step in grew),
        math.log1p(max(0.0, proposal.strength)) / 5,
        min(1.0, proposal.pixels / max(1, area(other))),
        proposal.confidence,
        float(proposal.cause),
        place / 8,
        count / 8,
        float(before.shape != after.shape),
        *(float(proposal.rule == kind) for kind in KINDS),
        *(float(proposal.aspect == aspect) for aspect in ASPECTS),
        *_layers(read_layer(before, _inside(one, before)), read_layer(after, _inside(other, after))),
    ]
    return np.array(found, np.float32)


def _length(pixels: int) -> float:
    return math.log1p(pixels) / math.log1p(WIDEST)


def _signed(step: int) -> float:
    return math.copysign(_length(abs(step)), step)


def _inside(box: Box, picture: Pixels) -> Box:
    """The box, or the part of it that a picture of another size has; at least a pixel."""
    height, width = picture.shape[:2]
    left, top = min(box[0], width - 1), min(box[1], height - 1)
    return left, top, max(left + 1, min(box[2], width)), max(top + 1, min(box[3], height))


def _layers(one: Layer, other: Layer) -> list[float]:
    """How the layers differ: steps of ground, fill and ink, evenness, shares of ink, emptiness."""
    inks = [layer.ink_colour or layer.fill for layer in (one, other)]
    return [
        _step(one.ground, other.ground),
        _step(one.fill, other.fill),
        _step(inks[0], inks[1]),
        one.even,
        other.even,
        one.ink_share,
        other.ink_share,
        float(one.empty),
        float(other.empty),
        _step(one.fill, one.ground),
        _step(other.fill, other.ground),
        float(one.ink_colour is not None and other.ink_colour is not None),
    ]


def _step(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) / 255
