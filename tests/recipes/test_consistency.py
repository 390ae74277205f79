import pytest
from support.recipe_texts import CROSS, MINIMAL

from whatchanged.errors import RecipeError
from whatchanged.recipes.reader import load_recipe, parse_recipe

POOL = ["data.source=pool"]


def refusal(name, overrides):
    with pytest.raises(RecipeError) as raised:
        load_recipe(name, overrides)
    return str(raised.value)


UNMATCHED = [f"vision.{key}=false" for key in ("matching", "scene_context", "occlusion", "landmarks")]
WRONG = {
    "the metric of retrieval": (
        "pcl-tiny",
        ["stage.caption.metric=R@1"],
        'got "R@1", wanted CIDEr-D or ROUGE-L',
    ),
    "an evaluation after the end": (
        "pcl-tiny",
        ["stage.caption.evaluate_from=31"],
        "got 31, wanted at most 30, the stage's steps",
    ),
    "a task of another method": (
        "pcl-tiny",
        ["stage.caption.tasks={retrieval=1}"],
        'there is no task "retrieval".',
    ),
    "a misspelt task": ("pcl-tiny", ["stage.caption.tasks={captoin=1}"], "Did you mean caption?"),
    "a task of before": ("clevr-see", ["stage.see.tasks={seeing=1}"], "Did you mean detection?"),
    "detection without objects": (
        "pcl-tiny",
        ["stage.caption.tasks={detection=1}"],
        'needs vision.kind = "objects"',
    ),
    "matching without it": (
        "clevr-see",
        [*UNMATCHED, "stage.see.tasks={matching=1}"],
        'It needs vision.kind = "objects" with vision.matching = true.',
    ),
    "no task": ("pcl-tiny", ["stage.caption.tasks={}"], "got {}, wanted at least one task"),
    "a weight of nothing": (
        "pcl-tiny",
        ["stage.caption.tasks={caption=0}"],
        "tasks.caption: got 0.0, wanted a weight above 0",
    ),
    "a weight that is no number": (
        "pcl-tiny",
        ["stage.caption.tasks={caption=nan}"],
        "tasks.caption: got nan",
    ),
    "scene truth of a data set": (
        "own-finetune",
        ["stage.caption.tasks={matching=1}"],
        'data.source: got "dataset", wanted "pool" for the task matching',
    ),
    "features of drawn triples": (
        "pcl-tiny",
        POOL,
        'vision.kind: got "features", wanted another kind with data.source = "pool"',
    ),
    "detection on stored tokens": (
        "clevr-see",
        ["data.tokens=x"],
        "for the task detection, which reads pictures",
    ),
    "detection that nothing learns": (
        "clevr-see",
        ["stage.see.train_vision=false"],
        "train_vision: got false, wanted true for the task detection",
    ),
    "detection at no rate": (
        "clevr-see",
        ["stage.see.rates={vision = 0}"],
        "rates.vision: got 0.0, wanted a number above 0 for the task",
    ),
    "a vision alone that does not learn": (
        "clip4idc-tiny",
        [
            "vision.kind=objects",
            "vision.matching=true",
            *POOL,
            "stage.retrieval.tasks={matching=1}",
            "stage.retrieval.train_vision=false",
            "stage.caption.tasks={caption=1}",
        ],
        "stage.retrieval.train_vision: got false, wanted true: the tasks of this stage train nothing but",
    ),
    "nothing that learns": (
        "pcl-tiny",
        ["stage.caption.rates={method = 0}"],
        "wanted a rate above 0 for one of method: nothing is left",
    ),
    "a negative rate": (
        "clip4idc-tiny",
        ["stage.caption.rates={clip = -1}"],
        "rates.clip: got -1.0, wanted 0",
    ),
    "guided attention of masked words": (
        "clevr-pcl",
        ["method.every_word=false"],
        "vision.guided_attention: got tru",
    ),
    "aligned tokens without matches": (
        "clevr-scorer",
        UNMATCHED,
        "vision.aligned: got true, wanted false without vision.matching and vision.frozen",
    ),
    "aligned tokens of a vision that learns": (
        "clevr-scorer",
        ["vision.frozen=false"],
        "vision.aligned: got true, wanted false without vision.matching and vision.frozen",
    ),
    "aligned tokens for a method that needs no order": (
        "clevr-clip4idc",
        ["vision.aligned=true"],
        "vision.aligned: got true, wanted false: this method reads tokens in any order",
    ),
    "aligned tokens of all cells": ("clevr-scorer", ["vision.keep=0"], "vision.aligned: got true"),
    "a frozen vision that learns": (
        "clevr-clip4idc",
        ["stage.caption.train_vision=true"],
        "stage.caption.train_vision: got true, wanted false with vision.frozen",
    ),
    "a task of a frozen vision": (
        "clevr-clip4idc",
        ["stage.caption.tasks={caption=1, matching=1}"],
        'there is no task "matching". It trains the vision, which is frozen: set vision.frozen = false.',
    ),
    "SCORER on kept cells in any order": (
        "clevr-scorer",
        ["vision.aligned=false"],
        "vision.keep: got 16, wanted 0: SCORER compares the pictures cell by cell, so it needs all cells, or",
    ),
    "guided attention to subwords": ("clevr-pcl", ["data.merges=x"], "wanted false with data.merges"),
    "guided attention without truth": (
        "own-finetune",
        ["vision.guided_attention=true"],
        'wanted false without data.source = "pool"',
    ),
    "an exchange of a stage's common examples": (
        "clip4idc-tiny",
        ["stage.caption.exchange=true"],
        "stage.caption.exchange: got true, wanted false, unless",
    ),
    "an exchange of captions of all pairs": (
        "clip4idc-tiny",
        ["stage.caption.exchange=true", "stage.caption.examples=captions"],
        "exchange: got true",
    ),
    "only the changed pair of scenes": (
        "clip4idc-tiny",
        ["stage.caption.changed_only=true", "stage.caption.examples=scenes"],
        "stage.caption.changed_only: got true, wanted false with examples",
    ),
    "examples of no kind": ("clip4idc-tiny", ["stage.caption.examples=words"], 'got "words", wanted one of'),
    "a negative seed": ("pcl-tiny", ["seed=-1"], "seed: got -1, wanted 0 or more"),
    "no steps": (
        "pcl-tiny",
        ["stage.caption.steps=0"],
        "stage.caption.steps: got 0, wanted a number above 0",
    ),
    "a rate that is no number": ("pcl-tiny", ["stage.caption.lr=nan"], "stage.caption.lr: got nan"),
    "a rate without end": ("pcl-tiny", ["stage.caption.lr=inf"], "stage.caption.lr: got inf"),
    "a negative gradient norm": ("pcl-tiny", ["stage.caption.max_grad_norm=-1"], "max_grad_norm: got -1.0"),
    "a decay of moments of one": (
        "pcl-tiny",
        ["stage.caption.beta2=1"],
        "beta2: got 1.0, wanted a number from 0",
    ),
    "no ramp": (
        "pcl-tiny",
        ["stage.pretrain.warmup=0"],
        "stage.pretrain.warmup: got 0, wanted at least 1 with",
    ),
    "no stair": (
        "scorer-tiny",
        ["stage.train.schedule=stairs"],
        "stage.train.stair: got 0, wanted at least 1 with",
    ),
    "captions of three ids": (
        "pcl-tiny",
        ["method.max_length=3"],
        "method.max_length: got 3, wanted 4 to 100,000",
    ),
    "captions as long as books": (
        "scorer-tiny",
        ["method.max_length=1000000000"],
        "method.max_length: got 1000000000, wanted 4 to 100,000",
    ),
    "more layers than any model has": (
        "pcl-tiny",
        ["method.cross_layers=1000000"],
        "method.cross_layers: got 1000000, wanted a number above 0, at most 1,000",
    ),
    "more blocks than any backbone has": (
        "pcl-pixels",
        ["vision.blocks=1000000"],
        "vision.blocks: got 1000000, wanted 0 or more, at most 1,000",
    ),
    "a text model that reads books": (
        "clip4idc-tiny",
        ["method.context=1000000000"],
        "method.context: got 1000000000, wanted 4 to 100,000",
    ),
    "fewer pairs than none": (
        "pcl-tiny",
        ["data.validation=-1"],
        "data.validation: got -1, wanted 0 or more",
    ),
    "a shift out of the frame": (
        "pcl-pixels",
        ["data.shift=40"],
        "data.shift: got 40, wanted less than half of 80 pixels, the pictures' shorter side",
    ),
    "words that no caption can hold": (
        "pcl-pixels",
        ['data.mirror_unless=["left of"]'],
        'data.mirror_unless: got ["left of"], wanted single words as captions have them, without blanks',
    ),
    "a shift to nowhere": (
        "pcl-pixels",
        ["data.shift=-1"],
        "data.shift: got -1, wanted 0 or more",
    ),
    "fewer drawn pairs than none": (
        "clevr-see",
        ["data.validation=-1"],
        "data.validation: got -1, wanted 0 or more",
    ),
}


