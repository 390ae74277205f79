"""Attention maps beside captions: written in parts, and in step with the lines."""

import json

import numpy as np


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


def test_attention_is_of_a_named_model(whatchanged, pairs, tmp_path):
    code, _, err = whatchanged("caption", pairs, "-o", tmp_path / "o.jsonl", "--attention", tmp_path / "maps")
    assert code == 2 and "--model" in err and not (tmp_path / "maps").exists()


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


def test_captions_and_maps_in_one_place(caption, pairs, tmp_path):
    for folder in ("amap", "amap.meta.json"):
        code, _, err = caption(pairs, "-o", tmp_path / "amap", "--attention", tmp_path / folder)
        assert code == 2 and "the same place" in err and not list(tmp_path.glob("amap*"))
