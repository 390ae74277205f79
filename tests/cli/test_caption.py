import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.captioned import lines
from support.trees import state

from whatchanged.answers import models


def test_one_line_a_pair_in_order(caption, pairs, tmp_path):
    out = tmp_path / "out.jsonl"
    code, stdout, err = caption(pairs, "-o", out, "--batch-size", "3")
    assert (code, stdout) == (0, "") and "7 pairs captioned" in err
    assert [line["id"] for line in lines(out)] == [f"p{i}" for i in range(7)]
    assert [list(line)[:3] for line in lines(out)] == [["id", "caption", "no_change"]] * 7
    assert [line["verdict"] for line in lines(out)] == ["identical", "changed"] * 3 + ["identical"]
    assert {line["answer"] for line in lines(out)} == {"tiny"}
    assert (lines(out)[1]["before"], lines(out)[1]["after"]) == ("before.png", "after.png")
    assert lines(out)[1]["size_after"] == [48, 32] and not any("changes" in line for line in lines(out))
    assert [line["caption"] for line in lines(out)] == ["there is no change", "the square changed"] * 3 + [
        "there is no change"
    ]
    assert caption(pairs, "-o", tmp_path / "quiet.jsonl", "--quiet")[2] == ""


def test_unfamiliar_pairs_are_marked(whatchanged, wary_folder, pairs, red, tmp_path):
    pairs.write_text(pairs.read_text() + "red.png,before.png,strange\n")
    out = tmp_path / "out.jsonl"
    code, _, err = whatchanged("caption", "--model", wary_folder, pairs, "-o", out)
    assert code == 0 and "1 of the pairs captioned now" in err and "tiny" in err
    assert [line["unfamiliar"] for line in lines(out)] == [False] * 7 + [True]
    assert list(lines(out)[0])[:3] == ["id", "caption", "no_change"]
    quiet = whatchanged("caption", "--model", wary_folder, pairs, "-o", out, "--force", "--quiet")
    assert (quiet[0], quiet[2]) == (0, "")


def test_the_sidecar_names_model_and_list(caption, pairs, tmp_path):
    caption(pairs, "-o", tmp_path / "out.jsonl")
    meta = json.loads((tmp_path / "out.jsonl.meta.json").read_text())
    assert meta["model"]["name"] == "tiny" and len(meta["model"]["fingerprint"]) == 64
    assert meta["list"]["pairs"] == 7 and len(meta["list"]["sha256"]) == 64


def test_without_a_named_model_whoever_knows_a_pair_answers_it(whatchanged, pairs, tmp_path):
    demo = Path(models.__file__).parents[1] / "models" / "demo"
    grain = np.random.default_rng(0).integers(0, 256, (160, 240, 3), np.uint8)
    Image.fromarray(grain).save(tmp_path / "grain.png")
    grain[60:100, 80:160] = 0
    Image.fromarray(grain).save(tmp_path / "other.png")
    pairs.write_text("before,after,id\ngrain.png,other.png,grain\nscene.png,moved.png,scene\n")
    shutil.copy(demo / "02-before.png", tmp_path / "scene.png")
    shutil.copy(demo / "02-after.png", tmp_path / "moved.png")
    out = tmp_path / "out.jsonl"
    code, _, err = whatchanged("caption", pairs, "-o", out)
    assert code == 0 and "1 of the pairs captioned now were measured" in err
    grainy, scene = lines(out)
    assert (grainy["answer"], scene["answer"]) == ("measured", "clevr-pcl")
    assert grainy["changes"] and "changes" not in scene and "unfamiliar" not in grainy
    assert scene["caption"] == "the large red metal cube has been added" and scene["unfamiliar"] is False
    meta = json.loads((tmp_path / "out.jsonl.meta.json").read_text())
    assert [model["name"] for model in meta["models"]] == ["clevr-pcl"]
    assert meta["thresholds"]["clevr-pcl"] == 0.5
    assert meta["thresholds"]["measured"] == pytest.approx(1 / 1.77, abs=0.001)
    assert whatchanged("caption", pairs, "-o", out, "--resume")[0] == 0
    code, _, err = whatchanged("caption", pairs, "-o", out, "--resume", "--model", "clevr-pcl")
    assert code == 2 and "another model" in err


@pytest.mark.parametrize("shard", ["0/3", "4/3", "1", "a/b", "1/0", "-1/2"])
def test_shards_that_are_none(caption, pairs, tmp_path, shard):
    code, _, err = caption(pairs, "-o", tmp_path / "out.jsonl", "--shard", shard)
    assert code == 2 and "--shard" in err


def test_missing_pictures(caption, pairs, tmp_path):
    with pairs.open("a") as stream:
        stream.write("before.png,none.png,gone\n")
    out = tmp_path / "out.jsonl"
    code, _, err = caption(pairs, "-o", out)
    assert code == 2 and "none.png" in err and "--skip-missing" in err and not out.exists()
    code, _, err = caption(pairs, "-o", out, "--skip-missing")
    assert code == 0 and "Left out: 1 pair without" in err
    assert len(lines(out)) == 7


