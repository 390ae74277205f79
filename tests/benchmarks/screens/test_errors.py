"""The sheet of wrong statements: what is shown of a pair, and a file that is a picture."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from whatchanged import describe

pytest.importorskip("matplotlib")

SCRIPT = "screens.errors"


@pytest.fixture
def wrong(bench, tmp_path):
    before = np.full((60, 90, 3), 255, np.uint8)
    after = before.copy()
    after[20:40, 30:60] = (200, 30, 30)
    for end, pixels in (("before", before), ("after", after)):
        Image.fromarray(pixels).save(tmp_path / f"{end}.png")
    answer = describe(tmp_path / "before.png", tmp_path / "after.png")
    pair = {"before": "before.png", "after": "after.png", "box": [5, 6, 15, 16], "sentences": ["A red box."]}
    return bench.Judged(pair, answer, 0.0)


def test_the_part_that_is_shown_holds_both_boxes(bench, wrong):
    room = bench.ROOM
    assert bench.around(wrong) == (5 - room, 6 - room, 60 + room, 40 + room)
    nothing = replace(wrong, answer=replace(wrong.answer, changes=()))
    assert bench.around(nothing) == (5 - room, 6 - room, 15 + room, 16 + room)


def test_the_sheet_shows_both_boxes_in_their_colours(bench, wrong, tmp_path):
    out = tmp_path / "sheet.png"
    bench.draw(tmp_path, [wrong], out)
    colors = np.asarray(Image.open(out).convert("RGB")).reshape(-1, 3).astype(int)
    for wanted in ((10, 138, 58), (208, 32, 32), (200, 30, 30)):
        assert (np.abs(colors - wanted).max(axis=1) < 30).any()
    assert not (tmp_path / "sheet.large.png").exists()
