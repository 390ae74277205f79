import json

import pytest

from whatchanged.compare.ignore import Ignored, boxes_of, read_ignored, unused_boxes
from whatchanged.errors import WhatchangedError


def test_patterns_boxes_and_reasons(tmp_path):
    path = tmp_path / "boxes.json"
    document = {"*": [[0, 0, 5, 6]], "home/*.png": [{"box": [1, 2, 3, 4], "reason": "the clock"}]}
    path.write_text(json.dumps(document))
    results = read_ignored(path)
    assert results == (Ignored("*", (0, 0, 5, 6)), Ignored("home/*.png", (1, 2, 3, 4), "the clock"))
    assert boxes_of(results, "home/a.png") == [(0, (0, 0, 5, 6)), (1, (1, 2, 3, 4))]
    assert boxes_of(results, "Home/a.png") == [(0, (0, 0, 5, 6))]
    assert str(results[1]) == "home/*.png [1, 2, 3, 4] (the clock)"
    assert unused_boxes(results, [1]) == [results[0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "a JSON object is wanted, this is a list"),
        ('{"*": 3}', "should be a list of boxes"),
        ('{"*": [[1, 2, 3]]}', "box 1: wanted"),
        ('{"*": [[0, 0, 1, 1], [5, 5, 5, 9]]}', "box 2: wanted"),
        ('{"*": [[0, 0, 1.5, 1]]}', "box 1: wanted"),
        ('{"*": [[-1, 0, 1, 1]]}', "box 1: wanted"),
        ('{"*": [{"box": [0, 0, 1, 1], "why": "x"}]}', "box 1: wanted"),
        ('{"*": [{"reason": "x"}]}', "box 1: wanted"),
        ('{"*": [[0, 0, 1, 1' + "0" * 400 + "]]}", "not JSON"),
        ('{"*": [[0, 0, 1, 1' + "0" * 5000 + "]]}", "not JSON"),
        ('{"*": [[0, 0, 1, 1' + "0" * 250 + "]]}", "box 1: wanted"),
        ('{"*": [[0, 0, 1, 1e999]]}', "box 1: wanted"),
        ('{"*": [[0, 0, 1, NaN]]}', "box 1: wanted"),
        # what Python up to 3.11 does not read so deep
        ('{"*": ' + "[" * 5000 + "]" * 5000 + "}", "not JSON|box 1: wanted"),
        ('{"*": [[[0, 0, 1, 1]]]}', "box 1: wanted"),
        ('{"*": [[0, 0, true, 1]]}', "box 1: wanted"),
    ],
)
def test_a_mistake_is_named(tmp_path, text, message):
    path = tmp_path / "boxes.json"
    path.write_text(text)
    with pytest.raises(WhatchangedError, match=message):
        read_ignored(path)


def test_a_file_that_is_not_there_or_too_large(tmp_path, monkeypatch):
    with pytest.raises(WhatchangedError, match="cannot read the file"):
        read_ignored(tmp_path / "no.json")
    monkeypatch.setattr("whatchanged.compare.ignore.MOST_BYTES", 3)
    (tmp_path / "boxes.json").write_text('{"*": []}')
    with pytest.raises(WhatchangedError, match="larger than 3 bytes"):
        read_ignored(tmp_path / "boxes.json")


def test_too_many_boxes_for_one_picture(monkeypatch):
    monkeypatch.setattr("whatchanged.compare.ignore.MOST_BOXES", 1)
    boxes = [Ignored("*", (0, 0, 1, 1)), Ignored("a*", (0, 0, 1, 1))]
    assert len(boxes_of(boxes, "b.png")) == 1
    with pytest.raises(WhatchangedError, match="2 ignored boxes; at most 1"):
        boxes_of(boxes, "a.png")


def test_a_pattern_fits_a_name_in_another_unicode_form():
    ignored = [Ignored("caf\u00e9/*", (0, 0, 1, 1))]
    assert boxes_of(ignored, "cafe\u0301/a.png") == [(0, (0, 0, 1, 1))]
    assert boxes_of(ignored, "cafe/a.png") == []
