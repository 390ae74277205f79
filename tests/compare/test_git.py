import os
import shutil

import numpy as np
import pytest
from PIL import Image
from support.compared_screens import git, save, screen, with_square
from support.trees import state

from whatchanged.compare.git import match_revisions
from whatchanged.errors import DatasetError

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def repository(tmp_path):
    """Two commits: the second changes b.png, adds c.png, removes d.png; a.png stays."""
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    for number, name in enumerate(("a", "b", "d")):
        save(screen(number), root / "shots" / f"{name}.png")
    (root / "readme.txt").write_text("one")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    save(with_square(screen(1)), root / "shots" / "b.png")
    save(screen(7), root / "shots" / "c.png")
    (root / "shots" / "d.png").unlink()
    (root / "readme.txt").write_text("two")
    git(root, "add", ".")
    git(root, "commit", "-qm", "two")
    return root


def told(found):
    return {pair.pair_id: pair.status for pair in found.pairs}


def test_two_revisions(repository, tmp_path):
    found = match_revisions("HEAD~1..HEAD", repository, tmp_path / "out")
    assert told(found) == {"shots/b.png": "both", "shots/c.png": "added", "shots/d.png": "removed"}
    pair = found.pairs[0]
    assert np.array_equal(np.asarray(Image.open(pair.before)), screen(1))
    assert np.array_equal(np.asarray(Image.open(pair.after)), with_square(screen(1)))
    assert found.notes == ("Pictures that git says are the same, not listed: 1.",)


def test_the_work_tree_with_what_is_not_committed_yet(repository, tmp_path):
    assert told(match_revisions("HEAD", repository, tmp_path / "out")) == {}
    save(with_square(screen(0)), repository / "shots" / "a.png")
    save(screen(9), repository / "new.png")
    (repository / ".gitignore").write_text("ignored.png\n")
    save(screen(9), repository / "ignored.png")
    git(repository, "add", "shots/a.png")
    found = match_revisions("HEAD", repository, tmp_path / "out")
    assert told(found) == {"new.png": "added", "shots/a.png": "both"}
    assert found.pairs[1].after == repository / "shots" / "a.png"
    assert told(match_revisions("HEAD", repository / "shots", tmp_path / "out")) == {"shots/a.png": "both"}


def test_a_file_that_only_moved(repository, tmp_path):
    (repository / "shots" / "a.png").rename(repository / "first.png")
    (pair,) = match_revisions("HEAD", repository, tmp_path / "out").pairs
    assert (pair.pair_id, pair.was, pair.status) == ("first.png", "shots/a.png", "renamed")


def test_results_inside_the_repository_are_not_compared(repository):
    save(screen(3), repository / "out" / "old" / "x.png")
    assert told(match_revisions("HEAD", repository, repository / "out", repository / "out")) == {}


def test_lfs_pointers_are_named(repository, tmp_path):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12\n"
    (repository / "big.png").write_text(pointer.format("a" * 64))
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "three")
    (repository / "big.png").write_text(pointer.format("b" * 64))
    (pair,) = match_revisions("HEAD", repository, tmp_path / "out").pairs
    assert "both files are Git LFS pointers" in pair.trouble
    save(screen(1), repository / "big.png")
    (pair,) = match_revisions("HEAD", repository, tmp_path / "out").pairs
    assert "the old file is a Git LFS pointer" in pair.trouble


def test_what_git_does_not_know(repository, tmp_path):
    with pytest.raises(DatasetError, match="git knows no such revision"):
        match_revisions("nothing", repository, tmp_path / "out")
    with pytest.raises(DatasetError, match="git knows no such revision"):
        match_revisions("--output=x", repository, tmp_path / "out")
    with pytest.raises(DatasetError, match=r"one revision, or two as OLD\.\.NEW"):
        match_revisions("HEAD~1....HEAD", repository, tmp_path / "out")
    (tmp_path / "plain").mkdir()
    with pytest.raises(DatasetError, match="not a git repository"):
        match_revisions("HEAD", tmp_path / "plain", tmp_path / "out")
    (repository / "text").mkdir()
    with pytest.raises(DatasetError, match="git knows no pictures there"):
        match_revisions("HEAD", repository / "text", tmp_path / "out")


def test_a_folder_whose_name_is_a_pattern_is_that_folder_alone(repository, tmp_path):
    for name in ("[ab]", "a"):
        save(screen(3), repository / "app" / name / "x.png")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "three")
    for name in ("[ab]", "a"):
        save(with_square(screen(3)), repository / "app" / name / "x.png")
    assert told(match_revisions("HEAD", repository / "app" / "[ab]", tmp_path / "out")) == {
        "app/[ab]/x.png": "both"
    }


def test_a_repository_names_no_program_that_is_run(repository, tmp_path):
    hook = tmp_path / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    hook.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(hook))
    save(with_square(screen(0)), repository / "shots" / "a.png")
    git(repository, "status")
    assert (tmp_path / "ran").exists()  # as git alone would run it
    (tmp_path / "ran").unlink()
    assert told(match_revisions("HEAD", repository, tmp_path / "out")) == {"shots/a.png": "both"}
    assert not (tmp_path / "ran").exists()


def test_no_revision_at_all(repository, tmp_path):
    """As from a variable of a CI service that is not set."""
    for wanted in ("", "..", "..HEAD"):
        with pytest.raises(DatasetError, match=r"name one revision, or two as OLD\.\.NEW"):
            match_revisions(wanted, repository, tmp_path / "out")


