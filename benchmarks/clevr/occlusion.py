"""Errors of the shipped model, by the hidden share of an object and by how much lower a camera is.

    whatchanged synth clevr-change TWIN --scenes 300 --seed 9300
    python -m benchmarks.clevr.occlusion TWIN [--model NAME-or-FOLDER] [--record NAME]

A drawn scene says how many pixels show each object, and how many would if nothing hid it. One table groups
pairs by the most hidden object in either picture, by how much lower the second camera is, and, in changed
pairs, by the hidden share of the changed object. Another groups the objects of unchanged pairs, by their
hidden share and by their visible pixels, and counts how many of them a false alarm names. A false alarm whose
words describe several objects, or none, names no object. The model answers alone, without the measured
answer.
"""

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.clevr.shipped import whatchanged
from benchmarks.record import Watch, add_record_option, typed, write_result
from whatchanged.captioner.bundle import DEFAULT
from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError, WhatchangedError
from whatchanged.evaluation.metrics.truth import read_truths
from whatchanged.evaluation.statistics.intervals import wilson
from whatchanged.synth.clevr.visibility import GROUND, index_picture, visible_pixels
from whatchanged.worlds.clevr.change import SceneChange, named
from whatchanged.worlds.clevr.grading import judge, parse
from whatchanged.worlds.clevr.phrases import referents
from whatchanged.worlds.clevr.scene import Point, Scene

WIDTH, HEIGHT = 480, 320
HIDDEN = (0.0, 0.05, 0.2, 0.4, 0.6, 1.0)
"""Edges of the bins of the hidden share; a bin includes its lower edge, the last one both."""
LOWER = (-90.0, -10.0, -5.0, 0.0, 5.0, 10.0, 90.0)
"""Edges in degrees: how much lower the second camera stands."""
PIXELS = (0, 300, 600, 1200, 2400, WIDTH * HEIGHT)
"""Edges in pixels of a picture of 480x320."""


@dataclass(frozen=True)
class Seen:
    """What one picture shows of each of its objects: arrays of one number an object.

    hidden: the share of its pixels in the frame that others cover. behind: the object that covers most of
    it, ``GROUND`` where none does.
    """

    hidden: NDArray[np.float64]
    pixels: NDArray[np.int64]
    behind: NDArray[np.int64]


@dataclass(frozen=True)
class Pair:
    """One pair and whether its sentence is right.

    most: the hidden share of the most hidden object in either picture. own: that of the object that changed,
    in the picture that hides it more; None where nothing changed. lower: in degrees.
    """

    most: float
    own: float | None
    lower: float
    right: bool


@dataclass(frozen=True)
class UnchangedObject:
    """One object of an unchanged pair: its worse picture's numbers, and whether a false alarm names it."""

    hidden: float
    change_of_hidden: float
    pixels: int
    lower: float
    named: bool


@dataclass(frozen=True)
class Bins:
    """What values are counted, the edges of the bins, and the words for a bin's two edges."""

    title: str
    values: Sequence[float]
    edges: Sequence[float]
    in_words: Callable[[float, float], str]

    def filled(self) -> Iterator[tuple[str, list[int]]]:
        """Each bin in words, and the positions of its values."""
        at = np.clip(np.searchsorted(self.edges, self.values, side="right") - 1, 0, len(self.edges) - 2)
        for k, (low, high) in enumerate(pairwise(self.edges)):
            yield f"{self.title} {self.in_words(low, high)}", np.flatnonzero(at == k).tolist()


def seen_of(scene: Scene) -> Seen:
    """What a picture of the scene shows, at the size that the rules of drawing count pixels at."""
    index, count = index_picture(scene, WIDTH, HEIGHT), len(scene.objects)
    hidden, behind = np.zeros(count), np.full(count, GROUND, np.int64)
    for i, item in enumerate(scene.objects):
        alone = index_picture(Scene((item,), scene.view), WIDTH, HEIGHT) != GROUND
        others = index[alone & (index != i)]
        if others.size:
            hidden[i] = others.size / alone.sum()
            behind[i] = np.bincount(others.astype(np.int64)).argmax()
    return Seen(hidden, visible_pixels(index, count), behind)


