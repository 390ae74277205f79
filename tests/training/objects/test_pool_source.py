"""A pool as a recipe's data."""

import shutil
from collections import Counter
from dataclasses import replace
from itertools import product
from unittest import mock

import numpy as np
import pytest
from support.data_settings import with_data
from support.tiny_pool import HEIGHT, SEED, SHARD, WIDTH

from whatchanged.errors import DatasetError, RecipeError
from whatchanged.recipes.reader import load_recipe
from whatchanged.synth.clevr.sampling import sample_triple
from whatchanged.training.objects import pool, pool_source
from whatchanged.training.objects.checked_rows import CheckedRows
from whatchanged.training.objects.pool import Pairing, open_shards, pairing
from whatchanged.training.objects.pool_source import ORDERED, PAIRS, PoolSource, mentioned_objects, open_pool
from whatchanged.worlds import World
from whatchanged.worlds.clevr.change import NOTHING, SceneChange
from whatchanged.worlds.clevr.grading import judge, parse
from whatchanged.worlds.clevr.language import WORDS
from whatchanged.worlds.clevr.phrases import Phrase, referents
from whatchanged.worlds.clevr.scene import Scene, SceneObject, View

TRIPLES = range(10)


@pytest.fixture(scope="module")
def shards(tiny_pool):
    return open_shards(tiny_pool)


@pytest.fixture
def source(shards):
    """All six ordered pairs of all triples, as drawn."""
    return PoolSource(shards, (), 0, 10, PAIRS, "captions", False)


@pytest.fixture
def recipe(tiny_pool):
    small = [f"data.path={tiny_pool}", f"vision.image_width={WIDTH}", f"vision.image_height={HEIGHT}"]
    return load_recipe(
        "clevr-pcl", [*small, "vision.keep=6", "method.negatives=2", "data.ordered_pairs=balanced"]
    )


def rng(seed=0):
    return np.random.default_rng(seed)


def tokens_in(folder, shards, variants=2):
    """Stored tokens whose numbers say where they come from: shard, triple, variant, picture."""
    folder.mkdir()
    for shard in shards:
        n, v, k = np.meshgrid(np.arange(SHARD), np.arange(variants), np.arange(3), indexing="ij")
        marks = (100 * shard.number + 10 * n + 3 * v + k + 1).astype(np.float16)
        np.save(folder / f"{shard.number:05d}.tokens.npy", np.tile(marks[..., None, None], (6, 27)))
    return folder


# Pairs


def test_pairs_are_the_triples_own(source):
    assert len(source) == 60
    for index in TRIPLES:
        pairs = sample_triple(SEED, index).all_pairs()
        assert [source.truth(6 * index + n) for n in range(6)] == list(pairs)


def test_balanced_pairs_say_the_unchanged_ones_twice(shards):
    balanced = PoolSource(shards, (), 0, 10, ORDERED["balanced"], "captions", False)
    kinds = Counter(balanced.truth(n)[2].type == "none" for n in range(len(balanced)))
    assert kinds == {True: 40, False: 40}


def test_official_pairs_come_first_and_any_range_can_be_chosen(shards):
    official = PoolSource(shards, (), 4, 7, ORDERED["official"], "captions", False)
    wanted = [pair for index in (4, 5, 6) for pair in sample_triple(SEED, index).pairs()]
    assert [official.truth(n) for n in range(len(official))] == wanted


@pytest.mark.parametrize("wording", ["captions", "short", "full", "relational"])
def test_every_caption_of_every_ordered_pair_is_true(source, wording):
    source = replace(source, wording=wording)
    for index in range(len(source)):
        example = source.example(index, rng(index))
        verdict = judge(example.caption, *source.truth(index))
        assert verdict.true, (example.caption, verdict)
        assert all(judge(caption, *source.truth(index)).true for caption in example.record.captions)


def test_records_name_the_pair_and_say_what_changed(source):
    records = [source.record(index, ("a",)) for index in range(60)]
    assert len({r.pair_id for r in records}) == 60 and len({(r.before, r.after) for r in records}) == 60
    assert Counter(r.group_id for r in records).most_common(1)[0][1] == 6
    for index, record in enumerate(records):
        change = source.truth(index)[2]
        assert (record.changed, record.change_type) == (change.type != "none", change.type)
    kinds = Counter(r.change_type for r in records)
    assert kinds == {"none": 20, "add": 8, "drop": 8, "color": 8, "material": 8, "move": 8}


