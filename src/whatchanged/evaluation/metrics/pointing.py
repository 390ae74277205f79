"""The pointing game: does the attention's maximum lie in the box of what changed?

Source: Zhang et al., ECCV 2016, as played by Park, Darrell and Rohrbach (ICCV 2019, and their
``utils/eval_utils.py``). Departures: the canvas is the picture's true size, where theirs is 360 x 480 for
pictures 320 high; the enlargement is this module's, where theirs is a function that its library has dropped
(places less than a pixel apart may win instead); and the map is the mean over the sentence's content words.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.captioner.attention import AttentionFiles
from whatchanged.errors import PredictionsError
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.metrics.additive import mean
from whatchanged.evaluation.statistics.intervals import share, with_ends
from whatchanged.evaluation.statistics.resampling import intervals
from whatchanged.images import picture_size
from whatchanged.records import Box, PairRecord

Floats = NDArray[np.float64]
Heat = Callable[[str], NDArray[np.floating]]
"""Pair id to its maps (2, rows, columns), before and after."""


def pointing_game(
    records: Sequence[PairRecord],
    heat: Heat,
    chosen: Mapping[str, NDArray[np.int64]],
    absent: frozenset[str] = frozenset(),
    resamples: int = 0,
    seed: int = 0,
) -> dict[str, dict[str, Any]]:
    """Per subset of ``chosen`` (name to positions in ``records``), where it has a box at all:

        hits            share of boxes that hold their map's maximum, with its interval and counts
        before, after   the same for the pictures of one side
        mass            mean share of the map (enlarged, its sum 1) that lies in the box, in percent
        area            mean share of the picture that the box covers, in percent: a blind guess's hits
        reachable       share of boxes that a map hot in one single cell can hit: the grid's own bound
        intervals       with ``resamples``, of the mass: [low, high], 95 %, bootstrap over scenes

    A picture is played where it has a box: both of most changes, after alone of an addition, before alone of
    a drop; the score is per box, not per pair. ``absent``: pairs without maps (they failed, or their sentence
    is empty); they miss. Raises PredictionsError for a box outside its picture, ImageError for a picture that
    cannot be opened.
    """
    rounds: dict[int, list[tuple[int, float, float, float, bool]]] = {}
    for positions in chosen.values():
        for i in positions:
            if int(i) not in rounds:
                rounds[int(i)] = _play(records[i], None if records[i].pair_id in absent else heat)
    results = {}
    for name, positions in chosen.items():
        played = [entry for i in positions for entry in rounds[int(i)]]
        if played:
            results[name] = _summary(played)
            if resamples:
                scenes = [records[int(i)].group_id for i in positions for _ in rounds[int(i)]]
                mass = mean("mass", np.array([entry[2] for entry in played]))
                (ends,) = intervals(mass.of, scenes, resamples, seed)
                results[name]["intervals"] = {"mass": ends}
    return results


def fitting_maps(
    files: AttentionFiles, records: Sequence[PairRecord], predictions: Sequence[Prediction]
) -> frozenset[str]:
    """The ids of the pairs without maps: those that failed and those whose sentence is empty.

    ``predictions[i]`` belongs to ``records[i]``. Raises PredictionsError where another pair lacks maps, or
    has those of another sentence.
    """
    silent = {r.pair_id for r, p in zip(records, predictions, strict=True) if not p.caption.split()}
    lacking = [r.pair_id for r in records if r.pair_id not in silent and r.pair_id not in files]
    if lacking:
        raise PredictionsError(
            f"{files.folder}: {len(lacking):,} pairs have no attention maps (first: {lacking[0]}). Caption "
            "all of them with --attention."
        )
    for record, prediction in zip(records, predictions, strict=True):
        if record.pair_id not in silent and files.words(record.pair_id) != tuple(prediction.caption.split()):
            raise PredictionsError(
                f"{files.folder}: the maps of {record.pair_id} are of another sentence: "
                f"{' '.join(files.words(record.pair_id))!r}. Name the maps written with these predictions."
            )
    return frozenset(silent)


def pointing_report(
    files: AttentionFiles,
    records: Sequence[PairRecord],
    predictions: Sequence[Prediction],
    chosen: Mapping[str, NDArray[np.int64]],
    resamples: int = 0,
    seed: int = 0,
) -> dict[str, Any] | None:
    """The game's results with all that they depend on beside them; None where no pair has a box."""
    absent = fitting_maps(files, records, predictions)
    results = pointing_game(records, files.heat, chosen, absent, resamples, seed)
    if not results:
        return None
    return {
        "grid": list(files.grid),
        "words": "mean over the content words",
        "layer": files.about["layer"],
        "model": files.about["model"],
        "canvas": "the pictures' true size",
        "without_maps": len(absent),
        "subsets": results,
    }


