"""What we write is what the field's programs read: by hand, and read back."""

import json

import pytest
from support.pair_records import BIRDS, SCENES, spot

from whatchanged.errors import OutputError
from whatchanged.evaluation.io.predictions import Prediction, aligned, read_predictions
from whatchanged.evaluation.io.results import check_kinds, results_paths, write_results

SAID = ["the cube moved", "there is no change", 'a "quote", é', ""]
ALL = list(zip(SCENES, [Prediction(r.pair_id, s) for r, s in zip(SCENES, SAID, strict=True)], strict=True))


def test_coco(tmp_path):
    write_results(tmp_path / "out.json", "coco", ALL)
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))[:2] == [
        {"image_id": "000028.png", "caption": "the cube moved"},
        {"image_id": "000028.png_n", "caption": "there is no change"},
    ]


def test_the_two_files_of_scorer(tmp_path):
    write_results(tmp_path / "out", "two-files", ALL)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "nsc_results.json",
        "sc_results.json",
    ]
    assert results_paths(tmp_path / "out", "two-files") == (
        tmp_path / "out" / "sc_results.json",
        tmp_path / "out" / "nsc_results.json",
    )
    changed = json.loads((tmp_path / "out" / "sc_results.json").read_text(encoding="utf-8"))
    assert [entry["image_id"] for entry in changed] == ["000028.png", "000256.png"]
    assert changed[1] == {"image_id": "000256.png", "caption": 'a "quote", é'}
    same = json.loads((tmp_path / "out" / "nsc_results.json").read_text(encoding="utf-8"))
    assert [entry["image_id"] for entry in same] == ["000028.png_n", "000256.png_n"]


def test_pcl(tmp_path):
    write_results(tmp_path / "out.json", "pcl", ALL)
    first, *_ = (tmp_path / "out.json").read_text(encoding="utf-8").splitlines()
    assert json.loads(first) == {
        "ImgId": "CLEVR_default_000028.png_CLEVR_semantic_000028.png",
        "candidates": ["the cube moved"],
    }
    birds = [(BIRDS, Prediction(BIRDS.pair_id, "animal1 is red")), (spot(7), Prediction("7.png", "gone"))]
    write_results(tmp_path / "birds.json", "pcl", birds)
    names = [json.loads(line)["ImgId"] for line in (tmp_path / "birds.json").read_text().splitlines()]
    assert names == ["647514_5595152", "7.png_7_2.png"]
    assert [p.caption for p in aligned(read_predictions(tmp_path / "birds.json"), [BIRDS, spot(7)])] == [
        "animal1 is red",
        "gone",
    ]


@pytest.mark.parametrize("form", ["coco", "two-files", "pcl"])
def test_what_is_written_is_read_as_it_was(tmp_path, form):
    write_results(tmp_path / "out", form, ALL)
    write_results(tmp_path / "out", form, ALL)  # again, over it
    assert aligned(read_predictions(tmp_path / "out"), SCENES) == tuple(said for _, said in ALL)


def test_failed_pairs_are_left_out(tmp_path):
    write_results(tmp_path / "out", "coco", [ALL[0], (SCENES[1], Prediction("000028.png_n", error="gone"))])
    assert [p.pair_id for p in read_predictions(tmp_path / "out")] == ["000028.png"]


def test_two_files_want_two_kinds(tmp_path):
    check_kinds("two-files", SCENES)
    check_kinds("coco", [spot(7)])
    for records in ([spot(7)], SCENES[1::2]):
        with pytest.raises(OutputError, match=r"these pairs are of one kind\. Use --format coco"):
            check_kinds("two-files", records)


def test_a_number_in_the_file_of_changed_pairs(tmp_path):
    """As COCO's own ids are; the file tells which pair of the scene is meant."""
    (tmp_path / "sc_results.json").write_text(
        '[{"image_id": 28, "caption": "a"}, {"image_id": 256, "caption": "b"}]'
    )
    (tmp_path / "nsc_results.json").write_text(
        '[{"image_id": "28_n", "caption": "c"}, {"image_id": "000256.png_n", "caption": "d"}]'
    )
    assert [p.caption for p in aligned(read_predictions(tmp_path), SCENES)] == ["a", "c", "b", "d"]


def _others_write(folder, name):
    """ALL as programs of others write it, spelled here by hand; returns the path."""
    path, said = folder / name, {one.pair_id: one.caption for _, one in ALL}
    if name == "run":
        path.mkdir()
        for file, changed in (("sc_results.json", True), ("nsc_results.json", False)):
            own = [(i, c) for i, c in said.items() if i.endswith("_n") != changed]
            listed = [{"caption": c, "image_id": i} for i, c in own]
            (path / file).write_text(json.dumps(listed))
    elif name == "pcl.json":
        lines = []
        for pair, caption in said.items():
            number = pair.removesuffix("_n").removesuffix(".png")
            kind = "nonsemantic" if pair.endswith("_n") else "semantic"
            image = f"CLEVR_default_{number}.png_CLEVR_{kind}_{number}.png"
            lines.append(json.dumps({"ImgId": image, "candidates": [caption]}) + "\n")
        path.write_text("".join(lines))
    elif name == "table.csv":
        rows = ['{},"{}"\n'.format(i, c.replace('"', '""')) for i, c in said.items()]
        path.write_text("id,caption\n" + "".join(rows))
    elif name == "lines.txt":
        path.write_text("".join(f"{said[record.pair_id]}\n" for record in SCENES))
    else:
        forms = {
            "coco.json": [{"image_id": i, "caption": c} for i, c in said.items()],
            "res.json": said,
            "lists.json": {i: [c] for i, c in said.items()},
        }
        path.write_text(json.dumps(forms[name]))
    return path


@pytest.mark.parametrize(
    "name", ["coco.json", "run", "pcl.json", "res.json", "lists.json", "table.csv", "lines.txt"]
)
def test_files_of_others_say_what_ours_do_and_come_back(tmp_path, name):
    read = aligned(read_predictions(_others_write(tmp_path, name), [r.pair_id for r in SCENES]), SCENES)
    assert [(p.pair_id, p.caption) for p in read] == [(p.pair_id, p.caption) for _, p in ALL]
    for form in ("coco", "two-files", "pcl"):
        write_results(tmp_path / f"again-{form}", form, list(zip(SCENES, read, strict=True)))
        assert aligned(read_predictions(tmp_path / f"again-{form}"), SCENES) == read
