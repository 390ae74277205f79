"""What a repository holds cannot make ``compare --git`` start a program: each way is planted and tried."""

import os
import shutil
import subprocess

import pytest
from support.compared_screens import git, save, screen, with_square

from whatchanged.compare import git_program
from whatchanged.compare.git import match_revisions
from whatchanged.errors import DatasetError

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

OLD = 1_500_000_000
"""Seconds since 1970 of a file whose time git holds to be beyond doubt."""


@pytest.fixture
def repository(tmp_path):
    """One commit with a.png and b.png; then a.png changed."""
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    for number, name in enumerate(("a.png", "b.png")):
        save(screen(number), root / name)
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    save(with_square(screen(0)), root / "a.png")
    return root


class Sentinel:
    """A program that leaves a mark when it runs, and copies its input to its output as a filter does.

    brief: one that leaves the mark alone.
    """

    def __init__(self, folder):
        self.mark = folder / "ran"
        self.program = folder / "sentinel.sh"
        self.program.write_text(f"#!/bin/sh\ntouch '{self.mark}'\nexec cat\n")
        self.program.chmod(0o755)
        self.brief = folder / "brief.sh"
        self.brief.write_text(f"#!/bin/sh\ntouch '{self.mark}'\n")
        self.brief.chmod(0o755)

    def __str__(self):
        return str(self.program)

    def ran(self):
        """Whether it ran since it was asked last."""
        there = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return there


@pytest.fixture
def sentinel(tmp_path):
    return Sentinel(tmp_path)


def plainly(folder, *arguments):
    """Git as it is, to show that what was planted would work."""
    command = ["git", "-C", str(folder), *arguments]
    subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)


def renew(path):
    """Give a file another time, so that git has to look at its bytes."""
    os.utime(path, (OLD, OLD))


def test_a_filter_of_an_unpacked_repository(repository, sentinel, whatchanged):
    (repository / ".gitattributes").write_text("*.png filter=x\n")
    for kind in ("clean", "smudge"):
        git(repository, "config", f"filter.x.{kind}", str(sentinel))
    git(repository, "config", "filter.x.required", "true")
    renew(repository / "b.png")
    plainly(repository, "diff", "--raw", "HEAD", "--")
    assert sentinel.ran()
    git(repository, "config", "filter.x.process", str(sentinel))
    code, said, err = whatchanged("compare", "--git", "HEAD", repository, "--workers", 1)
    assert (code, said.splitlines()[0]) == (1, "1 of 1 picture changed.")
    assert "Pictures that git says are the same, not listed: 1." in err
    assert not sentinel.ran()


def test_a_bare_repository_among_the_files_of_a_clone(repository, sentinel, whatchanged):
    bare = repository / "shots"
    subprocess.run(["git", "clone", "-q", "--bare", str(repository), str(bare)], check=True)
    git(bare, "config", "core.bare", "false")
    git(bare, "config", "core.worktree", str(repository))
    git(bare, "config", "filter.x.clean", str(sentinel))
    (repository / ".gitattributes").write_text("*.png filter=x\n")
    git(bare, "read-tree", "HEAD")
    renew(repository / "b.png")
    plainly(bare, "diff", "--raw", "HEAD", "--")
    assert sentinel.ran()
    code, said, err = whatchanged("compare", "--git", "HEAD", bare)
    assert (code, said) == (2, "") and "safe.bareRepository" in err
    assert not sentinel.ran()


@pytest.mark.parametrize("url", ["/nowhere", "ext::{} x", "ssh://nowhere/x"])
def test_the_remote_of_a_partial_clone(repository, sentinel, whatchanged, url):
    blob = subprocess.run(
        ["git", "-C", str(repository), "rev-parse", "HEAD:a.png"], check=True, capture_output=True, text=True
    ).stdout.strip()
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "far",
        "remote.far.url": url.format(sentinel.brief),
        "remote.far.promisor": "true",
        "remote.far.uploadpack": str(sentinel.brief),
        "core.sshCommand": str(sentinel.brief),
        "core.gitProxy": str(sentinel.brief),
        "protocol.allow": "always",
    }.items():
        git(repository, "config", key, value)
    plainly(repository, "cat-file", "blob", blob)
    assert sentinel.ran()
    code, said, err = whatchanged("compare", "--git", "HEAD", repository)
    assert (code, said) == (2, "") and "the clone is partial" in err and "git fetch --refetch" in err
    assert not sentinel.ran()


