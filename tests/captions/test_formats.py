"""``caption --format``: the same captions as the field's programs write them."""

import json

import pytest
from support.tiny_sets import clevr_change
from support.trees import state

from whatchanged.datasets import open_dataset
from whatchanged.evaluation.io.predictions import aligned, read_predictions


@pytest.fixture
def scenes(tmp_path):
    clevr_change(tmp_path / "scenes")
    return tmp_path / "scenes"


@pytest.mark.parametrize("form", ["coco", "two-files", "pcl"])
def test_every_format_holds_our_captions(caption, scenes, tmp_path, form):
    assert caption(scenes, "-o", tmp_path / "ours.jsonl")[0] == 0
    out = tmp_path / "out"
    code, _, err = caption(scenes, "-o", out, "--format", form)
    assert code == 0 and f"4 pairs captioned: {out}\n" in err
    records = open_dataset(scenes).records
    own, ours = (aligned(read_predictions(path), records) for path in (out, tmp_path / "ours.jsonl"))
    assert [(p.pair_id, p.caption) for p in own] == [(p.pair_id, p.caption) for p in ours]
    assert (tmp_path / "out.lines.jsonl").read_bytes() == (tmp_path / "ours.jsonl").read_bytes()
    # an output that exists is kept, unless told otherwise
    code, _, err = caption(scenes, "-o", out, "--format", form)
    assert code == 2 and "exists already" in err
    assert caption(scenes, "-o", out, "--format", form, "--resume")[0] == 0
    assert caption(scenes, "-o", out, "--format", form, "--force")[0] == 0


def test_the_files_as_they_are_spelled(caption, scenes, tmp_path):
    caption(scenes, "-o", tmp_path / "out", "--format", "two-files", "--split", "test")
    assert json.loads((tmp_path / "out" / "sc_results.json").read_text()) == [
        {"image_id": "001205.png", "caption": "there is no change"}
    ]
    assert json.loads((tmp_path / "out" / "nsc_results.json").read_text())[0]["image_id"] == "001205.png_n"


def test_a_pair_that_failed_is_told(caption, scenes, tmp_path):
    (scenes / "nsc_images" / "CLEVR_nonsemantic_000003.png").write_text("no picture")
    code, _, err = caption(scenes, "-o", tmp_path / "out.json", "--format", "coco")
    assert code == 1 and "1 of 4 pairs failed; the file says why" in err and "out.json.lines.jsonl" in err
    assert [entry["image_id"] for entry in json.loads((tmp_path / "out.json").read_text())] == [
        "000003.png",
        "001205.png",
        "001205.png_n",
    ]


def test_two_files_of_pairs_of_one_kind(caption, pictures, tmp_path):
    (tmp_path / "pairs.csv").write_text("before,after\nbefore.png,after.png\n")
    code, _, err = caption(tmp_path / "pairs.csv", "-o", tmp_path / "out", "--format", "two-files")
    assert code == 2 and "Use --format coco" in err
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.lines.jsonl").exists()


def test_a_place_that_cannot_be_written(caption, scenes, tmp_path):
    (tmp_path / "file").write_text("mine")
    for place, message in (
        ("file", "this is a file"),
        ("none/out", "is not there. Make it first"),
    ):
        code, _, err = caption(scenes, "-o", tmp_path / place, "--format", "two-files")
        assert code == 2 and message in err
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("form", ["coco", "two-files", "pcl"])
@pytest.mark.parametrize("place", [".", "/"])
def test_a_place_without_a_name(caption, scenes, form, place):
    code, _, err = caption(scenes, "-o", place, "--format", form)
    assert code == 2 and f"{place}: this output has no name of its own" in err
    code, _, err = caption(scenes, "-o", scenes / "splits.json", "--format", "coco", "--force")
    assert code == 2 and "belongs to one of the inputs" in err
    assert (scenes / "splits.json").read_text().startswith("{")


@pytest.mark.parametrize(
    ("place", "target"),
    [
        ("out", "../victim"),
        ("out", "../victim/new"),
        ("out/sc_results.json", "../../victim/profile"),
        ("out/nsc_results.json", "../../victim/new"),
        ("out.lines.jsonl", "../victim/profile"),
    ],
)
def test_a_planted_link_is_named_and_nothing_written(caption, scenes, tmp_path, place, target):
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "profile").write_text("mine")
    link = tmp_path / "work" / place
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    before = state(tmp_path)
    code, _, err = caption(scenes, "-o", tmp_path / "work" / "out", "--format", "two-files", "--force")
    assert code == 2 and f"{link}: this is a link to" in err and state(tmp_path) == before
