from pathlib import Path

import numpy as np
import pytest

from whatchanged.captioner.attention import AttentionFiles, file_name, pack
from whatchanged.errors import PredictionsError
from whatchanged.evaluation.io.predictions import Prediction
from whatchanged.evaluation.report.page_data import pair_scores, shown
from whatchanged.records import PairRecord

# The vector V1 of the published scorers (pycocoevalcap 1.2), pair by pair.
CAPTIONS = ("the red cube turned blue", "There is no change.", "the small green ball is missing")
REFERENCES = (
    ("the big red cube changed to blue", "the red metal block turned blue"),
    ("there is no change", "the scene remains the same"),
    ("the small green sphere has disappeared", "the green ball is gone", "someone removed the green ball"),
)


def test_the_published_values_of_each_pair():
    scores = pair_scores(CAPTIONS, REFERENCES)
    assert scores["ROUGE-L"] == pytest.approx([71.5542522, 100, 73.93939394], rel=1e-8)
    assert scores["CIDEr-D"] == pytest.approx([234.3732186, 500, 258.8251527], rel=1e-8)


def test_scenes_and_maps(tmp_path):
    records = [
        PairRecord("plain", name, name, "test", "pair_caption", Path("a"), Path("b"), captions)
        for name, captions in zip("abc", REFERENCES, strict=True)
    ]
    said = [Prediction("a", "gone"), Prediction("b", ""), Prediction("c", error="no picture")]
    found = shown(records, said, {})
    assert found.verdicts == [None] * 3 and found.heat is None and len(found.rouge) == 3
    about = {"grid": [1, 2], "layer": "l", "model": "m", "list": "l"}
    maps = np.ones((2, 1, 2), np.float32)
    (tmp_path / file_name(0)).write_bytes(pack({"a": [("gone", maps)]}, about))
    found = shown(records, said, {}, "plain", AttentionFiles(tmp_path))
    assert (
        found.mapped == {"a"} and found.heat is not None and found.heat("a").tolist() == [[[1, 1]], [[1, 1]]]
    )
    with pytest.raises(PredictionsError, match="no attention maps"):
        shown(records, [*said[:2], Prediction("c", "moved")], {}, "ptb", AttentionFiles(tmp_path))
