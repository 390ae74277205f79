"""A run that was broken off goes on where it stopped, and refuses what is not its own."""

import shutil

import pytest
from support.captioned import lines


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
