"""The pairs of a page as the JSON that its script reads."""

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
"""What the page shows of a line of output as it is; the probability and the changes are looked at first."""

READ = ("words", "text_before", "text_after")
"""What was read for a change, among its values."""
LEVELS = 9
"""Of a word's map in a page, above none."""
_ZEROS = re.compile("0{1,26}")


def page_data(page: Page, folder: Path, embed: bool) -> dict[str, Any]:
    """All pairs in order, the groups and the orders, for a page that lies in ``folder``."""
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
    """One pair; what is not known of it is left out."""
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
    """Maps (2, rows, columns) in few characters: how many columns, and of each picture the cells' levels.

    A level is a share of the highest value of both, from 0 to ``LEVELS``. It is a digit; of zeros in a row a
    letter says how many, from a (1) to z (26).
    """
    most = float(maps.max(initial=0.0))
    levels = np.rint(maps * (LEVELS / most if most > 0 else 0.0)).astype(np.uint8)
    texts = ("".join(map(str, side.ravel().tolist())) for side in levels)
    packed = [_ZEROS.sub(lambda run: chr(ord("a") + len(run[0]) - 1), text) for text in texts]
    return {"columns": int(maps.shape[2]), "levels": packed}


def _change(change: Mapping[str, Any]) -> dict[str, Any]:
    """One change of a line of output: its kind, its sentence, where it is, and what was read there."""
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
    """Four finite numbers, or None."""
    if box is None or len(box) != 4:
        return None
    values = [_finite(value) for value in box]
    return None if None in values else [round(value, 2) for value in values if value is not None]


def _finite(value: Any) -> float | None:
    """A number that JSON can write; it knows neither NaN nor infinity."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if number and math.isfinite(value) else None
