"""The truth of changes on pages."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from whatchanged.synth.screens.pages.changes.edit import PageEdit
from whatchanged.synth.screens.pages.making import Made, truth_of


def test_what_another_change_of_the_pair_brought_is_not_told_twice() -> None:
    """The first picture has elements 0 and 1; a change brought element 2, and another one recoloured it."""
    first: Any = SimpleNamespace(elements=("page", "button"))
    last: Any = SimpleNamespace(elements=("page", "button", "banner"))
    pixels = np.zeros((4, 4, 3), np.uint8)
    made = Made(PageEdit("recolored", "fill", ""), (2,), last, last, pixels, pixels, 1.0)
    assert truth_of(made, first, last, ((4, 4), (4, 4))) is None
