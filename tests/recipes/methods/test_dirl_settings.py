"""What DIRL's settings refuse."""

import pytest

from whatchanged.errors import RecipeError
from whatchanged.recipes.reader import load_recipe

REFUSED = {
    "heads that do not share the width": (["method.heads=5"], "method.width: got 32, wanted a multiple of"),
    "an odd word": (["method.word_width=9"], "method.word_width: got 9, wanted an even number"),
    "no layers": (["method.layers=0"], "method.layers: got 0, wanted a number above 0"),
    "a negative weight": (
        ["method.contrast_weight=-1"],
        "method.contrast_weight: got -1.0, wanted 0 or more",
    ),
    "what the correlation alone uses": (
        ["method.decorrelation_weight=0", "method.epsilon=0"],
        "have no effect without method.decorrelation_weight above 0",
    ),
    "what the alignment alone uses": (
        ["method.contrast_weight=0", "method.pooling=all"],
        'method.pooling = "all" has no effect without method.contrast_weight above 0',
    ),
    "some cells": (
        ["vision.kind=objects", "vision.keep=6"],
        "vision.keep: got 6, wanted 0: DIRL compares the pictures cell by cell",
    ),
}


@pytest.mark.parametrize(("overrides", "said"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(overrides, said):
    with pytest.raises(RecipeError) as raised:
        load_recipe("dirl-tiny", overrides)
    assert said in str(raised.value)
