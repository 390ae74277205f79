"""The three sets of drawn birds: our readers open them, they follow from the seed, they are what they say."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError, OutputError
from whatchanged.synth.birds.drawing import RGB, BirdView, any_view, draw
from whatchanged.synth.birds.twin import species_count, write_birds
from whatchanged.worlds.birds.bird import Bird
from whatchanged.worlds.birds.language import is_true
from whatchanged.worlds.birds.truth import read_truth

PAIRS, SIZE = 20, 32


@pytest.fixture(scope="module")
def twin(tmp_path_factory):
    out = tmp_path_factory.mktemp("birds") / "twin"
    told = []
    write_birds(out, PAIRS, seed=4, size=SIZE, advance=told.append)
    assert sum(told) == PAIRS
    return out


def hashes(folder):
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def test_pairs_open_as_birds_to_words(twin):
    records = open_dataset(twin / "birds_to_words").records
    assert {r.dataset for r in records} == {"birds_to_words"} and len(records) == PAIRS
    assert [sum(r.split == s for r in records) for s in ("train", "val", "test")] == [16, 2, 2]
    assert {len(r.captions) for r in records} <= {4, 5}
    birds = read_truth(twin / "birds_to_words")
    for record in records:
        both = birds[record.before.name], birds[record.after.name]
        assert all(is_true(caption, *both) for caption in record.captions)
        assert record.same_class == (record.extra["species"][0] == record.extra["species"][1])
        assert (record.extra["selection"][1] == "sameSpecies") == record.same_class


def test_captioned_pictures_open_as_cub(twin):
    dataset = open_dataset(twin / "cub")
    assert dataset.name == "cub" and len(dataset.records) == 3 * PAIRS
    assert len(dataset.class_names) == species_count(PAIRS) == 6
    birds = read_truth(twin / "cub")
    for record in dataset.records:
        assert len(record.captions) == 10
        assert all(is_true(caption, birds[record.before.name]) for caption in record.captions)
    assert {r.split for r in dataset.records} == {"train", "test"}


def test_labelled_pictures_open_as_nabirds(twin):
    dataset = open_dataset(twin / "nabirds")
    assert dataset.name == "nabirds" and len(dataset.records) == 6 * PAIRS
    assert {r.labels[0] for r in dataset.records} == set(range(6))
    names = [name for r in open_dataset(twin / "birds_to_words").records for name in r.extra["species"]]
    assert set(names) <= set(dataset.class_names)
    parents = {r.labels[0]: r.extra["parent"] for r in dataset.records}
    assert len(set(parents.values())) == 2  # three species a genus


def test_no_picture_is_in_two_sets_and_all_have_the_size(twin):
    files = list(twin.rglob("*.jpg"))
    assert len(files) == (2 + 3 + 6) * PAIRS
    assert len({p.read_bytes() for p in files}) == len(files)
    for path in files[::10]:
        with Image.open(path) as picture:
            assert picture.size == (SIZE, SIZE) and picture.mode == "RGB"


def test_the_same_seed_gives_the_same_bytes_with_any_number_of_workers(twin, tmp_path):
    write_birds(tmp_path / "again", PAIRS, seed=4, size=SIZE, workers=2)
    assert hashes(tmp_path / "again") == hashes(twin)
    write_birds(tmp_path / "other", PAIRS, seed=5, size=SIZE)
    assert hashes(tmp_path / "other") != hashes(twin)


def test_further_pairs_to_test_on_change_nothing_else(twin, tmp_path):
    write_birds(tmp_path / "more", PAIRS, seed=4, size=SIZE, tested=5)
    few, more = hashes(twin), hashes(tmp_path / "more")
    tables = {name for name, digest in few.items() if more[name] != digest}
    assert tables == {"birds_to_words/birds-to-words-v1.0.tsv", "birds_to_words/birds.json"}
    assert len(more) == len(few) + 10
    assert [species_count(1000), species_count(1000, 12), species_count(40, 12), species_count(1000, 1)] == [
        60,
        12,
        8,
        6,
    ]
    records = open_dataset(tmp_path / "more" / "birds_to_words").records
    assert [sum(r.split == s for r in records) for s in ("train", "val", "test")] == [16, 2, 7]


@pytest.mark.parametrize(
    ("pairs", "size", "message"),
    [(9, 32, "at least 10 pairs"), (10, 16, "from 32 to 1024 pixels"), (10, 4096, "from 32 to 1024 pixels")],
)
def test_numbers_out_of_range_are_refused_and_nothing_is_left(tmp_path, pairs, size, message):
    with pytest.raises(OutputError, match=message):
        write_birds(tmp_path / "out", pairs, size=size)
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_written_over(tmp_path):
    with pytest.raises(OutputError, match="exists already"):
        write_birds(tmp_path, 10)
    with pytest.raises(OutputError, match="Make it first"):
        write_birds(tmp_path / "no" / "out", 10)


# pictures

PLAIN = Bird(
    *("red", "blue", "yellow", "green", "orange", "black"),
    0.5,
    0.5,
    0.5,
    0.5,
    *("plain", "plain", "white", "white"),
    stripe="",
    crest=False,
)
STILL = BirdView(right=True, tilt=0.0, scale=0.37, x=0.5, y=0.5, ground=2, light=1.0, seed=0)


def shares(bird, view=STILL):
    """Colour -> share of the pixels that are near it."""
    pixels = np.asarray(draw(bird, view, 96), float).reshape(-1, 3)
    return {name: float((np.abs(pixels - rgb).max(1) < 25).mean()) for name, rgb in RGB.items()}


def test_every_part_shows_its_colour():
    found = shares(PLAIN)
    for part, least in (("red", 1e-3), ("blue", 0.01), ("yellow", 0.01), ("green", 0.03), ("orange", 5e-3)):
        assert found[part] > least, part
    assert found["brown"] < 1e-3


def test_longer_parts_and_larger_birds_take_more_room():
    for part, color in (("beak", "red"), ("tail", "orange"), ("legs", "black")):
        short, long = (shares(replace(PLAIN, **{f"{part}_length": v}))[color] for v in (0.0, 1.0))
        assert long > 1.15 * short, part
    assert shares(replace(PLAIN, size=1.0))["green"] > 1.3 * shares(replace(PLAIN, size=0.0))["green"]


def test_marks_show_on_breast_and_wings():
    for part in ("breast", "wings"):
        for pattern in ("spotted", "striped"):
            marked = replace(PLAIN, **{f"{part}_pattern": pattern, f"{part}_mark": "white"})
            assert shares(marked)["white"] > shares(PLAIN)["white"] + 1e-3


def test_facing_left_is_the_mirror_image():
    right = np.asarray(draw(PLAIN, STILL, 96), float)
    left = np.asarray(draw(PLAIN, replace(STILL, right=False), 96), float)
    assert np.abs(right - left[:, ::-1]).mean() < 6 < np.abs(right - left).mean()


def test_head_and_breast_stay_within_the_picture():
    big = replace(PLAIN, head="red", breast="red", size=1.0)
    for seed in range(40):
        pixels = np.asarray(draw(big, any_view(np.random.default_rng(seed)), 64), float)
        edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
        assert not (np.abs(edge - RGB["red"]).max(1) < 40).any()


def test_a_truth_that_is_none_says_which_entry(twin, tmp_path):
    good = json.loads((twin / "cub" / "birds.json").read_text())
    name, bird = next(iter(good.items()))
    short = {trait: value for trait, value in bird.items() if trait != "crest"}
    cases = [
        ("[" * 5000, "not JSON"),
        ("[1]", "wanted an object of pictures"),
        (json.dumps({name: {**bird, "head": "loud"}}), "head is 'loud'"),
        (json.dumps({name: {**bird, "size": float("nan")}}), "size is nan"),
        (json.dumps({name: {**bird, "tail_length": True}}), "tail_length is True"),
        (json.dumps({name: {**bird, "crest": 1}}), "crest is 1"),
        (json.dumps({name: {**bird, "stripe": ["red"]}}), "stripe is"),
        (json.dumps({name: short}), "wanted an object with"),
        (json.dumps({name: 3}), "wanted an object with"),
    ]
    for text, message in cases:
        (tmp_path / "birds.json").write_text(text)
        with pytest.raises(DatasetError, match=message):
            read_truth(tmp_path)
    (tmp_path / "birds.json").write_bytes(b"\xff")
    with pytest.raises(DatasetError, match="not JSON"):
        read_truth(tmp_path)