def elevation(camera: Point) -> float:
    """Degrees above the ground at which a camera stands, as seen from the point that it looks at."""
    return math.degrees(math.atan2(camera[2], math.hypot(camera[0], camera[1])))


def lower(before: Scene, after: Scene) -> float:
    """Degrees by which the second camera stands lower than the first."""
    return elevation(before.view.camera) - elevation(after.view.camera)


def named_object(sentence: str, scene: Scene) -> int | None:
    """The one object of a scene that a sentence names; None where its words fit none or several."""
    statement = parse(sentence)
    if statement is None or statement.phrase is None:
        return None
    results = referents(statement.phrase, scene)
    return results[0] if len(results) == 1 else None


def measured(said: Mapping[str, str], truths: Mapping[str, Any]) -> dict[str, Any]:
    """The tables' rows, every false alarm, and every wrong sentence of a changed pair."""
    pairs: list[Pair] = []
    objects: list[UnchangedObject] = []
    alarms, errors = [], []
    for name, (before, after, change) in truths.items():
        sentence = said[name]
        scenes, seen = (before, after), (seen_of(before), seen_of(after))
        right = judge(sentence, before, after, change).true
        most = float(max(part.hidden.max() for part in seen))
        indices = zip(seen, (change.before, change.after), strict=True)
        own = [float(part.hidden[i]) for part, i in indices if i is not None]
        pairs.append(Pair(most, max(own, default=None), lower(before, after), right))
        if change.type != "none":
            if not right:
                errors.append(_error(name, sentence, own, scenes, change))
            continue
        alarmed = None
        if not right:  # an alarm about something added speaks of the picture after; the objects are the same
            statement = parse(sentence)
            alarmed = named_object(sentence, after if statement and statement.type == "add" else before)
            alarms.append(_alarm(name, sentence, alarmed, scenes, seen))
        objects += _objects_of(scenes, seen, alarmed)
    return {
        "rows": list(_pair_rows(pairs)),
        "things": list(_object_rows(objects)),
        "alarms": alarms,
        "errors": errors,
    }


def _objects_of(
    scenes: tuple[Scene, Scene], seen: tuple[Seen, Seen], alarmed: int | None
) -> Iterator[UnchangedObject]:
    """The objects of an unchanged pair; ``alarmed`` is the one that a false alarm names."""
    one, other = seen
    for i in range(len(scenes[0].objects)):
        hidden = (float(one.hidden[i]), float(other.hidden[i]))
        pixels = int(min(one.pixels[i], other.pixels[i]))
        yield UnchangedObject(max(hidden), abs(hidden[1] - hidden[0]), pixels, lower(*scenes), i == alarmed)


def _error(
    name: str, sentence: str, own: Sequence[float], scenes: tuple[Scene, Scene], change: SceneChange
) -> dict[str, Any]:
    """A wrong sentence about a change: what changed, and how much of it is hidden where it is in view."""
    scene, which = named(*scenes, change)
    return {
        "pair": name,
        "sentence": sentence,
        "true kind": change.type,
        "object": _words(scene, which),
        "hidden": [round(share, 2) for share in own],
        "lower": round(lower(*scenes), 1),
    }


def _alarm(
    name: str, sentence: str, alarmed: int | None, scenes: tuple[Scene, Scene], seen: tuple[Seen, Seen]
) -> dict[str, Any]:
    """One false alarm. Hidden shares and pixels before and after; behind which object, in words."""
    results: dict[str, Any] = {"pair": name, "sentence": sentence, "lower": round(lower(*scenes), 1)}
    if alarmed is None:
        return {**results, "named": None}
    item = scenes[0].objects[alarmed]
    covers = [
        "-" if part.behind[alarmed] == GROUND else _words(scene, int(part.behind[alarmed]))
        for scene, part in zip(scenes, seen, strict=True)
    ]
    return {
        **results,
        "named": _words(scenes[0], alarmed),
        "hidden": [round(float(part.hidden[alarmed]), 2) for part in seen],
        "pixels": [int(part.pixels[alarmed]) for part in seen],
        "behind": covers,
        "size": item.size,
    }


