"""Things around a difference: words, lines of text, blocks, and shapes and frames of one colour.

A difference is seldom as large as the thing that changed: one letter of a word, the end of a bar, the border
of a cell.
"""

import numpy as np
from numpy.typing import NDArray

from whatchanged.measured.pixels.boxes import box_of, union
from whatchanged.measured.pixels.planes import UNIT, contrast, enlarged, luminance, steps_from
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box
from whatchanged.measured.rules.shifts import ALIKE, LEAST_INK

GATHERED = {"word": (0, 0), "words": (1, 2), "line": (1, 7), "upright": (7, 1), "block": (9, 9)}
"""Rows and columns by which ink is widened until it touches: what is then in one piece is such a thing."""
LONG, THIN = 60, 5
"""What is longer and thinner, in pixels, is a rule and joins nothing."""
LARGE, SPARSE = 40, 0.12
"""What is larger, in pixels, and has less ink in its box is a frame and joins nothing."""
FEWEST = 4
"""Pixels of ink that make a thing."""
RAYS = 16
"""Lines along which a colour is followed from each side of a box, at most."""


class Ink:
    """The ink of a part of a picture, gathered to things when asked for.

    window: the part.
    """

    def __init__(self, pixels: Pixels, window: Box) -> None:
        from scipy import ndimage  # slow to import

        self.left, self.top = window[:2]
        part = pixels[window[1] : window[3], window[0] : window[2]]
        ink = contrast(luminance(part)) >= LEAST_INK * UNIT
        labels, count = ndimage.label(ink, np.ones((3, 3), bool))
        pixels_of = np.bincount(labels.ravel(), minlength=count + 1)
        joins = np.ones(count + 1, bool)
        for label, (rows, columns) in enumerate(ndimage.find_objects(labels), start=1):
            sides = sorted((rows.stop - rows.start, columns.stop - columns.start))
            rule = sides[1] > LONG and sides[0] <= THIN
            frame = sides[1] > LARGE and pixels_of[label] < SPARSE * sides[0] * sides[1]
            joins[label] = not (rule or frame)
        self.ink = ink & joins[labels]
        self._pieces: dict[str, tuple[NDArray[np.int32], list[tuple[slice, slice]]]] = {}

    def inside(self, box: Box) -> Box | None:
        """The box of the ink inside a box; None where there is next to none."""
        part = self.ink[self._slices(box)]
        if np.count_nonzero(part) < FEWEST:
            return None
        around = box_of(part, max(box[0], self.left), max(box[1], self.top))
        return None if around is None else _inner(around)

    def around(self, box: Box, thing: str) -> Box | None:
        """The box of the things (a key of ``GATHERED``) that have ink inside a box; None where none has."""
        from scipy import ndimage

        if thing not in self._pieces:
            widened, _ = ndimage.label(enlarged(self.ink, *GATHERED[thing]), np.ones((3, 3), bool))
            labels = np.where(self.ink, widened, 0)
            self._pieces[thing] = labels, ndimage.find_objects(labels)
        labels, places = self._pieces[thing]
        found = np.flatnonzero(np.bincount(labels[self._slices(box)].ravel()))
        boxes = [
            (
                self.left + columns.start,
                self.top + rows.start,
                self.left + columns.stop,
                self.top + rows.stop,
            )
            for rows, columns in (places[label - 1] for label in found[found > 0].tolist())
        ]
        return _inner(union(boxes)) if boxes else None

    def _slices(self, box: Box) -> tuple[slice, slice]:
        ends = [max(0, end - start) for end, start in zip(box, (self.left, self.top) * 2, strict=True)]
        return slice(ends[1], ends[3]), slice(ends[0], ends[2])


def _inner(box: Box) -> Box:
    """The box without the neighbours from which steps lead to the ink."""
    left, top, right, bottom = box
    across, down = int(right - left > 3), int(bottom - top > 3)
    return left + across, top + down, right - across, bottom - down


def spread(pixels: Pixels, box: Box, color: tuple[int, int, int], widest: bool) -> Box:
    """The box with its sides moved outwards as far as a colour goes on.

    widest: as far as it does anywhere along a side; else as far as it does along half of the side.
    """
    left, top, right, bottom = box
    rows = _some(top, bottom)
    columns = _some(left, right)
    sides = (
        pixels[rows, :left][:, ::-1],
        pixels[:top, columns][::-1].transpose(1, 0, 2),
        pixels[rows, right:],
        pixels[bottom:, columns].transpose(1, 0, 2),
    )
    steps = []
    for side in sides:
        alike = steps_from(color, side) <= ALIKE
        ended = np.concatenate([alike, np.zeros((len(alike), 1), bool)], axis=1)
        far = ended.argmin(axis=1)
        steps.append(int(far.max() if widest else np.sort(far)[len(far) // 2]))
    return left - steps[0], top - steps[1], right + steps[2], bottom + steps[3]


def _some(start: int, stop: int) -> NDArray[np.intp]:
    """At most ``RAYS`` places between two ends, both ends among them."""
    return np.unique(np.linspace(start, stop - 1, RAYS).astype(np.intp))
