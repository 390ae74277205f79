"""Many pairs captioned from Python: what the command line writes, and the same refusals."""

import doctest
import json

import pytest
from PIL import Image

import whatchanged
from whatchanged.captions import caption_pairs, engine
from whatchanged.errors import OutputError, WhatchangedError
from whatchanged.outputs import hold, holding_outputs


@pytest.fixture
def listed(pictures, tmp_path):
    """A list of three pairs, the last of which has a broken picture."""
    (tmp_path / "broken.png").write_bytes(b"no picture")
    rows = ["before,after", "before.png,after.png", "after.png,before.png", "before.png,broken.png"]
    (tmp_path / "pairs.csv").write_text("\n".join(rows) + "\n")
    return tmp_path / "pairs.csv"


def test_python_writes_what_the_command_line_writes(listed, bundle_folder, tmp_path, whatchanged):
    done = caption_pairs(listed, str(tmp_path / "a.jsonl"), str(bundle_folder), beams=2)
    code, _, err = whatchanged(
        "caption", listed, "-o", tmp_path / "b.jsonl", "--model", bundle_folder, "--beams", 2
    )
    assert code == 1 and "1 of 3 pairs failed" in err
    assert (done.pairs, done.failed) == (3, 1)
    assert done.output == done.lines == tmp_path / "a.jsonl"
    for name in ("", ".meta.json"):
        assert (tmp_path / f"a.jsonl{name}").read_bytes() == (tmp_path / f"b.jsonl{name}").read_bytes()


def test_shards_one_after_the_other_are_the_whole_and_a_stop_is_gone_on_with(listed, bundle_folder, tmp_path):
    model = str(bundle_folder)
    whole = caption_pairs(listed, tmp_path / "whole.jsonl", model).output.read_bytes()
    parts = [caption_pairs(listed, tmp_path / f"{i}.jsonl", model, shard=(i, 2)) for i in (1, 2)]
    assert b"".join(part.output.read_bytes() for part in parts) == whole
    assert [part.pairs for part in parts] == [1, 2]
    stopped = tmp_path / "whole.jsonl"
    stopped.write_bytes(whole[: whole.index(b"\n") + 20])
    assert caption_pairs(listed, stopped, model, resume=True).failed == 1
    assert stopped.read_bytes() == whole


def test_an_output_that_is_there_stays(listed, bundle_folder, tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        caption_pairs(listed, out, str(bundle_folder))
    assert out.read_text() == "mine"
    caption_pairs(listed, out, str(bundle_folder), force=True)
    assert len(out.read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shard": (3, 2)}, r"shard is \(i, n\)"),
        ({"resume": True, "force": True}, "one of resume and force"),
        ({"attention": "maps"}, "name the model"),
        ({"embed": True}, "no page is asked for"),
        ({"captioner": object(), "resume": True}, "works without model, html and resume"),
    ],
)
def test_options_that_do_not_go_together_are_refused(listed, tmp_path, options, message):
    before = sorted(tmp_path.iterdir())
    with pytest.raises(WhatchangedError, match=message):
        caption_pairs(listed, tmp_path / "out.jsonl", **options)
    assert sorted(tmp_path.iterdir()) == before


def test_nobody_else_may_write_the_output_meanwhile(listed, bundle_folder, tmp_path, monkeypatch):
    """While it is written, somebody who asks for it is refused; afterwards it is free."""
    out, asked = tmp_path / "out.jsonl", []

    def look(*given, **named):
        with holding_outputs(), pytest.raises(OutputError) as refused:
            hold(out)
        asked.append(str(refused.value))
        return caption_all(*given, **named)

    caption_all = engine.caption_all
    monkeypatch.setattr(engine, "caption_all", look)
    caption_pairs(listed, out, str(bundle_folder))
    assert len(asked) == 1 and str(out) in asked[0]
    with holding_outputs():
        hold(out)


def test_the_example_is_true(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, level in (("before", 100), ("after", 101)):
        Image.new("RGB", (48, 32), (level,) * 3).save(f"{name}.png")
    (tmp_path / "pairs.csv").write_text("before,after\nbefore.png,after.png\n")
    found = doctest.DocTestFinder().find(whatchanged.caption_pairs, "caption_pairs", engine)
    assert sum(doctest.DocTestRunner().run(example).attempted for example in found) == 3
    (line,) = (tmp_path / "captions.jsonl").read_text().splitlines()
    assert json.loads(line)["before"] == "before.png"
