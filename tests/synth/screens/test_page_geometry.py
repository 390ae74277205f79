"""Changes of place and size on pages."""

import re
from types import SimpleNamespace
from typing import Any

import numpy as np

from whatchanged.synth.screens.pages.changes.geometry import point


def test_a_shorter_bar_of_a_chart_keeps_its_foot() -> None:
    """Bars grow and shrink at their upper end: the script's numbers, for a bar from 30 to 80."""
    element: Any = SimpleNamespace(tag="rect", element="chart bar", height=50.0)
    at: Any = SimpleNamespace(element=element)
    signs = set()
    for seed in range(20):
        edit = point(np.random.default_rng(seed), at)
        if edit is None:
            continue
        found = re.search(
            r"const h=(.*?);e\.setAttribute\('y',(.*?)\);e\.setAttribute\('height',h\)", edit.script
        )
        assert found is not None
        height, top = (
            eval(text.replace("n('height')", "50").replace("n('y')", "30")) for text in found.groups()
        )
        assert top + height == 80
        assert "--" not in edit.script  # a decrement in the browser's language
        signs.add(height > 50)
    assert signs == {True, False}
