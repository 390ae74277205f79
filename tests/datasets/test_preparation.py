import json
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatchanged.datasets import open_dataset
from whatchanged.datasets.preparation import (
    PREPARATIONS,
    bird_words,
    card_words,
    cub_words,
    ier_words,
    preparation,
    rcc_words,
)
from whatchanged.errors import DatasetError
from whatchanged.recipes.sources.dataset import PreparationName
from whatchanged.records import PairRecord

RAW_BIRDS = (
    "Animal 1 has a brown and white face, animal 2 has a black and bright blue face. Animal 1 has a "
    "white breast with black spots, animal 2 has a brown breast. Animal 1 has brown wings, animal 2 has "
    "green wings."
)


@pytest.mark.parametrize(
    "words, caption, wanted",
    [
        (rcc_words, "The cube, it  moved?", "The cube , it moved"),
        (rcc_words, "a,b; c.", "a ,b ; c"),
        (card_words, "a b. c d", "a b <SEP> c d"),
        (card_words, "is it? yes.", "is it <SEP> yes <SEP>"),
        (ier_words, ' Don\'t crop -- "it"... Now... go!', 'don \' t crop - - " it " . . . now ... go !'),
        (bird_words, "Animal 1 has a face, animal  2 none.", "animal1 has a face , animal2 none ."),
        (bird_words, "It's multi-colored, doesn't sing;", "it 's multi - colored , does n't sing ;"),
        (bird_words, '"puffy"/2.5...', "`` puffy `` / 2.5 ..."),
        (cub_words, "A Bird\ufffd\ufffdis small, caf\u00e9.", "a bird is small caf"),
    ],
)
def test_words_worked_out_by_hand(words, caption, wanted):
    assert " ".join(words(caption)) == wanted


def test_a_real_raw_description_gives_its_published_tokens(annotations):
    records = open_dataset(annotations / "birds_to_words", pictures=False).records
    (record,) = (r for r in records if r.pair_id == "647514_5595152")
    assert tuple(bird_words(RAW_BIRDS)) in record.tokens


def test_recipes_know_exactly_these_names():
    assert get_args(PreparationName) == tuple(PREPARATIONS)


def test_an_unknown_name():
    with pytest.raises(DatasetError, match=r"Unknown preparation 'clip'. Known: none, rcc-clevr-change"):
        preparation("clip")


@given(st.text(max_size=60))
@pytest.mark.parametrize("name", PREPARATIONS)
def test_a_prepared_caption_stays_as_it_is_when_cut_at_blanks(name, caption):
    """What a model is trained on is cut at blanks again: no word is empty or holds one."""
    rule = PREPARATIONS[name]
    words = rule.words(caption)
    assert rule.text(caption).split() == words[: rule.most_words]
    assert len(rule.text(caption).split()) <= (rule.most_words or len(words))


def test_pcl_keeps_three_places_less_than_its_length():
    assert [PREPARATIONS[n].most_words for n in ("pcl-clevr-change", "pcl-birds", "pcl-cub")] == [37, 77, 37]
    assert len(PREPARATIONS["pcl-birds"].text("w " * 200).split()) == 77


REAL = [
    ("ier", "image_editing_request", "image_editing_request", None),
    ("nct-image-editing-request", "image_editing_request", "image_editing_request", None),
    ("card-spot-the-diff", "spot_the_diff", "spot_the_diff_multi", "card_multi/transformer_multi_vocab.json"),
    ("pcl-birds", "birds_to_words", "birds_to_words", "tokenised/dict.json"),
]


@pytest.mark.parametrize("rule, folder, name, file", REAL)
def test_real_captions_give_the_published_vocabulary(annotations, rule, folder, name, file):
    records = open_dataset(annotations / folder, name, pictures=False).records
    known = preparation(rule).known(records)
    assert len(known) == preparation(rule).vocabulary
    if file:
        marks = {"", "<NULL>", "<UNK>", "<START>", "<END>", "<PAD>", "<BOS>", "<EOS>", "<CLS>"}
        assert set(known) == set(json.loads((annotations / folder / file).read_text())) - marks


def test_real_bird_tokens_are_left_as_they_are_and_cut_as_published(annotations):
    records = open_dataset(annotations / "birds_to_words", pictures=False).records
    rule = preparation("pcl-birds")
    for record in records:
        assert [tuple(rule.words(caption)) for caption in record.captions] == list(record.tokens)
    cut = {
        s: rule.truncated([c for r in records if r.split == s for c in r.captions])
        for s in ("train", "val", "test")
    }
    assert cut == {"train": 300, "val": 24, "test": 40}


def test_real_satellite_captions_give_the_published_vocabulary(annotations, tmp_path):
    lines = (annotations / "levir_cc/levir_cc_captions.jsonl").read_text().splitlines()
    images = []
    for entry in map(json.loads, lines):
        sentences = [{"raw": caption} for caption in entry["captions"]]
        images.append({"filename": entry["filename"], "split": entry["split"], "sentences": sentences})
    (tmp_path / "LevirCCcaptions.json").write_text(json.dumps({"images": images}))
    records = open_dataset(tmp_path, pictures=False).records
    published = set(json.loads((annotations / "levir_cc/vocab.json").read_text()))
    assert set(preparation("levir").known(records)) == published - {"<NULL>", "<UNK>", "<START>", "<END>"}


def test_real_sample_captions_of_clevr_use_known_words(annotations):
    """The captions themselves could not be had; examples quoted from them use the published words only."""
    examples = json.loads((annotations / "clevr_change/example_captions.json").read_text())
    captions = [c for value in examples.values() if isinstance(value, list) for c in value]
    vocabulary = set(json.loads((annotations / "clevr_change/vocab.json").read_text()))
    rule = preparation("rcc-clevr-change")
    assert len(captions) == 34
    assert all(set(rule.words(c)) <= vocabulary and len(rule.words(c)) <= rule.most_words for c in captions)


def record(number, split="train", **more):
    paths = Path("b.png"), Path("a.png")
    return PairRecord("d", str(number), str(number), split, "pair_caption", *paths, **more)


def test_the_longest_caption_is_of_any_split_and_of_a_changed_pair():
    """Three words, five, a prepared comma counts; BOS and EOS come on top."""
    records = [
        record(0, captions=("a b c",)),
        record(1, split="test", captions=("a b", "a b c, d")),
        record(2, captions=("one two three four five six seven",), changed=False),
    ]
    assert preparation("none").longest(records) == 4 + 2
    assert preparation("rcc-clevr-change").longest(records) == 5 + 2
    assert preparation("rcc-clevr-change").longest([record(3, captions=(" ".join("a" * 60),))]) == 24
    assert preparation("none").longest([]) == 0
