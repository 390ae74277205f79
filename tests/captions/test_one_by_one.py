"""Pairs one after the other: batches, shards and pairs that fail change nothing for the rest."""

from PIL import Image
from support.captioned import lines


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


def test_pictures_of_two_sizes_in_one_batch(caption, pairs, pictures, tmp_path):
    Image.open(pictures[1]).resize((200, 90)).save(tmp_path / "large.png")
    with pairs.open("a") as stream:
        stream.write("before.png,large.png,large\n")
    assert caption(pairs, "-o", tmp_path / "out.jsonl")[0] == 0
    assert lines(tmp_path / "out.jsonl")[-1]["caption"] == "the square changed"
