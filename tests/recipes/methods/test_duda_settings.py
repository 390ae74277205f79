"""What DUDA's settings refuse."""

import pytest

from whatchanged.errors import RecipeError
from whatchanged.recipes.reader import load_recipe

REFUSED = {
    "a width that is not shared out": (
        ["method.norm_groups=12"],
        "method.attention_width: got 32, wanted a multiple of method.norm_groups (12)",
    ),
    "groups of no normalisation": (
        ["method.preset=paper"],
        'method.norm_groups = 8 has no effect without method.preset = "authors"',
    ),
    "no width": (["method.view_width=0"], "method.view_width: got 0, wanted a number above 0"),
    "a negative price": (["method.map_weight=-1"], "method.map_weight: got -1.0, wanted 0 or more"),
    "kinds of pairs without scenes": (
        ["method.regularise=all", "data.examples=pairs", "data.exchange=false"],
        'method.regularise = "all" has no effect without data.examples = "scenes"',
    ),
    "kinds of pairs without a regulariser": (
        ["method.regularise=all", "method.map_weight=0", "method.entropy_weight=0"],
        'method.regularise = "all" has no effect without data.examples = "scenes"',
    ),
    "some cells": (
        ["vision.kind=objects", "vision.keep=6"],
        "vision.keep: got 6, wanted 0: DUDA subtracts the pictures cell by cell",
    ),
}


@pytest.mark.parametrize(("overrides", "said"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(overrides, said):
    with pytest.raises(RecipeError) as raised:
        load_recipe("duda-tiny", overrides)
    assert said in str(raised.value)


def test_what_fits():
    assert load_recipe("duda-tiny", ["method.regularise=all"]).method.regularise == "all"
    paper = ["method.preset=paper", "method.norm_groups=32", "method.attention_width=20"]
    assert load_recipe("duda-tiny", paper).method.attention_width == 20
