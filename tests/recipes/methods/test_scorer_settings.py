import pytest

from whatchanged.errors import RecipeError
from whatchanged.recipes.reader import load_recipe

SUBTRACT = ["method.difference=subtract", "method.view_weight=0"]
AUTHORS = ["method.preset=authors"]


def test_there_is_one_task():
    tasks = load_recipe("scorer-tiny").tasks
    assert {name: task.number for name, task in tasks.items()} == {"caption": 5}


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["method.view_weight=-1"], "method.view_weight: got -1.0, wanted 0 or more"),
        (
            ["method.difference=subtract"],
            'method.view_weight: got 0.1, wanted 0 with method.difference = "subtract"',
        ),
        (["method.difference=subtract"], "--set method.view_weight=0"),
        (
            SUBTRACT,
            'method.layers = 1 has no effect without method.difference = "reconstruct". Leave it out, or'
            " set the default: --set method.layers=2",
        ),
        (
            ["method.layers=0"],
            'method.layers: got 0, wanted a number above 0 with method.difference = "reconst',
        ),
        (["method.layers=-1"], "method.layers: got -1, wanted 0 or more"),
        (["method.word_width=7"], "method.word_width: got 7, wanted an even number"),
        (
            ["method.width=20", "method.heads=3"],
            "method.width: got 20, wanted a multiple of method.heads (3)",
        ),
        (["method.width=27", "method.heads=3"], "method.width: got 27, wanted an even number"),
        (
            ["method.repaired=['mean_sentence']"],
            'method.repaired = ["mean_sentence"] has no effect without method.preset = "authors"',
        ),
        (
            [*AUTHORS, "method.repaired=['mean_sentence']", "method.reason_weight=0"],
            "has no effect without method.reason_weight above 0",
        ),
        ([*AUTHORS, "method.repaired=['mean_sentence', 'mean_sentence']"], "wanted each name once"),
        (
            ["method.repaired=true"],
            "method.repaired: got true, wanted a list, each entry one of train_reasoning",
        ),
        (["method.repaired=['mean_sentense']"], "Did you mean mean_sentence?"),
        (["method.temperature=0"], "method.temperature: got 0.0, wanted a number above 0"),
        ([*AUTHORS, "method.temperature=0.5"], 'got 0.5, wanted 1 with method.preset = "authors"'),
        (
            ["method.temperature=0.5", "method.view_weight=0", "method.reason_weight=0"],
            "method.temperature = 0.5 has no effect without method.view_weight or method.reason_weight",
        ),
        (["method.ffn=3"], "unknown key method.ffn. Known: name, preset,"),
        (["stage.train.tasks={mlm = 1}"], 'stage.train.tasks: there is no task "mlm". Known: caption.'),
        (["vision.kind=objects"], "vision.keep: got 24, wanted 0: SCORER compares the pictures cell by cell"),
        (["data.examples=pairs"], "data.exchange: got true, wanted false"),
    ],
)
def test_what_scorer_cannot_be_or_does_not_use(overrides, message):
    with pytest.raises(RecipeError) as raised:
        load_recipe("scorer-tiny", overrides)
    assert message in str(raised.value)


@pytest.mark.parametrize("idle", ["method.view_weight=0.2", "method.temperature=0.5", "method.dropout=0.3"])
def test_without_captioning_its_losses_are_idle(idle):
    detecting = [
        "vision.kind=objects",
        "vision.keep=0",
        "data.source=pool",
        "stage.train.tasks={detection=1}",
        "stage.train.evaluate_every=0",
        idle,
    ]
    with pytest.raises(RecipeError, match="has no effect without a stage with the task caption"):
        load_recipe("scorer-tiny", detecting)


def test_what_scorer_can_be():
    assert load_recipe("scorer-tiny", ["method.temperature=0.5"]).method.temperature == 0.5
    row = load_recipe("scorer-tiny", [*SUBTRACT, "method.layers=2"]).method
    assert (row.difference, row.view_weight, row.layers) == ("subtract", 0, 2)
    mended = load_recipe("scorer-tiny", [*AUTHORS, "method.repaired=['mean_sentence']"]).method
    assert mended.repaired == ("mean_sentence",)
    assert load_recipe("scorer-tiny", ["vision.kind=objects", "vision.keep=0"]).vision.keeps_every_cell
    assert load_recipe("scorer-tiny", ["vision.kind=backbone"]).vision.kind == "backbone"