def test_a_submodule_with_filters(repository, sentinel, whatchanged):
    inner = repository / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    save(screen(3), inner / "c.png")
    (inner / ".gitattributes").write_text("*.png filter=x\n")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "inner")
    git(repository, "add", "inner")
    git(repository, "commit", "-qm", "with a submodule")
    git(inner, "config", "filter.x.clean", str(sentinel))
    renew(inner / "c.png")
    git(repository, "config", "diff.ignoreSubmodules", "none")
    plainly(repository, "diff", "--raw", "HEAD", "--")
    assert sentinel.ran()
    assert whatchanged("compare", "--git", "HEAD", repository)[0] == 1
    assert not sentinel.ran()


def test_programs_that_the_configuration_names(repository, sentinel, whatchanged):
    hooks = repository / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "post-checkout", "pre-commit", "reference-transaction"):
        shutil.copy(sentinel.program, hooks / name)
        shutil.copy(sentinel.program, repository / ".git" / "hooks" / name)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "pager.ls-files",
        "pager.ls-tree",
        "diff.external",
        "diff.x.command",
        "diff.x.textconv",
        "core.sshCommand",
        "credential.helper",
        "gpg.program",
        "core.editor",
        "alias.ls-tree",
        "alias.rev-parse",
    ):
        value = f"!{sentinel}" if key.startswith(("alias", "credential")) else str(sentinel)
        git(repository, "config", key, value)
    git(repository, "config", "core.hooksPath", str(hooks))
    (repository / ".gitattributes").write_text("*.png diff=x\n")
    plainly(repository, "status")
    plainly(repository, "diff", "HEAD")
    assert sentinel.ran()
    code, _, err = whatchanged("compare", "--git", "HEAD", repository, "--workers", 1)
    assert code == 1 and "not listed: 1." in err
    git(repository, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "commit", "-qam", "two")
    sentinel.ran()
    assert whatchanged("compare", "--git", "HEAD~1..HEAD", repository, "--workers", 1)[0] == 1
    assert not sentinel.ran()


def test_a_git_of_the_working_directory_is_not_run(repository, sentinel, monkeypatch, tmp_path):
    for place in (repository, repository / "bin"):
        place.mkdir(exist_ok=True)
        shutil.copy(sentinel.program, place / "git")
    real = os.environ["PATH"]
    monkeypatch.chdir(repository)
    for first in (".", "", "bin", str(repository), str(repository / "bin")):
        monkeypatch.setenv("PATH", f"{first}{os.pathsep}{real}")
        assert len(match_revisions("HEAD", repository, tmp_path / "out").pairs) == 1
        monkeypatch.setenv("PATH", first)
        with pytest.raises(DatasetError, match="needs the git program"):
            match_revisions("HEAD", repository, tmp_path / "out")
    assert not sentinel.ran()


def test_git_is_found_where_the_working_directory_is_above_everything(repository, monkeypatch, tmp_path):
    monkeypatch.chdir("/")
    assert len(match_revisions("HEAD", repository, tmp_path / "out").pairs) == 1


def test_a_work_tree_that_lies_elsewhere(repository, whatchanged, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    for place in (tmp_path / "elsewhere", tmp_path):
        git(repository, "config", "core.worktree", str(place))
        code, said, err = whatchanged("compare", "--git", "HEAD", repository)
        assert (code, said) == (2, "") and f"says that its files lie in {place}" in err


def test_variables_that_lead_to_another_repository(repository, monkeypatch, tmp_path):
    """As git sets some of them for its hooks."""
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other / ".git" / "objects"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path / "nothing"))
    (pair,) = match_revisions("HEAD", repository, tmp_path / "out").pairs
    assert pair.pair_id == "a.png"


def test_what_stays_of_the_persons_own_settings(repository, monkeypatch, tmp_path):
    """As CI services say which folders are safe."""
    mine = tmp_path / "mine"
    mine.write_text("[core]\n\texcludesFile = " + str(tmp_path / "ignored") + "\n")
    (tmp_path / "ignored").write_text("new.png\n")
    save(screen(4), repository / "new.png")
    assert len(match_revisions("HEAD", repository, tmp_path / "out").pairs) == 2
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(mine))
    assert len(match_revisions("HEAD", repository, tmp_path / "out").pairs) == 1
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.excludesFile")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(tmp_path / "ignored"))
    assert len(match_revisions("HEAD", repository, tmp_path / "out").pairs) == 1


def test_a_repository_in_which_git_would_wait_for_ever(repository, monkeypatch, whatchanged):
    monkeypatch.setattr(git_program, "SECONDS", 1)
    os.mkfifo(repository / ".gitignore")
    code, said, err = whatchanged("compare", "--git", "HEAD", repository)
    assert (code, said) == (2, "") and "no answer within 1 seconds" in err
