"""Who makes the false captions of a data set, how many, and where they are kept."""

from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pytest

from whatchanged.datasets import open_dataset
from whatchanged.datasets.preparation import bird_words
from whatchanged.recipes.reader import load_recipe
from whatchanged.records import PairRecord
from whatchanged.training.data.false_captions import find_false_captions
from whatchanged.worlds import find_world, language_of
from whatchanged.worlds.birds.language import is_true as true_of_birds
from whatchanged.worlds.birds.truth import read_truth
from whatchanged.worlds.clevr.grading import is_true
from whatchanged.worlds.clevr.language import write_captions

FOUR = load_recipe("pcl-tiny", ["method.negatives=4"])


def pair(number, captions, changed=True, negatives=()):
    paths = Path(f"b{number}.png"), Path(f"a{number}.png")
    return PairRecord(
        "clevr_change",
        f"p{number}",
        f"g{number}",
        "train",
        "pair_caption",
        *paths,
        captions,
        changed=changed,
        negatives=negatives,
    )


@pytest.fixture(scope="module")
def scenes(triples):
    """The changed pairs of the triples with their captions, and their truth by pair id."""
    rng = np.random.default_rng(0)
    truths = {f"p{triple.index}": triple.pairs()[0] for triple in triples}
    return [pair(t.index, write_captions(*t.pairs()[0], rng)) for t in triples], truths


def test_published_ones_are_taken_as_they_are(tmp_path):
    records = [pair(n, ("it moved",), negatives=(f"false {n}",)) for n in range(2)]
    kept = tmp_path / "negatives.jsonl"
    results = find_false_captions(records, 4, FOUR, kept, None, {})
    assert results == {"p0": ("false 0",), "p1": ("false 1",)} and not kept.exists()


def test_known_scenes_prove_that_none_is_true(scenes, tmp_path):
    records, truths = scenes
    kept = tmp_path / "run" / "negatives.jsonl"
    results = find_false_captions(records, 4, FOUR, kept, find_world("clevr"), truths)
    assert {len(false) for false in results.values()} == {4}
    for record in records:
        assert not any(is_true(sentence, *truths[record.pair_id]) for sentence in results[record.pair_id])
    again = find_false_captions(records, 4, replace(FOUR, seed=99), kept, None, {})
    assert again == results  # read from the file, whatever the recipe says by now


def test_sentences_of_a_world_are_made_false_in_its_language_without_its_truth(scenes, tmp_path):
    records, truths = scenes
    results = find_false_captions(records, 4, FOUR, tmp_path / "negatives.jsonl", None, {})
    world = find_world("clevr")
    for record in records:
        assert all(world.language.reads(sentence) for sentence in results[record.pair_id])
        assert not any(is_true(sentence, *truths[record.pair_id]) for sentence in results[record.pair_id])


def test_free_text_is_judged_by_the_world_where_it_knows_the_truth(tiny_birds, tmp_path):
    pytest.importorskip("textblob")
    folder = tiny_birds / "birds_to_words"
    train = [record for record in open_dataset(folder).records if record.split == "train"]
    records = [replace(r, captions=tuple(" ".join(bird_words(c)) for c in r.captions)) for r in train]
    world, birds = find_world("birds"), read_truth(folder)
    recipe = load_recipe("pcl-table5-1-b2w")
    known = world.truth.read(folder, records)
    results = find_false_captions(records, 6, recipe, tmp_path / "known.jsonl", world, known)
    true = [
        true_of_birds(sentence, birds[record.before.name], birds[record.after.name])
        for record in records
        for sentence in results[record.pair_id]
    ]
    assert True not in true and true.count(False) > 3 * true.count(None)
    blind = find_false_captions(records, 6, recipe, tmp_path / "blind.jsonl", None, {})
    assert blind != results  # without the truth other sentences pass


def test_the_language_of_captions_decides_who_makes_false_ones():
    assert language_of(["animal1 is brown"]) is None
    clevr = ["the small red rubber cube moved", "no change was made"]
    assert language_of(clevr) is language_of([*clevr, "the qube moved"]) is find_world("clevr")


FREE = [
    "the tiny brown ball on the left has become a shiny tile",
    "someone took the purple block away from the corner",
    "a yellow cylinder now stands between two gray spheres",
    "the green block in the back has switched its texture",
    "a small cyan ball appeared beside the big brick",
    "the red tube moved a little to the window side",
    "the metallic dice near the wall is missing from the second view",
]


@pytest.mark.parametrize("known", [14, 7])
def test_who_makes_them_is_chosen_for_each_pair(known, scenes, tmp_path):
    """Also where most, or too few, of a set's captions are in the language of a world."""
    pytest.importorskip("textblob")
    records, truths = scenes
    speaking = records[:known]
    free = [pair(100 + n, (FREE[n % 7], f"{FREE[(n + 3) % 7]} {n}")) for n in range(21 - known)]
    mixed = [record for two in zip_longest(speaking, free) for record in two if record is not None]
    kept = tmp_path / "negatives.jsonl"
    results = find_false_captions(mixed, 6, replace(FOUR, seed=3), kept, find_world("clevr"), {})
    assert set(results) == {record.pair_id for record in mixed}
    assert {len(set(false)) for false in results.values()} == {6}
    for record in mixed:
        assert not set(results[record.pair_id]) & set(record.captions)
    reads = find_world("clevr").language.reads
    if known == 14:  # enough of them to find false ones by the rules of the language
        for record in speaking:
            assert all(reads(sentence) for sentence in results[record.pair_id])
            assert not any(is_true(sentence, *truths[record.pair_id]) for sentence in results[record.pair_id])