def table(report: Mapping[str, Any]) -> tuple[str, list[list[str]]]:
    """The report's title and rows, the head first."""
    rows = [["", "boxes", "hits", "before", "after", "mass", "box area", "reachable"]]
    for name, block in report["subsets"].items():
        shares = (block[key] for key in ("hits", "before", "after"))
        rows.append(
            [
                name,
                f"{block['hits']['of']:,}",
                *(with_ends(part["percent"], (part["low"], part["high"])) for part in shares),
                with_ends(block["mass"], block.get("intervals", {}).get("mass")),
                *(with_ends(block[key]) for key in ("area", "reachable")),
            ]
        )
    rows_, columns = report["grid"]
    title = f"Pointing game (%; grid {rows_} x {columns}, {report['words']}, attention {report['layer']})"
    return title, rows


def enlarged(heat: NDArray[np.floating], size: tuple[int, int]) -> Floats:
    """A map (rows, columns) at a picture's ``size`` (W, H): bilinear, cell centres kept, edges continued."""
    wide = _along(heat.astype(np.float64), size[0])
    low, high, part = _places(len(heat), size[1])
    return wide[low] * (1 - part)[:, None] + wide[high] * part[:, None]


def peak(heat: NDArray[np.floating], size: tuple[int, int]) -> tuple[int, int]:
    """The pixel (x, y) of the enlarged map's maximum; of equals the first, row by row."""
    y, x = divmod(int(enlarged(heat, size).argmax()), size[0])
    return x, y


def _play(record: PairRecord, heat: Heat | None) -> list[tuple[int, float, float, float, bool]]:
    """Per side with a box: (side, hit, mass, area, reachable)."""
    sides = [side for side in (0, 1) if record.boxes[side] is not None]
    maps = heat(record.pair_id) if heat is not None and sides else None
    played = []
    for side in sides:
        picture, box = (record.before, record.after)[side], record.boxes[side]
        assert box is not None
        if picture is None:
            raise PredictionsError(f"{record.pair_id}: a box but no picture to lay it on. Give the data set.")
        size = picture_size(picture)
        x, y, width, height = _whole(record.pair_id, box, size)
        area = width * height / (size[0] * size[1])
        if maps is None:
            played.append((side, 0.0, 0.0, area, False))
            continue
        canvas = enlarged(maps[side], size)
        total = float(canvas.sum())
        row, column = divmod(int(canvas.argmax()), size[0])
        hit = total > 0 and y <= row < y + height and x <= column < x + width
        mass = float(canvas[y : y + height, x : x + width].sum()) / total if total > 0 else 0.0
        spots = _spots(maps[side].shape, size)
        inside = (spots[:, 0] >= x) & (spots[:, 0] < x + width)
        inside &= (spots[:, 1] >= y) & (spots[:, 1] < y + height)
        played.append((side, float(hit), mass, area, bool(inside.any())))
    return played


def _summary(played: Sequence[tuple[int, float, float, float, bool]]) -> dict[str, Any]:
    side, hit, mass, area, reachable = (np.array(column) for column in zip(*played, strict=True))
    return {
        "hits": share(int(hit.sum()), len(hit)),
        "before": share(int(hit[side == 0].sum()), int((side == 0).sum())),
        "after": share(int(hit[side == 1].sum()), int((side == 1).sum())),
        "mass": 100 * float(mass.mean()),
        "area": 100 * float(area.mean()),
        "reachable": 100 * float(reachable.mean()),
    }


def _whole(pair_id: str, box: Box, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """A box in whole pixels, its end excluded, within the picture."""
    x, y, width, height = (round(value) for value in box)
    if width < 1 or height < 1 or x < 0 or y < 0 or x + width > size[0] or y + height > size[1]:
        raise PredictionsError(
            f"{pair_id}: its box {list(box)} does not lie in its picture of {size[0]} x {size[1]} pixels. "
            "Boxes are x, y, width, height in the original picture's pixels."
        )
    return x, y, width, height


def _along(values: Floats, pixels: int) -> Floats:
    """The last axis' cells at ``pixels`` places; gathers, as small products would wake all BLAS threads."""
    low, high, part = _places(values.shape[-1], pixels)
    return values[:, low] * (1 - part) + values[:, high] * part


@functools.lru_cache(maxsize=64)
def _places(cells: int, pixels: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """For each pixel centre the cells before and after it, and how far it is on the way, 0..1."""
    place = np.clip((np.arange(pixels) + 0.5) * cells / pixels - 0.5, 0, cells - 1)
    low = np.floor(place).astype(np.int64)
    return low, np.minimum(low + 1, cells - 1), place - low


@functools.lru_cache(maxsize=64)
def _spots(grid: tuple[int, int], size: tuple[int, int]) -> NDArray[np.int64]:
    """(cells, 2): the pixel (x, y) at which a map hot in one cell alone has its maximum."""
    rows, columns = (
        _along(np.eye(cells), pixels).argmax(axis=1) for cells, pixels in zip(grid, size[::-1], strict=True)
    )
    return np.stack(np.meshgrid(columns, rows), axis=-1).reshape(-1, 2)
