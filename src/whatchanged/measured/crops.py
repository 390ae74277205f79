"""What a model sees of a proposed place: both pictures cut there, at native size and as a whole; and numbers.

Axis letters: S pixels of a side of a cut.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from whatchanged.measured.boxes import area, grown
from whatchanged.measured.gate import probability_of_no_change
from whatchanged.measured.layers import Layer, read_layer
from whatchanged.measured.proposals import Proposal, propose
from whatchanged.measured.reading import Pixels
from whatchanged.measured.result import KINDS, Box
from whatchanged.measured.shapes import SHAPES, shapes
from whatchanged.measured.things import GATHERED

PLANES = 8
"""Planes of a place in one picture: red, green, blue and the box's mask, at native size and as a whole."""
AROUND = 0.5
"""What is seen around the place as a whole, as a part of its longer side, and at least ``LEAST_AROUND``."""
LEAST_AROUND = 8
CELL = 8
"""Pixels of a side of a cell; where pictures differ most is found by cells."""
FINER = 3
"""Pixels of a large window that are averaged to one of a cut, along each side, at least."""
NUMBERS = 73 + SHAPES
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
    "size",
    "shape",
    "cluster",
    "strong",
    "all",
    "inked",
    *GATHERED,
    "across",
    "down",
    "form",
    "frame",
    "sizes",
)
"""Finer words of the rules, and ways in which a place is found, that a number stands for."""
MOST = 12
"""Places that are 1 on the scale of their numbers."""
COARSEST = 64
"""Pixels of the longer side of a place whose layers are read from all of its pixels."""
WIDEST = 4000
"""Pixels that are 1 on the scale of lengths."""


@dataclass(frozen=True)
class Places:
    """What a model sees of a pair: R places, the most telling first.

    crops: (R, 2, PLANES, S, S) uint8, before and after. numbers: (R, NUMBERS) float32. boxes: (R, 2, 4)
    int32, in pixels of their own picture. sizes: (2, 2) int32, width and height of the pictures. proposals:
    where they come from.
    """

    crops: NDArray[np.uint8]
    numbers: NDArray[np.float32]
    boxes: NDArray[np.int32]
    sizes: NDArray[np.int32]
    proposals: tuple[Proposal, ...]


def see(before: Pixels, after: Pixels, most: int, side: int) -> Places:
    """What a model sees of two pictures: at most so many places, with cuts of ``side`` pixels, 0 for none."""
    found = propose(before, after, most)
    count = len(found)
    return Places(
        np.array([cuts(before, after, one.boxes, side) for one in found], np.uint8).reshape(
            count, 2, PLANES, side, side
        ),
        np.array(
            [numbers(before, after, one, place, count) for place, one in enumerate(found)], np.float32
        ).reshape(count, NUMBERS),
        np.array([one.boxes for one in found], np.int32).reshape(count, 2, 4),
        np.array([[picture.shape[1], picture.shape[0]] for picture in (before, after)], np.int32),
        tuple(found),
    )


def cuts(before: Pixels, after: Pixels, boxes: tuple[Box, Box], side: int) -> NDArray[np.uint8]:
    """Both pictures around their boxes: (2, PLANES, S, S).

    The first four planes are at native size, around the place of the box where the pictures differ most,
    with white beyond the picture's edge; the others show all of the box with what is around it, made smaller
    (never larger). With S of 0 there is nothing to see.
    """
    if not side:
        return np.zeros((2, PLANES, 0, 0), np.uint8)
    across, down = _busiest(before, after, boxes, side)
    found = []
    for picture, box in zip((before, after), boxes, strict=True):
        x, y = box[0] + across - side // 2, box[1] + down - side // 2
        near = _window(picture, (x, y, x + side, y + side), box)
        found.append(np.concatenate([near, _whole(picture, box, side)]))
    return np.stack(found)


