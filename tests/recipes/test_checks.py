from dataclasses import dataclass, field

import pytest

from whatchanged.errors import RecipeError
from whatchanged.recipes.checks import check_dropout, check_multiples, check_width, require, require_used


@dataclass
class Settings:
    metric: str = "CIDEr-D"
    patience: int = 0
    dropout: float = 0.1
    names: tuple[str, ...] = field(default_factory=tuple)


def test_a_setting_says_what_it_is_and_what_is_wanted_as_toml_writes_it():
    require("here", "vision.matching", True, True, "false")
    with pytest.raises(RecipeError, match=r"^here: vision\.matching: got true, wanted false\.$"):
        require("here", "vision.matching", True, False, "false")


def test_settings_with_their_defaults_are_never_idle():
    require_used("here", "x.", Settings(), False, "y", "metric", "patience", "names")


def test_used_settings_may_be_anything():
    require_used("here", "x.", Settings(patience=3), True, "y", "patience")


def test_all_idle_settings_are_named_at_once_with_what_mends_them():
    settings = Settings(metric="R@1", patience=3, names=("a",))
    with pytest.raises(RecipeError) as raised:
        require_used("here", "stage.a.", settings, False, "evaluations", "metric", "patience", "names")
    assert str(raised.value) == (
        'here: stage.a.metric = "R@1", stage.a.patience = 3, stage.a.names = ["a"] have no effect without'
        " evaluations. Leave them out, or set the defaults: --set stage.a.metric=CIDEr-D"
        " --set stage.a.patience=0 --set stage.a.names=[]"
    )


@pytest.mark.parametrize(
    ("dropout", "used", "message"),
    [
        (1.0, True, "method.dropout: got 1.0, wanted a number from 0 to below 1"),
        (float("nan"), True, "method.dropout: got nan"),
        (0.3, False, "method.dropout = 0.3 has no effect without a stage"),
    ],
)
def test_dropout_is_a_probability_that_something_uses(dropout, used, message):
    with pytest.raises(RecipeError) as raised:
        check_dropout("here", Settings(dropout=dropout), used, "a stage")
    assert message in str(raised.value)
    check_dropout("here", Settings(dropout=0.0), True, "a stage")


@pytest.mark.parametrize(
    ("width", "heads", "message"),
    [
        (0, 2, "width: got 0"),
        (6, 0, "heads: got 0"),
        (6, 4, r"width: got 6, wanted a multiple of heads \(4\)"),
    ],
)
def test_heads_share_a_width_evenly(width, heads, message):
    check_width("here", "width", 6, "heads", 3)
    with pytest.raises(RecipeError, match=message):
        check_width("here", "width", width, "heads", heads)


@pytest.mark.parametrize("size", [0, -8, 12])
def test_sizes_are_multiples_above_zero(size):
    @dataclass
    class Picture:
        side: int

    check_multiples("here", "", Picture(16), ("side",), 8, "8")
    with pytest.raises(RecipeError, match=f"side: got {size}, wanted a multiple of 8"):
        check_multiples("here", "", Picture(size), ("side",), 8, "8")
