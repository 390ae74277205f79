import pytest
from support.recipe_texts import MINIMAL

from whatchanged.errors import PluginError, RecipeError
from whatchanged.recipes import BackboneConfig, DatasetConfig, FeaturesConfig, PatchesConfig, PoolConfig
from whatchanged.recipes.building import typed
from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.recipes.methods.pcl_cross_task import PCLCrossTaskConfig
from whatchanged.recipes.reader import parse_recipe
from whatchanged.recipes.schema import Recipe, StageConfig
from whatchanged.recipes.tables import find_method, method_names


def test_defaults_fill_what_a_recipe_leaves_out():
    assert parse_recipe(MINIMAL, "mini") == Recipe(
        "mini", "d", (StageConfig("caption", {"caption": 1.0}, 3, 8, 1e-3),), PCLConfig()
    )


@pytest.mark.parametrize(
    ("table", "config"),
    [
        ("[vision]\n", FeaturesConfig()),
        ("[vision]\nrows = 2\n", FeaturesConfig(rows=2)),
        ('[vision]\nkind = "patches"\npatch = 16\n', PatchesConfig(patch=16)),
        ('[vision]\nkind = "backbone"\nchannels = [1, 2, 3]\n', BackboneConfig(channels=(1, 2, 3))),
    ],
)
def test_the_kind_of_a_vision_says_which_keys_it_has(table, config):
    assert parse_recipe(MINIMAL.replace("[[stages]]", table + "[[stages]]"), "mini").vision == config


def test_the_source_of_data_says_which_keys_they_have():
    text = MINIMAL.replace("[[stages]]", "[data]\nvalidation = 3\n[[stages]]")
    assert parse_recipe(text, "mini").data == DatasetConfig(validation=3)
    pool = '[vision]\nkind = "patches"\n[data]\nsource = "pool"\nordered_pairs = "all"\n[[stages]]'
    assert parse_recipe(MINIMAL.replace("[[stages]]", pool), "mini").data == PoolConfig(ordered_pairs="all")


def test_a_method_is_found_by_its_name():
    assert find_method("pcl-cross-task", "here") is PCLCrossTaskConfig
    assert {"pcl", "pcl-cross-task", "scorer", "clip4idc"} <= set(method_names())
    with pytest.raises(
        RecipeError, match=r"here: method\.name: there is no method \"pcll\"\. Did you mean pcl\?"
    ):
        find_method("pcll", "here")


