"""The kinds of change on a screen, and finer words for each kind."""

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
"""The finer words (``values.aspect``) that each kind has.

Networks have an output for each, so a word that nothing draws any more stays ("gap" of what was resized):
without it, runs of before could not be read.
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
"""What a thing can be besides its look (``values.state``): it became so, or no longer is."""

REVERSED: Mapping[Kind, Kind] = {"added": "removed", "removed": "added"}
"""The kind of a change whose pictures are exchanged, where it is another."""
