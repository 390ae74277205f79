"""What is measured of many pairs, in one hash."""

import json

import numpy as np
import pytest
from PIL import Image

from benchmarks.screens.same_measured import main


@pytest.fixture
def folder(tmp_path):
    before = np.full((40, 60, 3), 240, np.uint8)
    for number in range(4):
        after = before.copy()
        after[10 : 20 + number, 10:30] = 30
        Image.fromarray(before).save(tmp_path / f"{number}-0.png")
        Image.fromarray(after).save(tmp_path / f"{number}-1.png")
    lines = [{"id": f"p{k}", "before": f"{k}-0.png", "after": f"{k}-1.png"} for k in range(4)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def hash_of(capsys, *arguments):
    assert main(list(map(str, arguments))) == 0
    return capsys.readouterr().out


def test_the_hash_is_that_of_the_pictures_and_of_as_many_pairs_as_are_asked(folder, capsys):
    whole = hash_of(capsys, folder)
    assert whole.startswith("4 pairs: ")
    assert hash_of(capsys, folder) == whole
    assert hash_of(capsys, folder, "--every", 2).startswith("2 pairs: ")
    (folder / "3-1.png").write_bytes((folder / "2-1.png").read_bytes())
    assert hash_of(capsys, folder) != whole


def test_pairs_that_differ_are_named_and_a_picture_that_is_refused_counts(folder, capsys):
    kept = folder / "kept"
    hash_of(capsys, folder, "--keep", kept)
    assert main([str(folder), "--against", str(kept)]) == 0
    (folder / "2-1.png").write_bytes(b"no picture")
    capsys.readouterr()
    assert main([str(folder), "--against", str(kept)]) == 1
    assert capsys.readouterr().err == "differs: p2\n"
