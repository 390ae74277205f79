"""Where the shipped model errs: by how much of a thing is hidden, and by how much lower a camera stands.

    whatchanged synth clevr-change TWIN --scenes 300 --seed 9300
    python -m benchmarks.occlusion TWIN [--model NAME-or-FOLDER] [--record NAME]

Of a drawn scene it is known how many pixels show each object, and how many would if nothing stood before it.
Three tables: pairs by the most hidden object in either picture and by the difference of the cameras'
elevations; then the objects of unchanged pairs, by the same and by the pixels that show them: how many of
them a false alarm names. A false alarm whose words fit several objects, or none, is counted as naming no one.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.record import Watch, add_record_option, write_result
from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError, WhatchangedError
from whatchanged.evaluation.metrics.truth import read_truths
from whatchanged.evaluation.statistics.intervals import wilson
from whatchanged.worlds.clevr.grading import judge, parse
from whatchanged.worlds.clevr.phrases import referents
from whatchanged.worlds.clevr.scene import Point, Scene
from whatchanged.worlds.clevr.visibility import GROUND, index_picture, visible_pixels, whole_pixels

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
class Thing:
    """One object of an unchanged pair: its worse picture's numbers, and whether a false alarm names it."""

    hidden: float
    change_of_hidden: float
    pixels: int
    lower: float
    named: bool


def seen_of(scene: Scene) -> Seen:
    """What a picture of the scene shows, at the size that the rules of drawing count pixels at."""
    index, count = index_picture(scene, WIDTH, HEIGHT), len(scene.objects)
    pixels, whole = visible_pixels(index, count), whole_pixels(scene, WIDTH, HEIGHT)
    behind = np.full(count, GROUND, np.int64)
    for i, item in enumerate(scene.objects):
        alone = index_picture(Scene((item,), scene.view), WIDTH, HEIGHT) != GROUND
        others = index[alone & (index != i)]
        if others.size:
            behind[i] = np.bincount(others.astype(np.int64)).argmax()
    return Seen(1 - pixels / np.maximum(whole, 1), pixels, behind)


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
    found = referents(statement.phrase, scene)
    return found[0] if len(found) == 1 else None


def measured(said: Mapping[str, str], truths: Mapping[str, Any]) -> dict[str, Any]:
    """The tables' rows, and every false alarm with what is known of the object that it names."""
    pairs: list[tuple[float, float, bool, bool]] = []  # most hidden, lower, changed, right
    things: list[Thing] = []
    alarms = []
    for name, (before, after, change) in truths.items():
        sentence, changed = said[name], change.type != "none"
        one, other = seen_of(before), seen_of(after)
        most = float(max(one.hidden.max(), other.hidden.max()))
        right = judge(sentence, before, after, change).true
        pairs.append((most, lower(before, after), changed, right))
        if changed:
            continue
        who = None
        if not right:  # an alarm about something added speaks of the picture after; the objects are the same
            statement = parse(sentence)
            who = named_object(sentence, after if statement and statement.type == "add" else before)
            alarms.append(_alarm(name, sentence, who, (before, after), (one, other)))
        for i in range(len(before.objects)):
            hidden = (float(one.hidden[i]), float(other.hidden[i]))
            pixels = int(min(one.pixels[i], other.pixels[i]))
            things.append(
                Thing(max(hidden), abs(hidden[1] - hidden[0]), pixels, lower(before, after), i == who)
            )
    return {"rows": list(_rows(pairs)), "things": list(_things(things)), "alarms": alarms}


def _alarm(
    name: str, sentence: str, who: int | None, scenes: tuple[Scene, Scene], seen: tuple[Seen, Seen]
) -> dict[str, Any]:
    """One false alarm. Hidden shares and pixels before and after; behind which object, in words."""
    found: dict[str, Any] = {"pair": name, "sentence": sentence, "lower": round(lower(*scenes), 1)}
    if who is None:
        return {**found, "named": None}
    item = scenes[0].objects[who]
    covers = [
        "-" if part.behind[who] == GROUND else _words(scene, int(part.behind[who]))
        for scene, part in zip(scenes, seen, strict=True)
    ]
    return {
        **found,
        "named": _words(scenes[0], who),
        "hidden": [round(float(part.hidden[who]), 2) for part in seen],
        "pixels": [int(part.pixels[who]) for part in seen],
        "behind": covers,
        "size": item.size,
    }


def _words(scene: Scene, which: int) -> str:
    item = scene.objects[which]
    return f"{item.size} {item.color} {item.material} {item.shape}"


def _rows(pairs: Sequence[tuple[float, float, bool, bool]]) -> Iterator[dict[str, Any]]:
    """Pairs by bins: false alarms among unchanged ones, wholly true sentences among changed ones."""
    for title, column, edges, label in (
        ("most hidden object", 0, HIDDEN, _percent),
        ("second camera lower by", 1, LOWER, _degrees),
    ):
        for low, high, inside in _bins([pair[column] for pair in pairs], edges):
            chosen = [pairs[i] for i in inside]
            unchanged = [right for _, _, changed, right in chosen if not changed]
            changed_ones = [right for _, _, changed, right in chosen if changed]
            yield {
                "pairs": f"{title} {label(low, high)}",
                "unchanged": len(unchanged),
                "false change, %": _share(len(unchanged) - sum(unchanged), len(unchanged)),
                "changed": len(changed_ones),
                "wholly true, %": _share(sum(changed_ones), len(changed_ones)),
            }


def _things(things: Sequence[Thing]) -> Iterator[dict[str, Any]]:
    """The objects of unchanged pairs by bins: how many of them a false alarm names."""
    by: Sequence[tuple[str, Callable[[Thing], float], Sequence[float], Callable[[float, float], str]]] = (
        ("hidden, the worse picture", lambda t: t.hidden, HIDDEN, _percent),
        ("hidden, difference of the pictures", lambda t: t.change_of_hidden, HIDDEN, _percent),
        ("pixels seen, the worse picture", lambda t: t.pixels, PIXELS, _whole),
        ("second camera lower by", lambda t: t.lower, LOWER, _degrees),
    )
    for title, value, edges, label in by:
        for low, high, inside in _bins([value(thing) for thing in things], edges):
            named = sum(things[i].named for i in inside)
            yield {
                "objects of unchanged pairs": f"{title} {label(low, high)}",
                "objects": len(inside),
                "falsely named": named,
                "falsely named, %": _share(named, len(inside)),
            }


def _bins(values: Sequence[float], edges: Sequence[float]) -> Iterator[tuple[float, float, list[int]]]:
    """Each bin's edges and the positions of its values."""
    at = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    for k, (low, high) in enumerate(pairwise(edges)):
        yield low, high, np.flatnonzero(at == k).tolist()


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


def captions(dataset: Path, model: str | None) -> dict[str, str]:
    """Pair id -> what the shipped model says."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.jsonl"
        chosen = [] if model is None else ["--model", model]
        command = [sys.executable, "-m", "whatchanged", "caption", str(dataset), "-o", str(out), *chosen]
        done = subprocess.run([*command, "--quiet"], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr.strip())
        lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    return {line["id"]: line["caption"] for line in lines}


def main() -> None:
    """Caption, measure, print, record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--model")
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
        print(write_result(options.record, "occlusion", figures, watch=watch))


if __name__ == "__main__":
    try:
        main()
    except WhatchangedError as error:
        sys.exit(f"Error: {error}")
