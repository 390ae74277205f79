"""The record of a pair that every reader of data sets returns.

A record contains paths and captions, but no pixels or tensors.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

SizedBox = tuple[float, float, float, float]
"""A box: x, y, width and height in pixels of the original picture. The origin is at the top left."""

Split = Literal["train", "val", "test"]
RecordKind = Literal["pair_caption", "single_caption", "pair_label", "single_label"]


@dataclass(frozen=True)
class PairRecord:
    """One pair of pictures with its reference captions, or a single picture if ``after`` is None.

    ``pair_id`` is the id of the pair in the form that the data set's official scorer requires. Pairs with the
    same ``group_id``, such as both pairs of a scene, must be in the same split. Captions are unprocessed, in
    the order of their source. ``change_type`` is a type of change in the world of the pictures, or "none" for
    an unchanged pair. A field is ``None`` if it is not annotated.
    """

    dataset: str
    pair_id: str
    group_id: str
    split: Split
    kind: RecordKind
    before: Path
    after: Path | None
    captions: tuple[str, ...] = ()
    tokens: tuple[tuple[str, ...], ...] | None = None
    changed: bool | None = None
    change_type: str | None = None
    boxes: tuple[SizedBox | None, SizedBox | None] = (None, None)
    viewpoint_iou: float | None = None
    mask: Path | None = None
    labels: tuple[int, ...] | None = None
    same_class: bool | None = None
    negatives: tuple[str, ...] = ()
    features: Mapping[str, Path] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def corners(box: SizedBox | None) -> tuple[float, float, float, float] | None:
    """Return left, top, right and bottom of a box. If the box is None, the result is None."""
    if box is None:
        return None
    x, y, width, height = box
    return x, y, x + width, y + height


if not TYPE_CHECKING:  # type checkers should know no other names of this module

    def __getattr__(name: str) -> Any:
        """Resolve ``Box``, the name of ``SizedBox`` until 0.2."""
        if name != "Box":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        told = "whatchanged.records.Box is now called SizedBox; the old name will go with 0.4."
        warnings.warn(told, DeprecationWarning, stacklevel=2)
        return SizedBox
