"""``whatchanged features`` from the command line."""

import sys
from pathlib import Path

import pytest
from PIL import Image

from whatchanged.launch import Launch


def test_the_arguments_reach_the_work_and_the_count_is_told(whatchanged, monkeypatch, tmp_path):
    pytest.importorskip("torch")
    calls = []
    monkeypatch.setattr("whatchanged.training.features.store.store_tokens", lambda *a: calls.append(a) or 7)
    pool, out, run = tmp_path / "pool", tmp_path / "tokens", tmp_path / "run"
    arguments = (pool, out, "--run", run, "--variants", 3, "--device", "cpu", "--quiet")
    assert whatchanged("features", *arguments)[:2] == (0, f"{out}: 7 shards of tokens written\n")
    assert calls == [(run, pool, out, 3, Launch("cpu", batch_size=8, quiet=True))]


def test_a_folder_without_a_run_is_refused(whatchanged, tmp_path):
    code, out, err = whatchanged("features", tmp_path, tmp_path / "tokens", "--run", tmp_path / "nothing")
    assert (code, out) == (2, "") and "no run lies here" in err
    assert list(tmp_path.iterdir()) == []


def test_wrong_usage_ends_with_2(whatchanged, tmp_path):
    assert whatchanged("features", tmp_path, tmp_path / "tokens")[0] == 2
    assert whatchanged("features", tmp_path, tmp_path, "--run", tmp_path, "--variants", 0)[0] == 2


def test_the_missing_extra_is_named(whatchanged, monkeypatch, tmp_path):
    monkeypatch.delitem(sys.modules, "whatchanged.training.features.store", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    code, _, err = whatchanged("features", tmp_path, tmp_path / "tokens", "--run", tmp_path / "run")
    assert code == 2 and "[train]" in err


def test_a_data_set_and_its_backbone_reach_the_work(whatchanged, monkeypatch, tmp_path):
    pytest.importorskip("torch")
    from whatchanged.training.features.store import Stored

    (tmp_path / "pairs.csv").write_text("before,after\na.png,b.png\n")
    for name in "ab":
        Image.new("RGB", (8, 8)).save(tmp_path / f"{name}.png")
    calls = []
    monkeypatch.setattr(
        "whatchanged.training.features.store.store_features",
        lambda *a, **named: calls.append((*a, named)) or Stored(2, 1, 3, 1_500_000, 1.2),
    )
    sizes = ("--shard-size", 9, "--batch-size", 4, "--workers", 2, "--device", "cpu", "--quiet")
    what = (tmp_path / "pairs.csv", tmp_path / "out", "--backbone", "resnet101-layer4", "--weights", "w.pth")
    code, out, _ = whatchanged("features", *what, *sizes, "--precision", "bf16")
    assert (code, out) == (
        0,
        f"{tmp_path / 'out'}: 2 pictures, 1.5 MB; 1 shards written in 1 s, 3 were there\n",
    )
    opened, *rest, named = calls[0]
    assert len(opened.records) == 1
    assert rest == ["resnet101-layer4", tmp_path / "out"]
    assert named == {
        "weights": Path("w.pth"),
        "shard": 9,
        "npy": False,
        "launch": Launch("cpu", 2, "bf16", 4, quiet=True),
    }


@pytest.mark.parametrize("options", [[], ["--run", "r", "--backbone", "b"]])
def test_one_of_backbone_and_run(whatchanged, tmp_path, options):
    code, _, err = whatchanged("features", tmp_path, tmp_path / "out", *options)
    assert code == 2 and "--backbone for a data set, --run for a pool" in err


OPTIONS = {
    "--weights": ["w.pth"],
    "--dataset": ["plain"],
    "--skip-missing": [],
    "--shard-size": [9],
    "--batch-size": [4],
    "--workers": [2],
    "--npy": [],
    "--variants": [3],
    "--device": ["cuda"],
    "--precision": ["bf16"],
    "--ray": ["local"],
}


@pytest.mark.parametrize(
    ("seen", "stored", "has"),
    [
        (("--run", "r"), "a pool's tokens (--run)", {"--variants", "--device"}),
        (("--backbone", "b"), "a data set's features (--backbone)", OPTIONS.keys() - {"--variants"}),
    ],
)
def test_options_without_an_effect_are_refused(whatchanged, tmp_path, seen, stored, has):
    refused = set()
    for option, value in OPTIONS.items():
        code, _, err = whatchanged("features", tmp_path / "none", tmp_path / "out", *seen, option, *value)
        told = " ".join(err.replace("│", " ").split())
        assert code == 2
        if f"{stored} are stored without {option}; leave it out" in told:
            refused.add(option)
    assert refused == OPTIONS.keys() - has
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("backbone", "message"),
    [
        ("resnet101-layer4", "its weights are not part of this package"),
        ("resnet", "there is no such backbone"),
    ],
)
def test_a_backbone_that_cannot_be_had_writes_nothing(whatchanged, tmp_path, backbone, message):
    pytest.importorskip("torch")
    (tmp_path / "pairs.csv").write_text("before,after\na.png,a.png\n")
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    code, _, err = whatchanged("features", tmp_path / "pairs.csv", tmp_path / "out", "--backbone", backbone)
    assert code == 2 and message in err and "Traceback" not in err
    assert not (tmp_path / "out").exists()
