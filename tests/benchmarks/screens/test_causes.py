"""How groups are held against labelled causes."""

import json

import numpy as np
import pytest
from PIL import Image
from support.drawn_page import page, with_box

SCRIPT = "screens.causes"

RED, GREEN = (220, 30, 30), (20, 150, 60)


@pytest.fixture
def pairs(tmp_path):
    """Three pages with a new red box, two with a longer canvas, one that is as it was."""
    records = []
    for number in range(6):
        before = page(220, 130)
        after = before
        if number < 3:
            after = with_box(before, (120, 80, 160, 110), RED)
        elif number < 5:
            after = page(220, 170)
        names = [f"{number}-{end}.png" for end in ("before", "after")]
        for name, pixels in zip(names, (before, after), strict=True):
            Image.fromarray(np.asarray(pixels, np.uint8)).save(tmp_path / name)
        records.append(
            {
                "before": names[0],
                "after": names[1],
                "path": f"shots/{number}.png",
                "repo": "some/where",
                "commit": f"c{number}",
                "visible": ("yes", "yes", "uncertain", "yes", "yes", "no")[number],
                "visible_change": "yes" if number < 5 else "no",
                "causes": ["box" if number < 3 else "longer" if number < 5 else "none"],
            }
        )
    return records


def test_only_what_is_visible_is_held_against_the_causes(pairs, tmp_path, bench):
    row = bench.row_of("0123456789", pairs, tmp_path)
    assert (row["pairs"], row["visible"], row["causes"], row["groups"]) == (6, 4, 2, 2)
    assert row["ARI"] == row["ARI, all pairs"] == 1


def test_pairs_in_no_group_are_not_of_one_group(bench, pairs, tmp_path):
    same = [bench.measure(tmp_path / pair["before"], tmp_path / pair["before"]) for pair in pairs]
    assert len(set(bench.labels_of(same))) == len(pairs)


def test_the_better_of_fine_and_broad_causes_counts(bench):
    pairs = [{"causes": [fine], "broad": ["all"]} for fine in "aabb"]
    assert bench.fit_of(pairs, [0, 0, 0, 0], range(4)) == 1
    assert bench.fit_of(pairs, [0, 0, 1, 1], range(4)) == 1
    assert bench.fit_of(pairs, [0, 1, 0, 1], range(4)) < 0.1


def test_the_share_of_unrelated_pairs_that_stay_alone(pairs, tmp_path, bench, monkeypatch):
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, pairs[2:4])), encoding="utf-8")
    monkeypatch.setattr(bench, "BATCHES", {2: 3})
    assert bench.alone(tmp_path) == [{"commit": "2 commits, 3 batches", "alone": 1.0}]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, pairs[:2])), encoding="utf-8")
    assert bench.alone(tmp_path)[0]["alone"] == 0.0
