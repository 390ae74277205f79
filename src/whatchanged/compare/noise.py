"""Learn the noise of a machine from two runs in which nothing changed. Every difference is noise.

Small differences anywhere lower the sensitivity. Regions that differ strongly between runs, such as a clock
or an animation, become ignored boxes of their picture. One file stores both:

    {"format": 1, "pictures": 120, "sensitivity": 0.83, "unsteady": {"home.png": [[620, 8, 790, 40]]}}
"""

import glob
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from whatchanged.compare.ignore import Ignored, read_box, read_document
from whatchanged.compare.pairs import Matched, PairToCompare
from whatchanged.compare.run import Outcome, answer_pairs
from whatchanged.compare.settings import CompareSettings
from whatchanged.errors import WhatchangedError
from whatchanged.measured import Box
from whatchanged.measured.pixels.boxes import covered_share, grown
from whatchanged.measured.pixels.gate import DOUBT
from whatchanged.words import percent

FORMAT = 1
LARGEST_NOISE = 2.0
"""The limit, as a multiple of the usual threshold, up to which differences lower the sensitivity.

Stronger differences become ignored boxes.
"""
RESERVE = 1.1
"""The factor by which differences in the next run may exceed the differences between the two runs."""
AROUND = 4
"""The margin in pixels that is added on each side of a box."""
MOST_TAUGHT = 0.5
"""The largest fraction of a picture that two runs may add to the ignored boxes."""
ROUNDS = 5
"""The largest number of times that a picture is compared again.

Each comparison finds regions that stronger regions hid before.
"""


@dataclass(frozen=True)
class Noise:
    """The noise between two runs of one state.

    pictures     the number of pictures that are in both runs
    sensitivity  the sensitivity at which no small difference between the runs counts; 1 if there are none
    unsteady     for each pair, the boxes that differ between the runs
    unexplained  for each picture that differs regardless of ignored boxes, the reason, such as its size
    covered      for each pair, the fraction of its picture that its boxes cover; empty if read from a file
    """

    pictures: int
    sensitivity: float
    unsteady: dict[str, tuple[Box, ...]]
    unexplained: dict[str, str]
    covered: dict[str, float] = field(default_factory=dict)

    def applied(self, settings: CompareSettings) -> CompareSettings:
        """Return the settings for a comparison on this machine."""
        boxes = [
            Ignored(glob.escape(pair_id), box, "differs between two runs of one state", taught=True)
            for pair_id, regions in self.unsteady.items()
            for box in regions
        ]
        return replace(
            settings,
            sensitivity=settings.sensitivity * self.sensitivity,
            ignored=(*settings.ignored, *boxes),
        )

    def to_json(self) -> str:
        """Return the text of the file."""
        fields = {
            "format": FORMAT,
            "pictures": self.pictures,
            "sensitivity": self.sensitivity,
            "unsteady": {pair_id: [list(box) for box in boxes] for pair_id, boxes in self.unsteady.items()},
        }
        return json.dumps(fields, indent=1, ensure_ascii=False) + "\n"


def learn_noise(
    runs: Matched, workers: int | None = None, advance: Callable[[int], None] = lambda n: None
) -> Noise:
    """Return the noise between two runs of one state.

    Raises WhatchangedError if no picture is in both runs.
    """
    pairs = [pair for pair in runs.pairs if pair.status == "both"]
    if not pairs:
        raise WhatchangedError("The two runs have no picture in common. Name two runs of the same state.")
    outcomes = answer_pairs(pairs, CompareSettings(read_text=False), None, workers, advance)
    small = [score for score in map(_score, outcomes) if 0 < score <= LARGEST_NOISE]
    sensitivity = _sensitivity(max(small, default=0.0))
    unsteady: dict[str, tuple[Box, ...]] = {}
    unexplained: dict[str, str] = {}
    for outcome in outcomes:
        if outcome.failed:
            unexplained[outcome.pair.pair_id] = outcome.error
        elif _score(outcome) > LARGEST_NOISE:
            boxes, why = _unsteady(outcome.pair, sensitivity)
            if why:
                unexplained[outcome.pair.pair_id] = why
            else:
                unsteady[outcome.pair.pair_id] = boxes
    sizes = {one.pair.pair_id: one.answer.size_after for one in outcomes if one.answer is not None}
    covered = {pair_id: covered_share(boxes, sizes[pair_id]) for pair_id, boxes in unsteady.items()}
    return Noise(len(pairs), sensitivity, unsteady, unexplained, covered)


