import pytest
from support.tiny_sets import paint, spot_the_diff, write

from whatchanged.datasets import open_dataset
from whatchanged.datasets.spot_the_diff_multi import multi_text


def test_all_sentences_of_a_pair_become_one_reference(tmp_path):
    spot_the_diff(tmp_path)
    records = open_dataset(tmp_path, "spot_the_diff_multi").records
    assert records[0].captions == ("the person is gone. . the suv is gone",)
    assert records[0].extra["sentences"] == ("the person is gone", "", "the suv is gone")
    assert [r.pair_id for r in records] == ["235.png", "256.png", "10.png", "1.png"]


@pytest.mark.parametrize(
    "sentences, text",
    [
        (["a b", "c"], "a b. c"),
        (["", " "], ""),
        (["", "a"], ". a"),
        (["w " * 30 + "x", "y " * 30], " ".join(["w"] * 30 + ["x."] + ["y"] * 29)),
        (["w " * 59 + "x"], "w " * 59 + "x"),
    ],
)
def test_texts_are_cut_at_sixty_words(sentences, text):
    assert multi_text(sentences) == text


def test_the_renamed_files_are_recognised(tmp_path):
    write(tmp_path / "change_multi_captions.json", {"000235.png": ["a. b"], "000007.png": [""]})
    write(tmp_path / "splits.json", {"train": [235, 7], "val": [], "test": []})
    for folder in ("images", "sc_images"):
        paint(tmp_path / folder / "000235.png")
    opened = open_dataset(tmp_path)
    (record,) = opened.records
    assert opened.name == "spot_the_diff_multi"
    assert (record.pair_id, record.captions) == ("235.png", ("a. b",))
    assert record.after == tmp_path / "sc_images/000235.png"
    assert any("empty texts" in note and "000007.png" in note for note in opened.report.notes)
    kept = open_dataset(tmp_path, "spot_the_diff_multi_blanks", pictures=False).records
    assert [(r.pair_id, r.captions) for r in kept] == [("7.png", ("",)), ("235.png", ("a. b",))]


def test_pairs_of_blank_sentences_are_kept_on_request(tmp_path):
    entries = [{"img_id": "1", "sentences": ["", " "]}, {"img_id": "2", "sentences": ["a man"]}]
    write(tmp_path / "test.json", entries)
    kept = open_dataset(tmp_path, "spot_the_diff_multi_blanks", pictures=False).records
    assert [(r.pair_id, r.captions) for r in kept] == [("1.png", ("",)), ("2.png", ("a man",))]


def test_every_real_text_follows_from_the_annotations(annotations):
    """Our join of the official sentences is CARD's file, text for text: two sources, one result."""
    ours = open_dataset(annotations / "spot_the_diff", "spot_the_diff_multi", pictures=False)
    card = open_dataset(annotations / "spot_the_diff/card_multi", pictures=False)
    assert card.name == "spot_the_diff_multi"
    texts = {r.pair_id: (r.split, r.captions) for r in ours.records}
    assert texts == {r.pair_id: (r.split, r.captions) for r in card.records}
    assert len(texts) == 11_329 - 48
