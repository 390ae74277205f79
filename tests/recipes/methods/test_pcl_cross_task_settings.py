from dataclasses import replace

import pytest
from support.recipe_texts import CROSS

from whatchanged.errors import RecipeError
from whatchanged.recipes.methods.pcl_cross_task import PCLCrossTaskConfig
from whatchanged.recipes.reader import load_recipe, parse_recipe

SINGLE = "pcl-table5-2-b2w-cub"
LABELLED = "pcl-table5-3-b2w-nabirds"


def test_pre_training_reads_single_pictures_and_classification_labelled_ones():
    tasks = PCLCrossTaskConfig().tasks
    assert {name for name, task in tasks.items() if task.single_pictures} == {"mlm", "mvcl", "fda", "fgvc"}
    assert {name for name, task in tasks.items() if task.reads == "labelled"} == {"fgvc"}
    assert tasks["fgvc"].number == 8 and tasks["fda"].false_captions == 6


def test_captions_of_single_pictures_have_a_length_of_their_own():
    method = PCLCrossTaskConfig(max_length=80, single_length=40)
    assert (method.longest_caption(), method.longest_caption(single=True)) == (77, 37)
    assert method.text_positions == 80 and replace(method, single_length=300).text_positions == 300


@pytest.mark.parametrize(
    ("name", "overrides", "message"),
    [
        (LABELLED, ["method.classes=0"], "method.classes: got 0, wanted 2 or more, the number of classes"),
        (LABELLED, ["method.classes=1"], "method.classes: got 1, wanted 2 or more, the number of classes"),
        (LABELLED, ["method.margin=0"], "method.margin: got 0.0, wanted a number above 0"),
        (LABELLED, ["method.single_length=30"], 'has no effect without a stage with data = "single"'),
        (SINGLE, ["method.single_length=3"], "method.single_length: got 3, wanted 4 to 100,000"),
        (SINGLE, ["method.classes=-1"], "method.classes: got -1, wanted 0 or more"),
        (
            SINGLE,
            ["method.classes=3", "method.margin=0.1"],
            "method.classes = 3, method.margin = 0.1 have no effect without a stage with the task fgvc",
        ),
        (
            "pcl-tiny",
            ["method.name=pcl-cross-task"],
            'method.name: got "pcl-cross-task", wanted "pcl": no stage',
        ),
        (
            SINGLE,
            ["method.negatives=0"],
            "method.negatives: got 0, wanted a number above 0",
        ),  # PCL's own checks
    ],
)
def test_what_the_method_cannot_be_or_does_not_use(name, overrides, message):
    with pytest.raises(RecipeError) as raised:
        load_recipe(name, overrides)
    assert message in str(raised.value)


def test_what_the_method_can_be():
    plain = parse_recipe(CROSS, "here").method
    assert parse_recipe(CROSS, "here", ["method.single_length=4"]).method == replace(plain, single_length=4)
