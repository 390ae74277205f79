import json

import pytest
from support.tiny_sets import nabirds, write

from whatchanged.datasets import open_dataset
from whatchanged.errors import DatasetError


def test_classes_are_dense_and_keep_their_names(tmp_path):
    """Fixture in the documented layout: the data set is given out by hand only."""
    nabirds(tmp_path)
    opened = open_dataset(tmp_path)
    first, second, third = opened.records
    assert opened.class_names == ("Loon", "Oak Titmouse (Adult Male)")
    assert (first.labels, second.labels, third.labels) == ((1,), (0,), (1,))
    assert first.extra == {"class_id": "817", "parent": "0", "box": (83.0, 59.0, 128.0, 228.0)}
    assert any("2 of the 4 in classes.txt" in note for note in opened.report.notes)


def test_ids_have_dashes_and_file_names_have_none(tmp_path):
    nabirds(tmp_path)
    first = open_dataset(tmp_path).records[0]
    assert first.pair_id == "0000139e-21dc-4d0c-bfe1-4cae3c85c829"
    assert first.before == tmp_path / "images/0817/0000139e21dc4d0cbfe14cae3c85c829.jpg"
    assert (first.split, first.kind, first.captions) == ("test", "single_label", ())


def test_classes_are_in_the_order_of_their_numbers(tmp_path):
    nabirds(tmp_path)
    for name in ("classes.txt", "image_class_labels.txt"):
        content = (tmp_path / name).read_text()
        write(tmp_path / name, content.replace("328", "1009"))
    assert open_dataset(tmp_path).class_names == ("Oak Titmouse (Adult Male)", "Loon")


@pytest.mark.parametrize(
    "label, message", [(1, None), (0, "label 0, but the classes are 4 and 4"), (2, "0 or 1")]
)
def test_pairs_of_the_later_form(tmp_path, label, message):
    line = {"img1": "a.jpg", "img2": "b.jpg", "class_id1": 4, "class_id2": 4, "label": label}
    write(tmp_path / "train.json", json.dumps(line))
    if message:
        with pytest.raises(DatasetError, match=message):
            open_dataset(tmp_path, pictures=False)
        return
    opened = open_dataset(tmp_path, pictures=False)
    (record,) = opened.records
    assert opened.name == "nabirds" and opened.report.differences == ()
    assert (record.pair_id, record.labels, record.same_class) == ("a_b", (4, 4), True)
    assert record.kind == "pair_label"
