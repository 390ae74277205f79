"""Pictures come back from a small repository made here, bit for bit, or not at all."""

import importlib.util
import json
import shutil
from pathlib import Path
from types import ModuleType

import pytest
from compare.screens import git, save, screen, with_square

from whatchanged.compare.git_program import run_git
from whatchanged.datasets import open_dataset

TOOL = Path(__file__).parents[2] / "tools" / "restore_ui_train.py"

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("restore_ui_train", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def label_of(before: str, after: str) -> dict:
    change = {
        "kind": "added",
        "element": "button",
        "aspect": "number",
        "detail": "a square",
        "box_before": None,
        "box_after": [5, 5, 20, 20],
    }
    return {
        "id": "ab-001",
        "split": "train",
        "repo": "owner/things",
        "licence": "MIT",
        "commit": "c" * 40,
        "path": "shots/a.png",
        "blob_before": before,
        "blob_after": after,
        "visible_change": "yes",
        "changes": [change],
        "sentences": ["A button was added.", "There is a new button."],
    }


@pytest.fixture
def clones(tmp_path):
    """A clone with two versions of one picture; returns it, and the file of labels."""
    root = tmp_path / "clones" / "owner" / "things"
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    blobs = []
    for picture in (screen(0), with_square(screen(0))):
        save(picture, root / "shots" / "a.png")
        git(root, "add", ".")
        git(root, "commit", "-qm", "a picture")
        blobs.append(run_git(root, "rev-parse", "HEAD:shots/a.png").decode().strip())
    labels = tmp_path / "labels.jsonl"
    labels.write_text(json.dumps(label_of(*blobs)) + "\n")
    return tmp_path / "clones", labels


def test_pictures_come_back_bit_for_bit_and_are_read_as_the_data_set(tool, clones, tmp_path, capsys):
    folder, labels = clones
    out = tmp_path / "out"
    assert tool.main([str(folder), str(out), "--labels", str(labels)]) == 0
    assert "1 pairs, 2 pictures" in capsys.readouterr().out
    after = folder / "owner" / "things" / "shots" / "a.png"
    assert (out / "images" / "ab-001_after.png").read_bytes() == after.read_bytes()
    opened = open_dataset(out)
    assert opened.name == "ui_train" and opened.records[0].change_type == "added"


def test_a_missing_clone_is_named_with_what_makes_it(tool, clones, tmp_path, capsys):
    folder, labels = clones
    shutil.rmtree(folder / "owner")
    assert tool.main([str(folder), str(tmp_path / "out"), "--labels", str(labels)]) == 2
    assert "git clone --no-checkout https://github.com/owner/things" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert tool.main([str(folder), "--list", "--labels", str(labels)]) == 0
    assert capsys.readouterr().out.startswith("git clone --no-checkout https://github.com/owner/things")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"blob_after": "0" * 40}, "git in"),
        ({"blob_after": "--help"}, "'blob_after' is '--help'"),
        ({"repo": "../things"}, "'repo' is '../things'"),
        ({"id": "../../x"}, "'id' is '../../x'"),
    ],
)
def test_what_names_no_object_writes_nothing(tool, clones, tmp_path, capsys, change, message):
    folder, labels = clones
    labels.write_text(json.dumps({**json.loads(labels.read_text()), **change}))
    assert tool.main([str(folder), str(tmp_path / "out"), "--labels", str(labels)]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_what_is_no_picture_writes_nothing(tool, clones, tmp_path, capsys):
    folder, labels = clones
    root = folder / "owner" / "things"
    (root / "note.txt").write_text("no picture")
    git(root, "add", ".")
    git(root, "commit", "-qm", "a note")
    blob = run_git(root, "rev-parse", "HEAD:note.txt").decode().strip()
    labels.write_text(json.dumps({**json.loads(labels.read_text()), "blob_after": blob}))
    assert tool.main([str(folder), str(tmp_path / "out"), "--labels", str(labels)]) == 2
    assert "shots/a.png (after) of owner/things" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_no_folder_is_written_over_and_unknown_projects_are_told(tool, clones, tmp_path, capsys):
    folder, labels = clones
    given = [str(folder), str(tmp_path), "--labels", str(labels)]
    assert tool.main(given) == 2
    assert "is there already" in capsys.readouterr().err
    assert tool.main([*given, "--only", "some/other"]) == 2
    assert "Known: owner/things" in capsys.readouterr().err


def test_the_published_labels_can_be_read(tool):
    labels = tool.read_labels(tool.LABELS)
    assert len(labels) == 1020
    assert all(label["licence"] and label["commit"] and label["path"].endswith(".png") for label in labels)
