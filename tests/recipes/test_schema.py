import pytest

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
