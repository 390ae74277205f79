"""Settings that would have no effect are refused, and the message says what would use them."""

import pytest
from support.recipe_texts import CROSS

from whatchanged.errors import RecipeError
from whatchanged.recipes.reader import load_recipe, parse_recipe

POOL = ["data.source=pool"]

IDLE = {
    "a patch of features": (
        "pcl-tiny",
        ["vision.patch=16"],
        'vision.patch has no effect with vision.kind = "fea',
    ),
    "tokens kept of features": (
        "pcl-tiny",
        ["vision.keep=5"],
        'setting of "objects". Leave it out, or choose',
    ),
    "rows of a backbone": (
        "pcl-pixels",
        ["vision.rows=99"],
        'vision.rows has no effect with vision.kind = "ba',
    ),
    "columns of object tokens": ("clevr-pcl", ["vision.columns=3"], "vision.columns has no effect"),
    "a width of patches": ("clip4idc-tiny", ["vision.feature_width=3"], "vision.feature_width has no effect"),
    "pixels of features": ("scorer-tiny", ["vision.image_width=96"], "vision.image_width has no effect"),
    "channels of features": ("pcl-tiny", ["vision.channels=[4, 6, 8]"], "vision.channels has no effect"),
    "blocks of patches": ("clip4idc-tiny", ["vision.blocks=2"], "vision.blocks has no effect"),
    "tokens kept of a plain backbone": (
        "pcl-pixels",
        ["vision.keep=5"],
        "vision.keep has no effect with vision.k",
    ),
    "matching of features": ("pcl-tiny", ["vision.matching=true"], "vision.matching has no effect"),
    "scene context of a backbone": (
        "pcl-pixels",
        ["vision.scene_context=true"],
        "vision.scene_context has no",
    ),
    "patience without evaluations": (
        "pcl-tiny",
        ["stage.pretrain.patience=3"],
        "stage.pretrain.patience = 3 has no effect without evaluations (stage.pretrain.evaluate_every is 0)."
        " Leave it out, or set the default: --set stage.pretrain.patience=0",
    ),
    "a first evaluation without evaluations": (
        "pcl-tiny",
        ["stage.pretrain.evaluate_from=3"],
        "evaluate_from = 3",
    ),
    "a metric without evaluations": (
        "pcl-tiny",
        ["stage.pretrain.metric=ROUGE-L"],
        'metric = "ROUGE-L" has no',
    ),
    "evaluations switched off": (
        "pcl-table5-1-b2w",
        ["stage.caption.evaluate_every=0"],
        "stage.caption.metric=CIDEr-D --set stage.caption.evaluate_from=0 --set stage.caption.patience=0",
    ),
    "a stair of another schedule": (
        "scorer-tiny",
        ["stage.train.stair=3"],
        'without stage.train.schedule = "stai',
    ),
    "pairs of a triple of a data set": (
        "pcl-tiny",
        ["data.ordered_pairs=all"],
        "data.ordered_pairs has no effect",
    ),
    "augmentation of a data set": (
        "pcl-pixels",
        ["data.augment=batches"],
        "data.augment has no effect with data.s",
    ),
    "tokens of a data set": ("own-finetune", ["data.tokens=x"], "data.tokens has no effect with data.source"),
    "features for pixels": (
        "pcl-pixels",
        ["data.features=x"],
        'data.features = "x" has no effect without vision.k',
    ),
    "a shift of stored features": (
        "pcl-tiny",
        ["data.shift=3"],
        "data.shift = 3 has no effect without pixels that are read anew in each pass",
    ),
    "a mirror for stored features": (
        "pcl-tiny",
        ['data.mirror_unless=["left"]'],
        'data.mirror_unless = ["left"] has no effect without pixels that are read anew in each pass',
    ),
    "a shift before a vision that stays as it is": (
        "own-finetune",
        ["data.shift=3"],
        "data.shift = 3 has no effect without pixels that are read anew in each pass",
    ),
    "cells that object tokens do not compare": (
        "clevr-pcl",
        ["vision.same_cell=true"],
        "vision.same_cell has no effect with vision.kind",
    ),
    "features of a pool": ("clevr-pcl", ["data.features=x"], "data.features has no effect with data.source"),
    "a preparation of a pool": ("clevr-pcl", ["data.preparation=levir"], "data.preparation has no effect"),
    "examples of a pool": ("clevr-see", ["data.examples=scenes"], "data.examples has no effect"),
    "single pictures that no stage reads": ("pcl-tiny", ["data.single=x"], 'data.single = "x" has no effect'),
    "words of single pictures": ("pcl-tiny", ["data.single_preparation=pcl-cub"], "single_preparation = "),
    "labels that no task reads": (
        "pcl-tiny",
        ["data.labelled=x"],
        "without a task that reads labelled pictures",
    ),
    "examples that every stage has of its own": (
        "clip4idc-clevr-authors",
        ["data.examples=pairs"],
        "has no effect without a stage that reads captioned",
    ),
    "an exchange without scenes": (
        "scorer-tiny",
        ["data.examples=pairs"],
        "data.exchange: got true, wanted false",
    ),
    "a stage's examples on a pool": (
        "clevr-see",
        ["stage.see.examples=pairs"],
        'without data.source = "dataset": the pairs of a pool are drawn',
    ),
    "a vision that cannot learn": (
        "pcl-tiny",
        ["stage.caption.train_vision=false"],
        "without a vision that learns",
    ),
    "a rate of a vision that cannot learn": (
        "pcl-tiny",
        ["stage.caption.rates={vision = 0.1}"],
        "stage.caption.rates.vision has no effect: this stage trains no group of parameters of that name."
        " Known: method.",
    ),
    "a rate of a vision that does not learn": (
        "clevr-pcl",
        ["stage.match.rates={vision = 0.1}"],
        "stage.match.rates.vision has no effect",
    ),
    "a rate of a method that does not learn": (
        "clevr-see",
        ["stage.see.rates={method = 0.1}"],
        "stage.see.rates.method has no effect",
    ),
    "a rate of no group": ("clip4idc-tiny", ["stage.caption.rates={clp = 1}"], "Did you mean clip?"),
    "a rate of the captioner in retrieval": (
        "clip4idc-tiny",
        ["stage.retrieval.rates={captioner = 1}"],
        "rates.captioner has no effect",
    ),
    "augmentation of stored tokens": (
        "clevr-pcl",
        ["data.tokens=x", "data.augment=batches"],
        'data.augment = "batches" has no effect',
    ),
    "stored tokens of patches": (
        "clip4idc-tiny",
        [*POOL, "data.tokens=x"],
        'data.tokens = "x" has no effect without a vision that learns',
    ),
    "a vision that learns from stored tokens": (
        "clevr-pcl",
        ["data.tokens=x", "stage.caption.train_vision=true"],
        "stage.caption.train_vision: got true, wanted false with data.tokens",
    ),
}


@pytest.mark.parametrize(("name", "overrides", "message"), IDLE.values(), ids=IDLE)
def test_an_idle_setting_is_refused_with_what_would_use_it(name, overrides, message):
    with pytest.raises(RecipeError) as raised:
        load_recipe(name, overrides)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "idle", ['data="single"', "examples=pairs", "changed_only=true", "examples=scenes", "exchange=true"]
)
def test_a_stage_of_labelled_pictures_alone_has_no_other_examples(idle):
    alone = ["stage.two.tasks={ fgvc = 1 }", f"stage.two.{idle}"]
    with pytest.raises(
        RecipeError, match=r"stage\.two\..* has no effect without a task that reads captioned"
    ):
        parse_recipe(CROSS, "here", alone)
