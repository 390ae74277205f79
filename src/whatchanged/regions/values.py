"""What can be measured of a change whose kind and place are known: colours, steps, growth."""

from typing import Any

from whatchanged.measured import colours
from whatchanged.measured.kinds import SAME_COLOUR
from whatchanged.measured.layers import far, read_layer
from whatchanged.measured.reading import Pixels
from whatchanged.measured.result import Box, Kind
from whatchanged.regions.proposals import Proposal

ValuesByName = dict[str, Any]


def values_of(kind: Kind, before: Pixels, after: Pixels, place: Proposal) -> ValuesByName:
    """The values of a change of this kind at a proposed place, as a statement holds them.

    color_before, color_after ("#rrggbb") of what was recolored; dx, dy (pixels to the right and down) of what
    moved; dwidth, dheight (pixels) of what was resized. What cannot be measured is absent.
    """
    match kind:
        case "recolored":
            return _colours(before, after, place)
        case "moved":
            return _step(before, after, place)
        case "resized":
            return _growth(place)
        case _:
            return {}


def _colours(before: Pixels, after: Pixels, place: Proposal) -> ValuesByName:
    """The colours of the fill; those of the ink where the fill is the same."""
    if place.rule == "recolored" and "color_before" in place.values:
        return {name: place.values[name] for name in ("color_before", "color_after")}
    one, other = (read_layer(pixels, box) for pixels, box in zip((before, after), place.boxes, strict=True))
    was, now = one.fill, other.fill
    if far(was, now) <= SAME_COLOUR:
        if one.ink_colour is None or other.ink_colour is None:
            return {}
        was, now = one.ink_colour, other.ink_colour
    return {"color_before": colours.code(was), "color_after": colours.code(now)}


def _step(before: Pixels, after: Pixels, place: Proposal) -> ValuesByName:
    """How far it moved: by the rules, by its boxes, or by what is drawn in its box."""
    if place.rule == "moved":
        return {name: place.values[name] for name in ("dx", "dy") if name in place.values}
    inks = _ink_boxes(before, after, place)
    if inks is None:
        return {}
    one, other = inks
    same_size = all(abs((one[k + 2] - one[k]) - (other[k + 2] - other[k])) <= 1 for k in (0, 1))
    dx, dy = other[0] - one[0], other[1] - one[1]
    return {"dx": dx, "dy": dy} if same_size and (dx or dy) else {}


def _growth(place: Proposal) -> ValuesByName:
    """How much wider and higher it became, where the rules saw one side or the picture's size change."""
    if place.rule != "resized" or place.aspect not in ("length", "canvas"):
        return {}
    names = {"dx": "dwidth", "dy": "dheight"}
    return {names[name]: step for name, step in place.values.items() if name in names and step}


def _ink_boxes(before: Pixels, after: Pixels, place: Proposal) -> tuple[Box, Box] | None:
    """The boxes of what is drawn in each picture at the place, in pixels of the picture; None where either
    is empty."""
    found = []
    for pixels, box in zip((before, after), place.boxes, strict=True):
        ink = read_layer(pixels, box).ink_box
        if ink is None:
            return None
        found.append((box[0] + ink[0], box[1] + ink[1], box[0] + ink[2], box[1] + ink[3]))
    return found[0], found[1]