def test_an_example_has_the_pictures_and_the_truth_of_its_pair(source, shards):
    for index, (k, m) in enumerate([(0, 1), (0, 2), (2, 1), (1, 0), (1, 2), (2, 0)]):
        example = source.example(6 * 7 + index, rng())
        assert np.array_equal(example.before, shards[1].pictures[2, k])
        assert np.array_equal(example.after, shards[1].pictures[2, m])
        assert example.before.dtype == np.uint8 and example.negatives == ()
        wanted = pairing(shards[1], 2, k, m, source.truth(42 + index)[2])
        for name in ("partner_before", "partner_after", "change_label_before", "change_label_after"):
            assert np.array_equal(getattr(example.truth, name), getattr(wanted, name))
        assert np.array_equal(example.truth.before.owner, shards[1].picture_truth(2, k).owner)
        assert np.array_equal(example.truth.after.owner, shards[1].picture_truth(2, m).owner)


def test_every_word_mentions_the_changed_object_or_the_other(source):
    """The changed object as the change labels have it; the other as the sentence, read again, has it."""
    held = 0
    for index, wording in product(range(len(source)), ("relational", "captions")):
        example = replace(source, wording=wording).example(index, rng(index))
        before, after, change = source.truth(index)
        mentioned, length = example.truth.mentioned, len(example.caption.split())
        if change.type == "none":
            assert mentioned.shape == (0, 2, 2)
            continue
        change_labels = [
            np.flatnonzero(change_label)
            for change_label in (example.truth.change_label_before, example.truth.change_label_after)
        ]
        changed = [int(change_label[0]) if len(change_label) else -1 for change_label in change_labels]
        assert mentioned.shape == (length + 1, 2, 2) and mentioned[-1].tolist() == [changed, [-1, -1]]
        relation = [n for n in range(length) if mentioned[n, 1].tolist() != [-1, -1]]
        name = [n for n in range(length) if mentioned[n, 0].tolist() != changed]
        assert bool(relation) == bool(name)
        if name:
            held += 1
            assert relation + name == list(range(relation[0], name[-1] + 1))
            side, scene = (1, after) if change.type == "add" else (0, before)
            assert referents(Phrase(parse(example.caption).phrase.other), scene) == [
                mentioned[name[0], 0, side]
            ]
            assert len({*map(tuple, mentioned[name, 0]), *map(tuple, mentioned[relation, 1])}) == 1
    assert held > 30


def test_the_other_object_has_an_index_of_its_own_in_each_picture():
    """Before, the ball is object 1; after, the cube is gone and the ball is object 0."""
    cube, ball = (
        SceneObject("cube", "large", "red", "rubber", 0, 0),
        SceneObject("sphere", "small", "red", "metal", 2, 0),
    )
    south = View((0.0, -8.0, 6.0))
    both, one = Scene((cube, ball), south), Scene((ball,), south)
    nothing = np.zeros(0)
    known = Pairing(nothing, nothing, np.array([-1, 0]), np.array([1]), np.array([2, 0]), np.array([0]))
    mentioned = mentioned_objects(
        "the cube left of the ball is gone", known, both, one, SceneChange("drop", 0, None)
    )
    changed, other, none = [0, -1], [1, 0], [-1, -1]
    cube_words, relation, name = [[changed, none]] * 2, [[changed, other]] * 3, [[other, none]]
    assert mentioned.tolist() == [*cube_words, *relation, *name, *[[changed, none]] * 3]
    back = Pairing(nothing, nothing, np.array([1]), np.array([-1, 0]), np.array([0]), np.array([1, 0]))
    mentioned = mentioned_objects(
        "the cube left of the ball has appeared", back, one, both, SceneChange("add", None, 0)
    )
    assert mentioned[:, :, ::-1].tolist() == [*cube_words, *relation, *name, *[[changed, none]] * 3]
    assert mentioned_objects("there is no change", known, both, both, NOTHING).shape == (0, 2, 2)


