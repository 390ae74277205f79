"""The truth about changes in a displayed document: boxes, values, and elements that moved because of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from whatchanged.synth.screens.boxes import around, box_around
from whatchanged.synth.screens.pages.changes import PageEdit
from whatchanged.synth.screens.pages.shown import (
    Boxes,
    Ends,
    PageElement,
    PageLayout,
    Pixels,
    RGBAColor,
    bounds,
    same_words,
)
from whatchanged.synth.screens.visible import Visible, difference, visible
from whatchanged.words import color_code
from whatchanged.worlds import Box
from whatchanged.worlds.screens.truth import Motion, ScreenChange, Value

Size = tuple[int, int]
MOST_ALIKE = 12
MOST_CONSEQUENCES = 6
WIDE_LOOKS = ("shadow", "outline")
"""Properties whose change is visible outside the box."""
LOCATED_BY_PIXELS = ("recolored", "restyled", "rewritten", "replaced")
"""Kinds of change whose box covers the differing pixels, unless the element's box itself moves."""


@dataclass(frozen=True)
class Made:
    """One change that was made: the edit, the numbers of its elements, and the page before and after it."""

    edit: PageEdit
    targets: tuple[int, ...]
    layout_before: PageLayout
    layout_after: PageLayout
    before: Pixels
    after: Pixels
    scale: float

    @cached_property
    def seen(self) -> Visible:
        """Return whether a reader would see it."""
        return visible(self.before, self.after, self.edit.kind, self.edit.aspect, self._shift())

    @cached_property
    def step(self) -> Pixels:
        """Return the largest difference of a channel at each pixel, (height, width)."""
        return difference(self.before, self.after)

    def _shift(self) -> float:
        """Return the largest movement of a side of a box or of a word, in pixels of the picture."""
        one, other = self.layout_before, self.layout_after
        pairs = zip(one.elements, other.elements, strict=False)
        steps = [abs(a - b) for e, f in pairs if e.seen and f.seen for a, b in zip(e.box, f.box, strict=True)]
        here, there = same_words(one, other)
        words = float(np.abs(here - there).max(initial=0))
        return max([*steps, words]) * self.scale


def script_of(edit: PageEdit, targets: tuple[int, ...]) -> str:
    """Return the script of an edit on these elements."""
    return "".join(f"{{{edit.script.replace('$I', str(i))}}}" for i in targets)


def alike(layout: PageLayout, target: PageElement, size: tuple[int, int]) -> tuple[int, ...]:
    """Return the elements in the picture that look like this one, itself first."""
    same = [e.i for e in candidates(layout, size) if e.look == target.look and e.i != target.i]
    return (target.i, *same[: MOST_ALIKE - 1])


def candidates(layout: PageLayout, size: tuple[int, int]) -> list[PageElement]:
    """Return the visible elements: in a window of this width and height, four pixels or more a side."""
    results = []
    for e in layout.elements:
        if e.element == "page":
            results.append(e)
            continue
        left, top, right, bottom = e.outline
        large = right - left >= 4 and bottom - top >= (1 if e.element in ("divider", "grid") else 4)
        inside = left >= 0 and top >= 0 and right <= size[0] and bottom <= size[1]
        if e.seen and large and inside:
            results.append(e)
    return results


def truth_of(
    made: Made, first: PageLayout, last: PageLayout, sizes: tuple[Size, Size]
) -> ScreenChange | None:
    """Return the truth of a change between the first and the last picture of a pair, of these sizes in
    pixels.

    None where it lies outside the pictures, or concerns an element that another change of the pair added.
    """
    if not made.edit.inserts and max(_with_boxes(made)) >= len(first.elements):
        return None
    places = [_boxes_of(made, i, first, last, sizes) for i in _with_boxes(made)]
    places = [place for place in places if place != (None, None)]
    befores = [before for before, _ in places if before is not None]
    afters = [after for _, after in places if after is not None]
    if not befores and not afters:
        return None
    thing = made.layout_after.elements[-1] if made.edit.inserts else first.elements[made.targets[0]]
    return ScreenChange(
        kind=made.edit.kind,
        element=thing.element,
        name=thing.name.replace('"', "'")[:60],
        box_before=around(befores),
        box_after=around(afters),
        values=_values(made, last),
        boxes=tuple(places) if len(places) > 1 else (),
        consequences=_consequences(made, sizes),
    )


def _with_boxes(made: Made) -> tuple[int, ...]:
    """Return the numbers of the elements whose boxes are part of the truth."""
    if made.edit.inserts:
        return (len(made.layout_after.elements) - 1,)
    return (*made.targets, made.edit.swap) if made.edit.swap >= 0 else made.targets


