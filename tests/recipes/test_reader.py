from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recipe_texts import MINIMAL

from whatchanged.errors import RecipeError
from whatchanged.recipes import (
    BackboneConfig,
    DatasetConfig,
    FeaturesConfig,
    ObjectsConfig,
    PatchesConfig,
    PoolConfig,
)
from whatchanged.recipes.methods.pcl import PCLConfig
from whatchanged.recipes.methods.scorer import ScorerConfig
from whatchanged.recipes.reader import (
    load_recipe,
    parse_recipe,
    parse_saved_recipe,
    recipe_names,
    recipe_text,
)
from whatchanged.recipes.schema import Recipe, StageConfig
from whatchanged.recipes.values import dump_recipe

OLD = Path(__file__).parent / "old"


def test_every_recipe_of_the_package_loads_under_its_own_name():
    names = recipe_names()
    assert {"pcl-clevr-paper", "pcl-clevr-authors", "pcl-tiny", "clevr-pcl"} < set(names)
    assert list(names) == sorted(names)
    for name in names:
        assert load_recipe(name).name == name


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_of_the_package_begins_by_saying_what_it_is_for(name):
    head = recipe_text(name).partition("\nname = ")[0]
    assert all(line.startswith("#") for line in head.strip().splitlines())
    assert "whatchanged train " in recipe_text(load_base(name) if name == "clevr-pcl" else name)


def load_base(name):
    return recipe_text(name).partition('base = "')[2].partition('"')[0]


def test_a_recipe_is_read_from_a_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(MINIMAL)
    assert load_recipe(file, ["seed=3"]) == parse_recipe(MINIMAL, "mine", ["seed=3"])


def test_a_recipe_that_is_not_there_is_answered_with_those_that_are(tmp_path):
    with pytest.raises(RecipeError, match=r"pcl-tin: no such recipe.* Did you mean pcl-tiny\?.* lists them"):
        load_recipe("pcl-tin")
    with pytest.raises(RecipeError, match=r"no such recipe, and no \.toml file"):
        load_recipe(tmp_path / "nothing.toml")


def test_a_file_that_is_no_text_or_no_toml_is_refused(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(RecipeError, match=r"mine\.toml: cannot read the recipe"):
        load_recipe(file)
    file.write_text("a = ")
    with pytest.raises(RecipeError, match=r"mine\.toml: not a TOML file"):
        load_recipe(file)


def test_a_mark_at_the_beginning_of_a_file_is_no_part_of_it(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(recipe_text("pcl-tiny"), encoding="utf-8-sig")
    assert load_recipe(file) == load_recipe("pcl-tiny")


def test_a_base_fills_what_a_recipe_leaves_out():
    text = MINIMAL.replace('description = "d"', 'description = "d"\nbase = "pcl-tiny"')
    recipe, base = parse_recipe(text, "mine"), load_recipe("pcl-tiny")
    assert (recipe.method, recipe.vision, recipe.data) == (base.method, base.vision, base.data)
    assert (recipe.name, recipe.seed) == ("mini", base.seed)
    assert [stage.name for stage in recipe.stages] == ["caption"]
    one = parse_recipe(text.replace('name = "pcl"', "heads = 2"), "mine")
    assert (one.method.heads, one.method.width) == (2, base.method.width)


def test_a_table_of_another_kind_than_the_bases_stands_alone():
    text = MINIMAL.replace('description = "d"', 'description = "d"\nbase = "pcl-tiny"')
    other = parse_recipe(text.replace("[[stages]]", '[vision]\nkind = "patches"\n[[stages]]'), "mine")
    assert other.vision == PatchesConfig() and other.data == load_recipe("pcl-tiny").data


def test_a_base_that_is_not_there_is_refused():
    text = MINIMAL.replace('description = "d"', 'description = "d"\nbase = "pcl-tin"')
    with pytest.raises(RecipeError, match=r'base: there is no recipe "pcl-tin"\. Did you mean pcl-tiny\?'):
        parse_recipe(text, "mine")
    with pytest.raises(RecipeError, match="base: there is no recipe 3"):
        parse_recipe(text.replace('"pcl-tin"', "3"), "mine")


@pytest.mark.parametrize("name", recipe_names())
def test_a_resolved_recipe_reads_back_as_itself_without_its_base(name):
    recipe = load_recipe(name)
    text = dump_recipe(recipe)
    assert "base" not in text.splitlines()[0:4]
    assert parse_recipe(text, "dump") == recipe == parse_saved_recipe(text, "dump")


texts = st.text(st.characters(codec="utf-8"), max_size=12)
weights = st.floats(1e-6, 1e6)
stages = st.builds(
    StageConfig,
    name=texts,
    tasks=st.dictionaries(st.sampled_from(["caption"]), weights, min_size=1),
    steps=st.integers(1, 10**7),
    batch=st.integers(7, 1000),
    lr=st.floats(1e-12, 10),
    max_grad_norm=st.floats(0, 100),
    schedule=st.sampled_from(["constant", "halving", "cosine"]),
    rates=st.dictionaries(st.sampled_from(["method"]), st.floats(1e-9, 1e6)),
)
visions = st.one_of(
    st.builds(FeaturesConfig, rows=st.integers(1, 99)),
    st.just(PatchesConfig()),
    st.builds(BackboneConfig, channels=st.tuples(*3 * [st.integers(1, 99)])),
    st.just(ObjectsConfig(keep=0, matching=True)),
)


@given(
    st.builds(
        Recipe,
        name=texts,
        description=texts,
        stages=st.lists(stages, min_size=1, max_size=3, unique_by=lambda s: s.name).map(tuple),
        seed=st.integers(0, 2**31),
        method=st.sampled_from(
            [PCLConfig(), ScorerConfig(), ScorerConfig(preset="authors", repaired=("mean_sentence",))]
        ),
        vision=visions,
        data=st.builds(DatasetConfig, path=texts) | st.just(PoolConfig(path="p", ordered_pairs="all")),
    ).filter(lambda r: not (isinstance(r.vision, FeaturesConfig) and isinstance(r.data, PoolConfig)))
)
def test_a_dumped_recipe_reads_back_as_itself(recipe):
    assert parse_recipe(dump_recipe(recipe), "dump") == recipe


def test_a_saved_recipe_may_hold_what_is_refused_today():
    """It ran once. A check that came later must not make its weights unreadable."""
    text = dump_recipe(load_recipe("pcl-tiny")).replace("patience = 0", "patience = 3")
    with pytest.raises(RecipeError, match=r"stage\.pretrain\.patience = 3 has no effect"):
        parse_recipe(text, "run")
    assert parse_saved_recipe(text, "run").stages[0].patience == 3


def test_the_recipe_of_an_earlier_versions_run_is_not_gone_on_with():
    text = (OLD / "clevr-pcl.toml").read_text()
    with pytest.raises(RecipeError, match=r"run/recipe\.toml: .* earlier version .*--init"):
        parse_recipe(text, "run/recipe.toml")
