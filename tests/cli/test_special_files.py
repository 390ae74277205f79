"""Pipes, devices and other things under the names of files: no command waits for them, or reads for ever."""

import json
import signal
import subprocess
import sys

import pytest
from support.compared_screens import git, save, screen, with_square
from support.special_files import KINDS, OUTSIDE, plant

SECONDS = 120
"""A bound for commands that would never end."""


@pytest.fixture
def run(whatchanged):
    """The command in this process, ended where it waits: (exit code, stdout, stderr)."""

    def late(number, frame):
        raise AssertionError("the command did not end")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    yield whatchanged
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("sides", [("old",), ("new",), ("old", "new")], ids="-".join)
def test_compare(run, tmp_path, sides):
    for side in ("old", "new"):
        save(screen(), tmp_path / side / "good.png")
        for kind in KINDS:
            path = tmp_path / side / kind / "1.png"
            plant(path, kind) if side in sides else save(screen(1), path)
        if side in sides:
            (tmp_path / side / "folder.png").mkdir()
    names = tmp_path / "old", tmp_path / "new", "-o", tmp_path / "out", "--workers", 1
    code, said, err = run("compare", *names, "--embed")
    failed = len(KINDS) - len(OUTSIDE)
    assert code == 1 and f"{failed} could not be compared" in said, (said, err)
    assert "Traceback" not in err
    assert f"not compared: {len(sides) * len(OUTSIDE)} (first: " in err
    lines = (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    errors = [json.loads(line).get("error") for line in lines]
    assert sum(error is not None for error in errors) == failed
    assert sum("a file is wanted" in (error or "") for error in errors) == failed - 2
    code, _, err = run("compare", *names, "--accept", "pipe/1.png")
    assert code == 2 and "could not be compared" in err
    code, _, err = run("compare", *names, "--accept", "zero/1.png")
    why = {("old",): "is a link, which was left out", ("new",): "it was removed"}
    assert code == 2 and why.get(sides, "no pair has this name") in err


def test_compare_and_files_that_were_added_or_removed(run, tmp_path):
    """Nobody looks at them but to see what was renamed, and to accept them."""
    for side in ("old", "new"):
        save(screen(), tmp_path / side / "good.png")
        for kind in KINDS:
            plant(tmp_path / side / f"{side}-{kind}" / "1.png", kind)
    count = len(KINDS) - len(OUTSIDE)
    names = tmp_path / "old", tmp_path / "new", "-o", tmp_path / "out"
    code, said, _ = run("compare", *names)
    assert code == 1 and f"{count} were added; {count} were removed" in said
    code, _, err = run("compare", *names, "--accept", "new-pipe/1.png")
    assert code == 2 and "new-pipe/1.png: it was gone, or no file" in err
    assert not (tmp_path / "old" / "new-pipe" / "1.png").exists()


def test_compare_with_a_revision(run, tmp_path):
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    for kind in ("pipe", "zero"):
        save(screen(), root / kind / "1.png")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    for kind in ("pipe", "zero"):
        (root / kind / "1.png").unlink()
        plant(root / kind / "1.png", kind)
    code, said, _ = run("compare", "--git", "HEAD", root)
    assert code == 1 and "2 were removed" in said


def test_caption_and_dataset_of_a_folder(run, tmp_path):
    pairs = tmp_path / "pairs"
    for side in ("before", "after"):
        save(screen() if side == "before" else with_square(screen()), pairs / side / "good.png")
    for kind in KINDS:
        plant(pairs / "before" / f"{kind}.png", kind)
        save(screen(), pairs / "after" / f"{kind}.png")
        if kind not in OUTSIDE:
            plant(pairs / "captions" / f"{kind}.txt", kind)
    (pairs / "before" / "a-pipe").unlink()
    code, _, err = run("caption", pairs, "-o", tmp_path / "out.jsonl")
    assert code == 2 and "missing" in err and "Traceback" not in err
    code, _, err = run("caption", pairs, "-o", tmp_path / "out.jsonl", "--skip-missing")
    assert code == 0 and len((tmp_path / "out.jsonl").read_text().splitlines()) == 1
    code, _, err = run("dataset", pairs)
    assert code == 2 and f"only: {len(OUTSIDE)} (first: random.png" in err
    for kind in OUTSIDE:
        (pairs / "after" / f"{kind}.png").unlink()
    code, _, err = run("dataset", pairs)
    assert code == 2 and f"pictures are missing: {len(KINDS) - len(OUTSIDE)}" in err


@pytest.mark.parametrize("kind", ["pipe", "zero", "socket"])
def test_files_that_lists_and_tables_are_read_from(run, tmp_path, kind):
    good = tmp_path / "good.jsonl"
    good.write_text('{"id": "1", "caption": "a"}\n')
    names = ("list.csv", "list.jsonl", "predictions.jsonl", "boxes.json", "noise.json", "r.toml", "x.npy")
    for name in names:
        plant(tmp_path / kind / name, kind)
    here = tmp_path / kind
    save(screen(), tmp_path / "old" / "1.png")
    save(screen(), tmp_path / "new" / "1.png")
    (tmp_path / "set").mkdir()
    plant(tmp_path / "set" / "pairs.jsonl", kind)
    (tmp_path / "model").mkdir()
    plant(tmp_path / "model" / "bundle.json", kind)
    for command in (
        ("dataset", here / "list.csv"),
        ("caption", here / "list.jsonl", "-o", tmp_path / "out.jsonl"),
        ("evaluate", here / "predictions.jsonl", good),
        ("evaluate", good, here / "predictions.jsonl"),
        ("compare", tmp_path / "old", tmp_path / "new", "--ignore", here / "boxes.json"),
        ("compare", tmp_path / "old", tmp_path / "new", "--noise", here / "noise.json"),
        ("compare", here / "list.csv"),
        ("recipes", here / "r.toml"),
        ("dataset", tmp_path / "set"),
        ("models", tmp_path / "model"),
        ("describe", here / "list.csv", tmp_path / "old" / "1.png"),
    ):
        code, said, err = run(*command)
        assert code == 2 and "Traceback" not in err, (command, said, err)


def test_stored_answers_of_a_folder_that_somebody_committed(run, tmp_path):
    for side in ("old", "new"):
        save(screen(), tmp_path / side / "1.png")
    plant(tmp_path / "out" / "answers.jsonl", "pipe")
    code, _, err = run("compare", tmp_path / "old", tmp_path / "new", "-o", tmp_path / "out")
    assert code == 2 and "files of others" in err


def test_what_a_shell_passes_as_a_pipe_is_read(tmp_path):
    boxes = b'{"*": [[160, 80, 200, 120]]}'
    save(screen(), tmp_path / "old" / "1.png")
    save(with_square(screen()), tmp_path / "new" / "1.png")
    done = subprocess.run(
        [sys.executable, "-m", "whatchanged", "compare", "old", "new", "--ignore", "/dev/stdin"],
        cwd=tmp_path,
        input=boxes,
        capture_output=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
