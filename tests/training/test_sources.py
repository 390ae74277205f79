import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from whatchanged.errors import DatasetError, RecipeError
from whatchanged.recipes import VisionConfig
from whatchanged.recipes.reader import load_recipe
from whatchanged.training.sources import open_sources, read_features, reader
from whatchanged.worlds.clevr.grading import is_true
from whatchanged.worlds.clevr.truth import triple_entries


@pytest.fixture
def recipe(tiny_dataset):
    return load_recipe("pcl-tiny", [f"data.path={tiny_dataset}", f"data.features={tiny_dataset}/features"])


def with_data(recipe, **changes):
    return replace(recipe, data=replace(recipe.data, **changes))


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


def test_drawn_captions_take_no_preparation(recipe, tmp_path):
    with pytest.raises(RecipeError, match='"ier" is for captions on disk'):
        open_sources(with_data(recipe, source="pool", preparation="ier"), tmp_path)


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


def test_pictures_are_resized(tmp_path):
    Image.fromarray(np.full((50, 90, 3), (0, 255, 51), np.uint8)).save(tmp_path / "x.png")
    pixels = reader(VisionConfig(kind="backbone", image_width=24, image_height=16), "", tmp_path)(
        tmp_path / "x.png"
    )
    assert pixels.shape == (16, 24, 3) and pixels.dtype == np.uint8
    assert (pixels == (0, 255, 51)).all()


def test_scene_truth_is_used_where_it_lies_beside(recipe, tiny_dataset, triples, tmp_path):
    folder = shutil.copytree(tiny_dataset, tmp_path / "told")
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
        ({"ordered_pairs": "all"}, 'needs data.source = "pool"'),
        ({"wording": "short"}, "needs the truth of every scene"),
    ],
)
def test_what_a_data_set_cannot_give_is_refused(recipe, tmp_path, changes, message):
    with pytest.raises(RecipeError, match=message):
        open_sources(with_data(recipe, **changes), tmp_path)


@pytest.mark.parametrize("folder", ["", "sc_images", "sc_features"])
@pytest.mark.parametrize("shape", [(5, 2, 3), (5, 6), (6, 5)])
def test_features_are_found_and_turned(tmp_path, folder, shape):
    cells = np.arange(30, dtype=np.float32).reshape(6, 5)
    stored = cells if shape == (6, 5) else cells.T.reshape(shape)
    (tmp_path / folder).mkdir(exist_ok=True)
    np.save(tmp_path / folder / "x.png.npy", stored)
    picture = tmp_path / "elsewhere" / "sc_images" / "x.png"
    assert np.array_equal(read_features(tmp_path, picture, 2, 3, 5), cells)


def test_wrong_features_are_refused(tmp_path):
    picture = tmp_path / "x.png"
    with pytest.raises(DatasetError, match=r"no features of x\.png"):
        read_features(tmp_path, picture, 2, 3, 5)
    np.save(tmp_path / "x.png.npy", np.zeros((4, 5)))
    with pytest.raises(DatasetError, match=r"got the shape \(4, 5\), wanted \(5, 2, 3\)"):
        read_features(tmp_path, picture, 2, 3, 5)
    np.save(tmp_path / "x.png.npy", np.array([{"a": 1}]), allow_pickle=True)
    with pytest.raises(DatasetError, match="cannot read the features"):
        read_features(tmp_path, picture, 2, 3, 5)


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
    assert sources.of(changed.stages[1]) is sources.train
    return sources.of(first), sources.train


def all_of(source, seed=0):
    return [source.example(i, np.random.default_rng((seed, i))) for i in range(len(source))]


def test_a_stage_trains_on_examples_of_its_own(recipe, tmp_path, tiny_dataset):
    own, common = staged(recipe, tmp_path, examples="scenes")
    assert (len(own), own.example(0, np.random.default_rng(0)).partner.record.changed) == (16, False)
    captions = json.loads((tiny_dataset / "change_captions.json").read_text())
    told = sorted(c for name in sorted(captions)[:16] for c in captions[name])
    own, _ = staged(recipe, tmp_path, examples="captions", changed_only=True)
    assert sorted(e.caption for e in all_of(own)) == told and len(told) < len(common)
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
