"""The HTML page of an evaluation: every pair with pictures, caption, references and scores, worst first.

One file that loads nothing but the pictures, which it links by relative path and only as they come into view,
so 8,000 pairs open at once. What strangers wrote is data (JSON, no letter of which can end its element) that
the script lays out as text; a content security policy admits this page's own script and style, by their
hashes, and nothing from elsewhere.
"""

import base64
import hashlib
import html
import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from whatchanged.captioner.heatmap import COLORS
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.records import PairRecord
from whatchanged.worlds.clevr.grading import Verdict

LEVELS = 16
FAULTS = {
    "type_right": "wrong type",
    "value_right": "wrong new value",
    "fits": "phrase does not fit",
    "fits_alone": "phrase fits others too",
}
Heat = Callable[[str], NDArray[np.floating]]


@dataclass(frozen=True)
class Shown:
    """What the page shows beside records and predictions; each in the records' order.

    ``rouge`` and ``cider`` are per-pair scores times 100; ``verdicts`` the scene's judgement, None where the
    truth is not known; ``heat`` gives a pair's maps (2, rows, columns), ``mapped`` says which pairs have any.
    """

    rouge: Sequence[float]
    cider: Sequence[float]
    verdicts: Sequence[Verdict | None]
    heat: Heat | None = None
    mapped: frozenset[str] = frozenset()


def page(
    title: str,
    tables: Sequence[tuple[str, Sequence[Sequence[str]]]],
    note: str,
    records: Sequence[PairRecord],
    predictions: Sequence[Prediction],
    shown: Shown,
    folder: Path,
) -> str:
    """The page as it lies in ``folder``; first its ``tables`` (title, rows from the head on) and ``note``."""
    grid: list[int] = []
    pairs = []
    for i, (record, said) in enumerate(zip(records, predictions, strict=True)):
        entry = _entry(record, said, shown.verdicts[i], folder)
        entry |= {"rouge": round(float(shown.rouge[i]), 2), "cider": round(float(shown.cider[i]), 2)}
        if shown.heat is not None and record.pair_id in shown.mapped:
            maps = shown.heat(record.pair_id)
            grid = list(maps.shape[1:])
            entry["heat"] = _packed(maps)
        pairs.append(entry)
    data = _inert({"pairs": pairs, "grid": grid, "colors": _colors()})
    style, script = (
        Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("page.css", "page.js")
    )
    policy = (
        f"default-src 'none'; img-src 'self' file:; style-src '{_hash(style)}'; "
        f"script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    head = "".join(_table(name, rows) for name, rows in tables)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_text(title)}</title>
<style>{style}</style></head>
<body><header><h1>{_text(title)}</h1>
<details open><summary>Scores</summary><div class="scroll">{head}</div>
<p class="note">{_text(note)}</p></details>
<noscript><p>The pairs are shown by this page's own script, which is switched off.</p></noscript></header>
<main><div id="controls">{CONTROLS}</div>
<div id="list"></div><div id="more"></div></main>
<script type="application/json" id="data">{data}</script>
<script>{script}</script></body></html>
"""


CONTROLS = """
<input type="search" id="text" placeholder="words in caption, references or id" aria-label="search">
<select id="type" aria-label="type of change"><option value="">all types</option></select>
<select id="grade" aria-label="truth"><option value="">true or not</option>
<option value="false">not true</option><option value="unread">unreadable</option>
<option value="true">true</option></select>
<select id="order" aria-label="order"><option value="cider">worst CIDEr-D first</option>
<option value="rouge">worst ROUGE-L first</option><option value="grade">not true first</option>
<option value="place">in order</option></select>
<label><input type="checkbox" id="heat" checked>heat maps</label>
<label><input type="checkbox" id="boxes" checked>boxes</label>
<span id="count" role="status"></span>
"""


def _entry(record: PairRecord, said: Prediction, verdict: Verdict | None, folder: Path) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": record.pair_id,
        "type": record.change_type,
        "caption": said.caption,
        "error": said.error,
        "no_change": said.no_change,
        "references": record.captions,
        "overlap": _finite(record.viewpoint_iou),
        "grade": None,
        "faults": [],
    }
    if record.after is not None:
        entry["pictures"] = [_link(path, folder) for path in (record.before, record.after)]
    boxes = [None if box is None or None in map(_finite, box) else box for box in record.boxes]
    if any(boxes):
        entry["boxes"] = boxes
    if verdict is not None:
        entry["grade"] = "unread" if not verdict.parsed else "true" if verdict.true else "false"
        if verdict.parsed and record.changed is not False:
            entry["faults"] = [text for key, text in FAULTS.items() if not getattr(verdict, key)][:1]
    return entry


def _packed(maps: NDArray[np.floating]) -> list[str]:
    """Both maps, their common maximum 15, as runs: a letter per level (a = 0) and how often, if not once."""
    top = float(maps.max(initial=0.0))
    levels = np.rint(maps / top * (LEVELS - 1) if top > 0 else maps * 0).astype(np.int64)
    packed = []
    for flat in levels.reshape(len(maps), -1):
        starts = np.flatnonzero(np.diff(flat, prepend=-1))
        counts = np.diff(starts, append=len(flat))
        runs = zip(flat[starts], counts, strict=True)
        packed.append("".join(chr(97 + level) + (str(count) if count > 1 else "") for level, count in runs))
    return packed


def _colors() -> list[list[int]]:
    """The heat map's colours at each level."""
    table, steps = np.array(COLORS, float), np.linspace(0, 1, len(COLORS))
    at = np.linspace(0, 1, LEVELS)
    return [[round(float(np.interp(x, steps, table[:, c]))) for c in range(3)] for x in at]


def _link(picture: Path, folder: Path) -> str:
    """The picture as seen from the page's folder, fit for an attribute; blanks and colons are encoded too."""
    try:
        path = os.path.relpath(picture.absolute(), folder.absolute())
    except ValueError:  # another drive
        return picture.absolute().as_uri()
    return quote(Path(path).as_posix(), errors="surrogateescape")


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _inert(value: Any) -> str:
    """JSON that cannot end the element it stands in: ASCII, and neither < nor > nor &."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _table(title: str, rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    cells = "".join(f"<th>{_text(cell)}</th>" for cell in head)
    lines = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in body)
    return (
        f"<table><caption>{_text(title)}</caption><thead><tr>{cells}</tr></thead>"
        f"<tbody>{lines}</tbody></table>"
    )


def _text(text: str) -> str:
    """Text as markup, writable whatever it holds."""
    return html.escape(text.encode("utf-8", "replace").decode("utf-8"))


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")
