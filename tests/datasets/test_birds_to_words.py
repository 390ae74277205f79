import json
import shutil

import pytest
from support.tiny_sets import birds_to_words, write

from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError


def test_the_table_joins_the_rows_of_a_pair(tmp_path):
    """Fixture in the documented layout: the original table could not be had."""
    birds_to_words(tmp_path)
    opened = open_dataset(tmp_path)
    assert [(r.pair_id, r.split) for r in opened.records] == [
        ("647514_5595152", "val"),
        ("11_12", "train"),
        ("11_13", "test"),
    ]
    first = opened.records[0]
    assert first.captions == (
        "Animal 1 has a brown face,\tanimal 2\nhas a blue one.",
        "They are the same.",
    )
    assert first.before == tmp_path / "images/647514.jpg" and first.after.name == "5595152.jpg"
    assert first.same_class is True and first.tokens is None
    assert first.extra["annN"] == ["1", "2"] and first.extra["selection"] == ("base", "base")
    assert opened.records[1].captions == ('Animal 1 is "puffy".',)


def test_photographs_of_two_splits_are_counted(tmp_path):
    birds_to_words(tmp_path)
    notes = " | ".join(open_dataset(tmp_path).report.notes)
    assert "photographs that an earlier split has too: 0 of val, 1 of test" in notes


def test_a_dead_photograph_drops_its_pair_with_a_count(tmp_path):
    birds_to_words(tmp_path)
    (tmp_path / "images/5595152.jpg").unlink()
    opened = open_dataset(tmp_path, skip_missing=True)
    assert opened.report.skipped == ("647514_5595152",) and len(opened.records) == 2


def test_lines_of_tokens_and_their_negatives(tmp_path):
    pair = {"img1": "1", "img2": "2"}
    lines = [{**pair, "description": ["animal1", "is", "red"]}, {**pair, "description": ["both", "sing"]}]
    write(tmp_path / "train.json", "\n".join(map(json.dumps, lines)))
    write(tmp_path / "val.json", json.dumps({"img1": "3", "img2": "4", "description": [["a", "."], ["b"]]}))
    negatives = {**pair, "sentences": ["animal1 is red"], "neg_samples": ["animal2 is red"]}
    write(tmp_path / "train_neg_tfidf6.json", json.dumps(negatives))
    first, second = open_dataset(tmp_path, pictures=False).records
    assert first.captions == ("animal1 is red", "both sing")
    assert first.tokens == (("animal1", "is", "red"), ("both", "sing"))
    assert first.negatives == ("animal2 is red",) and second.negatives == ()
    assert second.captions == ("a .", "b") and second.split == "val"


def test_lines_of_raw_sentences(tmp_path):
    line = {"img1": "1", "img2": "2", "description": ["Animal 1 is red.", "Animal 2 is blue."]}
    write(tmp_path / "train.json", json.dumps(line))
    (record,) = open_dataset(tmp_path, pictures=False).records
    assert record.captions == ("Animal 1 is red.", "Animal 2 is blue.") and record.tokens is None


@pytest.mark.parametrize(
    "description, message",
    [
        (None, "no 'description'"),
        ([], "no 'description'"),
        ([[1]], "should be tokens, or lists of tokens"),
        ([["a"], []], "caption 2 is empty"),
    ],
)
def test_descriptions_that_are_none(tmp_path, description, message):
    write(tmp_path / "train.json", json.dumps({"img1": "1", "img2": "2", "description": description}))
    with pytest.raises(DatasetError, match=message):
        open_dataset(tmp_path, "birds_to_words", pictures=False)


def test_the_real_files_give_the_published_counts(annotations, tmp_path, pictures_for):
    counts = json.loads((annotations / "counts.json").read_text())["birds_to_words"]
    shutil.copytree(
        annotations / "birds_to_words/tokenised", tmp_path / "tokenised", copy_function=shutil.copy
    )
    records = open_dataset(tmp_path, pictures=False).records
    pictures_for(records, tmp_path / "seed.jpg")
    opened = open_dataset(tmp_path)
    assert opened.name == "birds_to_words" and opened.report.differences == ()
    for split in ("train", "val", "test"):
        here = [r for r in opened.records if r.split == split]
        assert len(here) == counts["pairs"][split]
        assert sum(len(r.captions) for r in here) == counts["captions"][split]
    assert len({path for r in records for path in (r.before, r.after)}) == counts["images"]
    assert any("30 of val, 28 of test" in note for note in opened.report.notes)
    assert sum(len(r.captions) >= 8 for r in records) == 39


def test_the_real_captions_are_the_files_tokens(annotations):
    records = {r.pair_id: r for r in open_dataset(annotations / "birds_to_words", pictures=False).records}
    line = json.loads((annotations / "birds_to_words/tokenised/val.jsonl").read_text().partition("\n")[0])
    record = records[f"{line['img1']}_{line['img2']}"]
    assert record.tokens == tuple(map(tuple, line["description"]))
    assert record.captions[0] == " ".join(line["description"][0])