def _boxes_of(
    made: Made, i: int, first: PageLayout, last: PageLayout, sizes: tuple[Size, Size]
) -> tuple[Box | None, Box | None]:
    """Return an element's box in the first picture and in the last, as an annotator would draw them."""
    if made.edit.inserts:
        return None, _whole(last.elements[i].outline, made.scale, sizes[1])
    was, now = made.layout_before.elements[i], made.layout_after.elements[i]
    if made.edit.kind == "removed":
        return _whole(first.elements[i].outline, made.scale, sizes[0]), None
    one, other = _ends(made, was, now)
    # Other changes of the pair may have moved it before and after.
    one = _shifted(one, was, first.elements[i])
    other = _shifted(other, now, last.elements[i])
    return _whole(one, made.scale, sizes[0]), _whole(other, made.scale, sizes[1])


def _ends(made: Made, was: PageElement, now: PageElement) -> tuple[Ends, Ends]:
    """Return the box of the element just before and just after the change."""
    edit = made.edit
    if was.element == "page":
        whole = (0.0, 0.0, 1e6, 1e6)
        return whole, whole
    text = edit.aspect in ("alignment", "text size", "clipping", "line spacing") and was.ink and now.ink
    if text:
        assert was.ink is not None and now.ink is not None
        return was.ink, now.ink
    one, other = was.outline, now.outline
    still = max(abs(a - b) for a, b in zip(one, other, strict=True)) < 1
    if edit.kind in LOCATED_BY_PIXELS and (still or was.framed):
        differing = _differing(
            made, bounds([one, other, was.box, now.box]), 14 if edit.aspect in WIDE_LOOKS else 3
        )
        if differing is not None and still:
            return differing, differing
    if edit.kind == "moved" and still:
        inner = [
            (e.outline, f.outline)
            for e, f in zip(made.layout_before.elements, made.layout_after.elements, strict=False)
            if e.i != was.i and made.layout_before.inside(e, was.i) and e.seen and f.seen and e.box != f.box
        ]
        if inner:
            return bounds([e for e, _ in inner]), bounds([f for _, f in inner])
    return one, other


