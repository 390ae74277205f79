"""Make the truth of real pairs from human labels by mapping their free words to the world's names.

For each change, a label gives the kind, an element, an aspect, boxes, and texts. If a word matches no name of
the world, the truth omits it. Such a word is then used neither for training nor for judging.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from whatchanged.records import PairRecord
from whatchanged.worlds.screens.elements import ELEMENTS
from whatchanged.worlds.screens.kinds import ASPECTS, Kind
from whatchanged.worlds.screens.truth import Box, ScreenChange, ScreenTruth, Value

DATASET = "ui_train"
"""The name of the data set whose records hold such labels in ``extra``."""
WHOLE = "page"
"""The element that covers the entire picture."""

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
"""A mapping from free nouns in labels to names in ``ELEMENTS``."""

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
"""For each kind, a mapping from free words in labels to names in ``ASPECTS``. Other words have no aspect."""
USUAL: Mapping[Kind, str] = {"added": "element", "removed": "element"}
"""The default aspect of a kind, for a label whose word is not in ``ASPECT_WORDS``."""
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
"""A mapping from states in labels to a name in ``STATES``, and whether the element entered that state."""


def labelled_truths(records: Sequence[PairRecord]) -> Mapping[str, ScreenTruth]:
    """Return the truth by pair id for the records that hold labels."""
    return {record.pair_id: truth_of(record.extra) for record in records if record.dataset == DATASET}


def truth_of(labels: Mapping[str, Any]) -> ScreenTruth:
    """Return the truth of one pair.

    ``labels`` holds changes, visible_change, size_before, size_after and group, as checked by
    ``datasets.ui_train``. If the change is invisible, it is recorded as noise. If the labels are uncertain,
    the truth holds the changes and is marked as doubtful.
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
    """Return the world's name for a labelled element, or the label's word if the world has no such name."""
    return word if word in ELEMENTS else ELEMENT_WORDS.get(word, word)


def aspect_of(kind: Kind, word: str, element: str) -> str:
    """Return the world's aspect for a label's word, or "" if none matches.

    If the entire picture was resized, the aspect is "canvas".
    """
    if kind == "resized" and element == WHOLE and word in ("width", "height", "size", "width and height"):
        return "canvas"
    found = ASPECT_WORDS[kind].get(word, USUAL.get(kind, ""))
    assert not found or found in ASPECTS[kind]
    return found


def _change(label: Mapping[str, Any]) -> ScreenChange:
    """Return one labelled change."""
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
    """Return the (width, height) of a picture in pixels.

    If the labels do not give it, use the extent of the boxes.
    """
    told = labels.get(f"size_{side}")
    if isinstance(told, list) and len(told) == 2 and all(type(edge) is int and edge > 0 for edge in told):
        return told[0], told[1]
    boxes = [getattr(change, f"box_{side}") for change in changes]
    ends = [box[2:] for box in boxes if box is not None]
    return max((end[0] for end in ends), default=1), max((end[1] for end in ends), default=1)
