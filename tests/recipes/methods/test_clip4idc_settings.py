import pytest
from support.recipe_texts import MINIMAL

from whatchanged.errors import RecipeError
from whatchanged.recipes.methods.clip4idc import CLIP4IDCConfig
from whatchanged.recipes.reader import load_recipe, parse_recipe

CLIP = MINIMAL.replace('name = "pcl"', 'name = "clip4idc"')


@pytest.mark.parametrize(
    ("variant", "tasks"),
    [("clip4idc", {"retrieval": 7, "caption": 5}), ("ft1", {"caption": 5}), ("ft2", {"caption": 5})],
)
def test_the_baselines_have_no_retrieval(variant, tasks):
    method = CLIP4IDCConfig(variant=variant)
    assert {name: task.number for name, task in method.tasks.items()} == tasks
    assert method.embeds_captions is (variant == "clip4idc")


def test_a_caption_keeps_its_two_marks():
    assert CLIP4IDCConfig(max_words=32, max_length=20).longest_caption() == 30


@pytest.mark.parametrize(
    ("variant", "tasks", "groups"),
    [
        ("clip4idc", ["retrieval"], ("clip", "new")),
        ("clip4idc", ["caption"], ("clip", "new", "captioner")),
        ("clip4idc", ["matching"], ()),
        ("ft1", ["caption"], ("clip", "captioner")),
    ],
)
def test_the_groups_that_tasks_train(variant, tasks, groups):
    assert CLIP4IDCConfig(variant=variant).groups(tasks) == groups


@pytest.mark.parametrize(
    ("method", "task", "message"),
    [
        (
            "text_width = 30",
            "caption",
            "method.text_width: got 30, wanted a multiple of method.text_heads (8)",
        ),
        (
            "decoder_heads = 3",
            "caption",
            "method.decoder_width: got 512, wanted a multiple of method.decoder_h",
        ),
        ("decoder_width = 768", "caption", "method.decoder_width: got 768, wanted method.text_width (512)"),
        (
            'preset = "paper"\nvariant = "ft1"\ndecoder_width = 768',
            "caption",
            "wanted method.text_width (512)",
        ),
        ("max_words = 78", "caption", "method.max_words: got 78, wanted 3 to method.context (77)"),
        ("max_length = 79", "caption", "method.max_length: got 79, wanted at most method.context + 1 (78)"),
        ("inter_layers = -1", "caption", "method.inter_layers: got -1, wanted 0 or more"),
        ("intra_layers = 0", "caption", "method.intra_layers: got 0, wanted a number above 0"),
        (
            'variant = "ft1"',
            "retrieval",
            'stage.caption.tasks: there is no task "retrieval". Known: caption.',
        ),
        ("", "fda", 'stage.caption.tasks: there is no task "fda". Known: retrieval, caption.'),
        ('variant = "ft3"', "caption", "Did you mean ft"),
        (
            'variant = "ft2"\ntext_layers = 2\ntext_heads = 4',
            "caption",
            "method.text_heads = 4, method.text_layers = 2 have no effect without a text tower",
        ),
        ('preset = "paper"\nfreeze = false', "caption", 'has no effect without method.preset = "authors"'),
        (
            "freeze = false\ntrain_words = true",
            "caption",
            "method.train_words = true has no effect without a froz",
        ),
        (
            'variant = "ft2"\ntrain_words = true',
            "caption",
            "method.train_words = true has no effect without a froz",
        ),
        (
            "train_words = true",
            "retrieval",
            "method.train_words = true has no effect without a stage with the task",
        ),
        (
            "dropout = 0.2",
            "retrieval",
            "method.dropout = 0.2 has no effect without a stage with the task caption",
        ),
    ],
)
def test_what_clip4idc_cannot_be_or_does_not_use(method, task, message):
    text = CLIP.replace('name = "clip4idc"', f'name = "clip4idc"\n{method}').replace(
        "{ caption", f"{{ {task}"
    )
    with pytest.raises(RecipeError) as raised:
        parse_recipe(text, "my.toml")
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("name", "overrides", "expected"),
    [
        ("clip4idc-clevr-authors", [], "keeps tables and first layers as they are (method.freeze)"),
        ("clip4idc-clevr-paper", [], "moves the rest at 1e-07 in stage retrieval"),
        ("clip4idc-tiny", [], ""),
        ("clip4idc-tiny", ["stage.caption.rates={clip = 0}"], "leaves CLIP's part as it is in stage caption"),
    ],
)
def test_a_recipe_that_counts_on_published_weights_says_why(name, overrides, expected):
    recipe = load_recipe(name, overrides)
    found = recipe.method.expects_weights(recipe)
    assert expected in found and bool(expected) == bool(found)


def test_rates_are_read_and_dumped():
    recipe = load_recipe("clip4idc-tiny", ["stage.caption.rates={clip = 0, new = 2}"])
    assert recipe.stages[1].rates == {"clip": 0.0, "new": 2.0}