def test_whole_numbers_pass_as_numbers_and_lists_as_tuples():
    assert typed(float, 3, "here", "x") == 3.0 and type(typed(float, 3, "here", "x")) is float
    assert typed(tuple[int, ...], [1, 2], "here", "x") == (1, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("steps = 3", "stepps = 3"), "unknown key stage.caption.stepps. Did you mean steps?"),
        (("lr = 1e-3", "learning_rate = 1e-3"), "unknown key stage.caption.learning_rate. Did you mean lr?"),
        (("steps = 3", "zzz = 3"), "unknown key stage.caption.zzz. Known: name, tasks, steps,"),
        (("steps = 3", ""), "key stage.caption.steps is missing. Add it to the recipe."),
        (("steps = 3", "steps = 3.5"), "stage.caption.steps: got 3.5, wanted a whole number."),
        (("steps = 3", "steps = true"), "stage.caption.steps: got true, wanted a whole number."),
        (("steps = 3", "steps = 1979-05-27"), "stage.caption.steps: got datetime.date(1979, 5, 27), wanted"),
        (("lr = 1e-3", 'lr = "fast"'), 'stage.caption.lr: got "fast", wanted a number.'),
        (("lr = 1e-3", 'lr = 1e-3\nschedule = "cosin"'), "Did you mean cosine?"),
        (("lr = 1e-3", "lr = 1e-3\nschedule = 3"), "schedule: got 3, wanted one of constant, inverse_sqrt,"),
        (("lr = 1e-3", "lr = 1e-3\nrates = 3"), "rates: got 3, wanted a table, each entry a number."),
        (("lr = 1e-3", 'lr = 1e-3\nrates = { method = "x" }'), 'rates.method: got "x", wanted a number.'),
        (("tasks = { caption = 1 }", "tasks = 1"), "tasks: got 1, wanted a table, each entry a number."),
        (("[[stages]]", "[vision]\nrows = [1]\n[[stages]]"), "vision.rows: got [1], wanted a whole number."),
        (
            ("[[stages]]", '[vision]\nkind = "backbone"\nchannels = [1, 2.5]\n[[stages]]'),
            "vision.channels: got 2.5, wanted a whole number.",
        ),
        (
            ("[[stages]]", '[vision]\nkind = "patchs"\n[[stages]]'),
            'vision.kind: got "patchs", wanted one of features, patches, backbone, objects. Did you',
        ),
        (("[[stages]]", "[vision]\nkind = 3\n[[stages]]"), "vision.kind: got 3, wanted one of features,"),
        (
            ("[[stages]]", "[vision]\nscene_truth = true\n[[stages]]"),
            'unknown key vision.scene_truth. It is gone: vision.kind = "objects" learns from the truth of',
        ),
        (("[[stages]]", "[data]\nvary = 3\n[[stages]]"), "unknown key data.vary. Known: source, path,"),
        (("[[stages]]", "[methd]\nwidth = 30\n[[stages]]"), "unknown key methd. Did you mean method?"),
        (('name = "pcl"', 'name = ["x"]'), 'method.name: there is no method ["x"]. Known: pcl,'),
        (('name = "pcl"', 'name = "pcl-birds"'), "Did you mean pcl-cross-task?"),
        (('name = "pcl"', "width = 32"), "key method.name is missing. Choose among: pcl, pcl-cross-task,"),
        (('[method]\nname = "pcl"', "method = 3"), "method: got 3, wanted a table of settings."),
        (
            ('name = "pcl"', 'name = "pcl"\nguided_attention = true'),
            "unknown key method.guided_attention. It is vision.guided_attention now",
        ),
        (
            ('description = "d"', 'description = "d"\nvision = 3'),
            "vision: got 3, wanted a table of settings.",
        ),
    ],
)
def test_a_mistake_is_named_with_file_key_and_remedy(change, message):
    with pytest.raises(RecipeError) as raised:
        parse_recipe(MINIMAL.replace(*change), "my.toml")
    assert str(raised.value).startswith("my.toml: ")
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("key", "chosen", "owners", "settings"),
    [
        ("vision.patch = 16", "", '"patches"', "kind, rows, columns, feature_width"),
        ("vision.rows = 99", "patches", '"features"', "kind, image_width, image_height, patch"),
        ("vision.blocks = 2", "patches", '"backbone", "objects"', "kind, image_width, image_height, patch"),
    ],
)
def test_a_key_of_another_kind_is_answered_with_its_kind_and_the_settings_that_there_are(
    key, chosen, owners, settings
):
    kind = f'vision.kind = "{chosen}"\n' if chosen else ""
    text = MINIMAL.replace('description = "d"', f'description = "d"\n{kind}{key}')
    with pytest.raises(RecipeError) as raised:
        parse_recipe(text, "my.toml")
    name, kind = key.split()[0], chosen or "features"
    assert str(raised.value) == (
        f'my.toml: {name} has no effect with vision.kind = "{kind}": it is a setting of {owners}.'
        f" Leave it out, or choose among: {settings}."
    )


@pytest.mark.parametrize("stages", ["3", "[]", '"abc"', "{ one = 1 }"])
def test_stages_are_a_list_of_tables(stages):
    text = f'name = "a"\ndescription = "b"\nstages = {stages}\n[method]\nname = "pcl"\n'
    with pytest.raises(RecipeError, match=r"^mine: stages: got .*, wanted at least one \[\[stages\]\] table"):
        parse_recipe(text, "mine")
    text = text.replace(f"stages = {stages}", "stages = [3]")
    with pytest.raises(RecipeError, match=r"^mine: stage\.0: got 3, wanted a table of settings"):
        parse_recipe(text, "mine")


def test_two_stages_of_one_name_are_refused():
    with pytest.raises(RecipeError, match=r'two stages are called "caption"\. Rename one of them'):
        parse_recipe(MINIMAL + MINIMAL[MINIMAL.index("[[stages]]") :], "f")


def test_settings_of_a_plug_in_without_tasks_are_refused_with_its_package(site):
    code = (
        "from whatchanged.recipes.methods import MethodSettings\nclass Settings(MethodSettings): name = 'toy'"
    )
    site.install("toy-method", {"whatchanged.methods": {"toy": "toys:Settings"}}, toys=code)
    with pytest.raises(
        PluginError, match=r"method 'toy' of toy-method 1\.5 .*TypeError: Settings lacks tasks"
    ):
        find_method("toy")
