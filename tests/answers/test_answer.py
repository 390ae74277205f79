import json

import numpy as np
from PIL import Image

from whatchanged.answers import Answerer
from whatchanged.errors import ImageError

ORDER = [
    *("id", "caption", "no_change", "verdict", "doubtful", "answer", "group", "changes"),
    *("before", "after", "size_before", "size_after", "unfamiliar", "changed"),
]


def picture(square=None):
    pixels = np.full((60, 80, 3), 240, np.uint8)
    if square is not None:
        pixels[20:40, 30:50] = square
    return Image.fromarray(pixels)


def test_a_measured_line_has_its_fields_in_order():
    answer = Answerer(strict=True).answer(picture(), picture((200, 0, 0)))
    fields = answer.as_json("7", "a.png", "b.png", group=3)
    assert [key for key in ORDER if key in fields] == list(fields)
    assert set(ORDER) - set(fields) == {"unfamiliar"}
    assert fields["answer"] == "measured" and fields["verdict"] == "changed" and fields["changed"] is True
    assert fields["size_before"] == fields["size_after"] == [80, 60]
    assert fields["changes"][0]["box_after"] == [30, 20, 50, 40]
    assert json.loads(json.dumps(fields, allow_nan=False)) == fields


def test_equal_pictures():
    fields = Answerer().answer(picture(), picture()).as_json()
    assert fields["verdict"] == "identical" and fields["changes"] == [] and fields["changed"] is False
    assert not {"id", "before", "after", "group"} & set(fields)


def test_a_pair_that_cannot_be_read_has_its_error_in_a_batch(tmp_path):
    results = Answerer().answer_batch([(picture(), tmp_path / "none.png"), (picture(), picture())])
    assert isinstance(results[0], ImageError) and results[1].verdict == "identical"