@pytest.mark.parametrize(("name", "overrides", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_or_would_fail_in_training_is_refused_on_load(name, overrides, message):
    assert message in refusal(name, overrides)


@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("own-finetune", ["vision.keep=600", "vision.blocks=0"]),
        ("own-finetune", ["stage.caption.evaluate_every=0", "stage.caption.patience=0"]),
        ("pcl-tiny", ["stage.caption.evaluate_from=30"]),
        ("pcl-tiny", ["stage.caption.tasks={mlm=1, caption=1e-9}"]),
        ("clip4idc-tiny", ["stage.caption.metric=R@1"]),
        ("clip4idc-tiny", ["stage.caption.rates={clip = 0, new = 0, captioner = 1}"]),
        ("clip4idc-tiny", [*POOL, "data.merges=x"]),
        ("pcl-pixels", ["stage.caption.rates={method = 0, vision = 2}"]),
        ("pcl-pixels", [*POOL, "data.augment=batches"]),
        ("pcl-pixels", [*POOL, "data.tokens=x", "stage.caption.train_vision=false"]),
        ("pcl-pixels", ["data.shift=39"]),
        ("clip4idc-tiny", ["data.shift=1"]),
        ("clevr-pcl", ["data.tokens=x"]),
        ("clevr-see", ["stage.see.tasks={detection=1, matching=1, mlm=1}", "stage.see.rates={method = 0}"]),
    ],
)
def test_the_last_settings_that_still_fit(name, overrides):
    load_recipe(name, overrides)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "stage.one.tasks={ caption = 1 }",
            'stage.one.data: got "single", wanted "pairs": only mlm, mvcl, fda',
        ),
        ("stage.two.evaluate_from=-1", "0 or more"),
        ("stage.two.tasks={ fgvc = 1 }", ""),
        ("vision.kind=patches", ""),
    ],
)
def test_single_and_labelled_pictures_are_for_the_tasks_that_read_them(override, message):
    if not message:
        assert parse_recipe(CROSS, "here", [override])
        return
    with pytest.raises(RecipeError) as raised:
        parse_recipe(CROSS, "here", [override])
    assert message in str(raised.value)


