"""From a recipe to its vision and its method."""

import contextlib
import resource

import pytest
import torch

from whatchanged.errors import RecipeError
from whatchanged.recipes import BackboneConfig, FeaturesConfig, ObjectsConfig, PatchesConfig
from whatchanged.recipes.reader import load_recipe, recipe_names
from whatchanged.training.build import build_vision, check_memory, make_method
from whatchanged.training.objects.tokens import ObjectVision
from whatchanged.training.vision.backbone import BackboneVision
from whatchanged.training.vision.features import StoredFeatures
from whatchanged.training.vision.patches import PatchVision
from whatchanged.vocabulary import Vocabulary

SIZE = {"image_width": 48, "image_height": 32}


@pytest.mark.parametrize(
    ("config", "kind", "patches"),
    [
        (FeaturesConfig(rows=3, columns=2, feature_width=5), StoredFeatures, 6),
        (PatchesConfig(**SIZE, patch=16), PatchVision, 6),
        (BackboneConfig(**SIZE), BackboneVision, 24),
        (ObjectsConfig(**SIZE, keep=7), ObjectVision, 7),
        (ObjectsConfig(**SIZE, keep=0), ObjectVision, 24),
    ],
)
def test_each_kind_of_vision_is_built(config, kind, patches):
    vision = build_vision(config)
    assert type(vision) is kind and vision.patches == patches
    assert any(True for _ in vision.parameters()) == config.learns
    assert vision.tasks.keys() == config.tasks.keys()
    assert config.keeps_every_cell == (vision.patches == vision.rows * vision.columns)


def test_a_recipe_and_its_method_name_the_same_tasks():
    """At toy size, one recipe of each method; what a recipe accepts can be trained, and nothing more."""
    vocabulary = Vocabulary.from_captions(["a cube moved"])
    for name in (
        "pcl-tiny",
        "pcl-table5-4-b2w-cub-nabirds",
        "scorer-tiny",
        "clip4idc-tiny",
        "clip4idc-tiny-ft1",
        "duda-tiny",
        "dirl-tiny",
    ):
        recipe = load_recipe(name, ["method.classes=6"] if "nabirds" in name else [])
        assert make_method(recipe, vocabulary).tasks.keys() == recipe.tasks.keys(), name


def test_a_method_is_initialised_from_the_global_generator():
    recipe, vocabulary = load_recipe("pcl-tiny"), Vocabulary.from_captions(["a cube moved"])
    states = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        states.append(make_method(recipe, vocabulary).state_dict())
    one, same, other = states
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["output.weight"], other["output.weight"])
    assert one["output.weight"].shape[0] == len(vocabulary) == 9


def test_a_method_that_no_memory_holds_is_refused_before_it_is_built(monkeypatch):
    """Four numbers of four bytes a weight; one layer of 65,536 x 65,536 weights alone takes 68 GB."""
    vocabulary = Vocabulary.from_captions(["a cube moved"])
    recipe = load_recipe("pcl-tiny", ["method.width=65536", "method.ffn=65536"])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(RecipeError, match=r"needs [\d,.]+ GB of memory .* Choose smaller widths"):
        check_memory(recipe, vocabulary)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes
    small = load_recipe("pcl-tiny")
    weights = sum(parameter.nbytes for parameter in make_method(small, vocabulary).parameters())
    check_memory(small, vocabulary)
    for room, refused in ((4 * weights, False), (4 * weights - 1, True)):
        monkeypatch.setattr("os.sysconf", {"SC_PHYS_PAGES": room, "SC_PAGE_SIZE": 1}.get)
        with pytest.raises(RecipeError) if refused else contextlib.nullcontext():
            check_memory(small, vocabulary)


def test_every_shipped_recipe_names_a_vision_that_can_be_built():
    with torch.device("meta"):  # weights are shapes alone
        kinds = {type(build_vision(load_recipe(name).vision)) for name in recipe_names()}
    assert kinds == {StoredFeatures, PatchVision, BackboneVision, ObjectVision}
