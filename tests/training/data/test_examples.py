"""Examples of a data set: a caption, a pair, a scene; for all stages or for one."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from support.data_settings import with_data

from whatchanged.errors import DatasetError
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.build import open_sources


def scenes(recipe, tmp_path, **changes):
    places = [f"data.path={recipe.data.path}", f"data.features={recipe.data.features}"]
    return open_sources(with_data(load_recipe("scorer-tiny", places), **changes), tmp_path).train


def test_an_example_a_scene_with_both_its_pairs(recipe, tmp_path):
    source = scenes(recipe, tmp_path, exchange=False)
    assert len(source) == 16
    said = {source.example(0, np.random.default_rng(seed)).caption for seed in range(40)}
    example = source.example(0, np.random.default_rng(0))
    assert said == set(example.record.captions) and len(said) > 1
    assert (example.record.changed, example.partner.record.changed) == (True, False)
    assert example.record.group_id == example.partner.record.group_id
    assert example.partner.caption in example.partner.record.captions
    assert np.array_equal(example.before, example.partner.before)


def test_half_the_visits_exchange_the_unchanged_views(recipe, tmp_path, tiny_dataset):
    """(default, changed) and (default, same), or (same, changed) and (same, default)."""
    source, seen = scenes(recipe, tmp_path), []
    for seed in range(400):
        example = source.example(3, np.random.default_rng(seed))
        pictures = [
            "".join(path.name.split("_")[1][0] for path in (e.record.before, e.record.after))
            for e in (example, example.partner)
        ]
        seen.append(tuple(pictures))
        assert sorted(pictures[1]) == ["d", "n"]
        stored = np.load(tiny_dataset / "features" / f"{example.record.before.name}.npy").T
        assert np.array_equal(example.before, stored) and np.array_equal(example.partner.before, stored)
    assert set(seen) == {("ds", "dn"), ("ns", "nd")}
    assert 160 < seen.count(("ns", "nd")) < 240


def test_an_example_a_pair_with_one_caption_a_visit(recipe, tmp_path):
    source = scenes(recipe, tmp_path, examples="pairs", exchange=False)
    examples = [source.example(i, np.random.default_rng(i)) for i in range(len(source))]
    assert len({e.record.pair_id for e in examples}) == len(source) == 32
    assert all(e.caption in e.record.captions and e.partner is None for e in examples)


def test_scenes_need_both_their_pairs(recipe, tmp_path, tiny_dataset):
    folder = tmp_path / "half"
    shutil.copytree(tiny_dataset, folder)
    (folder / "no_change_captions.json").write_text("{}")
    with pytest.raises(DatasetError, match="has 1 training pairs, wanted one changed and one not"):
        scenes(with_data(recipe, path=str(folder)), tmp_path)


def staged(recipe, tmp_path, **changes):
    """What two stages train on: the first with these changes, the second as the recipe says."""
    first = replace(recipe.stages[-1], name="own", **changes)
    changed = replace(recipe, stages=(first, recipe.stages[-1]))
    sources = open_sources(changed, tmp_path)
    (common,) = set(map(id, sources.of(changed.stages[1], changed.tasks).values()))
    assert common == id(sources.train)
    (own,) = sources.of(first, changed.tasks).values()
    return own, sources.train


def all_of(source, seed=0):
    return [source.example(i, np.random.default_rng((seed, i))) for i in range(len(source))]


def test_a_stage_trains_on_examples_of_its_own(recipe, tmp_path, tiny_dataset):
    own, common = staged(recipe, tmp_path, examples="scenes")
    assert (len(own), own.example(0, np.random.default_rng(0)).partner.record.changed) == (16, False)
    captions = json.loads((tiny_dataset / "change_captions.json").read_text())
    mentioned = sorted(c for name in sorted(captions)[:16] for c in captions[name])
    own, _ = staged(recipe, tmp_path, examples="captions", changed_only=True)
    assert sorted(e.caption for e in all_of(own)) == mentioned and len(mentioned) < len(common)
    assert all(e.record.changed and "default" in e.record.before.name for e in all_of(own))


def test_a_changed_pairs_picture_before_is_half_the_time_the_unchanged_view(recipe, tmp_path, tiny_dataset):
    own, _ = staged(recipe, tmp_path, examples="captions", changed_only=True, exchange=True)
    seen = []
    for seed in range(8):
        for example, item in zip(all_of(own, seed), own.items, strict=True):
            assert example.caption == own.records[item[0]].captions[item[1]]
            number = example.record.pair_id[:6]
            names = example.record.before.name, example.record.after.name
            assert names[1] == f"CLEVR_semantic_{number}.png" and number in names[0]
            stored = np.load(tiny_dataset / "features" / f"{names[0]}.npy").T
            assert np.array_equal(example.before, stored)
            seen.append("nonsemantic" in names[0])
    assert 0.4 < np.mean(seen) < 0.6


def test_without_a_changed_pair_nothing_is_left(recipe, tmp_path, tiny_dataset):
    folder = shutil.copytree(tiny_dataset, tmp_path / "same")
    (folder / "change_captions.json").write_text("{}")
    with pytest.raises(DatasetError, match="no training pair changed"):
        staged(with_data(recipe, path=str(folder)), tmp_path, changed_only=True)
