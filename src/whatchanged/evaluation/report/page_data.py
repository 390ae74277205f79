"""What the page shows of single pairs, as the JSON that its script reads. All scores come from the record."""

import math
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from whatchanged.captioner.heatmap import COLORS
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.report.scored import Scored
from whatchanged.records import PairRecord
from whatchanged.worlds import Verdict

LEVELS = 16
"""Of the heat maps, so that a letter stands for one."""


def page_data(scored: Scored, folder: Path) -> dict[str, Any]:
    """Every pair in the records' order, for a page that lies in ``folder``."""
    maps = {} if scored.maps is None else scored.maps.of
    rouge, cider = 100 * scored.captions.rouge, 100 * scored.captions.cider
    pairs = []
    for i, (record, prediction) in enumerate(zip(scored.records, scored.predictions, strict=True)):
        entry = {
            **_known_of(record, prediction, folder),
            **_judgement(scored.verdicts[i]),
            "rouge": round(float(rouge[i]), 2),
            "cider": round(float(cider[i]), 2),
        }
        if record.pair_id in maps:
            entry["heat"] = packed(maps[record.pair_id])
        pairs.append(entry)
    return {
        "pairs": pairs,
        "grid": [] if scored.maps is None else list(scored.maps.grid),
        "colors": _colors(),
    }


def packed(maps: NDArray[np.floating[Any]]) -> list[str]:
    """Both maps in 16 levels of their common maximum, as runs: a letter per level (a = 0) and its count.

    A count of 1 is left out: "a12c" is twelve times level 0, then once level 2.
    """
    top = float(maps.max(initial=0.0))
    levels = np.rint(maps / top * (LEVELS - 1) if top > 0 else maps * 0).astype(np.int64)
    codes = []
    for flat in levels.reshape(len(maps), -1):
        starts = np.flatnonzero(np.diff(flat, prepend=-1))
        counts = np.diff(starts, append=len(flat))
        runs = zip(flat[starts], counts, strict=True)
        codes.append("".join(chr(97 + level) + (str(count) if count > 1 else "") for level, count in runs))
    return codes


def _known_of(record: PairRecord, prediction: Prediction, folder: Path) -> dict[str, Any]:
    """What is known of a pair before anything is scored; keys without a value may be absent."""
    entry: dict[str, Any] = {
        "id": record.pair_id,
        "type": record.change_type,
        "caption": prediction.caption,
        "error": prediction.error,
        "no_change": prediction.no_change,
        "references": record.captions,
        "overlap": _finite(record.viewpoint_iou),
    }
    if record.after is not None:
        entry["pictures"] = [_link(path, folder) for path in (record.before, record.after)]
    boxes = [None if box is None or None in map(_finite, box) else box for box in record.boxes]
    if any(boxes):
        entry["boxes"] = boxes
    return entry


def _judgement(verdict: Verdict | None) -> dict[str, Any]:
    """The sentence's grade ("true", "false", "unread", or None without a truth), and its first fault."""
    if verdict is None:
        return {"grade": None, "faults": []}
    if not verdict.parsed:
        return {"grade": "unread", "faults": []}
    return {"grade": "true" if verdict.true else "false", "faults": [verdict.fault] if verdict.fault else []}


def _colors() -> list[list[int]]:
    """The heat map's colour (red, green, blue) at each level."""
    table, steps = np.array(COLORS, float), np.linspace(0, 1, len(COLORS))
    levels = np.linspace(0, 1, LEVELS)
    return [[round(float(np.interp(level, steps, table[:, c]))) for c in range(3)] for level in levels]


def _link(picture: Path, folder: Path) -> str:
    """The picture's path as seen from the page's folder, encoded for an attribute (blanks and colons too)."""
    try:
        path = os.path.relpath(picture.absolute(), folder.absolute())
    except ValueError:  # another drive
        return picture.absolute().as_uri()
    return quote(Path(path).as_posix(), errors="surrogateescape")


def _finite(value: float | None) -> float | None:
    """JSON knows neither NaN nor infinity."""
    return value if value is not None and math.isfinite(value) else None
