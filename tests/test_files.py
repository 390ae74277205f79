import errno
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.trees import state

from whatchanged.errors import OutputError
from whatchanged.files import (
    cache_folder,
    clear_drafts,
    draft_of,
    remove,
    whole,
    whole_folder,
    write_output,
    write_whole,
)


def held(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_file_appears_when_its_last_byte_is_written(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with whole(path) as draft:
        draft.write_text("ne")
        assert draft.parent == tmp_path and path.read_text() == "old"
        draft.write_text("new")
    assert held(tmp_path) == {"a.txt": "new"}


@pytest.mark.parametrize("stopped_by", [KeyboardInterrupt, OSError, ValueError])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path, stopped_by):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(stopped_by), whole(path) as draft:
        draft.write_text("ne")
        raise stopped_by
    assert held(tmp_path) == {"a.txt": "old"}
    with pytest.raises(stopped_by), whole(tmp_path / "b.txt"):
        raise stopped_by  # before anything was written
    assert held(tmp_path) == {"a.txt": "old"}


@pytest.mark.parametrize("content", ["a cube \u2013 moved", "a cube \u2013 moved".encode()])
def test_text_is_written_as_utf_8_and_bytes_as_they_are(tmp_path, content):
    write_output(tmp_path / "a", content)
    assert (tmp_path / "a").read_bytes() == b"a cube \xe2\x80\x93 moved"


@pytest.mark.parametrize("parent", ["absent", "file"])
def test_a_place_that_cannot_be_written_to_is_named(tmp_path, parent):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(OutputError, match=rf"{parent}/r\.json: cannot be written \(N"):
        write_output(tmp_path / parent / "r.json", "new")
    assert held(tmp_path) == {"file": "no folder"}


def test_a_folder_without_permission_is_named_and_left_as_it_was(tmp_path, monkeypatch):
    """Whoever runs as root may write anywhere: the system's answer stands in."""
    (tmp_path / "r.json").write_text("old")

    def refuse(path, data):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.write_bytes", refuse)
    with pytest.raises(OutputError, match=r"r\.json: cannot be written \(Permission denied\)"):
        write_output(tmp_path / "r.json", "new")
    assert held(tmp_path) == {"r.json": "old"}


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "a.txt").write_text("old")
    (tmp_path / "a.txt").symlink_to(tmp_path / "kept" / "a.txt")
    write_output(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").is_symlink() and held(tmp_path / "kept") == {"a.txt": "new"}


def test_a_pipe_is_written_to(tmp_path):
    pipe, told = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: told.append(pipe.read_text()))
    reader.start()
    write_output(pipe, "new")
    reader.join()
    assert told == ["new"] and pipe.is_fifo()


