"""The kinds of change on a screen, and the aspects of each kind."""

from collections.abc import Mapping

from whatchanged.measured.result import KINDS, Kind

__all__ = ["ASPECTS", "KINDS", "REVERSED", "STATES", "Kind"]

ASPECTS: Mapping[Kind, tuple[str, ...]] = {
    "added": ("element", "text", "scroll bar", "cursor", "grid", "legend", "point", "series"),
    "removed": ("element", "text", "scroll bar", "cursor", "grid", "legend", "point", "series"),
    "moved": ("position", "alignment", "order", "margin", "overlap", "axis limit", "point", "place"),
    "resized": ("width", "height", "size", "text size", "padding", "gap", "canvas", "marker"),
    "recolored": ("fill", "ink", "border", "opacity", "theme", "colour map"),
    "restyled": (
        "border width",
        "line width",
        "radius",
        "shadow",
        "weight",
        "slant",
        "face",
        "decoration",
        "outline",
        "texture",
        "sharpness",
        "line style",
        "marker shape",
        "line spacing",
        "letter case",
        "clipping",
    ),
    "rewritten": ("text", "number", "label", "language", "formula"),
    "replaced": ("icon", "picture", "mark", "element", "values"),
}
"""The aspects (``values.aspect``) of each kind.

A network has one output for each aspect. An aspect that is no longer drawn (such as "gap" of resized
elements) therefore stays in the table, so that networks trained earlier can still be loaded.
"""

STATES = (
    "focused",
    "selected",
    "checked",
    "disabled",
    "open",
    "hovered",
    "error",
    "loading",
    "cursor",
    "broken",
)
"""The states of an element (``values.state``). A change sets or clears one of them."""

REVERSED: Mapping[Kind, Kind] = {"added": "removed", "removed": "added"}
"""The kinds that become a different kind when the two pictures of a pair are exchanged."""
