import pytest
from support.recipe_texts import MINIMAL

from whatchanged.errors import RecipeError
from whatchanged.recipes import BackboneConfig, DatasetConfig, PatchesConfig, PoolConfig
from whatchanged.recipes.methods.scorer import ScorerConfig
from whatchanged.recipes.reader import load_recipe, parse_recipe


def test_overrides_are_typed_by_the_schema():
    overrides = [
        "stage.caption.lr=1e-4",
        "stages.pretrain.schedule=cosine",
        "method.width=64",
        "data.path=/a b/c",
        "data.features=",
        "stage.pretrain.tasks={mlm = 1, mvcl = 2, fda = 1}",
        "stage.caption.tasks.mlm=3",
        "seed=9",
        " method.difference_encoder = false",
    ]
    recipe = load_recipe("pcl-tiny", overrides)
    pretrain, caption = recipe.stages
    assert caption.lr == 1e-4
    assert (pretrain.schedule, dict(pretrain.tasks)) == ("cosine", {"mlm": 1.0, "mvcl": 2.0, "fda": 1.0})
    assert dict(caption.tasks) == {"caption": 1.0, "mlm": 3.0}
    assert (recipe.method.width, recipe.data.path, recipe.data.features) == (64, "/a b/c", "")
    assert (recipe.seed, recipe.method.difference_encoder) == (9, False)


def test_lists_and_quoted_strings_are_read_as_toml():
    recipe = load_recipe("pcl-pixels", ["vision.channels=[4, 8, 8]", 'data.path="a # b"'])
    assert (recipe.vision.channels, recipe.data.path) == ((4, 8, 8), "a # b")


def test_a_value_cannot_smuggle_in_a_second_setting():
    recipe = load_recipe("pcl-tiny", ["data.path=1\nseed = 3"])
    assert (recipe.seed, recipe.data.path) == (7, "1\nseed = 3")


def test_another_kind_drops_what_the_file_says_for_its_own_kind_alone():
    assert load_recipe("pcl-tiny", ["vision.kind=patches"]).vision == PatchesConfig()
    # of a backbone a picture's size remains, as squares have it too
    square = load_recipe("pcl-pixels", ["vision.patch=8", "vision.kind=patches"]).vision
    assert square == PatchesConfig(image_width=128, image_height=80, patch=8)
    assert load_recipe("own-finetune", ["vision.kind=backbone"]).vision == BackboneConfig(
        channels=(24, 48, 96)
    )


def test_another_source_drops_what_the_file_says_for_its_own_source_alone():
    pool = load_recipe("pcl-pixels", ["data.source=pool"]).data
    assert pool == PoolConfig(validation=64)
    listed = load_recipe(
        "clevr-pcl",
        [
            "data.source=dataset",
            "data.preparation=levir",
            "vision.guided_attention=false",
            "stage.match.tasks={mlm = 1}",
            "stage.pretrain.tasks={fda = 1}",
            "stage.caption.tasks={caption = 1}",
        ],
    )
    assert listed.data == DatasetConfig(wording="clear", preparation="levir", validation=800)


def test_another_method_drops_what_the_file_says_for_its_own_method_alone():
    method = load_recipe("pcl-table4-1-none", ["method.name=scorer"]).method
    assert method == ScorerConfig(width=512, heads=8, dropout=0.2, max_length=40)


def test_a_misspelt_key_of_the_file_is_reported_with_another_kind_too():
    text = MINIMAL.replace("[[stages]]", "[vision]\nrowws = 3\nrows = 2\n[[stages]]")
    with pytest.raises(RecipeError, match=r"mine: unknown key vision\.rowws"):
        parse_recipe(text, "mine", ["vision.kind=backbone"])


def test_keys_of_another_kind_are_refused_beside_the_kind():
    with pytest.raises(RecipeError, match=r'vision\.rows has no effect with vision\.kind = "patches"'):
        load_recipe("pcl-tiny", ["vision.rows=4", "vision.kind=patches"])


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("lr", "--set lr: wanted KEY=VALUE, for example stage.caption.lr=1e-4"),
        ("=3", "--set =3: wanted KEY=VALUE"),
        ("stage.captions.lr=1", "one of the stages pretrain, caption. Did you mean caption?"),
        ("stage.caption=1", "wanted stage.NAME.KEY with one of the stages pretrain, caption."),
        ("stage.caption.learning_rate=1", "unknown key stage.caption.learning_rate. Did you mean lr?"),
        ("method.width=wide", 'method.width: got "wide", wanted a whole number'),
        ("method.wdth=3", "unknown key method.wdth. Did you mean width?"),
        ("method.name=scorrer", 'method.name: there is no method "scorrer". Did you mean scorer?'),
        (
            "vision.kind=pixels",
            'vision.kind: got "pixels", wanted one of features, patches, backbone, objects',
        ),
        ("data.source=3", "data.source: got 3, wanted one of dataset, pool"),
        ("seed.x=3", "--set seed.x=3: seed holds a value, not a table of settings"),
        ("method=3", "method: got 3, wanted a table of settings"),
    ],
)
def test_a_wrong_override_is_refused(override, message):
    with pytest.raises(RecipeError) as raised:
        load_recipe("pcl-tiny", [override])
    assert message in str(raised.value)


def test_stages_that_are_no_list_are_refused_with_an_override_too():
    for stages in ("3", '"abc"', "{ one = 1 }"):
        text = f'name = "a"\ndescription = "b"\nstages = {stages}\n[method]\nname = "pcl"\n'
        with pytest.raises(RecipeError, match=r"^mine: stages: got .*, wanted at least one \[\[stages\]\]"):
            parse_recipe(text, "mine", ["stage.o.lr=1"])