def _differing(made: Made, near: Ends, margin: float) -> Ends | None:
    """Return the bounding box of the differing pixels in and near a box, in pixels of the document; None for
    none.
    """
    left, top, right, bottom = (
        int(np.floor((near[0] - margin) * made.scale)),
        int(np.floor((near[1] - margin) * made.scale)),
        int(np.ceil((near[2] + margin) * made.scale)),
        int(np.ceil((near[3] + margin) * made.scale)),
    )
    left, top = max(0, left), max(0, top)
    part = made.step[top:bottom, left:right]
    if not part.size:
        return None
    differs = part > min(8, int(part.max()) // 2)
    box = box_around(differs, left, top)
    if box is None:
        return None
    one, two, three, four = (end / made.scale for end in box)
    return one, two, three, four


def _shifted(ends: Ends, here: PageElement, there: PageElement) -> Ends:
    """Return a box, moved as the element moved between two layouts."""
    dx, dy = there.box[0] - here.box[0], there.box[1] - here.box[1]
    return ends[0] + dx, ends[1] + dy, ends[2] + dx, ends[3] + dy


def _whole(ends: Ends, scale: float, size: tuple[int, int]) -> Box | None:
    """Return a box in whole pixels of a picture of this width and height; None where it lies outside."""
    left, top = (max(0, int(np.floor(end * scale + 1e-3))) for end in ends[:2])
    right = min(size[0], int(np.ceil(ends[2] * scale - 1e-3)))
    bottom = min(size[1], int(np.ceil(ends[3] * scale - 1e-3)))
    return (left, top, right, bottom) if right > left and bottom > top else None


def _values(made: Made, last: PageLayout) -> dict[str, Value]:
    """Return the values of the change: colours, steps, words, amounts."""
    edit = made.edit
    values: dict[str, Value] = {"aspect": edit.aspect}
    if edit.state:
        values["state"] = edit.state
    if edit.on is not None:
        values |= {"on_before": not edit.on, "on_after": edit.on}
    if edit.inserts:
        return values
    was, now = made.layout_before.elements[made.targets[0]], made.layout_after.elements[made.targets[0]]
    if edit.kind == "removed":
        return values
    if edit.kind == "recolored" and edit.aspect != "opacity":
        one, other = (
            _color(e, edit.aspect, pixels, made.scale)
            for e, pixels in ((was, made.before), (now, made.after))
        )
        if one != other:
            values |= {"color_before": one, "color_after": other}
    if edit.kind == "moved" and edit.aspect != "order":
        values |= _step(made, was, now)
    if edit.kind == "resized":
        values |= _growth(made, was, now)
    if edit.kind == "rewritten" and was.name != now.name:
        values |= {"text_before": _quoted(was.name), "text_after": _quoted(now.name)}
    amounts = {
        "opacity": (was.opacity, now.opacity),
        "border width": (was.border, now.border),
        "radius": (was.radius, now.radius),
        "weight": (was.weight, now.weight),
        "text size": (was.size, now.size),
        "line width": (was.stroke_width, now.stroke_width),
    }
    if edit.aspect in amounts and amounts[edit.aspect][0] != amounts[edit.aspect][1]:
        one_amount, other_amount = amounts[edit.aspect]
        values |= {"amount_before": round(one_amount, 2), "amount_after": round(other_amount, 2)}
    return values


def _quoted(text: str) -> str:
    return text.replace('"', "'")[:80]


def _step(made: Made, was: PageElement, now: PageElement) -> dict[str, Value]:
    """Return how far something moved, in pixels of the picture; {} where its parts moved differently."""
    one, other = _ends(made, was, now)
    dx, dy = (round((b - a) * made.scale) for a, b in zip(one[:2], other[:2], strict=True))
    return {"dx": dx, "dy": dy} if dx or dy else {}


def _growth(made: Made, was: PageElement, now: PageElement) -> dict[str, Value]:
    """Return by how much something became wider and higher, in pixels of the picture."""
    one, other = _ends(made, was, now)
    width = round((other[2] - other[0] - one[2] + one[0]) * made.scale)
    height = round((other[3] - other[1] - one[3] + one[1]) * made.scale)
    results: dict[str, Value] = {}
    if width:
        results["dwidth"] = width
    if height:
        results["dheight"] = height
    return results


def _color(e: PageElement, aspect: str, pixels: Pixels, scale: float) -> str:
    """Return the colour of ink or border from the element's style, and that of a fill from its most frequent
    pixels.
    """
    if aspect in ("ink", "border"):
        under = _over(e.fill, e.ground)
        color = e.border_color if aspect == "border" else _ink(e)
        return color_code(_over(color, under))
    size = (pixels.shape[1], pixels.shape[0])
    box = _whole(e.box, scale, size) or (0, 0, *size)
    inside = pixels[box[1] : box[3], box[0] : box[2]].reshape(-1, 3)
    packed = inside.astype(np.int32) @ np.array([1 << 16, 1 << 8, 1], np.int32)
    values, counts = np.unique(packed, return_counts=True)
    most = int(values[counts.argmax()])
    return color_code((most >> 16, most >> 8 & 255, most & 255))


def _ink(e: PageElement) -> RGBAColor:
    """Return the colour of an element's text or lines."""
    if e.tag == "text":
        return e.svg_fill
    return e.stroke if e.tag in ("polyline", "line") else e.color


def _over(color: RGBAColor, ground: tuple[int, int, int]) -> tuple[int, int, int]:
    red, green, blue = (round(color[k] * color[3] + ground[k] * (1 - color[3])) for k in range(3))
    return red, green, blue


def _consequences(made: Made, sizes: tuple[Size, Size]) -> tuple[Motion, ...]:
    """Return what moved or grew because of the change; elements that moved alike are merged, the largest
    first.
    """
    groups: dict[tuple[int, ...], list[tuple[Box, Box]]] = {}
    for one, other in (*_moved_elements(made), *_moved_words(made)):
        steps = tuple(round((b - a) * made.scale) for a, b in zip(one, other, strict=True))
        before, after = _whole(one, made.scale, sizes[0]), _whole(other, made.scale, sizes[1])
        if any(steps) and before and after:
            key = (steps[0], steps[1], steps[2] - steps[0], steps[3] - steps[1])
            groups.setdefault(key, []).append((before, after))
    results = []
    for boxes in groups.values():
        one_box, other_box = around(a for a, _ in boxes), around(b for _, b in boxes)
        if one_box and other_box:
            results.append(Motion(one_box, other_box))
    results.sort(key=lambda m: -(m.box_before[2] - m.box_before[0]) * (m.box_before[3] - m.box_before[1]))
    return tuple(results[:MOST_CONSEQUENCES])


def _moved_elements(made: Made) -> Iterator[tuple[Ends, Ends]]:
    """Return the boxes before and after of elements with visible boxes, without the changed elements."""
    one, other = made.layout_before, made.layout_after
    own = set(_with_boxes(made)) | (set() if made.edit.inserts else set(made.targets))
    for e, f in zip(one.elements, other.elements, strict=False):
        shows = e.element != "page" and e.seen and f.seen and e.framed
        if shows and e.box != f.box and not any(one.inside(e, i) for i in own if i < len(one.elements)):
            yield e.box, f.box


def _moved_words(made: Made) -> Iterator[tuple[Ends, Ends]]:
    """Return the boxes before and after of the words that moved, without those in changed elements."""
    here, there = same_words(made.layout_before, made.layout_after)
    own = () if made.edit.inserts else made.targets
    inside = np.zeros(len(here), bool)
    for i in own:
        left, top, right, bottom = made.layout_before.elements[i].box
        across = (here[:, 0] >= left - 1) & (here[:, 2] <= right + 1)
        inside |= across & (here[:, 1] >= top - 1) & (here[:, 3] <= bottom + 1)
    moved = np.abs(here - there).max(axis=1, initial=0) >= 0.5
    empty = (there[:, 2] <= there[:, 0]) | (here[:, 2] <= here[:, 0])
    for place in np.flatnonzero(moved & ~inside & ~empty):
        yield _four(here[place]), _four(there[place])


def _four(box: Boxes) -> Ends:
    left, top, right, bottom = box.tolist()
    return left, top, right, bottom
