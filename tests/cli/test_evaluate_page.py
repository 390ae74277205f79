import json

import numpy as np
import pytest


@pytest.fixture
def captioned(whatchanged, bundle_folder, pictures, tmp_path):
    """A small data set in the official layout, its predictions and their maps."""
    folder = tmp_path / "set"
    names = {"images": "default", "sc_images": "semantic", "nsc_images": "nonsemantic"}
    for room, name in names.items():
        (folder / room).mkdir(parents=True)
        source = pictures[1] if name == "semantic" else pictures[0]
        (folder / room / f"CLEVR_{name}_000000.png").write_bytes(source.read_bytes())
    for name, value in {
        "splits": {"train": [], "val": [], "test": [0]},
        "type_mapping": {"add": ["000000.png"]},
        "change_captions": {"CLEVR_default_000000.png": ["the <b>square</b> changed"]},
        "no_change_captions": {"CLEVR_default_000000.png": ["there is no change"]},
        "change_captions_with_bbox": {"0": {"bbox_before": [], "bbox_after": [32, 16, 16, 16]}},
    }.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    out, maps = tmp_path / "out.jsonl", tmp_path / "maps"
    assert whatchanged("caption", folder, "-o", out, "--attention", maps, "--model", bundle_folder)[0] == 0
    return out, folder, maps


def test_pointing_and_the_page(captioned, whatchanged, tmp_path):
    out, folder, maps = captioned
    page, report = tmp_path / "page.html", tmp_path / "r.json"
    code, said, err = whatchanged(
        "evaluate", out, folder, "--attention", maps, "--html", page, "--json", report
    )
    assert code == 0, err
    assert "Pointing game (%; grid 2 x 3" in said
    found = json.loads(report.read_text())["pointing"]
    assert found["grid"] == [2, 3] and found["model"]["name"] == "tiny"
    assert (found["subsets"]["add"]["hits"]["count"], found["subsets"]["add"]["hits"]["of"]) == (1, 1)
    text = page.read_text()
    assert "Pointing game" in text and "set/sc_images/CLEVR_semantic_000000.png" in text
    assert "<b>" not in text and '"outlines"' in text


def test_maps_that_do_not_fit(captioned, whatchanged, tmp_path):
    out, folder, maps = captioned
    out.write_text(out.read_text().replace("the square changed", "the ball changed"))
    page = tmp_path / "page.html"
    code, _, err = whatchanged("evaluate", out, folder, "--attention", maps, "--html", page)
    assert code == 2 and "of another sentence" in err and not page.exists()
    assert whatchanged("evaluate", out, folder, "--attention", tmp_path)[0] == 2
    code, _, err = whatchanged("evaluate", out, folder, "--html", out)
    assert code == 2 and "one of the inputs" in err


def test_other_formats(whatchanged, tmp_path):
    references = tmp_path / "references.json"
    annotations = [
        {"id": i, "image_id": f"00000{i}.png", "caption": f"the cube moved {i} times"} for i in range(3)
    ]
    references.write_text(json.dumps({"annotations": annotations}))
    results = tmp_path / "results.json"
    results.write_text(
        json.dumps([{"image_id": a["image_id"], "caption": a["caption"]} for a in annotations])
    )
    code, out, err = whatchanged("evaluate", results, references, "--resamples", "0")
    assert code == 0 and "100.0" in out, err
    code, _, err = whatchanged("evaluate", references, references)
    assert code == 2 and "look like references" in err
    code, _, err = whatchanged("evaluate", results, results)
    assert code == 2 and "look like predictions" in err
    code, _, err = whatchanged("evaluate", results, references, "--split", "test")
    assert code == 2 and "knows no splits" in err


def test_retrieval(whatchanged, tmp_path):
    references = tmp_path / "references.jsonl"
    references.write_text('{"id": "a", "captions": ["x", "z"]}\n{"id": "b", "captions": ["y"]}')
    np.save(tmp_path / "s.npy", np.array([[0.9, 0.2, 0.3], [0.1, 0.8, 0.4]]))
    (tmp_path / "s.json").write_text(
        json.dumps({"pairs": ["a", "b"], "texts": [["a", "x"], ["a", "z"], ["b", "y"]]})
    )
    code, out, err = whatchanged(
        "evaluate",
        tmp_path / "s.npy",
        references,
        "--json",
        tmp_path / "r.json",
        "--markdown",
        tmp_path / "r.md",
    )
    assert code == 0 and "text to pair" in out and "66.7" in out, err
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["own_pair"]["pair_to_text"]["expected"]["MnR"] == 1.5
    assert report["own_pair"]["pair_to_text"]["intervals"]["expected"]["MnR"] == [1, 2]
    assert report["sampling"]["resamples"] == 1000 and "1.5 (1.0-2.0)" in out
    plain = whatchanged("evaluate", tmp_path / "s.npy", references, "--resamples", 0)
    assert plain[0] == 0 and "(" not in plain[1].splitlines()[2]
    assert (tmp_path / "r.md").read_text().startswith("### Retrieval")
    code, _, err = whatchanged("evaluate", tmp_path / "s.npy", references, "--json", tmp_path / "s.json")
    assert code == 2 and "one of the inputs" in err