def test_standard_output_is_written_to_when_it_is_a_pipe():
    program = (
        "from pathlib import Path; from whatchanged.files import write_output; "
        "write_output(Path('/dev/stdout'), 'a')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("a", "")


def test_half_a_surrogate_pair_is_written_as_its_escape(tmp_path):
    write_output(tmp_path / "a", json.dumps("\udce9.png", ensure_ascii=False))
    assert json.loads((tmp_path / "a").read_text(encoding="utf-8")) == "\udce9.png"


@pytest.mark.parametrize("before", [None, "old"])
def test_a_full_disk_is_told_with_what_is_needed_and_what_stays(tmp_path, monkeypatch, before):
    """The system's answer stands in: filling a disk is not for tests."""
    path = tmp_path / "a.bin"
    if before:
        path.write_text(before)

    def full(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch, pytest.raises(OutputError) as refused:
        patch.setattr("pathlib.Path.write_bytes", full)
        write_output(path, b"x" * 1234)
    stays = "What was there before is untouched." if before else "Nothing of it is left."
    assert "a.bin: cannot be written: No space left on device. It needs 1,234 bytes." in str(refused.value)
    assert stays in str(refused.value) and "Make room" in str(refused.value)
    assert held(tmp_path) == ({"a.bin": "old"} if before else {})


def test_a_limit_on_the_size_of_files_is_such_an_end(tmp_path):
    program = (
        "import resource, sys; from pathlib import Path; from whatchanged.files import write_whole;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); write_whole(Path(sys.argv[1]), bytes(5000))"
    )
    command = [sys.executable, "-c", program, tmp_path / "a.bin"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "OutputError" in done.stderr and "It needs 5,000 bytes" in done.stderr
    assert held(tmp_path) == {}


def test_what_an_earlier_process_of_this_number_left_gives_way(tmp_path):
    """As where the first process of every container has the number 1."""
    path = tmp_path / "fold"
    left = draft_of(path)
    for folder in (path, left, left.with_suffix(".replaced")):
        folder.mkdir()
        (folder / "old").write_text("old")
    with whole_folder(path, replace=True) as draft:
        (draft / "new").write_text("new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["fold"]
    assert held(path) == {"new": "new"}


@pytest.fixture
def victim(tmp_path):
    """A folder beside the one that strangers made, ``work``, which must stay as it is."""
    (tmp_path / "victim" / "inner").mkdir(parents=True)
    (tmp_path / "victim" / "inner" / "a.txt").write_text("mine")
    (tmp_path / "work").mkdir()
    return tmp_path / "victim"


@pytest.mark.parametrize("target", ["../victim/inner/a.txt", "../victim/new.txt"])
@pytest.mark.parametrize("write", [write_output, write_whole])
def test_a_planted_draft_is_made_anew(tmp_path, victim, target, write):
    place, before = tmp_path / "work" / "out", state(victim)
    draft_of(place).symlink_to(target)
    write(place, b"new")
    assert state(victim) == before
    assert state(tmp_path / "work").keys() == {"out"} and place.read_bytes() == b"new"


def test_a_planted_folder_in_a_drafts_place_goes_with_its_links_alone(tmp_path, victim):
    place, before = tmp_path / "work" / "out", state(victim)
    draft_of(place).mkdir()
    (draft_of(place) / "link").symlink_to("../../victim")
    write_whole(place, b"new")
    assert state(victim) == before and held(tmp_path / "work") == {"out": "new"}


@pytest.mark.parametrize("ending", [".draft", ".replaced"])
def test_a_planted_draft_of_a_folder_is_made_anew(tmp_path, victim, ending):
    place, before = tmp_path / "work" / "out", state(victim)
    place.mkdir()
    draft_of(place).with_suffix(ending).symlink_to("../victim/inner")
    with whole_folder(place, replace=True) as draft:
        (draft / "a.txt").write_text("new")
    assert state(victim) == before and held(place) == {"a.txt": "new"}
    assert state(tmp_path / "work").keys() == {"out", "out/a.txt"}


def test_drafts_have_the_mode_that_files_have(tmp_path):
    (tmp_path / "plain").write_text("a")
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "out", b"a")
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
@pytest.mark.parametrize("write", [write_output, lambda path, text: write_whole(path, text.encode())])
def test_a_file_that_is_replaced_hands_on_who_may_read_it(tmp_path, mode, write):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(mode)
    write(path, "new")
    assert path.read_text() == "new" and path.stat().st_mode & 0o777 == mode


def test_a_draft_of_a_private_file_is_private(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o600)
    with whole(path) as draft:
        assert draft.stat().st_mode & 0o777 == 0o600


def test_drafts_are_cleared_at_any_depth(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    name = draft_of(Path("a")).name.replace(f"-{os.getpid()}.", f"-{dead.pid}.")
    left = [tmp_path / "out" / deeper / name for deeper in ("", "b", "b/c", "b/c/d")]
    for path in left:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    clear_drafts(tmp_path / "out")
    assert not any(path.exists() for path in left)


@pytest.mark.parametrize("ending", ["draft", "replaced"])
@pytest.mark.parametrize("target", ["../victim/inner", "../victim/inner/a.txt", "../victim/new"])
def test_clearing_drafts_follows_no_link(tmp_path, victim, ending, target):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    work, before = tmp_path / "work", state(victim)
    name = draft_of(work / "out").name.replace(f"-{os.getpid()}.draft", f"-{dead.pid}.{ending}")
    (work / name).symlink_to(target)
    clear_drafts(work / "out")
    assert state(victim) == before and state(work) == {}


@pytest.mark.parametrize("target", ["../victim/inner/a.txt", "../victim/new.txt", "../victim", "loop"])
def test_a_link_to_elsewhere_is_not_written_through(tmp_path, victim, target):
    link = tmp_path / "work" / "out.json"
    link.symlink_to("out.json" if target == "loop" else target)
    before = state(tmp_path)
    with pytest.raises(OutputError, match=r"out\.json: "):
        write_output(link, "new")
    assert state(tmp_path) == before


def test_a_file_that_is_not_named_by_a_person_takes_the_place_of_a_link(tmp_path, victim):
    place, before = tmp_path / "work" / "out", state(victim)
    place.symlink_to("../victim/inner/a.txt")
    write_whole(place, b"new")
    assert state(victim) == before and not place.is_symlink() and place.read_bytes() == b"new"


def test_standard_output_is_written_to_when_it_is_a_file(tmp_path):
    program = (
        "from pathlib import Path; from whatchanged.files import write_output; "
        "write_output(Path('/dev/stdout'), 'a')"
    )
    with (tmp_path / "told.txt").open("w") as stream:
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=stream, stderr=subprocess.PIPE, check=False
        )
    assert done.stderr == b"" and (tmp_path / "told.txt").read_text() == "a"


def test_of_a_link_the_link_is_removed(tmp_path, victim):
    link, before = tmp_path / "work" / "link", state(victim)
    link.symlink_to("../victim/inner")
    remove(link)
    remove(link)  # nothing is there
    assert state(victim) == before and state(tmp_path / "work") == {}


def test_the_cache_is_never_in_the_working_directory(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "planted")
    assert cache_folder() == tmp_path / ".cache" / "whatchanged"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "kept"))
    assert cache_folder() == tmp_path / "kept" / "whatchanged"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path(tmp_path / ".cache" / "whatchanged")
