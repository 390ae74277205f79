import numpy as np
import pytest
from support.pair_records import pair_record

from whatchanged.captioner.attention import file_name, pack
from whatchanged.errors import PredictionsError
from whatchanged.evaluation.io.maps import read_maps
from whatchanged.evaluation.io.predictions import Prediction

RECORDS = [pair_record(name) for name in "abc"]
CAPTIONS = [Prediction("a", "the cube"), Prediction("b", " "), Prediction("c", error="no picture")]


@pytest.fixture
def folder(tmp_path):
    """The maps of pair a, of 1 x 2 cells: the content word looks at the second cell."""
    about = {"grid": [1, 2], "layer": "last", "model": {"name": "m"}, "list": "l"}
    cells = {"the": [[4, 0]], "cube": [[0, 1]]}
    words = [(word, np.array([cell, cell], np.float32)) for word, cell in cells.items()]
    (tmp_path / file_name(0)).write_bytes(pack({"a": words}, about))
    return tmp_path


def test_each_pair_with_words_has_its_mean_map(folder):
    found = read_maps(folder, RECORDS, CAPTIONS)
    assert (found.grid, found.layer, found.model) == ((1, 2), "last", {"name": "m"})
    assert set(found.of) == {"a"} and found.of["a"].tolist() == [[[0, 1]], [[0, 1]]]


def test_maps_that_do_not_fit(folder):
    with pytest.raises(PredictionsError, match=r"1 pairs have no attention maps \(first: c\)"):
        read_maps(folder, RECORDS, [*CAPTIONS[:2], Prediction("c", "moved")])
    with pytest.raises(PredictionsError, match="the maps of a are of another sentence: 'the cube'"):
        read_maps(folder, RECORDS, [Prediction("a", "the cube moved"), *CAPTIONS[1:]])
    with pytest.raises(PredictionsError, match="no attention maps"):
        read_maps(folder / "none", RECORDS, CAPTIONS)
