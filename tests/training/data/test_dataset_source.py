import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from support.data_settings import with_data

from whatchanged.errors import DatasetError, RecipeError
from whatchanged.recipes import PoolConfig
from whatchanged.synth.clevr.truth import triple_entries
from whatchanged.training.build import open_sources
from whatchanged.training.data.dataset_source import open_dataset_sources
from whatchanged.worlds.clevr.grading import is_true


def test_one_example_a_caption_to_train_on_and_one_a_pair_to_validate_on(recipe, tiny_dataset, tmp_path):
    sources = open_sources(recipe, tmp_path)
    change = json.loads((tiny_dataset / "change_captions.json").read_text())
    same = json.loads((tiny_dataset / "no_change_captions.json").read_text())
    wanted = [c for captions in (change, same) for name in sorted(captions)[:16] for c in captions[name]]
    rng = np.random.default_rng(0)
    examples = [sources.train.example(i, rng) for i in range(len(sources.train))]
    assert sorted(e.caption for e in examples) == sorted(wanted)
    assert all(e.record.split == "train" and len(e.negatives) == 6 for e in examples)
    assert len(sources.validation) == 8
    assert {sources.validation.example(i, rng).record.split for i in range(8)} == {"val"}
    assert set(sources.vocabulary.entries[6:]) == {word for caption in wanted for word in caption.split()}


def test_captions_are_prepared_as_the_recipe_names(recipe, tiny_dataset, tmp_path):
    """In training cut into the paper's words, rare ones unknown; validation references prepared but whole."""
    folder = shutil.copytree(tiny_dataset, tmp_path / "prepared")
    captions = json.loads((folder / "change_captions.json").read_text())
    for number, name in enumerate(sorted(captions)):
        captions[name] = [f"The cube-{number} Moved." + " so" * 90]
    (folder / "change_captions.json").write_text(json.dumps(captions))
    changed = with_data(recipe, path=str(folder), preparation="ier")
    plain = replace(changed, stages=changed.stages[-1:])
    sources = open_sources(plain, tmp_path / "run")
    rng = np.random.default_rng(0)
    examples = [sources.train.example(i, rng) for i in range(len(sources.train))]
    first = next(e for e in examples if e.record.pair_id == "000000.png")
    assert first.caption == "the cube - 0 moved ." + " so" * 72
    reference = next(r.captions[0] for r in sources.validation.records if r.changed and r.split == "val")
    assert reference.startswith("the cube - ") and reference.endswith(" moved ." + " so" * 90)
    assert "moved" in sources.vocabulary.entries and "0" not in sources.vocabulary.entries


def test_an_example_holds_the_features_of_its_two_pictures(recipe, tiny_dataset, tmp_path):
    example = open_sources(recipe, tmp_path).train.example(0, np.random.default_rng(0))
    stored = np.load(tiny_dataset / "features" / f"{example.record.after.name}.npy")
    assert example.after.shape == (9, 24) and example.after.dtype == np.float32
    assert np.array_equal(example.after, stored.T)
    assert not np.array_equal(example.before, example.after)


def test_negatives_are_built_once_and_kept(recipe, tmp_path):
    first = open_sources(recipe, tmp_path).train.negatives
    kept = (tmp_path / "negatives.jsonl").stat().st_mtime_ns
    assert open_sources(recipe, tmp_path).train.negatives == first
    assert (tmp_path / "negatives.jsonl").stat().st_mtime_ns == kept


def test_validation_pairs_are_a_fixed_part(recipe, tmp_path):
    some = [open_sources(with_data(recipe, validation=3), tmp_path).validation.records for _ in range(2)]
    assert some[0] == some[1] and len(some[0]) == 3


def test_scene_truth_is_used_where_it_lies_beside(recipe, tiny_dataset, triples, tmp_path):
    folder = shutil.copytree(tiny_dataset, tmp_path / "with_truth")
    entries = [triple_entries(triple) for triple in triples]
    (folder / "scenes.json").write_text(json.dumps({"scenes": [s for e in entries for s in e[0]]}))
    (folder / "pairs.json").write_text(json.dumps([e[1] for e in entries]))
    sources = open_sources(with_data(recipe, path=str(folder), wording="full"), tmp_path / "run")
    assert len(sources.train) == 32
    for i in range(32):
        example = sources.train.example(i, np.random.default_rng(0))
        truth = triples[int(example.record.group_id)].pairs()[not example.record.changed]
        assert is_true(example.caption, *truth)
        assert not any(is_true(sentence, *truth) for sentence in example.negatives)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"path": ""}, "Say where the data set lies: --data FOLDER"),
        ({"features": ""}, "Say where the precomputed features lie: --features FOLDER"),
        ({"wording": "short"}, "needs the truth of every scene"),
    ],
)
def test_what_a_data_set_cannot_give_is_refused(recipe, tmp_path, changes, message):
    with pytest.raises(RecipeError, match=message):
        open_sources(with_data(recipe, **changes), tmp_path)


def test_a_pool_is_no_data_set(recipe, tmp_path):
    with pytest.raises(RecipeError, match="is no data set on disk"):
        open_dataset_sources(replace(recipe, data=PoolConfig()), tmp_path)


def test_only_stages_that_validate_need_validation_pairs(recipe, tiny_dataset, tmp_path):
    folder = shutil.copytree(tiny_dataset, tmp_path / "unsplit")
    splits = json.loads((folder / "splits.json").read_text())
    splits = {"train": splits["train"] + splits["val"], "val": [], "test": []}
    (folder / "splits.json").write_text(json.dumps(splits))
    changed = with_data(replace(recipe, stages=recipe.stages[-1:]), path=str(folder))
    with pytest.raises(DatasetError, match="no captioned pairs in its val split"):
        open_sources(changed, tmp_path / "run")
    blind = replace(changed, stages=(replace(changed.stages[0], evaluate_every=0),))
    sources = open_sources(blind, tmp_path / "run")
    assert len(sources.validation) == 0 and len(sources.train) > 0


def test_a_data_set_without_training_captions_is_refused(recipe, tiny_dataset, tmp_path):
    folder = shutil.copytree(tiny_dataset, tmp_path / "untrained")
    splits = json.loads((folder / "splits.json").read_text())
    (folder / "splits.json").write_text(json.dumps({**splits, "train": [], "test": splits["train"]}))
    with pytest.raises(DatasetError, match="no captioned pairs in its train split"):
        open_sources(with_data(recipe, path=str(folder)), tmp_path / "run")