def test_single_and_labelled_pictures_lie_on_disk():
    pool = ["vision.kind=patches", "data.source=pool"]
    with pytest.raises(RecipeError, match=r'data\.source: got "pool", wanted "dataset"'):
        parse_recipe(CROSS, "here", pool)


@pytest.mark.parametrize("stage", ["one", "two"])
def test_cross_task_stages_need_the_method_that_reads_them(stage):
    plain = CROSS.replace('name = "pcl-cross-task"\nclasses = 3', 'name = "pcl"')
    if stage == "one":
        alone, message = plain.replace(", fgvc = 3", ""), 'stage.one.data: got "single", wanted "pairs"'
    else:
        alone, message = plain.replace('data = "single"\n', ""), 'there is no task "fgvc"'
    with pytest.raises(RecipeError) as raised:
        parse_recipe(alone, "here")
    assert message in str(raised.value)


def test_two_tasks_of_one_number_are_refused(monkeypatch):
    """They would draw the same examples. It can only happen with a method from another package."""
    from whatchanged.recipes.methods import Task
    from whatchanged.recipes.methods.pcl import PCLConfig

    monkeypatch.setattr(PCLConfig, "tasks", property(lambda _: {"mlm": Task(5), "caption": Task(5)}))
    with pytest.raises(RecipeError, match="numbers of their own: mlm, caption share one"):
        parse_recipe(MINIMAL, "here")
