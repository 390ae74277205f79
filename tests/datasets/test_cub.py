import json

import pytest
from support.tiny_sets import cub, write

from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError


def test_pictures_classes_and_sentences(tmp_path):
    """Fixture in the documented layout: neither pictures nor sentences could be had."""
    cub(tmp_path)
    opened = open_dataset(tmp_path)
    first, second, third = opened.records
    assert first.pair_id == "001.Black_footed_Albatross/Black_Footed_Albatross_0046_18"
    assert first.group_id == "001.Black_footed_Albatross" and first.after is None
    assert first.before == tmp_path / f"CUB_200_2011/images/{first.pair_id}.jpg"
    assert (first.kind, first.split, first.labels) == ("single_caption", "train", (0,))
    assert (second.split, third.labels) == ("test", (1,))
    assert opened.class_names == ("001.Black_footed_Albatross", "002.Laysan_Albatross")
    assert first.extra == {"box": (1.0, 2.0, 3.5, 4.0)}


def test_texts_with_fewer_good_lines_are_counted_and_none_is_made_up(tmp_path):
    cub(tmp_path)
    opened = open_dataset(tmp_path)
    assert [len(r.captions) for r in opened.records] == [10, 9, 0]
    notes = " | ".join(opened.report.notes)
    assert (
        "fewer than 10 sentences: 1 (first: 001.Black_footed_Albatross/Black_Footed_Albatross_0009_34)"
        in notes
    )
    assert "without captions: 1 (first: 002." in notes


def test_pickled_lists_are_not_opened(tmp_path):
    """A pickle runs code when opened; this one would leave a file."""
    cub(tmp_path)
    left = tmp_path / "left"
    bomb = f"cos\nsystem\n(S'touch {left}'\ntR."
    for split in ("train", "test"):
        write(tmp_path / f"birds/{split}/filenames.pickle", bomb)
    open_dataset(tmp_path)
    assert not left.exists()


def test_lines_of_the_later_form(tmp_path):
    image = "001.Black_footed_Albatross/Black_Footed_Albatross_0046_18.jpg"
    lines = [{"img": image, "description": ["a", "bird"]}, {"img": image, "description": ["it", "sings"]}]
    write(tmp_path / "cub/train.json", "\n".join(map(json.dumps, lines)))
    write(tmp_path / "cub/val.json", json.dumps({"img": "002.X/Y.jpg", "description": [["b"]]}))
    opened = open_dataset(tmp_path, pictures=False)
    first, second = opened.records
    assert opened.name == "cub" and first.pair_id == image.removesuffix(".jpg")
    assert first.captions == ("a bird", "it sings") and first.tokens == (("a", "bird"), ("it", "sings"))
    assert (first.labels, second.labels, second.split) == ((0,), (1,), "val")
    write(tmp_path / "cub/val.json", json.dumps({"img": image, "description": [["b"]]}))
    with pytest.raises(DatasetError, match="is in train and in val"):
        open_dataset(tmp_path, pictures=False)