def test_an_output_that_exists(caption, pairs, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("mine\n")
    code, _, err = caption(pairs, "-o", out)
    assert code == 2 and "--force" in err and "--resume" in err
    assert out.read_text() == "mine\n"
    assert caption(pairs, "-o", out, "--force", "--resume")[0] == 2
    assert caption(pairs, "-o", out, "--force")[0] == 0
    assert len(lines(out)) == 7


def test_lists_that_cannot_be_read(caption, tmp_path):
    out = tmp_path / "out.jsonl"
    for name, content in (
        ("columns.csv", "first,second\na.png,b.png\n"),
        ("empty.csv", ""),
        ("header.csv", "before,after\n"),
        ("broken.jsonl", "{\n"),
        ("list.txt", "a.png b.png\n"),
    ):
        (tmp_path / name).write_text(content)
        code, stdout, err = caption(tmp_path / name, "-o", out)
        assert (code, stdout) == (2, ""), name
        assert name in err and not out.exists()
    assert caption(tmp_path / "none.csv", "-o", out)[0] == 2
    assert caption(tmp_path, "-o", out)[0] == 2
    assert not list(tmp_path.glob("out*"))


def test_a_bad_model_leaves_no_output(whatchanged, pairs, tmp_path):
    out = tmp_path / "out.jsonl"
    code, _, err = whatchanged("caption", pairs, "-o", out, "--model", tmp_path / "none")
    assert code == 2 and "no such model" in err and not list(tmp_path.glob("out*"))


def test_the_model_of_screens_is_the_measured_answer(whatchanged, pairs, tmp_path):
    out, other = tmp_path / "out.jsonl", tmp_path / "other.jsonl"
    code, _, err = whatchanged("caption", pairs, "-o", out, "--model", "screens")
    assert code == 0 and err.count("The model screens is gone; measured answers in its place.") == 1
    assert whatchanged("caption", pairs, "-o", other, "--model", "measured")[0] == 0
    assert out.read_bytes() == other.read_bytes()


def test_a_data_set_folder(caption, pictures, tmp_path):
    root = tmp_path / "set"
    for folder, name, source in (
        ("images", "CLEVR_default_000000.png", pictures[0]),
        ("sc_images", "CLEVR_semantic_000000.png", pictures[1]),
        ("nsc_images", "CLEVR_nonsemantic_000000.png", pictures[0]),
    ):
        (root / folder).mkdir(parents=True)
        shutil.copy(source, root / folder / name)
    (root / "splits.json").write_text('{"train": [], "val": [], "test": [0]}')
    out = tmp_path / "out.jsonl"
    assert caption(root, "-o", out)[0] == 0
    assert [(line["id"], line["caption"]) for line in lines(out)] == [
        ("000000.png", "the square changed"),
        ("000000.png_n", "there is no change"),
    ]
    assert caption(root, "-o", tmp_path / "b.jsonl", "--split", "val")[0] == 2


def test_damaged_entries_are_left_out_and_named(caption, pictures, tmp_path):
    path = tmp_path / "pairs.jsonl"
    row = {"before": "before.png", "after": "after.png"}
    path.write_text(json.dumps(row) + "\n" + json.dumps({**row, "after": ""}) + "\n")
    code, _, err = caption(path, "-o", tmp_path / "out.jsonl")
    assert code == 2 and "'after' should name a picture" in err
    code, _, err = caption(path, "-o", tmp_path / "out.jsonl", "--skip-missing")
    assert code == 0 and "Left out, as damaged: 1 (first: " in err
    assert [line["id"] for line in lines(tmp_path / "out.jsonl")] == ["1"]


def test_names_in_another_encoding(caption, pictures, tmp_path):
    """The folder's name is no UTF-8; what is said of its pictures still is."""
    root = tmp_path / os.fsdecode(b"caf\xe9")
    root.mkdir()
    shutil.copy(pictures[0], root / "a.png")
    (root / "b.png").write_text("this is text")
    (root / "pairs.csv").write_text("before,after\na.png,a.png\na.png,b.png\n")
    out = tmp_path / "out.jsonl"
    assert caption(root / "pairs.csv", "-o", out)[0] == 1
    assert str(root) in lines(out)[1]["error"]


def test_an_input_is_no_output(caption, pairs, pictures, tmp_path):
    before = pairs.read_text(), pictures[0].read_bytes()
    link = tmp_path / "link.png"
    link.symlink_to(pictures[0])
    for output, said in ((pairs, "one of the inputs"), (pictures[0], "a picture"), (link, "a picture")):
        code, _, err = caption(pairs, "-o", output, "--force")
        assert code == 2 and said in err and not list(tmp_path.glob("*.meta.json"))
    assert (pairs.read_text(), pictures[0].read_bytes()) == before


def test_a_file_of_the_data_set_is_no_output(caption, pictures, tmp_path):
    root = tmp_path / "set"
    for side, picture in zip(("before", "after"), pictures, strict=True):
        (root / side).mkdir(parents=True)
        shutil.copy(picture, root / side / "a.png")
    (root / "test.txt").write_text("a.png\n")
    code, _, err = caption(root, "-o", root / "test.txt", "--force")
    assert code == 2 and "belongs to one of the inputs" in err
    assert (root / "test.txt").read_text() == "a.png\n"
    # an earlier run's captions may lie there, and are known by their sidecar
    for how in ("--resume", "--resume", "--force"):
        assert caption(root, "-o", root / "out.jsonl", how)[0] == 0


def test_single_pictures_alone(caption, red, tmp_path, monkeypatch):
    from whatchanged.datasets import Dataset, DatasetReport
    from whatchanged.records import PairRecord

    single = PairRecord("birds", "1", "1", "test", "single_caption", red, None, ("a red bird",))
    found = Dataset("birds", tmp_path, (single,), DatasetReport())
    monkeypatch.setattr("whatchanged.datasets.open_dataset", lambda *arguments: found)
    code, _, err = caption(tmp_path, "-o", tmp_path / "out.jsonl")
    assert code == 2 and "1 single picture and no pairs" in err and not list(tmp_path.glob("out*"))


def test_an_empty_shard_is_no_mistake(caption, pairs, tmp_path):
    out = tmp_path / "out.jsonl"
    assert caption(pairs, "-o", out, "--shard", "1/100")[0] == 0 and out.read_bytes() == b""


def test_a_sidecar_that_cannot_be_written_costs_nothing(caption, pairs, tmp_path):
    out = tmp_path / ("x" * 250)  # as long as a name may be, nearly: the sidecar's is too long
    out.write_text("mine\n")
    before = sorted(tmp_path.iterdir())
    code, _, err = caption(pairs, "-o", out, "--force", "--attention", tmp_path / "maps")
    assert code == 2 and "x.meta.json" in err
    assert out.read_text() == "mine\n" and sorted(tmp_path.iterdir()) == before
    (tmp_path / "b.jsonl.meta.json").mkdir()
    assert caption(pairs, "-o", tmp_path / "b.jsonl")[0] == 2 and not (tmp_path / "b.jsonl").exists()


def test_the_sidecars_draft_comes_before_everything_else(caption, pairs, tmp_path, monkeypatch):
    def refuse(path, *arguments, **options):
        raise OSError(28, "No space left on device", str(path))

    out = tmp_path / "out.jsonl"
    out.write_text("mine\n")
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr("pathlib.Path.write_text", refuse)
    code, _, err = caption(pairs, "-o", out, "--force", "--attention", tmp_path / "maps")
    assert code == 2 and "No space left" in err
    assert out.read_bytes() == b"mine\n" and sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("room", [100, 1000, 5000])
def test_a_full_disk_is_told_by_the_file_that_found_it_full(tmp_path, room):
    """The output or its note may be what has no room."""
    resource = pytest.importorskip("resource")
    for name in ("a.png", "b.png"):
        Image.new("RGB", (48, 32), (200, 0, 0)).save(tmp_path / name)
    rows = "".join(f"a.png,b.png,{number}\n" for number in range(50))
    (tmp_path / "pairs.csv").write_text(f"before,after,id\n{rows}")
    done = subprocess.run(
        [sys.executable, "-m", "whatchanged", "caption", "pairs.csv", "-o", "out.jsonl", "--quiet"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert re.search(r"out\.jsonl(\.meta\.json)?: cannot be written: File too large", done.stderr), (
        done.stderr
    )
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("place", "target"),
    [
        ("out.jsonl", "../victim/profile"),
        ("out.jsonl", "../victim/new"),
        ("out.jsonl", "out.jsonl"),
        (".out.jsonl.lock", "../victim/profile"),
        ("out.jsonl.meta.json", "../victim/profile"),
        ("out.jsonl.meta.json", "../victim/new"),
        ("out.html", "../victim/profile"),
        ("maps", "../victim"),
        ("maps", "../victim/new"),
        ("maps/attention-0000000.safetensors", "../../victim/profile"),
        ("maps/attention-0001000.safetensors", "../../victim/new"),
        ("maps/.attention-0000000.safetensors.lock", "../../victim/profile"),
    ],
)
@pytest.mark.parametrize("more", ["--force", "--resume"])
def test_a_planted_link_is_named_and_nothing_written(
    caption, pairs, tmp_path, monkeypatch, place, target, more
):
    victim, work = tmp_path / "victim", tmp_path / "work"
    victim.mkdir()
    work.mkdir()
    (victim / "profile").write_text("mine")
    monkeypatch.chdir(work)
    (work / place).parent.mkdir(exist_ok=True)
    (work / place).symlink_to(target)
    before = state(tmp_path)
    outputs = ("-o", "out.jsonl", "--html", "out.html", "--attention", "maps")
    code, _, err = caption(pairs, *outputs, more)
    assert code == 2 and f"{place}: " in err and state(tmp_path) == before
