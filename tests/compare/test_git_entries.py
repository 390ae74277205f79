"""The work tree against a revision, held against what ``git diff`` says of it."""

import hashlib
import os
import shutil
import subprocess

import pytest
from support.compared_screens import git, save, screen, with_square

from whatchanged.compare import git_entries
from whatchanged.compare.git import match_revisions

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {}\n"


@pytest.fixture(params=["sha1", "sha256"])
def repository(tmp_path, request):
    """One commit with six pictures in two folders."""
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main", f"--object-format={request.param}")
    for number in range(6):
        save(screen(number), root / ("x" if number < 3 else "y") / f"{number}.png")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    return root


def told(found):
    return {pair.pair_id: pair.status for pair in found.pairs}


def by_git(root):
    """Path -> letter, as git itself says."""
    raw = subprocess.run(
        ["git", "-C", str(root), "diff", "--name-status", "--no-renames", "-z", "HEAD"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    return dict(zip(raw[1::2], raw[::2], strict=False))


def test_as_git_says(repository, tmp_path):
    save(with_square(screen(0)), repository / "x" / "0.png")
    (repository / "x" / "1.png").unlink()
    (repository / "x" / "2.png").unlink()
    (repository / "x" / "2.png").symlink_to("0.png")
    os.utime(repository / "y" / "3.png", (1, 1))
    save(with_square(screen(4)), repository / "y" / "4.png")
    git(repository, "add", "y/4.png")
    save(screen(9), repository / "y" / "a\nb.png")
    git(repository, "add", "y/a\nb.png")
    git(repository, "rm", "-q", "--cached", "y/5.png")
    expected = {"M": "both", "D": "removed", "A": "added", "T": "removed"}
    known = {path: expected[letter] for path, letter in by_git(repository).items()}
    assert known.pop("y/5.png") == "removed"  # of the index alone: it lies there as it was
    found = match_revisions("HEAD", repository, tmp_path / "out")
    assert told(found) == known
    assert found.notes == ("Pictures that git says are the same, not listed: 2.",)


def test_a_folder_that_became_a_link_holds_nothing(repository, tmp_path):
    (repository / "x").rename(tmp_path / "moved")
    (repository / "x").symlink_to(tmp_path / "moved")
    found = told(match_revisions("HEAD", repository, tmp_path / "out"))
    assert found == {f"x/{number}.png": "removed" for number in range(3)}


def test_a_file_that_the_index_knows_as_it_is_is_not_read(repository, tmp_path, monkeypatch):
    for path in repository.rglob("?.png"):
        os.utime(path, (1_500_000_000, 1_500_000_000))
    git(repository, "update-index", "--refresh")
    read = []
    real = git_entries._blob_of
    monkeypatch.setattr(git_entries, "_blob_of", lambda path, *rest: read.append(path) or real(path, *rest))
    assert told(match_revisions("HEAD", repository, tmp_path / "out")) == {}
    assert read == []
    save(with_square(screen(0)), repository / "x" / "0.png")
    assert told(match_revisions("HEAD", repository, tmp_path / "out")) == {"x/0.png": "both"}
    assert read == [repository / "x" / "0.png"]


def test_an_index_without_times_costs_a_look_at_every_file(repository, tmp_path, monkeypatch):
    monkeypatch.setattr(git_entries, "_status_of", lambda part: None)
    save(with_square(screen(0)), repository / "x" / "0.png")
    assert told(match_revisions("HEAD", repository, tmp_path / "out")) == {"x/0.png": "both"}


def test_files_that_git_does_not_look_at(repository, tmp_path):
    save(with_square(screen(0)), repository / "x" / "0.png")
    git(repository, "update-index", "--assume-unchanged", "x/0.png")
    git(repository, "update-index", "--skip-worktree", "x/1.png")
    (repository / "x" / "1.png").unlink()
    assert told(match_revisions("HEAD", repository, tmp_path / "out")) == by_git(repository) == {}


def test_lfs_without_its_filter(repository, tmp_path):
    """The revision holds pointers; pictures lie in the work tree as Git LFS put them there."""
    (repository / ".gitattributes").write_text("*.png filter=lfs diff=lfs merge=lfs -text\n")
    mark = tmp_path / "ran"
    git(repository, "config", "filter.lfs.clean", f"touch {mark}; cat")
    git(repository, "config", "filter.lfs.process", f"touch {mark}; cat")
    pictures = {path: path.read_bytes() for path in sorted(repository.rglob("?.png"))}
    for path, content in pictures.items():
        path.write_text(POINTER.format(hashlib.sha256(content).hexdigest(), len(content)))
    git(repository, "-c", "filter.lfs.clean=", "-c", "filter.lfs.process=", "add", ".")
    git(repository, "commit", "-qm", "pointers")
    for path, content in list(pictures.items())[:-1]:
        path.write_bytes(content)
    save(with_square(screen(0)), repository / "x" / "0.png")
    mark.unlink(missing_ok=True)
    found = match_revisions("HEAD", repository, tmp_path / "out")
    (pair,) = found.pairs
    assert pair.pair_id == "x/0.png" and "the old file is a Git LFS pointer" in pair.trouble
    assert found.notes == ("Pictures that git says are the same, not listed: 5.",)
    assert not mark.exists()


def test_a_file_that_cannot_be_read_is_compared_which_says_so(repository, tmp_path, lock):
    os.utime(repository / "x" / "0.png", (1, 1))
    lock(repository / "x" / "0.png")
    assert told(match_revisions("HEAD", repository, tmp_path / "out")) == {"x/0.png": "both"}
