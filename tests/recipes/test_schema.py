from dataclasses import replace

import pytest

from whatchanged.recipes.reader import load_recipe
from whatchanged.recipes.schema import StageConfig


@pytest.mark.parametrize(
    ("settings", "learns"),
    [
        ({}, True),
        ({"train_vision": False}, False),
        ({"rates": {"vision": 0.0}}, False),
        ({"rates": {"vision": 0.1}}, True),
        ({"rates": {"method": 0.0}}, True),
    ],
)
def test_whether_a_stage_trains_the_vision(settings, learns):
    assert StageConfig("s", {"caption": 1.0}, 1, 1, 1.0, **settings).learns_vision is learns


def test_as_many_false_captions_as_the_tasks_of_the_stages_with_these_data_want():
    four = load_recipe("pcl-tiny", ["method.negatives=4"])
    assert (four.false_captions("pairs"), four.false_captions("single")) == (4, 0)
    without = replace(four, stages=four.stages[-1:])
    assert without.false_captions("pairs") == 0
    cross = load_recipe("pcl-table5-2-b2w-cub")
    assert (cross.false_captions("pairs"), cross.false_captions("single")) == (6, 6)
