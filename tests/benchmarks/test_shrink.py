"""A shrunk recipe is small, loads, and keeps all that is not a size or a number of steps."""

import tomllib

import pytest

from whatchanged.recipes.reader import load_recipe, recipe_names
from whatchanged.recipes.values import dump_recipe

SCRIPT = "shrink"


@pytest.mark.parametrize("name", recipe_names())
def test_a_shrunk_recipe_loads_and_keeps_what_it_is(name, bench):
    table = tomllib.loads(dump_recipe(load_recipe(name)))
    whole, small = load_recipe(name), load_recipe(name, bench.shrink(table))
    assert small.seed == whole.seed and small.data == whole.data
    assert type(small.method) is type(whole.method) and small.vision.kind == whole.vision.kind
    sizes = vars(small.method)
    assert sizes.get("width", sizes.get("attention_width")) <= 32
    for before, after in zip(whole.stages, small.stages, strict=True):
        assert (after.steps, after.log_every) == (20, 1) and after.batch <= 14
        kept = (
            "name",
            "tasks",
            "lr",
            "schedule",
            "optimizer",
            "weight_decay",
            "rates",
            "precision",
            "metric",
        )
        assert all(getattr(after, key) == getattr(before, key) for key in kept)
        assert bool(after.warmup) == bool(before.warmup)
        assert bool(after.evaluate_every) == bool(before.evaluate_every)


def test_fewer_steps_shorten_everything_that_counts_them(bench):
    table = tomllib.loads(dump_recipe(load_recipe("pcl-table5-1-b2w")))
    stage = load_recipe("pcl-table5-1-b2w", bench.shrink(table, 3)).stages[-1]
    assert (stage.steps, stage.evaluate_every, stage.evaluate_from) == (3, 3, 3)
