"""Changes of place and size on pages."""

import re
from types import SimpleNamespace
from typing import Any

import numpy as np

from whatchanged.synth.screens.pages.changes.geometry import point


def test_a_bar_of_a_chart_grows_and_shrinks() -> None:
    """That its foot stays is a matter of ``edits.js`` (``test_edits_js``)."""
    element: Any = SimpleNamespace(tag="rect", element="chart bar", height=50.0)
    at: Any = SimpleNamespace(element=element)
    signs = set()
    for seed in range(20):
        edit = point(np.random.default_rng(seed), at)
        if edit is None:
            continue
        found = re.fullmatch(r"screens\.edits\.bar\(\$I, (-?\d+)\);", edit.script)
        assert found is not None and int(found[1]) != 0
        signs.add(int(found[1]) > 0)
    assert signs == {True, False}
