from dataclasses import replace

import pytest
from data_settings import with_data

from whatchanged.errors import RecipeError
from whatchanged.training.data.sources import Sources, open_sources
from whatchanged.vocabulary import Vocabulary


def test_drawn_captions_take_no_preparation(recipe, tmp_path):
    with pytest.raises(RecipeError, match='"ier" is for captions on disk'):
        open_sources(with_data(recipe, source="pool", preparation="ier"), tmp_path)


def test_a_pool_has_no_single_pictures(recipe, tmp_path):
    last = replace(recipe.stages[-1], data="single")
    pool = replace(with_data(recipe, source="pool"), stages=(*recipe.stages[:-1], last))
    with pytest.raises(RecipeError, match=f"stage {last.name} reads single pictures .*a pool has none"):
        open_sources(pool, tmp_path)


def test_each_stage_and_task_reads_what_is_meant_for_it(recipe):
    pairs, single, labelled, own = ([name] for name in ("pairs", "single", "labelled", "own"))
    sources = Sources(pairs, pairs, Vocabulary.from_captions([]), single, labelled, {"own": own})
    stage = recipe.stages[0]
    for one, wanted in (
        (replace(stage, name="any", data="pairs"), pairs),
        (replace(stage, name="any", data="single"), single),
        (replace(stage, name="own", data="pairs"), own),
    ):
        assert replace(sources, labelled=None).of(one) is wanted
        mentioned = sources.of(one)
        assert mentioned["fgvc"] is labelled and mentioned["caption"] is mentioned["mlm"] is wanted
