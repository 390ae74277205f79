"""Where each stage and task gets its examples from, and what a kind of data cannot give."""

from dataclasses import replace

import pytest

from whatchanged.errors import RecipeError
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.build import open_sources
from whatchanged.training.data.sources import Sources
from whatchanged.training.objects.pool_source import open_pool
from whatchanged.vocabulary import Vocabulary


def test_drawn_captions_take_no_preparation():
    with pytest.raises(RecipeError, match=r"data\.preparation has no effect with data\.source = .pool."):
        load_recipe("clevr-see", ["data.preparation=ier"])


def test_a_pool_has_no_single_pictures():
    settings = ["data.source=pool", "vision.kind=patches", "stage.caption.data=single"]
    stage = "stage.caption.tasks={ mlm = 1 }"
    with pytest.raises(RecipeError, match=r'stage\.caption\.data: got "single", wanted "pairs"'):
        load_recipe("pcl-tiny", [*settings, stage])


def test_a_data_set_is_no_pool(recipe, tmp_path):
    with pytest.raises(RecipeError, match="is no pool"):
        open_pool(recipe, tmp_path)


def test_each_stage_and_task_reads_what_is_meant_for_it():
    recipe = load_recipe("pcl-table5-4-b2w-cub-nabirds", ["method.classes=6"])
    pairs, single, labelled, own = ([name] for name in ("pairs", "single", "labelled", "own"))
    vocabulary = Vocabulary.from_captions([])
    sources = Sources(pairs, pairs, vocabulary, single=single, labelled=labelled, own={"own": own})
    stage = replace(recipe.stages[0], tasks={"mlm": 1.0, "fgvc": 1.0, "fda": 1.0})
    for one, wanted in (
        (replace(stage, name="any", data="pairs"), pairs),
        (replace(stage, name="any", data="single"), single),
        (replace(stage, name="own", data="pairs"), own),
    ):
        results = sources.of(one, recipe.tasks)
        assert results["fgvc"] is labelled and results["mlm"] is results["fda"] is wanted
        assert replace(sources, labelled=None).of(one, recipe.tasks)["mlm"] is wanted


def test_merges_replace_the_words_of_a_source(recipe, tmp_path):
    merges = tmp_path / "merges.txt"
    merges.write_text("#version: 0.2\nt h\nth e</w>\n")
    found = open_sources(recipe, tmp_path / "run")
    words = found.vocabulary
    pieces = open_sources(replace(recipe, data=replace(recipe.data, merges=str(merges))), tmp_path / "run")
    assert found.longest_caption > 6 and pieces.longest_caption == 0  # counted in words
    assert "the</w>" in pieces.vocabulary.entries and "the</w>" not in words.entries
