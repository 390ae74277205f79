"""What a machine's own noise is: two runs of one state are compared, and whatever differs is no change.

Small differences anywhere lower the sensitivity. Places that differ strongly from run to run, such as a clock
or an animation, become ignored boxes of their picture. The file that keeps both:

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
"""Differences up to this many times the usual threshold lower the sensitivity; stronger ones are places."""
RESERVE = 1.1
"""The next run may differ by this much more than these two."""
AROUND = 4
"""Pixels added on each side of a place."""
MOST_TAUGHT = 0.5
"""The part of a picture, at most, that two runs may teach to ignore."""
ROUNDS = 5
"""How often a picture is looked at again for places that were hidden by stronger ones."""


@dataclass(frozen=True)
class Noise:
    """What two runs of one state teach.

    pictures     how many pictures both runs hold
    sensitivity  at which no small difference between the runs counts; 1 where there are none
    unsteady     pair -> places that differ from run to run
    unexplained  pictures that differ whatever is ignored, such as by their size; why
    covered      pair -> the part of its picture that its places cover; empty where the file was read
    """

    pictures: int
    sensitivity: float
    unsteady: dict[str, tuple[Box, ...]]
    unexplained: dict[str, str]
    covered: dict[str, float] = field(default_factory=dict)

    def applied(self, settings: CompareSettings) -> CompareSettings:
        """The settings of a comparison on this machine."""
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
        """The text of the file."""
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
    """What two runs of one state teach. Raises WhatchangedError where no picture is in both."""
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
    """What ``Noise.to_json`` wrote. Raises WhatchangedError where the file holds something else."""
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
    """The strongest difference in units of the usual threshold; 0 where there is none."""
    measured = None if outcome.answer is None else outcome.answer.measured
    return 0.0 if measured is None else measured.score


def _sensitivity(score: float) -> float:
    """The sensitivity at which a difference so strong is noise beyond doubt; rounded down."""
    wanted = DOUBT / (score * RESERVE) if score else 1.0
    return min(1.0, math.floor(wanted * 1000) / 1000)


def _unsteady(pair: PairToCompare, sensitivity: float) -> tuple[tuple[Box, ...], str]:
    """The places to ignore so that the pair counts as unchanged; or why none do.

    Places that cover more than ``MOST_TAUGHT`` of the picture are none: the two runs show two layouts.
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
    """How much of a picture the places cover at most, in words for a message; empty where there are none."""
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
