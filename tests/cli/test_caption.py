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
from support.trees import state

from whatchanged.answers import models


@pytest.fixture
def pairs(tmp_path, pictures):
    """Seven pairs, every second one with a change."""
    path = tmp_path / "pairs.csv"
    rows = [f"before.png,{'after.png' if i % 2 else 'before.png'},p{i}" for i in range(7)]
    path.write_text("before,after,id\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def caption(whatchanged, bundle_folder):
    return lambda *arguments: whatchanged("caption", "--model", bundle_folder, *arguments)


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


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
    assert [model["name"] for model in meta["models"]] == ["clevr-pcl", "screens"]
    assert meta["thresholds"]["clevr-pcl"] == 0.5
    assert meta["thresholds"]["measured"] == pytest.approx(1 / 1.77, abs=0.001)
    assert whatchanged("caption", pairs, "-o", out, "--resume")[0] == 0
    code, _, err = whatchanged("caption", pairs, "-o", out, "--resume", "--model", "clevr-pcl")
    assert code == 2 and "another model" in err


def test_attention_is_of_a_named_model(whatchanged, pairs, tmp_path):
    code, _, err = whatchanged("caption", pairs, "-o", tmp_path / "o.jsonl", "--attention", tmp_path / "maps")
    assert code == 2 and "--model" in err and not (tmp_path / "maps").exists()


def test_batch_size_and_shards_change_nothing(caption, pairs, tmp_path):
    whole = tmp_path / "whole.jsonl"
    caption(pairs, "-o", whole, "--batch-size", "1")
    parts = b""
    for i in (1, 2, 3):
        part = tmp_path / f"part{i}.jsonl"
        assert caption(pairs, "-o", part, "--shard", f"{i}/3")[0] == 0
        parts += part.read_bytes()
    assert parts == whole.read_bytes()
    beamed = tmp_path / "beams.jsonl"
    assert caption(pairs, "-o", beamed, "--beams", "3")[0] == 0
    assert lines(beamed) == lines(whole)


@pytest.mark.parametrize("shard", ["0/3", "4/3", "1", "a/b", "1/0", "-1/2"])
def test_shards_that_are_none(caption, pairs, tmp_path, shard):
    code, _, err = caption(pairs, "-o", tmp_path / "out.jsonl", "--shard", shard)
    assert code == 2 and "--shard" in err


def test_a_bad_pair_gets_its_own_line(caption, pairs, pictures, tmp_path):
    (tmp_path / "text.png").write_text("this is text")
    with pairs.open("a") as stream:
        stream.write("before.png,text.png,bad\nbefore.png,after.png,last\n")
    out = tmp_path / "out.jsonl"
    code, _, err = caption(pairs, "-o", out)
    assert code == 1 and "1 of 9 pairs failed" in err
    bad, last = lines(out)[-2:]
    assert list(bad) == ["id", "error"] and bad["id"] == "bad" and "not a picture" in bad["error"]
    assert last["caption"] == "the square changed"
    # nothing is left to do, and the failure is still there
    before = out.read_bytes()
    assert caption(pairs, "-o", out, "--resume")[0] == 1
    assert out.read_bytes() == before


def test_a_batch_of_bad_pairs_alone(caption, tmp_path):
    (tmp_path / "text.png").write_text("this is text")
    (tmp_path / "pairs.jsonl").write_text('{"before": "text.png", "after": "text.png"}\n' * 3)
    code, _, err = caption(tmp_path / "pairs.jsonl", "-o", tmp_path / "out.jsonl", "--batch-size", "2")
    assert code == 1 and "3 of 3 pairs failed" in err


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


@pytest.mark.parametrize("keep", [0, 1, 40, 150, 10_000])
def test_resume_gives_the_same_file(caption, pairs, tmp_path, keep):
    out = tmp_path / "out.jsonl"
    caption(pairs, "-o", out)
    whole = out.read_bytes()
    out.write_bytes(whole[:keep])  # killed at any byte
    assert caption(pairs, "-o", out, "--resume")[0] == 0
    assert out.read_bytes() == whole


def test_resume_without_an_output_begins(caption, pairs, tmp_path):
    assert caption(pairs, "-o", tmp_path / "out.jsonl", "--resume")[0] == 0
    assert len(lines(tmp_path / "out.jsonl")) == 7


def test_resume_refuses_what_is_not_its_own(caption, whatchanged, bundle_folder, pairs, tmp_path):
    out = tmp_path / "out.jsonl"
    caption(pairs, "-o", out)
    whole = out.read_bytes()

    def refused(said, *arguments):
        code, _, err = caption(*arguments, "-o", out, "--resume")
        assert code == 2 and said in err and "--force" in err, err
        assert out.read_bytes() == whole

    refused("another beams", pairs, "--beams", "2")
    refused("another shard", pairs, "--shard", "1/2")
    pairs.write_text(pairs.read_text().replace("p3", "q3"))
    refused("another list", pairs)
    pairs.write_text(pairs.read_text().replace("q3", "p3"))
    path = bundle_folder / "bundle.json"
    card = path.read_text()
    path.write_text(card.replace('"version": "1"', '"version": "2"'))
    refused("another model", pairs)
    path.write_text(card)
    out.write_bytes(whole.replace(b'"p2"', b'"x2"'))
    whole = out.read_bytes()
    refused("line 3", pairs)
    (tmp_path / "out.jsonl.meta.json").unlink()
    refused("out.jsonl.meta.json", pairs)


def test_resume_knows_the_list_wherever_it_lies(caption, pairs, pictures, tmp_path):
    out = tmp_path / "out.jsonl"
    caption(pairs, "-o", out)
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in (pairs, *pictures):
        shutil.copy(path, moved)
    assert caption(moved / "pairs.csv", "-o", out, "--resume")[0] == 0


def test_interrupted(caption, pairs, tmp_path, monkeypatch):
    from whatchanged.answers import answerer

    real, calls = answerer.read_pair, []

    def read_pair(*pair):
        calls.append(pair)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return real(*pair)

    monkeypatch.setattr(answerer, "read_pair", read_pair)
    out = tmp_path / "out.jsonl"
    code, _, err = caption(pairs, "-o", out, "--batch-size", "2")
    assert code == 130 and "--resume" in err
    assert len(lines(out)) == 4
    monkeypatch.undo()
    assert caption(pairs, "-o", out, "--resume")[0] == 0
    assert [line["id"] for line in lines(out)] == [f"p{i}" for i in range(7)]


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


def test_attention_maps(caption, pairs, tmp_path, monkeypatch):
    from safetensors import safe_open

    monkeypatch.setattr("whatchanged.captions.maps.CHUNK", 3)
    out, folder = tmp_path / "out.jsonl", tmp_path / "maps"
    assert caption(pairs, "-o", out, "--attention", folder)[0] == 0
    files = sorted(folder.iterdir())
    assert [path.name for path in files] == [f"attention-{i:07d}.safetensors" for i in (0, 3, 6)]
    with safe_open(files[0], "numpy") as opened:
        assert sorted(opened.keys()) == ["p0", "p1", "p2"]
        maps = opened.get_tensor("p1")
        assert json.loads(opened.metadata()["whatchanged"])["words"]["p1"] == ["the", "square", "changed"]
    assert maps.shape == (3, 2, 2, 3) and maps.dtype == np.float16
    assert np.unravel_index(maps.argmax(), maps.shape)[1:] == (1, 1, 2)

    # what was gathered but not yet written is done again
    wanted = [path.read_bytes() for path in files]
    whole = out.read_bytes()
    out.write_bytes(b"".join(whole.splitlines(keepends=True)[:5]))
    files[1].unlink()
    files[2].unlink()
    assert caption(pairs, "-o", out, "--attention", folder, "--resume")[0] == 0
    assert [path.read_bytes() for path in files] == wanted and out.read_bytes() == whole
    assert caption(pairs, "-o", out, "--resume")[0] == 2


def test_maps_that_lie_there_already(caption, pairs, tmp_path, monkeypatch):
    monkeypatch.setattr("whatchanged.captions.maps.CHUNK", 3)
    folder = tmp_path / "maps"
    caption(pairs, "-o", tmp_path / "a.jsonl", "--attention", folder)
    code, _, err = caption(pairs, "-o", tmp_path / "b.jsonl", "--attention", folder)
    assert code == 2 and "attention maps already" in err and not (tmp_path / "b.jsonl").exists()
    # a longer run's leftovers would speak for pairs that are no longer done
    stray = folder / "attention-0000004.safetensors"
    stray.write_bytes(b"old")
    other = folder / "attention-0000007.safetensors"
    other.write_bytes(b"another shard's")
    assert caption(pairs, "-o", tmp_path / "a.jsonl", "--attention", folder, "--force")[0] == 0
    assert not stray.exists() and other.read_bytes() == b"another shard's"


def test_resume_wants_the_maps_of_what_is_done(caption, pairs, tmp_path, monkeypatch):
    monkeypatch.setattr("whatchanged.captions.maps.CHUNK", 3)
    out, folder = tmp_path / "out.jsonl", tmp_path / "maps"
    caption(pairs, "-o", out, "--attention", folder)
    whole = out.read_bytes()
    for spoil in (
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b"x"),
        lambda path: path.write_bytes(path.read_bytes().replace(b'"tiny', b'"tinz')),
    ):
        path = folder / "attention-0000003.safetensors"
        good = path.read_bytes()
        spoil(path)
        code, _, err = caption(pairs, "-o", out, "--attention", folder, "--resume")
        assert code == 2 and "--force" in err and path.name in err and out.read_bytes() == whole
        path.write_bytes(good)
    assert caption(pairs, "-o", out, "--attention", tmp_path / "elsewhere", "--resume")[0] == 2
    assert caption(pairs, "-o", out, "--attention", folder, "--resume")[0] == 0


def test_a_folder_for_maps_that_cannot_be(caption, pairs, tmp_path):
    (tmp_path / "file").write_text("")
    for folder, said in ((tmp_path / "file", "this is a file"), (tmp_path / "no" / "maps", "is not there")):
        code, _, err = caption(pairs, "-o", tmp_path / "out.jsonl", "--attention", folder)
        assert code == 2 and said in err and not (tmp_path / "out.jsonl").exists()


def test_pictures_of_two_sizes_in_one_batch(caption, pairs, pictures, tmp_path):
    Image.open(pictures[1]).resize((200, 90)).save(tmp_path / "large.png")
    with pairs.open("a") as stream:
        stream.write("before.png,large.png,large\n")
    assert caption(pairs, "-o", tmp_path / "out.jsonl")[0] == 0
    assert lines(tmp_path / "out.jsonl")[-1]["caption"] == "the square changed"


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


def test_captions_and_maps_in_one_place(caption, pairs, tmp_path):
    for folder in ("amap", "amap.meta.json"):
        code, _, err = caption(pairs, "-o", tmp_path / "amap", "--attention", tmp_path / folder)
        assert code == 2 and "the same place" in err and not list(tmp_path.glob("amap*"))


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