def read_noise(path: Path) -> Noise:
    """Return the noise that ``Noise.to_json`` wrote. Raises WhatchangedError if the file is invalid."""
    document = read_document(path)
    sensitivity, pictures = document.get("sensitivity"), document.get("pictures")
    unsteady = document.get("unsteady")
    if not (
        document.get("format") == FORMAT
        and isinstance(sensitivity, float | int)
        and not isinstance(sensitivity, bool)
        and 0 < sensitivity <= 1
        and isinstance(unsteady, dict)
        and isinstance(pictures, int)
    ):
        raise WhatchangedError(f"{path}: this is no file that calibrate wrote. Make it anew.")
    places = {pair_id: _boxes(path, pair_id, boxes) for pair_id, boxes in unsteady.items()}
    return Noise(pictures, float(sensitivity), places, {})


def _score(outcome: Outcome) -> float:
    """Return the strongest difference in units of the usual threshold; 0 if there is none."""
    measured = None if outcome.answer is None else outcome.answer.measured
    return 0.0 if measured is None else measured.score


def _sensitivity(score: float) -> float:
    """Return the sensitivity, rounded down, at which a difference of this strength is certainly noise."""
    wanted = DOUBT / (score * RESERVE) if score else 1.0
    return min(1.0, math.floor(wanted * 1000) / 1000)


def _unsteady(pair: PairToCompare, sensitivity: float) -> tuple[tuple[Box, ...], str]:
    """Return the boxes to ignore so that the pair counts as unchanged, and "".

    If this is impossible, return () and the reason.

    Boxes that cover more than ``MOST_TAUGHT`` of the picture are not used, because the two runs then show two
    layouts.
    """
    boxes: list[Box] = []
    for _ in range(ROUNDS):
        ignored = tuple(Ignored(glob.escape(pair.pair_id), box) for box in boxes)
        outcome = answer_pairs(
            [pair], CompareSettings(sensitivity=sensitivity, ignored=ignored, read_text=False), workers=1
        )[0]
        if not outcome.changed:
            return tuple(boxes), ""
        answer = outcome.answer
        if answer is None or answer.size_before != answer.size_after:
            return (), "it has two sizes"
        measured = () if answer.measured is None else answer.measured.statements
        places = {box: None for change in measured for box in change.boxes}
        boxes += [grown(box, AROUND, answer.size_after) for box in places]
        share = covered_share(boxes, answer.size_after)
        if share > MOST_TAUGHT:
            return (), f"{percent(share)} of it differ: two layouts?"
    return (), "it differs all over"


def most_covered(noise: Noise) -> str:
    """Return the largest fraction of a picture that the boxes cover, in words; "" if there are none."""
    if not noise.covered:
        return ""
    name = max(noise.covered, key=lambda pair_id: noise.covered[pair_id])
    return f", at most {percent(noise.covered[name])} of one ({name})"


def _boxes(path: Path, pair_id: str, value: Sequence[object]) -> tuple[Box, ...]:
    results = [read_box(box) for box in value] if isinstance(value, list) else [None]
    boxes = tuple(box for box in results if box is not None)
    if len(boxes) < len(results):
        raise WhatchangedError(f"{path}: {pair_id!r} holds something that is no box. Make the file anew.")
    return boxes