def test_what_varies_is_drawn_from_the_generator(source):
    varied = replace(source, varied=True)
    one, same, other = (varied.example(3, rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one.before, same.before) and np.array_equal(one.after, same.after)
    assert one.caption == same.caption
    assert not np.array_equal(one.before, other.before)
    plain = source.example(3, rng(1))
    difference = np.abs(one.before.astype(int) - plain.before.astype(int))
    assert one.before.shape == plain.before.shape and one.before.dtype == np.uint8
    assert 0 < difference.mean() < 40
    captions = {source.example(3, rng(seed)).caption for seed in range(12)}
    assert len(captions) > 3


def test_a_fixed_sentence_is_written_once_and_stays_its_own(source, monkeypatch):
    full, short = (replace(source, wording=wording) for wording in ("full", "short"))
    first = [full.example(index, rng()).caption for index in range(60)]
    monkeypatch.setattr(World, "write", None)
    assert [full.example(index, rng(1)).caption for index in range(60)] == first
    monkeypatch.undo()
    assert [short.example(index, rng()).caption for index in range(60)] != first


def test_batches_are_left_to_the_loop_to_vary_but_stored_tokens_come_in_variants(recipe, shards, tmp_path):
    whole = without_fda(replace(recipe, data=replace(recipe.data, augment="batches")))
    plain = open_pool(whole, tmp_path).train.example(3, rng(5))
    assert np.array_equal(plain.before, shards[0].pictures[1, 1])  # pair 3: the first triple after the held
    tokens_in(tmp_path / "tokens", shards)
    stored = replace(whole, data=replace(whole.data, tokens=str(tmp_path / "tokens")))
    assert open_pool(stored, tmp_path).train.varied


# Stored tokens


def test_tokens_stand_for_pictures(shards, source, tmp_path):
    files = sorted(tokens_in(tmp_path / "tokens", shards).iterdir())
    tokens = [CheckedRows(file, np.load(file), None, "") for file in files]
    stored = replace(source, tokens=tokens)
    example = stored.example(6 * 7 + 4, rng())  # triple 7 is the third of shard 1; semantic to nonsemantic
    assert example.before.shape == (6, 27) and example.before.dtype == np.float32
    assert set(example.before.flat) == {100 + 20 + 1 + 1} and set(example.after.flat) == {100 + 20 + 2 + 1}
    varied = replace(stored, varied=True)
    drawn = {
        tuple(float(side.flat[0]) for side in (e.before, e.after))
        for e in (varied.example(46, rng(seed)) for seed in range(40))
    }
    assert drawn == {(122.0 + 3 * a, 123.0 + 3 * b) for a in (0, 1) for b in (0, 1)}


# A recipe's data


@pytest.fixture(scope="module")
def forty(tiny_pool, tmp_path_factory):
    """A pool of forty triples: copies of the tiny one's shards under further numbers."""
    return grow(shutil.copytree(tiny_pool, tmp_path_factory.mktemp("forty") / "pool"), 8)


def grow(pool, shards):
    """Copy the first two shards until there are ``shards`` of them."""
    for number in range(2, shards):
        for kind in ("pictures.npy", "truth.npz"):
            shutil.copy(pool / f"{number % 2:05d}.{kind}", pool / f"{number:05d}.{kind}")
    return pool


@pytest.mark.parametrize(("validation", "held"), [(6, 3), (400, 4), (0, 4), (1, 1)])
def test_the_first_triples_validate_and_the_others_train(recipe, forty, tmp_path, validation, held):
    """Half as many triples as pairs are asked for, but no more than a tenth; 0 asks for all of that."""
    recipe = without_fda(with_data(recipe, path=str(forty), validation=validation))
    sources = open_pool(recipe, tmp_path / "all")
    assert (sources.validation.first, sources.validation.last) == (0, held)
    assert (sources.train.first, sources.train.last) == (held, 40)
    assert len(sources.validation) == 2 * held
    assert len(sources.train) == 8 * (40 - held)  # balanced: eight ordered pairs of each triple
    assert not sources.validation.varied and sources.train.varied
    assert sources.vocabulary.entries[6:] == tuple(sorted(WORDS))
    official = with_data(recipe, ordered_pairs="official")
    assert len(open_pool(official, tmp_path / "official").train) == 2 * (40 - held)


def test_a_pool_of_one_triple_leaves_none_to_train_on(recipe, tmp_path):
    with mock.patch.object(pool, "SHARD", 1):
        pool.write_description(tmp_path / "pool", SEED, WIDTH, HEIGHT)
        pool.draw_shard(tmp_path / "pool", SEED, (WIDTH, HEIGHT), 0)
    with pytest.raises(DatasetError, match=r"all of its triples \(1\) are held out .* Draw more"):
        open_pool(with_data(recipe, path=str(tmp_path / "pool")), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_wording_that_the_world_does_not_have_is_refused_at_once(recipe, tiny_pool, tmp_path):
    unknown = with_data(recipe, path=str(tiny_pool), wording="clearr")
    with pytest.raises(RecipeError, match=r'got "clearr", wanted one of captions, .* Did you mean clear\?'):
        open_pool(unknown, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_keeps_to_what_it_began_with_while_its_pool_grows(recipe, tiny_pool, tmp_path):
    pool = shutil.copytree(tiny_pool, tmp_path / "pool")
    recipe, run = without_fda(with_data(recipe, path=str(pool))), tmp_path / "run"
    began = open_pool(recipe, run)
    (run / "checkpoints").mkdir()
    grow(pool, 8)
    resumed = open_pool(recipe, run)
    for one, other in ((began.train, resumed.train), (began.validation, resumed.validation)):
        assert (one.first, one.last, len(one.shards)) == (other.first, other.last, len(other.shards))
    assert (resumed.train.first, resumed.train.last, len(resumed.train.shards)) == (1, 10, 2)
    (run / "shards.json").unlink()  # as runs were before
    assert (open_pool(recipe, run).train.first, open_pool(recipe, run).train.last) == (4, 40)
    assert not (run / "shards.json").exists()


def test_a_resumed_run_misses_a_shard_that_is_gone(recipe, tiny_pool, tmp_path):
    pool = shutil.copytree(tiny_pool, tmp_path / "pool")
    recipe = without_fda(with_data(recipe, path=str(pool)))
    open_pool(recipe, tmp_path)
    (pool / "00001.pictures.npy").unlink()
    with pytest.raises(DatasetError, match=r"00001\.pictures\.npy: this shard or its truth cannot be read"):
        open_pool(recipe, tmp_path)
    (tmp_path / "shards.json").write_text('{"shards": [0]}')
    with pytest.raises(DatasetError, match=r"shards\.json: the run's list of shards cannot be read"):
        open_pool(recipe, tmp_path)


def test_pictures_of_another_size_are_refused(recipe, tmp_path):
    larger = replace(recipe, vision=replace(recipe.vision, image_width=WIDTH + 8))
    with pytest.raises(DatasetError, match=r"pictures are 96x64, the model reads 104x64\. Draw a pool"):
        open_pool(without_fda(larger), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_captions_to_train_on_are_the_recipes_and_to_validate_on_the_worlds(recipe, tmp_path):
    sources = open_pool(without_fda(recipe), tmp_path)
    assert len(sources.train.example(0, rng()).record.captions) == 1
    assert 5 <= len(sources.validation.example(0, rng()).record.captions) <= 7


def without_fda(recipe):
    stages = [replace(s, tasks={t: w for t, w in s.tasks.items() if t != "fda"}) for s in recipe.stages]
    return replace(recipe, stages=tuple(stages))


def test_false_captions_are_built_for_the_first_pairs_and_only_fda_is_bound_to_them(
    recipe, tmp_path, monkeypatch
):
    monkeypatch.setattr(pool_source, "NEGATIVE_PAIRS", 20)
    train = open_pool(recipe, tmp_path).train
    assert (
        train.count(recipe.tasks["fda"]) == 16
    )  # two and a half triples; their four unchanged pairs come twice
    others = [task for name, task in recipe.tasks.items() if name != "fda"]
    assert len(others) == 5 and {train.count(task) for task in others} == {72} == {len(train)}
    for index in range(20):
        false = train.example(index, rng()).negatives
        assert len(set(false)) == 2
        assert not any(judge(sentence, *train.truth(index)).true for sentence in false)
    assert train.example(20, rng()).negatives == ()
    monkeypatch.setattr(pool_source, "mine", None)  # a second launch reads what the first one wrote
    assert open_pool(recipe, tmp_path).train.negatives == train.negatives


def test_false_captions_have_no_words_but_those_of_true_ones(recipe, tmp_path):
    """A fixed wording never says "tiny" or "ball": a synonym would betray that a sentence is false."""
    train = open_pool(recipe, tmp_path).train
    examples = [train.example(index, rng()) for index in range(len(train))]
    true = {word for example in examples for word in example.caption.split()}
    false = {word for example in examples for sentence in example.negatives for word in sentence.split()}
    assert false and false <= true


def test_nothing_is_built_for_recipes_without_fda(recipe, tmp_path):
    train = open_pool(without_fda(recipe), tmp_path).train
    assert train.count(recipe.tasks["fda"]) == 0 and not (tmp_path / "negatives.jsonl").exists()


def test_data_that_is_not_there_is_named(recipe, shards, tmp_path):
    with pytest.raises(RecipeError, match=r"data\.path is empty.* --data POOL"):
        open_pool(replace(recipe, data=replace(recipe.data, path="")), tmp_path)
    with pytest.raises(DatasetError, match="no pool of drawn triples here"):
        open_pool(replace(recipe, data=replace(recipe.data, path=str(tmp_path))), tmp_path)
    folder = tokens_in(tmp_path / "tokens", shards)
    (folder / "00001.tokens.npy").unlink()
    with pytest.raises(DatasetError, match=r"00001\.tokens\.npy: no tokens of this shard\. Make them"):
        open_pool(without_fda(replace(recipe, data=replace(recipe.data, tokens=str(folder)))), tmp_path)
