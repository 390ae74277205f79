"""One record says how something is computed, or its fields do, never both."""

import pytest

from whatchanged import Launch, caption_pairs
from whatchanged.errors import WhatchangedError
from whatchanged.launch import one_launch


def test_a_call_takes_a_launch_or_its_fields():
    usual, own = Launch(workers=0), Launch("cpu", quiet=True)
    assert one_launch(own, usual, usual) == own
    assert one_launch(None, own, usual) == own
    with pytest.raises(WhatchangedError, match="not both"):
        one_launch(own, Launch(workers=2), usual)


def test_captions_refuse_both_and_take_either(pictures, bundle_folder, tmp_path):
    (tmp_path / "pairs.csv").write_text("before,after\nbefore.png,after.png\n")
    where, model = tmp_path / "pairs.csv", str(bundle_folder)
    with pytest.raises(WhatchangedError, match="not both"):
        caption_pairs(where, tmp_path / "a.jsonl", model, batch_size=2, launch=Launch(quiet=True))
    assert not (tmp_path / "a.jsonl").exists()
    by_fields = caption_pairs(where, tmp_path / "b.jsonl", model, batch_size=2)
    by_launch = caption_pairs(where, tmp_path / "c.jsonl", model, launch=Launch(batch_size=2, quiet=True))
    assert by_fields.output.read_bytes() == by_launch.output.read_bytes()


def test_training_refuses_both(tmp_path):
    pytest.importorskip("torch")
    from whatchanged.training import train

    with pytest.raises(WhatchangedError, match="not both"):
        train(None, tmp_path / "run", device="cpu", launch=Launch("cpu"))
    assert not (tmp_path / "run").exists()