def test_a_repository_whose_name_is_not_utf8(repository, tmp_path):
    moved = repository.rename(tmp_path / os.fsdecode(b"repo-\xff"))
    assert "shots/b.png" in told(match_revisions("HEAD~1", moved, tmp_path / "out"))


def test_a_changed_file_that_may_not_be_read(repository, tmp_path, lock):
    save(with_square(screen(0)), repository / "shots" / "a.png")
    lock(repository / "shots" / "a.png")
    assert told(match_revisions("HEAD", repository, tmp_path / "out")) == {"shots/a.png": "both"}


def test_what_is_no_picture_is_not_written_and_told(repository, tmp_path):
    script = "#!/bin/sh\necho hello\n"
    (repository / "shots" / "b.png").write_text(script)
    (repository / "only.png").write_text(script)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "three")
    found = match_revisions("HEAD~1..HEAD", repository, tmp_path / "out")
    troubles = {pair.pair_id: pair.trouble for pair in found.pairs}
    assert troubles["shots/b.png"].startswith("shots/b.png in the new revision: this is not a picture")
    assert troubles["only.png"].startswith("only.png in the new revision: this is not a picture")
    assert state(tmp_path / "out").keys() == {"old", "old/shots", "old/shots/b.png"}
    save(screen(4), repository / "shots" / "b.png")
    (pair,) = match_revisions("HEAD", repository, tmp_path / "out").pairs
    assert pair.status == "both" and pair.trouble.startswith("shots/b.png in the old revision: ")
    assert state(tmp_path / "out") == {}


def test_a_pointer_is_not_written_either(repository, tmp_path):
    (repository / "big.png").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "three")
    save(screen(1), repository / "big.png")
    git(repository, "commit", "-qam", "four")
    (pair,) = match_revisions("HEAD~1..HEAD", repository, tmp_path / "out").pairs
    assert pair.trouble.startswith("the old file is a Git LFS pointer, not a picture. Fetch it with: git lfs")
    assert "out/old" not in " ".join(f"out/{name}" for name in state(tmp_path / "out"))


def test_pictures_of_revisions_are_written_through_no_link(repository, tmp_path):
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "b.png").write_text("mine")
    before = state(tmp_path / "victim")
    for side in ("old", "new"):
        (tmp_path / "out" / side / "shots").mkdir(parents=True)
        (tmp_path / "out" / side / "shots" / "stale.png").touch()
    (tmp_path / "out" / "old" / "shots" / "b.png").symlink_to("../../../victim/b.png")
    (tmp_path / "out" / "new" / "shots").rename(tmp_path / "away")
    (tmp_path / "out" / "new" / "shots").symlink_to("../../victim")
    match_revisions("HEAD~1..HEAD", repository, tmp_path / "out")
    assert state(tmp_path / "victim") == before
    assert {name for name, what in state(tmp_path / "out").items() if what[0] == "file"} == {
        "old/shots/b.png",
        "old/shots/d.png",
        "new/shots/b.png",
        "new/shots/c.png",
    }


def test_a_picture_that_became_a_folder_and_pictures_of_earlier_revisions(repository, tmp_path):
    """A folder of results holds nothing of the revisions that an earlier run compared."""
    match_revisions("HEAD~1..HEAD", repository, tmp_path / "out")
    (repository / "shots" / "a.png").unlink()
    save(screen(9), repository / "shots" / "a.png" / "inner.png")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "three")
    for wanted, old, new in (
        ("HEAD~1..HEAD", ["a.png"], ["inner.png"]),
        ("HEAD..HEAD~1", ["inner.png"], ["a.png"]),
    ):
        match_revisions(wanted, repository, tmp_path / "out")
        for side, names in (("old", old), ("new", new)):
            kept = [path for path in (tmp_path / "out" / side).rglob("*") if path.is_file()]
            assert [path.name for path in kept] == names


def test_three_dots_begin_where_two_revisions_parted(repository, tmp_path):
    git(repository, "checkout", "-q", "-b", "side", "HEAD~1")
    save(screen(11), repository / "shots" / "e.png")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "aside")
    found = match_revisions("main...side", repository, tmp_path / "out")
    assert told(found) == {"shots/e.png": "added"}
    assert found.source == "git: where main and side parted and side"
    assert len(told(match_revisions("main..side", repository, tmp_path / "out"))) == 4
    for wanted in ("main...", "...side", "main....side", "main..side..main"):
        with pytest.raises(DatasetError, match=r"name one revision, or two as OLD\.\.NEW"):
            match_revisions(wanted, repository, tmp_path / "out")


def test_two_revisions_that_share_nothing(repository, tmp_path):
    git(repository, "checkout", "-q", "--orphan", "alone")
    git(repository, "commit", "-qm", "alone")
    with pytest.raises(DatasetError, match="the two share no commit"):
        match_revisions("main...alone", repository, tmp_path / "out")


@pytest.mark.parametrize("way", ["sha1", "sha256"])
def test_before_the_first_commit_all_is_added(tmp_path, way):
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main", f"--object-format={way}")
    assert told(match_revisions("HEAD", root, tmp_path / "out")) == {}
    save(screen(1), root / "a.png")
    git(root, "add", ".")
    assert told(match_revisions("HEAD", root, tmp_path / "out")) == {"a.png": "added"}
    with pytest.raises(DatasetError, match="git knows no such revision"):
        match_revisions("main", root, tmp_path / "out")
