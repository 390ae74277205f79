from dataclasses import replace

import pytest

from whatchanged.errors import RecipeError
from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.recipes.reader import load_recipe


def test_tasks_and_what_they_need():
    tasks = PCLConfig(negatives=4).tasks
    assert {name: task.number for name, task in tasks.items()} == {
        "mlm": 2,
        "mvcl": 3,
        "fda": 4,
        "caption": 5,
    }
    assert {name: task.false_captions for name, task in tasks.items()} == {
        "mlm": 0,
        "mvcl": 0,
        "fda": 4,
        "caption": 0,
    }
    assert not any(task.single_pictures or task.truth or task.vision_only for task in tasks.values())


def test_a_caption_keeps_its_marks_and_one_pad():
    assert PCLConfig(max_length=28).longest_caption() == 25


@pytest.mark.parametrize("every_word", [True, False])
def test_attention_can_be_guided_where_every_word_is_asked_for(every_word):
    assert PCLConfig(every_word=every_word).guidable is every_word


@pytest.mark.parametrize(
    ("name", "overrides", "message"),
    [
        ("pcl-tiny", ["method.width=30"], "method.width: got 30, wanted a multiple of method.heads (4)"),
        ("pcl-tiny", ["method.heads=0"], "method.heads: got 0, wanted a number above 0"),
        ("pcl-tiny", ["method.dropout=1"], "method.dropout: got 1.0, wanted a number from 0 to below 1"),
        ("pcl-tiny", ["method.single_layers=-1"], "method.single_layers: got -1, wanted 0 or more"),
        ("pcl-tiny", ["method.pair_layers=-1"], "method.pair_layers: got -1, wanted 0 or more"),
        ("pcl-tiny", ["method.cross_layers=0"], "method.cross_layers: got 0, wanted a number above 0"),
        (
            "pcl-tiny",
            ["method.fda_temperature=0"],
            "method.fda_temperature: got 0.0, wanted a number above 0",
        ),
        (
            "pcl-tiny",
            ["stage.pretrain.batch=6"],
            "stage.pretrain.batch: got 6, wanted more than method.negatives",
        ),
        (
            "pcl-table4-1-none",
            ["method.mvcl_temperature=2"],
            "has no effect without a stage with the task mvcl",
        ),
        (
            "pcl-table4-3-mlm-mvcl",
            ["method.fda_temperature=2"],
            "has no effect without a stage with the task fda",
        ),
        ("pcl-table4-3-mlm-mvcl", ["method.negatives=3"], "has no effect without a stage with the task fda"),
        ("clevr-see", ["method.every_word=true"], "has no effect without a stage with the task caption"),
        (
            "clevr-see",
            ["method.dropout=0.3"],
            "without a stage with one of the tasks mlm, mvcl, fda, caption",
        ),
        (
            "pcl-tiny",
            ["method.difference_encoder=false", "method.single_layers=2", "method.pair_layers=2"],
            "method.single_layers = 2, method.pair_layers = 2 have no effect without method.diff",
        ),
    ],
)
def test_what_pcl_cannot_be_or_does_not_use(name, overrides, message):
    with pytest.raises(RecipeError) as raised:
        load_recipe(name, overrides)
    assert message in str(raised.value)


def test_what_pcl_can_be():
    recipe = load_recipe("pcl-tiny", ["method.single_layers=0", "stage.pretrain.batch=7"])
    assert recipe.method == replace(load_recipe("pcl-tiny").method, single_layers=0)
