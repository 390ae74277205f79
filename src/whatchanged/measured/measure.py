"""The measured answer for any two pictures: no model, only what can be counted."""

import math
from collections.abc import Sequence

import numpy as np

from whatchanged.images import Source
from whatchanged.measured import words
from whatchanged.measured.gate import Visibility, visibility
from whatchanged.measured.reading import Picture, Pixels, read_picture, read_size, same_file
from whatchanged.measured.regions import area, find_regions
from whatchanged.measured.result import Box, Measured, Statement

DOUBT = 0.8
"""From this part of the threshold on, what is called noise is doubtful."""


def measure(
    before: Source,
    after: Source,
    sensitivity: float = 1.0,
    strict: bool = False,
    ignore: Sequence[Box] = (),
) -> Measured:
    """What differs between two pictures.

    sensitivity  2 finds differences half as strong as 1 does, 0.5 only those twice as strong
    strict       every pixel that differs is a change
    ignore       boxes of the picture before in which differences do not count

    Raises ImageError where a picture cannot be read.
    """
    if same_file(before, after):
        return _identical(read_size(before), ())
    one, other = read_picture(before), read_picture(after)
    if one.size != other.size:
        return _other_size(one, other)
    if np.array_equal(one.on_white, other.on_white):
        return _identical(one.size, ())
    seen = visibility(one.on_white, other.on_white)
    return _answer(one.on_white, other.on_white, seen, sensitivity, strict)


def _identical(size: tuple[int, int], notes: tuple[str, ...]) -> Measured:
    return Measured(
        verdict="identical",
        doubtful=False,
        no_change=1.0,
        score=0.0,
        share=0.0,
        statements=(),
        sentence=words.capitalised(words.SAME),
        notes=notes,
        size_before=size,
        size_after=size,
    )


def _other_size(one: Picture, other: Picture) -> Measured:
    """Pictures of two sizes."""
    text = "the picture's size changed from {} x {} to {} x {} pixels".format(*one.size, *other.size)
    boxes = ((0, 0, *one.size), (0, 0, *other.size))
    statement = Statement("resized", *boxes, words.capitalised(text), 0.5, 1.0)
    return Measured(
        verdict="changed",
        doubtful=False,
        no_change=0.0,
        score=math.inf,
        share=1.0,
        statements=(statement,),
        sentence=statement.sentence,
        notes=(),
        size_before=one.size,
        size_after=other.size,
    )


def _answer(before: Pixels, after: Pixels, seen: Visibility, sensitivity: float, strict: bool) -> Measured:
    """Pictures of one size."""
    size = (before.shape[1], before.shape[0])
    threshold = 0.0 if strict else 1.0 / sensitivity
    regions = find_regions(seen, threshold)
    statements = []
    for region in regions:
        share = region.pixels / (size[0] * size[1])
        text = f"something changed {words.place(region.box, size)} ({words.percent(share)} of the picture)"
        statements.append(
            Statement(None, region.box, region.box, words.capitalised(text), 0.5, share, boxes=(region.box,))
        )
    score = seen.score * sensitivity
    sentence = words.capitalised(words.NOISE)
    if statements:
        sentence = words.capitalised(
            words.joined([s.sentence[0].lower() + s.sentence[1:-1] for s in statements[:3]])
        )
    return Measured(
        verdict="changed" if statements else "noise",
        doubtful=not statements and score > DOUBT,
        no_change=1 / (1 + score**4),
        score=seen.score,
        share=area(seen.differs & (seen.strength >= threshold)),
        statements=tuple(statements),
        sentence=sentence,
        notes=(),
        size_before=size,
        size_after=size,
    )
