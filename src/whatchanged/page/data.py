"""Convert the pairs of a page to JSON for its script."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whatchanged.contours import SHARES, outlines, svg_path
from whatchanged.page.page import Box, Page, Pair
from whatchanged.page.pictures import Pictures

LINE_FIELDS = ("caption", "error", "verdict", "doubtful", "answer", "unfamiliar", "size_before", "size_after")
"""The fields of an output line that the page shows unchanged.

The probability and the changes are checked first.
"""

READ = ("words", "text_before", "text_after")
"""The keys of a change whose values contain text that was read in the pictures."""
LEVELS = 9
"""The number of levels above zero in a word's attention map in a page."""
_ZEROS = re.compile("0{1,26}")


def page_data(page: Page, folder: Path, embed: bool) -> dict[str, Any]:
    """Return all pairs in order, the groups and the orders, for a page in ``folder``."""
    pictures = Pictures(folder, embed)
    return {
        "pairs": [_pair(pair, pictures) for pair in page.pairs],
        "groups": [
            {
                "sentence": group.sentence,
                "members": [int(index) for index in group.members],
                "odd": [int(index) for index in group.odd],
                "closed": group.closed,
                **({"command": group.command} if group.command else {}),
            }
            for group in page.groups
        ],
        "orders": [
            {"label": label, "places": [int(index) for index in places]}
            for label, places in page.orders.items()
        ],
        "shares": list(SHARES),
        **({} if page.review is None else {"review": asdict(page.review)}),
    }


def _pair(pair: Pair, pictures: Pictures) -> dict[str, Any]:
    """Return one pair. Unknown fields are omitted."""
    line = pair.line
    known: dict[str, Any] = {name: line[name] for name in LINE_FIELDS if line.get(name) not in (None, False)}
    known["no_change"] = _finite(line.get("no_change"))
    known["changes"] = [_change(change) for change in line.get("changes", ())]
    known["pictures"] = [pictures.source(pair.before), pictures.source(pair.after)]
    known["references"] = list(pair.references)
    known["boxes"] = [_box(box) for box in pair.boxes] if any(map(_box, pair.boxes)) else None
    known["ignored"] = [box for box in map(_box, pair.ignored) if box is not None]
    known["badges"] = [[badge.text, badge.tone] for badge in pair.badges]
    known["facts"] = list(pair.facts)
    known["tags"] = dict(pair.tags)
    known["fixed"] = pair.fixed
    known["captions"] = [
        {"name": one.name, "parts": [list(part) for part in one.parts], "facts": list(one.facts)}
        for one in pair.captions
    ]
    known["words"] = [{"word": word, **_levels(maps)} for word, maps in pair.words]
    if pair.heatmaps is not None:
        known["outlines"] = [[svg_path(lines) for lines in side] for side in outlines(pair.heatmaps)]
    filled = {name: value for name, value in known.items() if value not in (None, [], {}, "")}
    return {"id": pair.id, **filled}


def _levels(maps: NDArray[np.floating[Any]]) -> dict[str, Any]:
    """Encode attention maps (2, rows, columns) in few characters.

    The result contains the number of columns, and the levels of the cells of each picture. A level is a
    fraction of the highest value of both maps, from 0 to ``LEVELS``, and is written as a digit. A run of
    zeros is written as a letter for its length, from a (1) to z (26).
    """
    most = float(maps.max(initial=0.0))
    levels = np.rint(maps * (LEVELS / most if most > 0 else 0.0)).astype(np.uint8)
    texts = ("".join(map(str, side.ravel().tolist())) for side in levels)
    packed = [_ZEROS.sub(lambda run: chr(ord("a") + len(run[0]) - 1), text) for text in texts]
    return {"columns": int(maps.shape[2]), "levels": packed}


def _change(change: Mapping[str, Any]) -> dict[str, Any]:
    """Return one change of an output line: its kind, sentence and boxes, and the text that was read there."""
    shown = {
        "kind": change.get("kind"),
        "sentence": change.get("sentence", ""),
        "boxes": [_box(change.get("box_before")), _box(change.get("box_after"))],
    }
    values = change.get("values")
    values = values if isinstance(values, Mapping) else {}
    read = [values[key] for key in READ if isinstance(values.get(key), str)]
    return {**shown, "read": read} if read else shown


def _box(box: Box | None) -> list[float] | None:
    """Return four finite numbers, or None."""
    if box is None or len(box) != 4:
        return None
    values = [_finite(value) for value in box]
    return None if None in values else [round(value, 2) for value in values if value is not None]


def _finite(value: Any) -> float | None:
    """Return a number that JSON can represent, or None for NaN, infinity and anything else."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if number and math.isfinite(value) else None
