"""Makes the truth of real pairs from people's labels: maps their free words to the world's names.

A label gives for each change its kind, an element, a finer word, boxes, and words of the texts. If no name of
the world matches a word, the truth leaves the word out, so that nothing is trained or judged by it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from whatchanged.records import PairRecord
from whatchanged.worlds.screens.elements import ELEMENTS
from whatchanged.worlds.screens.kinds import ASPECTS, Kind
from whatchanged.worlds.screens.truth import Box, ScreenChange, ScreenTruth, Value

DATASET = "ui_train"
"""The data set whose records hold such labels in ``extra``."""
WHOLE = "page"
"""The element that is the whole picture."""

ELEMENT_WORDS: Mapping[str, str] = {
    "arrow": "mark",
    "arrow head": "mark",
    "box": "area",
    "bullet": "mark",
    "circle": "figure",
    "dot": "mark",
    "drag arrow": "mark",
    "gradient": "area",
    "header": "page header",
    "list number": "label",
    "map": "picture",
    "outline": "frame",
    "pattern": "figure",
    "resize handle": "mark",
    "row": "table row",
    "selection handle": "mark",
    "selection highlight": "area",
    "shape": "figure",
    "triangle": "figure",
    "underline": "line",
}
"""Free nouns of labels -> names of ``ELEMENTS``."""

_THERE = {"wording": "text", "text": "text", "grid": "grid", "legend": "legend", "scroll bar": "scroll bar"}
ASPECT_WORDS: Mapping[Kind, Mapping[str, str]] = {
    "added": _THERE,
    "removed": _THERE,
    "moved": {
        "position": "position",
        "order": "order",
        "gap": "margin",
        "padding": "margin",
        "alignment": "alignment",
    },
    "resized": {
        "width": "width",
        "column width": "width",
        "height": "height",
        "size": "size",
        "scale": "size",
        "width and height": "size",
        "font size": "text size",
        "padding": "padding",
        "gap": "gap",
        "canvas": "canvas",
    },
    "recolored": {
        "fill": "fill",
        "gradient": "fill",
        "tint": "fill",
        "text colour": "ink",
        "line colour": "ink",
        "text decoration colour": "ink",
        "opacity": "opacity",
        "outline colour": "border",
    },
    "restyled": {
        "weight": "weight",
        "shadow": "shadow",
        "font": "face",
        "font face": "face",
        "font style": "slant",
        "border": "border width",
        "radius": "radius",
        "line width": "line width",
        "dash length": "line style",
        "smoothing": "sharpness",
        "sharpness": "sharpness",
        "font rendering": "sharpness",
        "edge": "sharpness",
        "edges": "sharpness",
        "texture": "texture",
        "underline": "decoration",
        "outline": "outline",
    },
    "rewritten": {
        "wording": "text",
        "truncation": "text",
        "case": "text",
        "spelling": "text",
        "number": "number",
    },
    "replaced": {
        "data": "values",
        "icon": "icon",
        "logo": "picture",
        "picture": "picture",
        "content": "element",
    },
}
"""Of each kind, the free finer words of labels -> names of ``ASPECTS``; others have none."""
USUAL: Mapping[Kind, str] = {"added": "element", "removed": "element"}
"""The finer word of a kind whose label has another one than those of the table."""
STATE_WORDS: Mapping[str, tuple[str, bool]] = {
    "selected": ("selected", True),
    "focused": ("focused", True),
    "disabled": ("disabled", True),
    "enabled": ("disabled", False),
    "expanded": ("open", True),
    "open": ("open", True),
    "collapsed": ("open", False),
    "checked": ("checked", True),
    "unchecked": ("checked", False),
    "on": ("checked", True),
    "off": ("checked", False),
    "hovered": ("hovered", True),
    "loading": ("loading", True),
    "error": ("error", True),
}
"""States of labels -> a name of ``STATES``, and whether the thing became so."""


def labelled_truths(records: Sequence[PairRecord]) -> Mapping[str, ScreenTruth]:
    """Pair id -> truth, for the records that hold labels."""
    return {record.pair_id: truth_of(record.extra) for record in records if record.dataset == DATASET}


def truth_of(labels: Mapping[str, Any]) -> ScreenTruth:
    """The truth of one pair.

    labels: changes, visible_change, size_before, size_after and group, as ``datasets.ui_train`` checked them.
    An invisible change becomes noise. If the labels are uncertain, the truth holds the changes and is
    doubtful.
    """
    changes = tuple(_change(change) for change in labels["changes"])
    seen = labels["visible_change"] != "no"
    faint = tuple(f"faint: {change.kind} {change.aspect}".strip() for change in changes)
    return ScreenTruth(
        changes=changes if seen else (),
        noise=() if seen else faint,
        size_before=_size(labels, "before", changes),
        size_after=_size(labels, "after", changes),
        family=str(labels.get("group", "")),
        doubtful=labels["visible_change"] == "uncertain",
    )


def element_of(word: str) -> str:
    """The world's name of a labelled element; the word itself where it has none."""
    return word if word in ELEMENTS else ELEMENT_WORDS.get(word, word)


def aspect_of(kind: Kind, word: str, element: str) -> str:
    """The world's finer word for a kind; "" where none fits.

    A picture that became larger or smaller as a whole has another canvas.
    """
    if kind == "resized" and element == WHOLE and word in ("width", "height", "size", "width and height"):
        return "canvas"
    found = ASPECT_WORDS[kind].get(word, USUAL.get(kind, ""))
    assert not found or found in ASPECTS[kind]
    return found


def _change(label: Mapping[str, Any]) -> ScreenChange:
    """One labelled change."""
    kind: Kind = label["kind"]
    element = element_of(str(label.get("element", "")))
    before, after = _box(label["box_before"]), _box(label["box_after"])
    words = {name: label[name] for name in ("text_before", "text_after") if isinstance(label.get(name), str)}
    values: dict[str, Value] = {"aspect": aspect_of(kind, str(label.get("aspect", "")), element)}
    if kind == "rewritten":
        values |= words
    if kind == "moved" and before and after and values["aspect"] == "position":
        values |= {"dx": after[0] - before[0], "dy": after[1] - before[1]}
    if label.get("state") in STATE_WORDS:
        state, became = STATE_WORDS[label["state"]]
        values |= {"state": state, "on_before": not became, "on_after": became}
    name = str(words.get("text_after") or words.get("text_before") or "")
    shown = {name: value for name, value in values.items() if value != ""}
    return ScreenChange(kind, element, name, before, after, shown)


def _box(value: Sequence[int] | None) -> Box | None:
    return None if value is None else (value[0], value[1], value[2], value[3])


def _size(labels: Mapping[str, Any], side: str, changes: Sequence[ScreenChange]) -> tuple[int, int]:
    """Width and height of a picture; if the labels do not give them, the extent of the boxes."""
    told = labels.get(f"size_{side}")
    if isinstance(told, list) and len(told) == 2 and all(type(edge) is int and edge > 0 for edge in told):
        return told[0], told[1]
    boxes = [getattr(change, f"box_{side}") for change in changes]
    ends = [box[2:] for box in boxes if box is not None]
    return max((end[0] for end in ends), default=1), max((end[1] for end in ends), default=1)