def _busiest(before: Pixels, after: Pixels, boxes: tuple[Box, Box], side: int) -> tuple[int, int]:
    """The middle of what a cut at native size shows, from the boxes' left and top: the box's own middle, or,
    in what is larger than the cut, where the pictures differ most, their boxes laid on each other."""
    from scipy import ndimage  # slow to import

    width, height = (max(box[k + 2] - box[k] for box in boxes) for k in (0, 1))
    if max(width, height) <= side:
        return width // 2, height // 2
    parts = [
        picture[box[1] : box[3], box[0] : box[2]] for picture, box in zip((before, after), boxes, strict=True)
    ]
    rows, columns = (min(part.shape[axis] for part in parts) for axis in (0, 1))
    one, other = (part[:rows, :columns, 1] for part in parts)  # green tells most of what is seen
    if not rows or not columns:
        return width // 2, height // 2
    steps = (np.maximum(one, other) - np.minimum(one, other)).astype(np.int64)
    cells = np.add.reduceat(np.add.reduceat(steps, range(0, rows, CELL), 0), range(0, columns, CELL), 1)
    near = ndimage.uniform_filter(cells.astype(np.float64), max(1, side // CELL), mode="constant")
    row, column = np.unravel_index(int(near.argmax()), near.shape)
    return min(int((column + 0.5) * CELL), columns), min(int((row + 0.5) * CELL), rows)


def _whole(picture: Pixels, box: Box, side: int) -> NDArray[np.uint8]:
    """All of a box with what is around it: (4, S, S)."""
    reach = max(LEAST_AROUND, round(AROUND * max(box[2] - box[0], box[3] - box[1])))
    height, width = picture.shape[:2]
    wide = grown(box, reach, (width, height))
    longest = max(wide[2] - wide[0], wide[3] - wide[1], side)
    left, top = (wide[0] + wide[2] - longest) // 2, (wide[1] + wide[3] - longest) // 2
    window = (left, top, left + longest, top + longest)
    if longest == side:
        return _window(picture, window, box)
    step = math.ceil(longest / side / FINER)  # of very large windows every so many pixels are enough
    shown, thin = (
        (ends[0] // step, ends[1] // step, -(-ends[2] // step), -(-ends[3] // step)) for ends in (window, box)
    )
    planes = _window(picture[::step, ::step], shown, thin)
    small = [Image.fromarray(plane).resize((side, side), Image.Resampling.BOX) for plane in planes]
    return np.stack([np.asarray(plane) for plane in small])


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

    Whether each box is there, place in the picture, sizes, steps, strength, the measured verdict, what of the
    differences lies there, what the rules say, the layers of both pictures there: ground, fill and ink,
    their colours and shares; and how what is drawn differs (``shapes``).
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
        place / MOST,
        count / MOST,
        math.log1p(max(0.0, proposal.score)) / 5,
        probability_of_no_change(proposal.score),
        *proposal.shares,
        float(before.shape != after.shape),
        *(float(proposal.rule == kind) for kind in KINDS),
        *(float(proposal.aspect == aspect) for aspect in ASPECTS),
        *_layers(_layer(before, one), _layer(after, other)),
    ]
    return np.concatenate([np.array(found, np.float32), shapes(before, after, (one, other))])


def _length(pixels: int) -> float:
    return math.log1p(pixels) / math.log1p(WIDEST)


def _signed(step: int) -> float:
    return math.copysign(_length(abs(step)), step)


def _layer(picture: Pixels, box: Box) -> Layer:
    """The layers of a box, or of the part of it that a picture of another size has; of a large one every so
    many pixels."""
    step = max(1, max(box[2] - box[0], box[3] - box[1]) // COARSEST)
    picture = picture[::step, ::step]
    height, width = picture.shape[:2]
    left, top = min(box[0] // step, width - 1), min(box[1] // step, height - 1)
    right, bottom = min(-(-box[2] // step), width), min(-(-box[3] // step), height)
    return read_layer(picture, (left, top, max(left + 1, right), max(top + 1, bottom)))


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
