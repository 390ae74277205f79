"""What was measured of proposed places, as numbers that a model reads."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.compared import Compared
from whatchanged.measured.pixels.boxes import area
from whatchanged.measured.pixels.gate import probability_of_no_change
from whatchanged.measured.pixels.layers import Layer, read_layer
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import KINDS, Box
from whatchanged.measured.rules.shapes import SHAPES, shapes
from whatchanged.measured.rules.things import GATHERED
from whatchanged.regions.proposals import Proposal, propose

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
class PairProposals:
    """What a model reads of a pair: R places, the most telling first.

    numbers: (R, NUMBERS) float32. boxes: (R, 2, 4) int32, in pixels of their own picture. sizes: (2, 2)
    int32, width and height of the pictures. proposals: where they come from.
    """

    numbers: NDArray[np.float32]
    boxes: NDArray[np.int32]
    sizes: NDArray[np.int32]
    proposals: tuple[Proposal, ...]


def read_proposals(compared: Compared, most: int) -> PairProposals:
    """What a model reads of two pictures: at most so many places."""
    before, after = compared.before, compared.after
    proposals = propose(compared, most)
    count = len(proposals)
    rows = [numbers(before, after, one, index, count) for index, one in enumerate(proposals)]
    return PairProposals(
        np.array(rows, np.float32).reshape(count, NUMBERS),
        np.array([one.boxes for one in proposals], np.int32).reshape(count, 2, 4),
        np.array([[picture.shape[1], picture.shape[0]] for picture in (before, after)], np.int32),
        tuple(proposals),
    )


def numbers(before: Pixels, after: Pixels, proposal: Proposal, index: int, count: int) -> NDArray[np.float32]:
    """What was measured of the proposal at this place of ``count``: NUMBERS numbers, most in 0..1.

    Whether each box is there, place in the picture, sizes, steps, strength, the measured verdict, what of the
    differences lies there, what the rules say, the layers of both pictures there: ground, fill and ink,
    their colours and shares; and how what is drawn differs (``shapes``).
    """
    one, other = proposal.boxes
    height, width = after.shape[:2]
    dx, dy = other[0] - one[0], other[1] - one[1]
    grew = [(other[k + 2] - other[k]) - (one[k + 2] - one[k]) for k in (0, 1)]
    results = [
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
        index / MOST,
        count / MOST,
        math.log1p(max(0.0, proposal.score)) / 5,
        probability_of_no_change(proposal.score),
        *proposal.shares,
        float(before.shape != after.shape),
        *(float(proposal.rule == kind) for kind in KINDS),
        *(float(proposal.aspect == aspect) for aspect in ASPECTS),
        *_layers(_layer(before, one), _layer(after, other)),
    ]
    return np.concatenate([np.array(results, np.float32), shapes(before, after, (one, other))])


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
    inks = [layer.ink_color or layer.fill for layer in (one, other)]
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
        float(one.ink_color is not None and other.ink_color is not None),
    ]


def _step(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) / 255