def _words(scene: Scene, which: int) -> str:
    item = scene.objects[which]
    return f"{item.size} {item.color} {item.material} {item.shape}"


def _pair_rows(pairs: Sequence[Pair]) -> Iterator[dict[str, Any]]:
    """Pairs by bins: false alarms among unchanged ones, wholly true sentences among changed ones."""
    changed = [pair for pair in pairs if pair.own is not None]
    own = [pair.own for pair in pairs if pair.own is not None]
    for counted, bins in (
        (pairs, Bins("most hidden object", [pair.most for pair in pairs], HIDDEN, _percent)),
        (changed, Bins("changed object hidden", own, HIDDEN, _percent)),
        (pairs, Bins("second camera lower by", [pair.lower for pair in pairs], LOWER, _degrees)),
    ):
        for title, inside in bins.filled():
            same = [counted[i].right for i in inside if counted[i].own is None]
            other = [counted[i].right for i in inside if counted[i].own is not None]
            yield {
                "pairs": title,
                "unchanged": len(same),
                "false change, %": _share(len(same) - sum(same), len(same)),
                "changed": len(other),
                "wholly true, %": _share(sum(other), len(other)),
            }


def _object_rows(objects: Sequence[UnchangedObject]) -> Iterator[dict[str, Any]]:
    """The objects of unchanged pairs by bins: how many of them a false alarm names."""
    moves = [one.change_of_hidden for one in objects]
    for bins in (
        Bins("hidden, the worse picture", [one.hidden for one in objects], HIDDEN, _percent),
        Bins("hidden, difference of the pictures", moves, HIDDEN, _percent),
        Bins("pixels seen, the worse picture", [one.pixels for one in objects], PIXELS, _whole),
        Bins("second camera lower by", [one.lower for one in objects], LOWER, _degrees),
    ):
        for title, inside in bins.filled():
            wrong = sum(objects[i].named for i in inside)
            yield {
                "objects of unchanged pairs": title,
                "objects": len(inside),
                "falsely named": wrong,
                "falsely named, %": _share(wrong, len(inside)),
            }


def _share(count: int, of: int) -> dict[str, float] | None:
    """A share in percent with Wilson's interval; None where nothing was counted."""
    if not of:
        return None
    low, high = wilson(count, of)
    return {"mean": 100 * count / of, "low": 100 * low, "high": 100 * high}


def _percent(low: float, high: float) -> str:
    return f"{100 * low:.0f} to {100 * high:.0f} %"


def _degrees(low: float, high: float) -> str:
    if low == LOWER[0]:
        return f"less than {high:.0f} degrees"
    return f"{low:.0f} degrees or more" if high == LOWER[-1] else f"{low:.0f} to {high:.0f} degrees"


def _whole(low: float, high: float) -> str:
    return f"{low:.0f} or more" if high == PIXELS[-1] else f"{low:.0f} to {high:.0f}"


def captions(dataset: Path, model: str) -> dict[str, str]:
    """Pair id -> what the model says."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.jsonl"
        whatchanged("caption", str(dataset), "-o", str(out), "--model", model, "--quiet")
        lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    return {line["id"]: line["caption"] for line in lines}


def main() -> None:
    """Caption, measure, print, record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--model", default=DEFAULT)
    parser.add_argument("--drawn", metavar="COMMAND", help="what drew the data set, to be recorded")
    add_record_option(parser, "occlusion")
    options = parser.parse_args()
    records = open_dataset(options.dataset).records
    truths = read_truths(options.dataset, records)
    if truths is None or truths.world.name != "clevr":
        raise DatasetError(f"{options.dataset}: it does not tell the CLEVR scenes of its pictures.")
    with Watch() as watch:
        figures = measured(captions(options.dataset, options.model), truths.by_id)
    print(json.dumps(figures, indent=1))
    if options.record:
        own = typed("python -m benchmarks.clevr.occlusion", str(options.dataset), "--model", options.model)
        command = [*([options.drawn] if options.drawn else []), own]
        print(write_result(options.record, "occlusion", figures, watch=watch, command=command))


if __name__ == "__main__":
    try:
        main()
    except WhatchangedError as error:
        sys.exit(f"Error: {error}")
