"""The truth of a drawn pair: what changed, where, by how much, and which other elements moved as a result.

A drawn data set is a folder that contains its pictures and a list, ``pairs.jsonl``. The list has one JSON
object (``PairLine``) on each line. It can be read like any list of pairs. This module reads the truth that it
contains.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from whatchanged.errors import DatasetError
from whatchanged.json_values import read_json
from whatchanged.opening import read_regular_text
from whatchanged.worlds import Box as Box
from whatchanged.worlds.screens.kinds import KINDS, REVERSED, Kind

LIST = "pairs.jsonl"
"""The file name of the list in the folder of a drawn data set."""
SETTINGS = "drawing.json"
"""The file name of the drawing settings in the folder of a drawn data set."""

LARGEST = 10**9
"""The largest absolute value of any number in a truth."""
_COLOR = re.compile("#[0-9a-fA-F]{6}")

Value = str | int | float | bool | None
_TURNED = {
    "color_before": "color_after",
    "text_before": "text_after",
    "amount_before": "amount_after",
    "size_before": "size_after",
    "on_before": "on_after",
}
"""The values that exist twice, before and after the change."""
_SIGNED = ("dx", "dy", "dwidth", "dheight")
"""The values that have a direction. Their sign changes when the pictures are exchanged."""


@dataclass(frozen=True)
class Motion:
    """An element that moved because of a change: its box before and after, in pixels."""

    box_before: Box
    box_after: Box

    @property
    def step(self) -> tuple[int, int]:
        """Return the movement (right, down) in pixels."""
        return self.box_after[0] - self.box_before[0], self.box_after[1] - self.box_before[1]


@dataclass(frozen=True)
class ScreenChange:
    """One change.

    kind: one of ``KINDS``.
    element: a name in ``elements.ELEMENTS``.
    name: the accessible name or the text of the element; "" if it has none.
    box_before, box_after: the box that a person would draw around the element; None in a picture without it.
    boxes: the (before, after) boxes of all similar elements that changed in the same way, the first included.
    values: the following named values. A value that does not apply is absent.
        aspect: one of ``ASPECTS``;
        state: one of ``STATES``;
        on_before, on_after: whether the state or aspect was true;
        color_before, color_after: "#rrggbb";
        dx, dy: the movement to the right and down, in pixels;
        dwidth, dheight: the growth in pixels;
        text_before, text_after: the texts;
        amount_before, amount_after: a width, radius or size in pixels, or an opacity.
    consequences: the elements that moved because of the change.
    """

    kind: Kind
    element: str
    name: str
    box_before: Box | None
    box_after: Box | None
    values: Mapping[str, Value] = field(default_factory=dict)
    boxes: tuple[tuple[Box | None, Box | None], ...] = ()
    consequences: tuple[Motion, ...] = ()

    @property
    def aspect(self) -> str:
        """Return the aspect of the change; "" if it has none."""
        return str(self.values.get("aspect", ""))

    def reversed(self) -> "ScreenChange":
        """Return the change from the picture after to the picture before."""
        pairs = {**_TURNED, **{after: before for before, after in _TURNED.items()}}
        values = {pairs.get(name, name): value for name, value in self.values.items()}
        for name in _SIGNED:
            value = values.get(name)
            if isinstance(value, int | float):
                values[name] = -value
        return replace(
            self,
            kind=REVERSED.get(self.kind, self.kind),
            box_before=self.box_after,
            box_after=self.box_before,
            values=values,
            boxes=tuple((after, before) for before, after in self.boxes),
            consequences=tuple(Motion(m.box_after, m.box_before) for m in self.consequences),
        )


@dataclass(frozen=True)
class ScreenTruth:
    """The known facts about a pair.

    changes: the visible changes, the most striking one first; () for a pair that differs only by noise, or
        not at all.
    noise: differences that a person would not mention, in words: "text drawn without hinting", "jpeg 94".
        An invisible change is listed here as "faint: KIND ASPECT".
    size_before, size_after: the (width, height) of the pictures in pixels.
    family: the program that drew the pair.
    design: the properties of its design, such as the library, font, theme and scale.
    doubtful: whether people may disagree about whether a change is visible (real pairs only).
    """

    changes: tuple[ScreenChange, ...]
    noise: tuple[str, ...]
    size_before: tuple[int, int]
    size_after: tuple[int, int]
    family: str = ""
    design: Mapping[str, Value] = field(default_factory=dict)
    doubtful: bool = False

    def reversed(self) -> "ScreenTruth":
        """Return the truth of the pair with its pictures exchanged."""
        return replace(
            self,
            changes=tuple(change.reversed() for change in self.changes),
            size_before=self.size_after,
            size_after=self.size_before,
        )


def to_json(truth: ScreenTruth) -> dict[str, Any]:
    """Return the truth as the JSON object of a line in the list."""
    return {
        "changes": [_change_to_json(change) for change in truth.changes],
        "noise": list(truth.noise),
        "size_before": list(truth.size_before),
        "size_after": list(truth.size_after),
        "family": truth.family,
        "design": dict(truth.design),
    }


def _change_to_json(change: ScreenChange) -> dict[str, Any]:
    return {
        "kind": change.kind,
        "element": change.element,
        "name": change.name,
        "box_before": _listed(change.box_before),
        "box_after": _listed(change.box_after),
        "values": dict(change.values),
        "boxes": [[_listed(before), _listed(after)] for before, after in change.boxes],
        "consequences": [
            {"box_before": list(m.box_before), "box_after": list(m.box_after)} for m in change.consequences
        ],
    }


def _listed(box: Box | None) -> list[int] | None:
    return None if box is None else list(box)


def from_json(line: Mapping[str, Any], where: str) -> ScreenTruth:
    """Return the truth in a line of the list.

    where: the words that begin the message of a DatasetError, such as "pairs.jsonl, line 3".

    Raises DatasetError if the line does not hold the truth of a drawn pair.
    """
    try:
        return ScreenTruth(
            changes=tuple(_change(change) for change in line["changes"]),
            noise=tuple(str(word) for word in line["noise"]),
            size_before=_size(line["size_before"]),
            size_after=_size(line["size_after"]),
            family=str(line.get("family", "")),
            design={str(name): _value(value) for name, value in dict(line.get("design", {})).items()},
        )
    except KeyError as error:
        raise DatasetError(f"{where}: the truth of a drawn pair needs {error}.") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise DatasetError(f"{where}: not the truth of a drawn pair ({error}).") from error


def _change(fields: Mapping[str, Any]) -> ScreenChange:
    kind = next((kind for kind in KINDS if kind == fields["kind"]), None)
    if kind is None:
        raise ValueError(f"{fields['kind']!r} is no kind of change; they are {', '.join(KINDS)}")
    before, after = _box(fields["box_before"]), _box(fields["box_after"])
    if before is None and after is None:
        raise ValueError("a change needs a box before or after")
    return ScreenChange(
        kind=kind,
        element=str(fields["element"]),
        name=str(fields["name"]),
        box_before=before,
        box_after=after,
        values=_values(fields["values"]),
        boxes=tuple((_box(one), _box(other)) for one, other in fields.get("boxes", ())),
        consequences=tuple(_motion(motion) for motion in fields.get("consequences", ())),
    )


def _motion(fields: Mapping[str, Any]) -> Motion:
    before, after = _box(fields["box_before"]), _box(fields["box_after"])
    if before is None or after is None:
        raise ValueError("what moved needs two boxes")
    return Motion(before, after)


def _box(value: Any) -> Box | None:
    if value is None:
        return None
    left, top, right, bottom = (_whole(end) for end in value)
    if not (0 <= left < right and 0 <= top < bottom):
        raise ValueError(f"{value} is no box: left, top, right, bottom in pixels")
    return left, top, right, bottom


def _size(value: Any) -> tuple[int, int]:
    width, height = (_whole(side) for side in value)
    if min(width, height) < 1:
        raise ValueError(f"{value} is no size: width, height in pixels")
    return width, height


def _whole(value: Any) -> int:
    if type(value) is not int or abs(value) > LARGEST:
        raise ValueError(f"{value!r} is not a whole number of pixels")
    return value


def _values(value: Any) -> dict[str, Value]:
    """Return the named values of a change. Raises ValueError for invalid numbers, texts or colours."""
    values = {str(name): _value(value) for name, value in dict(value).items()}
    for name in ("color_before", "color_after"):
        color = values.get(name)
        if isinstance(color, str) and not _COLOR.fullmatch(color):
            raise ValueError(f"{name} is {color!r}, not #rrggbb")
    return values


def _value(value: Any) -> Value:
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | float) and abs(value) <= LARGEST:  # False for NaN
        return value
    raise ValueError(f"{value!r} is neither text nor a number up to {LARGEST:,}")


def has_truth(root: Path) -> bool:
    """Return whether this is the folder or list of a drawn data set, which contains its truth."""
    path = list_of(root)
    return path.suffix == ".jsonl" and (path.parent / SETTINGS).is_file() and path.is_file()


def list_of(root: Path) -> Path:
    """Return the path of the list of a drawn data set. ``root`` is the folder of the data set or the path of
    the list.
    """
    return root / LIST if root.is_dir() else root


def read_truths(root: Path) -> Iterator[tuple[str, ScreenTruth]]:
    """Yield the (id, truth) of every pair of a drawn data set, in the order of its list.

    Raises DatasetError if the list cannot be read or a line is invalid.
    """
    path = list_of(root)
    try:
        text = read_regular_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: the list of a drawn set cannot be read ({error}).") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"{path}, line {number}"
            try:
                found = read_json(line)
            except ValueError as error:
                raise DatasetError(f"{where}: not JSON ({error}).") from error
            if not isinstance(found, dict) or not isinstance(found.get("id"), str):
                raise DatasetError(f"{where}: the line of a drawn pair is an object with an id.")
            yield found["id"], from_json(found, where)
