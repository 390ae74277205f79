"""Maps the tensor names of earlier versions to those of this version. No other module knows the old names."""

import re
from collections.abc import Mapping

from torch import Tensor

RENAMED = (
    (re.compile(r"(^|\.)vision\.survey\."), r"\1vision.scene_context."),
    (re.compile(r"(^|\.)vision\.fate\."), r"\1vision.change_label."),
    (re.compile(r"(^|\.)vision\.fate_head\."), r"\1vision.change_label_head."),
)
"""A mapping from tensor names before version 0.2 to the present names."""


def current_names(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors under the names that this version uses."""
    return {_current(name): tensor for name, tensor in tensors.items()}


def _current(name: str) -> str:
    for old, new in RENAMED:
        name = old.sub(new, name)
    return name
