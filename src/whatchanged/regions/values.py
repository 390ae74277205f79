"""What can be measured of a change whose kind and place are known: colours, steps, growth."""

from typing import Any

from whatchanged import words
from whatchanged.measured.pixels.layers import far, read_layer
from whatchanged.measured.pixels.reading import Pixels
from whatchanged.measured.result import Box, Kind
from whatchanged.measured.rules.kinds import SAME_COLOR
from whatchanged.regions.proposals import Proposal

ValuesByName = dict[str, Any]


def values_of(kind: Kind, before: Pixels, after: Pixels, proposal: Proposal) -> ValuesByName:
    """The values of a change of this kind at a proposed place, as a statement holds them.

    color_before, color_after ("#rrggbb") of what was recolored; dx, dy (pixels to the right and down) of what
    moved; dwidth, dheight (pixels) of what was resized. What cannot be measured is absent.
    """
    match kind:
        case "recolored":
            return _colors(before, after, proposal)
        case "moved":
            return _step(before, after, proposal)
        case "resized":
            return _growth(proposal)
        case _:
            return {}


def _colors(before: Pixels, after: Pixels, proposal: Proposal) -> ValuesByName:
    """The colours of the fill; those of the ink where the fill is the same."""
    if proposal.rule == "recolored" and "color_before" in proposal.values:
        return {name: proposal.values[name] for name in ("color_before", "color_after")}
    one, other = (
        read_layer(pixels, box) for pixels, box in zip((before, after), proposal.boxes, strict=True)
    )
    was, now = one.fill, other.fill
    if far(was, now) <= SAME_COLOR:
        if one.ink_color is None or other.ink_color is None:
            return {}
        was, now = one.ink_color, other.ink_color
    return {"color_before": words.color_code(was), "color_after": words.color_code(now)}


def _step(before: Pixels, after: Pixels, proposal: Proposal) -> ValuesByName:
    """How far it moved: by the rules, by its boxes, or by what is drawn in its box."""
    if proposal.rule == "moved":
        return {name: proposal.values[name] for name in ("dx", "dy") if name in proposal.values}
    inks = _ink_boxes(before, after, proposal)
    if inks is None:
        return {}
    one, other = inks
    same_size = all(abs((one[k + 2] - one[k]) - (other[k + 2] - other[k])) <= 1 for k in (0, 1))
    dx, dy = other[0] - one[0], other[1] - one[1]
    return {"dx": dx, "dy": dy} if same_size and (dx or dy) else {}


def _growth(proposal: Proposal) -> ValuesByName:
    """How much wider and higher it became, where the rules saw one side or the picture's size change."""
    if proposal.rule != "resized" or proposal.aspect not in ("length", "canvas"):
        return {}
    names = {"dx": "dwidth", "dy": "dheight"}
    return {names[name]: step for name, step in proposal.values.items() if name in names and step}


def _ink_boxes(before: Pixels, after: Pixels, proposal: Proposal) -> tuple[Box, Box] | None:
    """The boxes of what is drawn in each picture at the place, in pixels of the picture; None where either
    is empty."""
    results = []
    for pixels, box in zip((before, after), proposal.boxes, strict=True):
        ink = read_layer(pixels, box).ink_box
        if ink is None:
            return None
        results.append((box[0] + ink[0], box[1] + ink[1], box[0] + ink[2], box[1] + ink[3]))
    return results[0], results[1]
